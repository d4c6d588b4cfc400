"""Matrix multiplications: instructions, operands and descriptors."""
