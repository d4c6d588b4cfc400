"""How long an editor waits: a dump of 1 MB of many passes, and the longest module alone.

    python benchmarks/editing.py [DUMP ...]

Without dumps those of ``examples`` are taken, again and again.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from random import Random

from tt_layout.editing.dump import Dump
from tt_layout.editing.hover import hover

ROOT = Path(__file__).parent.parent
HEADER = "// -----// IR Dump After P{} (p) //----- //\n"


def seconds(dump: Dump, edits: int, random: Random) -> tuple[list[float], list[float]]:
    """Return how long diagnostics take after each edit, and a hover then."""
    waits, hovers = [], []
    for _ in range(edits):
        lines = dump.text.split("\n")
        at = random.randrange(len(lines))
        text = "\n".join([*lines[:at], "", *lines[at:]])
        start = time.perf_counter()
        dump = dump.edited(text)
        dump.diagnoses()
        waits.append(time.perf_counter() - start)
        line = random.randrange(len(lines)) + 1
        placed = dump.at(line)
        start = time.perf_counter()
        if placed is not None:
            text = placed.piece.line(line - placed.down)
            hover(placed.piece, line - placed.down, max(0, text.find("#")))
        hovers.append(time.perf_counter() - start)
    return waits, hovers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    chosen = parser.parse_args()
    paths = chosen.dumps or sorted((ROOT / "examples").rglob("*.ttgir"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    passes, at = "", 0
    while len(passes) < chosen.bytes:
        passes += HEADER.format(at) + texts[at % len(texts)]
        at += 1
    for name, text in (("passes", passes), ("longest", max(texts, key=len))):
        start = time.perf_counter()
        dump = Dump(text)
        dump.diagnoses()
        opened = time.perf_counter() - start
        for what, found in zip(("edit", "hover"), seconds(dump, chosen.edits, Random(1))):
            middle, worst = statistics.median(found) * 1e3, max(found) * 1e3
            print(
                f"{name:8} {len(text):8} bytes  {what:6} median {middle:6.1f} ms, most {worst:6.1f}"
            )
        print(f"{name:8} opened in {opened:.2f} s")


if __name__ == "__main__":
    main()
