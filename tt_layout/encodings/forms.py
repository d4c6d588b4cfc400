"""The spellings of an attribute through the releases, as data.

A `Form` is one spelling: its name, the release that it came with, its keys in printed order.
Reading is generic over it: node -> values -> fields of today's class.  A class lists its
forms, newest last, and each is valid until the next one; nothing outside this table knows an old
spelling.  Rules refer to the field that a key fills, so that a release which renames a key costs
one form.

Source:
    Read off fifteen Triton wheels, 2.0.0 to 3.9.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

from tt_layout.algebra.padding import format_padding
from tt_layout.errors import LayoutError
from tt_layout.mlir.syntax import (
    AttributeNode,
    DictNode,
    EntryNode,
    IntegerNode,
    ListNode,
    Node,
    PairNode,
    WordNode,
)
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

MAX_ENTRIES = 64
"""Entries of a list: dimensions, or bases of one input; an index has no more bits."""

Values = dict[str, Any]
PADDINGS = "paddings"  # the name under which a form lists its leading interval:+padding pairs


class NestedReader(Protocol):
    """Reader of the attributes nested in another."""

    def read(self, node: Node) -> Any:
        """Return the encoding of an attribute."""


class Spelled(Protocol):
    """An encoding, as far as its text needs it."""

    @property
    def spelling(self) -> Spelling | None:
        """The spelling in which it was written; None for an encoding built in Python."""

    def written(self) -> str:
        """Return text that the wheels of its releases read."""


class Kind(Protocol):
    """Type of the value of a key: its parser and its printer."""

    def read(self, node: Node, reader: NestedReader) -> Any:
        """Parse the value of a node; the error names the expected kind."""

    def show(self, value: Any) -> str:
        """Format a value canonically."""


class IntegerKind:
    """A number that is not negative; ``false`` reads as 0, as in MLIR."""

    def read(self, node: Node, reader: NestedReader) -> int:
        """Return the number."""
        if isinstance(node, WordNode) and node.word == "false":
            return 0
        if not isinstance(node, IntegerNode):
            raise LayoutError(f"expected an integer, got {node.span.text}", node.span)
        if node.value < 0:
            message = f"expected an integer that is not negative, got {node.value}"
            raise LayoutError(message, node.span)
        if node.value >= 1 << 31:
            raise LayoutError(f"the integer {node.value} does not fit into 32 bits", node.span)
        return node.value

    def show(self, value: int) -> str:
        """Return the number in decimal."""
        return str(value)


class BooleanKind:
    """``true`` or ``false``."""

    def read(self, node: Node, reader: NestedReader) -> bool:
        """Return the truth value."""
        if isinstance(node, WordNode) and node.word in ("true", "false"):
            return node.word == "true"
        raise LayoutError(f"expected true or false, got {node.span.text}", node.span)

    def show(self, value: bool) -> str:
        """Return ``true`` or ``false``."""
        return "true" if value else "false"


@dataclass(frozen=True)
class ListKind:
    """``[a, b, ...]``, every element of one kind."""

    element: Kind

    def read(self, node: Node, reader: NestedReader) -> tuple[Any, ...]:
        """Return the elements as a tuple."""
        if not isinstance(node, ListNode):
            raise LayoutError(f"expected a list, got {node.span.text}", node.span)
        if len(node.items) > MAX_ENTRIES:
            message = f"a list may have {MAX_ENTRIES} entries at most, got {len(node.items)}"
            raise LayoutError(message, node.span)
        return tuple(self.element.read(item, reader) for item in node.items)

    def show(self, value: Sequence[Any]) -> str:
        """Return the elements in brackets."""
        return "[" + ", ".join(self.element.show(item) for item in value) + "]"


@dataclass(frozen=True)
class WordKind:
    """One of a few words, each with a value."""

    symbols: Mapping[str, Any]

    def read(self, node: Node, reader: NestedReader) -> Any:
        """Return the value of the word."""
        if isinstance(node, WordNode) and node.word in self.symbols:
            return self.symbols[node.word]
        expected = " or ".join(self.symbols)
        raise LayoutError(f"expected {expected}, got {node.span.text}", node.span)

    def show(self, value: Any) -> str:
        """Return the first word of the value."""
        return next(word for word, meaning in self.symbols.items() if meaning == value)


class PairsKind:
    """``[interval:+padding, ...]``."""

    def read(self, node: Node, reader: NestedReader) -> tuple[tuple[int, int], ...]:
        """Return the pairs."""
        if not isinstance(node, ListNode):
            raise LayoutError(f"expected [interval:+padding, ...], got {node.span.text}", node.span)
        for item in node.items:
            if not isinstance(item, PairNode):
                message = f"expected interval:+padding, got {item.span.text}"
                raise LayoutError(message, item.span)
        return tuple((n.interval, n.padding) for n in node.items if isinstance(n, PairNode))

    def show(self, value: Sequence[tuple[int, int]]) -> str:
        """Return the pairs in brackets."""
        return format_padding(value)


@dataclass(frozen=True)
class BasesByDimKind:
    """``{register = [[..]], warp = [[..]]}``: bases per input dimension; empty ones unprinted.

    Attributes:
        dims: the input dimensions.
        required: those without which wheels cannot read the text, empty or not.
    """

    dims: tuple[str, ...]
    required: tuple[str, ...] = ()

    def read(self, node: Node, reader: NestedReader) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Return the bases of each dimension, in the order of ``dims``."""
        if not isinstance(node, DictNode):
            raise LayoutError(f"expected a dictionary, got {node.span.text}", node.span)
        for entry in node.entries:
            if entry.key not in self.dims:
                message = f"expected {' or '.join(self.dims)}, got {entry.key!r}"
                raise LayoutError(message, entry.span)
        values = {entry.key: BASES.read(entry.value, reader) for entry in node.entries}
        return tuple(values.get(dim, ()) for dim in self.dims)

    def show(self, value: Sequence[Any]) -> str:
        """Return the dictionary without its empty dimensions."""
        return self._shown(value, ())

    def write(self, value: Sequence[Any]) -> str:
        """Return the dictionary without its empty dimensions but those that are required."""
        return self._shown(value, self.required)

    def _shown(self, value: Sequence[Any], kept: Sequence[str]) -> str:
        pairs = [(d, bases) for d, bases in zip(self.dims, value) if bases or d in kept]
        return "{" + ", ".join(f"{d} = {BASES.show(bases)}" for d, bases in pairs) + "}"


class LayoutKind:
    """Another layout attribute."""

    def read(self, node: Node, reader: NestedReader) -> Any:
        """Return the encoding of the attribute."""
        return reader.read(node)

    def show(self, value: Spelled) -> str:
        """Return the encoding's own text."""
        return str(value)

    def write(self, value: Spelled) -> str:
        """Format the encoding with the keys that wheels need but do not print."""
        return value.written()


INTEGER = IntegerKind()
BOOLEAN = BooleanKind()
INTEGERS = ListKind(INTEGER)
BASES = ListKind(INTEGERS)
PAIRS = PairsKind()
LAYOUT = LayoutKind()


class _Absent(Enum):
    REQUIRED = "the key must be given"


REQUIRED = _Absent.REQUIRED


def never(values: Values) -> bool:
    """Omit no value of a key."""
    return False


class Key(NamedTuple):
    """One key of a spelling.

    Attributes:
        name: its name in the text.
        kind: parser and printer of its value.
        field: the field of today's class that it fills, if it fills one directly.
        part_of: the field that it fills together with others, if any.
        default: the meaning of its absence: a value, a function of the other values, or
            REQUIRED.
        silent_default: the value that the wheels silently assume for a missing required key;
            used only if a release is named, to reproduce it.
        omitted: whether canonical text leaves the key out, given all values.
        required_by_parser: whether wheels cannot read the text without it, although they do not
            print it.
        is_fork: whether no release reads it, but a fork of Triton does.
        sign: the text between the name and the value.
    """

    name: str
    kind: Kind
    field: str | None = None
    part_of: str | None = None
    default: Any = REQUIRED
    silent_default: Any = REQUIRED
    omitted: Callable[[Values], bool] = never
    required_by_parser: Callable[[Values], bool] = never
    is_fork: bool = False
    sign: str = " = "


def optional(name: str, kind: Kind, default: Any, field: str | None = None, **settings: Any) -> Key:
    """Return a key that canonical text omits at its default."""
    return Key(name, kind, field, default=default, omitted=lambda v: v[name] == default, **settings)


class Style(Enum):
    """Enclosure of the keys."""

    DICT = "<{key = value, ...}>"
    STRUCT = "<key = value, ...>"
    BRACED_STRUCT = "<{key = value, ...}>, bare keys and plain integers only"
    PADDED = "<[interval:+padding, ...] {key = value, ...}>"
    ALIGNED = "<{key = value, ...}, alignment = n>"


class Form(NamedTuple):
    """One spelling of an attribute; it holds until the next form of its class begins.

    Attributes:
        name: dialect and mnemonic, such as ``ttg.blocked``.
        since: the first release that reads it.
        keys: the keys in printed order.
        style: enclosure of the keys.
        normalize: canonicalises the values as those releases do before printing.
        to_fields: the fields of today's class that are not filled key by key.
        from_fields: its inverse: the values of keys that do not correspond to one field, from an
            encoding and the width of an element in bits (None where it is not known).
        supports: whether these releases still support the values, such as a generation of
            hardware.
    """

    name: str
    since: Release
    keys: tuple[Key, ...]
    style: Style = Style.DICT
    normalize: Callable[[Values], Values] = lambda values: values
    to_fields: Callable[[Values], Values] = lambda values: {}
    from_fields: Callable[[Any, int | None], Values] = lambda encoding, element_bits: {}
    supports: Callable[[Mapping[str, Node]], bool] = lambda _: True

    def fields(self, values: Values) -> Values:
        """Return the fields of today's class for the values of this form."""
        direct = {key.field: values[key.name] for key in self.keys if key.field is not None}
        return {**direct, **self.to_fields(values)}

    def keys_of(self, fields: Sequence[str]) -> list[str]:
        """Return the names of the keys that fill these fields, alone or with others."""
        return [
            key.name for field in fields for key in self.keys if field in (key.field, key.part_of)
        ]

    def values(self, encoding: Spelled, element_bits: int | None = None) -> Values:
        """Convert the fields of an encoding to values of this form, as far as it has keys.

        A field without a key in the form is left out: callers compare the meaning of the text
        afterwards.

        Raises:
            LayoutError: a value cannot be written in this form.
        """
        converted = self.from_fields(encoding, element_bits)
        values: Values = {}
        for key in self.keys:
            default = key.default(values) if callable(key.default) else key.default
            value = default if key.field is None else getattr(encoding, key.field)
            values[key.name] = converted.get(key.name, value)
        return self.normalize(values)

    def show(self, values: Values) -> str:
        """Return the canonical text."""
        shown = [(k, k.kind.show(values[k.name])) for k in self.keys if not k.omitted(values)]
        return f"#{self.name}<{_enclose(self.style, shown)}>"

    def write(self, values: Values) -> str:
        """Format the encoding as the wheels of these releases read it.

        It differs from the canonical text where they cannot read what they print.
        """
        written = [
            (k, getattr(k.kind, "write", k.kind.show)(values[k.name]))
            for k in self.keys
            if k.required_by_parser(values) or not k.omitted(values)
        ]
        return f"#{self.name}<{_enclose(self.style, written)}>"


def one_form(name: str, **kinds: Kind) -> tuple[Form, ...]:
    """Return the ``forms`` of an encoding with one spelling in every release.

    Args:
        name: dialect and mnemonic, as in the entry point.
        kinds: each key, called like the field that it fills, and how its value is read.

    Example:
        >>> [form] = one_form("acme.toy", lanes=INTEGER)
        >>> form.show({"lanes": 4})
        '#acme.toy<{lanes = 4}>'
    """
    keys = tuple(Key(key, kind, field=key) for key, kind in kinds.items())
    return (Form(name, Release.V2022, keys),)


def _enclose(style: Style, shown: Sequence[tuple[Key, str]]) -> str:
    """Join ``key = value`` pairs in a style."""
    front, back = "", ""
    pairs = {key.name: f"{key.name}{key.sign}{text}" for key, text in shown}
    texts = {key.name: text for key, text in shown}
    if style is Style.PADDED:
        del pairs[PADDINGS]
        front = texts[PADDINGS] + " "
    if style is Style.ALIGNED:
        del pairs["alignment"]
        back = f", alignment = {texts['alignment']}"
    joined = ", ".join(pairs.values())
    return joined if style is Style.STRUCT else f"{front}{{{joined}}}{back}"


class Spelling(NamedTuple):
    """The form in which an encoding was written, and its canonical values."""

    form: Form
    values: Values

    def __str__(self) -> str:
        return self.form.show(self.values)

    def written(self) -> str:
        """Format the encoding for the wheels of its releases; see `Form.write`."""
        return self.form.write(self.values)


def entries_of(node: AttributeNode, style: Style) -> tuple[EntryNode, ...]:
    """Return the ``key = value`` entries of an attribute in a style.

    Raises:
        LayoutError: the attribute is not enclosed in that way.
    """
    body = list(node.body or ())
    paddings: list[EntryNode] = []
    if style is Style.PADDED and body and isinstance(body[0], ListNode):
        pairs = body.pop(0)
        paddings.append(EntryNode(pairs.span, PADDINGS, pairs))
    inside: tuple[EntryNode, ...] = ()
    if style is not Style.STRUCT:
        first = body.pop(0) if body else None
        if not isinstance(first, DictNode):
            raise _wrong_style(node, style)
        inside = first.entries
    bare = [item for item in body if isinstance(item, EntryNode)]
    takes_bare = style in (Style.STRUCT, Style.ALIGNED)
    if len(bare) < len(body) or (bare and not takes_bare):
        raise _wrong_style(node, style)
    if style is Style.ALIGNED and any(entry.key == "alignment" for entry in inside):
        raise _wrong_style(node, style)
    _refuse_dictionary_syntax(inside if style is Style.BRACED_STRUCT else bare)
    return (*paddings, *inside, *bare)


def _wrong_style(node: AttributeNode, style: Style) -> LayoutError:
    return LayoutError(f"#{node.name} is written {style.value}", node.span)


def _refuse_dictionary_syntax(entries: Sequence[EntryNode]) -> None:
    for entry in entries:
        if entry.is_quoted:
            raise LayoutError(f"the key {entry.key!r} is written without quotes here", entry.span)
        if isinstance(entry.value, IntegerNode) and entry.value.has_type:
            message = f"the value of {entry.key} is written without a type here"
            raise LayoutError(message, entry.value.span)
