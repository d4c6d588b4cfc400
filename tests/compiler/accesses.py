"""Compiles kernels and counts the instructions on global memory of each line of their TTGIR.

usage: accesses.py QUESTIONS

Runs where Triton is, as `inside` does.  A question has ``kernel``, the name of one in
`access_kernels`, or ``ttgir``, the text of a module; of a kernel also ``target``, ``signature``,
``constants``, ``warps`` and ``aligned``, the arguments that are multiples of 16.  The answer has
``ttgir``, without locations, and ``instructions``: line -> name -> how many there are.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compiler import assembling, inside
else:
    import assembling
    import inside  # it lies in the same folder, and this is run as a script

Question = dict[str, Any]
Answer = dict[str, Any]

PTX = re.compile(r"\b((?:ld|st|atom|red|cp\.async)\.(?:[\w:]+\.)*?global[\w.:]*)(.*)")
GCN = re.compile(r"\s+((?:global|buffer|flat)_(?:load|store|atomic)\w*)(.*)")
NO_OPERATION = re.compile(r"\s*(?:[#!^].*|.*[{]|)")


class Compiler(inside.Compiler):
    """The wheel's whole pipeline."""

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        self.triton = importlib.import_module("triton")
        self.kernels = importlib.import_module("access_kernels")

    def answer(self, question: Question, partial: inside.Partial) -> Answer:
        text = question["ttgir"] if "ttgir" in question else self.ttgir(question)
        lines = self.without_locations(text).split("\n")
        placed = [
            line if NO_OPERATION.fullmatch(line) else f'{line} loc("dump":{number}:1)'
            for number, line in enumerate(lines, 1)
        ]
        last = "ptx" if "cuda:" in text else "amdgcn"
        assembly = assembling.assembled("\n".join(placed), last)[0][last]
        found = instructions(assembly, PTX if last == "ptx" else GCN)
        return {"ttgir": "\n".join(lines), "instructions": found}

    def without_locations(self, text: str) -> str:
        with open(self.path, "w") as file:
            file.write(text)
        module = self.ir.parse_mlir_module(self.path, self.context())
        return str(module.str_nodebug())

    def ttgir(self, question: Question) -> str:
        """Return a kernel as the compiler's own passes leave it."""
        backends = importlib.import_module("triton.backends.compiler")
        source = importlib.import_module("triton.compiler").ASTSource
        name, constants = question["target"], question["constants"]
        lanes = 64 if name.startswith("gfx9") else 32
        kind, chip = ("cuda", int(name[2:])) if name.startswith("sm") else ("hip", name)
        target = backends.GPUTarget(kind, chip, lanes)
        signature = question["signature"] | dict.fromkeys(constants, "constexpr")
        aligned = [["tt.divisibility", 16]]
        attributes = {
            (index,): aligned + [["tt.pointer_range", 32]] * (kind == "hip" and type_[0] == "*")
            for index, (argument, type_) in enumerate(signature.items())
            if argument in question["aligned"]
        }
        kernel = getattr(self.kernels, question["kernel"])
        unit = source(kernel, signature, constexprs=constants, attrs=attributes)
        return self.passes_of(unit, target, question["warps"])

    def passes_of(self, source: Any, target: Any, warps: int) -> str:
        backends = importlib.import_module("triton.backends.compiler")
        backend = importlib.import_module("triton.compiler.compiler").make_backend(target)
        options = backend.parse_options({"num_warps": warps})
        context = self.ir.context()
        self.ir.load_dialects(context)
        backend.load_dialects(context)
        code, modules = backend.get_codegen_implementation(options), backend.get_module_map()
        module = source.make_ir(target, options, code, modules, context)
        stages: dict[str, Any] = {}
        backend.add_stages(stages, options, backends.Language.TRITON)
        metadata = {"hash": "", "target": target, **options.__dict__}
        for stage in ("ttir", "ttgir"):
            module = stages[stage](module, metadata)
        return str(module.str_nodebug())


def instructions(assembly: str, pattern: re.Pattern[str]) -> dict[int, dict[str, int]]:
    """Return the instructions on global memory that each line became."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    line = 0
    for text in assembly.split("\n"):
        if location := re.match(r"\s*\.loc\s+\d+\s+(\d+)", text):
            line = int(location[1])
        elif match := pattern.search(text.partition("//")[0].partition(";")[0]):
            found[line][spelled(*match.groups())] += 1
    return {line: dict(names) for line, names in found.items()}


def spelled(name: str, rest: str) -> str:
    """Return an instruction with what it says behind its name: bytes of a copy, ``lds``."""
    if name.startswith("cp.async"):
        sizes = re.findall(r"\], \[[^\]]*\], (?:, )?(0x[0-9a-fA-F]+|\d+)", rest)
        return f"{name} {int(sizes[0], 0)}" if sizes else name
    return f"{name} lds" if re.search(r"\blds\b", rest) else name


if __name__ == "__main__":
    inside.Compiler = Compiler  # type: ignore[misc]
    inside.main()
