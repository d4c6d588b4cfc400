"""The command line: commands, the types of their parameters, and the way in and out."""
