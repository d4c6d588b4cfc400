"""The search for shared layouts: against brute force, on known cases, and as a command."""

from __future__ import annotations

import itertools
import json
import random
from functools import partial

import pytest
from tiers import slow
from work import calls_of

from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.shared_memory.banks import bank_conflicts
from tt_layout.analyses.shared_memory.candidates import SwizzleProblem
from tt_layout.analyses.shared_memory.optimum import linear_optimum
from tt_layout.analyses.shared_memory.swizzle import FAMILIES, find_swizzle
from tt_layout.cli.main import main
from tt_layout.encodings import DistributedEncoding, SharedEncoding
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.hardware import find_target

BLOCKED = "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}}}>"
ROWS = BLOCKED.format([1, 8], [4, 8], [4, 1], [1, 0])
COLUMNS = BLOCKED.format([8, 1], [8, 4], [1, 4], [0, 1])
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)


def operand(index: int, width: int) -> str:
    return f"#ttg.dot_op<{{opIdx = {index}, parent = {MMA}, kWidth = {width}}}>"


def powers(limit: int) -> list[int]:
    return [1 << k for k in range(limit.bit_length())]


def members(family: str, shape: list[int], size: int) -> list[str]:
    """Return every member of a family, however many of them are the same layout."""
    orders = [[1, 0], [0, 1]]
    if family == "swizzled":
        return [
            f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, "
            f"order = {order}}}>"
            for order in orders
            for vec, per, most in itertools.product(*[powers(max(shape))] * 3)
        ]
    if family == "nvmma":
        return [
            f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {flag}, "
            f"elementBitWidth = {8 * size}}}>"
            for width in (0, 32, 64, 128)
            for flag in ("false", "true")
        ]
    return [
        f"#ttg.padded_shared<[{interval}:+{pad}] {{order = {order}, shape = {shape}}}>"
        for order in orders
        for interval in powers(shape[0] * shape[1] // 2)[1:]
        for pad in powers(128 // size)
    ]


def least(family: str, writer: str, reader: str, shape: list[int], size: int) -> float:
    """Return the fewest turns of a family, each member asked on its own."""
    totals = []
    writing, reading = parse_layout(writer), parse_layout(reader)
    for member in members(family, shape, size):
        try:
            buffer = parse_layout(member)
            stored = bank_conflicts(writing, buffer, shape, elem_bytes=size).store.wavefronts
            loaded = bank_conflicts(reading, buffer, shape, elem_bytes=size).load.wavefronts
        except LayoutError:
            continue  # such as a core matrix larger than the tensor
        totals.append(stored + loaded)
    return min(totals)


def random_register(rng: random.Random) -> str:
    lanes, warps = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([1, 2, 4])
    per_thread = [rng.choice([1, 1, 2, 4]), rng.choice([1, 1, 2, 4])]
    order = rng.choice([[0, 1], [1, 0]])
    return BLOCKED.format(per_thread, [lanes, 32 // lanes], [warps, 4 // warps], order)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [seed if seed in (12,) else slow(seed) for seed in range(0, 100, 2)]
)
def test_each_family_reaches_its_optimum(seed: int) -> None:
    rng = random.Random(seed)
    shape = [rng.choice([8, 16]), rng.choice([8, 16])]
    size = rng.choice([1, 2, 4, 8, 16])
    writer, reader = random_register(rng), random_register(rng)
    for family in FAMILIES if seed < 10 else [FAMILIES[seed % 3]]:
        search = find_swizzle([writer], [reader], shape, elem_bytes=size, family=family)
        if search.best is not None:
            assert search.best.wavefronts == least(family, writer, reader, shape, size), family
            if not search.best.encoding.padding:
                assert search.optimum.wavefronts <= search.best.wavefronts


KNOWN = {
    "transposition of f32": ([ROWS.replace("8]", "4]", 1)], [COLUMNS], [64, 64], 4),
    "transposition of f16": ([ROWS], [COLUMNS], [64, 64], 2),
    "transposition of fp8": ([ROWS.replace("8]", "16]", 1)], [COLUMNS], [128, 128], 1),
    "a column of 16 x 32, as tutorials have it": (
        [BLOCKED.format([1, 1], [1, 32], [4, 1], [1, 0])],
        [BLOCKED.format([1, 1], [16, 2], [1, 4], [1, 0])],
        [16, 32],
        4,
    ),
    "one element a lane": (
        [BLOCKED.format([1, 1], [1, 32], [4, 1], [1, 0])],
        [BLOCKED.format([1, 1], [32, 1], [1, 4], [0, 1])],
        [32, 32],
        4,
    ),
    "operand A of f16": ([ROWS], [operand(0, 2)], [128, 64], 2),
    "operand B of f16": ([ROWS], [operand(1, 2)], [64, 128], 2),
    "operand A of fp8": ([ROWS], [operand(0, 4)], [128, 64], 1),
    "operand A of f32": ([ROWS], [operand(0, 1)], [128, 32], 4),
    "operand B of f32": ([ROWS.replace("8]", "4]", 1)], [operand(1, 1)], [32, 128], 4),
}


QUICK = ("transposition of f32", "one element a lane", "operand B of f16")


@pytest.mark.parametrize("name", [name if name in QUICK else slow(name) for name in KNOWN])
def test_known_cases_are_free_of_conflicts(name: str) -> None:
    writers, readers, shape, size = KNOWN[name]
    search = find_swizzle(writers, readers, shape, elem_bytes=size)
    assert search.free_of_conflicts
    assert search.best is not None
    assert search.best.extra_wavefronts == 0
    assert search.optimum.extra_wavefronts == 0
    assert search.optimum.wavefronts <= search.best.wavefronts


def test_a_sum_of_registers_that_both_sides_hold_is_the_vector() -> None:
    """Elements x and x ^ 3 are in one thread of both: 1 ^ 2 of one side, 9 ^ 10 of the other."""
    sides = (
        "register = [[1], [2], [16]], lane = [[128], [32], [64], [4], [8]]",
        "register = [[10], [34], [9]], lane = [[144], [32], [72], [128], [132]]",
    )
    layouts = [f"#ttg.generic_linear<{{{bases}, warp = [], block = []}}>" for bases in sides]
    optimum = find_swizzle(layouts[:1], layouts[1:], [256], elem_bytes=1).optimum
    assert isinstance(optimum.encoding, SharedLinear)
    assert optimum.encoding.offset[0] == (3,)
    assert (optimum.wavefronts, optimum.extra_wavefronts) == (6, 0)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, slow(15)])
def test_linear_optimum_of_a_writer_and_a_reader_is_free_of_conflicts(pairs: int) -> None:
    rng = random.Random(3)
    for _ in range(pairs):
        shape = [rng.choice([32, 64]), rng.choice([32, 64])]
        size = rng.choice([1, 2, 4])
        pair = [random_register(rng)], [random_register(rng)]
        assert find_swizzle(*pair, shape, elem_bytes=size).optimum.extra_wavefronts == 0, (
            pair,
            shape,
        )


@pytest.mark.slow
def test_optimum_costs_what_bank_conflicts_says_of_its_text() -> None:
    search = find_swizzle([ROWS], [COLUMNS], [128, 128], elem_bytes=2)
    text = str(search.optimum.encoding)
    stored = bank_conflicts(ROWS, text, [128, 128], elem_bytes=2).store
    loaded = bank_conflicts(COLUMNS, text, [128, 128], elem_bytes=2).load
    assert search.optimum.wavefronts == stored.wavefronts + loaded.wavefronts == 128


@pytest.mark.slow
def test_ties_go_to_less_memory() -> None:
    search = find_swizzle([ROWS], [COLUMNS], [64, 64], elem_bytes=2, family="all")
    ranks = [(c.wavefronts, c.memory_bytes) for c in search.ranking]
    assert ranks == sorted(ranks)
    assert search.best is not None
    assert search.best.encoding.name == "ttg.swizzled_shared"


@pytest.mark.slow
def test_several_readers_and_targets() -> None:
    search = find_swizzle([ROWS], [ROWS, COLUMNS], [64, 64], elem_bytes=2)
    assert [a.is_store for a in search.optimum.accesses] == [True, False, False]
    wave = BLOCKED.format([1, 8], [8, 8], [4, 1], [1, 0])
    found = find_swizzle([wave], [wave], [64, 64], elem_bytes=2, target="gfx942")
    assert found.free_of_conflicts


@pytest.mark.parametrize(
    ("writers", "target", "family", "message"),
    [
        ([], "nvidia", "swizzled", "nothing to search for"),
        (["#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"],
         "nvidia", "swizzled", "is of shared memory"),
        ([ROWS], "gfx942", "swizzled", "has 32 lanes per warp"),
        ([ROWS], "nvidia", "xor", "unknown family 'xor'"),
        ([ROWS.replace("[1, 0]}>", "[1, 0], CGALayout = [[0, 1]]}>")], "nvidia", "swizzled",
         "a single CTA"),
    ],
)  # fmt: skip
def test_bad_input(writers: list[str], target: str, family: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        find_swizzle(writers, [], [64, 64], elem_bytes=2, target=target, family=family)


# -- the command -----------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["swizzle", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.slow
def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, ROWS, COLUMNS, "-t", "tensor<128x128xf16>")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].startswith("#ttg.swizzled_shared<{vec = 8, perPhase = ")
    assert lines[1].startswith("  gl.SwizzledSharedLayout(vec=8, per_phase=")
    assert lines[2:5] == [
        "  192 wavefronts per warp, none of them due to conflicts; 32768 bytes",
        "  store: 16 x st.shared.v4.b32, 4 wavefronts each",
        "  load: 128 x ld.shared.b16, 1 wavefront each",
    ]
    assert "best linear layout:" in out
    assert "needs 64 wavefronts per warp fewer" in out


@pytest.mark.slow
def test_all_families_are_little_work(capsys: pytest.CaptureFixture[str]) -> None:
    """A few hundred candidates of some thousand calls each."""
    command = (ROWS, COLUMNS, "-t", "tensor<128x128xf16>", "--family", "all")
    assert calls_of(lambda: run(capsys, *command)) < 4_000_000


@pytest.mark.slow
def test_eight_dimensions_take_no_longer(capsys: pytest.CaptureFixture[str]) -> None:
    """All orders of eight dimensions would take minutes."""
    threads, ones = [1, 1, 1, 2, 2, 2, 2, 2], [1] * 8
    across = f"#ttg.blocked<{{sizePerThread = {ones}, threadsPerWarp = {threads}, "
    across += f"warpsPerCTA = {ones}, order = [7, 6, 5, 4, 3, 2, 1, 0]}}>"
    command = (across, across, "-t", "tensor<2x2x2x8x2x4x2x2xf64>")
    outcomes = []
    assert calls_of(lambda: outcomes.append(run(capsys, *command))) < 3_000_000
    status, out, _ = outcomes[0]
    assert status == 0
    assert out.startswith("#ttg.swizzled_shared<")


def test_none_is_free_of_conflicts(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (ROWS, COLUMNS, "-t", "tensor<128x128xf16>", "--family", "nvmma")
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert "none in this family is conflict-free" in out


@pytest.mark.slow
def test_json_and_the_whole_ranking(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (ROWS, COLUMNS, "-t", "tensor<64x64xf16>", "--format", "json", "--all")
    status, out, _ = run(capsys, *arguments)
    report = json.loads(out)
    assert status == 0
    assert report["free_of_conflicts"] is True
    assert report["best"]["layout"] == report["ranking"][0]["layout"]
    assert [a["access"] for a in report["best"]["accesses"]] == ["store", "load"]
    assert report["optimum"]["layout"].startswith("#ttg.swizzled_shared")
    assert len(report["ranking"]) == len({c["layout"] for c in report["ranking"]})
    _, text, _ = run(capsys, *arguments[:4], "--all")
    assert len(text.splitlines()) > len(report["ranking"])


@pytest.mark.slow
def test_writer_alone_reads_back_and_more_writers(capsys: pytest.CaptureFixture[str]) -> None:
    _, alone, _ = run(capsys, ROWS, "-t", "tensor<64x64xf16>")
    assert "load: 4 x ld.shared.v4.b32" in alone
    _, two, _ = run(capsys, ROWS, COLUMNS, "-t", "tensor<64x64xf16>", "--writer", COLUMNS)
    assert two.count("store:") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, "-t", "tensor<64xf16>"), "is for 2 dimensions"),
        ((ROWS, "-t", "tensor<64x64xi1>"), "whole bytes"),
        ((ROWS, "-t", "tensor<64x64xf16>", "--target", "tpu"), "unknown target"),
        ((ROWS, "nothing", "-t", "tensor<64x64xf16>"), "READER_LAYOUT must be an attribute"),
    ],
)
def test_trouble(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_a_tensor_of_one_element_has_nothing_to_swizzle() -> None:
    rows = (
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    )
    with pytest.raises(LayoutError, match="a tensor of one element has no bank conflicts"):
        find_swizzle([rows], [rows], [1], elem_bytes=4)


def test_of_a_layout_above_what_is_known_not_all_accesses_are_evaluated() -> None:
    """Conflicts of the store alone decide where they take as long as all of the best."""
    rows, columns = map(parse_layout, (ROWS, COLUMNS))
    plain = parse_layout(members("swizzled", [64, 64], 2)[0])
    assert isinstance(rows, DistributedEncoding)
    assert isinstance(columns, DistributedEncoding)
    assert isinstance(plain, SharedEncoding)
    problem = SwizzleProblem([rows], [columns], (64, 64), 2, find_target("sm90"))
    store, load = problem.evaluate(plain, ()).accesses
    whole, weights = 3 * store.wavefronts + load.wavefronts, (3, 1)
    assert problem.wavefronts_below(whole + 1, plain, weights) == whole
    assert problem.wavefronts_below(whole, plain, weights) is None
    whole_work = calls_of(partial(problem.evaluate, plain, ()))
    for least in (0, 16):  # 2 KB of a warp, 128 bytes a wavefront, in any layout
        most = 3 * store.wavefronts + least
        assert calls_of(partial(problem.wavefronts_below, most, plain, weights)) < whole_work


@pytest.mark.parametrize(
    ("target", "size"), [("sm80", 1), ("sm90", 2), ("gfx942", 2), ("gfx950", 4), ("gfx1100", 2)]
)
def test_whatever_is_below_what_is_known_is_found(target: str, size: int) -> None:
    """No layout has fewer wavefronts than every layout is taken to have."""
    lanes = find_target(target).lanes
    layouts = [
        parse_layout(BLOCKED.format(own, threads, [4, 1], order))
        for own, threads, order in (
            ([1, 8], [lanes // 8, 8], [1, 0]),
            ([8, 1], [lanes, 1], [0, 1]),
            ([1, 1], [1, lanes], [1, 0]),
        )
    ]
    registers = [layout for layout in layouts if isinstance(layout, DistributedEncoding)]
    problem = SwizzleProblem(registers, registers[::-1], (16, 64), size, find_target(target))
    weights = [1] * len(problem.registers)
    found = 0
    for family in ("swizzled", "nvmma", "padded"):
        for text in members(family, [16, 64], size)[::29]:
            encoding = parse_layout(text)
            assert isinstance(encoding, SharedEncoding)
            try:
                whole = problem.evaluate(encoding, ()).wavefronts
            except LayoutError:
                continue
            assert problem.wavefronts_below(whole + 0.5, encoding, weights) == pytest.approx(whole)
            found += 1
    assert found > 5


def test_directions_are_not_sought_outside_of_what_is_whole() -> None:
    """Three accesses: of the last rows of banks none is free, and no more are looked through."""
    rows, columns, dots = map(parse_layout, (ROWS, COLUMNS, operand(0, 2)))
    registers = [
        layout for layout in (rows, columns, dots) if isinstance(layout, DistributedEncoding)
    ]
    problem = SwizzleProblem(registers[:1], registers[1:], (64, 64), 2, find_target("sm90"))
    assert calls_of(partial(linear_optimum, problem)) < 340_000
