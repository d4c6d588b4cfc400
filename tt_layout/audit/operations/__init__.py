"""Costs of operations by kind; `costs` is the table of all."""
