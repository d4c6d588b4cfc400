"""Kernels that a program compiles and launches, watched: hooks, reports, bad neighbours."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_triton
import pytest
from tiers import slow

import tt_layout
from tt_layout.kernels.seen import Launch
from tt_layout.watching.report import write_table
from tt_layout.watching.triton_hooks import launch_of

ROOT = Path(__file__).parents[2]
KERNEL = """\
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4],
                         order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @strided(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: i32) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %t = tt.splat %s : i32 -> tensor<1024xi32, #blocked>
    %o = arith.muli %i, %t : tensor<1024xi32, #blocked>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %a = tt.addptr %p, %o : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %a : tensor<1024x!tt.ptr<f16>, #blocked>
    tt.store %p, %v : tensor<1024x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
"""


class Tensor:
    """What has an address."""

    def data_ptr(self) -> int:
        return 512 * 7 + 16


def strided(x: Any, s: int, size: int = 1024) -> None:
    """Stand for the source of the kernel."""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    return fake_triton.install(monkeypatch)


@pytest.fixture
def kernel(modules: Any, tmp_path: Path) -> Any:
    return modules["triton.runtime.jit"].JITFunction(strided, KERNEL, tmp_path)


def test_what_is_launched_is_audited_with_its_arguments(kernel: Any) -> None:
    table = io.StringIO()
    with tt_layout.watch(out=table) as seen:
        for _ in range(3):
            kernel.run(Tensor(), 2, grid=(4,), warmup=False)
    [one] = seen.kernels
    assert one.launches == {Launch((4, 1, 1), (("x", 16), ("s", 2), ("size", 1024))): 3}
    assert one.compiled.place.startswith(
        "tests/watching/test_watching.py:" if in_root() else str(ROOT)
    )
    [line] = [kernel.audit for kernel in seen.report.kernels]
    assert line is not None
    assert line.finding_lines, "the stride of 2 is known to be uncoalesced"
    assert "@strided" in table.getvalue()
    assert str(seen) + "\n" == table.getvalue()


def in_root() -> bool:
    return Path.cwd() == ROOT


def test_what_is_compiled_and_not_launched_is_audited(kernel: Any) -> None:
    with tt_layout.watch(out=io.StringIO()) as seen:
        kernel.run(None, 2, grid=(1,), warmup=True)
    [one] = seen.kernels
    assert one.launches == {}
    assert one.launch is None
    assert seen.report.kernels[0].audit is not None


def test_what_was_compiled_before_is_seen_when_it_is_launched(kernel: Any) -> None:
    kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    with tt_layout.watch(out=io.StringIO()) as seen:
        kernel.run(Tensor(), 2, grid=lambda arguments: (arguments["s"], 3), warmup=False)
    [one] = seen.kernels
    assert one.launch == Launch((2, 3, 1), (("x", 16), ("s", 2), ("size", 1024)))


def test_hooks_are_chained_and_taken_back(modules: Any, kernel: Any) -> None:
    heard: list[str] = []
    knobs = modules["triton.knobs"].compilation
    knobs.listener = before = lambda **named: heard.append(named["src"].name)
    run = modules["triton.runtime.jit"].JITFunction.run
    with tt_layout.watch(out=io.StringIO()) as outer, tt_layout.watch(out=io.StringIO()) as inner:
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    assert heard == ["strided"]
    assert len(outer.kernels) == len(inner.kernels) == 1
    assert knobs.listener is before
    assert modules["triton.runtime.jit"].JITFunction.run is run


def test_a_listener_set_inside_goes_on(modules: Any, kernel: Any) -> None:
    heard: list[str] = []
    knobs = modules["triton.knobs"].compilation
    with tt_layout.watch(out=io.StringIO()) as seen:
        ours = knobs.listener

        def theirs(**named: Any) -> None:
            heard.append(named["src"].name)
            ours(**named)

        knobs.listener = theirs
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    assert heard == ["strided"]
    assert len(seen.kernels) == 1
    assert knobs.listener is theirs, "what others put on top stays"


def test_a_listener_that_raises_raises_as_without_us(modules: Any, kernel: Any) -> None:
    def raises(**named: Any) -> None:
        raise ZeroDivisionError

    modules["triton.knobs"].compilation.listener = raises
    with tt_layout.watch(out=io.StringIO()) as seen, pytest.raises(ZeroDivisionError):
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    assert len(seen.kernels) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda listener: listener("kernel"),
        lambda listener: listener(source=None, kernel=None),
        lambda listener: listener(src=None, metadata=None, metadata_group=7),
        lambda listener: listener(src=None, metadata={"hash": 7}, metadata_group={}),
        lambda listener: listener(
            src=None, metadata={"hash": "a"}, metadata_group={"k.ttgir": "/nowhere"}
        ),
    ],
)
def test_a_listener_called_otherwise_breaks_nothing(
    modules: Any, call: Callable[[Any], None]
) -> None:
    table = io.StringIO()
    with tt_layout.watch(out=table):
        call(modules["triton.knobs"].compilation.listener)
    assert table.getvalue().count("\n") <= 2
    assert "Traceback" not in table.getvalue()


def test_a_failure_of_ours_is_named_once(kernel: Any) -> None:
    class Odd:
        def data_ptr(self) -> int:
            raise RuntimeError("freed")

    table = io.StringIO()
    with tt_layout.watch(out=table) as seen:
        for _ in range(3):
            kernel.run(Odd(), 2, grid=(1,), warmup=False)
    assert table.getvalue().count("not all was seen: RuntimeError: freed") == 1
    assert len(seen.kernels) == 1


def test_a_kernel_that_cannot_be_read_is_an_error_in_a_suite(modules: Any, tmp_path: Path) -> None:
    unread = modules["triton.runtime.jit"].JITFunction(strided, "nothing", tmp_path)
    with tt_layout.watch(out=io.StringIO()) as seen:
        unread.run(Tensor(), 2, grid=(4,), warmup=False)
    [one] = seen.report.kernels
    [case] = seen.report.suite().cases
    assert one.audit is None
    assert one.reason
    assert case.problem == (True, "unread", one.reason, "")


def test_a_table_without_a_stream_is_in_a_file_aside(kernel: Any) -> None:
    with tt_layout.watch(out=io.StringIO()) as seen:
        kernel.run(Tensor(), 2, grid=(4,), warmup=False)
    message = write_table(seen.report, None)
    assert message is not None
    prefix = "cannot write the table: the stream is closed; it is in "
    assert message.startswith(prefix)
    aside = Path(message.removeprefix(prefix))
    assert "@strided" in aside.read_text(encoding="utf-8")
    aside.unlink()


def test_values_that_do_not_fit_are_not_used(kernel: Any) -> None:
    class Unaligned(Tensor):
        def data_ptr(self) -> int:
            return 3

    with tt_layout.watch(out=io.StringIO()) as seen:
        kernel.run(Unaligned(), 2, grid=(1,), warmup=False)
    [one] = seen.report.kernels
    assert one.audit is not None
    assert one.reason is not None
    assert "multiples of 16" in one.reason


def test_a_kernel_that_cannot_be_read_is_named(modules: Any, tmp_path: Path) -> None:
    function = modules["triton.runtime.jit"].JITFunction(strided, "module {\n", tmp_path)
    with tt_layout.watch(out=io.StringIO()) as seen:
        function.run(Tensor(), 2, grid=(1,), warmup=False)
    assert "strided skipped" in str(seen)
    watched = tt_layout.watch(fail_on="conflicts", out=io.StringIO())
    with pytest.raises(tt_layout.LayoutError, match="what was not read: strided: "), watched:
        function.run(Tensor(), 2, grid=(1,), warmup=False)


def test_findings_that_are_watched_for_raise(kernel: Any) -> None:
    watched = tt_layout.watch(fail_on="narrow-loads", out=io.StringIO())
    with pytest.raises(tt_layout.LayoutError, match="narrow-loads"), watched:
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    with tt_layout.watch(fail_on=["conflicts"], out=io.StringIO()):
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    with pytest.raises(tt_layout.LayoutError, match="'typo'"), tt_layout.watch(fail_on="typo"):
        raise AssertionError("the block must not begin")


def test_an_error_of_the_program_is_its_own(kernel: Any) -> None:
    def fails() -> None:
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
        raise KeyError

    table = io.StringIO()
    with pytest.raises(KeyError), tt_layout.watch(fail_on="all", out=table):
        fails()
    assert "@strided" in table.getvalue()


@pytest.mark.parametrize("name", ["k.html", "k.json", "k.xml", "k.txt"])
def test_reports_are_written_as_their_name_ends(kernel: Any, tmp_path: Path, name: str) -> None:
    with tt_layout.watch(out=tmp_path / name):
        kernel.run(Tensor(), 2, grid=(5,), warmup=False)
    text = (tmp_path / name).read_text()
    assert "strided" in text
    start = {
        ".html": "<!doctype html>",
        ".json": "{",
        ".xml": "<?xml",
        ".txt": "      time  to gain  cycles",
    }
    assert text.startswith(start[Path(name).suffix])
    if name == "k.json":
        [one] = json.loads(text)["kernels"]
        assert one["launches"] == [
            {"grid": [5, 1, 1], "values": {"x": 16, "s": 2, "size": 1024}, "count": 1}
        ]


def test_a_report_without_a_place_is_told_at_the_start_and_kept_aside(
    kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (aside := tmp_path / "aside").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    with tt_layout.watch(out=tmp_path):
        told = f"tt-layout: warning: no report can be written to {tmp_path}: Is a directory\n"
        assert capsys.readouterr().err == told
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    [kept] = aside.glob("tt-layout-*")
    assert "strided" in kept.read_text()
    assert capsys.readouterr().err.endswith(f"it is in {kept}\n")


def test_the_folder_of_a_report_is_made_at_the_start(
    kernel: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "no" / "such" / "k.json"
    with tt_layout.watch(out=out):
        assert out.parent.is_dir()
        assert not out.exists()
        kernel.run(Tensor(), 2, grid=(1,), warmup=False)
    assert json.loads(out.read_text())["kernels"]
    assert capsys.readouterr().err == ""


def test_a_fork_in_the_middle_reports_nothing(kernel: Any, tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    path = tmp_path / "k.txt"
    child, status = 0, -1
    try:
        with tt_layout.watch(out=path):
            kernel.run(Tensor(), 2, grid=(1,), warmup=False)
            child = os.fork()
            if child == 0:
                sys.exit(0)
            _, status = os.waitpid(child, 0)  # inside: the report of this process is not there yet
    except SystemExit:
        os._exit(7 if path.exists() else 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert path.exists()


def test_launches_are_read_as_triton_takes_them() -> None:
    assert launch_of((3,), {}).grid == (3, 1, 1)
    assert launch_of([1, 2, 3], {"flag": True, "eps": 1e-5}) == Launch((1, 2, 3), (("flag", 1),))


PROGRAM = """\
import sys
import triton.runtime.jit as jit
assert sys.argv[1:] == ["--size", "7"], sys.argv
def copy(x, s): ...
jit.JITFunction(copy).run(0, 2, grid=(1,), warmup=False)
sys.exit(3)
"""

FAKE_JIT = '''\
import inspect
import triton.knobs
class JITFunction:
    def __init__(self, fn):
        self.fn, self.signature = fn, inspect.signature(fn)
    def run(self, *given, grid, warmup, **named):
        return type("Kernel", (), {"hash": "12", "name": "copy", "asm": {"ttgir": TEXT}})()
TEXT = """%s"""
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a folder with a package called triton, and a program that uses it."""
    runtime = tmp_path / "triton" / "runtime"
    runtime.mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").touch()
    (tmp_path / "triton" / "knobs.py").write_text("class compilation: listener = None\n")
    (runtime / "__init__.py").touch()
    (runtime / "jit.py").write_text(FAKE_JIT % KERNEL)
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def run(program: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(program)])}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=program,
        env=environment | variables,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_program_is_followed_from_its_own_import_of_triton(program: Path) -> None:
    """The program's arguments and exit status are its own; the table follows it."""
    result = run(program, "-m", "tt_layout.watching", "train.py", "--size", "7")
    assert result.returncode == 3
    assert result.stdout == ""
    assert "@copy" in result.stderr
    assert "train.py:5" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.parametrize("options", [(), ("--compile",)])
def test_kernels_of_a_program_are_compiled_only_where_that_is_asked_for(
    program: Path, options: tuple[str, ...]
) -> None:
    asked = variables_of_compiler(program)
    result = run(program, "-m", "tt_layout.watching", *options, "train.py", "--size", "7", **asked)
    assert result.returncode == 3
    assert (program / "asked").exists() == bool(options)


def variables_of_compiler(folder: Path) -> dict[str, str]:
    """Return variables for a compiler that only leaves a file behind."""
    compiler = folder / "python"
    compiler.write_text(f"#!/bin/sh\ntouch {folder / 'asked'}\nexit 1\n")
    compiler.chmod(0o755)
    return {"TT_LAYOUT_TRITON": str(compiler), "XDG_CACHE_HOME": str(folder / "caches")}


@pytest.mark.slow
def test_the_variable_says_where_the_table_goes(program: Path) -> None:
    arguments = "-m", "tt_layout.watching", "-m", "train", "--size", "7"
    result = run(program, *arguments, TT_LAYOUT_WATCH="kernels.json")
    assert (result.returncode, result.stderr) == (3, "")
    assert json.loads((program / "kernels.json").read_text())["kernels"][0]["name"] == "copy"


def test_a_program_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    from tt_layout.watching.__main__ import USAGE, main

    assert main([]) == main(["-x"]) == 2
    assert capsys.readouterr().err == f"{USAGE}\n" * 2
    assert main(["no\x1bwhere.py", "x"]) == 2
    assert capsys.readouterr().err == "error: there is no program no?where.py\n"


MODULES = {
    "missing": "there is no module missing",
    "missing.below": "there is no module missing.below",
    "plain.below": "there is no module plain.below",
    "a..b": "there is no module a..b",
    "no\x1bname": "there is no module no?name",
    "package": "the package package is no program: it has no __main__",
    "package.below": "there is no module package.below",
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_is_not_there_is_one_message(
    name: str,
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tt_layout.watching.__main__ import main

    (program / "plain.py").write_text("")
    (program / "package").mkdir()
    (program / "package" / "__init__.py").write_text("")
    monkeypatch.chdir(program)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "modules", {**sys.modules})
    assert main(["-m", name, "x"]) == 2
    assert capsys.readouterr().err == f"error: {MODULES[name]}\n"


def test_what_a_package_raises_is_the_programs_own(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tt_layout.watching.__main__ import main

    (program / "broken").mkdir()
    (program / "broken" / "__init__.py").write_text("import nowhere_at_all\n")
    monkeypatch.chdir(program)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        main(["-m", "broken.below"])


def test_a_folder_that_is_no_program_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tt_layout.watching.__main__ import main

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"error: the folder {tmp_path} is no program: it has no __main__.py\n"
    )


TESTS = """\
import triton.runtime.jit as jit
import pytest
def copy(x, s): ...
@pytest.mark.parametrize("stride", [2, 3])
def test_copy(stride):
    jit.JITFunction(copy).run(0, stride, grid=(1,), warmup=False)
"""


@pytest.mark.parametrize("workers", [slow([]), slow(["-p", "xdist", "-n", "2"])])
def test_tests_are_watched(program: Path, workers: list[str]) -> None:
    (program / "test_copy.py").write_text(TESTS)
    plugins = "-p", "tt_layout.pytest_plugin", "-p", "no:cacheprovider", "-q"
    options = "--tt-audit=narrow-loads", "--tt-audit-report=out.xml"
    result = run(
        program, "-m", "pytest", *plugins, *workers, *options, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
    )
    assert result.returncode == 1, result.stdout + result.stderr
    assert "2 passed" in result.stdout
    assert "failed on narrow-loads: test_copy.py::test_copy[" in result.stdout
    assert "<failure" in (program / "out.xml").read_text()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.parametrize("options", [(), ("--tt-audit-compile",)])
def test_kernels_of_tests_are_compiled_only_where_that_is_asked_for(
    program: Path, options: tuple[str, ...]
) -> None:
    (program / "test_copy.py").write_text(TESTS)
    asked = variables_of_compiler(program)
    plugins = "-p", "tt_layout.pytest_plugin", "-p", "no:cacheprovider", "-q"
    result = run(
        program, "-m", "pytest", *plugins, "--tt-audit", *options,
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **asked,
    )  # fmt: skip
    assert "2 passed" in result.stdout, result.stdout + result.stderr
    assert (program / "asked").exists() == bool(options)


@pytest.mark.slow
def test_a_kind_that_is_none_is_refused_with_the_way_out(program: Path) -> None:
    plugins = "-p", "tt_layout.pytest_plugin", "-p", "no:cacheprovider"
    result = run(
        program, "-m", "pytest", *plugins, "--tt-audit", "tests", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
    )
    assert result.returncode == 4
    assert "write --tt-audit= before a path" in result.stderr


def test_the_name_is_the_function_also_for_who_imports_the_module_of_old() -> None:
    """No room of the package shadows a function; the old command runs a program for a release."""
    import importlib

    module: Any = importlib.import_module("tt_layout.watch")
    assert module is tt_layout.watch
    shadows = {path.stem for path in Path(tt_layout.__file__).parent.iterdir()} & {
        *tt_layout.__all__
    }
    assert shadows == {"watch"}  # the alias, which stands for the function itself


@pytest.mark.slow
def test_the_old_command_runs_a_program(program: Path) -> None:
    result = run(program, "-m", "tt_layout.watch", "train.py", "--size", "7")
    assert result.returncode == 3
    assert "@copy" in result.stderr
