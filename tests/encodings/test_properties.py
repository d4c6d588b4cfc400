"""What must hold of every layout: texts re-read, views that agree, eras that agree."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from compiler.generate import KINDS, Case, as_case
from tiers import slow
from truth.make_truth import read_rows

import tt_layout
from tt_layout import LinearLayout
from tt_layout.encodings import FORMS

Place = tuple[int, ...]
Element = tuple[int, ...]
Pairs = list[tuple[Place, Element]]


# -- text -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("step", [24, slow(1)])
def test_printed_text_is_read_back(step: int) -> None:
    for row in read_rows()[::step]:
        encoding = tt_layout.parse_layout(row["attr"])
        assert tt_layout.parse_layout(str(encoding), release=encoding.release) == encoding


# -- views ----------------------------------------------------------------------------------

MAX_PLACES = 1 << 12
COUNTS = pytest.mark.parametrize("count", [1, slow(13)])
"""Cases of each kind."""


def small_cases(kind: str, count: int) -> list[tuple[Case, LinearLayout]]:
    """Return random cases of a kind whose views are short, with their layouts."""
    r = Random(kind)
    found: list[tuple[Case, LinearLayout]] = []
    while len(found) < count:
        case = as_case(r, KINDS[kind](r))
        try:
            layout = tt_layout.parse_layout(case.attr).to_linear_layout(case.shape)
        except tt_layout.LayoutError:
            continue
        if layout.total_in_bits <= MAX_PLACES.bit_length() - 1:
            found.append((case, layout))
    return found


def views_of(case: Case) -> tuple[str, str]:
    encoding = tt_layout.parse_layout(case.attr)
    return encoding.format_tensor_view(case.shape), encoding.format_hardware_view(case.shape)


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def elements_of(shape: tuple[int, ...]) -> Iterator[Element]:
    return itertools.product(*map(range, shape))


def holders(view: str, shape: tuple[int, ...], label: str) -> Pairs:
    """Read a tensor view that lists the places of each element."""
    cells = re.sub(r"[\[\]]", "", view).replace("\n", ",").rstrip(",").split(",")
    assert len(cells) == math.prod(shape)
    pairs = []
    for element, cell in zip(elements_of(shape), cells):
        for entry in cell.split("|"):
            match = re.fullmatch(label, entry.strip())
            assert match is not None, entry
            pairs.append((tuple(int(group or 0) for group in match.groups()), element))
    return pairs


def sections(view: str, header: str) -> Iterator[tuple[int, list[str]]]:
    """Split a view at its headers; one section 0 where there are none."""
    parts = re.split(rf"^{header} ?(\d+):\n", view, flags=re.M)
    if len(parts) == 1:
        yield 0, view.splitlines()
    for number, text in zip(parts[1::2], parts[2::2]):
        yield int(number), text.splitlines()


def tuples(line: str) -> list[str]:
    """Return the cells of a line of a hardware view: tuples, or dashes for nothing."""
    return re.findall(r"\([^)]*\)|-", line)


@pytest.mark.slow
@COUNTS
def test_distributed_views_describe_one_map(count: int) -> None:
    kinds = ["blocked", "linear", "generic_linear", "slice", "nvidia_mma v2", "nvidia_mma v3"]
    for kind in [*kinds, "amd_mfma", "amd_wmma", "dot_op"]:
        for case, layout in small_cases(kind, count):
            by_element, by_place = views_of(case)
            lanes = layout.get_in_dim_size("lane")
            held = holders(by_element, case.shape, r"(?:B(\d+):)?T(\d+):(\d+)")
            placed: Pairs = [
                ((block, lane + warp * lanes, register), numbers(cell))
                for block, lines in sections(by_place, "Block")
                for warp, rows in sections("\n".join(lines), "Warp")
                for register, row in enumerate(rows)
                for lane, cell in enumerate(tuples(row))
            ]
            assert sorted(held) == sorted(placed), case
            assert placed_by(layout, placed), case


def placed_by(layout: LinearLayout, placed: Pairs) -> bool:
    """Tell whether a hardware view shows every place of the layout and what it holds."""
    lanes = layout.get_in_dim_size("lane")
    wanted = []
    for (block, thread, register), _ in placed:
        warp, lane = divmod(thread, lanes)
        place = {"block": block, "warp": warp, "lane": lane, "register": register}
        wanted.append(tuple(layout.apply(place).values()))
    return wanted == [element for _, element in placed] and len(placed) == 1 << layout.total_in_bits


@COUNTS
def test_shared_views_describe_one_map(count: int) -> None:
    for kind in ["swizzled_shared", "nvmma_shared", "shared_linear", "amd_rotating_shared"]:
        for case, layout in small_cases(kind, 2 * count):
            by_element, by_place = views_of(case)
            cells = re.findall(r"\(([^)]*)\)", by_element)
            lines = [
                (block, numbers(line))
                for block, lines in sections(by_place, "Block:")
                for line in lines
            ]
            assert [numbers(cell) for cell in cells] == [line[1:] for _, line in lines], case
            for block, (offset, *element) in lines:
                point = layout.apply({"block": block, "offset": offset})
                assert list(point.values()) == element, case


@COUNTS
def test_padded_and_partitioned_views_describe_one_map(count: int) -> None:
    """The tensor view lists the elements in the order in which the hardware view meets them."""
    for kind in ["padded_shared", "partitioned_shared"]:
        for case, _ in small_cases(kind, 2 * count):
            by_element, by_place = views_of(case)
            cells = [numbers(cell) for cell in re.findall(r"\(([^)]*)\)", by_element)]
            lines = [line.split("->")[1] for line in by_place.splitlines() if "->" in line]
            assert cells == [numbers(line) for line in lines if "pad" not in line], case


@COUNTS
def test_tensor_memory_views_describe_one_map(count: int) -> None:
    for kind in ["tensor_memory_encoding", "tensor_memory_scales_encoding"]:
        for case, layout in small_cases(kind, count):
            by_element, by_place = views_of(case)
            shape = tuple(size for _, size in layout.out_dims)  # CTAs may reach beyond the tensor
            held = holders(by_element, shape, r"(?:B(\d+):)?R(\d+):C(\d+)")
            placed = [
                ((block, *numbers(line.split(":")[0]), column), numbers(cell))
                for block, lines in sections(by_place, "Block")
                for line in lines
                for column, cell in enumerate(tuples(line.split(":")[1]))
                if cell != "-"
            ]
            assert sorted(held) == sorted(placed), case
            for (block, row, column), element in placed:
                point = layout.apply({"block": block, "row": row, "col": column})
                assert tuple(point.values()) == element, case


# -- eras -----------------------------------------------------------------------------------

TRIPLE = "CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]"
TRIPLE_OF_ONE = "CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]"
CGA = "CGALayout = [[1, 0]]"
TILE = "sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]"
SWIZZLE = "vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]"
MMA = "versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2]"
MFMA_VERSION = "versionMajor = 3, versionMinor = 0"
PLAIN = "isTransposed = false"
TILES = "warpsPerCTA = [4, 1], tilesPerWarp = [2, 2]"
BASES = (
    "register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0]], "
    "warp = [[2, 0], [4, 0]], block = []"
)
SHARED_BASES = "offset = [[0, 1], [1, 1], [2, 0]]"
PADDED_BASES = "offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], block = []"
TMEM = "blockM = 128, blockN = 64"
EMPTY_TRIPLE = "CTAsPerCGA = [], CTASplitNum = [], CTAOrder = []"
NVMMA = "swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16"

DPAS = (
    "repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, "
    "warpsPerCTA = [2, 2]"
)
EQUIVALENT: dict[str, tuple[list[int], list[tuple[str, str]]]] = {
    "blocked": (
        [64, 64],
        [
            ("2022", f"#triton_gpu.blocked<{{{TILE}}}>"),
            ("2.1", f"#triton_gpu.blocked<{{{TILE}}}>"),
            ("2.3", f"#triton_gpu.blocked<{{{TILE}, {EMPTY_TRIPLE}}}>"),
            ("2.3", f"#triton_gpu.blocked<{{{TILE}, {TRIPLE_OF_ONE}}}>"),
            ("3.2", f"#triton_gpu.blocked<{{{TILE}}}>"),
            ("3.5", f"#ttg.blocked<{{{TILE}, {TRIPLE_OF_ONE}}}>"),
            ("3.9", f"#ttg.blocked<{{{TILE}}}>"),
        ],
    ),
    "blocked, two CTAs": (
        [64, 64],
        [
            ("2.2", f"#triton_gpu.blocked<{{{TILE}, {TRIPLE}}}>"),
            ("3.0", f"#triton_gpu.blocked<{{{TILE}, {TRIPLE}}}>"),
            ("3.5", f"#ttg.blocked<{{{TILE}, {TRIPLE}}}>"),
            ("3.6", f"#ttg.blocked<{{{TILE}, {CGA}}}>"),
            ("3.9", f"#ttg.blocked<{{{TILE}, {CGA}}}>"),
        ],
    ),
    "slice": (
        [64],
        [
            (release, f"#{dialect}.slice<{{dim = 1, parent = #{dialect}.blocked<{{{TILE}}}>}}>")
            for release, dialect in [("2.1", "triton_gpu"), ("3.2", "triton_gpu"), ("3.9", "ttg")]
        ],
    ),
    "nvidia_mma": (
        [64, 64],
        [
            ("2.1", f"#triton_gpu.mma<{{{MMA}}}>"),
            ("2.3", f"#triton_gpu.mma<{{{MMA}, {TRIPLE_OF_ONE}, instrShape = [16, 8]}}>"),
            ("3.0", f"#triton_gpu.nvidia_mma<{{{MMA}, instrShape = [16, 8]}}>"),
            ("3.5", f"#ttg.nvidia_mma<{{{MMA}, {TRIPLE_OF_ONE}, instrShape = [16, 8]}}>"),
            ("3.9", f"#ttg.nvidia_mma<{{{MMA}, instrShape = [16, 8]}}>"),
        ],
    ),
    "dot_op": (
        [64, 64],
        [
            (
                "2.1",
                "#triton_gpu.dot_op<{opIdx = 0, kWidth = 2, "
                f"parent = #triton_gpu.mma<{{{MMA}}}>}}>",
            ),
            *(
                (
                    release,
                    f"#{dialect}.dot_op<{{opIdx = 0, kWidth = 2, parent = "
                    f"#{dialect}.nvidia_mma<{{{MMA}, instrShape = [16, 8]}}>}}>",
                )
                for release, dialect in [("3.0", "triton_gpu"), ("3.4", "ttg"), ("3.9", "ttg")]
            ),
        ],
    ),
    "amd_mfma": (
        [128, 128],
        [
            (release, f"#{dialect}.amd_mfma<{{warpsPerCTA = [2, 2], {PLAIN}, {rest}}}>")
            for release, dialect, rest in [
                ("3.0", "triton_gpu", f"{MFMA_VERSION}, instrShape = [32, 32]"),
                ("3.4", "ttg", f"{MFMA_VERSION}, instrShape = [32, 32]"),
                ("3.5", "ttg", "version = 3, instrShape = [32, 32]"),
                ("3.6", "ttg", "version = 3, instrShape = [32, 32, 8]"),
                ("3.9", "ttg", "version = 3, instrShape = [32, 32, 8], tilesPerWarp = [1, 1]"),
            ]
        ],
    ),
    "amd_mfma, fp64": (
        [128, 128],
        [
            (release, f"#ttg.amd_mfma<{{version = 3, {PLAIN}, {TILES}, {rest}}}>")
            for release, rest in [
                ("3.5", "instrShape = [16, 16], elementType = f64"),
                ("3.6", "instrShape = [16, 16, 4], elementBitWidth = 64"),
                ("3.9", "instrShape = [16, 16, 4], elementBitWidth = 64"),
            ]
        ],
    ),
    "amd_wmma": (
        [64, 64],
        [
            ("3.0", "#triton_gpu.amd_wmma<{warpsPerCTA = [2, 2]}>"),
            ("3.2", "#triton_gpu.amd_wmma<{version = 1, warpsPerCTA = [2, 2]}>"),
            ("3.3", "#ttg.amd_wmma<{version = 1, warpsPerCTA = [2, 2]}>"),
            ("3.6", "#ttg.amd_wmma<{version = 1, warpsPerCTA = [2, 2], tilesPerWarp = [1, 1]}>"),
            ("3.7", "#ttg.amd_wmma<{version = 1, ctaLayout = {warp = [[0, 1], [1, 0]]}}>"),
            (
                "3.9",
                "#ttg.amd_wmma<{version = 1, "
                "ctaLayout = {register = [], warp = [[0, 1], [1, 0]]}}>",
            ),
        ],
    ),
    "dpas": (
        [64, 64],
        [
            ("3.0", f"#triton_intel_gpu.dpas<{{{DPAS}}}>"),
            ("3.3", f"#triton_intel_gpu.dpas<{{{DPAS}, repCluster = [1, 1]}}>"),
            ("3.9", f"#ttig.dpas<{{{DPAS}, repCluster = [1, 1], A = [8, 16]}}>"),
        ],
    ),
    "swizzled_shared": (
        [64, 64],
        [
            ("2.1", f"#triton_gpu.shared<{{{SWIZZLE}}}>"),
            ("2.3", f"#triton_gpu.shared<{{{SWIZZLE}, hasLeadingOffset = false}}>"),
            ("3.2", f"#triton_gpu.shared<{{{SWIZZLE}}}>"),
            ("3.4", f"#ttg.swizzled_shared<{{{SWIZZLE}, {TRIPLE_OF_ONE}}}>"),
            ("3.9", f"#ttg.swizzled_shared<{{{SWIZZLE}}}>"),
        ],
    ),
    "nvmma_shared": (
        [64, 128],
        [
            ("2.2", f"#triton_gpu.shared<{{{SWIZZLE}, hasLeadingOffset = true}}>"),
            ("3.2", f"#triton_gpu.shared<{{{SWIZZLE}, hasLeadingOffset = true}}>"),
            ("3.3", f"#ttg.nvmma_shared<{{{NVMMA}}}>"),
            ("3.5", f"#ttg.nvmma_shared<{{{NVMMA}, {TRIPLE_OF_ONE}}}>"),
            ("3.7", f"#ttg.nvmma_shared<{{{NVMMA}, rank = 2}}>"),
            ("3.9", f"#ttg.nvmma_shared<{{{NVMMA}}}>"),
        ],
    ),
    "amd_rotating_shared": (
        [64, 64],
        [
            ("3.4", f"#ttg.amd_rotating_shared<{{{SWIZZLE}, {TRIPLE}}}>"),
            ("3.9", f"#ttg.amd_rotating_shared<{{{SWIZZLE}, {CGA}}}>"),
        ],
    ),
    "padded_shared": (
        [4, 8],
        [
            ("3.5", "#ttg.padded_shared<[16:+4] {order = [1, 0]}>"),
            ("3.6", "#ttg.padded_shared<[16:+4] {order = [1, 0], shape = [4, 8]}>"),
            ("3.9", f"#ttg.padded_shared<[16:+4] {{{PADDED_BASES}}}>"),
        ],
    ),
    "shared_linear": (
        [4, 2],
        [
            ("3.6", f"#ttg.shared_linear<{{{SHARED_BASES}, block = []}}, alignment = 16>"),
            ("3.9", f"#ttg.shared_linear<{{{SHARED_BASES}}}, alignment = 16>"),
        ],
    ),
    "linear": (
        [8, 16],
        [
            (release, f"#ttg.{name}<{{{BASES}}}>")
            for release, name in [("3.3", "linear"), ("3.9", "linear"), ("3.9", "generic_linear")]
        ],
    ),
    "tensor_memory_encoding": (
        [256, 64],
        [
            ("3.5", f"#ttng.tensor_memory_encoding<{TMEM}, unpacked = true, CTASplitM = 2>"),
            ("3.6", f"#ttng.tensor_memory_encoding<{TMEM}, colStride = 2, CTASplitM = 2>"),
            ("3.9", f"#ttng.tensor_memory_encoding<{TMEM}, colStride = 2, CGALayout = [[1, 0]]>"),
        ],
    ),
    "tensor_memory_scales_encoding": (
        [256, 8],
        [
            ("3.4", "#ttng.tensor_memory_scales_encoding<CTASplitM = 2, CTASplitN = 2>"),
            ("3.9", "#ttng.tensor_memory_scales_encoding<CGALayout = [[1, 0], [0, 1]]>"),
        ],
    ),
}
"""Attribute -> a shape, and spellings of one layout under the releases that wrote them so."""


@pytest.mark.parametrize("name", EQUIVALENT)
def test_spellings_of_all_eras_mean_the_same(name: str) -> None:
    shape, spellings = EQUIVALENT[name]
    layouts = {
        (release, text): tt_layout.parse_layout(text, release=release).to_linear_layout(
            shape, element_bits=16
        )
        for release, text in spellings
    }
    wanted = next(reversed(layouts.values()))
    for spelling, layout in layouts.items():
        assert layout == wanted, spelling


@pytest.mark.parametrize("name", EQUIVALENT)
def test_the_release_of_a_spelling_is_found(name: str) -> None:
    """A text is read without its release, too, and means the same."""
    shape, spellings = EQUIVALENT[name]
    for release, text in spellings:
        given = tt_layout.parse_layout(text, release=release)
        found = tt_layout.parse_layout(text)
        assert found.to_linear_layout(shape, element_bits=16) == given.to_linear_layout(
            shape, element_bits=16
        ), text


def test_every_attribute_with_several_spellings_is_in_the_table() -> None:
    forms = [(form, owner) for own in FORMS.values() for form, owner in own]
    spelled = {
        owner
        for _, spellings in EQUIVALENT.values()
        for _, text in spellings
        for _, owner in FORMS[text[1:].split("<")[0]]
    }
    several = {owner for _, owner in forms if sum(owner is other for _, other in forms) > 1}
    assert several <= spelled


def test_every_attribute_has_a_golden_case() -> None:
    """What is found in `tt_layout.encodings` is tried by the views, or this says so."""
    cases = (Path(__file__).parents[1] / "goldens" / "layouts.yaml").read_text()
    for name in FORMS:
        assert f"{name}<" in cases, f"add a case of #{name} to tests/goldens/layouts.yaml"


@pytest.mark.parametrize("major", [2, 3])
def test_an_operand_of_ampere_and_of_hopper_has_a_width(major: int) -> None:
    shape = {2: "[16, 8]", 3: "[16, 64, 16]"}[major]
    text = (
        f"#ttg.dot_op<{{opIdx = 0, parent = #ttg.nvidia_mma<{{versionMajor = {major}, "
        f"versionMinor = 0, warpsPerCTA = [4, 1], instrShape = {shape}}}>, kWidth = 2}}>"
    )
    assert tt_layout.parse_layout(text)
    with pytest.raises(tt_layout.LayoutError, match="kWidth must be given for an Ampere or Hopper"):
        tt_layout.parse_layout(text.replace(", kWidth = 2", ""))


def test_ctas_are_placed_by_a_permutation() -> None:
    blocked = (
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
        "order = [1, 0], CGALayout = [[0, 1], [0, 3]]}>"
    )
    with pytest.raises(tt_layout.LayoutError, match="CGALayout must be a permutation matrix but"):
        tt_layout.place(blocked, "64x64xf16")
    assert tt_layout.place(blocked.replace("3]]", "2]]"), "64x64xf16")
