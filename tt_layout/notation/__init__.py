"""Notations of layouts, and the Python objects that represent them.

==============  ============================================================================
`notations`     one file for each: how its texts look, how one is read, how one is written
`registry`      finds out in which of them a text is
`translation`   the same layout in another: exact, or refused with the reason
`releases`      the attributes of other releases of Triton
`cute`          what CuTe layouts are, for the notations that have some
`gluon`         classes of Gluon, called in texts and found as objects
==============  ============================================================================

Every command, manifest and function of the library that takes a layout takes it through here.
"""
