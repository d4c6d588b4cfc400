"""Every kernel that Triton compiles or launches in this process, audited.

``seen`` keeps what was compiled and launched, ``triton_hooks`` and ``inductor_hooks`` tell it,
``session`` is `tt_layout.watch`, ``report`` the table at the end.  Nothing of Triton or PyTorch is
imported here: hooks are set once the program has imported them.
"""
