"""The start of the command and of its workers; what commands read of folders and manifests."""

from __future__ import annotations

import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from contextlib import suppress
from contextvars import copy_context
from multiprocessing import Process
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from command import Run, runner
from small_modules import NVMMA, ROWS

import tt_layout
from tt_layout.__main__ import THREADS
from tt_layout.__main__ import main as start
from tt_layout.mlir.source import dumps_below
from tt_layout.worker import begin_worker, processors, start_method


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def test_links_in_a_folder_of_dumps_are_not_followed(tmp_path: Path) -> None:
    dump = tmp_path / "a.ttgir"
    dump.write_text("module {\n}\n")
    (tmp_path / "b.ttgir").symlink_to(dump)
    assert dumps_below(str(tmp_path)) == [str(dump)]


def test_another_layout_of_a_case_is_read_for_its_memory(tmp_path: Path, run: Run) -> None:
    """Of CuTe notation the memory decides whether it leads to offsets or to elements."""
    manifest = tmp_path / "layouts.yaml"
    rows = ROWS.replace("[8, 1]", "[1, 1]")
    cases = (
        f"cases:\n- name: a\n  layout: '{rows}'\n  type: tensor<4x32xf16>\n"
        "  with: '(4,32):(32,1)'\n  views: [conflicts]\n"
    )
    manifest.write_text(cases)
    outcome = run("check", str(manifest), "--update")
    assert (outcome.status, outcome.err) == (0, "")
    golden = (tmp_path / "a.conflicts.txt").read_text()
    assert golden.startswith("store: 1 x st.shared.v2.b32 per warp")


def test_swizzle_looks_past_copies_to_tensor_memory(run: Run, tmp_path: Path) -> None:
    shared = NVMMA.format(128, 32, "")
    tensor = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>"
    tile = f"!ttg.memdesc<128x32xf32, {shared}, #ttg.shared_memory, mutable>"
    columns = f"!ttg.memdesc<128x32xf32, {tensor}, #ttng.tensor_memory, mutable>"
    path = tmp_path / "a.ttgir"
    path.write_text(
        f'#rows = {ROWS}\nmodule attributes {{"ttg.num-warps" = 8 : i32, '
        'ttg.target = "cuda:100"} {\n'
        f"tt.func @f(%s: {tile}, %t: {columns}) {{\n"
        f"ttng.tmem_copy %s, %t : {tile}, {columns}\n"
        f"%0 = ttg.local_load %s : {tile} -> tensor<128x32xf32, #rows>\n"
        "tt.return\n}\n}\n"
    )
    found = run("swizzle", f"{path}:5")
    assert (found.status, found.err) == (0, "")


def test_nothing_is_collected_while_the_command_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collects: list[bool] = []

    class Imported(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name != "main":
                raise AttributeError(name)
            collects.append(gc.isenabled())
            return lambda: collects.append(gc.isenabled())

    handlers: list[Any] = []
    monkeypatch.setitem(sys.modules, "tt_layout.cli.main", Imported("main"))
    # Tests may run beside the main thread.
    monkeypatch.setattr(signal, "signal", lambda _, handler: handlers.append(handler))
    before = gc.get_threshold()
    try:
        start()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    assert collects == [False, True]
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    handlers[0](signal.SIGINT, None)
    assert (ended, handlers[1]) == ([130], None), "an interrupt while it is imported is its end"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system counts no threads")
@pytest.mark.parametrize("wanted", [None, "2"])
def test_numpy_starts_one_thread_or_those_that_its_user_wants(wanted: str | None) -> None:
    environment = {name: text for name, text in os.environ.items() if name != THREADS}
    environment |= {} if wanted is None else {THREADS: wanted}
    code = (
        "import sys\nfrom tt_layout.__main__ import main\n"
        "sys.argv[1:] = ['-l', '#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], "
        "warpsPerCTA = [1], order = [0]}>', '-t', 'tensor<32xf16>', '-o', '/dev/null']\n"
        "try: main()\nexcept SystemExit as ended: assert not ended.code\n"
    )
    threads, inherited = threads_with(environment, code)
    assert inherited == str(wanted), "commands that it runs inherit what was there"
    assert threads == threads_with({**environment, THREADS: wanted or "1"}, "")[0]


def threads_with(environment: dict[str, str], code: str) -> tuple[str, str]:
    """Return how many threads a process has after code and numpy, and what its commands inherit."""
    code += "import os, numpy; print(len(os.listdir('/proc/self/task')), os.environ.get(%r))"
    command = [sys.executable, "-c", code % THREADS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    threads, inherited = done.stdout.split()
    return threads, inherited


def test_the_alias_of_watching_runs_it(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "argv", ["watch.py", "nowhere.py"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(Path(tt_layout.__file__).with_name("watch.py")), run_name="__main__")
    assert ended.value.code == 2
    assert capsysbinary.readouterr().err == b"error: there is no program nowhere.py\n"


def test_a_worker_leaves_interrupts_and_ends_with_its_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[int, Any] = {}
    monkeypatch.setattr(signal, "signal", told.__setitem__)
    copy_context().run(begin_worker)  # what it says of the command line stays there
    assert told == {signal.SIGINT: signal.SIG_IGN, signal.SIGPIPE: signal.SIG_DFL}
    monkeypatch.delattr(signal, "SIGPIPE")  # as on Windows
    copy_context().run(begin_worker)


def test_whoever_watches_a_parent_imports_nothing() -> None:
    """Else a worker that ends meanwhile waits for locks of imports; without one none watches."""
    code = "import sys, threading, tt_layout.worker as w; w.begin_worker(); "
    code += (
        "assert threading.active_count() == 1; assert 'multiprocessing.connection' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_worker_that_has_done_its_work_ends_before_its_parent() -> None:
    worker = Process(target=begin_worker)
    worker.start()
    try:
        worker.join(30)
        assert worker.exitcode == 0
    finally:
        worker.kill()


PARENT = """\
import os, time
from multiprocessing import Pipe, get_context
from tt_layout.worker import begin_worker, start_method
def work(ready):
    begin_worker()
    ready.send(os.getpid())
    time.sleep(600)
if __name__ == "__main__":
    heard, said = Pipe(duplex=False)
    get_context(start_method()).Process(target=work, args=(said,)).start()
    print(heard.recv(), flush=True)
    os._exit(0)
"""


def test_a_worker_ends_with_its_parent_however_that_ends(tmp_path: Path) -> None:
    """It holds what the parent wrote to, so that this has an end only when both have ended."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    try:
        assert parent.communicate(timeout=240)[0] == ""
    finally:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize(
    ("system", "methods", "expected"),
    [
        ("linux", ["fork", "spawn"], "fork"),
        ("darwin", ["spawn", "fork"], "spawn"),
        ("win32", ["spawn"], "spawn"),
    ],
)
def test_workers_are_forked_where_that_is_safe(
    monkeypatch: pytest.MonkeyPatch, system: str, methods: list[str], expected: str
) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: methods)
    monkeypatch.setattr(sys, "platform", system)
    assert start_method() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process")
def test_processors_are_those_that_the_process_may_use() -> None:
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mine)})
        assert processors() == 1
    finally:
        os.sched_setaffinity(0, mine)


def test_the_package_is_imported_where_no_process_is_forked() -> None:
    code = "import os, random, numpy; del os.register_at_fork; import tt_layout"
    subprocess.run([sys.executable, "-c", code], check=True)
