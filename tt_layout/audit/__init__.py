"""What is concluded from a dump: its layouts, its data movements and what they cost."""
