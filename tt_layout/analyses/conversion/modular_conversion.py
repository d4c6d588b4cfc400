"""Conversions between layouts over sizes that are not all powers of two.

The elements that each thread has and needs decide what moves, not algebra over F2.  If a thread
lacks one, the fork goes through shared memory, never by shuffles, since its decomposition into them
is for powers of two.  A dimension of size N takes as much of the buffer as the power of two above
N.

Source:
    facebookexperimental/triton, lib/Analysis/Utility.cpp: ``cvtNeedsWarpShuffle``,
    ``cvtNeedsSharedMemory``; lib/Tools/GenericSwizzling.cpp: ``optimalSwizzlingLdStMixed``;
    lib/Analysis/Allocation.cpp: ``getNumScratchElemsSwizzledCvt``.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.modular_layout import ModularLayout
from tt_layout.analyses.conversion.conversion import ConversionKind
from tt_layout.encodings.modular import covers
from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    from tt_layout.algebra.arrays import Ints

THREADS = ("lane", "warp", "block")


def held_elements(layout: ModularLayout) -> Ints:
    """Return the elements of each thread: a row per thread, with a column per register.

    Example:
        >>> layout = ModularLayout(
        ...     (("register", ((4,),)), ("lane", ((1,), (2,)))), (("dim0", 6),))
        >>> held_elements(layout).tolist()
        [[0, 4], [1, 5], [2, 0], [3, 1]]
    """
    if layout.get_in_dim_names()[:1] != ["register"]:
        raise LayoutError("expected a register layout")
    return layout.elements.reshape(-1, layout.get_in_dim_size("register"))


def classify_modular(before: LinearLayout, after: LinearLayout) -> ConversionKind:
    """Return the least kind of conversion that suffices.

    Raises:
        LayoutError: the layouts are not over the same tensor by the same threads.

    Example:
        >>> def over_six(register, lanes):
        ...     return ModularLayout((("register", register), ("lane", lanes)), (("dim0", 6),))
        >>> row, pairs = over_six(((4,),), ((1,), (2,))), over_six(((1,),), ((2,), (4,)))
        >>> str(classify_modular(row, row)), str(classify_modular(row, pairs))
        ('nothing', 'shared memory')
    """
    if not isinstance(before, ModularLayout) or not isinstance(after, ModularLayout):
        raise LayoutError("one of the layouts is over other sizes")
    if before.out_sizes != after.out_sizes:
        raise LayoutError("the layouts are over different sizes")
    if any(before.get_in_dim_size(name) != after.get_in_dim_size(name) for name in THREADS):
        raise LayoutError("the layouts are for different numbers of threads")
    has, needs = held_elements(before), held_elements(after)
    if has.shape == needs.shape and bool((has == needs).all()):
        return ConversionKind.NOTHING
    stride = 1 + max(int(has.max()), int(needs.max()))
    threads = np.arange(len(has))[:, np.newaxis] * stride
    if bool(np.isin(needs + threads, has + threads).all()):
        return ConversionKind.REGISTERS
    ctas = before.get_in_dim_size("block")
    in_cta = np.arange(len(has))[:, np.newaxis] // (len(has) // ctas) * stride
    if not bool(np.isin(needs + in_cta, has + in_cta).all()):
        return ConversionKind.ACROSS_CTAS
    return ConversionKind.SHARED_MEMORY


def cover_elements(layout: LinearLayout) -> int:
    """Return the number of elements of a buffer with every dimension rounded up to a power of two.

    Example:
        >>> cover_elements(ModularLayout((("register", ()),), (("dim0", 48), ("dim1", 4))))
        256
    """
    return prod(covers([size for _, size in layout.out_sizes]))
