"""Costs of conversions between register layouts."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import ConversionDetails
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import MovementOperation, moved_bits
from tt_layout.wording import count

if TYPE_CHECKING:
    from tt_layout.hardware import Target


def conversion_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the class of a conversion between register layouts, and the least that it moves.

    Raises:
        LayoutError: the cost is not known, with the reason.
    """
    if operation.source is None or operation.target is None:
        return None
    before, after = (audited.layouts.linear(end) for end in (operation.source, operation.target))
    if before is None or after is None:
        src, dst = (audited.layouts.layout(end) for end in (operation.source, operation.target))
        if src is not None and dst is not None and src.is_modular and dst.is_modular:
            return _modular(src, dst, moved_bits(operation.target))
        raise LayoutError((operation.source if before is None else operation.target).without_linear)
    lanes = {layout.get_in_dim_size("lane") for layout in (before, after)}
    if len(lanes) > 1:
        raise LayoutError(f"{min(lanes)} threads per warp")
    bits, gpu = moved_bits(operation.target), audited.module.gpu
    is_named = gpu is not None or audited.module.is_intel
    return _conversion(before, after, bits, gpu or audited.shared_gpu, is_named=is_named)


def _modular(before: LinearLayout, after: LinearLayout, bits: int | None) -> Cost:
    """Return the class of a conversion over sizes that are not powers of two.

    Raises:
        LayoutError: it goes through memory, at an unknown cost.
    """
    from tt_layout.analyses.conversion.conversion import ConversionKind
    from tt_layout.analyses.conversion.modular_conversion import classify_modular, cover_elements

    kind = classify_modular(before, after)
    if kind in (ConversionKind.NOTHING, ConversionKind.REGISTERS):
        return Cost(str(kind), 0, ConversionDetails(kind=kind))
    size = f", at most {count(cover_elements(before) * max(8, bits) // 8, 'byte')}" if bits else ""
    raise LayoutError(f"{kind}{size}")


@lru_cache(maxsize=4096)
def _conversion(
    before: LinearLayout,
    after: LinearLayout,
    bits: int | None,
    target: str | None,
    *,
    is_named: bool,
) -> Cost:
    """Return the cost of a conversion, as compiled if the module names its GPU."""
    from tt_layout.analyses.conversion import conversion
    from tt_layout.analyses.conversion.sub_groups import sub_group_step
    from tt_layout.hardware import find_target

    kind_of_move = conversion.classify(before, after)
    if bits is None:
        return Cost(str(kind_of_move.kind), 0, ConversionDetails(kind=kind_of_move.kind))
    if target is None:  # wavefronts and shuffles are counted otherwise by each vendor
        moved = conversion.conversion_cost(before, after, bits).moved_bytes
        return Cost(
            str(kind_of_move.kind), 0, ConversionDetails(kind=kind_of_move.kind, moved_bytes=moved)
        )
    least = conversion.conversion_cost(before, after, bits, target)
    gpu = find_target(target)
    step = sub_group_step(before, after, bits) if gpu.is_intel else None
    in_memory = step is None or step.takes_memory
    details = ConversionDetails(
        kind=step.kind if step is not None else kind_of_move.kind,
        moved_bytes=least.moved_bytes,
        shuffles_per_warp=least.shuffles,
        wavefronts=least.store_wavefronts + least.load_wavefronts if in_memory else 0,
        sub_group_step=step,
    )
    if is_named:
        details = _as_compiled(details, before, after, bits, target)
    text = f"{details.kind}{f', {step}' if step is not None else ''}{_text(details, gpu)}"
    shuffles = (details.shuffles_per_warp or 0) * after.get_in_dim_size("warp")
    weight = (details.wavefronts or 0) + shuffles
    return Cost(text, weight, details, extra=weight)


def _text(details: ConversionDetails, target: Target) -> str:
    """Return shuffles, cycles and scratch memory in words."""
    compiled, wavefronts = details.compiled, details.wavefronts
    is_exact = compiled is not None and compiled.wavefronts is not None
    text = ""
    if details.shuffles_per_warp:
        text += f", {'>= ' if compiled is None else ''}{details.shuffles_per_warp} per warp"
    if details.bpermutes_per_warp:
        text += f", {details.bpermutes_per_warp} of them ds_bpermute_b32"
    if wavefronts:
        text += f", {'>= ' if not is_exact else ''}{count(wavefronts, target.cycle)}"
    if details.scratch_bytes is not None:
        text += f", {details.scratch_bytes} bytes of scratch"
    return text


def _as_compiled(
    least: ConversionDetails, before: LinearLayout, after: LinearLayout, bits: int, target: str
) -> ConversionDetails:
    """Return the compiled cost of a conversion, as far as it is known for the GPU."""
    from tt_layout.analyses.conversion.compiled_conversion import compiled_conversion
    from tt_layout.analyses.conversion.scratch import scratch

    try:
        buffer = scratch(before, after, bits, target)
        compiled = compiled_conversion(before, after, bits, target)
    except LayoutError:
        return least
    return replace(
        least,
        scratch_bytes=buffer.bytes if buffer is not None else None,
        compiled=compiled,
        wavefronts=least.wavefronts if compiled.wavefronts is None else compiled.wavefronts,
        shuffles_per_warp=compiled.shuffles,
        bpermutes_per_warp=compiled.bpermutes or None,
    )
