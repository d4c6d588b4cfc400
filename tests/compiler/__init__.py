"""Checks against the real compiler; run with ``--compiler-python PATH``."""
