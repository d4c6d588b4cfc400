"""Bad input ends in a clear message with a caret under the fault, exit status 2, and nothing else.

One table for each place where the fault can lie; `check` asks the same of every row.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from command import BLOCKED, TYPE, Outcome, Run, runner

from tt_layout.mlir.syntax import MAX_DEPTH
from tt_layout.releases import LATEST, release_names


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def check(outcome: Outcome, heading: str, text: str = "", underlined: str = "") -> None:
    """Require an error that begins with ``heading`` and points at ``underlined`` in ``text``.

    Without ``text`` there is nothing to point at, and the message is one line.
    """
    assert (outcome.status, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
    assert outcome.err.endswith("\n")
    message, *quoted = outcome.err.splitlines()
    assert message.startswith(heading)
    if not text:
        assert quoted == []
        return
    line, carets = quoted
    start = len(carets) - len(carets.lstrip())
    assert carets.strip() == "^" * max(1, len(underlined))
    assert line[start : start + len(underlined)] == underlined
    assert line.removeprefix("...").removesuffix("...") in text


def blocked(**changes: str | None) -> str:
    """Return a blocked layout with some keys changed, added, or taken out."""
    keys: dict[str, str | None] = {
        "sizePerThread": "[1, 2]",
        "threadsPerWarp": "[2, 2]",
        "warpsPerCTA": "[2, 1]",
        "order": "[1, 0]",
    }
    shown = ", ".join(f"{k} = {v}" for k, v in {**keys, **changes}.items() if v is not None)
    return f"#ttg.blocked<{{{shown}}}>"


def linear(**changes: str) -> str:
    keys = {"register": "[[0, 1]]", "lane": "[[0, 2], [1, 0]]", "warp": "[[2, 0]]", "block": "[]"}
    return f"#ttg.linear<{{{', '.join(f'{k} = {v}' for k, v in {**keys, **changes}.items())}}}>"


def mma(keys: str) -> str:
    plain = "versionMajor = 2, warpsPerCTA = [1, 1], instrShape = [16, 8]"
    return f"#ttg.nvidia_mma<{{{plain}{keys}}}>"


SWIZZLED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
DEEP = "#ttg.slice<{dim = 0, parent = "

# attribute, column, what is underlined, message
ATTRIBUTES: dict[str, tuple[str, int, str, str]] = {
    "unknown attribute": (
        blocked().replace("blocked", "blokced"),
        1,
        "#ttg.blokced",
        "#ttg.blokced is not a layout attribute; did you mean #ttg.blocked?",
    ),
    "unknown dialect": (
        blocked().replace("ttg", "foo"),
        1,
        "#foo.blocked",
        "#foo.blocked is not a layout attribute",
    ),
    "an attribute that is not a layout": (
        "#ttg.shared_memory",
        1,
        "#ttg.shared_memory",
        "#ttg.shared_memory is not a layout attribute",
    ),
    "no number sign": (
        blocked()[1:],
        1,
        "ttg",
        "expected an attribute such as #ttg.blocked<{...}>, got 'ttg'",
    ),
    "no attribute": (
        "[1, 2]",
        1,
        "[",
        "expected an attribute such as #ttg.blocked<{...}>, got '['",
    ),
    "nothing": (
        " ",
        2,
        "",
        "expected an attribute such as #ttg.blocked<{...}>, got the end of the text",
    ),
    "no parameters": (
        "#ttg.blocked",
        1,
        "#ttg.blocked",
        "#ttg.blocked needs its parameters in <...>",
    ),
    "no braces": (
        "#ttg.blocked<order = [0]>",
        1,
        "#ttg.blocked<order = [0]>",
        "#ttg.blocked is written <{key = value, ...}>",
    ),
    "alias": (
        "#blocked",
        1,
        "#blocked",
        "the alias #blocked is not defined; only a file (-i) can define aliases",
    ),
    "unknown key": (
        blocked(sizePerThred="[1, 2]"),
        102,
        "sizePerThred",
        "#ttg.blocked has no key 'sizePerThred'; did you mean 'sizePerThread'?",
    ),
    "unknown key like no other": (
        blocked(foo="1"),
        102,
        "foo",
        "#ttg.blocked has no key 'foo'; it takes sizePerThread, threadsPerWarp, ",
    ),
    "unknown key of a parent": (
        f"#ttg.slice<{{dim = 0, parent = {blocked(ordre='[1, 0]')}}}>",
        132,
        "ordre",
        "#ttg.blocked has no key 'ordre'; did you mean 'order'?",
    ),
    "a key that 3.9 ignores": (
        mma(", CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0], CGALayout = [[0, 1]]"),
        80,
        "CTAsPerCGA",
        "no release knows all keys of this #ttg.nvidia_mma: 'CTAsPerCGA' belongs to ",
    ),
    "keys that releases know singly": (
        "#ttg.partitioned_shared<{partitionDim = 1, numPartitions = 4, numGroups = 1, "
        "partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        "order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>}>",
        96,
        "#ttg.swizzled_shared",
        "no release reads both #ttg.partitioned_shared and #ttg.swizzled_shared as they are",
    ),
    "missing key": (
        blocked(order=None),
        1,
        "#ttg.blocked",
        "#ttg.blocked needs the key 'order'",
    ),
    "missing keys": (
        "#ttg.swizzled_shared<{vec = 1}>",
        1,
        "#ttg.swizzled_shared",
        "#ttg.swizzled_shared needs the keys 'perPhase', 'maxPhase' and 'order'",
    ),
    "missing key that wheels read as 0": (
        "#ttg.swizzled_shared<{vec = 1, perPhase = 1, order = [1, 0]}>",
        1,
        "#ttg.swizzled_shared",
        "#ttg.swizzled_shared needs the key 'maxPhase'",
    ),
    "repeated key": (
        blocked().replace("}", ", order = [1, 0]}"),
        102,
        "order",
        "the key 'order' is given twice",
    ),
    "wrong rank within": (
        blocked(threadsPerWarp="[2, 2, 1]"),
        1,
        blocked(threadsPerWarp="[2, 2, 1]"),
        "the lists of #ttg.blocked must have one length, got sizePerThread 2, threadsPerWarp 3",
    ),
    "wrong rank of a parent": (
        f"#ttg.slice<{{dim = 2, parent = {BLOCKED}}}>",
        19,
        "2",
        "dim must be a dimension of the parent (0..1), got 2",
    ),
    "ragged bases": (
        linear(lane="[[0, 2], [1]]"),
        42,
        "[[0, 2], [1]]",
        "every basis of lane must have 2 numbers, got [1]",
    ),
    "no power of two": (
        blocked(sizePerThread="[1, 3]"),
        31,
        "[1, 3]",
        "every entry of sizePerThread must be a power of two, got [1, 3]",
    ),
    "zero": (
        blocked(warpsPerCTA="[0, 1]"),
        78,
        "[0, 1]",
        "every entry of warpsPerCTA must be a power of two, got [0, 1]",
    ),
    "no power of two in a parent": (
        f"#ttg.slice<{{dim = 0, parent = {blocked(sizePerThread='[1, 6]')}}}>",
        61,
        "[1, 6]",
        "every entry of sizePerThread must be a power of two, got [1, 6]",
    ),
    "negative": (
        blocked(warpsPerCTA="[-2, 1]"),
        79,
        "-2",
        "expected an integer that is not negative, got -2",
    ),
    "no permutation": (
        blocked(order="[1, 1]"),
        94,
        "[1, 1]",
        "order must be a permutation of 0..1, got [1, 1]",
    ),
    "a permutation of something else": (
        blocked(order="[1, 2]"),
        94,
        "[1, 2]",
        "order must be a permutation of 0..1, got [1, 2]",
    ),
    "no permutation of padded memory": (
        "#ttg.padded_shared<[4:+2] {order = [0, 0]}>",
        36,
        "[0, 0]",
        "order must be a permutation of 0..1, got [0, 0]",
    ),
    "no instruction of WMMA": (
        "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1]]}, "
        "instrShape = [16, 16, 8]}>",
        94,
        "[16, 16, 8]",
        "instrShape of version 2 must be one of [16, 16, 16], [16, 16, 32], got [16, 16, 8]",
    ),
    "no list": (blocked(order="7"), 94, "7", "expected a list, got 7"),
    "no integer": (blocked(order="[a, 0]"), 95, "a", "expected an integer, got a"),
    "no boolean": (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = 1, elementBitWidth = 16}>",
        59,
        "1",
        "expected true or false, got 1",
    ),
    "no layout as parent": (
        "#ttg.slice<{dim = 0, parent = 7}>",
        31,
        "7",
        "expected a layout attribute such as #ttg.blocked<{...}>, got 7",
    ),
    "too large for 32 bits": (
        blocked(order="[4294967296, 0]"),
        95,
        "4294967296",
        "the integer 4294967296 does not fit into 32 bits",
    ),
    "too large for 64 bits": (
        blocked(order=f"[{'9' * 40}, 0]"),
        95,
        "9" * 40,
        "the integer does not fit into 64 bits",
    ),
    "bracket not closed": (
        blocked(order="[1, 0"),
        99,
        "}",
        "expected ',' or ']' in the list, got '}'",
    ),
    "attribute not closed": (
        BLOCKED[:-1],
        101,
        "",
        "expected ',' or '>' in the attribute, got the end of the text",
    ),
    "bracket never opened": (
        blocked(order="1, 0]"),
        97,
        "0",
        "expected a key, got '0'",
    ),
    "trailing bracket": (
        BLOCKED + ">",
        102,
        ">",
        "unexpected text after the attribute: '>'",
    ),
    "trailing text": (
        BLOCKED + " foo",
        103,
        "foo",
        "unexpected text after the attribute: 'foo'",
    ),
    "trailing comma": (blocked().replace("}", ",}"), 101, "}", "expected a key, got '}'"),
    "a thousand attributes deep": (
        DEEP * 1000 + BLOCKED + "}>" * 1000,
        len(DEEP) * MAX_DEPTH // 2 + len("#ttg.slice") + 1,
        "<",
        f"brackets may nest {MAX_DEPTH} deep at most; here they nest deeper",
    ),
    "a thousand lists deep": (
        blocked(order="[" * 1000 + "]" * 1000),
        94 + MAX_DEPTH - 2,
        "[",
        f"brackets may nest {MAX_DEPTH} deep at most; here they nest deeper",
    ),
    "binary garbage": ("#ttg.\x01\x02", 1, "#ttg", "the alias #ttg is not defined"),
    "a letter of another alphabet": (
        blocked().replace("order", "\u043erder"),
        86,
        "\u043e",
        "expected a key, got '\u043e'",
    ),
}


@pytest.mark.parametrize("case", ATTRIBUTES)
def test_a_fault_in_the_attribute(run: Run, case: str, tmp_path: Path) -> None:
    text, column, underlined, message = ATTRIBUTES[case]
    target = tmp_path / "out"
    outcome = run("-l", text, "-t", TYPE, "-o", str(target))
    visible = "".join(c if c.isprintable() else "?" for c in text) or "\n"
    check(outcome, f"-l:1:{column}: error: {message}", visible, underlined)
    assert os.listdir(tmp_path) == []


# type, column, what is underlined, message
TYPES: dict[str, tuple[str, int, str, str]] = {
    "no type": ("f16", 1, "f16", "expected a tensor type such as tensor<16x16xf16>, got 'f16'"),
    "nothing": (" ", 1, " ", "expected a tensor type such as tensor<16x16xf16>, got ''"),
    "dynamic shape": ("tensor<4x?xf16>", 10, "?", "every dimension must be known, got '?'"),
    "unranked": ("tensor<*xf16>", 8, "*", "every dimension must be known, got '*'"),
    "element type that is none": (
        "tensor<4x4xfloat>",
        12,
        "float",
        "expected an element type such as f16, i8 or !tt.ptr<f32>, got 'float'",
    ),
    "no element type": (
        "tensor<4x4>",
        10,
        "4",
        "expected an element type such as f16, i8 or !tt.ptr<f32>, got '4>'",
    ),
    "not closed": (
        "tensor<4x4xf16",
        15,
        "",
        "expected '>' to close the type, got the end of the text",
    ),
    "trailing text": ("tensor<4x4xf16> x", 17, "x", "unexpected text after the type: 'x'"),
    "another rank": (
        "tensor<4x4x4xf16>",
        1,
        "tensor<4x4x4xf16>",
        "#ttg.blocked is for 2 dimensions, but the shape [4, 4, 4] has 3",
    ),
    "one dimension": (
        "tensor<4xf16>",
        1,
        "tensor<4xf16>",
        "#ttg.blocked is for 2 dimensions, but the shape [4] has 1",
    ),
    "no power of two": (
        "tensor<4x6xf16>",
        1,
        "tensor<4x6xf16>",
        "every dimension must be a power of two, got [4, 6]",
    ),
    "beyond every memory": (
        "tensor<1099511627776x1099511627776xf16>",
        1,
        "tensor<1099511627776x1099511627776xf16>",
        "a tensor has at most 2^60 elements, got [1099511627776, 1099511627776]",
    ),
    "beyond 64 bits": (
        "tensor<99999999999999999999x1xf16>",
        8,
        "99999999999999999999",
        "the dimension does not fit into 64 bits",
    ),
    "memory instead of registers": (
        "!ttg.memdesc<4x4xf16>",
        1,
        "!ttg.memdesc<4x4xf16>",
        "#ttg.blocked is for tensors in registers, but a memdesc is in memory; write tensor<...>",
    ),
}


@pytest.mark.parametrize("case", TYPES)
def test_a_fault_in_the_type(run: Run, case: str, tmp_path: Path) -> None:
    text, column, underlined, message = TYPES[case]
    target = tmp_path / "out"
    outcome = run("-l", BLOCKED, "-t", text, "-o", str(target))
    check(outcome, f"-t:1:{column}: error: {message}", text, underlined)
    assert os.listdir(tmp_path) == []


def test_a_memdesc_may_have_one_dimension_more_and_not_two(run: Run) -> None:
    text = "!ttg.memdesc<2x2x4x4xf16>"
    heading = "-t:1:1: error: #ttg.swizzled_shared is for 2 dimensions, but the shape [2, 2, 4, 4] "
    check(run("-l", SWIZZLED, "-t", text), heading, text, text)


# text of a file, line and column, what is underlined, message
FILES: dict[str, tuple[str, str, str, str]] = {
    "unknown attribute": (
        f"#a = {BLOCKED}\n#b = {BLOCKED.replace('blocked', 'blokced')}\n",
        "2:6",
        "#ttg.blokced",
        "#ttg.blokced is not a layout attribute; did you mean #ttg.blocked?",
    ),
    "fault on a later line": (
        "#a = #ttg.blocked<{sizePerThread = [1, 2],\n"
        "                   threadsPerWarp = [2, 3], warpsPerCTA = [2, 1], order = [1, 0]}>\n",
        "2:37",
        "[2, 3]",
        "every entry of threadsPerWarp must be a power of two, got [2, 3]",
    ),
    "alias not defined": (
        f"#a = {BLOCKED}\n#b = #ttg.slice<{{dim = 0, parent = #c}}>\n",
        "2:36",
        "#c",
        "the alias #c is not defined; defined are #a, #b",
    ),
    "alias of nothing": ("#a = #b\n", "1:6", "#b", "the alias #b is not defined; defined are #a"),
    "alias defining itself": (
        "#a = #a\n",
        "1:6",
        "#a",
        "the alias #a is defined by itself: #a -> #a",
    ),
    "alias defining itself as its parent": (
        "#a = #ttg.slice<{dim = 0, parent = #a}>\n",
        "1:36",
        "#a",
        "the alias #a is defined by itself: #a -> #a",
    ),
    "aliases defining each other": (
        "#a = #b\n#b = #c\n#c = #a\n",
        "1:6",
        "#b",
        "the alias #b is defined by itself: #b -> #c -> #a -> #b",
    ),
    "alias defined twice": (
        f"#a = {BLOCKED}\n#b = #a\n#a = {BLOCKED}\n",
        "3:1",
        "#a",
        "the alias #a is defined twice; first on line 1",
    ),
    "trailing text": (
        f"#a = {BLOCKED} foo\n",
        f"1:{len(BLOCKED) + 7}",
        "foo",
        "unexpected text after the definition of #a: 'foo'",
    ),
    "bracket not closed": (
        f"#a = {BLOCKED[:-1]}\n#b = {BLOCKED}\n",
        "2:1",
        "#b",
        "expected ',' or '>' in the attribute, got '#b'",
    ),
    "a thousand attributes deep": (
        "#a = #ttg.x<[\n" + "[" * 1000,
        f"2:{MAX_DEPTH - 1}",
        "[",
        f"brackets may nest {MAX_DEPTH} deep at most; here they nest deeper",
    ),
    "a thousand aliases deep": (
        "".join(f"#a{i} = #ttg.slice<{{dim = 0, parent = #a{i + 1}}}>\n" for i in range(1000)),
        "33:8",
        "#ttg.slice<{dim = 0, parent = #a33}>",
        f"brackets may nest {MAX_DEPTH} deep at most; with their aliases expanded they nest deeper",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_fault_in_a_file(run: Run, case: str, tmp_path: Path) -> None:
    text, place, underlined, message = FILES[case]
    path, target = tmp_path / "in.mlir", tmp_path / "out"
    path.write_text(text)
    outcome = run("-i", str(path), "-t", TYPE, "-o", str(target))
    check(outcome, f"{path}:{place}: error: {message}", text, underlined)
    assert os.listdir(tmp_path) == ["in.mlir"]


def test_a_fault_in_standard_input(run: Run) -> None:
    outcome = run("-i", "-", "-t", TYPE, stdin=b"#a = #b")
    check(outcome, "<stdin>:1:6: error: the alias #b is not defined", "#a = #b", "#b")


# content of a file, message
UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "white space": (b" \n\t\n", "the file is empty"),
    "binary garbage": (b"\x7fELF\x02\x01\x01\xff\xfe\x00", "not text: byte 9 is 0x00"),
    "Latin-1": ("# für\n".encode("latin-1"), "not UTF-8 text: byte 3 is 0xfc"),
    "zeros": (b"#a = \x00\x00", "not text: byte 5 is 0x00"),
    "UTF-16": ("#a = 1".encode("utf-16-le"), "not text: byte 1 is 0x00"),
    "no alias": (b"module {}\n", "no alias in the file is a layout"),
    "no layout": (b"#smem = #ttg.shared_memory\n", "no alias in the file is a layout"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_file_that_holds_no_layout(run: Run, case: str, tmp_path: Path) -> None:
    content, message = UNREADABLE[case]
    path = tmp_path / "in.mlir"
    path.write_bytes(content)
    check(run("-i", str(path), "-t", TYPE), f"{path}: error: {message}")
    check(run("-i", "-", "-t", TYPE, stdin=content), f"<stdin>: error: {message}")


def test_a_file_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    missing = tmp_path / "missing.mlir"
    check(run("-i", str(tmp_path), "-t", TYPE), f"{tmp_path}: error: cannot read: Is a directory")
    heading = f"{missing}: error: cannot read: No such file or directory"
    check(run("-i", str(missing), "-t", TYPE), heading)


def test_a_file_without_an_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    heading = "/dev/zero: error: cannot read: it is a device, not a file"
    check(run("-i", "/dev/zero", "-t", TYPE), heading)
    check(run("check", "/dev/zero"), heading)
    monkeypatch.setattr("tt_layout.files.MAX_BYTES", 4 << 20)
    heading = "<stdin>: error: longer than 4 MiB, the most that is read"
    check(run("-i", "-", "-t", TYPE, stdin=b"#a = 1\n" * (1 << 20)), heading)


def test_an_alias_that_the_file_does_not_have(run: Run, tmp_path: Path) -> None:
    path, target = tmp_path / "in.mlir", tmp_path / "out"
    path.write_text(
        f"#a = {BLOCKED}\n#smem = #ttg.shared_memory\n#loc = loc(unknown)\n"
        '#file = #llvm.di_file<"a" in "b">\n'
    )

    def ask(names: str) -> Outcome:
        return run("-i", str(path), "-t", TYPE, f"--alias-names={names}", "-o", str(target))

    check(ask("a,b"), f"{path}: error: there is no alias #b; the layouts are #a")
    heading = f"{path}:2:9: error: the alias #smem is not a layout"
    check(ask("smem"), heading, "#smem = #ttg.shared_memory", "#ttg.shared_memory")
    heading = f"{path}:3:8: error: the alias #loc is not a layout"
    check(ask("loc"), heading, "#loc = loc(unknown)", "loc")
    heading = f"{path}:4:9: error: the alias #file is not a layout"
    check(ask("file"), heading, '#file = #llvm.di_file<"a" in "b">', "#llvm.di_file")
    assert os.listdir(tmp_path) == ["in.mlir"]


# options, message
OPTIONS: dict[str, tuple[list[str], str]] = {
    "neither -l nor -i": (
        ["-t", TYPE],
        "error: nothing to show: give an attribute with -l or a file with -i",
    ),
    "no -t": (
        ["-l", BLOCKED],
        "error: no tensor type: give one with -t, such as -t 'tensor<16x16xf16>'",
    ),
    "no such file": (["-i", "no/such/file"], "no/such/file: error: cannot read"),
    "names without a file": (
        ["-l", BLOCKED, "-t", TYPE, "--alias-names=a"],
        "error: --alias-names picks aliases of a file: give one with -i",
    ),
    "unknown release": (
        ["-l", BLOCKED, "-t", TYPE, "--triton", "4.7"],
        f"error: unknown Triton release '4.7'; known are {release_names()}",
    ),
    "a release that is none": (
        ["-l", BLOCKED, "-t", TYPE, "--triton", "newest"],
        f"error: unknown Triton release 'newest'; known are {release_names()}",
    ),
    "no size": (
        ["-l", BLOCKED, "-t", TYPE, "--max-text", "lots"],
        "error: expected a size such as 256MiB or 4GiB, got 'lots'",
    ),
    "negative size": (
        ["-l", BLOCKED, "-t", TYPE, "--max-text=-1"],
        "error: expected a size such as 256MiB or 4GiB, got '-1'",
    ),
    "text too large": (
        ["-l", BLOCKED, "-t", "tensor<16384x16384xf16>"],
        "error: the text would have 3.3 GiB (",
    ),
    "text larger than asked": (
        ["-l", BLOCKED, "-t", TYPE, "--max-text=100"],
        "error: the text would have 231 bytes, more than the limit of 100 bytes; "
        "--max-text raises the limit",
    ),
    "no range": (
        ["-l", BLOCKED, "-t", TYPE, "--slice", "0:4,x"],
        "error: --slice takes a number or a range such as 0:16, got 'x'",
    ),
    "negative range": (
        ["-l", BLOCKED, "-t", TYPE, "--use-hw-view", "--lane=-1"],
        "error: --lane takes a number or a range such as 0:16, got '-1'",
    ),
    "slice of another rank": (
        ["-l", BLOCKED, "-t", TYPE, "--slice", "0:4"],
        "error: slices must have one entry per tensor dimension (2), got 1",
    ),
    "slice outside": (
        ["-l", BLOCKED, "-t", TYPE, "--slice", "0:4,0:5"],
        "error: dim1 4 is outside 0..3",
    ),
    "lane outside": (
        ["-l", BLOCKED, "-t", TYPE, "--use-hw-view", "--lane", "4"],
        "error: lane 4 is outside 0..3",
    ),
    "empty range": (
        ["-l", BLOCKED, "-t", TYPE, "--use-hw-view", "--warp", "1:1"],
        "error: warp 1:1 selects nothing",
    ),
    "range of the other view": (
        ["-l", BLOCKED, "-t", TYPE, "--lane", "0"],
        "error: lanes cannot be selected in a tensor view; it has slices",
    ),
    "range of another kind of layout": (
        ["-l", BLOCKED, "-t", TYPE, "--use-hw-view", "--offset", "0"],
        "error: offsets cannot be selected in a hardware view of a distributed layout",
    ),
    "no name of an output file": (
        ["-l", BLOCKED, "-t", TYPE, "-o", ""],
        "error: -o needs the name of a file, got ''",
    ),
    "no name of an input file": (["-i", "", "-t", TYPE], "error: expected the name of a file"),
    "output in a missing directory": (
        ["-l", BLOCKED, "-t", TYPE, "-o", "no/such/place"],
        "no/such/place: error: cannot write: No such file or directory",
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_a_fault_in_the_options(run: Run, case: str) -> None:
    options, message = OPTIONS[case]
    check(run(*options), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--use-hw-vie"], "no such option '?--use-hw-vie'?.*did you mean .*--use-hw-view"),
        (["-l"], "option -l requires an argument"),
        (["-t", TYPE, "-l", BLOCKED, "file.mlir"], "error no such file file.mlir"),
    ],
)
def test_options_that_do_not_exist(run: Run, options: list[str], message: str) -> None:
    outcome = run(*options)
    assert (outcome.status, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
    told = re.sub(r"[':]|\.(?= |$)", "", outcome.err)
    assert re.search(message, told), "whatever the punctuation of this release of click"


def test_a_directory_is_not_written_over(run: Run, tmp_path: Path) -> None:
    outcome = run("-l", BLOCKED, "-t", TYPE, "-o", str(tmp_path))
    check(outcome, f"{tmp_path}: error: cannot write: Is a directory")


def test_a_place_where_nothing_may_be_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refused)
    target = tmp_path / "out"
    target.write_text("before")
    outcome = run("-l", BLOCKED, "-t", TYPE, "-o", str(target))
    check(outcome, f"{target}: error: cannot write: Permission denied")
    assert target.read_text() == "before"


# options, the key at fault, message
RELEASES: dict[str, tuple[str, str, str, str]] = {
    "a key that the release ignores in silence": (
        mma(", CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]"),
        "3.9",
        "CTAsPerCGA",
        "#ttg.nvidia_mma has no key 'CTAsPerCGA' in Triton 3.9; Triton 3.3 to 3.5 has it "
        "(--triton 3.5)",
    ),
    "a key of later releases": (
        mma(", CGALayout = [[0, 1]]"),
        "3.4",
        "CGALayout",
        f"#ttg.nvidia_mma has no key 'CGALayout' in Triton 3.4; Triton 3.6 to {LATEST} has it "
        f"(--triton {LATEST})",
    ),
    "an attribute of earlier releases": (
        "#triton_gpu.shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
        "3.9",
        "#triton_gpu.shared",
        "Triton 3.9 has no attribute #triton_gpu.shared; Triton 2022 to 3.2 has it",
    ),
    "an attribute of later releases": (
        BLOCKED,
        "2.0",
        "#ttg.blocked",
        f"Triton 2.0 has no attribute #ttg.blocked; Triton 3.3 to {LATEST} has it",
    ),
}


@pytest.mark.parametrize("case", RELEASES)
def test_what_a_release_does_not_know(run: Run, case: str) -> None:
    text, release, underlined, message = RELEASES[case]
    outcome = run("-l", text, "-t", TYPE, "--triton", release)
    check(outcome, f"-l:1:{text.index(underlined) + 1}: error: {message}", text, underlined)


def test_no_traceback_from_the_command_itself() -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "tt_layout", "-l", blocked(order="[1, 1]"), "-t", TYPE],
        capture_output=True,
        text=True,
    )
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr == (
        "-l:1:94: error: order must be a permutation of 0..1, got [1, 1]\n"
        + blocked(order="[1, 1]")
        + f"\n{' ' * 93}^^^^^^\n"
    )


def test_a_folder_or_a_pipe_in_the_place_of_a_layout_is_named_as_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dumps").mkdir()
    os.mkfifo("pipe")
    for name, what in (("dumps", "Is a directory"), ("pipe", "it is a pipe, not a file")):
        for command in ("page", "info"):
            outcome = run(command, name, "-t", TYPE)
            assert outcome.status == 2
            assert outcome.err.splitlines()[0] == f"{name}: error: cannot read: {what}"
