"""Every notation, in every command that takes a layout, and in manifests."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Outcome, Run, runner
from compiler.generate import random_cases
from compiler.round_trip import Given, addresses, given
from tiers import slow

from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.registry import NOTATIONS, is_notation, read_layout
from tt_layout.notation.translation import translate
from tt_layout.releases import Release

TENSOR, BUFFER = "tensor<64x64xf16>", "!ttg.memdesc<64x64xf16>"
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
CLUSTER = ROWS.replace("}>", ", CGALayout = [[1, 0]]}>")
OLD_CLUSTER = ROWS.replace("}>", ", CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [0, 1]}>")
ROWS_AS_BASES = (
    "#ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], "
    "[0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>"
)
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
    "instrShape = [16, 8]}>"
)
OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>"
MFMA = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], "
    "isTransposed = true}>"
)
WMMA = "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>"
OLD_WMMA = "#ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [2, 2]}>"
TILED_WMMA = (
    "#ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [2, 2], tilesPerWarp = [1, 2]}>"
)
OLD_MFMA = MFMA.replace("[32, 32, 8]", "[32, 32]")
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
NVMMA = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
PADDED = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>"
OFFSETS = (
    "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], "
    "[1, %d], [2, %d], [4, %d], [8, 0], [16, 0], [32, 0]]}, alignment = 16>"
)
LINES = (
    " - register=1 -> (0, 1)\n   register=2 -> (0, 2)\n   register=4 -> (0, 4)\n"
    "   register=8 -> (16, 0)\n   register=16 -> (32, 0)\n - lane=1 -> (0, 8)\n"
    "   lane=2 -> (0, 16)\n   lane=4 -> (0, 32)\n   lane=8 -> (1, 0)\n   lane=16 -> (2, 0)\n"
    " - warp=1 -> (4, 0)\n   warp=2 -> (8, 0)\n - block is a size 1 dimension\n"
)
OUTS = "where out dims are: [dim0 (size 64), dim1 (size 64)]"
BASES = (
    '{"register": [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], "lane": [[0, 8], [0, 16], [0, 32], '
    '[1, 0], [2, 0]], "warp": [[4, 0], [8, 0]], "block": []}'
)
OFFSET_BASES = OFFSETS.split("{offset = ")[1].split("}")[0] % (8, 16, 32)
BLOCKED_CALL = "BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[4, 8], "

REGISTERS = {
    ROWS: ROWS,
    ROWS.replace("#ttg", "#triton_gpu"): ROWS.replace("#ttg", "#triton_gpu"),
    f"{BLOCKED_CALL}warps_per_cta=[4, 1], order=[1, 0])": ROWS,
    f"{BLOCKED_CALL}warps_per_cta=[4, 1], order=[1, 0], cga_layout=[])": ROWS,
    f"gl.{BLOCKED_CALL}warps_per_cta=[4, 1], order=[1, 0])": ROWS,
    "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])": ROWS,
    "BlockedLayout([1,8],[4,8],[4,1],[1,0])": ROWS,
    "ttgl.BlockedLayout((1, 8), (4, 8), (4, 1), order=(1, 0))": ROWS,
    "gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))": ROWS,
    "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], [[1, 0]])": CLUSTER,
    "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], [2, 1], [2, 1], [1, 0])": OLD_CLUSTER,
    f"{BLOCKED_CALL}warps_per_cta=[4, 1], order=[1, 0], ctas_per_cga=None, cta_split_num=None, "
    "cta_order=None)": ROWS,
    "gl.CoalescedLayout()": ROWS,
    "gl.SliceLayout(2, gl.BlockedLayout([1, 8, 1], [4, 8, 1], [4, 1, 1], [2, 1, 0]))": (
        "#ttg.slice<{dim = 2, parent = #ttg.blocked<{sizePerThread = [1, 8, 1], threadsPerWarp = "
        "[4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>}>"
    ),
    "gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])": MMA,
    "NVMMADistributedLayout(version=[2, 0], warps_per_cta=[4, 1], instr_shape=[16, 8], "
    "ctas_per_cga=None, cta_split_num=None, cta_order=None)": MMA,
    "gl.DotOperandLayout(0, gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]), 2)": OPERAND,
    "DotOperandLayout(operand_index=0, parent=NVMMADistributedLayout(version=[2, 0], "
    "warps_per_cta=[4, 1], instr_shape=[16, 8], cga_layout=[]), k_width=2)": OPERAND,
    "gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [4, 1])": MFMA,
    "AMDMFMALayout(version=3, instr_shape=[32, 32, 8], transposed=True, warps_per_cta=[4, 1], "
    "element_bitwidth=32, tiles_per_warp=[1, 1], cga_layout=[])": MFMA,
    "ttgl.amd.AMDMFMALayout(3, [32, 32], True, [4, 1], elem_type=ttgl.float32)": OLD_MFMA,
    "gl.amd.AMDWMMALayout(2, False, [[0, 1], [1, 0]])": WMMA,
    "AMDWMMALayout(version=1, transposed=False, warps_per_cta=[2, 2], instr_shape=[16, 16, 16], "
    "tiles_per_warp=[1, 2], cga_layout=[])": TILED_WMMA,
    "gl.amd.AMDWMMALayout(2, False, [2, 2])": OLD_WMMA,
    "gl.DistributedLinearLayout([[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], [[0, 8], [0, 16], "
    "[0, 32], [1, 0], [2, 0]], [[4, 0], [8, 0]], [], [64, 64])": ROWS_AS_BASES,
    LINES + OUTS: ROWS_AS_BASES,
    LINES: ROWS_AS_BASES,
    "\n" + LINES + OUTS + " ": ROWS_AS_BASES,
    " ".join((LINES + OUTS).split())[2:]: ROWS_AS_BASES,
    LINES.replace("\n", "\n[tritongpu-coalesce]: "): ROWS_AS_BASES,
    BASES: ROWS_AS_BASES,
    f'{{"bases": {BASES}, "out_dims": {{"dim0": 64, "dim1": 64}}}}': ROWS_AS_BASES,
    "((8,16),(8,4)):((512,1),(64,16))": ROWS_AS_BASES,
    "((_8,_16),(_8,_4)):((_512,_1),(_64,_16))": ROWS_AS_BASES,
    "((8, 16), (8, 4)) : ((512, 1), (64, 16))": ROWS_AS_BASES,
    "Layout(((8, 16), (8, 4)), ((512, 1), (64, 16)))": ROWS_AS_BASES,
    "TiledCopy\n  Tiler_MN: (_16,_64)\n  TiledLayout_TV: ((_8,_16),_8):((_128,_1),_16)": (
        ROWS_AS_BASES
    ),
    "make_layout_tv((16,8):(8,1), (1,8):(8,1))": ROWS_AS_BASES,
    "cute.make_layout_tv(thr_layout=(16,8):(8,1), val_layout=(1,8):(0,1))": ROWS_AS_BASES,
    "tlx.layout(shape=((8, 16), (8, 4)), stride=((8, 64), (1, 1024)))": ROWS_AS_BASES,
}
"""A register layout over the type -> the attribute that it stands for."""

SHARED = {
    SWIZZLED: SWIZZLED,
    "gl.SwizzledSharedLayout(8, 1, 8, [1, 0])": SWIZZLED,
    "SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0], cga_layout=[])": SWIZZLED,
    "SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0], ctas_per_cga=None, "
    "cta_split_num=None, cta_order=None)": SWIZZLED,
    "gl.NVMMASharedLayout(128, 16)": NVMMA,
    "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed=False, "
    "fp4_padded=False, cga_layout=[])": NVMMA,
    "gl.PaddedSharedLayout([[64, 8]], [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], "
    "[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], [], [64, 64])": PADDED,
    "PaddedSharedLayout(interval_padding_pairs=[[64, 8]], order=[1, 0], ctas_per_cga=None, "
    "cta_split_num=None, cta_order=None)": "#ttg.padded_shared<[64:+8] {order = [1, 0]}>",
    f"gl.SharedLinearLayout({OFFSET_BASES}, alignment=16)": OFFSETS % (8, 16, 32),
    f'{{"offset": {OFFSET_BASES}}}': OFFSETS % (8, 16, 32),
    "Swizzle<3,3,3> o (64,64):(64,1)": OFFSETS % (8, 16, 32),
    "Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)": OFFSETS % (8, 16, 32),
    "composition(Swizzle<3,3,3>{}, Layout<Shape<_64,_64>,Stride<_64,_1>>{})": (
        OFFSETS % (8, 16, 32)
    ),
    "cute::ComposedLayout<cute::Swizzle<3,4,3>, cute::smem_ptr_flag_bits<16>, "
    "cute::Layout<cute::Shape<cute::_64,cute::C<64>>,cute::Stride<cute::_64,cute::_1>>>": (
        OFFSETS % (8, 16, 32)
    ),
    "make_layout(make_shape(Int<64>{}, _64{}), GenRowMajor{})": OFFSETS % (0, 0, 0),
    "cute.make_layout((64, 64), stride=(64, 1))": OFFSETS % (0, 0, 0),
    "cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((64, 64), "
    "stride=(64, 1)))": OFFSETS % (8, 16, 32),
    "S<3,3,3> o 0 o (64,64):(64,1)": OFFSETS % (8, 16, 32),
    "(Swizzle(3, 3, 3)) o ((64, 64) : (64, 1))": OFFSETS % (8, 16, 32),
    "ComposedLayout(Swizzle(3, 3, 3), Layout((64, 64), (64, 1)), offset=0)": (
        OFFSETS % (8, 16, 32)
    ),
    "Swizzle<3,3,3> o ((8,8),(8,8)):((64,512),(1,8))": OFFSETS % (8, 16, 32),
    "(64,64):(64,1)": OFFSETS % (0, 0, 0),
    "(64,64):(72,1)": PADDED,
    "tlx.swizzled_layout(3, 3, 3, order=[1, 0])": SWIZZLED,
    "tlx.swizzled_layout.make_default(rank=2)": PLAIN,
    "tlx.swizzled_shared_layout_encoding(vectorSize=8, perPhase=1, maxPhase=8, order=[1, 0], "
    "numCTAs=[1, 1])": SWIZZLED,
}
"""A shared layout over the type -> the attribute that it stands for."""
MEMORY = {*SHARED, *SHARED.values()}

COMMANDS = {
    "show": ["-l", "{layout}", "-t", "{type}"],
    "info": ["info", "{layout}", "-t", "{type}"],
    "where": ["where", "{layout}", "-t", "{type}", "--element", "3,5"],
    "diff": ["diff", "{layout}", "{same}", "-t", "{type}"],
    "translate": ["translate", "{layout}", "--to", "cute", "-t", "{type}"],
    "plot": ["plot", "{layout}", "-t", "{type}", "-o", "out.svg"],
    "convert": ["convert", "{layout}", ROWS, "-t", TENSOR],
    "swizzle": ["swizzle", "{layout}", "-t", TENSOR, "--max-search", "400"],
    "store": ["conflicts", "{layout}", SWIZZLED, "-t", TENSOR],
    "load": ["conflicts", ROWS, "{layout}", "-t", TENSOR],
    "suggest": ["suggest", "shared", "{layout}", "-t", TENSOR],
}
"""Name -> a command; those below take only one kind of layout."""
OF_REGISTERS = {"convert", "swizzle", "store"}
OF_MEMORY = {"load"}
UNFIT = {MFMA, OLD_MFMA, CLUSTER, OLD_CLUSTER}
"""Attributes that some commands refuse: warps of 64 lanes, several CTAs."""


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capfdbinary, monkeypatch)


def asked(command: str, layout: str, same: str, over: str) -> list[str]:
    named = {"layout": layout, "same": same, "type": over}
    return [named.get(word.strip("{}"), word) for word in COMMANDS[command]]


def spellings_for(command: str) -> Iterator[tuple[str, str]]:
    """Yield the spellings that a command is for, and their attributes."""
    if command == "suggest":
        yield from ((spelling, own) for spelling, own in REGISTERS.items() if own == OPERAND)
        return
    yield from () if command in OF_MEMORY else REGISTERS.items()
    yield from () if command in OF_REGISTERS else SHARED.items()


def test_there_are_sixty_spellings() -> None:
    assert len(REGISTERS) + len(SHARED) >= 60


@pytest.mark.parametrize("spelling", [*REGISTERS, *SHARED], ids=range(len(REGISTERS) + len(SHARED)))
def test_a_spelling_is_read(spelling: str) -> None:
    attribute = {**REGISTERS, **SHARED}[spelling]
    over = parse_type(BUFFER if spelling in SHARED else TENSOR)
    assert is_notation(spelling)
    assert str(read_layout(spelling, Context().over(over))) == attribute


@pytest.mark.slow
@pytest.mark.parametrize("step", [47, slow(4)])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_every_spelling(command: str, step: int, run: Run) -> None:
    """What it prints is what it prints for the attribute."""
    known: dict[tuple[str, str], tuple[Outcome, bytes]] = {}
    for spelling, attribute in list(spellings_for(command))[::step]:
        over = BUFFER if spelling in SHARED else TENSOR
        found = run(*asked(command, spelling, attribute, over))
        written = Path("out.svg").read_bytes() if command == "plot" else b""
        if (attribute, over) not in known:
            outcome = run(*asked(command, attribute, attribute, over))
            drawn = Path("out.svg").read_bytes() if command == "plot" else b""
            known[attribute, over] = outcome, drawn
        wanted, drawn = known[attribute, over]
        assert (found.out, found.err.splitlines()[:1]) == (wanted.out, wanted.err.splitlines()[:1])
        assert found.status == wanted.status, found.err
        assert found.status == 0 or attribute in UNFIT, found.err
        assert written == drawn


@pytest.mark.slow
def test_a_manifest_takes_every_notation(run: Run) -> None:
    """The goldens of spellings are those of their attributes."""
    found = []
    for column in zip(*list({**REGISTERS, **SHARED}.items())[::9]):
        cases = [
            {"name": f"case{at}", "layout": own, "type": BUFFER if own in MEMORY else TENSOR}
            for at, own in enumerate(column)
        ]
        Path("layouts.yaml").write_text(json.dumps({"version": 1, "cases": cases}))
        outcome = run("check", "layouts.yaml", "--update")
        assert outcome.status == 0, outcome.err + outcome.out
        found.append([path.read_bytes() for path in sorted(Path().glob("*.txt"))])
    assert found[0] == found[1]
    assert len(found[0]) == len({**REGISTERS, **SHARED}) // 9 + 1


FAULTS = {
    "(8,4):(4,1": "brackets",
    "(8,4):(4)": "nested alike",
    "(8,3):(4,1)": "power of two",
    "(64,64,2,2):(64,1,0,0)": "three with the CTA",
    "(64,64):(64,4096)": "reaches index",
    "(64,64):(64,2)": "sums carry",
    "(4096,1):(3,0)": "not linear over F2",
    "Swizzle<3,3,3> o (64,64):(1,1)": "one offset",
    "Swizzle<3,3,3> o (64,64):(72,1)": "gaps",
    "Swizzle<3,3,3> o (32,64):(64,1)": "for the shape",
    "gl.AutoLayout()": "inferred from the layouts",
    "gl.BlockedLayouts([1, 4], [4, 8], [4, 1], [1, 0])": "did you mean BlockedLayout",
    "gl.BlockedLayout([1, 4], [4, 8], [4, 1])": "needs order",
    "gl.BlockedLayout([1, 4], [4, 8], [4, 1], 1)": "takes numbers as order",
    "gl.BlockedLayout([1, 3], [4, 8], [4, 1], [1, 0])": "power of two",
    "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], [], [], [], [])": "takes 5 arguments",
    "gl.SliceLayout(0, 1)": "takes a layout as parent",
    "gl.SliceLayout(0if 1 else 2, 1)": "expected gl.Class",
    "gl.BlockedLayout(open('x'))": "BlockedLayout",
    "register=2 -> (0, 1)": "expected the basis of register=1",
    "register=1 -> (1, 1) lane=1 -> (0, 1)": "one dimension only",
    "register=1 -> (0 1)": "expected a basis such as",
    "row=1 -> (1) col=1 -> (2)": "tensor memory",
    '{"register": 3}': "lists of numbers",
    '{"register": [[true]]}': "whole numbers",
    "{": "not the JSON of bases",
    "tlx.swizzled_layout(3, 3, 3)": "needs order",
    "tlx.swizzled_layout(3, 0, 3, order=[1, 0])": "within rows",
    "tlx.layout(shape=((8, 16), (8, 4)))": "needs stride",
    "make_layout_tv((16,8):(8,1))": "make_layout_tv takes",
    "make_layout_tv((16,8):(16,1), (1,8):(8,1))": "without gaps",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_named(text: str) -> None:
    with pytest.raises(LayoutError, match=FAULTS[text]) as raised:
        read_layout(text, Context(name="-l").over(parse_type(TENSOR)))
    assert str(raised.value).startswith("-l:1:1: error: ")


def test_what_a_release_does_not_write_is_not_left_out() -> None:
    rows = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]"
    tiles = "gl.amd.AMDWMMALayout(1, False, [2, 2], [16, 16, 16], [1, 2])"
    for text, release in ((f"{rows}, [[1, 0]])", "2.1"), (tiles, "3.5")):
        context = Context(release=Release.parse(release)).over(parse_type(TENSOR))
        with pytest.raises(LayoutError, match=f"Triton {release} does not write"):
            read_layout(text, context)
        assert read_layout(text, context._replace(release=Release.V3_6)).release is Release.V3_6
    context = Context(release=Release.V2_1).over(parse_type(TENSOR))
    assert str(read_layout(f"{rows})", context)).startswith("#triton_gpu.blocked<")


def test_what_a_type_is_needed_for(run: Run) -> None:
    outcome = run("translate", "(8,4):(4,1)", "--to", "gluon")
    assert outcome.status == 2
    assert "CuTe notation does not determine the shape" in outcome.err


def test_lanes_of_a_warp_are_chosen(run: Run) -> None:
    text = "(128,32):(32,1)"
    narrow = run("info", text, "-t", TENSOR).out
    wide = run("info", text, "-t", TENSOR, "--threads-per-warp", "64").out
    assert "warp bit 1" in narrow
    assert "warp bit 1" not in wide
    assert "lane bit 5" in wide


def test_a_text_of_several_lines_comes_from_standard_input(run: Run) -> None:
    outcome = run("translate", "-", "--to", "gluon", stdin=LINES.encode())
    assert outcome.out.startswith("gl.DistributedLinearLayout(reg_bases=[[0, 1], [0, 2]")
    assert run("info", "-", "-t", TENSOR, stdin=LINES.encode()).out.startswith(ROWS_AS_BASES)


TARGETS = ("3.9", *NOTATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, slow(40)])
def test_each_notation_leads_to_each_other_and_back(count: int, seed: int) -> None:
    """A layout through two notations is the layout, wherever both can express it."""
    tally: Counter[str] = Counter()
    for case in random_cases(seed, count):
        own = given(case.question(), "3.9")
        if own is None:
            continue
        walk = Walk(own)
        for first in TARGETS:
            middle = walk.through(own.encoding, first)
            for second in TARGETS if middle is not None else ():
                if middle is not None and walk.through(middle, second) is not None:
                    tally[f"{first} -> {second}"] += 1
    assert count < 100 or len(tally) == len(TARGETS) ** 2, tally


def cutlass_spellings(text: str) -> Iterator[str]:
    """Yield a layout of CuTe's notation as CUTLASS's types, calls and prints spell it."""
    swizzle, _, layout = text.rpartition(" o ")
    shape, stride = layout.split(":")
    types = (re.sub(r"\d+", r"_\g<0>", part).replace(")", ">") for part in (shape, stride))
    of_types = "Layout<{},{}>".format(
        *(part.replace("(", f"{name}<") for name, part in zip(("Shape", "Stride"), types))
    )
    of_calls = f"cute.make_layout({shape}, stride={stride})"
    if not swizzle:
        yield from (of_types, of_calls)
        return
    numbers = swizzle.removeprefix("Swizzle<").removesuffix(">")
    yield f"composition({swizzle}{{}}, {of_types}{{}})"
    yield f"cute.make_composed_layout(cute.make_swizzle({numbers}), 0, {of_calls})"
    yield f"S<{numbers}> o 0 o {layout}"


class Walk:
    """Translations of one layout, each made and compared once."""

    def __init__(self, own: Given) -> None:
        self.own, self.layout = own, own.layout
        self.found: dict[tuple[str, str], Encoding | None] = {}

    def through(self, encoding: Encoding, target: str) -> Encoding | None:
        """Return a layout written in a notation and read again; None where it is refused."""
        key = f"{encoding.release} {encoding}", target
        if key not in self.found:
            self.found[key] = self.read_back(encoding, target)
        return self.found[key]

    def read_back(self, encoding: Encoding, target: str) -> Encoding | None:
        shape, bits = self.own.shape, self.own.element_bits
        try:
            written = translate(encoding, target, shape, element_bits=bits)
        except RefusedError:
            return None
        context = Context(
            shape=shape,
            element_bits=bits,
            memory_space=encoding.memory_space,
            threads_per_warp=self.layout.get_in_dim_size("lane"),
        )
        for text in cutlass_spellings(written.text) if target == "cute" else ():
            self.check_same(read_layout(text, context), target)
        after = read_layout(written.text, context)
        self.check_same(after, target)
        return after

    def check_same(self, after: Encoding, target: str) -> None:
        """Compare bases and gaps; a layout of CuTe is of one CTA's memory."""
        found = after.to_linear_layout(self.own.shape, element_bits=self.own.element_bits)
        for name in self.layout.get_in_dim_names():
            vectors = self.layout.vectors(name)
            if name != "block" or any(map(any, vectors)):
                assert found.vectors(name) == vectors, (self.own, target)
        assert found.out_dims == self.layout.out_dims
        assert addresses(after, found) == addresses(self.own.encoding, found)


def test_the_guide_has_every_notation() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "translate.md").read_text(encoding="utf-8")
    assert [name for name in NOTATIONS if f"\n| `{name}` |" not in guide] == []


@pytest.mark.parametrize("name", NOTATIONS)
def test_a_text_is_in_one_notation(name: str) -> None:
    # Each notation has an accumulator of wgmma.
    wgmma = read_layout("gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])")
    text = translate(wgmma, name, [64, 64], element_bits=16).text
    assert [other for other in NOTATIONS if NOTATIONS[other].recognises(text)] == [name]
