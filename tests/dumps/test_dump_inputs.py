"""Dumps as they lie about: files, folders, one module of many, compiled kernels, caches."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

import tt_layout
from tt_layout import LayoutError
from tt_layout.dumps.many import groups_of_variants

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
NARROW = ROOT / "examples" / "narrow"
HEADER = "// -----// IR Dump After {} ({}) ('builtin.module' operation) //----- //\n"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(ROOT)
    return runner(capfdbinary, monkeypatch)


def text_of(name: str) -> str:
    return (NARROW / f"{name}.ttgir").read_text(encoding="utf-8")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a folder like Triton's cache, with files in it that are no dumps."""
    for number, name in enumerate(["matmul", "softmax", "vector_add"]):
        folder = tmp_path / f"HASH{number}"
        folder.mkdir()
        (folder / f"{name}.ttgir").write_text(text_of(name), encoding="utf-8")
        (folder / f"{name}.ttir").write_text("module {\n}\n", encoding="utf-8")
        metadata = {"name": f"{name}_0d1d", "num_warps": 4, "shared": 2048 * number, "x": [1]}
        (folder / f"{name}.json").write_text(json.dumps(metadata), encoding="utf-8")
    (tmp_path / "HASH2" / "vector_add.json").write_text("[1, {", encoding="utf-8")
    (tmp_path / "empty.ttgir").write_bytes(b"")
    (tmp_path / "binary.ttgir").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "other.mlir").write_text("hello\n", encoding="utf-8")
    (tmp_path / "truncated.ttgir").write_text(text_of("matmul")[:9000], encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_folder_has_a_line_for_each_kernel_the_worst_first(run: Run, cache: Path) -> None:
    outcome = run("audit", str(cache), "--format", "json")
    assert (outcome.status, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    assert [one["function"] for one in data["kernels"]] == [
        "matmul_0d1d",
        "vector_add",
        "softmax_0d1d",
    ]
    text = "".join(run("audit", str(cache)).out.split())
    for one in data["kernels"]:
        worst = max(one["findings"], key=lambda finding: finding["cost_in_all"], default=one)
        assert f"{Path(one['file']).name}:{worst['line']}" in text
    costs = [one["cost"] for one in data["kernels"]]
    assert costs == sorted(costs, reverse=True)
    assert data["kernels"][2]["shared_bytes"] == 2048
    reasons = {os.path.basename(one["file"]): one["reason"] for one in data["passed_over"]}
    assert sorted(reasons) == ["binary.ttgir", "empty.ttgir", "other.mlir", "truncated.ttgir"]
    assert reasons["empty.ttgir"] == "the file is empty"
    lines = run("audit", str(cache), "--top", "1").out
    assert lines.count("  sm90  ") == 1
    assert "and 2 more kernels: --top shows more" in lines
    assert lines.count(" skipped: ") == 4
    found = json.loads(run("audit", str(cache), "--format", "json", "--partial").out)
    assert len(found["kernels"]) == 4


def test_only_if_nothing_could_be_read_is_it_an_error(run: Run, cache: Path) -> None:
    bad = [str(cache / name) for name in ("empty.ttgir", "binary.ttgir", "nowhere.ttgir")]
    outcome = run("audit", *bad)
    assert (outcome.status, outcome.out) == (2, "")
    assert "none of 3 files could be read" in outcome.err
    assert run("audit", *bad, str(NARROW / "softmax.ttgir")).status == 0
    assert run("audit", str(cache / "HASH0"), str(cache / "HASH1")).status == 0
    (cache / "nothing").mkdir()
    assert run("audit", str(cache / "nothing")).status == 2


def test_values_are_for_the_kernels_that_have_them(run: Run, cache: Path) -> None:
    outcome = run("audit", str(cache), "--value", "K=4096", "--format", "json")
    assert outcome.status == 0
    assert json.loads(outcome.out)["kernels"][0]["cost"] == 2016 * 128 + 128
    outcome = run("audit", str(cache), "--value", "nobody=1")
    assert outcome.status == 2
    assert "nobody" in outcome.err


@pytest.mark.slow
def test_processes_say_the_same_as_one(
    run: Run, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run("audit", str(cache)).out
    monkeypatch.setattr("tt_layout.dumps.many.FEW", 2)
    monkeypatch.setattr("tt_layout.dumps.many.processors", lambda: 2)
    assert run("audit", str(cache)).out == alone


def test_a_process_takes_variants_of_one_kernel(tmp_path: Path) -> None:
    for number in range(30):
        lines = [f"%{number}_{line} = arith.constant {number} : i32\n" for line in range(5)]
        (tmp_path / f"{number:02}.ttgir").write_text("".join(lines[: 3 + number % 2]))
    files = [str(path) for path in sorted(tmp_path.iterdir())]
    longer, shorter = files[1::2], files[::2]
    groups = [longer[:12], longer[12:], shorter[:12], shorter[12:]]
    assert list(groups_of_variants(files, 2)) == groups
    assert list(groups_of_variants([str(tmp_path), *files], 2)) == [*groups, [str(tmp_path)]]


def test_a_process_takes_more_variants_at_once_of_many_dumps(tmp_path: Path) -> None:
    (tmp_path / "a.ttgir").write_text("module {\n}\n")
    files = 240 * [str(tmp_path / "a.ttgir")]
    assert [len(group) for group in groups_of_variants(files, 2)] == 8 * [30]
    assert {len(group) for group in groups_of_variants(files, 10)} == {12}


def test_a_folder_that_cannot_be_read_does_not_stop_the_others(
    run: Run, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, closed = os.scandir, str(cache / "HASH1")

    def scandir(path: str) -> Any:
        if str(path) == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    outcome = run("audit", str(cache), "--format", "json")
    data = json.loads(outcome.out)
    assert outcome.status == 0
    assert [one["function"] for one in data["kernels"]] == ["matmul_0d1d", "vector_add"]
    assert closed in [one["file"] for one in data["passed_over"]]


def modules_of(dump: Path, report: str) -> list[int]:
    """Return the line on which each module of a dump's report begins."""
    heading = rf"^{re.escape(str(dump))}:(\d+)\b"
    return [int(line) for line in re.findall(heading, report, re.MULTILINE)]


@pytest.mark.slow
def test_one_module_of_many(run: Run, tmp_path: Path) -> None:
    names = ["softmax", "vector_add", "matmul"]
    dump = tmp_path / "passes.mlir"
    text = "\n\n".join(HEADER.format(name, name) + text_of(name) for name in names)
    dump.write_text(text, encoding="utf-8")
    for suffix, kernel in (("@2", "vector_add"), ("@last", "matmul"), ("@3", "matmul")):
        outcome = run("audit", f"{dump}{suffix}")
        assert outcome.out.count("\n@") == 1
        assert f"\n@{kernel}, sm90" in outcome.out
    first, second, _ = modules_of(dump, run("audit", str(dump)).out)
    for line, number in ((1, 1), (first, 1), (second - 1, 1), (second, 2), (10**6, 3)):
        assert run("audit", f"{dump}:{line}").out == run("audit", f"{dump}@{number}").out
    assert run(f"{dump}:{second}").out == run("audit", f"{dump}@2").out
    outcome = run("audit", f"{dump}@4")
    assert outcome.status == 2
    assert "there is no module 4: the file has 3 modules" in outcome.err
    assert run("audit", "--diff", f"{dump}@1", f"{dump}@1").status == 0
    assert run("audit", "--diff", f"{dump}@1", f"{dump}@last").status == 1
    assert run("-i", f"{dump}@last", "--alias-names", "mma", "-t", "tensor<64x64xf32>").status == 0


def test_a_file_or_a_layout_needs_no_command(run: Run) -> None:
    path = str(NARROW / "matmul.ttgir")
    assert run(path).out == run("audit", path).out
    assert run(f"{path}@last", "--format", "json").status == 0
    layout = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
    assert (
        run(layout, "-t", "tensor<4x4xf16>").out == run("-l", layout, "-t", "tensor<4x4xf16>").out
    )
    assert run("nowhere.ttgir").status == 2


class Compiled:
    """What a compiled kernel looks like."""

    def __init__(self, text: str) -> None:
        self.asm = {"ttgir": text, "ptx": "", "cubin": b""}
        self.name = "matmul_kernel"


@pytest.mark.slow
def test_the_library_takes_all_that_holds_a_dump() -> None:
    path = NARROW / "matmul.ttgir"
    text = path.read_text(encoding="utf-8")
    sources = [text, path, str(path), f"{path}@last", Compiled(text), tt_layout.parse_ir(text)]
    sources.append(tt_layout.parse_ir(text)[0])
    reports: list[Any] = [tt_layout.audit_ir(source, values={"K": 4096}) for source in sources]
    found = [[finding.line for finding in report.audits[0].findings] for report in reports]
    assert found == [[83, 111]] * len(sources)
    assert reports[0].audits[0].findings[0].executions == 128
    bodies = {str(report).partition("\n")[2] for report in reports}
    assert len(bodies) == 1
    assert reports[0].data()["version"] == 1
    with pytest.raises(TypeError, match="expected MLIR text"):
        tt_layout.audit_ir(3)
    with pytest.raises(LayoutError, match="has no ttgir"):
        tt_layout.audit_ir(type("Kernel", (), {"asm": {}})())
    with pytest.raises(LayoutError, match="nobody"):
        tt_layout.audit_ir(text, values={"nobody": 3})
