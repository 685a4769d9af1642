"""The run: stages x languages through Snakemake, manifests, locks, live progress."""

from x2s.pipeline.declarations import STAGES, Job, Stage, jobs
from x2s.pipeline.engine import Pending
from x2s.pipeline.layout import Run, job_name
from x2s.pipeline.run import JobStatus, RunFailedError, plan_pipeline, run_pipeline, status
from x2s.pipeline.worker import work

__all__ = [
    "STAGES",
    "Job",
    "JobStatus",
    "Pending",
    "Run",
    "RunFailedError",
    "Stage",
    "job_name",
    "jobs",
    "plan_pipeline",
    "run_pipeline",
    "status",
    "work",
]
