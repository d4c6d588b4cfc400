"""Kernels compiled and launched by a program: seen in this process, or read from its log."""
