"""Dumps handed to an installed Triton: its numbers, and all that may go wrong with it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from test_compiled_kernels import cubin

import tt_layout
from tt_layout.kernels.assembly import AssemblyText
from tt_layout.kernels.chosen_compiler import CHOSEN, CompilerTarget
from tt_layout.kernels.compiling import VARIABLE, TritonCompiler, compiler_of
from tt_layout.kernels.metadata import NO_METADATA

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")

MATMUL = Path(__file__).parents[2] / "examples" / "kernels" / "matmul-sm90.ttgir"

FIRST = "  tt.func public @matmul"

TRITON = """
from types import SimpleNamespace
from . import backends
__version__ = "3.9.7"
runtime = SimpleNamespace(cache=SimpleNamespace())
def compile(path, target, options):
    {body}
"""
COMPILES = """
    import base64
    print("584 bytes stack frame, 644 bytes spill stores, 640 bytes spill loads")
    code = base64.b64decode({code!r})
    metadata = SimpleNamespace(num_warps=4, shared=40960, tmem_size=None)
    return SimpleNamespace(asm={{"cubin": code, "ptx": "ret;"}}, metadata=metadata)
"""


@pytest.fixture(name="run")
def fixture_run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture(name="dump")
def fixture_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a dump in a folder of its own; what is kept is in another one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv(VARIABLE, raising=False)
    return Path(shutil.copy(MATMUL, tmp_path / "matmul.ttgir"))


def python_with(folder: Path, body: str | None) -> str:
    """Return a Python that has a stand-in for Triton, whose compiler does something."""
    package = folder / "site" / "triton"
    (package / "backends").mkdir(parents=True, exist_ok=True)
    if body is not None:
        (package / "__init__.py").write_text(TRITON.format(body=body.strip("\n").lstrip()))
    else:
        shutil.rmtree(package)
    if body is not None:
        (package / "backends" / "__init__.py").write_text("")
        target = "class GPUTarget:\n    def __init__(self, *given): self.given = given\n"
        (package / "backends" / "compiler.py").write_text(target)
    path = folder / "python"
    # Without `-B`, a body of the same length within a second would run as the one before.
    path.write_text(f'#!/bin/sh\nPYTHONPATH={folder / "site"} exec {sys.executable} -B "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def compiles(registers: int = 255, stack: int = 584) -> str:
    """Return the body of a compiler that makes code with so many registers."""
    import base64

    return COMPILES.format(code=base64.b64encode(cubin(registers, stack)).decode())


def summary(run: Run, *given: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("audit", *given, "--format", "json").out)["modules"][0]
    return found


@pytest.mark.slow
def test_the_registers_are_those_of_the_compiler(tmp_path: Path, dump: Path, run: Run) -> None:
    python = python_with(tmp_path, compiles())
    found = summary(run, str(dump), "--compile", "--triton-python", python)
    [kernel] = found["summary"]
    assert (kernel["registers_per_thread"], kernel["spilled"]) == (255, 146)
    assert (kernel["registers_source"], kernel["shared_bytes"]) == ("Triton 3.9.7", 40960)
    assert found["compile_note"] is None
    assert found["assembly"]["name"] == "compiled.ptx"
    text = run("audit", str(dump), "--triton-python", python).out
    assert "spills 146 registers (644 bytes) beside 255 of 255" in " ".join(text.split())
    assert "(compiled: Triton 3.9.7)" in " ".join(text.split())


@pytest.mark.slow
def test_without_the_option_nothing_is_compiled(tmp_path: Path, dump: Path, run: Run) -> None:
    assert CHOSEN.get() is None
    os.environ[VARIABLE] = python_with(tmp_path, compiles())
    try:
        assert summary(run, str(dump))["summary"][0]["registers_source"] is None
        assert summary(run, str(dump), "--compile")["summary"][0]["registers_per_thread"] == 255
    finally:
        del os.environ[VARIABLE]
    assert CHOSEN.get() is None


@pytest.mark.slow
def test_each_surface_has_the_compiled_numbers(tmp_path: Path, dump: Path, run: Run) -> None:
    python = python_with(tmp_path, compiles(217, 0))
    option = "--triton-python", python
    line = json.loads(run("audit", str(dump), "--format", "features", *option).out)
    assert (line["compiled_registers"], line["compiled_spills"]) == (217, 0)
    with tt_layout.compiling(python):
        assert tt_layout.features(dump)["compiled_registers"] == 217
        html = tt_layout.explore_ir(dump).html
        assert "compiled: Triton 3.9.7" in html
        assert '"name":"compiled.ptx","text":"ret;"' in html
        kept = tt_layout.autotune_prune(
            [1], {}, compile=lambda *_, **__: dump.read_text(encoding="utf-8"), spills=True
        )
    assert kept == [1]
    assert tt_layout.features(dump)["compiled_registers"] is None
    many = run("audit", str(dump), str(dump), "--format", "json", *option).out
    assert json.loads(many)["kernels"][0]["shared_bytes"] == 40960


@pytest.mark.slow
def test_an_answer_is_kept_by_text_release_and_target(tmp_path: Path, dump: Path) -> None:
    python = python_with(tmp_path, compiles(100, 0))
    target = CompilerTarget("cuda", "90", 32)
    text, other = dump.read_text(encoding="utf-8"), CompilerTarget("cuda", "80", 32)
    first = compiler_of(python).metadata(text, target, NO_METADATA)
    assert first.registers is not None
    assert first.registers.used == 100
    again = compiler_of(python).metadata(text, target, NO_METADATA)
    assert again.assembly == first.assembly == AssemblyText("compiled.ptx", None, "ret;")
    python_with(tmp_path, compiles(200, 0))
    cases = (text, target, 100), (text, other, 200), (text + "\n", target, 200)
    for changed, given, used in cases:
        found = compiler_of(python).metadata(changed, given, NO_METADATA)
        assert found.registers is not None
        assert found.registers.used == used
    package = tmp_path / "site" / "triton" / "__init__.py"
    package.write_text(package.read_text().replace("3.9.7", "3.9.8"))
    again = compiler_of(python).metadata(text, target, NO_METADATA)
    assert again.registers is not None
    assert again.registers[0::2] == (200, "Triton 3.9.8")


BROKEN = {
    "import os; os.abort()": "Triton 3.9.7 crashed (SIGABRT)",
    "import os; os._exit(3)": "Triton 3.9.7 crashed (exit status 3)",
    "raise SystemExit('LLVM ERROR')": "Triton 3.9.7 does not compile it: SystemExit: LLVM ERROR",
    "import time; time.sleep(60)": "Triton 3.9.7 did not end within 3 seconds",
    "raise RuntimeError('a.ttgir:3:4: error: unknown op tt.x')": (
        "Triton 3.9.7 does not compile it: unknown op tt.x"
    ),
    "raise RuntimeError('Parse MLIR file failed')": (
        "Triton 3.9.7 does not read it: RuntimeError: Parse MLIR file failed"
    ),
    "raise RuntimeError('0 compatible backends for target')": "Triton 3.9.7 has no target cuda:90",
    "return SimpleNamespace(asm={}, metadata=None)": (
        "Triton 3.9.7 compiled no code whose registers can be read"
    ),
    "return SimpleNamespace(asm={'cubin': b'x'}, metadata=None)": (
        "Triton 3.9.7 compiled no code whose registers can be read"
    ),
    "return None": (
        "Triton 3.9.7 does not compile it: AttributeError: 'NoneType' object has no attribute "
        "'metadata'"
    ),
    "open(path, 'a').write('x'); import os; os.execvp('true', ['true'])": (
        "Triton 3.9.7 crashed (exit status 0)"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("body", BROKEN)
def test_what_goes_wrong_is_one_line_and_the_estimate_stands(
    tmp_path: Path, dump: Path, body: str
) -> None:
    compiler = TritonCompiler(python_with(tmp_path, body), None, 3)
    text = dump.read_text(encoding="utf-8")
    found = compiler.metadata(text, CompilerTarget("cuda", "90", 32), NO_METADATA)
    assert found == NO_METADATA._replace(compile_note=f"{BROKEN[body]}; registers are estimates")


def test_an_answer_of_another_text_is_refused(tmp_path: Path, dump: Path) -> None:
    """The file that is compiled is checked, too: here the package itself changes it."""
    python = python_with(tmp_path, compiles(217, 0))
    package = tmp_path / "site" / "triton" / "__init__.py"
    change = """
import sys
if "compile" in sys.argv:
    open(f"{sys.argv[sys.argv.index('compile') + 1]}/kernel.ttgir", "a").write("// changed")
"""
    package.write_text(change + package.read_text())
    compiler = TritonCompiler(python, None, 30)
    text = dump.read_text(encoding="utf-8")
    found = compiler.metadata(text, CompilerTarget("cuda", "90", 32), NO_METADATA)
    note = "Triton 3.9.7 compiled another text; registers are estimates"
    assert found == NO_METADATA._replace(compile_note=note)


@pytest.mark.slow
def test_a_flood_of_output_ends_and_costs_no_memory(tmp_path: Path, dump: Path) -> None:
    flood = "import os\n    while True: os.write(1, b'x' * (1 << 20))"
    compiler = TritonCompiler(python_with(tmp_path, flood), None, 30)
    target = CompilerTarget("cuda", "90", 32)
    found = compiler.metadata(dump.read_text(encoding="utf-8"), target, NO_METADATA)
    assert found.compile_note is not None
    assert "File too large" in found.compile_note


@pytest.mark.slow
def test_the_report_says_what_went_wrong(tmp_path: Path, dump: Path, run: Run) -> None:
    python = python_with(tmp_path, "raise RuntimeError('error: no such layout')")
    found = run("audit", str(dump), "--triton-python", python)
    said = "Triton 3.9.7 does not compile it: no such layout; registers are estimates"
    assert found.status == 0
    assert found.out.splitlines()[1].strip() == said
    plain = run("audit", str(dump)).out.splitlines()
    assert [*plain[:1], *plain[1:]] == [*found.out.splitlines()[:1], *found.out.splitlines()[2:]]


@pytest.mark.slow
def test_without_triton_one_line_says_how_to_get_it(tmp_path: Path, dump: Path, run: Run) -> None:
    for python in (python_with(tmp_path, None), str(tmp_path / "nowhere")):
        found = run("audit", str(dump), "--compile", "--triton-python", python)
        assert found.status == 0
        assert found.out == run("audit", str(dump)).out
        assert found.err.count("\n") == 1
        assert "pip install triton" in found.err
        assert "--triton-python" in found.err


@pytest.mark.slow
def test_a_compiled_file_of_another_text_is_named(tmp_path: Path, dump: Path, run: Run) -> None:
    dump.with_suffix(".cubin").write_bytes(cubin(168, 0))
    found = summary(run, str(dump), "--triton-python", python_with(tmp_path, compiles(217, 0)))
    assert found["summary"][0]["registers_per_thread"] == 217
    assert found["compile_note"] == (
        "matmul.cubin has 168 registers and Triton 3.9.7 217: it is of another text, or another "
        "release compiled it"
    )
    dump.with_suffix(".cubin").write_bytes(cubin(217, 0))
    found = summary(run, str(dump), "--triton-python", str(tmp_path / "python"))
    assert found["compile_note"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace('ttg.target = "cuda:90", ', ""), "it names no target"),
        (
            lambda text: text.replace(FIRST, f"  tt.func public @g() {{ tt.return }}\n{FIRST}"),
            "it has 2 kernels, and Triton compiles one of a module",
        ),
    ],
)
def test_what_cannot_be_handed_over_is_said(
    tmp_path: Path, dump: Path, run: Run, change: Any, reason: str
) -> None:
    text = dump.read_text(encoding="utf-8")
    assert change(text) != text
    dump.write_text(change(text), encoding="utf-8")
    found = summary(run, str(dump), "--triton-python", python_with(tmp_path, compiles()))
    assert found["compile_note"] == f"not compiled: {reason}"


@pytest.mark.slow
def test_results_that_are_kept_know_whether_they_were_compiled(
    tmp_path: Path, dump: Path, run: Run
) -> None:
    folder = "--cache", str(tmp_path / "kept")
    given = "audit", str(dump), str(dump), "--format", "json", *folder

    def shared(*option: str) -> int:
        found: int = json.loads(run(*given, *option).out)["kernels"][0]["shared_bytes"]
        return found

    estimated = shared()
    python = python_with(tmp_path, compiles())
    assert shared("--triton-python", python) == 40960 != estimated
    assert shared() == estimated


def test_a_compiler_ends_with_whoever_waits_for_it() -> None:
    """Also where it leads no group of processes, which would be ended as one."""
    folder = Path(tt_layout.__file__).parent / "kernels"
    code = "import inside_triton, time; inside_triton.end_with_parent(); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdin=subprocess.PIPE)
    try:
        process.communicate(timeout=240)
        assert process.returncode == 1
    finally:
        process.kill()
