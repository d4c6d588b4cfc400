"""Random questions of the algebra of linear layouts, and our answers to them."""

from __future__ import annotations

from random import Random
from typing import Any

from compiler.wheel import Answer, Question
from tt_layout import LayoutError, LinearLayout

Operand = tuple[list[tuple[str, list[list[int]]]], list[str], list[int]]

UNARY = (
    "__str__",
    "get_matrix_view",
    "is_surjective",
    "is_injective",
    "is_invertible",
    "invert",
    "pseudoinvert",
)
INPUTS = ("register", "lane", "warp", "block")


def some_bases(
    r: Random, names: list[str], sizes: list[int], bits: int
) -> list[tuple[str, list[list[int]]]]:
    """Return random vectors for some input dimensions: sparse, dense, zero and repeated."""
    bases: list[tuple[str, list[list[int]]]] = []
    seen: list[list[int]] = []
    for name in names:
        vectors = [some_vector(r, sizes, seen) for _ in range(r.randint(0, bits))]
        seen += vectors
        bases.append((name, vectors))
    return bases


def some_vector(r: Random, sizes: list[int], seen: list[list[int]]) -> list[int]:
    kind = r.random()
    if kind < 0.1:
        return [0] * len(sizes)
    if kind < 0.2 and seen:
        return list(r.choice(seen))
    if kind < 0.6:
        moved = r.randrange(len(sizes))
        steps = [1 << bit for bit in range(sizes[moved].bit_length() - 1)] or [0]
        return [r.choice(steps) if d == moved else 0 for d in range(len(sizes))]
    return [r.randrange(size) for size in sizes]


def identity_bits(r: Random, names: list[str], sizes: list[int]) -> Operand:
    """Return a layout that reaches every output, its unit bases dealt out over the inputs."""
    units = [
        [1 << bit if d == moved else 0 for d in range(len(sizes))]
        for moved, size in enumerate(sizes)
        for bit in range(size.bit_length() - 1)
    ]
    vectors = [mixed(r, unit, units[:at]) for at, unit in enumerate(units)]
    r.shuffle(vectors)
    extra = some_bases(r, names, sizes, 1)
    bases = [(name, list(own)) for name, own in extra]
    for vector in vectors:
        _, own = r.choice(bases)
        own.insert(r.randint(0, len(own)), vector)
    return bases, [f"dim{d}" for d in range(len(sizes))], sizes


def mixed(r: Random, vector: list[int], earlier: list[list[int]]) -> list[int]:
    if not earlier or r.random() < 0.6:
        return vector
    return [a ^ b for a, b in zip(vector, r.choice(earlier))]


def some_sizes(r: Random) -> list[int]:
    return [1 << r.randint(0, 3) for _ in range(r.randint(1, 3))]


def some_operand(r: Random, sizes: list[int]) -> Operand:
    names = r.sample(INPUTS, r.randint(1, 4))
    if r.random() < 0.5:
        return identity_bits(r, names, sizes)
    return some_bases(r, names, sizes, 3), [f"dim{d}" for d in range(len(sizes))], sizes


def product_question(r: Random) -> Question:
    """Return a product, in which the orders of the names may contradict each other."""
    return {"op": "*", "layouts": [renamed(r, some_operand(r, some_sizes(r))) for _ in range(2)]}


def renamed(r: Random, operand: Operand) -> Operand:
    bases, names, sizes = operand
    return bases, r.sample(["dim0", "dim1", "dim2", "dim3"], len(names)), sizes


def solve_question(r: Random) -> Question:
    """Return a division by a layout that mostly reaches everything asked for."""
    sizes = some_sizes(r)
    names = r.sample(INPUTS, r.randint(1, 3))
    outer = identity_bits(r, names, sizes) if r.random() < 0.9 else some_operand(r, sizes)
    smaller = [max(1, size >> r.choice([0, 0, 1])) for size in sizes]
    bases, outs, _ = some_operand(r, smaller)
    if r.random() < 0.4:  # a dimension with equal bases on both sides
        bases = [b for b in outer[0] if fits(b[1], smaller)][:1] + bases[1:]
        bases = list(dict(bases).items())
    order = r.sample(range(len(outs)), len(outs))
    permuted = [(name, [[v[d] for d in order] for v in vectors]) for name, vectors in bases]
    inner = (permuted, [outs[d] for d in order], [smaller[d] for d in order])
    return {"op": "invert_and_compose", "layouts": [inner, outer]}


def fits(vectors: list[list[int]], sizes: list[int]) -> bool:
    return all(x < size for vector in vectors for x, size in zip(vector, sizes))


def compose_question(r: Random) -> Question:
    sizes = some_sizes(r)
    inner = some_operand(r, sizes)
    outs = some_sizes(r)
    bases = [
        (f"dim{d}", [some_vector(r, outs, []) for _ in range(size.bit_length() - 1)])
        for d, size in enumerate(sizes)
    ]
    r.shuffle(bases)
    outer = (bases, [f"out{d}" for d in range(len(outs))], outs)
    return {"op": "compose", "layouts": [inner, outer]}


def unary_question(r: Random) -> Question:
    return {"op": r.choice(UNARY), "layouts": [some_operand(r, some_sizes(r))]}


QUESTIONS = (product_question, solve_question, solve_question, compose_question, unary_question)


def random_questions(seed: int, count: int) -> list[Question]:
    r = Random(seed)
    return [r.choice(QUESTIONS)(r) for _ in range(count)]


def our_answer(question: Question) -> Answer:
    """Return what the package says, in the form of the wheel's answer."""
    try:
        first, *rest = [as_layout(*operand) for operand in question["layouts"]]
        result: Any = (
            first * rest[0] if question["op"] == "*" else getattr(first, question["op"])(*rest)
        )
    except LayoutError as error:
        return {"refused": str(error)}
    if isinstance(result, LinearLayout):
        return {"bases": result.bases, "out_dims": result.out_dims, "str": str(result).strip()}
    return {"value": result.strip() if isinstance(result, str) else result}


def as_layout(bases: Any, names: list[str], sizes: list[int]) -> LinearLayout:
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)
