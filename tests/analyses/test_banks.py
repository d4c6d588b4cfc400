"""Bank conflicts: measured cases, a simulator of its own, targets, the command."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tiers import slow
from work import bytes_of, calls_of

import tt_layout
from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.shared_memory.access import AccessMap, choose_instruction
from tt_layout.analyses.shared_memory.banks import bank_conflicts
from tt_layout.analyses.shared_memory.swizzle import find_swizzle
from tt_layout.cli.main import main
from tt_layout.hardware import BACKENDS, TARGETS, Gpu, find_gpu, find_target
from tt_layout.hardware import ROWS as ROWS_OF_GPUS
from tt_layout.reports.conflicts import picture

DATA = Path(__file__).parents[1] / "data"
BYTES = {"i8": 1, "f16": 2, "f32": 4, "i64": 8}


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


# -- the simulator: words and lanes one by one, nothing shared with the package ---------------


def phases_of(width: int, lanes: int, banks: int) -> list[list[int]]:
    """Return neighbouring lanes, as many as fill all banks once."""
    size = min(lanes, banks * 4 // max(4, width))
    return [list(range(first, first + size)) for first in range(0, lanes, size)]


def turns(addresses: dict[int, int], width: int, banks: int = 32) -> int:
    """Return the most different words that these lanes touch in one bank."""
    words = {a // 4 + k for a in addresses.values() for k in range(max(1, width // 4))}
    hits = [word % banks for word in words]
    return max((hits.count(bank) for bank in set(hits)), default=0)


def merges(addresses: dict[int, int], width: int) -> bool:
    """Tell whether all active lanes read what a neighbour reads, by 1 or by 2."""
    return width > 4 and any(
        all(addresses.get(lane ^ step, at) == at for lane, at in addresses.items())
        for step in (1, 2)
    )


def simulate(addresses: dict[int, int], width: int, is_store: bool, lanes: int = 32) -> int:
    """Return the turns of one vector instruction on NVIDIA."""
    phases = phases_of(width, lanes, 32)
    if not is_store and merges(addresses, width):
        phases = [a + b for a, b in zip(phases[::2], phases[1::2])]
    active = ({lane: addresses[lane] for lane in p if lane in addresses} for p in phases)
    return sum(turns(phase, width) for phase in active)


# -- what was measured -----------------------------------------------------------------------


def patterns() -> list[tuple[str, int, int, list[int]]]:
    found = []
    for line in (DATA / "h200-patterns.txt").read_text().splitlines()[1:]:
        kind, mask, wavefronts, words = line.split()
        addresses = [int(word, 16) * 4 for word in words.split(",")]
        found.append((kind, int(mask, 16), int(wavefronts), addresses))
    return found


def test_the_rule_holds_on_every_measured_pattern() -> None:
    seen = 0
    for kind, mask, wavefronts, addresses in patterns():
        if "m" in kind:
            rows = [dict(enumerate(addresses[8 * k : 8 * k + 8])) for k in range(int(kind[-1]))]
            assert sum(turns(row, 16) for row in rows) == wavefronts, kind
        else:
            active = {lane: at for lane, at in enumerate(addresses) if mask >> lane & 1}
            assert simulate(active, int(kind[2:]), kind[0] == "s") == wavefronts, (kind, addresses)
        seen += 1
    assert seen == 962


@pytest.mark.slow
@pytest.mark.parametrize("name", ["h200-pairs.jsonl", "h200-differing-pairs.jsonl"])
def test_every_measured_pair(name: str) -> None:
    """In one kernel of 64 stores LLVM joined some and left the rest: same turns all the same."""
    joined_in_part = []
    for case in cases(name):
        size = BYTES[case["elem"]]
        result = bank_conflicts(case["register"], case["shared"], case["shape"], elem_bytes=size)
        assert bool(result.load.instruction.matrices) == case["matrix"]
        for access in (result.store, result.load):
            instructions, wavefronts = case["store" if access.is_store else "load"]
            assert access.wavefronts == wavefronts, case
            if access.instructions != instructions and not case["matrix"]:
                joined_in_part.append(case)
    assert len(joined_in_part) == (1 if "differing" in name else 0)


def test_the_compiler_is_wrong_where_it_differs() -> None:
    differing = cases("h200-differing-pairs.jsonl")
    assert len(differing) >= 20
    for case in differing:
        assert {case["store"][1], case["load"][1]} != {case["compiler"]}


# -- against the simulator -------------------------------------------------------------------

BLOCKED = "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}}}>"


def random_register(rng: random.Random) -> str:
    lanes, warps = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([1, 2, 4])
    per_thread = [rng.choice([1, 1, 2, 4, 8]), rng.choice([1, 1, 2, 4])]
    order = rng.choice([[0, 1], [1, 0]])
    return BLOCKED.format(per_thread, [lanes, 32 // lanes], [warps, 4 // warps], order)


def random_shared(rng: random.Random, shape: Sequence[int]) -> str:
    order = rng.choice([[0, 1], [1, 0]])
    if rng.random() < 0.4:
        pair = f"{rng.choice([8, 16, 64])}:+{rng.choice([1, 2, 4, 8])}"
        return f"#ttg.padded_shared<[{pair}] {{order = {order}, shape = {list(shape)}}}>"
    vec, per, most = (rng.choice([1, 2, 4, 8]) for _ in range(3))
    return (
        f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, "
        f"order = {order}}}>"
    )


def positions(shared: str, shape: Sequence[int], size: int) -> dict[tuple[int, ...], int]:
    """Return the byte at which every element lies."""
    encoding = parse_layout(shared)
    layout = encoding.to_linear_layout(shape, element_bits=8 * size)
    found: dict[tuple[int, ...], int] = {}
    for offset in range(layout.get_in_dim_size("offset")):
        point = layout.apply({"offset": offset, "block": 0})
        at = offset + sum(offset // i * p for i, p in getattr(encoding, "padding", ()))
        found.setdefault(tuple(point.values()), at * size)
    return found


def brute_force(register: str, shared: str, shape: Sequence[int], size: int, width: int) -> Any:
    """Return the turns of each instruction of all warps, as loads and as stores.

    An instruction is a set of places, ``width`` bytes in one row, per lane and warp.
    """
    layout = parse_layout(register).to_linear_layout(shape, element_bits=8 * size)
    at = positions(shared, shape, size)
    names = [name for name in layout.get_in_dim_names() if name != "block"]
    sizes = {name: layout.get_in_dim_size(name) for name in names}
    loads, stores = [], []
    for warp in range(sizes["warp"]):
        addresses = [
            [
                at[tuple(layout.apply({"register": r, "lane": t, "warp": warp}).values())]
                for r in range(sizes["register"])
            ]
            for t in range(32)
        ]
        starts = dict.fromkeys(
            tuple(lane[r] for lane in addresses)
            for r in range(sizes["register"])
            if addresses[0][r] % width == min(a % width for a in addresses[0])
        )
        for start in starts:
            active = dict(enumerate(start))
            loads.append(simulate(active, width, is_store=False))
            stores.append(simulate(active, width, is_store=True))
    return loads, stores


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, slow(60)])
def test_random_pairs_as_the_simulator_counts_them(pairs: int) -> None:
    rng, seen = random.Random(5), 0
    while seen < pairs:
        shape = [rng.choice([16, 32]), rng.choice([16, 32])]
        register, shared = random_register(rng), random_shared(rng, shape)
        size = rng.choice([1, 2, 4, 8])
        result = bank_conflicts(register, shared, shape, elem_bytes=size, target="sm70")
        width = result.load.width_bytes
        if "padded" in shared and width > size:
            continue  # which registers start a vector is not told by the address then
        loads, stores = brute_force(register, shared, shape, size, width)
        for access, counted in ((result.load, loads), (result.store, stores)):
            mean = sum(counted) / len(counted)
            assert access.wavefronts_per_instruction == pytest.approx(mean), (register, shared)
            assert access.instructions * 4 == len(counted)
        seen += 1


# -- the vector ------------------------------------------------------------------------------

ROWS = BLOCKED.format([1, 8], [4, 8], [4, 1], [1, 0])
COLUMN = BLOCKED.format([1, 1], [32, 1], [4, 1], [0, 1])
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def test_either_order_of_arguments() -> None:
    one = bank_conflicts(ROWS, PLAIN, [64, 64], elem_bytes=2)
    assert one == bank_conflicts(PLAIN, ROWS, [64, 64], elem_bytes=2)
    assert one == bank_conflicts(parse_layout(ROWS), parse_layout(PLAIN), [64, 64], elem_bytes=2)


def test_registers_at_constant_distances_are_joined() -> None:
    register = BLOCKED.format([2, 2], [16, 2], [1, 4], [1, 0])
    swizzled = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
    result = bank_conflicts(register, swizzled, [64, 16], elem_bytes=1)
    assert (result.load.width_bytes, result.load.instructions) == (2, 4)


@pytest.mark.parametrize(
    ("register", "counts"),
    [
        ((128, 256, 520, 2560, 18, 34, 66), {"ds_store_b32": 128}),
        ((128, 256, 512, 2560, 18, 34, 66), {"ds_store_b32": 64, "ds_store_2addr_b32": 32}),
        ((128, 256, 520, 2560, 16, 32, 64), {"ds_store_2addr_b32": 64}),
    ],
)
def test_no_store_is_paired_past_one_from_another_address(
    register: tuple[int, ...], counts: dict[str, int]
) -> None:
    """The counts in the assembly of Triton 3.9.0; loads are paired wherever they stand."""
    places = AccessMap(register, (1, 2, 4, 8, 1024), (0, 0), element_bytes=4)
    gpu = TARGETS["gfx12"]
    store = choose_instruction(places, gpu, is_store=True)
    assert store.counts(gpu, is_store=True) == counts
    load = choose_instruction(places, gpu, is_store=False)
    assert load.counts(gpu, is_store=False) == {"ds_load_2addr_b32": 64}


def test_matrix_instructions_by_target() -> None:
    register = BLOCKED.format([1, 2], [8, 4], [4, 1], [1, 0])
    names = {
        target: bank_conflicts(register, PLAIN, [32, 32], elem_bytes=2, target=target).store.name
        for target in ("sm70", "sm80", "sm90")
    }
    assert names == {"sm70": "st.shared.b32", "sm80": "st.shared.b32", "sm90": "stmatrix.x4"}
    load = bank_conflicts(register, PLAIN, [32, 32], elem_bytes=2, target="sm80").load
    assert load.name == "ldmatrix.x4"


def test_rdna3_reads_16_bytes_by_its_own_phases() -> None:
    """Lanes 0-3 go with 20-23: with neighbours this access would take 8 cycles."""
    register = BLOCKED.format([1, 8], [8, 4], [4, 1], [1, 0])
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    result = bank_conflicts(register, shared, [32, 128], elem_bytes=2, target="gfx11")
    assert result.load.wavefronts_per_instruction == 4
    result = bank_conflicts(register, shared, [32, 128], elem_bytes=2, target="gfx12")
    assert result.load.wavefronts_per_instruction == 8


def test_amd_reads_by_its_own_phases() -> None:
    register = BLOCKED.format([1, 4], [16, 4], [4, 1], [1, 0])
    result = bank_conflicts(register, PLAIN, [64, 64], elem_bytes=4, target="gfx942")
    assert result.load.name == "ds_read_b128"
    assert (result.load.phases, result.load.wavefronts_per_instruction) == (8, 16)


def test_every_target_names_its_source() -> None:
    for target in TARGETS.values():
        assert target.source
        assert target.verified == (target.name == "sm90")
        for width, is_store in itertools.product((1, 2, 4, 8, 16), (False, True)):
            assert target.lanes % target.phase(width, is_store).lanes == 0


def test_a_huge_padded_tensor_is_little_work() -> None:
    """Of 67 million elements some instructions' are laid out."""
    padded = "#ttg.padded_shared<[64:+1] {order = [1, 0], shape = [8192, 8192]}>"
    ask = partial(bank_conflicts, ROWS, padded, [8192, 8192], elem_bytes=2)
    assert calls_of(ask) < 30_000
    assert bytes_of(ask) < 200 << 20


# -- bad input -------------------------------------------------------------------------------

MEMORY = (
    "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 0, "
    f"partitionLayout = {PLAIN}}}>"
)


DEALT = MEMORY.replace("numGroups = 1, partitionDim = 0", "numGroups = 32, partitionDim = 0")


@pytest.mark.parametrize(
    ("register", "shared", "shape", "elem_bytes", "target", "message"),
    [
        (ROWS, ROWS, [64, 64], 2, "nvidia", "a shared layout, got registers and registers"),
        (PLAIN, PLAIN, [64, 64], 2, "nvidia", "got shared memory and shared memory"),
        (ROWS, PLAIN, [64, 64], 3, "nvidia", "must have 1, 2, 4, 8 or 16 bytes, got 3"),
        (ROWS, PLAIN, [64], 2, "nvidia", "is for 2 dimensions"),
        (ROWS, PLAIN, [64, 64], 2, "gfx942", "has 32 lanes per warp, but gfx942 has 64"),
        (ROWS, PLAIN, [64, 64], 2, "h800", "unknown target 'h800'; choose from sm70"),
        (ROWS, DEALT, [64, 64], 2, "nvidia", "lanes of one access reach several partitions"),
    ],
)
def test_bad_input(
    register: str, shared: str, shape: list[int], elem_bytes: int, target: str, message: str
) -> None:
    with pytest.raises(LayoutError, match=message):
        bank_conflicts(register, shared, shape, elem_bytes=elem_bytes, target=target)


def test_unknown_target() -> None:
    with pytest.raises(LayoutError, match="nvidia"):
        find_target("x")


# -- the command -----------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["conflicts", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


WIDE = BLOCKED.format([1, 4], [8, 4], [4, 1], [1, 0])
EXPECTED = """\
load: 8 x ld.shared.v4.b32 per warp, 16 bytes per lane
  8 wavefronts per instruction, at least 4: 4 extra wavefronts
  lane bit 2 changes the word but not the bank
  bank 0: lanes 0, 4 touch 2 words (0, 64)
  bank 1: lanes 0, 4 touch 2 words (1, 65)
  bank 2: lanes 0, 4 touch 2 words (2, 66)
  bank 3: lanes 0, 4 touch 2 words (3, 67)
  and 12 more banks
  lane | bank; # where lanes conflict
       | 0         1         2         3
     0 | ####............................
     1 | ....####........................
     2 | ........####....................
     3 | ............####................
     4 | ####............................
     5 | ....####........................
     6 | ........####....................
     7 | ............####................
target: sm90, NVIDIA Hopper; measured
"""


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (WIDE, PLAIN, "-t", "tensor<64x64xf32>", "--access", "load")
    assert run(capsys, *arguments) == (0, EXPECTED, "")
    assert run(capsys, *arguments, "--fail-on-conflict")[0] == 1


def test_no_conflict(capsys: pytest.CaptureFixture[str]) -> None:
    swizzled = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    status, out, _ = run(
        capsys, swizzled, ROWS, "-t", "!ttg.memdesc<3x64x64xf16>", "--fail-on-conflict"
    )  # fmt: skip
    assert status == 0
    assert out.count("conflict-free") == 2


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, COLUMN, PLAIN, "-t", "tensor<128x32xf32>", "--format", "json")
    report = json.loads(out)
    assert status == 0
    for kind in ("load", "store"):
        numbers = {key: report[kind][key] for key in (
            "width_bytes", "instructions", "wavefronts_per_instruction",
            "ideal_wavefronts_per_instruction",
        )}  # fmt: skip
        assert numbers == {
            "width_bytes": 16,
            "instructions": 8,
            "wavefronts_per_instruction": 32,
            "ideal_wavefronts_per_instruction": 4,
        }
        assert report[kind]["colliding_lane_masks"] == [1, 2, 4]
        assert report[kind]["collisions"][0]["lanes"] == list(range(8))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, PLAIN, "-t", "tensor<64x64xi4>"), "whole bytes, but i4 has 4 bits"),
        ((ROWS, PLAIN, "-t", "tensor<64xf16>"), "is for 2 dimensions"),
        ((ROWS, ROWS, "-t", "tensor<64x64xf16>"), "a shared layout, got registers"),
        ((ROWS, PLAIN, "-t", "tensor<64x64xf16>", "--target", "tpu"), "unknown target 'tpu'"),
        ((ROWS, "x", "-t", "tensor<64x64xf16>"), "SHARED_LAYOUT must be an attribute"),
    ],
)
def test_trouble(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_conflicts_are_little_work(capsys: pytest.CaptureFixture[str]) -> None:
    for shared in (PLAIN, "#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [128, 128]}>"):
        command = partial(run, capsys, ROWS, shared, "-t", "tensor<128x128xf16>")
        command()  # what is loaded once does not count
        assert calls_of(command) < 20_000


def test_unverified_targets_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    register = BLOCKED.format([1, 4], [16, 4], [4, 1], [1, 0])
    _, out, _ = run(capsys, register, PLAIN, "-t", "tensor<64x64xf32>", "--target", "gfx942")
    assert "loads measured, stores documented (" in out


@pytest.mark.parametrize(
    ("target", "load", "store"),
    [
        ("sm90", "ld.shared.b16", "st.shared.v4.b32"),
        ("gfx942", "ds_read_u16", "ds_write_b128"),
        ("gfx950", "ds_read_u16", "ds_write_b128"),
        ("gfx11", "ds_load_u16", "ds_store_b128"),
        ("gfx12", "ds_load_u16", "ds_store_b128"),
    ],
)
def test_instructions_have_the_names_of_their_assembler(target: str, load: str, store: str) -> None:
    found = find_target(target)
    assert (
        found.instruction_name(2, is_store=False),
        found.instruction_name(16, is_store=True),
    ) == (load, store)


# -- one table of GPUs -------------------------------------------------------------------------


def test_a_gpu_is_found_by_the_name_that_the_compiler_gives_it() -> None:
    names = {
        "sm_90a": "sm90", "sm86": "sm86", "sm103": "sm103", "gfx908": "gfx908",
        "gfx1030": "gfx1030", "gfx1100": "gfx1100", "gfx1201": "gfx1201", "gfx1250": "gfx1250",
    }  # fmt: skip
    assert {name: find_target(name).name for name in names} == names


@pytest.mark.parametrize("name", ["sm90", "sm_90a", "sm89", "cuda:107", "hip:gfx1201", "gfx908"])
def test_nothing_is_assumed_of_a_gpu_that_has_a_row(name: str) -> None:
    assert find_gpu(name).assumption is None


NEWEST = max((row.name for row in ROWS_OF_GPUS if row.is_nvidia), key=lambda name: int(name[2:]))


@pytest.mark.parametrize(
    ("name", "row", "vendor"),
    [
        ("sm95", "sm90", "NVIDIA"),
        ("cuda:999", NEWEST, "NVIDIA"),
        ("sm999", NEWEST, "NVIDIA"),
        ("hip:gfx999", "gfx950", "AMD"),
        ("gfx1270", "gfx1250", "AMD"),
    ],
)
def test_a_newer_gpu_is_costed_as_the_newest_known_one(name: str, row: str, vendor: str) -> None:
    gpu, chip = find_gpu(name), BACKENDS["cuda" if vendor == "NVIDIA" else "hip"].chip
    assert gpu.target.name == find_target(name).name == row
    written = name.rpartition(":")[2]
    said = f"{chip(written)} is unknown; costed as {row}, the newest {vendor} GPU known before it"
    assert gpu.assumption == said
    assert gpu.shared_bytes is None


def test_of_rubin_is_known_what_its_sources_say() -> None:
    rubin = TARGETS["sm107"]
    assert (rubin.most_shared_bytes, rubin.shared_note) == (None, "328 KB per SM")
    assert find_gpu("cuda:107") == Gpu("sm107", rubin)


NAMES = ["sm60", "gfx803", "gfx1300", "h800", "", "smx", "xpu", "xpu:90", "hip:90", "cuda:"]


@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_of_no_row_is_refused(name: str) -> None:
    with pytest.raises(LayoutError, match="unknown target"):
        find_target(name)


def test_gfx1250_has_the_banks_that_the_compiler_gives_it() -> None:
    assert find_target("gfx1250").banks == 64
    assert find_target("gfx1200").banks == 32


def test_what_is_not_verified_does_not_speak_of_counters() -> None:
    for target in TARGETS.values():
        assert ("counters" in target.source) == target.verified


# -- what LLVM makes of an access -------------------------------------------------------------


def test_a_padding_shorter_than_the_vector_traps_on_nvidia_alone() -> None:
    register = BLOCKED.format([1, 8], [4, 8], [4, 1], [1, 0])
    short = "#ttg.padded_shared<[64:+2] {order = [1, 0], shape = [64, 64]}>"
    for target, name in (("sm90", "st.shared.v4.b32"), ("gfx12", "ds_store_b128")):
        store = bank_conflicts(register, short, [64, 64], elem_bytes=2, target=target).store
        assert (store.name, store.instruction.is_misaligned) == (name, target == "sm90")
    whole = short.replace("+2", "+8")
    store = bank_conflicts(register, whole, [64, 64], elem_bytes=2, target="sm90").store
    assert not store.instruction.is_misaligned


@pytest.mark.slow
def test_the_search_leaves_out_what_traps() -> None:
    register = BLOCKED.format([1, 8], [4, 8], [4, 1], [1, 0])
    search = find_swizzle([register], [], [64, 64], elem_bytes=2, family="padded")
    accesses = [access for found in search.ranking for access in found.accesses]
    assert any(access.width_bytes == 16 for access in accesses)
    assert not any(access.instruction.is_misaligned for access in accesses)


COLUMNS = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>"
LANES_FIRST = (
    "#ttg.linear<{{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = {}, warp = [], block = []}}>"
)


@pytest.mark.parametrize(
    ("target", "size", "name", "count"),
    [
        ("gfx950", 2, "ds_read_b64_tr_b16", 4),
        ("gfx950", 1, "ds_read_b64_tr_b8", 2),
        ("gfx1250", 2, "ds_load_tr16_b128", 2),
        ("gfx1250", 1, "ds_load_tr8_b64", 2),
        ("gfx942", 2, "ds_read_u16", 16),
        ("gfx12", 1, "ds_load_u8", 16),
    ],
)
def test_reads_that_transpose(target: str, size: int, name: str, count: int) -> None:
    lanes = [[1 << bit, 0] for bit in range(4)] + [[0, 16]]
    lanes += [[0, 32]] * (target.startswith("gfx9"))
    shape = [16, 64 if target.startswith("gfx9") else 32]
    load = bank_conflicts(
        LANES_FIRST.format(lanes), COLUMNS, shape, elem_bytes=size, target=target
    ).load
    assert (load.name, load.instructions) == (name, count)


@pytest.mark.parametrize(
    ("target", "name", "count"),
    [
        ("gfx942", "ds_write2_b32", 8),
        ("gfx12", "ds_store_2addr_b32", 8),
        ("sm80", "st.shared.b32", 16),
    ],
)
def test_one_instruction_of_amd_makes_two_accesses(target: str, name: str, count: int) -> None:
    rows = 8 if target == "gfx942" else 4
    register = BLOCKED.format([16, 1], [rows, 8], [1, 1], [1, 0])
    shared = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    pair = bank_conflicts(register, shared, [16 * rows, 8], elem_bytes=4, target=target)
    assert (pair.store.name, pair.store.instructions) == (name, count)


def test_lanes_that_conflict_are_red_in_the_picture() -> None:
    register = BLOCKED.format([1, 1], [32, 1], [1, 1], [1, 0])
    pairs = [
        bank_conflicts(register, PLAIN, shape, elem_bytes=4, target="sm90")
        for shape in ([32, 32], [32, 1])
    ]
    colours = [{line.colour for line in [*picture(pair.load)][2:]} for pair in pairs]
    assert colours == [{"red"}, {"green"}]


def test_two_addresses_take_the_cycles_of_both() -> None:
    """As the guide of nod-ai/amd-shark-ai has it of ds_read2_b64: one after the other."""
    register = BLOCKED.format([2, 4], [8, 8], [1, 1], [1, 0])
    load = bank_conflicts(register, PLAIN, [16, 32], elem_bytes=2, target="gfx942").load
    assert (load.name, load.instructions, load.width_bytes) == ("ds_read2_b64", 1, 16)
    assert load.ideal_wavefronts_per_instruction == 8


@pytest.mark.parametrize(("target", "store"), [("sm80", "st.shared.b16"), ("sm90", "stmatrix")])
def test_one_matrix_is_transposed(target: str, store: str) -> None:
    """As the compiler takes it where a thread has a single register of two elements."""
    register = (
        "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], "
        "warp = [], block = []}>"
    )
    pair = bank_conflicts(register, COLUMNS, [8, 8], elem_bytes=2, target=target)
    assert pair.load.name == "ldmatrix.x1.trans"
    assert pair.store.name.startswith(store)


@pytest.mark.parametrize("is_store", [True, False])
def test_blackwell_transposes_bytes(is_store: bool) -> None:
    shared = "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>"
    parent = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
        "instrShape = [16, 8]}>"
    )
    register = f"#ttg.dot_op<{{opIdx = 0, parent = {parent}, kWidth = 4}}>"
    pair = bank_conflicts(register, shared, [64, 64], elem_bytes=1, target="sm100")
    access = pair.store if is_store else pair.load
    expected = "stmatrix.m16n8.x4.trans.b8" if is_store else "ldmatrix.m16n16.x2.trans.b8"
    assert (access.name, access.instructions) == (expected, 2)
    older = bank_conflicts(register, shared, [64, 64], elem_bytes=1, target="sm90").load
    assert older.name == "ld.shared.b8"


def test_elements_of_8_bytes_are_named_so() -> None:
    register = BLOCKED.format([1, 2], [4, 8], [4, 1], [1, 0])
    assert bank_conflicts(register, PLAIN, [16, 16], elem_bytes=8).load.name == "ld.shared.v2.b64"


def test_registers_that_are_alike_but_for_a_constant_share_an_address() -> None:
    """Two of a rotating layout's registers differ by a bit that no lane has."""
    parent = (
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], "
        "isTransposed = true}>"
    )
    register = f"#ttg.dot_op<{{opIdx = 1, parent = {parent}, kWidth = 4}}>"
    shared = "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>"
    load = bank_conflicts(register, shared, [64, 128], elem_bytes=2, target="gfx942").load
    assert load.instruction.counts(TARGETS["gfx942"], is_store=False) == {"ds_read2st64_b64": 8}


def test_a_map_that_both_accesses_have_is_printed_once() -> None:
    rows = "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
    plain = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>"
    report = str(tt_layout.conflicts(rows, plain, "64x64xf16"))
    assert report.count("| bank; # where lanes conflict") == 1
    assert report.count("  the same lanes meet in the same banks as in the store") == 1
    assert report.count("7 extra wavefronts") == 2
