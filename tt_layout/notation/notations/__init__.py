"""Notations, one module each; the file registers it.

A module has ``NOTATION``.  It is called as ``--to`` calls it, with ``_`` for ``-``.
"""
