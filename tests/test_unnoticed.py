"""Faults that no other test noticed: what mutants of the package survived, a case each.

`tests/mutants` makes mutants and looks who survives.  A case comes here where no file of its
subject is the better place.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command import Run, runner
from work import calls_of

from tt_layout import LayoutError, parse_ir, parse_layout
from tt_layout.__main__ import main as start
from tt_layout.algebra.arrays import distinct
from tt_layout.algebra.linear_layout import Basis, LinearLayout
from tt_layout.analyses.conversion.conversion import without_replication
from tt_layout.analyses.conversion.exchange import through_memory
from tt_layout.analyses.conversion.optimal_swizzling import Swizzler
from tt_layout.analyses.conversion.scratch import buffer
from tt_layout.analyses.conversion.shuffles import Shuffles, conversion_shuffles
from tt_layout.analyses.layouts.layout_difference import compare
from tt_layout.analyses.layouts.properties import shared_info
from tt_layout.analyses.multiplications.matrix_instructions import Operand
from tt_layout.analyses.shared_memory.access import AccessMap, choose_instruction
from tt_layout.analyses.shared_memory.addresses import first_instruction
from tt_layout.analyses.shared_memory.buffer_placement import Buffer, place_buffers
from tt_layout.analyses.shared_memory.joined_accesses import Joined, pair_up
from tt_layout.analyses.tensor_memory.registers import _packed, register_layouts, split_columns
from tt_layout.audit.allocation.shared_memory import Allocation, AllocationKind, SharedMemory
from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.axis import axis_info
from tt_layout.audit.axis.info import AxisInfo
from tt_layout.audit.findings import Note
from tt_layout.audit.fits import _peak
from tt_layout.audit.global_memory.cost import _runs
from tt_layout.audit.global_memory.first_request import first_request
from tt_layout.audit.measured.comparison import _local_accesses
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails, SharedDetails
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.suggestions.advice import Advice
from tt_layout.audit.suggestions.adviser import _is_risky
from tt_layout.audit.suggestions.buffers import _is_narrowed, _widths
from tt_layout.audit.suggestions.conversions import has_closed_side
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.suggestion import Recost, Suggestion
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import Executions, executions
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.rules import Application
from tt_layout.audit.values.spread import Spread, _chosen, _remainder
from tt_layout.audit.values.structure import LoopPart, Part
from tt_layout.audit.values.trials import _step
from tt_layout.audit.values.unknown import Unknown
from tt_layout.encodings.base import SharedEncoding
from tt_layout.encodings.cga import rank_by, split_of_bases
from tt_layout.encodings.slice import Slice
from tt_layout.enums import TypeKind
from tt_layout.errors import FileLocation, SeveralError, shown
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.png import _Canvas
from tt_layout.hardware import TARGETS, find_target
from tt_layout.ir.module import Module
from tt_layout.ir.operations import type_bytes
from tt_layout.ir.ssa import Value, read_functions
from tt_layout.ir.ssa.types import ValueType
from tt_layout.kernels.seen import Launch, Record
from tt_layout.mlir.source import dumps_below
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.gluon.text import read_gluon
from tt_layout.notation.notations.tlx import read_tlx
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.registry import NOTATIONS
from tt_layout.notation.translation import translate
from tt_layout.page.dump import _layouts
from tt_layout.page.playground import EXAMPLES
from tt_layout.placement import place
from tt_layout.reports import progress
from tt_layout.reports.advice_text import no_way_out, note_text
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.comparison import changes
from tt_layout.reports.conflicts import _collisions
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.reduce import reduction_difference, reduction_report
from tt_layout.reports.watched_findings import read_limits
from tt_layout.reports.writing import _counted
from tt_layout.safe_text import safe_lines
from tt_layout.terminal.options import DisplayOptions
from tt_layout.terminal.present import Presentation
from tt_layout.views.distributed import tensor_view
from tt_layout.views.frames import Brackets
from tt_layout.views.kinds import KINDS
from tt_layout.views.printed import print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import EVERYTHING
from tt_layout.views.view import BareLayout
from tt_layout.watching.__main__ import main as watch_main
from tt_layout.watching.inductor_hooks import INDUCTOR, InductorHooks, _launch
from tt_layout.worker import begin_worker

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], "
    "order = [1, 0]}>"
)
COLUMNS = ROWS.replace("[1, 0]", "[0, 1]")
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
TILE = f"!ttg.memdesc<32x64xf32, {PLAIN}, #ttg.shared_memory, mutable>"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def module_of(body: str, *, target: str = "cuda:90", warps: int = 8) -> Module:
    head = f'"ttg.num-warps" = {warps} : i32, ttg.target = "{target}"'
    function = f"  tt.func @f(%x: i32) {{\n{body}\n    tt.return\n  }}"
    [module] = parse_ir(f"#rows = {ROWS}\nmodule attributes {{{head}}} {{\n{function}\n}}")
    return module


# -- shared memory ------------------------------------------------------------------------------


def test_the_first_instruction_of_a_part_begins_where_the_part_does() -> None:
    """Lanes a word apart, a word of padding after each 8, in a part that begins at byte 72."""
    gpu = find_target("sm90")
    offsets = AccessMap((), (1, 2, 4, 8, 16), (), 4, padding=((8, 1),), start=72)
    instruction = choose_instruction(offsets, is_store=False, target=gpu)
    lanes, words = first_instruction(offsets, instruction, gpu.phase(4, is_store=False), gpu)
    expected = [lane + lane // 8 + 72 // 4 for lane in range(32)]
    assert dict(zip(lanes[0].tolist(), words[0, :, 0].tolist())) == dict(enumerate(expected))


@pytest.mark.parametrize(
    ("buffers", "offsets"),
    [
        # the free time of all memory begins with the first operation
        ([Buffer(64, 16, (0, 3)), Buffer(128, 16, (2, 4)), Buffer(128, 16, (0, 1))], [128, 0, 0]),
        # the second stands behind the first, and the third where nothing is as yet
        ([Buffer(64, 16, (0, 6)), Buffer(128, 16, (5, 6)), Buffer(64, 16, (0, 1))], [128, 0, 0]),
        # only one of them is in a region that runs beside others
        ([Buffer(64, 16, (0, 1)), Buffer(64, 16, (2, 3), concurrent=(1, 0))], [0, 0]),
    ],
)
def test_buffers_at_different_times_share_memory(buffers: list[Buffer], offsets: list[int]) -> None:
    assert place_buffers(buffers) == offsets


def alloc(name: str) -> str:
    return f"    {name} = ttg.local_alloc : () -> {TILE}\n"


def load(name: str, of: str) -> str:
    return f"    {name} = ttg.local_load {of} : {TILE} -> tensor<32x64xf32, #rows>\n"


def offsets_of(body: str) -> dict[str | None, int]:
    [memory] = audit_module(module_of(body)).shared_memory
    return {each.value: each.offset for each in memory.allocations if each.offset is not None}


LOOP = """    %c0 = arith.constant 0 : i32
{before}    cf.br ^loop(%c0 : i32)
  ^loop(%i: i32):
{within}    %t = arith.cmpi slt, %i, %x : i32
    cf.cond_br %t, ^loop(%i : i32), ^end
  ^end:"""


def test_a_buffer_made_in_a_block_that_branches_to_itself_ends_with_its_last_use() -> None:
    within = alloc("%a") + load("%v", "%a") + alloc("%b") + load("%w", "%b")
    assert offsets_of(LOOP.format(before="", within=within)) == {"%a": 0, "%b": 0}


def test_a_buffer_made_before_a_block_that_branches_to_itself_is_live_throughout() -> None:
    within = load("%v", "%a") + alloc("%b") + load("%w", "%b")
    found = offsets_of(LOOP.format(before=alloc("%a"), within=within))
    assert found == {"%a": 0, "%b": 32 * 64 * 4}


def test_what_is_copied_in_the_background_is_live_until_that_is_waited_for() -> None:
    body = (
        f"{alloc('%a')}    %t = ttng.async_tma_copy_local_to_global %d[%x, %x] %a : "
        f"!tt.tensordesc<tensor<32x64xf32>>, {TILE} -> !ttg.async.token\n"
        f"{alloc('%b')}    ttng.async_tma_store_token_wait %t : !ttg.async.token\n{alloc('%c')}"
    )
    assert offsets_of(body) == {"%a": 0, "%b": 32 * 64 * 4, "%c": 0}


def test_a_module_that_states_no_size_is_not_of_a_fork() -> None:
    """In which a barrier is kept to the end."""
    bar = PLAIN.replace("[1, 0]", "[0]")
    barrier = f"!ttg.memdesc<1xi64, {bar}, #ttg.shared_memory, mutable>"
    body = (
        f"    %a = ttg.local_alloc : () -> {barrier}\n    ttng.init_barrier %a, 1 : {barrier}\n"
        f"{alloc('%b')}{load('%v', '%b')}"
    )
    assert offsets_of(body) == {"%a": 0, "%b": 0}


def test_what_depends_on_a_buffer_in_many_ways_is_followed_once() -> None:
    def calls(levels: int) -> int:
        ways = "".join(
            f'    %l{n} = "my.left"(%m{n}) : (i32) -> i32\n'
            f'    %r{n} = "my.right"(%m{n}) : (i32) -> i32\n'
            f'    %m{n + 1} = "my.both"(%l{n}, %r{n}) : (i32, i32) -> i32\n'
            for n in range(levels)
        )
        body = f'{alloc("%a")}    %m0 = "my.first"(%a) : ({TILE}) -> i32\n{ways}'
        store = f"    ttg.remote_shmem_store %v, %a : tensor<32x64xf32, #rows> -> {TILE}\n"
        module = module_of(body + load("%v", "%a") + store)
        return calls_of(lambda: audit_module(module).shared_memory)

    assert calls(14) < 3 * calls(7)


# -- exchanges ----------------------------------------------------------------------------------


def test_amd_pairs_the_loads_of_a_scan_at_their_distances() -> None:
    """Two chunks of four warps: each joins four sums of the first, and three of the second."""
    line = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], "
    source = f"tensor<512xf32, {line}order = [0]}}>>"
    body = f"""
    %a = arith.constant dense<1.0> : {source}
    %r = "tt.scan"(%a) <{{axis = 0 : i32}}> ({{
    ^bb0(%m: f32, %n: f32):
      %s = arith.addf %m, %n : f32
      tt.scan.return %s : f32
    }}) : ({source}) -> {source}"""
    [row] = audit_module(module_of(body, target="hip:gfx942", warps=4)).movements
    assert row.cost is not None
    loads = "1 x ds_read_b128, 1 x ds_read_b96"
    assert loads in row.cost.text


def converted(src: str, dst: str, shape: list[int]) -> Swizzler:
    before, after = (
        without_replication(parse_layout(text).to_linear_layout(shape)) for text in (src, dst)
    )
    return Swizzler.of(before, after, 8, find_target("sm90"))


BLOCKED = (
    "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}, "
    "CGALayout = [{}]}}>"
)


@pytest.mark.parametrize(
    ("src", "dst", "shape", "vector"),
    [
        (
            BLOCKED.format([1, 1], [4, 8], [4, 1], [1, 0], [1, 0]),
            BLOCKED.format([1, 1], [32, 1], [2, 2], [1, 0], [1, 0]),
            [8, 8],
            (8,),
        ),
        (
            BLOCKED.format([1, 2], [4, 8], [1, 4], [1, 0], [1, 0]),
            BLOCKED.format([1, 1], [16, 2], [4, 1], [0, 1], [0, 1]),
            [64, 8],
            (16,),
        ),
        (
            BLOCKED.format([1, 2], [4, 8], [2, 2], [0, 1], "").replace(", CGALayout = []", ""),
            BLOCKED.format([1, 1], [32, 1], [4, 1], [0, 1], "").replace(", CGALayout = []", ""),
            [64, 32],
            (64, 32),
        ),
    ],
)
def test_bits_of_warps_that_fill_up_a_bank(
    src: str, dst: str, shape: list[int], vector: tuple[int, ...]
) -> None:
    """Any of the source's; of the destination's those that are no CTA of the source."""
    assert converted(src, dst, shape).plain().vector == vector


# -- layouts ------------------------------------------------------------------------------------


def test_a_difference_names_replication() -> None:
    before = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[4]])], ["dim0"])
    after = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[4], [0]])], ["dim0"])
    words = compare(before, after).words()
    assert words[-2:] == ["warps: 2, now 4", "replication over warps: 1, now 2"]


def test_bases_that_depend_on_each_other_are_pointed_at() -> None:
    text = "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 1], [1, 0]]}, alignment = 16>"
    with pytest.raises(LayoutError, match="must be independent of each other") as caught:
        parse_layout(text)
    assert str(caught.value).splitlines()[2].index("^") == text.index("[[0, 1]")


def test_no_element_is_without_bits() -> None:
    text = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 0}>"
    with pytest.raises(LayoutError, match="elementBitWidth must be at least 1, got 0") as caught:
        parse_layout(text, release="3.7")
    assert str(caught.value).splitlines()[2].index("^") == text.index("0}>")
    with pytest.raises(LayoutError, match="must be at least 1"):
        parse_layout(text, release="3.6").to_linear_layout([8, 8])


@pytest.mark.parametrize(
    ("cga", "per_cga", "order"),
    [
        (((0, 0), (1, 0)), (2, 2), (1, 0)),  # dim1 is not moved in: it is repeated first
        (((0, 0), (0, 1)), (2, 2), (0, 1)),
        (((0, 0), (0, 0)), (1, 4), (1, 0)),
        (((1, 0), (0, 0)), (4, 1), (0, 1)),
    ],
)
def test_a_repeating_cta_in_front_is_of_a_dimension_that_none_moves_in(
    cga: tuple[tuple[int, ...], ...], per_cga: tuple[int, ...], order: tuple[int, ...]
) -> None:
    values = split_of_bases(cga, 2)
    assert (values["CTAsPerCGA"], values["CTAOrder"]) == (per_cga, order)


def test_a_slice_has_a_rank_where_its_parent_has_one() -> None:
    """Only nvmma_shared of releases until 3.5 has none; it is no parent, which is said later."""
    text = NVMMA.format(128, 16, "")
    whole = parse_layout(text, release="3.5")
    assert whole.rank is None
    assert Slice(dim=0, parent=whole).rank is None
    assert Slice(dim=0, parent=parse_layout(ROWS)).rank == 1


HALVES = {
    (64, 2, 8): ([], [0, 0], [0, 1]),
    (64, 2, 4): ([], [0, 1], None),
    (64, 32, 4): ([[0, 1], [0, 2], [0, 4], [0, 8]], [0, 16], None),
    (128, 2, 8): ([], [16, 0], [0, 1]),
}
"""Rows, columns, warps -> registers, the last bit of the lane, the third of the warp."""


@pytest.mark.parametrize("case", HALVES)
def test_what_the_upper_lanes_of_half_the_rows_hold(case: tuple[int, int, int]) -> None:
    rows, columns, warps = case
    attr = f"#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = 1>"
    memory = parse_layout(attr).to_linear_layout([rows, columns])
    [found] = [each for each in register_layouts(memory, 32, warps) if each.variant == "32x32b"]
    registers, lane, warp = HALVES[case]
    vectors = {name: list(map(list, found.layout.vectors(name))) for name in ("lane", "warp")}
    assert [list(v) for v in found.layout.vectors("register")] == registers
    assert vectors["lane"][-1] == lane
    assert vectors["warp"][2:] == ([] if warp is None else [warp])


# -- translations -------------------------------------------------------------------------------

LEADING = (
    "#triton_gpu.shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = {}, "
    "hasLeadingOffset = true}}>"
)
NVMMA = "#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = false, elementBitWidth = {}{}}}>"
SWIZZLED = "#ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"


@pytest.mark.parametrize(
    ("shape", "order", "more"), [([64, 64], [1, 0], ""), ([1, 64, 64], [2, 1, 0], ", rank = 3")]
)
def test_leading_offsets_keep_their_rank(shape: list[int], order: list[int], more: str) -> None:
    encoding = parse_layout(LEADING.format(8, 1, 8, order), release="3.2")
    written = translate(encoding, "3.9", shape, element_bits=16).text
    assert written == NVMMA.format(128, 16, more)


@pytest.mark.parametrize(
    ("width", "bits", "fields"),
    [(32, 16, (8, 4, 2)), (64, 16, (8, 2, 4)), (64, 8, (16, 2, 4)), (128, 32, (4, 1, 8))],
)
def test_phases_of_a_leading_offset(width: int, bits: int, fields: tuple[int, ...]) -> None:
    encoding = parse_layout(NVMMA.format(width, bits, ""))
    written = translate(encoding, "3.2", [64, 64], element_bits=bits).text
    assert written == LEADING.format(*fields, [1, 0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NVMMA.format(128, 16, ""), "not shared memory as #ttg.nvmma_shared"),
        (
            "#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>",
            "not tensor memory as #ttng.tensor_memory_encoding",
        ),
        (ROWS.replace("}>", ", CGALayout = [[1, 0]]}>"), "does not distinguish CTAs from warps"),
    ],
)
def test_what_tlx_has_no_constructor_for(text: str, words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        translate(parse_layout(text), "tlx", [64, 64], element_bits=16)


@pytest.mark.parametrize(
    ("element", "width"), [("gl.float64", 64), ("gl.float32", 32), ("gl.float16", 32)]
)
def test_the_element_of_an_old_mfma_is_its_width(element: str, width: int) -> None:
    text = "version=3, instr_shape=[16, 16], transposed=True, warps_per_cta=[4, 1]"
    found = read_gluon(f"gl.amd.AMDMFMALayout({text}, elem_type={element})")
    assert ("elementType = f64" in str(found)) is (width == 64)


@pytest.mark.parametrize(
    ("phases", "size", "written"),
    [
        (2, 2, "Swizzle<1,0,1> o (2,2):(2,1)"),
        (2, 4, "Swizzle<1,0,2> o (4,4):(4,1)"),
        (8, 8, "Swizzle<3,0,3> o (8,8):(8,1)"),
        (32, 32, "Swizzle<5,0,5> o (32,32):(32,1)"),
    ],
)
def test_swizzles_of_every_width(phases: int, size: int, written: str) -> None:
    assert translate(parse_layout(SWIZZLED.format(phases)), "cute", [size, size]).text == written


def test_no_swizzle_is_wider_than_five_bits() -> None:
    with pytest.raises(RefusedError, match="nor one Swizzle"):
        translate(parse_layout(SWIZZLED.format(64)), "cute", [64, 64])


# -- audits -------------------------------------------------------------------------------------


def test_a_constant_keeps_its_divisor_in_another_shape() -> None:
    module = module_of(
        "    %c = arith.constant dense<12> : tensor<8x4xi32>\n"
        "    %r = tt.reshape %c : tensor<8x4xi32> -> tensor<2x16xi32>"
    )
    [function] = read_functions(module)
    info = axis_info(function, [function])[function.values["%r"]]
    assert info.vectors == ((1, 1), (4, 4), (2, 16))
    assert info.constant == 12


def conversions(*rows: tuple[int, int]) -> Audit:
    """Return the audit of conversions of so many rows, each on a line of the program."""
    body = "\n".join(
        f"    %{number} = ttg.convert_layout %a : tensor<{size}x64xf32, #rows> -> "
        f'tensor<{size}x64xf32, {ROWS.replace("[1, 0]", "[0, 1]")}> loc("k.py":{line}:1)'
        for number, (size, line) in enumerate(rows)
    )
    return audit_module(module_of(body))


def test_what_two_audits_differ_in_comes_by_what_a_line_costs_more_or_less() -> None:
    """Line 1 saves 512 of its 1024 cycles; line 2, which is new, costs 2048."""
    before, after = conversions((512, 1)), conversions((256, 1), (1024, 2))
    found = [(each.sign, each.operation.location, each.cycles) for each in changes(before, after)]
    assert [(sign, place.line if place else None, cost) for sign, place, cost in found] == [
        ("+", 2, 2048),
        ("-", 1, 1024),
        ("+", 1, 512),
    ]


def test_axis_info_names_the_function(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ttir"
    path.write_text("tt.func @first(%n: i32) {\n}\ntt.func @second(%m: i32) {\n}\n")
    lines = run("audit", str(path), "--axis-info").out.splitlines()
    assert [line for line in lines if line.startswith("values")] == [
        "values of @first",
        "values of @second",
    ]


def test_a_slice_beyond_its_tensor_is_unknown() -> None:
    text = (
        "    %i = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>\n"
        "    %r = amdg.extract_slice %i [{}] : tensor<4xi32> to tensor<2xi32>"
    )
    within, beyond = (evaluated(text.format(first)) for first in (2, 3))
    assert within == [2, 3]
    assert beyond is None


def evaluated(body: str) -> list[int] | None:
    """Return the elements of ``%r``; None where they are not known."""
    [function] = read_functions(module_of(body))
    found = Evaluator(function, GivenValues()).value(function.values["%r"])
    return None if isinstance(found, Unknown) else found.tolist()


# -- the terminal -------------------------------------------------------------------------------

WIDE = (
    "#ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], "
    "order = [1, 0]}>"
)


def test_numbers_of_columns_that_would_touch_are_left_out(run: Run) -> None:
    arguments = "-l", WIDE, "-t", "tensor<32x128xf16>", "--compact", "--header"
    lines = run(*arguments, "--slice", "0:2,98:104").out.splitlines()[1:]
    assert lines == [
        "dim0   98 99 100   102",
        "   0 [ 0  0  0  0  0  0  ]",
        "   1 [ 1  1  1  1  1  1  ]",
    ]


@pytest.mark.parametrize(
    ("color_by", "last"),
    [
        ("warp", " ... 15"),
        ("lane", " ... 31"),
        ("thread", " ... 511 (repeats every 32)"),
    ],
)
def test_a_legend_says_that_colours_repeat(color_by: str, last: str, run: Run) -> None:
    layout = WIDE.replace("[1, 128]", "[1, 1]").replace("[32, 1]", "[1, 32]")
    layout = layout.replace("warpsPerCTA = [1, 1]", "warpsPerCTA = [4, 4]")
    shown = ("--legend", "--color", "always", "--color-by", color_by)
    out = run("-l", layout, "-t", "tensor<4x128xf16>", *shown).out
    assert out.splitlines()[-1].endswith(f"\x1b[0m{last}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "shown"), [(12, 1), (20, 2), (30, 3), (34, 4), (42, 4), (60, 4), (66, 8), (72, 8)]
)
def test_more_columns_than_four_are_shown_by_fours(width: int, shown: int) -> None:
    layout = WIDE.replace("[1, 128]", "[2, 2]").replace("[32, 1]", "[4, 8]")
    placed = place(parse_layout(layout), parse_type("tensor<8x64xf16>"))
    printed = print_view(ViewRequest(placed, KINDS["tensor"]))
    terminal = os.terminal_size((width, 24))
    text = b"".join(Presentation([printed], DisplayOptions(), terminal).chunks())
    columns = f"0-{shown - 1}" if shown > 1 else "0"
    assert re.findall(rb"^dim1 .*$", text, re.M)[0].decode() == f"dim1 {columns} of 64"


def cost_of(width: int, sectors: int | None) -> Cost:
    unknown = dict.fromkeys(("requests", "lines", "asked_bytes", "moved_bytes", "ideal_sectors"))
    passed = dict.fromkeys(("lsu_wavefronts", "total_lsu_wavefronts"))
    totals = dict.fromkeys(("total_requests", "total_sectors", "total_lines"))
    details = GlobalDetails(
        instruction=None,
        width_bytes=width,
        instructions=1,
        limited_by=None,
        sectors=sectors,
        sectors_per_request=None,
        sector_bytes=32,
        unknown=(),
        overflows=(),
        **unknown,
        **passed,
        **totals,
    )
    return Cost("", 1, details)


def shared_cost_of(width: int) -> Cost:
    details = SharedDetails(
        instruction="ld.shared",
        width_bytes=width,
        instructions=1,
        wavefronts_per_instruction=1,
        ideal_wavefronts_per_instruction=1,
        target="sm90",
    )
    return Cost("", 1, details)


def test_a_narrower_access_counts_only_where_its_sectors_are_unknown() -> None:
    wide, narrow = cost_of(16, sectors=None), cost_of(8, sectors=None)
    assert _is_narrowed(wide, narrow)
    assert not _is_narrowed(narrow, wide)
    assert not _is_narrowed(wide, wide)
    assert not _is_narrowed(cost_of(16, sectors=8), cost_of(8, sectors=8))
    assert not _is_narrowed(shared_cost_of(16), shared_cost_of(8))
    assert not _is_narrowed(None, narrow)
    assert not _is_narrowed(wide, None)


def test_elements_are_packed_as_the_operands_hold_them() -> None:
    """Of 64 along K, A has 32 bytes of two, B all: no operand has less than one in a place."""
    a, b = (Operand(parse_layout(ROWS), shape, "e2m1") for shape in ((64, 32), (64, 64)))
    product = Multiplication(
        "f",
        "tt.dot_scaled",
        1,
        1,
        None,
        (1, 64, 64, 64),
        a,
        b,
        b,
        None,
        (None, None),
        Executions(1, "1", None),
    )
    assert product.packing == (2, 1)
    assert replace(product, a=b, b=a).packing == (1, 1)
    assert replace(product, sizes=(1, 64, 64, 32)).packing == (1, 1)


def test_only_the_kernel_may_take_what_the_module_states() -> None:
    head = '"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", ttg.shared = 8192 : i32'
    functions = (
        f"  tt.func @kernel() {{\n    tt.call @helper() : () -> ()\n"
        f"{alloc('%a')}    tt.return\n  }}\n"
        "  tt.func private @helper() {\n    tt.return\n  }\n"
    )
    [module] = parse_ir(f"module attributes {{{head}}} {{\n{functions}}}")
    found = {memory.function: memory.stated for memory in audit_module(module).shared_memory}
    assert found["kernel"] == 8192
    assert found.get("helper") is None


@pytest.mark.parametrize(
    ("src_ctas", "dst_ctas", "load"),
    [
        ("", "", "ldmatrix"),
        (", CGALayout = [[1, 0]]", ", CGALayout = [[1, 0]]", "ldmatrix"),
        (", CGALayout = [[1, 0]]", ", CGALayout = [[0, 1]]", "ld.shared"),
    ],
)
def test_ldmatrix_reads_what_the_cta_itself_has(src_ctas: str, dst_ctas: str, load: str) -> None:
    src = ROWS.replace("[1, 4]", "[1, 8]").replace("[8, 1]", "[4, 1]")
    mma = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
        f"instrShape = [16, 8]{dst_ctas}}}>"
    )
    dst = f"#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = 2}}>"
    layouts = (to_linear(text, [128, 64]) for text in (src.replace("}>", f"{src_ctas}}}>"), dst))
    before, after = layouts
    assert buffer(before, after, 16, find_target("sm90")).load.name == load


def to_linear(text: str, shape: list[int]) -> LinearLayout:
    return parse_layout(text).to_linear_layout(shape)


# -- files and messages -------------------------------------------------------------------------


def test_links_in_a_folder_of_dumps_are_not_followed(tmp_path: Path) -> None:
    dump = tmp_path / "a.ttgir"
    dump.write_text("module {\n}\n")
    (tmp_path / "b.ttgir").symlink_to(dump)
    assert dumps_below(str(tmp_path)) == [str(dump)]


@pytest.mark.parametrize(
    ("text", "safe"),
    [("::stop::x", "?:stop::x"), ("##[group]y", "?#[group]y"), ("a # b : c", "a # b : c")],
)
def test_each_kind_of_command_of_a_ci_is_made_harmless(text: str, safe: str) -> None:
    assert safe_lines(text) == safe


def test_a_wrong_argument_is_shown_up_to_a_hundred_characters() -> None:
    assert shown("a" * 98) == f"'{'a' * 98}' of str"
    assert "a" * 98 not in shown("a" * 99)


def test_another_layout_of_a_case_is_read_for_its_memory(tmp_path: Path, run: Run) -> None:
    """Of CuTe notation the memory decides whether it leads to offsets or to elements."""
    manifest = tmp_path / "layouts.yaml"
    rows = ROWS.replace("[8, 1]", "[1, 1]")
    cases = (
        f"cases:\n- name: a\n  layout: '{rows}'\n  type: tensor<4x32xf16>\n"
        "  with: '(4,32):(32,1)'\n  views: [conflicts]\n"
    )
    manifest.write_text(cases)
    outcome = run("check", str(manifest), "--update")
    assert (outcome.status, outcome.err) == (0, "")
    golden = (tmp_path / "a.conflicts.txt").read_text()
    assert golden.startswith("store: 1 x st.shared.v2.b32 per warp")


# -- releases, manifests, constants -------------------------------------------------------------


def test_lists_of_two_lengths_were_read_until_2_1() -> None:
    text = "#triton_gpu.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4], "
    assert parse_layout(f"{text}order = [0]}}>", release="2.1")
    with pytest.raises(LayoutError, match="must have one length"):
        parse_layout(f"{text}order = [0]}}>", release="2.2")


def test_padded_pairs_of_4_bits_are_read_but_have_no_layout() -> None:
    text = NVMMA.format(64, 8, ", fp4Padded = true")
    encoding = parse_layout(text)
    with pytest.raises(
        LayoutError, match="fp4Padded = true needs swizzlingByteWidth = 128, got 64"
    ):
        encoding.to_linear_layout([64, 64])


@pytest.mark.parametrize(("release", "is_read"), [("3.3", True), ("3.4", False)])
def test_ctas_may_be_empty_lists_until_3_3(release: str, is_read: bool) -> None:
    text = ROWS.replace("}>", ", CTAsPerCGA = [], CTASplitNum = [], CTAOrder = []}>")
    if is_read:
        assert parse_layout(text, release=release).to_linear_layout([64, 64])
        return
    with pytest.raises(LayoutError):
        parse_layout(text, release=release)


def test_a_difference_of_constants_is_known() -> None:
    body = (
        "    %a = arith.constant 12 : i32\n    %b = arith.constant 5 : i32\n"
        "    %r = arith.subi %a, %b : i32"
    )
    [function] = read_functions(module_of(body))
    assert axis_info(function, [function])[function.values["%r"]].constant == 7


# -- the lowest rooms ---------------------------------------------------------------------------


def test_several_errors_begin_with_the_first() -> None:
    first, second = LayoutError("a", FileLocation("x", 1)), LayoutError("b", FileLocation("x", 2))
    both = SeveralError([first, second])
    assert (both.message, both.location) == (first.message, first.location)
    assert SeveralError([first]).message == "a"


def test_a_summary_has_a_place_where_no_excerpt_shows_it() -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout("#ttg.blocked<{order = [0]}>")
    assert caught.value.summary == caught.value.message
    assert LayoutError("a").summary == "a"
    assert LayoutError("a", FileLocation("x.ttgir", 7)).summary == "x.ttgir:7: error: a"


@pytest.mark.parametrize(
    ("element", "bytes_"), [("i1", 8), ("i8", 8), ("f8E5M2", 8), ("f16", 16), ("!tt.ptr<i8>", 8)]
)
def test_elements_of_a_byte_and_less_count_as_one(element: str, bytes_: int) -> None:
    [module] = parse_ir(
        f'#a = {ROWS}\nmodule attributes {{"ttg.num-warps" = 8 : i32}} {{\n'
        f"tt.func @f(%x: tensor<8x{element}, #a>) {{\n tt.return\n}}\n}}"
    )
    [ir_type] = module.types.distinct
    assert type_bytes(ir_type) == bytes_


@pytest.mark.parametrize("name", [*TARGETS])
def test_a_cta_may_have_what_a_multiprocessor_does_not_reserve(name: str) -> None:
    gpu = TARGETS[name]
    own = gpu.residence
    if own is not None and gpu.name == name:
        # Two compute units of RDNA share the memory of a workgroup processor; a workgroup has half.
        parts = 2 if gpu.title.startswith("AMD RDNA") else 1
        assert gpu.most_shared_bytes == own.shared_bytes // parts - own.reserved_bytes


TECHNICAL_SPECIFICATIONS = {"7.0": (64, 32), "7.5": (32, 16), "8.0": (64, 32), "9.0": (64, 32)}
"""Compute capability -> resident warps and blocks: CUDA C++ Programming Guide."""


@pytest.mark.parametrize("capability", TECHNICAL_SPECIFICATIONS)
def test_residence_is_that_of_the_guide(capability: str) -> None:
    chip = f"sm{capability.replace('.', '')}"
    own = find_target(chip).residence
    assert own is not None
    assert (own.warps, own.ctas) == TECHNICAL_SPECIFICATIONS[capability]


def test_eight_warps_of_gfx1250_share_the_registers_of_a_simd() -> None:
    own = find_target("gfx1250").registers
    assert own is not None
    assert [own.limit(warps) for warps in (4, 8)] == [1024, 512]


# -- encodings and notations --------------------------------------------------------------------


def test_a_basis_of_padded_memory_is_a_power_of_two() -> None:
    text = "#ttg.padded_shared<[16:+4] {offset = [[3, 0], [0, 1]], block = []}>"
    with pytest.raises(LayoutError, match="must be one power of two, got") as caught:
        parse_layout(text)
    assert str(caught.value).splitlines()[2].index("^") == text.index("[[3")


def test_split_parameters_of_three_dimensions_keep_the_rank() -> None:
    ctas = "CTAsPerCGA = [1, 1, 1], CTASplitNum = [1, 1, 1], CTAOrder = [2, 1, 0]"
    text = NVMMA.format(128, 16, f", {ctas}")
    assert parse_layout(text, release="3.4").rank == 3


def test_a_transposed_leading_offset_stays_transposed() -> None:
    encoding = parse_layout(LEADING.format(8, 1, 8, [0, 1]), release="3.2")
    written = translate(encoding, "3.9", [64, 64], element_bits=16).text
    assert written == NVMMA.format(128, 16, "").replace("= false", "= true")


def test_an_error_in_a_constructor_names_it() -> None:
    with pytest.raises(LayoutError) as caught:
        read_gluon("gl.nvidia.blackwell.TensorMemoryScalesLayout([3, 1])")
    assert str(caught.value).startswith("TensorMemoryScalesLayout:1:")


@pytest.mark.parametrize(("bits", "is_read"), [(0, True), (31, True), (32, False)])
def test_a_swizzle_of_tlx_has_numbers_below_32(bits: int, is_read: bool) -> None:
    text = f"tlx.swizzled_layout({bits}, 3, 3, [1, 0])"
    if is_read:
        assert read_tlx(text, (64, 64))
        return
    with pytest.raises(LayoutError, match="from 0 to 31"):
        read_tlx(text, (64, 64))


def test_the_notation_of_attributes_names_what_is_wrong() -> None:
    with pytest.raises(LayoutError, match=r"^here:1:"):
        NOTATIONS["linear"].read("#ttg.linear<{", Context("here"))


# -- layouts and conversions --------------------------------------------------------------------


def test_a_conversion_within_threads_needs_no_shuffle() -> None:
    before = LinearLayout.from_bases([("register", [[1], [2]]), ("lane", [[4]])], ["dim0"])
    after = LinearLayout.from_bases([("register", [[2], [1]]), ("lane", [[4]])], ["dim0"])
    for target in map(find_target, ("sm90", "gfx942")):
        assert conversion_shuffles(before, after, 32, target) == Shuffles(0, 0)


def test_loads_of_what_went_through_memory_are_loads() -> None:
    rows = LinearLayout.from_bases(
        [("register", [[1]]), ("lane", [[1 << n] for n in range(1, 6)]), ("warp", [[0]])], ["dim0"]
    )
    found = through_memory(rows, 4, [0], find_target("gfx942"))
    assert [step.instruction for step in (*found.stores, *found.loads)] == [
        "ds_write_b64",
        "ds_read_b64",
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "stride", "bits", "found"),
    [
        (64, 1, 1, 16, ([], [])),  # one column: a register holds the element alone
        (128, 2, 2, 16, ([(0, 1)], [])),  # columns that nothing is between
        (128, 4, 4, 8, ([], [(0, 1), (0, 2)])),
    ],
)
def test_elements_that_share_a_register(
    rows: int, columns: int, stride: int, bits: int, found: tuple[list[Basis], list[Basis]]
) -> None:
    text = f"blockM = 64, blockN = 1, colStride = {stride}"
    memory = parse_layout(f"#ttng.tensor_memory_encoding<{text}>").to_linear_layout([rows, columns])
    assert _packed(memory, bits) == found


def test_memory_holds_the_elements_of_one_cta() -> None:
    rows = LinearLayout.from_bases(
        [("lane", [[1], [2]]), ("warp", [[0]]), ("block", [[4]])], ["dim0"]
    )
    assert through_memory(rows, 4, [0], find_target("sm90")).scratch_bytes == 4 * 4


def test_distinct_values_may_be_far_apart() -> None:
    found, places = distinct(np.array([1 << 60, -(1 << 60), 1 << 60]))
    assert (found.tolist(), places.tolist()) == ([-(1 << 60), 1 << 60], [1, 0, 1])


@pytest.mark.parametrize(("strides", "form"), [(255, "2st64"), (256, "")])
def test_two_addresses_are_at_most_255_strides_apart(strides: int, form: str) -> None:
    """The offsets of ds_read2st64_b32 have 8 bits, and count 64 words."""
    pieces = [Joined(4, 4), Joined(4 + strides * 64 * 4, 4)]
    assert list(pair_up(pieces, pairs=True)) == [(4, form)]


def test_one_register_is_split_from_the_last_lane() -> None:
    attr = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 2, colStride = 1>"
    memory = parse_layout(attr).to_linear_layout([64, 2])
    [whole] = [one.layout for one in register_layouts(memory, 32, 4) if one.variant == "32x32b"]
    split = split_columns(whole, 32)
    assert split is not None
    assert list(split.vectors("register")) == [(0, 1)]
    assert list(split.vectors("lane")) == [*list(whole.vectors("lane"))[:-1], (0, 0)]


def test_offsets_of_registers_are_no_shared_layout() -> None:
    with pytest.raises(LayoutError, match="it has no input offset"):
        shared_info(parse_layout(ROWS).to_linear_layout([32, 32]), 16)


# -- values and executions ----------------------------------------------------------------------


def test_a_loop_of_many_trips_is_not_counted_one_by_one() -> None:
    body = """    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %end = arith.constant 1000000007 : i64
    scf.for %i = %c0 to %end step %c1 : i64 {
      %v = arith.addi %i, %c1 : i64
    }"""
    [function] = read_functions(module_of(body))
    [loop] = [one for one in function.body[0].operations if one.name == "scf.for"]
    [inner] = [one for one in loop.regions[0][0].operations if one.name == "arith.addi"]
    assert executions(Evaluator(function, GivenValues()), inner).number == 1000000007


def shared_values(base: list[int], pattern: list[int]) -> Spread:
    return Spread(np.array(base), np.array(pattern))


def test_one_of_two_values_of_each_program() -> None:
    yes, no = shared_values([0, 5], [0, 1]), shared_values([7, 9], [2, 2])
    assert _chosen(np.array([1, 1]), yes, no) is yes
    assert _chosen(np.array([0, 0]), yes, no) is no
    mixed = _chosen(np.array([True]), np.array([3]), np.array([4]))
    assert isinstance(mixed, np.ndarray)
    assert mixed.tolist() == [3]


def test_the_remainder_by_one_number() -> None:
    """Programs whose bases leave the same remainder agree, whatever holds the divisor."""
    body = "    %c = arith.constant 3 : i32\n    %r = arith.remsi %x, %c : i32"
    [function] = read_functions(module_of(body))
    [operation] = [one for one in function.body[0].operations if one.name == "arith.remsi"]
    integer = ValueType(TypeKind.SCALAR, (), "i32", None)
    application = Application(operation, (), (), integer, 0, lambda _: None)
    found = _remainder(application, (shared_values([3, 6], [0, 1]), np.array([3])))
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [0, 1]


def test_the_first_list_given_has_the_rank() -> None:
    values = {"sizePerThread": [], "order": [1, 0]}
    assert rank_by("sizePerThread", "order")(values) == 2
    assert rank_by("warpsPerCTA", "sizePerThread")(values) == 0


def test_the_first_request_is_the_first_that_takes_part() -> None:
    line = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], "
    body = """
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #a>
    %c = arith.constant dense<96> : tensor<128xi32, #a>
    %m = arith.cmpi sge, %r, %c : tensor<128xi32, #a>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #a>
    %a = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>, #a>, tensor<128xi32, #a>
    %x = tt.load %a, %m : tensor<128x!tt.ptr<f32>, #a>
    tt.return"""
    argument = "%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}"
    head = 'module attributes {"ttg.num-warps" = 2 : i32, ttg.target = "cuda:90"}'
    text = f"#a = {line}order = [0]}}>\n{head} {{\n  tt.func @f({argument}) {{{body}\n  }}\n}}"
    [module] = parse_ir(text)
    request = first_request(module.operations[0], AuditedModule(module, SharedWork()))
    assert request is not None
    assert request.starts == tuple(range(0, 128, 4))


def test_allocations_of_the_peak_are_live_with_the_last_byte() -> None:
    def allocation(offset: int, live: tuple[int, int]) -> Allocation:
        return Allocation(AllocationKind.BUFFER, None, "%a", 1, 64, 16, live, 1, 1, offset)

    first, second, third = (
        allocation(offset, live) for offset, live in ((0, (0, 2)), (64, (3, 5)), (0, (4, 6)))
    )
    memory = SharedMemory("f", (first, second, third), 128, False, 1)
    assert _peak(memory) == (second, third)


def test_all_warps_count_the_wavefronts_of_an_access() -> None:
    details = shared_cost_of(4).details
    assert isinstance(details, SharedDetails)
    details = replace(details, instructions=2, wavefronts_per_instruction=3)
    [found] = _local_accesses("load", details, 4) or []
    assert (found.instructions, found.wavefronts) == (8, 24)


def reduced(axis: int) -> Module:
    source = f"tensor<32x64xf32, {ROWS}>"
    result = f"tensor<32xf32, #ttg.slice<{{dim = 1, parent = {ROWS}}}>>"
    return module_of(f"""    %a = arith.constant dense<1.0> : {source}
    %r = "tt.reduce"(%a) <{{axis = {axis} : i32}}> ({{
    ^bb0(%m: f32, %n: f32):
      %s = arith.addf %m, %n : f32
      tt.reduce.return %s : f32
    }}) : ({source}) -> {result}""")


@pytest.mark.parametrize(("axis", "is_known"), [(1, True), (2, False)])
def test_a_reduction_goes_along_one_of_its_dimensions(axis: int, is_known: bool) -> None:
    [row] = audit_module(reduced(axis)).movements
    assert (row.cost is not None) == is_known


def test_what_a_reduction_hands_over_is_unknown() -> None:
    [function] = read_functions(reduced(1))
    found = Evaluator(function, GivenValues()).value(function.values["%m"])
    assert isinstance(found, Unknown)
    assert ["tt.reduce" in one for one in found.reasons] == [True]


@pytest.mark.parametrize(
    ("values", "step"),
    [([[3, 7]], 4), ([[3]], None), ([[3, 7, 11], [1, 5]], 4), ([[3, 7, 8]], None)],
)
def test_neighbours_are_a_step_apart(values: list[list[int]], step: int | None) -> None:
    assert _step(list(map(np.array, values)), 0) == step


# -- suggestions --------------------------------------------------------------------------------


@pytest.mark.parametrize(("saved", "is_risky"), [(119, True), (120, False)])
def test_accesses_that_are_added_in_a_loop_are_worth_ten_times_that(
    saved: int, is_risky: bool
) -> None:
    operation: Any = None
    details: Any = None
    four = Executions(4, "4", LoopPart(1, Part.BODY))
    added = Recost(operation, four, None, Cost("", 3, details, requests=2))
    suggestion: Any = SimpleNamespace(saved=saved, recosts=(added,))
    assert _is_risky(suggestion) is is_risky


@pytest.mark.parametrize(("wavefronts", "is_unknown"), [(None, True), (4, False)])
def test_a_suggestion_names_copies_whose_wavefronts_are_unknown(
    wavefronts: int | None, is_unknown: bool
) -> None:
    names = {one.name: None for one in fields(GlobalDetails)}
    entry = SimpleNamespace(wavefronts=wavefronts)
    details = GlobalDetails(**{**names, "entry": entry})  # type: ignore[arg-type]
    some: Any = None
    copy = Recost(some, Executions(1, "1", None), None, Cost("", 1, details))
    suggestion = Suggestion("", "", some, some, (copy,))
    assert suggestion.unknown == ((copy,) if is_unknown else ())


@pytest.mark.parametrize(("operations", "is_free"), [(255, True), (256, False)])
def test_what_many_operations_compute_is_not_computed_anew(operations: int, is_free: bool) -> None:
    body = "    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
    body += "".join(
        f"    %{n + 1} = arith.addi %{n}, %{n} : tensor<64xi32>\n" for n in range(operations)
    )
    [function] = read_functions(module_of(body))
    assert Flow(function).is_free(function.values[f"%{operations}"]) is is_free


@pytest.mark.parametrize(
    ("end", "is_closed"), [("math.exp2 %c : TILE", True), ('"my.own"(%c) : (TILE) -> i32', False)]
)
def test_a_side_of_a_conversion_is_closed_if_all_of_it_can_change(
    end: str, is_closed: bool
) -> None:
    source, target = (f"tensor<32x64xf32, {layout}>" for layout in ("#rows", COLUMNS))
    body = f"""    %a = "my.source"() : () -> {source}
    %b = ttg.convert_layout %a : {source} -> {target}
    %c = math.absf %b : {target}
    %d = {end.replace("TILE", target)}"""
    audit = audit_module(module_of(body))
    audited = audit.audited
    assert audited is not None
    [full] = [one for one in audited.operations if one.operation.name == "ttg.convert_layout"]
    assert has_closed_side(Advice(audit, audited), full) is is_closed


# -- reports and figures ------------------------------------------------------------------------


def test_compact_names_the_cta_where_there_are_two(run: Run) -> None:
    layout = WIDE.replace("[1, 128]", "[1, 1]").replace("[32, 1]", "[1, 32]")
    two = layout.replace("}>", ", CGALayout = [[1, 0]]}>")
    lines = run("-l", two, "-t", "tensor<2x32xf16>", "--compact").out.splitlines()[1:]
    assert [re.findall(r"B\d:\d+", line) for line in lines] == [
        [f"B{block}:{lane}" for lane in range(32)] for block in range(2)
    ]


def test_partitions_of_a_buffer_are_named() -> None:
    piece = SWIZZLED.format(1)
    text = "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 1, "
    placed = place(
        parse_layout(f"{text}partitionLayout = {piece}}}>"), parse_type("!ttg.memdesc<4x8xf32>")
    )
    figure = draw(DrawnLayout(placed, EVERYTHING), view="banks")
    assert [grid.title for grid in figure.grids] == ["partition 0", "partition 1"]


def test_axis_info_names_what_regions_are_given(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ttir"
    path.write_text(
        "tt.func @f(%n: i32) {\n  scf.for %i = %n to %n step %n : i32 {\n"
        "    %j = arith.addi %i, %n : i32\n  }\n  tt.return\n}\n"
    )
    lines = run("audit", str(path), "--axis-info").out.splitlines()
    assert [line.split()[:2] for line in lines if "%" in line] == [
        ["1", "%n"],
        ["2", "%i"],
        ["3", "%j"],
    ]


def test_the_shared_memory_of_what_is_called_is_its_callers(run: Run, tmp_path: Path) -> None:
    head = '"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90"'
    text = (
        f"module attributes {{{head}}} {{\n  tt.func @kernel() {{\n"
        "    tt.call @helper() : () -> ()\n    tt.return\n  }\n"
        f"  tt.func private @helper() {{\n{alloc('%a')}    tt.return\n  }}\n}}"
    )
    path = tmp_path / "a.ttgir"
    path.write_text(text)
    assert (
        run("audit", str(path), "--all").out.count("8192 bytes, which its callers set aside") == 1
    )


@pytest.mark.parametrize(("digits", "is_taken"), [(15, True), (16, False)])
def test_a_threshold_has_fifteen_digits_at_most(digits: int, is_taken: bool) -> None:
    text = f"conflicts={'9' * digits}"
    if is_taken:
        assert read_limits([text]) == {"conflicts": float("9" * digits)}
        return
    with pytest.raises(LayoutError, match="is a number of cycles"):
        read_limits([text])


def test_a_function_may_take_a_function() -> None:
    body = "tt.func @f(%g: (i32, i64) -> i1, %n: i32) {\n  tt.return\n}\n"
    [module] = parse_ir(body)
    [function] = read_functions(module)
    assert [value.name for value in function.arguments] == ["%g", "%n"]


def test_examples_of_instructions_show_the_multiplication() -> None:
    assert {one.view for one in EXAMPLES if one.group == "Instructions"} == {"mma"}


def test_a_launch_of_inductor_has_its_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    class Grid:
        @classmethod
        def from_meta(cls, meta: Any, config: Any) -> Grid:
            assert (meta, config) == ("meta", "config")
            return cls()

        def eval_slow(self, arguments: Any) -> tuple[int, int, int]:
            return (arguments["xnumel"] // 128, 1, 1)

    monkeypatch.setitem(sys.modules, INDUCTOR, SimpleNamespace(GridExpr=Grid))

    def launcher(xnumel: int, stream: int) -> None:
        """Stand for what Inductor generates."""

    tuner = SimpleNamespace(inductor_meta="meta")
    vars(launcher)["config"] = "config"
    assert _launch(tuner, launcher, (512,), {"stream": 7}) == Launch((4, 1, 1), (("xnumel", 512),))


@pytest.mark.parametrize(
    ("consumers", "words"),
    [
        (("tt.store",), "is worth keeping: a direct store"),
        (("tt.atomic_rmw",), "is worth keeping: a direct atomic"),
        (("tt.store", "tt.dot"), "is worth keeping: the cheapest other way"),
        ((), "is worth keeping: the cheapest other way"),
    ],
)
def test_only_stores_make_an_epilogue(consumers: tuple[str, ...], words: str) -> None:
    anchors = tuple(SimpleNamespace(operation=name) for name in consumers)
    adviser: Any = SimpleNamespace(reason=lambda _: SimpleNamespace(consumers=anchors))
    finding: Any = SimpleNamespace(name="ttg.convert_layout", line=7)
    assert words in note_text(adviser, Note(finding, 4, 8), [finding])


def test_that_no_fix_was_found_says_what_was_tried() -> None:
    tried = "no layout that was tried takes fewer cycles"
    occurrences = [SimpleNamespace(no_way_out=""), SimpleNamespace(no_way_out=tried)]
    finding: Any = SimpleNamespace(occurrences=occurrences)
    assert no_way_out(finding) == f"no fix was found: {tried}"


@pytest.mark.parametrize(("banks", "more"), [(4, None), (5, "  and 1 more bank")])
def test_banks_beyond_the_first_are_counted(banks: int, more: str | None) -> None:
    collisions = [SimpleNamespace(bank=n, lanes=[0, 1], words=[n, n + 32]) for n in range(banks)]
    access: Any = SimpleNamespace(collisions=collisions, instruction=SimpleNamespace(matrices=0))
    lines = [line.text for line in _collisions(access)]
    assert lines[4:] == ([more] if more else [])


def test_reports_of_different_kernels_differ() -> None:
    texts = "", alloc("%a")
    first, second, same = (
        AuditReport("a", (audit_module(module_of(text)),)) for text in (*texts, texts[0])
    )
    assert first == same
    assert first != second


def test_a_difference_of_reductions_has_both_trees() -> None:
    before, after = (parse_layout(text) for text in (ROWS, ROWS.replace("[4, 8]", "[2, 16]")))
    found = reduction_difference(before, after, parse_type("tensor<64x64xf32>"), 1).data()
    trees = [reduction_report(one, parse_type("tensor<64x64xf32>"), 1) for one in (before, after)]
    assert [found["before"]["steps"], found["after"]["steps"]] == [
        one.data()["steps"] for one in trees
    ]
    assert found["before"]["steps"] != found["after"]["steps"]


def test_a_program_that_cannot_be_read_has_no_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    (tmp_path / "a.py").write_text("x = 1")
    monkeypatch.setattr("os.open", refuse)
    assert ProgramSource().lines(str(tmp_path / "a.py")) == (1, ())


def test_progress_is_what_is_written_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(progress, "progress_bar", lambda *_, **__: nullcontext(told.append))
    assert [*_counted([b"ab", b"", b"cde"], 5)] == [b"ab", b"", b"cde"]
    assert told == [2, 2, 5]


def test_a_view_is_of_a_tensor() -> None:
    nothing = LinearLayout.from_bases([("register", [])], [])
    with pytest.raises(LayoutError, match="at least one output dimension"):
        tensor_view(BareLayout(nothing))


def test_lines_that_close_no_outer_bracket_have_no_fillers() -> None:
    brackets = Brackets((4, 2, 4))
    assert [brackets.closing_width(line, 1) for line in range(8)] == [2, 3, 2, 3, 2, 3, 2, 4]
    assert not any(brackets.has_fillers(line, 1) for line in range(8))


def test_only_layouts_of_matrix_instructions_have_other_widths() -> None:
    plain, matrix = (parse_layout(text) for text in (PLAIN, NVMMA.format(0, 16, "")))
    assert isinstance(plain, SharedEncoding)
    assert isinstance(matrix, SharedEncoding)
    assert list(_widths(plain)) == []
    found = [str(one) for one in _widths(matrix)]
    assert found == [NVMMA.format(width, 16, "") for width in (128, 64, 32)]


@pytest.mark.parametrize(("base", "expected"), [(64, (16, 8)), (8, (8, 8))])
def test_offsets_of_buffers_are_divisible_in_bytes_as_their_base_is(
    base: int, expected: tuple[int, ...]
) -> None:
    offsets, pointer = Value("%o"), Value("%p")
    known = {
        offsets: AxisInfo((1, 8), (8, 4), (1, 1)),
        pointer: AxisInfo((1,), (base,), (1,)),
    }
    kernel: Any = SimpleNamespace(known=known)
    width: Any = SimpleNamespace(element_bytes=2)
    found = _runs(kernel, {"pointer": pointer, "offsets": offsets}, width)
    assert (found.divisibility, found.contiguity) == (expected, (1, 8))


def test_a_page_has_a_layout_that_has_a_name_once() -> None:
    module = module_of(f"%0 = arith.constant dense<0.0> : tensor<32x64xf32, #rows>\n{alloc('%a')}")
    names = [(one.name[:5], one.line is None) for one in _layouts(module, [])]
    assert names == [("#rows", False), ("swizz", True)]


def test_swizzle_looks_past_copies_to_tensor_memory(run: Run, tmp_path: Path) -> None:
    shared = NVMMA.format(128, 32, "")
    tensor = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>"
    tile = f"!ttg.memdesc<128x32xf32, {shared}, #ttg.shared_memory, mutable>"
    columns = f"!ttg.memdesc<128x32xf32, {tensor}, #ttng.tensor_memory, mutable>"
    path = tmp_path / "a.ttgir"
    path.write_text(
        f'#rows = {ROWS}\nmodule attributes {{"ttg.num-warps" = 8 : i32, '
        'ttg.target = "cuda:100"} {\n'
        f"tt.func @f(%s: {tile}, %t: {columns}) {{\n"
        f"ttng.tmem_copy %s, %t : {tile}, {columns}\n"
        f"%0 = ttg.local_load %s : {tile} -> tensor<128x32xf32, #rows>\n"
        "tt.return\n}\n}\n"
    )
    found = run("swizzle", f"{path}:5")
    assert (found.status, found.err) == (0, "")


@pytest.mark.parametrize(("width", "rows"), [(1, [0, 0, 0, 0, 9, 0]), (2, [0, 0, 31, 31, 31, 31])])
def test_lines_between_cells_are_as_thick_as_the_figure_has_it(width: int, rows: list[int]) -> None:
    canvas: Any = SimpleNamespace(scale=2, frame=9, shades=32)
    ink = np.zeros((6, 3), np.uint8)
    _Canvas._steps(canvas, ink, 4, width)
    assert ink[:, 0].tolist() == rows


def test_frames_are_darker_than_lines() -> None:
    one = SimpleNamespace(height=1, width=1, grids=[], swatches=[SimpleNamespace(number=0)])
    figure: Any = one
    canvas = _Canvas(figure, 1)
    assert (canvas.shades, canvas.line, canvas.frame) == (16, 4, 10)


def test_nothing_is_collected_while_the_command_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collects: list[bool] = []

    class Imported(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name != "main":
                raise AttributeError(name)
            collects.append(gc.isenabled())
            return lambda: collects.append(gc.isenabled())

    monkeypatch.setitem(sys.modules, "tt_layout.cli.main", Imported("main"))
    before = gc.get_threshold()
    try:
        start()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    assert collects == [False, True]


def test_a_worker_leaves_interrupts_and_ends_with_its_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[int, Any] = {}
    monkeypatch.setattr(signal, "signal", told.__setitem__)
    copy_context().run(begin_worker)  # what it says of the command line stays there
    assert told == {signal.SIGINT: signal.SIG_IGN, signal.SIGPIPE: signal.SIG_DFL}
    monkeypatch.delattr(signal, "SIGPIPE")  # as on Windows
    copy_context().run(begin_worker)


def test_a_module_that_is_watched_is_first_looked_for_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "watched_one.py").write_text(f"import sys\nsys.argv += ['{folder}']")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "elsewhere"), *sys.path])
    monkeypatch.setattr(sys, "argv", ["watch"])
    assert watch_main(["-m", "watched_one"]) == 0
    assert sys.argv[1:] == ["here"]
    assert watch_main([str(tmp_path / "elsewhere" / "watched_one.py")]) == 0
    assert sys.argv[1:] == ["elsewhere"]


def test_trials_of_inductor_are_no_launches() -> None:
    """It launches each choice many times, to measure which is the quickest."""
    heard: list[Any] = []
    triton: Any = SimpleNamespace(guard=heard.append)
    run = InductorHooks(Record(), triton)._run(lambda tuner, **named: tuner)
    assert run("tuner", benchmark_run=True) == "tuner"
    assert not heard
    assert run("tuner", benchmark_run=False) == "tuner"
    assert len(heard) == 1
