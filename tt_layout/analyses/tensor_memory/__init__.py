"""Tensor memory: messages, copies, and the register layouts that fit them."""
