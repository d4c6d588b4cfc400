"""What a conversion takes: classes, moves and bounds, by hand and by brute force."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from command import BLOCKED, TYPE, Run, runner
from tiers import slow

import tt_layout
from tt_layout import LayoutError, LinearLayout
from tt_layout.analyses.conversion.conversion import classify, conversion_cost
from tt_layout.analyses.conversion.optimal_swizzling import intersection, null_space
from tt_layout.analyses.conversion.scratch import scratch
from tt_layout.hardware import TARGETS

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
COLUMNS = (
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
NARROWER = ROWS.replace("[1, 4]", "[1, 2]")


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def line(**inputs: list[int]) -> LinearLayout:
    """Return a layout of a tensor of one dimension."""
    bases = [(name, [[x] for x in inputs.get(name, [])]) for name in INPUTS]
    return LinearLayout.from_bases(bases, ["dim0"])


INPUTS = ("register", "lane", "warp", "block")


@pytest.mark.parametrize(
    ("src", "dst", "kind", "exchanges"),
    [
        (line(register=[1, 2], lane=[4]), line(register=[1, 2], lane=[4]), "nothing", 0),
        (line(register=[1, 0], lane=[2]), line(register=[0, 1], lane=[2]), "nothing", 0),
        (line(register=[1, 2], lane=[4]), line(register=[2, 1], lane=[4]), "registers", 0),
        (line(register=[1], lane=[2, 4]), line(register=[1], lane=[4, 2]), "shuffles", 0),
        (line(register=[1, 2], lane=[4, 8]), line(register=[4, 2], lane=[1, 8]), "shuffles", 1),
        (
            line(register=[1, 2], lane=[4, 8]),
            line(register=[4, 8], lane=[1, 2]),
            "shared memory",
            2,
        ),
        (line(lane=[1], warp=[2]), line(lane=[2], warp=[1]), "shared memory", 0),
        # Each warp reads the copy that it holds itself; a register cannot.
        (line(lane=[1, 2], warp=[0]), line(lane=[1, 0], warp=[2]), "shuffles", 0),
        (line(register=[2], lane=[1], warp=[0]), line(lane=[1], warp=[2]), "shared memory", 0),
        # A register that is not there goes where a lane repeats an element.
        (line(lane=[1, 2]), line(register=[2], lane=[1, 0]), "shuffles", 1),
        (line(lane=[1], block=[2]), line(lane=[2], block=[1]), "across CTAs", 0),
        # Lanes that hold what registers hold, too, are not shuffled.
        (line(register=[1], lane=[1, 2]), line(register=[1], lane=[1, 2]), "shared memory", 0),
    ],
)
def test_classes(src: LinearLayout, dst: LinearLayout, kind: str, exchanges: int) -> None:
    found = classify(src, dst)
    assert found.kind == kind
    assert found.exchanges == exchanges
    assert found.needs_shared_memory == (kind in ("shared memory", "across CTAs"))
    assert classify(src, dst) is found, "it is remembered"


def test_moves_are_numbered_as_the_layouts_have_them() -> None:
    """Registers that repeat elements are skipped, but counted."""
    found = classify(line(register=[0, 1], lane=[2]), line(register=[2], lane=[1]))
    assert [str(move) for move in found.moves] == [
        "register bit 0 <- lane bit 0",
        "lane bit 0 <- register bit 1",
    ]


def random_layout(r: Random, sizes: tuple[int, int, int]) -> LinearLayout:
    """Return lanes, warps and registers that reach a tensor of 32 elements, with copies."""
    units = [1, 2, 4, 8, 16]
    r.shuffle(units)
    bits = [r.choice([0, unit]) for unit in units]
    lanes, warps = bits[: sizes[1]], bits[sizes[1] : sizes[1] + sizes[2]]
    registers = [unit for unit in units if unit not in (*lanes, *warps)]
    registers += [0] * (r.random() < 0.2)
    return line(register=registers, lane=lanes, warp=warps)


def elements(layout: LinearLayout, lane: int, warp: int) -> set[int]:
    registers = range(layout.get_in_dim_size("register"))
    return {layout.apply({"register": k, "lane": lane, "warp": warp})["dim0"] for k in registers}


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [35, slow(300)])
def test_bounds_by_brute_force(pairs: int) -> None:
    """Count element by element what the threads lack."""
    r, kinds = Random(7), set()
    for _ in range(pairs):
        src, dst = random_layout(r, (0, 2, 1)), random_layout(r, (0, 2, 1))
        lacking = [
            len(elements(dst, *thread) - elements(src, *thread))
            for thread in product(range(4), range(2))
        ]
        found, cost = classify(src, dst), conversion_cost(src, dst, 16)
        kinds.add(found.kind)
        assert cost.moved_bytes == 2 * sum(lacking)
        if found.kind == "shuffles":
            assert cost.shuffles == -(-max(lacking) * 16 // 32)
        if found.kind == "shared memory":
            held = set().union(*(elements(src, *t) for t in product(range(4), range(2))))
            needed = [set().union(*(elements(dst, t, w) for t in range(4))) for w in range(2)]
            cost = conversion_cost(src, dst, 16, replace(TARGETS["sm90"], banks=2))
            assert cost.store_wavefronts == -(-2 * len(held) // 8)
            assert cost.load_wavefronts == sum(-(-2 * len(own) // 8) for own in needed)
    assert kinds == {"nothing", "registers", "shuffles", "shared memory"}


@pytest.mark.slow
def test_composed_reads_the_element_that_is_needed() -> None:
    r = Random(7)
    for _ in range(100):
        src, dst = random_layout(r, (0, 2, 1)), random_layout(r, (0, 2, 1))
        composed = classify(src, dst).composed
        old, new = src.remove_zero_bases("register"), dst.remove_zero_bases("register")
        for k, t, w in product(range(new.get_in_dim_size("register")), range(4), range(2)):
            place = {"register": k, "lane": t, "warp": w}
            assert old.apply(composed.apply(place)) == new.apply(place)


def span(vectors: list[int]) -> set[int]:
    reached = {0}
    for vector in vectors:
        reached |= {x ^ vector for x in reached}
    return reached


def test_intersection_by_brute_force() -> None:
    r = Random(8)
    for _ in range(200):
        first, second = ([r.randrange(16) for _ in range(r.randint(0, 3))] for _ in range(2))
        assert span(intersection(first, second, 4)) == span(first) & span(second)
        space = span(null_space(first, 4))
        assert space == {x for x in range(16) if all((x & v).bit_count() % 2 == 0 for v in first)}


def test_scratch_is_per_cta_and_by_rounds() -> None:
    layouts = [tt_layout.parse_layout(t).to_linear_layout([64, 64]) for t in (ROWS, COLUMNS)]
    found = scratch(layouts[0], layouts[1], 32, "sm80")
    assert found is not None
    assert (found.bytes, found.rounds) == (64 * 64 * 4, 1)
    assert scratch(layouts[0], layouts[0], 32, "sm80") is None
    found = scratch(layouts[0], layouts[1], 16, "sm90")
    assert found is not None
    assert (found.bytes, found.rounds, found.load) == (2048, 4, "ldmatrix.trans")
    with pytest.raises(LayoutError, match="sm90 has 32 lanes per warp, but the layouts have 4"):
        scratch(line(lane=[1, 2], warp=[4]), line(lane=[1, 4], warp=[2]), 8, "sm90")
    with pytest.raises(LayoutError, match="unknown target 'H800'; choose from sm70"):
        scratch(layouts[0], layouts[1], 32, "H800")


@pytest.mark.parametrize("is_narrow_first", [False, True])
def test_transposing_instructions_take_two_registers_of_a_thread(is_narrow_first: bool) -> None:
    """Eight lanes of one side, of one register each, have what a thread of the other has."""
    narrow = line(lane=[8, 16, 1, 2, 4], warp=[32, 64, 128])
    wide = line(register=[1, 2, 4], lane=[8, 16, 32, 64, 128], warp=[0, 0, 0])
    found = scratch(*((narrow, wide) if is_narrow_first else (wide, narrow)), 16, "sm90")
    assert found is not None
    assert (found.store, found.load, found.bytes) == ("st.shared", "ld.shared", 512)


def test_lanes_of_a_wavefront_on_cdna3() -> None:
    """Bytes that 3.9.0 allocates where one or the other choice of lanes needs less."""
    above = [1 << bit for bit in range(10)]
    src = line(register=above[2:], lane=[1, 2, 0, 0, 0, 0])
    dst = line(register=above[4:], lane=[0, 0, 1, 2, 4, 8])
    found = scratch(src, dst, 64, "gfx942")
    assert found is not None
    assert found.bytes == 256
    src = line(register=above[:8], lane=[0] * 6)
    dst = line(register=[1, *above[4:8]], lane=[2, 4, 8, 0, 0, 0])
    found = scratch(src, dst, 8, "gfx942")
    assert found is not None
    assert found.bytes == 128


def test_scratch_of_a_vector_that_is_a_sum_of_tensor_bits() -> None:
    """The bits of its offset depend on each other; Triton 3.9 asks for 2048 bytes."""
    src = tt_layout.parse_layout(
        "#ttg.generic_linear<{register = [], "
        "lane = [[0, 2], [4, 0], [0, 8], [16, 0], [8, 0], [0, 1]], "
        "warp = [[1, 2], [18, 0], [0, 5]], block = []}>"
    )
    dst = tt_layout.parse_layout(
        "#ttg.amd_mfma<{version = 1, warpsPerCTA = [2, 4], instrShape = [64, 4, 4], "
        "isTransposed = true, tilesPerWarp = [2, 2], elementBitWidth = 64}>"
    )
    layouts = src.to_linear_layout((32, 32)), dst.to_linear_layout((32, 32))
    found = scratch(*layouts, 16, "gfx942")
    assert found is not None
    assert (found.bytes, found.rounds) == (2048, 1)


def test_scratch_on_gfx1250() -> None:
    """Bytes that 3.9.0 allocates: no choice of lanes is special there."""
    attributes = [
        "#ttg.slice<{dim = 0, parent = #ttg.generic_linear<{register = [], lane = [[0, 1], [0, 2], "
        "[1, 0], [2, 0], [4, 0]], warp = [], block = []}>}>",
        "#ttg.slice<{dim = 1, parent = #ttg.amd_wmma<{version = 3, isTranspose = false, "
        "ctaLayout = {register = [[1, 0]], warp = []}, instrShape = [16, 16, 64]}>}>",
    ]
    src, dst = (tt_layout.parse_layout(text).to_linear_layout([128]) for text in attributes)
    found = scratch(src, dst, 64, "gfx1250")
    assert found is not None
    assert found.bytes == 512


def test_text(run: Run) -> None:
    result = run("convert", ROWS, COLUMNS, "-t", "tensor<64x64xf32>", "--target", "sm80")
    assert result.status == 0
    assert "through shared memory" in result.out
    assert "  lane bit 0 <- warp bit 0\n" in result.out
    assert "at least 128 wavefronts to store and 128 to load, per CTA" in result.out
    assert "16384 bytes of scratch per CTA on sm80, one round of st.shared" in result.out
    result = run("convert", ROWS, NARROWER, "-t", "tensor<64x64xf16>")
    assert "shuffles within warps\n" in result.out
    assert "at least 16 shuffles per warp" in result.out
    result = run("convert", ROWS, ROWS, "-t", "tensor<64x64xf16>")
    assert result.out.endswith("nothing to do: every thread has its elements in place\n")


def test_json(run: Run) -> None:
    result = run("convert", ROWS, COLUMNS, "-t", "tensor<64x64xf32>", "--format", "json")
    said = json.loads(result.out)
    assert said["kind"] == "shared memory"
    assert said["cost"]["store_wavefronts"] == 128
    assert said["scratch"]["bytes"] * said["scratch"]["rounds"] == 64 * 64 * 4
    assert {"to": ["lane", 0], "sources": [["warp", 0]]} in said["moves"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([BLOCKED, ROWS, "-t", TYPE], "have 4 and 32 lanes per warp"),
        (
            [ROWS, COLUMNS, "-t", "tensor<64x64xf16>", "--target", "H800"],
            "unknown target 'H800'; choose from",
        ),
        ([ROWS, "nowhere", "-t", TYPE], "DST_LAYOUT must be an attribute"),
        (
            [*["#ttg.swizzled_shared<{vec=1,perPhase=1,maxPhase=1,order=[1,0]}>"] * 2, "-t", TYPE],
            "expected a layout of a tensor in registers",
        ),
        ([ROWS, COLUMNS, "-t", "tensor<64xf16>"], "is for 2 dimensions"),
    ],
)
def test_bad_input(run: Run, arguments: list[str], message: str) -> None:
    result = run("convert", *arguments)
    assert result.status == 2
    assert result.out == ""
    assert message in result.err


def test_bad_pair_points_at_the_type(run: Run) -> None:
    result = run("convert", BLOCKED, ROWS, "-t", TYPE)
    assert result.err.splitlines()[-1].strip() == "^" * len(TYPE)
