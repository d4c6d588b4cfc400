"""CuTe text of layouts that it can express exactly.

A tensor in registers is a thread-value layout: (thread, value) -> index of the element, the
index counted as CuTe flattens, the first dimension fastest.  A tensor in shared memory is a
layout from its coordinates to the offset in elements, perhaps behind a swizzle:

    ((4,8),(2,2)):((32,1),(16,8))        thread, value -> c0 + S0*c1 + ...
    Swizzle<3,3,3> o (64,64):(64,1)      coordinates -> offset

A linear layout is such a layout of modes of size 2 exactly where the strides of all bits add
as they xor: where no two of them share a bit.  Adjacent modes whose strides continue each
other are one mode.  Padding keeps to that: it adds the same to the stride of a bit whatever
the other bits are, so padded memory has strides as well.

Cost:        polynomial in the number of bits; a swizzle is found by trying all.
Source:      CUTLASS, include/cute/layout.hpp, swizzle.hpp; media/docs/cpp/cute/01_layout.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.padding import Padding, padded
from tt_layout.encodings import Encoding, SharedEncoding, TensorMemoryBase
from tt_layout.encodings.partitioned_shared import PartitionedShared
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import known_shape
from tt_layout.notation.cute.text import Cute, Mode, Swizzle, overlapping, read_cute
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.result import TensorSpec, Translation

Strides = tuple[int, ...]

MAX_SWIZZLE_BITS = 5
USUAL_LANES = 32
"""Lanes of a warp where nobody says how many there are."""


def to_cute(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the CuTe layout of an encoding over a shape.

    Raises:
        RefusedError: there is no shape, or the layout has no strides.
    """
    shape = known_shape(encoding, tensor, "the strides depend on the shape")
    if isinstance(encoding, (TensorMemoryBase, PartitionedShared)):
        raise refused(Reason.NO_FORM, f"CuTe notation is not implemented for #{encoding.name}")
    layout = encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
    if isinstance(encoding, SharedEncoding):
        wanted = offset_strides(layout, encoding.padding)
        cute = _shared(wanted, bool(encoding.padding))
    else:
        modes = [
            ("lane", "warp"),
            ("register",),
            *([("block",)] if layout.vectors("block") else []),
        ]
        wanted = [flat_strides(layout, names) for names in modes]
        cute = Cute(tuple(map(modes_of, wanted)))
        check_disjoint(wanted)
    text = str(cute)
    if read_cute(text).bit_values() != [list(group) for group in wanted]:
        raise LayoutError(f"the CuTe layout {text} was read back as another one")  # never
    lanes = None if isinstance(encoding, SharedEncoding) else layout.get_in_dim_size("lane")
    return Translation(text, (shape,), lanes_note(lanes))


def lanes_note(lanes: int | None) -> tuple[str, ...]:
    """Return the note about the lanes of a warp, which the text leaves open, unless they are 32."""
    if lanes in (None, USUAL_LANES):
        return ()
    return (f"the text counts threads only; read it with {lanes} lanes per warp",)


# -- registers ------------------------------------------------------------------------------


def flat_strides(layout: LinearLayout, names: Sequence[str]) -> Strides:
    """Return the index of the element at each bit of some input dimensions.

    Example:
        >>> layout = LinearLayout.from_bases([("lane", [[1, 0], [0, 1]])], ["dim0", "dim1"])
        >>> flat_strides(layout, ["lane"])
        (1, 2)
    """
    return tuple(layout.flatten(vector) for name in names for vector in layout.vectors(name))


def check_disjoint(groups: Iterable[Sequence[int]]) -> None:
    """Raise an error unless the sum of any of these numbers is their xor.

    Raises:
        RefusedError: two of them share a bit.
    """
    if (shared := overlapping(groups)) is not None:
        message = f"no strides express it: two bits share index {shared}, where xor is not a sum"
        raise refused(Reason.NO_FORM, message)


# -- shared memory --------------------------------------------------------------------------


def offset_strides(layout: LinearLayout, padding: Padding) -> list[Strides]:
    """Return, per dimension of the tensor, the offset of each bit of its coordinate.

    Raises:
        RefusedError: an element has no offset of its own.
    """
    if vectors := layout.vectors("block"):
        what = "split over" if any(map(any, vectors)) else "repeated in"
        message = f"the tensor is {what} CTAs, but a CuTe layout describes one"
        raise refused(Reason.NO_FORM, message)
    memory = layout.sublayout(["offset"], layout.get_out_dim_names())
    if not memory.is_invertible():
        raise refused(Reason.NO_FORM, "some offsets repeat elements or are unused")
    inverse = memory.invert()
    strides = [tuple(v[0] for v in vectors) for _, vectors in inverse.in_bases]
    if not padding:
        return strides
    check_disjoint(strides)
    return [tuple(padded(stride, padding) for stride in group) for group in strides]


def _shared(strides: list[Strides], is_padded: bool) -> Cute:
    """Return the layout with these offsets, after a swizzle if one is needed."""
    if is_padded or overlapping(strides) is None:
        return Cute(tuple(map(modes_of, strides)))
    for swizzle in _swizzles(sum(map(len, strides))):
        base = [tuple(swizzle(stride) for stride in group) for group in strides]
        if overlapping(base) is None:
            return Cute(tuple(map(modes_of, base)), swizzle)
    raise refused(Reason.NO_FORM, "neither strides nor one Swizzle<B,M,S> over strides express it")


def _swizzles(bits: int) -> Iterator[Swizzle]:
    """Yield the swizzles of offsets of some bits, the narrowest first."""
    for width in range(1, min(bits // 2, MAX_SWIZZLE_BITS) + 1):
        for base in range(bits - 2 * width + 1):
            for shift in range(width, bits - width - base + 1):
                yield Swizzle(width, base, shift)
                yield Swizzle(width, base, -shift)


def modes_of(strides: Strides) -> tuple[Mode, ...]:
    """Return modes of size 2 for the strides of bits, merged where they continue each other.

    Example:
        >>> [str(mode) for mode in modes_of((1, 2, 4, 64, 0, 0))]
        ['8:1', '2:64', '4:0']
    """
    modes: list[Mode] = []
    for stride in strides:
        last = modes[-1] if modes else None
        if last is not None and stride == last.size * last.stride:
            modes[-1] = Mode(2 * last.size, last.stride)
        else:
            modes.append(Mode(2, stride))
    return tuple(modes) or (Mode(1, 0),)


def bits_of(mode: Mode) -> Strides:
    """Return the strides of the bits of a mode; the inverse of `modes_of`."""
    return tuple(mode.stride << bit for bit in range(log2(mode.size)))


__all__ = ["bits_of", "flat_strides", "lanes_note", "modes_of", "offset_strides", "to_cute"]
