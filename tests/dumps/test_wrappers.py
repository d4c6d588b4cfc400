"""Dumps inside other texts: each wrapper, and each in each, gives the report of the dump itself."""

from __future__ import annotations

import functools
import gzip
import hashlib
import html
import itertools
import json
import lzma
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

import tt_layout
from tt_layout.dumps.dump import open_dumps
from tt_layout.dumps.pieces import PIECE
from tt_layout.mlir.source import dumps_below, read_source
from tt_layout.mlir.wrappers import unwrapped

ROOT = Path(__file__).parents[2]
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


def of_processes(text: str) -> str:
    return "".join(f"[rank0]: {line}" for line in text.splitlines(keepends=True))


def in_page(text: str) -> str:
    shown = re.sub(r"(%\w+|tt\.\w+)", "\0\\1\1", text)  # marked before it is escaped
    spans = html.escape(shown).replace("\0", '<span style="color:#a00">').replace("\1", "</span>")
    return f"<html><body><h1>kernel</h1>\n<pre>\n{spans}</pre>\n</body></html>\n"


def in_trace(text: str) -> str:
    """Put a text below an event of TORCH_TRACE, whose lines begin with a tab."""
    event = 'V1126 10:00:00.1 7 torch/_x.py:12] {"artifact": {"name": "k"}, "has_payload": "0a"}'
    return f"{event}\n" + "".join(f"\t{line}" for line in text.splitlines(keepends=True))


def in_records(text: str) -> str:
    """Put each line into an object of JSON, as the logs of containers have them."""
    lines = text.splitlines(keepends=True)
    return "".join(json.dumps({"log": line, "stream": "stderr"}) + "\n" for line in lines)


WRAPPERS: dict[str, Callable[[str], str]] = {
    "colours": coloured,
    "llvm": escaped_by_llvm,
    "quoted llvm": lambda text: f'I0000 triton: "{escaped_by_llvm(text)}"',
    "json": json.dumps,
    "field of json": lambda text: json.dumps({"name": "kernel", "ttgir": text, "more": [1, 2]}),
    "html": html.escape,
    "log": in_log,
    "ci": in_ci,
    "processes": of_processes,
    "page": in_page,
    "trace": in_trace,
    "records": in_records,
    "html but for quotation marks": lambda text: html.escape(text, quote=False),
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


def real_dumps(count: int) -> list[str]:
    """Return so many dumps of compilers, those of the examples first."""
    stored = lzma.decompress((ROOT / "tests/data/registers.jsonl.xz").read_bytes()).decode()
    others = (json.loads(line)["ttgir"] for line in stored.splitlines())
    return [*map(bare, DUMPS), *("\n".join(body(text)) + "\n" for text in others)][:count]


@pytest.mark.slow
def test_the_report_of_a_wrapped_dump_is_that_of_the_dump(wrapped: int, seed: int) -> None:
    """Every wrapper and every two of them; a line stays as far below what is around the dump."""

    @functools.cache
    def report(text: str) -> str:
        data = json.dumps(tt_layout.audit_ir(text).data(), sort_keys=True)
        return hashlib.sha256(data.encode()).hexdigest()

    dumps = real_dumps(200)
    for text in random.Random(seed).sample(dumps, min(wrapped, len(dumps))):
        report.cache_clear()
        lines = text.splitlines()
        ways = [*((name,) for name in WRAPPERS), *PAIRS]
        for names in ways:
            inside = functools.reduce(lambda inner, name: WRAPPERS[name](inner), names, text)
            found = unwrapped(inside)
            above = next(n for n, line in enumerate(found.splitlines()) if line == lines[0])
            plain = "\n" * above + text
            assert report(found) == report(plain), names


@pytest.mark.slow
@pytest.mark.parametrize("name", ["json", "quoted llvm", "log", "page"])
def test_a_long_text_is_unwrapped_whole(tmp_path: Path, name: str) -> None:
    text = bare(DUMPS[3])
    long = text + "".join(f"// {n}: {'x' * 60}\n" for n in range(2 * PIECE // 60))
    path = tmp_path / "k.log"
    path.write_text(WRAPPERS[name](long))
    found = open_dumps(str(path), in_pieces=True).dumps[0]
    assert not found.pieces
    assert body(found.source.text)[: text.count("\n")] == body(text)


def test_curly_quotation_marks_are_straightened() -> None:
    text = bare(DUMPS[0])
    pasted = re.sub('"([^"\n]*)"', "\u201c\\1\u201d", text)
    assert '"' in text
    assert '"' not in pasted
    assert body(unwrapped(pasted)) == body(text)


def test_curly_quotation_marks_in_a_string_stay() -> None:
    text = bare(DUMPS[0]) + '// "\u201cquoted\u201d"\n'
    assert unwrapped(text) == text


def test_a_kernel_that_a_module_of_xla_calls_is_read() -> None:
    text = bare(DUMPS[0])
    call = f'%0 = stablehlo.custom_call @__gpu$xla.gpu.triton(%x) {{ir = "{escaped_by_llvm(text)}"'
    main = "  func.func @main(%x: tensor<8xf32>) {"
    outer = "\n".join(["module {", main, f'{call}, name = "k"}}', "  }", "}", ""])
    assert body(unwrapped(outer)) == body(text)


def test_a_module_in_a_line_is_read_beside_bare_ones() -> None:
    first, second = bare(DUMPS[0]), bare(DUMPS[3])
    found = unwrapped(first + json.dumps({"ttgir": second}) + "\n")
    assert found.startswith(first)
    assert second in found


def test_a_folder_of_tlparse_has_each_kernel_once(tmp_path: Path) -> None:
    kernels = tmp_path / "-_0_0_0"
    kernels.mkdir()
    first, second = bare(DUMPS[0]), bare(DUMPS[3])
    (kernels / "kernel_1.txt").write_text(first)
    (kernels / "kernel_2.json").write_text(json.dumps({"ttgir": second}))
    (kernels / "inductor_output_code_3.html").write_text("<pre>import triton</pre>")
    (tmp_path / "compile_directory.json").write_text("{}")
    (tmp_path / "raw.log").write_text(in_trace(first) + in_trace(json.dumps({"ttgir": second})))
    wanted = [kernels / "kernel_1.txt", kernels / "kernel_2.json"]
    assert dumps_below(str(tmp_path)) == [str(path) for path in wanted]
    (tmp_path / "compile_directory.json").unlink()
    assert str(tmp_path / "raw.log") in dumps_below(str(tmp_path))


@pytest.mark.slow
def test_a_log_in_a_folder_may_have_its_dump_far_below(tmp_path: Path) -> None:
    path = tmp_path / "torch.log"
    path.write_text(in_log("waiting\n" * 30_000 + bare(DUMPS[0])))
    compressed_path = tmp_path / "torch.log.gz"
    compressed_path.write_bytes(gzip.compress(path.read_bytes()))
    assert dumps_below(str(tmp_path)) == [str(path), str(compressed_path)]
    assert body(read_source(str(compressed_path)).text) == body(bare(DUMPS[0]))


BINARY = {
    "zip": (b"PK\x03\x04\x14\0", "a zip archive: unpack it, and give the folder"),
    "tar": (b"a.log" + b"\0" * 252 + b"ustar", "a tar archive: unpack it, and give the folder"),
    "gzip in gzip": (gzip.compress(gzip.compress(b"module {\n}\n")), "it is compressed twice"),
    "tar in gzip": (gzip.compress(b"a.log" + b"\0" * 252 + b"ustar"), "it is a tar archive"),
    "xz": (lzma.compress(b"module {\n}\n"), "compressed by xz: decompress it (xz -d) first"),
    "UTF-16": ("module {\n}\n".encode("utf-16"), "UTF-16: save it as UTF-8"),
    "binary": (b"\x7fELF\x02\x01\x01\0", "a compiled binary: give the .ttgir beside it"),
}


@pytest.mark.parametrize("name", BINARY)
def test_a_file_that_is_no_text_is_named(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "k.log"
    path.write_bytes(BINARY[name][0])
    outcome = run("audit", str(path))
    assert (outcome.status, outcome.out) == (2, "")
    assert BINARY[name][1] in outcome.err


def test_of_a_file_that_is_no_text_nothing_is_said_that_is_not_known(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "k.log"
    path.write_bytes(b"\x8a\xff\xf1")
    outcome = run("audit", str(path))
    assert outcome.status == 2
    assert "it is" not in outcome.err


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
    assert "longer than 128 MiB" in run("audit", str(path)).err
