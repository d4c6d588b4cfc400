"""Every notation in which people write layouts down, and the objects that stand for them.

One file for each notation: what its texts look like, and how one is read to an encoding.
`registry.read_layout` finds out which it is; every command, manifest and function of the library
that takes a layout takes it through here.

Read next:   `context`, `registry`, then `cute`, which leaves most open.
"""
