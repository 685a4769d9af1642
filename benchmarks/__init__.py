"""Measurements with a requirement each: `python -m benchmarks.NAME`."""
