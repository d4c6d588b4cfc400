"""``tt-layout suggest`` and the builders behind it: worked examples and bad input."""

from __future__ import annotations

import json

import pytest
from command import Run, runner

import tt_layout
from tt_layout import LayoutError
from tt_layout.analyses.layouts.builders import (
    coalesced_blocked,
    default_blocked,
    default_nvmma,
)
from tt_layout.encodings.dot_op import DotOperand


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def operand(op_idx: int, parent: str, k_width: int) -> DotOperand:
    text = f"#ttg.dot_op<{{opIdx = {op_idx}, parent = {parent}, kWidth = {k_width}}}>"
    encoding = tt_layout.parse_layout(text.replace(", kWidth = 0", ""))
    assert isinstance(encoding, DotOperand)
    return encoding


def typed(shape: list[int], bits: int) -> str:
    return "x".join(map(str, (*shape, f"i{bits}")))


MMA = "#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
VOLTA = "#ttg.nvidia_mma<{versionMajor = 1, warpsPerCTA = [2, 2], instrShape = [16, 16]}>"
MFMA = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], "
    "isTransposed = true}>"
)
NARROW_MFMA = MFMA.replace("[32, 32, 8]", "[4, 64, 4]")
GFX950 = MFMA.replace("version = 3", "version = 4")
WMMA = "#ttg.amd_wmma<{version = 2, ctaLayout = {warp = [[1, 0]]}}>"
TALL_WMMA = (
    "#ttg.amd_wmma<{version = 3, ctaLayout = {warp = [[1, 0]]}, instrShape = [32, 16, 128]}>"
)
FMA = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)


def test_blocked_deals_out_threads_along_the_order() -> None:
    layout = default_blocked([16, 64], size_per_thread=[1, 4])
    assert (layout.threads_per_warp, layout.warps_per_cta) == ((2, 16), (4, 1))
    layout = default_blocked([16, 64], size_per_thread=[1, 4], order=[0, 1])
    assert (layout.threads_per_warp, layout.warps_per_cta) == ((16, 2), (1, 4))
    layout = default_blocked([4], num_warps=2, threads_per_warp=64)
    assert (layout.threads_per_warp, layout.warps_per_cta) == ((64,), (2,))


def test_ctas_split_the_slowest_dimension_and_repeat_the_last() -> None:
    assert default_blocked([64, 64], num_ctas=2).cga == ((1, 0),)
    assert default_blocked([2, 1], num_ctas=4).cga == ((0, 0), (1, 0))


@pytest.mark.parametrize(
    ("shape", "bits", "contiguity", "held"),
    [
        ([64, 64], 16, 64, 8),
        ([64, 64], 32, 64, 4),
        ([64, 64], 16, 2, 2),
        ([64, 4], 16, 64, 2),
        ([8, 64], 8, 64, 4),
        ([1, 16], 8, 16, 1),
    ],
)
def test_coalesced_holds_16_bytes_unless_threads_would_idle(
    shape: list[int], bits: int, contiguity: int, held: int
) -> None:
    assert coalesced_blocked(shape, contiguity, element_bits=bits).size_per_thread == (1, held)


@pytest.mark.parametrize(
    ("encoding", "shape", "bits", "order", "expected"),
    [
        (operand(0, MMA, 2), [64, 32], 16, [1, 0], (8, 2, 4)),
        (operand(0, MMA, 2), [64, 64], 16, [1, 0], (8, 1, 8)),
        (operand(1, MMA, 2), [64, 64], 16, [1, 0], (8, 1, 8)),
        (operand(1, MMA, 4), [64, 64], 8, [1, 0], (8, 2, 8)),
        (operand(0, MMA, 1), [64, 16], 64, [1, 0], (4, 1, 4)),
        (operand(1, MMA, 1), [64, 16], 64, [1, 0], (4, 1, 4)),
        (operand(0, MFMA, 4), [64, 32], 16, [1, 0], (4, 2, 8)),
        (operand(1, MFMA, 4), [64, 32], 16, [1, 0], (1, 1, 1)),
        (operand(0, NARROW_MFMA, 4), [64, 32], 16, [1, 0], (4, 2, 4)),
        (operand(1, GFX950, 4), [64, 64], 16, [1, 0], (4, 2, 8)),
        (operand(0, WMMA, 8), [64, 64], 16, [1, 0], (8, 1, 8)),
        (operand(0, TALL_WMMA, 2), [64, 512], 8, [1, 0], (2, 1, 32)),
        (operand(1, WMMA, 8), [64, 64], 16, [1, 0], (1, 1, 1)),
        (operand(0, FMA, 0), [64, 64], 32, [1, 0], (1, 1, 1)),
    ],
)
def test_operands(
    encoding: DotOperand,
    shape: list[int],
    bits: int,
    order: list[int],
    expected: tuple[int, int, int],
) -> None:
    found = tt_layout.operand_shared(encoding, typed(shape, bits), order=order)
    assert (found.vec, found.per_phase, found.max_phase) == expected


def test_transposition_swaps_vector_and_stride() -> None:
    found = tt_layout.operand_shared(operand(0, MMA, 4), "64x64xf16", is_transposed=True)
    assert (found.vec, found.max_phase) == (8, 8)
    found = tt_layout.operand_shared(operand(1, MFMA, 4), "64x64xf16", is_transposed=True)
    assert found.vec == 4


def test_no_warp_is_without_lanes() -> None:
    for lanes in (0, 3):
        with pytest.raises(LayoutError, match="the number of lanes must be a power of two, got"):
            coalesced_blocked([64, 64], 8, element_bits=16, threads_per_warp=lanes)


def test_volta_has_none() -> None:
    encoding = DotOperand(op_idx=0, parent=tt_layout.parse_layout(VOLTA, release="3.5"))
    with pytest.raises(LayoutError, match="operands of Volta"):
        tt_layout.operand_shared(encoding, "64x64xf16")


@pytest.mark.parametrize(
    ("shape", "bits", "order", "width", "transposed"),
    [
        ([64, 64], 16, None, 128, False),
        ([64, 32], 16, None, 64, False),
        ([64, 16], 16, None, 32, False),
        ([64, 8], 16, None, 0, False),
        ([4, 64], 16, None, 0, False),
        ([64, 32], 16, [0, 1], 128, True),
        ([8, 64], 16, None, 128, False),  # as many rows as one core has
        ([256], 16, None, 0, False),
    ],
)
def test_nvmma(
    shape: list[int], bits: int, order: list[int] | None, width: int, transposed: bool
) -> None:
    found = default_nvmma(shape, element_bits=bits, order=order)
    assert (found.swizzling_byte_width, found.transposed) == (width, transposed)
    found.to_linear_layout(shape)


def test_fp4_needs_whole_rows() -> None:
    assert default_nvmma([64, 64], element_bits=8, fp4_padded=True).swizzling_byte_width == 128
    with pytest.raises(LayoutError, match="128 bytes"):
        default_nvmma([64, 32], element_bits=8, fp4_padded=True)
    with pytest.raises(LayoutError, match="8-bit"):
        default_nvmma([64, 64], element_bits=16, fp4_padded=True)


# -- the command ----------------------------------------------------------------------------


def test_every_kind_prints_an_attribute(run: Run) -> None:
    commands = [
        ["blocked", "-t", "tensor<16x64xf16>", "--size-per-thread", "1,4"],
        ["coalesced", "-t", "tensor<16x64xf16>", "--contiguity", "8"],
        ["shared", f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>", "-t", TENSOR],
        ["nvmma", "-t", TENSOR, "--order", "0,1"],
    ]
    for arguments in commands:
        result = run("suggest", *arguments)
        assert (result.status, result.err) == (0, ""), arguments
        assert str(tt_layout.parse_layout(result.out)) == result.out.strip()
        said = json.loads(run("suggest", *arguments, "--format", "json").out)
        assert said["layout"] == result.out.strip()


TENSOR = "tensor<64x32xf16>"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["blocked", "-t", "tensor<3x4xf16>"], "every dimension must be a power of two, got 3"),
        (["blocked", "-t", TENSOR, "--order", "1,1"], "order must be a permutation of 0..1"),
        (["blocked", "-t", TENSOR, "--order", "up"], "--order takes numbers such as 1,0"),
        (["blocked", "-t", TENSOR, "--size-per-thread", "4"], "must have 2 numbers"),
        (["blocked", "-t", TENSOR, "--num-warps", "3"], "number of warps must be a power of two"),
        (["coalesced", "-t", TENSOR, "--contiguity", "0"], "contiguity must be a power of two"),
        (["coalesced", "-t", "tensor<4xindex>", "--contiguity", "4"], "width of an element"),
        (["coalesced", "-t", TENSOR, "--contiguity", "4", "--num-warps", "0"], "number of warps"),
        (["shared", FMA, "-t", TENSOR], "expected a #ttg.dot_op, got #ttg.blocked"),
        (["nvmma", "-t", "tensor<64x32xi1>"], "elementBitWidth must be"),
        (["nvmma", "-t", TENSOR, "--fp4-padded"], "fp4Padded needs"),
    ],
)
def test_bad_input(run: Run, arguments: list[str], message: str) -> None:
    result = run("suggest", *arguments)
    assert result.status == 2
    assert result.out == ""
    assert message in result.err
    if "takes numbers" not in message:
        assert "^" in result.err
