"""Figures of accesses: sectors of global memory, swizzles, and copies lane by lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from test_figures import COLUMNS, GALLERY, held

from tt_layout.algebra.arrays import all_values
from tt_layout.analyses.global_memory.sectors import count_sectors, lanes_of
from tt_layout.analyses.shared_memory.access import transposing_read
from tt_layout.analyses.shared_memory.addresses import phase_lanes
from tt_layout.analyses.shared_memory.banks import cost, map_access
from tt_layout.encodings import DistributedEncoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import NOTHING, PLAIN
from tt_layout.hardware import find_target

ROWS = GALLERY["ROWS"]
MMA = GALLERY["MMA_ONE"]
OPERANDS = [f"#ttg.dot_op<{{opIdx = {k}, parent = {MMA}, kWidth = 2}}>" for k in (0, 1)]
NVMMA = GALLERY["NVMMA"]


@pytest.mark.parametrize("element", ["f8E5M2", "f16", "f32", "f64"])
@pytest.mark.parametrize("layout", [ROWS, COLUMNS, GALLERY["BLOCKED"], MMA])
def test_sectors_are_those_that_are_counted(layout: str, element: str) -> None:
    drawn = held(layout, f"tensor<64x64x{element}>")
    figure = draw(drawn, view="sectors")
    grid, size = figure.grids[0], drawn.placed.element_bytes
    vector = int(figure.notes[0].split(": ")[1].split(" byte")[0]) // size
    starts = lanes_of(drawn.layout, vector).elements[:1, :1]
    count = count_sectors(starts * size, np.ones(starts.shape, bool), vector * size)
    per_sector = 32 // size
    touched = (grid.colours.reshape(-1, per_sector) != NOTHING).all(axis=1)
    assert touched.sum() == count.sectors
    assert grid.shape == (count.lines, 128 // size)
    assert (grid.colours >= 0).sum() * size == count.asked_bytes
    assert f"{count.sectors} sector" in figure.notes[1]
    assert f"{count.sectors * 32} bytes moved" in figure.notes[1]
    legend = dict(figure.legend)
    for colour in (PLAIN, NOTHING):
        assert (colour in legend) == (grid.colours == colour).any()


@pytest.mark.parametrize("width", [32, 64, 128])
def test_a_swizzle_is_drawn_beside_the_plain_rows(width: int) -> None:
    drawn = held(NVMMA.format(width), f"!ttg.memdesc<16x{width // 2}xf16>")
    plain, swizzled = draw(drawn, view="swizzle").grids
    assert plain.labels is not None
    assert swizzled.labels is not None
    chunks = [(row, chunk) for row in range(16) for chunk in range(width // 16)]
    lines = [
        [f"{r},{8 * c}-{8 * c + 7}" for r, c in chunks[k : k + 8]] for k in range(0, len(chunks), 8)
    ]
    assert plain.labels == lines
    shifts = [line % (width // 16) for line in range(len(lines))]
    assert swizzled.rows == tuple(f"{line * 128}, {x}" for line, x in enumerate(shifts))
    assert plain.rows == tuple(str(line * 128) for line in range(len(lines)))
    for number, (row, chunk) in enumerate(chunks):
        phase = number // 8 % (width // 16)
        at = number // 8, number % 8 ^ phase
        assert swizzled.labels[at[0]][at[1]] == f"{row},{8 * chunk}-{8 * chunk + 7}"
        assert swizzled.marks is not None
        assert bool(swizzled.marks[at]) == (chunk == 0)


def test_a_line_whose_rows_are_moved_apart_has_no_shift() -> None:
    short = GALLERY["SWIZZLE"].format(1, 4)
    _, swizzled = draw(held(short, "!ttg.memdesc<16x32xf16>"), view="swizzle").grids
    assert (swizzled.row_title, swizzled.rows[:2]) == ("byte", ("0", "128"))


@pytest.mark.parametrize(
    ("layout", "target", "is_store"),
    [
        (OPERANDS[0], "sm80", False),
        (OPERANDS[1], "sm80", False),
        (GALLERY["LONG"], "sm80", False),
        (MMA, "sm90", True),
    ],
)
def test_a_copy_names_who_holds_each_element(layout: str, target: str, is_store: bool) -> None:
    registers = held(layout, "tensor<32x64xf16>")
    memory = held(GALLERY["SWIZZLED"], "!ttg.memdesc<32x64xf16>")
    access = "store" if is_store else "load"
    figure = draw(memory, registers, view="copy", target=target, access=access)
    given, found = figure.grids
    assert given.labels is not None
    assert found.labels is not None
    layout_ = registers.layout.remove_zero_bases("register")
    sizes = [layout_.get_in_dim_size(name) for name in ("register", "lane")]
    holders: dict[str, set[str]] = {}
    for register, lane in product(*map(range, sizes)):
        place = layout_.apply({"register": register, "lane": lane, "warp": 0, "block": 0})
        holders.setdefault(",".join(map(str, place.values())), set()).add(f"T{lane}:{register}")
    for elements, names in zip(given.labels, found.labels):
        for element, name in zip(elements, names):
            assert name in holders[element]
    cells = [name for row in found.labels for name in row]
    assert len(set(cells)) == len(cells)


PADDED = "#ttg.padded_shared<[{}] {{order = {}, shape = [64, 64]}}>"
TALL = (
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 64], warpsPerCTA = [1, 1], "
    "order = [0, 1]}>"
)
CDNA_ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], "
    "order = [1, 0]}>"
)


@pytest.mark.parametrize("is_store", [False, True])
@pytest.mark.parametrize(
    ("registers", "padding", "order", "element", "target"),
    [
        (ROWS, "64:+8", "[1, 0]", "f16", "sm80"),
        (ROWS, "16:+4, 64:+8", "[1, 0]", "f32", "sm90"),
        (COLUMNS, "64:+1", "[1, 0]", "f32", "sm90"),
        (COLUMNS, "64:+4", "[1, 0]", "i8", "sm90"),
        (OPERANDS[0], "64:+8", "[1, 0]", "f16", "sm90"),
        (TALL, "32:+2", "[0, 1]", "f16", "gfx950"),
        (CDNA_ROWS, "64:+4", "[1, 0]", "f16", "gfx942"),
        (CDNA_ROWS, "128:+2, 512:+4", "[1, 0]", "f32", "gfx950"),
    ],
)
def test_padding_moves_the_rows_of_a_copy_to_the_banks_that_are_counted(
    registers: str, padding: str, order: str, element: str, target: str, is_store: bool
) -> None:
    tensor = held(registers, f"tensor<64x64x{element}>")
    memory = held(PADDED.format(padding, order), f"!ttg.memdesc<64x64x{element}>")
    access, hardware = "store" if is_store else "load", find_target(target)
    given, found = draw(memory, tensor, view="copy", target=target, access=access).grids
    assert isinstance(tensor.encoding, DistributedEncoding)
    assert isinstance(memory.encoding, SharedEncoding)
    size = memory.placed.element_bytes
    places = map_access(tensor.encoding, memory.encoding, (64, 64), size)
    counted = cost(places, hardware, is_store=is_store)
    assert given.labels is not None
    assert found.labels is not None
    assert found.row_title == "byte, bank"
    byte_of, words = bytes_of_elements(memory), []
    for elements, names, row in zip(given.labels, found.labels, found.rows):
        byte, banks = row.split(", ")
        for column, (cell, name) in enumerate(zip(elements, names)):
            lane, register = map(int, name[1:].split(":"))
            place = {"register": register, "lane": lane, "warp": 0, "block": 0}
            assert ",".join(map(str, tensor.layout.apply(place).values())) == cell
            assert byte_of[cell] == int(byte) + column * size
        touched = range(int(byte) // 4, -(-(int(byte) + len(elements) * size) // 4))
        own = [word % counted.phase.banks for word in (touched[0], touched[-1])]
        assert banks == "-".join(map(str, dict.fromkeys(own)))
        words.append(touched)
    cycles = 0
    for lanes in phase_lanes(counted.phase, hardware.lanes):
        asked = {word for lane in lanes for word in words[lane]}
        cycles += max(Counter(word % counted.phase.banks for word in asked).values())
    assert cycles == counted.wavefronts_per_instruction


def bytes_of_elements(memory: DrawnLayout) -> dict[str, int]:
    """Return where each element of padded memory is stored."""
    found = {}
    for offset in range(memory.layout.get_in_dim_size("offset")):
        cell = memory.layout.apply({"offset": offset, "block": 0}).values()
        slot = offset + sum(offset // gap * amount for gap, amount in memory.placed.padding)
        found[",".join(map(str, cell))] = slot * memory.placed.element_bytes
    return found


AMD_PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
CDNA4 = (
    "#ttg.amd_mfma<{{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, {}], "
    "isTransposed = true}}>"
)
GFX1250 = (
    "#ttg.amd_wmma<{{version = 3, isTranspose = true, ctaLayout = {{warp = []}}, "
    "instrShape = [16, 16, {}]}}>"
)


@pytest.mark.parametrize(
    ("target", "parent", "element", "k", "k_width", "giver"),
    [
        # Which lane's row each register of a lane comes from, within the lanes that exchange.
        ("gfx950", CDNA4, "f16", 32, 8, lambda lane, r: (lane & ~15) | lane >> 2 & 3 | r << 2),
        ("gfx950", CDNA4, "i8", 64, 16, lambda lane, r: (lane & ~15) | lane >> 3 & 1 | r << 1),
        ("gfx1250", GFX1250, "f16", 32, 8, lambda lane, r: (lane & ~15) | lane & 8 | r),
        (
            "gfx1250",
            GFX1250,
            "i8",
            64,
            8,
            lambda lane, r: (lane & ~15) | lane >> 1 & 4 | r & 3 | r << 1 & 8,
        ),
    ],
)
def test_a_transposing_read_gives_each_lane_a_column(
    target: str,
    parent: str,
    element: str,
    k: int,
    k_width: int,
    giver: Callable[[int, int], int],
) -> None:
    operand = f"#ttg.dot_op<{{opIdx = 1, parent = {parent.format(k)}, kWidth = {k_width}}}>"
    memory = held(AMD_PLAIN, f"!ttg.memdesc<64x64x{element}>")
    registers = held(operand, f"tensor<64x64x{element}>")
    figure = draw(memory, registers, view="copy", target=target)
    given, found = (grid.labels for grid in figure.grids)
    assert given is not None
    assert found is not None
    read = find_target(target).transposing_reads[memory.placed.element_bytes]
    assert figure.notes[0].startswith(f"load: {read.name}, the first of ")
    assert isinstance(registers.encoding, DistributedEncoding)
    assert isinstance(memory.encoding, SharedEncoding)
    places = map_access(registers.encoding, memory.encoding, (64, 64), memory.placed.element_bytes)
    rule = transposing_read(places, find_target(target))
    assert rule is not None
    for row, offset in enumerate(all_values(rule.addresses) // memory.placed.element_bytes):
        first = divmod(int(offset), 64)
        assert given[row][0] == f"{first[0]},{first[1]}"
    wide = len(given[0])
    assert wide * memory.placed.element_bytes == read.width_bytes
    for lane, register in product(range(len(given)), range(wide)):
        assert found[giver(lane, register)][lane % wide] == f"T{lane}:{register}"


def test_of_a_read_of_two_addresses_the_first_is_drawn() -> None:
    columns = (
        "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [1, 64], warpsPerCTA = [1, 1], "
        "order = [1, 0]}>"
    )
    memory = held(AMD_PLAIN, "!ttg.memdesc<64x64xf32>")
    figure = draw(memory, held(columns, "tensor<64x64xf32>"), view="copy", target="gfx942")
    assert figure.notes[0].startswith("load: ds_read2st64_b32, ")
    assert figure.notes[1] == "showing the first of its two addresses"
    assert figure.grids[1].labels == [[f"T{lane}:0"] for lane in range(64)]


@pytest.mark.parametrize(
    ("access", "ends"), [("load", ("source", "destination")), ("store", ("destination", "source"))]
)
def test_a_copy_of_tensor_memory_names_who_holds_each_cell(
    access: str, ends: tuple[str, str]
) -> None:
    rows = (
        "#ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], "
        "[4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>"
    )
    memory = held(GALLERY["TMEM"].replace("blockN = 8", "blockN = 16"), "!ttg.memdesc<128x16xf32>")
    figure = draw(held(rows, "tensor<128x16xf32>"), memory, access=access)
    drawn, found = figure.grids
    assert [text for _, text in figure.legend] == ["row, lane 0", *map(str, range(1, 32))]
    titles = f"{ends[0]}: tensor memory", f"{ends[1]}: lane and register"
    assert (drawn.title, found.title) == titles
    assert drawn.labels == [[f"R{r}:C{c}" for c in range(16)] for r in range(32)]
    assert found.labels == [[f"T{r}:{c}" for c in range(16)] for r in range(32)]
    assert found.colours.tolist() == [[r] * 16 for r in range(32)]


def test_what_these_figures_cannot_show() -> None:
    memory, registers = (
        held(GALLERY["PADDED"], "!ttg.memdesc<16x64xf16>"),
        held(ROWS, "tensor<16x64xf16>"),
    )
    for view, pair, message in [
        ("sectors", (memory,), "a register layout"),
        ("swizzle", (registers,), "a shared layout"),
        ("swizzle", (memory,), "has padding"),
        ("copy", (memory,), "needs a layout of registers"),
    ]:
        with pytest.raises(LayoutError, match=message):
            draw(*pair, view=view)
    with pytest.raises(LayoutError, match="colours of its own"):
        draw(registers, view="sectors", color_by="lane")
