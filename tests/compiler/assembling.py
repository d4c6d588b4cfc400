"""Compiles TTGIR as the wheel does after its own passes; runs where Triton is."""

from __future__ import annotations

import importlib
import re
import tempfile
from typing import Any

STAGES = {"cuda": ("llir", "ptx", "cubin"), "hip": ("llir", "amdgcn", "hsaco")}


NO_UNROLLING = "llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>"


def without_unrolling(text: str) -> str:
    """Return a module whose loops LLVM does not unroll, so that each operation stands once."""
    lines: list[str] = []
    is_loop: list[bool] = []
    for line in text.splitlines():
        if line.lstrip().startswith("}") and is_loop and is_loop.pop():
            line = re.sub(r"\}(?: \{(.*)\})?", rf"}} {{\1|{NO_UNROLLING}}}", line, count=1)
            line = line.replace("{|", "{").replace("|", ", ", 1)
        if re.search(r"\{( loc\(.*\))?$", line):
            is_loop.append("scf.for" in line)
        lines.append(line)
    return "\n".join(lines)


def assembled(text: str, last: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compile a module.

    Args:
        text: TTGIR, which names its target.
        last: the stage to stop after, such as ``ptx``.

    Returns:
        The stages' outputs by name, and the compiler's metadata.
    """
    ir = importlib.import_module("triton._C.libtriton").ir
    compiler = importlib.import_module("triton.backends.compiler")
    make_backend = importlib.import_module("triton.compiler.compiler").make_backend
    match = re.search(r'ttg.target = "(\w+):(\w+)"', text)
    assert match is not None, "the module names its target"
    kind, chip = match.groups()
    threads, warps, ctas = (
        int(re.findall(rf'"ttg.{name}" = (\d+)', text)[0])
        for name in ("threads-per-warp", "num-warps", "num-ctas")
    )
    target = compiler.GPUTarget(kind, int(chip) if kind == "cuda" else chip, threads)
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": warps, "num_ctas": ctas})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    module.context = context
    metadata = {"hash": "", "target": target, **options.__dict__}
    functions: dict[str, Any] = {}
    backend.add_stages(functions, options, compiler.Language.TRITON)
    outputs: dict[str, Any] = {}
    found: Any = module
    for stage in STAGES[kind]:
        outputs[stage] = found = functions[stage](found, metadata)
        if stage == last:
            break
    return outputs, metadata
