"""``tt-layout audit``, and ``-i`` without ``-t``: goldens of real kernels, checked by counting.

    PYTHONPATH=tests python tests/audit/test_audit.py

writes the goldens anew.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tiers import sampled, slow

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
DUMPS = sorted(KERNELS.glob("*.ttgir"))
IDS = [path.stem for path in DUMPS]

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
else:
    from command import Run, runner

    @pytest.fixture
    def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.chdir(KERNELS)
        return runner(capsysbinary, monkeypatch)


def test_every_kernel_is_there_for_every_target() -> None:
    kernels = ("attention", "convolution", "matmul", "softmax")
    targets = ("gfx1250", "gfx942", "gfx950", "sm100", "sm80", "sm90")
    assert [f"{kernel}-{target}" for kernel in kernels for target in targets] == IDS


GOLDENS = [(name, "text") for name in IDS] + [
    (name, "json")
    for name in ("attention-sm100", "convolution-gfx950", "matmul-sm90", "softmax-gfx1250")
]


def golden(name: str, form: str) -> Path:
    return KERNELS / f"{name}.audit.{'txt' if form == 'text' else 'json'}"


@pytest.mark.parametrize(
    ("name", "form"), [one if at % 4 == 0 else slow(*one) for at, one in enumerate(GOLDENS)]
)
def test_goldens(name: str, form: str, run: Run) -> None:
    outcome = run("audit", f"{name}.ttgir", "--tables", "--format", form)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == golden(name, form).read_text(encoding="utf-8")


# -- the same counted from the text, without any of the package --------------------------------

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i64": 8, "i32": 4, "i8": 1, "i1": 1}
MOVES = re.compile(
    r"\b(?:ttg|ttng|tt|amdg)\.(convert_layout|local_load|local_store|local_alloc|tmem_load|"
    r"tmem_store|tmem_alloc|async_copy_global_to_local|buffer_load|buffer_store|load|store|reduce)\b"
)
REGION = re.compile(r'"(tt\.reduce)"\(.*?\n +\}\) :', re.DOTALL)
"""A reduction, up to its types, which stand behind its region."""

VALUE = re.compile(r"(tensor|!ttg\.memdesc)<((?:\d+x)+)(!tt\.ptr<(\w+)>|\w+)")
NUMBERS = re.compile(r"warpsPerCTA = \[([\d, ]+)\]")


def plain_totals(text: str) -> Counter[tuple[str, str]]:
    """Count the moves of a dump and their bytes, line by line."""
    totals: Counter[tuple[str, str]] = Counter()
    text = REGION.sub(r"\1 :", text)
    for line in text.splitlines():
        match = MOVES.search(line.split(" loc(")[0])
        if match is None or "<" not in line:
            continue
        name, types = match.group(1), line[match.end() :]
        totals[name, "count"] += 1
        values = VALUE.findall(types)
        tensors = [value for value in values if value[0] == "tensor"]
        if name.endswith("alloc") and not tensors:
            continue
        _, sizes, element, pointee = (tensors or values)[0]
        count = 1
        for size in sizes.strip("x").split("x"):
            count *= int(size)
        totals[name, "bytes"] += count * SIZES[pointee or element]
    return totals


@pytest.mark.slow
@pytest.mark.parametrize("dump", sampled(DUMPS, 6), ids=IDS)
def test_totals_agree_with_a_count_from_the_text(dump: Path, run: Run) -> None:
    [module] = json.loads(run("audit", dump.name, "--format", "json").out)["modules"]
    found: Counter[tuple[str, str]] = Counter()
    for total in module["totals"]:
        found[total["operation"], "count"] += total["count"]
        found[total["operation"], "bytes"] += total["bytes"]
    assert +found == +plain_totals(dump.read_text(encoding="utf-8"))
    assert len(module["data_movements"]) == sum(total["count"] for total in module["totals"])


@pytest.mark.slow
@pytest.mark.parametrize("dump", sampled(DUMPS, 6), ids=IDS)
def test_uses_lines_and_warps_agree_with_the_text(dump: Path, run: Run) -> None:
    text = dump.read_text(encoding="utf-8")
    lines = text.splitlines()
    [module] = json.loads(run("audit", dump.name, "--format", "json").out)["modules"]
    aliases = dict(re.findall(r"^(#\w+) = (#ttn?g\.\w+<.*>)$", text, re.MULTILINE))
    uses: Counter[str] = Counter()
    for row in module["layouts"]:
        uses[row["layout"]] += row["uses"]
        assert row["layout"] in lines[row["line"] - 1]
        definition = aliases.get(row["layout"], "")
        for warps in NUMBERS.findall(definition):
            expected = 1
            for number in warps.split(","):
                expected *= int(number)
            assert row["sizes"]["warp"] == expected
        if definition:
            assert row["attribute"] == definition
    body = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    for alias in aliases:
        assert uses[alias] == len(re.findall(rf"(?<!parent = ){alias}\b", body)), alias
    for move in module["data_movements"]:
        line = lines[move["line"] - 1]
        assert line[move["column"] - 1 :].lstrip('"').startswith(move["operation"])
        if move["group"] == "reduction":
            continue  # its types stand behind its region
        for end in (move["from"], move["to"]):
            assert end is None or end["layout"] == "global memory" or end["layout"] in line


# -- the report -------------------------------------------------------------------------------

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)


def module_text(body: str, attributes: str = '"ttg.num-warps" = 4 : i32', extra: str = "") -> bytes:
    text = f"#a = {BLOCKED}\n{extra}module attributes {{{attributes}}} {{\n  tt.func @k() {{\n"
    return f"{text}{body}\n  }}\n}}\n".encode()


def convert(to: str) -> str:
    return f"    %0 = ttg.convert_layout %a : tensor<8x16xf16, #a> -> tensor<8x16xf16, {to}>\n"


COLUMNS = BLOCKED.replace("[1, 0]", "[0, 1]")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('"ttg.num-warps" = 8 : i32', "is for 4 warps, but the module has 8"),
        ('"ttg.threads-per-warp" = 64 : i32', "is for 32 lanes, but the module has 64"),
        ('"triton_gpu.num-ctas" = 2 : i32', "is for 1 CTA, but the module has 2"),
        ('"ttg.num-warps" = 4 : i32', ""),
        ("", ""),
    ],
)
def test_findings(attributes: str, message: str, run: Run) -> None:
    outcome = run("audit", "-", stdin=module_text(convert("#a"), attributes))
    found = re.findall(r"^  1\. line 4: (.*)$", outcome.out, re.MULTILINE)
    assert found == ([f"#a on tensor<8x16xf16> {message}"] if message else [])


def test_partitions_may_have_warps_of_their_own(run: Run) -> None:
    text = module_text(
        "  partition0() num_warps(4) {\n" + convert("#a"), '"ttg.num-warps" = 8 : i32'
    )
    assert "\nfindings\n" not in run("audit", "-", stdin=text).out


def test_a_layout_that_is_refused_is_a_finding_not_a_failure(run: Run) -> None:
    text = module_text(convert("#b"), extra="#b = #ttg.blocked<{odrer = [1]}>\n")
    outcome = run("audit", "-", stdin=text)
    assert outcome.status == 0
    assert "line 5: #b on tensor<8x16xf16>: #ttg.blocked has no key 'odrer'" in outcome.out
    [module] = json.loads(run("audit", "-", "--format", "json", stdin=text).out)["modules"]
    assert "no key 'odrer'" in next(row["error"] for row in module["layouts"] if row["error"])


def test_contiguity_is_that_of_info(run: Run) -> None:
    """A thread holds elements 0 to 3 in another order, which the compiler does not count."""
    linear = (
        "#ttg.linear<{register = [[0, 2], [0, 1]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], "
        "[4, 0]], warp = [], block = []}>"
    )
    dump = f"#a = {linear}\nmodule {{\n  %0 = x.y : tensor<8x16xf16, #a>\n}}\n"
    audit = json.loads(run("audit", "-", "--format", "json", stdin=dump.encode()).out)
    info = json.loads(run("info", linear, "-t", "tensor<8x16xf16>", "--format", "json").out)
    [row] = audit["modules"][0]["layouts"]
    assert row["contiguity"] == info["contiguity_per_thread"] == [1, 1]


@pytest.mark.slow
def test_aliases_that_nothing_uses_are_read_only_so_far(run: Run) -> None:
    text = "".join(f"#a{n} = #ttg.blocked<{{order = [{n}]}}>\n" for n in range(1005))
    out = run("audit", "-", "--all", stdin=f"{text}module {{\n}}\n".encode()).out
    assert "line 1000: #a999: " in out
    assert "line 1001: #a1000: of the aliases that no type uses, only the 1000 before it" in out
    assert "a1001" not in out


def test_totals_are_in_the_order_of_the_text_however_movements_are_sorted() -> None:
    from tt_layout import parse_ir
    from tt_layout.audit.audit import audit_module, sort_movements

    [module] = parse_ir((KERNELS / "matmul-sm80.ttgir").read_text(encoding="utf-8"))
    audit = audit_module(module)
    by_cost, by_size = (sort_movements(audit, by) for by in ("cost", "bytes"))
    assert by_cost.totals == audit.totals
    costs = [row.cost.cycles for row in by_cost.movements if row.cost]
    sizes = [row.operation.bytes or 0 for row in by_size.movements]
    assert costs == sorted(costs, reverse=True)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(costs)) > 1 < len(set(sizes))


def test_sorting(run: Run) -> None:
    def lines(by: str) -> list[int]:
        text = run("audit", "matmul-sm80.ttgir", "--sort", by, "--format", "json").out
        return [move["line"] for move in json.loads(text)["modules"][0]["data_movements"]]

    assert lines("line") == sorted(lines("line"))
    assert sorted(lines("cost")) == sorted(lines("bytes")) == lines("line")
    sizes = run("audit", "matmul-sm80.ttgir", "--sort", "bytes", "--format", "json").out
    moved = [move["bytes"] for move in json.loads(sizes)["modules"][0]["data_movements"]]
    assert moved == sorted(moved, reverse=True)


@pytest.mark.parametrize(("by", "has_loops"), [("line", True), ("cost", False), ("bytes", False)])
def test_loops_are_drawn_where_movements_stand_as_in_the_text(
    by: str, has_loops: bool, run: Run
) -> None:
    """In any other order a column says how often each runs."""
    text = run("audit", "matmul-sm80.ttgir", "--tables", "--sort", by).out
    table = text[text.index("data movements") :].splitlines()
    assert any("before the loop of line " in line for line in table) is has_loops
    assert (" runs" in table[1]) is not has_loops


def test_modules_are_audited_one_by_one(run: Run) -> None:
    text = module_text(convert("#a")) + b"// -----\n" + module_text(convert("#a") * 2)
    outcome = run("audit", "-", stdin=text)
    assert re.findall("^<stdin>:.*", outcome.out, re.MULTILINE) == [
        "<stdin>:2",
        "<stdin>:10",
    ]
    data: dict[str, Any] = json.loads(run("audit", "-", "--format", "json", stdin=text).out)
    assert data["version"] == 1
    assert [module["totals"][0]["count"] for module in data["modules"]] == [1, 2]


CONDITIONAL = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: tensor<128x!tt.ptr<f32>, #a>, %is: i1) {
    scf.if %is {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
    }
    tt.return
  }
}
"""


def test_rows_in_another_order_than_the_text_say_how_often_each_runs(run: Run) -> None:
    by_line, by_cost = (
        run("audit", "-", "--tables", "--sort", order, stdin=CONDITIONAL.encode()).out.splitlines()
        for order in ("line", "cost")
    )
    assert "  at most 1 time" in by_line
    [header] = [line.split() for line in by_cost if line.startswith("  line  operation")]
    assert header == ["line", "operation", "of", "from", "->", "to", "runs", "cost"]
    assert any("global -> #a  at most 1 " in line for line in by_cost)


def test_names_that_a_terminal_would_act_on_are_not_printed(run: Run) -> None:
    text = module_text(convert("#a").rstrip() + ' loc("\x1b[2J.py":1:1)\n')
    out = run("audit", "-", "--tables", stdin=text).out
    assert "?[2J.py" in out
    assert "\x1b" not in out


# -- comparison -------------------------------------------------------------------------------


def test_diff_of_two_files(run: Run, tmp_path: Path) -> None:
    extra = f"#b = {COLUMNS}\n"
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_bytes(module_text(convert("#b") * 2 + convert("#a"), extra=extra))
    # Other names for the same layouts, and other lines, are no difference.
    renamed = module_text("\n\n" + convert("#c") + convert(f"{COLUMNS}"), extra=f"#c = {BLOCKED}\n")
    after.write_bytes(renamed)
    outcome = run("audit", "--diff", str(before), str(after))
    assert outcome.status == 1
    assert [line.split()[:3] for line in outcome.out.splitlines()[2:]] == [
        ["@k:", "8", "cycles"],
        ["@k:", "lower", "bound"],
        ["@k:", "cycles", "that"],
        ["@k:", "findings", "of"],
        ["@k,", "before:", "about"],
        ["@k,", "after:", "about"],
        ["line", "operation", "of"],
        ["-", "6", "convert_layout"],
        ["1", "removed,", "0"],
    ]
    outcome = run("audit", "--diff", str(after), str(before), "--format", "json")
    [comparison] = json.loads(outcome.out)["comparisons"]
    assert (len(comparison["removed"]), len(comparison["added"])) == (0, 1)
    assert comparison["added"][0]["line"] == 6
    assert run("audit", "--diff", str(after), str(after)).status == 0


def test_diff_of_the_modules_of_one_file(run: Run) -> None:
    parts = [module_text(convert("#a") * count) for count in (2, 1, 1)]
    outcome = run("audit", "--diff", "-", stdin=b"// -----\n".join(parts))
    assert outcome.status == 1
    assert outcome.out.count("---") == 2
    assert "1 removed, 0 added" in outcome.out
    assert outcome.out.endswith(
        "the same data movements, matrix instructions, errors and findings\n"
    )


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "<stdin>: error: the file is empty"),
        (b"hello\n", "<stdin>: error: found no MLIR in it"),
        (b"\x7fELF\0\0", "<stdin>: error: not text"),
        ("#a = µ".encode("latin-1"), "<stdin>: error: not UTF-8 text"),
        ("#a = x".encode("utf-16"), "<stdin>: error: not text: byte 3 is 0x00"),
        (
            module_text(convert("#a")) + module_text(convert("#a"))[:-3],
            "<stdin>:13:3: error: the module",
        ),
    ],
)
def test_bad_input(data: bytes, message: str, form: str, run: Run) -> None:
    outcome = run("audit", "-", "--format", form, stdin=data)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(message)
    assert "Traceback" not in outcome.err


def test_a_dump_that_is_cut_off_can_be_audited_all_the_same(run: Run) -> None:
    outcome = run("audit", "--partial", "--tables", "-", stdin=module_text(convert("#a"))[:-4])
    assert (outcome.status, outcome.err) == (0, "")
    assert "convert_layout" in outcome.out


def test_wrong_usage(run: Run) -> None:
    for arguments in (
        ["a", "b"],
        ["--axis-info", "a", "b"],
        ["--diff", "a", "b", "c"],
        ["nowhere.ttgir"],
        [],
    ):
        outcome = run("audit", *arguments)
        assert (outcome.status, outcome.out) == (2, "")
    outcome = run("audit", "--diff", "matmul-sm80.ttgir")
    assert (outcome.status, outcome.out) == (2, "")
    assert "compares its modules, but it has only one" in outcome.err


def test_a_long_line_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tt_layout.ir.reader.MAX_LINE", 1000)
    outcome = run("audit", "-", stdin=b"module {\n" + b"x" * 1001)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("<stdin>:2: error: the line has 1001 characters")


# -- views ------------------------------------------------------------------------------------


def test_views_over_the_types_of_the_file(run: Run) -> None:
    types = ("4x4xf16", "4x4xf16", "2x4xf32", "3x4xf16")
    body = "    x.y : " + ", ".join(f"tensor<{one}, #a>" for one in types)
    extra = f"#b = {BLOCKED}\n#smem = #ttg.shared_memory\n"
    text = module_text(body, extra=extra)
    outcome = run("-i", "-", stdin=text)
    assert (outcome.status, outcome.err) == (0, "")
    headings = re.findall("^Print.*", outcome.out, re.MULTILINE)
    assert [heading.replace(f" = {BLOCKED}", "") for heading in headings] == [
        "Print layout attribute: #a on tensor<4x4xf16>",
        "Print layout attribute: #a on tensor<2x4xf32>",
        "Print layout attribute: #a on tensor<3x4xf16>: "
        "every dimension must be a power of two, got [3, 4]; "
        "--npot or TRITON_ALLOW_NPOT=1 takes others",
        "Print layout attribute: #b on no type of the file",
    ]
    with_type = run("-i", "-", "--alias-names", "a", "-t", "tensor<4x4xf16>", stdin=text).out
    view = with_type.partition("\n")[2].rstrip("\n")
    assert view in outcome.out


def test_views_of_some_aliases_only(run: Run) -> None:
    text = module_text(
        "    x.y : tensor<4x4xf16, #a>, tensor<4x4xf16, #b>", extra=f"#b = {COLUMNS}\n"
    )
    outcome = run("-i", "-", "--alias-names", "#b", stdin=text)
    assert re.findall("^Print layout attribute: #(.)", outcome.out, re.MULTILINE) == ["b"]
    outcome = run("-i", "-", "--alias-names", "c", stdin=text)
    assert outcome.err == "<stdin>: error: there is no alias #c; the layouts are #a, #b\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"module {\n}\n", "<stdin>: error: no alias in the file is a layout"),
        (b"#a = #ttg.blocked<{odrer = [1]}>\n", "<stdin>:1:20: error: #ttg.blocked has no key"),
        (module_text("")[:-3], "<stdin>:5:3: error: the module"),
    ],
)
def test_views_of_bad_files(data: bytes, message: str, run: Run) -> None:
    outcome = run("-i", "-", stdin=data)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(message)


def test_views_are_limited(run: Run) -> None:
    text = module_text("    x.y : tensor<1024x1024xf16, #a>")
    outcome = run("-i", "-", "--max-text", "1MB", stdin=text)
    assert (outcome.status, outcome.out) == (2, "")
    assert "--max-text raises the limit" in outcome.err


def write_goldens() -> None:
    import os
    import subprocess

    for name, form in GOLDENS:
        command = [sys.executable, "-m", "tt_layout", "audit", f"{name}.ttgir", "--tables"]
        command += ["--format", form]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=KERNELS, env=environment, stdout=subprocess.PIPE, check=True
        )
        golden(name, form).write_bytes(done.stdout)


if __name__ == "__main__":
    write_goldens()


def test_a_layout_with_an_error_is_told_as_it_is_written(run: Run, tmp_path: Path) -> None:
    text = "#a = #ttg.nonsense<{x = 1}>\ntt.func @f(%x: tensor<16xf32, #a>) {\n  tt.return\n}\n"
    dump = tmp_path / "a.ttgir"
    dump.write_text(text)
    outcome = run("audit", str(dump), "--format", "json")
    [layout] = json.loads(outcome.out)["modules"][0]["layouts"]
    assert layout["attribute"] == "#a"
    assert "#ttg.nonsense is not a layout attribute" in layout["error"]
