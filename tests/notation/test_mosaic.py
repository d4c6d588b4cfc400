"""Layouts of Mosaic GPU, beside where JAX 0.10.2 puts their elements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tt_layout.errors import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.notations import mosaic
from tt_layout.notation.registry import read_layout
from tt_layout.notation.translation import translate

JUDGED = Path(__file__).parents[1] / "data" / "mosaic.jsonl"
"""Layouts, shapes, and [register, lane, warp, coordinates] of a dozen elements each."""


def judged() -> list[dict[str, Any]]:
    return [json.loads(line) for line in JUDGED.read_text().splitlines()]


@pytest.mark.slow
def test_elements_are_where_jax_puts_them() -> None:
    rows = judged()
    assert len(rows) == 100
    for row in rows:
        shape = tuple(row["shape"])
        layout = read_layout(row["layout"], Context(shape=shape)).to_linear_layout(shape)
        for register, lane, warp, element in row["elements"]:
            place = {"register": register, "lane": lane, "warp": warp, "block": 0}
            assert [*layout.apply(place).values()] == element, row


@pytest.mark.parametrize("rows", [16, 32])
def test_a_strided_layout_deals_rows_to_threads(rows: int) -> None:
    text = f"plgpu.Layout.WG_STRIDED(({rows}, 64), vec_size=2)"
    layout = read_layout(text, Context(shape=(rows, 64))).to_linear_layout((rows, 64))
    for register in range(rows * 64 // 128):
        for thread in range(128):
            vector, within = divmod(register, 2)
            index = (vector * 128 + thread) * 2 + within
            place = {"register": register, "lane": thread % 32, "warp": thread // 32, "block": 0}
            assert [*layout.apply(place).values()] == [*divmod(index, 64)]


@pytest.mark.slow
@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_a_buffer_has_tiles_and_swizzled_chunks(swizzle: int, bits: int) -> None:
    columns = 8 * swizzle // bits
    shape = (32, 4 * columns)
    tensor = parse_type(f"!ttg.memdesc<{shape[0]}x{shape[1]}xi{bits}>")
    text = f"[plgpu.TilingTransform((8, {columns})), plgpu.SwizzleTransform({swizzle})]"
    layout = read_layout(text, Context().over(tensor)).to_linear_layout(shape)
    for offset in range(0, shape[0] * shape[1], 7):
        byte = offset * bits // 8
        plain = byte ^ ((byte >> 7 & (swizzle // 16 - 1)) << 4)  # chunks of 16 bytes
        index = plain * 8 // bits + offset % max(1, 8 // bits)
        tile, inside = divmod(index, 8 * columns)
        row = 8 * (tile // 4) + inside // columns
        column = columns * (tile % 4) + inside % columns
        found = layout.apply({"offset": np.array([offset]), "block": np.array([0])})
        assert [int(one[0]) for one in found.values()] == [row, column]


def test_names_are_written_where_a_layout_has_one() -> None:
    parent = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
    wgmma = read_layout(parent + "instrShape = [16, 64, 16]}>")
    assert translate(wgmma, "mosaic", (64, 64)).text == "plgpu.Layout.WGMMA"
    rows = read_layout("gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])")
    with pytest.raises(LayoutError, match=r"no layout with a name in plgpu\.Layout is the same"):
        translate(rows, "mosaic", (64, 64))


def test_every_name_is_read_back() -> None:
    assert mosaic.recognises("mgpu.Layout.TCGEN05")
    assert not mosaic.recognises("Layout<Shape<_8,_4>>")
    for name in ("WGMMA", "WGMMA_TRANSPOSED", "TCGEN05_TMEM_NATIVE"):
        read_layout(f"plgpu.Layout.{name}", Context(shape=(128, 64)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mgpu.WGMMA_LAYOUT", "WGMMA"),
        ("fa.WGMMA_LAYOUT_UPCAST_4X", "WGMMA_UPCAST_4X"),
        ("WGMMA_TRANSPOSED_LAYOUT", "WGMMA_TRANSPOSED"),
        ("tcgen05.TMEM_NATIVE_LAYOUT", "TCGEN05_TMEM_NATIVE"),
        (
            "#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2 : i64]], warp_dims = [-7], "
            "lane_dims=[-3 : i32, -2], vector_dim = -1>",
            "WGMMA",
        ),
    ],
)
def test_constants_and_attributes_are_read_as_the_names(text: str, name: str) -> None:
    context = Context(shape=(128, 64))
    assert read_layout(text, context) == read_layout(f"plgpu.Layout.{name}", context)


def test_attributes_of_mosaic_replicate_and_stride() -> None:
    replicated = (
        "#mosaic_gpu.TiledLayout<[[16], [4]], warp_dims=[-2], "
        "lane_dims=[#mosaic_gpu.Replicated<times = 32>], vector_dim=-1>"
    )
    context = Context(shape=(64,))
    indices = read_layout("plgpu.Layout.TMA_INDICES", context)
    assert read_layout(replicated, context) == indices
    assert read_layout("TMA_GATHER_INDICES_LAYOUT", context) == indices
    strided = read_layout("#mosaic_gpu.WGStridedFragLayout<[16, 64], 2>", Context(shape=(16, 64)))
    call = "plgpu.Layout.WG_STRIDED((16, 64), vec_size=2)"
    assert strided == read_layout(call, Context(shape=(16, 64)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plgpu.Layout.WGMA", "did you mean WGMMA"),
        ("fa.WGMMA_LAYOUT_ACC_32BIT", "WGMMA_ACC_32BIT is not known here; did you mean WGMMA_8BIT"),
        ("#mosaic_gpu.WGSplatFragLayout<[64, 64]>", "a splat is one value of all elements"),
        ("#mosaic_gpu.TiledLayout<[[64, 8]]>", "takes tiling, warp_dims, lane_dims, vector_dim"),
        (
            "#mosaic_gpu.TiledLayout<[[64], [8]], warp_dims=[-2], lane_dims=[-2], "
            "vector_dim=#mosaic_gpu.Replicated<times = 2>>",
            "vector_dim is an axis",
        ),
        ("#mosaic_gpu.Nothing<[[64, 8]]>", "#mosaic_gpu.Nothing is not a layout attribute"),
        ("plgpu.Layout.TILED", "is not known here, or needs arguments"),
        ("plgpu.Layout.WG_SPLAT((64, 64))", "a splat is one value of all elements"),
        ("plgpu.Layout.WG_STRIDED((64, 32), 2)", "is of 64x32, the tensor of 64x64"),
        ("plgpu.Layout.WG_STRIDED((64, 64), 3)", "vec_size is a power of two"),
        ("plgpu.Layout.WG_STRIDED((64, 64), 64)", "do not suffice for 128 threads of 64"),
        ("TiledLayout(Tiling(((3, 8),)), (-1,), (-2,), -3)", "powers of two"),
        ("TiledLayout(Tiling(((128, 8),)), (-1,), (-2,), -3)", "does not divide axes of 64x64"),
        ("TiledLayout(Tiling(((64, 8), (1, 2, 4, 8, 8))), (-1,), (-2,), -3)", "more sizes than"),
        ("TiledLayout(Tiling(((64, 8),)), (-1,), (-1,), -3)", "is used twice among"),
        ("TiledLayout(Tiling(((64, 8),)), (-1,), (-9,), -3)", "makes 4 axes, got axis -9"),
        ("TiledLayout(Tiling(((64, 8),)), (-1,), (-2,), -3)", "warp_dims have 8 warps"),
        ("TiledLayout(Tiling(((64, 8),)), (1,), (-2,), -3)", "axes count from the end"),
        ("TiledLayout(Tiling(((64, 8),)))", "takes tiling, warp_dims, lane_dims, vector_dim"),
        ("TiledLayout(Tiling(((64, 8),)), (-1,), (-2,), Replicated(4))", "vector_dim is an axis"),
        ("TiledLayout(Tiling(()), (-1,), (-2,), -3)", "a tiling has 1 to 16 tiles"),
        ("[TilingTransform((8, 64)), SwizzleTransform(48)]", "a swizzle is of 16, 32, 64, 128"),
        ("[SwizzleTransform(128), SwizzleTransform(128)]", "one SwizzleTransform"),
        ("[SwizzleTransform(128)]", "needs the width of an element"),
    ],
)
def test_layouts_that_are_none(text: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message) as caught:
        read_layout(text, Context(shape=(64, 64)))
    assert caught.value.location is not None
