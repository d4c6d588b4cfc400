"""What converting a tensor between two layouts takes: the report of ``tt-layout convert``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tt_layout.analyses.compiled_conversion import (
    CompiledConversion,
    Step,
    compiled_conversion,
)
from tt_layout.analyses.conversion import (
    Conversion,
    ConversionCost,
    classify,
    conversion_cost,
)
from tt_layout.analyses.scratch import Scratch, scratch
from tt_layout.encodings import Encoding
from tt_layout.hardware import DEFAULT_TARGET, TARGETS, find_target, usual_target
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place

JSON_VERSION = 1

MEANINGS = {
    "nothing": "nothing to do: every thread has its elements in place",
    "registers": "a permutation of registers within each thread",
    "shuffles": "shuffles within warps",
    "shared memory": "a trip through shared memory",
    "across CTAs": "across CTAs, through distributed shared memory",
}


@dataclass(frozen=True)
class Report:
    """All that is said of a conversion.

    Attributes:
        src, dst: the layouts.
        conversion: its class.
        cost: the least that it costs; None where the width of an element is not known.
        scratch: the buffer, for the target; None where there is none.
        compiled: the accesses to shared memory that the compiler makes of it, for the target;
            None where they are not known.
        target: the GPU; None where there is none with so many lanes.
    """

    src: Encoding
    dst: Encoding
    conversion: Conversion
    cost: ConversionCost | None
    scratch: Scratch | None
    compiled: CompiledConversion | None
    target: str | None


def report(src: Encoding, dst: Encoding, tensor: TensorType, target: str | None = None) -> Report:
    """Return all that is said of a conversion of a tensor type.

    Raises:
        LayoutError: a layout does not fit the type, or the two are not of one kernel.
    """
    layouts = place(src, tensor).layout, place(dst, tensor).layout
    found = classify(*layouts)
    lanes = layouts[0].get_in_dim_size("lane")
    gpu = usual_target(lanes) if target is None else find_target(target)
    bits = tensor.element_bits
    cost = conversion_cost(*layouts, bits, gpu or DEFAULT_TARGET) if bits else None
    buffer = scratch(*layouts, bits, gpu) if bits and gpu else None
    compiled = compiled_conversion(*layouts, bits, gpu) if bits and gpu else None
    name = gpu.name if gpu is not None else None
    named = name if target in TARGETS else target or name
    return Report(src, dst, found, cost, buffer, compiled, named)


def as_text(result: Report) -> list[tuple[str, str]]:
    """Return the lines of the report, each with the colour it has on a terminal."""
    found, cost = result.conversion, result.cost
    colour = "red" if found.needs_shared_memory else "green"
    lines = [
        (f"- {result.src}", "red"),
        (f"+ {result.dst}", "green"),
        (MEANINGS[found.kind], colour),
    ]
    lines += [(f"  {move}", "") for move in found.moves]
    if cost is not None and found.moves:
        lines.append((f"  moves {cost.moved_bytes} bytes between threads", ""))
        lines += [(f"  {words}", "") for words in _cost_words(cost)]
    if result.scratch is not None:
        buffer = result.scratch
        rounds = "one round" if buffer.rounds == 1 else f"{buffer.rounds} rounds"
        words = f"{buffer.bytes} bytes of scratch per CTA on {result.target}"
        lines.append((f"  {words}, {rounds} of {buffer.store} and {buffer.load}", ""))
    if result.compiled is not None:
        steps = {"store": result.compiled.store, "load": result.compiled.load}
        lines += [(f"  {name}: {_step_words(step)}", "") for name, step in steps.items() if step]
    return lines


def _step_words(step: Step) -> str:
    words = f"{step.instructions} x {step.instruction} per warp"
    if step.wavefronts is None:
        return words
    extra = f", {step.extra_wavefronts} from conflicts" * bool(step.extra_wavefronts)
    return f"{words}, {step.wavefronts} wavefronts per CTA{extra}"


def _cost_words(cost: ConversionCost) -> list[str]:
    words = []
    if cost.shuffles:
        words.append(f"at least {cost.shuffles} shuffles per warp")
    if cost.store_wavefronts:
        counts = f"{cost.store_wavefronts} wavefronts to store and {cost.load_wavefronts} to load"
        words.append(f"at least {counts}, per CTA")
    return words


def as_json(result: Report) -> dict[str, Any]:
    """Return the report as plain data; documented in ``docs/analyses.md``."""
    found = result.conversion
    return {
        "version": JSON_VERSION,
        "src": str(result.src),
        "dst": str(result.dst),
        "kind": found.kind,
        "moves": [asdict(move) for move in found.moves],
        "exchanges": found.exchanges,
        "target": result.target,
        "cost": asdict(result.cost) if result.cost else None,
        "scratch": asdict(result.scratch) if result.scratch else None,
        "compiled": asdict(result.compiled) if result.compiled else None,
    }
