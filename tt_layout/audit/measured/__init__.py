"""Counters of Nsight Compute, compared with the predictions of an audit.

Read next:    `tt_layout.audit.measured.counters`, `tt_layout.audit.measured.comparison`.
"""
