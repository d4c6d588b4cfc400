"""The page of a dump: findings, data movements, text and grids, linked both ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import Open
from browser.kinds import KINDS, kind
from browser.open_page import Opened
from tt_layout.audit.values.given import parse_values
from tt_layout.kernels.assembly import AssemblyText
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.kernels.trace import ProgramText
from tt_layout.mlir.source import Source, read_source
from tt_layout.page import EmbeddedDump
from tt_layout.page.dump import page_of_dump
from tt_layout.reports.program_source import ProgramSource

KERNELS = Path(__file__).parent.parent.parent / "examples/kernels"
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
COLUMNS = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
LOADED = "tensor<32x32xf32, #b>"
MODULE = f"""\
#a = {BLOCKED}
#b = {COLUMNS}
#s = {SHARED}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%y: !ttg.memdesc<32x32xf32, #s, #smem>) {{
    %z = ttg.local_load %y : !ttg.memdesc<32x32xf32, #s, #smem> -> {LOADED} loc("k.py":3:1)
    %c = ttg.convert_layout %z : tensor<32x32xf32, #b> -> tensor<32x32xf32, #a> loc("k.py":4:1)
    tt.return
  }}
}}
"""
LOAD, CONVERSION = 6, 7
MODULE_LINES = MODULE.count("\n")


LAST_COLUMN = """() => {
  const box = document.querySelector("#source-lines");
  const rows = [...box.querySelectorAll("code")];
  box.scrollLeft = box.scrollWidth;
  const end = Math.max(...rows.map((row) => row.getBoundingClientRect().left + row.scrollWidth));
  const isInSight = end <= box.getBoundingClientRect().right;
  box.scrollLeft = 0;
  return isInSight;
}"""


def open_dump(open_file: Any, text: str, **more: Any) -> Opened:
    opened: Opened = open_file(page_of_dump(Source(text, "kernel.ttgir"), []).html, **more)
    return opened


def found(page: Opened, where: str) -> list[str]:
    """Return the lines that are chosen in a part of the page."""
    lines: list[str] = page.page.eval_on_selector_all(
        f"{where} .found[data-line]", "all => all.map(node => node.dataset.line)"
    )
    return lines


def test_it_opens_on_what_costs_most_with_everything_in_sight(open_file: Any) -> None:
    page = open_file(page_of_dump(read_source(str(KERNELS / "matmul-sm80.ttgir")), []).html)
    page.page.set_viewport_size({"width": 1440, "height": 900})
    page.settle()
    assert found(page, "#movements") == found(page, "#source-lines") != []
    for part in ("report", "movement", "source-lines", "layouts", "hardware", "tensor"):
        box = page.page.locator(f"#{part}").bounding_box()
        assert box["y"] + box["height"] <= 900, part
    assert page.page.evaluate("document.documentElement.scrollHeight") <= 900
    assert page.page.evaluate(LAST_COLUMN)  # lines are whole: they scroll
    assert page.page.inner_text("#dump-name") == "matmul-sm80.ttgir"
    assert "of 255 registers (estimate) at line" in page.page.inner_text("#source-about")
    assert re.search(r"make.py:39\), costs \d+ of \d+ .* cycles", page.page.inner_text("#findings"))
    assert page.address == {}
    page.shot("dump")


def test_lines_of_source_dump_and_assembly_are_tied(open_file: Any) -> None:
    lines = '.file 1 "k.py"', ".loc 1 3 1", "ld.shared.b32 %r1, [%r2];", ".loc 1 4 1"
    text = "\n".join((*lines, "st.shared.b32 [%r1], %r2;"))
    known = KernelMetadata(assembly=AssemblyText("k.ptx", None, text))
    program = ProgramSource(programs=(ProgramText("k.py", 1, "a\nb\nload\nconvert\n"),))
    made = page_of_dump(Source(MODULE, "k.ttgir"), [], program=program, known=known)
    page = open_file(made.html)
    page.page.set_viewport_size({"width": 1440, "height": 900})
    assert not page.page.is_visible("#assembly")
    page.page.click("#tie")
    page.page.click("#assembly-line-5")
    assert found(page, "#source-lines") == [str(CONVERSION)]
    assert found(page, "#assembly-lines") == ["5"]
    assert found(page, "#program-lines") == ["4"]
    assert page.page.inner_text("#movement-became").startswith("In k.ptx: 1 ")
    tops = [page.page.locator(f"#{pane}").bounding_box() for pane in ("source", "assembly")]
    assert tops[0]["y"] == tops[1]["y"]
    page.go(page.page.evaluate("location.hash.slice(1)"))
    assert page.page.is_visible("#assembly")
    page.shot("assembly")
    page.page.click("#tie")
    assert page.page.is_visible("#tensor")


def test_where_the_time_goes_is_drawn_and_said(open_file: Any, tmp_path: Path) -> None:
    """Bars, an iteration as lanes, and the critical path beside the lines of dump and program."""
    text = (KERNELS / "matmul-sm80.ttgir").read_text()
    (tmp_path / "make.py").write_text((KERNELS / "make.py").read_text())
    given = parse_values(["K=4096", *(f"num_programs_{axis}=16" for axis in "xyz")])
    made = page_of_dump(
        Source(text, "k.ttgir"), [], program=ProgramSource(str(tmp_path)), given=given
    )
    page = open_file(made.html)
    page.page.set_viewport_size({"width": 1440, "height": 900})
    page.settle()
    said = page.page.inner_text("#times")
    assert re.search(r"about [\d.]+ ms on A100", said)
    terms = page.page.locator(".bars th").all_inner_texts()
    assert {"exposed latency", "LSU", "tensor cores", "L2"} <= set(terms)
    drawn = page.page.locator(".bars i").evaluate_all("all => all.map(i => i.clientWidth)")
    assert max(drawn[1:]) > 100
    lanes = page.page.locator(".track").evaluate_all("all => all.map(i => i.ariaLabel)")
    assert any(re.match(r"products of matrices: line \d+ from \d+ to \d+", own) for own in lanes)
    waits = page.page.locator("#times li").all_inner_texts()
    [(line, cycles)] = re.findall(r"^line (\d+) ttg\.\w+: (\d+) cycles", waits[0])
    page.page.locator("#times li button").first.click()
    assert page.page.inner_text(f"#line-{line} .waits") == cycles
    beside = page.page.locator("#program-lines .waits").all_inner_texts()
    assert any(filter(None, beside))
    page.page.locator(".track i.on").first.click()
    assert found(page, "#source-lines") != []
    page.page.set_viewport_size({"width": 390, "height": 844})
    page.settle()
    wide = page.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    page.shot("time")


WORKLOADS = KERNELS.parent / "workloads"


@pytest.mark.parametrize(
    "name", ["kernels/matmul-sm90", "workloads/split_k-sm100", "workloads/scan-sm90"]
)
def test_the_grids_of_a_laptop_show_every_warp(name: str, open_file: Any) -> None:
    page = open_file(page_of_dump(read_source(str(KERNELS.parent / f"{name}.ttgir")), []).html)
    page.page.set_viewport_size({"width": 1440, "height": 900})
    page.settle()
    for grid in page.ask(what="drawn"):
        drawn = [own * count for own, count in zip(grid["cell"], grid["cells"])]
        assert all(own <= room for own, room in zip(drawn, grid["room"])), grid


def test_both_charts_of_a_conflict_are_in_sight(open_file: Any) -> None:
    page = open_file(
        page_of_dump(read_source(str(WORKLOADS / "int8_matmul-gfx942.ttgir")), []).html
    )
    page.page.set_viewport_size({"width": 1440, "height": 900})
    page.settle()
    bar = page.page.locator("#selection").bounding_box()
    for chart in ("cycles", "suggested"):
        box = page.page.locator(f"#{chart}").bounding_box()
        assert box["y"] + box["height"] <= bar["y"], chart
    served = page.page.locator("#legend .swatch").all_inner_texts()
    assert served == [str(lane) for lane in range(16)]
    assert "cycles per instruction" in page.page.inner_text("#movement-facts")
    assert "removes 448 of 640 shared-memory cycles an iteration" in page.page.inner_text(
        "#findings"
    )


def test_on_paper_the_text_of_a_dump_ends_at_its_frame(open_file: Any) -> None:
    """Its lines have places of their own: on a sheet's end they ran over what follows."""
    page = open_dump(open_file, MODULE)
    page.page.emulate_media(media="print")
    style = "node => [getComputedStyle(node).breakInside, getComputedStyle(node).overflow]"
    assert page.page.locator("#source").evaluate(style)[0] == "avoid"
    assert page.page.locator("#source-lines").evaluate(style)[1] == "hidden"


def test_the_best_fix_is_open_and_the_others_are_not(open_file: Any) -> None:
    page = open_file(
        page_of_dump(read_source(str(WORKLOADS / "attention_backward-gfx942.ttgir")), []).html
    )
    fixes = page.page.locator("#movement .advice", has_text=re.compile("^(fix|or): "))
    assert [fix.is_visible() for fix in fixes.all()] == [True, False]
    page.page.get_by_text("Another fix").click()
    assert [fix.is_visible() for fix in fixes.all()] == [True, True]


def test_a_conversion_shows_where_its_elements_come_from(open_file: Any) -> None:
    page = open_dump(open_file, MODULE)
    page.page.click(f"#movements [data-line='{CONVERSION}']")
    assert found(page, "#source-lines") == found(page, "#movements") == [str(CONVERSION)]
    assert page.page.inner_text("#name") == "#b"
    assert page.page.input_value("#colour") == "from:warp"
    assert page.page.inner_text("#movement-title") == f"Line {CONVERSION}: ttg.convert_layout"
    assert "wavefronts" in page.page.inner_text("#movement-cost")
    assert page.page.inner_text("#other-title") == "Registers of #a"
    assert page.page.inner_text("#legend .about") == "source warp"
    page.go(page.page.evaluate("location.hash.slice(1)"))
    assert found(page, "#movements") == [str(CONVERSION)]
    assert page.page.input_value("#colour") == "from:warp"
    page.shot("dump-conversion")


def test_a_load_shows_its_sectors(open_file: Any) -> None:
    page = open_file(page_of_dump(read_source(str(KERNELS / "attention-sm90.ttgir")), []).html)
    page.page.click("#movements [data-line='51']")
    assert page.page.input_value("#view") == "sectors"
    texts = page.ask(what="texts", grid="cycles")  # 16 bytes of each lane, in cells of 4
    assert texts == [[str(lane + k // 4) for k in range(32)] for lane in range(0, 32, 8)]
    about = page.page.inner_text("#cycles .about")
    assert about.startswith("512 bytes asked for, 16 sectors of 32 bytes moved in 4 lines of 128")
    assert page.page.inner_text("#legend .about") == "lane"  # in all grids
    page.at("cycles", 5, 1)
    assert page.said == "Bytes 148 to 151: lane 9"
    page.shot("dump-sectors")


def test_a_line_of_the_text_shows_the_banks_of_its_access(open_file: Any) -> None:
    page = open_dump(open_file, MODULE)
    page.page.click(f"#line-{CONVERSION}")
    page.page.click(f"#line-{LOAD} code")
    assert found(page, "#movements") == [str(LOAD)]
    assert page.page.inner_text("#name") == "#s"
    assert "32 wavefronts" in page.page.inner_text("#movement-cost")
    assert page.page.inner_text("#access-verdict") != ""
    assert page.ask(what="marks", grid="hardware")
    page.shot("dump-access")


def test_a_line_without_a_data_movement_shows_its_layouts_in_turn(open_file: Any) -> None:
    page = open_dump(open_file, MODULE)
    page.page.click("#line-2 code")
    assert page.page.inner_text("#name") == "#b"
    assert page.page.is_hidden("#movement")
    page.page.click(f"#line-{CONVERSION} .chip:text-is('#a')")
    assert page.page.inner_text("#name") == "#a"
    marked = page.page.eval_on_selector_all(
        "#source-lines .here", "all => all.map(node => node.dataset.line)"
    )
    assert marked == ["1", str(CONVERSION)]


def test_modules_are_told_apart_and_stepped_through(open_file: Any) -> None:
    page = open_dump(
        open_file, MODULE + MODULE.replace(SHARED, SHARED.replace("1, order", "8, order"))
    )
    assert page.page.input_value("#module") == "0"
    page.page.select_option("#module", "1")
    second = str(MODULE_LINES + LOAD)
    page.page.click(f"#movements [data-line='{second}']")
    page.page.click("#movement-steps button >> nth=0")
    assert page.page.input_value("#module") == "0"
    assert found(page, "#source-lines") == [str(LOAD)]
    assert page.page.locator("#movement-steps button >> nth=0").is_disabled()
    page.page.select_option("#module", "1")
    assert found(page, "#source-lines") == [second]


def test_a_pass_that_changed_the_cost_is_chosen_and_read_in_the_page(open_file: Any) -> None:
    swizzled = [SHARED.replace("maxPhase = 1", f"maxPhase = {phases}") for phases in (1, 8, 32)]
    names = ("Coalesce", "Swizzle", "CSE")
    headers = [f"// -----// IR Dump Before {name} ({name}) //----- //\n" for name in names]
    texts = [header + MODULE.replace(SHARED, own) for header, own in zip(headers, swizzled)]
    page = open_dump(open_file, "".join(texts))
    options = page.page.locator("#module option").all_inner_texts()
    assert [option.split(",")[0] for option in options] == ["2: Coalesce", "3: Swizzle"]
    assert all(re.search(r", \d+ → \d+ cycles$", option) for option in options)
    assert page.page.input_value("#module") == "1"
    page.page.select_option("#module", "0")
    line = str(MODULE_LINES + 1 + 1 + LOAD)  # a header each
    assert found(page, "#source-lines") == found(page, "#movements") == [line]
    assert "4 wavefronts" in page.page.inner_text("#movement-findings")
    assert "read in the page" in page.page.inner_text("#summary")
    page.go(page.page.evaluate("location.hash.slice(1)"))
    assert found(page, "#source-lines") == [line]
    page.shot("dump-passes")


def test_the_box_of_layouts_filters_them(open_file: Any) -> None:
    page = open_dump(open_file, MODULE)
    page.page.focus("#layout-filter")
    assert page.page.locator("#layout-list .choice").count() == 3
    page.page.keyboard.type("memdesc")
    assert page.page.locator("#layout-list .choice").all_inner_texts() == [
        "#s\n!ttg.memdesc<32x32xf32>, line 3"
    ]
    page.page.keyboard.press("Enter")
    assert page.page.inner_text("#name") == "#s"
    assert page.page.is_hidden("#layout-list")
    page.page.focus("#colour")
    assert page.page.input_value("#layout-filter") == "#s on !ttg.memdesc<32x32xf32>"


def test_the_grid_is_at_most_ten_stops_away_and_one_by_the_link(open_file: Any) -> None:
    page = open_dump(open_file, MODULE)
    stage = "document.activeElement.closest('.pane') !== null"
    for stops in range(1, 11):  # noqa: B007
        page.page.keyboard.press("Tab")
        if page.page.evaluate(stage):
            break
    assert page.page.evaluate(stage), stops
    page.page.focus("#findings button")
    page.page.keyboard.press("ArrowRight")
    assert page.page.evaluate("document.activeElement.textContent") == "In words"
    page.go()
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    assert page.page.evaluate("document.activeElement.closest('.pane') !== null")


def test_the_report_and_the_text_are_walked_by_keys(open_file: Any) -> None:
    page = open_dump(open_file, MODULE)
    page.page.focus(f"#movements [data-line='{LOAD}'] button")
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    assert found(page, "#source-lines") == [str(CONVERSION)]
    page.page.focus("#source-lines")
    page.page.keyboard.press("ArrowUp")
    page.page.keyboard.press("Enter")
    assert found(page, "#movements") == [str(LOAD)]


def test_a_click_on_a_line_counts_while_its_text_scrolls(open_file: Any) -> None:
    page = open_dump(open_file, MODULE + 100 * "\n")
    page.page.click(f"#line-{CONVERSION} code")
    assert found(page, "#movements") == [str(CONVERSION)]
    page.page.hover(f"#line-{LOAD} code")
    page.page.mouse.down()
    page.page.evaluate("document.querySelector('#source-lines').scrollTop += 4")
    page.settle()  # the event of scrolling
    page.settle()  # the text drawn anew
    assert page.page.evaluate("document.querySelector('#source-lines').scrollTop") >= 4
    page.page.mouse.up()
    assert found(page, "#movements") == [str(LOAD)]


def test_of_a_long_text_only_what_is_in_sight_is_in_the_document(open_page: Open) -> None:
    lines = [f"%{k} = arith.addf %x, %y : tensor<16x16xf16, #a>" for k in range(20_000)]
    movement = {"line": 15_000, "name": "tt.load", "group": "global load", "function": "f",
                "type": None, "from": "-", "to": "#a", "layouts": [None, 0], "bytes": 1,
                "runs": "1", "inLoop": False, "cost": None, "weight": 0, "facts": {},
                "location": None, "request": None}  # fmt: skip
    module = {"number": 1, "first": 1, "line": 1, "pass": None, "stage": None, "target": None,
              "functions": ["f"], "findings": [], "movements": [movement]}  # fmt: skip
    layout = kind("blocked", line=1, uses=tuple(range(2, 20_001)))
    page = open_page(layout, dump=EmbeddedDump("long.mlir", "\n".join(lines), [module]))
    assert found(page, "#source-lines") == ["15000"]
    assert page.page.locator("#source-lines .row").count() < 200
    page.page.evaluate("document.querySelector('#source-lines').scrollTop = 1000")
    page.settle()
    assert page.page.locator("#line-60").is_visible()
    assert page.page.locator("#source-lines .row").count() < 200
    page.page.evaluate("document.querySelector('#source-lines').scrollTop = 600")
    page.settle()
    rows = "all => all.map(node => Number(node.dataset.line))"
    lines = page.page.eval_on_selector_all("#source-lines .row", rows)
    assert lines == list(range(lines[0], lines[-1] + 1))
    assert lines[0] <= 31 <= lines[-1]


def test_the_programs_text_is_linked_both_ways(open_page: Open) -> None:
    movement = {"line": 2, "name": "tt.load", "group": "global load", "function": "f",
                "type": None, "from": "-", "to": "#a", "layouts": [None, 0], "bytes": 1,
                "runs": "1", "inLoop": False, "cost": None, "weight": 0, "facts": {},
                "location": {"file": "k.py", "line": 3, "column": 1}, "request": None}  # fmt: skip
    module = {"number": 1, "first": 1, "line": 1, "pass": None, "stage": None, "target": None,
              "functions": ["f"], "findings": [], "movements": [movement]}  # fmt: skip
    dump = EmbeddedDump(
        "k.ttgir", "#a = ..\n%x = tt.load", [module], {"k.py": [(1, "a"), (3, "c = load()\nd")]}
    )
    page = open_page(kind("blocked", line=1, uses=[2]), dump=dump)
    assert found(page, "#program-lines") == ["3"]
    page.page.click("#line-1")
    assert found(page, "#program-lines") == []
    page.page.click("#program-line-3")
    assert found(page, "#source-lines") == ["2"]
    numbers = "all => all.map(node => node.dataset.line)"
    shown = page.page.eval_on_selector_all("#program-lines .row", numbers)
    assert shown == ["1", "3", "4"]
    assert page.page.locator("#program-lines .apart").get_attribute("data-line") == "3"
    page.page.locator("#program-lines").press("ArrowUp")
    assert "current" in str(page.page.locator("#program-line-1").get_attribute("class"))
    page.shot("dump-program")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_nothing_is_wider_than_the_window(scheme: str, open_file: Any) -> None:
    page = open_dump(open_file, MODULE, scheme=scheme)
    page.page.click(f"#movements [data-line='{CONVERSION}']")
    assert page.poor_contrasts() == []
    for width in (1400, 1000, 700, 380):
        page.page.set_viewport_size({"width": width, "height": 900})
        page.settle()
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        page.shot(f"dump-{width}-{scheme}")


def test_a_text_of_the_dump_is_only_text(open_page: Open) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    dump = EmbeddedDump("kernel.ttgir", f"a\n{hostile}")
    page = open_page(kind("blocked", line=1, uses=[2]), kind("nvidia_mma_v2"), dump=dump)
    assert hostile in page.page.inner_text("#line-2 code")
    assert page.page.locator("img").count() == 0
    assert KINDS["blocked"][0] == page.page.inner_text("#attribute")
