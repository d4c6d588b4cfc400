"""Values for the arguments of kernels, from the command line and from a file."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tt_layout.audit.values.given import GivenValues, parse_number, parse_values, plain_name
from tt_layout.errors import LayoutError

value_option = click.option(
    "--value",
    "values",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Value of a kernel argument; for a pointer, its address modulo 512. Repeatable.",
)
values_option = click.option(
    "--values", "values_file", metavar="FILE", help="The same from a file, as YAML or JSON."
)


def read_values(texts: Sequence[str], path: str | None) -> GivenValues:
    """Return the values given on the command line and, where that has none, in a file.

    Raises:
        LayoutError: a value is not an integer, or the file not a mapping from names to integers.
    """
    return parse_values(texts, _from_file(path) if path is not None else {})


def _from_file(path: str) -> dict[str, int]:
    from tt_layout.golden.yaml_nodes import MappingNode, ScalarNode, read_nodes

    root = read_nodes(path, "file of values")
    if not isinstance(root, MappingNode):
        message = "a file of values maps the names of arguments to integers"
        raise LayoutError(f"{message}, got a {root.kind}", root.span)
    values: dict[str, int] = {}
    for key, node in root.entries:
        name = plain_name(key.text)
        if not isinstance(node, ScalarNode) or node.kind not in ("number", "boolean"):
            message = f"the value of {name} must be an integer, got a {node.kind}"
            raise LayoutError(message, node.span)
        try:
            values[name] = parse_number(name, node.text)
        except LayoutError as error:
            raise error.at(node.span) from None
    return values
