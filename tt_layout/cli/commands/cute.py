"""``tt-layout cute``: the value of an expression in CuTe's algebra."""

from __future__ import annotations

import os

import click

from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    NotationParameter,
    format_option,
    reading_options,
    tensor_option,
)
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.mlir.languages import refuse_foreign
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.types import TensorType
from tt_layout.notation.context import Context
from tt_layout.notation.cute.expression import evaluate, evaluated_layout
from tt_layout.notation.cute.values import Name
from tt_layout.reports.cute import CuteReport


@click.command(
    "cute",
    help="""\
    Evaluate an expression of CuTe's algebra, with layouts of any integers.

    EXPRESSION is in C++ or Python (CuTe DSL), behind the definitions that it needs. It may have
    make_layout, composition, complement, coalesce, right_inverse, left_inverse, logical_divide,
    zipped_divide, tiled_divide, flat_divide, logical_product, blocked_product, raked_product,
    recast, slice, filter, local_tile, local_partition, tile_to_shape, make_layout_tv,
    make_tiled_copy, make_tiled_mma, matrix instructions by name, swizzles. With -t, the equivalent
    Triton layout is printed, too.
    """,
)
@click.argument("expression", metavar="EXPRESSION")
@tensor_option(is_required=False)
@click.option("--table", "has_table", is_flag=True, help="Print all integers of the layout.")
@reading_options
@format_option
def command(
    expression: str, tensor: TensorType | None, has_table: bool, output_format: str
) -> None:
    """Evaluate an expression of CuTe."""
    if os.path.isfile(expression):
        refuse_foreign(read_source(expression, is_dump=False), "expression of CuTe", has_cute=True)
        message = 'this is a file: give its text, as in tt-layout cute "$(cat FILE)"'
        raise LayoutError(message, FileLocation(expression))
    try:
        value = evaluate(expression, "EXPRESSION")
        if isinstance(value, Name):
            source = Source(expression, "EXPRESSION")
            message = f"{value.text} is a name, no layout: give its shape and strides"
            raise LayoutError(message, source.span(0, len(expression)))
    except LayoutError:
        refuse_foreign(Source(expression, "EXPRESSION"), "expression of CuTe", has_cute=True)
        raise
    attribute = None
    if tensor is not None:
        layout = evaluated_layout(expression, Context(name="EXPRESSION").over(tensor))
        context = click.get_current_context()
        parameter = context.command.params[0]
        encoding = NotationParameter().convert(layout, parameter, context)
        attribute = str(shortest(encoding, tensor.shape, tensor.element_bits))
    emit(CuteReport(value, attribute, has_table), output_format)
