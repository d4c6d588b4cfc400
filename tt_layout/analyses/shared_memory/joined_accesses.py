"""Accesses of a thread as joined by LLVM, and pairs as single instructions of AMD.

A thread accesses shared memory at constant distances from a few addresses.  For the accesses from
one address:

1.  Neighbours become one access of up to 16 bytes, if the address is known to be aligned to that
    (on AMD also to half of it, or to less than 4 bytes; there also 12 bytes become one).
2.  On AMD, two of 4 or 8 bytes become one instruction (``ds_read2_b32``) if both distances are a
    multiple of the width and the distance between them is small, or a multiple of 64.

Source:
    LLVM, LoadStoreVectorizer.cpp, SIISelLowering.cpp (allowsMisalignedMemoryAccessesImpl) and
    SILoadStoreOptimizer.cpp (offsetsCanBeCombined); compared with the assembly of Triton 3.9
    by ``tests/compiler/test_shared_instructions.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tt_layout.tuples import NamedTuple

MAX_WIDTH = 16
PAIRED_WIDTHS = (4, 8)
STRIDE = 64
"""The unit of the second form of distances, in widths."""
MAX_DISTANCE = 255
"""The largest distance that an instruction for two addresses has room for, in its units."""
WORD = 4
TRIPLE = 3 * WORD
"""The width of ``ds_read_b96``."""
FEWER = {16: 8, 8: 6, 6: 4, 4: 3, 3: 2, 2: 1}
"""How many accesses may be joined where so many cannot be."""


class Joined(NamedTuple):
    """An access from one address, after neighbours were joined.

    Attributes:
        distance: distance from the address in bytes.
        width: width in bytes.
        is_split: whether its alignment requires an instruction for two addresses.
    """

    distance: int
    width: int
    is_split: bool = False


def alignment_of(distance: int, alignment: int) -> int:
    """Return the alignment of an address at a distance from an aligned one.

    Example:
        >>> alignment_of(24, 16), alignment_of(0, 16)
        (8, 16)
    """
    return min(alignment, distance & -distance) if distance else alignment


def join_neighbours(
    distances: Sequence[int], width: int, alignment: int, *, pairs: bool
) -> list[Joined]:
    """Return the accesses from one address after LLVM has joined neighbours.

    Args:
        distances: distances of the accesses in bytes, ascending.
        width: width of each in bytes.
        alignment: known alignment of the address; 0 if LLVM does not know it.
        pairs: whether the GPU has instructions for two addresses.

    Example:
        >>> join_neighbours([0, 4, 8, 12, 20], 4, 16, pairs=False)
        [Joined(distance=0, width=16, is_split=False), Joined(distance=20, width=4, is_split=False)]
    """
    pieces, at = [], 0
    while at < len(distances):
        start = distances[at]
        aligned = alignment_of(start, alignment)
        count = MAX_WIDTH // width if width <= MAX_WIDTH else 1
        while count > 1 and not (
            _are_neighbours(distances, at, count, width) and _may_be(count * width, aligned, pairs)
        ):
            count = FEWER[count]
        joined = count * width
        pieces.append(Joined(start, joined, count > 1 and joined > aligned >= WORD))
        at += count
    return pieces


def _are_neighbours(distances: Sequence[int], at: int, count: int, width: int) -> bool:
    """Tell whether consecutive accesses are adjacent."""
    last = at + count - 1
    return last < len(distances) and distances[last] - distances[at] == (count - 1) * width


def _may_be(width: int, alignment: int, pairs: bool) -> bool:
    """Tell whether LLVM emits an access of this width at this alignment."""
    if width & width - 1:
        return width == TRIPLE and pairs and alignment >= MAX_WIDTH
    if not pairs or width <= WORD or not alignment:
        return alignment >= width
    return 2 * alignment >= width or alignment < WORD


def pair_up(
    pieces: Sequence[Joined],
    *,
    pairs: bool,
    may_pair: Callable[[Joined, Joined], bool] = lambda first, second: True,
) -> Counter[tuple[int, str]]:
    """Count the instructions of the accesses from one address, by width and form.

    The form is empty for one address, ``2`` for two, ``2st64`` for two at a multiple of 64
    widths.

    Args:
        pieces: the accesses, by their distance.
        pairs: whether the GPU has instructions for two addresses.
        may_pair: whether two neighbours can be moved next to each other.

    Example:
        >>> pieces = [Joined(0, 8), Joined(24, 8), Joined(1024, 8), Joined(1028, 2)]
        >>> pair_up(pieces, pairs=True)
        Counter({(8, '2'): 1, (8, ''): 1, (2, ''): 1})
    """
    counts: Counter[tuple[int, str]] = Counter()
    if not pairs:
        counts.update((piece.width, "") for piece in pieces)
        return counts
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        form = _form(piece, pieces[at + 1]) if at + 1 < len(pieces) else ""
        if form and not may_pair(piece, pieces[at + 1]):
            form = ""
        if piece.is_split:
            counts[piece.width // 2, "2"] += 1
        else:
            counts[piece.width, form] += 1
        at += 2 if form else 1
    return counts


def _form(piece: Joined, other: Joined) -> str:
    """Return the form of one instruction for two accesses; empty without one."""
    width = piece.width
    is_alike = other.width == width and not (piece.is_split or other.is_split)
    if not is_alike or width not in PAIRED_WIDTHS:
        return ""
    first, second = piece.distance // width, other.distance // width
    if piece.distance % width or other.distance % width:
        return ""
    longest = MAX_DISTANCE * STRIDE
    if not (first % STRIDE or second % STRIDE) and second <= longest:
        return "2st64"
    if second <= MAX_DISTANCE:
        return "2"
    if (second - first) % STRIDE == 0 and second - first <= longest:
        return "2st64"
    return "2" if second - first <= MAX_DISTANCE else ""
