"""Manifests: what is read, and every message about what is wrong, with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import BLOCKED, TYPE, Outcome, Run, runner

import tt_layout
from tt_layout.errors import LayoutError
from tt_layout.golden.case import Case
from tt_layout.golden.kinds import all_keys
from tt_layout.golden.manifest import MANIFEST_KEYS, expand, read_manifest
from tt_layout.golden.runner import Results
from tt_layout.golden.yaml_nodes import MAX_BYTES, MAX_DEPTH, MappingNode, ScalarNode, parse_nodes
from tt_layout.mlir.source import Source

CASE = f"- {{name: a, layout: '{BLOCKED}', type: '{TYPE}'}}"
SCHEMA = Path(tt_layout.__file__).parent / "schemas" / "manifest.schema.json"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def cases(folder: Path, text: str, **files: str) -> tuple[Case, ...]:
    for name, content in {"layouts.yaml": text, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return read_manifest(str(folder / "layouts.yaml")).cases


def one(rest: str) -> str:
    """Return a manifest of one case with these lines; the first is line 5."""
    return f"cases:\n- name: a\n  layout: '{BLOCKED}'\n  type: '{TYPE}'\n{rest}\n"


ERRORS = {
    "unknown key": (one("  tpye: x"), 5, 3, "a case has no key 'tpye'; did you mean 'type'?"),
    "behind wide characters": ("cases:\n- {note: '😀é', nam: a}", 2, 16, "no key 'nam'"),
    "unknown key of the manifest": ("case: []", 1, 1, "did you mean 'cases'?"),
    "unknown key of defaults": (
        f"defaults:\n  trition: 3.5\ncases:\n{CASE}", 2, 3, "did you mean 'triton'?",
    ),
    "key that defaults cannot have": (
        f"defaults: {{note: x}}\ncases:\n{CASE}", 1, 12, "defaults has no key 'note'",
    ),
    "key of no kind of the case": (
        one("  lane: 3"), 5, 9, "but the case has tensor",
    ),
    "key of other kinds than the case's": (
        one("  target: sm90\n  views: [info]"), 5, 11,
        "target is for views of conflicts or convert or budget, but the case has info",
    ),
    "no other layout": (
        one("  views: [tensor, conflicts]"), 2, 9,
        "a case with the view conflicts needs the key 'with', and defaults give none",
    ),
    "no layout to convert to": (
        one("  with: x\n  views: [conflicts, convert]"), 2, 9,
        "a case with the view convert needs the key 'to'",
    ),
    "other layout that is a comment": (
        one("  with: #ttg.linear<{}>\n  views: [conflicts]"), 5, 8,
        "with must be text, got nothing; # begins a comment here, so put it in quotes",
    ),
    "number for a text": (
        "cases:\n- {name: a, layout: 16}", 2, 21, "layout must be text, got the number 16",
    ),
    "list for a text": (one("  note: [1]"), 5, 9, "note must be text or a number, got a list"),
    "boolean for a name": (
        "cases:\n- name: no", 2, 9, "got the boolean no; put it in quotes",
    ),
    "text for a list": (one("  views: tensor"), 5, 10, "views must be a list, got the text tensor"),
    "unknown view": (
        one("  views: [x]"), 5, 11,
        "conflicts, convert, audit, budget, got 'x'",
    ),
    "view twice": (one("  views: [tensor, tensor]"), 5, 19, "the view 'tensor' is listed twice"),
    "no view": (one("  views: []"), 5, 10, "views must list at least one"),
    "key twice": (one("  type: x"), 5, 3, "the key 'type' is given twice; first on line 4"),
    "name twice": (f"cases:\n{CASE}\n{CASE}", 3, 10, "the name 'a' is used twice; first at"),
    "names that differ by case": (
        f"cases:\n{CASE}\n{CASE.replace('name: a', 'name: A')}", 3, 10, "'A' is used twice",
    ),
    "unsafe name": ("cases:\n- {name: ../a, layout: x, type: y}", 2, 10, "a name is a file's"),
    "no name": ("cases:\n- layout: x", 2, 3, "the case has no name"),
    "case that is not a mapping": ("cases:\n- a", 2, 3, "a case is a mapping of keys and values"),
    "no layout": ("cases:\n- name: a", 2, 9, "the case has no layout"),
    "no type": (f"cases:\n- name: a\n  layout: '{BLOCKED}'", 2, 9, "the case has no type"),
    "alias without file": ("cases:\n- name: a\n  alias: x", 3, 10, "the case has no file with it"),
    "file without alias": ("cases:\n- name: a\n  file: x", 2, 9, "has a file but no alias"),
    "file and layout": (one("  file: x.mlir"), 5, 9, "either layout or file and alias"),
    "missing file": (
        "cases:\n- {name: a, alias: x, file: no.mlir}", 2, 29, "there is no file 'no.mlir'",
    ),
    "file outside": (
        "cases:\n- {name: a, alias: x, file: ../x.mlir}", 2, 29, "inside the manifest's folder",
    ),
    "file by absolute path": (
        "cases:\n- {name: a, alias: x, file: /etc/passwd}", 2, 29, "inside the manifest's folder",
    ),
    "file by a link": (
        "cases:\n- {name: a, alias: x, file: link.mlir}", 2, 29, "inside the manifest's folder",
    ),
    "line of a file outside": (
        "cases:\n- {name: a, file: ../x.mlir, line: 3, views: [conflicts]}",
        2, 19, "inside the manifest's folder",
    ),
    "include outside": ("include: [../x.yaml]", 1, 11, "inside the manifest's folder"),
    "missing include": ("include: [x.yaml]", 1, 11, "there is no file 'x.yaml'"),
    "too long a pattern": (
        f"include: ['{'*/' * 2049}']", 1, 11,
        "a file's name has no character 0x00, and at most 4096 characters",
    ),
    "too long a file": (
        f"cases:\n- {{name: a, alias: x, file: {'d/' * 2049}}}", 2, 29, "at most 4096 characters",
    ),
    "include of itself": (
        f"include: [layouts.yaml]\ncases:\n{CASE}", 1, 11, "layouts.yaml is included already",
    ),
    "include of a number": ("include: [1]", 1, 11, "include lists files, got the number 1"),
    "no cases": ("version: 1", 1, 1, "the manifest has no cases"),
    "empty list of cases": ("version: 1\ncases: []", 2, 8, "the manifest has no cases"),
    "nothing for cases": ("cases:\n", 1, 7, "the manifest has no cases"),
    "version": (f"version: 2\ncases:\n{CASE}", 1, 10, "the version of a manifest is 1, got 2"),
    "no mapping": ("- a", 1, 1, "a manifest is a mapping of keys and values, got a list"),
    "no YAML": ("cases: [a", 1, 9, "not YAML: while parsing a flow sequence"),
    "tab": ("cases:\n\t- a", 2, 1, "not YAML: while scanning for the next token"),
    "control character": ("cases: \x07", 1, 8, "not YAML: control characters are not allowed"),
    "anchor": (one("  note: &x y"), 5, 9, "anchors are refused in a manifest, got &x"),
    "alias of YAML": (one("  note: *x"), 5, 9, "aliases are refused in a manifest"),
    "merge key": (one("  <<: {}"), 5, 3, "merge keys are refused in a manifest"),
    "tag": (one("  note: !!str x"), 5, 9, "tags are refused in a manifest, got !!str"),
    "object": (one("  note: !!python/object:os.x {}"), 5, 9, "got !!python/object:os.x"),
    "key that is a list": ("? [a]\n: b", 1, 3, "a key must be text, got a list"),
    "two documents": (f"cases:\n{CASE}\n---\na: b", 4, 1, "this begins a second one"),
    "depth": ("cases: " + "[" * 100, 1, 7 + MAX_DEPTH, "may be nested 16 levels deep"),
    "bomb": (
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", 1, 4, "anchors are refused in a manifest",
    ),
    "empty matrix": (one("  matrix: {}"), 5, 11, "a matrix needs at least one key"),
    "matrix of a text": (one("  matrix: {s: x}"), 5, 15, "s must be a list of values"),
    "matrix of lists": (one("  matrix: {s: [[x]]}"), 5, 16, "text or a number, got a list"),
    "matrix key": (one("  matrix: {a b: [x]}"), 5, 12, "a matrix key is letters, digits and _"),
    "unused matrix key": (one("  matrix: {s: [x]}"), 5, 16, "'s' is used nowhere; write {s}"),
    "matrix too large": (
        one("  note: '{a}{b}'\n  matrix: {a: [" + "1," * 999 + "1], b: [" + "1," * 999 + "1]}"),
        6,
        11,
        "100000 combinations, this has 1000000",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_a_manifest_say_where(name: str, tmp_path: Path, run: Run) -> None:
    text, line, column, message = ERRORS[name]
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "x.mlir").write_text(f"#x = {BLOCKED}")
    (folder / "link.mlir").symlink_to(tmp_path / "x.mlir")
    path = folder / "layouts.yaml"
    path.write_text(text, encoding="utf-8")
    outcome = run("check", str(path))
    assert outcome.status == 2
    assert outcome.out == ""
    heading, *quote = outcome.err.splitlines()
    assert message in heading
    assert heading.startswith(f"{path}:{line}:{column}: error: ")
    assert len(quote) == 2
    assert set(quote[1].strip()) == {"^"}


def test_errors_without_a_line(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "layouts.yaml"
    missing = Outcome(2, "", f"{path}: error: cannot read: No such file or directory\n")
    assert run("check", str(path)) == missing
    way_out = "there is no manifest in this folder; tt-layout init writes one"
    monkeypatch.chdir(tmp_path)
    assert run("check") == Outcome(2, "", f"layouts.yaml: error: {way_out}\n")
    path.write_text("")
    assert run("check", str(path)) == Outcome(2, "", f"{path}: error: the file is empty\n")
    path.write_text("# nothing\n")
    assert run("check", str(path)) == Outcome(2, "", f"{path}: error: the manifest is empty\n")
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    assert "longer than 16 MiB, the most that is read" in run("check", str(path)).err


def test_includes_in_a_circle_end(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match=r"layouts.yaml is included already"):
        cases(tmp_path, "include: [b.yaml]", **{"b.yaml": "include: [layouts.yaml]"})


def test_included_cases_come_first_and_have_their_own_folder_and_defaults(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    text = f"defaults: {{triton: 3.9}}\ninclude: [sub/more.yaml]\ncases:\n{CASE}"
    more = CASE.replace("name: a", "name: b")
    found = cases(tmp_path, text, **{"sub/more.yaml": f"cases:\n{more}"})
    assert [(case.name, case.folder.name, case.text("triton")) for case in found] == [
        ("b", "sub", None),
        ("a", tmp_path.name, "3.9"),
    ]


def test_defaults_fill_in_and_a_layout_replaces_their_file(tmp_path: Path) -> None:
    text = f"""\
defaults: {{type: '{TYPE}', file: x.mlir, views: [hardware], slice: '0:2', triton: 3.10}}
cases:
- {{name: a, alias: x}}
- {{name: b, layout: '{BLOCKED}', views: [tensor]}}
"""
    first, second = cases(tmp_path, text, **{"x.mlir": f"#x = {BLOCKED}"})
    assert (first.kinds, first.text("file"), first.text("triton")) == (
        ("hardware",), "x.mlir", "3.10",
    )  # fmt: skip
    assert (second.kinds, second.text("file")) == (("tensor",), None)


def test_texts_are_taken_as_written(tmp_path: Path) -> None:
    """YAML 1.1 reads 1:16 as the number 76, in base 60, and 3.10 as 3.1."""
    (case,) = cases(tmp_path, one("  slice: 1:16\n  triton: 3.10"))
    assert (case.text("slice"), case.text("triton")) == ("1:16", "3.10")


def test_a_matrix_is_a_product_and_names_get_what_they_lack(tmp_path: Path) -> None:
    text = f"""\
cases:
- name: x-{{e}}
  layout: '{BLOCKED.replace("[2, 1]", "[{w}, 1]")}'
  type: tensor<{{s}}x{{e}}>
  matrix: {{s: [4x4, 8x8], e: [f16, f32], w: [2]}}
"""
    found = cases(tmp_path, text)
    assert [case.name for case in found] == [
        "x-f16-4x4-2",
        "x-f32-4x4-2",
        "x-f16-8x8-2",
        "x-f32-8x8-2",
    ]
    assert found[1].text("type") == "tensor<4x4xf32>"
    assert {case.text("layout") for case in found} == {BLOCKED}


def test_substitution_is_done_once_and_leaves_other_braces() -> None:
    text = "{name: '{a}', note: '{a} {b} {c} <{x}>', m: {a: ['{b}'], b: ['{a}']}}"
    node = parse_nodes(Source(text))
    assert isinstance(node, MappingNode)
    values = {key.text: value for key, value in node.entries}
    (only,) = expand(values, values.pop("m"))
    note = only["note"]
    assert isinstance(note, ScalarNode)
    assert note.text == "{b} {a} {c} <{x}>"


def test_nothing_compared_is_no_success() -> None:
    assert Results(("layouts.yaml",), ()).status == 2


def test_schema_and_reader_know_the_same_keys() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    words = {"string": "text", "number": "number", "array": "list", "object": "mapping"}
    assert set(schema["properties"]) == {key.name for key in MANIFEST_KEYS}
    case = schema["$defs"]["case"]["properties"]
    assert case == {name: {"$ref": f"#/$defs/keys/{name}"} for name in all_keys()}
    defaults = schema["properties"]["defaults"]["properties"]
    assert set(defaults) == {name for name, key in all_keys().items() if key.is_default}
    for name, key in all_keys().items():
        stated = schema["$defs"]["keys"][name]
        types = stated["type"] if isinstance(stated["type"], list) else [stated["type"]]
        assert tuple(words[one] for one in types) == key.accepts
        assert stated["description"] == key.summary


def test_schema_is_closed_and_lists_every_kind() -> None:
    from tt_layout.golden.kinds import KINDS

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = [schema, schema["properties"]["defaults"], schema["$defs"]["case"]]
    assert [part["additionalProperties"] for part in parts] == [False] * 3
    assert schema["$defs"]["keys"]["views"]["items"]["enum"] == list(KINDS)
