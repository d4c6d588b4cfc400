"""Tensor memory: its messages, its copies, and the register layouts that fit them."""
