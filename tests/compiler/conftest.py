"""The wheel that the tests of this folder ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.wheel import Wheel

LONGEST = ("test_global_memory.py", "test_wheel.py", "test_applied.py", "test_conversions.py")
"""The files whose tests take longest: they begin first, for one at the end would be alone."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest; leave out what asks Triton's tests where they are not."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    if config.getoption("--triton-source") is not None:
        return
    here = Path(__file__).parent
    asking = [
        item
        for item in items
        if item.path.parent == here and "source" in getattr(item, "fixturenames", ())
    ]
    if asking:
        config.hook.pytest_deselected(items=asking)
        items[:] = [item for item in items if item not in asking]


@pytest.fixture
def source(request: pytest.FixtureRequest) -> Path:
    """Return the folder of a copy of Triton's sources."""
    return Path(request.config.getoption("--triton-source"))


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
    "knobs_program.py",
    "autotuned_program.py",
    "compiled_kernels.py",
    "gluon_objects.py",
    "inside.py",
    "lowering.py",
    "reads.py",
    "watched_program.py",
]
