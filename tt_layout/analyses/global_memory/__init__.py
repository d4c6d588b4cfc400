"""Global memory: requests, sectors, and messages of the copy engines."""
