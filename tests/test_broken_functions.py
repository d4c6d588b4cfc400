"""Functions that are cut, shuffled or otherwise wrong do no harm to what reads them."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tiers import slow

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.axis import axis_info
from tt_layout.ir.ssa import read_functions

KERNELS = sorted(Path(__file__).parent.parent.glob("examples/kernels/*.ttgir"))
NARROW = sorted(Path(__file__).parent.parent.glob("examples/narrow/*.ttgir"))
WORD = re.compile(r"%[\w#]+|[a-z]+\.\w+|\d+|[{}()<>\[\],:=]|->")


def broken(text: str, chance: random.Random) -> str:
    """Return a text in which a few words were left out, repeated or put in each other's place."""
    words = list(WORD.finditer(text, text.index("tt.func")))
    for match in sorted(chance.sample(words, 12), key=lambda match: -match.start()):
        other = chance.choice(("", match.group() * 2, chance.choice(words).group()))
        text = text[: match.start()] + other + text[match.end() :]
    return text


@pytest.mark.parametrize("seeds", [1, slow(40)])
@pytest.mark.parametrize("path", KERNELS[::4], ids=lambda path: path.stem)
def test_broken_kernels_are_read_as_far_as_they_go(path: Path, seeds: int) -> None:
    text = path.read_text(encoding="utf-8")
    for seed in range(seeds):
        for module in parse_ir(broken(text, random.Random(seed))):
            for function in (functions := read_functions(module)):
                assert axis_info(function, functions).keys() >= function.values.keys()
            audit_module(module)


@pytest.mark.parametrize("path", NARROW, ids=lambda path: path.stem)
def test_comparisons_without_a_second_operand(path: Path) -> None:
    text = re.sub(r"(arith.cmpi slt, %\w+), %\w+", r"\1", path.read_text(encoding="utf-8"))
    for module in parse_ir(text):
        audit_module(module)
