"""Suggestions carried out by `tt-layout apply`: the wheel lowers them all, to what was promised.

With ``--dumps FOLDER`` every suggestion for every ``.ttgir`` file of a folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from compiler.exchange_kernels import exchange_kernels
from compiler.instruction_kernels import kernels
from compiler.test_analyses import Lowerer
from compiler.test_instruction_counts import alike, predicted
from compiler.wheel import Wheel
from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.finding_groups import similar_findings
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.mlir.source import Source
from tt_layout.rewriting.apply import cure

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_OFF = 0.03
"""Share of kernels whose counts may differ otherwise, as in `test_instruction_counts`."""

Pair = tuple[str, str, str]
"""A name, the dump, and the dump with a suggestion carried out."""


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def applied(name: str, text: str) -> Iterator[Pair]:
    """Yield a dump with the suggestions for each of its findings carried out; none may fail."""
    [module] = parse_ir(text)
    audit = audit_module(module)
    adviser = Adviser(audit)
    for number, group in enumerate(similar_findings(audit.findings), 1):
        if any(adviser.suggestions(finding) for finding in group):
            yield f"{name}, finding {number}", text, cure(Source(text, name), [number]).text


def singly(found: Counter[str]) -> Counter[str]:
    """Return counts where an instruction of two accesses counts as both: LLVM joins neighbours."""
    single: Counter[str] = Counter()
    for name, number in found.items():
        match = re.fullmatch(r"(ds_[a-z]+)(?:2|2st64|_2addr|_2addr_stride64)(_b\d+)", name)
        single[match[1] + match[2] if match else name] += 2 * number if match else number
    return single


def check(lowerer: Lowerer, tally: Counter[str], pairs: list[Pair]) -> None:
    """Check that the wheel's instructions change as the audit's do."""
    texts = [text for _, *both in pairs for text in both]
    answers = iter(lowerer.ask([{"kernel": text} for text in texts]))
    off = []
    for name, before, after in pairs:
        was, now = next(answers), next(answers)
        assert "operations" in now or "operations" not in was, f"{name} is not lowered"
        if "operations" not in was:
            tally["not lowered before"] += 1
            continue
        counts = [predicted(before), predicted(after), was["operations"], now["operations"]]
        for own in counts[:2] if "hip:" in before else ():
            del own["shfl"]  # instructions on registers, but for ds_bpermute
        old, new, real_old, real_new = map(singly, alike(*counts))
        old.subtract(new)
        real_old.subtract(real_new)
        is_same = {k: n for k, n in old.items() if n} == {k: n for k, n in real_old.items() if n}
        tally["changes as promised" if is_same else "changes otherwise"] += 1
        if not is_same:
            off.append(f"{name}: promised {old}, but {real_old}")
    assert len(off) <= MOST_OFF * len(pairs), "\n".join(off)


def test_suggestions_for_the_examples(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    paths = sorted(EXAMPLES.glob("*/*.ttgir"))
    found = [pair for path in paths for pair in applied(path.name, path.read_text("utf-8"))]
    check(lowerer, tally, found[seed % 4 :: 4])


@pytest.mark.parametrize("draw", [kernels, exchange_kernels])
def test_suggestions_for_random_kernels(
    lowerer: Lowerer, seed: int, tally: Counter[str], draw: object, request: pytest.FixtureRequest
) -> None:
    assert callable(draw)
    count = int(request.config.getoption("--kernels")) // 2
    found = (pair for text in islice(draw(seed), 3 * count) for pair in applied("random", text))
    check(lowerer, tally, list(islice(found, count)))


def test_suggestions_for_a_folder(
    lowerer: Lowerer, tally: Counter[str], request: pytest.FixtureRequest
) -> None:
    folder = request.config.getoption("--dumps")
    if folder is None:
        return
    for path in sorted(Path(folder).glob("*.ttgir")):
        check(lowerer, tally, list(applied(path.name, path.read_text("utf-8"))))
