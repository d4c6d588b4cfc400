"""Write the asynchronous copies that `async_copies.cu` performs, chosen to distinguish rules.

usage: async_patterns.py OUT

Two groups of lanes that copy from two lines of global memory into two rows of shared memory,
the second in another order; lanes that share a position on one side only; random linear maps on
both sides, for each width.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from functools import reduce
from operator import xor

Copy = tuple[int, dict[int, int], dict[int, int]]
"""Bytes per lane, and lane -> address in shared and in global memory."""

LINE = 128
PER_WIDTH = 220


def linear(bases: list[int]) -> list[int]:
    """Return the value of every lane, the xor of the bases of its bits."""
    return [
        reduce(xor, (basis for bit, basis in enumerate(bases) if lane >> bit & 1), 0)
        for lane in range(1 << len(bases))
    ]


def injective(rng: random.Random, bits: int) -> list[int]:
    """Return the values of a random linear map of five bits that repeats none."""
    while True:
        mixed = [
            1 << rng.randrange(bits) if rng.random() < 0.7 else rng.randrange(1, 1 << bits)
            for _ in range(5)
        ]
        if len(set(values := linear(mixed))) == 32:
            return values


def meeting(first: list[int], second: list[int]) -> Copy:
    """Return two groups of eight lanes of 4 bytes, each from a line of its own to a row."""
    shared = {lane: 4 * place for lane, place in enumerate(first)}
    shared |= {8 + lane: LINE + 4 * place for lane, place in enumerate(second)}
    source = {lane: lane // 8 * LINE + lane % 8 * 4 for lane in range(16)}
    return 4, shared, source


def copies(rng: random.Random) -> Iterator[Copy]:
    """Yield all copies."""
    order = list(range(8))
    for mask in order:
        yield meeting(order, [place ^ mask for place in order])
        yield meeting(order, [place + mask for place in order])
    for _ in range(20):
        yield meeting(order, rng.sample(order, 8))
    for word in order:
        for place in order:
            width, shared, source = meeting(order, order)
            few = range(9)
            shared[8], source[8] = LINE + 4 * place, LINE + 4 * word
            yield width, {lane: shared[lane] for lane in few}, {lane: source[lane] for lane in few}
    for width, bits in ((4, 10), (8, 10), (16, 9)):
        for _ in range(PER_WIDTH):
            sides = (injective(rng, bits) for _ in range(2))
            shared, source = (
                {lane: width * unit for lane, unit in enumerate(side)} for side in sides
            )
            yield width, shared, source


def main(path: str) -> None:
    """Write all copies to a file."""
    with open(path, "w", encoding="ascii") as file:
        for width, shared, source in copies(random.Random(5)):
            mask = sum(1 << lane for lane in shared)
            addresses = [side.get(lane, 0) for side in (shared, source) for lane in range(32)]
            print(width, f"{mask:x}", *addresses, file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
