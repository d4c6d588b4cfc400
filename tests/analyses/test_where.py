"""``tt-layout where``: point queries both ways, against the whole layout."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import product

import pytest
from command import BLOCKED, TYPE, Run, runner
from tiers import slow
from truth.make_truth import read_rows

import tt_layout
from tt_layout import LinearLayout
from tt_layout.algebra.padding import padded
from tt_layout.analyses.layouts.point import holders, locate, offset_of_slot

PADDED = "#ttg.padded_shared<[4:+2] {order = [1, 0], shape = [4, 4]}>"
BUFFER = "!ttg.memdesc<4x4xf16>"
TENSOR_MEMORY = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>"
MAX_BITS = 10


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


STEPS = pytest.mark.parametrize("step", [64, slow(1)])


def stored_layouts(step: int) -> list[LinearLayout]:
    """Return the small layouts of every kind among every ``step``-th of the stored answers."""
    layouts = []
    for row in read_rows()[::step]:
        if "bases" in row:
            layout = tt_layout.parse_layout(row["attr"], release="3.9")
            linear = layout.to_linear_layout(row["shape"])
            layouts += [linear] if linear.total_in_bits <= MAX_BITS else []
    return layouts


@STEPS
@pytest.mark.slow
def test_holders_of_every_element_of_stored_layouts(step: int) -> None:
    layouts = stored_layouts(step)
    assert len(layouts) > 500 // step
    for layout in layouts[::4]:
        whole = defaultdict(list)
        names = layout.get_in_dim_names()
        sizes = [range(layout.get_in_dim_size(name)) for name in names]
        for place in product(*reversed(sizes)):
            point = dict(zip(names, reversed(place)))
            whole[tuple(layout.apply(point).values())].append(tuple(point.items()))
        for element, places in list(whole.items())[:20]:
            found = holders(layout, element, limit=1 << MAX_BITS)
            assert found.count == len(places)
            assert [one.location for one in found.locations] == places, "in hardware order"
            few = holders(layout, element, limit=2)
            assert (few.count, few.locations) == (found.count, found.locations[:2])


@STEPS
def test_terms_xor_to_the_element(step: int) -> None:
    for layout in stored_layouts(step):
        last = {name: layout.get_in_dim_size(name) - 1 for name in layout.get_in_dim_names()}
        found = locate(layout, last)
        assert found.element == tuple(layout.apply(last).values())
        assert len(found.terms) == layout.total_in_bits
        total = [0] * layout.num_out_dims
        for term in found.terms:
            total = [a ^ b for a, b in zip(total, term.vector)]
        assert tuple(total) == found.element


def test_padding_has_no_offset() -> None:
    padding = ((4, 2), (8, 1))
    slots = {padded(offset, padding): offset for offset in range(32)}
    for slot in range(max(slots) + 1):
        assert offset_of_slot(slot, 32, padding) == slots.get(slot)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((BLOCKED, "-t", TYPE, "--thread", "1", "--register", "1"), "T1:1 -> (0, 3): "),
        ((BLOCKED, "-t", TYPE, "--lane", "1", "--warp", "1", "--register", "0"), "T5:0 -> (2, 2):"),
        (
            (BLOCKED, "-t", TYPE, "--thread", "0", "--register", "0"),
            "T0:0 -> (0, 0): no bit is set",
        ),
        ((BLOCKED, "-t", TYPE, "--thread", "3"), "T3:0 -> (1, 2)"),
        (
            (BLOCKED, "-t", TYPE, "--element", "2,1"),
            "  T4:1 -> (2, 1): register bit 0 (0, 1) ^ warp",
        ),
        ((PADDED, "-t", BUFFER, "--offset", "7"), "offset 7 -> (1, 1): offset bit 0 (0, 1) ^ "),
        ((PADDED, "-t", BUFFER, "--offset", "5"), "offset 5 is padding"),
        ((PADDED, "-t", BUFFER, "--element", "1,1"), "  offset 7 -> (1, 1)"),
        (
            (TENSOR_MEMORY, "-t", "!ttg.memdesc<128x32xf32>", "--row", "17", "--column", "3"),
            "R17:C3 -> (65, 3): row bit 0 (1, 0) ^ row bit 4 (64, 0) ^ col bit 0",
        ),
    ],
)
def test_text(run: Run, arguments: tuple[str, ...], expected: str) -> None:
    result = run("where", *arguments)
    assert result.status == 0, result.err
    assert expected in result.out


def test_all_registers_of_a_thread(run: Run) -> None:
    lines = run("where", BLOCKED, "-t", TYPE, "--thread", "3").out.splitlines()
    assert [line.split()[0] for line in lines] == ["T3:0", "T3:1"]


def test_limit(run: Run) -> None:
    out = run("where", BLOCKED, "-t", "tensor<1x1xf16>", "--element", "0,0", "--limit", "2").out
    assert out.startswith("8 locations hold (0, 0)\n  T0:0 -> (0, 0)")
    assert out.endswith("and 6 more; --limit shows more of them\n")


def test_json(run: Run) -> None:
    arguments = ("where", BLOCKED, "-t", TYPE, "--element", "2,1", "--format", "json")
    said = json.loads(run(*arguments).out)
    assert said["count"] == 1
    place = said["locations"][0]
    assert place["label"] == "T4:1"
    assert place["location"] == {"register": 1, "lane": 0, "warp": 1, "block": 0}
    assert place["terms"][0] == {"dim": "register", "bit": 0, "vector": [0, 1]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BLOCKED, "-t", TYPE), "ask for one element"),
        ((BLOCKED, "-t", TYPE, "--element", "0,0", "--thread", "1"), "ask for one element"),
        ((BLOCKED, "-t", TYPE, "--element", "4,0"), "(4, 0) is outside the tensor, which is 4x4"),
        ((BLOCKED, "-t", TYPE, "--element", "4"), "an element has 2 coordinates here, got (4)"),
        ((BLOCKED, "-t", TYPE, "--element", "x,0"), "--element takes numbers"),
        ((BLOCKED, "-t", TYPE, "--thread", "8"), "thread must be in 0..7, got 8"),
        ((BLOCKED, "-t", TYPE, "--thread", "1", "--lane", "1"), "leave out --lane and --warp"),
        ((BLOCKED, "-t", TYPE, "--register", "2"), "register must be in 0..1, got 2"),
        ((BLOCKED, "-t", TYPE, "--offset", "2"), "this layout has no offset"),
        ((PADDED, "-t", BUFFER, "--offset", "99"), "offset must be in 0..21, got 99"),
        ((PADDED, "-t", BUFFER, "--thread", "1"), "this layout has no thread"),
        ((PADDED, "-t", TYPE, "--column", "1"), "this layout has no column"),
        ((BLOCKED, "-t", TYPE, "--thread", "-1"), "-1 is not in the range"),
        ((BLOCKED, "-t", "tensor<4xf16>", "--thread", "1"), "is for 2 dimensions"),
    ],
)
def test_bad_input(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run("where", *arguments)
    assert result.status == 2
    assert result.out == ""
    assert message in result.err


def test_a_bad_element_is_pointed_at(run: Run) -> None:
    result = run("where", BLOCKED, "-t", TYPE, "--element", "4,0")
    assert result.err.splitlines()[1:] == ["4,0", "^^^"]
