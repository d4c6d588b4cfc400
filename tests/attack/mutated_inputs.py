"""Command lines and files that are almost right: every command, with a mutation or a few."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "attack")]
from harness import BLOCKED, OPERAND, ROWS, SHARED
from mutations import mutated

ROOT = TESTS.parent
TRUTH = TESTS / "truth" / "triton-3.9.0.jsonl.gz"
STDIN = "stdin"
LONGEST_DUMP = 16_000  # longer ones are read by the same code, only slower
ALIAS = re.compile(r"^#(\w+) = #ttn?g\.(?!shared_mem)", re.MULTILINE)

COMMANDS = """
-l LAYOUT -t TYPE
-i dump.mlir
-i - -t TYPE
audit dump.mlir
audit - --partial
audit dump.mlir other.mlir --diff
check
check --update
check --list
conflicts REGISTERS SHARED -t TYPE
convert REGISTERS OTHER -t TYPE
diff REGISTERS OTHER -t TYPE
info LAYOUT -t TYPE
info dump.mlir:ALIAS -t TYPE
init dump.mlir --force
plot LAYOUT -t TYPE -o out.svg
plot LAYOUT OTHER -t TYPE -o out.svg
plot REGISTERS SHARED -t TYPE -o out.html
plot -i dump.mlir -o out.html
suggest blocked -t TYPE
suggest coalesced -t TYPE --contiguity 8
suggest nvmma -t TYPE
suggest shared OPERAND -t TYPE
swizzle REGISTERS OTHER -t TYPE
translate LAYOUT --to json
translate saved.json --to linear
translate - --to gluon
translate CALL --to 3.5
where REGISTERS -t TYPE --element 1,1
where REGISTERS -t TYPE --thread 3 --register 1
where SHARED -t TYPE --offset 9
"""

_JSON = ("--format json",)
_RELEASES = ("--triton 3.9", "--triton 3.9", "--triton 3.5", "--triton 2.1")
_PARTS = ("--slice 0:2,1:3", "--warp 0", "--lane 0:4", "--register 1", "--offset 0:9", "--block 0")
_GPUS = ("--target sm90", "--target sm100", "--target gfx950", "--target amd", "--target gfx1250")
_SPREAD = ("--num-warps 8", "--threads-per-warp 64", "--order 0,1")
_ORDER = ("--order 0,1",)
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "-l": (
        *_PARTS, *_RELEASES, "--use-hw-view", "--view hardware", "--color always", "--compact",
        "--color-by lane", "--header", "--legend", "-o out.txt", "--max-text 1kB", "-i dump.mlir",
    ),
    "-i": (*_PARTS, "--alias-names ALIAS", "--view hardware", "--compact --header", "-o out.txt"),
    "audit": (
        *_JSON, "--axis-info", "--partial", "--sort cost", "--sort bytes", "--value n=128",
        "--values values.json", "--triton 3.5", "--diff",
    ),
    "check": (
        *_JSON, "--format junit", "--format github", "--only a*", "--force", "--jobs 1",
        "--keep-actual kept", "--max-cases 3", "-o report.txt",
    ),
    "conflicts": (*_JSON, *_RELEASES, *_GPUS, "--access store", "--fail-on-conflict"),
    "convert": (*_JSON, *_RELEASES, *_GPUS),
    "diff": (*_JSON, *_RELEASES, "--equal lanes", "--equal text", "--equal registers"),
    "info": (*_JSON, *_RELEASES, "--memory-order 0,1"),
    "init": ("-t TYPE", "--view hardware", "--view info", "--max-cases 1", "-o new.yaml"),
    "plot": (
        *_PARTS, *_RELEASES, *_GPUS, "--view hardware", "--view banks", "--view matrix",
        "--view compare", "--color-by lane", "--access store", "-o out.html",
    ),
    "suggest": _JSON,
    "suggest blocked": (*_JSON, *_SPREAD, "--size-per-thread 1,4", "--num-ctas 2"),
    "suggest coalesced": (*_JSON, *_SPREAD),
    "suggest nvmma": (*_JSON, *_ORDER, "--fp4-padded"),
    "suggest shared": (*_JSON, *_ORDER, *_RELEASES, "--transposed"),
    "swizzle": (
        *_JSON, *_RELEASES, *_GPUS, "--writer OTHER", "--family all", "--family padded",
        "--family nvmma", "--all", "--max-search 9",
    ),
    "translate": (*_JSON, *_RELEASES, "-t TYPE", "--to cute", "--to gluon", "--to 2.0"),
    "where": (*_JSON, *_RELEASES, "--lane 3 --warp 1", "--limit 2", "--partition 1", "--row 1"),
}  # fmt: skip

MANIFEST = """\
version: 1
defaults:
  type: TYPE
  views: [tensor, hardware]
cases:
  - name: a
    layout: "LAYOUT"
    views: [tensor, info]
    slice: 0:2,0:2
  - name: costs
    layout: "REGISTERS"
    with: "SHARED"
    to: "OTHER"
    target: sm90
    views: [conflicts, convert]
  - name: b
    file: dump.mlir
    alias: ALIAS
    warp: "{warp}"
    matrix: {warp: [0, 1]}
    views: [hardware]
"""
SAVED = TESTS / "goldens" / "commands" / "translate-json.out"
USUAL = (BLOCKED, ROWS, SHARED, OPERAND, OPERAND.replace("opIdx = 0", "opIdx = 1"))


class Input(NamedTuple):
    """A run of the command: its arguments, the files of its folder, its standard input."""

    arguments: tuple[str, ...]
    files: Mapping[str, str]
    stdin: str

    def write(self, folder: Path) -> None:
        """Write the files into a folder, and standard input as another."""
        for name, text in {**self.files, STDIN: self.stdin}.items():
            (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")

    @property
    def command(self) -> str:
        """The name under which it is counted."""
        first = self.arguments[0] if self.arguments else ""
        return first if first in OPTIONS else "other"


@cache
def _layouts() -> dict[tuple[int, ...], list[str]]:
    with gzip.open(TRUTH, "rt") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    by_shape: dict[tuple[int, ...], list[str]] = {}
    for row in rows:
        by_shape.setdefault(tuple(row["shape"]), []).append(row["attr"])
    return by_shape


@cache
def dumps() -> list[str]:
    paths = sorted(ROOT.glob("examples/**/*.ttgir")) + sorted(ROOT.glob("examples/*.mlir"))
    texts = [path.read_text() for path in paths]
    return [text for text in texts if len(text) < LONGEST_DUMP and ALIAS.search(text)]


def _words(r: Random, dump: str) -> dict[str, str]:
    """Return what stands for the words in capitals: layouts of one shape."""
    shape = r.choice([(64, 64), *r.sample(list(_layouts()), 2)])
    layouts = _layouts().get(shape, []) + [*USUAL] * (shape == (64, 64))
    shared = [text for text in layouts if "shared" in text]
    registers = [text for text in layouts if "shared" not in text and "memory" not in text]
    operands = [text for text in layouts if text.startswith("#ttg.dot_op")]
    fields = ("size_per_thread", "threads_per_warp", "warps_per_cta", "order")
    vectors = ", ".join(f"{field}=[1, 0]" for field in fields)
    return {
        "LAYOUT": r.choice(layouts),
        "REGISTERS": r.choice(registers or layouts),
        "OTHER": r.choice(registers or layouts),
        "OPERAND": r.choice(operands or layouts),
        "SHARED": r.choice(shared or layouts),
        "TYPE": f"tensor<{'x'.join(map(str, (*shape, r.choice(['f16', 'f32', 'i8', 'f64']))))}>",
        "ALIAS": r.choice(ALIAS.findall(dump)),
        "CALL": f"gl.BlockedLayout({vectors.replace('0', '4', 3)})",
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _arguments(r: Random, words: Mapping[str, str]) -> list[str]:
    """Return a command line, with options that its command knows."""
    line = r.choice(COMMANDS.strip().splitlines()).split()
    known = OPTIONS[line[0]]
    if line[0] == "suggest":
        known = OPTIONS[f"suggest {line[1]}"]
    for option in r.sample(known, r.choice([0, 0, 0, 1, 1, 2])):
        line += option.split()
    return [_filled(word, words) for word in line]


def _with_strange_arguments(r: Random, arguments: list[str]) -> list[str]:
    """Return arguments with one left out, said twice, in another place, or of another command."""
    at, to = r.randrange(len(arguments)), r.randint(0, len(arguments))
    change = r.choice(["without", "again", "of another"])
    if change == "without":
        return arguments[:at] + arguments[at + 1 :]
    if change == "again":
        return [*arguments[:to], arguments[at], *arguments[to:]]
    options = r.choice(list(OPTIONS.values()))
    return [*arguments[:to], *r.choice(options).split(), *arguments[to:]]


def _writes(arguments: list[str], at: int) -> bool:
    return at > 0 and arguments[at - 1] in ("-o", "--keep-actual")


def mutated_input(r: Random) -> Input:
    """Return an input of which one text, or a few, have been changed."""
    dump = r.choice(dumps())
    words = _words(r, dump)
    arguments = _arguments(r, words)
    files = {
        "dump.mlir": dump,
        "other.mlir": r.choice(dumps()),
        "layouts.yaml": _filled(MANIFEST, words),
        "a.tensor.txt": "[[T0:0]]\n",
        "saved.json": SAVED.read_text(),
        "values.json": '{"n": 128, "stride": 64}',
    }
    stdin = files["saved.json"] if arguments[0] == "translate" else dump
    used = [name for name in files if any(name in argument for argument in arguments)]
    if arguments[0] == "check":
        used += ["layouts.yaml", "layouts.yaml", "dump.mlir", "a.tensor.txt"]
    for _ in range(r.choice([1, 1, 1, 2])):
        at = r.choices(range(len(arguments)), [1 + len(word) for word in arguments])[0]
        if "-" in arguments and r.random() < 0.7:
            stdin = mutated(r, stdin)
        elif used and r.random() < 0.7:
            name = r.choice(used)
            files[name] = mutated(r, files[name])
        elif r.random() < 0.15 and len(arguments) > 1:
            arguments = _with_strange_arguments(r, arguments)
        elif not _writes(arguments, at):  # what is written stays in the folder
            arguments[at] = mutated(r, arguments[at]).replace("\0", "")
    return Input(tuple(arguments), files, stdin)
