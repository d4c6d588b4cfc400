"""Two folders of dumps, kernel by kernel: planted differences are found, and none else."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import slow

from tt_layout import audit_ir
from tt_layout.audit.kernel import kernels_of

DUMP = """\
#blocked = #ttg.blocked<{{sizePerThread = [{wide}], threadsPerWarp = [32], warpsPerCTA = [{warps}],
                         order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func public @{name}(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i{bits}) {{
    %i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32, #blocked>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<{size}x!tt.ptr<f16>, #blocked>
    %a = tt.addptr %p, %i : tensor<{size}x!tt.ptr<f16>, #blocked>, tensor<{size}xi32, #blocked>
    %v = tt.load %a : tensor<{size}x!tt.ptr<f16>, #blocked>
    tt.store %a, %v : tensor<{size}x!tt.ptr<f16>, #blocked>
    tt.return
  }}
}}
"""


def dump(name: str, *, wide: int = 4, warps: int = 4, bits: int = 32, size: int = 4096) -> str:
    return DUMP.format(name=name, wide=wide, warps=warps, bits=bits, size=size)


def write(folder: Path, texts: dict[str, str], seed: int) -> None:
    """Write dumps as Triton's cache has them: each in a folder called by a hash."""
    rng = random.Random(seed)
    for name, text in texts.items():
        own = folder / f"{rng.getrandbits(64):x}"
        own.mkdir(parents=True)
        (own / f"{name.partition('-')[0]}.ttgir").write_text(text)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


PLANTED = {
    "more expensive": {f"k{at}" for at in (3, 17, 25)} | {"k21"},
    "cheaper": {f"k{at}" for at in (4, 18)},
    "new": {"fresh", "k8"},
    "gone": {"k9", "k15"},
}


@pytest.fixture(scope="module")
def kernels(request: pytest.FixtureRequest) -> int:
    """Return how many kernels there are."""
    return int(getattr(request, "param", 29))


@pytest.fixture(scope="module")
def folders(kernels: int, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two folders of so many dumps and one, the second a changed copy of the first.

    Three kernels move less at a time, two more, one got a layout of too many warps, two are gone,
    one is new, one is compiled once more for another type of argument; aliases have other names.
    """
    before = {f"k{at}": dump(f"k{at}", size=1024 << at % 3) for at in range(kernels)}
    before["k5-again"] = dump("k5", size=2048, wide=2)
    for at in (4, 18):
        before[f"k{at}"] = dump(f"k{at}", wide=1, size=1024 << at % 3)
    after = dict(before)
    for at in (3, 17, 25):
        after[f"k{at}"] = dump(f"k{at}", wide=1, size=1024 << at % 3)
    for at in (4, 18):
        after[f"k{at}"] = dump(f"k{at}", wide=8, size=1024 << at % 3)
    after["k21"] = dump("k21", warps=8)
    del after["k9"], after["k15"]
    after["fresh"] = dump("fresh")
    after["k8-again"] = dump("k8", bits=64)
    after = {name: text.replace("#blocked", "#blocked1") for name, text in after.items()}
    folder = tmp_path_factory.mktemp("baseline")
    write(folder / "before", before, 1)
    write(folder / "after", after, 2)
    return folder / "before", folder / "after"


def verdicts(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for kernel in json.loads(text)["kernels"]:
        found.setdefault(kernel["verdict"], set()).add(kernel["function"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kernels", [29, slow(199)], indirect=True)
def test_planted_differences_are_found_and_none_else(
    run: Run, folders: tuple[Path, Path], kernels: int
) -> None:
    before, after = folders
    outcome = run("audit", "--baseline", str(before), str(after), "--format", "json")
    assert outcome.status == 1, outcome.err
    found = verdicts(outcome.out)
    del found["the same"]
    assert found == PLANTED
    counts = json.loads(outcome.out)["counts"]
    assert counts["the same"] == kernels - 7
    assert sum(counts.values()) == kernels + 3
    back = verdicts(run("audit", "--baseline", str(after), str(before), "--format", "json").out)
    assert back["new"] == PLANTED["gone"]
    assert back["cheaper"] == PLANTED["more expensive"]


@pytest.mark.slow
def test_the_same_folder_is_the_same(run: Run, folders: tuple[Path, Path], kernels: int) -> None:
    outcome = run("audit", "--baseline", str(folders[0]), str(folders[0]))
    assert outcome.status == 0
    every = kernels + 1
    counts = f"{every} kernels: 0 more expensive, 0 new, 0 changed, 0 cheaper, 0 gone, {every} "
    assert outcome.out.startswith(counts)
    assert outcome.out.count("\n") == 1


def test_a_tolerance_lets_small_differences_pass(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "before", {"k": dump("k", wide=4)}, 1)
    write(tmp_path / "after", {"k": dump("k", wide=1)}, 2)
    arguments = ["audit", "--baseline", str(tmp_path / "before"), str(tmp_path / "after")]
    assert run(*arguments).status == 1
    assert run(*arguments, "--tolerance", "1000").status == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "start"), [("markdown", "**Kernels**: {} kernels"), ("html", "<!doctype html>")]
)
def test_it_is_a_comment_or_a_page(
    run: Run, folders: tuple[Path, Path], kernels: int, form: str, start: str
) -> None:
    outcome = run("audit", "--baseline", *map(str, folders), "--format", form)
    assert outcome.out.startswith(start.format(kernels + 3))
    assert "@k21" in outcome.out
    if form == "markdown":
        rows = [line for line in outcome.out.splitlines() if line.startswith("| ")]
        assert len(rows) == 2 + sum(map(len, PLANTED.values()))
        assert {row.count(" | ") for row in rows} == {7}


def test_names_are_shown_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    hostile = dump("k").replace("@k(", '@"a|b`<script>"(')
    write(tmp_path / "before", {"k": dump("k")}, 1)
    write(tmp_path / "after", {"k": hostile}, 2)
    folders = str(tmp_path / "before"), str(tmp_path / "after")
    comment = run("audit", "--baseline", *folders, "--format", "markdown").out
    assert "a\\|b'" in comment
    page = run("audit", "--baseline", *folders, "--format", "html").out
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "nowhere", "after"], "nowhere"),
        (["--baseline", "before", "after", "after"], "one folder or file, got 2"),
        (["after", "--format", "markdown"], "--format markdown is for --baseline"),
        (["--baseline", "before", "after", "--tolerance", "-1"], "tolerance"),
    ],
)
def test_wrong_usage_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, message: str
) -> None:
    for name in ("before", "after"):
        write(tmp_path / name, {"k": dump("k")}, 1)
    monkeypatch.chdir(tmp_path)
    outcome = run("audit", *arguments)
    assert outcome.status == 2
    assert message in " ".join(outcome.err.split())
    assert "Traceback" not in outcome.err


def compiled(folder: Path, name: str, text: str, **options: int) -> None:
    """Write a dump with what Triton writes beside it."""
    own = folder / name
    own.mkdir(parents=True)
    (own / "k.ttgir").write_text(text)
    metadata = {"name": "k", "hash": name, "num_warps": 4, "shared": 0, "target": {}, **options}
    (own / "k.json").write_text(json.dumps(metadata))


def test_kernels_of_one_name_are_told_apart(run: Run, tmp_path: Path) -> None:
    compiled(tmp_path, "aaaa", dump("k", size=1024), num_stages=2)
    compiled(tmp_path, "bbbb", dump("k", size=2048), num_stages=2)
    compiled(tmp_path, "cccc", dump("k", size=1024), num_stages=3)
    table = run("audit", str(tmp_path)).out
    for words in ("num_stages=2 tile=1024", "num_stages=2 tile=2048", "num_stages=3 tile=1024"):
        assert f"@k {words} " in table
    assert "num_warps=" not in table, "it is the same for all"
    rows = re.findall(
        r"@k num_stages=\d tile=\d+ .*?(aaaa|bbbb|cccc)/k.ttgir:8$", table, re.M | re.S
    )
    assert sorted(rows) == ["aaaa", "bbbb", "cccc"], "the hash comes last"
    [first, *_] = json.loads(run("audit", str(tmp_path), "--format", "json").out)["kernels"]
    assert first["config"]["num_stages"] == "2"
    compared = run("audit", "--baseline", str(tmp_path / "cccc"), str(tmp_path))
    assert "2 new" in compared.out
    assert "1 the same" in compared.out, "the one of the same options"
    assert "@k num_stages=2 tile=1024" not in compared.out.splitlines()[0]


def test_a_tile_is_the_largest_product_else_the_largest_tensor() -> None:
    kernels = Path(__file__).parents[2] / "examples" / "kernels"
    for name, tile in (("matmul-sm80", "128x64x16"), ("softmax-sm90", "4x1024")):
        [kernel] = kernels_of(audit_ir(str(kernels / f"{name}.ttgir")).audits[0])
        assert kernel.config["tile"] == tile


def test_kernels_of_the_same_options_are_told_apart_by_what_they_take(
    run: Run, tmp_path: Path
) -> None:
    for name, most in (("aaaa", 255), ("bbbb", 24)):
        compiled(tmp_path, name, dump("k"), maxnreg=64, shared=most)
    table = run("audit", str(tmp_path)).out
    assert "@k shared=24 " in table
    assert "@k shared=255 " in table
