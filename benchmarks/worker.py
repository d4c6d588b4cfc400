"""A process that formats views when asked: with this package, or with a Triton wheel.

usage: worker.py tt_layout|triton

Reads a JSON line {"attribute", "shape", "hw", "mode"} at a time and answers
{"seconds", "bytes", "sha"}.  Modes: ``text`` (the whole text), ``stream`` (ours: block by
block, thrown away).
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LEAST = 0.2  # seconds
PIECE = 1 << 16

Format = Callable[[str, list[int], bool, str], tuple[float, int, str]]


def measured(make: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds a call takes, and what it returns.

    The mean of as many calls as take LEAST in all: a short one alone would mostly show how
    long a processor takes to get going again after the other side's turn.
    """
    start, calls = time.perf_counter(), 0
    while True:
        result = make()
        calls += 1
        spent = time.perf_counter() - start
        if spent >= LEAST:
            return spent / calls, result
        del result  # so that no call pays for the memory of the one before


def ours() -> Format:
    """Return the measurement of this package."""
    from tt_layout import parse_layout
    from tt_layout.views.kinds import KINDS
    from tt_layout.views.view import BareLayout

    def run(attribute: str, shape: list[int], hw: bool, mode: str) -> tuple[float, int, str]:
        encoding = parse_layout(attribute)
        if mode == "stream":
            layout = encoding.to_linear_layout(shape)
            placed = BareLayout(layout, encoding.padding, encoding.memory_space)
            view = KINDS["hardware" if hw else "tensor"].view(placed)
            seconds, size = measured(lambda: sum(len(chunk) for chunk in view.chunks()))
            return seconds, size, ""
        method = encoding.format_hardware_view if hw else encoding.format_tensor_view
        seconds, text = measured(lambda: method(shape))
        return seconds, len(text), digest(text)

    return run


def triton() -> Format:
    """Return the measurement of the wheel: Gluon's layouts and their own two methods."""
    # The wheel's bindings have no stubs, and are not installed where this is checked.
    from triton._C.libtriton import amd, gluon_ir, ir, nvidia  # type: ignore[import-not-found]

    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    amd.load_dialects(context)

    def layout_of(attribute: str, shape: list[int]) -> Any:
        dims = "x".join(map(str, shape))
        is_shared = "shared" in attribute
        type_ = f"tensor<{dims}xf16, {attribute}>"
        if is_shared:
            type_ = f"!ttg.memdesc<{dims}xf16, {attribute}, #ttg.shared_memory, mutable>"
        attributes = '"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32'
        function = f"tt.func @f(%a: {type_}) {{ tt.return }}"
        text = f"module attributes {{{attributes}}} {{\n {function}\n}}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.mlir"
            path.write_text(text)
            module = ir.parse_mlir_module(str(path), context)
        value = module.get_function("f").args(0)
        builder = gluon_ir.GluonOpBuilder(context)
        if is_shared:
            return builder.get_gluon_layout_from_memdesc(value)
        return builder.get_gluon_layout_from_tensor(value)

    def run(attribute: str, shape: list[int], hw: bool, mode: str) -> tuple[float, int, str]:
        layout = layout_of(attribute, shape)
        method = layout.format_hardware_view if hw else layout.format_tensor_view
        seconds, text = measured(lambda: method(shape))
        return seconds, len(text), digest(text)

    return run


def digest(text: str) -> str:
    """Return a short fingerprint of a text.

    Piece by piece: a second copy of a large text would change how the next one is allocated.
    """
    found = hashlib.sha256()
    for start in range(0, len(text), PIECE):
        found.update(text[start : start + PIECE].encode())
    return found.hexdigest()[:16]


def main() -> None:
    """Answer requests until the input ends."""
    run = {"tt_layout": ours, "triton": triton}[sys.argv[1]]()
    for line in sys.stdin:
        request = json.loads(line)
        seconds, size, sha = run(
            request["attribute"], request["shape"], request["hw"], request["mode"]
        )
        print(json.dumps({"seconds": seconds, "bytes": size, "sha": sha}), flush=True)


if __name__ == "__main__":
    main()
