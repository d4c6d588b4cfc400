"""The wheel that the tests of this folder ask."""

from __future__ import annotations

import pytest

from compiler.wheel import Wheel


@pytest.fixture(scope="session")
def wheel(request: pytest.FixtureRequest) -> Wheel:
    wheel = Wheel(request.config.getoption("--compiler-python"))
    assert wheel.version.startswith("3.9."), "these tests are about Triton 3.9"
    return wheel


# Scripts that run in the wheel's own Python; here they cannot be imported.
collect_ignore = [
    "access_kernels.py",
    "accesses.py",
    "assembling.py",
    "inside.py",
    "lowering.py",
    "reads.py",
]
