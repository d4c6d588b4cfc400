"""Programs of several processes, some of which are killed: nothing is lost in silence."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_watching import FAKE_JIT, KERNEL, run

import tt_layout
from tt_layout.kernels.seen import CompiledKernel, Launch, Record
from tt_layout.watching.journal import Journal, process_logs
from tt_layout.watching.report import report_of
from tt_layout.watching.session import raised_termination

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

KERNELS = """\
import triton.runtime.jit as jit
def copy(x, s): ...
def launch(number):
    jit.JITFunction(copy, number).run(0, number, grid=(number,), warmup=False)
"""

STARTS = {
    "fork": "multiprocessing.get_context('fork').Pool(3)",
    "spawn": "multiprocessing.get_context('spawn').Pool(3)",
    "forkserver": "multiprocessing.get_context('forkserver').Pool(3)",
    "futures": "concurrent.futures.ProcessPoolExecutor(3)",
}

POOL = """\
import concurrent.futures, multiprocessing
import kernels
if __name__ == "__main__":
    kernels.launch(100)
    with {pool} as pool:
        list(pool.map(kernels.launch, [1, 2, 3, 4, 5]))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Make a folder with a package called triton, and a module of kernels with numbers."""
    runtime = tmp_path / "triton" / "runtime"
    runtime.mkdir(parents=True)
    for folder in (tmp_path / "triton", runtime):
        (folder / "__init__.py").touch()
    (tmp_path / "triton" / "knobs.py").write_text("class compilation: listener = None\n")
    text = (FAKE_JIT % KERNEL).replace("def __init__(self, fn):", "def __init__(self, fn, number):")
    text = text.replace("self.fn, self", "self.number = number; self.fn, self")
    (runtime / "jit.py").write_text(text.replace('"12"', 'f"{self.number}"'))
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def watched(program: Path, text: str, **variables: str) -> tuple[int, str, dict[str, Any]]:
    """Run a program under ``watch``; return its status, standard error, and the report."""
    (program / "train.py").write_text(text)
    result = run(
        program, "-m", "tt_layout.watching", "train.py", TT_LAYOUT_WATCH="k.json", **variables
    )
    return result.returncode, result.stderr, json.loads((program / "k.json").read_text())


def launched(report: dict[str, Any]) -> list[int]:
    """Return the numbers that kernels were launched with."""
    return sorted(
        launch["values"]["s"] for kernel in report["kernels"] for launch in kernel["launches"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_kernels_of_a_pool_are_those_of_the_program(program: Path, start: str) -> None:
    status, errors, report = watched(program, POOL.format(pool=STARTS[start]))
    assert (status, errors) == (0, "")
    assert launched(report) == [1, 2, 3, 4, 5, 100]
    assert report["processes"] >= 2
    assert report["failure"] is None


@pytest.mark.slow
def test_a_fork_and_a_program_that_it_starts_are_seen(program: Path) -> None:
    text = """\
import os, subprocess, sys
import kernels
kernels.launch(1)
if os.fork() == 0:
    kernels.launch(1)
    subprocess.run([sys.executable, "-c", "import kernels; kernels.launch(2)"], check=True)
    os._exit(0)
os.wait()
"""
    status, errors, report = watched(program, text)
    assert (status, errors) == (0, "")
    assert launched(report) == [1, 2]
    assert report["processes"] == 3
    [first] = [kernel for kernel in report["kernels"] if kernel["hash"] == "1"]
    assert first["launches"][0]["count"] == 2


HEURISTICS = """\
from types import SimpleNamespace as Some
class GridExpr:
    @classmethod
    def from_meta(cls, meta, config): return cls()
    def eval_slow(self, arguments): return (arguments["xnumel"], 1, 1)
class CachingAutotuner:
    def __init__(self):
        def launcher(xnumel): ...
        launcher.config, launcher.cache_hash = "c", "kept"
        self.launchers, self.fn, self.inductor_meta = [launcher], launcher, {}
        self.compile_results = [Some(config="c", kernel=Some(hash="77"))]
    def run(self, *arguments, **named): ...
"""


@pytest.mark.slow
def test_what_inductor_launches_in_a_started_process_is_seen(program: Path) -> None:
    runtime = program / "torch" / "_inductor" / "runtime"
    runtime.mkdir(parents=True)
    (runtime / "triton_heuristics.py").write_text(HEURISTICS)
    (program / "cache" / "kept").mkdir(parents=True)
    (program / "cache" / "kept" / "strided.ttgir").write_text(KERNEL)
    text = """\
import subprocess, sys
code = "from torch._inductor.runtime import triton_heuristics as t; t.CachingAutotuner().run(7)"
subprocess.run([sys.executable, "-c", code], check=True)
"""
    status, errors, report = watched(program, text, TRITON_CACHE_DIR=str(program / "cache"))
    assert (status, errors, report["failure"]) == (0, "", None)
    [kernel] = report["kernels"]
    assert (kernel["hash"], kernel["launches"][0]["grid"]) == ("77", [7, 1, 1])


@pytest.mark.slow
def test_the_sitecustomize_of_the_program_still_runs(program: Path) -> None:
    (program / "sitecustomize.py").write_text("import builtins; builtins.mine = 7\n")
    text = """\
import subprocess, sys
subprocess.run([sys.executable, "-c", "print(mine)"], check=True)
"""
    status, errors, report = watched(program, text)
    assert (status, errors, report["processes"]) == (0, "", 0)


@pytest.mark.slow
def test_a_started_process_imports_nothing_of_ours_before_triton(program: Path) -> None:
    text = """\
import subprocess, sys
code = "import sys; assert not [name for name in sys.modules if name.startswith('tt_layout.')]"
subprocess.run([sys.executable, "-c", code], check=True)
"""
    assert watched(program, text)[0] == 0


def test_paths_and_folders_are_as_before(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with tt_layout.watch(out=io.StringIO()) as seen:
        folder = seen.folder
        assert folder is not None
        assert oct(os.stat(folder).st_mode & 0o777) == "0o700"
        assert os.environ["PYTHONPATH"] == os.path.join(folder, "start")
    assert "PYTHONPATH" not in os.environ
    assert not os.path.exists(folder)


@pytest.mark.slow
def test_a_killed_child_has_said_what_it_saw(program: Path) -> None:
    text = """\
import os, signal
import kernels
if os.fork() == 0:
    kernels.launch(3)
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
"""
    assert launched(watched(program, text)[2]) == [3]


@pytest.mark.slow
@pytest.mark.parametrize("handled", [False, True])
def test_a_terminated_program_still_reports(program: Path, handled: bool) -> None:
    """The status is that of the signal; a handler of the program's own goes first."""
    own = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))" if handled else ""
    text = f"""\
import os, signal, sys, time
import kernels
{own}
kernels.launch(4)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
"""
    status, _, report = watched(program, text)
    assert status == (5 if handled else -signal.SIGTERM)
    assert launched(report) == [4]


def test_a_handler_that_is_there_before_stays() -> None:
    def own(*_: object) -> None: ...

    before = signal.signal(signal.SIGTERM, own)
    try:
        with raised_termination():
            assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


DAMAGED = {
    b"[" * 100_000: "is damaged (RecursionError)",
    b"7": "is damaged (TypeError)",
    b"[]": "is damaged (TypeError)",
    b"{}": "is damaged (KeyError)",
    b'{"version": 99}': "is damaged (ValueError)",
    b'{"kernel": []}': "is damaged (ValueError)",
    b'{"kernel": ["k", "f", null, "", {"registers": 7, "options": null}]}': "is damaged",
    b'{"launch": [[1, 1, 1], []], "of": []}': "is damaged (TypeError)",
    b'{"launch": 7, "of": "k"}': "is damaged (TypeError)",
    b"\xff\xfe": "is damaged (UnicodeDecodeError)",
    b"9" * 5000: "is damaged",
    b"x" * 3000: "is longer than 2 kiB, the most that is read",
}


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_journal_is_a_failure(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before it is kept, and what other processes saw."""
    from tt_layout.watching import journal

    if line.startswith(b"x"):
        monkeypatch.setattr(journal, "MAX_BYTES", 2048)
    Journal(str(tmp_path)).launched("k", Launch((1, 1, 1), ()))
    [path] = tmp_path.iterdir()
    path.rename(tmp_path / "7-a.journal")
    (tmp_path / "8-a.journal").write_bytes((tmp_path / "7-a.journal").read_bytes() + line + b"\n")
    (tmp_path / "x-a.journal").write_bytes(line)
    whole, damaged = process_logs(str(tmp_path))
    assert whole.failure is None
    assert damaged.failure is not None
    assert DAMAGED[line].removesuffix("kiB, the most that is read") in damaged.failure
    assert "process 8" in damaged.failure


def test_journals_of_many_processes_are_read_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before is kept, and each process that is not is named."""
    from tt_layout.watching import journal

    Journal(str(tmp_path)).launched("k", Launch((1, 1, 1), ()))
    [path] = tmp_path.iterdir()
    line = path.read_bytes()
    path.unlink()
    for process in range(6):
        (tmp_path / f"{process}-a.journal").write_bytes(line)
    monkeypatch.setattr(journal, "MAX_TOTAL", 4 * len(line) - 1)
    failures = [log.failure for log in process_logs(str(tmp_path))]
    assert failures[:3] == [None] * 3
    end = "not read to its end: those of all processes have more than"
    starts = [f"the journal of process {process} is {end} " for process in (3, 4, 5)]
    assert all(str(one).startswith(start) for one, start in zip(failures[3:], starts, strict=True))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_journal_that_is_no_file_is_a_failure(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "7-a.journal")
    [log] = process_logs(str(tmp_path))
    assert log.failure == "the journal of process 7 cannot be read: it is a pipe, not a file"


def test_a_line_that_was_cut_off_is_said(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    record = Record(journal=journal)
    record.compiled(CompiledKernel("1", "copy", None, "a.py:1"))
    record.launched("1", Launch((2, 1, 1), (("n", 3),)))
    [path] = tmp_path.iterdir()
    [log] = process_logs(str(tmp_path))
    assert (log.process, log.kernels, log.failure) == (os.getpid(), record.kernels, None)
    path.write_bytes(path.read_bytes()[:-5])
    [log] = process_logs(str(tmp_path))
    assert log.kernels[0].launches == {}
    assert log.failure == f"process {os.getpid()} ended while it wrote what it saw"
    path.write_bytes(b'{"version": 1}\n[]\n')
    [log] = process_logs(str(tmp_path))
    assert log.failure is not None
    assert "is damaged" in log.failure


def test_a_line_is_one_call_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends between two calls would tear it, and so would a second thread."""
    written: list[bytes] = []
    write = os.write

    def noted(file: int, line: bytes) -> int:
        written.append(line)
        return write(file, line)

    monkeypatch.setattr(os, "write", noted)
    Record(journal=Journal(str(tmp_path))).compiled(CompiledKernel("1", "copy", "x" * 9999, "a:1"))
    version, kernel = written
    assert version.endswith(b"\n")
    assert kernel.endswith(b"\n")
    [path] = tmp_path.iterdir()
    assert path.read_bytes() == version + kernel


def test_a_process_that_is_forked_has_a_journal_of_its_own(tmp_path: Path) -> None:
    """Also where its parent has written into one before."""
    journal = Journal(str(tmp_path))
    journal.launched("a", Launch((1, 1, 1), ()))
    if (child := os.fork()) == 0:
        journal.launched("b", Launch((2, 1, 1), ()))
        os._exit(0)
    os.waitpid(child, 0)
    journal.failed("a")
    logs = {log.process: log for log in process_logs(str(tmp_path))}
    assert logs.keys() == {os.getpid(), child}
    assert (logs[child].failure, logs[os.getpid()].failure) == (None, "a")


@pytest.mark.parametrize(
    ("processes", "last"),
    [
        (1, "no kernel was compiled or launched"),
        (2, "  from 2 processes"),
        (3, "  from 3 processes"),
    ],
)
def test_the_table_says_from_how_many_processes_it_is(processes: int, last: str) -> None:
    assert str(report_of((), processes)).splitlines()[-1] == last


# -- workers of xdist -----------------------------------------------------------------------

TESTS = """\
import os, signal
import kernels, pytest
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_copy(number):
    kernels.launch(number)
    if number == int(os.environ.get("KILLED", "0")):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def gated(program: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tests under ``--tt-audit``."""
    (program / "test_copy.py").write_text(TESTS)
    arguments = "-p", "tt_layout.pytest_plugin", "-p", "no:cacheprovider", "-q", "-W", "error"
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return run(program, "-m", "pytest", *arguments, *options, **variables)


@pytest.mark.slow
def test_a_worker_that_is_killed_fails_the_gate_by_its_name(program: Path) -> None:
    gate = "-p", "xdist", "-n", "2", "--tt-audit=registers", "--tt-audit-report=k.json"
    result = gated(program, *gate)
    assert result.returncode == 0, result.stdout
    result = gated(program, *gate, "--deselect", "test_copy.py::test_copy[1]", KILLED="2")
    assert result.returncode == 1
    assert "ended before it handed over what it had seen" in result.stdout
    assert "failed on what was not seen: worker gw" in result.stdout
    report = json.loads((program / "k.json").read_text())
    assert launched(report) == [2, 3, 4]


@pytest.mark.slow
def test_workers_see_what_one_process_sees(program: Path) -> None:
    alone = gated(program, "--tt-audit=narrow-loads")
    shared = gated(program, "-p", "xdist", "-n", "2", "--tt-audit=narrow-loads")
    assert alone.returncode == shared.returncode == 1
    failures = [
        sorted(line for line in run.stdout.splitlines() if line.startswith("failed on"))
        for run in (alone, shared)
    ]
    assert failures[0] == failures[1] != []


# -- killed at random -----------------------------------------------------------------------

WRITER = """\
import itertools, sys
import kernels
for number in itertools.count(1):
    kernels.launch(number)
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
"""


@pytest.mark.slow
def test_nothing_is_lost_of_processes_killed_at_random_moments(program: Path, seed: int) -> None:
    """What a process said it launched is in its journal, whenever it was killed."""
    chance = random.Random(seed)
    (program / "writer.py").write_text(WRITER)
    with tt_layout.watch(out=io.StringIO()) as seen:
        said = {}
        for _ in range(200):
            paths = os.environ["PYTHONPATH"], str(Path(__file__).parents[2]), str(program)
            child = subprocess.Popen(
                [sys.executable, "writer.py"],
                cwd=program,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                stdout=subprocess.PIPE,
            )
            assert child.stdout is not None
            first = child.stdout.readline()
            time.sleep(chance.uniform(0, 0.01))
            child.kill()
            lines = (first + child.stdout.read()).split(b"\n")
            child.wait()
            child.stdout.close()
            said[child.pid] = int(lines[-2] or 0)
        assert seen.folder is not None
        logs = {log.process: log for log in process_logs(seen.folder)}
    for process, number in said.items():
        written = len(logs[process].kernels)
        assert written >= number or logs[process].failure is not None, (process, number, written)
