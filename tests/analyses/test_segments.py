"""Banks of partitioned buffers, and the segments that warps reach."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tt_layout
from tt_layout.analyses.shared_memory.banks import bank_conflicts
from tt_layout.errors import LayoutError

ROWS = (
    "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
WIDE = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>"


def dealt(layout: str, groups: int) -> str:
    """Return a layout of pieces dealt out over two buffers."""
    return (
        f"#ttg.partitioned_shared<{{numPartitions = 2, numGroups = {groups}, partitionDim = 0, "
        f"partitionLayout = {layout}}}>"
    )


def test_the_instructions_are_those_of_the_compiler() -> None:
    """As Triton 3.9 lowers these stores for gfx1250: 8 of two words, and 2 of 16 bytes."""
    two = bank_conflicts(ROWS, dealt(PADDED, 2), [64, 32], elem_bytes=4, target="gfx1250").store
    wide = bank_conflicts(WIDE, dealt(PLAIN, 1), [64, 32], elem_bytes=2, target="gfx1250").store
    assert (two.instructions, two.name) == (8, "ds_store_2addr_b32")
    assert (wide.instructions, wide.name) == (2, "ds_store_b128")


@pytest.mark.parametrize("groups", [1, 2])
def test_a_piece_has_the_banks_of_its_layout(groups: int) -> None:
    """What one warp does within a piece costs what the same access of a whole buffer does."""
    split = bank_conflicts(WIDE, dealt(PLAIN, groups), [64, 32], elem_bytes=2, target="gfx1250")
    whole = bank_conflicts(WIDE, PLAIN, [64, 32], elem_bytes=2, target="gfx1250")
    for kind in ("store", "load"):
        one, other = getattr(split, kind), getattr(whole, kind)
        assert one.wavefronts_per_instruction == other.wavefronts_per_instruction


def test_lanes_in_several_partitions_are_refused_with_the_reason() -> None:
    with pytest.raises(LayoutError, match="lanes of one access reach several partitions"):
        bank_conflicts(WIDE, dealt(PLAIN, 16), [64, 32], elem_bytes=2, target="gfx1250")


def test_segments_are_those_of_a_walk_over_all_places() -> None:
    rng = random.Random(5)
    for _ in range(20):
        layout, groups = rng.choice([ROWS, WIDE]), rng.choice([1, 2])
        found = tt_layout.conflicts(
            layout, dealt(PLAIN, groups), "64x32xf16", target="gfx1250"
        ).data()["segments"]
        registers = tt_layout.parse_layout(layout).to_linear_layout([64, 32])
        piece = 64 // (2 * groups)
        sizes = [registers.get_in_dim_size(name) for name in ("register", "lane", "warp")]
        grid = np.indices(sizes)
        rows = registers.apply(dict(zip(("register", "lane", "warp"), grid)) | {"block": 0})["dim0"]
        reached = {tuple(row) for row in (rows // piece % 2)[:, 0, :].tolist()}
        assert {tuple(step) for step in found} == reached


@pytest.mark.parametrize(("partitions", "steps"), [(64, 64), (128, 0)])
def test_no_more_than_64_steps_are_told(partitions: int, steps: int) -> None:
    columns = ROWS.replace("[8, 1]", f"[{partitions}, 1]").replace("[4, 1]", "[1, 4]")
    memory = dealt(PLAIN, 1).replace("numPartitions = 2", f"numPartitions = {partitions}")
    report = tt_layout.conflicts(columns, memory, f"{partitions}x128xf16", target="gfx1250")
    assert len(report.data().get("segments", ())) == steps


def test_the_report_says_whether_warps_meet() -> None:
    report = str(tt_layout.conflicts(WIDE, dealt(PLAIN, 2), "64x32xf16", target="gfx1250"))
    assert "partition that each warp reaches at one step (documented, not measured):" in report
    assert "step 0  0 0 1 1: up to 2 warps in one" in report
