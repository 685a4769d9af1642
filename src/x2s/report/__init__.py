"""The page that shows a run: `write_report(RunData(...), "report.html")`."""

from x2s.report.data import CorpusSummary, RunData, SelectionSummary, StageRun
from x2s.report.page import write_report

__all__ = ["CorpusSummary", "RunData", "SelectionSummary", "StageRun", "write_report"]
