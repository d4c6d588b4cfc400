"""The data movement on a line: only the function around it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from work import calls_of

from tt_layout import LayoutError, parse_ir
from tt_layout.ir.movement_lines import movement_on_line

POINTERS = "tensor<512x!tt.ptr<f32>, #b>"


def functions(count: int) -> str:
    """Functions with loads, of a tensor and of a scalar."""
    lines = [
        "#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], "
        "order = [0]}>",
        'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {',
    ]
    for at in range(count):
        lines += [
            f"  tt.func @f{at}(%p: !tt.ptr<f32>) {{",
            f"    %c{at} = tt.load %p : !tt.ptr<f32>",
            f"    %s = tt.splat %p : !tt.ptr<f32> -> {POINTERS}",
            f"    %x = tt.load %s : {POINTERS}",
            "    tt.return",
            "  }",
        ]
    return "\n".join([*lines, "}", ""])


def test_every_line_has_its_movement_or_the_nearest_one(tmp_path: Path) -> None:
    text, path = functions(4), tmp_path / "f.ttgir"
    path.write_text(text)
    [module] = parse_ir(text)
    lines = [operation.line for operation in module.operations]
    assert len(lines) == 4
    for line in range(1, text.count("\n") + 1):
        if line in lines:
            assert movement_on_line(str(path), line)[1].line == line
            continue
        near = min(lines, key=lambda other: abs(other - line))
        with pytest.raises(LayoutError, match=f"; the nearest is on line {near}$"):
            movement_on_line(str(path), line)


def test_other_functions_are_not_read(tmp_path: Path) -> None:
    def share(count: int) -> float:
        """Return the work for a line of a splat, as a part of that for all operations."""
        path = tmp_path / f"{count}.ttgir"
        path.write_text(functions(count))
        [module] = parse_ir(functions(count))

        def ask() -> None:
            with pytest.raises(LayoutError):
                movement_on_line(str(path), 5)

        return calls_of(ask) / calls_of(lambda: module.operations)

    share(2)
    assert share(200) < 0.8
