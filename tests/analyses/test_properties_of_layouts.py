"""``tt-layout info``: the numbers against brute force over every place of many layouts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from command import BLOCKED, TYPE, Run, runner
from compiler.corpus import rows_of
from tiers import slow
from truth.make_truth import read_rows
from work import calls_of

import tt_layout
from tt_layout import LayoutError, LinearLayout
from tt_layout.algebra.padding import padded, padded_size
from tt_layout.analyses.conversion.conversion import is_permutation
from tt_layout.analyses.global_memory.global_access import global_access
from tt_layout.analyses.layouts.properties import (
    layout_info,
    matrix_labels,
    order_of,
    shared_info,
    tensor_memory_info,
)
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.mlir.types import element_bits

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
MAX_BITS = 14
STEPS = pytest.mark.parametrize("step", [30, slow(1)])
"""Of the stored layouts, every step-th is asked."""

INPUTS = ("register", "lane", "warp", "block")

Stored = tuple[dict[str, Any], Encoding, LinearLayout]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@cache
def stored(kind: str, step: int) -> list[Stored]:
    """Return every ``step``-th layout of a kind among the stored answers and the corpus."""
    rows = [*read_rows(), *rows_of("triton-3.9.0-lit.jsonl")]
    own = {(row["attr"], tuple(row["shape"])): row for row in rows if row["kind"] == kind}
    found = []
    for row in list(own.values())[::step]:
        try:
            encoding = tt_layout.parse_layout(row["attr"], release="3.9")
            found.append((row, encoding, encoding.to_linear_layout(row["shape"])))
        except LayoutError:
            continue
    return found


def small(kind: str, step: int) -> Iterator[Stored]:
    first = {"tensor": "register", "shared": "offset"}[kind]
    for one in stored(kind, step):
        if one[2].get_in_dim_names()[0] == first and one[2].total_in_bits <= MAX_BITS:
            yield one


def places(layout: LinearLayout, *dims: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the flat elements of all places along some inputs, the others at 0."""
    sizes = [np.arange(layout.get_in_dim_size(dim)) for dim in dims]
    grids = np.meshgrid(*sizes, indexing="ij") if dims else [np.zeros(1, np.int64)]
    reached = layout.apply(dict(zip(dims, grids)) if dims else {})
    flat = np.zeros(np.shape(grids[0]), np.int64)
    for (_, size), coordinate in zip(layout.out_sizes, reached.values()):
        flat = flat * size + coordinate
    return flat


def different(layout: LinearLayout, *dims: str) -> int:
    return len(np.unique(places(layout, *dims)))


@pytest.mark.slow
@STEPS
def test_there_are_enough_layouts(step: int) -> None:
    assert sum(1 for _ in small("tensor", step)) > 500 // step
    assert sum(1 for _ in small("shared", step)) > 200 // step


@pytest.mark.slow
@STEPS
def test_copies_by_brute_force(step: int) -> None:
    for _, _, layout in small("tensor", step):
        info = layout_info(layout)
        counts = np.unique(places(layout, *INPUTS), return_counts=True)[1]
        assert set(counts) == {info.locations_per_element}
        for at, dim in enumerate(INPUTS):
            before, after = different(layout, *INPUTS[:at]), different(layout, *INPUTS[: at + 1])
            size = layout.get_in_dim_size(dim)
            assert info.replication[dim] == size * before // after
        assert math.prod(info.replication.values()) == info.locations_per_element


@pytest.mark.slow
@STEPS
def test_counts_by_brute_force(step: int) -> None:
    """Along each dimension, as many as there are different coordinates."""
    for row, _, layout in small("tensor", step):
        info = layout_info(layout, element_bits(row["elem"]))
        assert info.registers == layout.get_in_dim_size("register")
        own = {
            "lane": info.threads_per_warp,
            "warp": info.warps_per_cta,
            "block": info.cta_split,
        }
        for dim, counts in own.items():
            reached = layout.apply({dim: np.arange(layout.get_in_dim_size(dim))})
            found = tuple(len(set(x.tolist())) for x in reached.values())
            vectors = [v for v in layout.vectors(dim) if any(v)]
            if counts is None:
                assert any(sum(map(bool, v)) > 1 for v in vectors)
            elif len(set(vectors)) == len(vectors):
                assert counts == found
        if info.elements_per_thread is not None:
            assert math.prod(info.elements_per_thread) == info.registers
        held = different(layout, "register")
        registers = [v for v in layout.vectors("register") if any(v)]
        if len(set(registers)) == len(registers):
            assert info.unique_registers == held
        bits = element_bits(row["elem"])
        assert info.bytes_per_thread == info.unique_registers * max(1, (bits or 0) // 8)


@pytest.mark.slow
@STEPS
def test_contiguity_by_brute_force(step: int) -> None:
    """Along the fastest dimension, the first registers hold 0, 1, 2, .. and the next not."""
    for _, _, layout in small("tensor", step):
        info = layout_info(layout)
        fastest = info.order[0]
        reached = layout.apply({"register": np.arange(layout.get_in_dim_size("register"))})
        coordinates = np.stack(list(reached.values()), axis=-1)
        expected = np.zeros_like(coordinates)
        expected[:, fastest] = np.arange(len(coordinates))
        same = (coordinates == expected).all(axis=1)
        length = len(same) if same.all() else int(same.argmin())
        assert info.contiguity_per_thread[fastest] == 1 << length.bit_length() - 1
        for thread, warp in zip(info.contiguity_per_thread, info.contiguity_per_warp):
            assert warp % thread == 0


@STEPS
def test_order_by_brute_force(step: int) -> None:
    """The dimension that the lowest register bits move in comes first."""
    for _, _, layout in small("tensor", step):
        info = layout_info(layout)
        for dim, order in zip(INPUTS, (info.order, info.thread_order, info.warp_order)):
            assert sorted(order) == list(range(layout.num_out_dims))
            point = np.arange(layout.get_in_dim_size(dim))
            moved = [np.flatnonzero(x) for x in layout.apply({dim: point}).values()]
            first = [int(where[0]) if len(where) else None for where in moved]
            found = [place for d in order if (place := first[d]) is not None]
            assert found == sorted(found)


def test_order_without_registers_is_the_last_dimension_first() -> None:
    layout = LinearLayout.from_bases([("lane", [[1, 0, 0]])], ["dim0", "dim1", "dim2"])
    assert order_of(layout) == (2, 1, 0)
    assert order_of(layout, "lane") == (0, 2, 1)
    assert order_of(layout, "warp", (1, 0, 2)) == (1, 0, 2)


@STEPS
def test_blocked_says_what_it_was_given(step: int) -> None:
    """Of a tensor of several tiles, the generalised numbers are the attribute's own."""
    checked = 0
    for _, encoding, _ in stored("tensor", step):
        if not isinstance(encoding, Blocked) or encoding.cga:
            continue
        lists = encoding.size_per_thread, encoding.threads_per_warp, encoding.warps_per_cta
        tile = [math.prod(sizes) for sizes in zip(*lists)]
        info = layout_info(encoding.to_linear_layout(tile))
        assert (info.threads_per_warp, info.warps_per_cta) == lists[1:]
        if tile != list(encoding.size_per_thread):
            assert info.elements_per_thread == encoding.size_per_thread
        doubled = layout_info(encoding.to_linear_layout([2 * size for size in tile]))
        # Registers that reach the end of a dimension by themselves look like repeats.
        if all(size == 1 or size < whole for size, whole in zip(lists[0], tile)):
            assert doubled.size_per_thread == encoding.size_per_thread
        order = [d for d in encoding.order if encoding.size_per_thread[d] > 1]
        assert [d for d in info.order if encoding.size_per_thread[d] > 1] == order
        checked += 1
    assert checked >= 30 // step


# -- global memory --------------------------------------------------------------------------


@STEPS
def test_transactions_by_brute_force(step: int) -> None:
    """Count the sectors and lines of each instruction of each warp."""
    for at, (row, _, layout) in enumerate(small("tensor", step)):
        bits = element_bits(row["elem"])
        if bits is None or not is_permutation(layout):
            continue
        rank = layout.num_out_dims
        order = list(range(rank)) if at % 2 else list(reversed(range(rank)))
        access = global_access(layout, bits, order)
        own = layout.remove_zero_bases("register")
        addresses = memory_addresses(own, order) * max(1, bits // 8)
        assert access.instructions * access.vector == own.get_in_dim_size("register")
        for warp, first in product(range(addresses.shape[2])[:2], range(access.instructions)[:4]):
            moved = addresses[first * access.vector :][: access.vector, :, warp]
            assert len(np.unique(moved // 32)) == access.sectors
            assert len(np.unique(moved // 128)) == access.lines
            assert len(np.unique(moved)) * max(1, bits // 8) == access.useful_bytes
            assert (np.diff(moved, axis=0) == max(1, bits // 8)).all(), "one vector per thread"
        assert access.ideal_sectors <= access.sectors
        assert 0 < access.efficiency <= 1


def memory_addresses(layout: LinearLayout, order: Sequence[int]) -> Any:
    """Return the element's place in memory for all registers, lanes and warps."""
    sizes = [np.arange(layout.get_in_dim_size(dim)) for dim in INPUTS[:3]]
    grids = np.meshgrid(*sizes, indexing="ij")
    coordinates = list(layout.apply(dict(zip(INPUTS, grids))).values())
    place, stride = np.zeros_like(grids[0]), 1
    for d in order:
        place = place + coordinates[d] * stride
        stride *= layout.out_sizes[d][1]
    return place


def test_a_column_of_threads_wastes_sectors() -> None:
    layout = tt_layout.parse_layout(ROWS).to_linear_layout([64, 64])
    access = global_access(layout, 16, [0, 1])
    assert (access.vector, access.instructions) == (1, 32)
    assert (access.sectors, access.ideal_sectors) == (8, 2)
    assert access.efficiency == 0.25


# -- memory ---------------------------------------------------------------------------------


@pytest.mark.slow
@STEPS
def test_padding_by_brute_force(step: int) -> None:
    for row, encoding, layout in small("shared", step):
        assert isinstance(encoding, SharedEncoding)
        size = layout.get_in_dim_size("offset")
        info = shared_info(layout, element_bits(row["elem"]), padding=encoding.padding)
        last = max(padded(offset, encoding.padding) for offset in range(size))
        assert info.padded_elements == last + 1
        assert padded_size(3 * size, encoding.padding) == (
            padded(3 * size - 1, encoding.padding) + 1
        )
        bits = element_bits(row["elem"]) or 0
        assert info.bytes == (last + 1) * max(1, bits // 8)
        used = different(layout, "offset")
        assert size // used >= 1
        if len(set(layout.vectors("offset"))) == len(layout.vectors("offset")):
            assert info.unused == size // used


SWIZZLES = [
    SwizzledShared(vec=vec, per_phase=per_phase, max_phase=max_phase, order=order)
    for vec, per_phase, max_phase in product((1, 4, 8), (1, 2), (1, 2, 8, 16))
    for order in ((0, 1), (1, 0))
]


@pytest.mark.parametrize("shape", [(8, 64), (32, 16)])
def test_phases_by_brute_force(shape: tuple[int, int]) -> None:
    """The phases told are those of the formula, row by row."""
    for encoding in SWIZZLES:
        check_phases(encoding, shape)


def check_phases(encoding: SwizzledShared, shape: tuple[int, int]) -> None:
    layout = encoding.to_linear_layout(shape)
    column, row = encoding.order
    columns, rows = shape[column], shape[row]
    info = shared_info(layout)
    xors = [
        encoding.vec * (r // encoding.per_phase % encoding.max_phase) % columns for r in range(rows)
    ]
    if not any(xors):
        assert info.phases == ()
        return
    assert (info.row_dim, info.column_dim) == (row, column)
    told = [p.xor for p in info.phases for _ in range(p.rows[0], p.rows[1] + 1)]
    assert [told[r % len(told)] for r in range(rows)] == xors


@pytest.mark.slow
@STEPS
def test_tensor_memory_by_brute_force(step: int) -> None:
    for row, _, layout in stored("tmem", step):
        info = tensor_memory_info(layout, element_bits(row["elem"]))
        assert (info.rows, info.columns) == tuple(map(layout.get_in_dim_size, ("row", "col")))
        assert info.used_rows == different(layout, "row")
        assert info.words is not None
        assert info.words * 32 >= info.columns * (element_bits(row["elem"]) or 0)


def test_matrix_is_labelled_by_bits() -> None:
    layout = tt_layout.parse_layout(ROWS).to_linear_layout([64, 64])
    rows, columns = matrix_labels(layout)
    matrix = layout.get_matrix_view()
    assert (len(matrix), len(matrix[0])) == (len(rows), len(columns))
    for at, label in enumerate(columns):
        dim, bit = label.split(":")
        reached = layout.apply({dim: 1 << int(bit)})
        told = [f"{name}:{b}" for name, x in reached.items() for b in range(6) if x >> b & 1]
        assert [row for row, values in zip(rows, matrix) if values[at]] == told


# -- the command ----------------------------------------------------------------------------


def test_text_of_registers(run: Run) -> None:
    out = run("info", ROWS, "-t", "tensor<64x64xf16>").out
    for line in (
        "elements per thread     32 (64 bytes)",
        "size per thread         [1, 4]",
        "contiguity per warp     [4, 32]",
        "replication             none",
        "  vector                4 elements, 8 bytes",
        "  each of them          8 sectors of 32 bytes in 4 lines of 128; at least 8 sectors;",
        "  lane bit 3            (1, 0)",
        "        0 1 2 3 4  0 1 2 3 4  0 1",
        "dim1:5  . . 1 . .  . . . . .  . .",
    ):
        assert f"\n{line}" in out
    out = run("info", BLOCKED, "-t", "tensor<2x2xf16>").out
    assert "lanes x 2, warps x 2; 4 locations per element" in out
    out = run("info", ROWS, "-t", "tensor<64x64xf16>", "--memory-order", "0,1").out
    assert "25% of the bytes used" in out


def test_text_of_memory(run: Run) -> None:
    swizzled = "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>"
    out = run("info", swizzled, "-t", "!ttg.memdesc<3x64x32xf16>").out
    assert "size per CTA            12288 bytes (6144 elements)" in out
    assert "buffers               3 of 2048 elements each" in out
    assert "rows 2 to 3: columns ^ 4\n" in out
    padded = "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [4, 32]}>"
    out = run("info", padded, "-t", "!ttg.memdesc<4x32xf16>").out
    assert "280 bytes (140 elements)" in out
    assert "4 after every 32 elements" in out
    nvmma = (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
    )
    out = run("info", nvmma, "-t", "!ttg.memdesc<64x64xf16>").out
    assert "alignment               1024 bytes" in out
    assert "row 7: columns ^ 56\n" in out
    tensor = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>"
    out = run("info", tensor, "-t", "!ttg.memdesc<128x32xf32>").out
    assert "reserved                16384 bytes" in out


@pytest.mark.parametrize(
    ("attr", "type_", "memory"),
    [
        (ROWS, "tensor<64x64xf16>", "registers"),
        (ROWS, "tensor<64x64xindex>", "registers"),
        (
            "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [4, 32]}>",
            "!ttg.memdesc<4x32xf16>",
            "shared memory",
        ),
    ],
)
def test_json(run: Run, attr: str, type_: str, memory: str) -> None:
    said = json.loads(run("info", attr, "-t", type_, "--format", "json").out)
    assert said["memory"] == memory
    assert len(said["matrix"]["values"]) == len(said["matrix"]["rows"])
    if memory == "registers":
        assert said["registers"] == 32
        assert (said["global_access"] is None) == ("index" in type_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, "-t", "tensor<64xf16>"), "is for 2 dimensions"),
        ((ROWS, "-t", "tensor<64x64>"), "expected"),
        ((ROWS.replace("order = [1, 0]", "order = [1, 1]"), "-t", TYPE), "permutation"),
        ((ROWS, "-t", TYPE, "--memory-order", "1"), "memory order must be a permutation of 0..1"),
        ((ROWS, "-t", TYPE, "--memory-order", "one"), "--memory-order takes numbers"),
        (("rows", "-t", TYPE), "must be an attribute"),
        ((ROWS, "-t", "!ttg.memdesc<4x4xf16>"), "is for tensors in registers"),
        ((ROWS, "-t", TYPE, "--triton", "1.0"), "unknown Triton release"),
    ],
)
def test_bad_input(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run("info", *arguments)
    assert result.status == 2
    assert result.out == ""
    assert message in result.err


def test_bad_attribute_is_pointed_at(run: Run) -> None:
    result = run("info", ROWS.replace("order = [1, 0]", "order = [1, 1]"), "-t", TYPE)
    assert result.err.splitlines()[-1].strip() == "^^^^^^"


def test_cost_does_not_grow_with_the_tensor() -> None:
    encoding = tt_layout.parse_layout(ROWS)
    layout = encoding.to_linear_layout([1 << 28, 1 << 28])
    small = encoding.to_linear_layout([1 << 12, 1 << 12])
    calls = [
        calls_of(lambda: (layout_info(own, 16), global_access(own, 16)))  # noqa: B023
        for own in (small, layout)
    ]
    assert calls[1] < 3 * calls[0], "the bits grow from 24 to 56, the elements by 2^32"
    info, access = layout_info(layout, 16), global_access(layout, 16)
    assert info.registers == 1 << 49
    assert access.sectors == 8
    assert order_of(layout) == (1, 0)
