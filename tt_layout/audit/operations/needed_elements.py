"""Which elements of a product anything needs: masks of constants throw the others away.

Of a product of which only a triangle is kept, or only the columns that there are, AMD's backend
makes fewer matrix instructions: LLVM drops those whose results nothing reads.  NVIDIA's are opaque
to it.

Source:
    Assembly of Triton 3.9 for gfx942, gfx950 and gfx1250: with a mask that an argument decides
    all instructions are there.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from tt_layout.algebra.arrays import all_values
from tt_layout.audit.global_memory.constant_masks import possible_mask
from tt_layout.audit.global_memory.operands import in_todays_form, operands

if TYPE_CHECKING:
    from tt_layout.algebra.arrays import Ints
    from tt_layout.algebra.linear_layout import LinearLayout
    from tt_layout.audit.global_memory.width import AccessAnalysis
    from tt_layout.ir.ssa import SsaOperation, Value

MAX_STEPS = 32
"""Operations behind a product that are followed."""


class NeededElements:
    """The elements of the values of a kernel that anything needs."""

    def __init__(self, kernel: AccessAnalysis) -> None:
        self._kernel = kernel

    def of(self, value: Value, steps: int = MAX_STEPS) -> Ints | None:
        """Return of each element, the last dimension first, whether it is needed; None for all."""
        needed: Ints | None = None
        for user in value.users:
            own = self._by(user, value, steps - 1) if steps else None
            if own is None:
                return None
            needed = own if needed is None else needed | own
        return needed

    def _by(self, user: SsaOperation, value: Value, steps: int) -> Ints | None:
        """Return which elements of a value one of its users needs."""
        if user.operands.count(value) > 1 or user.regions:
            return None
        masks = [self._mask(user, value)]
        if self._is_elementwise(user, value):
            masks.append(self.of(user.results[0], steps))
        determined = [mask for mask in masks if mask is not None]
        size = prod(value.type.shape)
        if not determined or any(mask.size != size for mask in determined):
            return None
        return determined[0] if len(determined) == 1 else determined[0] & determined[1]

    def _mask(self, user: SsaOperation, value: Value) -> Ints | None:
        """Return the elements of a value that constants let a user take; None for all."""
        if user.traits.select and user.operands[1] is value:
            return possible_mask(self._kernel, user.operands[0])
        if user.traits.is_global_store:
            roles = operands(in_todays_form(user))
            if roles.get("value") is value and "mask" in roles:
                return possible_mask(self._kernel, roles["mask"])
        return None

    def _is_elementwise(self, user: SsaOperation, value: Value) -> bool:
        """Tell whether each element of a result needs the same one of a value, and no other."""
        if len(user.results) != 1 or user.results[0].type.shape != value.type.shape:
            return False
        is_sum = user.traits.multiplies and user.operands[2:3] == (value,)
        return is_sum or user.traits.elementwise or user.traits.same_elements


def needed_tiles(needed: Ints, layout: LinearLayout, registers: int) -> tuple[int, int]:
    """Return of how many tiles of a product an element is needed, and how many there are.

    Args:
        needed: as `NeededElements.of` returns it.
        layout: of the product.
        registers: of a tile, those of a thread that one instruction writes.

    Example:
        A thread has four rows of 16 elements, of which two are needed:

        >>> import numpy as np
        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> bases = [("register", [[1, 0], [2, 0]]), ("lane", [[0, 1 << bit] for bit in range(4)])]
        >>> layout = LinearLayout.from_bases(bases, ["dim0", "dim1"])
        >>> needed_tiles(np.repeat(np.array([1, 1, 0, 0]), 16), layout, 1)
        (2, 4)
    """
    of_tile = registers.bit_length() - 1
    turned = layout.transpose_outs(layout.get_out_dim_names()[::-1])
    register_columns, *threads = map(turned.columns, ("register", "lane", "warp", "block"))
    inside = all_values([*register_columns[:of_tile], *chain(*threads)])
    tiles = all_values(register_columns[of_tile:])
    return int((needed[tiles[:, None] ^ inside] != 0).any(axis=1).sum()), len(tiles)
