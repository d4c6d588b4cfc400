"""Suggestions of layouts, each costed over everything that it changes.

Stored:      nothing; a suggestion is made for a finding when a report asks for it.
Read next:   `suggestion`, `trial`, then `buffers` and `conversions`.
"""
