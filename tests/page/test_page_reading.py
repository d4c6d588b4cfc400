"""A dump read in the page has the layouts and data movements that the library finds in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from page_scripts import scripts
from tiers import slow

from tt_layout import page
from tt_layout.analyses.layouts.builders import default_blocked
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source, read_source
from tt_layout.page.dump import page_of_dump

EXAMPLES = Path(__file__).parents[2] / "examples"
DUMPS = sorted([*EXAMPLES.glob("kernels/*.ttgir"), *EXAMPLES.glob("workloads/*.ttgir")])
READ = ("conversion", "local load", "local store", "allocation")
REACHES = {"within threads": "nothing", "between warps": "shared memory"}


def embedded(source: Source) -> dict[str, Any]:
    """Return what the library puts into the page of a dump."""
    match = re.search(r'id="data">(.*?)</script>', page_of_dump(source, []).html, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


def seen(layouts: list[dict[str, Any]]) -> set[tuple[str, ...]]:
    keys = ("name", "attribute", "type", "memory", "ins", "padding", "bits", "line", "uses")
    return {tuple(str(one[key]) for key in keys) for one in layouts}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path if path.stem == "matmul-gfx942" else slow(path) for path in DUMPS],
    ids=lambda path: path.stem,
)
def test_layouts_and_movements_are_those_of_the_library(path: Path) -> None:
    source = read_source(str(path))
    data = embedded(source)
    read = scripts().ask(what="dump", attribute=source.text)
    assert seen(read["layouts"]) == seen(data["layouts"])
    [module], [own] = data["dump"]["modules"], read["dump"]["modules"]
    assert read["targets"] == [path.stem.split("-")[1]]
    found = {one["line"]: one for one in own["movements"]}
    compared = 0
    for expected in module["movements"]:
        if expected["group"] not in READ or "memory" in (expected["from"], expected["to"]):
            continue
        line = expected["line"]
        for key in (
            "name",
            "group",
            "function",
            "from",
            "to",
            "location",
            "inLoop",
            "type",
            "bytes",
        ):
            assert found[line][key] == expected[key], (line, key)
        cost, said = expected["cost"], found[line]["cost"]
        if expected["group"] == "conversion":
            assert cost.startswith(REACHES.get(said, "")), (line, cost, said)
            compared += 1
        elif cost is not None and said is not None:
            assert said == cost, line
            compared += 1
    assert compared or not any(one["group"] in READ[:2] for one in module["movements"])
    lines = {
        line for one in module["findings"] for line in one["lines"] if "conflict" in one["kind"]
    }
    assert {line for one in own["findings"] for line in one["lines"]} == lines


def test_one_of_a_kind_is_told_in_the_singular() -> None:
    """A layout of one dimension once had to have "1 entries"."""
    one = (
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32], warpsPerCTA = [4], "
        "order = [0]}>"
    )
    answer = scripts().ask(what="read", attribute=one, type="tensor<64xf16>", release="3.9")
    assert "1 entry as order has" in answer["error"]
    with pytest.raises(LayoutError, match="must have 1 number for this shape"):
        default_blocked([64], size_per_thread=[1, 4])
    assert scripts().ask(what="counted", points=[1, 2.5, 0]) == [
        "1 wavefront",
        "2.5 wavefronts",
        "0 wavefronts",
    ]
    own = "\n".join(page.template_text(name) for name in page.SCRIPTS)
    assert not re.findall(r'"" : "s"|"s" : ""', own)  # `plural` alone knows how
