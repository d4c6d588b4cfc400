"""Asynchronous copies into shared memory, beside what an H100 counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import sampled

from tt_layout import LayoutError, LinearLayout, parse_ir, parse_layout
from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.global_memory.async_copy import async_copy_wavefronts
from tt_layout.analyses.global_memory.global_access import LINE_BYTES
from tt_layout.audit.audit import audit_module
from tt_layout.audit.measured.counters import MeasuredLaunch
from tt_layout.audit.measured.programs import Programs
from tt_layout.audit.values.given import GivenValues

DATA = Path(__file__).parents[1] / "data"
BITS = {"i8": 8, "f16": 16, "f32": 32, "i64": 64}

Access = tuple[int, int, list[int], list[int], int]


def patterns() -> Iterator[Access]:
    """Yield width, wavefronts, shared and global addresses, mask of lanes of each access."""
    for line in (DATA / "h100-async-patterns.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            width, mask, wavefronts, *words = line.split()
            shared, source = (
                [4 * int(word or "0", 16) for word in text.split(",")] for text in words
            )
            pad = [0] * (32 - len(shared))
            yield int(width), int(wavefronts), shared + pad, source + pad, int(mask, 16)


def predicted(access: Access) -> int:
    width, _, shared, source, mask = access
    active = np.array([[bool(mask >> lane & 1) for lane in range(32)]])
    return int(async_copy_wavefronts(np.array([source]), np.array([shared]), active, width)[0])


def test_designed_accesses() -> None:
    """One of 16 bytes, whose sectors the hardware asks for twice, is not as the rule says."""
    measured = list(patterns())
    wrong = [access for access in measured if predicted(access) != access[1]]
    assert len(measured) > 1000
    assert [(width, wavefronts) for width, wavefronts, *_ in wrong] == [(16, 32)]


def rows() -> list[dict[str, Any]]:
    text = (DATA / "h100-async-copies.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def coordinates(layout: LinearLayout, *dims: str) -> Ints:
    """Return the tensor coordinates at every combination of the dimensions, the first slowest."""
    points = np.zeros((1, layout.num_out_dims), np.int64)
    for dim in dims:
        values = np.zeros((1, layout.num_out_dims), np.int64)
        for vector in dict(layout.bases)[dim]:
            if any(vector) or dim != "register":
                values = np.concatenate([values, values ^ np.array(vector)])
        points = (points[:, None] ^ values[None]).reshape(-1, layout.num_out_dims)
    return points


def wavefronts(row: dict[str, Any]) -> int:
    """Return the wavefronts of a row's copy from a dense tensor, in its layout's order."""
    bits, shape = BITS[row["element"]], row["shape"]
    registers = parse_layout(row["register"])
    layout = registers.to_linear_layout(shape)
    memory = parse_layout(row["shared"]).to_linear_layout(shape, element_bits=bits)
    offsets = np.zeros(shape, np.int64)
    offsets[tuple(coordinates(memory, "offset").T)] = np.arange(prod(shape))
    vector = row["width"] * 8 // bits
    points = coordinates(layout, "register", "warp", "lane")
    points = points.reshape(-1, vector, layout.get_in_dim_size("warp"), 32, len(shape))[:, 0]
    fast, slow = getattr(registers, "order")  # noqa: B009 - of blocked layouts alone
    source = (points[..., slow] * shape[fast] + points[..., fast]) * bits // 8
    target = offsets[tuple(np.moveaxis(points, -1, 0))] * bits // 8
    active = np.ones(source.shape, bool)
    copies = layout.get_free_variable_masks()
    lanes, warps = np.arange(32), np.arange(source.shape[1])[:, None]
    active &= lanes & copies["lane"] == 0
    if row["width"] < 16:  # of warps that copy nothing the counters count what bypasses the cache
        active &= warps & copies["warp"] == 0
    source, target = source.reshape(-1, 32), target.reshape(-1, 32)
    return int(async_copy_wavefronts(source, target, active.reshape(-1, 32), row["width"]).sum())


@pytest.mark.slow
def test_whole_copies() -> None:
    """The ten that differ have 16 bytes per lane, and warps that have nothing to copy."""
    wrong = [row for row in rows() if wavefronts(row) != row["wavefronts"]]
    assert len(wrong) == 10
    assert {row["width"] for row in wrong} == {16}


@pytest.mark.parametrize("width", [4, 8, 16])
def test_idle_lanes_meet_nobody(width: int) -> None:
    lanes = np.arange(32)[None]
    source = lanes * LINE_BYTES
    assert async_copy_wavefronts(source, source, lanes == 5, width).tolist() == [1]
    assert async_copy_wavefronts(source, source, lanes < 0, width).tolist() == [0]


def test_a_width_that_no_copy_has() -> None:
    nothing = np.zeros((0, 32), np.int64)
    with pytest.raises(LayoutError, match="4, 8 or 16 bytes, got 2"):
        async_copy_wavefronts(nothing, nothing, nothing > 0, 2)


KERNEL = """
#r = {register}
#s = {shared}
#smem = #ttg.shared_memory
#slow = #ttg.slice<{{dim = {fast_dim}, parent = #r}}>
#fast = #ttg.slice<{{dim = {slow_dim}, parent = #r}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
tt.func @copy(%p: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}},
              %n: i32 {{tt.divisibility = 16 : i32}}) {{
  %i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32, #slow>
  %j = tt.make_range {{end = {run} : i32, start = 0 : i32}} : tensor<{run}xi32, #fast>
  %i2 = tt.expand_dims %i {{axis = {fast_dim} : i32}} : tensor<{size}xi32, #slow> -> {column}
  %j2 = tt.expand_dims %j {{axis = {slow_dim} : i32}} : tensor<{run}xi32, #fast> -> {row}
  %n2 = tt.splat %n : i32 -> {column}
  %o = arith.muli %i2, %n2 : {column}
  %ob = tt.broadcast %o : {column} -> {ints}
  %jb = tt.broadcast %j2 : {row} -> {ints}
  %at = arith.addi %ob, %jb : {ints}
  %ps = tt.splat %p : !tt.ptr<{element}> -> {pointers}
  %q = tt.addptr %ps, %at : {pointers}, {ints}
  %m = ttg.local_alloc : () -> !ttg.memdesc{buffer}
  %t = ttg.async_copy_global_to_local %q, %m : {pointers} -> {buffer}
  tt.return
}}
}}
"""


def kernel(row: dict[str, Any]) -> str:
    """Return a dump whose one copy is a row's, of a tensor whose rows are %n elements apart."""
    register, shape = row["register"], row["shape"]
    fast, slow = getattr(parse_layout(register), "order")  # noqa: B009 - of blocked layouts alone
    column, line = ([n if d == dim else 1 for d, n in enumerate(shape)] for dim in (slow, fast))
    element, dims = row["element"], f"{shape[0]}x{shape[1]}"
    return KERNEL.format(
        register=register,
        shared=row["shared"],
        element=element,
        size=shape[slow],
        run=shape[fast],
        fast_dim=fast,
        slow_dim=slow,
        column=f"tensor<{column[0]}x{column[1]}xi32, #r>",
        row=f"tensor<{line[0]}x{line[1]}xi32, #r>",
        ints=f"tensor<{dims}xi32, #r>",
        pointers=f"tensor<{dims}x!tt.ptr<{element}>, #r>",
        buffer=f"<{dims}x{element}, #s, #smem, mutable>",
    )


def audited(row: dict[str, Any], **values: int) -> Any:
    [module] = parse_ir(kernel(row))
    given = GivenValues(values)
    [copy] = [
        found
        for found in audit_module(module, given=given).movements
        if "async_copy" in found.operation.name
    ]
    return copy.cost.details.data(1)["wavefronts"] if copy.cost is not None else None


@pytest.mark.slow
@pytest.mark.parametrize("row", sampled(rows(), 12), ids=str)
def test_an_audit_counts_the_wavefronts_of_copies(row: dict[str, Any]) -> None:
    """Exactly where the arguments are given, and not at all where they are not."""
    fast = getattr(parse_layout(row["register"]), "order")[0]  # noqa: B009
    assert audited(row, n=row["shape"][fast]) == wavefronts(row)
    assert audited(row) is None


COPY_OF_AMD = """
#r = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [{threads}], warpsPerCTA = [1],
    order = [0]}}>
#s = #ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = {phases}, order = [0]}}>
module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = {threads} : i32,
    ttg.target = "hip:{gpu}"}} {{
tt.func public @copy(%p: !tt.ptr<i8> {{tt.divisibility = 16 : i32}}) {{
  %o = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32, #r>
  %b = tt.splat %p : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>, #r>
  %q = tt.addptr %b, %o : tensor<1024x!tt.ptr<i8>, #r>, tensor<1024xi32, #r>
  %m = ttg.local_alloc : () -> !ttg.memdesc<1024xi8, #s, #ttg.shared_memory, mutable>
  {copy} : {type} -> <1024xi8, #s, #ttg.shared_memory, mutable>
  tt.return
}}
}}
"""
OF_POINTERS = "%t = ttg.async_copy_global_to_local %q, %m", "tensor<1024x!tt.ptr<i8>, #r>"
OF_OFFSETS = "%t = amdg.buffer_load_to_local %p[%o] into %m", "<i8>[tensor<1024xi32, #r>]"


@pytest.mark.parametrize(
    ("gpu", "phases", "copy", "bpermutes"),
    [
        ("gfx942", 4, OF_POINTERS, 8),
        ("gfx950", 4, OF_POINTERS, 8),
        ("gfx950", 4, OF_OFFSETS, 4),
        ("gfx950", 1, OF_POINTERS, None),
        ("gfx1250", 4, OF_POINTERS, None),
    ],
)
def test_lanes_of_amd_exchange_what_they_copy_to_swizzled_memory(
    gpu: str, phases: int, copy: tuple[str, str], bpermutes: int | None
) -> None:
    """Two shuffles for each pointer and one for each offset, unless lanes may write anywhere."""
    threads = 64 if gpu.startswith("gfx9") else 32
    text = COPY_OF_AMD.format(gpu=gpu, phases=phases, threads=threads, copy=copy[0], type=copy[1])
    [module] = parse_ir(text)
    [cost] = [
        row.cost for row in audit_module(module).movements if "_to_local" in row.operation.name
    ]
    assert cost is not None
    assert cost.details.data(1).get("bpermutes_per_warp") == bpermutes
    assert ("ds_bpermute_b32" in cost.text) == (bpermutes is not None)


MASKED = """
#r = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
tt.func public @copy(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                     %n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c512 = arith.constant 512 : i32
  %o = tt.make_range {end = SIZE : i32, start = 0 : i32} : tensor<SIZExi32, #r>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<SIZEx!tt.ptr<f32>, #r>
  %m = ttg.local_alloc : () -> !ttg.memdesc<SIZExf32, #s, #ttg.shared_memory, mutable>
  scf.for %i = %c0 to %c3 step %c1 : i32 {
    %b = arith.muli %i, %c512 : i32
    %left = arith.subi %n, %b : i32
    %ns = tt.splat %left : i32 -> tensor<SIZExi32, #r>
    %k = arith.cmpi slt, %o, %ns : tensor<SIZExi32, #r>
    %bs = tt.splat %b : i32 -> tensor<SIZExi32, #r>
    %at = arith.addi %o, %bs : tensor<SIZExi32, #r>
    %q = tt.addptr %ps, %at : tensor<SIZEx!tt.ptr<f32>, #r>, tensor<SIZExi32, #r>
    %t = ttg.async_copy_global_to_local %q, %m mask %k : tensor<SIZEx!tt.ptr<f32>, #r>
        -> <SIZExf32, #s, #ttg.shared_memory, mutable>
  }
  tt.return
}
}
"""


@pytest.mark.parametrize(
    ("size", "count", "first", "total"),
    [
        (512, 1536, 16, 48),  # 4 rows of 128 bytes in each of 4 warps, three times
        (512, 0, 16, 48),  # zeros enter as what is copied does
        (512, 512 + 64, 16, 16 + 18 + 16),  # of the second run one warp copies half, and fills
        (32, 1536, 1, 3),  # the other warps repeat: they neither copy nor fill
        (32, 16, 2, 4),  # half of a row is copied, then the row is filled
    ],
)
def test_lanes_of_a_false_mask_write_zeros(size: int, count: int, first: int, total: int) -> None:
    [module] = parse_ir(MASKED.replace("SIZE", str(size)))
    audit = audit_module(module, given=GivenValues({"n": count, "p": 0}))
    [copy] = [row for row in audit.movements if "async_copy" in row.operation.name]
    assert copy.cost is not None
    assert copy.cost.details.data(1)["wavefronts"] == first
    launch = MeasuredLaunch("copy", "1", ctas=1, grid=(1, 1, 1))
    assert Programs(audit, launch, "copy").written(copy).number == total


def test_writes_under_an_unknown_mask_are_not_counted() -> None:
    [module] = parse_ir(MASKED.replace("SIZE", "512"))
    audit = audit_module(module, given=GivenValues({"p": 0}))
    [copy] = [row for row in audit.movements if "async_copy" in row.operation.name]
    launch = MeasuredLaunch("copy", "1", ctas=1, grid=(1, 1, 1))
    written = Programs(audit, launch, "copy").written(copy)
    assert written == (None, "it depends on n", False)
