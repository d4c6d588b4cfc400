"""The tools of an agent: each method is one, whose types and description the agent reads.

Texts of dumps are given as they are, or as a path below the one folder that the user named.  Every
argument has a limit, which its schema states.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from tt_layout.editing.dump import MAX_TEXT, Dump
from tt_layout.editing.hover import hover
from tt_layout.errors import LayoutError
from tt_layout.files import is_inside
from tt_layout.hardware import DEFAULT_TARGET
from tt_layout.library.dumps import apply
from tt_layout.library.features import features
from tt_layout.library.layouts import convert, translate
from tt_layout.library.memory import conflicts, swizzle
from tt_layout.library.pictures import plot
from tt_layout.mlir.source import read_source
from tt_layout.reports.audit_ir import audit_ir
from tt_layout.reports.program_source import NO_PROGRAM, ProgramSource

MAX_LAYOUT = 1 << 16
"""Characters of a layout."""

MAX_LAYOUTS = 16
"""Layouts of which a swizzle is looked for."""

MAX_NAME = 1 << 10
"""Characters of a name, a type, a GPU."""

MAX_VALUES = 256
"""Values of arguments."""

MAX_MEMORY = 600 << 20
"""Bytes that an answer may take, with the library."""

MAX_SECONDS = 10
"""Of the processor that an answer may take."""

Text = Annotated[
    str,
    Field(
        description="MLIR text of a .ttgir dump, or a path below the folder of --root",
        max_length=MAX_TEXT,
    ),
]
Layout = Annotated[
    str,
    Field(
        description="a layout in any notation: an attribute such as #ttg.blocked<{...}>, Gluon such"
        " as gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), CuTe, a printed linear layout",
        max_length=MAX_LAYOUT,
    ),
]
Layouts = list[Annotated[str, Field(max_length=MAX_LAYOUT)]]
TensorType = Annotated[
    str, Field(description="the tensor, such as 128x64xf16", max_length=MAX_NAME)
]
Gpu = Annotated[
    str | None,
    Field(description="such as sm90 or gfx942; by default sm90", max_length=MAX_NAME),
]
Product = Annotated[
    str | None,
    Field(
        description="a product such as h100 or mi325x; by default the first of the dump's chip",
        max_length=MAX_NAME,
    ),
]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Integer = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Values = Annotated[
    dict[Name, Integer] | None,
    Field(
        description="values of the kernel's arguments by name; for a pointer, its address"
        " modulo 512",
        max_length=MAX_VALUES,
    ),
]

DESCRIPTIONS = {
    "audit": "Report what a Triton kernel does badly: bank conflicts, layout conversions, narrow or"
    " uncoalesced accesses, spills; with the line, the cost and what to write instead.",
    "explain": "Explain a line of a dump: the operation with its cost and live registers, and its"
    " layouts.",
    "kernel_features": "Return the numbers of a kernel: counts, bytes, registers, occupancy,"
    " bounds, shares.",
    "apply_suggestion": "Return a dump with the suggestion for a finding carried out, audited"
    " again, and what it saves. Triton runs the new text with ir_override.",
    "conflicts": "Count the shared-memory bank conflicts of a store and a load of a tensor.",
    "swizzle": "Find the shared layout with the fewest bank conflicts.",
    "convert": "Show what it takes to convert a tensor from one layout to another: nothing,"
    " shuffles or shared memory.",
    "translate_layout": "Write a layout in another notation, or as another release of Triton"
    " spells it.",
    "picture": "Draw who holds each element of a tensor, as PNG.",
}
"""Tool -> what the agent reads of it."""


class Refusal(NamedTuple):
    """The one message of a question that has no answer."""

    message: str


class _OutOfTime(BaseException):
    """The seconds of an answer are used up; no handler of errors takes it for one of its own."""


def answered(tools: AgentTools, name: str, arguments: Mapping[str, Any]) -> object:
    """Return the answer of a tool, in this process, within bounds of memory and time."""
    _limit_memory()
    try:
        with _limited_time():
            return getattr(tools, name)(**arguments)
    except (LayoutError, TypeError, RecursionError) as error:
        return Refusal(str(error) or "it is nested too deeply")
    except MemoryError:
        return Refusal(f"it takes more than {MAX_MEMORY >> 20} MiB of memory")
    except _OutOfTime:
        return Refusal(f"it takes more than {MAX_SECONDS} seconds of the processor")


@contextmanager
def _limited_time() -> Iterator[None]:
    """Interrupt what takes longer on the processor, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise _OutOfTime

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@cache
def _limit_memory() -> None:
    """Bound the memory that this process may take from now on, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            addressed, resident = map(int, file.read().split()[:2])
        most = (addressed - resident) * resource.getpagesize() + MAX_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


class AgentTools:
    """The tools.

    Args:
        root: the folder below which dumps, and lines of the programs that they name, may be read;
            None for no file at all.
        source: the folder in which these programs are looked for; None for the root.
    """

    def __init__(self, root: str | None = None, source: str | None = None) -> None:
        self._root = os.path.realpath(root) if root is not None else None
        self._program = NO_PROGRAM
        if source is not None:
            self._program = ProgramSource(os.path.realpath(source))
        elif self._root is not None:
            self._program = ProgramSource(within=(self._root,))

    def named(self) -> Iterator[tuple[str, str, Callable[..., object]]]:
        """Yield the name of each, its description, and what answers."""
        for name, description in DESCRIPTIONS.items():
            yield name, description, getattr(self, name)

    def _text(self, dump: str) -> str:
        """Return the text of a dump.

        Raises:
            LayoutError: it is too large, or a file that may not be read.
        """
        text = dump if "\n" in dump else self._file(dump)
        if len(text) > MAX_TEXT:
            raise LayoutError(f"the dump has {len(text)} characters, more than {MAX_TEXT}")
        return text if "\n" in text else f"{text}\n"

    def _file(self, name: str) -> str:
        if self._root is None:
            message = "no folder was given to read from: start the server with --root FOLDER"
            raise LayoutError(f"{message}, or give the text of the dump")
        try:
            path = os.path.realpath(os.path.join(self._root, name))
            is_below = is_inside(path, self._root)
        except (OSError, ValueError):  # it is no name of a file
            is_below = False
        if not is_below:
            raise LayoutError(f"only files below {self._root} may be read, got {name!r}")
        return read_source(path).text

    # -- dumps ------------------------------------------------------------------------------

    def audit(self, dump: Text, values: Values = None, gpu: Product = None) -> str:
        """Return the report of a dump."""
        report = audit_ir(self._text(dump), values, gpu=gpu)
        return str(replace(report, program=self._program))

    def explain(
        self,
        dump: Text,
        line: Annotated[int, Field(description="line of the dump, from 1", ge=1, le=MAX_TEXT)],
    ) -> str:
        """Return the facts of a line."""
        read = Dump(self._text(dump))
        placed = read.at(line)
        if placed is None or line > read.text.count("\n") + 1:
            raise LayoutError(f"the dump has no line {line}")
        own = line - placed.down
        text = placed.piece.line(own)
        starts = [at for at, mark in enumerate(text) if mark in "#.%"]
        found = [hover(placed.piece, own, at) for at in starts]
        told = [one.plain for one in found if one is not None]
        told += [one.message for one in placed.piece.diagnoses(placed.down) if one.line == line]
        return "\n\n".join(dict.fromkeys(told)) or f"nothing is known of line {line}: {text}"

    def kernel_features(
        self,
        dump: Text,
        values: Values = None,
        kernel: Annotated[
            str | None,
            Field(
                description="name of the kernel, where the dump has several", max_length=MAX_NAME
            ),
        ] = None,
        gpu: Product = None,
    ) -> dict[str, int | float | str | bool | None]:
        """Return the features of a kernel."""
        return features(self._text(dump), values, function=kernel, gpu=gpu)

    def apply_suggestion(
        self,
        dump: Text,
        finding: Annotated[
            int | None,
            Field(description="its number in the audit; by default the first", ge=1, le=MAX_TEXT),
        ] = None,
        values: Values = None,
    ) -> str:
        """Return the report of a suggestion that is carried out, and the new text."""
        done = apply(self._text(dump), finding, values=values)
        return f"{done}\n\n{done.text}"

    # -- layouts ----------------------------------------------------------------------------

    def conflicts(
        self, registers: Layout, shared: Layout, tensor: TensorType, gpu: Gpu = None
    ) -> str:
        """Return the report of an access."""
        return str(conflicts(registers, shared, tensor, target=gpu))

    def swizzle(
        self,
        writers: Annotated[
            Layouts,
            Field(
                description="layouts that store the tensor", min_length=1, max_length=MAX_LAYOUTS
            ),
        ],
        readers: Annotated[
            Layouts,
            Field(description="layouts that load it; [] for the same", max_length=MAX_LAYOUTS),
        ],
        tensor: TensorType,
        gpu: Gpu = None,
    ) -> str:
        """Return the report of a search."""
        return str(swizzle(writers, readers, tensor, target=gpu or DEFAULT_TARGET))

    def convert(self, source: Layout, target: Layout, tensor: TensorType, gpu: Gpu = None) -> str:
        """Return the report of a conversion."""
        return str(convert(source, target, tensor, target=gpu or DEFAULT_TARGET))

    def translate_layout(
        self,
        layout: Layout,
        to: Annotated[
            str,
            Field(
                description="gluon, cute, tlx, linear, bases, json, or a release such as 3.4",
                max_length=MAX_NAME,
            ),
        ],
        tensor: Annotated[
            str | None, Field(description="needed by some notations", max_length=MAX_NAME)
        ] = None,
    ) -> str:
        """Return the text in another notation."""
        return translate(layout, tensor, to=to).text

    def picture(self, layout: Layout, tensor: TensorType) -> bytes:
        """Return the picture of a layout."""
        return plot(layout, tensor).png
