"""The command line through the wheel's own FileCheck, as upstream tests its printer."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.wheel import Wheel

LIT = Path(__file__).with_name("lit")


def runs() -> list[tuple[Path, str]]:
    """Return every RUN line with its file."""
    files = sorted(LIT.glob("*.mlir"))
    return [(f, run) for f in files for run in re.findall(r"// RUN: (.*)", f.read_text())]


@pytest.mark.parametrize(("path", "run"), runs())
def test_lit(path: Path, run: str, wheel: Wheel, tmp_path: Path) -> None:
    tools = {
        "%s": path,
        "%t": tmp_path / "output",
        "tt-layout": f"{shlex.quote(sys.executable)} -m tt_layout",
        "FileCheck": wheel.package / "FileCheck",
    }
    command = re.sub("|".join(tools), lambda name: str(tools[name[0]]), run)
    script = f'not() {{ ! "$@"; }}\nset -o pipefail\n{command}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
