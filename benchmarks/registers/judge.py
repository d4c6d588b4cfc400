"""Hold the estimate of registers against what the compilers took.

usage: judge.py PLACE... [--rows] [--every N]

PLACE is a folder that make.py has written, ``tests/data/registers.jsonl.xz``, or rows of
``benchmarks/hardware/sweep.py``, packed by xz or not.  For each target, for the families that
nothing was fitted to at first, for kernels that were compiled after that, and for the families of
withheld.py, which judged the last fit: in how many kernels
that do not spill the range holds the registers, and its median width over its middle; how many
spill, are said to and are; and may, and do.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.registers import RegisterPressure, module_registers
from tt_layout.audit.registers.pressure import worst
from tt_layout.ir import parse_ir


class Row(NamedTuple):
    """A kernel: what is estimated, and what the compiler took.

    Attributes:
        name: of the kernel in its size.
        family: of kernels that it belongs to.
        target: the GPU.
        is_fitted: whether rules were fitted to its family; None where that is not known.
        pressure: the estimate.
        registers: of a thread, as compiled.
        spilled: registers of a thread that the compiler spilled.
        is_fresh: whether it was compiled after the first fit.
        is_unseen: whether it is of the families that were compiled to judge the last fit.
    """

    name: str
    family: str
    target: str
    is_fitted: bool | None
    pressure: RegisterPressure
    registers: int
    spilled: int
    is_fresh: bool = False
    is_unseen: bool = False

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most of the estimate, neither of them over the limit."""
        low, _, high = self.pressure.range
        return min(low, self.pressure.limit), min(high, self.pressure.limit)


class Figures(NamedTuple):
    """How well kernels are told.

    Attributes:
        kernels: their number.
        held: the part of those that do not spill whose registers are in the range.
        width: of the range, over its middle: the median.
        spill: how many spill.
        said, right: how many are said to spill, and how many of those do.
        may, too: how many others may spill, and how many of those do.
    """

    kernels: int
    held: float
    width: float
    spill: int
    said: int
    right: int
    may: int
    too: int

    @property
    def text(self) -> str:
        """The figures in a line."""
        calm = max(1, self.kernels - self.spill)
        return (
            f"{self.kernels:4} kernels, range holds {self.held:.2f}, width {self.width:.2f}; "
            f"{self.spill} spill: {self.said} said, {self.right} rightly; {self.may} may, "
            f"{self.too} do; {(self.may - self.too) / calm:.3f} of those that do not may"
        )


def figures(rows: Sequence[Row]) -> Figures:
    """Return how well kernels are told."""
    calm = [row for row in rows if not row.spilled]
    held = sum(row.ends[0] <= row.registers <= row.ends[1] for row in calm)
    widths = [2 * (high - low) / max(1, high + low) for low, high in (row.ends for row in rows)]
    said = [row for row in rows if row.pressure.spills]
    may = [row for row in rows if row.pressure.may_spill]
    return Figures(
        kernels=len(rows),
        held=held / max(1, len(calm)),
        width=median(widths) if widths else 0,
        spill=len(rows) - len(calm),
        said=len(said),
        right=sum(row.spilled > 0 for row in said),
        may=len(may),
        too=sum(row.spilled > 0 for row in may),
    )


def rows_of(place: Path, every: int = 1) -> Iterator[Row]:
    """Yield the kernels of a place that compiled, or one of so many."""
    for one in list(_compiled(place))[::every]:
        module = parse_ir(one["ttgir"])[-1]
        pressure = worst(module_registers(AuditedModule(module, SharedWork())))
        if pressure is not None:
            target = one.get("target") or str(module.target)
            registers = one["registers"] if "registers" in one else one["n_regs"]
            spilled = one["spilled"] if "spilled" in one else one["n_spills"]
            fitted, family = one.get("is_fitted"), one.get("family") or one["name"]
            after = bool(one.get("is_fresh")), bool(one.get("is_unseen"))
            yield Row(one["name"], family, target, fitted, pressure, registers, spilled, *after)


def _compiled(place: Path) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a place with their dumps, each dump once."""
    if place.is_dir():
        lines = map(json.loads, (place / "truth.jsonl").read_text().splitlines())
        rows = [
            one | {"ttgir": (place / f"{one['name']}.ttgir").read_text()}
            for one in lines
            if "error" not in one
        ]
    else:
        packed = place.read_bytes()
        text = lzma.decompress(packed) if place.suffix == ".xz" else packed
        rows = [json.loads(line) for line in text.splitlines()]
    return {one["ttgir"]: one for one in rows if one.get("ttgir")}.values()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="PLACE")
    parser.add_argument("--rows", action="store_true", help="print every kernel")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N kernels")
    chosen = parser.parse_args()
    rows = [row for place in chosen.places for row in rows_of(place, chosen.every)]
    for row in sorted(rows) if chosen.rows else ():
        low, needed, high = row.pressure.range
        print(row.target, row.name, low, needed, high, row.registers, row.spilled)
    held_out = [row for row in rows if row.is_fitted is False]
    fresh = [row for row in rows if row.is_fresh]
    unseen = [row for row in rows if row.is_unseen]
    parts = (("held out", held_out), ("fresh", fresh), ("unseen", unseen), ("all", rows))
    for title, own in parts:
        for target in dict.fromkeys(row.target for row in own):
            print(title, target, figures([row for row in own if row.target == target]).text)
        print(title, "each", figures(own).text)


if __name__ == "__main__":
    main()
