"""Dumps inside other texts: each wrapper, and each in each, gives the report of the dump itself."""

from __future__ import annotations

import gzip
import html
import itertools
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

from tt_layout.mlir.wrappers import unwrapped

ROOT = Path(__file__).parent.parent
DUMPS = sorted((ROOT / "examples").glob("*/*.ttgir"))


def coloured(text: str) -> str:
    return re.sub(r"(%\w+)", "\x1b[1;36m\\1\x1b[0m", text)


def escaped_by_llvm(text: str) -> str:
    escapes = {'"': "\\22", "\n": "\\0A", "\\": "\\5C"}
    return "".join(escapes.get(character, character) for character in text)


def in_log(text: str) -> str:
    prefix = "V1126 10:00:00.123000 1234 torch/_inductor/compile.py:12] [0/0] [__kernel] "
    return "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True))


def in_ci(text: str) -> str:
    return "".join(
        f"2026-11-26T10:00:00.1234567Z {line}" for line in text.splitlines(keepends=True)
    )


WRAPPERS: dict[str, Callable[[str], str]] = {
    "colours": coloured,
    "llvm": escaped_by_llvm,
    "quoted llvm": lambda text: f'I0000 triton: "{escaped_by_llvm(text)}"',
    "json": json.dumps,
    "field of json": lambda text: json.dumps({"name": "kernel", "ttgir": text, "more": [1, 2]}),
    "html": html.escape,
    "log": in_log,
    "ci": in_ci,
}
PAIRS = list(itertools.product(WRAPPERS, repeat=2))


def body(text: str) -> list[str]:
    """Return the lines of a dump, without what is around it."""
    begin = re.compile(r"\s*(?:[#!][\w$]+ = |module|tt\.func)")
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if begin.match(line))
    last = max(at for at, line in enumerate(lines) if line.rstrip().startswith(("}", "#loc")))
    return lines[first : last + 1]


def bare(path: Path) -> str:
    """Return a dump from its first alias on, as compilers write it into logs."""
    return "\n".join(body(path.read_text())) + "\n"


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_is_taken_off(name: str) -> None:
    text = bare(DUMPS[0])
    assert body(unwrapped(WRAPPERS[name](text))) == body(text)


@pytest.mark.slow
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_a_wrapper_in_a_wrapper_is_taken_off(outer: str, inner: str, seed: int) -> None:
    for path in random.Random(f"{seed} {outer} {inner}").sample(DUMPS, 6):
        text = bare(path)
        assert body(unwrapped(WRAPPERS[outer](WRAPPERS[inner](text)))) == body(text), path


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_a_dump_without_a_wrapper_stays_as_it_is(path: Path) -> None:
    text = path.read_text()
    assert unwrapped(text) == text


def test_strings_of_a_dump_keep_their_escapes() -> None:
    text = 'module {\n  "inline_asm"() {asm = "mov\\0A\\09add\\22x\\22", n = "a\\nb"}\n}\n'
    assert unwrapped(text) == text


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def compressed(name: str, data: bytes) -> bytes:
    if name == "gzip":
        return gzip.compress(data)
    zstandard: Any = pytest.importorskip("zstandard")
    return bytes(zstandard.ZstdCompressor().compress(data))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WRAPPERS, "gzip", "zstd"])
def test_an_audit_of_a_wrapped_dump_is_that_of_the_dump(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = bare(DUMPS[3])
    Path("k.log").write_text(text)
    plain = run("audit", "k.log")
    assert plain.status == 0
    if name in WRAPPERS:
        Path("k.log").write_text(WRAPPERS[name](text))
    else:
        Path("k.log").write_bytes(compressed(name, text.encode()))
    wrapped = run("audit", "k.log")
    assert re.sub(r"\d+", "", wrapped.out) == re.sub(r"\d+", "", plain.out)
    assert len(wrapped.out.splitlines()) == len(plain.out.splitlines())


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_broken_compressed_data_is_an_error(run: Run, tmp_path: Path, name: str) -> None:
    data = compressed(name, bare(DUMPS[3]).encode())
    path = tmp_path / "k.ttgir"
    for broken in (data[:-20], data[:9], data[:30] + b"\0" * 40 + data[70:]):
        path.write_bytes(broken)
        outcome = run("audit", str(path))
        assert (outcome.status, outcome.out) == (2, "")
        assert "k.ttgir: error: " in outcome.err


@pytest.mark.attack
def test_a_compressed_dump_that_never_ends_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.ttgir"
    path.write_bytes(gzip.compress(b" " * (1 << 20)) * 600)
    assert "longer than 512 MiB" in run("audit", str(path)).err
