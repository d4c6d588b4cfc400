"""``tt-layout translate``: the same layout in another notation, exact or refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from tt_layout.cli.output import emit, note
from tt_layout.cli.parameters import (
    LayoutParameter,
    chosen_release,
    format_option,
    reading_options,
    tensor_option,
)
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.ssa import read_functions
from tt_layout.mlir.languages import read_mlir
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.types import TensorType
from tt_layout.notation.context import Context
from tt_layout.notation.notations.json import TypedLayout, is_json_of_layout, read_json
from tt_layout.notation.registry import NOTATIONS
from tt_layout.notation.result import TensorSpec
from tt_layout.notation.translation import translate
from tt_layout.placement import place
from tt_layout.releases import release_names
from tt_layout.reports.written_layouts import TranslationReport
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.rewriting.gluon_module import GluonModule

DUMPS = (".ttgir", ".mlir")
_FUNCTION = re.compile(r"(.+\.(?:ttgir|mlir))@([A-Za-z_][\w.$]*)")


class ChosenModule(NamedTuple):
    """A dump, and the number of one of its modules, or the name of a function."""

    source: Source
    module: int | None
    function: str | None = None


class GivenParameter(LayoutParameter):
    """A layout, with the tensor type in the JSON of ``--to json``; or a whole dump."""

    def read(self, text: str, context: Context) -> Any:
        """Return the layout, and the tensor type."""
        file = split_module(text)
        if file.path.endswith(DUMPS):
            return ChosenModule(read_mlir(file.path), file.module)
        if match := _FUNCTION.fullmatch(text):
            return ChosenModule(read_source(match[1]), None, match[2])
        value: Any = super().read(text, context)
        return value if isinstance(value, TypedLayout) else TypedLayout(value)

    def read_file(self, source: Source, context: Context) -> Any:
        """Return the layout of a file, and the tensor type."""
        if is_json_of_layout(source.text):
            return read_json(source.text)
        return TypedLayout(super().read_file(source, context))


@click.command(
    "translate",
    help="""\
    Write a layout in another notation, or explain why that is not possible.

    LAYOUT is in any notation, FILE:ALIAS, or a file (- is stdin) with the JSON of --to json. For a
    whole FILE.ttgir, or FILE.ttgir@FUNCTION, --to gluon writes a Python module with all its
    layouts. Exits 2 if the layout is refused.
    """,
)
@click.argument("given", type=GivenParameter(), metavar="LAYOUT")
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help=f"A release ({release_names()}), {', '.join(NOTATIONS)}.",
)
@tensor_option("The tensor type to check the result over.")
@reading_options
@format_option
def command(
    given: TypedLayout | ChosenModule, to: str, tensor: TensorType | None, output_format: str
) -> None:
    """Write a layout in another notation, or explain why that is not possible."""
    if isinstance(given, ChosenModule):
        emit(_module(given, to), output_format)
        return
    over = given.tensor
    if tensor is not None:
        over = TensorSpec(place(given.encoding, tensor).shape, tensor.element_bits)
    translation = translate(given.encoding, to, over.shape, element_bits=over.element_bits)
    report = TranslationReport(given.encoding, to, translation)
    emit(report, output_format)
    if output_format == "text":
        for text in report.notes(has_shape=over.shape is not None):
            note(text)


def _module(dump: ChosenModule, to: str) -> GluonModule:
    """Return the layouts of a dump as a Gluon module.

    Raises:
        LayoutError: another notation is requested, or the module is ambiguous.
    """
    from tt_layout.rewriting.gluon_module import gluon_module

    if to != "gluon":
        raise LayoutError(f"a whole dump becomes gluon only; name a layout, FILE:ALIAS, for {to}")
    modules = list(whole_modules(dump.source, chosen_release(), dump.module))
    if dump.function is not None and len(modules) > 1:
        modules = [m for m in modules if dump.function in {f.name for f in read_functions(m)}]
    if len(modules) != 1:
        message = f"it has {len(modules)} modules: name one of them, as {dump.source.name}@last"
        raise LayoutError(message, FileLocation(dump.source.name))
    return gluon_module(modules[0], dump.source.name, dump.function)
