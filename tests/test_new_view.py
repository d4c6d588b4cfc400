"""A new view: one module and one line of the table, and everything else follows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tt_layout

MODULE = '''"""The elements of each lane, a line per lane and a column per register."""

from tt_layout.views.axes import Axes, location_axes
from tt_layout.views.distributed import location_cells, tuple_text
from tt_layout.views.frames import Sections, framed_view, header_size


def lanes_view(placed, selection):
    names = "warp", "lane", "register"
    warp, lane, register = location_axes(placed.layout, selection, names)
    axes = Axes((warp,), (lane,), register)
    content = location_cells(placed.layout, names)
    size = header_size("Warp:\\n", *warp.shown)
    frame = Sections(warp.extent, lane.extent, lambda n: f"Warp{warp.shown[0] + n}:\\n", size)
    text = tuple_text(placed.layout, content, b" ")
    return framed_view(axes, content, text, frame, notation="one line per lane")
'''
LINE = """        ViewKind(
            "lanes", "what each lane holds", {"registers": "tt_layout.views.lanes:lanes_view"},
            selects=("warp", "lane", "register"),
        ),
"""
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], "
    "warpsPerCTA = [2, 1], order = [1, 0]}>"
)
SWIZZLED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
DUMP = (
    f"#kept = {BLOCKED}\n#smem = {SWIZZLED}\n"
    + """
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 4 : i32} {
  tt.func @f(%a: tensor<4x4xf16, #kept>, %b: !ttg.memdesc<4x4xf16, #smem, #ttg.shared_memory>) {
    tt.return
  }
}
"""
)
MANIFEST = f'cases:\n  - name: new\n    layout: "{BLOCKED}"\n    type: tensor<4x4xf16>\n'
MANIFEST += "    views: [lanes]\n    lane: 1:3\n"

SCRIPT = """
import contextlib, io, json, sys
from tt_layout.cli.main import main

results = []
for arguments in json.load(sys.stdin):
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ended:
            status = ended.code
    for stream in (out, err):
        stream.flush()
    results.append([status, *(s.buffer.getvalue().decode() for s in (out, err))])
print(json.dumps(results))
"""
OF_BLOCKED = ("-l", BLOCKED, "-t", "tensor<4x4xf16>", "--view", "lanes")
COMMANDS: dict[str, tuple[str, ...]] = {
    "plain": OF_BLOCKED,
    "part": (*OF_BLOCKED, "--warp", "1", "--lane", "1:3"),
    "header": (*OF_BLOCKED, "--header"),
    "colour": (*OF_BLOCKED, "--color", "always", "--color-by", "lane", "--warp", "0"),
    "compact": (*OF_BLOCKED, "--compact"),
    "shared": ("-l", SWIZZLED, "-t", "!ttg.memdesc<4x4xf16>", "--view", "lanes"),
    "file": ("-i", "dump.mlir", "--view", "lanes", "--header", "--color", "always"),
    "both": (*OF_BLOCKED, "--use-hw-view"),
    "plot": ("plot", BLOCKED, "-t", "tensor<4x4xf16>", "--view", "lanes", "-o", "lanes.svg"),
    "update": ("check", "layouts.yaml", "--update"),
    "check": ("check", "layouts.yaml"),
    "help": ("--help",),
}
PLAIN = """\
Warp0:
(0,0) (0,1)
(0,2) (0,3)
(1,0) (1,1)
(1,2) (1,3)
Warp1:
(2,0) (2,1)
(2,2) (2,3)
(3,0) (3,1)
(3,2) (3,3)
"""


class Outcomes(dict[str, list[Any]]):
    """What the commands returned and printed, in the folder in which they ran."""

    folder: Path


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Add the view to a copy of the package, and run every command there."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "tt_layout"
    shutil.copytree(
        Path(tt_layout.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "views" / "lanes.py").write_text(MODULE)
    table = package / "views" / "kinds.py"
    head, last, tail = table.read_text().rpartition("    )\n}\n")
    table.write_text(head + LINE + last + tail)
    (folder / "dump.mlir").write_text(DUMP)
    (folder / "layouts.yaml").write_text(MANIFEST)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env={"PYTHONPATH": str(folder)},
        input=json.dumps(list(COMMANDS.values())),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found = Outcomes(zip(COMMANDS, json.loads(run.stdout)))
    found.folder = folder
    return found


def body(text: str) -> str:
    """Return what stands below the heading."""
    return text.partition("\n")[2]


def test_it_is_printed_whole_and_in_part(outcomes: Outcomes) -> None:
    status, out, _ = outcomes["plain"]
    assert (status, body(out)) == (0, PLAIN)
    status, out, _ = outcomes["part"]
    assert (status, body(out)) == (0, "Warp1:\n(2,2) (2,3)\n(3,0) (3,1)\n")


def test_it_has_a_header_of_coordinates(outcomes: Outcomes) -> None:
    status, out, _ = outcomes["header"]
    assert status == 0
    assert body(out).splitlines()[:4] == [
        "Warp0:",
        "lane     0     1",
        "   0 (0,0) (0,1)",
        "   1 (0,2) (0,3)",
    ]


def test_it_is_coloured(outcomes: Outcomes) -> None:
    status, out, _ = outcomes["colour"]
    assert status == 0
    assert out.splitlines()[2] == "\x1b[38;5;27m(0,0)\x1b[0m \x1b[38;5;27m(0,1)\x1b[0m"
    assert out.splitlines()[3].startswith("\x1b[1;38;5;161m(0,2)\x1b[0m")


def test_threads_alone_are_refused_where_it_shows_elements(outcomes: Outcomes) -> None:
    message = "error: --compact shows who holds each element; leave --view lanes out\n"
    assert outcomes["compact"] == [2, "", message]


def test_a_layout_of_another_memory_space_is_refused(outcomes: Outcomes) -> None:
    status, out, err = outcomes["shared"]
    assert (status, out) == (2, "")
    assert "the lanes view is of layouts in registers" in err


def test_a_dump_shows_it_where_it_can(outcomes: Outcomes) -> None:
    status, out, _ = outcomes["file"]
    assert status == 0
    assert "\x1b[38;5;27m(0,0)\x1b[0m" in out
    assert "lane     0     1\n" in out
    assert "the lanes view is of layouts in registers" in out.splitlines()[-1]


def test_it_contradicts_the_option_of_another_view(outcomes: Outcomes) -> None:
    status, _, err = outcomes["both"]
    assert (status, "--use-hw-view is --view hardware" in err) == (2, True)


def test_it_is_drawn(outcomes: Outcomes) -> None:
    assert outcomes["plot"][0] == 0, outcomes["plot"]
    assert ">3,3</tspan>" in (outcomes.folder / "lanes.svg").read_text()


def test_it_is_checked(outcomes: Outcomes) -> None:
    assert outcomes["update"][0] == 0, outcomes["update"]
    assert outcomes["check"][0] == 0, outcomes["check"]
    golden = (outcomes.folder / "new.lanes.txt").read_text()
    assert body(golden).splitlines()[:2] == ["Warp0:", "(0,2) (0,3)"]


def test_the_help_lists_it(outcomes: Outcomes) -> None:
    assert "[tensor|hardware|lanes]" in outcomes["help"][1]
