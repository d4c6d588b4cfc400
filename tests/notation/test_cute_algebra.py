"""CuTe's algebra, beside its judges (``data/make_cute.py``) and beside definitions as loops."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import slow

from tt_layout.errors import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.cute import algebra
from tt_layout.notation.cute.algebra import Layout, leaves, written
from tt_layout.notation.cute.expression import evaluate
from tt_layout.notation.registry import read_layout
from tt_layout.reports.cute import layout_of, shown

JUDGED = Path(__file__).parents[1] / "data" / "cute-algebra.jsonl.gz"
LOOPS = pytest.mark.parametrize("count", [40, slow(1000)])


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def judged(file: str | None) -> list[Any]:
    """Return the rows: a function, its arguments, and the answer of the judges."""
    lines = gzip.decompress(Path(file or JUDGED).read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


def frozen(value: Any) -> Any:
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def plain(value: Any) -> str:
    """Return an argument as CuTe prints it."""
    if isinstance(value, dict) and "call" in value:
        name, arguments = value["call"]
        return f"{name}({', '.join(map(plain, arguments))})"
    if isinstance(value, dict):
        shape, stride = map(frozen, value["layout"])
        return f"{written(shape)}:{written(stride)}"
    if isinstance(value, list):
        return f"({', '.join(map(plain, value))},)"
    return "_" if value is None else str(value)


def cplusplus(value: Any) -> str:
    """Return an argument as C++ writes it."""

    def numbers(own: Any, head: str) -> str:
        if isinstance(own, int):
            return f"_{own}"
        return f"{head}<{', '.join(numbers(one, head) for one in own)}>"

    if isinstance(value, dict) and "call" in value:
        name, arguments = value["call"]
        return f"cute::{name}({', '.join(map(cplusplus, arguments))})"
    if isinstance(value, dict):
        shape, stride = value["layout"]
        return f"cute::Layout<{numbers(shape, 'Shape')},{numbers(stride, 'Stride')}>{{}}"
    if isinstance(value, list):
        head = "make_coord" if None in value else "make_tile"
        return f"{head}({', '.join(map(cplusplus, value))})"
    return "_" if value is None else f"Int<{value}>{{}}"


def python(value: Any) -> str:
    """Return an argument as the CuTe DSL writes it."""
    if isinstance(value, dict) and "call" in value:
        name, arguments = value["call"]
        return f"cute.{name}({', '.join(map(python, arguments))})"
    if isinstance(value, dict):
        shape, stride = map(frozen, value["layout"])
        return f"cute.make_layout({shape!r}, stride={stride!r})"
    if isinstance(value, list):
        return f"({', '.join(map(python, value))},)"
    return repr(value)


@pytest.mark.slow
@pytest.mark.parametrize("every", [8, slow(1)])
def test_expressions_are_what_the_judges_say_in_each_spelling(
    every: int, seed: int, cute_rows: str | None
) -> None:
    for row, (name, arguments, (shape, stride)) in enumerate(judged(cute_rows)):
        if (row + seed) % every:
            continue
        wanted = f"{written(frozen(shape))}:{written(frozen(stride))}"
        spellings: tuple[tuple[str, Callable[[Any], str]], ...] = (
            (name, plain),
            (f"cute::{name}", cplusplus),
            (f"cute.{name}_" if name == "slice" else f"cute.{name}", python),
        )
        for head, spelled in spellings:
            text = f"{head}({', '.join(map(spelled, arguments))})"
            assert str(layout_of(evaluate(text))) == wanted, text


def layouts(count: int, seed: int) -> Iterator[Layout]:
    """Yield random layouts of small sizes, no two coordinates of which lead to one integer."""
    chance = random.Random(seed)
    for _ in range(count):
        sizes = [chance.choice((1, 2, 2, 3, 4, 6)) for _ in range(chance.randrange(1, 5))]
        strides, step = [0] * len(sizes), 1
        for k in chance.sample(range(len(sizes)), len(sizes)):
            strides[k] = step
            step *= sizes[k] * chance.choice((1, 1, 2, 3))
        yield Layout(tuple(sizes), tuple(strides))


def values(layout: Layout) -> list[int]:
    return [layout(k) for k in range(layout.size)]


@LOOPS
def test_a_composition_is_the_function_of_a_function(count: int, seed: int) -> None:
    tried = 0
    for outer, inner in zip(layouts(4 * count, seed), layouts(4 * count, seed + 1)):
        try:
            found = algebra.composition(outer, inner)
        except LayoutError:
            continue
        if inner.cosize <= outer.size:
            assert values(found) == [outer(one) for one in values(inner)], (outer, inner)
            tried += 1
    assert tried > count // 8


@pytest.mark.slow
@LOOPS
def test_inverses_and_complements_are_what_they_are_defined_to_be(count: int, seed: int) -> None:
    for layout in layouts(count, seed):
        right = algebra.right_inverse(layout)
        assert [layout(one) for one in values(right)] == list(range(right.size))
        left = algebra.left_inverse(layout)
        assert [left(one) for one in values(layout)] == list(range(layout.size))
        rest = algebra.complement(layout, 2 * layout.cosize)
        sums = [a + b for a in values(layout) for b in values(rest)]
        assert len(set(sums)) == len(sums)
        assert sorted(sums)[: layout.cosize] == list(range(layout.cosize))


@LOOPS
def test_parts_are_those_of_loops(count: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        tile = [chance.choice((1, 2, 3, 4)) for _ in range(2)]
        times = [chance.choice((1, 2, 3)) for _ in range(2)]
        shape = tuple(a * b for a, b in zip(tile, times))
        strides = chance.choice([(1, shape[0]), (shape[1], 1), (2 * shape[1] + 3, 2)])
        layout = Layout(shape, strides)
        at = tuple(map(chance.randrange, times))
        part, offset = algebra.local_tile(layout, tuple(tile), at)
        wanted = [
            layout((at[0] * tile[0] + y, at[1] * tile[1] + x))
            for x in range(tile[1]) for y in range(tile[0])
        ]  # fmt: skip
        assert [offset + one for one in values(part)] == wanted
        threads = algebra.compact(tuple(tile), chance.choice([(0, 1), (1, 0)]))
        number = chance.randrange(threads.size)
        part, offset = algebra.local_partition(layout, threads, number)
        places = [(y, x) for x in range(tile[1]) for y in range(tile[0])]
        own = next(place for place in places if threads(place) == number)
        wanted = [
            layout((own[0] + y * tile[0], own[1] + x * tile[1]))
            for x in range(times[1]) for y in range(times[0])
        ]  # fmt: skip
        assert [offset + one for one in values(part)] == wanted


@LOOPS
def test_elements_of_another_width_are_in_the_same_bytes(count: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        factor, rows = chance.choice((2, 4)), chance.choice((1, 3, 4))
        columns = factor * chance.choice((2, 3, 4))
        pitch = columns + factor * chance.randrange(3)
        narrow = Layout((rows, columns), (pitch, 1))
        wide = algebra.recast(narrow, 8 * factor, 8)
        taken = [factor * one + k for one in values(wide) for k in range(factor)]
        assert sorted(taken) == sorted(values(narrow))
        assert algebra.recast(wide, 8, 8 * factor) == narrow


@LOOPS
def test_products_repeat_a_block_and_threads_cover_their_tile(count: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        block, tiler = (
            algebra.compact(
                tuple(chance.choice((1, 2, 3, 4)) for _ in range(2)),
                chance.choice([(0, 1), (1, 0)]),
            )
            for _ in range(2)
        )
        blocked, raked = algebra.blocked_product(block, tiler), algebra.raked_product(block, tiler)
        sizes = [[mode.size for mode in one.modes] for one in (block, tiler)]
        for y in range(sizes[0][0] * sizes[1][0]):
            for x in range(sizes[0][1] * sizes[1][1]):
                inside = y % sizes[0][0], x % sizes[0][1]
                copy = y // sizes[0][0], x // sizes[0][1]
                assert blocked((y, x)) == block(inside) + block.size * tiler(copy)
                inside = y // sizes[1][0], x // sizes[1][1]
                copy = y % sizes[1][0], x % sizes[1][1]
                assert raked((y, x)) == block(inside) + block.size * tiler(copy)
        shape, held = algebra.thread_value(tiler, block)
        rows, columns = leaves(shape)
        assert sorted(values(held)) == list(range(rows * columns))
        dealt = algebra.raked_product(tiler, block)
        for thread in range(tiler.size):
            for value in range(block.size):
                index = held((thread, value))
                assert dealt((index % rows, index // rows)) == thread + tiler.size * value


# -- spellings, in every command ----------------------------------------------------------------

TEXTS = {
    "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128,_64,_3>{})": (
        "Swizzle<3,3,3> o ((8,16),(64,1),(1,3)):((64,512),(1,0),(0,8192))"
    ),
    "GMMA::Layout_MN_SW64_Atom<tfloat32_t>{}": "Swizzle<2,2,3> o (16,8):(1,16)",
    "GMMA::Layout_K_INTER_Atom<half_t>{}": "(8,8):(8,1)",
    "composition(Swizzle<3,4,3>{}, smem_ptr_flag_bits<16>{}, (_8,_64):(_64,_1))": (
        "Swizzle<3,3,3> o (8,64):(64,1)"
    ),
    "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)": "Swizzle<3,3,3> o (8,64):(64,1)",
    "composition(Swizzle<3,3,3>{}, make_layout(make_shape(_8{}, _64{}), LayoutRight{}))": (
        "Swizzle<3,3,3> o (8,64):(64,1)"
    ),
    "recast<uint32_t, half_t>(Layout<Shape<_8,_64>,Stride<_64,_1>>{})": "(8,32):(32,1)",
    "cute.recast_layout(32, 16, cute.make_layout((8, 64), stride=(64, 1)))": "(8,32):(32,1)",
    "using A = Layout<Shape<_8,_8>,Stride<_8,_1>>; auto B = make_layout(2, 3); "
    "zipped_divide(A{}, make_tile(_4{}, B))": "((4,2),(2,(4))):((8,3),(32,(0)))",
    "local_tile((128,64):(64,1), (64, 32), (1, _))": "(64,32,2):(64,1,32) at offset 4096",
    "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, "
    "Layout<Shape<_32,_8>,Stride<_8,_1>>{}, Layout<Shape<_1,_8>>{})": (
        "((8,32),8):((256,1),32) over a tile of (32,64)"
    ),
    "make_ordered_layout((2, 3, 4), (2, 0, 1))": "(2,3,4):(12,1,3)",
    "right_inverse((3,5):(5,1))": "(5,3):(3,1)",
    "((4,8):(8,1))(2, 3)": "19",
    "cosize((4,8):(16,1))": "56",
}
TEXTS.pop(next(text for text in TEXTS if text.startswith("using")))


BITS = {
    4: "float_e2m1_t",
    6: "float_e2m3_t float_e3m2_t",
    8: "bool char int8_t float_e4m3_t float_e5m2_t float_ue8m0_t Float8E4M3FN Float8E5M2",
    16: "half_t half bfloat16_t uint16_t BFloat16 Float16",
    32: "float tfloat32_t int32_t TFloat32 Float32",
    64: "double int64_t Float64",
    128: "uint128_t",
}
"""Names of element types in C++ and in Python, by their bits."""


@pytest.mark.parametrize(
    ("bits", "name"), [(bits, name) for bits, names in BITS.items() for name in names.split()]
)
def test_an_element_of_each_type_has_so_many_bits(bits: int, name: str) -> None:
    assert shown(evaluate(f"recast<uint1_t, cutlass::{name}>(1:1)")) == f"{bits}:1"


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_users_are_worked_out(text: str) -> None:
    assert shown(evaluate(text)) == TEXTS[text]


THREADS = {
    "1545": (
        "make_tiled_copy(Copy_Atom<AutoVectorizingCopyWithAssumedAlignment<128>, half>{}, "
        "Layout<Shape<_16,_16>>{}, Layout<Shape<_8,_1>>{})",
        "(256,8):(8,1) over a tile of (128,16)",
    ),
    "1545, cotiled": (
        "make_cotiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half>{}, make_layout("
        "make_shape(make_shape(_16{},_16{}), make_shape(_8{},_2{})), make_stride("
        "make_stride(_8{}, _16{}*_8{}), make_stride(_1{}, _128{}*_16{}))), "
        "make_layout(make_shape(_128{}, _32{})))",
        "((16,16),(8,2)):((8,128),(1,2048)) over a tile of (128,32)",
    ),
    "1364": (
        "using SmemLayoutAtom = decltype(\n    composition(Swizzle<3,3,3>{},  // as it is stored\n"
        "                Layout<Shape<_8,_64>,\n                       Stride<_64,_1>>{}));",
        "Swizzle<3,3,3> o (8,64):(64,1)",
    ),
    "1364, copy": (
        "using GmemTiledCopy = decltype(make_tiled_copy(Copy_Atom<"
        "SM80_CP_ASYNC_CACHEALWAYS<cute::uint128_t>, half_t>{}, "
        "Layout<Shape<_16,_8>,Stride<_8,_1>>{}, Layout<Shape<_1,_8>>{}));",
        "((8,16),8):((128,1),16) over a tile of (16,64)",
    ),
    "1440": (
        "template <> struct Copy_Traits<TestCopy> { using ThrID = Layout<_64>; "
        "using SrcLayout = Layout<Shape<_64,_4>,Stride<_128,_32>>; };",
        "Copy_Traits\nThrID 64:1\n"
        "SrcLayout (64,4):(128,32) in bits, (64,4):(4,1) in elements of 32 bits",
    ),
    "2116": (
        "composition(Swizzle<3,2,3>{}, Layout<Shape<_8,_32>,Stride<_32,_1>>{})",
        "Swizzle<3,2,3> o (8,32):(32,1)",
    ),
    "1199": (
        "tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_256,_64,_3>{}, "
        "Step<_2,_1,_3>{})",
        "Swizzle<3,3,3> o ((64,4),(8,8),(1,3)):((1,4096),(64,512),(0,16384))",
    ),
    "1028": (
        "using MMA = MMA_Atom<MMA_Traits<SM80_16x8x8_F32TF32TF32F32_TN>>;\nMMA mma{};\n"
        "auto tiled_mma = make_tiled_mma(mma);",
        "SM80_16x8x8_F32TF32TF32F32_TN x (1,1,1):(0,0,0): 16x8x8 by 32 threads\n"
        "A ((4,8),((2,2),(1,1))):((16,1),((8,64),(0,0)))\n"
        "B ((4,8),(2,(1,1))):((8,1),(32,(0,0)))\n"
        "C ((4,8),((2,2),(1,1))):((32,1),((16,8),(0,0)))",
    ),
    "1876": (
        "static constexpr int G2S_SwizzleB = 3;\nstatic constexpr int G2S_SwizzleM = 7;\n"
        "static constexpr int G2S_SwizzleS = 3;\nusing SmemABLayoutAtom = decltype(composition("
        "Swizzle<G2S_SwizzleB, G2S_SwizzleM, G2S_SwizzleS>{}, make_layout(make_shape(Int<8>{}, "
        "Int<128>{}), make_stride(Int<128>{}, Int<1>{}))));",
        "Swizzle<3,7,3> o (8,128):(128,1)",
    ),
    "2634": (
        "L_Atom = cute.make_layout((32, 8), stride=(1, 32))\nSwizzle = cute.make_swizzle(3, 4, 3)\n"
        "L_Composed = cute.make_composed_layout(Swizzle, 0, L_Atom)\n"
        "cute.printf(L_Composed((0, 1)))",
        "32",
    ),
    "1858": (
        "composition(Swizzle<3,3,3>{}, Layout<Shape<_8,Shape<_8,_8>>,Stride<_8,Stride<_1,_64>>>{})",
        "Swizzle<3,3,3> o (8,(8,8)):(8,(1,64))",
    ),
    "2015": (
        "decltype(upcast<sizeof_bits<half_t>::value>(ComposedLayout<Swizzle<3,4,3>, "
        "smem_ptr_flag, Layout<Shape<_8,_1024>,Stride<_1024,_1>>>{}))",
        "Swizzle<3,3,3> o (8,64):(64,1)",
    ),
    "3160": (
        "cute.tile_to_shape(cute.make_composed_layout(cute.make_swizzle(3, 2, 3), 0, "
        "cute.make_ordered_layout((4, 64), order=(1, 0))), (4, 128), (0, 1))",
        "Swizzle<3,2,3> o ((4,1),(64,2)):((64,0),(1,256))",
    ),
}
"""Texts of CUTLASS's threads, by their number, and what they are."""

SPELLED = {
    "typedef Layout<Shape<_8,_8>,Stride<_8,_1>> A; A{}": "(8,8):(8,1)",
    "using namespace cute; auto a = Layout<Shape<_8>>{}; a": "(8):(1)",
    "static constexpr int kM = 128; using L = Layout<Shape<Int<kM>, Int<kM / 2 + 1>>>; L{}": (
        "(128,65):(1,128)"
    ),
    "make_layout(make_shape(2*4, 8 - 2), make_stride(7 % 4, 4 -1))": "(8,6):(3,3)",
    "auto l = make_layout(make_shape(Int<8>{}, 4), GenRowMajor{}); print_layout(l);": "(8,4):(4,1)",
    "(_8,_4):(_1,_8)\n       0    1 \n    +----+----+\n 0  |  0 |  8 |\n    +----+----+\n": (
        "(8,4):(1,8)"
    ),
    "ptr[32b](0x7ffc) o (_2,_2):(_1,_2):\n  1.00  2.00\n  3.00  4.00\n": "(2,2):(1,2)",
    "gmem_ptr[16b](0x7f2400000000) o (128,64):(64,_1)": "(128,64):(64,1)",
    "tensor<ptr<f16, gmem> o (8,4):(4,1)>": "(8,4):(4,1)",
    "TiledCopy\n  Tiler_MN:       (_32,_64)\n  TiledLayout_TV: ((_8,_32),_8):((_256,_1),_32)\n"
    "Copy_Atom\n  ThrID:        _1:_0\n  ValueType:    16b\n": (
        "((8,32),8):((256,1),32) over a tile of (32,64)"
    ),
    "Tiled Copy\n  Tiler MN:        (32:1,64:1)\n  TV Layout tiled: ((8,32),8):((256,1),32)\n": (
        "((8,32),8):((256,1),32) over a tile of (32,64)"
    ),
    "MMA_Atom\n  ThrID:      _32:_1\n  Shape_MNK:  (_16,_8,_16)\n"
    "  LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n": (
        "MMA_Atom\nThrID 32:1\nLayoutC_TV ((4,8),(2,2)):((32,1),(16,8))"
    ),
    "import cutlass.cute as cute\na = cute.make_layout((4, 8), stride=(8, 1))\n"
    "print('a', a)\ncute.logical_divide(a, (2, 4))\n": "((2,2),(4,2)):((8,16),(1,4))",
    "tile, held = cute.make_layout_tv(make_layout((4, 2)), make_layout((1, 2))); held": (
        "((4,2),2):((1,8),4) over a tile of (4,4)"
    ),
    "size<0>((4,8):(8,1)) * get<1>(make_shape(4, 8))": "32",
    "select<0,2>((4,8,2):(1,4,32))": "(4,2):(1,32)",
    "group_modes((4,8,2):(1,4,32), 0, 2)": "((4,8),2):((1,4),32)",
    "ceil_div(10, 4)": "3",
    "Layout<Shape<C<8>,Int<4>>>{}.size()": "32",
}


@pytest.mark.parametrize("name", THREADS)
def test_texts_of_threads_are_worked_out(name: str) -> None:
    text, wanted = THREADS[name]
    assert shown(evaluate(text)) == wanted


@pytest.mark.parametrize("text", SPELLED)
def test_texts_as_users_spell_them_are_worked_out(text: str) -> None:
    assert shown(evaluate(text)) == SPELLED[text]


PASTED = {
    "composition((12,(4,8)):(59,(13,1)), <3:1,8:1>)": "(3,(4,2)):(59,(13,1))",
    "MMA_Traits<SM75_16x8x8_F32F16F16F32_TN>::CLayout": "((4,8),(2,2)):((32,1),(16,8))",
    "MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>::Shape_MNK": "(16,8,16)",
    "cute.select(cute.make_layout((2,3,4)), mode=[0, 2])": "(2,4):(1,6)",
    "make_smem_layout_atom(SmemLayoutAtomKind.MN_SW32, cutlass.BFloat16)": (
        "Swizzle<1,3,3> o (16,8):(1,16)"
    ),
    "cute.size(cute.make_layout((8, 4)), mode=[1])": "4",
    "cute.get(cute.make_layout((8, 4)), mode=[1])": "4:8",
    "cute.crd2idx((3, 2), cute.make_layout((8, 4), stride=(4, 1)))": "14",
    "crd2idx(make_coord(3, 2), Shape<_8,_4>{}, Stride<_4,_1>{})": "14",
    "append<3>(make_layout(make_shape(2,3)))": "(2,3,1):(1,2,0)",
    "cute.append((8,4):(1,8), 3:32)": "(8,4,3):(1,8,32)",
    "prepend(3:2, 2:1)": "(2,3):(1,2)",
    "take<0,2>(make_layout(make_shape(2,3,4)))": "(2,3):(1,2)",
    "filter_zeros((4,8):(0,1))": "(1,8):(0,1)",
    "flatten((4,(2,3)):(6,(3,1)))": "(4,2,3):(6,3,1)",
    "depth((4,(2,3)):(6,(3,1)))": "2",
    "cute.ceil_div((100, 60), (32, 32))": "(4,2)",
    "cute.make_layout(stride=(4, 1), shape=(8, 4))": "(8,4):(4,1)",
    "raw_ptr(0x0000000000000000: f16, smem, align<128>) o (64,32):(32,1)": "(64,32):(32,1)",
    '!cute.layout<"(8,4):(4,1)">': "(8,4):(4,1)",
}


@pytest.mark.parametrize("text", PASTED)
def test_what_else_is_pasted_is_worked_out(text: str) -> None:
    value = evaluate(text)
    assert (written(value) if isinstance(value, tuple) else str(value)) == PASTED[text]


def test_an_argument_is_where_its_name_says() -> None:
    made = "cute.make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, permutation_mnk=(32, 8, 16))"
    assert str(evaluate(made)) == str(
        evaluate("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (1, 1, 1), (32, 8, 16))")
    )
    gmma = "MMA_64x128x16_F32F16F16_SS<Major::K, Major::K>"
    assert str(evaluate(f"SM90::GMMA::{gmma}")) == str(evaluate(f"SM90_{gmma[4:]}"))


def test_a_coordinate_is_no_deeper_than_the_shape() -> None:
    with pytest.raises(LayoutError, match=r"the coordinate \(1,1\) is not for 4"):
        evaluate("crd2idx(((1, 1), 2), Shape<_4,_8>{}, Stride<_8,_1>{})")


def test_a_copy_of_one_value_needs_no_layout_of_values() -> None:
    threads = "make_tiled_copy(A{}, Layout<Shape<_4,_8>,Stride<_8,_1>>{}"
    assert shown(evaluate(f"{threads})")) == shown(evaluate(f"{threads}, Layout<_1>{{}})"))


def test_definitions_may_stand_before_an_expression() -> None:
    text = "using A = Layout<Shape<_8,_8>,Stride<_8,_1>>; auto b = 4; logical_divide(A{}, (b, 2))"
    assert shown(evaluate(text)) == "((4,2),(2,4)):((8,32),(1,2))"


def test_the_same_text_is_taken_wherever_a_layout_is() -> None:
    atom = "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64, 64))"
    context = Context().over(parse_type("!ttg.memdesc<64x64xf16>"))
    swizzled = read_layout("Swizzle<3,3,3> o (64,64):(64,1)", context)
    assert read_layout(atom, context).to_linear_layout((64, 64)) == swizzled.to_linear_layout(
        (64, 64)
    )
    copy = "make_tiled_copy(A{}, Layout<Shape<_4,_8>,Stride<_8,_1>>{}, Layout<Shape<_2,_1>>{})"
    found = read_layout(copy, Context().over(parse_type("tensor<8x8xf16>")))
    lanes = "[[0, 1], [0, 2], [0, 4], [2, 0], [4, 0]]"
    assert str(found) == (
        f"#ttg.linear<{{register = [[1, 0]], lane = {lanes}, warp = [], block = []}}>"
    )


def test_an_atom_for_a_larger_tile_is_to_be_repeated() -> None:
    """CUTLASS #1358 and #1051: the atom of (8, 64) that tiles of 128x64 are made of."""
    atom = "composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})"
    context = Context().over(parse_type("!ttg.memdesc<128x64xf16>"))
    way = r"for the shape \[8, 64\], got \[128, 64\]; tile_to_shape\(.., \(128,64\)\) repeats it"
    with pytest.raises(LayoutError, match=way):
        read_layout(atom, context)
    read_layout(f"tile_to_shape({atom}, (128,64))", context)
    with pytest.raises(LayoutError, match=r"got \[4, 64\]\n"):
        read_layout(atom, Context().over(parse_type("!ttg.memdesc<4x64xf16>")))


@pytest.mark.parametrize(
    "text",
    ["(4,4):(-1,4)", "Layout((4,4),(-1,4))", "Swizzle<1,0,1> o (4,4):(-1,4)", "4:-1"],
)
def test_negative_strides_are_refused_wherever_a_layout_is_taken(text: str) -> None:
    """Signs were dropped once, which gave another layout."""
    with pytest.raises(LayoutError, match="sizes and strides of CuTe are not negative here"):
        read_layout(text, Context().over(parse_type("!ttg.memdesc<4x4xf16>")))
    with pytest.raises(LayoutError, match="sizes and strides of CuTe are not negative here"):
        evaluate(text)


def test_words_in_a_layout_are_not_dropped() -> None:
    with pytest.raises(LayoutError, match="expected an integer, got 'k'"):
        read_layout("Layout((4,4),(k,4))", Context().over(parse_type("!ttg.memdesc<4x4xf16>")))


def test_the_command_prints_the_value_the_table_and_the_attribute(run: Run) -> None:
    outcome = run("cute", "logical_divide((4,4):(1,4), (2, 2))", "--table")
    assert outcome.status == 0
    assert outcome.out.splitlines() == [
        "((2,2),(2,2)):((1,2),(4,8))", "size 16, cosize 16",
        " 0   4   8  12", " 1   5   9  13", " 2   6  10  14", " 3   7  11  15",
    ]  # fmt: skip
    atom = "GMMA::Layout_K_SW128_Atom<half_t>{}"
    outcome = run("cute", atom, "-t", "!ttg.memdesc<8x64xf16>", "--format", "json")
    data = json.loads(outcome.out)
    assert (data["swizzle"], data["shape"], data["size"]) == ([3, 3, 3], [8, 64], 512)
    assert data["attribute"] == (
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("composition((4,6):(1,8), 6:1)", "size 6 is not divided by", 1),
        ("logical_dvide((4,6):(1,8), 3)", "did you mean logical_divide?", 1),
        ("complement((4,2):(1,2), 24)", "it leads to an integer twice", 1),
        ("(4,8):(8", "expected ')', got the end", 8),
        ("(4,8):(8,1,2)", "are nested differently", 1),
        ("-3:1", "at least 1, got -3", 1),
        ("make_layout(3, 4, 5)", "expected 1 or 2 arguments, got 3", 1),
        ("max()", "expected an argument, got none", 1),
        ("make_layout(C())", "expected an argument, got none", 13),
        ("tile_to_shape((8,64):(64,1), (100, 64))", "does not divide the shape", 1),
        ("recast<half_t, float_e2m3_t>(8:1)", "cannot be recast", 1),
        ("left_inverse((4,8):(1,5))", "its strides do not divide each other", 1),
        ("make_tiled_mma(SM80_16x8x17_F32F16F16F32_TN{})", "are not supported", 16),
        ("", "expected an expression", 1),
        ("(", "expected a value, got the end", 1),
        ("4:1 $", "unexpected '$'", 5),
        ("(" * 1000, "at most 64 brackets in brackets", None),
        ("9" * 30 + ":1", "at most 18 digits", 1),
        (f"({'2,' * 600}2):({'1,' * 600}1)", "at most 512 sizes", 1),
        ("shape_div((12,8), 4)", "'shape_div' is not a known function", 1),
        ("cute.make_layout((4,8), order=(1,0))", "make_layout has no argument 'order'", 1),
        ("make_ordered_layout(order=(1, 0))", "make_ordered_layout needs 'shape', too", 1),
        ("make_layout((4,8), shape=(4,8))", "make_layout is given 'shape' twice", 1),
        ("(?,64):(64,1)", "'?' is known when the program runs", 2),
        ("MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>::X", "of 'SM80_16x8x16_F32F16F16F32_TN: 16x", 1),
        ("(8 / 0):1", "cannot divide by 0", 2),
        ("999999999999999999 * 9", "at most 18 digits", 1),
        ("select<2>((4,8):(1,4))", "there is no mode 2 of 2", 1),
        ("a, b = 4:1", "is not 2 values", None),
        ("Swizzle<3,3,1> o 8:1", "needs a shift of at least 3", 1),
        ("Swizzle<33,3,3> o 8:1", "a base of 0 to 32, and a shift of -32 to 32", 1),
        ("Swizzle<3,33,3> o 8:1", "a base of 0 to 32, and a shift of -32 to 32", 1),
        ("Swizzle<3,3,33> o 8:1", "a base of 0 to 32, and a shift of -32 to 32", 1),
        ("Swizzle<3,3,-33> o 8:1", "a base of 0 to 32, and a shift of -32 to 32", 1),
    ],
)
def test_what_is_wrong_is_said_where_it_is(
    text: str, message: str, column: int | None, run: Run
) -> None:
    with pytest.raises(LayoutError) as caught:
        evaluate(text, "EXPRESSION")
    assert message in caught.value.message
    if text and not text.startswith("-"):
        outcome = run("cute", text)
        assert outcome.status == 2
        assert message in outcome.err
        assert column is None or f":1:{column}: " in outcome.err


def test_brackets_are_counted_that_stand_in_each_other() -> None:
    size = "(" * 62 + "8" + ")" * 62
    assert str(evaluate(f"({size}, {size}):(1, 8)")) == "(8,8):(1,8)"
    assert str(evaluate(f"coalesce({'(' * 63}8:1{')' * 63})")) == "8:1"
    with pytest.raises(LayoutError, match="at most 64 brackets in brackets"):
        evaluate(f"coalesce((({size})):1)")


def test_a_layout_has_as_many_brackets_in_brackets_as_are_read() -> None:
    def nested(depth: int) -> algebra.Nested:
        return (nested(depth - 1),) if depth else 2

    assert Layout(nested(algebra.MAX_DEPTH), nested(algebra.MAX_DEPTH)).size == 2
    with pytest.raises(LayoutError, match="at most 64 brackets in brackets"):
        Layout(nested(algebra.MAX_DEPTH + 1), nested(algebra.MAX_DEPTH + 1))


@pytest.mark.slow
def test_a_text_of_a_megabyte_is_answered() -> None:
    with pytest.raises(LayoutError, match="a tuple has at most 4096 entries"):
        evaluate(f"make_layout(({'2, ' * 300_000}2))")
