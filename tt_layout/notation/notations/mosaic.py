"""Notation of Mosaic GPU, the compiler of JAX's Pallas: tiled layouts of a warp group's registers.

    TiledLayout(tiling=Tiling(((64, 8), (16, 8), (8, 8), (2,))), warp_dims=(-7,),
                lane_dims=(-3, -2), vector_dim=-1)
    plgpu.Layout.WGMMA                                the same by its name
    plgpu.Layout.WG_STRIDED((64, 64), vec_size=2)
    mgpu.WGMMA_LAYOUT                                 the same by the name of its constant
    #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7],
                            lane_dims = [-3, -2], vector_dim = -1>
    [TilingTransform((8, 64)), SwizzleTransform(128)] a buffer of shared memory

Each tile of a tiling splits the last dimensions, as many as it has sizes: the number of tiles stays
in the place of a dimension, and the sizes of the tile go to the end.

Source:      jax, jax/experimental/mosaic/gpu/fragmented_array.py, layouts.py and core.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.algebra.tiles import dim_names, step_along
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.errors import LayoutError, nearest, quoted
from tt_layout.notation.checking import differing
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_layout, over_shape, read_back
from tt_layout.notation.gluon.calls import GluonCall
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.gluon.text import read_call
from tt_layout.notation.notation import Notation
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.records import dataclass
from tt_layout.wording import count

WARPS = 4  # of a warp group
LANES = 32
MAX_TILES = 16
_SWIZZLES = (16, 32, 64, 128)  # bytes; 16 is none
_ROWS = 8  # of an atom of shared memory
_CHUNK_BITS = 128  # that stay together

_CLASSES = ("TiledLayout", "WGStridedFragLayout", "WGSplatFragLayout")
_TRANSFORMS = ("TilingTransform", "TileTransform", "SwizzleTransform")
_HEAD = re.compile(
    rf"\s*[\[(]?\s*(?:\w+\.)*(?:(?:{'|'.join((*_CLASSES, *_TRANSFORMS))})\s*\("
    r"|Layout\.(?:WG|TCGEN05|TMA_INDICES|SMEM_GMEM|TILED)\w*)"
)
_CONSTANT = re.compile(r"\s*(?:\w+\.)*((?:WGMMA|TCGEN05|TMEM|TMA)_(?:\w+_)?LAYOUT\w*)\s*")
_DIALECT = "#mosaic_gpu."
_ATTRIBUTE = re.compile(rf"\s*{_DIALECT}(?:{'|'.join((*_CLASSES, *_TRANSFORMS))})\s*<")
_INTEGER_TYPE = re.compile(r"(?<=\d) *: *[a-z]\w*")
_NAMED = re.compile(r"(?:\w+\.)*Layout\.(?P<name>\w+)\s*(?:\(\s*\))?")

Axis = Union[int, "Replicated"]


@dataclass(frozen=True)
class Replicated:
    """Warps or lanes that hold the same elements."""

    times: int


@dataclass(frozen=True)
class Tiled:
    """A ``TiledLayout``: axes count from the end, and the first of several is the slowest."""

    tiles: tuple[tuple[int, ...], ...]
    warps: tuple[Axis, ...]
    lanes: tuple[Axis, ...]
    vector: int


_WGMMA = ((64, 8), (16, 8), (8, 8))
_TCGEN05 = ((128, 8), (32, 8), (8, 8))
_LAYOUTS: Mapping[str, Tiled] = {
    "WGMMA": Tiled((*_WGMMA, (2,)), (-7,), (-3, -2), -1),
    "WGMMA_8BIT": Tiled(((64, 16), (16, 16), (8, 16), (4,)), (-7,), (-3, -2), -1),
    "WGMMA_UPCAST_2X": Tiled(((64, 16), (16, 16), (8, 16), (8,), (4,)), (-8,), (-4, -2, -3), -1),
    "WGMMA_UPCAST_4X": Tiled(((64, 32), (16, 32), (8, 32), (8,)), (-7,), (-3, -2), -1),
    "WGMMA_TRANSPOSED": Tiled((*_WGMMA, (2, 2), (2, 1)), (-10,), (-6, -3, -5), -2),
    "TCGEN05": Tiled((*_TCGEN05, (2,)), (-7,), (-3, -2), -1),
    "TCGEN05_TRANSPOSED": Tiled((*_TCGEN05, (2, 2), (2, 1)), (-10,), (-6, -3, -5), -2),
    "TCGEN05_TMEM_NATIVE": Tiled(((128, 2), (32, 2)), (-4,), (-2,), -1),
    "TMA_INDICES": Tiled(((16,), (4,)), (-2,), (Replicated(32),), -1),
    "TMA_INDICES_4": Tiled(((4,),), (Replicated(4),), (Replicated(32),), -1),
}
"""Name in ``plgpu.Layout`` -> layout."""

_CONSTANTS = {"TMEM_NATIVE": "TCGEN05_TMEM_NATIVE", "TMA_GATHER_INDICES": "TMA_INDICES"}
"""Constant without ``_LAYOUT`` -> name in ``plgpu.Layout``, where they differ."""


def recognises(text: str) -> bool:
    """Return whether a text begins like a layout of Mosaic."""
    return bool(_HEAD.match(text) or _CONSTANT.fullmatch(text) or _ATTRIBUTE.match(text))


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of a layout of Mosaic over the tensor.

    Raises:
        LayoutError: it is not such a layout, or does not fit the tensor.

    Example:
        >>> print(read("TiledLayout(Tiling(((64, 8), (16, 8), (8, 8), (2,))), (-7,), (-3, -2), -1)",
        ...            Context(shape=(64, 8))))
        #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], \
warp = [[16, 0], [32, 0]], block = []}>
    """
    shape = context.tensor_shape("Mosaic")
    if named := _NAMED.fullmatch(text.strip()):
        layout = _of_tiled(_by_name(named["name"]), shape)
    elif constant := _CONSTANT.fullmatch(text):
        name = constant[1].replace("_LAYOUT", "")
        layout = _of_tiled(_by_name(_CONSTANTS.get(name, name)), shape)
    elif _ATTRIBUTE.match(text):
        untyped = _INTEGER_TYPE.sub("", text).replace(_DIALECT, "")
        layout = _of_call(read_call(untyped.translate(str.maketrans("<>", "()"))), shape, context)
    elif text.lstrip()[:1] in "[(":
        layout = _of_transforms(read_call(f"transforms{_as_tuple(text)}").positional, context)
    else:
        layout = _of_call(read_call(text), shape, context)
    return encoding_of_layout(layout)


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the name in ``plgpu.Layout`` of a layout.

    Raises:
        RefusedError: there is no shape, or no layout with a name is the same.
    """
    shape, layout = over_shape(encoding, tensor)
    for name, tiled in _LAYOUTS.items():
        try:
            other = _of_tiled(tiled, shape)
        except LayoutError:
            continue
        if differing(layout, other) is None:
            return read_back(encoding, f"plgpu.Layout.{name}", other, shape, tensor)
    raise refused(Reason.NO_FORM, "no layout with a name in plgpu.Layout is the same")


def _as_tuple(text: str) -> str:
    """Return a list of transforms as the arguments of a call."""
    inside = text.strip()
    return f"({inside[1:-1]})" if inside[0] == "[" and inside[-1] == "]" else inside


def _by_name(name: str) -> Tiled:
    if name not in _LAYOUTS:
        near = nearest(name, _LAYOUTS)
        hint = f"; did you mean {near}?" if near else ", or needs arguments"
        raise LayoutError(f"plgpu.Layout.{name} is not known here{hint}")
    return _LAYOUTS[name]


def _of_call(call: GluonCall, shape: Shape, context: Context) -> LinearLayout:
    name = own_name(call.name)
    if name in ("WGStridedFragLayout", "WG_STRIDED"):
        arguments = _arguments(call, ("shape", "vec_size"))
        if tuple(arguments["shape"]) != tuple(shape):
            dims = "x".join(map(str, arguments["shape"]))
            raise LayoutError(f"the layout is of {dims}, the tensor of {'x'.join(map(str, shape))}")
        return _strided(shape, arguments["vec_size"])
    if name in ("TiledLayout", "TILED"):
        return _of_tiled(_tiled(call), shape)
    if name == "TCGEN05_TMEM_NATIVE":
        length = _arguments(call, ("vector_length",))["vector_length"]
        return _of_tiled(Tiled(((128, length), (32, length)), (-4,), (-2,), -1), shape)
    if name in _TRANSFORMS:
        return _of_transforms((call,), context)
    if name in ("WGSplatFragLayout", "WG_SPLAT"):
        raise LayoutError("a splat is one value of all elements: no register holds one of them")
    raise LayoutError(f"{call.name} of Mosaic is not supported")


def _arguments(call: GluonCall, names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a call by their names.

    Raises:
        LayoutError: there are others, or one is missing.
    """
    arguments = dict(zip(names, call.positional)) | dict(call.keywords)
    if len(call.positional) > len(names) or set(arguments) != set(names):
        raise LayoutError(f"{own_name(call.name)} takes {', '.join(names)}")
    return arguments


def _tiled(call: GluonCall) -> Tiled:
    arguments = _arguments(call, ("tiling", "warp_dims", "lane_dims", "vector_dim"))
    tiling = arguments["tiling"]
    if isinstance(tiling, GluonCall):
        tiling = _arguments(tiling, ("tiles",))["tiles"]
    tiles = tuple(map(_sizes, tiling)) if isinstance(tiling, tuple) else ()
    if not 0 < len(tiles) <= MAX_TILES:
        raise LayoutError(f"a tiling has 1 to {MAX_TILES} tiles")
    warps, lanes = map(_axes, (arguments["warp_dims"], arguments["lane_dims"]))
    [vector] = _axes((arguments["vector_dim"],))
    if isinstance(vector, Replicated):
        raise LayoutError("vector_dim is an axis")
    return Tiled(tiles, warps, lanes, vector)


def _sizes(tile: Any) -> tuple[int, ...]:
    is_tile = isinstance(tile, tuple) and tile and all(isinstance(size, int) for size in tile)
    if not is_tile or not all(map(is_power_of_two, tile)):
        raise LayoutError(f"a tile has sizes that are powers of two, got {quoted(str(tile))}")
    return tuple(tile)


def _axes(dims: Any) -> tuple[Axis, ...]:
    """Return axes that count from the end, and replications."""
    axes: list[Axis] = []
    for axis in dims if isinstance(dims, tuple) else (dims,):
        if isinstance(axis, GluonCall) and own_name(axis.name) == "Replicated":
            times = _arguments(axis, ("times",))["times"]
            if not isinstance(times, int) or not is_power_of_two(times):
                raise LayoutError(
                    f"expected Replicated(times=..) with a power of two, got {quoted(str(times))}"
                )
            axes.append(Replicated(times))
        elif isinstance(axis, int) and axis < 0:
            axes.append(axis)
        else:
            raise LayoutError(f"axes count from the end, from -1 on, got {quoted(str(axis))}")
    return tuple(axes)


# -- layouts ------------------------------------------------------------------------------------

Steps = list[tuple[int, ...]]
"""Bases of an axis, the fastest first."""


def tiled_axes(shape: Shape, tiles: Iterable[Sequence[int]]) -> list[Steps]:
    """Return the axes of a shape after a tiling, each by its bases.

    Raises:
        LayoutError: a tile has more sizes than there are axes, or does not divide one.

    Example:
        >>> tiled_axes((4, 8), [(2, 4)])
        [[(2, 0)], [(0, 4)], [(1, 0)], [(0, 1), (0, 2)]]
    """
    rank = len(shape)
    axes: list[Steps] = []
    for dim, size in enumerate(shape):
        axes.append([step_along(rank, dim, 1 << bit) for bit in range(log2(size))])
    for tile in tiles:
        if len(tile) > len(axes):
            raise LayoutError(f"the tile {_shown(tile)} has more sizes than there are axes")
        split = axes[-len(tile) :]
        for axis, size in zip(split, tile):
            if size > 1 << len(axis):
                message = f"the tile {_shown(tile)} does not divide axes of"
                raise LayoutError(
                    f"{message} {_shown([1 << len(axis_steps) for axis_steps in split])}"
                )
        counts = [axis[log2(size) :] for axis, size in zip(split, tile)]
        inside = [axis[: log2(size)] for axis, size in zip(split, tile)]
        axes = [*axes[: -len(tile)], *counts, *inside]
    return axes


def _shown(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def _of_tiled(tiled: Tiled, shape: Shape) -> LinearLayout:
    """Return the linear layout of a tiled layout over a shape.

    The vector is the fastest of the registers; the axes that neither warps nor lanes share follow,
    the last of them first.
    """
    axes = tiled_axes(shape, tiled.tiles)
    shared = [axis for axis in (*tiled.warps, *tiled.lanes) if isinstance(axis, int)]
    used = [*shared, tiled.vector]
    if len(set(used)) < len(used):
        raise LayoutError("an axis is used twice among warps, lanes and the vector")
    if min(used) < -len(axes):
        raise LayoutError(f"the tiling makes {len(axes)} axes, got axis {min(used)}")
    places = {"warp": _places(axes, tiled.warps, len(shape))}
    places["lane"] = _places(axes, tiled.lanes, len(shape))
    for name, size in (("warp", WARPS), ("lane", LANES)):
        if 1 << len(places[name]) != size:
            message = f"{name}_dims have {1 << len(places[name])} {name}s"
            raise LayoutError(f"{message}, a warp group has {size}")
    rest = [k for k in range(-1, -len(axes) - 1, -1) if k not in used]
    registers = [step for k in (tiled.vector, *rest) for step in axes[k]]
    return _layout(registers, places["lane"], places["warp"], len(shape))


def _places(axes: list[Steps], chosen: Sequence[Axis], rank: int) -> Steps:
    """Return the bases of warps or lanes; the last axis is the fastest."""
    steps: Steps = []
    for axis in reversed(chosen):
        if isinstance(axis, Replicated):
            steps += [(0,) * rank] * log2(axis.times)
        else:
            steps += axes[axis]
    return steps


def _strided(shape: Shape, vector: Any) -> LinearLayout:
    """Return the layout that deals all elements, row by row, to threads in vectors."""
    bits = sum(map(log2, shape))
    if not isinstance(vector, int) or not is_power_of_two(vector):
        raise LayoutError(f"vec_size is a power of two, got {quoted(str(vector))}")
    if 1 << bits < vector * WARPS * LANES:
        elements = count(1 << bits, "element")
        raise LayoutError(f"{elements} do not suffice for {WARPS * LANES} threads of {vector}")
    rows = tiled_axes(shape, [])
    steps = [step for axis in reversed(rows) for step in axis]
    low, lanes = log2(vector), log2(LANES)
    warps = low + lanes + log2(WARPS)
    return _layout(
        [*steps[:low], *steps[warps:]],
        steps[low : low + lanes],
        steps[low + lanes : warps],
        len(shape),
    )


def _layout(registers: Steps, lanes: Steps, warps: Steps, rank: int) -> LinearLayout:
    bases = [("register", registers), ("lane", lanes), ("warp", warps), ("block", [])]
    return LinearLayout.from_bases(bases, dim_names(rank), require_surjective=False)


def _of_transforms(transforms: Sequence[Any], context: Context) -> LinearLayout:
    """Return the layout of a buffer: tiles one after the other, and chunks of 16 bytes swizzled."""
    shape = context.tensor_shape("Mosaic")
    tiles: tuple[tuple[int, ...], ...] = ()
    swizzle = 0
    for transform in transforms:
        name = own_name(transform.name) if isinstance(transform, GluonCall) else ""
        if name in ("TilingTransform", "TileTransform"):
            tiles = (*tiles, _sizes(_arguments(transform, ("tiling",))["tiling"]))
        elif name == "SwizzleTransform" and not swizzle:
            swizzle = _arguments(transform, ("swizzle",))["swizzle"]
        else:
            raise LayoutError("expected TilingTransform and one SwizzleTransform")
    axes = tiled_axes(shape, tiles)
    offsets = [step for axis in reversed(axes) for step in axis]
    if swizzle:
        offsets = _swizzled(offsets, swizzle, context.element_bits)
    bases = [("offset", offsets), ("block", [])]
    return LinearLayout.from_bases(bases, dim_names(len(shape)), require_surjective=False)


def _swizzled(offsets: Steps, swizzle: Any, element_bits: int | None) -> Steps:
    """Return bases whose chunks of 16 bytes are exclusive-ored with their row of the swizzle."""
    if swizzle not in _SWIZZLES:
        widths = ", ".join(map(str, _SWIZZLES))
        raise LayoutError(f"a swizzle is of {widths} bytes, got {quoted(str(swizzle))}")
    if element_bits is None:
        raise LayoutError("a swizzle in bytes needs the width of an element")
    low = log2(max(1, _CHUNK_BITS // element_bits))
    chunk_bits = log2(swizzle * 8 // _CHUNK_BITS)
    # 128 bytes have their chunk from their number; narrower swizzles repeat it for several rows.
    row = low + 3
    swizzled = list(offsets)
    for bit in range(chunk_bits):
        if row + bit < len(offsets):
            pairs = zip(offsets[row + bit], offsets[low + bit])
            swizzled[row + bit] = tuple(a ^ b for a, b in pairs)
    return swizzled


NOTATION = Notation(recognises, read, write)
