"""How long an editor waits: a dump of 1 MB of many passes, the longest module, kernels of 500 KB.

A kernel has the body of that of a dump again and again, each time with other names.  Of it alone
a hover is asked for before anything else is known of the edited text, of operations without and
with a finding and of the function's line: seconds of the processor, with garbage collected as by
``tt-layout lsp``.

    python benchmarks/editing.py [DUMP ...]

Without dumps those of ``examples`` are taken, again and again.
"""

from __future__ import annotations

import argparse
import gc
import re
import statistics
import time
from pathlib import Path
from random import Random

from tt_layout.__main__ import GARBAGE
from tt_layout.editing.dump import EditedDump
from tt_layout.editing.hover import hover, operation_hover, word_hover

ROOT = Path(__file__).parent.parent
HEADER = "// -----// IR Dump After P{} (p) //----- //\n"


def seconds(dump: EditedDump, edits: int, random: Random) -> tuple[list[float], list[float]]:
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


def repeated(text: str, size: int) -> str:
    """Return a module whose first function has its body again and again, with other names."""
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if "tt.func" in line)
    last = next(at for at, line in enumerate(lines) if at > first and "tt.return" in line)
    arguments = set(re.findall(r"%(\w+)", lines[first]))
    body, bodies = "\n".join(lines[first + 1 : last]), list[str]()

    def renamed(name: re.Match[str]) -> str:
        return name[0] if name[1] in arguments else f"{name[0]}_of_{len(bodies)}"

    while sum(map(len, bodies)) < size:
        bodies.append(re.sub(r"%(\w+)", renamed, body))
    return "\n".join([*lines[: first + 1], *bodies, *lines[last:]])


def lines_of(text: str) -> dict[str, list[int]]:
    """Return the lines of each kind that a hover is asked for, from 0."""
    found = {diagnosis.line - 1 for diagnosis in EditedDump(text).diagnoses()}
    lines = text.split("\n")
    function = next(at for at, line in enumerate(lines) if "tt.func" in line)
    operations = [at for at, line in enumerate(lines) if " = " in line and at > function]
    return {
        "operation": [at for at in operations if at not in found],
        "finding": sorted(found - {function}),
        "function": [function],
    }


def hovers_alone(text: str, chosen: list[int], edits: int, random: Random) -> list[float]:
    """Return how long a hover of some lines takes, the first question after an edit below."""
    lines, dump, waits = text.split("\n"), EditedDump(text), []
    for edit in range(edits if chosen else 0):
        line = random.choice(chosen)
        start = lines[line].find(" = ") + 4 if " = " in lines[line] else 0
        column = start or len(lines[line]) - len(lines[line].lstrip()) + 1
        newer = "\n".join([*lines[:-3], *[""] * (edit + 1), *lines[-3:]])
        begun = time.process_time()
        dump = dump.edited(newer)
        piece = dump.placed[0].piece
        word_hover(piece, line + 1, column) or operation_hover(piece, line + 1, column, waits=False)
        waits.append(time.process_time() - begun)
    return waits[1:]  # the first knows of no text before it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--kernels", type=int, default=500_000, help="bytes of each kernel alone")
    chosen = parser.parse_args()
    paths = chosen.dumps or sorted((ROOT / "examples").rglob("*.ttgir"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    passes, at = "", 0
    while len(passes) < chosen.bytes:
        passes += HEADER.format(at) + texts[at % len(texts)]
        at += 1
    for name, text in (("passes", passes), ("longest", max(texts, key=len))):
        start = time.perf_counter()
        dump = EditedDump(text)
        dump.diagnoses()
        opened = time.perf_counter() - start
        for what, found in zip(("edit", "hover"), seconds(dump, chosen.edits, Random(1))):
            middle, worst = statistics.median(found) * 1e3, max(found) * 1e3
            print(
                f"{name:8} {len(text):8} bytes  {what:6} median {middle:6.1f} ms, most {worst:6.1f}"
            )
        print(f"{name:8} opened in {opened:.2f} s")
    gc.freeze()
    gc.set_threshold(GARBAGE)
    for path, text in zip(paths, texts) if chosen.kernels else ():
        kernel = repeated(text, chosen.kernels)
        for kind, lines in lines_of(kernel).items():
            gc.collect()
            gc.freeze()
            found = hovers_alone(kernel, lines, chosen.edits, Random(1))
            if found:
                middle, worst = statistics.median(found) * 1e3, max(found) * 1e3
                of = f"{path.stem:24} {len(kernel):8} bytes  {kind:9}"
                print(f"{of} median {middle:6.1f} ms, most {worst:6.1f}", flush=True)


if __name__ == "__main__":
    main()
