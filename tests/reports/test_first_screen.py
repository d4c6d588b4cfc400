"""The first screen of a kernel: short, within 80 columns, and no saving without an alternative."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest
from command import Run, runner
from tiers import sampled, slow
from work import calls_of

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.finding_groups import numbered, similar_findings, sorted_groups
from tt_layout.audit.findings import Counted, Finding, Occurrence, Urgency
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.registers.pressure import LiveValue
from tt_layout.audit.rules import refused
from tt_layout.audit.rules.registers import Spills
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.cli.output import terminal_text
from tt_layout.ir import parse_ir
from tt_layout.ir.operations import Location
from tt_layout.kernels.binaries import CompiledRegisters
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.audit import AuditReport, page_command
from tt_layout.reports.first_screen import first_screen
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import plain_text

EXAMPLES = Path(__file__).parents[2] / "examples"
DUMPS = sorted(EXAMPLES.glob("*/*.ttgir"))
MOST = 20
WIDTH = 80


@cache
def audits(path: Path) -> tuple[Audit, ...]:
    return tuple(audit_module(module) for module in parse_ir(path.read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(DUMPS, 16), ids=lambda path: path.stem)
def test_a_first_screen_is_short(path: Path) -> None:
    report = AuditReport(path.name, audits(path))
    lines = terminal_text(report, has_colours=False, width=WIDTH).splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    assert max(map(len, lines)) <= WIDTH
    verdict = next(line for line in lines[1:] if not line.startswith("  "))  # below a note
    assert verdict.startswith("@")


@pytest.mark.parametrize("room", [4, 8, 20])
def test_a_verdict_without_room_keeps_its_conditions(room: int) -> None:
    [audit] = audits(EXAMPLES / "kernels" / "convolution-sm90.ttgir")
    adviser = Adviser(audit, Shares(audit))
    [kernel] = kernels_of(adviser)
    [verdict, *_] = first_screen([kernel], adviser, ProgramSource(), room)
    clauses = kernel.verdict.split("; ")
    assert "masking nothing)" in verdict.text
    assert verdict.text.endswith(clauses[-1])
    assert set(verdict.text.partition(": ")[2].split("; ")) <= set(clauses)


NARROW = """#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32],
  warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
FUNCTIONS}
"""
"""A module of functions whose loads and stores are narrow."""

NARROW_FUNCTION = """tt.func public @fNUMBER(%a: !tt.ptr<f32>) {
%r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
%p = tt.splat %a : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
%q = tt.addptr %p, %r : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
%v = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
tt.store %q, %v : tensor<128x!tt.ptr<f32>, #b>
tt.return
}
"""


def test_the_work_for_a_kernel_is_the_same_among_many() -> None:
    def calls(length: int) -> int:
        functions = (NARROW_FUNCTION.replace("NUMBER", str(number)) for number in range(length))
        [module] = parse_ir(NARROW.replace("FUNCTIONS", "".join(functions)))
        audit = audit_module(module)
        assert len(audit.findings) == 2 * length
        return calls_of(lambda: plain_text(AuditReport("f.ttgir", [audit])))

    calls(6)  # what is known of all modules
    few, more, many = map(calls, (6, 12, 24))
    assert many - more < 2.01 * (more - few)


def test_kernels_that_need_as_much_have_one_occupancy() -> None:
    functions = (NARROW_FUNCTION.replace("NUMBER", str(number)) for number in range(2))
    [module] = parse_ir(NARROW.replace("FUNCTIONS", "".join(functions)))
    first, second = (kernel.occupancy for kernel in kernels_of(audit_module(module)))
    assert first == second
    assert first is not None
    assert second is not None
    assert first.limits is second.limits


class AskedProgram(ProgramSource):
    """A program that keeps the places that it is asked for."""

    asked: ClassVar[list[Location | None]] = []

    def line(self, location: Location | None) -> str | None:
        self.asked.append(location)
        return None


def test_only_what_is_shown_is_written_of_findings() -> None:
    function = NARROW_FUNCTION.replace("#b>\ntt", '#b> loc("p.py":3:1)\ntt')
    functions = (function.replace("NUMBER", str(number)) for number in range(9))
    [module] = parse_ir(NARROW.replace("FUNCTIONS", "".join(functions)))
    audit = audit_module(module)
    AskedProgram.asked.clear()
    plain_text(AuditReport("f.ttgir", [audit], program=AskedProgram()))
    places = sum(finding.location is not None for finding in audit.findings)
    assert places == 18
    assert len(AskedProgram.asked) <= places + 1  # the worst has its least form as well


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(DUMPS, 12), ids=lambda path: path.stem)
def test_nothing_is_removed_without_a_way_out(path: Path) -> None:
    text = plain_text(AuditReport(path.name, audits(path), is_whole=True))
    findings = text.partition("\n\n")[0]
    for finding in re.split(r"^ {1,3}\d+\. ", findings, flags=re.MULTILINE)[1:]:
        words = " ".join(finding.split())
        has_way_out = re.search(r" fix: |fixed by| in the program: ", words) is not None
        assert not (has_way_out and "no fix was found" in words), finding
        assert "removes" not in words or has_way_out, finding
        assert "costs" not in words or not has_way_out, finding
        assert "may pay" not in words, finding


@pytest.mark.parametrize("path", sampled(DUMPS, 12), ids=lambda path: path.stem)
def test_a_first_screen_has_the_whole_fix_and_its_command(path: Path) -> None:
    """A screen once said "--all says how" in every terminal."""
    report = AuditReport(path.name, audits(path), argument=DumpArgument(path.name))
    text = " ".join(plain_text(report).split())
    [audit] = audits(path)
    for number, group in numbered(audit.findings):
        shown = re.search(rf" {number}\. (.*?)(?= {number + 1}\. |$)", text)
        best = Adviser(audit).best(group[0])
        if shown is not None and best is not None:
            assert best.encoding.written() in shown[1], text
            assert f"run: tt-layout apply {path.name} --finding {number} -o" in shown[1], text
            break


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(DUMPS, 6), ids=lambda path: path.stem)
@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_terminal_says_what_a_pipe_says(path: Path, width: int) -> None:
    """The command of the page is the only line that a pipe lacks."""
    hint = page_command(path.name)
    shown = AuditReport(path.name, audits(path), argument=DumpArgument(path.name), hint=hint)
    piped = AuditReport(path.name, audits(path), argument=DumpArgument(path.name))
    text = terminal_text(shown, has_colours=False, width=width)
    assert text.split() == [*plain_text(piped).split(), *hint.split()]


def test_the_order_of_a_screen_is_that_of_questions() -> None:
    path = EXAMPLES / "workloads" / "int8_matmul-gfx942.ttgir"
    text = " ".join(
        plain_text(AuditReport(path.name, audits(path), argument=DumpArgument("k.ttgir"))).split()
    )
    parts = [
        "@int8_matmul, gfx942 (MI300X), 4 warps: bound by LSU if loops run 32 times "
        "(assuming 2432 programs, 8 on each of 304 compute units); 1 fix found",
        "1. make.py:97:17, lines 74, 96: ttg.local_load of #shared1 has bank conflicts",
        "fix: replace #shared1 with #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 8,",
        "removes 448 of 640 shared-memory cycles an iteration, and 448 of 640 outside of loops",
        "run: tt-layout apply k.ttgir --finding 1 -o new.ttgir",
        "cannot be set in Triton; it depends on",
        "8 KiB of 64 KiB of shared memory",
        "about 44 to 81 of 512 registers per thread (estimate)",
        "and 1 more finding (1 store of 8 bytes per thread): .whole lists it",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.endswith(parts[-1])


def test_a_verdict_says_what_the_error_is() -> None:
    path = EXAMPLES / "kernels" / "softmax-sm90.ttgir"
    [module] = parse_ir(path.read_text("utf-8").replace('num-warps" = 4', 'num-warps" = 8'))
    text = " ".join(plain_text(AuditReport(path.name, [audit_module(module)])).split())
    assert "13 errors, the first on line 18: #blocked on tensor<4x1024xf16> is for 4 warps" in text


@pytest.mark.slow
def test_long_paths_do_not_make_a_screen_long() -> None:
    path = EXAMPLES / "workloads" / "attention_backward-gfx950.ttgir"
    folder = "/home/somebody/" + "a-folder-of-theirs/" * 8
    [module] = parse_ir(path.read_text("utf-8").replace('"make.py"', f'"{folder}make.py"'))
    report = AuditReport(path.name, [audit_module(module)])
    lines = terminal_text(report, has_colours=False, width=WIDTH).splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    assert any(" 1. make.py:78:30, make.py:80:28, lines 114" in line for line in lines)


def test_folding_changes_no_number_and_no_exit_status(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Run = runner(capsysbinary, monkeypatch)
    path = str(EXAMPLES / "kernels" / "matmul-sm90.ttgir")
    first, whole = (
        run("audit", path, "--fail-on", "conversions", *more) for more in ((), ["--all"])
    )
    assert first.status == whole.status == 1
    assert (
        "1 finding (1 conversion through shared memory): --all lists it" in first.out
    )  # it is folded
    assert " 1. " not in first.out
    assert " 1. " in whole.out
    assert first.out.splitlines()[1] == whole.out.splitlines()[1]  # the verdict


# -- audits of anything -------------------------------------------------------------------------

NAMES = ("f", "a_kernel_with_a_long_name_that_says_what_it_does", "kernel" * 60)
FOLDERS = ("", "a/few/folders/", "/home/somebody/" + "a-folder-of-theirs/" * 12, "x" * 300 + "/")
WORDS = (
    "moves",
    "loads 2 bytes",
    "f" * 100,
    "(/some/where/deep/in/a/program.py:12:3)",
    "; fix: less",
)


@dataclass(frozen=True)
class Said(Occurrence):
    """An occurrence that says and costs anything."""

    kind: ClassVar[str] = "said"
    order: ClassVar[int] = 999
    text: str
    price: float

    @property
    def words(self) -> str:
        return self.text

    @property
    def counted(self) -> Counted:
        return Counted("access", f" of {len(self.text)} words")

    @property
    def cost(self) -> float:
        return self.price


class Helped(Said):
    """An occurrence that a change of the program avoids."""

    @property
    def program_change(self) -> str:
        return f"change {self.text}"


class Refused(Said):
    urgency = Urgency.ERROR


class Idle(Said):
    urgency = Urgency.IDLE_TENSOR_CORES


@cache
def base(name: str, folder: str) -> Audit:
    text = (EXAMPLES / "narrow" / "matmul.ttgir").read_text(encoding="utf-8")
    text = text.replace("@matmul", f"@{name}").replace('"make.py"', f'"{folder}make.py"')
    [module] = parse_ir(text)
    return audit_module(module)


def pressure(function: str, random: Random) -> RegisterPressure:
    needed, limit = random.choice([40, 300, 12000]), 256
    value = LiveValue(
        "%" + "v" * random.choice([1, 90]),
        "tensor<64x64xf32>",
        random.choice(["#mma", "#ttg.slice<{dim = 0, parent = " + "#a" * 80 + "}>"]),
        random.choice([8, 256]),
    )
    compiled = CompiledRegisters(255, random.choice([0, 90]), "/a/folder" * 30 + "/k.amdgcn")
    return RegisterPressure(
        function,
        random.choice([None, 0, 31]),
        random.randrange(1, 99999),
        needed,
        needed,
        limit,
        (value,) * random.choice([0, 1, 5]),
        random.choice([None, compiled]),
    )


def random_finding(function: str, folder: str, random: Random) -> Finding:
    rule = random.choice([Said, Said, Said, Refused, Idle])
    text = " ".join(random.choices(WORDS, k=random.choice([1, 5, 60])))
    found = rule(text, random.choice([0, 1, 12.5, 1e4]))
    row = random.choice(base(function, folder).movements)
    location = Location(f"{folder}make.py", random.randrange(1, 9999), 3)
    place = random.randrange(1, 99999), "tt." + "load" * random.choice([1, 40]), function
    movement = row if random.random() < 0.5 else None
    return Finding(*place, (found,), location, row.executions, movement)


def random_audit(random: Random) -> Audit:
    """Return the audit of a real kernel with other findings, registers and names."""
    name, folder = random.choice(NAMES), random.choice(FOLDERS)
    audit = base(name, folder)
    registers = tuple(pressure(name, random) for _ in range(random.choice([0, 1, 9])))
    spills = [
        Finding(one.line, f"@{name}", name, (Spills(one),)) for one in registers if one.spills
    ]
    many = random.choice([0, 1, 3, 30])
    found = [random_finding(name, folder, random) for _ in range(many)]
    found += random.sample(audit.findings, random.randrange(len(audit.findings) + 1))
    found += spills
    found.sort(key=lambda one: (one.urgency, -one.weight))
    return audit.with_facts(findings=tuple(found), registers=registers)


def test_what_a_verdict_announces_is_shown_or_counted() -> None:
    """The worst finding, which nothing helps, takes no room from one that a change avoids."""
    audit, long = base("f", ""), "moves a byte " * 40
    rules = [Said(long, 1e4), Helped("a", 9e3), Helped("b", 8e3), Helped("a", 7e3)]
    row = audit.movements[0]
    found = [
        Finding(line, f"tt.{line}", "f", (rule,), None, row.executions, row)
        for line, rule in enumerate(rules, 1)
    ]
    audit = audit.with_facts(findings=tuple(found))
    adviser = Adviser(audit, Shares(audit))
    [kernel] = kernels_of(adviser)
    assert "2 changes of the program to try" in kernel.verdict
    lines = [line.text for line in first_screen([kernel], adviser, ProgramSource(), 10)]
    assert "in the program: change a" in lines
    assert long not in " ".join(lines)
    assert "1 more change of the program): .whole lists them" in lines[-1]


@pytest.mark.parametrize(
    ("rules", "first"), [([Said, Helped], "finding 2: "), ([Helped, Said], "1. ")]
)
def test_a_number_stands_alone_only_at_the_head_of_a_list(
    rules: list[type[Said]], first: str
) -> None:
    """What nothing helps has no room: "2." would be an item without the first."""
    audit, long = base("f", ""), "moves a byte " * 60
    row = audit.movements[0]
    found = [
        Finding(line, f"tt.{line}", "f", (rule(long, 1e4 - line),), None, row.executions, row)
        for line, rule in enumerate(rules, 1)
    ]
    adviser = Adviser(audit.with_facts(findings=tuple(found)))
    _, shown, *_ = first_screen(kernels_of(adviser), adviser, ProgramSource(), 12)
    assert shown.first.lstrip() == first


def test_a_verdict_knows_what_helps_small_findings() -> None:
    """It said that there is no fix, and the list of all findings has one."""
    audit = base("f", "")
    row = audit.movements[0]
    shares = Shares(audit)
    small, large = Helped("a", 1e-3), Said("b", 1e6)

    def verdict(*rules: Said) -> str:
        found = [
            Finding(line, f"tt.{line}", "f", (rule,), None, row.executions, row)
            for line, rule in enumerate(rules, 1)
        ]
        adviser = Adviser(audit.with_facts(findings=tuple(found)), shares)
        assert len(sorted_groups(adviser).large) == 1
        [kernel] = kernels_of(adviser)
        return kernel.verdict

    assert verdict(large, small).endswith("; only small gains were found")
    assert verdict(large).endswith("; no fix was found")


def test_the_kinds_of_what_is_left_out_add_up() -> None:
    """A finding of two kinds was counted as two."""
    audit, long = base("f", ""), "moves a byte " * 40
    row = audit.movements[0]
    found = [
        Finding(line, f"tt.{line}", "f", (Said("a", 1e4), Helped(long, 1e4)), None, None, row)
        for line in (1, 2)
    ]
    adviser = Adviser(audit.with_facts(findings=tuple(found)))
    *_, last = first_screen(kernels_of(adviser), adviser, ProgramSource(), 4)
    assert last.text == "and 1 more finding (1 access of 1 words): .whole lists it"


@pytest.mark.parametrize("path", sampled(DUMPS, 4), ids=lambda path: path.stem)
def test_all_fixes_that_are_announced_are_shown_or_counted(path: Path) -> None:
    text = " ".join(plain_text(AuditReport(path.name, audits(path))).split())
    announced = re.findall(r"(\d+) fix(?:es)? found", text)
    left = re.findall(r"; (\d+) more fix(?:es)?\b", text)
    assert not announced or sum(map(int, announced)) == len(re.findall(r" fix: ", text)) + sum(
        map(int, left)
    )


def test_an_error_in_a_verdict_is_cut_between_words() -> None:
    message = "registers are for four warps, " * 9
    finding = Finding(3, "#b", "f", (refused.Refused(message),))
    headline = finding.occurrences[0].headline(1, finding)
    start, _, end = headline.partition(": #b: ")[2].partition(" ... ")
    assert f"{message} ".startswith(f"{start} ")
    assert f" {message}".endswith(f" {end}")


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, slow(10)])
def test_no_first_screen_is_longer_whatever_is_found(number: int, seed: int) -> None:
    random = Random(seed)
    for case in range(number):
        file = random.choice(["k.ttgir", "/home/somebody/.triton/cache/" + "A" * 52 + "/k.ttgir"])
        hint = random.choice([None, f"as a page: tt-layout page {file} -o k.html"])
        report = AuditReport(file, [random_audit(random)], hint=hint)
        lines = terminal_text(report, has_colours=False, width=WIDTH).splitlines()
        whole = "\n".join(lines)
        assert sum(max(1, -(-len(line) // WIDTH)) for line in lines) <= MOST, (case, whole)
        assert all(len(line) <= WIDTH for line in lines if file not in line), (case, whole)
        for width in (60, 100, 200):
            for line in terminal_text(report, has_colours=False, width=width).splitlines():
                assert len(line) <= width or file in line, (case, width, line)


def test_findings_are_in_the_order_in_which_a_reader_acts(seed: int) -> None:
    random = Random(seed)
    for _ in range(3):
        audit = random_audit(random)
        shuffled = random.sample(audit.findings, len(audit.findings))
        shares = Shares(audit)
        found = []
        for group in similar_findings(shuffled):
            share = shares.of(group[0].function, sum(one.weight for one in group))
            found.append((group[0].urgency, -(share.part or 0)))
        assert found == sorted(found)


@pytest.mark.slow
def test_the_command_of_a_fix_reads_the_dump_as_the_audit_did(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run: Run = runner(capfdbinary, monkeypatch)
    path = EXAMPLES / "workloads" / "int8_matmul-gfx942.ttgir"
    (tmp_path / "two words.ttgir").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "values.yaml").write_text("K: 512\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = ["--values", "values.yaml", "--grid", "64,8", "--gpu", "mi300x", "--triton", "3.9"]
    told = run("audit", "two words.ttgir", *options)
    assert told.status == 0, told.err
    words = " ".join(told.out.split())
    wanted = f"run: tt-layout apply 'two words.ttgir' {' '.join(options)} --finding 1 -o new.ttgir"
    assert wanted in words
    done = run(*shlex.split(wanted.removeprefix("run: tt-layout ")))
    assert done.status == 0, done.err
    [removed] = re.findall(r"removes [\d,]+ of [\d,]+ \S+", words)[:1]
    assert removed in done.out
    assert Path("new.ttgir").exists()
