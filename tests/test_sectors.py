"""Requests and sectors of global memory: what an H100 counted, and a count one by one."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from tt_layout import LinearLayout, parse_ir
from tt_layout.analyses.sectors import SectorCounts, count_sectors, flat_bases, lanes_of
from tt_layout.audit.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator, Unknown
from tt_layout.audit.values.given import GivenValues
from tt_layout.errors import LayoutError
from tt_layout.ir.ssa import SsaOperation, SsaReader
from tt_layout.releases import Release

DATA = Path(__file__).parent / "data" / "h100-global-memory.jsonl.gz"

DIVIDED_BY_ZERO = {5, 30, 230}
"""Rows whose arguments make the kernel divide by zero: MLIR defines no result."""

COUNTED_TWICE = {51, 101, 161}
"""Rows whose asynchronous copies of 16 bytes touch sectors that the hardware counts again."""

MASK_OPERAND = {"tt.load": 1, "tt.store": 2, "ttg.async_copy_global_to_local": 2}
KINDS = {"tt.load": "load", "tt.store": "store", "ttg.async_copy_global_to_local": "async"}


class Counted(NamedTuple):
    """An access of a row: what is counted here, and what was counted on the GPU."""

    row: int
    kind: str
    here: SectorCounts | Unknown
    requests: int
    sectors: int


def ptx_bytes(instruction: str) -> int:
    """Return the bytes that a lane moves: of ``ld.global.v4.b32`` 16."""
    if instruction.startswith("cp.async"):
        return int(instruction.split()[-1], 16)
    match = re.fullmatch(r"\w+\.global\.(?:v(\d)\.)?b(\d+)", instruction)
    assert match is not None, instruction
    return int(match[1] or 1) * int(match[2]) // 8


def access_of(evaluator: Evaluator, operation: SsaOperation, width: int) -> SectorCounts | Unknown:
    """Count an access by the rules of Triton 3.6, whose kernels the rows are."""
    function = evaluator.function
    at = MASK_OPERAND[operation.name]
    addresses = evaluator.value(operation.operands[0])
    mask = evaluator.value(operation.operands[at]) if len(operation.operands) > at else None
    if isinstance(addresses, Unknown):
        return addresses
    if isinstance(mask, Unknown):
        return mask
    ir_type = function.type_of(operation.operands[0])
    assert ir_type is not None
    layout = PlacedLayouts().linear(ir_type)
    assert layout is not None
    element = (function.values[operation.operands[0]].type.bits or 8) // 8
    kind = KINDS[operation.name]
    repeats = kind == "store" or (kind == "load" and mask is not None)
    lanes = lanes_of(layout, width // element, one_holder=kind != "load", repeats=repeats)
    active = lanes.active if mask is None else lanes.active & (mask.ravel()[lanes.elements] != 0)
    return count_sectors(addresses.ravel()[lanes.elements], active, width)


def counted(number: int, row: dict[str, Any]) -> list[Counted]:
    [module] = parse_ir(row["ttgir"], release=Release.parse("3.6"))
    [function] = SsaReader().functions(module)
    evaluator = Evaluator(function, GivenValues(row["args"]))
    accesses = [o for o in function.walk() if o.name in KINDS]
    found = []
    for operation, instruction in zip(accesses, row["ptx"]):
        here = access_of(evaluator, operation, ptx_bytes(instruction))
        kind = KINDS[operation.name]
        numbers = (row["counters"][f"{kind}_{unit}"] for unit in ("requests", "sectors"))
        found.append(Counted(number, kind, here, *numbers))
    return found


def test_an_h100_counted_the_same(record_property: Any) -> None:
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    accesses = [access for number, row in enumerate(rows) for access in counted(number, row)]
    assert len(accesses) == 508
    unknown = [a for a in accesses if isinstance(a.here, Unknown)]
    assert {a.row for a in unknown} == DIVIDED_BY_ZERO
    for access in unknown:
        assert isinstance(access.here, Unknown)
        assert all("division by zero" in reason for reason in access.here.reasons)
    known = [(a, a.here) for a in accesses if isinstance(a.here, SectorCounts)]
    assert [a for a, here in known if here.requests != a.requests] == []
    wrong = [a for a, here in known if here.sectors != a.sectors]
    assert {(a.row, a.kind) for a in wrong} == {(row, "async") for row in COUNTED_TWICE}
    record_property("tally", {"accesses of 254 kernels as counted on an H100": len(known) - 3})


# -- against a count one by one -------------------------------------------------------------


def one_by_one(addresses: Any, active: Any, width: int) -> tuple[int, int, int, int]:
    """Return requests, sectors, lines and bytes asked for."""
    requests = sectors = lines = asked = 0
    for row, on in zip(addresses, active):
        touched = {int(a) + byte for a, is_on in zip(row, on) if is_on for byte in range(width)}
        requests += bool(touched)
        sectors += len({byte // 32 for byte in touched})
        lines += len({byte // 128 for byte in touched})
        asked += len(touched)
    return requests, sectors, lines, asked


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_sectors_as_counted_one_by_one(width: int) -> None:
    r = np.random.default_rng(width)
    for span in (1, 4, 40, 5000):
        addresses = r.integers(-span, span, (6, 32)) * width
        active = r.random((6, 32)) < r.choice([0.02, 0.5, 1.0])
        count = count_sectors(addresses, active, width)
        numbers = count.requests, count.sectors, count.lines, count.asked_bytes
        assert numbers == one_by_one(addresses, active, width)
        assert count.instructions == 6
        assert count.ideal_sectors <= count.sectors
        assert count.moved_bytes == 32 * count.sectors


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


def random_layout(r: Random) -> LinearLayout:
    """Return a layout of 64 elements, some of them held more than once."""
    bits = [1 << bit for bit in range(6)] + [0] * 3
    r.shuffle(bits)
    counts = {"register": 3, "lane": 4, "warp": 1, "block": 1}
    bases = {name: [[bits.pop()] for _ in range(count)] for name, count in counts.items()}
    return LinearLayout.from_bases(bases, ["dim0"], [64])


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
