"""The instructions of whole kernels, as the audit predicts them, against the wheel's assembly.

Counted are those on matrices, shared and tensor memory, and between lanes: ``tcgen05.ld``, ``st``,
``cp`` and ``mma``, ``wgmma``, ``mma.sync``, ``cp.async.bulk``, ``ld.shared``, ``st.shared``,
``ldmatrix``, ``stmatrix``, ``shfl``, ``redux``; of AMD ``v_mfma``, ``v_wmma`` and all of ``ds_*``.
Where an access becomes instructions of several widths their sum is compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from compiler.copy_kernels import copy_kernels
from compiler.exchange_kernels import exchange_kernels
from compiler.instruction_kernels import kernels
from compiler.test_analyses import Lowerer
from compiler.test_shared_instructions import plain
from compiler.wheel import Wheel
from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.encodings import Encoding
from tt_layout.ir.operations import MovementOperation

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_OFF = 0.03
FEW_OFF = 3
"""Kernels that may be otherwise: the share, or how many; docs/data-movements.md has the causes."""


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


@pytest.fixture
def count(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--kernels"))


# -- what is predicted --------------------------------------------------------------------------


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
        details = row.cost.details.data(1) if row.cost is not None else {}
        if "messages" in details:  # dealt out over the warps, of which all run one code
            active = warps >> repeated(row.operation)
            found[details["instruction"]] += math.ceil(details["messages"] / active)
        elif row.operation.group in ("local load", "local store", "copy within local") and details:
            found[details["instruction"]] += details["instructions"]
        for name, times in exchanged(details):
            found[name] += times
    return +found


def exchanged(details: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield what a conversion, or an operation that combines what threads hold, consists of."""
    yield "shfl", details.get("shuffles_per_warp", 0)
    yield "ds_bpermute_b32", details.get("bpermutes_per_warp", 0)
    yield "redux", details.get("lane_reductions_per_warp", 0)
    compiled = details.get("compiled", {})
    steps = [*details.get("stores", ()), *details.get("loads", ())]
    for step in (*steps, compiled.get("store"), compiled.get("load")):
        if step is not None:
            yield step["instruction"], step["instructions"]
    yield from exchanged(details["result"]) if "result" in details else ()


def repeated(operation: MovementOperation) -> int:
    """Return in how many bits warps that gather the same rows differ."""
    rows = next((each for each in operation.types if each.kind == "tensor"), None)
    if rows is None or not isinstance(rows.encoding, Encoding):
        return 0
    layout = rows.encoding.to_linear_layout(rows.shape)
    return layout.get_free_variable_masks()["warp"].bit_count()


# -- names that do not depend on types ---------------------------------------------------------


def plain_name(name: str) -> str:
    """Return an instruction without what its data is used for; several with a slash."""
    return "/".join(dict.fromkeys(map(_plain_name, name.split("/"))))


def _plain_name(name: str) -> str:
    stem = re.match(r"shfl|redux|atom|ds_add", name)
    if stem is not None:
        return stem[0]
    name = re.sub(r"\.[usf](\d+)$", r".b\1", name.replace("::cta", ""))
    [found] = plain({name: 1})
    return found.removesuffix(".b64")


def alike(*counts: Mapping[str, int]) -> list[Counter[str]]:
    """Return counts by plain names, where those that stand together are one."""
    plainly = [Counter[str]() for _ in counts]
    groups: list[set[str]] = []
    for found, own in zip(plainly, counts):
        for name, number in own.items():
            found[plain_name(name)] += number
    for name in {name for found in plainly for name in found if "/" in name}:
        group = set(name.split("/"))
        near = [other for other in groups if other & group]
        groups = [other for other in groups if other not in near] + [group.union(*near)]
    return [_joined(found, groups) for found in plainly]


def _joined(found: Mapping[str, int], groups: Iterable[set[str]]) -> Counter[str]:
    joined: Counter[str] = Counter()
    for name, number in found.items():
        group = next((g for g in groups if name.split("/")[0] in g), {name})
        joined["/".join(sorted(group))] += number
    return joined


# -- the comparison ------------------------------------------------------------------------------


def compare(lowerer: Lowerer, tally: Counter[str], texts: Mapping[str, str]) -> None:
    off = []
    for (name, text), answer in zip(
        texts.items(), lowerer.ask([{"kernel": text} for text in texts.values()])
    ):
        where = target_of(text)
        if "operations" not in answer:
            tally[f"{where}: the wheel gives no code"] += 1
            continue
        expected = predicted(text)
        if "hip:" in text:
            del expected["shfl"]  # instructions on registers, but for ds_bpermute
        mine, real = alike(expected, answer["operations"])
        if mine == real:
            tally[f"{where}: same instructions"] += 1
        else:
            tally[f"{where}: other instructions"] += 1
            off.append(f"{name}\n{mine - real} predicted, not there\n{real - mine} not predicted")
    assert len(off) <= max(FEW_OFF, MOST_OFF * len(texts)), "\n".join(off)
    assert sum(n for said, n in tally.items() if said.endswith("no code")) <= len(texts) // 10


def target_of(text: str) -> str:
    match = re.search(r'ttg.target = "([^"]*)"', text)
    assert match is not None
    return match.group(1)


@pytest.mark.parametrize("draw", [kernels, exchange_kernels, copy_kernels])
def test_instructions_of_random_kernels(
    lowerer: Lowerer, seed: int, tally: Counter[str], count: int, draw: Any
) -> None:
    compare(lowerer, tally, {text: text for text in islice(draw(seed), count)})


def test_instructions_of_the_examples(
    lowerer: Lowerer, seed: int, tally: Counter[str], count: int
) -> None:
    paths = sorted(EXAMPLES.glob("*/*.ttgir"))
    step = max(1, len(paths) // count)
    chosen = paths[seed % step :: step][:count]
    compare(lowerer, tally, {path.name: path.read_text(encoding="utf-8") for path in chosen})
