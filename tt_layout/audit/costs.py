"""What a move costs, by the analyses that know: one table from group to function.

An analysis is imported when the first move of its group is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any, NamedTuple

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.layouts import PlacedLayouts
from tt_layout.encodings import SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation, type_bytes


class Cost(NamedTuple):
    """What an analysis says of a move.

    Attributes:
        text: in a few words.
        weight: to sort by: turns of shared memory, or shuffles, of all warps of a CTA.
        details: plain data for the JSON report.
    """

    text: str
    weight: float
    details: dict[str, Any]


CostFunction = Callable[[Operation, Module, PlacedLayouts], "Cost | None"]


def conversion_cost(operation: Operation, module: Module, layouts: PlacedLayouts) -> Cost | None:
    """Return the class of a conversion between registers, and what it moves at least."""
    if operation.source is None or operation.target is None:
        return None
    before, after = layouts.linear(operation.source), layouts.linear(operation.target)
    if before is None or after is None:
        return None
    return _conversion(before, after, operation.target.element_bits, shared_target(module.target))


@lru_cache(maxsize=4096)
def _conversion(
    before: LinearLayout, after: LinearLayout, bits: int | None, target: str | None
) -> Cost:
    from tt_layout.analyses import conversion
    from tt_layout.hardware import DEFAULT_TARGET

    found = conversion.classify(before, after)
    text, details = found.kind, {"class": found.kind}
    if bits is None:
        return Cost(text, 0, details)
    least = conversion.conversion_cost(before, after, bits, target or DEFAULT_TARGET)
    through = {"wavefronts": None, **_shared_memory(before, after, bits, target)}
    exact = through["wavefronts"]
    bound = least.store_wavefronts + least.load_wavefronts
    wavefronts = through["wavefronts"] = bound if exact is None else exact
    numbers = {
        "moved_bytes": least.moved_bytes,
        "shuffles_per_warp": least.shuffles,
        **through,
    }
    text += f", >= {least.shuffles} per warp" * bool(least.shuffles)
    text += f", {'>= ' * (exact is None)}{wavefronts} wavefronts" * bool(wavefronts)
    if "scratch_bytes" in numbers:
        text += f", {numbers['scratch_bytes']} bytes of scratch"
    shuffles = least.shuffles * after.get_in_dim_size("warp")
    return Cost(text, wavefronts + shuffles, {**details, **numbers})


def _shared_memory(
    before: LinearLayout, after: LinearLayout, bits: int, target: str | None
) -> dict[str, Any]:
    """Return what the compiler makes of a conversion, as far as that is known of the GPU."""
    from tt_layout.analyses.compiled_conversion import compiled_conversion
    from tt_layout.analyses.scratch import scratch

    if target is None:
        return {}
    try:
        buffer = scratch(before, after, bits, target)
        compiled = compiled_conversion(before, after, bits, target)
    except LayoutError:
        return {}
    numbers: dict[str, Any] = {"scratch_bytes": buffer.bytes} if buffer is not None else {}
    if compiled is not None:
        numbers |= {"compiled": asdict(compiled), "wavefronts": compiled.wavefronts}
    return numbers


def shared_cost(operation: Operation, module: Module, layouts: PlacedLayouts) -> Cost | None:
    """Return the instructions and turns of an access to shared memory."""
    is_store = operation.group == "local store"
    register, memory = operation.source, operation.target
    if not is_store:
        register, memory = memory, register
    if register is None or memory is None or not isinstance(memory.encoding, SharedEncoding):
        return None
    held, lies = layouts.linear(register), layouts.linear(memory)
    size, target = type_bytes(memory), shared_target(module.target)
    if held is None or lies is None or size is None or target is None or not memory.elements:
        return None
    element_bytes = size // memory.elements
    return _shared(held, lies, element_bytes, memory.encoding.padding, target, is_store)


@lru_cache(maxsize=4096)
def _shared(
    held: LinearLayout,
    lies: LinearLayout,
    element_bytes: int,
    padding: tuple[tuple[int, int], ...],
    target: str,
    is_store: bool,
) -> Cost:
    from tt_layout.analyses.access import access_map
    from tt_layout.analyses.banks import cost
    from tt_layout.hardware import find_target

    # A part of a buffer lies as the buffer's first elements do, but for where it begins.
    whole = LinearLayout(held.in_bases, lies.out_sizes)
    places = access_map(whole, lies, element_bytes, padding)
    access = cost(places, find_target(target), is_store=is_store)
    turns, fewest = access.wavefronts_per_instruction, access.ideal_wavefronts_per_instruction
    text = f"{access.instructions} x {access.name}, {turns:g} wavefronts each"
    text += f", {turns - fewest:g} from conflicts" * (turns != fewest)
    details = {
        "instruction": access.name,
        "width_bytes": access.width_bytes,
        "instructions": access.instructions,
        "wavefronts_per_instruction": turns,
        "ideal_wavefronts_per_instruction": fewest,
        "target": target,
    }
    return Cost(text, access.wavefronts * held.get_in_dim_size("warp"), details)


COSTS: dict[str, CostFunction] = {
    "conversion": conversion_cost,
    "local load": shared_cost,
    "local store": shared_cost,
}
"""Group of a move -> what computes its cost."""


def cost_of(operation: Operation, module: Module, layouts: PlacedLayouts) -> Cost | None:
    """Return the cost of a move; None where no analysis can tell."""
    function = COSTS.get(operation.group)
    if function is None:
        return None
    try:
        return function(operation, module, layouts)
    except LayoutError:
        return None


def chip(target: str | None) -> str | None:
    """Return the GPU of a module's target, such as ``sm90`` of ``cuda:90``.

    Example:
        >>> chip("cuda:90"), chip("hip:gfx942")
        ('sm90', 'gfx942')
    """
    match = re.fullmatch(r"(cuda|hip):(\w+)", target or "")
    if match is None:
        return None
    return f"sm{match.group(2)}" if match.group(1) == "cuda" else match.group(2)


@lru_cache(maxsize=64)
def shared_target(target: str | None) -> str | None:
    """Return the GPU whose shared memory is that of a module's target; None if unknown.

    Example:
        >>> shared_target("cuda:89"), shared_target("hip:gfx1201"), shared_target(None)
        ('sm80', 'gfx12', None)
        >>> shared_target("hip:gfx1250")
        'gfx1250'
    """
    from tt_layout.hardware import find_target

    name = chip(target)
    try:
        return find_target(name).name if name is not None else None
    except LayoutError:
        return None
