"""Requests and sectors of global memory: what an H100 counted, and a count one by one."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from tiers import slow

from tt_layout import LinearLayout, parse_ir
from tt_layout.analyses.global_memory.sectors import count_sectors, flat_bases, lanes_of
from tt_layout.audit.audit import audit_module
from tt_layout.audit.values.given import GivenValues
from tt_layout.errors import LayoutError
from tt_layout.releases import Release

DATA = Path(__file__).parents[1] / "data" / "h100-global-memory.jsonl.gz"

DIVIDED_BY_ZERO = {5, 30, 230}
"""Rows whose arguments make the kernel divide by zero: MLIR defines no result."""

COUNTED_TWICE = {51, 101, 161}
"""Rows whose asynchronous copies of 16 bytes touch sectors that the hardware counts again."""

KINDS = {"tt.load": "load", "tt.store": "store", "ttg.async_copy_global_to_local": "async"}


class Counted(NamedTuple):
    """An access of a row: what an audit says of it, and what was counted on the GPU."""

    row: int
    kind: str
    details: dict[str, Any]
    requests: int
    sectors: int


def counted(number: int, row: dict[str, Any]) -> list[Counted]:
    """Return the accesses of a row, whose kernel was compiled with Triton 3.6."""
    [module] = parse_ir(row["ttgir"], release=Release.V3_6)
    found = []
    for movement in audit_module(module, given=GivenValues(row["args"])).movements:
        kind = KINDS.get(movement.operation.name)
        if kind is not None:
            assert movement.cost is not None
            numbers = (row["counters"][f"{kind}_{unit}"] for unit in ("requests", "sectors"))
            found.append(Counted(number, kind, movement.cost.details.data(1), *numbers))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("step", [24, slow(1)])
def test_an_h100_counted_the_same(step: int, record_property: Any) -> None:
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        rows = {number: json.loads(line) for number, line in enumerate(lines)}
    numbers = range(0, len(rows), step)
    accesses = [access for number in numbers for access in counted(number, rows[number])]
    assert len(accesses) == 2 * len(numbers)
    unknown = [a for a in accesses if a.details["unknown"]]
    assert {a.row for a in unknown} == DIVIDED_BY_ZERO.intersection(numbers)
    for access in unknown:
        assert "division by zero" in access.details["unknown"][0]
    known = [a for a in accesses if not a.details["unknown"]]
    assert [a for a in known if a.details["requests"] != a.requests] == []
    wrong = [a for a in known if a.details["sectors"] != a.sectors]
    again = COUNTED_TWICE.intersection(numbers)
    assert {(a.row, a.kind) for a in wrong} == {(row, "async") for row in again}
    for access in known:
        assert access.details["total_sectors"] == access.details["sectors"]
    right = len(known) - len(wrong)
    record_property("tally", {f"of {len(accesses)} accesses as counted on an H100": right})


# -- against a count one by one -------------------------------------------------------------


def one_by_one(addresses: Any, active: Any, width: int) -> tuple[int, ...]:
    """Return requests, sectors, lines, wavefronts and bytes asked for."""
    requests = sectors = lines = wavefronts = asked = 0
    for row, on in zip(addresses, active):
        touched = {int(a) + byte for a, is_on in zip(row, on) if is_on for byte in range(width)}
        requests += bool(touched)
        sectors += len({byte // 32 for byte in touched})
        own = len({byte // 128 for byte in touched})
        lines += own
        words = Counter(word % 32 for word in {byte // 4 for byte in touched})
        wavefronts += max(-(-own // 4), *words.values(), 0)
        asked += len(touched)
    return requests, sectors, lines, wavefronts, asked


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_sectors_as_counted_one_by_one(width: int) -> None:
    r = np.random.default_rng(width)
    for span in (1, 4, 40, 5000):
        addresses = r.integers(-span, span, (6, 32)) * width
        active = r.random((6, 32)) < r.choice([0.02, 0.5, 1.0])
        count = count_sectors(addresses, active, width)
        numbers = count.requests, count.sectors, count.lines, count.wavefronts, count.asked_bytes
        assert numbers == one_by_one(addresses, active, width)
        assert count.instructions == 6
        assert count.ideal_sectors <= count.sectors
        assert count.moved_bytes == 32 * count.sectors


@pytest.mark.parametrize(
    ("width", "stride", "cycles"),
    [
        (4, 4, 1),
        (8, 8, 2),
        (16, 16, 4),
        (4, 8, 2),
        (4, 32, 8),
        (4, 128, 32),
        (4, 132, 8),
        (4, 0, 1),
    ],
)
def test_wavefronts_as_an_h200_passed_them(width: int, stride: int, cycles: int) -> None:
    """Reads that hit the first-level cache; 32 lines in different banks took 8.8 cycles."""
    lanes = np.arange(32)[None] * stride
    assert count_sectors(lanes, np.ones((1, 32), bool), width).wavefronts == cycles


def test_the_order_of_lanes_does_not_matter() -> None:
    r = np.random.default_rng(1)
    addresses = r.integers(0, 500, (4, 32)) * 4
    active = r.random((4, 32)) < 0.7
    order = r.permutation(32)
    assert count_sectors(addresses, active, 4) == count_sectors(
        addresses[:, order], active[:, order], 4
    )


def test_a_misaligned_access_is_refused() -> None:
    with pytest.raises(LayoutError, match="16 bytes at address 8 is misaligned"):
        count_sectors(np.array([[0, 8]]), np.array([[True, True]]), 16)
    switched_off = count_sectors(np.array([[0, 8]]), np.array([[True, False]]), 16)
    assert switched_off.sectors == 1


def test_amd_counts_in_its_own_units() -> None:
    addresses = np.arange(64)[None] * 4
    count = count_sectors(addresses, np.ones((1, 64), bool), 4, sector_bytes=64)
    assert (count.sectors, count.lines, count.ideal_sectors, count.moved_bytes) == (4, 2, 4, 256)
    spread = np.arange(64)[None] * 132
    count = count_sectors(spread, np.ones((1, 64), bool), 4, sector_bytes=64, has_banks=False)
    assert count.wavefronts == count.lines


def random_layout(r: Random) -> LinearLayout:
    """Return a layout of 64 elements, some of them held more than once."""
    bits = [1 << bit for bit in range(6)] + [0] * 3
    r.shuffle(bits)
    counts = {"register": 3, "lane": 4, "warp": 1, "block": 1}
    bases = {name: [[bits.pop()] for _ in range(count)] for name, count in counts.items()}
    return LinearLayout.from_bases(bases, ["dim0"], [64])


def test_elements_of_lanes_are_those_of_the_layout_where_its_vectors_share_bits() -> None:
    bases = [("register", [[1], [6]]), ("lane", [[2], [5]]), ("warp", [[7]])]
    layout = LinearLayout.from_bases(bases, ["dim0"], [8])
    expected = [
        [
            [
                layout.apply({"register": register, "lane": lane, "warp": warp})["dim0"]
                for lane in range(4)
            ]
            for warp in range(2)
        ]
        for register in range(4)
    ]
    assert lanes_of(layout).elements.tolist() == expected


def test_a_store_has_one_holder_of_each_element() -> None:
    r = Random(2)
    for _ in range(50):
        lanes = lanes_of(random_layout(r), one_holder=True)
        stored = lanes.elements[lanes.active]
        assert sorted(stored.tolist()) == list(range(64))


def test_a_load_is_made_by_every_lane_and_its_registers_are_different() -> None:
    r = Random(3)
    for _ in range(50):
        layout = random_layout(r)
        lanes = lanes_of(layout)
        assert lanes.active.all()
        assert lanes.elements.shape[1:] == (4, 16)
        repeats = lanes_of(layout, repeats=True)
        assert set(lanes.elements[:, 0, 0].tolist()) == set(repeats.elements[:, 0, 0].tolist())
        assert len(set(lanes.elements[:, 0, 0].tolist())) == len(lanes.elements)


def test_a_vector_is_as_many_registers_as_there_are() -> None:
    layout = LinearLayout.from_bases(
        [("register", [[1], [2]]), ("lane", [[4]]), ("warp", [])], ["dim0"]
    )
    assert lanes_of(layout, 4).elements.tolist() == [[[0, 4]]]
    with pytest.raises(LayoutError, match="power of two up to 4, got 8"):
        lanes_of(layout, 8)


def test_flat_bases_are_row_major() -> None:
    layout = LinearLayout.from_bases({"lane": [[0, 1], [0, 2], [1, 0]]}, ["dim0", "dim1"])
    assert flat_bases(layout, "lane") == [1, 2, 4]
