"""The page shows in what order a sum is added."""

from __future__ import annotations

from browser.conftest import Open
from browser.kinds import laid
from tt_layout.placement import place
from tt_layout.reports.reduce import reduction_report, sum_text

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], "
    "order = [1, 0]}>"
)
WIDE = ROWS.replace("[1, 4], threads", "[1, 8], threads")
TYPE = "tensor<16x256xf32>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def test_the_order_of_additions_is_shown_along_either_dimension(open_page: Open) -> None:
    first = laid(ROWS, TYPE, "rows")
    page = open_page(first, laid(WIDE, TYPE, "wide"), fragment="x=1")
    page.page.click("#reduction summary")
    for axis in (1, 0):
        page.select("reduction-axis", str(axis))
        placed = place(first.placed.encoding, first.placed.tensor)
        tree = reduction_report(placed.encoding, placed.tensor, axis).tree
        sums = page.page.locator("#reduction-steps td:nth-child(2)").all_inner_texts()
        assert sums == [sum_text(step, at) for at, step in enumerate(tree.steps, 1)]
        said = page.page.inner_text("#reduction-said")
        assert said.startswith("sm90, Triton 3.9; ")
        assert ("other bits" in said) == (axis == 1)
    page.shot("reduction")


def test_memory_has_no_order_of_additions(open_page: Open) -> None:
    page = open_page(laid(PLAIN, "!ttg.memdesc<64x64xf16>", "memory"))
    assert not page.page.is_visible("#reduction")
