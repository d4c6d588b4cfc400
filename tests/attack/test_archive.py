"""The package in an archive of Python: it answers as it does from a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tt_layout.encodings.registry import modules_in

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.attack
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)


def test_an_archive_has_every_attribute_and_notation(tmp_path: Path) -> None:
    archive = tmp_path / "tt_layout.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in (ROOT / "tt_layout").rglob("*.*"):
            if path.suffix != ".pyc":
                file.write(path, path.relative_to(ROOT))
    program = (
        "import sys; from tt_layout.__main__ import main; import tt_layout; "
        "assert '.zip' in tt_layout.__file__; sys.argv[0] = 'tt-layout'; main()"
    )
    for arguments in (("info", BLOCKED), ("translate", "(32,4):(1,32)", "--to", "gluon")):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments, "-t", "128xf16"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(archive)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_without_modules_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="has no modules: the package is not complete"):
        modules_in(str(tmp_path))
