"""The class of each operation is said in one place."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from work import calls_of

import tt_layout
from tt_layout.ir.names import FORMER_NAMES, MAX_REMEMBERED, name_today, spellings
from tt_layout.ir.traits import NO_TRAITS, TRAITS, traits_of

ROOT = Path(__file__).parents[2]
PACKAGE = Path(tt_layout.__file__).parent

MOST_FILES = 28
"""Files that spell the name of an operation, for what it alone means; none for its class."""


def test_every_operation_of_the_dialects_has_a_row() -> None:
    lines = (ROOT / "tests" / "data" / "operations.txt").read_text(encoding="utf-8").splitlines()
    names = [line.split()[0] for line in lines if not line.startswith("#")]
    assert not [name for name in names if name not in TRAITS]


@pytest.mark.slow
def test_few_files_spell_the_name_of_an_operation() -> None:
    files = [
        path
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in TRAITS and path.name != "traits.py"
    ]
    assert len({*files}) <= MOST_FILES, sorted({str(path) for path in files})


def test_traits_exclude_each_other() -> None:
    """What is elementwise moves nothing, and what is pure has no effect on memory."""
    for name, traits in TRAITS.items():
        assert not (traits.elementwise and (traits.shape or traits.terminator)), name
        assert not (traits.pure and (traits.writes or traits.allocates)), name
        assert traits.cast or not (traits.integer_cast or traits.integer_to_float), name


def test_names_of_earlier_releases() -> None:
    assert traits_of("triton_gpu.convert_layout").same_elements
    assert traits_of("amdgpu.buffer_load").is_global_load
    assert traits_of("triton_nvidia_gpu.init_barrier").initializes_barrier
    assert traits_of("triton_nvidia_gpu.dot_async").multiplies
    assert traits_of("ttg.local_barrier") == traits_of("ttg.barrier") != NO_TRAITS
    assert traits_of("triton_intel_gpu.broadcast").shape


def test_a_former_name_is_the_only_spelling_of_what_replaced_it() -> None:
    """Names of today are no former names, and a spelling leads back to its name."""
    today = {former.today for former in FORMER_NAMES}
    assert not today & {former.name for former in FORMER_NAMES}
    for name in today:
        assert {name_today(spelling) for spelling in spellings(name)} == {name}
    assert spellings("ttig.support_2d_block_io") == (
        "ttig.support_2d_block_io",
        "ttig.support_sg_2d_block",
        "triton_intel_gpu.support_2d_block_io",
        "triton_intel_gpu.support_sg_2d_block",
    )


def test_operations_without_a_row() -> None:
    """Those of arith and math compute each element by itself; of others nothing is known."""
    assert traits_of("math.of_tomorrow").elementwise
    assert traits_of("tt.of_tomorrow") == NO_TRAITS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_names_of_hostile_dumps_are_remembered_up_to_a_limit() -> None:
    """In a copy of the process: what it remembers then is of no use to other tests."""
    if (child := os.fork()) == 0:
        asked = calls_of(lambda: traits_of("acme.first")), calls_of(lambda: traits_of("acme.first"))
        is_remembered = asked[0] > asked[1]
        for number in range(MAX_REMEMBERED):
            traits_of(f"acme.a{number}")
        traits_of("acme.last")
        again = calls_of(lambda: traits_of("acme.last"))
        os._exit(0 if is_remembered and again > asked[1] else 1)
    assert os.waitpid(child, 0)[1] == 0
