"""Large dumps: what has been reported is let go, and a long report waits in a file."""

from __future__ import annotations

import io
import subprocess
import sys
from collections import deque
from pathlib import Path

import pytest
from command import Run, runner
from tiers import slow
from work import bytes_of

from tt_layout.cli import output
from tt_layout.errors import NothingFoundError
from tt_layout.ir.reader import iterate_ir
from tt_layout.mlir import source

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
MATMUL = (KERNELS / "matmul-sm80.ttgir").read_text()

OBJECTS = """
import gc, sys
from tt_layout import __main__ as start
from tt_layout.cli import main as cli

run = cli.main

def counted():
    try:
        run()
    finally:
        gc.collect()  # what is held counts, not what waits to be collected
        print(len(gc.get_objects()), file=sys.stderr)

cli.main = counted
start.GARBAGE = 5000
start.main()
"""


def objects_left(dump: str) -> int:
    """Return how many objects are held when a dump has been audited."""
    done = subprocess.run(
        [sys.executable, "-c", OBJECTS, "audit", dump], capture_output=True, text=True
    )
    return int(done.stderr)


@pytest.mark.parametrize("count", [slow(80)])
def test_modules_are_let_go_once_they_are_reported(tmp_path: Path, count: int) -> None:
    dump = tmp_path / "tuned.mlir"
    left = []
    for number in (count // 2, count):
        texts = (MATMUL.replace("constant -1 :", f"constant -{n + 1} :") for n in range(number))
        dump.write_text("".join(texts))
        left.append(objects_left(str(dump)))
    assert left[1] < 1.25 * left[0]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.mark.parametrize("form", ["text", slow("json")])
def test_a_long_report_waits_in_a_file(
    form: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["audit", str(KERNELS / "matmul-sm80.ttgir"), "--format", form]
    at_once = run(*command)
    monkeypatch.setattr(output, "KEPT", 100)
    assert run(*command) == at_once


@pytest.mark.parametrize("piece", [1, 2, 3, 5])
def test_a_text_is_read_in_pieces(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tt_layout.files.CHUNK", piece)
    assert source._read(io.BytesIO("a\r\nb\rµ€\r\r\n\n".encode()), "a") == "a\nb\rµ€\r\n\n"
    with pytest.raises(NothingFoundError, match="byte 5 is 0xfc"):
        source._read(io.BytesIO("abcdeü".encode("latin-1")), "a")
    with pytest.raises(NothingFoundError, match="byte 3 is 0xe2"):
        source._read(io.BytesIO("abc€".encode()[:-1]), "a")


READ = """
import io, tracemalloc
from tt_layout import files
from tt_layout.mlir import source

size = 16 * files.CHUNK
file = io.BytesIO(bytes([65]) * size)
tracemalloc.start()
source._read(file, "a")
print(tracemalloc.get_traced_memory()[1] / size)
"""


@pytest.mark.slow
def test_a_text_is_in_memory_once() -> None:
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True)
    assert float(done.stdout) < 1.5


def test_aliases_of_modules_above_take_little_memory() -> None:
    """They hold in the modules below, so they are kept to the end of a dump."""
    aliases = "".join(f'#loc{n} = loc("a.py":{n}:1)\n' for n in range(50))

    def kept(count: int) -> int:
        text = "#smem = #ttg.shared_memory\nmodule {\n}\n" + aliases
        dump = source.Source(text * count)
        return bytes_of(lambda: deque(iterate_ir(dump), maxlen=1))

    assert (kept(60) - kept(10)) / (50 * 50) < 60  # bytes for each
