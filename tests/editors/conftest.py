"""Editors are on few machines: these tests run where ``--editors`` says that they are there."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests out unless they are asked for."""
    is_test = collection_path.name.startswith("test_")
    return True if is_test and not config.getoption("--editors") else None
