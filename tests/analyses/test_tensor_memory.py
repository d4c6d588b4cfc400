"""Messages of tensor memory: by hand, and in the audit of a dump."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner

import tt_layout
from tt_layout import LayoutError, LinearLayout
from tt_layout.analyses.tensor_memory.access import (
    Message,
    TensorMemoryCopy,
    scales_copy,
    tensor_memory_access,
    tensor_memory_copy,
)
from tt_layout.analyses.tensor_memory.registers import RegisterLayout, register_layouts
from tt_layout.audit.audit import audit_module

ROWS = "#ttg.blocked<{sizePerThread = [1, N], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], \
order = [0, 1]}>"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def memory(rows: int, columns: int, bits: int, stride: int = 1) -> LinearLayout:
    text = f"blockM = {rows}, blockN = {columns}, colStride = {stride}"
    encoding = tt_layout.parse_layout(f"#ttng.tensor_memory_encoding<{text}>")
    return encoding.to_linear_layout([rows, columns], element_bits=bits)


def rows_of(columns: int) -> LinearLayout:
    text = ROWS.replace("N", str(columns))
    return tt_layout.parse_layout(text).to_linear_layout([128, columns])


def linear(shape: list[int], **bases: list[list[int]]) -> LinearLayout:
    pairs = [(name, bases.get(name, [])) for name in ("register", "lane", "warp", "block")]
    return LinearLayout.from_bases(pairs, ["dim0", "dim1"], shape, require_surjective=False)


def load(held: LinearLayout, where: LinearLayout, bits: int, **more: int) -> Message:
    return tensor_memory_access(held, where, bits, is_store=False, **more)


SWAPPED = [(8, 0), (0, 1), (0, 4), (0, 8)]
LANES_BY_COLUMN = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]]
WARPS = [[32, 0], [64, 0]]

SHAPES = {
    "32x32b.x16": linear(
        [128, 16],
        register=[[0, 1], [0, 2], [0, 4], [0, 8]],
        lane=[[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]],
        warp=WARPS,
    ),
    "16x64b.x8": linear(
        [128, 16],
        register=[[16, 0], [0, 2], [0, 4], [0, 8]],
        lane=[[8, 0], [0, 1], [1, 0], [2, 0], [4, 0]],
        warp=WARPS,
    ),
    "16x128b.x4": linear(
        [128, 16],
        register=[[0, 4], [8, 0], [0, 8], [16, 0]],
        lane=LANES_BY_COLUMN,
        warp=WARPS,
    ),
    "16x256b.x2": linear(
        [128, 16],
        register=[[0, 1], [8, 0], [0, 8], [16, 0]],
        lane=[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
        warp=WARPS,
    ),
    "16x32bx2.x8": linear(
        [128, 16],
        register=[[0, 1], [0, 2], [0, 4], [16, 0]],
        lane=[[1, 0], [2, 0], [4, 0], [8, 0], [0, 8]],
        warp=WARPS,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shape: str) -> None:
    found = load(SHAPES[shape], memory(128, 16, 32), 32)
    assert found.name == f"tcgen05.ld.sync.aligned.{shape}.b32"
    assert found.messages == (1 if shape.startswith("32") else 2)
    assert found.messages * found.registers == 16
    assert found.half_offset == (8 if "bx2" in shape else None)
    stored = tensor_memory_access(SHAPES[shape], memory(128, 16, 32), 32, is_store=True)
    assert stored.name == f"tcgen05.st.sync.aligned.{shape}.b32"


def test_messages_that_do_not_fit_one_offset() -> None:
    assert load(rows_of(256), memory(128, 256, 32), 32).offsets == tuple(
        (0, column) for column in (0, 64, 128, 192)
    )


@pytest.mark.parametrize(
    ("limit", "expected"), [(256, [1, 128]), (128, [2, 64]), (80, [4, 32]), (24, [16, 8])]
)
def test_half_of_the_registers_of_a_thread_hold_one_message(
    limit: int, expected: list[int]
) -> None:
    found = load(rows_of(128), memory(128, 128, 32), 32, max_registers=limit)
    assert [found.messages, found.registers] == expected


@pytest.mark.parametrize(
    ("bits", "stride", "expected"),
    [
        (16, 1, "tcgen05.ld.sync.aligned.32x32b.x32.b32"),
        (16, 2, "tcgen05.ld.sync.aligned.32x32b.x32.pack::16b.b32"),
        (8, 1, "tcgen05.ld.sync.aligned.32x32b.x16.b32"),
        (8, 4, "tcgen05.ld.sync.aligned.32x32b.x64.b32"),
    ],
)
def test_packing(bits: int, stride: int, expected: str) -> None:
    assert load(rows_of(64), memory(128, 64, bits, stride), bits).name == expected


def test_registers_that_repeat_an_element_are_not_moved() -> None:
    held = rows_of(16)
    copies = held.with_vectors("register", (*held.vectors("register"), (0, 0)))
    assert load(copies, memory(128, 16, 32), 32) == load(held, memory(128, 16, 32), 32)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (SHAPES["16x64b.x8"].with_vectors("register", SWAPPED), "no message"),
        (rows_of(16).with_vectors("warp", [(64, 0), (32, 0)]), "rows 32 and 64"),
        (rows_of(16).with_vectors("warp", [(32, 0)]), "reached by 4 warps together"),
        (rows_of(16).with_vectors("block", [(32, 0)]), "the same CGALayout"),
    ],
)
def test_what_no_message_moves(held: LinearLayout, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        load(held, memory(128, 16, 32), 32)


def test_elements_that_are_not_neighbours_are_refused() -> None:
    with pytest.raises(LayoutError, match="elements of 8 bits must be neighbours"):
        load(SHAPES["16x128b.x4"], memory(128, 16, 8), 8)
    with pytest.raises(LayoutError, match="elements of 64 bits"):
        load(rows_of(16), memory(128, 16, 32), 64)


def test_copies_of_scales() -> None:
    shapes = {(128, 16): 4, (2, 512 * 3): 6, (2, 3, 32, 16): 6, (1, 2, 3, 2, 256): 6, (8, 16): 1}
    for shape, count in shapes.items():
        copy = scales_copy(shape, 8)
        assert (copy.instructions, copy.name()) == (count, "tcgen05.cp.cta_group::1.warpx4.32x128b")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (7, TensorMemoryCopy(rows=128, column_bits=256, multicast="", instructions=2)),
        (6, TensorMemoryCopy(rows=64, column_bits=128, multicast=".warpx2::01_23", instructions=4)),
        (5, TensorMemoryCopy(rows=32, column_bits=128, multicast=".warpx4", instructions=4)),
    ],
)
def test_copies_of_rows_that_repeat(rows: int, expected: TensorMemoryCopy) -> None:
    held = [[1 << k, 0] if k < rows else [0, 0] for k in range(7)]
    where = linear([128, 16])
    bases = [("row", held), ("col", [[0, 1 << k] for k in range(4)])]
    where = LinearLayout.from_bases(bases, ["dim0", "dim1"], [1 << rows, 16])
    flat = [[1 << k, 0] for k in range(rows)] + [[0, 1 << k] for k in range(4)]
    shared = LinearLayout.from_bases([("offset", flat)], ["dim0", "dim1"])
    assert tensor_memory_copy(where, shared, 32) == expected


DUMP = """
#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1],
                      order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [64, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2],
                         order = [1, 0]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32, ttg.maxnreg = 200 : i32, ttg.target = "cuda:100"} {
  tt.func @f(%v: TENSOR<#rows>, %p: i1) {
    %m = ttng.tmem_alloc : () -> MEMORY
    ttng.tmem_store %v, %m, %p : TENSOR<#rows> -> MEMORY
    %a, %r = ttng.tmem_load %m {redOp = #ttng.redOp<max>, NaN = true} : MEMORY -> TENSOR<#rows>
    %b = ttng.tmem_load %m : MEMORY -> TENSOR<#columns>
    ttg.warp_specialize(%m) attributes {actualRegisters = array<i32: 256, 48>}
    default {
      ttg.warp_yield
    }
    partition0(%arg: MEMORY) num_warps(4) {
      %c = ttng.tmem_load %arg : MEMORY -> TENSOR<#rows>
      ttg.warp_return
    } : (MEMORY) -> ()
    tt.return
  }
}
""".replace("MEMORY", "!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>").replace(
    "TENSOR<", "tensor<128x64xf32, "
)


def test_the_audit_of_a_dump(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dump.mlir").write_text(DUMP)
    outcome = run("audit", str(tmp_path / "dump.mlir"), "--format", "json")
    assert outcome.status == 0
    [module] = json.loads(outcome.out)["modules"]
    costs = [move["cost"] for move in module["data_movements"]]
    assert [cost["text"] if cost else None for cost in costs] == [
        "64 columns",
        "1 x tcgen05.st.sync.aligned.32x32b.x64.b32, 64 registers",
        "1 x tcgen05.ld.red.sync.aligned.32x32b.x64.max.NaN.f32, 64 registers",
        None,
        "4 x tcgen05.ld.sync.aligned.32x32b.x16.b32, 64 registers",
    ]
    assert (costs[1]["instructions"], costs[1]["registers"]) == (1, 64)
    [finding] = module["findings"]
    assert finding["line"] == 12
    assert "warp bits 0 and 1 must hold rows 32 and 64" in finding["message"]


COPY = """
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @f(%s: SHARED, %m: MEMORY, %b: BARRIER) {
    ttng.tmem_copy %s, %mBARRIERS
    tt.return
  }
}
"""


def test_a_copy_that_is_cut_off_has_no_cost() -> None:
    shared = "!ttg.memdesc<128x64xf32, #shared, #ttg.shared_memory, mutable>"
    dump = COPY.replace("(%s: SHARED, %m: MEMORY, %b: BARRIER)", f"(%s: {shared})")
    for told in (f"ttng.tmem_copy %s : {shared}", f"ttng.tmem_copy %s, %gone : {shared}"):
        [module] = tt_layout.parse_ir(dump.replace("ttng.tmem_copy %s, %mBARRIERS", told))
        [row] = audit_module(module).movements
        assert row.cost is None


@pytest.mark.parametrize("text", [" : SHARED, MEMORY", ", %b : SHARED, MEMORY, BARRIER"])
def test_copies_are_from_the_first_memory_to_the_second(text: str) -> None:
    dump = COPY.replace("BARRIERS", text)
    for name, kind in (
        ("SHARED", "128x64xf32, #shared, #ttg.shared_memory"),
        ("MEMORY", "128x64xf32, #tmem, #ttng.tensor_memory"),
        ("BARRIER", "1xi64, #bar, #ttg.shared_memory"),
    ):
        dump = dump.replace(name, f"!ttg.memdesc<{kind}, mutable>")
    [module] = tt_layout.parse_ir(dump)
    [row] = audit_module(module).movements
    assert row.operation.source is not None
    assert row.operation.target is not None
    ends = row.operation.source.layout, row.operation.target.layout
    assert ends == ("#shared", "#tmem")
    assert row.cost is not None
    assert row.cost.text == "8 x tcgen05.cp.cta_group::1.128x256b per CTA"


def layouts_of(rows: int, columns: int, warps: int) -> dict[str, RegisterLayout]:
    attr = f"#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = 1>"
    memory = tt_layout.parse_layout(attr).to_linear_layout([rows, columns])
    return {found.variant: found for found in register_layouts(memory, 32, warps)}


def test_register_layouts_of_four_warps() -> None:
    found = layouts_of(128, 64, 4)
    assert list(found) == ["32x32b", "16x64b", "16x128b", "16x256b"]
    assert found["32x32b"].layout.vectors("lane") == ((1, 0), (2, 0), (4, 0), (8, 0), (16, 0))
    assert {one.registers for one in found.values()} == {64}


def test_register_layouts_of_eight_warps() -> None:
    found = layouts_of(128, 64, 8)
    assert found["32x32b_splitn"].layout.vectors("register")[-1] == (0, 32)
    assert found["32x32b_splitn"].message.messages == 2
    assert found["split_m"].layout.vectors("warp") == ((32, 0), (64, 0), (16, 0))
    assert found["split_m"].message.shape == "16x32bx2"
    assert found["16x64b"].layout.vectors("warp") == ((32, 0), (64, 0), (16, 0))


def test_half_of_the_rows_are_loaded_in_two_halves() -> None:
    assert layouts_of(64, 32, 4)["32x32b"].message.shape == "16x32bx2"


def test_suggestions_that_cannot_be_made(run: Run) -> None:
    memory = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>"
    shared = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
    for arguments, message in (
        ([memory, "-t", "tensor<128x64xf32>", "--num-warps", "2"], "at least 4, got 2"),
        ([shared, "-t", "tensor<8xf32>"], "expected a layout of tensor memory"),
        ([memory, "-t", "tensor<8x8xf32>"], "must hold at least blockM = 128 rows"),
    ):
        outcome = run("suggest", "tmem", *arguments)
        assert outcome.status == 2
        assert message in outcome.err
