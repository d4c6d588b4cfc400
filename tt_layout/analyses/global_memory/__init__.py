"""Global memory: requests, sectors, and the messages of the copy engines."""
