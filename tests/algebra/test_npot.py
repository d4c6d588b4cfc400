"""Sizes that are no powers of two: the fork's rule as loops, its unit tests, and what refuses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np
import pytest
from command import Run, runner
from tiers import slow

import tt_layout
from tt_layout import LayoutError, parse_layout
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.modular_layout import ModularLayout
from tt_layout.analyses.conversion.conversion import ConversionKind
from tt_layout.analyses.conversion.modular_conversion import classify_modular
from tt_layout.audit.audit import audit_module
from tt_layout.encodings import Encoding
from tt_layout.npot import npot
from tt_layout.views.modular import ModularElements, tensor_view
from tt_layout.views.view import BareLayout

INPUTS = ("register", "lane", "warp", "block")
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def modular(text: str, *shape: int) -> LinearLayout:
    with npot():
        return parse_layout(text).to_linear_layout(shape)


# -- the expectations of the fork's unit tests -------------------------------------------------


def test_a_slice_keeps_the_size() -> None:
    parent = (
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
        "order = [1, 0]}>"
    )
    layout = modular(f"#ttg.slice<{{dim = 0, parent = {parent}}}>", 48)
    assert layout.bases == [
        ("register", [[1], [2], [32]]),
        ("lane", [[4], [8], [16], [0], [0]]),
        ("warp", [[0], [0]]),
        ("block", []),
    ]
    assert layout.out_dims == [("dim0", 48)]
    assert layout.is_surjective()


DOT_OF_BLOCKED = (
    "#ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [1, 1], "
    "threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>"
)
MFMA = (
    "#ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [32, 32, 16], "
    "isTransposed = false}>"
)


@pytest.mark.parametrize(
    ("text", "shape", "cover"),
    [(DOT_OF_BLOCKED, (16, 96), (16, 128)), (MFMA, (128, 96), (128, 128))],
)
def test_the_bases_are_those_of_the_cover(
    text: str, shape: tuple[int, ...], cover: tuple[int, ...]
) -> None:
    layout = modular(text, *shape)
    assert layout.bases == parse_layout(text).to_linear_layout(cover).bases
    assert [size for _, size in layout.out_dims] == list(shape)


def test_powers_of_two_are_xors_and_others_sums() -> None:
    """A layout over (8, 6) whose bits overlap: 1 ^ 3 is 2, (4 + 5) mod 6 is 3."""
    bases = (("register", ((1, 4), (3, 5))),)
    layout = ModularLayout(bases, (("dim0", 8), ("dim1", 6)))
    assert layout.apply({"register": 3}) == {"dim0": 2, "dim1": 3}
    assert not layout.is_surjective()
    with pytest.raises(LayoutError, match="powers of two only"):
        layout.compose(layout)


def test_ctas_split_the_size_itself() -> None:
    text = BLOCKED.replace("order = [0]", "order = [0], CGALayout = [[1]]")
    layout = modular(text, 48)
    assert dict(layout.bases)["block"] == [[24]]
    with npot(), pytest.raises(LayoutError, match="2 CTAs split a dimension of 27 unequally"):
        parse_layout(text).to_linear_layout((27,))


# -- definitions as loops ----------------------------------------------------------------------


def elements_by_loops(layout: LinearLayout) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each location (block, warp, lane, register) and its element, in the fork's order."""
    bases, sizes = dict(layout.bases), [size for _, size in layout.out_dims]
    counts = [1 << len(bases[name]) for name in reversed(INPUTS)]
    for location in product(*map(range, counts)):
        element = [0] * len(sizes)
        for name, value in zip(reversed(INPUTS), location):
            for bit, vector in enumerate(bases[name]):
                if value >> bit & 1:
                    for axis, size in enumerate(sizes):
                        if size & (size - 1):
                            element[axis] = (element[axis] + vector[axis]) % size
                        else:
                            element[axis] ^= vector[axis]
        yield location, tuple(element)


def tensor_view_by_loops(layout: LinearLayout) -> str:
    sizes = [size for _, size in layout.out_dims]
    blocks, warps, lanes, registers = (layout.get_in_dim_size(n) for n in reversed(INPUTS))
    holders: dict[tuple[int, ...], list[str]] = {}
    for (block, warp, lane, register), element in elements_by_loops(layout):
        thread = warp * lanes + lane
        width = len(f"T{warps * lanes}:{registers}") + (len(f"B{blocks}:") if blocks > 1 else 0)
        text = f"{f'B{block}:' if blocks > 1 else ''}T{thread}:{register}"
        holders.setdefault(element, []).append(text.rjust(width))
    lines, rank = [], len(sizes)
    for row in product(*map(range, sizes[:-1])):
        cells = ", ".join("|".join(holders.get((*row, c), [])) for c in range(sizes[-1]))
        opened = next((i for i, at in enumerate(reversed(row)) if at), rank - 1)
        closed = next(
            (i for i, (at, size) in enumerate(zip(reversed(row), sizes[-2::-1])) if at < size - 1),
            rank - 1,
        )
        head = "[" * (opened + 1) + " " * (rank - opened - 1)
        lines.append(head + cells + "]" * (closed + 1))
    return "\n".join(lines) + "\n"


def hardware_view_by_loops(layout: LinearLayout) -> str:
    sizes = [size for _, size in layout.out_dims]
    blocks, warps, lanes, registers = (layout.get_in_dim_size(n) for n in reversed(INPUTS))
    at = dict(elements_by_loops(layout))
    lines = []
    for block in range(blocks):
        lines += [f"Block{block}:"] * (blocks > 1)
        for warp in range(warps):
            lines.append(f"Warp{warp}:")
            for register in range(registers):
                cells = (
                    "("
                    + ",".join(
                        str(value).rjust(len(str(size)))
                        for value, size in zip(at[block, warp, lane, register], sizes)
                    )
                    + ")"
                    for lane in range(lanes)
                )
                lines.append(", ".join(cells))
    return "\n".join(lines) + "\n"


def powers(count: int, rank: int, rng: random.Random) -> list[int]:
    """Return powers of two whose product is a number of ``count`` bits."""
    sizes = [1] * rank
    for _ in range(count):
        sizes[rng.randrange(rank)] *= 2
    return sizes


def random_case(seed: int) -> tuple[str, tuple[int, ...]]:
    rng = random.Random(seed)
    rank = rng.choice((1, 2, 2, 2, 3))
    order = rng.sample(range(rank), rank)
    ctas = rng.choice((0, 0, 0, 1)) if rank < 3 else 0
    cga = [[int(d == 0) for d in range(rank)]] * ctas
    blocked = (
        f"#ttg.blocked<{{sizePerThread = {powers(rng.randrange(3), rank, rng)}, "
        f"threadsPerWarp = {powers(rng.choice((2, 3, 5)), rank, rng)}, "
        f"warpsPerCTA = {powers(rng.randrange(3), rank, rng)}, order = {order}"
        f"{f', CGALayout = {cga}' if ctas else ''}}}>"
    )
    kind = rng.choice(("blocked", "slice", "dot", "mma", "mfma", "wmma", "mma_dot", "linear"))
    text = blocked
    mma = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
        f"warpsPerCTA = {powers(rng.randrange(3), 2, rng)}, instrShape = [16, 8]}}>"
    )
    if kind == "slice" and rank > 1:
        text, rank = f"#ttg.slice<{{dim = {rng.randrange(rank)}, parent = {blocked}}}>", rank - 1
    elif kind == "dot" and rank == 2 and not ctas:
        text = f"#ttg.dot_op<{{opIdx = {rng.randrange(2)}, parent = {blocked}}}>"
    elif kind == "mma":
        text, rank = mma, 2
    elif kind == "mma_dot":
        text = f"#ttg.dot_op<{{opIdx = {rng.randrange(2)}, parent = {mma}, kWidth = 2}}>"
        rank = 2
    elif kind == "mfma":
        text, rank = MFMA, 2
    elif kind == "wmma":
        text = (
            "#ttg.amd_wmma<{version = 1, isTranspose = false, "
            "ctaLayout = {warp = [[0, 1], [1, 0]]}}>"
        )
        rank = 2
    elif kind == "linear":
        bits = [[1], [2], [4], [8], [16], [32]]
        rng.shuffle(bits)
        text = f"#ttg.linear<{{register = {bits[:1]}, lane = {bits[1:]}, warp = [], block = []}}>"
        rank = 1
    largest = {1: 200, 2: 40, 3: 12}[rank]
    while True:
        shape = tuple(rng.randint(1, largest) for _ in range(rank))
        if any(size & (size - 1) for size in shape) and not (ctas and shape[0] % 2):
            return text, shape


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(8), *(slow(range(start, start + 250)) for start in range(0, 500, 250))]
)
def test_random_shapes_are_as_the_loops_have_them(seeds: range) -> None:
    for seed in seeds:
        text, shape = random_case(seed)
        compare_with_loops(text, shape)


def test_an_element_with_fewer_holders_has_the_first_one_again() -> None:
    layout = ModularLayout(
        (("register", ()), ("lane", ((1,), (2,), (0,))), ("warp", ()), ("block", ())),
        (("dim0", 3),),
    )
    content = ModularElements(layout, (("register", 1), ("lane", 8), ("warp", 1), ("block", 1)))
    lanes = content.cells(np.arange(3)).locations["lane"]
    assert lanes.tolist() == [[0, 3, 4, 7], [1, 5, 1, 1], [2, 6, 2, 2]]


def test_the_holders_of_an_element_stand_where_the_view_says() -> None:
    bases = tuple((1 << bit,) for bit in range(4))
    layout = ModularLayout((("register", bases), ("lane", bases)), (("dim0", 12),))
    view = tensor_view(BareLayout(layout))
    [piece] = view.pieces()
    text = piece.text.tobytes().decode()
    found = [
        [text[start:end] for start, end in zip(starts, ends) if start < end]
        for starts, ends in zip(piece.starts.tolist(), piece.ends.tolist())
    ]
    assert found == [cell.split("|") for cell in text.strip("[]\n").split(", ")]


def compare_with_loops(text: str, shape: tuple[int, ...]) -> None:
    with npot():
        encoding = parse_layout(text)
        layout = encoding.to_linear_layout(shape)
        assert encoding.format_tensor_view(shape) == tensor_view_by_loops(layout), (text, shape)
        hardware = encoding.format_hardware_view(shape)
    assert hardware == hardware_view_by_loops(layout), (text, shape)
    elements = [element for _, element in elements_by_loops(layout)]
    assert layout.is_surjective() == (len({*elements}) == prod(shape))
    assert layout.is_injective() == (len({*elements}) == len(elements))


def kind_by_loops(before: LinearLayout, after: LinearLayout) -> ConversionKind:
    """Return what a conversion takes, by what each thread has and needs."""
    had, needed = dict(elements_by_loops(before)), dict(elements_by_loops(after))
    if had == needed:
        return ConversionKind.NOTHING
    of_thread: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    of_cta: dict[int, set[tuple[int, ...]]] = {}
    for location, element in had.items():
        of_thread.setdefault(location[:3], set()).add(element)
        of_cta.setdefault(location[0], set()).add(element)
    if all(element in of_thread[at[:3]] for at, element in needed.items()):
        return ConversionKind.REGISTERS
    is_within = all(element in of_cta[at[0]] for at, element in needed.items())
    return ConversionKind.SHARED_MEMORY if is_within else ConversionKind.ACROSS_CTAS


@pytest.mark.parametrize("seeds", [range(6), slow(range(300))])
def test_conversions_are_what_threads_lack(seeds: range) -> None:
    for seed in seeds:
        compare_conversion(random.Random(seed))


def compare_conversion(rng: random.Random) -> None:
    shape = (rng.choice((3, 6, 12, 24, 48)), rng.choice((5, 8, 10)))
    ctas = rng.choice((0, 0, 1)) if not shape[0] % 2 else 0
    even = [axis for axis in range(2) if not shape[axis] % 2]

    def blocked() -> Encoding:
        split = rng.choice(even) if ctas else 0
        cga = f", CGALayout = {[[int(axis == split) for axis in range(2)]]}" if ctas else ""
        return parse_layout(
            f"#ttg.blocked<{{sizePerThread = {powers(1, 2, rng)}, "
            f"threadsPerWarp = {powers(2, 2, rng)}, warpsPerCTA = {powers(1, 2, rng)}, "
            f"order = {rng.choice(([0, 1], [1, 0]))}{cga}}}>"
        )

    with npot():
        before, after = (blocked().to_linear_layout(shape) for _ in range(2))
    assert classify_modular(before, after) is kind_by_loops(before, after)


def test_a_conversion_may_cross_ctas() -> None:
    rows, columns = (
        parse_layout(
            "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], "
            f"order = [1, 0], CGALayout = [{split}]}}>"
        )
        for split in ([1, 0], [0, 1])
    )
    with npot():
        before, after = (layout.to_linear_layout((6, 10)) for layout in (rows, columns))
    assert kind_by_loops(before, after) is ConversionKind.ACROSS_CTAS
    assert classify_modular(before, after) is ConversionKind.ACROSS_CTAS
    assert classify_modular(before, before) is ConversionKind.NOTHING


# -- refusals, commands and dumps --------------------------------------------------------------


def test_without_the_switch_the_refusal_names_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run("-l", BLOCKED, "-t", "tensor<48xf32>")
    assert refused.status == 2
    assert "got [48]; --npot or TRITON_ALLOW_NPOT=1 takes others" in refused.err
    shown = run("-l", BLOCKED, "-t", "tensor<48xf32>", "--npot")
    assert shown.status == 0
    assert "T0:0|T48:0|T64:0|T112:0" in shown.out.replace(" ", "")
    assert run("-l", BLOCKED, "-t", "tensor<48xf32>").status == 2
    monkeypatch.setenv("TRITON_ALLOW_NPOT", "1")
    assert run("-l", BLOCKED, "-t", "tensor<48xf32>").out == shown.out


def test_layouts_of_shared_memory_are_refused() -> None:
    text = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
    with npot(), pytest.raises(LayoutError, match=r"every dimension must be .*, got \[48\]$"):
        parse_layout(text).to_linear_layout((48,))


def test_replicas_and_conversions_in_words(run: Run) -> None:
    numbers = run("info", BLOCKED, "-t", "tensor<48xf32>", "--npot")
    assert "dim0                    48, sum modulo 48 of the bases\n" in numbers.out
    assert "elements                32 in 2 locations, 16 in 4 locations\n" in numbers.out
    other = BLOCKED.replace("[1]", "[4]", 1)
    moved = run("convert", BLOCKED, other, "-t", "tensor<48xf32>", "--npot")
    assert "through shared memory" in moved.out
    assert "at most 256 bytes of shared memory" in moved.out
    same = run("convert", BLOCKED, BLOCKED, "-t", "tensor<48xf32>", "--npot")
    assert "nothing to do" in same.out


DUMP = f"""
#a = {BLOCKED}
#b = {BLOCKED.replace("[1]", "[4]", 1)}
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func @f(%0: tensor<48xf32, #a>, %p: tensor<48x!tt.ptr<f32>, #a>) {{
    %1 = ttg.convert_layout %0 : tensor<48xf32, #a> -> tensor<48xf32, #b>
    tt.store %p, %0 : tensor<48x!tt.ptr<f32>, #a>
    tt.return
  }}
}}
"""


def test_dumps_that_have_such_sizes() -> None:
    [module] = tt_layout.parse_ir(DUMP)
    assert {finding.kinds for finding in audit_module(module).findings} == {("refused",)}
    with npot():
        audit = audit_module(module)
    assert not audit.findings
    assert [(row.kind, row.registers) for row in audit.layouts] == [
        ("blocked", 1),
        ("blocked", 1),
        ("blocked", 4),
    ]
    conversion = next(row for row in audit.movements if "convert" in row.operation.name)
    assert conversion.cost_unknown == "shared memory, at most 256 bytes"


def test_a_kernel_whose_movements_are_not_known_has_no_verdict_on_its_time() -> None:
    added = "    %2 = arith.mulf %0, %0 : tensor<48xf32, #a>\n    tt.store"
    with npot():
        text = str(tt_layout.audit_ir(DUMP.replace("    tt.store", added)))
    assert "no estimate of its time: the cost of 2 data movements is not known" in text
    assert "bound by" not in text
    assert "about" not in text.splitlines()[0]
