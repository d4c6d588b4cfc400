"""Kernels as a program compiled and launched them: seen in this process, or read from its log."""
