"""Gluon's layout classes: their text, their parameters, and their attributes."""
