"""Write the access patterns that `wavefronts.cu` performs, chosen to distinguish rules.

usage: patterns.py OUT

Linear patterns first: every set of lane bits that does not change the address, and every
single coincidence ``address(lane) == address(lane ^ mask)``, over random other bits.  Then
patterns that no linear layout makes: equal pairs in some lanes only, idle lanes, random rows
for the matrix instructions.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

LANES = range(32)
ALL = 0xFFFFFFFF
Pattern = tuple[str, int, list[int]]


def linear(bases: list[int]) -> list[int]:
    """Return the address of every lane, the xor of the bases of its bits."""
    addresses = [0]
    for basis in bases:
        addresses += [address ^ basis for address in addresses]
    return addresses


def random_bases(rng: random.Random, width: int, zeros: int) -> list[int]:
    """Return five lane bases in bytes; those at the bits of ``zeros`` are 0, none else."""
    bits = [width << k for k in range(11) if width << k < 1 << 14]
    chosen = rng.sample(bits, 5)
    mixed = [b ^ (rng.choice(bits) if rng.random() < 0.3 else 0) for b in chosen]
    bases = [b or width for b in mixed]
    return [0 if zeros >> bit & 1 else basis for bit, basis in enumerate(bases)]


def coincident(rng: random.Random, width: int, mask: int) -> list[int]:
    """Return five lane bases whose xor over the bits of ``mask`` is 0."""
    bases = random_bases(rng, width, 0)
    bits = [bit for bit in range(5) if mask >> bit & 1]
    bases[bits[-1]] = 0
    for bit in bits[:-1]:
        bases[bits[-1]] ^= bases[bit]
    return bases


def linear_patterns(rng: random.Random) -> Iterator[Pattern]:
    """Yield loads and stores of linear layouts."""
    for kind, width in (("ld16", 16), ("ld8", 8)):
        for zeros in LANES:
            for _ in range(5):
                yield kind, ALL, linear(random_bases(rng, width, zeros))
        for mask in range(1, 32):
            for _ in range(3):
                yield kind, ALL, linear(coincident(rng, width, mask))
    for kind, width in (("st16", 16), ("st8", 8), ("ld4", 4), ("st4", 4)):
        for zeros in range(0, 32, 2 if kind != "st16" else 1):
            yield kind, ALL, linear(random_bases(rng, width, zeros))


def paired(rng: random.Random, width: int, steps: list[int]) -> list[int]:
    """Return addresses equal within the pairs ``lane ^ step``, a step per eight lanes.

    A step of 0 leaves eight lanes without equal addresses.
    """
    spots = rng.sample(range(64), 32)
    return [spots[min(lane, lane ^ steps[lane // 8])] * width for lane in LANES]


STEPS = [
    [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [1, 2, 1, 2], [1, 1, 2, 2], [1, 1, 0, 0],
    [1, 0, 0, 1], [2, 2, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [2, 0, 2, 0], [3, 3, 0, 0],
    [0, 0, 1, 1], [0, 0, 2, 2], [4, 4, 4, 4], [1, 2, 2, 1], [2, 2, 1, 1], [3, 1, 3, 1],
]  # fmt: skip


def odd_patterns(rng: random.Random) -> Iterator[Pattern]:
    """Yield loads that no linear layout makes."""
    for kind, width in (("ld16", 16), ("ld8", 8)):
        for steps in STEPS:
            for _ in range(3):
                yield kind, ALL, paired(rng, width, steps)
        for mask in (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0xFFFF, 0xFF, 0xAAAA5555):
            yield kind, mask, [lane * width for lane in LANES]
            yield kind, mask, [spot * width for spot in rng.sample(range(64), 32)]
        for _ in range(40):
            spots = [rng.randrange(rng.choice([4, 16, 64, 256])) * width for _ in LANES]
            yield kind, ALL, spots
    for _ in range(40):
        yield "ld4", ALL, [rng.randrange(rng.choice([40, 2000])) * 4 for _ in LANES]


def matrix_patterns(rng: random.Random) -> Iterator[Pattern]:
    """Yield rows of 16 bytes for the matrix instructions."""
    for number in (1, 2, 4):
        for kind in (f"ldm{number}", f"stm{number}"):
            for _ in range(12):
                span = rng.choice([8, 32, 64, 512])
                yield kind, ALL, [rng.randrange(span) * 16 for _ in LANES]
            for zeros in (0, 1, 2, 4, 8, 16, 3, 24):
                yield kind, ALL, linear(random_bases(rng, 16, zeros))


def main(path: str) -> None:
    rng = random.Random(20)
    with open(path, "w") as file:
        for make in (linear_patterns, odd_patterns, matrix_patterns):
            for kind, mask, addresses in make(rng):
                file.write(f"{kind} {mask:x} {' '.join(map(str, addresses))}\n")


if __name__ == "__main__":
    main(sys.argv[1])
