"""The kinds of pages there are: of a layout, a pair, an access, a multiplication, a dump, none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from scaled_dumps import DUMPS, LINE

from browser.kinds import KINDS
from tt_layout.encodings.parsing import parse_layout
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.types import parse_type
from tt_layout.page.dump import page_of, page_of_dump
from tt_layout.page.playground import playground
from tt_layout.placement import place

KERNELS = Path(__file__).parent.parent.parent / "examples" / "kernels"
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {KINDS['nvidia_mma_v2'][0]}, kWidth = 2}}>"
TENSOR, BUFFER = "tensor<64x64xf16>", "!ttg.memdesc<64x64xf16>"


def _of(**layouts: tuple[str, str]) -> str:
    placed = {
        name: place(parse_layout(attribute), parse_type(over))
        for name, (attribute, over) in layouts.items()
    }
    return page_of(placed)


_MADE: dict[str, Callable[[], str]] = {
    "layout": lambda: _of(layout=KINDS["nvidia_mma_v2"]),
    "pair": lambda: _of(before=(ROWS, TENSOR), after=(KINDS["nvidia_mma_v2"][0], TENSOR)),
    "access": lambda: _of(
        swizzled_shared=(KINDS["swizzled_shared"][0], BUFFER), dot_op=(OPERAND, TENSOR)
    ),
    "multiplication": lambda: page_of(
        {"layout": place(parse_layout(KINDS["amd_mfma"][0]), parse_type(KINDS["amd_mfma"][1]))},
        is_multiplied=True,
    ),
    "scaled": lambda: page_of_dump(Source(DUMPS["mfma"], "scaled.ttgir"), [], line=LINE),
    "playground": playground,
    "dump": lambda: page_of_dump(read_source(str(KERNELS / "matmul-sm80.ttgir")), []),
}
PAGES = tuple(_MADE)


@cache
def page_named(name: str) -> str:
    """Return the text of a page, one of `PAGES`."""
    return _MADE[name]()
