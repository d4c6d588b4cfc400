"""The command is a drop-in for ``triton-tensor-layout``: options, output, streams, files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from command import BLOCKED, TYPE, Outcome, Run, runner
from tiers import sampled

import tt_layout
from tt_layout.cli import main as cli
from tt_layout.reports import writing
from tt_layout.views.view import View

HEADING = f"Print layout attribute: {BLOCKED}\n"
VIEW = """\
[[T0:0, T0:1, T1:0, T1:1]
[ T2:0, T2:1, T3:0, T3:1]
[ T4:0, T4:1, T5:0, T5:1]
[ T6:0, T6:1, T7:0, T7:1]]
"""
HARDWARE_VIEW = """\
Warp0:
(0,0), (0,2), (1,0), (1,2)
(0,1), (0,3), (1,1), (1,3)
Warp1:
(2,0), (2,2), (3,0), (3,2)
(2,1), (2,3), (3,1), (3,3)
"""
SWIZZLED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
SWIZZLED_VIEW = """\
[[(0:0),(0:1),(0:2),(0:3)]
[ (1:1),(1:0),(1:3),(1:2)]
[ (2:2),(2:3),(2:0),(2:1)]
[ (3:3),(3:2),(3:1),(3:0)]]
"""
FILE = f"""\
#loc = loc("kernel.py":7:0)
#blocked = {BLOCKED}
#shared = {SWIZZLED}
#smem = #ttg.shared_memory
#same = #blocked
#other = #llvm.di_file<"a" in "b">
module attributes {{"ttg.num-warps" = 2 : i32}} {{
  some.op #not_an_alias_definition = {{}} : !unknown<type>
}}
"""
BLOCKED_PART = f"Print layout attribute: #blocked = {BLOCKED}\n{VIEW}"
SHARED_PART = f"Print layout attribute: #shared = {SWIZZLED}\n{SWIZZLED_VIEW}"
SAME_PART = f"Print layout attribute: #same = {BLOCKED}\n{VIEW}"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture
def dump(tmp_path: Path) -> str:
    path = tmp_path / "dump.mlir"
    path.write_text(FILE)
    return str(path)


def printed(outcome: Outcome) -> str:
    assert (outcome.status, outcome.err) == (0, "")
    return outcome.out


# -- one attribute ------------------------------------------------------------------------------


def test_an_attribute_is_printed_below_its_heading(run: Run) -> None:
    assert printed(run("-l", BLOCKED, "-t", TYPE)) == HEADING + VIEW


def test_the_hardware_view(run: Run) -> None:
    assert printed(run("-l", BLOCKED, "-t", TYPE, "--use-hw-view")) == HEADING + HARDWARE_VIEW


def test_the_heading_shows_the_canonical_attribute(run: Run) -> None:
    untidy = "#ttg<swizzled_shared<{order=[1,0],maxPhase=4:i32,  perPhase=0x1, vec=1}>>"
    heading, _, _ = printed(run("-l", untidy, "-t", TYPE)).partition("\n")
    assert heading == f"Print layout attribute: {SWIZZLED}"


@pytest.mark.parametrize(
    "spelling",
    [
        ["-l", BLOCKED, "-t", TYPE, "-use-hw-view"],
        [f"-l={BLOCKED}", f"-t={TYPE}", "-use-hw-view"],
        ["--l", BLOCKED, "--t", TYPE, "--use-hw-view"],
        [f"--l={BLOCKED}", f"--t={TYPE}", "--use-hw-view"],
        ["--use-hw-view", f"-t{TYPE}", f"-l{BLOCKED}"],
    ],
)
def test_options_are_spelled_as_llvm_or_as_anybody_else_does(
    run: Run, spelling: Sequence[str]
) -> None:
    assert printed(run(*spelling)) == HEADING + HARDWARE_VIEW


# -- a file -------------------------------------------------------------------------------------


def test_all_layouts_of_a_file_are_printed_in_file_order(run: Run, dump: str) -> None:
    assert printed(run("-i", dump, "-t", TYPE)) == BLOCKED_PART + SHARED_PART + SAME_PART


def test_aliases_asked_for_by_name_come_in_that_order_each_with_an_empty_line(
    run: Run, dump: str
) -> None:
    wanted = printed(run("-i", dump, "-t", TYPE, "--alias-names=same,blocked"))
    assert wanted == f"{SAME_PART}\n{BLOCKED_PART}\n"


@pytest.mark.parametrize(
    "names",
    [
        ["--alias-names=same,blocked"],
        ["-alias-names=same,blocked"],
        ["--alias-names", "same,blocked"],
        ["-alias-names", "same, blocked"],
        ["--alias-names=#same,#blocked"],
        ["-alias-names=same", "--alias-names=blocked"],
    ],
)
def test_spellings_of_alias_names(run: Run, dump: str, names: Sequence[str]) -> None:
    assert printed(run("-i", dump, "-t", TYPE, *names)) == f"{SAME_PART}\n{BLOCKED_PART}\n"


def test_an_alias_may_be_asked_for_twice(run: Run, dump: str) -> None:
    wanted = printed(run("-i", dump, "-t", TYPE, "--alias-names=shared,shared"))
    assert wanted == f"{SHARED_PART}\n" * 2


def test_standard_input(run: Run) -> None:
    read = run("-i", "-", "-t", TYPE, stdin=FILE.encode())
    assert printed(read) == BLOCKED_PART + SHARED_PART + SAME_PART


def test_windows_line_ends(run: Run) -> None:
    read = run("-i", "-", "-t", TYPE, stdin=FILE.replace("\n", "\r\n").encode())
    assert printed(read) == BLOCKED_PART + SHARED_PART + SAME_PART


def test_the_file_comes_before_the_attribute(run: Run, dump: str) -> None:
    both = run("-l", BLOCKED, "-i", dump, "-t", TYPE, "--alias-names=shared")
    assert printed(both) == f"{SHARED_PART}\n{HEADING}{VIEW}"


def test_an_alias_may_be_defined_after_its_use_and_over_several_lines(run: Run) -> None:
    text = "#b = #a\n#a =\n  #ttg.swizzled_shared<{vec = 1, // why not\n perPhase = 1,\n"
    text += "  maxPhase = 4, order = [1, 0]}>  // a remark\n"
    out = printed(run("-i", "-", "-t", TYPE, stdin=text.encode()))
    assert out.count(SWIZZLED_VIEW) == 2


def test_a_fault_in_an_alias_that_is_not_asked_for_does_not_matter(run: Run) -> None:
    text = f"#broken = #ttg.blocked<{{order = 7}}>\n#fine = {SWIZZLED}\n"
    out = printed(run("-i", "-", "-t", TYPE, "--alias-names=fine", stdin=text.encode()))
    assert out == f"Print layout attribute: #fine = {SWIZZLED}\n{SWIZZLED_VIEW}\n"


# -- releases -----------------------------------------------------------------------------------

OLD = (
    "#triton_gpu.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], warpsPerCTA = [2, 1], "
    "order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>"
)


def test_an_old_spelling_is_printed_in_its_own_words(run: Run) -> None:
    heading, _, view = printed(run("-l", OLD, "-t", TYPE)).partition("\n")
    assert heading.startswith("Print layout attribute: #triton_gpu.blocked<{")
    assert view == VIEW


def test_a_release_names_the_rules(run: Run) -> None:
    keys = "sizePerThread = [4], threadsPerWarp = [2], warpsPerCTA = [1], order = [0]"
    small = f"#ttg.blocked<{{{keys}}}>"
    today = printed(run("-l", small, "-t", "tensor<2xf16>", "--triton", "3.9"))
    before = printed(run("-l", small, "-t", "tensor<2xf16>", "--triton", "3.8"))
    assert today.splitlines()[1] == "[T0:0|T1:0, T0:1|T1:1]"
    assert before.splitlines()[1] == "[T0:0|T0:2|T1:0|T1:2, T0:1|T0:3|T1:1|T1:3]"


# -- a multi-buffered memdesc ---------------------------------------------------------------------


def test_a_leading_buffer_index_is_named_in_the_heading(run: Run) -> None:
    heading, _, view = printed(run("-l", SWIZZLED, "-t", "!ttg.memdesc<3x4x4xf16>")).partition("\n")
    note = "(each of the 3 buffers of a multi-buffered memdesc in shared memory)"
    assert heading == f"Print layout attribute: {SWIZZLED} {note}"
    assert view == SWIZZLED_VIEW


# -- parts --------------------------------------------------------------------------------------

WIDE = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], "
    "order = [1, 0], CGALayout = [[1, 0]]}>"
)


@pytest.mark.parametrize(
    ("part", "rows", "columns"),
    [
        ("0:4,0:16", range(4), range(16)),
        ("3:17,5:6", range(3, 17), range(5, 6)),
        ("7,:", range(7, 8), range(64)),
        (",3", range(32), range(3, 4)),
        ("30:32,60:64", range(30, 32), range(60, 64)),
    ],
)
def test_a_slice_is_a_cut_out_of_the_tensor_view(
    run: Run, part: str, rows: range, columns: range
) -> None:
    command = ["-l", WIDE, "-t", "tensor<32x64xf16>"]
    whole = printed(run(*command)).splitlines()[1:]
    cut = printed(run(*command, "--slice", part)).splitlines()[1:]
    cells = [line.strip("[]").split(", ") for line in whole]
    expected = [[cells[i][j].strip() for j in columns] for i in rows]
    assert [[cell.strip() for cell in line.strip("[]").split(", ")] for line in cut] == expected


def hardware_lines(text: str) -> Iterator[tuple[int, int, int, list[str]]]:
    """Yield block, warp, register and the entries of the lanes."""
    block = warp = register = -1
    for line in text.splitlines()[1:]:
        if line.startswith("Block"):
            block = int(line[5:-1])
        elif line.startswith("Warp"):
            warp, register = int(line[4:-1]), -1
        else:
            register += 1
            yield block, warp, register, line.split("), ")


@pytest.mark.parametrize(
    ("options", "blocks", "warps", "registers", "lanes"),
    [
        (["--block", "1"], range(1, 2), range(4), range(8), range(32)),
        (["--warp", "1:3"], range(2), range(1, 3), range(8), range(32)),
        (["--register", "2:5"], range(2), range(4), range(2, 5), range(32)),
        (["--lane", "31"], range(2), range(4), range(16), range(31, 32)),
        (
            ["--block=0", "--warp=3", "--lane=0:2", "--register=7"],
            range(1),
            range(3, 4),
            range(7, 8),
            range(2),
        ),
    ],
)
def test_ranges_are_cut_outs_of_the_hardware_view(
    run: Run, options: Sequence[str], blocks: range, warps: range, registers: range, lanes: range
) -> None:
    command = ["-l", WIDE, "-t", "tensor<32x64xf16>", "--use-hw-view"]
    whole = list(hardware_lines(printed(run(*command))))
    cut = [cells for *_, cells in hardware_lines(printed(run(*command, *options)))]
    expected = [
        [cells[lane].rstrip(")") for lane in lanes]
        for block, warp, register, cells in whole
        if block in blocks and warp in warps and register in registers
    ]
    assert [[cell.rstrip(")") for cell in cells] for cells in cut] == expected


def test_offsets_are_a_cut_out_of_shared_memory(run: Run) -> None:
    command = ["-l", SWIZZLED, "-t", TYPE, "-use-hw-view"]
    whole = printed(run(*command)).splitlines()[2:]
    assert printed(run(*command, "--offset", "5:9")).splitlines()[2:] == whole[5:9]


# -- size ---------------------------------------------------------------------------------------


def test_text_beyond_the_limit_is_refused_with_its_size_before_any_work(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_work(self: View) -> Iterator[bytes]:
        raise AssertionError("the text was begun")

    monkeypatch.setattr(View, "chunks", no_work)
    target = tmp_path / "out"
    outcome = run("-l", BLOCKED, "-t", "tensor<1048576x1048576xf16>", "-o", str(target))
    assert (outcome.status, outcome.out) == (2, "")
    rows, cell = 1 << 20, len("T0:123456789012")
    size = len(HEADING) + rows * (2 + rows * cell + (rows - 1) * 2 + 2) + 1
    assert outcome.err == (
        f"error: the text would have 17 TiB ({size} bytes), more than the limit of "
        "256 MiB; --max-text raises the limit\n"
    )
    assert not target.exists()


@pytest.mark.parametrize("limit", ["{size}", "{size}B", "1KiB", "0.001 MB", "4GiB"])
def test_the_limit_may_be_met_exactly(run: Run, limit: str) -> None:
    size = len(HEADING + VIEW)
    assert run("-l", BLOCKED, "-t", TYPE, "--max-text", limit.format(size=size)).status == 0
    assert run("-l", BLOCKED, "-t", TYPE, "--max-text", str(size - 1)).status == 2


def test_the_limit_is_on_all_views_together(run: Run, dump: str) -> None:
    size = len(BLOCKED_PART + SHARED_PART + SAME_PART)
    assert run("-i", dump, "-t", TYPE, f"--max-text={size}").status == 0
    assert run("-i", dump, "-t", TYPE, f"--max-text={size - 1}").status == 2


# -- output files -------------------------------------------------------------------------------


def test_output_goes_to_the_file_and_nowhere_else(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    assert printed(run("-l", BLOCKED, "-t", TYPE, "-o", str(target))) == ""
    assert target.read_text() == HEADING + VIEW
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_replaced_file_keeps_its_mode_and_a_new_one_gets_the_usual(
    run: Run, tmp_path: Path
) -> None:
    old, new, plain = tmp_path / "old", tmp_path / "new", tmp_path / "plain"
    old.write_text("before")
    old.chmod(0o640)
    plain.write_text("")
    for target in (old, new):
        assert run("-l", BLOCKED, "-t", TYPE, "-o", str(target)).status == 0
    assert old.read_text() == HEADING + VIEW
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == plain.stat().st_mode


def test_a_link_is_followed(run: Run, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    assert run("-l", BLOCKED, "-t", TYPE, "-o", str(link)).status == 0
    assert link.is_symlink()
    assert target.read_text() == HEADING + VIEW


def test_what_is_no_regular_file_is_written_in_place(run: Run, tmp_path: Path) -> None:
    """A pipe stands for devices, too: a fault here must not replace one of the machine's."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert printed(run("-l", BLOCKED, "-t", TYPE, "-o", str(pipe))) == ""
        assert os.read(reader, 1 << 16).decode() == HEADING + VIEW
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_input_may_be_the_output(run: Run, dump: str) -> None:
    assert run("-i", dump, "-t", TYPE, "-o", dump).status == 0
    assert Path(dump).read_text() == BLOCKED_PART + SHARED_PART + SAME_PART


def test_a_failure_half_way_leaves_the_old_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(self: View) -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(View, "chunks", half)
    target = tmp_path / "out"
    target.write_text("before")
    outcome = run("-l", BLOCKED, "-t", TYPE, "-o", str(target))
    assert outcome == Outcome(2, "", f"{target}: error: cannot write: No space left on device\n")
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_an_interrupt_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    def interrupted() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    target = tmp_path / "out"
    target.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        writing.write(interrupted(), str(target), size=8)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_bad_input_leaves_the_old_file(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("before")
    assert run("-l", "#ttg.blocked<{}>", "-t", TYPE, "-o", str(target)).status == 2
    assert target.read_text() == "before"


# -- streams and statuses -----------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "tt_layout"]


def test_the_installed_command_is_this_one(run: Run) -> None:
    outcome = subprocess.run([*COMMAND, "-l", BLOCKED, "-t", TYPE], capture_output=True, text=True)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout == HEADING + VIEW


@pytest.mark.parametrize("size", ["16x16", "1024x1024"])
@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error(size: str) -> None:
    script = 'set -o pipefail; "$1" -m tt_layout -l "$2" -t "$3" | head -1'
    arguments = ["bash", "-c", script, "bash", sys.executable, BLOCKED, f"tensor<{size}xf16>"]
    outcome = subprocess.run(arguments, capture_output=True, text=True)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout == HEADING


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output_is_one() -> None:
    with open("/dev/full", "wb") as full:
        outcome = subprocess.run(
            [*COMMAND, "-l", BLOCKED, "-t", TYPE], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert outcome.returncode == 2
    assert outcome.stderr == "error: cannot write to standard output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize("environment", sampled([{"FORCE_COLOR": "1"}, {}, {"NO_COLOR": "1"}], 3))
def test_what_is_not_a_terminal_gets_no_escape_codes(environment: dict[str, str]) -> None:
    outcome = subprocess.run(
        [*COMMAND, "-l", BLOCKED, "-t", TYPE],
        capture_output=True,
        env={**os.environ, **environment},
    )
    assert outcome.stdout.decode() == HEADING + VIEW
    assert b"\x1b" not in outcome.stdout + outcome.stderr


def test_help_and_version_are_no_errors(run: Run) -> None:
    for spelling in ("--help", "-help", "-h"):
        assert "--alias-names" in printed(run(spelling))
    for spelling in ("--version", "-version"):
        assert tt_layout.__version__ in printed(run(spelling))


def test_an_interrupt_has_the_status_of_a_shell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "show", interrupted)
    assert run("-l", BLOCKED, "-t", TYPE).status == 130


PLACES = "--warp", "--lane", "--register", "--block", "--offset", "--row", "--column"
"""Numbers of places, which the help of the commands tells together."""


def options_without_help(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.params:
        is_told = not isinstance(parameter, click.Option) or parameter.help or parameter.hidden
        if not is_told and parameter.opts[0] not in PLACES:
            yield f"{context.command_path} {parameter.opts[0]}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from options_without_help(inner, click.Context(inner, context, name))


def test_every_option_says_what_it_does() -> None:
    assert list(options_without_help(cli.cli, click.Context(cli.cli))) == []
