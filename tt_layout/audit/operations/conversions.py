"""What conversions between register layouts cost."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.exchanges import shuffles_data
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import Operation, moved_bits


def conversion_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the class of a conversion between registers, and what it moves at least.

    Raises:
        LayoutError: it is not known, and why.
    """
    if operation.source is None or operation.target is None:
        return None
    before, after = (audited.layouts.linear(end) for end in (operation.source, operation.target))
    if before is None or after is None:
        ends = (operation.source, operation.target)
        refused = [end.layout for end in ends if end.layout is not None]
        raise LayoutError(f"{refused[0]} is refused" if refused else "no layout")
    lanes = {layout.get_in_dim_size("lane") for layout in (before, after)}
    if len(lanes) > 1:
        raise LayoutError(f"{min(lanes)} threads per warp")
    bits, gpu = moved_bits(operation.target), audited.module.gpu
    return _conversion(before, after, bits, gpu or audited.gpu, is_named=gpu is not None)


@lru_cache(maxsize=4096)
def _conversion(
    before: LinearLayout,
    after: LinearLayout,
    bits: int | None,
    target: str | None,
    *,
    is_named: bool,
) -> Cost:
    """Return the cost of a conversion; what the compiler makes of it where its GPU is named."""
    from tt_layout.analyses.conversion import conversion
    from tt_layout.hardware import find_target

    found = conversion.classify(before, after)
    text, details = str(found.kind), {"class": found.kind}
    if bits is None:
        return Cost(text, 0, details)
    if target is None:  # wavefronts and shuffles are counted otherwise by each vendor
        moved = conversion.conversion_cost(before, after, bits).moved_bytes
        return Cost(text, 0, {**details, "moved_bytes": moved})
    least = conversion.conversion_cost(before, after, bits, target)
    compiled = _as_compiled(before, after, bits, target) if is_named else {}
    exact = compiled.get("wavefronts")
    wavefronts = least.store_wavefronts + least.load_wavefronts if exact is None else exact
    numbers = {
        "moved_bytes": least.moved_bytes,
        "shuffles_per_warp": least.shuffles,
        **compiled,
        "wavefronts": wavefronts,
    }
    shuffles = numbers["shuffles_per_warp"]
    if shuffles:
        text += f", {'>= ' * ('compiled' not in numbers)}{shuffles} per warp"
    if bpermutes := numbers.get("bpermutes_per_warp"):
        text += f", {bpermutes} of them ds_bpermute_b32"
    cycle = find_target(target).cycle
    cycles = f"{wavefronts} {cycle}{'s' * (wavefronts != 1)}"
    text += f", {'>= ' * (exact is None)}{cycles}" * bool(wavefronts)
    if "scratch_bytes" in numbers:
        text += f", {numbers['scratch_bytes']} bytes of scratch"
    weight = wavefronts + shuffles * after.get_in_dim_size("warp")
    return Cost(text, weight, {**details, **numbers}, extra=weight)


def _as_compiled(
    before: LinearLayout, after: LinearLayout, bits: int, target: str
) -> dict[str, Any]:
    """Return what the compiler makes of a conversion, as far as that is known of the GPU."""
    from tt_layout.analyses.conversion.compiled_conversion import compiled_conversion
    from tt_layout.analyses.conversion.scratch import scratch

    try:
        buffer = scratch(before, after, bits, target)
        compiled = compiled_conversion(before, after, bits, target)
    except LayoutError:
        return {}
    numbers: dict[str, Any] = {"scratch_bytes": buffer.bytes} if buffer is not None else {}
    numbers |= {"compiled": asdict(compiled), "wavefronts": compiled.wavefronts}
    return numbers | shuffles_data(compiled)
