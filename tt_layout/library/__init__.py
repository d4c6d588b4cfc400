"""Functions of the library: each reads its arguments, calls an analysis, and returns a report.

Layouts come first, then the shape or the type of the tensor, then other arguments.  A layout is
text in any notation or an object (`tt_layout.notation`); a shape is a list of sizes, a type text
such as ``64x64xf16``.
"""
