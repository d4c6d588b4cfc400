"""Objects of Gluon, made in a wheel: read as the attribute that the wheel makes of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import tt_layout
from compiler.agreement import Comparison
from compiler.generate import random_cases
from compiler.round_trip import given
from compiler.wheel import Wheel
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.translation import translate

HERE = Path(__file__).parent
CASES = 40
BLOCKED = "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
EVERYWHERE = (
    BLOCKED,
    "gl.BlockedLayout([4], [32], [4], [0])",
    f"gl.SliceLayout(1, {BLOCKED})",
    "gl.SliceLayout(0, gl.SliceLayout(0, gl.BlockedLayout([1] * 3, [1, 2, 16], [4, 1, 1], "
    "[2, 1, 0])))",
    "gl.DistributedLinearLayout([[0, 1]], [[0, 2], [1, 0]], [[2, 0]], [], [4, 4])",
    "gl.NVMMASharedLayout(128, 16, 2)",
    "gl.NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=8, rank=3, transposed=True)",
    "gl.SwizzledSharedLayout(8, 1, 8, [1, 0])",
)
"""Constructors of every release that has Gluon."""
UNTIL_3_5 = (
    "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], [2, 1], [2, 1], [1, 0])",
    "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], ctas_per_cga=[1, 2])",
    "gl.BlockedLayout([4], [32], [4], [0], [4], [2], [0])",
    "gl.SwizzledSharedLayout(1, 1, 1, [1, 0], ctas_per_cga=[2, 1], cta_split_num=[2, 1])",
    "gl.NVMMASharedLayout(128, 16, 2, False, False, [1, 2], [1, 2], [0, 1])",
    "gl.nvidia.blackwell.TensorMemoryLayout((128, 64), True)",
    "gl.nvidia.blackwell.TensorMemoryLayout([64, 64], unpacked=False, cta_split_num=[2, 1])",
)
SINCE_3_5 = (
    "gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])",
    "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])",
    "gl.DotOperandLayout(1, gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]), 2)",
    "gl.amd.AMDMFMALayout(3, [32, 32], True, [4, 1])",
    "gl.amd.AMDMFMALayout(3, [16, 16, 16], True, [4, 1])",
    "gl.PaddedSharedLayout([[64, 8]], [1, 0])",
    "gl.nvidia.ampere.mbarrier.MBarrierLayout()",
    "gl.nvidia.hopper.mbarrier.MBarrierLayout()",
)
SINCE_3_6 = (
    "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], [[1, 0], [0, 0]])",
    "gl.amd.AMDMFMALayout(4, [32, 32, 16], False, [2, 2], 64, [1, 2], [[1, 0]])",
    "gl.amd.AMDWMMALayout(1, False, [2, 2])",
    "gl.amd.AMDWMMALayout(3, True, [4, 1], [16, 16, 32], [1, 2])",
    "gl.amd.AMDWMMALayout(2, False, [[0, 1], [1, 0]])",
    "gl.PaddedSharedLayout([[4, 2]], [[0, 1], [0, 2], [1, 0]], [], [2, 4])",
    "gl.PaddedSharedLayout([[4, 2]], [[0, 1], [0, 2], [1, 0]], [[2, 0]], [4, 4])",
    "gl.SharedLinearLayout([[0, 1], [1, 1]])",
    "gl.nvidia.blackwell.TensorMemoryLayout((128, 64), 1)",
    "gl.nvidia.blackwell.TensorMemoryLayout((128, 64), col_stride=2, cta_split_num=[2, 1])",
    "gl.nvidia.blackwell.TensorMemoryLayout((128, 64), col_stride=1, two_ctas=True)",
    "gl.nvidia.blackwell.TensorMemoryScalesLayout()",
    "gl.nvidia.blackwell.TensorMemoryScalesLayout([2, 1])",
)
NEWEST = (
    "gl.nvidia.blackwell.TensorMemoryLayout((128, 64), 2, [[1, 0]], False, False)",
    "gl.nvidia.blackwell.TensorMemoryScalesLayout([[0, 0]])",
    "gl.amd.AMDWMMALayout(1, False, [[0, 2], [1, 0]], [[0, 1]])",
    "gl.PaddedSharedLayout.with_identity_for([[64, 8]], [64, 64], [1, 0], [[1, 0]])",
)
OLD = (*EVERYWHERE, *UNTIL_3_5, *SINCE_3_5)
NEW = (*EVERYWHERE, *SINCE_3_5, *SINCE_3_6, *NEWEST)
"""Constructors of wheels until 3.5, and since 3.6; a wheel refuses those that it does not have."""


def check(python: str, expressions: list[str], tally: Counter[str]) -> None:
    """Compare what is read of objects, and of their text, with what the wheel makes of them."""
    comparison = Comparison(tally)
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent)}
    done = subprocess.run(
        [python, str(HERE / "gluon_objects.py"), json.dumps(expressions)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for expression, answer in zip(expressions, json.loads(done.stdout), strict=True):
        if "refused" in answer:
            comparison.agree("apart: no constructor of this wheel")
        elif answer["wheel"] == answer["object"] == answer["repr"]:
            comparison.agree("objects read as the wheel's attribute, and their repr too")
        elif answer.get("same"):
            comparison.agree("objects read as the wheel's attribute, written differently")
        else:
            comparison.disagree("object", expression, answer)
    comparison.check()


def test_objects_of_the_newest_wheel(wheel: Wheel, seed: int, tally: Counter[str]) -> None:
    expressions = [*NEW]
    for case in random_cases(seed, CASES):
        own = given(case.question(), "3.9")
        if own is None:
            continue
        try:
            text = translate(own.encoding, "gluon", own.shape, element_bits=own.element_bits).text
        except RefusedError:
            continue
        expressions.append(text)
    check(wheel.python, expressions, tally)
    assert tally["objects read as the wheel's attribute, and their repr too"] > CASES // 3


def test_objects_of_other_wheels(request: pytest.FixtureRequest, tally: Counter[str]) -> None:
    first = request.config.getoption("--triton-3-4-python")
    pythons = [*([first] if first else []), *request.config.getoption("--other-triton-python")]
    if not pythons:
        tally["not run: no option names another wheel"] += 1
    for python in pythons:
        own: Counter[str] = Counter()
        check(python, list(OLD if Wheel(python).version < "3.6" else NEW), own)
        assert own["objects read as the wheel's attribute, and their repr too"] >= len(EVERYWHERE)
        tally.update(own)


def test_no_release_reads_a_class_that_is_none() -> None:
    with pytest.raises(tt_layout.LayoutError, match="did you mean"):
        tt_layout.parse_layout("gl.NVMMASharedLayouts(128, 16)")
