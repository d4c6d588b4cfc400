"""Resources of multiprocessors, beside the guides of their makers."""

from __future__ import annotations

import pytest
from small_modules import ROWS

from tt_layout import parse_ir
from tt_layout.hardware import TARGETS, find_target
from tt_layout.ir.operations import type_bytes


@pytest.mark.parametrize(
    ("element", "bytes_"), [("i1", 8), ("i8", 8), ("f8E5M2", 8), ("f16", 16), ("!tt.ptr<i8>", 8)]
)
def test_elements_of_a_byte_and_less_count_as_one(element: str, bytes_: int) -> None:
    [module] = parse_ir(
        f'#a = {ROWS}\nmodule attributes {{"ttg.num-warps" = 8 : i32}} {{\n'
        f"tt.func @f(%x: tensor<8x{element}, #a>) {{\n tt.return\n}}\n}}"
    )
    [ir_type] = module.types.distinct
    assert type_bytes(ir_type) == bytes_


@pytest.mark.parametrize("name", [*TARGETS])
def test_a_cta_may_have_what_a_multiprocessor_does_not_reserve(name: str) -> None:
    gpu = TARGETS[name]
    own = gpu.residence
    if own is not None and gpu.name == name:
        # Two compute units of RDNA share the memory of a workgroup processor; a workgroup has half.
        parts = 2 if gpu.title.startswith("AMD RDNA") else 1
        assert gpu.most_shared_bytes == own.shared_bytes // parts - own.reserved_bytes


TECHNICAL_SPECIFICATIONS = {"7.0": (64, 32), "7.5": (32, 16), "8.0": (64, 32), "9.0": (64, 32)}
"""Compute capability -> resident warps and blocks: CUDA C++ Programming Guide."""


@pytest.mark.parametrize("capability", TECHNICAL_SPECIFICATIONS)
def test_residence_is_that_of_the_guide(capability: str) -> None:
    chip = f"sm{capability.replace('.', '')}"
    own = find_target(chip).residence
    assert own is not None
    assert (own.warps, own.ctas) == TECHNICAL_SPECIFICATIONS[capability]


def test_eight_warps_of_gfx1250_share_the_registers_of_a_simd() -> None:
    own = find_target("gfx1250").registers
    assert own is not None
    assert [own.limit(warps) for warps in (4, 8)] == [1024, 512]
