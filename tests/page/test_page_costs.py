"""The page costs an access as the library does."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from page_scripts import scripts
from tiers import slow

from tt_layout.analyses.shared_memory.banks import BankConflicts, SharedAccess, bank_conflicts
from tt_layout.analyses.shared_memory.swizzle import find_swizzle
from tt_layout.encodings import SharedEncoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.hardware import TARGETS
from tt_layout.mlir.types import element_bits
from tt_layout.reports.conflicts import ConflictsReport
from tt_layout.reports.report import plain_text
from tt_layout.wording import count

DATA = Path(__file__).parents[1] / "data"
BLOCKED = "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}}}>"
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)


class Pair(NamedTuple):
    """Registers and shared memory of one tensor, and the GPU that moves it."""

    register: str
    shared: str
    shape: list[int]
    size: int
    target: str


def blocked(rng: random.Random, lanes: int) -> str:
    across, warps = 2 ** rng.randrange(lanes.bit_length()), rng.choice([1, 2, 4])
    per_thread = [rng.choice([1, 1, 2, 4, 8]), rng.choice([1, 1, 2, 4, 16])]
    order = rng.choice([[0, 1], [1, 0]])
    return BLOCKED.format(per_thread, [across, lanes // across], [warps, 4 // warps], order)


def linear(rng: random.Random, lanes: int, shape: Sequence[int]) -> str:
    """Return a random permutation of the tensor's bits, some held twice."""
    bits = [[0] * d + [1 << k] + [0] * (1 - d) for d in (0, 1) for k in range(size_bits(shape[d]))]
    bits += [[0, 0]] * rng.randrange(3)
    rng.shuffle(bits)
    ends = [lanes.bit_length() - 1, lanes.bit_length() + 1]
    parts = {"lane": bits[: ends[0]], "warp": bits[ends[0] : ends[1]], "register": bits[ends[1] :]}
    text = ", ".join(f"{name} = {parts[name]}" for name in ("register", "lane", "warp"))
    return f"#ttg.linear<{{{text}, block = []}}>"


def size_bits(size: int) -> int:
    return size.bit_length() - 1


def matrices(rng: random.Random, size: int) -> str:
    """Return what ldmatrix and stmatrix are for: operands and results of tensor cores."""
    operand = f"opIdx = {rng.randrange(2)}, parent = {MMA}, kWidth = {max(1, 4 // size)}"
    return rng.choice([f"#ttg.dot_op<{{{operand}}}>", MMA])


def memory(rng: random.Random, shape: Sequence[int], size: int) -> str:
    order = rng.choice([[0, 1], [1, 0]])
    vec, per, most = (rng.choice([1, 2, 4, 8, 8]) for _ in range(3))
    swizzle = f"vec = {vec}, perPhase = {per}, maxPhase = {most}, order = {order}"
    pair = f"{rng.choice([8, 16, 64])}:+{rng.choice([1, 2, 4, 8])}"
    more = rng.choice(["", f", {rng.choice([128, 256])}:+{rng.choice([4, 16])}"])
    nvmma = (
        f"swizzlingByteWidth = {rng.choice([0, 32, 64, 128])}, "
        f"transposed = {rng.choice(['true', 'false'])}, elementBitWidth = {8 * size}"
    )
    offsets = [[0, 1 << k] for k in range(size_bits(shape[1]))]
    offsets += [[1 << k, rng.randrange(shape[1])] for k in range(size_bits(shape[0]))]
    return rng.choice([
        f"#ttg.swizzled_shared<{{{swizzle}}}>",
        f"#ttg.amd_rotating_shared<{{{swizzle}}}>",
        f"#ttg.padded_shared<[{pair}{more}] {{order = {order}, shape = {list(shape)}}}>",
        f"#ttg.nvmma_shared<{{{nvmma}}}>",
        f"#ttg.shared_linear<{{offset = {offsets}}}, alignment = 16>",
    ])  # fmt: skip


def random_pair(rng: random.Random) -> Pair:
    shape = [rng.choice([16, 32, 64, 128]), rng.choice([16, 32, 64, 128])]
    size = rng.choice([1, 2, 4, 8, 16])
    target = rng.choice(["sm90", *TARGETS])
    lanes = rng.choice([TARGETS[target].lanes, *TARGETS[target].other_lanes])
    register = rng.choice([blocked(rng, lanes), linear(rng, lanes, shape)])
    if lanes == 32 and size <= 4 and rng.random() < 0.3:
        register = matrices(rng, size)
    return Pair(register, memory(rng, shape, size), shape, size, target)


def tensor_core_pair(rng: random.Random) -> Pair:
    """Return a pair as a matmul has it, which mostly goes by ldmatrix and stmatrix."""
    order = rng.choice([[0, 1], [1, 0]])
    swizzle = f"vec = 8, perPhase = {rng.choice([1, 2])}, maxPhase = {rng.choice([1, 4, 8])}"
    shared = f"#ttg.swizzled_shared<{{{swizzle}, order = {order}}}>"
    target = rng.choice(["sm75", "sm80", "sm90", "sm100"])
    return Pair(matrices(rng, 2), shared, [64, 64], 2, target)


def measured_pairs() -> Iterator[Pair]:
    """Yield the pairs whose wavefronts were counted on a GPU."""
    for name in ("h200-pairs.jsonl", "h200-differing-pairs.jsonl"):
        for line in (DATA / name).read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            size = (element_bits(case["elem"]) or 0) // 8
            yield Pair(case["register"], case["shared"], case["shape"], size, "sm90")


UNEVEN = (
    Pair(
        BLOCKED.format([1, 1], [1, 32], [4, 1], [0, 1]),
        "#ttg.padded_shared<[1024:+1, 8192:+8] {order = [0, 1], shape = [64, 64]}>",
        [64, 64], 1, "sm90",
    ),
    Pair(
        BLOCKED.format([8, 1], [32, 1], [2, 2], [0, 1]),
        "#ttg.padded_shared<[64:+4, 512:+1] {order = [1, 0], shape = [256, 32]}>",
        [256, 32], 2, "sm90",
    ),
)  # fmt: skip
"""Paddings that are no whole words: where an instruction starts matters."""

PASSED = tuple(
    Pair(
        f"#ttg.linear<{{register = [[128], [256], [{third}], [2560], [{low}], [34], [66]], "
        "lane = [[1], [2], [4], [8], [1024]], warp = [[0], [0]], block = []}>",
        "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>",
        [4096], 4, "gfx12",
    )
    for third, low in ((520, 18), (512, 18), (520, 16))
)  # fmt: skip
"""Stores from several addresses, which AMD's assembler does not move past each other."""


def pairs(seed: int, every: int) -> Iterator[Pair]:
    rng = random.Random(seed)
    yield from itertools.islice(measured_pairs(), 0, None, every)
    yield from (*UNEVEN, *PASSED)
    while True:
        yield tensor_core_pair(rng) if rng.random() < 0.2 else random_pair(rng)


def library(pair: Pair) -> dict[bool, SharedAccess]:
    """Return what storing costs, and what loading costs."""
    costs = bank_conflicts(
        pair.register, pair.shared, pair.shape, elem_bytes=pair.size, target=pair.target
    )
    return {True: costs.store, False: costs.load}


def questions(pair: Pair) -> list[dict[str, Any]]:
    """Return what the page is asked about a store and about a load."""
    sides = []
    for text in (pair.register, pair.shared):
        encoding = parse_layout(text)
        layout = encoding.to_linear_layout(pair.shape, element_bits=8 * pair.size)
        own = {"ins": layout.in_bases, "outs": layout.out_sizes, "memory": encoding.memory_space}
        padding = encoding.padding if isinstance(encoding, SharedEncoding) else ()
        sides.append({**own, "padding": padding, "bits": 8 * pair.size})
    return [
        {"what": "access", "layout": sides[0], "with": sides[1], "isStore": is_store,
         "target": TARGETS[pair.target].name}
        for is_store in (True, False)
    ]  # fmt: skip


def main_lines(access: SharedAccess) -> list[str]:
    """Return what ``tt-layout conflicts`` says, but for its picture."""
    kind = "store" if access.is_store else "load"
    report = ConflictsReport(BankConflicts(access, access), [kind])
    *lines, _ = (line.strip() for line in plain_text(report).splitlines())
    picture = [k for k, line in enumerate(lines) if " | bank;" in line]
    return lines[: picture[0]] if picture else lines


@pytest.mark.slow
@pytest.mark.parametrize(("pairs_tried", "every"), [(20, 60), slow(300, 3)])
def test_accesses_cost_what_the_library_says(pairs_tried: int, every: int, seed: int) -> None:
    seen: Counter[str] = Counter()
    asked, expected = [], []
    for pair in pairs(seed, every):
        try:
            costs = library(pair)
        except LayoutError:
            continue  # such as a swizzle that does not fit into the shape
        asked += questions(pair)
        expected += [(pair, costs[is_store]) for is_store in (True, False)]
        seen.update([pair.shared.split("<")[0], f"{pair.size} bytes", TARGETS[pair.target].name])
        seen.update({access.instruction.kind for access in costs.values()})
        if len(expected) == 2 * pairs_tried:
            break
    answers = scripts().ask_all(asked)
    for (pair, access), answer in zip(expected, answers):
        seen["conflicts"] += bool(access.extra_wavefronts_per_instruction)
        assert "error" not in answer, (pair, answer)
        assert answer["wavefronts"] == access.wavefronts_per_instruction, pair
        assert answer["phases"] == access.ideal_wavefronts_per_instruction, pair
        assert answer["words"] == main_lines(access), pair
        found = [[c["bank"], c["lanes"], c["words"]] for c in answer["collisions"]]
        assert found == [[c.bank, [*c.lanes], [*c.words]] for c in access.collisions], pair
    kinds = {"vector", "matrix", "matrix.trans"} | {f"{size} bytes" for size in (1, 2, 4, 8, 16)}
    assert all(seen[name] >= pairs_tried // 80 for name in kinds), seen
    assert pairs_tried // 4 < seen["conflicts"] < 2 * pairs_tried - pairs_tried // 16


@pytest.mark.slow
def test_means_are_written_alike() -> None:
    means = [1, 2, *(number / 32 for number in range(1, 200)), 4 / 3, 1234.56789]
    assert scripts().ask(what="counted", points=means) == [
        count(mean, "wavefront") for mean in means
    ]


def test_what_the_library_refuses_is_refused() -> None:
    rows = BLOCKED.format([1, 8], [4, 8], [4, 1], [1, 0])
    clusters = rows.replace("}>", ", CGALayout = [[1, 0]]}>")
    plain = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    columns = plain.replace("}>", ", CGALayout = [[0, 1]]}>")
    pieces = f"numPartitions = 2, numGroups = 32, partitionDim = 0, partitionLayout = {plain}"
    pairs = [
        Pair(rows, plain, [64, 64], 2, "gfx942"),
        Pair(rows, f"#ttg.partitioned_shared<{{{pieces}}}>", [64, 64], 2, "sm90"),
        Pair(clusters, columns, [64, 64], 2, "sm90"),
    ]
    for pair in pairs:
        with pytest.raises(LayoutError) as refused:
            library(pair)
        said = scripts().ask(**questions(pair)[0])["error"]
        assert str(refused.value).split(";")[0] == said


def fastest_dimension(pair: Pair) -> int:
    """Return the dimension along which the first elements of a buffer lie."""
    layout = parse_layout(pair.shared).to_linear_layout(pair.shape, element_bits=8 * pair.size)
    (_, (first, *_)), *_ = layout.in_bases
    return next(dim for dim, step in enumerate(first) if step)


@pytest.mark.slow
@pytest.mark.parametrize("pairs_tried", [1, slow(15)])
def test_the_swizzle_that_is_suggested_is_that_of_the_library(pairs_tried: int, seed: int) -> None:
    """For one access: the first of the ranking, of equals one as fast along the same dimension."""
    rng = random.Random(seed)
    asked: list[Any] = []
    expected = []
    while len(asked) < pairs_tried:
        pair = tensor_core_pair(rng) if rng.random() < 0.3 else random_pair(rng)
        is_store = rng.random() < 0.5
        own = [pair.register]
        try:
            question = questions(pair)[not is_store]
            found = find_swizzle(
                own if is_store else [], [] if is_store else own, pair.shape,
                elem_bytes=pair.size, target=pair.target,
            )  # fmt: skip
        except LayoutError:
            continue
        asked.append({**question, "what": "swizzle"})
        assert found.best is not None
        fast = fastest_dimension(pair)
        kept = f"order = [{fast}"
        first = min(found.ranking, key=lambda one: (one.rank[:-1], kept not in str(one.encoding)))
        expected.append((pair, is_store, str(first.encoding)))
    for (pair, is_store, best), answer in zip(expected, scripts().ask_all(asked)):
        assert answer == best, (pair, is_store)
