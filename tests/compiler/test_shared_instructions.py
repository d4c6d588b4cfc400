"""Instructions on shared memory, by name and count, against the assembly of Triton 3.9.0.

A kernel stores a tensor to shared memory and loads it with other registers; what stands in the
assembly is compared with what is expected of each.  The same access may be spelled in two ways:
LLVM names vectors of NVIDIA by what their elements are used for, and the half of a register that
a load of AMD fills; and an instruction with two addresses counts its distances in other units
where something else is near.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import pytest

from compiler.shared_variants import BITS, variants
from compiler.test_analyses import Lowerer
from compiler.wheel import Question, Wheel
from tt_layout import LinearLayout, parse_layout
from tt_layout.analyses.shared_memory.access import access_map, choose_instruction
from tt_layout.analyses.shared_memory.addresses import part_mask
from tt_layout.hardware import find_target

VARIANTS = 64
MOST_DIFFERENT = {False: 0.04, True: 0.08}
"""Whether there is padding -> the share of accesses that may be otherwise: of so few the share
is uncertain; of 800 it is 0.01 and 0.03 (``docs/bank-conflicts.md`` has the causes)."""

STORE = re.compile(r"ds_write|ds_store|st\.|stmatrix")
VECTOR = re.compile(r"(ld|st)\.shared\.(?:v(\d)\.)?b(\d+)")


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def plain(operations: Mapping[str, int]) -> dict[str, int]:
    """Return instructions under names that do not depend on how their results are used."""
    found: Counter[str] = Counter()
    for name, count in operations.items():
        if match := VECTOR.fullmatch(name):
            bits = int(match[2] or 1) * int(match[3])
            wide = ".b64" * (int(match[3]) == 64)
            name = f"{match[1]} {bits}{wide}"
        elif "matrix" in name:
            name = re.sub(r"\.sync\.aligned|\.m8n8|\.shared(?:\.b16)?", "", name)
        else:
            name = re.sub(r"_d16(?:_hi)?|st64(?=_)|_stride64", "", name)
            name = re.sub(r"_[ui](8|16)$", r"_b\1", name)
        found[name] += count
    return dict(found)


def expected(asked: Question, *, is_store: bool) -> dict[str, int]:
    register, memory = asked["through"][0 if is_store else 1], parse_layout(asked["through"][2])
    bits, target = BITS[asked["element"]], find_target(asked["target"])
    own = parse_layout(register).to_linear_layout(asked["shape"], element_bits=bits)
    buffer = memory.to_linear_layout(asked.get("whole") or asked["shape"], element_bits=bits)
    whole = LinearLayout(own.in_bases, buffer.out_sizes)
    part = part_mask(buffer, asked["shape"])
    offsets = access_map(whole, buffer, bits // 8, memory.padding, part)
    return plain(choose_instruction(offsets, target, is_store).counts(target, is_store))


@pytest.mark.parametrize("is_padded", [False, True])
def test_instructions_on_shared_memory(
    lowerer: Lowerer, seed: int, tally: Counter[str], is_padded: bool
) -> None:
    asked = variants(seed, VARIANTS, is_padded=is_padded)
    different = 0
    for one, answer in zip(asked, lowerer.ask(asked)):
        if "operations" not in answer:
            tally["the wheel gives no code"] += 1
            continue
        for is_store in (True, False):
            operations = answer["operations"].items()
            real = plain({n: c for n, c in operations if bool(STORE.match(n)) == is_store})
            if real == expected(one, is_store=is_store):
                tally[f"{one['target']}: same instructions"] += 1
            else:
                different += 1
    tally["other instructions"] = different
    assert different <= MOST_DIFFERENT[is_padded] * 2 * len(asked)
    assert tally["the wheel gives no code"] <= len(asked) // 10
