"""Programs as users write them: they run, and type checkers take them.

``.ci/run`` shows them to two checkers, with the documents' Python.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "programs"
KERNELS = Path(__file__).parents[2] / "examples" / "kernels"

RUNS: dict[str, tuple[list[str], int, str]] = {
    "gate": ([f"{KERNELS}/matmul-sm90.ttgir"], 1, "CONVERSIONS"),
    "choose": ([f"{KERNELS}/attention-sm{chip}.ttgir" for chip in (80, 90)], 0, ".TTGIR"),
    "layouts": (["rows.svg"], 0, "True True"),
    "repair": ([f"{KERNELS}/attention-gfx942.ttgir", "new.ttgir"], 0, "cycles saved"),
}
"""Program -> its arguments, exit status, and a part of what it prints."""


def test_every_program_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_a_program_runs(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, status, printed = RUNS[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert ended.value.code == status, out
    assert printed in out


def test_a_type_checker_takes_every_program(tmp_path: Path) -> None:
    mypy = pytest.importorskip("mypy.api")
    files = map(str, sorted(FOLDER.glob("*.py")))
    cache = ["--cache-dir", str(tmp_path)]
    out, error, status = mypy.run(["--strict", "--config-file=", *cache, *files])
    assert status == 0, out + error
