"""A new encoding: a module, and its row in the table of attributes."""

from __future__ import annotations

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

TOY = '''\
"""``#ttg.toy``: lanes side by side along the only dimension."""

from __future__ import annotations

from dataclasses import dataclass

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings.base import DistributedEncoding, Shape
from tt_layout.encodings.forms import INTEGER, Form, Key
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.releases import Release


@dataclass(frozen=True, kw_only=True)
class Toy(DistributedEncoding):
    """Lanes side by side along the only dimension, the rest in registers.

    Attributes:
        lanes: the number of lanes.

    Example:
        >>> Toy(lanes=2).to_linear_layout([4]).bases[:2]
        [('register', [[2]]), ('lane', [[1]])]

    Source:
        A drill; no compiler has it.
    """

    lanes: int

    mnemonic = "toy"
    rules = (Rule("lanes", Must.POWER),)
    forms = (Form("ttg.toy", Release.V3_9, (Key("lanes", INTEGER, field="lanes"),)),)

    @property
    def rank(self) -> int:
        """Always one."""
        return 1

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the lanes, then registers; lanes beyond the tensor repeat it."""
        steps = [(1 << bit,) for bit in range(shape[0].bit_length() - 1)]
        lanes = self.lanes.bit_length() - 1
        bases = {
            "register": steps[lanes:],
            "lane": steps[:lanes] + [(0,)] * (lanes - len(steps)),
            "warp": [],
            "block": [],
        }
        return LinearLayout.from_bases(bases, ["dim0"], list(shape))
'''
ROW = "| `toy` | lanes side by side | `#ttg.toy<{lanes = 32}>` | refuses |\n"
FIRST_ROW = "| `blocked` | registers, lanes"

TEXT = "#ttg.toy<{lanes = 4}>"
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [4], warpsPerCTA = [1], order = [0]}>"
)
TYPE = ("-t", "tensor<8xf16>")


def add_toy(clone: Clone) -> None:
    clone.add("tt_layout/encodings/toy.py", TOY)
    clone.insert("docs/attributes.md", FIRST_ROW, ROW)
    assert len(clone.touched) == 2


def test_every_command_knows_it(clone: Clone) -> None:
    add_toy(clone)
    heading = f"Print layout attribute: {TEXT}\n"
    assert clone.prints("-l", TEXT, *TYPE) == (
        f"{heading}[T0:0, T1:0, T2:0, T3:0, T0:1, T1:1, T2:1, T3:1]\n"
    )
    assert clone.prints("-l", TEXT, *TYPE, "--use-hw-view") == (
        f"{heading}Warp0:\n(0), (1), (2), (3)\n(4), (5), (6), (7)\n"
    )
    assert "size per thread" in clone.prints("info", TEXT, *TYPE)
    assert "  T1:1 -> (5): " in clone.prints("where", TEXT, *TYPE, "--element", "5")
    assert "shuffles within warps" in clone.prints("convert", TEXT, BLOCKED, *TYPE)
    assert clone.run("diff", TEXT, BLOCKED, *TYPE).status == 1
    linear = "register = [[4]], lane = [[1], [2]], warp = [], block = []"
    assert (
        clone.prints("translate", TEXT, *TYPE, "--to", "linear") == f"#ttg.linear<{{{linear}}}>\n"
    )
    told = clone.refuses("translate", TEXT, *TYPE, "--to", "gluon")
    assert "the target has no form for such a layout: Gluon has no class for #ttg.toy" in told
    for suffix in ("svg", "html"):
        clone.prints("plot", TEXT, *TYPE, "-o", f"toy.{suffix}")
        assert "toy" in (clone.root / f"toy.{suffix}").read_text(encoding="utf-8")


def test_faults_are_pointed_at_and_names_are_guessed(clone: Clone) -> None:
    add_toy(clone)
    told = clone.refuses("-l", "#ttg.toy<{lanes = 3}>", *TYPE)
    assert "lanes must be a power of two, got 3" in told
    assert told.splitlines()[-1].strip() == "^"
    assert "did you mean #ttg.toy?" in clone.refuses("-l", "#ttg.toi<{lanes = 4}>", *TYPE)
    assert "lanes" in clone.refuses("-l", "#ttg.toy<{lane = 4}>", *TYPE)
    assert "3.9" in clone.refuses("-l", TEXT, *TYPE, "--triton", "3.8")
    nested = f"#ttg.dot_op<{{opIdx = 0, parent = {TEXT}}}>"
    assert "ttg.toy" in clone.refuses("-l", nested, "-t", "tensor<8x8xf16>")


def test_dumps_and_goldens_have_it(clone: Clone) -> None:
    add_toy(clone)
    (clone.root / "dump.mlir").write_text(
        f"#toy = {TEXT}\n#old = {BLOCKED}\nmodule {{\n  tt.func @f(%x: tensor<8xf16, #toy>) {{\n"
        "    %0 = ttg.convert_layout %x : tensor<8xf16, #toy> -> tensor<8xf16, #old>\n"
        "    tt.return\n  }\n}\n"
    )
    assert "#toy" in clone.prints("audit", "dump.mlir")
    assert "[T0:0, T1:0" in clone.prints("-i", "dump.mlir")
    clone.prints("init", "dump.mlir", *TYPE)
    clone.prints("check", "--update")
    assert clone.prints("check") == "3 passed\n"
    assert (clone.root / "toy.info.txt").read_text().startswith(f"{TEXT}\n")
    assert "#toy" in (clone.root / "dump.audit.txt").read_text()
    views = ("--view", "tensor", "--view", "hardware")
    clone.prints("init", "dump.mlir", *TYPE, *views, "-o", "views.yaml")
    clone.prints("check", "views.yaml", "--update")
    assert clone.prints("check", "views.yaml") == "4 passed\n"
    assert "[T0:0, T1:0" in (clone.root / "toy.tensor.txt").read_text()


def test_its_own_tests_are_there(clone: Clone) -> None:
    add_toy(clone)
    clone.passes("tests/project/test_docs.py", "-k", "attribute or encoding")
    clone.passes("tests/project/test_architecture.py", "-m", "", "-k", "public_name")
    clone.passes("tt_layout/encodings/toy.py")
