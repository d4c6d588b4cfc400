"""Options on what compilers say of a dump: ``--compiled``, ``--compile``, ``--triton-python``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from tt_layout.cli.output import note
from tt_layout.cli.parameters import FileParameter
from tt_layout.dumps.dump import Dump
from tt_layout.kernels.chosen_compiler import CHOSEN
from tt_layout.kernels.metadata import given_metadata

_PYTHON = "tt_layout.triton_python"
_CHOSEN = "tt_layout.compiler_is_chosen"


def _named(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Keep the Python that has Triton, which implies ``--compile``."""
    if value is not None:
        context.meta[_PYTHON] = value
        _choose(context)


def _asked(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        _choose(context)


def _choose(context: click.Context) -> None:
    """Choose the compiler until the command ends; without one, print a note on how to get it."""
    from tt_layout.kernels.compiling import compiler_of, way_out

    if context.resilient_parsing or context.meta.get(_CHOSEN):
        return
    context.meta[_CHOSEN] = True
    compiler = compiler_of(context.meta.get(_PYTHON))
    if compiler.release is None:
        note(f"no Triton in {compiler.python}, so registers are estimates: {way_out()}")
        return
    before = CHOSEN.get()
    CHOSEN.set(compiler)
    context.call_on_close(lambda: CHOSEN.set(before))


compiled_option = click.option(
    "--compiled",
    multiple=True,
    type=FileParameter(),
    metavar="FILE",
    help="Take registers and spills from the kernel's .cubin, .amdgcn or .json; by default from"
    " those beside the dump. Repeatable.",
)
"""The option of a command that reads the metadata of a compiled kernel."""


def known_of(dump: Dump, compiled: Sequence[str]) -> Dump:
    """Return a dump with the metadata of given files before those beside it; the last goes first.

    Args:
        dump: the dump.
        compiled: values of ``--compiled``.

    Raises:
        LayoutError: a file cannot be read.
    """
    metadata = dump.known
    for file in compiled:
        metadata = given_metadata(file).over(metadata)
    return dump._replace(known=metadata)


_compile_option = click.option(
    "--compile",
    is_flag=True,
    expose_value=False,
    callback=_asked,
    help="Compile each dump with an installed Triton, without a GPU, for exact registers, spills"
    " and shared memory.",
)
_python_option = click.option(
    "--triton-python",
    type=FileParameter(),
    metavar="PATH",
    is_eager=True,
    expose_value=False,
    callback=_named,
    help="The Python whose Triton compiles the dumps; by default TT_LAYOUT_TRITON, or this one.",
)


def compile_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that compile dumps with Triton."""
    return _compile_option(_python_option(function))
