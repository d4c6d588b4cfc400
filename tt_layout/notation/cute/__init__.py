"""CuTe layouts: their text, and their meaning in shared memory and registers."""
