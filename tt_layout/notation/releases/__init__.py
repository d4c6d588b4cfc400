"""Spellings of a layout in other releases."""
