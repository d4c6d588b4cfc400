"""Immutable content of a dump: modules, their aliases and types."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import overload

from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import BACKENDS, Gpu, find_gpu, intel
from tt_layout.ir.names import name_today, stated
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.scope import Alias, Scope
from tt_layout.ir.types import IRType
from tt_layout.mlir.source import Source, Span, UnplacedLine
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

AttributeValue = str | int | bool


class LazyAliases(Mapping[str, Alias]):
    """The aliases of a module, each read on demand, since a dump may have a million.

    Attributes:
        is_location: tells whether a name is that of a location.
    """

    def __init__(
        self,
        names: Iterable[str],
        read: Callable[[str], Alias],
        is_location: Callable[[str], bool],
    ) -> None:
        self._known: dict[str, Alias | None] = dict.fromkeys(names)
        self._read = read
        self.is_location = is_location

    def __getitem__(self, name: str) -> Alias:
        alias = self._known[name]
        if alias is None:
            alias = self._known[name] = self._read(name)
        return alias

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def attributes(self) -> Iterator[str]:
        """Yield the names of the aliases that are not locations."""
        return (name for name in self._known if not self.is_location(name))


class PlacedName(NamedTuple):
    """The name of a function (without ``@``) or an operation; its line is one of the module's."""

    name: str
    line: int
    column: int


class TypeUse(NamedTuple):
    """A use of a type in a module.

    Attributes:
        type: the type; equal types of a module are one object.
        line, column: its start, from 1; lines count from the module's first line.
    """

    type: IRType
    line: int
    column: int

    @property
    def kind(self) -> str:
        """``tensor``, ``memdesc``, ``ptr`` (to a tensor) or ``tensordesc``."""
        return self.type.kind

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return self.type.shape

    @property
    def element_type(self) -> str:
        """As written, such as ``f16``."""
        return self.type.element_type

    @property
    def encoding(self) -> Encoding | LayoutError | None:
        """The layout, or its error; None where there is none."""
        return self.type.encoding


class TypeUses(Sequence[TypeUse]):
    """The uses of types in a module in text order, made on demand.

    A large dump has millions of them, nearly all equal, so only offsets and numbers are kept.

    Args:
        source: the whole text, with lines that count from the module's first.
        types: the distinct types.
        by_text: the types by their texts, without those of undefined aliases.
        offsets, numbers: offset and number of the type of each use.
    """

    def __init__(
        self,
        source: Source,
        types: Sequence[IRType],
        by_text: Mapping[str, IRType],
        offsets: array[int],
        numbers: array[int],
    ) -> None:
        self._source = source
        self._types = types
        self.by_text = by_text
        self._offsets = offsets
        self._numbers = numbers

    def _line_column(self, index: int) -> tuple[int, int]:
        return self._source.line_column(self._offsets[index])

    def __len__(self) -> int:
        return len(self._offsets)

    @overload
    def __getitem__(self, index: int) -> TypeUse: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[TypeUse]: ...

    def __getitem__(self, index: int | slice) -> TypeUse | Sequence[TypeUse]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return TypeUse(self._types[self._numbers[index]], *self._line_column(index))

    def __iter__(self) -> Iterator[TypeUse]:
        return (self[index] for index in range(len(self)))

    def on_line(self, line: int) -> Iterator[TypeUse]:
        """Yield the types of a line, in order."""
        from bisect import bisect_left

        start = bisect_left(range(len(self)), line, key=lambda at: self._line_column(at)[0])
        for index in range(start, len(self)):
            use = self[index]
            if use.line != line:
                return
            yield use

    def counts(self) -> dict[int, int]:
        """Return the number of uses of each distinct type, by its number, in order of first use."""
        from collections import Counter

        return dict(Counter(self._numbers))

    def first_lines(self, starts: Sequence[int] = ()) -> list[dict[int, int]]:
        """Return the line of the first use of each distinct type, by its number.

        Args:
            starts: lines at which parts of the text begin, in ascending order.

        Returns:
            A dict for the text before the first part, and one for each part.
        """
        from bisect import bisect_left

        begins = [self._source.offset(line, 1) for line in starts]
        cuts = [bisect_left(self._offsets, begin) for begin in begins]
        firsts = []
        for begin, end in zip([0, *cuts], [*cuts, len(self)]):
            first: dict[int, int] = {}
            for index in range(begin, end):
                first.setdefault(self._numbers[index], index)
            firsts.append({number: self._line_column(at)[0] for number, at in first.items()})
        return firsts

    @property
    def distinct(self) -> Sequence[IRType]:
        """The distinct types; their numbers are those of `counts`."""
        return self._types


class PassChoice(NamedTuple):
    """The default module of a dump of passes, where none was requested.

    Attributes:
        number: number of the module in the dump, from 1.
        first, last: the numbers of the first and the last module of its compilation.
    """

    number: int
    first: int
    last: int


@dataclass(frozen=True)
class ModulePlace:
    """Position of a module in a dump, on which the content read from its text does not depend.

    Attributes:
        span: its text, with the header that names the pass.
        line: first line of the module operation, or of the part without one, from 1.
        pass_name: the pass that a header above names; None without a header.
        stage: ``before`` or ``after`` that pass; None without a header.
        choice: which module of its compilation it is, if it was chosen among several.
    """

    span: Span
    line: int
    pass_name: str | None
    stage: str | None
    choice: PassChoice | None = None

    @cached_property
    def first_line(self) -> int:
        """The line of the source at which the module's text begins."""
        return self.span.line


@dataclass(frozen=True)
class Module:
    """One module of a dump, or the functions of a part without a module.

    Lines of what is in it count from 1 at the first line of its own text, but for `operations`,
    which are read when they are first asked for.

    Attributes:
        attributes: attributes of the module operation, by name.
        aliases: the attribute aliases visible in it, by name.
        types: every tensor, memdesc, tensor pointer and tensor descriptor in it.
        functions: in order.
        moves: the names of the operations that move data between layouts, in order.
        partition_warps: number of warps of the partitions of warp-specialized regions, and of
            functions with a number of their own.
        symbols: resolves the types and locations in its text.
        stands_alone: whether it uses no aliases of modules above it.
        place: its position in the dump.
        read_operations: reads those operations, by the numbers of their names.
        error: the error of a module that is truncated, or nested so deeply that not all is read.
    """

    attributes: Mapping[str, AttributeValue]
    aliases: LazyAliases
    types: TypeUses = field(compare=False)  # what it has, and the meanings, follow from the text
    functions: tuple[PlacedName, ...]
    moves: tuple[PlacedName, ...]
    partition_warps: frozenset[int]
    symbols: Scope = field(compare=False)
    stands_alone: bool
    place: ModulePlace
    read_operations: Callable[[Module, Sequence[int]], tuple[MovementOperation, ...]] = field(
        compare=False, repr=False
    )
    error: LayoutError | None = None

    @property
    def source(self) -> Source:
        """The source that contains it."""
        return self.place.span.source

    @property
    def span(self) -> Span:
        """Its text, with the header that names the pass."""
        return self.place.span

    @property
    def line(self) -> int:
        """The line of the source on which it begins."""
        return self.place.line

    @property
    def pass_name(self) -> str | None:
        """The pass that a header above names; None without a header."""
        return self.place.pass_name

    @property
    def stage(self) -> str | None:
        """``before`` or ``after`` that pass; None without a header."""
        return self.place.stage

    @property
    def choice(self) -> PassChoice | None:
        """Which module of its compilation it is, if it was chosen among several."""
        return self.place.choice

    @property
    def unplaced(self) -> Module:
        """The module with lines that are resolved only when they are printed."""
        first = self.place.first_line
        source = self.source.beginning_with(UnplacedLine(1 + self.source.first_line - first))
        span = replace(self.span, source=source)
        place = replace(self.place, span=span, line=UnplacedLine(self.own_line(self.line)))
        return replace(self, place=place)

    @cached_property
    def operations(self) -> tuple[MovementOperation, ...]:
        """The operations that move data between layouts, in order."""
        return self.read_operations(self, range(len(self.moves)))

    def operations_on(self, line: int) -> Sequence[MovementOperation]:
        """Return the operations on a line of the source that move data between layouts.

        Only their functions are read.
        """
        own_line = self.own_line(line)
        numbers = [number for number, move in enumerate(self.moves) if move.line == own_line]
        return self.read_operations(self, numbers) if numbers else ()

    def line_in_source(self, line: int) -> int:
        """Convert one of its own lines to a line of the source."""
        return line + self.place.first_line - 1

    def own_line(self, line: int) -> int:
        """Convert a line of the source to one of its own lines."""
        return line - self.place.first_line + 1

    def number(self, name: str) -> int | None:
        """Return an attribute of ``ttg`` such as ``num-warps``; None without it."""
        value = stated(self.attributes, f"ttg.{name}")
        return int(value) if isinstance(value, int) else None

    @property
    def target(self) -> str | None:
        """Compilation target such as ``cuda:90``; None if it names none."""
        target = stated(self.attributes, "ttg.target")
        if target is not None:
            return str(target)
        capability = self.number("compute-capability")
        return f"cuda:{capability}" if capability is not None else None

    @property
    def is_intel(self) -> bool:
        """Whether it is compiled for an Intel GPU, or has a warp size that only these have."""
        if self.target is not None:
            return self.target.partition(":")[0] == intel.TARGET
        if any(name_today(name).startswith("ttig.") for name in self.attributes):
            return True
        return self.number("threads-per-warp") in intel.OWN_SUB_GROUPS

    @property
    def gpu(self) -> str | None:
        """The name of the row of `tt_layout.hardware` that it is compiled for; None if unknown."""
        gpu = gpu_of(self.target)
        return gpu.target.name if gpu is not None else None

    @property
    def target_option(self) -> str | None:
        """Value of ``--target`` for it: the row of a known GPU, else its own name.

        Intel's modules name no GPU; their rows are equal in what is known.
        """
        if self.target == intel.TARGET:
            return intel.USUAL
        return self.target if self.gpu is None or self.gpu_assumption is not None else self.gpu

    @property
    def gpu_assumption(self) -> str | None:
        """Assumption about a GPU without a row, in a sentence; None for a known one.

        Example:
            >>> from tt_layout.ir import parse_ir
            >>> [module] = parse_ir('module attributes {ttg.target = "cuda:95"} {}')
            >>> module.gpu, module.gpu_assumption
            ('sm90', 'sm95 is unknown; costed as sm90, the newest NVIDIA GPU known before it')
        """
        gpu = gpu_of(self.target)
        return gpu.assumption if gpu is not None else None


@lru_cache(maxsize=64)
def gpu_of(target: str | None) -> Gpu | None:
    """Return the GPU of a module's target; None if it names none or an unknown one.

    Intel's GPUs are unknown: documents give no more than their shared memory.

    Example:
        >>> [gpu_of(f"{each}").target.name for each in ("cuda:89", "hip:gfx1201", "hip:gfx1250")]
        ['sm89', 'gfx1201', 'gfx1250']
        >>> gpu_of("xpu"), gpu_of("xpu:pvc"), gpu_of(None)
        (None, None, None)
    """
    backend = target.partition(":")[0] if target is not None else intel.TARGET
    if target is None or backend == intel.TARGET or backend not in BACKENDS:
        return None
    try:
        return find_gpu(target)
    except LayoutError:
        return None
