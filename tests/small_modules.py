"""Layouts and modules of a few lines that several tests take."""

from __future__ import annotations

from tt_layout import parse_ir
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import SharedDetails
from tt_layout.ir.module import Module

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], "
    "order = [1, 0]}>"
)
COLUMNS = ROWS.replace("[1, 0]", "[0, 1]")
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
TILE = f"!ttg.memdesc<32x64xf32, {PLAIN}, #ttg.shared_memory, mutable>"
NVMMA = "#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = false, elementBitWidth = {}{}}}>"


def module_of(body: str, *, target: str = "cuda:90", warps: int = 8) -> Module:
    head = f'"ttg.num-warps" = {warps} : i32, ttg.target = "{target}"'
    function = f"  tt.func @f(%x: i32) {{\n{body}\n    tt.return\n  }}"
    [module] = parse_ir(f"#rows = {ROWS}\nmodule attributes {{{head}}} {{\n{function}\n}}")
    return module


def shared_cost_of(width: int) -> Cost:
    details = SharedDetails(
        instruction="ld.shared",
        width_bytes=width,
        instructions=1,
        wavefronts_per_instruction=1,
        ideal_wavefronts_per_instruction=1,
        target="sm90",
    )
    return Cost("", 1, details)
