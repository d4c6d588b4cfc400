"""Conversions, and what else moves between threads: reductions, scans, gathers."""
