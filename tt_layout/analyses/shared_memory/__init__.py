"""Shared memory: accesses, bank conflicts, swizzles, and where buffers are placed."""
