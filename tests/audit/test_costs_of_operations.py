"""The cost of each operation on each chip, number by number.

    PYTHONPATH=.:tests:tests/audit:tests/kernels python tests/audit/test_costs_of_operations.py

writes the golden anew.  Rates and constants of the demands are the fixed ones of `test_models`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spelled import spelled
from test_models import CONSTANTS, TIMING
from test_operations import BUFFER, EXAMPLES, LINE_I, POINTERS, ROW, ROW_I, SUM, module
from tiers import sampled

if TYPE_CHECKING:
    from tt_layout.audit.audit import Audit

GOLDEN = Path(__file__).parents[1] / "goldens" / "operations" / "costs.txt"
CHIPS = {
    "": ("cuda:70", "cuda:80", "cuda:90", "cuda:120"),
    "gfx942": ("hip:gfx90a", "hip:gfx942", "hip:gfx950"),
    "gfx1250": ("hip:gfx1100", "hip:gfx1250"),
}
"""What an example is written for -> the chips on which it is costed."""

PLACED = f"%m: {BUFFER}, %r: {ROW}"
NARROW = "tensor<64x64xf16, #narrow>"
COLUMNS = "tensor<64x64xf16, #columns>"
FURTHER = {
    "masked load": ("", f"%r = tt.load %pp, %c, %v : {POINTERS}"),
    "load of known lines": ("", f"%z = tt.load %pp cacheModifier = cg : {POINTERS}"),
    "store of rows": (PLACED, f"ttg.local_store %r, %m : {ROW} -> {BUFFER}"),
    "load of rows": (PLACED, f"%l = ttg.local_load %m : {BUFFER} -> {ROW}"),
    "load of columns": (PLACED, f"%l = ttg.local_load %m : {BUFFER} -> {COLUMNS}"),
    "conversion to columns": (PLACED, f"%l = ttg.convert_layout %r : {ROW} -> {COLUMNS}"),
    "conversion by shuffles": (PLACED, f"%l = ttg.convert_layout %r : {ROW} -> {NARROW}"),
    **{
        f"sum along {axis} by {name}": (
            PLACED,
            f'%l = "tt.reduce"(%r) <{{axis = {axis} : i32}}> '
            f"{SUM.format('reduce').replace('f32', 'f16').replace('addf', name)}"
            f" : ({ROW}) -> tensor<64xf16, #ttg.slice<{{dim = {axis}, parent = #row}}>>",
        )
        for axis in (0, 1)
        for name in ("addf", "maxnumf")
    },
    "sum of integers": (
        f"%r: {ROW_I}",
        f'%l = "tt.reduce"(%r) <{{axis = 1 : i32}}> '
        f"{SUM.format('reduce').replace('f32', 'i32').replace('addf', 'addi')}"
        f" : ({ROW_I}) -> tensor<64xi32, #ttg.slice<{{dim = 1, parent = #row}}>>",
    ),
    "scan of rows": (
        PLACED,
        f'%l = "tt.scan"(%r) <{{axis = 1 : i32, reverse = true}}> '
        f"{SUM.format('scan').replace('f32', 'f16')} : ({ROW}) -> {ROW}",
    ),
    "gather of rows": (
        f"{PLACED}, %x: {ROW_I}",
        f"%l = tt.gather %r[%x] {{axis = 0 : i32}} : ({ROW}, {ROW_I}) -> {ROW}",
    ),
    "answered addition": (
        "",
        f"%r = tt.atomic_rmw add, acq_rel, gpu, %qq, %w : "
        f"({POINTERS.replace('f32', 'i32')}, {LINE_I}) -> {LINE_I}",
    ),
    "addition to one address": (
        "%s: f32",
        "%r = tt.atomic_rmw fadd, relaxed, gpu, %p, %s : (!tt.ptr<f32>, f32) -> f32",
    ),
    "scalar load": ("", "%r = tt.load %p : !tt.ptr<f32>"),
    "scattered load": (
        f"%x: {LINE_I}",
        f"%y = tt.addptr %ps, %x : {POINTERS}, {LINE_I}\n  %r = tt.load %y : {POINTERS}",
    ),
    "load of every fourth": (
        "",
        f"%k = arith.constant dense<4> : {LINE_I}\n  %x = arith.muli %o, %k : {LINE_I}\n"
        f"  %y = tt.addptr %ps, %x : {POINTERS}, {LINE_I}\n  %r = tt.load %y : {POINTERS}",
    ),
}
"""Name -> what kind of GPU and arguments an operation needs, and itself; pointers are aligned."""

ALIGNED = "{tt.divisibility = 16 : i32}"
LAYOUTS = """
#narrow = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [LANES8, 8],
                        warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, LANES8],
                         warpsPerCTA = [1, 4], order = [0, 1]}>
"""
CONDITION = f"%k1 = arith.constant dense<900> : {LINE_I}\n  %c = arith.cmpi slt, %o, %k1 : {LINE_I}"


def dumps(name: str) -> Iterator[tuple[str, str]]:
    """Yield the chips of an example, and a dump for each."""
    head, body = EXAMPLES.get(name) or FURTHER[name]
    kind = head.split(" ", 1)[0] if head.startswith(("gfx", "blackwell")) else ""
    kinds = [kind] if kind in ("blackwell", "gfx950") or "ttng" in name else {kind, *CHIPS}
    for other in sorted(kinds) if not name.startswith("amdg") else [kind]:
        own = f"{other} {head.removeprefix(kind).strip()}"
        text = module(own, f"{CONDITION}\n  {body}")
        if name in FURTHER:
            text = text.replace("%p: !tt.ptr<f32>", f"%p: !tt.ptr<f32> {ALIGNED}")
        [lanes] = re.findall(r'"ttg.threads-per-warp" = (\d+)', text)
        layouts = LAYOUTS.replace("LANES8", str(int(lanes) // 8))
        [target] = re.findall(r'ttg.target = "(\S+)"', text)
        for chip in CHIPS.get(other, (target,)):
            yield chip, f"{layouts}{text.replace(target, chip)}"


def costs(name: str) -> str:
    """Return a paragraph of an operation, with a line for each different cost."""
    chips: dict[str, list[str]] = {}
    for chip, dump in dumps(name):
        for line in described(dump):
            chips.setdefault(line, []).append(chip.partition(":")[2])
    lines = (f"{' '.join(names)}: {line}\n" for line, names in chips.items())
    return "".join([f"{name}\n", *lines, "\n"])


def described(dump: str) -> Iterator[str]:
    """Yield what is said of the movements and multiplications of a dump."""
    from tt_layout import parse_ir
    from tt_layout.audit.audit import audit_module

    [read] = parse_ir(dump)
    audit = audit_module(read)
    for row in audit.movements:
        cost = spelled(row.cost) if row.cost is not None else row.cost_unknown or row.refusal
        yield f"{row.operation.name} {cost}"
    for product in audit.multiplications:
        yield f"{product.name} {product.first} {spelled(product.instruction)} {product.flops}"
    for finding in audit.findings:
        yield f"finding: {finding.kind} {finding.message}"
    yield from demands(audit)


def demands(audit: Audit) -> Iterator[str]:
    """Yield the demands of what is not elementwise, where the chip has rates."""
    from tt_layout.audit.kernel import kernels_of
    from tt_layout.audit.time.constants import Constants
    from tt_layout.audit.time.demands import Pricing
    from tt_layout.audit.time.estimate import Estimate
    from tt_layout.hardware.timing import Timing

    for kernel in kernels_of(audit):
        estimate = kernel.estimate
        if not isinstance(estimate, Estimate):
            continue
        rates = estimate.chip.product
        assert rates is not None
        steps = list(estimate.program.walk())
        pricing = Pricing(
            Timing(**TIMING), rates, Constants(**CONSTANTS), estimate.program.warps, steps
        )
        for step in steps:
            if step.access is not None or step.product is not None:
                yield f"{step.name} takes {spelled(pricing.of(step))}"


@cache
def paragraphs() -> dict[str, str]:
    """Return the paragraphs of the golden by their operations."""
    texts = GOLDEN.read_text(encoding="utf-8").split("\n\n")
    return {text.partition("\n")[0]: f"{text}\n\n" for text in texts if text}


@pytest.mark.parametrize("name", sampled([*EXAMPLES, *FURTHER], 5))
def test_costs_are_those_of_the_golden(name: str) -> None:
    assert costs(name) == paragraphs()[name]


if __name__ == "__main__":
    GOLDEN.write_text("".join(map(costs, [*EXAMPLES, *FURTHER])), encoding="utf-8")
