"""A case with a matrix of values: one case per combination."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from collections.abc import Mapping as Map
from dataclasses import replace
from itertools import product

from tt_layout.errors import LayoutError
from tt_layout.golden.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_COMBINATIONS = 100_000

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

CaseValues = dict[str, Node]


def expand(values: CaseValues, matrix: Node) -> Iterator[CaseValues]:
    """Yield the values of each combination, with every ``{key}`` replaced.

    The name gets ``-value`` appended for each key that it does not hold itself.

    Args:
        values: key -> node of the case, with a name that is a scalar.
        matrix: key -> list of values.

    Raises:
        LayoutError: it is not a matrix, has too many combinations, or has a key that the
            case does not use.

    Example:
        >>> from tt_layout.golden.yaml_nodes import parse_nodes
        >>> from tt_layout.mlir.source import Source
        >>> case = parse_nodes(Source("{name: a, type: 'tensor<{n}xf16>', m: {n: [8, 16]}}"))
        >>> values = {key.text: node for key, node in case.entries}
        >>> [one["name"].text for one in expand(values, values.pop("m"))]
        ['a-8', 'a-16']
    """
    axes = _axes(matrix)
    count = math.prod(map(len, axes.values()))
    if count > MAX_COMBINATIONS:
        message = f"a matrix may have {MAX_COMBINATIONS} combinations, this has {count}"
        raise LayoutError(message, matrix.span)
    name = values["name"]
    assert isinstance(name, ScalarNode)
    for key, scalars in axes.items():
        if not any(_uses(node, key) for node in values.values()):
            message = f"the matrix key {key!r} is used nowhere; write {{{key}}} in the case"
            raise LayoutError(message, scalars[0].span)
    suffix = "".join(f"-{{{key}}}" for key in axes if not _uses(name, key))
    values = {**values, "name": replace(name, text=name.text + suffix)}
    for combination in product(*axes.values()):
        texts = {key: scalar.text for key, scalar in zip(axes, combination)}
        yield {key: _substituted(node, texts) for key, node in values.items()}


def _axes(matrix: Node) -> dict[str, tuple[ScalarNode, ...]]:
    """Return the values of each key."""
    assert isinstance(matrix, MappingNode)
    if not matrix.entries:
        raise LayoutError("a matrix needs at least one key with a list of values", matrix.span)
    axes: dict[str, tuple[ScalarNode, ...]] = {}
    for key, node in matrix.entries:
        if not _NAME.fullmatch(key.text):
            message = f"a matrix key is letters, digits and _, got {key.text!r}"
            raise LayoutError(message, key.span)
        if not isinstance(node, SequenceNode) or not node.items:
            raise LayoutError(f"{key.text} must be a list of values in a matrix", node.span)
        axes[key.text] = tuple(map(_value, node.items))
    return axes


def _value(node: Node) -> ScalarNode:
    if isinstance(node, ScalarNode) and node.kind in ("text", "number"):
        return node
    raise LayoutError(f"a value of a matrix is text or a number, got a {node.kind}", node.span)


def _uses(node: Node, key: str) -> bool:
    if isinstance(node, ScalarNode):
        return f"{{{key}}}" in node.text
    if isinstance(node, SequenceNode):
        return any(_uses(item, key) for item in node.items)
    return any(_uses(value, key) for _, value in node.entries)


def _substituted(node: Node, texts: Map[str, str]) -> Node:
    """Replace every ``{key}`` at once; other braces stay, because layouts are full of them."""
    if isinstance(node, ScalarNode):
        pattern = "|".join(re.escape(f"{{{key}}}") for key in texts)
        text = re.sub(pattern, lambda match: texts[match.group()[1:-1]], node.text)
        return replace(node, text=text)
    if isinstance(node, SequenceNode):
        return replace(node, items=tuple(_substituted(item, texts) for item in node.items))
    entries = tuple((key, _substituted(value, texts)) for key, value in node.entries)
    return replace(node, entries=entries)
