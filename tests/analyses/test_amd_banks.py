"""AMD's shared memory beside the published measurements: every phase, bank count and stride."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from tt_layout.analyses.shared_memory.access import AccessMap
from tt_layout.analyses.shared_memory.addresses import phase_lanes
from tt_layout.analyses.shared_memory.banks import SharedAccess, cost
from tt_layout.hardware import TARGETS, find_target

STRIDES = Path(__file__).parents[1] / "data" / "amd-lds-strides.txt"

PHASES = {
    ("gfx950", 4): "0-63",
    ("gfx950", 8): "0-31 | 32-63",
    ("gfx950", 16): "0-3 12-15 20-23 24-27 | 32-35 44-47 52-55 56-59 | 4-7 8-11 16-19 28-31 | "
    "36-39 40-43 48-51 60-63",
    ("gfx942", 4): "0-31 | 32-63",
    ("gfx942", 8): "0-15 | 16-31 | 32-47 | 48-63",
    ("gfx942", 16): "0-3 20-23 | 32-35 52-55 | 4-7 16-19 | 36-39 48-51 | 8-11 28-31 | "
    "40-43 60-63 | 12-15 24-27 | 44-47 56-59",
    ("gfx1201", 4): "0-31",
    ("gfx1201", 8): "0-15 | 16-31",
    ("gfx1201", 16): "0-7 | 8-15 | 16-23 | 24-31",
    ("gfx1100", 4): "0-31",
    ("gfx1100", 8): "0-15 | 16-31",
    ("gfx1100", 16): "0-3 20-23 | 4-7 16-19 | 8-11 28-31 | 12-15 24-27",
}
"""GPU, bytes per lane -> the lanes that read together, all groups of lds_summary.md."""

STORED = "0-7 | 8-15 | 16-23 | 24-31 | 32-39 | 40-47 | 48-55 | 56-63"
"""The same of ds_write_b128 on gfx942, as the optimization guide has it."""

BANKS = {"gfx950": 64, "gfx942": 32, "gfx1201": 32, "gfx1100": 32}


def groups(text: str) -> set[frozenset[int]]:
    found = set()
    for group in text.split(" | "):
        ends = [tuple(map(int, part.split("-"))) for part in group.split()]
        found.add(frozenset(itertools.chain(*(range(a, b + 1) for a, b in ends))))
    return found


def own_groups(name: str, width: int, *, is_store: bool) -> set[frozenset[int]]:
    target = find_target(name)
    rows = phase_lanes(target.phase(width, is_store), target.lanes)
    return {frozenset(row) for row in rows.tolist()}


@pytest.mark.parametrize(("name", "width"), PHASES)
def test_every_phase_of_loads(name: str, width: int) -> None:
    assert own_groups(name, width, is_store=False) == groups(PHASES[name, width])
    assert find_target(name).phase(width, is_store=False).banks == BANKS[name]


def test_every_phase_of_the_stores_that_are_described() -> None:
    assert own_groups("gfx942", 16, is_store=True) == groups(STORED)


class Row(NamedTuple):
    """A line of the tables by stride."""

    target: str
    width: int
    stride: int
    conflicts: int | None
    latency: float


def rows() -> list[Row]:
    found = []
    for line in STRIDES.read_text(encoding="utf-8").splitlines()[1:]:
        target, width, stride, conflicts, latency = line.split()
        counted = None if conflicts == "-" else int(conflicts)
        found.append(Row(target, int(width), int(stride), counted, float(latency)))
    return found


def load(row: Row) -> SharedAccess:
    """Return the load of a wavefront whose lanes read at multiples of a stride."""
    target = find_target(row.target)
    lanes = [row.stride // 4 << bit for bit in range(target.lanes.bit_length() - 1)]
    registers = [1 << bit for bit in range((row.width // 4).bit_length() - 1)]
    offsets = AccessMap(tuple(registers), tuple(lanes), (), element_bytes=4)
    access = cost(offsets, target, is_store=False)
    assert (access.width_bytes, access.instructions) == (row.width, 1)
    return access


LOADS = 64
"""Loads of a block whose conflicts were counted."""


def test_every_conflict_that_was_counted() -> None:
    counted = [row for row in rows() if row.conflicts is not None]
    assert len(counted) == 21
    for row in counted:
        assert LOADS * load(row).extra_wavefronts_per_instruction == row.conflicts, row


def test_every_latency_that_was_measured() -> None:
    """Where more cycles are predicted a load takes longer, where as many, as long within 5 %."""
    tables = defaultdict(list)
    for row in rows():
        tables[row.target, row.width].append((load(row).wavefronts_per_instruction, row.latency))
    assert len(tables) == 10
    assert sum(map(len, tables.values())) == 70
    for table, found in tables.items():
        for (cycles, latency), (more, longer) in itertools.combinations(found, 2):
            assert cycles <= more, table
            if cycles == more:
                assert abs(latency - longer) < 0.05 * latency, table
            else:
                assert latency < longer, table


@pytest.mark.parametrize("distance", [4, 16, 32])
def test_two_addresses_go_one_after_the_other(distance: int) -> None:
    """As the optimization guide has ds_read2_b64: four phases, then the same four again."""
    target = TARGETS["gfx942"]
    lanes = tuple(64 << bit for bit in range(6))
    one = AccessMap((1,), lanes, (), element_bytes=4)
    two = AccessMap((1, distance), lanes, (), element_bytes=4)
    single, double = (cost(offsets, target, is_store=False) for offsets in (one, two))
    assert (single.name, double.name, double.instructions) == ("ds_read_b64", "ds_read2_b64", 1)
    assert double.wavefronts_per_instruction == 2 * single.wavefronts_per_instruction
    assert double.ideal_wavefronts_per_instruction == 8
