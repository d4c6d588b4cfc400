"""The page adds in the order that the library says."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from page_scripts import scripts
from test_reduction_order import laid
from tiers import slow

from tt_layout import LayoutError, LinearLayout
from tt_layout.analyses.conversion.reduction_order import reduction_tree
from tt_layout.hardware import TARGETS
from tt_layout.releases import Release
from tt_layout.reports.reduce import brought_by, sum_text

ELEMENTS = ("f16", "bf16", "f32", "f64", "i16", "i32")
RELEASES = (Release.V3_6, Release.V3_7, Release.V3_8, Release.V3_9)


def repeating(r: Random, layout: LinearLayout) -> LinearLayout:
    """Return a layout some of whose bits repeat elements, or move between CTAs."""
    bases = {name: [list(vector) for vector in own] for name, own in layout.in_bases}
    name = r.choice(["warp", "lane", "block"])
    if name == "block":
        bases["block"] = [bases["register"].pop()]
    else:
        bases[name][r.randrange(len(bases[name]))] = [0, 0]
    return LinearLayout.from_bases(bases, ["dim0", "dim1"], require_surjective=False)


def expected(layout: LinearLayout, axis: int, element: str, target: str, release: Release) -> Any:
    try:
        tree = reduction_tree(layout, axis, element, TARGETS[target], release)
    except LayoutError as error:
        return {"error": error.message}
    steps = [
        {
            "place": step.place,
            "offsets": list(step.offsets),
            "instruction": step.instruction,
            "isPacked": step.is_packed,
        }
        for step in tree.steps
    ]
    words = [[brought_by(s), sum_text(s, number)] for number, s in enumerate(tree.steps, 1)]
    return {"steps": steps, "words": words}


@pytest.mark.parametrize("count", [15, slow(2000)])
def test_orders_are_those_of_the_library(seed: int, tally: Counter[str], count: int) -> None:
    r, asked, answers = Random(seed), [], []
    for _ in range(count):
        target = r.choice(sorted(name for name, row in TARGETS.items() if not row.is_intel))
        layout = laid(r, 6 if TARGETS[target].lanes == 64 else 5)
        layout = repeating(r, layout) if r.random() < 0.4 else layout
        axis, element, release = r.randint(0, 1), r.choice(ELEMENTS), r.choice(RELEASES)
        sizes = "x".join(str(size) for _, size in layout.out_sizes)
        spec = {
            "ins": layout.in_bases,
            "outs": layout.out_sizes,
            "type": f"tensor<{sizes}x{element}>",
            "release": str(release),
        }
        name = TARGETS[target].name
        asked.append({"what": "reduction", "layout": spec, "points": axis, "target": name})
        answers.append(expected(layout, axis, element, target, release))
    for question, own, found in zip(asked, answers, scripts().ask_all(asked)):
        assert found == own, question
        tally["refused" if "error" in own else "added"] += 1
    assert tally["added"] > count // 2
