"""White space means nothing in MLIR: a dump is the same however its tokens are joined."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tiers import slow

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.ir import Module
from tt_layout.reports.audit_data import audit_data

ROOT = Path(__file__).parents[2]
DUMPS = sorted([*ROOT.glob("examples/**/*.mlir"), *ROOT.glob("examples/**/*.ttgir")])

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*\n?)
      | "(?:[^"\\\n]|\\.)*"
      | [!\#][\w.$-]+<?                    # the < of a dialect's type belongs to its name
      | [%@^][\w.$\#-]+
      | \d[\w.+]*(?:x\d[\w.]*)*            # a shape and its element type are one piece
      | [A-Za-z_][\w.$]*
      | -> | == | <= | >= | :: | -\d[\w.]* | \S""",
    re.VERBOSE,
)
SPACES = ("", " ", "\n", "\t", "\n\n  ", "  \n")
WORD = re.compile(r"[\w.$-]")


def tokens(text: str) -> Iterator[str]:
    """Yield the tokens of MLIR text; a comment has the end of its line."""
    return (match.group() for match in TOKEN.finditer(text))


def joined(text: str, chance: random.Random) -> str:
    """Return the text with other white space between its tokens, the tokens being the same."""
    pieces: list[str] = []
    for token in tokens(text):
        space = chance.choice(SPACES)
        before = pieces[-1] if pieces else ""
        if before.endswith("\n"):
            space = ""  # a header begins its line
        elif token.startswith("//"):
            space = "\n"
        elif before.endswith("<") and before[0] in "!#":
            space = ""
        elif not space and not is_apart(before, token):
            space = " "
        pieces += [space, token]
    return "".join(pieces)


def is_apart(before: str, token: str) -> bool:
    """Tell whether two tokens stay two where nothing is between them."""
    if before[-1:] and before[-1] in "-:=<>/" and token[0] in "->:=/<":
        return False
    return not (WORD.match(before[-1:]) and WORD.match(token[0])) and token[0] not in "<"


def meaning(module: Module) -> object:
    """Return the audit of a module, less the places where things stand."""
    span = replace(module.span, source=replace(module.source, name=""))
    audit = audit_module(replace(module, place=replace(module.place, span=span)))
    data = audit_data(audit)
    return without_places(data)


def without_places(data: object) -> object:
    if isinstance(data, dict):
        places = () if "file" in data else ("line", "column", "live_lines", "registers_line")
        kept = {key: value for key, value in data.items() if key not in places}
        if isinstance(kept.get("lines"), list):  # of sectors the same word is a number
            del kept["lines"]
        return {key: without_places(value) for key, value in kept.items()}
    if isinstance(data, str):
        return re.sub(r"\bline \d+", "line ..", data)
    return [without_places(item) for item in data] if isinstance(data, list) else data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "seeds"),
    [*((path, 1) for path in DUMPS[::30]), *(slow(path, 2) for path in DUMPS)],
    ids=lambda value: getattr(value, "name", value),
)
def test_white_space_means_nothing(path: Path, seeds: int) -> None:
    text = path.read_text(encoding="utf-8")
    expected = [meaning(module) for module in parse_ir(text)]
    for seed in range(seeds):
        other = joined(text, random.Random(seed))
        assert "".join(other.split()) == "".join(text.split())
        modules = parse_ir(other)
        assert [module.error for module in modules] == [None] * len(expected)
        assert [meaning(module) for module in modules] == expected


@pytest.mark.parametrize(
    "text",
    [
        "module {\n tt.func @f(%v: tensor<4xf32>) {\n  tt.return }}\n",
        "module {\n tt.func @f(%v: tensor<4xf32>) {\n  tt.return\n } }\n",
        "module { tt.func @f(%v: tensor<4xf32>) { tt.return } }",
        "tt.func @f(%v: tensor<4xf32>) { tt.return }\n\n// -----\nmodule {\n tt.func @g() {\n}}",
        "module attributes {a = {b = 1}} { tt.func @f() { tt.return } } loc(#loc)",
        '"builtin.module"() ({ "tt.func"() ({ "tt.return"() : () -> () }) : () -> () }) : () -> ()',
        "module { } { } }\n",
    ],
)
def test_regions_are_counted_by_token(text: str) -> None:
    assert [module.error for module in parse_ir(text)] == [None] * len(parse_ir(text))


@pytest.mark.parametrize(
    "text",
    [
        "module { tt.func @f() { tt.return }",
        "module {\n  tt.func @f() {\n  // }}\n",
        'module {\n  tt.func @f() {\n  a.b "}}"\n',
        "tt.func @f() {\n  scf.for %i = %a to %b step %c {\n  }\n",
    ],
)
def test_what_is_cut_off_is_so_by_token_too(text: str) -> None:
    [module] = parse_ir(text)
    assert module.error is not None
    assert "has no end: the text is truncated" in module.error.message


def test_modules_and_functions_may_stand_anywhere() -> None:
    text = "#a = loc(unknown) module { tt.func\n@f() { tt.return } } module @m { module { } }"
    modules = parse_ir(text)
    assert [[f.name for f in module.functions] for module in modules] == [["f"], []]
