"""``translate FILE.ttgir --to gluon``: every layout of a dump as a module of Gluon.

Imported in the wheels by hand: of 111 modules (the examples, 50 of real projects) 3.9 imports all,
and makes the dump's attribute of each of 797 constants; 3.6 imports all but three of gfx1250.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from command import Run, runner
from tiers import slow

from tt_layout import parse_ir, parse_layout
from tt_layout.rewriting.gluon_module import gluon_module

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def constants(text: str) -> dict[str, str]:
    """Return the constructor of each constant of a module."""
    assignments = [one for one in ast.parse(text).body if isinstance(one, ast.AnnAssign)]
    return {
        one.target.id: ast.unparse(one.value)
        for one in assignments
        if isinstance(one.target, ast.Name) and one.value is not None
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matmul-sm90", slow("attention-sm100"), slow("attention-gfx950")])
def test_each_constant_is_a_layout_of_the_dump(name: str, run: Run) -> None:
    path = KERNELS / f"{name}.ttgir"
    outcome = run("translate", str(path), "--to", "gluon")
    assert (outcome.status, outcome.err) == (0, "")
    data = json.loads(run("translate", str(path), "--to", "gluon", "--format", "json").out)
    expected = {one["name"]: one["encoding"] for one in data["layouts"] if one["call"]}
    found = constants(outcome.out)
    assert found.keys() == expected.keys()
    for constant, call in found.items():
        assert str(parse_layout(call)) == str(parse_layout(expected[constant]))


def test_names_say_what_a_layout_is_used_for() -> None:
    text = (KERNELS / "matmul-sm90.ttgir").read_text(encoding="utf-8")
    [module] = parse_ir(text)
    made = gluon_module(module, "matmul-sm90.ttgir")
    names = {layout.name: layout.encoding.mnemonic for layout in made.layouts}
    assert names["acc"] == "nvidia_mma"
    assert names["a_smem"] == names["b_smem"] == "nvmma_shared"
    dots = [use for use in made.uses if use.operation == "ttng.warp_group_dot"]
    assert [name for _, name in dots[0].types] == ["a_smem", "b_smem", "acc"]
    assert dots[0].location == "make.py:36:17"
    allocated = [use.types for use in made.uses if use.operation == "ttg.local_alloc"]
    assert allocated == [
        (("memdesc<3x128x32xf16>", "a_smem"),),
        (("memdesc<3x32x64xf16>", "b_smem"),),
    ]


def test_an_accumulator_in_tensor_memory_is_named_after_that() -> None:
    [module] = parse_ir((KERNELS / "matmul-sm100.ttgir").read_text(encoding="utf-8"))
    names = {one.encoding.mnemonic: one.name for one in gluon_module(module, "a.ttgir").layouts}
    assert names["tensor_memory_encoding"] == "acc_tmem"


def test_operands_that_are_no_tensors_name_no_layout() -> None:
    layout = (
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>"
    )
    text = f"""#rows = {layout}
    tt.func @f(%x: tensor<32xf32, #rows>, %n: i32) {{
      %y = math.exp %x : tensor<32xf32, #rows>
      %d = tt.dot %n, %n, %n : i32
      tt.return
    }}"""
    [module] = parse_ir(text)
    assert [one.name for one in gluon_module(module, "a.ttgir").layouts] == ["rows"]


TWO = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32} {
  tt.func @f() {
    %0 = arith.constant dense<0.0> : tensor<128xf32, #a>
    tt.return
  }
  tt.func @g() {
    %0 = arith.constant dense<0.0> : tensor<128xf32, #b>
    tt.return
  }
}
"""


def test_no_layout_is_called_as_the_module_that_makes_them(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.ttgir"
    path.write_text(TWO.replace("#a", "#gl"))
    assert list(constants(run("translate", str(path), "--to", "gluon").out)) == ["gl_2", "b"]


def test_of_one_function(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.ttgir"
    path.write_text(TWO)
    outcome = run("translate", f"{path}@g", "--to", "gluon")
    assert list(constants(outcome.out)) == ["b"]
    [imported] = [one for one in ast.parse(outcome.out).body if isinstance(one, ast.ImportFrom)]
    assert ast.unparse(imported) == "from triton.experimental.gluon import language as gl"
    assert "#a" not in outcome.out
    assert "OPERATIONS" in outcome.out
    refused = run("translate", f"{path}@h", "--to", "gluon")
    assert (refused.status, refused.out) == (2, "")
    assert "it has no function h: it has f, g" in refused.err


def test_what_gluon_cannot_say_is_listed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.ttgir"
    path.write_text(
        "#g = #ttg.generic_linear<{register = [[3]], lane = [], warp = [], block = []}>\n"
        "module {\n  tt.func @f(%x: tensor<2xf32, #nothing>) {\n    tt.return\n  }\n}\n"
    )
    outcome = run("translate", str(path), "--to", "gluon")
    assert outcome.status == 0
    assert not constants(outcome.out)


def test_what_an_older_release_refuses_has_its_reason(run: Run) -> None:
    why = "# gl.amd.AMDWMMALayout needs Triton 3.7: 3.6 takes warps_per_cta, not warp_bases."
    for name in ("matmul-gfx1250", "matmul-sm90"):
        lines = run("translate", str(KERNELS / f"{name}.ttgir"), "--to", "gluon").out.splitlines()
        assert (why in lines) == (name == "matmul-gfx1250")


def test_another_notation_needs_a_layout(run: Run) -> None:
    outcome = run("translate", str(KERNELS / "matmul-sm90.ttgir"), "--to", "cute")
    assert outcome.status == 2
    assert "a whole dump becomes gluon only; name a layout, FILE:ALIAS, for cute" in outcome.err
