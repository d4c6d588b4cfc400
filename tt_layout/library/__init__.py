"""Functions of the library: each reads its arguments, calls, and returns a report.

Layouts come first, then the shape or the type of the tensor, then what is special.  A layout is
text in any notation or an object (`tt_layout.notation`); the shape is a list of sizes, and a
type a text such as ``64x64xf16``.
"""
