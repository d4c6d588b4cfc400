"""Random layout attributes of Triton 3.9 with shapes that mostly suit them.

Every attribute has a function that makes one of it; KINDS lists them.  Sizes are kept small,
so that a view of any case prints in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

Vector = list[int]

MAX_TENSOR_BITS = 14  # a tensor has 2**14 elements at most
USUAL_TENSOR_BITS = 9  # and mostly no more than this, since the wheel prints slowly


@dataclass(frozen=True)
class Attr:
    """A layout attribute whose entries can still be changed.

    Attributes:
        name: dialect and mnemonic.
        entries: keys and values, in the order in which they are written.
        head, tail: what stands in front of the entries and behind them.
        braces: whether the entries stand in ``{}``.
    """

    name: str
    entries: tuple[tuple[str, Any], ...]
    head: str = ""
    tail: str = ""
    braces: bool = True

    def __str__(self) -> str:
        inner = ", ".join(f"{key} = {written(value)}" for key, value in self.entries)
        body = f"{{{inner}}}" if self.braces else inner
        return f"#{self.name}<{self.head}{body}{self.tail}>"


def written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Case:
    """A question for the compiler.

    Attributes:
        attr: the attribute's text.
        shape: the tensor's shape.
        elem: the element type.
        kind: ``tensor``, ``shared`` or ``tmem``.
        damage: what was done to make it wrong; empty for a case that should be right.
    """

    attr: str
    shape: tuple[int, ...]
    elem: str = "f16"
    kind: str = "tensor"
    damage: str = ""

    @property
    def mnemonic(self) -> str:
        return self.attr.split("<")[0].split(".")[1]

    def question(self) -> dict[str, Any]:
        question = asdict(self)
        del question["damage"]
        return question


@dataclass(frozen=True)
class Draft:
    """A case before it is written down."""

    attr: Attr
    shape: tuple[int, ...]
    elem: str = "f16"
    kind: str = "tensor"


# -- numbers --------------------------------------------------------------------------------


def power(r: Random, low: int, high: int) -> int:
    """Return a power of two with an exponent in ``low..high``."""
    return 1 << r.randint(low, high)


def split(r: Random, rank: int, bits: int) -> list[int]:
    """Return ``rank`` powers of two with the product ``2**bits``."""
    exponents = [0] * rank
    for _ in range(bits):
        exponents[r.randrange(rank)] += 1
    return [1 << exponent for exponent in exponents]


def shuffled(r: Random, items: Sequence[Any]) -> list[Any]:
    return r.sample(items, len(items))


def some_shape(r: Random, rank: int) -> tuple[int, ...]:
    is_large = r.random() < 0.04
    return tuple(split(r, rank, r.randint(0, MAX_TENSOR_BITS if is_large else USUAL_TENSOR_BITS)))


def unit(rank: int, dim: int, step: int) -> Vector:
    return [step if d == dim else 0 for d in range(rank)]


def unit_vectors(shape: Sequence[int]) -> list[Vector]:
    """Return the bases of the identity, the last dimension the fastest."""
    rank = len(shape)
    return [
        unit(rank, d, 1 << bit)
        for d in reversed(range(rank))
        for bit in range(shape[d].bit_length() - 1)
    ]


def with_zeros(r: Random, vectors: list[Vector], rank: int, count: int) -> list[Vector]:
    """Return the vectors with zero vectors inserted anywhere."""
    result = list(vectors)
    for _ in range(count):
        result.insert(r.randint(0, len(result)), [0] * rank)
    return result


def cga(r: Random, rank: int) -> list[Vector]:
    """Return the bases of a cluster of CTAs; most often of a single one."""
    bits = r.choice([0, 0, 0, 0, 1, 1, 2, 3])
    steps = [1] * rank
    vectors = []
    for _ in range(bits):
        dim = r.randrange(rank)
        is_copy = r.random() < 0.25
        vectors.append(unit(rank, dim, 0 if is_copy else steps[dim]))
        steps[dim] *= 1 if is_copy else 2
    return shuffled(r, vectors)


def cga_entries(r: Random, rank: int) -> list[tuple[str, Any]]:
    vectors = cga(r, rank)
    return [("CGALayout", vectors)] if vectors else []


def attribute(r: Random, name: str, entries: list[tuple[str, Any]], **around: Any) -> Attr:
    """Return an attribute; its keys in another order now and then."""
    ordered = shuffled(r, entries) if r.random() < 0.2 else entries
    return Attr(name, tuple(ordered), **around)


# -- distributed ----------------------------------------------------------------------------


def blocked(r: Random, rank: int) -> Attr:
    entries = [
        ("sizePerThread", split(r, rank, r.randint(0, 4))),
        ("threadsPerWarp", split(r, rank, r.choice([5, 5, 5, 6, 4]))),
        ("warpsPerCTA", split(r, rank, r.randint(0, 3))),
        ("order", shuffled(r, range(rank))),
        *cga_entries(r, rank),
    ]
    return attribute(r, "ttg.blocked", entries)


def basis_lists(r: Random, rank: int) -> list[tuple[str, list[Vector]]]:
    """Return four lists that together are a permutation matrix but for zero vectors."""
    shape = split(r, rank, r.randint(1, 11))
    vectors = unit_vectors(shape)
    if r.random() < 0.5:
        vectors = shuffled(r, vectors)
    vectors = with_zeros(r, vectors, rank, r.choice([0, 0, 1, 2]))
    lanes = min(len(vectors), r.choice([5, 5, 6, 2]))
    rest = len(vectors) - lanes
    warps = min(rest, r.randint(0, 3))
    blocks = min(rest - warps, r.choice([0, 0, 0, 1, 2]))
    registers = rest - warps - blocks
    ends = [registers, registers + lanes, registers + lanes + warps, len(vectors)]
    names = ("register", "lane", "warp", "block")
    return [(name, vectors[start:end]) for name, start, end in zip(names, [0, *ends], ends)]


def linear(r: Random, rank: int) -> Attr:
    return attribute(r, "ttg.linear", [*basis_lists(r, rank)])


def generic_linear(r: Random, rank: int) -> Attr:
    """Return a linear layout; now and then its warps swizzle and its registers repeat.

    Of those that do the wheel reads and prints the text, but dies asked for the bases.
    """
    lists = dict(basis_lists(r, rank))
    others = lists["register"] + lists["lane"]
    if others and r.random() < 0.2:
        lists["warp"] = [xored(v, r.choice(others)) for v in lists["warp"]]
    if lists["lane"] and r.random() < 0.1:
        lists["register"] = [*lists["register"], r.choice(lists["lane"])]
    return attribute(r, "ttg.generic_linear", list(lists.items()))


def xored(left: Vector, right: Vector) -> Vector:
    return [a ^ b for a, b in zip(left, right)]


def sliced(r: Random, rank: int) -> Attr:
    parent = r.choice(DISTRIBUTED_OF_RANK.get(rank + 1, [blocked]))(r, rank + 1)
    return attribute(r, "ttg.slice", [("dim", r.randrange(rank + 1)), ("parent", parent)])


def mma_v2(r: Random, rank: int) -> Attr:
    shape = [*[1] * (rank - 2), *r.choice([[16, 8], [16, 8], [8, 8]])]
    entries = [
        ("versionMajor", 2),
        ("versionMinor", r.choice([0, 0, 1])),
        ("warpsPerCTA", split(r, rank, r.randint(0, 3))),
        *cga_entries(r, rank),
        ("instrShape", shape),
    ]
    return attribute(r, "ttg.nvidia_mma", entries)


def mma_v3(r: Random, rank: int) -> Attr:
    entries = [
        ("versionMajor", 3),
        ("versionMinor", 0),
        ("warpsPerCTA", split(r, 2, r.randint(0, 3))),
        *cga_entries(r, 2),
        ("instrShape", [16, power(r, 3, 8), power(r, 2, 5)]),
    ]
    return attribute(r, "ttg.nvidia_mma", entries)


def mfma(r: Random, rank: int) -> Attr:
    instruction = r.choice([[32, 32, 8], [16, 16, 16], [32, 32, 16], [4, 64, 4], [64, 4, 4]])
    needs_transposed = instruction[0] == 64
    entries: list[tuple[str, Any]] = [
        ("version", r.randint(1, 4)),
        ("warpsPerCTA", split(r, rank, r.randint(0, 3))),
        ("instrShape", instruction),
        ("isTransposed", needs_transposed or r.random() < 0.5),
        *cga_entries(r, rank),
    ]
    if r.random() < 0.4:
        entries.append(("tilesPerWarp", [*[1] * (rank - 2), *split(r, 2, r.randint(0, 2))]))
    if r.random() < 0.3:
        entries.append(("elementBitWidth", r.choice([32, 64])))
    return attribute(r, "ttg.amd_mfma", entries)


WMMA_SHAPES = {
    1: [[16, 16, 16]],
    2: [[16, 16, 16], [16, 16, 32]],
    3: [[16, 16, 4], [16, 16, 32], [16, 16, 64], [16, 16, 128], [32, 16, 64], [32, 16, 128]],
}


def wmma(r: Random, rank: int) -> Attr:
    version = r.randint(1, 3)
    vectors = unit_vectors(split(r, rank, r.randint(1, 4)))
    vectors = shuffled(r, vectors) if r.random() < 0.5 else vectors
    registers = r.choice([0, 0, 1, 2])
    layout: list[tuple[str, list[Vector]]] = [("warp", vectors[registers:])]
    if vectors[:registers] or r.random() < 0.2:
        layout.insert(0, ("register", vectors[:registers]))
    entries: list[tuple[str, Any]] = [
        ("version", version),
        ("isTranspose", r.random() < 0.5),
        ("ctaLayout", Attr("", tuple(layout))),
        *cga_entries(r, rank),
    ]
    shape = r.choice(WMMA_SHAPES[version])
    if shape != [16, 16, 16] or r.random() < 0.3:
        entries.append(("instrShape", shape))
    if rank != 2:
        entries.append(("rank", rank))
    entries = [(key, braced(value)) for key, value in entries]
    return attribute(r, "ttg.amd_wmma", entries)


def braced(value: Any) -> Any:
    """Return a nameless attribute as a plain dictionary."""
    is_dictionary = isinstance(value, Attr) and not value.name
    return str(value)[2:-1] if is_dictionary else value


def operand(r: Random, rank: int) -> Attr:
    """Return a dot operand over any parent."""
    make = r.choice(OPERAND_PARENTS[rank])
    parent = make(r, rank)
    op_idx = 0 if make is mma_v3 else r.randint(0, 1)
    entries: list[tuple[str, Any]] = [("opIdx", op_idx), ("parent", parent)]
    if make is not blocked:
        entries.append(("kWidth", operand_width(r, parent)))
    return attribute(r, "ttg.dot_op", entries)


def operand_width(r: Random, parent: Attr) -> int:
    given = dict(parent.entries)
    if parent.name == "ttg.amd_wmma":
        return r.choice({1: [8, 16], 2: [4, 8, 16], 3: [2, 4, 8, 16]}[given["version"]])
    return power(r, 0, 3)


Maker = Callable[[Random, int], Attr]

OPERAND_PARENTS: dict[int, list[Maker]] = {
    2: [mma_v2, mma_v3, mfma, wmma, blocked],
    3: [mma_v2, mfma, wmma, blocked],
}
DISTRIBUTED_OF_RANK: dict[int, list[Maker]] = {
    1: [blocked, linear, generic_linear, sliced],
    2: [blocked, linear, generic_linear, sliced, mma_v2, mma_v3, mfma, wmma, operand],
    3: [blocked, linear, generic_linear, sliced, mma_v2, mfma, wmma, operand],
}


def tensor_of(make: Maker, *ranks: int) -> Callable[[Random], Draft]:
    """Return a maker of tensors whose layout comes from ``make``."""

    def draft(r: Random) -> Draft:
        rank = r.choice(ranks)
        attr = make(r, rank)
        shape = some_shape(r, rank)
        if make in (linear, generic_linear) and r.random() < 0.6:
            shape = spanned(attr)
        return Draft(attr, shape, r.choice(["f16", "f32", "i8", "f64"]))

    return draft


def spanned(attr: Attr) -> tuple[int, ...]:
    """Return the shape that the bases of a linear layout span."""
    vectors = [vector for _, vectors in attr.entries for vector in vectors]
    return tuple(1 << max(steps).bit_length() for steps in zip(*vectors))


# -- shared memory --------------------------------------------------------------------------


def swizzle(r: Random, name: str, rank: int) -> Attr:
    entries = [
        ("vec", power(r, 0, 4)),
        ("perPhase", power(r, 0, 3)),
        ("maxPhase", power(r, 0, 4)),
        ("order", shuffled(r, range(rank))),
        *cga_entries(r, rank),
    ]
    return attribute(r, name, entries)


def swizzled_of(name: str) -> Callable[[Random], Draft]:
    def draft(r: Random) -> Draft:
        rank = r.choice([1, 2, 2, 2, 3, 4])
        return Draft(swizzle(r, name, rank), some_shape(r, rank), kind="shared")

    return draft


def nvmma(r: Random) -> Draft:
    rank = r.choice([1, 2, 2, 2, 3, 4])
    width = r.choice([0, 32, 64, 128]) if rank > 1 else 0
    is_fp4 = width == 128 and r.random() < 0.3
    bits = 8 if is_fp4 else r.choice([8, 16, 32])
    is_transposed = r.random() < 0.5
    vectors = cga(r, rank)
    entries: list[tuple[str, Any]] = [
        ("swizzlingByteWidth", width),
        ("transposed", is_transposed),
        ("elementBitWidth", bits),
    ]
    if is_fp4:
        entries.append(("fp4Padded", True))
    entries += [("CGALayout", vectors)] if vectors else []
    if rank != 2 and (not vectors or r.random() < 0.5):
        entries.append(("rank", rank))
    shape = nvmma_shape(r, rank, 0 if is_transposed else rank - 1, width, bits)
    elem = {8: "i8", 16: "f16", 32: "f32"}[bits]
    return Draft(attribute(r, "ttg.nvmma_shared", entries), shape, elem, "shared")


def nvmma_shape(r: Random, rank: int, inner: int, width: int, bits: int) -> tuple[int, ...]:
    """Return a shape that mostly holds the core matrix in each of up to four CTAs."""
    if not width:
        return some_shape(r, rank)
    sizes = split(r, rank, r.randint(0, 5))
    sizes[inner] *= width * 8 // bits
    sizes[r.choice([d for d in range(rank) if d != inner])] *= 8
    return tuple(sizes)


def shared_linear(r: Random) -> Draft:
    rank = r.choice([1, 2, 2, 3])
    shape = split(r, rank, r.randint(1, 10))
    vectors = unit_vectors(shape)
    for at in range(1, len(vectors)):
        if r.random() < 0.3:
            vectors[at] = xored(vectors[at], r.choice(vectors[:at]))
    if r.random() < 0.3:
        vectors = shuffled(r, vectors)
    blocks = min(len(vectors) - 1, r.choice([0, 0, 1, 2]))
    cut = len(vectors) - blocks
    offset = with_zeros(r, vectors[:cut], rank, r.choice([0, 0, 1]))
    entries: list[tuple[str, Any]] = [("offset", offset)]
    if blocks or r.random() < 0.3:
        entries.append(("block", vectors[cut:]))
    attr = Attr("ttg.shared_linear", tuple(entries), tail=f", alignment = {power(r, 0, 8)}")
    return Draft(attr, tuple(shape), kind="shared")


def padded_over(r: Random, shape: Sequence[int]) -> Attr:
    """Return padded shared memory for a shape, by order or by bases."""
    rank = len(shape)
    intervals = r.sample(range(1, 8), r.randint(1, 2))
    pairs = ", ".join(f"{1 << bits}:+{power(r, 0, 4)}" for bits in intervals)
    if r.random() < 0.5 or not unit_vectors(shape):
        entries: list[tuple[str, Any]] = [("order", shuffled(r, range(rank)))]
        entries.append(("shape", list(shape)))
        return Attr("ttg.padded_shared", tuple(entries), head=f"[{pairs}] ")
    vectors = unit_vectors(shape)
    vectors = shuffled(r, vectors) if r.random() < 0.7 else vectors
    cut = len(vectors) - min(len(vectors) - 1, r.choice([0, 0, 1, 2]))
    block = with_zeros(r, vectors[cut:], rank, r.choice([0, 0, 0, 1]))
    entries = [("offset", vectors[:cut]), ("block", block)]
    return Attr("ttg.padded_shared", tuple(entries), head=f"[{pairs}] ")


def padded(r: Random) -> Draft:
    shape = some_shape(r, r.choice([1, 2, 2, 3]))
    return Draft(padded_over(r, shape), shape, kind="shared")


def partitioned(r: Random) -> Draft:
    inner = r.choice([swizzled_of("ttg.swizzled_shared"), nvmma, shared_linear, padded])(r)
    dim = r.randrange(len(inner.shape))
    partitions, groups = power(r, 1, 2), power(r, 0, 2)
    entries = [
        ("numPartitions", partitions),
        ("numGroups", groups),
        ("partitionDim", dim),
        ("partitionLayout", inner.attr),
    ]
    shape = [size * (partitions * groups if d == dim else 1) for d, size in enumerate(inner.shape)]
    attr = attribute(r, "ttg.partitioned_shared", entries)
    return Draft(attr, tuple(shape), inner.elem, "shared")


# -- tensor memory --------------------------------------------------------------------------


def tensor_memory(r: Random) -> Draft:
    block_m, stride = r.choice([64, 128]), r.choice([1, 1, 2, 4])
    vectors = cga(r, 2)
    has_two_ctas = r.random() < 0.2
    if has_two_ctas:
        vectors = [[1, 0], *r.choice([[], [[0, 1]], [[2, 0]]])]
    entries: list[tuple[str, Any]] = [
        ("blockM", block_m),
        ("blockN", power(r, 1, 7)),
        ("colStride", stride),
        *([("CGALayout", vectors)] if vectors else []),
    ]
    if has_two_ctas or r.random() < 0.1:
        entries.append(("twoCTAs", has_two_ctas))
    is_fp4 = stride == 1 and r.random() < 0.2
    if is_fp4:
        entries.append(("fp4Padded", True))
    parts = 1 << sum(vector[0] > 0 for vector in vectors)
    shape = (block_m * power(r, 0, 1) * parts, power(r, 1, 6))
    elem = "i8" if is_fp4 else {1: "f32", 2: "f16", 4: "i8"}[stride]
    attr = Attr("ttng.tensor_memory_encoding", tuple(entries), braces=False)
    return Draft(attr, shape, elem, "tmem")


def scales(r: Random) -> Draft:
    entries = tuple(cga_entries(r, 2))
    attr = Attr("ttng.tensor_memory_scales_encoding", entries, braces=False)
    return Draft(attr, (power(r, 3, 9), power(r, 0, 5)), "i8", "tmem")


KINDS: dict[str, Callable[[Random], Draft]] = {
    "blocked": tensor_of(blocked, 1, 2, 2, 3, 4),
    "linear": tensor_of(linear, 1, 2, 2, 3),
    "generic_linear": tensor_of(generic_linear, 1, 2, 2, 3),
    "slice": tensor_of(sliced, 1, 1, 2),
    "nvidia_mma v2": tensor_of(mma_v2, 2, 2, 3),
    "nvidia_mma v3": tensor_of(mma_v3, 2),
    "amd_mfma": tensor_of(mfma, 2, 2, 3),
    "amd_wmma": tensor_of(wmma, 2, 2, 3),
    "dot_op": tensor_of(operand, 2, 2, 3),
    "swizzled_shared": swizzled_of("ttg.swizzled_shared"),
    "nvmma_shared": nvmma,
    "shared_linear": shared_linear,
    "padded_shared": padded,
    "amd_rotating_shared": swizzled_of("ttg.amd_rotating_shared"),
    "partitioned_shared": partitioned,
    "tensor_memory_encoding": tensor_memory,
    "tensor_memory_scales_encoding": scales,
}

WEIGHTS = {"dot_op": 3, "slice": 2, "nvmma_shared": 2, "linear": 1}


# -- damage ---------------------------------------------------------------------------------


def with_entry(draft: Draft, at: int, *entries: tuple[str, Any]) -> Draft:
    """Return the draft with the entry at a position replaced."""
    old = draft.attr.entries
    return replace(draft, attr=replace(draft.attr, entries=(*old[:at], *entries, *old[at + 1 :])))


def wrong_rank(r: Random, draft: Draft) -> Draft:
    shape = draft.shape[1:] if len(draft.shape) > 2 else (*draft.shape, 2, 2)
    return replace(draft, shape=shape)


def odd_shape(r: Random, draft: Draft) -> Draft:
    at = r.randrange(len(draft.shape))
    shape = tuple(size * 3 if d == at else size for d, size in enumerate(draft.shape))
    return replace(draft, shape=shape)


SIZES = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "numPartitions", "numGroups", "blockM")


def odd_size(r: Random, draft: Draft) -> Draft | None:
    """Replace a size by one that is not a power of two."""
    places = [at for at, (key, _) in enumerate(draft.attr.entries) if key in SIZES]
    if not places:
        return None
    at = r.choice(places)
    key, value = draft.attr.entries[at]
    odd = [3, *value[1:]] if isinstance(value, list) else r.choice([0, 3])
    return with_entry(draft, at, (key, odd))


def bad_order(r: Random, draft: Draft) -> Draft | None:
    at = next((at for at, (key, _) in enumerate(draft.attr.entries) if key == "order"), None)
    if at is None:
        return None
    rank = len(draft.attr.entries[at][1])
    order = r.choice([[rank, *range(1, rank)], [0] * rank if rank > 1 else [1]])
    return with_entry(draft, at, ("order", order))


def missing_key(r: Random, draft: Draft) -> Draft | None:
    if not draft.attr.entries:
        return None
    return with_entry(draft, r.randrange(len(draft.attr.entries)))


def unknown_key(r: Random, draft: Draft) -> Draft:
    entries = (*draft.attr.entries, ("colour", r.choice([1, [1, 2], True])))
    return replace(draft, attr=replace(draft.attr, entries=entries))


def repeated_key(r: Random, draft: Draft) -> Draft | None:
    if not draft.attr.entries:
        return None
    at = r.randrange(len(draft.attr.entries))
    entry = draft.attr.entries[at]
    return with_entry(draft, at, entry, entry)


def short_list(r: Random, draft: Draft) -> Draft | None:
    """Drop an entry of a list, so that ranks differ."""
    places = [
        at
        for at, (_, value) in enumerate(draft.attr.entries)
        if isinstance(value, list) and len(value) > 1 and isinstance(value[0], int)
    ]
    if not places:
        return None
    at = r.choice(places)
    key, value = draft.attr.entries[at]
    return with_entry(draft, at, (key, value[1:]))


DAMAGES: dict[str, Callable[[Random, Draft], Draft | None]] = {
    "wrong rank": wrong_rank,
    "odd shape": odd_shape,
    "odd size": odd_size,
    "bad order": bad_order,
    "missing key": missing_key,
    "unknown key": unknown_key,
    "repeated key": repeated_key,
    "short list": short_list,
}


# -- cases ----------------------------------------------------------------------------------


def random_case(r: Random, damaged_share: float = 0.0) -> Case:
    names = list(KINDS)
    name = r.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    draft = KINDS[name](r)
    if r.random() < damaged_share:
        damage = r.choice(list(DAMAGES))
        damaged = DAMAGES[damage](r, draft)
        if damaged is not None:
            return as_case(r, damaged, damage)
    return as_case(r, draft)


def as_case(r: Random, draft: Draft, damage: str = "") -> Case:
    text = str(draft.attr)
    if r.random() < 0.1:
        text = text.replace(" = ", "=").replace(", ", ",")
    return Case(text, draft.shape, draft.elem, draft.kind, damage)


def random_cases(seed: int, count: int, damaged_share: float = 0.0) -> list[Case]:
    """Return ``count`` distinct cases, always the same ones for a seed."""
    r = Random(seed)
    cases: dict[Case, None] = {}
    while len(cases) < count:
        cases[random_case(r, damaged_share)] = None
    return list(cases)
