"""``tt_layout.features`` and ``tt_layout.estimate``: a kernel in numbers, and its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.values.given import launch_values
from tt_layout.errors import LayoutError, expect
from tt_layout.reports.audit_ir import audits_of
from tt_layout.reports.feature_types import Features
from tt_layout.reports.features import features_of
from tt_layout.surface import argument


def features(
    kernel: Any,
    values: Mapping[str, int] | None = None,
    *,
    grid: Sequence[int] | None = None,
    function: str | None = None,
    gpu: str | None = None,
) -> Features:
    """Return the features of a kernel as one flat object.

    Args:
        kernel: MLIR text, the path of a dump, modules, or a compiled kernel, as for `audit_ir`.
        values: kernel arguments by name; for a pointer, its address modulo 512.
        grid: programs along x, y and z, for the bounds of a launch; without it the bounds are for
            one program on each multiprocessor.
        function: the kernel, if the dump has several.
        gpu: the product for the bounds, such as ``h100``; by default the first with the chip.

        Returns:
            Numbers, strings, truth values and None by name, documented in ``docs/features.md``.
        ``version`` changes when a name changes its meaning.

    Raises:
        LayoutError: the dump cannot be read, or does not have exactly that kernel.
        TypeError: the kernel is not something that can be audited.

        Example:
        >>> found = features('''
        ... #a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32} {
        ...   %0 = tt.load %p : tensor<256x!tt.ptr<f16>, #a>
        ... }''')
        >>> found["warps"], found["global_loads"], found["global_load_bytes"], found["gpu"]
        (4, 1, 512, None)
    """
    return features_of(one_kernel(kernel, values, grid=grid, function=function, gpu=gpu))


def estimate(
    kernel: Any,
    values: Mapping[str, int] | None = None,
    *,
    grid: Sequence[int] | None = None,
    function: str | None = None,
    gpu: str | None = None,
) -> Estimate:
    """Estimate the time of a kernel's launch from its dump, without a GPU.

    Args:
        kernel: MLIR text, the path of a dump, modules, or a compiled kernel, as for `audit_ir`;
            the registers and spills of a compiled kernel are used.
        values: kernel arguments by name.
        grid: programs along x, y and z; without it the estimate is for one full wave.
        function: the kernel, if the dump has several.
        gpu: the product, such as ``h100``; by default the first with the chip.

    Returns:
        The estimate: ``seconds``, its ``range``, within which about four of five kernels lie, and
        its ``terms``.  It is not a bound: about half of all launches take longer.

    Raises:
        LayoutError: the dump cannot be read, or does not have that one kernel; or there is no
            estimate, and why.
        TypeError: the kernel is not something that can be audited.

    Example:
        >>> found = estimate('''
        ... #a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
        ...   tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
        ...     %b = tt.get_program_id x : i32
        ...     %c = arith.constant 512 : i32
        ...     %o = arith.muli %b, %c : i32
        ...     %r = tt.addptr %p, %o : !tt.ptr<f32>, i32
        ...     %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
        ...     %s = tt.splat %r : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
        ...     %q = tt.addptr %s, %i : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
        ...     %x = tt.load %q : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.store %q, %x : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.return
        ...   }
        ... }''', grid=(65536,))
        >>> found.limit, found.launch.programs, 50e-6 < found.seconds < 100e-6
        ('DRAM', 65536, True)
    """
    launched = one_kernel(kernel, values, grid=grid, function=function, gpu=gpu, is_judged=False)
    answer = launched.estimate
    if isinstance(answer, Estimate):
        return answer
    raise LayoutError(f"{launched.name}: {answer.text}")


def one_kernel(
    kernel: Any,
    values: Mapping[str, int] | None,
    *,
    grid: Sequence[int] | None,
    function: str | None,
    gpu: str | None,
    is_judged: bool = True,
) -> Kernel:
    """Return the only kernel, or the one of a name.

    Args:
        kernel, values, grid, function, gpu: as for `features`.
        is_judged: whether to look for findings.

    Raises:
        LayoutError: the dump cannot be read, or does not have that one kernel.
        TypeError: the kernel is not something that can be audited.
    """
    expect("function", function, str, type(None))
    report = audits_of(kernel, launch_values(values, grid), gpu, is_judged=is_judged)
    shape: Grid | None = tuple(grid) if grid is not None else None
    every = [facts for audit in report.audits for facts in kernels_of(audit, shape, report.file)]
    matching = [facts for facts in every if function is None or facts.symbol == function]
    if len(matching) == 1:
        return matching[0]
    told = ", ".join(f"@{facts.function}" for facts in every) or "none that moves data"
    which = f"@{function} once" if function is not None else "one kernel"
    way_out = f"; choose one by {argument('function')}=" if function is None and every else ""
    raise LayoutError(f"{report.file} does not have {which}: it has {told}{way_out}")
