"""What the compiler makes of conversions, against counters of a GPU and by brute force."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tiers import slow

import tt_layout
from tt_layout import LayoutError, LinearLayout, parse_layout
from tt_layout.analyses.conversion.compiled_conversion import (
    CompiledConversion,
    Transfer,
    compiled_conversion,
)
from tt_layout.analyses.conversion.conversion import without_replication
from tt_layout.analyses.conversion.optimal_swizzling import ConversionBuffer, complement
from tt_layout.analyses.conversion.scratch import buffer
from tt_layout.hardware import find_target
from tt_layout.mlir.types import element_bits

MEASURED = Path(__file__).parents[1] / "data" / "h100-conversions.jsonl"

SUNK_LOADS = {6: -8, 123: -4, 133: -12}
"""Row -> load wavefronts fewer: a load whose value one warp does not store was not executed by it,
or only half of it."""

RANDOM_CONFLICTS = {148: 3, 156: 2}
"""Row -> load wavefronts more, which the counter of bank conflicts shows, too."""

EXPLAINED = {**SUNK_LOADS, **RANDOM_CONFLICTS}


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in MEASURED.read_text().splitlines()]


def layouts(row: dict[str, Any]) -> tuple[LinearLayout, LinearLayout]:
    src, dst = (
        tt_layout.parse_layout(row[name]).to_linear_layout(row["shape"]) for name in ("src", "dst")
    )
    return src, dst


def bits_of(row: dict[str, Any]) -> int:
    bits = element_bits(row["elem"])
    assert bits is not None
    return bits


def compiled(row: dict[str, Any]) -> CompiledConversion:
    return known(*layouts(row), bits_of(row))


def known(src: LinearLayout, dst: LinearLayout, bits: int) -> CompiledConversion:
    return compiled_conversion(src, dst, bits, "sm90")


def steps(row: dict[str, Any]) -> tuple[Transfer, Transfer]:
    """Return store and load; steps that are not taken have no instruction."""
    found, none = (
        compiled(row),
        Transfer(instruction="", instructions=0, wavefronts=0, extra_wavefronts=0),
    )
    return found.store or none, found.load or none


@pytest.mark.parametrize("every", [24, slow(1)])
def test_every_measured_conversion(every: int) -> None:
    """Stores of 160, loads of 155 of 160; the rest take what two tables say."""
    for index, row in list(enumerate(rows()))[::every]:
        store, load = steps(row)
        assert store.wavefronts == row["store"][1], (index, row)
        assert load.wavefronts == row["load"][1] - EXPLAINED.get(index, 0), (index, row)


@pytest.mark.parametrize("every", [24, slow(1)])
def test_instructions_of_measured_conversions(every: int) -> None:
    """Four warps execute the instructions; the counter of stores leaves stmatrix out."""
    for index, row in list(enumerate(rows()))[::every]:
        store, load = steps(row)
        if not store.instruction.startswith("stmatrix"):
            assert 4 * store.instructions == row["store"][0], (index, row)
        sunk = 4 * load.instructions - row["load"][0]
        assert sunk == (2 if index in SUNK_LOADS else 0), (index, row)


@pytest.mark.slow
def test_the_measured_conversions_take_every_instruction() -> None:
    names: Counter[str] = Counter()
    for row in rows():
        found = compiled(row)
        names.update(step.instruction for step in (found.store, found.load) if step)
    matrix = {name for name in names if "matrix" in name}
    assert matrix >= {"stmatrix.x4", "stmatrix.x4.trans", "ldmatrix.x4", "ldmatrix.x4.trans"}


def elements(layout: LinearLayout, found: ConversionBuffer) -> dict[tuple[int, int, int], int]:
    """Return the element in each offset, round and CTA of a buffer."""
    return {found.location(element): element for element in range(1 << layout.total_out_bits)}


@pytest.mark.slow
def test_buffers_hold_every_element_once() -> None:
    for row in rows()[:40]:
        src, dst = layouts(row)
        if compiled(row).store is None or src.total_out_bits > 11:
            continue
        found = buffer(src, dst, max(8, bits_of(row)), find_target("sm90"))
        held = elements(src, found)
        assert len(held) == 1 << src.total_out_bits
        assert max(offset for offset, _, _ in held) < 1 << len(found.offset)


def worst_bank(words: list[int]) -> int:
    """Return how many different words fall into the bank that is hit most."""
    return max(Counter(word % 32 for word in set(words)).values())


def wavefronts(layout: LinearLayout, found: ConversionBuffer, size: int) -> int:
    """Count the wavefronts of plain accesses of up to 4 bytes, element by element."""
    own, turns = without_replication(layout), 0
    for warp in range(own.get_in_dim_size("warp")):
        accesses: dict[tuple[int, int], list[int]] = {}
        for register in range(own.get_in_dim_size("register")):
            at = [
                found.location(
                    own.flatten(
                        list(own.apply({"register": register, "lane": lane, "warp": warp}).values())
                    )
                )
                for lane in range(32)
            ]
            # Registers of one word go together where the vector is that of the buffer.
            key = (at[0][1], at[0][0] * size // 4)
            accesses[key] = [offset * size // 4 for offset, _, _ in at]
        turns += sum(worst_bank(words) for words in accesses.values())
    return turns


def line(**inputs: list[int]) -> LinearLayout:
    names = ("register", "lane", "warp", "block")
    bases = [(name, [[x] for x in inputs.get(name, [])]) for name in names]
    return LinearLayout.from_bases(bases, ["dim0"])


def test_wavefronts_by_brute_force() -> None:
    """Conflicts that no swizzle avoids: 32-bit elements, one for each lane."""
    src = line(lane=[1, 2, 4, 8, 16], warp=[32, 64, 128, 256, 512])
    dst = line(lane=[32, 64, 128, 256, 512], warp=[1, 2, 4, 8, 16])
    found = known(src, dst, 32)
    layout = buffer(src, dst, 32, find_target("sm90"))
    assert found.store is not None
    assert found.load is not None
    assert found.store.wavefronts == wavefronts(src, layout, 4)
    assert found.load.wavefronts == wavefronts(dst, layout, 4)


def test_steps_that_are_not_taken() -> None:
    rows_of_one = line(register=[1, 2], lane=[4, 8, 16, 32, 64])
    same = known(rows_of_one, rows_of_one, 32)
    assert same == CompiledConversion(store=None, load=None)
    assert same.wavefronts == 0


def test_loads_from_other_ctas_are_not_counted() -> None:
    src = line(lane=[1, 2, 4, 8, 16], block=[32])
    dst = line(lane=[32, 2, 4, 8, 16], block=[1])
    found = known(src, dst, 32)
    assert found.store == Transfer(
        instruction="st.shared.b32", instructions=1, wavefronts=1, extra_wavefronts=0
    )
    assert found.load is not None
    assert found.load.wavefronts is None
    assert found.wavefronts is None


def blocked(size: str, threads: str, warps: str, order: str) -> LinearLayout:
    attr = (
        f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, "
        f"warpsPerCTA = {warps}, order = {order}}}>"
    )
    return parse_layout(attr).to_linear_layout([32, 64])


@pytest.mark.parametrize(
    ("bits", "target", "accesses"),
    [
        (16, "gfx942", [("ds_write2_b32", 2), ("ds_read_u16", 16)]),
        (16, "gfx950", [("ds_write_b32", 4), ("ds_read_u16", 16)]),
        (32, "gfx942", [("ds_write_b128", 2), ("ds_read_b128", 2)]),
        (64, "gfx950", [("ds_write_b128", 4), ("ds_read_b128", 4)]),
    ],
)
def test_conversions_of_amd(bits: int, target: str, accesses: list[tuple[str, int]]) -> None:
    """The instructions in the assembly of Triton 3.9.0."""
    src, dst = {
        16: (("[1, 8]", "[8, 8]", "[4, 1]", "[1, 0]"), ("[4, 1]", "[16, 4]", "[1, 4]", "[0, 1]")),
        32: (("[1, 4]", "[8, 8]", "[4, 1]", "[1, 0]"), ("[2, 2]", "[8, 8]", "[2, 2]", "[1, 0]")),
        64: (("[1, 2]", "[8, 8]", "[4, 1]", "[1, 0]"), ("[1, 1]", "[8, 8]", "[1, 4]", "[0, 1]")),
    }[bits]
    found = compiled_conversion(blocked(*src), blocked(*dst), bits, target)
    steps = [step for step in (found.store, found.load) if step is not None]
    assert [(step.instruction, step.instructions) for step in steps] == accesses


@pytest.mark.parametrize(
    ("target", "accesses"),
    [
        ("gfx942", [("ds_write_b64", 4), ("ds_read2_b64", 2)]),
        ("gfx950", [("ds_write_b128", 2), ("ds_read2_b64", 2)]),
    ],
)
def test_only_32_banks_are_reordered(target: str, accesses: list[tuple[str, int]]) -> None:
    """The instructions in the assembly of Triton 3.9.0."""
    src = line(register=[1, 2, 4, 8, 512], lane=[16, 32, 64, 128, 0, 0], warp=[256])
    dst = line(register=[1, 2, 16, 256, 512], lane=[4, 8, 0, 0, 32, 64], warp=[128])
    found = compiled_conversion(src, dst, 8, target)
    steps = [step for step in (found.store, found.load) if step is not None]
    assert [(step.instruction, step.instructions) for step in steps] == accesses


@pytest.mark.parametrize(
    ("target", "bit", "counts"),
    [
        ("gfx90a", 3, (1, 0)),
        ("gfx942", 4, (1, 1)),
        ("gfx942", 5, (1, 1)),
        ("gfx950", 5, (1, 0)),
    ],
)
def test_which_shuffles_of_amd_go_by_shared_memory(
    target: str, bit: int, counts: tuple[int, int]
) -> None:
    """The compiler's own choice: of CDNA's lanes that are 16 or more apart, up to CDNA3."""
    lanes = [1, 2, 4, 8, 16, 32]
    src = line(register=[64], lane=lanes)
    exchanged = [64 if k == bit else lane for k, lane in enumerate(lanes)]
    found = compiled_conversion(src, line(register=[1 << bit], lane=exchanged), 32, target)
    assert (found.shuffles, found.bpermutes) == counts


@pytest.mark.parametrize(("target", "counts"), [("gfx942", (2, 2)), ("gfx950", (2, 0))])
def test_the_upper_lanes_of_cdna4_are_swapped_with_registers(
    target: str, counts: tuple[int, int]
) -> None:
    src = line(register=[64], lane=[1, 2, 4, 8, 16, 32])
    dst = line(register=[32], lane=[1, 2, 4, 8, 64, 16])
    found = compiled_conversion(src, dst, 32, target)
    assert (found.shuffles, found.bpermutes) == counts


@pytest.mark.parametrize(
    ("bits", "count"), [(8, 2), (16, 4), (32, 8), (64, 16)], ids=lambda value: str(value)
)
def test_a_conversion_that_permutes_lanes_moves_all_registers(bits: int, count: int) -> None:
    register = [32, 64, 128]
    src = line(register=register, lane=[1, 2, 4, 8, 16])
    dst = line(register=register, lane=[2, 1, 4, 8, 16])
    assert compiled_conversion(src, dst, bits, "sm90").shuffles == count


def test_a_gpu_has_the_shared_memory_of_the_newest_before_it() -> None:
    src, dst = line(lane=[1, 2, 4, 8, 16], warp=[32]), line(lane=[32, 2, 4, 8, 16], warp=[1])
    of = [compiled_conversion(src, dst, 32, name) for name in ("sm80", "sm89", "sm_90a", "sm120")]
    assert len(set(of)) == 1


def test_warps_of_another_size_are_refused() -> None:
    src, dst = line(lane=[1, 2], warp=[4]), line(lane=[4, 2], warp=[1])
    with pytest.raises(LayoutError, match="32 lanes per warp"):
        known(src, dst, 32)


def test_complements() -> None:
    assert complement([0b0011, 0b0110], 4) == [4, 8]


def test_rows_that_warps_swizzle_are_refused() -> None:
    text = (
        "#ttg.generic_linear<{block = [[0, 0, 16], [4, 0, 0]], warp = [[1, 0, %d]], "
        "lane = [[0, 1, 0], [0, 0, 8], [0, 2, 0], [0, 0, 1], [0, 0, 4]], "
        "register = [[0, 0, 2], [8, 0, 0], [0, 0, 0], [2, 0, 0]]}>"
    )
    with pytest.raises(LayoutError, match="rows that stmatrix moves do not begin where"):
        tt_layout.convert(text % 2, text % 0, "16x4x32xi8", target="sm90")
