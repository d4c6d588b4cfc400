"""The features of kernels: documented, versioned, and those of all examples as goldens.

Run this file as a script to write the table of the docs, the schema and the goldens.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import sampled

import tt_layout
from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir
from tt_layout.kernels.metadata import metadata_beside
from tt_layout.reports.feature_fields import FEATURES_VERSION, fields
from tt_layout.reports.feature_types import Features
from tt_layout.reports.features import features_of, schema

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "features.md"
SCHEMA = Path(tt_layout.__file__).parent / "schemas" / "features.schema.json"
GOLDENS = Path(__file__).parents[1] / "goldens" / "features"
TYPES = ROOT / "tt_layout" / "reports" / "feature_types.py"
DEFINITIONS = GOLDENS / "definitions.json"
VALUES = GOLDENS / "examples.jsonl"
TABLE = re.compile(r"(<!-- features: .*? -->\n).*?(<!-- end of features -->)", re.DOTALL)
EXAMPLES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "examples").rglob("*")
    if path.suffix in (".ttgir", ".mlir", ".ttir")
)
CHANGING = (
    "tt_layout",
    *(field.name for field in fields() if field.name.startswith("estimate")),
)
"""Fields that each release changes, or new measurements."""
ONE = "examples/kernels/matmul-sm90.ttgir"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def rows_of(name: str) -> list[Features]:
    path = ROOT / name
    modules = parse_ir(path.read_text(encoding="utf-8"))
    known = metadata_beside(str(path))
    audits = (audit_module(module, known=known) for module in modules)
    return [features_of(kernel) for audit in audits for kernel in kernels_of(audit, file=name)]


def kept(row: Features) -> list[Any]:
    return [value for name, value in row.items() if name not in CHANGING]


def written() -> dict[str, list[list[Any]]]:
    """Return the golden values by example, and check what they are of."""
    head, *lines = map(json.loads, VALUES.read_text(encoding="utf-8").splitlines())
    names = [field.name for field in fields() if field.name not in CHANGING]
    assert head == {"version": FEATURES_VERSION, "fields": names}, "run this file as a script"
    found: dict[str, list[list[Any]]] = {name: [] for name in EXAMPLES}
    for line in lines:
        found[line[names.index("file")]].append(line)
    return found


@pytest.mark.parametrize("name", sampled(EXAMPLES, 4))
def test_examples_have_their_features(name: str) -> None:
    rows = rows_of(name)
    assert json.loads(json.dumps(list(map(kept, rows)))) == written()[name], (
        "if that is right, run tests/reports/test_features.py as a script"
    )


def test_every_object_is_as_the_schema_says() -> None:
    """Of a kernel with everything, and of one on a GPU that nobody knows."""
    kinds = {"integer": int, "number": (int, float), "string": str, "boolean": bool}
    unknown = (ROOT / ONE).read_text(encoding="utf-8").replace("cuda:90", "cuda:99999")
    properties = schema()["properties"]
    for row in (*rows_of(ONE), tt_layout.features(unknown)):
        assert list(row) == list(properties)
        for name, value in row.items():
            if name != "version" and value is not None:
                kind = properties[name]["type"][0]
                assert isinstance(value, kinds[kind]), name  # type: ignore[arg-type]
                assert isinstance(value, bool) == (kind == "boolean"), name
        assert row["version"] == properties["version"]["const"] == FEATURES_VERSION
    assert [row["gpu"], row["registers"], row["bound_cycles"]] == [None, None, None]


def test_the_schema_and_the_docs_are_those_of_the_fields() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()
    assert documented(DOCS.read_text(encoding="utf-8")) == DOCS.read_text(encoding="utf-8")


def typed(text: str) -> str:
    """Return the module of the types with the fields of today."""
    head, mark, rest = text.partition("# -- the fields --\n")
    tail = rest[rest.index("# -- the object --\n") :]
    kinds = {"integer": "Count", "number": "Number", "string": "Text", "boolean": "Truth"}
    names: dict[str, list[str]] = {}
    for field in fields():
        kind = "" if field.is_known else "Perhaps"
        names.setdefault(kind + kinds[field.kind], []).append(field.name)
    types = (
        f'{kind} = Literal["{own[0]}"]\n'
        if len(own) == 1
        else f"{kind} = Literal[\n" + "".join(f'    "{name}",\n' for name in own) + "]\n"
        for kind, own in sorted(names.items())
    )
    return head + mark + "".join(types) + tail


def test_the_types_are_those_of_the_fields() -> None:
    text = TYPES.read_text(encoding="utf-8")
    assert typed(text).split() == text.split()


@pytest.mark.slow
def test_counts_and_sums_are_there_for_every_kernel() -> None:
    known = [field.name for field in fields() if field.is_known]
    assert {"conversions", "global_load_bytes", "findings_conflicts", "cycles"} <= {*known}
    rows = [row for name in EXAMPLES for row in rows_of(name)]
    assert [name for row in rows for name in known if row[name] is None] == []


def definitions() -> dict[str, list[str]]:
    return {field.name: [field.kind, field.meaning] for field in fields()}


def changed(stored: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return the names whose meaning is another than that of the same version before."""
    before, now = stored.get(str(FEATURES_VERSION), {}), definitions()
    return [name for name, meaning in before.items() if now.get(name) != meaning]


def test_two_versions_of_a_field_are_not_mixed() -> None:
    """What a name of a version means is written down, and stays."""
    stored = json.loads(DEFINITIONS.read_text(encoding="utf-8"))
    assert changed(stored) == [], "raise FEATURES_VERSION: these names change their meaning"
    assert stored[str(FEATURES_VERSION)] == definitions(), "run this file as a script"
    assert max(map(int, stored)) == FEATURES_VERSION
    assert len({field.name for field in fields()}) == len(fields())
    assert changed({str(FEATURES_VERSION): {"warps": ["integer", "of a cluster"]}}) == ["warps"]


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_kernel(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "bad.ttgir").write_bytes(b"\0\0")
    outcome = run("audit", ONE, str(tmp_path), "--format", "features")
    assert (outcome.status, outcome.err.count("note: ")) == (0, 1)
    [line] = outcome.out.splitlines()
    assert kept(json.loads(line)) == written()[ONE][0]
    assert json.loads(line) == tt_layout.features(ONE)
    assert run("audit", str(tmp_path), "--format", "features").status == 2
    assert run("audit", ONE, "--format", "features", "--fail-on", "all").status == 1
    assert run("audit", ONE, "--format", "features", "--fits").status == 2
    assert (
        "no kernel has an argument"
        in run("audit", ONE, "--format", "features", "--value", "Q=1").err
    )


def test_a_launch_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    one, many = (tt_layout.features(ONE, grid=(count, 1, 1)) for count in (132, 1320))
    assert (one["programs"], many["programs"]) == (132, 1320)
    for name in ("bound_cycles", "bound_lsu"):
        less, more = one[name], many[name]
        assert isinstance(less, (int, float))
        assert isinstance(more, (int, float))
        assert more > less
    assert one["wavefronts"] == many["wavefronts"]


TWO = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%p: tensor<128x!tt.ptr<f32>, #a>) {
    %0 = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
    tt.return
  }
  tt.func @g(%p: tensor<128x!tt.ptr<f32>, #a>) {
    %0 = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
    tt.return
  }
}
"""


def test_one_kernel_is_meant() -> None:
    assert tt_layout.features(TWO, function="g")["kernel"] == "g"
    with pytest.raises(LayoutError, match="does not have one kernel: it has @f, @g; choose one"):
        tt_layout.features(TWO)
    with pytest.raises(LayoutError, match="does not have @h once: it has @f, @g"):
        tt_layout.features(TWO, function="h")
    with pytest.raises(LayoutError, match="it has none that moves data"):
        tt_layout.features("module {\n}\n")


def documented(text: str) -> str:
    """Return the page with the table of today's fields."""
    rows = "".join(f"| `{one.name}` | {one.kind} | {one.meaning} |\n" for one in fields())
    table = f"| field | kind | |\n|---|---|---|\n{rows}"
    return TABLE.sub(lambda found: f"{found.group(1)}{table}{found.group(2)}", text)


def lines() -> Iterator[str]:
    """Yield the golden of all examples."""
    names = [field.name for field in fields() if field.name not in CHANGING]
    yield json.dumps({"version": FEATURES_VERSION, "fields": names})
    for name in EXAMPLES:
        for row in rows_of(name):
            yield json.dumps(kept(row), separators=(",", ":"))


def write() -> None:
    GOLDENS.mkdir(exist_ok=True)
    stored = json.loads(DEFINITIONS.read_text()) if DEFINITIONS.exists() else {}
    if names := changed(stored):
        sys.exit(f"raise FEATURES_VERSION: {', '.join(names)} would change their meaning")
    stored[str(FEATURES_VERSION)] = definitions()
    DEFINITIONS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    SCHEMA.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
    DOCS.write_text(documented(DOCS.read_text(encoding="utf-8")), encoding="utf-8")
    TYPES.write_text(typed(TYPES.read_text(encoding="utf-8")), encoding="utf-8")
    VALUES.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")


if __name__ == "__main__":
    write()
