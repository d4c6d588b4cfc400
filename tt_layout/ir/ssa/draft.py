"""An operation while its text is read, and what is kept of it: all but its place and regions.

Most operations write the types of their results behind an arrow, a few behind ``to``, or one
type for both operands and results.  Those that do something else are in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tt_layout.ir.data_movements import DATA_MOVEMENTS
from tt_layout.ir.names import in_every_spelling, spellings
from tt_layout.ir.operations import MovedTypes
from tt_layout.ir.ssa.attributes import Attribute, attribute_value, integers
from tt_layout.ir.ssa.types import pointed_at, value_type, with_element
from tt_layout.ir.traits import traits_of
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

TOKEN_TYPE = "!ttg.async.token"


_UNWRITTEN = {"arith.constant": "i1", "gpu.thread_id": "index", "gpu.block_id": "index"}

_SHORT = {
    "tt.make_tensor_descriptor": "!tt.tensordesc",
    "tt.make_tensor_ptr": "!tt.ptr",
    "tt.advance": "!tt.ptr",
}

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


# -- types of results ------------------------------------------------------------------------------


class WrittenTypes(NamedTuple):
    """The types in the text of an operation.

    Attributes:
        colon: behind the colon.
        arrow: behind the last arrow, or ``to``; None where there is none.
    """

    colon: Sequence[str]
    arrow: Sequence[str] | None


def _boolean(types: Sequence[str]) -> str:
    return with_element(types[0], "i1")


def _first(types: Sequence[str]) -> str:
    return types[0]


def _last(types: Sequence[str]) -> str:
    return types[-1]


def _loaded(types: Sequence[str]) -> str:
    return pointed_at(types[0])


def _element(types: Sequence[str]) -> str:
    return value_type(types[0]).element


_RULES: dict[str, Callable[[Sequence[str]], str]] = {
    "arith.cmpi": _boolean,
    "arith.cmpf": _boolean,
    "arith.select": _last,
    "tt.addptr": _first,
    "tt.load": _loaded,
    "tt.unsplat": _element,
    "tt.make_tensor_descriptor": _last,
}
_TOKENS = frozenset(
    spelling
    for name in (
        "ttg.async_copy_global_to_local",
        "ttg.async_commit_group",
        "ttg.async_wait",
        "amdg.buffer_load_to_local",
        "ttng.tmem_store",
        "ttng.tc_gen5_mma",
        "ttng.tc_gen5_mma_scaled",
    )
    for spelling in spellings(name)
)


def result_types(name: str, count: int, written: WrittenTypes, *, generic: bool) -> list[str]:
    """Return the types of the results of an operation; empty where the text has none.

    Args:
        name: of the operation.
        count: how many results it has.
        written: the types in its text.
        generic: whether it is in the generic form, which writes all of them.

    Example:
        >>> result_types("arith.cmpi", 1, WrittenTypes(["tensor<4xi32>"], None), generic=False)
        ['tensor<4xi1>']
    """
    if name in _TOKENS and not generic:
        return [TOKEN_TYPE] * count
    rule = _RULES.get(name)
    types = written.arrow if written.arrow is not None else written.colon
    if not types:
        types = [_UNWRITTEN.get(name, "")]
    elif rule is not None and written.arrow is None:
        types = [rule(types)]
    types = [_whole(name, text) for text in types]
    if len(types) == count:
        return types
    if len(types) == 1:
        return types * count if name != "ttng.tmem_load" else types + [TOKEN_TYPE] * (count - 1)
    return (types + [""] * count)[:count]


def _whole(name: str, text: str) -> str:
    """Return a type that was written without its name with it."""
    return _SHORT.get(name, "!ttg.memdesc") + text if text.startswith("<") else text


# -- operations ------------------------------------------------------------------------------------


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
        moved: the types in its text; None if it moves no data.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[tuple[str, int], ...]
    types: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    successors: tuple[WrittenSuccessor, ...]
    column: int
    location: str
    moved: MovedTypes | None = None


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
        self.texts: list[str] = []
        self.before: int | None = None
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

    @property
    def moved(self) -> MovedTypes | None:
        """The types in its text; None if it moves no data."""
        if self.name.rpartition(".")[2] not in DATA_MOVEMENTS:
            return None
        return MovedTypes(
            tuple(self.texts), len(self.texts) if self.before is None else self.before
        )

    def template(self, first: int) -> Template:
        """Return the operation, which began at an offset, results and all."""
        self._complete_attributes()
        results = sum(number for _, number in self.results)
        written = WrittenTypes(self.colon, self.arrow)
        types = result_types(self.name, results, written, generic=self.generic) if results else []
        return Template(
            self._understood_name(),
            tuple(self.operands),
            self.results,
            tuple(types),
            self.attributes,
            tuple(self._forwarded()),
            self.start - first,
            self.location or "",
            self.moved,
        )

    def _understood_name(self) -> str:
        """Return the name; quoted, with the fault, if the operation is broken.

        That has other operands than its kind, or no result.  Nothing is known of an operation of
        such a name, so that nothing is concluded from it.
        """
        arity = traits_of(self.name).arity
        if arity is None or (arity == len(self.operands) and self.results):
            return self.name
        fault = f"with {count(len(self.operands), 'operand')}" if self.results else "without result"
        return f'"{self.name}" {fault}'

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
