"""Dumps of a folder are audited one after the other as if each came alone, and with less work."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from work import calls_of

from tt_layout.dumps.audits import FileKernels, KernelReader
from tt_layout.dumps.dump import AS_IT_IS

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = sorted(EXAMPLES.glob("*/*.ttgir"))
MATMUL = EXAMPLES / "kernels" / "matmul-sm80.ttgir"
SOFTMAX = EXAMPLES / "kernels" / "softmax-sm90.ttgir"


def reader() -> KernelReader:
    return KernelReader(AS_IT_IS)


def variant(folder: Path, kernel: Path, number: int) -> str:
    """Return the name of a file with a kernel whose values have names of their own."""
    text = re.sub(r"%(\w+)", rf"%\g<1>v{number}", kernel.read_text(encoding="utf-8"))
    path = folder / f"{kernel.stem}-{number}.ttgir"
    path.write_text(text, encoding="utf-8")
    return str(path)


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
