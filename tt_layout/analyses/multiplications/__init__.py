"""Multiplications of matrices: instructions, operands and descriptors."""
