"""A new text view: a module, and an entry of the table; options, goldens and figures follow."""

from __future__ import annotations

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

MODULE = '''\
"""The elements of each lane: a line per lane, a column per register."""

from __future__ import annotations

from tt_layout.views.axes import Axes, location_axes
from tt_layout.views.distributed import location_cells, tuple_text
from tt_layout.views.frames import Sections, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Selection
from tt_layout.views.view import View, Viewable


def lanes_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the element in each register, lane by lane."""
    names = "warp", "lane", "register"
    warp, lane, register = location_axes(placed.layout, selection, names)
    axes = Axes((warp,), (lane,), register)
    content = location_cells(placed.layout, names)
    size = header_size("Warp:\\n", *warp.shown)
    frame = Sections(warp.extent, lane.extent, lambda n: f"Warp{warp.shown[0] + n}:\\n", size)
    text = tuple_text(placed.layout, content, b" ")
    return framed_view(axes, content, text, frame, notation="one line per lane")
'''
ENTRY = """\
        ViewKind(
            "lanes",
            "what each lane holds",
            {"registers": "tt_layout.views.lanes:lanes_view"},
            selects=("warp", "lane", "register"),
        ),
"""
END_OF_TABLE = '    )\n}\n"""Name -> kind'

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
TYPE = ("-t", "tensor<4x4xf16>")
ASKED = ("-l", BLOCKED, *TYPE, "--view", "lanes")
TEXT = """\
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


@pytest.fixture
def lanes(clone: Clone) -> Clone:
    """Return the copy with the view."""
    clone.add("tt_layout/views/lanes.py", MODULE)
    clone.insert("tt_layout/views/kinds.py", END_OF_TABLE, ENTRY)
    assert len(clone.touched) == 2
    return clone


def body(text: str) -> str:
    """Return what stands below the heading."""
    return text.partition("\n")[2]


def test_every_option_works_or_is_refused(lanes: Clone) -> None:
    assert body(lanes.prints(*ASKED)) == TEXT
    part = lanes.prints(*ASKED, "--warp", "1", "--lane", "1:3")
    assert body(part) == "Warp1:\n(2,2) (2,3)\n(3,0) (3,1)\n"
    with_header = body(lanes.prints(*ASKED, "--header")).splitlines()
    assert with_header[:3] == ["Warp0:", "lane     0     1", "   0 (0,0) (0,1)"]
    coloured = lanes.prints(*ASKED, "--color", "always", "--color-by", "lane", "--warp", "0")
    first, second = coloured.splitlines()[2:4]
    assert first == "\x1b[38;5;16;48;5;069m(0,0) (0,1)\x1b[0m"
    assert second == "\x1b[38;5;16;48;5;215m(0,2) (0,3)\x1b[0m"
    assert "one line per lane" in lanes.prints(*ASKED, "--legend")
    assert "[tensor|hardware|lanes]" in lanes.prints("--help")
    assert lanes.refuses(*ASKED, "--compact") == (
        "error: --compact shows who holds each element; leave --view lanes out\n"
    )
    assert "slices cannot be selected in a lanes view" in lanes.refuses(*ASKED, "--slice", "0:2,:")
    assert "rows cannot be selected in a lanes view" in lanes.refuses(*ASKED, "--row", "0")
    assert "--use-hw-view is --view hardware" in lanes.refuses(*ASKED, "--use-hw-view")


def test_a_layout_of_another_memory_space_is_refused(lanes: Clone) -> None:
    told = lanes.refuses("-l", SWIZZLED, "-t", "!ttg.memdesc<4x4xf16>", "--view", "lanes")
    assert "the lanes view shows layouts in registers" in told


def test_a_dump_shows_it_where_it_can(lanes: Clone) -> None:
    (lanes.root / "dump.mlir").write_text(DUMP)
    shown = lanes.prints("-i", "dump.mlir", "--view", "lanes", "--header", "--color", "always")
    assert "\x1b[38;5;16;48;5;069m(0,0) (0,1)" in shown
    assert "lane     0     1\n" in shown
    assert "the lanes view shows layouts in registers" in shown.splitlines()[-1]


def test_it_is_drawn_and_checked(lanes: Clone) -> None:
    lanes.prints("plot", BLOCKED, *TYPE, "--view", "lanes", "-o", "lanes.svg")
    assert ">3,3</tspan>" in (lanes.root / "lanes.svg").read_text()
    (lanes.root / "layouts.yaml").write_text(MANIFEST)
    lanes.prints("check", "layouts.yaml", "--update")
    assert lanes.prints("check", "layouts.yaml") == "1 passed\n"
    golden = (lanes.root / "new.lanes.txt").read_text()
    assert body(golden).splitlines()[:2] == ["Warp0:", "(0,2) (0,3)"]


def test_its_tests_pass(lanes: Clone) -> None:
    """One says what is missing: the kind's name in the schema that editors read."""
    lanes.passes(
        "tests/views/test_views.py", "tests/terminal/test_terminal.py", "-k", "view or wider"
    )
    told = lanes.test("tests/golden/test_manifest.py").stdout
    assert (
        "FAILED tests/golden/test_manifest.py::test_schema_is_closed_and_lists_every_kind" in told
    )
    assert "\n1 failed, " in told
