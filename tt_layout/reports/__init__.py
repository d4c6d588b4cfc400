"""Results of the analyses as values, as text and as plain data.

The commands print the text, ``tt-layout check`` compares it with golden files.
"""
