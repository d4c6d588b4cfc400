"""Expressions of CuTe, as C++ and Python write them, worked out.

    statements ::= (`using`? `auto`? name `=` expression `;`)* expression
    expression ::= pair (`o` pair)*
    pair       ::= sum (`:` sum)?
    sum        ::= product ((`+` | `-`) product)*
    product    ::= value ((`*` | `/` | `%`) value)*
    value      ::= integer | `_` | `(` expression (`,` expression)* `)`
                 | name (`<` .. `>`)? (`(` .. `)` | `{}`)*

``Layout<Shape<_8,_4>,Stride<_4,_1>>{}``, ``make_layout(make_shape(8, 4), LayoutRight{})`` and
``cute.make_layout((8, 4), stride=(4, 1))`` are the same.  A name that is no function of the
algebra, such as ``Copy_Atom<..>{}``, stays a name.

Sources:
    CUTLASS, media/docs/cpp/cute and media/docs/pythonDSL: the functions and their arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from tt_layout.errors import LayoutError, nearest, quoted
from tt_layout.mlir.source import Source
from tt_layout.notation.context import Context
from tt_layout.notation.cute import algebra, mma
from tt_layout.notation.cute.algebra import Layout, leaves
from tt_layout.notation.cute.parameters import (
    Arguments,
    Flag,
    Value,
    calculated,
    coordinate_of,
    in_order,
    integer_of,
    layout_of,
    numbers_of,
    tiler_of,
)
from tt_layout.notation.cute.printed import HELD, TILE, entries_of, head_of, only_values
from tt_layout.notation.cute.products import (
    copy_of,
    cotiled_copy,
    instruction_of,
    operation,
    thread_value,
    tiled_copy,
    tiled_product,
)
from tt_layout.notation.cute.text import MAX_DIGITS, Swizzle
from tt_layout.notation.cute.values import (
    AtomTraits,
    Composed,
    LayoutPart,
    Name,
    ThreadValue,
    bits_of,
    shared_atom,
    shown,
)
from tt_layout.tuples import NamedTuple

_SPECIFIERS = frozenset({"using", "auto", "const", "constexpr", "static", "typename", "int"})
"""Words that stand before what is defined, and change nothing."""

_DIRECTIVES = frozenset({"import", "from", "namespace"})
"""Words that begin a line that defines nothing, behind ``using`` or not."""

_FLAGS = frozenset({"smem_ptr_flag", "smem_ptr_flag_bits"})
"""Types that say what a layout in shared memory counts; the first, bits."""

_POINTERS = frozenset({"smem_ptr", "gmem_ptr", "rmem_ptr", "tmem_ptr", "ptr"}) | _FLAGS
"""Pointers, as a layout or a tensor is printed behind them."""

_POINTER = re.compile(r"(?:\w+\.)*ptr\b")
"""How a pointer begins as Python prints it: ``ptr<f16, gmem>``."""

_TUPLES = {"[": "]", "<": ">"}
"""Brackets of a tuple beside the usual: of a list, and of a tiler as documents write it."""

_GMMA = re.compile("^MMA_(?=64x)")
"""How instructions of ``SM90::GMMA`` begin, whose namespace has the chip."""

_BLANK = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r"(?:(?P<number>0x[0-9A-Fa-f]+|_?-?\d+(?:_c)?)(?![\w.])|(?P<width>\d{1,3}b)\b"
    r"|(?P<name>[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*)|(?:\.|::)(?P<member>[A-Za-z_]\w*)"
    r"|(?P<text>\"[^\"\n]*\"|'[^'\n]*')|(?P<sign>[<>(){}\[\],:;=∘*/%+-]))"
)


MAX_ENTRIES = 1 << 12
"""Entries of a tuple, those of tuples in it included."""


def evaluate(text: str, name: str = "<expression>") -> Value:
    """Return the value of an expression.

    Args:
        text: the expression; definitions may stand before it.
        name: name of the text in errors.

    Raises:
        LayoutError: the expression is wrong, or does not divide; the error shows where.

    Example:
        >>> str(evaluate("logical_divide(Layout<Shape<_8,_6>>{}, make_tile(_4{}, _3{}))"))
        '((4,2),(3,2)):((1,4),(8,24))'
        >>> str(evaluate("tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128, 64))"))
        'Swizzle<3,3,3> o ((8,16),(64,1)):((64,512),(1,0))'
        >>> str(evaluate("A = cute.make_layout((4, 8), stride=(8, 1)); A(2, None)"))
        '(8):(1) at offset 16'
    """
    if (head := head_of(text)) is not None:
        return _of_lines(text, name, head)
    return _Reader(Source(text, name), only_values(text)).statements()


def _of_lines(text: str, name: str, head: str) -> Value:
    """Return a tiled copy, or the layouts of a product or an atom, of its printed lines."""
    members: dict[str, Value] = {}
    tile, held = None, None
    for entry in entries_of(text):
        blanks = " " * entry.start + text[entry.start : entry.end]
        if entry.key == "ValueType":
            continue
        value = _Reader(Source(text, name), blanks).statements()
        members[entry.name] = value
        tile = value if entry.key in TILE else tile
        held = value if entry.key in HELD else held
    if isinstance(tile, tuple) and isinstance(held, Layout):
        sizes = tuple(part.size if isinstance(part, Layout) else part for part in tile)
        return ThreadValue(numbers_of(sizes), held)
    return AtomTraits(head, members)


def evaluated_layout(text: str, context: Context) -> str:
    """Return the layout that an expression is, to be read over a tensor.

    Raises:
        LayoutError: the expression is wrong, or is no layout of the whole tensor.
    """
    value = evaluate(text, context.name)
    if isinstance(value, LayoutPart):
        raise LayoutError(f"{value} is a part of a layout, not one of a whole tensor")
    if isinstance(value, mma.Atom):
        value = mma.TiledProduct(value, Layout((1, 1, 1), (0, 0, 0)))
    if isinstance(value, mma.TiledProduct):
        value = value.operand("C")
    if isinstance(value, ThreadValue):
        shape = context.tensor_shape("CuTe notation")
        if (tile := tuple(leaves(value.tile))) != tuple(shape):
            message = f"the threads and values cover a tile of {algebra.written(tile)}"
            raise LayoutError(f"{message}, not the tensor {algebra.written(tuple(shape))}")
        value = value.layout
    if not isinstance(value, (Layout, Composed)):
        raise LayoutError(f"expected a layout, got {shown(value)}")
    return str(value)


def _past(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of the match of a pattern that matches nothing, too."""
    match = pattern.match(text, start)
    return match.end() if match else start


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    """A reader of one text, which works out what it reads."""

    def __init__(self, source: Source, text: str) -> None:
        self.source = source
        self.tokens = [*self._tokens(text)]
        self.at = 0
        self.depth = 0
        self.names: dict[str, Value] = {}

    def _tokens(self, text: str) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while (at := _past(_BLANK, text, at)) < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                span = self.source.span(at, at + 1)
                if text[at] == "?":
                    raise LayoutError(
                        "'?' is known when the program runs: put its number here", span
                    )
                raise LayoutError(f"unexpected {quoted(text[at])}", span)
            kind = match.lastgroup or ""
            tokens.append(_Token(kind, match[kind], match.start(kind), match.end(kind)))
            at = match.end()
        return tokens

    # -- tokens ---------------------------------------------------------------------------------

    @property
    def _next(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def _take(self, text: str) -> bool:
        if self._next != text:
            return False
        self.at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._take(text):
            instead = quoted(self._next) if self._next else "the end"
            self._fail(f"expected {quoted(text)}, got {instead}")

    def _fail(self, message: str, start: int | None = None) -> NoReturn:
        begin = self.at if start is None else start
        if begin < len(self.tokens):
            first, last = self.tokens[begin], self.tokens[max(begin, self.at - 1)]
            span = self.source.span(first.start, max(first.end, last.end))
        else:
            end = len(self.source.text)
            span = self.source.span(max(0, end - 1), max(1, end))
        raise LayoutError(message, span)

    def _guarded(self, start: int, action: Callable[[], Value]) -> Value:
        """Run an action; its errors point at the text read from a token on."""
        try:
            value = action()
        except LayoutError as error:
            if error.location is not None:
                raise
            self._fail(error.message, start)
        if isinstance(value, Layout) and len(value.flat) > algebra.MAX_MODES:
            self._fail(f"a layout has at most {algebra.MAX_MODES} sizes here", start)
        return self._bounded(value, start)

    def _bounded(self, value: Value, start: int) -> Value:
        """Return a value, unless it is a tuple that names within names have made huge or deep."""
        entries, waiting = 0, [(value, 0)] if isinstance(value, tuple) else []
        while waiting:
            part, depth = waiting.pop()
            entries += 1
            if depth > algebra.MAX_DEPTH:
                self._fail(f"at most {algebra.MAX_DEPTH} brackets in brackets are read", start)
            if entries > MAX_ENTRIES:
                self._fail(f"a tuple has at most {MAX_ENTRIES} entries", start)
            if isinstance(part, tuple):
                waiting += [(entry, depth + 1) for entry in part]
        return value

    # -- the grammar ----------------------------------------------------------------------------

    def statements(self, end: str = "") -> Value:
        """Return the value of the last expression.

        Args:
            end: the bracket that the statements stop at; none for those of the whole text.
        """
        value: Value = None
        is_empty = True
        while self.at < len(self.tokens) and (not end or self._next != end):
            if self._next in _SPECIFIERS:
                self.at += 1
                continue
            if self._next in ("template", "struct"):
                value, is_empty = self._struct(), False
                continue
            if self._next in _DIRECTIVES:
                self._skip_line()
                continue
            names = self._defined_names()
            self._take("typedef")
            value, is_empty = self.expression(), False
            names = names or self._declared_name()
            if len(names) > 1:
                values = (value.tile, value) if isinstance(value, ThreadValue) else value
                if not isinstance(values, tuple) or len(values) != len(names):
                    self._fail(f"{shown(value)} is not {len(names)} values")
                self.names.update(zip(names, values))
            elif names:
                self.names[names[0]] = value
            if not self._take(";") and self.at < len(self.tokens) and not self._is_on_new_line:
                self._fail(f"unexpected {quoted(self._next)}")
        if is_empty and not end:
            self._fail("expected an expression such as logical_divide((8,6):(1,8), (4, 3))")
        return value

    @property
    def _is_on_new_line(self) -> bool:
        """Whether the next token is below the last one, where Python ends a statement."""
        last, token = self.tokens[self.at - 1], self.tokens[self.at]
        return "\n" in self.source.text[last.end : token.start]

    def _skip_line(self) -> None:
        """Step over a statement that defines nothing: ``import cutlass.cute as cute``."""
        self.at += 1
        while self.at < len(self.tokens) and not self._is_on_new_line:
            if self._take(";"):
                return
            self.at += 1

    def _defined_names(self) -> list[str]:
        """Return the names that a statement defines, and step over them and the ``=``."""
        at, names = self.at, list[str]()
        while at + 1 < len(self.tokens) and self.tokens[at].kind == "name":
            names.append(self.tokens[at].text)
            if self.tokens[at + 1].text == "=":
                self.at = at + 2
                return names
            if self.tokens[at + 1].text != ",":
                break
            at += 2
        return []

    def _declared_name(self) -> list[str]:
        """Step over the name behind a type, as in ``typedef X A;`` and ``X a{};``; return it."""
        if not self._next.isidentifier() or self._is_on_new_line:
            return []
        self.at += 1
        name = self.tokens[self.at - 1].text
        if self._take("{"):
            self._expect("}")
        return [name]

    def _struct(self) -> AtomTraits:
        """Return the layouts that a struct defines: ``struct Copy_Traits<X> { using .. };``."""
        start = self.at
        while self._next not in ("{", ""):
            self.at += 1
        words = self.tokens[start : self.at]
        names_before = self.names
        self.names = dict(names_before)
        self._expect("{")
        self.statements("}")
        self._expect("}")
        self._take(";")
        defined = {name: value for name, value in self.names.items() if name not in names_before}
        self.names = names_before
        heads = [
            word.text for word in words if word.kind == "name" and word.text not in _SPECIFIERS
        ]
        named = [name for name in heads if name not in ("template", "struct")]
        return AtomTraits(named[0] if named else "", defined)

    def expression(self) -> Value:
        """Return a value, or one composed of several."""
        start = self.at
        parts = [self._pair()]
        while self._take("o") or self._take("∘"):
            parts.append(self._pair())
        if len(parts) == 1:
            return parts[0]
        return self._guarded(start, lambda: _chained(parts))

    def _pair(self) -> Value:
        start = self.at
        value = self._sum()
        if not self._take(":"):
            return value
        stride = self._sum()
        return self._guarded(start, lambda: Layout(numbers_of(value), numbers_of(stride)))

    def _sum(self) -> Value:
        """Return a value, or the sum of integers."""
        start = self.at
        value = self._product()
        while self._next[:1] in ("+", "-") and self._next[:1]:
            sign = self._next[0]
            if len(self._next) == 1:
                self.at += 1
            elif self.tokens[self.at].kind != "number":
                break
            operand = self._product()  # of ``4 -2`` the number has the sign already
            is_minus = sign == "-" and self.tokens[self.at - 1].text[:1] != "-"
            value = self._guarded(
                start, partial(calculated, "-" if is_minus else "+", value, operand)
            )
        return value

    def _product(self) -> Value:
        """Return a value, or the product of integers."""
        start = self.at
        value = self._value()
        while self._next in ("*", "/", "%"):
            sign = self._next
            self.at += 1
            operand = self._value()
            value = self._guarded(start, partial(calculated, sign, value, operand))
        return value

    def _value(self) -> Value:
        if self.at >= len(self.tokens):
            self._fail("expected a value, got the end")
        start, token = self.at, self.tokens[self.at]
        self.at += 1
        if token.kind == "number":
            digits = token.text.removeprefix("_").removesuffix("_c")
            if len(digits) > MAX_DIGITS:
                self._fail(f"numbers have at most {MAX_DIGITS} digits", start)
            value: Value = int(digits, 16 if digits.startswith("0x") else 10)
        elif token.text == "(":
            items, named = self._items(")")
            if named:
                self._fail("a tuple has no names", start)
            is_single = len(items) == 1 and self.tokens[self.at - 2].text != ","
            is_of_pair = self._next == ":" or (start and self.tokens[start - 1].text == ":")
            value = items[0] if is_single and not is_of_pair else self._bounded(items, start)
        elif token.text in _TUPLES:
            items, _ = self._items(_TUPLES[token.text])
            value = self._bounded(items, start)
        elif token.kind == "name":
            value = self._named(token.text, start)
        elif token.kind == "text":
            value = Name(token.text)
        else:
            self.at -= 1
            self._fail(f"expected a value, got {quoted(token.text)}")
        return self._applied(value, start)

    def _applied(self, value: Value, start: int) -> Value:
        """Return a value, or a part of the layout that it is: ``layout(2, _)``."""
        while self._next in ("(", "{") or self._is_member:
            if self._is_member:
                value = self._member(value, start)
                continue
            if self._take("{"):
                self._expect("}")
                continue
            if not isinstance(value, (Layout, Composed)):
                break
            self.at += 1
            items, _ = self._items(")")
            coordinate = items[0] if len(items) == 1 else items
            value = self._guarded(start, partial(_called, value, coordinate))
        return value

    @property
    def _is_member(self) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].kind == "member"

    def _member(self, value: Value, start: int) -> Value:
        """Return a member of a value: ``mma.get_layoutC_TV()``."""
        name = self._next
        self.at += 1
        if self._take("("):
            self._items(")")
        return self._guarded(start, lambda: _member(value, name))

    def _items(self, end: str) -> tuple[tuple[Value, ...], dict[str, Value]]:
        """Return the values between brackets, and those with names."""
        self.depth += 1
        if self.depth > algebra.MAX_DEPTH:
            self._fail(f"at most {algebra.MAX_DEPTH} brackets in brackets are read")
        values: list[Value] = []
        named: dict[str, Value] = {}
        while not self._take(end):
            is_named = self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == "="
            if is_named:
                name = self._next
                self.at += 2
                named[name] = self.expression()
            else:
                values.append(self.expression())
            if not self._take(","):
                self._expect(end)
                break
        self.depth -= 1
        return tuple(values), named

    def _named(self, name: str, start: int) -> Value:
        """Return the value of a name with its arguments."""
        if name in ("_", "None", "Underscore"):
            return None
        if name in self.names:
            return self.names[name]
        if (first := name.split(".")[0]) in self.names:
            self._split_members(name)
            return self.names[first]
        last_name = re.split(r"::|\.", name)[-1]
        if last_name in _POINTERS and (last_name in _FLAGS or self._next == "["):
            return self._flag(last_name, start)
        template: tuple[Value, ...] = ()
        if self._take("<"):
            template, _ = self._items(">")
        arguments: tuple[Value, ...] = ()
        named: dict[str, Value] = {}
        is_call = self._take("(")
        if is_call:
            arguments, named = self._items(")")
        if last_name in _FUNCTIONS:
            return self._guarded(
                start,
                lambda: _FUNCTIONS[last_name](
                    Arguments(template, in_order(last_name, arguments, named))
                ),
            )
        if (atom := self._guarded(start, lambda: _atom(last_name, template))) is not None:
            return atom
        if is_call and last_name[:1].islower():
            near = nearest(last_name, _FUNCTIONS)
            hint = f"; did you mean {near}?" if near else ""
            self._fail(f"CuTe's {name!r} is not a known function{hint}", start)
        text = self.source.text[self.tokens[start].start : self.tokens[self.at - 1].end]
        return Name(" ".join(text.split()))

    def _split_members(self, name: str) -> None:
        """Make tokens of the members in a name that was taken: ``mma.tv_layout_C``."""
        at = self.tokens[self.at - 1].start
        tokens = []
        for k, part in enumerate(name.split(".")):
            tokens.append(_Token("member" if k else "name", part, at, at + len(part)))
            at += len(part) + 1
        self.tokens[self.at - 1 : self.at] = tokens

    def _flag(self, name: str, start: int) -> Value:
        """Return the width in a pointer: ``smem_ptr[16b](unset)``, ``smem_ptr_flag_bits<16>``."""
        if name in _FLAGS:
            bits = self._items(">")[0] if self._take("<") else (1,)
            return self._guarded(start, lambda: Flag(integer_of(bits[0] if bits else None)))
        self._expect("[")
        match = re.fullmatch(r"(\d{1,3})b", self._next)
        if match is None:
            self._fail("expected a width such as 16b")
        self.at += 1
        self._expect("]")
        if self._take("("):
            self._items(")")
        return Flag(int(match[1]))


def _chained(parts: Sequence[Value]) -> Value:
    """Compose values with ``o`` between them: functions, the last applied first."""
    value, *rest = reversed(parts)
    offset = 0
    bits = 8
    for operand in rest:
        if isinstance(operand, Flag):
            bits = operand.bits
        elif isinstance(operand, int):
            offset = operand
        elif isinstance(operand, Name) and _POINTER.match(operand.text):
            continue  # where the layout begins
        elif isinstance(operand, Swizzle):
            # the swizzle is of bytes
            swizzle = operand._replace(base=operand.base - (bits.bit_length() - 4))
            if isinstance(value, Composed):
                raise LayoutError("a swizzle of a swizzle is not one layout")
            layout = layout_of(value)
            value = Composed(swizzle, offset, layout) if swizzle.bits else layout
        else:
            value = algebra.composition(layout_of(operand), layout_of(value))
    return value


def _inner(function: Callable[..., Layout]) -> Callable[..., Value]:
    """Return a function of layouts that goes through a swizzle of its first one."""

    def through(first: Value, *rest: Any) -> Value:
        if isinstance(first, Composed):
            return Composed(first.swizzle, first.offset, function(first.layout, *rest))
        return function(layout_of(first), *rest)

    return through


def _called(value: Layout | Composed, coordinate: Value) -> Value:
    """Return the integer at a coordinate, or the part that it leaves open."""
    place = coordinate_of(coordinate)
    inner = value.layout if isinstance(value, Composed) else value
    if not _is_open(place):
        return value(numbers_of(place))
    return _part(value, algebra.sliced(inner, place))


def _is_open(coordinate: algebra.Coordinate) -> bool:
    if isinstance(coordinate, tuple):
        return any(map(_is_open, coordinate))
    return coordinate is None


def _part(value: Value, found: tuple[Layout, int]) -> Value:
    layout, offset = found
    if isinstance(value, Composed):
        return Composed(value.swizzle, value.offset + offset, layout)
    return LayoutPart(layout, offset)


# -- functions ----------------------------------------------------------------------------------


def _make_layout(call: Arguments) -> Value:
    values = call.exactly(1, 2) if not _are_layouts(call.all) else call.all
    if _are_layouts(values):
        return algebra.joined(values)
    shape = numbers_of(values[0])
    if len(values) == 1:
        return algebra.compact(shape)
    if isinstance(values[1], Name):
        rank = len(shape) if isinstance(shape, tuple) else 1
        is_right = _is_right(values[1])
        return _by_rows(shape) if is_right else algebra.compact(shape, range(rank))
    return Layout(shape, numbers_of(values[1]))


def _are_layouts(values: Sequence[Value]) -> bool:
    return bool(values) and all(isinstance(value, Layout) for value in values)


def _is_right(name: Name) -> bool:
    last_name = re.split(r"::|\.", name.text.rstrip("(){} "))[-1]
    if last_name in ("LayoutRight", "GenRowMajor"):
        return True
    if last_name in ("LayoutLeft", "GenColMajor"):
        return False
    raise LayoutError(f"expected strides, LayoutLeft or LayoutRight, got {quoted(name.text)}")


def _by_rows(shape: algebra.Nested) -> Layout:
    """Return the layout of a shape in which the last of all sizes is the fastest."""
    sizes = [*leaves(shape)]
    strides = [*leaves(algebra.compact(tuple(reversed(sizes))).stride)][::-1]
    rest = iter(strides)

    def filled(nested: algebra.Nested) -> algebra.Nested:
        return next(rest) if isinstance(nested, int) else tuple(map(filled, nested))

    return Layout(shape, filled(shape))


def _order(value: Value) -> tuple[int, ...] | None:
    if isinstance(value, Name):
        return None if not _is_right(value) else ()
    return tuple(integer_of(entry) for entry in (value if isinstance(value, tuple) else (value,)))


def _tile_to_shape(call: Arguments) -> Value:
    block, shape, *rest = call.exactly(2, 3)
    sizes = numbers_of(shape)
    order = _order(rest[0]) if rest else None
    if order == ():
        rank = len(sizes) if isinstance(sizes, tuple) else 1
        order = tuple(reversed(range(rank)))
    return _inner(algebra.tile_to_shape)(block, sizes, order)


def _swizzle(call: Arguments) -> Swizzle:
    bits, base, shift = map(integer_of, call.exactly(3))
    if not (0 <= bits <= 32 and 0 <= base <= 32 and -32 <= shift <= 32):
        raise LayoutError("a swizzle has bits and a base of 0 to 32, and a shift of -32 to 32")
    if abs(shift) < bits:
        raise LayoutError(f"a swizzle of {bits} bits needs a shift of at least {bits}")
    return Swizzle(bits, base, shift)


def _composition(call: Arguments) -> Value:
    values = call.exactly(2, 3)
    if isinstance(values[0], Swizzle):
        return _chained(values)
    if len(values) == 3:
        raise LayoutError("a composition of three begins with a swizzle")
    return _inner(algebra.composition)(values[0], tiler_of(values[1]))


def _two(
    function: Callable[[Layout, Any], Layout], read: Callable[[Value], Any] = tiler_of
) -> Callable[[Arguments], Value]:
    """Return a function of a layout and a tiler, with or without a swizzle before the layout."""

    def found(call: Arguments) -> Value:
        first, second = call.exactly(2)
        return _inner(function)(first, read(second))

    return found


def _inverse(function: Callable[[Layout], Layout]) -> Callable[[Arguments], Value]:
    return lambda call: function(layout_of(call.exactly(1)[0]))


def _with_profile(
    function: Callable[[Layout, algebra.Tiler], Layout],
) -> Callable[[Arguments], Value]:
    def found(call: Arguments) -> Value:
        first, *rest = call.exactly(1, 2)
        return _inner(function)(first, tiler_of(rest[0]) if rest else None)

    return found


def _complement(call: Arguments) -> Layout:
    first, *rest = call.exactly(1, 2)
    cosize = 1
    if rest:
        cosize = rest[0].size if isinstance(rest[0], Layout) else integer_of(rest[0])
    return algebra.complement(layout_of(first), cosize)


def _recast(call: Arguments, *, is_new_first: bool) -> Value:
    first, second, layout = call.exactly(3)
    new, old = (first, second) if is_new_first else (second, first)
    return _of_width(layout, bits_of(new), bits_of(old))


def _of_width(value: Value, new: int, old: int) -> Value:
    if not isinstance(value, Composed):
        return algebra.recast(layout_of(value), new, old)
    if value.offset:
        raise LayoutError("a swizzle with an offset is not recast")
    layout = algebra.recast(value.layout, new, old)
    base = value.swizzle.base + old.bit_length() - new.bit_length()
    if base < 0:
        raise LayoutError(f"{value.swizzle} moves less than an element of {new} bits")
    return Composed(value.swizzle._replace(base=base), 0, layout)


def _cast(function: Callable[[Layout, int], Layout]) -> Callable[[Arguments], Value]:
    def found(call: Arguments) -> Value:
        values = call.exactly(2)
        count, layout = values if call.template else values[::-1]
        if (number := integer_of(count)) < 1:
            raise LayoutError(f"the factor is at least 1, got {number}")
        if isinstance(layout, Composed):
            return _of_width(layout, *((number, 1) if function is algebra.upcast else (1, number)))
        return function(layout_of(layout), number)

    return found


def _slice(call: Arguments) -> Value:
    first, second = call.exactly(2)
    is_layout_first = isinstance(first, (Layout, Composed))
    return _called(*((first, second) if is_layout_first else (second, first)))


def _local_tile(call: Arguments) -> Value:
    layout, tiler, coordinate = call.exactly(3)
    inner = layout.layout if isinstance(layout, Composed) else layout_of(layout)
    return _part(layout, algebra.local_tile(inner, tiler_of(tiler), coordinate_of(coordinate)))


def _local_partition(call: Arguments) -> Value:
    layout, threads, number = call.exactly(3)
    inner = layout.layout if isinstance(layout, Composed) else layout_of(layout)
    partition = algebra.local_partition(inner, layout_of(threads), integer_of(number))
    return _part(layout, partition)


def _atom(name: str, template: tuple[Value, ...]) -> Value:
    """Return an atom of shared memory or a matrix instruction; None for any other name."""
    name = _GMMA.sub("SM90_", name)
    if mma.is_atom(name):
        return mma.atom(name, [number for number in template if isinstance(number, int)])
    return shared_atom(name, template)


def _member(value: Value, name: str) -> Value:
    """Return a member of a value: a fragment of a product, or a layout of a struct."""
    if isinstance(value, (Layout, Composed)) and name in _PROPERTIES:
        return _PROPERTIES[name](Arguments((), (value,)))
    if name in ("value", "type") and not isinstance(value, AtomTraits):
        return value
    if isinstance(value, AtomTraits) and name in value.members:
        return value.members[name]
    match = re.fullmatch(r"get_layout([ABC])_TV|tv_layout_([ABC])(?:_tiled)?", name)
    if match and isinstance(value, mma.TiledProduct):
        return value.operand(match[1] or match[2])
    if isinstance(value, mma.Atom):
        members = {"A": value.a, "B": value.b, "C": value.c}
        if match:
            return members[match[1] or match[2]]
        traits: dict[str, Value] = {f"{key}Layout": layout for key, layout in members.items()}
        traits |= {"ThrID": value.threads, "Shape_MNK": value.sizes}
        if name in traits:
            return traits[name]
    raise LayoutError(f"{name} of {shown(value)} is not known here")


def _shared_atom(call: Arguments) -> Value:
    """Return an atom of shared memory: ``make_smem_layout_atom(kind, type)`` of the DSL."""
    kind, element = call.exactly(2)
    name = kind.text.split(".")[-1] if isinstance(kind, Name) else ""
    atom = shared_atom(f"Layout_{name}_Atom", (element,))
    if atom is None:
        raise LayoutError(f"expected a kind such as K_SW128 or MN_SW64, got {shown(kind)}")
    return atom


def _of_mode(function: Callable[[Layout], Any]) -> Callable[[Arguments], Value]:
    """Return a function of a layout, or with ``<0>`` of one of its modes."""

    def found(call: Arguments) -> Value:
        if call.template:
            *at, value = call.all
        else:
            value, *modes = call.exactly(1, 2)
            at = [*leaves(numbers_of(modes[0]))] if modes else []
        layout = value.layout if isinstance(value, Composed) else layout_of(value)
        for number in map(integer_of, at):
            layout = _entry(layout.modes, number)
        return function(layout)

    return found


def _entry(values: Sequence[Any], number: int) -> Any:
    if not 0 <= number < len(values):
        raise LayoutError(f"there is no mode {number} of {len(values)}")
    return values[number]


def _get(call: Arguments) -> Value:
    if call.template:
        *at, value = call.all
    else:
        value, mode = call.exactly(2)
        at = [*leaves(numbers_of(mode))]
    if isinstance(value, (Layout, Composed)):
        return _of_mode(lambda layout: layout)(Arguments((), (value, tuple(at))))
    for number in map(integer_of, at):
        value = _entry(value if isinstance(value, tuple) else (value,), number)
    return value


def _selected(call: Arguments) -> Layout:
    """Return the layout of some modes: ``select<0,2>(layout)``."""
    *at, value = call.all if call.template else call.exactly(2)[::-1]
    modes = layout_of(value).modes
    numbers = at if call.template else [*leaves(numbers_of(at[0]))]
    return algebra.joined([_entry(modes, integer_of(number)) for number in numbers])


def _grouped(call: Arguments) -> Layout:
    """Return a layout whose modes from one to before another are one: ``group<0,2>(layout)``."""
    values = call.exactly(3)
    value, begin, end = values if not call.template else (values[2], *values[:2])
    modes = layout_of(value).modes
    chosen = _between(modes, begin, end)
    return algebra.joined(
        [*modes[: chosen.start], algebra.joined(modes[chosen]), *modes[chosen.stop :]]
    )


def _between(modes: Sequence[Layout], begin: Value, end: Value) -> slice:
    first, last = integer_of(begin), integer_of(end)
    if not 0 <= first < last <= len(modes):
        raise LayoutError(f"there are no modes {first} to {last} of {len(modes)}")
    return slice(first, last)


def _linear_index(call: Arguments) -> Value:
    """Return the integer at a coordinate: ``crd2idx(coordinate, layout)``, or shape and stride."""
    coordinate, first, *stride = call.exactly(2, 3)
    layout = Layout(numbers_of(first), numbers_of(stride[0])) if stride else first
    return _called(layout if isinstance(layout, Composed) else layout_of(layout), coordinate)


def _extended(call: Arguments, *, is_front: bool = False) -> Layout:
    """Return a layout with modes more: ``append(layout, mode)``, ``append<3>(layout)``."""
    if call.template:
        rank, first, *more = call.exactly(2, 3)
        value, mode = layout_of(first), layout_of(more[0]) if more else Layout(1, 0)
        count = max(0, integer_of(rank) - len(value.modes))
    else:
        value, mode = map(layout_of, call.exactly(2))
        count = 1
    added = [mode] * min(count, algebra.MAX_MODES + 1)
    return algebra.joined([*added, *value.modes] if is_front else [*value.modes, *added])


def _taken(call: Arguments) -> Layout:
    """Return the modes from one to before another: ``take<0,2>(layout)``."""
    begin, end, value = call.exactly(3)
    modes = layout_of(value).modes
    return algebra.joined(modes[_between(modes, begin, end)])


def _rounded_up(call: Arguments) -> algebra.Nested:
    """Return quotients rounded up, of integers or of each entry of two tuples."""
    first, second = map(numbers_of, call.exactly(2))

    def divided(number: algebra.Nested, by: algebra.Nested) -> algebra.Nested:
        if isinstance(number, tuple) and isinstance(by, tuple) and len(number) == len(by):
            return tuple(map(divided, number, by))
        return -calculated("/", -integer_of(number), by)

    return divided(first, second)


def _depth(shape: algebra.Nested) -> int:
    return 1 + max(map(_depth, shape), default=0) if isinstance(shape, tuple) else 0


_PROPERTIES: Mapping[str, Callable[[Arguments], Value]] = {
    "size": _of_mode(lambda layout: layout.size),
    "cosize": _of_mode(lambda layout: layout.cosize),
    "rank": _of_mode(lambda layout: len(layout.modes)),
    "shape": _of_mode(lambda layout: layout.shape),
    "stride": _of_mode(lambda layout: layout.stride),
}
"""Properties of a layout, or of a mode of it, also as members: ``layout.shape()``."""

_TUPLE_MAKERS = (
    "Shape", "Stride", "Step", "Coord", "Tile", "make_shape", "make_stride", "make_step",
    "make_coord", "make_tile", "make_tuple", "make_tiler", "tuple", "Tuple",
)  # fmt: skip

_FUNCTIONS: Mapping[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(_TUPLE_MAKERS, lambda call: call.all),
    **dict.fromkeys(
        ("Int", "C", "constant", "_constant"), lambda call: integer_of(call.some()[-1])
    ),
    "Layout": _make_layout,
    "make_layout": _make_layout,
    "make_ordered_layout": lambda call: algebra.compact(
        numbers_of(call.exactly(2)[0]), _order(call.all[1])
    ),
    "Swizzle": _swizzle,
    "make_swizzle": _swizzle,
    "Sw": _swizzle,
    "S": _swizzle,
    "ComposedLayout": lambda call: _chained(call.exactly(2, 3)),
    "make_composed_layout": lambda call: _chained(call.exactly(2, 3)),
    "composition": _composition,
    "coalesce": _with_profile(algebra.coalesce),
    "filter": _with_profile(algebra.filtered),
    "complement": _complement,
    "right_inverse": _inverse(algebra.right_inverse),
    "left_inverse": _inverse(algebra.left_inverse),
    "logical_divide": _two(algebra.logical_divide),
    "zipped_divide": _two(algebra.zipped_divide),
    "tiled_divide": _two(algebra.tiled_divide),
    "flat_divide": _two(algebra.flat_divide),
    "logical_product": _two(algebra.logical_product),
    "zipped_product": _two(algebra.zipped_product),
    "tiled_product": _two(algebra.tiled_product),
    "flat_product": _two(algebra.flat_product),
    "blocked_product": _two(algebra.blocked_product, layout_of),
    "raked_product": _two(algebra.raked_product, layout_of),
    "tile_to_shape": _tile_to_shape,
    "recast": lambda call: _recast(call, is_new_first=True),
    "recast_layout": lambda call: _recast(call, is_new_first=not call.template),
    "upcast": _cast(algebra.upcast),
    "downcast": _cast(algebra.downcast),
    "slice": _slice,
    "slice_": _slice,
    "local_tile": _local_tile,
    "local_partition": _local_partition,
    "make_layout_tv": thread_value,
    "make_tiled_copy": tiled_copy,
    "make_tiled_copy_tv": tiled_copy,
    "make_tiled_mma": tiled_product,
    "TiledMMA": tiled_product,
    "MMA_Atom": instruction_of,
    "MMA_Traits": instruction_of,
    "make_mma_atom": instruction_of,
    "make_smem_layout_atom": _shared_atom,
    "MmaF16BF16Op": operation,
    "MmaTF32Op": operation,
    "MmaF8Op": operation,
    "make_tiled_copy_A": copy_of("A"),
    "make_tiled_copy_B": copy_of("B"),
    "make_tiled_copy_C": copy_of("C"),
    "decltype": lambda call: call.exactly(1)[0],
    **_PROPERTIES,
    "layout": _of_mode(lambda layout: layout),
    "get": _get,
    "select": _selected,
    "group": _grouped,
    "group_modes": _grouped,
    "ceil_div": _rounded_up,
    "crd2idx": _linear_index,
    "append": _extended,
    "prepend": lambda call: _extended(call, is_front=True),
    "take": _taken,
    "depth": _of_mode(lambda layout: _depth(layout.shape)),
    "flatten": _of_mode(algebra.flattened),
    "filter_zeros": _of_mode(algebra.without_zeros),
    "MmaUniversalOp": lambda call: mma.atom("UniversalFMA"),
    "max": lambda call: max(map(integer_of, call.some())),
    "min": lambda call: min(map(integer_of, call.some())),
    "tensor": lambda call: call.exactly(1)[0],
    **dict.fromkeys(("sizeof_bits", "sizeof_bits_v"), lambda call: bits_of(call.exactly(1)[0])),
    "make_cotiled_copy": cotiled_copy,
    "make_copy_atom": lambda call: Name("Copy_Atom"),
    **dict.fromkeys(
        ("print", "print_layout", "print_latex", "printf"),
        lambda call: call.all[-1] if call.all else Name("print()"),
    ),
}
"""Function, or type that makes a value -> what it does with its arguments."""
