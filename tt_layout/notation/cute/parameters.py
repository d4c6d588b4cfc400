"""Arguments of CuTe's functions: by name, as in ``stride=(4, 1)``, in order, and of which kind.

Source:
    CUTLASS, python/CuTeDSL, cutlass/cute/core.py, atom.py and nvgpu: the signatures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.notation.cute import algebra
from tt_layout.notation.cute.algebra import Layout
from tt_layout.notation.cute.text import MAX_DIGITS, Swizzle
from tt_layout.notation.cute.values import Composed, LayoutPart, Name, ThreadValue, shown
from tt_layout.tuples import NamedTuple

Value = Any
"""A layout, `Composed`, `LayoutPart`, `ThreadValue`, an instruction or a product of several,
`AtomTraits`, a swizzle, a name, an integer, None, or a tuple."""

_TARGETS = ("target", "tiler")
_BLOCKS = ("block", "tiler")
_PARAMETERS: Mapping[str, Sequence[str]] = {
    "make_layout": ("shape", "stride"),
    "make_ordered_layout": ("shape", "order"),
    "make_composed_layout": ("inner", "offset", "outer"),
    "make_swizzle": ("b", "m", "s"),
    "make_layout_tv": ("thr_layout", "val_layout"),
    "make_tiled_copy_tv": ("atom", "thr_layout", "val_layout"),
    "make_tiled_mma": ("op_or_atom", "atom_layout_mnk", "permutation_mnk"),
    "tile_to_shape": ("atom", "trg_shape", "order"),
    "composition": ("lhs", "rhs"),
    "complement": ("input", "cotarget"),
    "coalesce": ("input", "target_profile"),
    "recast_layout": ("new_type_bits", "old_type_bits", "src_layout"),
    "slice_": ("src", "coord"),
    "select": ("input", "mode"),
    "group_modes": ("input", "begin", "end"),
    "crd2idx": ("coord", "layout"),
    "size": ("a", "mode"),
    "get": ("input", "mode"),
    "local_tile": ("input", "tiler", "coord"),
    "local_partition": ("target", "tiler", "index"),
    **{f"{form}_divide": _TARGETS for form in ("logical", "zipped", "tiled", "flat")},
    **{f"{form}_product": _BLOCKS for form in ("logical", "zipped", "tiled", "flat")},
    "blocked_product": _BLOCKS,
    "raked_product": _BLOCKS,
}
"""Function -> its arguments in order; those of other functions are taken as they come."""

_DEFAULTS: Mapping[tuple[str, str], Any] = {
    ("make_tiled_mma", "atom_layout_mnk"): (1, 1, 1),
}


def in_order(function: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a call in the order of the function.

    Raises:
        LayoutError: an argument has a name that the function does not know, or one is missing.

    Example:
        >>> in_order("make_layout", (), {"stride": (4, 1), "shape": (8, 4)})
        ((8, 4), (4, 1))
        >>> in_order("make_tiled_mma", ("SM80",), {"permutation_mnk": (32, 32, 16)})
        ('SM80', (1, 1, 1), (32, 32, 16))
    """
    names = _PARAMETERS.get(function)
    if names is None or not named:
        return (*arguments, *named.values())
    placed = dict(zip(names, arguments))
    for name in named:
        if name not in names:
            message = f"{function} has no argument {name!r}; it takes {', '.join(names)}"
            raise LayoutError(message)
        if name in placed:
            raise LayoutError(f"{function} is given {name!r} twice")
    placed |= named
    last = max(names.index(name) for name in placed)
    for name in names[:last]:
        if name not in placed and (function, name) not in _DEFAULTS:
            raise LayoutError(f"{function} needs {name!r}, too")
    rest = arguments[len(names) :]
    return (*(placed.get(n, _DEFAULTS.get((function, n))) for n in names[: last + 1]), *rest)


class Flag(NamedTuple):
    """The bits of the elements that a pointer to shared memory leads to."""

    bits: int


class Arguments(NamedTuple):
    """The arguments of a function: in ``<>`` and in ``()``."""

    template: tuple[Value, ...]
    arguments: tuple[Value, ...]

    @property
    def all(self) -> tuple[Value, ...]:
        """The arguments in the order in which they are written."""
        return (*self.template, *self.arguments)

    def some(self) -> tuple[Value, ...]:
        """Return the arguments; raises where there are none."""
        if not self.all:
            raise LayoutError("expected an argument, got none")
        return self.all

    def exactly(self, *counts: int) -> tuple[Value, ...]:
        """Return the arguments; raises where they are fewer or more."""
        if len(self.all) not in counts:
            wanted = " or ".join(map(str, counts))
            raise LayoutError(f"expected {wanted} arguments, got {len(self.all)}")
        return self.all


def calculated(sign: str, first: Value, second: Value) -> int:
    """Return a sum, a difference, a product or a quotient of integers; `/` rounds down."""
    a, b = integer_of(first), integer_of(second)
    if sign in "/%" and b < 1:
        raise LayoutError(f"cannot divide by {b}")
    value = a + b if sign == "+" else a - b if sign == "-" else a * b if sign == "*" else None
    if value is None:
        value = a // b if sign == "/" else a % b
    if abs(value) >= 10**MAX_DIGITS:
        raise LayoutError(f"numbers have at most {MAX_DIGITS} digits")
    return value


def numbers_of(value: Value) -> algebra.Nested:
    """Return an integer, or nested integers.

    Raises:
        LayoutError: it is anything else.
    """
    if isinstance(value, tuple) and not isinstance(value, (Name, Swizzle, Flag)):
        return tuple(map(numbers_of, value))
    if not isinstance(value, int):
        raise LayoutError(f"expected integers, got {shown(value)}")
    return value


def layout_of(value: Value) -> Layout:
    """Return a layout, or that of a shape.

    Raises:
        LayoutError: it is anything else, or a swizzle.
    """
    if isinstance(value, Layout):
        return value
    if isinstance(value, (LayoutPart, ThreadValue)) and isinstance(value.layout, Layout):
        return value.layout
    if isinstance(value, (Composed, Swizzle)):
        raise LayoutError(f"this function takes no swizzle, got {value}")
    return algebra.compact(numbers_of(value))


def tiler_of(value: Value) -> algebra.Tiler:
    """Return a layout, a tile, or a tuple of them.

    Raises:
        LayoutError: it is anything else.
    """
    if value is None or isinstance(value, (int, Layout)):
        return value
    if isinstance(value, tuple) and not isinstance(value, (Name, Swizzle, Flag)):
        return tuple(map(tiler_of, value))
    raise LayoutError(f"expected a layout or a tile, got {shown(value)}")


def coordinate_of(value: Value) -> algebra.Coordinate:
    """Return a coordinate, whose open places are None.

    Raises:
        LayoutError: it is anything else.
    """
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, tuple) and not isinstance(value, (Name, Swizzle, Flag)):
        return tuple(map(coordinate_of, value))
    raise LayoutError(f"expected a coordinate, got {shown(value)}")


def integer_of(value: Value) -> int:
    """Return an integer.

    Raises:
        LayoutError: it is anything else.
    """
    if not isinstance(value, int):
        raise LayoutError(f"expected an integer, got {shown(value)}")
    return value
