"""A new notation: one file; every command, manifest and function reads it and writes it."""

from __future__ import annotations

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

MODULE = '''\
"""Bases as numbers of elements: ``flat register=1,2 lane=4,8``, the first dimension fastest."""

from __future__ import annotations

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import dim_names
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_function, over_shape, read_back
from tt_layout.notation.notation import Notation
from tt_layout.notation.result import TensorSpec, Translation


def recognises(text: str) -> bool:
    """Tell whether a text begins with the word."""
    return text.lstrip().startswith("flat ")


def read(text: str, context: Context) -> Encoding:
    """Return the attribute with the bases over the tensor."""
    return encoding_of_function(_function(text, context.tensor_shape("flat")))


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the bases as numbers."""
    shape, layout = over_shape(encoding, tensor)
    words = (
        f"{name}=" + ",".join(str(layout.flatten(vector)) for vector in vectors)
        for name, vectors in layout.bases
    )
    text = f"flat {' '.join(words)}"
    return read_back(encoding, text, _function(text, shape), shape, tensor)


def _function(text: str, shape: Shape) -> LinearLayout:
    bases = {}
    for word in text.split()[1:]:
        name, _, numbers = word.partition("=")
        if not all(number.isdecimal() for number in numbers.split(",") if number):
            raise LayoutError(f"expected numbers behind {name}=, got {numbers!r}")
        bases[name] = [_vector(int(number), shape) for number in numbers.split(",") if number]
    return LinearLayout.from_bases(
        bases, dim_names(len(shape)), shape, require_surjective=False
    )


def _vector(number: int, shape: Shape) -> tuple[int, ...]:
    found = []
    for size in shape:
        number, coordinate = divmod(number, size)
        found.append(coordinate)
    return tuple(found)


NOTATION = Notation(recognises, read, write)
'''

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], "
    "warpsPerCTA = [2, 1], order = [1, 0]}>"
)
FLAT = "flat register=4 lane=8,1 warp=2 block="
TYPE = ("-t", "tensor<4x4xf16>")
MANIFEST = f'cases:\n  - name: new\n    layout: "{FLAT}"\n    type: tensor<4x4xf16>\n'


@pytest.fixture
def flat(clone: Clone) -> Clone:
    """Return the copy with the notation."""
    clone.add("tt_layout/notation/notations/flat.py", MODULE)
    assert len(clone.touched) == 1
    return clone


def test_it_is_read_and_written_everywhere(flat: Clone) -> None:
    assert flat.prints("translate", BLOCKED, *TYPE, "--to", "flat") == f"{FLAT}\n"
    shown = flat.prints("-l", FLAT, *TYPE).splitlines()
    assert shown[1:] == flat.prints("-l", BLOCKED, *TYPE).splitlines()[1:]
    assert "cute" in flat.prints("translate", "--help")
    assert " flat," in flat.prints("translate", "--help")
    assert "known are bases, cute, flat" in flat.refuses("translate", FLAT, *TYPE, "--to", "9.9")
    assert "same map" in flat.prints("diff", FLAT, BLOCKED, *TYPE)
    cute = flat.run("translate", FLAT, *TYPE, "--to", "cute")
    assert cute == flat.run("translate", BLOCKED, *TYPE, "--to", "cute")
    assert cute[2] == "note: the text counts threads only; read it with 4 lanes per warp\n"


def test_what_is_wrong_is_pointed_at(flat: Clone) -> None:
    told = flat.refuses("-l", "flat register=x", *TYPE)
    assert "expected numbers behind register=, got 'x'" in told
    assert told.splitlines()[-1].strip("^") == ""
    assert "flat does not determine the shape" in flat.refuses("translate", FLAT, "--to", "3.9")
    padded = "#ttg.padded_shared<[4:+4] {order = [1, 0], shape = [4, 4]}>"
    memory = ("-t", "!ttg.memdesc<4x4xf16>")
    assert "padding is not linear" in flat.refuses("translate", padded, *memory, "--to", "flat")


def test_manifests_and_figures_take_it(flat: Clone) -> None:
    (flat.root / "layouts.yaml").write_text(MANIFEST)
    flat.prints("check", "layouts.yaml", "--update")
    assert flat.prints("check", "layouts.yaml") == "1 passed\n"
    flat.prints("plot", FLAT, *TYPE, "-o", "layout.svg")
    assert ">T7:1<" in (flat.root / "layout.svg").read_text()


def test_its_tests_pass(flat: Clone) -> None:
    """One says what is missing: what the guide says of it."""
    told = flat.test("tests/notation/test_notation.py").stdout
    assert "FAILED tests/notation/test_notation.py::test_the_guide_has_every_notation" in told
    assert "\n1 failed, " in told
    flat.passes("tests/project/test_architecture.py", "-m", "", "-k", "short or public_name")
