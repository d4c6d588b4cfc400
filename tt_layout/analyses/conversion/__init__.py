"""Exchanges between threads: conversions, reductions, scans, gathers."""
