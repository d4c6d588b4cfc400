"""Attributes of forks and of early stages that wrap or precede a layout.

Source:
    Triton, include/triton/Dialect/Gluon/IR/GluonAttrDefs.td; facebookexperimental/triton,
    third_party/tlx/dialect/include/IR/TLXAttrDefs.td; intel-xpu-backend-for-triton,
    third_party/intel/lib/Dialect/TritonIntelGPU/IR/Dialect.cpp.
"""

from __future__ import annotations

from tt_layout.mlir.syntax import AttributeNode, DictNode, EntryNode, Node

WRAPPERS = frozenset({"tlx.no_verify_layout", "tlx.user_layout"})
"""Attributes that mark the one layout in them; they map elements as it does."""

PLACEHOLDERS = frozenset(
    {
        "gluon.auto_encoding",
        "gluon.coalesced_encoding",
        "tlx.dummy_register_layout",
        "tlx.dummy_tmem_layout",
    }
)
"""Attributes that a later pass replaces by a layout."""

UNMAPPED = frozenset({"ttig.warp", "triton_intel_gpu.warp"})
"""Attributes that are called layouts, but that the compilers which have them map to no elements."""


def unwrapped(node: Node) -> Node:
    """Return the tree with each wrapper replaced by the layout inside it.

    Example:
        >>> from tt_layout.mlir.source import Source
        >>> from tt_layout.mlir.syntax import Parser
        >>> text = "#tlx.user_layout<#tlx.no_verify_layout<#ttg.blocked<{}>>>"
        >>> unwrapped(Parser(Source(text)).parse_attribute()).name
        'ttg.blocked'
    """
    if isinstance(node, EntryNode):
        return node._replace(value=unwrapped(node.value))
    if isinstance(node, DictNode):
        entries = tuple(entry._replace(value=unwrapped(entry.value)) for entry in node.entries)
        return node._replace(entries=entries)
    if not isinstance(node, AttributeNode) or node.body is None:
        return node
    if node.name in WRAPPERS and len(node.body) == 1 and isinstance(node.body[0], AttributeNode):
        return unwrapped(node.body[0])
    return node._replace(body=tuple(unwrapped(item) for item in node.body))
