"""A kernel that waits for a flag or a lock has neither a time nor a bound of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command import Run, runner

import tt_layout
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.editing.hover import hover
from tt_layout.editing.piece import EditedPiece, PieceCache
from tt_layout.mlir.source import in_file

FLAG = """scf.while : () -> () {
      %v = tt.atomic_rmw add, acq_rel, gpu, %p, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %again = arith.cmpi eq, %v, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    }"""

LOCK = """scf.while : () -> () {
      %v = tt.atomic_cas acq_rel, gpu, %p, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %again = arith.cmpi eq, %v, %one : i32
      scf.condition(%again)
    } do {
      scf.yield
    }"""

VOLATILE = """%first = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    scf.while (%v = %first) : (i32) -> () {
      %again = arith.cmpi eq, %v, %zero : i32
      scf.condition(%again)
    } do {
      %next = tt.load %p {isVolatile = true} : !tt.ptr<i32>
      scf.yield %next : i32
    }"""

CHAIN = """%end = scf.while (%v = %zero) : (i32) -> i32 {
      %again = arith.cmpi slt, %v, %n : i32
      scf.condition(%again) %v : i32
    } do {
    ^bb0(%w: i32):
      %q = tt.addptr %flags, %w : !tt.ptr<i32>, i32
      %next = tt.load %q : !tt.ptr<i32>
      scf.yield %next : i32
    }"""
"""Each number is the place of the next: it walks on by itself."""

WORK = """%first = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %end = scf.while (%v = %first) : (i32) -> i32 {
      %again = arith.cmpi slt, %v, %n : i32
      scf.condition(%again) %v : i32
    } do {
    ^bb0(%w: i32):
      tt.store %py, %x : tensor<512x!tt.ptr<f32>, #b>
      %next = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
      scf.yield %next : i32
    }"""
"""Each program takes the next piece of work, as long as there is any."""

HALVING = """%end = scf.while (%v = %n) : (i32) -> i32 {
      %again = arith.cmpi sgt, %v, %one : i32
      scf.condition(%again) %v : i32
    } do {
    ^bb0(%w: i32):
      %seen = tt.load %p : !tt.ptr<i32>
      %next = arith.shrsi %w, %one : i32
      scf.yield %next : i32
    }"""
"""What it reads does not decide when it ends."""


BRANCHES = """cf.br ^wait
  ^wait:
    %v = tt.atomic_rmw add, acq_rel, gpu, %p, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %again = arith.cmpi eq, %v, %zero : i32
    cf.cond_br %again, ^wait, ^done
  ^done:"""
"""A loop of branches waits for a flag."""

TWO_BLOCKS = """cf.br ^ask(%zero : i32)
  ^ask(%tries: i32):
    %v = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    %again = arith.cmpi eq, %v, %zero : i32
    cf.cond_br %again, ^more, ^done
  ^more:
    %tried = arith.addi %tries, %one : i32
    cf.br ^ask(%tried : i32)
  ^done:"""
"""It counts how often it asks."""

CHAIN_OF_BRANCHES = """cf.br ^walk(%zero : i32)
  ^walk(%w: i32):
    %q = tt.addptr %flags, %w : !tt.ptr<i32>, i32
    %next = tt.load %q : !tt.ptr<i32>
    %again = arith.cmpi slt, %next, %n : i32
    cf.cond_br %again, ^walk(%next : i32), ^done
  ^done:"""
"""Each number is the place of the next."""

WORK_BY_BRANCHES = """cf.br ^take
  ^take:
    tt.store %py, %x : tensor<512x!tt.ptr<f32>, #b>
    %v = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %again = arith.cmpi slt, %v, %n : i32
    cf.cond_br %again, ^take, ^done
  ^done:"""


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def kernel(loop: str) -> str:
    return f"""
#b = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%flags: !tt.ptr<i32> {{tt.divisibility = 16 : i32}},
             %y: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %p = tt.addptr %flags, %pid : !tt.ptr<i32>, i32
    %i = tt.make_range {{end = 512 : i32, start = 0 : i32}} : tensor<512xi32, #b>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %py = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %py : tensor<512x!tt.ptr<f32>, #b>
    {loop}
    tt.store %py, %x : tensor<512x!tt.ptr<f32>, #b>
    tt.return
  }}
}}
"""


def audited(loop: str, grid: tuple[int, ...] | None) -> Kernel:
    [audit] = tt_layout.audit_ir(kernel(loop)).audits
    [found] = kernels_of(audit, grid)
    return found


@pytest.mark.parametrize("grid", [None, (100,)])
@pytest.mark.parametrize("loop", [FLAG, LOCK, VOLATILE], ids=["flag", "lock", "volatile"])
def test_a_wait_has_neither_a_time_nor_a_bound(loop: str, grid: tuple[int, ...] | None) -> None:
    found = audited(loop, grid)
    line = 1 + next(n for n, text in enumerate(kernel(loop).split("\n")) if "scf.while" in text)
    waits = f"waits in the loop at line {line} for what others write"
    assert found.verdict == f"{waits}; no findings"
    assert found.untimed is not None
    assert found.untimed.text == f"no estimate of its time: it {waits}"
    assert (found.bounds, found.bound, found.facts.bound_cycles) == (None, None, None)


@pytest.mark.parametrize("loop", [BRANCHES, TWO_BLOCKS], ids=["flag", "two blocks"])
def test_a_loop_of_branches_may_wait(loop: str) -> None:
    found = audited(loop, (100,))
    asks = ("tt.atomic_rmw add", "isVolatile")
    lines = kernel(loop).split("\n")
    line = 1 + next(n for n, text in enumerate(lines) if any(ask in text for ask in asks))
    waits = f"waits in the loop at line {line} for what others write"
    assert found.verdict == f"{waits}; no findings"
    assert (found.bounds, found.bound, found.facts.bound_cycles) == (None, None, None)


@pytest.mark.parametrize("loop", [CHAIN_OF_BRANCHES, WORK_BY_BRANCHES], ids=["chain", "work"])
def test_a_loop_of_branches_that_goes_on_by_itself_is_no_wait(loop: str) -> None:
    assert "waits" not in audited(loop, (100,)).verdict


@pytest.mark.parametrize("loop", [FLAG, BRANCHES], ids=["loop", "branches"])
def test_a_kernel_waits_where_a_function_does_that_it_calls(loop: str) -> None:
    """The function that is called by a function that the kernel calls."""
    head, body = kernel("tt.call @outer(%p) : (!tt.ptr<i32>) -> ()").rsplit("  }\n}", 1)
    text = f"""{head}  }}
  tt.func private @outer(%p: !tt.ptr<i32>) attributes {{noinline = true}} {{
    tt.call @inner(%p) : (!tt.ptr<i32>) -> ()
    tt.return
  }}
  tt.func private @inner(%p: !tt.ptr<i32>) attributes {{noinline = true}} {{
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    {loop}
    tt.return
  }}
}}{body}"""
    [audit] = tt_layout.audit_ir(text).audits
    found = next(one for one in kernels_of(audit, (100,)) if one.symbol == "f")
    assert found.verdict.startswith("waits in the loop at line ")
    assert found.bound is None


def page_of(dump: Path, run: Run) -> str:
    written = dump.with_suffix(".html")
    assert run("page", str(dump), "-o", str(written)).status == 0
    return written.read_text()


def hover_of(dump: Path, run: Run) -> str:
    text = dump.read_text()
    line = 1 + next(n for n, part in enumerate(text.split("\n")) if "tt.func" in part)
    found = hover(EditedPiece(text, PieceCache()), line, 5)
    assert found is not None
    return in_file(found.markdown(has_pictures=False), 0)


SURFACES: dict[str, Callable[[Path, Run], str]] = {
    "text": lambda dump, run: run("audit", str(dump)).out,
    "json": lambda dump, run: run("audit", str(dump), "--format", "json").out,
    "page": page_of,
    "hover in Markdown": hover_of,
}


@pytest.mark.parametrize("surface", SURFACES)
def test_an_error_comes_before_a_wait(surface: str, run: Run, tmp_path: Path) -> None:
    dump = tmp_path / "k.ttgir"
    dump.write_text(kernel(FLAG).replace("ttg.target", "ttg.shared = 1049088 : i32, ttg.target"))
    said = " ".join(SURFACES[surface](dump, run).split())
    first = "1 error on line 4: @f takes 1049088 bytes of shared memory, but a CTA may have 232448"
    assert f"{first}; waits in the loop at line 15 for what others write" in said


@pytest.mark.parametrize("loop", [CHAIN, WORK, HALVING], ids=["chain", "work", "halving"])
def test_a_loop_that_goes_on_by_itself_is_no_wait(loop: str) -> None:
    found = audited(loop, (100,))
    assert "waits" not in found.verdict
    assert found.bound is not None
    assert "if loops run 32 times" in found.verdict
