"""Write notebook.ipynb with its outputs, as ``jupyter nbconvert --execute`` would.

usage: python examples/make_notebook.py

It needs no Jupyter: the cells are run here, and what the last expression of each shows of itself
is its output.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NOTEBOOK = HERE / "notebook.ipynb"
TEXTS = {"_repr_html_": "text/html", "_repr_svg_": "image/svg+xml"}

TEXT_AND_CODE = (
    (
        "# Triton GPU layouts in a notebook\n\nLayouts, pairs, reports and audits display "
        "themselves. A layout is text in any notation, or an object, such as Gluon's.",
        """import tt_layout

rows = "gl.BlockedLayout([1, 2], [4, 8], [2, 1], [1, 0])"
tt_layout.place(rows, [8, 16])""",
    ),
    (
        "Two layouts of one tensor, compared:",
        """mma = "gl.NVMMADistributedLayout([2, 0], [2, 1], [16, 8])"
tt_layout.plot(rows, mma, [16, 16])""",
    ),
    (
        "Shared-memory bank conflicts, and the swizzle without them. A report prints as the "
        "command does, and displays itself.",
        """column = "gl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 1])"
print(tt_layout.conflicts(column, "(128,32):(32,1)", "128x32xf32", access="load"))
row = "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
swizzle = tt_layout.swizzle([row], [column], "128x32xf32").search.best.encoding
print(swizzle)
tt_layout.conflicts(column, swizzle, "128x32xf32", access="load")""",
    ),
    (
        "A dump, or a kernel that Triton has compiled: `tt_layout.audit_ir(kernel)`.",
        'tt_layout.audit_ir("narrow/matmul.ttgir", values={"K": 4096})',
    ),
    (
        'The page, in a frame; `.save("layout.html")` writes it for somebody else.',
        'tt_layout.explore(swizzle, "!ttg.memdesc<32x32xf32>")',
    ),
)
"""What is explained, and the code that follows."""


def notebook() -> dict[str, Any]:
    """Return the notebook, with the outputs of its code."""
    names: dict[str, Any] = {}
    cells: list[dict[str, Any]] = []
    for number, (text, code) in enumerate(TEXT_AND_CODE, 1):
        cells.append({"cell_type": "markdown", **_common(f"text-{number}", text)})
        outputs = _outputs(code, names, number)
        common = _common(f"code-{number}", code)
        cells.append({"cell_type": "code", "execution_count": number, "outputs": outputs, **common})
    language = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": language, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _common(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder, as Jupyter does in that of the notebook."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _outputs(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run code; return what it prints, and what its last expression shows of itself."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), _inside(HERE):
        exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        lines = text.splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    data = {kind: getattr(value, name)() for name, kind in TEXTS.items() if hasattr(value, name)}
    data["text/plain"] = repr(value)
    shown = {kind: text.splitlines(keepends=True) for kind, text in data.items()}
    result = {"data": shown, "execution_count": number, "metadata": {}}
    return [*outputs, {**result, "output_type": "execute_result"}]


if __name__ == "__main__":
    text = json.dumps(notebook(), indent=1, ensure_ascii=False)
    NOTEBOOK.write_text(text + "\n", encoding="utf-8")
