"""Attacks on the command: what is tried, and what each must not do.

    python tests/attack/harness.py [MOST]

prints a table of tried and failed, of each section all attacks or at most so many.  A run fails
that leaves a traceback, ends with another status than 0, 1, 2 or 130, takes more than 10 seconds
or 600 MB, or lets text of a file reach the terminal in a form that it would obey.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from forking import Ended, Limits, server
from hostile_dumps import DUMPS, SIZES

ROOT = Path(__file__).parent.parent.parent
SECONDS, MEGABYTES = 60, 600

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
ROWS = BLOCKED.replace("[4, 1]", "[1, 4]")
SHARED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
OPERAND = (
    "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
    "warpsPerCTA = [2, 2], instrShape = [16, 8]}>, kWidth = 2}>"
)
PADDED = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [%d, %d]}>"
TYPE = "tensor<64x64xf16>"
DUMP = f"""#a = {BLOCKED}
#s = {SHARED}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%v: tensor<64x64xf16, #a>) {{
    ttg.local_alloc %v : (tensor<64x64xf16, #a>) -> !ttg.memdesc<64x64xf16, #s, #smem>
    tt.return
  }}
}}
"""
MANIFEST = f"cases:\n  - name: a\n    layout: '{BLOCKED}'\n    type: {TYPE}\n    views: [tensor]\n"


class Attack(NamedTuple):
    """One run: its arguments, what a shell appends to it, and what it finds in its folder."""

    arguments: tuple[str, ...]
    redirection: str = ""
    prepare: Callable[[], None] = lambda: None
    is_well_formed: bool = False


def commands(layout: str, shared: str, tensor: str) -> list[tuple[str, ...]]:
    """Return a run of every command."""
    at = ("-t", tensor)
    return [
        ("-l", layout, *at),
        ("-l", layout, *at, "--use-hw-view"),
        ("-i", "dump.mlir", *at),
        ("-i", "dump.mlir"),
        ("audit", "dump.mlir"),
        ("audit", "dump.mlir", "--format", "json"),
        ("check",),
        ("conflicts", layout, shared, *at),
        ("convert", layout, ROWS if layout == BLOCKED else layout, *at),
        ("diff", layout, layout, *at),
        ("info", layout, *at),
        ("init", "dump.mlir", "-o", "new.yaml"),
        ("plot", layout, *at, "-o", "out.svg"),
        ("plot", shared, *at, "--view", "banks", "-o", "out.svg"),
        ("plot", layout, *at, "-o", "out.html"),
        ("suggest", "blocked", *at),
        ("swizzle", layout, *at),
        ("translate", layout, *at, "--to", "linear"),
        ("where", layout, *at, "--element", ",".join("0" * tensor.count("x"))),
    ]


# -- what is tried ----------------------------------------------------------------------------


def streams() -> Iterator[Attack]:
    """Every command with every state of the streams."""
    states = ("", "> /dev/full", ">&-", "<&-", "2>&-", "2> /dev/full", "| true")
    for state, command in itertools.product(states, commands(BLOCKED, SHARED, TYPE)):
        yield Attack(command, state)


NAMES = (
    "a b.mlir", "-.mlir", "::stop-commands::x", "##[group]x", "n\ncases: [] #.mlir", "a\x1b[31mb",
    "a\u202eb", "a\u2028b", "a:b", "CON", "x" * 250, os.fsdecode(b"\xff\xfe.mlir"),
)  # fmt: skip


def names() -> Iterator[Attack]:
    """Files of strange names in every place that takes one."""
    for name in NAMES:

        def prepare(name: str = name) -> None:
            Path(name).write_text(DUMP)

        path = f"./{name}"
        for arguments in (
            ("-i", path),
            ("audit", path),
            ("init", path, "-o", "new.yaml"),
            ("info", f"{path}:a", "-t", TYPE),
            ("audit", f"{path}nowhere"),
            ("plot", "-i", path, "-o", "out.html"),
            ("-l", BLOCKED, "-t", TYPE, "-o", f"{path}.out"),
            ("check", path),
        ):
            yield Attack(arguments, prepare=prepare)


PAYLOADS = (
    "\x1b[31mred", "\x1b]8;;http://x\x07y", "\x1b]52;c;eA==\x07", "\x9b31m\x85", "\u202eabc\u2066",
    "\n::stop-commands::x\n##[group]y\n",
)  # fmt: skip


def payloads() -> Iterator[Attack]:
    """Text that a terminal or a CI run would obey, in every place that is shown."""
    places = {
        "target": DUMP.replace("cuda:90", "%s"),
        "pass": "// -----// IR Dump Before %s (x) //----- //\n" + DUMP,
        "function": DUMP.replace("@f(", '@"%s"('),
        "location": DUMP.replace("#smem>\n", '#smem> loc("%s":1:1)\n'),
        "layout": DUMP.replace("order = [1, 0]", "order = [1, %s]"),
        "element": DUMP.replace("64x64xf16, #a", "64x64x!a<%s>, #a"),
    }
    for payload in PAYLOADS:
        for text in places.values():

            def prepare(text: str = text, payload: str = payload) -> None:
                Path("dump.mlir").write_text(text.replace("%s", payload))

            yield Attack(("audit", "dump.mlir"), prepare=prepare)
            yield Attack(("-i", "dump.mlir"), prepare=prepare)
        yield Attack(("info", BLOCKED.replace("order", payload), "-t", TYPE))
        yield Attack(("info", BLOCKED, "-t", f"tensor<64x{payload}>"))
        yield Attack(("info", f"dump.mlir:{payload}", "-t", TYPE))
        for form in FORMS:
            for text in (MANIFEST.replace("name: a", f"name: {json.dumps(payload)}"), payload):

                def manifest(text: str = text) -> None:
                    Path("layouts.yaml").write_text(text)

                yield Attack(("check", "--format", form), "", manifest, form == "junit")

            def golden(payload: str = payload) -> None:
                Path("a.tensor.txt").write_text(payload * 3)
                Path("layouts.facts.json").write_text(json.dumps({"a.tensor": [payload, payload]}))

            yield Attack(("check", "--format", form), "", golden, form == "junit")


FORMS = ("text", "junit", "github")


def manifests() -> Iterator[Attack]:
    """A hundred manifests that are none, in each format."""
    values = (
        '"a\\0b"', "x" * 100_000, "[]", "{}", "null", "-1", "1e999", "&a [*a]", "!!python/x y",
        "../../etc/passwd", "/etc/passwd", "layouts.yaml", "'{x}'", "\u202e", "0x10", "~",
        "[[[[]]]]", "'#ttg.blocked<'", "true", "2020-01-01",
    )  # fmt: skip
    for key, value in itertools.product(("name", "layout", "type", "file", "views"), values):
        text = re.sub(rf"(?m)(^  [- ] )({key}: .*|$)", rf"\g<1>{key}: @", MANIFEST)
        if f"{key}: @" not in text:
            text = f"{MANIFEST}    {key}: @\n"
        for form in FORMS:

            def prepare(text: str = text.replace("@", value)) -> None:
                Path("layouts.yaml").write_text(text)

            yield Attack(("check", "--format", form), "", prepare)


def special_files() -> Iterator[Attack]:
    """Pipes, sockets, devices, folders and links, wherever a path is taken."""
    makers: dict[str, Callable[[str], None]] = {
        "pipe": os.mkfifo,
        "socket": _bind,
        "device": lambda name: os.symlink("/dev/zero", name),
        "folder": os.mkdir,
        "itself": lambda name: os.symlink(name, name),
        "nowhere": lambda name: os.symlink("../nowhere", name),
    }
    for make in makers.values():
        for name, arguments in (
            ("x", ("-i", "x")),
            ("x", ("audit", "x")),
            ("x", ("info", "x:a", "-t", TYPE)),
            ("x", ("init", "x", "-o", "new.yaml")),
            ("x", ("translate", "x", "--to", "linear")),
            ("x", ("check", "x")),
            ("x", ("-l", BLOCKED, "-t", TYPE, "-o", "x")),
            ("x.svg", ("plot", BLOCKED, "-t", TYPE, "-o", "x.svg")),
            ("a.tensor.txt", ("check",)),
            ("a.tensor.txt", ("check", "--update")),
            ("a.tensor.txt.new", ("check",)),
            ("layouts.yaml", ("check",)),
        ):

            def prepare(make: Callable[[str], None] = make, name: str = name) -> None:
                Path("a.tensor.txt").write_text("old\n")
                for old in (name, "../nowhere"):  # which an attack before may have written
                    Path(old).unlink(missing_ok=True)
                make(name)

            yield Attack(arguments, prepare=prepare)


def _bind(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(name)


def too_large() -> Iterator[Attack]:
    """2^40 elements and twenty dimensions for every command."""
    size = 1 << 20
    yield from map(Attack, commands(BLOCKED, SHARED, f"tensor<{size}x{size}xf16>"))
    yield Attack(("conflicts", BLOCKED, PADDED % (size, size), "-t", f"tensor<{size}x{size}xf16>"))
    order = ", ".join(map(str, reversed(range(20))))
    ones = "1, " * 18
    layout = (
        f"#ttg.blocked<{{sizePerThread = [{ones}1, 4], threadsPerWarp = [{ones}4, 8], "
        f"warpsPerCTA = [{ones}1, 4], order = [{order}]}}>"
    )
    shared = SHARED.replace("1, 0", order)
    yield from map(Attack, commands(layout, shared, f"tensor<{'4x' * 20}f16>"))


def hostile_dumps() -> Iterator[Attack]:
    """Small dumps of which much could be made, for every command that reads dumps."""
    for build, size in itertools.product(DUMPS.values(), SIZES):

        def prepare(build: Callable[[int], str] = build, size: int = size) -> None:
            Path("dump.mlir").write_text(build(size))

        for arguments in (
            ("audit", "dump.mlir"),
            ("audit", "dump.mlir", "--format", "json", "--value", "s=3"),
            ("audit", "dump.mlir", "dump.mlir", "--diff"),
            ("plot", "-i", "dump.mlir", "-o", "out.html"),
            ("-i", "dump.mlir"),
            ("init", "dump.mlir", "-o", "new.yaml"),
        ):
            yield Attack(arguments, prepare=prepare)


def odd_texts() -> Iterator[Attack]:
    """Layouts, targets and dumps that the commands once took too long over, or quietly amiss."""
    gluon = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
    cluster = (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16"
    )
    texts = (
        f"{'gl.SliceLayout(0, ' * 60}{gluon}{')' * 60}",
        f"#ttg.slice<{{dim = 0, parent = {BLOCKED.replace('[1, 8]', '[]')}}}>",
        BLOCKED.replace("[1, 8]", "[-0, 8]"),
        BLOCKED.replace(", ", ",\f"),
        BLOCKED.replace("{", ",{"),
        "#ttg.amd_wmma<{version = 3, ctaLayout = {warp = [[1, 1], [2, 0]]}, isTranspose = true, "
        "instrShape = [16, 16, 32]}>",
        f"{cluster}, CGALayout = [[0, 0]]}}>",
        f"{cluster}, CGALayout = [[{'0, ' * 5000}0]]}}>",
        f"#ttg.linear<{{register = [{'[0, 1], ' * 2500}[0, 1]], "
        "lane = [], warp = [], block = []}>",
        "((2,2,2,2,2,2),1):((4,0,1,2,0,0),0)",
        f"{'(' * 3000}1{')' * 3000}:1",
        "tlx.swizzled_layout(3, 4, 3, [1, 0], unknown=1)",
        "tlx.swizzled_shared_layout_encoding(8, 1, 8, [1, 0], [1, 1], [1, 1], [1, 0], [1, 0], 9)",
        f"composition(Swizzle<3,3,3>{{}}, Layout<{'Shape<' * 900}_8{'>' * 900},_1>{{}})",
        f"[('register', {[[0, 1]] * 3000})]",
    )
    for text, to in zip(texts, itertools.cycle(("cute", "gluon", "tlx", "3.7"))):
        yield Attack(("translate", text, "-t", TYPE, "--to", to))
    for target in (f"sm{'9' * 4300}", "cuda:", "hip:gfx", "sm-1", "\u0663"):
        yield Attack(("conflicts", BLOCKED, SHARED, "-t", TYPE, "--target", target))
    for place in ("constructor", "__proto__", "toString"):

        def prepare(place: str = place) -> None:
            Path("dump.mlir").write_text(DUMP.replace("#smem>\n", f'#smem> loc("{place}":1:1)\n'))

        yield Attack(("plot", "-i", "dump.mlir", "-o", "out.html"), prepare=prepare)

    def neighbours() -> None:
        Path("a.layouts.yaml").write_text(MANIFEST)
        Path("b.layouts.yaml").write_text("cases: [")

    for form in FORMS:
        yield Attack(("check", "a.layouts.yaml", "--format", form), prepare=neighbours)
    for grid in ("9" * 5000, "0" * 5000 + "1", "1," * 5000, "\u0663", "1e9", "-1", "2147483648"):
        for command in ("audit", "rank"):
            yield Attack((command, "dump.mlir", "--grid", grid))
    for part in ("0:12,0:6", "-1:,::"):
        view = ("-l", BLOCKED, "-t", "tensor<16x64xf16>", "--header", "--compact", "--slice", part)
        yield Attack(view)


SECTIONS: dict[str, Callable[[], Iterator[Attack]]] = {
    "commands x states of the streams": streams,
    "file names x places that take one": names,
    "payloads x places that are shown": payloads,
    "manifests x formats": manifests,
    "special files x places": special_files,
    "2^40 elements and rank 20 x commands": too_large,
    "hostile dumps x commands": hostile_dumps,
    "odd texts x commands": odd_texts,
}


# -- how it is tried --------------------------------------------------------------------------


def failure(attack: Attack) -> str | None:
    """Run an attack in a folder of its own; return what is wrong with how it ends, if anything."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("dump.mlir").write_text(DUMP)
            Path("layouts.yaml").write_text(MANIFEST)
            try:
                attack.prepare()
            except OSError:
                return None  # this system has no such file
            return _failure(attack)
        finally:
            os.chdir(before)


def _failure(attack: Attack) -> str | None:
    if not attack.redirection:
        ended = server(Limits(SECONDS, MEGABYTES)).run(attack.arguments)
        return _fault(ended, attack)
    try:
        return _fault(_of_a_shell(attack), attack)
    except subprocess.TimeoutExpired:
        return "takes too long"


def _of_a_shell(attack: Attack) -> Ended:
    """Run an attack from its beginning, as a shell starts it."""
    script = f'"$@" {attack.redirection}; exit ${{PIPESTATUS[0]}}'
    command = ["bash", "-c", script, "-", sys.executable, "-m", "tt_layout", *attack.arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDEVMODE": "",
    }
    environment.pop("CI", None)
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        env=environment,
        timeout=SECONDS * 3,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20,) * 2),
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def fault_of(status: int, out: str, err: str) -> str | None:
    """Return what is wrong with how a command ended, or with what it printed, if anything is."""
    if "Traceback" in err:
        return "a traceback: " + err.strip().rpartition("\n")[2]
    if status not in (0, 1, 2, 130):
        return f"status {status}"
    if "not enough memory" in err:
        return "takes too much memory"
    for text in (out, err):
        bad = {c for c in set(text) if not c.isprintable() and c not in "\n\t"}
        if bad:
            return f"prints {sorted(bad)!r}"
        if re.search(r"^\s*(::(?!(error|warning)[ :])|##\[)", text, re.MULTILINE):  # but our own
            return "prints a command to CI"
    return None


def _fault(ended: Ended, attack: Attack) -> str | None:
    err = ended.err.decode(errors="replace")
    if (fault := fault_of(ended.status, ended.out.decode(), err)) is not None:
        return fault
    if attack.is_well_formed and ended.status < 2:
        ET.fromstring(ended.out)
    for figure in Path().glob("*.svg"):
        if figure.is_file() and figure.stat().st_size:
            ET.parse(figure)
    return None


def run(section: str, most: int | None = None, seed: int = 0) -> tuple[int, list[str]]:
    """Run the attacks of a section, or so many by chance; return how many, and what failed."""
    attacks, failed = list(SECTIONS[section]()), []
    if most is not None and len(attacks) > most:
        attacks = Random(seed).sample(attacks, most)
    for attack in attacks:
        if (found := failure(attack)) is not None:
            words = " ".join(attack.arguments)[:100]
            failed.append(f"{words!a} {attack.redirection}: {found}")
    return len(attacks), failed


def main() -> int:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else None
    status = 0
    for section in SECTIONS:
        tried, failed = run(section, most)
        print(f"{tried:6d} tried {len(failed):6d} failed  {section}", flush=True)
        for line in failed[:20]:
            print(f"        {line}")
        status |= bool(failed)
    return status


if __name__ == "__main__":
    sys.exit(main())
