"""Layouts over sizes that are not all powers of two, as in Meta's fork of Triton.

The bases are those over the sizes rounded up to powers of two: a dimension is tiled as if it had
the rounded size, and only its size is N.  Coordinates beyond N wrap, see
`tt_layout.algebra.modular_layout`.  Only the distance of CTAs that split such a dimension is a
fraction of N itself.

Source:
    facebookexperimental/triton, lib/Tools/LayoutUtils.cpp: ``ensureLayoutNotLargerThan``,
    ``ensureLayoutNotSmallerThan``; lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp:
    ``combineCtaCgaWithShape``; lib/Dialect/TritonGPU/IR/Dialect.cpp: ``verifyTensorLayout``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout import npot
from tt_layout.algebra.linear_layout import LinearLayout, next_power_of_two
from tt_layout.algebra.modular_layout import ModularLayout
from tt_layout.errors import LayoutError
from tt_layout.surface import is_command_line

SERVED = frozenset({"blocked", "slice", "linear", "dot_op", "nvidia_mma", "amd_mfma", "amd_wmma"})
"""Mnemonics of the layouts whose tensors may have such sizes."""


def check_sizes(mnemonic: str, sizes: Sequence[int]) -> None:
    """Raise an error unless an encoding may be over sizes that are not powers of two.

    Raises:
        LayoutError: it may not, or such sizes were not enabled.
    """
    message = f"every dimension must be a power of two, got {list(sizes)}"
    if mnemonic not in SERVED:
        raise LayoutError(message)
    if not npot.is_taken():
        way = "--npot or " if is_command_line() else ""
        raise LayoutError(f"{message}; {way}{npot.VARIABLE}=1 takes others")
    if min(sizes) < 1:
        raise LayoutError(f"every dimension must be positive, got {list(sizes)}")


def covers(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes rounded up to powers of two.

    Example:
        >>> covers((6, 8))
        (8, 8)
    """
    return tuple(next_power_of_two(size - 1) for size in shape)


def modular_layout(mnemonic: str, padded: LinearLayout, shape: Sequence[int]) -> LinearLayout:
    """Return the layout of an encoding over sizes that are not all powers of two.

    Args:
        mnemonic: the mnemonic of the encoding.
        padded: its layout over the `covers` of the shape.
        shape: the sizes.

    Raises:
        LayoutError: CTAs split a dimension in unequal parts.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> text = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [1], \
order = [0]}>"
        >>> padded = parse_layout(text).to_linear_layout((8,))
        >>> modular_layout("blocked", padded, (6,)).in_bases[:2]
        (('register', ((4,),)), ('lane', ((1,), (2,))))
    """
    blocks = padded.vectors("block")
    for axis, (size, cover) in enumerate(zip(shape, covers(shape))):
        starts = [vector[axis] for vector in blocks if vector[axis]]
        if size == cover or not starts or mnemonic == "linear":
            continue
        first = min(starts)
        part, rest = divmod(size, cover // first)
        if rest:
            raise LayoutError(f"{cover // first} CTAs split a dimension of {size} unequally")
        blocks = tuple(
            tuple(v // first * part if at == axis else v for at, v in enumerate(vector))
            for vector in blocks
        )
    bases = tuple((name, blocks if name == "block" else own) for name, own in padded.in_bases)
    names = padded.get_out_dim_names()
    return ModularLayout(bases, tuple(zip(names, shape)))
