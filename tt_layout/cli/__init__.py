"""The command line: commands, types of their parameters, input and output."""
