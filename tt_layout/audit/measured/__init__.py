"""What Nsight Compute counted of a kernel, beside what its audit predicts.

Read next:    `tt_layout.audit.measured.pages`, `tt_layout.audit.measured.comparison`.
"""
