"""Linear layouts over F2, and the arithmetic that they need."""
