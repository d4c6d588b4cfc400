"""Hold the bytes of shared memory, and those predicted for other stages, against the compiler's.

usage: judge_stages.py FOLDER [--rows]

FOLDER is what stages.py has written.  (a) The bytes of each dump.  (b) From the dump with three
stages, the bytes with two, four and five on the same GPU; or why they cannot be known.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from tt_layout.audit.fits import KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.mlir.source import read_source

KNOWN, PREDICTED = 3, (2, 4, 5)


def fit_of(path: Path) -> KernelFit | None:
    """Return the shared memory of the kernel of a dump; None where it has none."""
    [module] = whole_modules(read_source(str(path)), None, None)
    return next(iter(kernel_fits(AuditedModule(module, SharedWork()))), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", action="store_true", help="print every kernel")
    chosen = parser.parse_args()
    truth: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for line in (chosen.folder / "shared.jsonl").read_text().splitlines():
        one = json.loads(line)
        truth.setdefault((one["kernel"], one["target"]), {})[one["stages"]] = one
    own, others = Counter[str](), Counter[str]()
    for name, by_stages in truth.items():
        fits = {
            stages: fit_of(chosen.folder / f"{one['name']}.ttgir")
            for stages, one in by_stages.items()
            if "error" not in one
        }
        sizes = {stages: by_stages[stages]["shared"] for stages in fits}
        found = {stages: fit.bytes if fit is not None else 0 for stages, fit in fits.items()}
        own.update("equal" if found[stages] == sizes[stages] else "different" for stages in fits)
        known = fits.get(KNOWN)
        told: dict[int, int | str] = {}
        for stages in PREDICTED:
            if known is None or stages not in sizes:
                continue
            told[stages] = known.with_stages(stages, KNOWN)
            is_number, is_equal = isinstance(told[stages], int), told[stages] == sizes[stages]
            others["equal" if is_equal else "different" if is_number else "refused"] += 1
        if chosen.rows:
            print(*name, "compiled", sizes, "found", found, "told", told)
    print("(a) bytes of each dump:", dict(own))
    print("(b) with other stages:", dict(others))


if __name__ == "__main__":
    main()
