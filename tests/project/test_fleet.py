"""The example of a fleet on a local cluster of two workers, of which one is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from test_baseline import dump, write

pytest.importorskip("distributed", reason="the extra dev has Dask")
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.filterwarnings("default")
def test_a_worker_is_killed_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(EXAMPLES), *sys.path[1:]]))
    fleet: Any = import_module("fleet")
    cluster_of: Any = import_module("distributed").LocalCluster
    write(tmp_path, {f"k{at}": dump(f"k{at}", wide=1 << at % 3) for at in range(60)}, 1)
    (tmp_path / "broken.ttgir").write_text("nothing\n")
    command = [sys.executable, "-m", "tt_layout", "audit", str(tmp_path), "--fail-on"]
    expected = subprocess.run([*command, "narrow-loads"], capture_output=True, text=True)
    cluster = cluster_of(n_workers=2, threads_per_worker=1, dashboard_address=None)
    try:
        victim = next(iter(cluster.workers.values())).process.process.pid
        killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
        killer.start()
        pattern = f"{tmp_path}/**/*.ttgir"
        status = fleet.main([cluster.scheduler_address, pattern, "--fail-on", "narrow-loads"])
        killer.join()
    finally:
        cluster.close()
    found = capsys.readouterr().out
    assert status == expected.returncode == 2  # of the broken one
    assert sorted(names(found)) == sorted(names(expected.stdout))
    assert "broken.ttgir skipped" in " ".join(found.split())


def names(table: str) -> list[str]:
    return re.findall(r"@k\d+", table)
