"""``audit --diff --bits``: which reductions of two dumps give the same bits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner

ROOT = Path(__file__).parents[2]
ADD, MAX = "arith.addf %a, %b : f32", "arith.maxnumf %a, %b : f32"
FEW = "sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2]"
MANY = "sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4]"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def dump(
    folder: Path,
    layout: str,
    *combiners: str,
    attributes: str = "axis = 0 : i32",
    head: str = '"ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"',
    size: int = 1024,
) -> str:
    """Write a module with a reduction for each combiner; return its name."""
    own = f"tensor<{size}xf32, #blocked>"
    lines = [
        f'    %r{at} = "tt.reduce"(%x) <{{{attributes}}}> ({{\n'
        f"    ^bb0(%a: f32, %b: f32):\n      %c = {combiner}\n"
        f"      tt.reduce.return %c : f32\n    }}) : ({own}) -> f32"
        for at, combiner in enumerate(combiners)
    ]
    path = folder / f"{len(list(folder.iterdir()))}.ttgir"
    body = "\n".join(lines)
    path.write_text(
        f"#blocked = #ttg.blocked<{{{layout}, order = [0]}}>\n"
        f"module attributes {{{head}}} {{\n"
        f"  tt.func public @f(%x: {own}) {{\n{body}\n    tt.return\n  }}\n}}\n"
    )
    return str(path)


def test_another_number_of_warps_gives_other_bits(run: Run, tmp_path: Path) -> None:
    """Of 1,024 elements 2 warps hold 256 at a time, 4 warps 512; maxima are the same."""
    files = [dump(tmp_path, layout, ADD, MAX) for layout in (FEW, MANY)]
    done = run("audit", *files, "--diff", "--bits")
    assert done.status == 1
    assert done.out.splitlines()[2:] == [
        "2 reductions, 1 with other bits",
        "  line 4, @f: sums of 1024 elements of f32, sm90, Triton 3.9; step 3: the first adds "
        "256-259 to 0-3; the second adds 512-515",
        "only the order within reductions is compared: not that of loops, tt.dot and atomics",
    ]
    found = json.loads(run("audit", *files, "--diff", "--bits", "--format", "json").out)
    [comparison] = found["comparisons"]
    assert [one["has_same_bits"] for one in comparison["reductions"]] == [False, True]
    assert comparison["reductions"][0]["difference"]["step"] == 3


def test_a_dump_gives_the_bits_of_itself(run: Run) -> None:
    path = str(ROOT / "examples" / "kernels" / "attention-sm90.ttgir")
    done = run("audit", path, path, "--diff", "--bits")
    assert done.status == 0
    assert "2 reductions, 0 with other bits" in done.out


def test_inner_tree_gives_the_same_bits_under_any_layout(run: Run, tmp_path: Path) -> None:
    ordering = 'axis = 0 : i32, reduction_ordering = "inner_tree"'
    files = [dump(tmp_path, layout, ADD, attributes=ordering) for layout in (FEW, MANY)]
    assert run("audit", *files, "--diff", "--bits").status == 0


def test_several_operations_are_not_packed(run: Run, tmp_path: Path) -> None:
    """A GPU that adds pairs does so only where one operation combines."""
    long = f"{ADD}\n      %d = arith.mulf %c, %c : f32"
    heads = [f'"ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:{n}"' for n in (90, 100)]
    plain = [dump(tmp_path, MANY, ADD, head=head) for head in heads]
    several = [dump(tmp_path, MANY, long, head=head) for head in heads]
    assert run("audit", *plain, "--diff", "--bits").status == 1
    assert run("audit", *several, "--diff", "--bits").status == 0


UNKNOWN = {
    "another size": ({"size": 512}, "1024 elements before, 512 after"),
    "intel": (
        {"head": '"ttg.threads-per-warp" = 16 : i32'},
        "Intel's compiler of SPIR-V adds up a sub-group in an order of its own",
    ),
    "no axis": ({"attributes": ""}, "does not determine the layout or the axis"),
}


@pytest.mark.parametrize(("changed", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_not_the_same(
    run: Run, tmp_path: Path, changed: dict[str, str], reason: str
) -> None:
    layout = MANY.replace("32", "16") if "head" in changed else MANY
    files = [dump(tmp_path, MANY, ADD), dump(tmp_path, layout, ADD, **changed)]  # type: ignore[arg-type]
    done = run("audit", *files, "--diff", "--bits")
    assert done.status == 1
    assert reason in done.out


def test_dumps_with_other_reductions_are_not_compared(run: Run, tmp_path: Path) -> None:
    files = [dump(tmp_path, MANY, ADD), dump(tmp_path, MANY, ADD, ADD)]
    done = run("audit", *files, "--diff", "--bits")
    assert done.status == 1
    assert "1 reduction before, 2 after: none is compared" in done.out


def test_a_line_of_a_dump_has_its_own_layout_and_axis(run: Run, tmp_path: Path) -> None:
    ordering = 'axis = 0 : i32, reduction_ordering = "inner_tree"'
    for attributes, added in (("axis = 0 : i32", ""), (ordering, ", inner_tree")):
        path = dump(tmp_path, MANY, ADD, attributes=attributes)
        done = run("reduce", f"{path}:4")
        said = f"sum of 1024 elements of f32 along dimension 0, sm90, Triton 3.9{added}"
        assert done.out.splitlines()[0] == said
    done = run("reduce", f"{path}:5", "--axis", "0")
    assert done.status == 2
    assert "no reduction is on that line" in done.err


def test_bits_need_two_dumps(run: Run, tmp_path: Path) -> None:
    done = run("audit", dump(tmp_path, MANY, ADD), "--bits")
    assert done.status == 2
    assert "give --diff, too" in done.err
