"""An operation while its text is read, and what is kept of it: all but its place and regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tt_layout.ir.names import in_every_spelling
from tt_layout.ir.ssa.attributes import Attribute, attribute_value, integers
from tt_layout.ir.ssa.results import WrittenTypes, result_types

_AXES = {"x": 0, "y": 1, "z": 2}
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_ATOMIC = ("atomic_rmw_op", "sem", "scope")
_WORDS = in_every_spelling(
    {
        "arith.cmpi": ("predicate",),
        "arith.cmpf": ("predicate",),
        "tt.get_program_id": ("axis",),
        "tt.get_num_programs": ("axis",),
        "gpu.thread_id": ("dimension",),
        "gpu.block_id": ("dimension",),
        "tt.atomic_rmw": _ATOMIC,
        "tt.atomic_cas": _ATOMIC[1:],
        "ttg.local_atomic_scatter_rmw": _ATOMIC[:1],
        "amdg.buffer_atomic_rmw": _ATOMIC,
        "amdg.buffer_atomic_cas": _ATOMIC[1:],
    }
)
"""Operation -> the attributes that the bare words before its operands stand for."""

_FLAGS = frozenset({"allow_reorder", "efficient_layout"})
"""Bare words that stand for an attribute of their own name."""


MAX_RESULTS = 4096  # of an operation; more are not read
MAX_DIGITS = 9


class WrittenSuccessor(NamedTuple):
    """A block that a branch goes to, and the names of what it hands over."""

    label: str
    operands: tuple[str, ...]


class Template(NamedTuple):
    """An operation without its place: names as written, so that it can be used again.

    Attributes:
        results: the written name of each result, or pack of results, and how many they are.
        types: of all results.
        column: of the name, from where the operation begins.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[tuple[str, int], ...]
    types: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    successors: tuple[WrittenSuccessor, ...]
    column: int
    location: str


def _number_of(count: str) -> int:
    """Return how many results a pack has; of a dump that is not a valid one no more than a few."""
    return min(int(count[:MAX_DIGITS] or 1), MAX_RESULTS)


class Draft:
    """Draft of an operation while it is read."""

    def __init__(self, name: str, start: int, results: Sequence[tuple[str, str]], *, generic: bool):
        self.name = name
        self.start = start
        self.generic = generic
        self.results = tuple((written, _number_of(count)) for written, count in results)
        self.operands: list[str] = []
        self.attributes: dict[str, Attribute] = {}
        self.words: list[str] = []
        self.numbers: list[str] = []
        self.colon: list[str] = []
        self.arrow: list[str] | None = None
        self.types: list[str] | None = None  # those that are being read
        self.successors: list[WrittenSuccessor] = []
        self.variable = ""
        self.bindings: list[str] = []
        self.location: str | None = None
        self.literal: str | None = None

    def open_types(self) -> None:
        """Read the types behind the colon."""
        self.types = self.colon

    def open_results(self) -> None:
        """Read the types behind an arrow."""
        self.types = self.arrow = []

    def template(self, first: int) -> Template:
        """Return the operation, which began at an offset, results and all."""
        self._complete_attributes()
        count = sum(number for _, number in self.results)
        written = WrittenTypes(self.colon, self.arrow)
        types = result_types(self.name, count, written, generic=self.generic) if count else []
        return Template(
            self.name,
            tuple(self.operands),
            self.results,
            tuple(types),
            self.attributes,
            tuple(self._forwarded()),
            self.start - first,
            self.location or "",
        )

    def _complete_attributes(self) -> None:
        """Give words and numbers of the custom form the names that they have in the generic."""
        attributes = self.attributes
        for key, word in zip(_WORDS.get(self.name, ()), self.words):
            attributes.setdefault(key, _AXES.get(word, word))
        attributes.update(dict.fromkeys(_FLAGS.intersection(self.words), True))
        predicate = attributes.get("predicate")
        if isinstance(predicate, int) and self.name == "arith.cmpi":
            attributes["predicate"] = _PREDICATES[predicate % len(_PREDICATES)]
        if self.name == "arith.constant" and self.literal is not None:
            attributes.setdefault("value", attribute_value(self.literal))
        if self.name == "ttg.warp_specialize" and self.numbers:
            warps = f"array<i32: {', '.join(self.numbers)}>"
            attributes.setdefault("partitionNumWarps", warps)
        if self.name.endswith(".extract_slice") and self.numbers:
            attributes.setdefault("static_offsets", f"array<i64: {', '.join(self.numbers)}>")
        if self.name.endswith(".memdesc_subslice") and self.numbers:
            attributes.setdefault("offsets", f"array<i32: {', '.join(self.numbers)}>")

    def _forwarded(self) -> list[WrittenSuccessor]:
        """Return the successors; the generic form has what they are handed among the operands."""
        if not self.generic or not self.successors:
            return self.successors
        sizes = integers(self.attributes.get("operandSegmentSizes")) or [0, len(self.operands)]
        forwarded, begin = [], sizes[0]
        for successor, size in zip(self.successors, sizes[1:]):
            operands = tuple(self.operands[begin : begin + size])
            forwarded.append(successor._replace(operands=operands))
            begin += size
        return forwarded
