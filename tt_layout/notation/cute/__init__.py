"""CuTe layouts: their text, and what it says of shared memory and of registers."""
