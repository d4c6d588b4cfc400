"""Shared layouts that AMD's direct copies from global memory can write.

Such an instruction writes the data of a warp's lanes contiguously: 64 lanes of 16 bytes are 1024
contiguous bytes, a row.  So the layout begins with the registers of a vector and the lanes of the
copy; rows may be in any order, and padding may only be between them.

Source:
    Triton, third_party/amd, canCoalesceWriteIntoSharedMemory; issues 7929, 8365, 9074, 9544.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.tuples import NamedTuple

MAX_ORDERS = 24
"""Orders of the rows that are tried."""

PAD_BYTES = (16, 32, 64, 128)
"""Bytes between rows that are tried: no more than a row of all banks, and keeping 16 together."""

Bases = tuple[tuple[int, ...], ...]


class DirectCopy(NamedTuple):
    """A copy from global to shared memory that bypasses registers.

    Attributes:
        registers: the layout of its pointers over the tensor, without CTAs.
        vector: elements that a lane copies at once.
    """

    registers: LinearLayout
    vector: int

    @property
    def row(self) -> Bases:
        """The bases of an instruction's row: those of a vector, then those of the lanes."""
        bits = log2(self.vector)
        return (*self.registers.vectors("register")[:bits], *self.registers.vectors("lane"))

    @property
    def rows(self) -> Bases:
        """The bases between the rows of different instructions."""
        bits = log2(self.vector)
        return (*self.registers.vectors("warp"), *self.registers.vectors("register")[bits:])

    def can_write(self, memory: LinearLayout, padding: Sequence[tuple[int, int]]) -> bool:
        """Tell whether each instruction writes a row without gaps.

        Args:
            memory: the linear layout of the memory, without its padding.
            padding: pairs of an interval and the padding after it, in elements.
        """
        row = self.row
        has_row = memory.vectors("offset")[: len(row)] == row
        return has_row and all(interval >= 1 << len(row) for interval, _ in padding)


def direct_layouts(copies: Sequence[DirectCopy], element_bytes: int) -> Iterator[PaddedShared]:
    """Yield layouts that all copies can write; none if they write different rows.

    Args:
        copies: copies to buffers of the layout.
        element_bytes: bytes of an element.

    Example:
        >>> import tt_layout
        >>> rows = tt_layout.parse_layout("#ttg.blocked<{sizePerThread = [1, 8], "
        ...     "threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>")
        >>> copy = DirectCopy(rows.to_linear_layout([64, 32]), 8)
        >>> found = list(direct_layouts([copy], 2))
        >>> print(found[0])
        #ttg.padded_shared<[512:+8] {order = [1, 0], shape = [64, 32]}>
    """
    row = copies[0].row
    if any(copy.row != row or not all(map(any, row)) for copy in copies):
        return
    rest = list(dict.fromkeys(basis for basis in copies[0].rows if any(basis)))
    units = 1 << len(row)
    for order in islice(permutations(rest), MAX_ORDERS):
        bases = (*row, *order)
        for pad in PAD_BYTES:
            yield PaddedShared(paddings=((units, pad // element_bytes),), offset=bases, block=())
