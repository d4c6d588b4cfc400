"""Answers for an editor about a dump, as plain values independent of any protocol.

Read next:    `tt_layout.editing.dump`, which reads changed pieces again after an edit.
"""
