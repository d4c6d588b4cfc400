"""CTA split parameters of another rank than the layout: what the wheels of 2.3 to 3.5 say."""

from __future__ import annotations

import pytest

import tt_layout
from tt_layout import LayoutError

RELEASES = ("2.3", "3.0", "3.2", "3.3", "3.4", "3.5")
LISTS = {
    "one": "CTAsPerCGA = [1], CTASplitNum = [1], CTAOrder = [0]",
    "none": "CTAsPerCGA = [], CTASplitNum = [], CTAOrder = []",
    "two of one": "CTAsPerCGA = [2], CTASplitNum = [2], CTAOrder = [0]",
    "three": "CTAsPerCGA = [1, 1, 1], CTASplitNum = [1, 1, 1], CTAOrder = [2, 1, 0]",
}
BLOCKED = (
    "blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0], {}}}>"
)
SHARED = "{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], {}"
MMA = "mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], {}, instrShape = [16, 8]}}>"


def attribute(kind: str, release: str, lists: str) -> str:
    is_old, is_oldest = release < "3.3", release < "3.0"
    dialect = "#triton_gpu." if is_old else "#ttg."
    text = {
        "blocked": BLOCKED,
        "shared": ("shared<" if is_old else "swizzled_shared<") + SHARED
        + (", hasLeadingOffset = false}}>" if is_old else "}}>"),
        "rotating": f"amd_rotating_shared<{SHARED}}}}}>",
        "padded": "padded_shared<[64:+4] {{order = [1, 0], {}}}>",
        "mma": MMA if is_oldest else "nvidia_" + MMA,
    }[kind]  # fmt: skip
    return dialect + text.format(lists)


REFUSED = {
    ("blocked", "one"): RELEASES,
    ("blocked", "none"): ("3.4", "3.5"),
    ("blocked", "two of one"): RELEASES,
    ("blocked", "three"): RELEASES,
    **{("shared", lists): ("3.4", "3.5") for lists in LISTS},
    **{("padded", lists): ("3.5",) for lists in LISTS},
}
"""Attribute and lists -> the wheels that refuse them; all others take them."""

SINCE = {"rotating": "3.4", "padded": "3.5"}
CASES = [
    (kind, lists, release)
    for kind in ("blocked", "shared", "rotating", "padded", "mma")
    for lists in LISTS
    for release in RELEASES
    if release >= SINCE.get(kind, "2.3")
]


@pytest.mark.parametrize(("kind", "lists", "release"), CASES)
def test_a_release_takes_or_refuses_them(kind: str, lists: str, release: str) -> None:
    text = attribute(kind, release, LISTS[lists])
    if release not in REFUSED.get((kind, lists), ()):
        tt_layout.parse_layout(text, release=release)
        return
    with pytest.raises(LayoutError) as caught:
        tt_layout.parse_layout(text, release=release)
    assert "CTAsPerCGA, CTASplitNum, CTAOrder must have 2 entries each" in str(caught.value)
    line, carets = str(caught.value).splitlines()[1:]
    assert line[carets.index("^") :].startswith("[")


@pytest.mark.parametrize("release", ["3.0", "3.3", "3.4", "3.5"])
def test_mma_prints_those_of_one_cta_until_3_3(release: str) -> None:
    printed = str(tt_layout.parse_layout(attribute("mma", release, LISTS["one"]), release=release))
    assert ("CTAsPerCGA" in printed) == (release <= "3.3")


def test_lists_of_another_rank_leave_no_layout() -> None:
    mma = tt_layout.parse_layout(attribute("mma", "3.4", LISTS["two of one"]), release="3.4")
    with pytest.raises(LayoutError, match="every entry of CGALayout must have 2 numbers"):
        mma.to_linear_layout([64, 64])
