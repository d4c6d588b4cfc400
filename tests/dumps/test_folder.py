"""Dumps of a folder are audited one after the other as if each came alone, and with less work."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from work import calls_of

from tt_layout.audit import audit
from tt_layout.audit.global_memory import cost
from tt_layout.dumps.audits import FileKernels, KernelReader
from tt_layout.dumps.dump import AS_IT_IS
from tt_layout.dumps.processes import results_of_groups
from tt_layout.worker import start_method

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = sorted(EXAMPLES.glob("*/*.ttgir"))
MATMUL = EXAMPLES / "kernels" / "matmul-sm80.ttgir"
CONVOLUTION = EXAMPLES / "kernels" / "convolution-sm80.ttgir"
SOFTMAX = EXAMPLES / "kernels" / "softmax-sm90.ttgir"


def reader(*, explains: bool = True) -> KernelReader:
    return KernelReader(AS_IT_IS, explains=explains)


def variant(folder: Path, kernel: Path, number: int) -> str:
    """Return the name of a file with a kernel whose values have names of their own."""
    text = re.sub(r"%(\w+)", rf"%\g<1>v{number}", kernel.read_text(encoding="utf-8"))
    path = folder / f"{kernel.stem}-{number}.ttgir"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_table_of_kernels_sums_up_no_executions_and_bounds_no_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    for name in ("run_bounds", "_all_executions"):
        answer = getattr(cost, name)

        def noted(*arguments: Any, name: str = name, answer: Callable[..., Any] = answer) -> Any:
            asked.append(name)
            return answer(*arguments)

        monkeypatch.setattr(cost, name, noted)
    whole, listed = (reader(explains=explains).read(str(CONVOLUTION)) for explains in (True, False))
    assert {*asked} == {"run_bounds", "_all_executions"}
    asked.clear()
    assert reader(explains=False).read(str(CONVOLUTION)) == listed
    assert not asked
    assert isinstance(whole, FileKernels)
    assert isinstance(listed, FileKernels)
    assert [kernel.rank for kernel in listed.kernels] == [kernel.rank for kernel in whole.kernels]


@pytest.mark.slow
def test_a_dump_is_audited_as_if_alone(tmp_path: Path) -> None:
    names = [variant(tmp_path, kernel, number) for number in (1, 2) for kernel in KERNELS[::20]]
    together = reader()
    assert [together.read(name) for name in names] == [reader().read(name) for name in names]


def test_the_same_dump_in_other_folders_is_audited_once(tmp_path: Path) -> None:
    text = SOFTMAX.read_text(encoding="utf-8")
    names = [str(tmp_path / process / "softmax.ttgir") for process in "01"]
    for name in names:
        Path(name).parent.mkdir()
        Path(name).write_text(text, encoding="utf-8")
    together = reader()
    calls = [calls_of(partial(together.read, name)) for name in names]
    assert calls[1] * 100 < calls[0]
    first, second = map(together.read, names)
    assert isinstance(first, FileKernels)
    assert isinstance(second, FileKernels)
    assert [kernel.with_values(file=names[1]) for kernel in first.kernels] == [*second.kernels]
    Path(names[1]).with_suffix(".json").write_text('{"name": "launched", "shared": 7}')
    assert together.read(names[1]) == reader().read(names[1]) != second


def test_what_dumps_have_in_common_is_found_out_once(tmp_path: Path) -> None:
    names = [variant(tmp_path, MATMUL, number) for number in (1, 2, 3)]
    together = reader()
    for name in names[:2]:
        together.read(name)
    alone = calls_of(partial(reader().read, names[2]))
    assert calls_of(partial(together.read, names[2])) * 1.5 < alone


def test_no_layout_is_described_for_a_table_of_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[object] = []

    def describing(*module: object) -> tuple[()]:
        described.append(module)
        return ()

    monkeypatch.setattr(audit, "layout_rows", describing)
    path = Path(of_other_layouts(tmp_path, 2))
    assert isinstance(reader(explains=False).read(str(path)), FileKernels)
    assert not described
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("warpsPerCTA = [2, 2]", "warpsPerCTA = [2, 1]"), encoding="utf-8")
    assert isinstance(reader(explains=False).read(str(path)), FileKernels)
    assert described  # a layout is for fewer warps: the finding names where it is used


def of_other_layouts(folder: Path, number: int, stride: int = 64) -> str:
    """Return the name of a file with a kernel of other names, layouts and distances of rows."""
    size, lanes = 1 << number % 3, 1 << number // 3
    layout = f"sizePerThread = [1, {size}], threadsPerWarp = [{32 // lanes}, {lanes}]"
    text = f"""
#a = #ttg.blocked<{{{layout}, warpsPerCTA = [2, 2], order = [1, 0]}}>
#r = #ttg.slice<{{dim = 1, parent = #a}}>
#c = #ttg.slice<{{dim = 0, parent = #a}}>
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32,
                   ttg.target = "cuda:90"}} {{
  tt.func public @copy(%p{number}: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n{number}: i32) {{
    %s = arith.constant dense<{stride}> : tensor<64x1xi32, #a>
    %i{number} = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #r>
    %j{number} = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #c>
    %0 = tt.expand_dims %i{number} {{axis = 1 : i32}} : tensor<64xi32, #r> -> tensor<64x1xi32, #a>
    %1 = tt.expand_dims %j{number} {{axis = 0 : i32}} : tensor<64xi32, #c> -> tensor<1x64xi32, #a>
    %2 = arith.muli %0, %s : tensor<64x1xi32, #a>
    %3 = tt.broadcast %2 : tensor<64x1xi32, #a> -> tensor<64x64xi32, #a>
    %4 = tt.broadcast %1 : tensor<1x64xi32, #a> -> tensor<64x64xi32, #a>
    %5 = arith.addi %3, %4 : tensor<64x64xi32, #a>
    %6 = tt.splat %p{number} : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #a>
    %7 = tt.addptr %6, %5 : tensor<64x64x!tt.ptr<f32>, #a>, tensor<64x64xi32, #a>
    %8 = tt.load %7 : tensor<64x64x!tt.ptr<f32>, #a>
    tt.store %7, %8 : tensor<64x64x!tt.ptr<f32>, #a>
    tt.return
  }}
}}
"""
    path = folder / f"{number}-{stride}.ttgir"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_kernel_of_other_layouts_or_constants_is_audited_as_if_alone(tmp_path: Path) -> None:
    numbers = [(number, stride) for number in range(0, 9, 2) for stride in (64, 1)] * 2
    names = [of_other_layouts(tmp_path, *number) for number in numbers]
    together = reader(explains=False)
    found = {name: together.read(name) for name in names}
    assert found == {name: reader(explains=False).read(name) for name in found}
    cycles = {
        name: [kernel.cycles for kernel in kernels.kernels]
        for name, kernels in found.items()
        if isinstance(kernels, FileKernels)
    }
    assert len(cycles) == len(found)
    assert len({*map(tuple, cycles.values())}) > 2
    near, far = (str(tmp_path / f"2-{stride}.ttgir") for stride in (1, 64))
    assert cycles[near] != cycles[far]


def spilling(folder: Path, name: str) -> str:
    """Return the name of a file with a kernel that spills, with this name of a value."""
    tensor = "tensor<128x256xf32, #a>"
    text = f"""
#a = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1],
                   order = [1, 0]}}>
module attributes {{"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%p: tensor<128x256x!tt.ptr<f32>, #a>, %q: tensor<128x256x!tt.ptr<f32>, #a>) {{
    %{name} = tt.load %p : tensor<128x256x!tt.ptr<f32>, #a>
    %sum = arith.addf %{name}, %{name} : {tensor}
    tt.store %q, %sum : tensor<128x256x!tt.ptr<f32>, #a>
    tt.store %p, %{name} : tensor<128x256x!tt.ptr<f32>, #a>
    tt.return
  }}
}}
"""
    path = folder / f"{name}.ttgir"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_values_have_the_names_of_their_own_dump(tmp_path: Path) -> None:
    together = reader()
    for name in ("weights", "tokens"):
        found = together.read(spilling(tmp_path, name))
        assert isinstance(found, FileKernels)
        assert f"%{name}" in " ".join(line.message for line in found.kernels[0].finding_lines)


def test_a_kernel_that_spills_is_audited_once_under_all_names(tmp_path: Path) -> None:
    together = reader()
    first = calls_of(lambda: together.read(spilling(tmp_path, "weights")))
    assert calls_of(lambda: together.read(spilling(tmp_path, "tokens"))) < first / 20


def _noting(folder: Path) -> Callable[[int], int]:
    """Make a function in a process, and note that."""
    (folder / str(os.getpid())).touch()
    return lambda number: number * 2


@pytest.mark.skipif(start_method() != "fork", reason="what a process has found is not sent")
def test_processes_begin_with_what_an_item_took(tmp_path: Path) -> None:
    groups = [[1, 2], [3, 4], [5]]
    with results_of_groups(groups, _noting, tmp_path, processes=2) as results:
        assert sorted(results) == [2, 4, 6, 8, 10]
    assert len([*tmp_path.iterdir()]) == 1
    with results_of_groups([], _noting, tmp_path, processes=2) as results:
        assert [*results] == []
