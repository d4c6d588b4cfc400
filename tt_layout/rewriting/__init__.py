"""Dumps with other layouts: the text of a module rewritten, and audited again.

Read next:   `dump_text`, `carried_out`, `apply`.
"""
