"""``audit --ncu``: what Nsight Compute counted beside what is predicted."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

from tt_layout.audit.measured.counters import METRICS, Counter, SourceLine, read_launches
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source

DATA = Path(__file__).parents[1] / "data"
NARROW = Path(__file__).parents[2] / "examples" / "narrow"
VALUES = [f"--value={name}" for name in ("stride=1024", "program_id_x=0", "x=0", "out=0")]

METRIC = {counter.name: name for name, counter in METRICS.items()}
SOFTMAX = {
    "global load instructions": 32,
    "global load requests": 32,
    "global load sectors": 64,
    "global store instructions": 32,
    "global store requests": 32,
    "global store sectors": 64,
    "shared load instructions": 8,
    "shared load wavefronts": 8,
    "shared store instructions": 8,
    "shared store wavefronts": 8,
}
"""What one program of the softmax is counted as: 8 accesses of each of 4 warps, of 64 bytes."""


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    for name in ("matmul.ttgir", "softmax.ttgir"):
        shutil.copy(NARROW / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return runner(capfdbinary, monkeypatch)


def written(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as ncu prints them: every cell in quotes, those within not doubled."""
    lines = ['"' + '","'.join(map(str, row)) + '"\n' for row in rows]
    return "==PROF== Connected to process 7\n" + "".join(lines)


def raw(*launches: Mapping[str, float], programs: int = 1000, kernel: str = "softmax") -> str:
    """Return a raw page, of counts of one program."""
    names = list(launches[0])
    fixed = ["ID", "Process ID", "Kernel Name", "launch__grid_size"]
    rows: list[list[object]] = [[*fixed, *(METRIC[name] for name in names)]]
    rows.append(["", "", "", "", *["inst"] * len(names)])
    for at, counts in enumerate(launches):
        numbers = [f"{counts[name] * programs:,}" for name in names]
        rows.append([at, 7, kernel, f"{programs:,}", *numbers])
    return written(rows)


def details(counts: Mapping[str, float], programs: int = 1000) -> str:
    """Return the same with a row for each metric, and one of a rule."""
    header = ["ID", "Kernel Name", "Grid Size", "Metric Name", "Metric Unit", "Metric Value"]
    grid = f"({programs}, 1, 1)"
    rows = [
        ["0", "softmax", grid, METRIC[name], "Kinst", f"{count * programs / 1000:g}"]
        for name, count in counts.items()
    ]
    rule = ["0", "softmax", grid, "", "", "", "Bottleneck", "Slow, it is."]
    text = written([[*header, "Rule Name", "Rule Description"], *rows, rule])
    return text.replace('"\n"0"', '",\n"0"')  # a last comma for what a metric has not


COLUMNS = (
    "Instructions Executed",
    "Address Space",
    "L1 Tag Requests Global",
    "L1 Wavefronts Shared",
    "L2 Theoretical Sectors Global",
)
LINE = 'x = load(p, policy="evict_last", other=0.0)'
SASS = [
    ("", "      LDC R1, c[0x0][0x28]", 4, "-", 0, 0, 0),
    ("37", "      LDG.E.U16 R2, [R2.64]", 32, "Global", 32, 0, 64),
    ("37", "      IMAD R2, R2, R3, R4", 32, "-", 0, 0, 0),
    ("37", "@!PT  LDS RZ, [RZ]", 32, "", 0, 0, 0),
    ("39", "@!P0  STG.E.U16 [R2.64], R5", 32, "Global", 32, 0, 80),
]
"""Line, instruction, and what COLUMNS have of one program."""


def source_page(programs: int = 1000, file: str = "File Path") -> str:
    """Return a source page with the lines of the program."""
    rows: list[list[object]] = [[file, "/src/make.py"], ["Function Name", "softmax"]]
    rows.append(["Line No", "Source", "Address", "Source", *COLUMNS])
    last = ""
    for at, (line, text, *counts) in enumerate(SASS):
        total = [count * programs if isinstance(count, int) else count for count in counts]
        if line != last:
            rows.append([line, LINE, "-", "-", *total])
        rows.append(["", "", f"0x7f{at * 16:04x}", text, *total])
        rows.append(["", "", "...", "...", *["-"] * len(counts)])
        last = line
    return written(rows)


def measured(run: Run, text: str, *options: str) -> Any:
    """Return what the JSON has of the one module."""
    Path("ncu.csv").write_text(text, encoding="utf-8")
    outcome = run("audit", "softmax.ttgir", "--ncu", "ncu.csv", "--format", "json", *options)
    assert outcome.status == 0, outcome.err
    [module] = json.loads(outcome.out)["modules"]
    return module["measured"]


@pytest.mark.parametrize("page", [raw(SOFTMAX, SOFTMAX), details(SOFTMAX)])
def test_what_is_counted_is_what_is_predicted(page: str, run: Run) -> None:
    [launch] = measured(run, page, *VALUES)
    assert launch["programs"] == 1000
    assert launch["lines"] == []
    assert not launch["differs"]
    found = {
        f"{c['access']} {c['unit']}": (c["measured"], c["predicted"]) for c in launch["counters"]
    }
    assert found == {name: (1000 * count, 1000 * count) for name, count in SOFTMAX.items()}


def test_launches_of_which_the_same_was_measured_are_one(run: Run) -> None:
    more = {**SOFTMAX, "global load sectors": 66}
    first, second = measured(run, raw(SOFTMAX, more, SOFTMAX), *VALUES)
    assert (first["launches"], second["launches"]) == (["0", "2"], ["1"])
    assert (first["differs"], second["differs"]) == (False, True)


@pytest.mark.parametrize(("sectors", "differs"), [(65, False), (66, True), (0, True)])
def test_more_than_two_percent_is_a_difference(sectors: int, differs: bool, run: Run) -> None:
    [launch] = measured(run, raw({**SOFTMAX, "global load sectors": sectors}), *VALUES)
    assert launch["differs"] is differs
    [counter] = [c for c in launch["counters"] if c["differs"]] or [None]
    if counter is not None:
        expected = round(64 / sectors - 1, 6) if sectors else None
        found = counter["difference"]
        assert (None if found is None else round(found, 6)) == expected


def test_what_is_not_predicted_says_why(run: Run) -> None:
    [launch] = measured(run, raw(SOFTMAX))
    unknown = {c["unknown"] for c in launch["counters"] if c["predicted"] is None}
    assert unknown == {"line 20: it depends on stride", "line 41: it depends on stride"}
    no_grid = raw(SOFTMAX).replace("launch__grid_size", "launch__block_size")
    [launch] = measured(run, no_grid, *VALUES)
    reason = "the number of programs is not known without launch__grid_size"
    assert {c["unknown"] for c in launch["counters"]} == {reason}


def test_lines_of_the_program(run: Run) -> None:
    [launch] = measured(run, source_page(), *VALUES)
    assert launch["programs"] == 1000  # of 4 warps, which execute the first instruction once
    lines = {line["line"]: line["counters"] for line in launch["lines"]}
    assert {c["unit"] for c in lines[37]} == {"instructions", "lines", "sectors"}
    assert {c["access"] for c in lines[37]} == {"global load"}
    assert not any(c["differs"] for c in lines[37])
    [store] = [c for c in lines[39] if c["differs"]]
    assert (store["access"], store["unit"]) == ("global store", "sectors")
    assert (store["measured"], store["predicted"]) == (80_000, 64_000)


@pytest.mark.parametrize(("file", "is_its"), [("C:\\src\\make.py", True), ("/src/lib.py", False)])
def test_lines_are_of_the_file_of_their_name(file: str, is_its: bool, run: Run) -> None:
    page = source_page().replace("/src/make.py", file)
    [launch] = measured(run, page, *VALUES)
    [line] = [one for one in launch["lines"] if (one["file"], one["line"]) == (file, 37)]
    assert {count["predicted"] > 0 for count in line["counters"]} == {is_its}


def test_pages_of_a_gpu(run: Run) -> None:
    """What an H200 counted of two kernels of Triton 3.6 is what is predicted, line by line."""
    Path("ncu.csv").write_bytes((DATA / "h200-source-page.csv").read_bytes())
    for kernel, names in {"matmul": "KN", "transpose": "n"}.items():
        dump = DATA / f"h200-{kernel}.ttgir"
        values = [f"--value={name}=512" for name in [*names]] + ["--value=program_id_x=0"]
        outcome = run("audit", str(dump), "--ncu", "ncu.csv", "--format", "json", *values)
        [launch] = json.loads(outcome.out)["modules"][0]["measured"]
        found = [*launch["counters"], *(c for line in launch["lines"] for c in line["counters"])]
        assert all(c["predicted"] == c["measured"] for c in found)
        assert {c["unit"] for c in found} == {"instructions", "lines", "sectors", "wavefronts"}
        assert {line["line"] for line in launch["lines"]} == set(LINES_OF[kernel])


LINES_OF = {"matmul": [16, 17, 19], "transpose": [24]}


def test_a_locale_with_a_decimal_comma(run: Run) -> None:
    page = raw({**SOFTMAX, "global load sectors": 64.5})
    swap = str.maketrans(",.", ".,")
    swapped = re.sub(r'"\d[\d.,]*"', lambda found: found[0].translate(swap), page)
    assert "64.500,0" in swapped
    assert measured(run, swapped, *VALUES) == measured(run, page, *VALUES)


def test_cells_of_other_writers() -> None:
    plain = 'ID,Kernel Name,smsp__inst_executed_op_ldsm.sum\n,,inst\n0,"f(int, int)","1,024"\n'
    [launch] = read_launches(Source(plain))
    assert launch.counts == {Counter("ldmatrix", "instructions"): 1024}


def test_text(run: Run) -> None:
    Path("ncu.csv").write_text(raw({**SOFTMAX, "global store sectors": 80}), encoding="utf-8")
    options = "--ncu", "ncu.csv", *VALUES
    lines = run("audit", "softmax.ttgir", *options).out.splitlines()
    head = "measured of @softmax, launch 0, 1000 programs: "
    assert head + "1 of 10 predictions differ by more than 2%" in lines
    words = [" ".join(line.split()) for line in lines]
    assert "global store sectors 80,000 64,000 -20.0%, differs" in words
    plain = run("audit", "softmax.ttgir", *VALUES).out.splitlines()
    start = lines.index(head + "1 of 10 predictions differ by more than 2%") - 1
    assert lines[:start] + lines[start + 13 :] == plain


def test_a_small_difference_is_shown_and_no_difference(run: Run) -> None:
    Path("ncu.csv").write_text(raw({**SOFTMAX, "global store sectors": 64.5}), encoding="utf-8")
    lines = run("audit", "softmax.ttgir", "--ncu", "ncu.csv", *VALUES).out.splitlines()
    words = [" ".join(line.split()) for line in lines]
    assert "global store sectors 64,500 64,000 -0.8%" in words


def test_an_instruction_of_two_lines_is_counted_once() -> None:
    page = source_page(file="File Name")
    inlined = page + page.split("\n", 1)[1].replace("/src/make.py", "/src/lib.py")
    [launch] = read_launches(Source(inlined))
    assert launch.counts[Counter("global load", "sectors")] == 64_000
    assert {place.file for place in launch.lines} == {"/src/make.py", "/src/lib.py"}
    assert SourceLine("/src/lib.py", 37) in launch.lines
    assert len(read_launches(Source(page + page))) == 2


def test_instructions_alone() -> None:
    rows: list[list[object]] = [["Kernel Name", "softmax(float *)"]]
    rows.append(["Address", "Source", *COLUMNS])
    rows += [[hex(16 * at), text, *counts] for at, (_, text, *counts) in enumerate(SASS)]
    page = written(rows).replace('*)"', '*)",')
    [launch] = read_launches(Source(page))
    assert launch.kernel == "softmax(float *)"
    assert launch.lines == {}
    assert launch.warps == 4
    assert launch.counts[Counter("global store", "lines")] == 32
    assert Counter("shared load", "instructions") not in launch.counts


FOREIGN = {
    "a,b\n1,2\n": "found no page of Nsight Compute",
    "no table": "found no page of Nsight Compute",
    raw(SOFTMAX, kernel="o\x1b[31mther"): "measures no kernel of the dump, but 'o\\x1b[31mther'",
    raw(SOFTMAX).replace("32,000", "many", 1): "expected a count, got 'many'",
    raw(SOFTMAX).replace("32,000", "1e300", 1): "expected a count, got '1e300'",
    raw(SOFTMAX).replace("smsp__", "x").replace("l1tex__", "x"): "has none of the counters",
    written([["File Name", "x.py"], ["Line No", "Source"], ["1", "x"]]): "with --print-source",
    written([["Kernel Name", "Metric Name", "Minimum", "Average"]]): "without --print-summary",
}


@pytest.mark.parametrize("text", FOREIGN)
def test_foreign_files_are_refused(text: str, run: Run) -> None:
    Path("ncu.csv").write_text(text, encoding="utf-8")
    outcome = run("audit", "softmax.ttgir", "--ncu", "ncu.csv")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("ncu.csv:")
    assert FOREIGN[text] in outcome.err
    assert outcome.err.count("\n") == 1


def test_it_is_for_one_dump(run: Run) -> None:
    Path("ncu.csv").write_text(raw(SOFTMAX), encoding="utf-8")
    for options in (["--diff"], ["--axis-info"], ["matmul.ttgir"], ["--format", "github"]):
        outcome = run("audit", "softmax.ttgir", "--ncu", "ncu.csv", *options)
        assert (outcome.status, outcome.out) == (2, "")
        assert "--ncu is for the report of one dump" in outcome.err
    assert run("audit", "softmax.ttgir", "--ncu", "none.csv").status == 2
    outcome = run("audit", "softmax.ttgir", "--ncu", "softmax.ncu-rep")
    assert "ncu --import softmax.ncu-rep --csv" in outcome.err


def test_too_large_cells_are_refused() -> None:
    with pytest.raises(LayoutError, match="cannot read as CSV"):
        read_launches(Source("ID,Kernel Name\n0," + "x" * 200_000 + "\n"))


KERNELS = 12


@pytest.mark.slow
def test_kernels_that_ran_on_a_gpu(run: Run) -> None:
    """Requests and sectors are those that an H100 counted, but where the dump divides by zero."""
    units = [(kind, unit) for kind in ("load", "store") for unit in ("requests", "sectors")]
    known = 0
    with gzip.open(DATA / "h100-global-memory.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, islice(lines, KERNELS)):
            counts = {f"global {k} {unit}": row["counters"][f"{k}_{unit}"] for k, unit in units}
            kernel = row["ttgir"].partition("@")[2].partition("(")[0]
            Path("softmax.ttgir").write_text(row["ttgir"], encoding="utf-8")
            values = [f"--value={name}={number}" for name, number in row["args"].items()]
            [launch] = measured(run, raw(counts, programs=1, kernel=kernel), *values)
            assert all(c["predicted"] in (c["measured"], None) for c in launch["counters"])
            known += sum(c["predicted"] is not None for c in launch["counters"])
    assert known >= 4 * (KERNELS - 1)


# -- counters that others are better than ---------------------------------------------------

PLAIN_STORE = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
LSU = "l1tex__data_pipe_lsu_wavefronts"


def raw_of(metrics: Mapping[str, float], programs: int = 1000) -> str:
    """Return a raw page of metrics by the names that Nsight Compute gives them."""
    fixed = ["ID", "Kernel Name", "Grid Size"]
    numbers = [f"{count * programs:,}" for count in metrics.values()]
    return written(
        [[*fixed, *metrics], ["", "", "", *["inst"] * len(metrics)],
         ["0", "softmax", f"({programs}, 1, 1)", *numbers]]
    )  # fmt: skip


def test_turns_of_other_traffic_are_left_out_where_they_can_be(run: Run) -> None:
    both = {METRIC["shared store wavefronts"]: 9, PLAIN_STORE: 8}
    for metrics in (both, dict(reversed(both.items()))):
        [launch] = measured(run, raw_of(metrics), *VALUES)
        [counter] = launch["counters"]
        assert (counter["access"], counter["unit"]) == ("shared store", "wavefronts")
        assert (counter["measured"], counter["differs"], counter["cause"]) == (8000, False, None)


def test_wavefronts_of_global_memory_are_lines_roughly(run: Run) -> None:
    for of_all, differs in ((80, False), (100, False), (200, True)):
        metrics = {f"{LSU}.sum": of_all, f"{LSU}_mem_shared.sum": 16}
        [launch] = measured(run, raw_of(metrics), *VALUES)
        [counter] = launch["counters"]
        assert (counter["access"], counter["unit"]) == ("global access", "wavefronts")
        assert (counter["measured"], counter["predicted"]) == ((of_all - 16) * 1000, 64_000)
        assert counter["differs"] is differs


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"shared store wavefronts": 9}, "arbitration with other traffic"),
        ({"shared store wavefronts": 9, "shared store instructions": 9}, None),
        ({"shared store wavefronts": 7}, None),
        ({"global store instructions": 30}, None),
    ],
)
def test_a_difference_has_a_cause_where_one_is_known(
    changes: Mapping[str, float], cause: str | None, run: Run
) -> None:
    [launch] = measured(run, raw({**SOFTMAX, **changes}), *VALUES)
    [found] = {c["cause"] for c in launch["counters"] if c["differs"]}
    assert found == cause


def test_what_hardly_differs_needs_no_cause(run: Run) -> None:
    [launch] = measured(run, raw({**SOFTMAX, "shared store wavefronts": 8.05}), *VALUES)
    assert {(c["differs"], c["cause"]) for c in launch["counters"]} == {(False, None)}


MASKED = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @softmax(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %x = tt.get_program_id x : i32
    %c = arith.constant 128 : i32
    %o = arith.muli %x, %c : i32
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #a>
    %os = tt.splat %o : i32 -> tensor<128xi32, #a>
    %i = arith.addi %os, %r : tensor<128xi32, #a>
    %ns = tt.splat %n : i32 -> tensor<128xi32, #a>
    %m = arith.cmpi slt, %i, %ns : tensor<128xi32, #a>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #a>
    %q = tt.addptr %ps, %i : tensor<128x!tt.ptr<f32>, #a>, tensor<128xi32, #a>
    %v = tt.load %q, %m : tensor<128x!tt.ptr<f32>, #a>
    tt.return
  }
}
"""


def test_the_programs_of_the_grid_are_added_up(run: Run) -> None:
    """Of three blocks of 128 the last has 40 elements: two warps of it have no active lane."""
    Path("softmax.ttgir").write_text(MASKED, encoding="utf-8")
    counts = {"global load instructions": 11, "global load requests": 10}
    page = raw({**counts, "global load sectors": 37}, programs=1).replace('"1"', '"3"')
    [launch] = measured(run, page, "--value=n=296")
    found = {c["unit"]: (c["predicted"], c["cause"]) for c in launch["counters"]}
    why = "warps branch around what none of their lanes does"
    assert found == {"instructions": (12, why), "requests": (10, None), "sectors": (37, None)}


HISTOGRAM = """
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @count(%x: tensor<2048xi32, #a>) {
  %h = tt.histogram %x : tensor<2048xi32, #a> -> tensor<128xi32, #b>
  tt.return
}
}
"""


def test_atomic_additions_of_a_histogram_are_no_stores(run: Run, tmp_path: Path) -> None:
    """As an H100 counted: each warp stores zeros once, adds, and loads once."""
    counts = {f"shared {end}": 4 for end in ("load instructions", "store instructions")}
    counts |= {f"shared {end}": 4 for end in ("load wavefronts", "store wavefronts")}
    (tmp_path / "count.ttgir").write_text(HISTOGRAM)
    (tmp_path / "count.csv").write_text(raw(counts, kernel="count"))
    found = run("audit", "count.ttgir", "--ncu", "count.csv", "--format", "json")
    [launch] = json.loads(found.out)["modules"][0]["measured"]
    assert [(one["measured"], one["predicted"]) for one in launch["counters"]] == [(4000, 4000)] * 4
