"""``tt_layout.features``: counts of a kernel for autotuners and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.kernel import kernels_of
from tt_layout.errors import LayoutError, expect
from tt_layout.reports.audit_ir import audit_ir
from tt_layout.reports.features import Features, features_of


def features(
    kernel: Any,
    values: Mapping[str, int] | None = None,
    *,
    grid: Sequence[int] | None = None,
    function: str | None = None,
    gpu: str | None = None,
) -> Features:
    """Return the counts of a kernel as one flat object.

    Args:
        kernel: MLIR text, the path of a dump, modules, or a compiled kernel, as for `audit_ir`.
        values: what arguments of the kernel are, by name; of a pointer its address modulo 512.
        grid: programs along x, y and z, for the bounds of a launch; without it they are those of
            one program on each multiprocessor.
        function: the kernel, where the dump has several.
        gpu: the product that bounds are of, such as ``h100``; by default the first of the chip.

    Returns:
        Numbers, texts, truth values and None by name; ``docs/features.md`` has each of them.
        ``version`` changes when a name changes its meaning.

    Raises:
        LayoutError: the dump cannot be read, or does not have that one kernel.
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
    expect("function", function, str, type(None))
    report = audit_ir(kernel, values, gpu=gpu)
    shape: Grid | None = tuple(grid) if grid is not None else None
    every = [facts for audit in report.audits for facts in kernels_of(audit, shape, report.file)]
    matching = [facts for facts in every if function is None or facts.symbol == function]
    if len(matching) == 1:
        return features_of(matching[0])
    told = ", ".join(f"@{facts.function}" for facts in every) or "none that moves data"
    which = f"@{function} once" if function is not None else "one kernel"
    way_out = "; choose one by function=" if function is None and every else ""
    raise LayoutError(f"{report.file} does not have {which}: it has {told}{way_out}")
