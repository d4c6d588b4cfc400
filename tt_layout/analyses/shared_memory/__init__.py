"""Shared memory: accesses, bank conflicts, swizzles, and placement of buffers."""
