"""Estimates of `tt_layout.watch` beside measured times, for kernels of projects written by others.

usage: projects.py FOLDER SOURCES [--only TEXT]

Needs PyTorch, Triton, a GPU, and tt_layout on the path.  ``project_kernels.py`` beside it calls the
projects, whose Python files lie below SOURCES, each package where it is imported from.  FOLDER gets
``kernels.jsonl.xz`` and ``summary.json``, as ``nets.py`` makes them.  What fails has a row as well.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", default="", help="workloads whose names have this text")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with lzma.open(chosen.folder / "kernels.jsonl.xz", "wt") as out:
        for row in measured(chosen.sources, chosen.only):
            out.write(json.dumps(row) + "\n")
            row.pop("ttgir", None)
            rows.append(row)
    from nets import judge

    found = judge(rows)
    (chosen.folder / "summary.json").write_text(json.dumps(found, indent=1))
    print(json.dumps({key: value for key, value in found.items() if key != "nets"}))


def measured(sources: Path, only: str) -> Any:
    """Yield the rows of each workload."""
    import project_kernels
    import torch
    from nets import watched_rows

    for name, make in project_kernels.workloads(sources):
        if only not in name:
            continue
        began = time.monotonic()
        torch.manual_seed(0)
        try:
            yield from watched_rows(name, make())
        except Exception:  # the others go on
            print(name, traceback.format_exc()[-700:], flush=True)
            yield {"net": name, "error": traceback.format_exc()[-300:]}
        print(name, f"{time.monotonic() - began:.1f} s", flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
