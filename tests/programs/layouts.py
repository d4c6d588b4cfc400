"""Layouts of one's own: who holds what, what an access costs, and the layout with no conflicts."""

import sys
from pathlib import Path

import tt_layout

ROWS = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
COLUMNS = "gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])"
TENSOR = "64x64xf16"


def main(paths: list[str]) -> int:
    print(str(tt_layout.locations_of(ROWS, TENSOR, [3, 5])).splitlines()[0])
    plain = tt_layout.conflicts(ROWS, "(64,64):(64,1)", TENSOR)
    print(str(plain).splitlines()[0])
    best = tt_layout.swizzle([ROWS], [COLUMNS], TENSOR)
    print(str(best).splitlines()[0])
    moved = tt_layout.convert(ROWS, COLUMNS, TENSOR, target="sm90")
    print(str(moved).splitlines()[0])
    text: str = tt_layout.translate(ROWS, TENSOR, to="3.4").text
    print(text)
    figure = tt_layout.plot(ROWS, "16x64xf16")
    for path in map(Path, paths):
        figure.save(str(path))
        print(path.stat().st_size > 0, len(figure.svg) > 100)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
