"""CuTe's matrix instructions and tiled products, beside CUTLASS's own answers and beside PTX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

from tt_layout.errors import LayoutError
from tt_layout.notation.cute import mma
from tt_layout.notation.cute.algebra import Layout
from tt_layout.notation.cute.expression import evaluate
from tt_layout.notation.cute.values import AtomTraits

JUDGED = Path(__file__).parents[1] / "data" / "cute-mma.jsonl"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def judged() -> list[dict[str, Any]]:
    """Return expressions of C++ and the layouts that CUTLASS's headers print of them."""
    return [json.loads(line) for line in JUDGED.read_text().splitlines()]


@pytest.mark.parametrize("row", judged(), ids=lambda row: row["expression"])
def test_products_are_what_cutlass_prints(row: dict[str, Any]) -> None:
    product = evaluate(row["expression"])
    assert {name: str(product.operand(name).layout) for name in "ABC"} == row["operands"]


@pytest.mark.parametrize(
    ("name", "k", "packed"),
    [
        ("SM80_16x8x16_F32F16F16F32_TN", 16, 2),
        ("SM80_16x8x8_F32TF32TF32F32_TN", 8, 1),
        ("SM80_16x8x32_S32S8S8S32_TN", 32, 4),
        ("SM89_16x8x32_F32E4M3E5M2F32_TN", 32, 4),
        ("SM80_16x8x64_S32S4S4S32_TN", 64, 8),
        ("SM120_16x8x32_TN", 32, 4),
    ],
)
def test_fragments_are_those_of_ptx(name: str, k: int, packed: int) -> None:
    atom = mma.atom(name)
    assert atom.sizes == (16, 8, k)
    for lane in range(32):
        group, within = divmod(lane, 4)
        for value in range(16 * k // 32):
            # A register has `packed` elements along K; the second is eight rows on, then K goes on.
            register, element = divmod(value, packed)
            row = group + 8 * (register % 2)
            column = 4 * packed * (register // 2) + packed * within + element
            assert atom.a((lane, value)) == row + 16 * column
        for value in range(8 * k // 32):
            register, element = divmod(value, packed)
            column = 4 * packed * register + packed * within + element
            assert atom.b((lane, value)) == group + 8 * column
        for value in range(4):
            row, column = group + 8 * (value // 2), 2 * within + value % 2
            assert atom.c((lane, value)) == row + 16 * column


@pytest.mark.parametrize(
    ("text", "tensor", "attribute"),
    [
        (
            "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2>,Stride<_2,_1>>{})",
            "tensor<32x16xf32>",
            "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
            "instrShape = [16, 8]}>",
        ),
        (
            "SM90_64x32x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{}",
            "tensor<64x32xf32>",
            # Over 64 rows four warps of mma.sync hold what a wgmma does.
            "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
            "instrShape = [16, 8]}>",
        ),
    ],
)
def test_the_accumulator_is_that_of_triton(
    text: str, tensor: str, attribute: str, run: Run
) -> None:
    outcome = run("cute", text, "-t", tensor)
    assert (outcome.status, outcome.out.splitlines()[-1]) == (0, attribute)


def test_products_are_spelled_as_in_cplusplus_and_python() -> None:
    atoms = "Layout<Shape<_2,_2,_1>>"
    spellings = (
        f"make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, {atoms}{{}}, Tile<_32,_32,_16>{{}})",
        f"using A = MMA_Atom<MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>>; TiledMMA<A, {atoms}, "
        "Tile<_32,_32,_16>>{}",
        f"decltype(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, {atoms}{{}}, "
        "Layout<Shape<_1,_2,_1>>{})){}",
        "op = cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)); "
        "cute.make_tiled_mma(op, cute.make_layout((2, 2, 1)), permutation_mnk=(32, 32, 16))",
    )
    products = [evaluate(text) for text in spellings]
    assert len({str(product.operand("B")) for product in products}) == 1
    assert products[0].tile == (32, 32, 16)


def test_members_of_products_and_structs() -> None:
    product = "mma = make_tiled_mma(SM80_16x8x8_F32TF32TF32F32_TN{}, Layout<Shape<_4,_1,_1>>{});"
    whole = evaluate(product + "mma")
    assert evaluate(product + "mma.get_layoutA_TV()") == whole.operand("A")
    assert evaluate(product + "mma.tv_layout_C_tiled") == whole.operand("C")
    assert evaluate(product + "make_tiled_copy_B(Copy_Atom<X, float>{}, mma)") == whole.operand("B")
    with pytest.raises(LayoutError, match=r"get_slice of .* is not known here"):
        evaluate(product + "mma.get_slice(0)")


def test_traits_in_bits_are_shown_in_elements(run: Run) -> None:
    text = """
    template <>
    struct Copy_Traits <TestCopy>
    {
      // Map from (src-thr,src-val) to bit
      using SrcLayout = Layout<Shape<_64,_4>, Stride<_128,_32>>;
      using DstLayout = Layout<Shape<Shape<_16,_4>,Shape<_2,_2>>,
                               Stride<Stride<_32,_2048>,Stride<_512,_1024>>>;
      using RefLayout = DstLayout;  /* the same */
    };"""
    assert run("cute", text).out.splitlines() == [
        "Copy_Traits",
        "SrcLayout (64,4):(128,32) in bits, (64,4):(4,1) in elements of 32 bits",
        "DstLayout ((16,4),(2,2)):((32,2048),(512,1024)) in bits, "
        "((16,4),(2,2)):((1,64),(16,32)) in elements of 32 bits",
        "RefLayout ((16,4),(2,2)):((32,2048),(512,1024)) in bits, "
        "((16,4),(2,2)):((1,64),(16,32)) in elements of 32 bits",
    ]


@pytest.mark.parametrize(
    ("stride", "words"), [(1, ""), (2, ", 8:1 in elements of 2 bits"), (6, "")]
)
def test_bits_are_elements_where_a_power_of_two_divides_all_strides(
    stride: int, words: str
) -> None:
    traits = AtomTraits("Copy_Traits", {"SrcLayout": Layout(8, stride)})
    assert str(traits).splitlines()[1] == f"SrcLayout 8:{stride} in bits{words}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SM80_16x8x17_F32F16F16F32_TN", "the threads and values of .* are not supported"),
        ("SM80_16x8x16_F32F16X16F32_TN", "expected the types of D, A, B and C"),
        ("SM90_64x260x16_F32F16F16_SS", "the threads and values of .* are not supported"),
        ("SM100_MMA_F16BF16_SS<half_t, half_t, float>", "expected M and N"),
        ("SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 128>", "by two multiprocessors"),
        ("SM90_64x64x32_F32F16F16_SS_SPARSE", "are not supported"),
        ("make_tiled_mma(Copy_Atom<X>{})", "expected a matrix instruction"),
        (
            "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1,_1>>{})",
            "M, N and K",
        ),
        (
            "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_1,_1>>{}, "
            "Tile<_24,_8,_16>{}).get_layoutC_TV()",
            "divide",
        ),
        ("struct Copy_Traits<X> { using A = Layout<_4>;", "expected '}'"),
    ],
)
def test_instructions_that_are_none(text: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message) as caught:
        evaluate(text)
    assert caught.value.location is not None
