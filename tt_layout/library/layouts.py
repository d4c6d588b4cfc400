"""Queries of layouts over a tensor: properties, locations, differences, conversions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from tt_layout.analyses.layouts.encoding_difference import difference
from tt_layout.analyses.layouts.point import MAX_HOLDERS
from tt_layout.arguments import integer
from tt_layout.enums import UNORDERED
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.library.inputs import UNKNOWN_ELEMENT, Layout, lanes_of, place, read, type_of
from tt_layout.notation.result import Translation
from tt_layout.notation.translation import translate as translated
from tt_layout.releases import Release
from tt_layout.reports.convert import ConversionReport, TransferReport, conversion_report
from tt_layout.reports.difference import DifferenceReport
from tt_layout.reports.info import InfoReport, info_of
from tt_layout.reports.reduce import ReductionReport, reduction_report
from tt_layout.reports.where import WhereReport, element_report, location_report
from tt_layout.surface import argument

if TYPE_CHECKING:
    from tt_layout.analyses.layouts.properties import LayoutInfo, SharedInfo, TensorMemoryInfo
    from tt_layout.encodings import DistributedEncoding
    from tt_layout.encodings.base import SharedEncoding, TensorMemoryBase
    from tt_layout.mlir.types import ShapeOrType


@overload
def info(
    layout: DistributedEncoding,
    shape_or_type: ShapeOrType,
    *,
    memory_order: Sequence[int] | None = ...,
) -> InfoReport[LayoutInfo]: ...
@overload
def info(
    layout: SharedEncoding, shape_or_type: ShapeOrType, *, memory_order: Sequence[int] | None = ...
) -> InfoReport[SharedInfo]: ...
@overload
def info(
    layout: TensorMemoryBase,
    shape_or_type: ShapeOrType,
    *,
    memory_order: Sequence[int] | None = ...,
) -> InfoReport[TensorMemoryInfo]: ...
@overload
def info(
    layout: Layout,
    shape_or_type: ShapeOrType,
    *,
    memory_order: Sequence[int] | None = ...,
    release: Release | str | None = ...,
    threads_per_warp: int | None = ...,
) -> InfoReport[Any]: ...
def info(
    layout: Layout,
    shape_or_type: ShapeOrType,
    *,
    memory_order: Sequence[int] | None = None,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> InfoReport[Any]:
    """Return the properties of a layout, as ``tt-layout info`` prints them.

    Args:
        layout: text in any notation, or an object; type checkers infer ``.info`` from the class
            of an encoding.
        shape_or_type: the tensor.
        memory_order: dimensions in global memory, the fastest first; by default the last first.
        release, threads_per_warp: as for `parse_layout`.

    Returns:
        A report: ``.info`` has the numbers, ``.access`` the access to global memory.

    Raises:
        LayoutError: it is not a layout, or does not fit the tensor, or the order does not.

    Example:
        >>> report = info("gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])", "64x64xf16")
        >>> report.info.registers, report.access.vector_bytes
        (32, 16)
    """
    placed = place(layout, shape_or_type, release=release, threads_per_warp=threads_per_warp)
    return info_of(placed, memory_order)


def locations_of(
    layout: Layout,
    shape_or_type: ShapeOrType,
    element: Sequence[int],
    *,
    limit: int = MAX_HOLDERS,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> WhereReport:
    """Return the locations of an element, and the bits of the element that determine them.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor.
        element: its coordinates.
        limit: maximum number of locations to list.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: there is no such element, or the layout does not fit the tensor.

    Example:
        >>> rows = "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
        >>> print(locations_of(rows, [64, 64], [4, 22]))
        1 location holds (4, 22)
          T37:2 -> (4, 22): register bit 1 (0, 2) ^ lane bit 0 (0, 4) ^ lane bit 2 (0, 16) ^ warp \
bit 0 (4, 0) = (4, 22)
    """
    placed = place(layout, shape_or_type, release=release, threads_per_warp=threads_per_warp)
    return element_report(placed, element, limit)


def elements_at(
    layout: Layout,
    shape_or_type: ShapeOrType,
    *,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
    **location: int,
) -> WhereReport:
    """Return the element of a location, and the bits of the location that determine it.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor.
        location: ``thread`` (or ``lane`` and ``warp``) and ``register``, ``block``; ``offset``,
            ``partition``; ``row`` and ``column``.  Without a register, all registers of the thread.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: there is no such location, or the layout does not fit the tensor.

    Example:
        >>> rows = "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
        >>> elements_at(rows, [64, 64], thread=37, register=2).locations[0].element
        (4, 22)
    """
    if not location:
        raise LayoutError("ask for a location, such as thread=37, register=2 or offset=96")
    coordinates = {name: integer(name, value) for name, value in location.items()}
    placed = place(layout, shape_or_type, release=release, threads_per_warp=threads_per_warp)
    return location_report(placed, coordinates)


def diff(
    before: Layout,
    after: Layout,
    shape_or_type: ShapeOrType,
    *,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> DifferenceReport:
    """Compare two layouts of one tensor, as ``tt-layout diff`` does.

    Args:
        before: the old layout.
        after: the new layout.
        shape_or_type: the tensor.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: one does not fit the tensor, or they are in different memory spaces.

    Example:
        >>> print(diff("(2,2):(1,2)", "(2,2):(2,1)", "4xf16"))
        - #ttg.linear<{register = [[2]], lane = [[1]], warp = [], block = []}>
        + #ttg.linear<{register = [[1]], lane = [[2]], warp = [], block = []}>
        different
          register bit 0 and lane bit 0 exchanged
          2 of 4 elements move
          registers per thread unchanged
          first: (1) was T1:0, is T0:1
          next: (2) was T0:1, is T1:0
    """
    old, new = (
        read(layout, shape_or_type, name=name, release=release, threads_per_warp=threads_per_warp)
        for name, layout in (("<before>", before), ("<after>", after))
    )
    return DifferenceReport(difference(old, new, type_of(shape_or_type)))


@overload
def convert(
    src: DistributedEncoding,
    dst: DistributedEncoding,
    shape_or_type: ShapeOrType,
    *,
    target: Target | str | None = ...,
) -> ConversionReport: ...
@overload
def convert(
    src: Layout,
    dst: Layout,
    shape_or_type: ShapeOrType,
    *,
    target: Target | str | None = None,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> Any: ...
def convert(
    src: Layout,
    dst: Layout,
    shape_or_type: ShapeOrType,
    *,
    target: Target | str | None = None,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> ConversionReport | TransferReport:
    """Return the cost of a layout conversion, as ``tt-layout convert`` prints it.

    Args:
        src: the source layout.
        dst: the destination layout.
        shape_or_type: the tensor.
        target: the GPU, such as ``sm90``; by default the usual one for the layout's warp size.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: a layout does not fit the tensor, or they cannot be in one kernel.

    Example:
        >>> report = convert("(2,2):(1,2)", "(2,2):(2,1)", "4xf32")
        >>> report.conversion.kind
        'shuffles'
    """
    lanes = lanes_of(target, threads_per_warp)
    old, new = (
        read(
            layout,
            shape_or_type,
            name=f"<{argument(name)}>",
            release=release,
            threads_per_warp=lanes,
        )
        for name, layout in (("src", src), ("dst", dst))
    )
    gpu_name = target.name if isinstance(target, Target) else target
    return conversion_report(old, new, type_of(shape_or_type), gpu_name)


def reduce(
    layout: Layout,
    shape_or_type: ShapeOrType,
    axis: int,
    *,
    target: Target | str | None = None,
    ordering: str = UNORDERED,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> ReductionReport:
    """Return the order in which a reduction adds, as ``tt-layout reduce`` prints it.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor; its element type is f32 if only a shape is given.
        axis: the reduced dimension; a negative one counts from the last.
        target: the GPU, such as ``sm90``; by default the usual one for the layout's warp size.
        ordering: ``inner_tree`` for the ordering of Meta's Triton.
        release: the release whose rules hold, and which compiles the reduction.
        threads_per_warp: as for `parse_layout`.

    Returns:
        A report: ``.tree.sum(values)`` adds a NumPy array, bit for bit as the kernel does;
        ``.tree.difference(other)`` is the first addition that differs in another tree.

    Raises:
        LayoutError: the layout does not fit the tensor, there is no such axis, or the release
            cannot reduce such a layout.

    Example:
        >>> rows = "gl.BlockedLayout([1, 2], [1, 32], [1, 4], [1, 0])"
        >>> print(reduce(rows, "2x64xf32", 1))
        sum of 64 elements of f32 along dimension 1, sm90, Triton 3.9
          step  in         by                 adds
             1  registers                     s1(i) = x(i) + x(i+1)
             2  lanes      shfl.sync.bfly 16  s2(i) = s1(i) + s1(i+32)
             3  lanes      shfl.sync.bfly 8   s3(i) = s2(i) + s2(i+16)
             4  lanes      shfl.sync.bfly 4   s4(i) = s3(i) + s3(i+8)
             5  lanes      shfl.sync.bfly 2   s5(i) = s4(i) + s4(i+4)
             6  lanes      shfl.sync.bfly 1   s6(i) = s5(i) + s5(i+2)
    """
    lanes = lanes_of(target, threads_per_warp)
    encoding = read(layout, shape_or_type, release=release, threads_per_warp=lanes)
    tensor = type_of(shape_or_type)
    if tensor.element_type == UNKNOWN_ELEMENT:
        tensor = type_of("x".join(map(str, (*tensor.shape, "f32"))))
    return reduction_report(encoding, tensor, axis, target, ordering)


def translate(
    layout: Layout,
    shape_or_type: ShapeOrType | None = None,
    *,
    to: str | Release,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> Translation:
    """Translate a layout to another notation, exactly or not at all.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor, which all but releases and ``gluon`` need.
        to: a release such as ``"3.4"``, or ``linear``, ``gluon``, ``cute``, ``json``,
            ``linear-layout``, ``bases`` or ``tlx``.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        RefusedError: the target cannot express the layout, or not exactly.
        LayoutError: it is not a layout, the target is unknown, or it does not fit the tensor.

    Example:
        >>> swizzled = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
        >>> print(translate(swizzled, [64, 64], to="cute"))
        Swizzle<3,3,3> o (64,64):(64,1)
        >>> print(translate(swizzled, to="gluon"))
        gl.SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])
    """
    encoding = read(layout, shape_or_type, release=release, threads_per_warp=threads_per_warp)
    if shape_or_type is None:
        return translated(encoding, to)
    placed = place(encoding, shape_or_type)
    return translated(encoding, to, placed.shape, element_bits=placed.element_bits)
