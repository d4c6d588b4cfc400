"""Words that kernel authors do not speak: no report of a dump has one, on any surface."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from test_kernel import agent_tools
from test_page import embedded

import tt_layout
from tt_layout.cli.output import terminal_text
from tt_layout.editing.hover import hover
from tt_layout.editing.piece import EditedPiece, PieceCache
from tt_layout.kernels.seen import CompiledKernel, SeenKernel
from tt_layout.watching.report import report_of

ROOT = Path(__file__).parents[2]
DUMP = ROOT / "examples" / "workloads" / "int8_matmul-gfx942.ttgir"
REFUSED = (
    r"could be saved|\bspent\b|\bneeded:|usual epilogue|in narrow pieces|what moves it|avoidable"
    r"|may pay|of its bound|nothing is worth a change|of \d+\);"
)
"""Words of reports that people asked about; the last is a number of multiprocessors alone."""

FORMULA = r"\d \* \(?(?:%|ceildiv)"
"""A cost that depends on arguments, which `--all` alone has; how often a line runs is none."""

LISTS = ("whole", "findings")
"""Surfaces that list everything."""


def strings(data: object) -> list[str]:
    """Return the texts of plain data, without its keys."""
    if isinstance(data, dict):
        return [text for value in data.values() for text in strings(value)]
    if isinstance(data, list):
        return [text for value in data for text in strings(value)]
    return [data] if isinstance(data, str) else []


def terminal(path: Path, run: Run, folder: Path) -> str:
    report: Any = tt_layout.audit_ir(str(path))
    return terminal_text(report, has_colours=False, width=80)


def pipe(path: Path, run: Run, folder: Path) -> str:
    return run("audit", str(path)).out


def whole(path: Path, run: Run, folder: Path) -> str:
    return run("audit", str(path), "--all").out


def page(path: Path, run: Run, folder: Path) -> str:
    assert run("page", str(path), "-o", str(folder / "k.html")).status == 0
    data = embedded((folder / "k.html").read_text(encoding="utf-8"))
    data["dump"].pop("text", None)
    return "\n".join(strings(data["dump"]))


def hovers(path: Path, run: Run, folder: Path) -> str:
    """Return what is said of each operation."""
    piece = EditedPiece(path.read_text(encoding="utf-8"), PieceCache())
    found = []
    for number, line in enumerate(piece.text.split("\n"), 1):
        operation = re.search(r"\b(tt|ttg|ttng|amdg)\.\w+", line)
        shown = hover(piece, number, operation.start()) if operation is not None else None
        found += [shown.plain] if shown is not None else []
    return "\n".join(found)


def agent(path: Path, run: Run, folder: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return "\n".join([agent_tools().audit(text), run("apply", str(path)).out])


def findings(path: Path, run: Run, folder: Path) -> str:
    return str(agent_tools().findings(path.read_text(encoding="utf-8")))


def watched(path: Path, run: Run, folder: Path) -> str:
    compiled = CompiledKernel("key", "matmul", path.read_text(encoding="utf-8"), "test")
    return str(report_of((SeenKernel(compiled),)))


def markdown(path: Path, run: Run, folder: Path) -> str:
    """Return the comment on a kernel whose accesses became narrow, and the page."""
    text = path.read_text(encoding="utf-8")
    for name, dump in (("old", text), ("new", text.replace("tt.divisibility = 16", "u = 1"))):
        (folder / name).mkdir()
        (folder / name / "k.ttgir").write_text(dump, encoding="utf-8")
    folders = [str(folder / name) for name in ("old", "new")]
    shown = [run("audit", "--baseline", *folders, "--format", kind) for kind in KINDS]
    return "\n".join(one.out for one in shown)


KINDS = ("text", "markdown", "html")


def github(path: Path, run: Run, folder: Path) -> str:
    return run("audit", str(path), "--format", "github").out


def junit(path: Path, run: Run, folder: Path) -> str:
    """Return the cases of a manifest whose budget is exceeded, and whose golden differs."""
    (folder / "k.ttgir").write_bytes(path.read_bytes())
    case = "- {name: k, file: k.ttgir, at_most: {cost: 0, registers: 1}, views: [budget, audit]}"
    (folder / "layouts.yaml").write_text(f"cases:\n{case}\n", encoding="utf-8")
    (folder / "k.audit.txt").write_text("", encoding="utf-8")
    return run("check", str(folder / "layouts.yaml"), "--format", "junit").out


SURFACES: dict[str, Callable[[Path, Run, Path], str]] = {
    "terminal": terminal,
    "pipe": pipe,
    "whole": whole,
    "page": page,
    "hovers": hovers,
    "agent": agent,
    "findings": findings,
    "watched": watched,
    "markdown": markdown,
    "github": github,
    "junit": junit,
}


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def refused(text: str, surface: str = "") -> list[str]:
    """Return the words that nobody speaks, each with what is around it."""
    plain = " ".join(text.split())
    pattern = REFUSED if surface in LISTS else f"{REFUSED}|{FORMULA}"
    return [
        plain[max(0, match.start() - 40) : match.end() + 20]
        for match in re.finditer(pattern, plain)
    ]


def test_no_golden_has_words_that_nobody_speaks() -> None:
    """The first screens of examples are goldens, and so are the outputs of commands."""
    goldens = [*ROOT.glob("examples/*/*.txt"), *ROOT.glob("tests/goldens/*/*.out")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in goldens}
    assert len(texts) > 90
    assert {name: said for name, text in texts.items() if (said := refused(text, "whole"))} == {}


@pytest.mark.slow
@pytest.mark.parametrize("surface", SURFACES)
def test_no_surface_has_them(surface: str, run: Run, tmp_path: Path) -> None:
    """The kernel has a fix, a small finding, and a loop that runs nobody knows how often."""
    text = SURFACES[surface](DUMP, run, tmp_path)
    assert len(text) > 50
    assert refused(text, surface) == []


def test_no_script_of_the_page_has_them() -> None:
    for path in sorted((ROOT / "tt_layout" / "page").glob("*.js")):
        text = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S)
        texts = re.findall(r"\"[^\"\n]*\"|`[^`]*`", text)
        assert [one for one in texts if " " in one and refused(json.dumps(one))] == [], path.name
