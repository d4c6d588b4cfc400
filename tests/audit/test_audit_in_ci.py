"""Audits in CI: exit status by kinds and thresholds, annotations, goldens, manifests of dumps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.ir.dump_part import MAX_NESTING

NARROW = Path(__file__).parents[2] / "examples" / "narrow"


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    for name in ("matmul.ttgir", "softmax.ttgir", "make.py"):
        shutil.copy(NARROW / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return runner(capfdbinary, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "failed"),
    [
        (["conflicts"], []),
        (["conversions"], ["conversions: matmul.ttgir:111: "]),
        (["conversions=129"], []),
        (["conversions=128"], ["conversions: matmul.ttgir:111: "]),
        (["conflicts,narrow-loads"], ["narrow-loads: matmul.ttgir:83: "]),
        (["all"], ["narrow-loads: matmul.ttgir:83: ", "conversions: matmul.ttgir:111: "]),
        (["narrow-loads=1000000", "conversions"], ["conversions: matmul.ttgir:111: "]),
    ],
)
def test_the_exit_status_says_what_was_found(
    limits: list[str], failed: list[str], run: Run
) -> None:
    options = [word for limit in limits for word in ("--fail-on", limit)]
    for file in (["matmul.ttgir"], ["matmul.ttgir", "softmax.ttgir"]):
        outcome = run("audit", *file, *options)
        told = [line for line in outcome.err.splitlines() if "matmul" in line]
        assert len(told) == len(failed)
        assert all(line.startswith(f"failed on {one}") for line, one in zip(told, failed))
        if len(file) == 1:
            assert outcome.status == (1 if failed else 0)
    assert run("audit", "matmul.ttgir", *options).out == run("audit", "matmul.ttgir").out


@pytest.mark.parametrize("limit", ["bank", "conflicts=x", "conflicts=", "conflicts=-1", ""])
def test_wrong_kinds_are_refused(limit: str, run: Run) -> None:
    assert run("audit", "matmul.ttgir", "--fail-on", limit).status == 2


@pytest.mark.parametrize(
    "options",
    [["--axis-info"], ["--fits"], ["--baseline", "matmul.ttgir"], ["--diff", "--bits"]],
)
def test_a_limit_of_findings_is_not_ignored(options: list[str], run: Run) -> None:
    files = ["matmul.ttgir"] * (2 if "--diff" in options else 1)
    outcome = run("audit", *options, *files, "--fail-on", "all")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("error: --fail-on is for findings")


def test_a_report_says_that_the_dump_was_not_read_whole(run: Run) -> None:
    text = Path("matmul.ttgir").read_text()
    Path("cut.ttgir").write_text(text[: text.index("scf.yield")])
    reason = "the module that begins on line 16 has no end: the text is truncated"
    report = run("audit", "cut.ttgir", "--partial").out.splitlines()
    assert report[:2] == ["cut.ttgir:16", f"  not all of it was read: {reason}"]
    [module] = json.loads(run("audit", "cut.ttgir", "--partial", "--format", "json").out)["modules"]
    assert module["unread"] == reason


def test_annotations_are_at_the_lines_of_the_program(run: Run) -> None:
    outcome = run("audit", "matmul.ttgir", "--format", "github", "--fail-on", "conversions")
    first, second = outcome.out.splitlines()
    assert first.startswith("::warning file=make.py,line=54,title=narrow-loads::tt.load loads 2 ")
    assert second.startswith("::error file=make.py,line=57,title=conversions::ttg.convert_layout ")
    assert outcome.status == 1
    many = run("audit", "matmul.ttgir", "softmax.ttgir", "--format", "github")
    assert many.out.count("::warning file=make.py,line=") == 4
    assert run("audit", "--diff", "matmul.ttgir", "softmax.ttgir", "--format", "github").status == 2


@pytest.mark.parametrize("form", ["text", "json", "github", "features"])
def test_what_was_not_read_does_not_pass(form: str, run: Run, tmp_path: Path) -> None:
    """A finding beside it does not hide it, and without a limit nothing fails."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    shutil.copy("softmax.ttgir", folder)
    text = Path("matmul.ttgir").read_text()
    (folder / "cut.ttgir").write_text(text[: len(text) // 2])
    command = ("audit", "dumps", "--format", form)
    for kind in ("conflicts", "narrow-loads"):
        outcome = run(*command, "--fail-on", kind)
        message = outcome.err.partition("error: ")[2].splitlines()
        assert outcome.status == 2
        assert message[0] == (
            "--fail-on needs every dump to be read, but 1 was skipped: mend it, or name the others "
            "alone"
        )
        assert message[1].startswith(f"{Path('dumps', 'cut.ttgir')}: the module that begins on")
        assert message[1].endswith("--partial audits what there is")
        assert ("failed on narrow-loads" in outcome.err) is (kind == "narrow-loads")
        assert run(*command, "--fail-on", kind, "--partial").status == (kind == "narrow-loads")
        assert run("audit", "dumps/softmax.ttgir", "--fail-on", kind).status != 2
    outcome = run(*command)
    assert outcome.status == 0
    assert "the text is truncated" in " ".join((outcome.out + outcome.err).split())


def nested(number: int) -> str:
    """Return a kernel with a number of regions in one another, and a narrow load in the last."""
    layout = "sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]"
    pointers = f"tensor<256x!tt.ptr<f16>, #ttg.blocked<{{{layout}}}>>"
    opened, closed = "scf.if %c {\n" * (number - 2), "}\n" * number
    head = f"tt.func public @deep(%c: i1, %p: {pointers}) {{"
    return f"module {{\n{head}\n{opened}%0 = tt.load %p : {pointers}\n{closed}"


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_what_is_nested_too_deeply_does_not_pass(form: str, run: Run, tmp_path: Path) -> None:
    """The last region that is read fails the audit; one more is not stepped over in silence."""
    deepest, deeper = tmp_path / "deepest.ttgir", tmp_path / "deeper.ttgir"
    deepest.write_text(nested(MAX_NESTING))
    deeper.write_text(nested(MAX_NESTING + 1))
    gate = ("audit", "--fail-on", "narrow-loads", "--format", form)
    assert run(*gate, deepest.name).status == 1
    outcome = run(*gate, deeper.name)
    place, caret = f"deeper.ttgir:{MAX_NESTING + 1}:11: error: ", f"scf.if %c {{\n{' ' * 10}^\n"
    message = f"the regions of @deep are nested more than {MAX_NESTING} deep"
    assert outcome.status == 2
    assert outcome.err.startswith(place + message)
    assert outcome.err.endswith(caret)
    assert run(*gate, deepest.name, deeper.name).status == 2
    assert run("audit", "--baseline", "deeper.ttgir", "deeper.ttgir").status == 2
    deeper.write_text(nested(MAX_NESTING + 2))  # readers do not count the region of the module
    assert run(*gate, deeper.name, "--partial").status == 0


def test_a_baseline_needs_both_folders_whole(run: Run, tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        shutil.copy("softmax.ttgir", name)
    assert run("audit", "--baseline", "before", "after").status == 0
    (tmp_path / "before" / "empty.ttgir").write_text("")
    outcome = run("audit", "--baseline", "before", "after")
    assert outcome.status == 2
    assert outcome.out.startswith("1 kernel: 0 more expensive")
    assert outcome.err.splitlines()[1] == f"{Path('before', 'empty.ttgir')}: the file is empty"


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_without_a_kernel_nothing_passes(form: str, run: Run, tmp_path: Path) -> None:
    """Neither by findings nor beside a baseline; without a gate that is no error."""
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "empty.ttgir").write_text("module {\n}\n")
    for dumps in (["before"], ["before/empty.ttgir"], ["before/empty.ttgir", "after"]):
        command = ("audit", *dumps, "--format", form)
        assert run(*command).status == 0
        outcome = run(*command, "--fail-on", "all")
        assert outcome.status == 2
        assert outcome.err.endswith("findings of kernels, but there is no kernel\n")
    assert run("audit", "before", "softmax.ttgir", "--fail-on", "conflicts").status == 0
    outcome = run("audit", "before", "after")
    assert (outcome.out, outcome.err) == ("", "note: no kernel was found in before, after\n")


def test_a_baseline_needs_a_kernel(run: Run, tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / f"{name}.ttgir").write_text("module {\n}\n")
    outcome = run("audit", "--baseline", "before.ttgir", "after.ttgir")
    assert outcome.status == 2
    assert outcome.err.endswith("neither before.ttgir nor after.ttgir has one\n")
    assert run("audit", "--baseline", "before.ttgir", "softmax.ttgir").status == 0


def test_an_error_is_annotated_as_one(run: Run) -> None:
    """Without ``--fail-on``, too: the exit status is 0, but the compiler refuses the kernel."""
    text = "#b = #ttg.blocked<{odrer = [1]}>\nmodule {\n  %0 = x.y : tensor<8x16xf16, #b>\n}\n"
    outcome = run("audit", "-", "--format", "github", stdin=text.encode())
    assert (outcome.status, outcome.out.partition(": #ttg")[0]) == (
        0,
        "::error file=-,line=3,title=refused::#b on tensor<8x16xf16>",
    )


MANIFEST = """\
version: 1
cases:
  - name: kernel
    file: matmul.ttgir
    views: [audit]
    values: K=4096
"""


@pytest.mark.slow
def test_check_keeps_what_is_found(run: Run, tmp_path: Path) -> None:
    (tmp_path / "layouts.yaml").write_text(MANIFEST, encoding="utf-8")
    assert run("check", "--update").status == 0
    golden = (tmp_path / "kernel.audit.txt").read_text(encoding="utf-8")
    head = " ".join(golden.partition("\n  1. ")[0].split())
    who, _, verdict = head.partition(": ")
    assert (who, verdict[:6]) == ("@matmul, sm90 (H200), 4 warps", "about ")
    assert verdict.endswith("DRAM takes the rest; 1 change of the program to try")
    assert "\n  1. make.py:54:24, line 83: tt.load loads 2 bytes per instruction" in golden
    assert run("check").status == 0
    dump = tmp_path / "matmul.ttgir"
    text = dump.read_text(encoding="utf-8")
    dump.write_text(text.replace('"ttg.num-warps" = 4', '"ttg.num-warps" = 8'), encoding="utf-8")
    outcome = run("check")
    assert outcome.status == 1
    assert f"@matmul: was {verdict}; 1 conversion through" in " ".join(outcome.out.split())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    file: matmul.ttgir\n", "", "needs the key 'file'"),
        ("values: K=4096", "alias: mma", "has a file, and no alias"),
        ("file: matmul.ttgir", "file: nowhere.ttgir", "there is no file"),
        ("K=4096", "K=x", "error: "),
        ("views: [audit]", "views: [audit, tensor]", "a file but no alias"),
    ],
)
def test_wrong_cases_are_refused(
    old: str, new: str, message: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "layouts.yaml").write_text(MANIFEST.replace(old, new), encoding="utf-8")
    outcome = run("check", "--update")
    assert outcome.status == 2
    assert message in outcome.out + outcome.err


def test_a_first_manifest_has_the_types_and_the_target_of_the_dump(
    run: Run, tmp_path: Path
) -> None:
    assert run("init", "matmul.ttgir", "--view", "tensor").status == 0
    text = (tmp_path / "layouts.yaml").read_text(encoding="utf-8")
    assert "  target: sm90\n" in text
    assert "    alias: mma\n    type: tensor<64x64xf32>\n" in text
    assert '    alias: shared1\n    type: "!ttg.memdesc<64x32xf16>"\n' in text
    assert "16x16" not in text
    assert run("check", "--update").status == 0
    assert run("init", "matmul.ttgir@last", "-o", "last.yaml").status == 0
    assert '  file: "matmul.ttgir@last"\n' in (tmp_path / "last.yaml").read_text(encoding="utf-8")
    assert run("check", "last.yaml", "--update").status == 0


def test_what_every_other_way_makes_dearer_does_not_fail(run: Run) -> None:
    dump = NARROW.parent / "kernels" / "attention-sm80.ttgir"
    outcome = run("audit", str(dump), "--fail-on", "conversions")
    assert (outcome.status, outcome.err) == (0, "")
    assert "is worth keeping: a direct store would take 512 cycles instead of 192" in outcome.out
    assert "no findings" in " ".join(outcome.out.split())
    [module] = json.loads(run("audit", str(dump), "--format", "json").out)["modules"]
    [note] = module["notes"]
    assert (note["line"], note["cycles"], note["otherwise"]) == (179, 192, 512)
    assert not module["findings"]
