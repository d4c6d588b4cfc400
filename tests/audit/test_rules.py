"""The kinds of findings: documented, registered by being there, and each at its own kernel."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.audit import rules as package
from tt_layout.audit.findings import Finding, Occurrence
from tt_layout.audit.rules import HEADINGS, kinds, rules

DOCS = Path(__file__).parents[2] / "docs" / "audit.md"
TABLE = re.compile(r"(<!-- rules: .*? -->\n).*?(<!-- end of rules -->)", re.DOTALL)

BLOCKED = (
    "#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [WARPS], "
    "order = [0]}>\n"
)
SHARED = "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
SMALL = """
  tt.func public @small(%p: tensor<512x!tt.ptr<f32>>) {
    %0 = tt.load %p : tensor<512x!tt.ptr<f32>>
    tt.return
  }
"""
BIG = """
  tt.func public @big() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<4096x128xf16, #s, #ttg.shared_memory, mutable>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #s, #ttg.shared_memory, mutable>
    ttg.local_dealloc %0 : !ttg.memdesc<4096x128xf16, #s, #ttg.shared_memory, mutable>
    tt.return
  }
"""
TYPED = """
  tt.func public @NAME(%x: tensor<512xf32, #a>) {
    %0 = arith.addf %x, %x : tensor<512xf32, #a>
    %1 = tt.call @use(%0) : (tensor<512xf32, #a>) -> i32
    tt.return
  }
"""
ATTRIBUTES = '"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"'


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def module(*functions: str, attributes: str = ATTRIBUTES) -> str:
    return f"module attributes {{{attributes}}} {{{''.join(functions)}}}\n"


def audited(run: Run, text: str) -> dict[str, list[dict[str, object]]]:
    outcome = run("audit", "-", "--format", "json", stdin=text.encode())
    assert (outcome.status, outcome.err) == (0, "")
    found: dict[str, list[dict[str, object]]] = json.loads(outcome.out)["modules"][0]
    return found


def documentation(rule: type[Occurrence]) -> dict[str, str]:
    """Return the parts of a rule's documentation by their headings."""
    text = import_module(rule.__module__).__doc__ or ""
    first, *parts = text.strip().split("\n\n")
    assert first.startswith(f"``{rule.kind}``: ")
    found = {}
    for part in parts:
        heading = next(one for one in HEADINGS if part.startswith(f"{one} "))
        found[heading] = " ".join(part.removeprefix(heading).split())
    return found


def table() -> str:
    """Return the table of the documentation."""
    lines = ["| kind | what it is | cycles that are counted of one execution |", "|---|---|---|"]
    for rule in rules():
        parts = documentation(rule)
        lines.append(f"| `{rule.kind}` | {parts['What:']} | {parts['Cost:']} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.kind)
def test_every_rule_is_documented_under_the_same_headings(rule: type[Occurrence]) -> None:
    found = documentation(rule)
    assert tuple(found) == HEADINGS
    assert all(found.values())
    assert rule.__module__.rpartition(".")[2] == rule.kind.replace("-", "_")


def test_the_table_in_the_docs_is_made_from_the_rules() -> None:
    found = TABLE.search(DOCS.read_text(encoding="utf-8"))
    assert found is not None
    assert found.group(0) == f"{found.group(1)}{table()}{found.group(2)}"


def test_orders_are_unique_and_errors_come_first() -> None:
    orders = [rule.order for rule in rules()]
    assert orders == sorted(set(orders))
    assert kinds()[0] == "refused"


def test_fail_on_offers_every_kind(run: Run) -> None:
    wrapped = " ".join(run("audit", "--help").out.split())
    text = re.sub(r"(?<=\w)- (?=\w)", "-", wrapped)  # a line may end within a name
    assert f"{', '.join(kinds())}, all." in text


def by_function(found: dict[str, list[dict[str, object]]]) -> dict[object, object]:
    return {one["function"]: one["text"] for one in found["summary"]}


@pytest.mark.parametrize("stated", ["", ", ttg.shared = 1049088 : i32"], ids=["own", "stated"])
def test_too_much_shared_memory_is_an_error_of_its_kernel(run: Run, stated: str) -> None:
    found = audited(run, SHARED + module(SMALL, BIG, attributes=ATTRIBUTES + stated))
    assert [one["function"] for one in found["findings"]] == ["big"]
    texts = by_function(found)
    assert "error" not in str(texts["small"])
    assert "1 error" in str(texts["big"])


def test_a_layout_is_an_error_of_the_kernels_that_use_it(run: Run) -> None:
    functions = SMALL, TYPED.replace("NAME", "one"), TYPED.replace("NAME", "two")
    found = audited(run, BLOCKED.replace("WARPS", "8") + module(*functions))
    assert [one["function"] for one in found["findings"]] == ["one", "two"]
    assert [one["line"] for one in found["findings"]] == [8, 14]
    assert "error" not in str(by_function(found)["small"])


def test_a_refused_alias_is_an_error_of_the_only_kernel(run: Run) -> None:
    found = audited(run, "#b = #ttg.blocked<{odrer = [1]}>\n" + module(SMALL))
    assert [one["function"] for one in found["findings"]] == ["small"]


def test_nothing_is_ruled_out_that_is_not_known(run: Run) -> None:
    layout = BLOCKED.replace("WARPS", "4")
    function = """
  tt.func public @f(%x: tensor<512xf32, #a>, %i: tensor<512xi32, #a>) {
    %0 = tt.gather %x[%i] {axis = 0 : i32} :
      (tensor<512xf32, #a>, tensor<512xi32, #a>) -> tensor<512xf32, #a>
    tt.return
  }
"""
    text = layout + module(function, attributes='"ttg.num-warps" = 4 : i32')
    [summary] = audited(run, text)["summary"]
    said = "@f, 4 warps: no findings, but the cost of 1 of 1 data movement is not known"
    assert str(summary["text"]).startswith(said)


DOT = """\
#a = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1],
                   order = [1, 0]}>
#x = #ttg.dot_op<{opIdx = 0, parent = #a}>
#y = #ttg.dot_op<{opIdx = 1, parent = #a}>
module attributes {WARPSttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%a: tensor<32x32xf32, #x>, %b: tensor<32x32xf32, #y>,
                    %c: tensor<32x32xf32, #a>) {
    %0 = tt.dot %a, %b, %c :
      tensor<32x32xf32, #x> * tensor<32x32xf32, #y> -> tensor<32x32xf32, #a>
    tt.return
  }
}
"""


@pytest.mark.parametrize("warps", ["", '"ttg.num-warps" = 1 : i32, '])
def test_a_module_that_names_no_warps_multiplies_as_one(warps: str, run: Run) -> None:
    """1,024 FMA of each of 32 threads, of which a multiprocessor does 128 in a cycle."""
    [found] = audited(run, DOT.replace("WARPS", warps))["findings"]
    assert (found["kind"], found["cost"]) == ("tensor-cores", 256)


RULE = """
from dataclasses import dataclass
from tt_layout.audit.findings import Counted, Finding, Occurrence

@dataclass(frozen=True)
class LongKernel(Occurrence):
    kind = "long-kernels"
    order = 99
    heading = "long"
    lines: int

    @classmethod
    def find(cls, rows, conclusions):
        for function in conclusions.audited.functions:
            yield Finding(function.line, f"@{function.name}", function.name, (cls(7),))

    words = property(lambda self: f"has {self.lines} lines")
    counted = property(lambda self: Counted("", f"{self.lines} lines"))
"""


@pytest.fixture
def long_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a rule be there that is about a whole kernel."""
    (tmp_path / "long_kernels.py").write_text(RULE, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    rules.cache_clear()
    yield
    rules.cache_clear()


@pytest.mark.usefixtures("long_kernels")
def test_a_rule_about_a_whole_kernel_is_a_rule(run: Run, tmp_path: Path) -> None:
    text = module(SMALL)
    found = audited(run, text)
    assert [(one["kind"], one["function"], one["message"]) for one in found["findings"]] == [
        ("long-kernels", "small", "@small has 7 lines")
    ]
    assert "small, sm90, 4 warps: 7 lines" in str(by_function(found)["small"])
    assert "line 2: @small has 7 lines" in run("audit", "-", stdin=text.encode()).out
    for name in ("a", "b"):
        (tmp_path / f"{name}.ttgir").write_text(text, encoding="utf-8")
    header = run("audit", str(tmp_path)).out.splitlines()[0]
    assert "long" in header.split()  # before or above the dump, as its path is short or long
    failed = run("audit", "-", "--fail-on", "long-kernels", stdin=text.encode())
    assert (failed.status, "failed on long-kernels" in failed.err) == (1, True)


if __name__ == "__main__":
    written = TABLE.sub(lambda found: f"{found[1]}{table()}{found[2]}", DOCS.read_text("utf-8"))
    DOCS.write_text(written, encoding="utf-8")


@pytest.mark.parametrize(
    ("chip", "warps", "lanes", "attribute", "is_refused"),
    [
        ("hip:gfx942", 32, 64, "num-warps", True),
        ("hip:gfx942", 16, 64, "num-warps", False),
        ("hip:gfx1201", 32, 32, "num-warps", False),
        ("cuda:90", 32, 32, "num-warps", False),
        ("cuda:90", 64, 32, "num-warps", True),
        ("cuda:100", 36, 32, "total-num-warps", True),
    ],
)
def test_a_cta_of_more_threads_than_a_gpu_starts_is_refused(
    run: Run, chip: str, warps: int, lanes: int, attribute: str, is_refused: bool
) -> None:
    text = (
        f'module attributes {{"ttg.num-warps" = 4 : i32, "ttg.{attribute}" = {warps} : i32, '
        f'"ttg.threads-per-warp" = {lanes} : i32, ttg.target = "{chip}"}} {{{SMALL}}}\n'
    ).replace('"ttg.num-warps" = 4 : i32, ' * (attribute == "num-warps"), "")
    found = audited(run, text)
    messages = [one["message"] for one in found["findings"] if one["kind"] == "refused"]
    threads = f"@small has {warps} warps of {lanes} lanes, {warps * lanes} threads in a CTA"
    assert [str(message).startswith(threads) for message in messages] == [True] * is_refused


def test_a_finding_is_sent_without_its_hash() -> None:
    """Texts have other hashes in another process, where it would be found in no set."""
    finding = Finding(3, "tt.load", "f", ())
    assert hash(finding) == hash(Finding(3, "tt.load", "f", ()))
    assert not [name for name in vars(pickle.loads(pickle.dumps(finding))) if "hash" in name]
