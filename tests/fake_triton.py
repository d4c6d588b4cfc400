"""A stand-in for Triton: what is hooked of it, and kernels that are texts."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

__name__ = "triton.stand_in"  # its frames are Triton's


class JITFunction:
    """A kernel whose TTGIR is given; it is compiled when it is first run."""

    def __init__(self, function: Callable[..., None], text: str, folder: Path) -> None:
        self.fn, self.text, self.folder = function, text, folder
        self.signature = inspect.signature(function)
        self.kernel: Any = None

    def run(self, *given: Any, grid: Any, warmup: bool, **named: Any) -> Any:
        """Compile the kernel, or take it as compiled."""
        if self.kernel is None:
            self.kernel = self.compiled()
            if warmup:
                return SimpleNamespace()  # still being compiled: it has no hash yet
        return self.kernel

    def compiled(self) -> Any:
        """Compile, and call the listener as Triton 3.4 to 3.9 do."""
        name, key = self.fn.__name__, hashlib.sha256(self.text.encode()).hexdigest()
        path = self.folder / f"{name}.ttgir"
        path.write_text(self.text)
        metadata = {"hash": key, "name": name, "num_warps": 4, "shared": 0}
        listener = sys.modules["triton.knobs"].compilation.listener
        if listener is not None:
            listener(
                src=SimpleNamespace(fn=self, name=name),
                metadata=metadata,
                metadata_group={path.name: str(path)},
                times=None,
                cache_hit=False,
            )
        return SimpleNamespace(
            hash=key,
            name=name,
            asm={"ttgir": self.text},
            metadata=SimpleNamespace(num_warps=4, shared=0),
        )


def install(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, ModuleType]:
    """Let the stand-in be what a program has imported as Triton; return its modules."""
    names = "triton", "triton.knobs", "triton.runtime", "triton.runtime.jit"
    modules = {name: ModuleType(name) for name in names}
    modules["triton.knobs"].compilation = SimpleNamespace(listener=None)  # type: ignore[attr-defined]
    function = type("JITFunction", (JITFunction,), {"run": JITFunction.run})
    modules["triton.runtime.jit"].JITFunction = function  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return modules
