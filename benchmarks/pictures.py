"""Measure figures and pages beside matplotlib drawing the same grid, alternately in one run.

usage: python benchmarks/pictures.py [--runs N] [--smoke] [--document docs/plot.md]

Processor time of whole processes, from nothing to the file; each is the median of the runs.
matplotlib is in the extra ``benchmark``.  --document replaces the table between the two benchmark
markers of that file.  --smoke draws everything once, small.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from timing import alternate, machine, milliseconds, process_cpu_seconds, write_table

HERE = Path(__file__).resolve().parent
LAYOUT = (
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], "
    "warpsPerCTA = [2, 2], order = [1, 0]}>"
)


@dataclass(frozen=True)
class Pictures:
    """Files of the same layout, ours and matplotlib's.

    Attributes:
        runs: how often each is made.
        folder: where they are written.
    """

    runs: int
    folder: Path

    def figure(self, side: int, ending: str) -> str:
        """Return the line of a figure."""
        ours, theirs = (self.folder / f"{who}{ending}" for who in ("ours", "theirs"))
        mine, peer = alternate(
            self.runs,
            lambda: process_cpu_seconds(self._plot(side, ours)),
            lambda: process_cpu_seconds(self._matplotlib(side, theirs)),
        )
        what = f"{ending[1:].upper()} of {side}x{side}"
        return (
            f"| {what} | {milliseconds(mine)}, {size(ours)} "
            f"| {milliseconds(peer)}, {size(theirs)} | {peer / mine:.0f}x |"
        )

    def alone(self, side: int, ending: str, what: str) -> str:
        """Return the line of a file that matplotlib does not make."""
        path = self.folder / f"ours{ending}"
        (mine,) = alternate(self.runs, lambda: process_cpu_seconds(self._plot(side, path)))
        return f"| {what} {side}x{side} | {milliseconds(mine)}, {size(path)} |  |  |"

    def coloured(self, side: int) -> str:
        """Return what is said of text in colours, beside the same without any."""
        command = [sys.executable, "-m", "tt_layout", "--max-text", "4GiB", "-l", LAYOUT]
        command += ["-t", f"tensor<{side}x{side}xf16>", "--color"]
        plain, colours = alternate(
            self.runs,
            lambda: process_cpu_seconds([*command, "never"]),
            lambda: process_cpu_seconds([*command, "always"]),
        )
        times = f"{milliseconds(plain)} plain and {milliseconds(colours)} in colours"
        return f"Text of {side}x{side} takes {times}, {colours / plain:.1f} times as long."

    def _plot(self, side: int, path: Path) -> list[str]:
        command = [sys.executable, "-m", "tt_layout", "plot", LAYOUT]
        return [*command, "-t", f"tensor<{side}x{side}xf16>", "-o", str(path)]

    def _matplotlib(self, side: int, path: Path) -> list[str]:
        command = [sys.executable, str(HERE / "matplotlib_figure.py"), LAYOUT]
        return [*command, f"tensor<{side}x{side}xf16>", str(path)]


def size(path: Path) -> str:
    """Return the size of a file as the table shows it."""
    count = path.stat().st_size
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def lines(pictures: Pictures, small: int, large: int, overview: int) -> Iterator[str]:
    """Yield the lines of the table, measured one after the other."""
    yield f"Processor time of whole processes, medians of {pictures.runs} runs on {machine()}."
    yield ""
    yield "| what | tt-layout | matplotlib | ratio |"
    yield "|---|---|---|---|"
    for side in (small, large):
        for ending in (".svg", ".png"):
            yield pictures.figure(side, ending)
    yield pictures.alone(overview, ".svg", "SVG of")
    yield pictures.alone(2 * large, ".html", "page of")
    yield ""
    yield pictures.coloured(4 * overview)


def main() -> None:
    """Measure, print, and if asked write the document's table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--document", type=Path, metavar="FILE")
    options = parser.parse_args()
    sides = (8, 16, 32) if options.smoke else (64, 128, 1024)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        pictures = Pictures(1 if options.smoke else options.runs, Path(folder))
        for line in lines(pictures, *sides):
            print(line, flush=True)
            found.append(line)
    if options.document is not None:
        write_table(options.document, "\n".join(found) + "\n")


if __name__ == "__main__":
    main()
