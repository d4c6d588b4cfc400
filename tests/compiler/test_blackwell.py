"""Tensor memory as Triton's own test of its lowering for Blackwell expects it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from compiler.wheel import Wheel
from tt_layout.analyses.tensor_memory.access import Message
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.operations.tensor_memory import copy_cost, message_of
from tt_layout.ir import parse_ir
from tt_layout.ir.operations import MovementOperation

NAME = "test/Conversion/tritongpu_to_llvm_blackwell.mlir"
CHECKED = re.compile(r"//\s*CHECK(?:-[A-Z]+(?:-\d+)?)?:.*tcgen05\.(?:ld|st|cp)")
LABEL = re.compile(r"//\s*CHECK-LABEL:")
EXCEPTIONS = {
    "16x32bx2.x1.b32 [$1 + 0], 1": "3.9 stores both halves of scales at one place",
    "16x32bx2.x1.unpack::16b.b32 [$1 + 0], 1": "and pads 16 bits without the message's help",
}
"""What a check expects that 3.9 does otherwise, and what 3.9 does."""


def checks(text: str) -> Iterator[str]:
    """Yield the lines of the test that are about tensor memory, without its own variables."""
    for line in text.split("\n"):
        if any(words in line for words in EXCEPTIONS):
            continue
        if LABEL.search(line) or CHECKED.search(line):
            yield re.sub(r"\[\[.*?\]\]", "{{.*}}", line)


def lowered(text: str) -> Iterator[str]:
    """Yield what we expect of the lowering, a line for each function and message."""
    for module in parse_ir(text):
        audited, function = AuditedModule(module, SharedWork()), None
        by_function: dict[str | None, list[MovementOperation]] = {}
        for operation in module.operations:
            by_function.setdefault(operation.function, []).append(operation)
        for function in module.functions:
            yield f"llvm.func @{function.name}"
            for operation in by_function.get(function.name, []):
                yield from lines(operation, audited)


def lines(operation: MovementOperation, audited: AuditedModule) -> Iterator[str]:
    name = operation.name.rpartition(".")[2]
    if name == "tmem_copy":
        cost = copy_cost(operation, audited)
        assert cost is not None
        details = cost.details.data(1)
        for _ in range(details["instructions"]):
            yield f'llvm.inline_asm "@$2 {details["instruction"]} [$0], $1;", "r,l,b" %0, %1'
    elif name.startswith("tmem_"):
        message = message_of(operation, audited)
        for row, column in message.offsets if message is not None else ():
            yield assembly(message, row << 16 | column)


def assembly(message: Message | None, offset: int) -> str:
    assert message is not None
    half = f", {message.half_offset}" if message.half_offset is not None else ""
    if message.is_store:
        return f'llvm.inline_asm "@$0 {message.name} [$1 + {offset}]{half}, {{$2}};"'
    count = message.registers
    result = "i32" if count == 1 else f"!llvm.struct<({', '.join(['i32'] * count)})>"
    asm = f"{message.name} {{$0}}, [${count + bool(message.reduction)} + {offset}]{half};"
    return f'%2 = llvm.inline_asm "{asm}", "=r,r" %1 : (i32) -> {result}'


def test_messages_of_blackwell(source: Path, wheel: Wheel, tmp_path: Path) -> None:
    text = (source / NAME).read_text(encoding="utf-8")
    found, expected = "\n".join(lowered(text)), list(checks(text))
    assert sum(CHECKED.search(line) is not None for line in expected) >= 59
    (tmp_path / "checks").write_text("\n".join(expected))
    command = [str(wheel.package / "FileCheck"), str(tmp_path / "checks")]
    done = subprocess.run(command, input=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_checks_bite(source: Path, wheel: Wheel, tmp_path: Path) -> None:
    """Of twice as wide messages FileCheck finds the first."""
    text = (source / NAME).read_text(encoding="utf-8")
    (tmp_path / "checks").write_text("\n".join(checks(text)))
    found = "\n".join(lowered(text)).replace(".x64.", ".x32.")
    command = [str(wheel.package / "FileCheck"), str(tmp_path / "checks")]
    done = subprocess.run(command, input=found, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert ".x64" in done.stderr
