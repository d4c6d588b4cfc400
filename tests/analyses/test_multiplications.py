"""Matrix instructions and descriptors: by hand, and in the audit of a dump."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from small_modules import NVMMA

from tt_layout import LayoutError, LinearLayout, parse_layout
from tt_layout.analyses.multiplications.matrix_instructions import (
    Descriptor,
    MatrixInstruction,
    Operand,
    Scaling,
    matrix_descriptor,
    matrix_instruction,
    scaled_dot,
    scaled_matrix_instruction,
)

AMPERE = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], \
instrShape = [16, 8]}>"
TURING = AMPERE.replace("versionMinor = 0", "versionMinor = 1")
HOPPER = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], \
instrShape = [16, 64, 16]}>"
MFMA = "#ttg.amd_mfma<{version = V, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], \
isTransposed = true}>"
WMMA = "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}, \
instrShape = [16, 16, 16]}>"
TENSOR_MEMORY = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>"
SHARED = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def product(result: str, width: int, elements: tuple[str, str, str]) -> MatrixInstruction:
    """Return the instructions of 128 x 128 x 64 with operands in registers."""
    a, b = (f"#ttg.dot_op<{{opIdx = {i}, parent = {result}, kWidth = {width}}}>" for i in (0, 1))
    shapes = [(128, 64), (64, 128), (128, 128)]
    operands = [
        Operand(parse_layout(attr), shape, element)
        for attr, shape, element in zip((a, b, result), shapes, elements)
    ]
    return matrix_instruction(*operands)


@pytest.mark.parametrize(
    ("result", "width", "elements", "name", "instructions"),
    [
        (AMPERE, 2, ("f16", "f16", "f32"), "m16n8k16.row.col.f32.f16.f16.f32", 128),
        (AMPERE, 4, ("i8", "i8", "i32"), "m16n8k32.row.col.satfinite.s32.s8.s8.s32", 64),
        (AMPERE, 1, ("f32", "f32", "f32"), "m16n8k8.row.col.f32.tf32.tf32.f32", 256),
        (TURING, 2, ("f16", "f16", "f32"), "m16n8k8.row.col.f32.f16.f16.f32", 256),
        (TURING, 4, ("i8", "i8", "i32"), "m8n8k16.row.col.satfinite.s32.s8.s8.s32", 256),
    ],
)
def test_mma_sync(
    result: str, width: int, elements: tuple[str, str, str], name: str, instructions: int
) -> None:
    found = product(result, width, elements)
    assert (found.name, found.instructions) == (f"mma.sync.aligned.{name}", instructions)
    assert found.issuer == "warp"
    m, n, k = found.shape
    assert m * n * k * instructions * 4 == 128 * 128 * 64


@pytest.mark.parametrize(
    ("version", "width", "element", "name", "instructions"),
    [
        (2, 4, "f16", "v_mfma_f32_32x32x8f16", 32),
        (2, 4, "bf16", "v_mfma_f32_32x32x8bf16_1k", 32),
        (3, 4, "f16", "v_mfma_f32_32x32x8_f16", 32),
        (3, 8, "bf16", "v_mfma_f32_32x32x8_bf16", 32),
    ],
)
def test_mfma(version: int, width: int, element: str, name: str, instructions: int) -> None:
    found = product(MFMA.replace("V", str(version)), width, (element, element, "f32"))
    assert (found.name, found.instructions) == (name, instructions)


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ("32, 32, 4", "v_mfma_f32_32x32x4_xf32"),
        ("16, 16, 8", "v_mfma_f32_16x16x8_xf32"),
        ("32, 32, 2", "v_mfma_f32_32x32x2_f32"),
    ],
)
def test_mfma_of_tf32_is_that_with_twice_as_much_of_k(shape: str, name: str) -> None:
    mma = MFMA.replace("V", "3").replace("32, 32, 8", shape)
    assert product(mma, 2, ("f32", "f32", "f32")).name == name


def test_wmma() -> None:
    found = product(WMMA, 8, ("f16", "f16", "f32"))
    assert (found.name, found.instructions) == ("v_wmma_f32_16x16x16_f16", 64)


def test_warp_groups() -> None:
    """Two groups of four warps share 128 rows."""
    a, b = Operand(parse_layout(SHARED), (128, 64), "f16"), parse_layout(SHARED)
    right = Operand(b, (64, 128), "f16")
    hopper = matrix_instruction(a, right, Operand(parse_layout(HOPPER), (128, 128), "f32"))
    assert hopper == MatrixInstruction(
        name="wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",
        shape=(64, 64, 16),
        instructions=8,
        issuer="warp group",
    )
    left, right = (each._replace(element="i8") for each in (a, right))
    integers = Operand(parse_layout(HOPPER.replace("64, 16]", "64, 32]")), (128, 128), "i32")
    found = matrix_instruction(left, right, integers)
    assert (found.name, found.instructions) == (
        "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8",
        4,
    )


def test_tensor_memory_is_multiplied_by_one_thread() -> None:
    a = Operand(parse_layout(SHARED), (128, 64), "f16")
    right = Operand(parse_layout(SHARED), (64, 128), "f16")
    memory = Operand(parse_layout(TENSOR_MEMORY), (128, 128), "f32")
    blackwell = matrix_instruction(a, right, memory, ctas=2)
    assert (blackwell.name, blackwell.instructions, blackwell.issuer) == (
        "tcgen05.mma.cta_group::2.kind::f16",
        8,
        "CTA",
    )
    wide = a._replace(element="f64"), right._replace(element="f64")
    with pytest.raises(LayoutError, match="no instruction multiplies f64 by f64 to f32"):
        matrix_instruction(*wide, memory)


@pytest.mark.parametrize(
    ("formats", "scale", "scales", "is_transposed", "kind", "instructions"),
    [
        (("e4m3", "e5m2"), "i8", 4, False, "mxf8f6f4.block_scale.block32", 8),
        (("e2m1", "e4m3"), "i8", 4, False, "mxf8f6f4.block_scale.block32", 8),
        (("e2m1", "e2m1"), "i8", 4, False, "mxf4.block_scale.block32", 4),
        (("e2m1", "e2m1"), "i8", 4, True, "mxf8f6f4.block_scale.block32", 8),
        (("e2m1", "e2m1"), "f8E4M3FN", 8, False, "mxf4nvf4.block_scale.block16", 4),
    ],
)
def test_scaled(
    formats: tuple[str, str],
    scale: str,
    scales: int,
    is_transposed: bool,
    kind: str,
    instructions: int,
) -> None:
    memory: Any = parse_layout(TENSOR_MEMORY)
    found = scaled_matrix_instruction(
        Operand(memory, (128, 128), "f32"),
        memory,
        formats=formats,
        scale=scale,
        scales_along_k=scales,
        depth=128,
        ctas=1,
        is_transposed=is_transposed,
    )
    assert found.name == f"tcgen05.mma.cta_group::1.kind::{kind}"
    assert found.instructions == instructions


TWO_WARPS = {
    "mma": AMPERE.replace("[2, 2]", "[1, 2]"),
    "mfma": MFMA.replace("V,", "4,")
    .replace("[2, 2]", "[1, 2]")
    .replace("32, 32, 8", "16, 16, 128"),
    "wmma": "#ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {warp = [[0, 1]]}, "
    "instrShape = [16, 16, 128]}>",
    "wide": "#ttg.amd_wmma<{version = 3, isTranspose = false, ctaLayout = {warp = [[0, 1]]}, "
    "instrShape = [32, 16, 128]}>",
}
BLOCKS = "block_scale.scale_vec::"


@pytest.mark.parametrize(
    ("layout", "scaling", "name", "instructions"),
    [
        ("mfma", Scaling(("e4m3", "e2m1"), "i8"), "v_mfma_scale_f32_16x16x128_f8f6f4", 4),
        ("mfma", Scaling(("e4m3", "e4m3")), "v_mfma_f32_16x16x128_f8f6f4", 4),
        ("wmma", Scaling(("e2m1", "e2m1"), "i8"), "v_wmma_scale_f32_16x16x128_f8f6f4", 4),
        ("wmma", Scaling(("e2m1", "e2m1"), "i8", 16), "v_wmma_scale16_f32_16x16x128_f8f6f4", 4),
        ("wide", Scaling(("e2m1", "e2m1"), "i8"), "v_wmma_scale_f32_32x16x128_f4", 2),
        ("mma", Scaling(("e4m3", "e4m3"), "i8"),
         f"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.{BLOCKS}1X.f32.e4m3.e4m3.f32.ue8m0",
         32),
        ("mma", Scaling(("e2m1", "e2m1"), "i8"),
         f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.{BLOCKS}2X.f32.e2m1.e2m1.f32.ue8m0",
         16),
        ("mma", Scaling(("e2m1", "e2m1"), "f8E4M3FN", 16),
         f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.{BLOCKS}4X.f32.e2m1.e2m1.f32.ue4m3",
         16),
    ],
)  # fmt: skip
def test_scales_in_registers(layout: str, scaling: Scaling, name: str, instructions: int) -> None:
    """In blocks of 32, but of 32x16x128, they are as in the assembly of Triton 3.9.0."""
    found = scaled_dot(Operand(parse_layout(TWO_WARPS[layout]), (32, 32), "f32"), scaling, 256)
    assert (found.name, found.instructions) == (name, instructions)


def test_layouts_without_instructions_that_take_scales() -> None:
    for text in (HOPPER, WMMA):
        with pytest.raises(LayoutError, match="multiplies with scales"):
            scaled_dot(Operand(parse_layout(text), (32, 32), "f32"), Scaling(("e4m3",) * 2), 256)


def test_types_that_no_instruction_multiplies() -> None:
    with pytest.raises(LayoutError, match="no instruction multiplies i64 by i64 to i64"):
        product(AMPERE, 2, ("i64", "i64", "i64"))
    blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = \
[4, 1], order = [1, 0]}>"
    with pytest.raises(LayoutError, match="not the result of a matrix instruction"):
        product(blocked, 0, ("f16", "f16", "f32"))


def test_a_layout_that_breaks_a_rule_has_no_instruction() -> None:
    with pytest.raises(LayoutError, match="warpsPerCTA must be a power of two"):
        product(AMPERE.replace("[2, 2]", "[0, 2]"), 2, ("f16", "f16", "f32"))


@pytest.mark.parametrize(
    ("result", "shape", "message"),
    [
        (MFMA.replace("V", "3"), "[32, 32, 1]", "only 1 of K"),
        (MFMA.replace("V", "3"), "[32, 32, 0]", "no instruction has the shape 32x32x0"),
    ],
)
def test_an_instruction_without_k_is_none(result: str, shape: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        product(
            re.sub(r"instrShape = \[[^]]*\]", f"instrShape = {shape}", result),
            2,
            ("f16", "f16", "f32"),
        )


def test_a_warp_group_without_k_multiplies_nothing() -> None:
    shared = Operand(parse_layout(SHARED), (64, 64), "f16")
    result = Operand(parse_layout(HOPPER.replace("64, 16]", "64, 0]")), (64, 64), "f32")
    with pytest.raises(LayoutError, match="no instruction has the shape 16x64x0"):
        matrix_instruction(shared, shared, result)


def described(attr: str, shape: tuple[int, int], tile: tuple[int, int], dim: int) -> Descriptor:
    shared = parse_layout(attr).to_linear_layout(shape, element_bits=16)
    return matrix_descriptor(shared, 16, tile, outer_dim=dim)


def test_descriptors() -> None:
    """Eight rows of the swizzle follow each other across; another box follows along."""
    narrow = SHARED.replace("= 128", "= 32")
    assert described(SHARED, (128, 64), (128, 16), 0) == Descriptor(
        swizzle_bytes=128, leading_bytes=0, stride_bytes=1024, transposed=False
    )
    assert described(narrow, (64, 64), (16, 64), 1) == Descriptor(
        swizzle_bytes=32, leading_bytes=2048, stride_bytes=256, transposed=False
    )
    transposed = SHARED.replace("false", "true")
    assert described(transposed, (128, 64), (128, 16), 0) == Descriptor(
        swizzle_bytes=128, leading_bytes=8192, stride_bytes=1024, transposed=True
    )


def test_layouts_that_no_descriptor_expresses() -> None:
    plain = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    with pytest.raises(LayoutError, match="must begin with 8 rows"):
        described(plain, (128, 64), (128, 16), 0)
    with pytest.raises(LayoutError, match="takes 256 x 16 elements, but the buffer has 128 x 64"):
        described(SHARED, (128, 64), (256, 16), 0)


def test_rows_that_permute_the_core_matrix_have_no_descriptor() -> None:
    """Behind the first 8 rows the swizzle would have to be another one."""
    columns = [[0, 1 << bit] for bit in range(6)]
    rows = [[1 << bit, 8 << bit] for bit in range(3)]
    texts = [
        f"#ttg.shared_linear<{{offset = {[*columns, *rows, last]}}}, alignment = 1024>"
        for last in ([8, 0], [8, 8])
    ]
    assert described(texts[0], (16, 64), (16, 64), 0).swizzle_bytes == 128
    with pytest.raises(LayoutError, match="must begin with 8 rows"):
        described(texts[1], (16, 64), (16, 64), 0)


DUMP = """
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1],
                        instrShape = [16, 64, 16]}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%x: !ttg.memdesc<64x64xf16, #a, #smem>, %y: !ttg.memdesc<64x64xf16, #b, #smem>,
             %c: tensor<64x64xf32, #mma>, %p: tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 0,
             parent = #mma}>>) {
    %0 = tt.load %p : tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #mma}>>
    %1 = ttng.warp_group_dot %x, %x, %c : !ttg.memdesc<64x64xf16, #a, #smem> * \
!ttg.memdesc<64x64xf16, #a, #smem> -> tensor<64x64xf32, #mma>
    %2 = ttng.warp_group_dot %x, %y, %1 : !ttg.memdesc<64x64xf16, #a, #smem> * \
!ttg.memdesc<64x64xf16, #b, #smem> -> tensor<64x64xf32, #mma>
    tt.return
  }
}
"""


def test_the_audit_of_a_dump(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dump.mlir"
    path.write_text(DUMP)
    [module] = json.loads(run("audit", str(path), "--format", "json").out)["modules"]
    first, second = module["multiplications"]
    assert (first["m"], first["n"], first["k"], first["flops"]) == (64, 64, 64, 2 * 64**3)
    assert first["instruction"] == "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
    assert (first["instructions"], first["issuer"]) == (4, "warp group")
    assert first["a"]["descriptor"] == {
        "swizzle_bytes": 128,
        "leading_bytes": 0,
        "stride_bytes": 1024,
        "transposed": False,
    }
    assert second["b"]["descriptor"] is None
    [finding] = [one for one in module["findings"] if "warp_group_dot" in one["message"]]
    assert finding["message"].startswith("ttng.warp_group_dot: #b: no descriptor expresses")
    [intensity] = module["intensities"]
    assert intensity["flops_per_byte"] == 4 * 64**3 / 128
    text = run("audit", "--tables", str(path)).out
    assert "1048576 FLOPs for 128 bytes of global memory in one program" in text


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_elements_of_four_bits_have_the_descriptor_of_the_bytes_that_hold_them(
    swizzle: int,
) -> None:
    text = NVMMA.format(swizzle, 8, "")
    of_bytes = parse_layout(text).to_linear_layout([128, 128])
    halves = [[0, 1], *([row, 2 * column] for row, column in dict(of_bytes.bases)["offset"])]
    of_halves = LinearLayout.from_bases([("offset", halves), ("block", [])], ["dim0", "dim1"])
    found = matrix_descriptor(of_halves, 4, (64, 64), outer_dim=0)
    assert found == matrix_descriptor(of_bytes, 8, (64, 32), outer_dim=0)
