"""The package against the answers of fifteen wheels, from 2.0.0 to 3.9.0."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import pytest

import tt_layout
from compiler.agreement import IGNORED_KEY, Bases, Comparison, Ours, ours
from compiler.corpus import Row, rows_of
from tt_layout.encodings import Encoding, read_encoding
from tt_layout.errors import UnknownKeyError
from tt_layout.mlir.source import Source
from tt_layout.mlir.syntax import Aliases, Node, Parser
from tt_layout.releases import Release

LISTS = "sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]"
LATEST = "3.9"

UNCHECKABLE = {
    "Result has an invalid layout": "refused for the module's number of warps or threads",
    "operand type is not compatible": "refused for the operation around it",
}
"""How a diagnostic begins that the attribute and its type do not give rise to."""

BASES_OF_FIELD = {
    "reg_bases": "register",
    "lane_bases": "lane",
    "warp_bases": "warp",
    "block_bases": "block",
    "offset_bases": "offset",
    "rows": "row",
    "cols": "col",
}


def tree(text: str) -> Node:
    return Parser(Source(text)).parse_value()


def parse_with_aliases(text: str, release: str | None) -> Encoding:
    """Parse an attribute of the examples: some name the aliases #b and #d."""
    dialect = text[1:].split(".")[0]
    aliases = Aliases({"b": tree(f"#{dialect}.blocked<{{{LISTS}}}>"), "d": tree(f"{{{LISTS}}}")})
    parser = Parser(Source(text))
    node = aliases.expand(parser.parse_value())
    parser.expect_end("attribute")
    assert release is not None
    return read_encoding(node, Release.parse(release))


def releases_of(row: Row) -> Iterator[str]:
    """Yield ``3.5`` for ``3.5.1`` and so on."""
    yield from dict.fromkeys(".".join(wheel.split(".")[:2]) for wheel in row["wheels"])


def flag_of(row: Row) -> str | None:
    """Return why a row says nothing about what the release's rules are."""
    if "attr" not in row:
        return "a type without a layout attribute"
    if row["mnemonic"] == "nvmma_shared" and "swizzlingByteWidth" not in row["attr"]:
        return "the wheel prints an uninitialised value"
    return next((flag for flag in ("crash", "nondeterministic") if row.get(flag)), None)


def test_examples_of_every_era(tally: Counter[str]) -> None:
    rows = rows_of("era-examples.jsonl")
    accepted = {row["attr"] for row in rows if "printed" in row and "attr" in row}
    comparison = Comparison(tally)
    for row in rows:
        for release in releases_of(row):
            check_example(comparison, row, release, row.get("attr") in accepted)
    comparison.check()


def check_example(comparison: Comparison, row: Row, release: str, some_accept: bool) -> None:
    flag = flag_of(row)
    mine = Ours() if "attr" not in row else ours(row, release, parse_with_aliases)
    case = {**row, "release": release}
    if mine.crash is not None:
        comparison.disagree("we crash", case, mine.crash)
    elif flag is not None:
        comparison.agree(f"apart: {flag}")
    elif "printed" in row:
        check_printed(comparison, case, mine)
    elif release == LATEST or not some_accept:
        check_refused(comparison, case, mine)
    else:
        how = "reads, too" if mine.error is None else "refuses, too"
        comparison.agree(f"refused by this wheel, read by another: we under its release {how}")


def check_printed(comparison: Comparison, case: Row, mine: Ours) -> None:
    if mine.text == case["printed"]:
        comparison.agree("printed the same")
    elif mine.text is None and isinstance(mine.error, UnknownKeyError):
        comparison.agree(f"we refuse on purpose: {IGNORED_KEY}")
    elif mine.text is None:
        comparison.disagree("we refuse what the wheel takes", case, mine.error)
    else:
        comparison.disagree("text", case, mine.text)


def check_refused(comparison: Comparison, case: Row, mine: Ours) -> None:
    reason = next((r for start, r in UNCHECKABLE.items() if case["error"].startswith(start)), None)
    if mine.error is not None:
        comparison.agree("both refuse")
    elif reason is not None:
        comparison.agree(f"apart: {reason}")
    else:
        comparison.disagree("we answer what no wheel, or not 3.9.0, takes", case)


def test_layouts_of_every_era(tally: Counter[str]) -> None:
    comparison = Comparison(tally)
    for row in rows_of("era-layouts.jsonl"):
        for release in releases_of(row):
            check_layout(comparison, row, release)
    comparison.check()


def check_layout(comparison: Comparison, row: Row, release: str) -> None:
    case = {**row, "release": release}
    try:
        encoding = tt_layout.parse_layout(row["attr"], release=release)
        layout = encoding.to_linear_layout(row["shape"], element_bits=16)
    except tt_layout.LayoutError as error:
        if "error" in row:
            comparison.agree("neither has a layout")
        else:
            comparison.disagree("we have no layout", case, error)
        return
    if "error" in row:
        comparison.agree("apart: the wheel has no layout, we do")
        return
    wanted = stored_bases(row)
    found = {name: own for name, own in dict(layout.bases).items() if name in wanted}
    if row["source"] == "lowering" and release == LATEST:
        found["register"] = [vector for vector in found["register"] if any(vector)]
    if found == wanted:
        comparison.agree("same bases")
    else:
        comparison.disagree("bases", case, found)


def stored_bases(row: Row) -> Bases:
    """Return the bases of a row: lists, or a Gluon layout written as a call."""
    if "ll" not in row:
        return {name: row[name] for name in ("register", "lane", "warp")}
    call = ast.parse(row["ll"], mode="eval").body
    assert isinstance(call, ast.Call)
    fields = {keyword.arg or "": keyword.value for keyword in call.keywords}
    return {
        name: ast.literal_eval(fields[field])
        for field, name in BASES_OF_FIELD.items()
        if field in fields
    }


@pytest.mark.parametrize("name", ["era-examples.jsonl", "era-layouts.jsonl"])
def test_wheels_name_known_releases(name: str) -> None:
    for row in rows_of(name):
        for release in releases_of(row):
            assert str(Release.parse(release)) == release
