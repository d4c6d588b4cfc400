"""Base classes of encodings: fields, rules, text and the mapping to a linear layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from tt_layout.algebra.linear_layout import Basis, LinearLayout, is_power_of_two
from tt_layout.algebra.rendering import Renderers
from tt_layout.arguments import integers
from tt_layout.encodings.forms import Form, Spelling
from tt_layout.encodings.stated_rules import Rule
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError, shown
from tt_layout.mlir.source import Span
from tt_layout.mlir.types import sizes_of
from tt_layout.records import dataclass
from tt_layout.releases import LATEST, Release
from tt_layout.safe_text import as_html
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType

Shape = tuple[int, ...]
Bases = tuple[Basis, ...]
_LAYOUTS: dict[tuple[object, ...], LinearLayout] = {}
"""Layouts over shapes that were made before: dumps and translations ask for the same again."""
MAX_LAYOUTS = 4096  # that are kept
MAX_SHAPE_BITS = 60  # so that every index fits a signed 64-bit integer


INPUTS = {
    MemorySpace.REGISTERS: ["register", "lane", "warp", "block"],
    MemorySpace.SHARED: ["offset", "block"],
    MemorySpace.TENSOR: ["row", "col", "block"],
}
"""The input dimensions of the layouts in a memory space."""


class Violation(NamedTuple):
    """A rule that an encoding breaks.

    Attributes:
        message: subject, rule and value.
        fields: the wrong fields; the error points at their keys in any spelling.
        since: the first release whose parser refuses it; None if every parser accepts it and
            only the linear layout is missing.
        has_meaning: whether releases before ``since`` gave it a linear layout.
        in_forks: whether forks of Triton refuse it, too.
    """

    message: str
    fields: tuple[str, ...] = ()
    since: Release | None = Release.V2022
    has_meaning: bool = False
    in_forks: bool = True

    def is_refused_by(self, release: Release) -> bool:
        """Return whether the parser of a release refuses it."""
        return self.since is not None and self.since <= release

    def denies_layout(self, release: Release) -> bool:
        """Return whether, under a release, the encoding has no linear layout because of it."""
        return not self.has_meaning or self.is_refused_by(release)


class EncodingOrigin(NamedTuple):
    """Source of an encoding: the attribute, and the value of each key."""

    attribute: Span
    values: dict[str, Span]

    def span(self, keys: Sequence[str]) -> Span:
        """Return the span of the first of these keys that is written."""
        return next((self.values[key] for key in keys if key in self.values), self.attribute)


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A layout attribute in today's terms.

    Attributes:
        release: the release under whose rules it was read; it matters only if the meaning of
            the text changed between releases.
        spelling: its spelling in the text; None for an encoding built in Python.
        origin: its position in the text, for messages; None for an encoding built in Python.
        no_layout_reason: why an older spelling, which its releases accept, has no linear layout.
        is_fork: whether a fork of Triton may have written it, which refuses less.
    """

    release: Release = LATEST
    spelling: Spelling | None = field(default=None, compare=False, repr=False)
    origin: EncodingOrigin | None = field(default=None, compare=False, repr=False)
    no_layout_reason: str | None = field(default=None, repr=False)
    is_fork: bool = field(default=False, compare=False, repr=False)

    mnemonic: ClassVar[str]
    forms: ClassVar[tuple[Form, ...]]

    rules: ClassVar[tuple[Rule, ...]] = ()
    """The rules of the compiler that are data."""

    ignores_unknown_keys: ClassVar[bool] = False
    """Whether the parser steps over keys that it does not know, in every release that has it.

    Source:
        Triton, lib/Dialect/TritonGPU/IR/Dialect.cpp; tried in fifteen wheels.
    """

    has_width: ClassVar[bool] = True
    """Whether its linear layout may depend on the width of an element."""

    memory_space: ClassVar[MemorySpace]
    """Where the tensor lives: ``registers``, ``shared memory`` or ``tensor memory``."""

    @property
    def may_be_multi_buffered(self) -> bool:
        """Whether a memdesc may have an additional leading dimension, the index of a buffer."""
        return self.rank is not None

    @property
    def rank(self) -> int | None:
        """The number of tensor dimensions that the encoding is for; None for any."""
        return None

    def violations(self) -> Iterator[Violation]:
        """Yield the compiler's rules that the fields break, those stated as data first."""
        for rule in self.rules:
            if rule.is_broken_by(self):
                yield Violation(rule.message(self.key, self), rule.fields, rule.since)

    def _rules_broken(self) -> Iterator[Violation]:
        """Yield the violations that apply to the release of the encoding."""
        return (broken for broken in self.violations() if broken.in_forks or not self.is_fork)

    def parents(self) -> Iterator[Encoding]:
        """Yield the encodings among the fields."""
        yield from ()

    def lineage(self) -> Iterator[Encoding]:
        """Yield the encoding, its parents, theirs and so on."""
        yield self
        for parent in self.parents():
            yield from parent.lineage()

    def check_parse(self) -> None:
        """Raise an error for the first broken rule that the parser of the release checks."""
        for violation in self._rules_broken():
            if violation.is_refused_by(self.release):
                raise self.error(violation)

    def check_layout(self) -> None:
        """Raise an error for the first broken rule that rules out a linear layout."""
        for parent in self.parents():
            parent.check_layout()
        if self.no_layout_reason is not None:
            raise self.error(Violation(self.no_layout_reason))
        for violation in self._rules_broken():
            if violation.denies_layout(self.release):
                raise self.error(violation)

    def error(self, violation: Violation) -> LayoutError:
        """Return the error for a violation, at the span of the wrong key."""
        keys = self.form.keys_of(violation.fields)
        span = self.origin.span(keys) if self.origin else None
        return LayoutError(violation.message, span)

    def to_linear_layout(
        self, shape: ShapeOrType, *, element_bits: int | None = None
    ) -> LinearLayout:
        """Return the linear layout for a tensor of this shape.

        Args:
            shape: the sizes of the tensor's dimensions, powers of two; or its type.
            element_bits: width of an element, if it is not in a type; needed only by
                tensor memory written with ``unpacked`` (until 3.5).

        Returns:
            From ``register, lane, warp, block`` for distributed encodings, ``offset,
            block`` for shared memory (and ``partition``), ``row, col, block`` for tensor
            memory, to ``dim0, dim1, ...``.

        Raises:
            LayoutError: the encoding breaks a rule, or does not fit the shape.
        """
        try:
            meaning = self._meaning
            dims, bits = sizes_of(shape)
            sizes = self.checked_shape(dims)
            element_bits = bits if element_bits is None else element_bits
            key = meaning, sizes, element_bits if self.depends_on_width else None
            layout = _LAYOUTS.get(key)
            if layout is None:
                layout = self._sound_layout(sizes, element_bits)
        except Exception as error:
            if isinstance(error, LayoutError) or is_ours(type(self)):
                raise
            raise fault_of(type(self), self.name, error) from error
        if key not in _LAYOUTS:
            if len(_LAYOUTS) >= MAX_LAYOUTS:
                _LAYOUTS.clear()
            _LAYOUTS[key] = layout
        return layout

    def _sound_layout(self, shape: Shape, element_bits: int | None) -> LinearLayout:
        """Return the linear layout, checked if another package computes it.

        Raises:
            LayoutError: it is not a linear layout.
        """
        if not all(map(is_power_of_two, shape)):
            from tt_layout.encodings.modular import covers, modular_layout

            padded = self.to_linear_layout(covers(shape), element_bits=element_bits)
            return modular_layout(self.mnemonic, padded, shape)
        layout = self.layout_for(shape, element_bits)
        if is_ours(type(self)):
            return layout
        inputs, outputs = INPUTS[self.memory_space], [f"dim{d}" for d in range(len(shape))]
        sizes = list(zip(outputs, shape))
        if not isinstance(layout, LinearLayout):
            raise LayoutError(f"layout_for of #{self.name} gave no LinearLayout: {shown(layout)}")
        if layout.get_in_dim_names() != inputs or list(layout.out_sizes) != sizes:
            raise LayoutError(
                f"layout_for of #{self.name} must lead from {inputs} to {sizes}, "
                f"got a layout from {layout.get_in_dim_names()} to {list(layout.out_sizes)}"
            )
        return layout

    @cached_property
    def _meaning(self) -> tuple[object, ...]:
        """Class and fields, equal for encodings of equal layouts.

        Positions are left out: they would keep the text in memory.

        Raises:
            LayoutError: the encoding breaks a rule.
        """
        self.check_layout()
        values = (getattr(self, item.name) for item in fields(self) if item.compare)
        return type(self), *(v._meaning if isinstance(v, Encoding) else v for v in values)

    @cached_property
    def depends_on_width(self) -> bool:
        """Whether the width of elements may determine its linear layout over a shape."""
        return any(encoding.has_width for encoding in self.lineage())

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape as a tuple; raise if the encoding does not fit it."""
        sizes = integers("the shape", shape)
        if not sizes:
            raise LayoutError("a layout needs a shape of one dimension or more, got []")
        if self.rank is not None and len(sizes) != self.rank:
            from tt_layout.wording import count

            raise LayoutError(
                f"#{self.name} is for {count(self.rank, 'dimension')}, "
                f"but the shape {list(sizes)} has {len(sizes)}"
            )
        if not all(map(is_power_of_two, sizes)):
            from tt_layout.encodings.modular import check_sizes

            check_sizes(self.mnemonic, sizes)
        if sum(size.bit_length() - 1 for size in sizes) > MAX_SHAPE_BITS:
            message = f"a tensor has at most 2^{MAX_SHAPE_BITS} elements, got {list(sizes)}"
            raise LayoutError(message)
        return sizes

    def check_element(self, bits: int) -> None:
        """Raise if the encoding cannot hold elements of this many bits."""

    def layout_for(self, shape: Shape, element_bits: int | None) -> LinearLayout:
        """Return the linear layout for a shape that fits; the meaning of the encoding."""
        raise NotImplementedError

    def _format(self, shape: ShapeOrType, kind: str) -> str:
        return Renderers.text(self.to_linear_layout(shape), self.memory_space, kind, self.padding)

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """Pairs of an interval and the padding after it, in elements; shared memory only."""
        return ()

    def format_tensor_view(self, shape: ShapeOrType) -> str:
        """Return the text of the tensor view: who holds each element.

        Source:
            The method of this name of Gluon's layouts; same text.
        """
        return self._format(shape, "tensor")

    def format_hardware_view(self, shape: ShapeOrType) -> str:
        """Return the text of the hardware view: the elements of each location.

        Source:
            The method of this name of Gluon's layouts; same text.
        """
        return self._format(shape, "hardware")

    @classmethod
    def form_in(cls, release: Release) -> Form | None:
        """Return the newest form that is not newer than a release; None if all are."""
        return next((form for form in reversed(cls.forms) if form.since <= release), None)

    @property
    def form(self) -> Form:
        """The form in which it was written; the newest for an encoding built in Python."""
        return self.spelling.form if self.spelling else type(self).forms[-1]

    def key(self, field: str) -> str:
        """Return the name of a field in messages: its key as written, or else in the newest form.

        Example:
            >>> from tt_layout.encodings.blocked import Blocked
            >>> Blocked(size_per_thread=(1,), threads_per_warp=(32,), warps_per_cta=(4,),
            ...         order=(0,)).key("warps_per_cta")
            'warpsPerCTA'
        """
        keys = (*self.form.keys, *type(self).forms[-1].keys)
        return next((key.name for key in keys if key.field == field), field)

    @property
    def name(self) -> str:
        """Dialect and mnemonic as written, such as ``ttg.blocked``."""
        return self.form.name

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        """Its text, as it is spelled."""
        return str(self.spelling or self.respell())

    def _repr_html_(self) -> str:
        return as_html(str(self))

    def written(self) -> str:
        """Return text that the wheels of its releases can read, unlike some canonical texts.

        Example:
            >>> import tt_layout
            >>> wmma = "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = []}}>"
            >>> print(tt_layout.parse_layout(wmma))
            #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {}}>
            >>> print(tt_layout.parse_layout(wmma).written())
            #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = []}}>
        """
        return (self.spelling or self.respell()).written()

    def respell(self) -> Spelling:
        """Return today's spelling, made of the fields alone."""
        form = type(self).forms[-1]
        return Spelling(form, form.values(self))


def is_ours(encoding_class: type[Encoding]) -> bool:
    """Tell whether a class belongs to this package, not registered by another."""
    return encoding_class.__module__.startswith("tt_layout.")


def fault_of(encoding_class: type[Encoding], name: str, error: Exception) -> LayoutError:
    """Return the error for a fault in the code of another package.

    Example:
        >>> toy = type("Toy", (Encoding,), {"__module__": "acme"})
        >>> print(fault_of(toy, "acme.toy", KeyError(1)))
        #acme.toy, which acme defines, failed: KeyError: 1
    """
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return LayoutError(f"#{name}, which {encoding_class.__module__} defines, failed: {told}")


class DistributedEncoding(Encoding):
    """An encoding of a tensor in registers."""

    memory_space = MemorySpace.REGISTERS


class SharedEncoding(Encoding):
    """An encoding of a tensor in shared memory."""

    memory_space = MemorySpace.SHARED

    def check_element(self, bits: int) -> None:
        """Raise if a buffer cannot hold elements of this many bits."""
        if bits % 8 and self.release >= Release.V3_9:
            raise LayoutError(f"elements in memory must be whole bytes, got {bits} bits")


class TensorMemoryBase(Encoding):
    """An encoding of a tensor in tensor memory."""

    memory_space = MemorySpace.TENSOR
