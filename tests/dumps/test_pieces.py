"""Large dumps are read piece by piece as if they were read as a whole."""

from __future__ import annotations

import gc
import io
import weakref
from functools import partial
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.dumps import dump as opened
from tt_layout.dumps import large, pieces
from tt_layout.dumps.large import WORST
from tt_layout.dumps.pieces import Piece, pieces_of
from tt_layout.ir.module import Module
from tt_layout.ir.reader import iterate_ir
from tt_layout.mlir import source
from tt_layout.mlir.source import Source, read_source

SIZE = 4000
"""Bytes of a piece: a few modules."""

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNEL = (EXAMPLES / "narrow" / "matmul.ttgir").read_text(encoding="utf-8")
BLOCKED = """\
#ttg.blocked<{{sizePerThread = [{0}, {1}], threadsPerWarp = [{2}, {3}], warpsPerCTA = [4, 1], \
order = [1, 0]}}>"""
MODULE = """\
// configuration {n}
#blocked = {rows}
#blocked1 = {columns}
#loc = loc("f.py":1:1)
#loc3 = loc("x"(#loc))
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f{n}(%x: tensor<{size}x64xf32, #blocked> loc("x"(#loc))) {{
    %y = ttg.convert_layout %x : tensor<{size}x64xf32, #blocked> -> tensor<{size}x64xf32, \
#blocked1> loc(#loc1)
    tt.return loc(#loc2)
  }} loc(#loc)
}} loc(#loc)
#loc1 = loc("f.py":{line}:5)
#loc2 = loc("f.py":{line}:7)

"""


def tuned(count: int) -> str:
    """Return modules that differ in sizes, locations and layouts."""
    return "".join(
        MODULE.format(n=n, rows=blocked(n), columns=blocked(n + 7), size=16 << n % 5, line=n + 2)
        for n in range(count)
    )


def blocked(number: int) -> str:
    """Return a blocked layout; 216 numbers have one each."""
    lanes = 1 << number // 36 % 6
    return BLOCKED.format(1 << number % 6, 1 << number // 6 % 6, lanes, 32 // lanes)


def written(text: str, name: str = "tuned.mlir") -> str:
    Path(name).write_bytes(text.encode())
    return name


def facts(modules: list[Module]) -> list[object]:
    """Return what says where modules stand and what they mean."""
    return [
        (
            module.line,
            module.span.text.strip(),
            module.operations,
            [(use.line, use.column, use.type.text, use.type.encoding) for use in module.types],
            [(alias.line, alias.column) for alias in module.aliases.values()],
        )
        for module in modules
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read dumps in small pieces."""
    monkeypatch.setattr(opened, "pieces_of", partial(pieces_of, size=SIZE))


HEADER = "// -----// IR Dump After Pass (pass) ('builtin.module' operation) //----- //\n"

DUMPS = {
    "tuned": tuned(40),
    "without aliases": "".join(f"module {{\n  tt.func @f{n}() {{\n  }}\n}}\n" for n in range(600)),
    "with passes": "".join(f"{HEADER}{KERNEL}\n" for _ in range(5)),
    "of kernels": "".join(KERNEL.replace("@matmul(", f"@f{n}(") for n in range(5)),
    "lines of Windows": tuned(40).replace("\n", "\r\n"),
    "beyond ASCII": tuned(40).replace("configuration", "Größe"),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", DUMPS.values(), ids=DUMPS)
def test_modules_of_pieces_are_those_of_the_whole(text: str) -> None:
    file = written(text)
    found = pieces_of(file, SIZE)
    assert len(found) > 3
    assert sum(piece.size for piece in found) == len(text.encode())
    modules = [module for piece in found for module in iterate_ir(piece.read())]
    assert facts(modules) == facts(list(iterate_ir(read_source(file))))


def compiled(name: str) -> str:
    """Return what the passes of a compilation print."""
    kernel = KERNEL.replace("@matmul(", f"@{name}(")
    return f"{HEADER}{kernel}\n{HEADER.replace('After', 'Before')}{kernel}\n"


def test_compilations_are_not_parted_if_that_can_be() -> None:
    size = 2 * len(compiled("f"))
    others = pieces_of(written("".join(compiled(f"f{n}") for n in range(10))), size)
    assert [piece.is_separate for piece in others] == [True] * len(others)
    assert len(others) > 3
    same = pieces_of(written(compiled("f") * 10), size)
    assert [piece.is_separate for piece in same] == [True] + [False] * (len(same) - 1)


def test_a_text_of_carriage_returns_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte after a piece of them was read by itself, and copied the piece."""
    monkeypatch.setattr("tt_layout.files.CHUNK", 100)
    reads: list[int] = []

    class Counted(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size or 0)
            return super().read(size)

    for text in ("a" * 99 + "\r" * 500 + "\n", "\r" * 201, "a\r\n" * 300 + "\r"):
        reads.clear()
        assert source._read(Counted(text.encode()), "a") == text.replace("\r\n", "\n")
        assert len(reads) <= 2 + len(text) // 100


WHOLE = {
    "small": tuned(3),
    "aliases of a module above": tuned(20) + tuned(30).replace("#blocked1 =", "#other ="),
    "one module": KERNEL.replace("tt.return", "tt.return\n" * 3000),
    "functions between modules": """\
tt.func @f() {
  tt.return
}
#a = #ttg.shared_memory
module {
}
"""
    * 400,
    "functions alone": "tt.func @f() {\n  tt.return\n}\n" * 400,
    "passes below": tuned(30) + HEADER + KERNEL,
    "not text": tuned(40) + "\0",
    "locations of either module": "module {\n} loc(#loc1)\n#loc1 = loc(unknown)\n" * 400,
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_what_cannot_be_cut_is_read_as_a_whole(text: str) -> None:
    assert len(pieces_of(written(text), SIZE)) < 2


def test_what_cannot_be_read_has_no_pieces() -> None:
    Path("latin.mlir").write_bytes(tuned(40).encode() + b"\xe9")
    assert not pieces_of("latin.mlir", SIZE)
    assert not pieces_of("missing.mlir", SIZE)
    assert not pieces_of(".", SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 2])
@pytest.mark.parametrize(
    "text",
    [
        tuned(30) + KERNEL,
        "".join(compiled(f"f{n}") for n in range(13)),
        "".join(compiled("f" if n % 3 else f"f{n}") for n in range(13)),
        "".join(KERNEL.replace("@matmul(", f"@f{n}(") for n in range(5)),
        f"// -----\n{KERNEL}" * 15,
    ],
    ids=["modules", "compilations", "compilations in pieces", "few modules", "one kernel"],
)
def test_a_dump_in_pieces_is_reported_as_a_whole(
    run: Run, monkeypatch: pytest.MonkeyPatch, processors: int, text: str
) -> None:
    file = written(text)
    whole = run("audit", file)
    monkeypatch.setattr(opened, "pieces_of", partial(pieces_of, size=len(text) // 5))
    monkeypatch.setattr(large, "processors", lambda: processors)
    assert run("audit", file) == whole
    assert "pass inner_a as 1" in " ".join(whole.out.split())


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 2])
def test_what_is_wrong_with_a_dump_in_pieces_has_its_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, processors: int
) -> None:
    file = written(tuned(30) + KERNEL[: len(KERNEL) // 2])
    cases = [("audit", file), ("audit", file, "--value", "missing=3"), ("audit", file, "--partial")]
    whole = [run(*case) for case in cases]
    assert f"{file}:{tuned(30).count(chr(10)) + 1}" not in whole[0].out
    assert "truncated" in whole[0].err
    monkeypatch.setattr(opened, "pieces_of", partial(pieces_of, size=SIZE))
    monkeypatch.setattr(large, "processors", lambda: processors)
    assert [run(*case) for case in cases] == whole


def test_pieces_that_were_read_are_let_go(in_pieces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules whose text is known make too few objects for a collection."""
    texts: list[weakref.ref[Source]] = []
    most = 0
    read = Piece.read

    def noted(piece: Piece) -> Source:
        nonlocal most
        most = max(most, sum(text() is not None for text in texts))
        found = read(piece)
        texts.append(weakref.ref(found))
        return found

    dump = opened.open_dump(written(tuned(30)), in_pieces=True)
    monkeypatch.setattr(pieces.Piece, "read", noted)
    gc.disable()
    try:
        assert sum(1 for _ in dump.modules()) == 30
    finally:
        gc.enable()
    assert len(texts) > 3
    assert most <= 2


@pytest.mark.slow
def test_pieces_that_were_reported_are_let_go(
    run: Run, in_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[weakref.ref[Source]] = []
    most = 0
    read = Piece.read

    def noted(piece: Piece) -> Source:
        nonlocal most
        found = read(piece)
        texts.append(weakref.ref(found))
        gc.collect()
        most = max(most, sum(text() is not None for text in texts))
        return found

    monkeypatch.setattr(pieces.Piece, "read", noted)
    monkeypatch.setattr(large, "processors", lambda: 1)
    gc.freeze()  # what other tests left is not looked at by each collection
    try:
        assert run("audit", written(tuned(110))).status == 0
    finally:
        gc.unfreeze()
    assert len(texts) > 12
    assert most <= WORST + 4
