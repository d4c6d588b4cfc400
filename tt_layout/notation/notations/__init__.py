"""The notations, a file each; a notation is registered by being here.

A module has ``NOTATION``.  It is called as ``--to`` calls it, with ``_`` for ``-``.
"""
