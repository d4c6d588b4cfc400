"""What to use instead, each found by costing it over all that it touches.

Stored:      nothing; a suggestion is made for a finding when a report asks for it.
Read next:   `suggestion`, `trial`, then `buffers` and `conversions`.
"""
