"""Answers for an editor about a dump, as plain values of no protocol.

Read next:    `tt_layout.editing.dump`, what of a dump is read again after an edit.
"""
