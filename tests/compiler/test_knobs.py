"""The table of what moves layouts that Triton's compiler chooses, beside trials with the wheel.

Run as a script with the Python of a wheel as argument, it prints the table.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random

from compiler.wheel import Wheel
from tt_layout import parse_ir
from tt_layout.encodings import Encoding
from tt_layout.encodings.slice import Slice
from tt_layout.hardware import find_target

PROGRAM = Path(__file__).with_name("knobs_program.py")
TRIED = ("sm80", "sm90", "sm100", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1250")
KNOBS = {name: find_target(name).knobs or {} for name in TRIED}
"""Chip that was tried -> its knobs; chips like it have the same."""

CHANGES = sorted({what for rows in KNOBS.values() for own in rows.values() for what in own})


def layouts(text: str) -> dict[str, set[str]]:
    """Return the layouts of a dump by their attribute; slices are in their parents."""
    [module] = parse_ir(text)
    found: dict[str, set[str]] = {}
    for ir_type in module.types.distinct:
        encoding = ir_type.encoding
        if isinstance(encoding, Encoding) and not isinstance(encoding, Slice):
            found.setdefault(encoding.mnemonic, set()).add(str(encoding))
    return found


def moved(kernels: dict[str, dict[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return what moved each layout that a kernel has, of one target."""
    found: dict[str, dict[str, None]] = {}
    for texts in kernels.values():
        base, *others = ((what, layouts(text)) for what, text in texts.items())
        for mnemonic, own in base[1].items():
            changes = found.setdefault(mnemonic, {})
            changes |= {what: None for what, now in others if now.get(mnemonic) != own}
    return {name: tuple(sorted(changes)) for name, changes in sorted(found.items())}


def tried(
    python: str, gpus: list[str], changes: Collection[str] = ()
) -> Iterator[tuple[str, dict[str, tuple[str, ...]]]]:
    """Yield what moved the layouts of each GPU, of some changes or of all."""
    targets = ",".join(gpus)
    done = subprocess.run(
        [python, str(PROGRAM), targets, *changes], capture_output=True, text=True, check=True
    )
    for gpu, kernels in zip(gpus, json.loads(done.stdout).values()):
        yield gpu, moved(kernels)


def test_the_table_says_what_moves_a_layout(wheel: Wheel, seed: int) -> None:
    random = Random(seed)
    gpu, changes = random.choice(sorted(KNOBS)), random.sample(CHANGES, 2)
    [(_, found)] = tried(wheel.python, [gpu], changes)
    assert {name: set(own) for name, own in found.items()} == {
        name: set(own) & set(changes) for name, own in KNOBS[gpu].items()
    }


if __name__ == "__main__":
    for gpu, rows in tried(sys.argv[1], sys.argv[2:]):
        sys.stdout.write(f"{gpu!r}: {rows!r},\n")
