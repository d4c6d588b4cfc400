"""A new release that renames a key: the enumeration, the one encoding, and its golden."""

from __future__ import annotations

import json
import re

import pytest

import tt_layout
from drills.conftest import Clone
from tt_layout.encodings import FORMS

pytestmark = pytest.mark.slow

NAME = "#ttg.blocked"
OLD_KEYS = "sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]"
NEW_KEYS = OLD_KEYS.replace("warpsPerCTA", "warpsPerBlock")
OLD, NEW = f"{NAME}<{{{OLD_KEYS}}}>", f"{NAME}<{{{NEW_KEYS}}}>"
TYPE = ("-t", "tensor<8x16xf16>")

MEMBER = "    V3_10 = 15\n"
FORM = """\
        Form(
            "ttg.blocked",
            Release.V3_10,
            (
                *_KEYS[:2],
                Key("warpsPerBlock", INTEGERS, field="warps_per_cta"),
                *_KEYS[3:],
                CGA_LAYOUT,
            ),
        ),
"""
CASE = f"""\
  - name: blocked-era-310
    layout: "{NEW}"
    type: tensor<8x16xf16>
    views: [tensor]
    note: >-
      A drill: the spelling of 3.10.

"""


@pytest.fixture
def newer(clone: Clone) -> Clone:
    """Return the copy with the release."""
    clone.insert("tt_layout/releases.py", "\n    @classmethod\n    def parse", MEMBER)
    end_of_forms = '    )\n\n    @property\n    def rank(self) -> int:\n        """The length of'
    clone.insert("tt_layout/encodings/blocked.py", end_of_forms, FORM)
    clone.insert("tests/goldens/layouts.yaml", "  - name: blocked-era-30\n", CASE)
    assert len(clone.touched) == 3
    return clone


def body(text: str) -> str:
    """Return what stands below the heading."""
    return text.partition("\n")[2]


def test_both_spellings_are_read(newer: Clone) -> None:
    old, new = (newer.prints("-l", text, *TYPE) for text in (OLD, NEW))
    assert new == f"Print layout attribute: {NEW}\n{body(old)}"
    for release, text in (("3.10", NEW), ("3.10.2", NEW), ("3.9", OLD), ("3.6", OLD)):
        assert body(newer.prints("-l", text, *TYPE, "--triton", release)) == body(old)
    assert newer.prints("diff", OLD, NEW, *TYPE).endswith("\nsame map, written differently\n")
    assert newer.prints("translate", OLD, "--to", "3.10", *TYPE) == f"{NEW}\n"
    assert newer.prints("translate", NEW, "--to", "3.9", *TYPE) == f"{OLD}\n"
    told = newer.prints("--help")
    assert re.search(r"2022,\s+2\.0\s+to\s+3\.10\.", told)


def test_faults_are_pointed_at_in_the_words_of_the_release(newer: Clone) -> None:
    wrong = NEW.replace("warpsPerBlock = [2, 1]", "warpsPerBlock = [3, 1]")
    message, quoted, caret = newer.refuses("-l", wrong, *TYPE).splitlines()
    assert "every entry of warpsPerBlock must be a power of two, got [3, 1]" in message
    assert (quoted, caret.index("^")) == (wrong, wrong.index("[3, 1]"))
    assert caret.count("^") == len("[3, 1]")
    for text, release in ((OLD, "3.10"), (NEW, "3.9")):
        message, quoted, caret = newer.refuses("-l", text, *TYPE, "--triton", release).splitlines()
        assert release in message
        assert text[caret.index("^") :].startswith("warpsPer")


def test_all_other_attributes_stay_as_they_are(newer: Clone) -> None:
    """Their newest spelling holds on, and means the same."""
    page = (newer.root / "docs" / "attributes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `\w+`.*?\| `(#ttg\.\w+<.*>|#ttng\.\w+<.*>)` \|", page, re.M)
    read = 0
    for text in rows:
        encoding = tt_layout.parse_layout(text)
        newest = FORMS[encoding.name][-1][0]
        if encoding.release is not max(tt_layout.Release) or newest is not encoding.form:
            continue
        if "#ttg.blocked" in text:
            continue
        told = newer.run("translate", text, "--to", "3.10")
        assert (told.status, told.out) == (0, f"{text}\n") or "give the type" in told.err, told
        read += 1
    assert read > 10


def test_the_page_is_told(newer: Clone) -> None:
    newer.prints("plot", NEW, *TYPE, "-o", "page.html")
    text = (newer.root / "page.html").read_text(encoding="utf-8")
    [found] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    data = json.loads(found)
    assert data["releases"][-2:] == ["3.9", "3.10"]
    assert data["layouts"][0]["release"] == "3.10"
    assert ["warpsPerBlock", "integers", "warpsPerCTA"] in data["keys"]


def test_its_golden_is_made_and_checked(newer: Clone) -> None:
    case = ("check", "tests/goldens/layouts.yaml", "--only", "blocked-era-310")
    assert newer.run(*case).status == 1
    newer.prints(*case, "--update")
    golden = newer.root / "tests/goldens/blocked-era-310.tensor.txt"
    assert golden.read_text() == newer.prints("-l", NEW, *TYPE)
    assert newer.prints(*case) == "1 passed\n"


def test_its_tests_pass(newer: Clone) -> None:
    newer.prints("check", "tests/goldens/layouts.yaml", "--update")
    newer.passes("tests/golden/test_check.py", "-k", "our_own_goldens")
    newer.passes(
        "tests/cli/test_bad_input.py",
        "tests/mlir/test_types.py",
        "tests/page/test_page.py",
        "tt_layout/encodings/blocked.py",
        "tt_layout/releases.py",
    )
