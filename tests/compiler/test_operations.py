"""The stored list of operations against the definitions in a copy of Triton's sources."""

from __future__ import annotations

import re
from pathlib import Path

DEFINITIONS = {
    "tt": "include/triton/Dialect/Triton/IR/TritonOps.td",
    "ttg": "include/triton/Dialect/TritonGPU/IR/TritonGPUOps.td",
    "ttng": "include/triton/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOps.td",
    "amdg": "third_party/amd/include/Dialect/TritonAMDGPU/IR/TritonAMDGPUOps.td",
}
OPERATION = re.compile(r'\bdef\s+\w+\s*:\s*\w+<\s*"([\w.]+)"')
STORED = Path(__file__).parent.parent / "data" / "operations.txt"


def test_every_definition_is_in_the_list(source: Path) -> None:
    stored = {line.split()[0] for line in STORED.read_text(encoding="utf-8").splitlines()}
    defined = {
        f"{dialect}.{name}"
        for dialect, path in DEFINITIONS.items()
        for name in OPERATION.findall((source / path).read_text(encoding="utf-8"))
    }
    assert len(defined) >= 100
    assert not defined - stored
