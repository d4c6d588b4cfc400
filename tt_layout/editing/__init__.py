"""What an editor asks of a dump that is being written: answers as plain values, of no protocol.

Read next:    `tt_layout.editing.dump`, what of a dump is read again after an edit.
"""
