"""Subcommands, one module each, imported on use."""
