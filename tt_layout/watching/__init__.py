"""Audits of every kernel that Triton compiles or launches in this process.

``triton_hooks`` and ``inductor_hooks`` report what is compiled and launched to ``seen``,
``session`` is `tt_layout.watch`, ``report`` the table at the end.  Nothing of Triton or PyTorch is
imported here: hooks are set once the program has imported them.
"""
