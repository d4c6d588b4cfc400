"""Constants of ``translate FILE --to gluon``, made by wheels: the same linear layouts.

Other examples every day: a third of them.

With ``--dumps FOLDER`` of every ``.ttgir`` file of a folder, too.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import tt_layout
from compiler.wheel import Wheel
from tt_layout import parse_ir
from tt_layout.encodings import Encoding
from tt_layout.ir.types import IRType
from tt_layout.placement import place
from tt_layout.rewriting.gluon_module import gluon_module

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def constants(folder: str | None, seed: int) -> dict[str, list[tuple[Encoding, IRType]]]:
    """Return the constructors of every third example, each with the types that it is used with."""
    paths = sorted(EXAMPLES.glob("*/*.ttgir"))[seed % 3 :: 3]
    paths += sorted(Path(folder).glob("*.ttgir")) if folder is not None else []
    found: dict[str, list[tuple[Encoding, IRType]]] = {}
    for path in paths:
        [module] = parse_ir(path.read_text("utf-8"))
        calls = {one.encoding: one.call for one in gluon_module(module, path.name).layouts}
        for ir_type in module.types.distinct:
            call = calls.get(ir_type.encoding) if isinstance(ir_type.encoding, Encoding) else None
            if call:
                assert isinstance(ir_type.encoding, Encoding)
                found.setdefault(call, []).append((ir_type.encoding, ir_type))
    return found


def check(python: str, tally: Counter[str], folder: str | None, seed: int) -> int:
    """Compare what a wheel makes of the constants; return how many it has no class for."""
    expected = constants(folder, seed)
    done = subprocess.run(
        [python, str(HERE / "gluon_objects.py"), json.dumps(list(expected))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    refused = 0
    for (call, uses), answer in zip(expected.items(), json.loads(done.stdout), strict=True):
        if "refused" in answer:
            refused += 1
            tally[f"refused: {answer['refused'][:60]}"] += 1
            continue
        made = tt_layout.parse_layout(answer["object"])
        for encoding, ir_type in uses:
            tensor = ir_type.tensor_type()
            assert place(made, tensor).layout == place(encoding, tensor).layout, call
        tally["same linear layouts"] += 1
    return refused


def test_modules_of_the_newest_wheel(
    wheel: Wheel, seed: int, tally: Counter[str], request: pytest.FixtureRequest
) -> None:
    assert check(wheel.python, tally, request.config.getoption("--dumps"), seed) == 0


def test_modules_of_other_wheels(
    seed: int, tally: Counter[str], request: pytest.FixtureRequest
) -> None:
    for python in request.config.getoption("--other-triton-python"):
        check(python, tally, request.config.getoption("--dumps"), seed)
    assert not any("dies" in said for said in tally)
