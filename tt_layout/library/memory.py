"""Shared memory: bank conflicts, the best layout, and the compiler's default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tt_layout.analyses.layouts.builders import shared_of_operand
from tt_layout.analyses.shared_memory.swizzle import find_swizzle as search
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError, expect
from tt_layout.hardware import DEFAULT_TARGET, Target
from tt_layout.library.inputs import Layout, gpu, lanes_of, read, several, with_width
from tt_layout.reports.conflicts import (
    KINDS,
    ConflictsReport,
    conflicts_report,
    element_bytes,
    target_of,
)
from tt_layout.reports.swizzle import SwizzleReport
from tt_layout.surface import argument

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType
    from tt_layout.releases import Release


def conflicts(
    register: Layout,
    shared: Layout,
    shape_or_type: ShapeOrType,
    *,
    target: Target | str | None = None,
    access: str = "both",
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> ConflictsReport:
    """Return the shared-memory bank conflicts of a store and a load.

    Args:
        register: the register layout, as text in any notation or as an object.
        shared: the shared layout; the two may be given in either order.
        shape_or_type: the type of the tensor, since the element width matters.
        target: the GPU, such as ``sm90`` or ``gfx942``; by default the usual one for the layout's
            warp size.
        access: ``store``, ``load`` or ``both``.
        release, threads_per_warp: as for `parse_layout`.

    Returns:
        A report: ``.conflicts.store`` and ``.conflicts.load`` have the numbers.

    Raises:
        LayoutError: a layout does not fit the type, they are not a register layout and a shared
            layout, or the target has another warp size.

    Example:
        >>> report = conflicts("gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])",
        ...                         "Swizzle<3,3,3> o (64,64):(64,1)", "64x64xf16")
        >>> report.conflicts.store.extra_wavefronts
        0

    Source:
        docs/bank-conflicts.md: the rule, the measurements and where the compiler differs.
    """
    expect("access", access, str)
    if access not in (*KINDS, "both"):
        raise LayoutError(f"access must be {', '.join(KINDS)} or both, got {access!r}")
    tensor = with_width(shape_or_type)
    lanes = lanes_of(target, threads_per_warp)
    name = f"<{argument('register')}>"
    registers = read(register, tensor, name=name, release=release, threads_per_warp=lanes)
    memory = read(
        shared, tensor, name="<shared>", memory_space=MemorySpace.SHARED, release=release,
        threads_per_warp=lanes,
    )  # fmt: skip
    kinds = KINDS if access == "both" else (access,)
    hardware = target_of(registers, memory, tensor) if target is None else gpu(target)
    return conflicts_report(registers, memory, tensor, hardware, kinds)


def swizzle(
    writers: Layout | Sequence[Layout],
    readers: Layout | Sequence[Layout],
    shape_or_type: ShapeOrType,
    *,
    target: Target | str = DEFAULT_TARGET,
    family: str = "swizzled",
    max_candidates: int | None = None,
    has_ranking: bool = False,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> SwizzleReport:
    """Find the shared layouts with the fewest cycles, in a family and among all linear layouts.

    Args:
        writers: the register layout from which the tensor is stored, or several.
        readers: the register layout into which it is loaded, or several; by default the
            writers.
        shape_or_type: the type of the tensor, since the element width matters.
        target: the GPU.
        family: the attribute whose parameters are searched, or ``all``.
        max_candidates: maximum number of layouts to try.
        has_ranking: whether the report lists the whole ranking.
        release, threads_per_warp: as for `parse_layout`.

    Returns:
        A report: ``.search.best.encoding`` is the layout.

    Raises:
        LayoutError: a layout is not a register layout, or does not fit the type or the target.

    Example:
        >>> rows, columns = "(128,32):(1,128)", "(128,32):(32,1)"
        >>> print(swizzle(rows, columns, "128x32xf32").search.best.encoding)
        #ttg.swizzled_shared<{vec = 1, perPhase = 2, maxPhase = 32, order = [1, 0]}>
    """
    tensor = with_width(shape_or_type)
    hardware, lanes = gpu(target), lanes_of(target, threads_per_warp)
    storing, loading = (
        [
            read(layout, tensor, name=name, release=release, threads_per_warp=lanes)
            for layout in several(layouts)
        ]
        for name, layouts in (("<writers>", writers), ("<readers>", readers))
    )
    result = search(
        storing,
        loading or storing,
        tensor.shape,
        elem_bytes=element_bytes(tensor),
        target=hardware,
        family=family,
        max_candidates=max_candidates,
    )
    return SwizzleReport(result, hardware, has_ranking)


def operand_shared(
    operand: Layout,
    shape_or_type: ShapeOrType,
    *,
    order: Sequence[int] | None = None,
    is_transposed: bool = False,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> SwizzledShared:
    """Return the compiler's shared layout of a dot operand.

    Args:
        operand: its register layout, a ``#ttg.dot_op``.
        shape_or_type: the type of the tensor, since the element width matters.
        order: dimensions in shared memory, the fastest first; by default the last first.
        is_transposed: whether the operand is read against its order.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: it is another layout, or the order does not suit the shape.

    Example:
        >>> mma = "gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])"
        >>> print(operand_shared(f"gl.DotOperandLayout(0, {mma}, 2)", "64x32xf16"))
        #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
    """
    tensor = with_width(shape_or_type)
    encoding = read(
        operand, tensor, name="<operand>", release=release, threads_per_warp=threads_per_warp
    )
    return shared_of_operand(encoding, tensor, order, is_transposed)
