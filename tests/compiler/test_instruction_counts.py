"""The instructions of whole kernels, as the audit predicts them, against the wheel's assembly."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import islice

import pytest
from tiers import slow

from compiler.agreement import Comparison
from compiler.instruction_kernels import kernels
from compiler.test_analyses import Lowerer
from compiler.wheel import Wheel
from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.encodings import Encoding
from tt_layout.ir.operations import Operation

MOST_OFF = 3  # of 100 kernels


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def predicted(text: str) -> Counter[str]:
    """Return the instructions that stand in the code of a module, by name."""
    [module] = parse_ir(text)
    audit = audit_module(module)
    found: Counter[str] = Counter()
    for product in audit.multiplications:
        assert product.instruction is not None, text
        found[product.instruction.name] += product.instruction.instructions
    warps = module.number("num-warps")
    assert warps is not None
    for row in audit.movements:
        details = row.cost.details if row.cost is not None else {}
        if "messages" in details:  # dealt out over the warps, of which all run one code
            active = warps >> repeated(row.operation)
            found[details["instruction"]] += math.ceil(details["messages"] / active)
        elif str(details.get("instruction")).startswith("tcgen05"):
            found[details["instruction"]] += details["instructions"]
    return found


def repeated(operation: Operation) -> int:
    """Return in how many bits warps that gather the same rows differ."""
    rows = next((each for each in operation.types if each.kind == "tensor"), None)
    if rows is None or not isinstance(rows.encoding, Encoding):
        return 0
    layout = rows.encoding.to_linear_layout(rows.shape)
    return layout.get_free_variable_masks()["warp"].bit_count()


def target_of(text: str) -> str:
    match = re.search(r'ttg.target = "([^"]*)"', text)
    assert match is not None
    return match.group(1)


@pytest.mark.parametrize("count", [16, slow(60)])
def test_instructions_of_kernels(
    lowerer: Lowerer, seed: int, tally: Counter[str], count: int
) -> None:
    texts = list(islice(kernels(seed), count))
    comparison, off = Comparison(tally), []
    for text, answer in zip(texts, lowerer.ask([{"kernel": text} for text in texts])):
        where = target_of(text)
        if "operations" not in answer:
            comparison.agree(f"{where}: the wheel gives no code")
        elif predicted(text) == answer["operations"]:
            comparison.agree(f"{where}: same instructions")
        else:
            off.append(text)
            comparison.agree(f"{where}: other instructions")
    assert len(off) <= count * MOST_OFF / 100, "\n".join(off)
    assert sum(n for said, n in tally.items() if said.endswith("no code")) <= count // 10
