"""Kernels compiled and launched by a program: recorded in this process, or read from a log."""
