"""``tt-layout translate``: spellings, refusals, and translations read back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from command import Run, runner
from compiler.corpus import rows_of
from compiler.generate import random_cases
from compiler.round_trip import ALL_TARGETS, Given, check_targets, given
from tiers import slow

import tt_layout
from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.notation.checking import natural_shapes
from tt_layout.notation.cute.text import read_cute
from tt_layout.notation.gluon.text import read_gluon
from tt_layout.notation.notations.json import read_json
from tt_layout.notation.refusal import Reason, RefusedError
from tt_layout.notation.translation import translate
from tt_layout.releases import LATEST

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
CLUSTER = ROWS.replace("}>", ", CGALayout = [[1, 0], [0, 0]]}>")
SHARED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
LEADING = (
    "#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], "
    "hasLeadingOffset = true}>"
)
NVMMA = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
    "instrShape = [16, 8]}>"
)
OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>"
MFMA = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], "
    "isTransposed = false}>"
)
WMMA = "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>"
PADDED = "#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [32, 64]}>"
ORDERED = "#ttg.padded_shared<[64:+4] {order = [1, 0]}>"
TMEM = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>"
UNPACKED = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, unpacked = true>"
SWAPPED = "#ttg.linear<{register = [[1]], lane = [[2]], warp = [], block = []}>"
GENERIC = "#ttg.generic_linear<{register = [[0, 1]], lane = [[1, 0]], warp = [[2, 1]], block = []}>"

REPEATING = "#ttg.linear<{register = [[1], [1]], lane = [[2]], warp = [], block = []}>"

WRITTEN = [
    (ROWS, "2022", None, ROWS.replace("ttg", "triton_gpu")),
    (ROWS, "3.2", None, ROWS.replace("ttg", "triton_gpu")),
    (
        ROWS,
        "2.2",
        None,
        ROWS.replace("ttg", "triton_gpu").replace(
            "}>", ", CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>"
        ),
    ),
    (
        CLUSTER,
        "3.4",
        None,
        ROWS.replace("}>", ", CTAsPerCGA = [4, 1], CTASplitNum = [2, 1], CTAOrder = [0, 1]}>"),
    ),
    (SHARED, "2.1", None, "#triton_gpu." + SHARED[len("#ttg.swizzled_") :]),
    (NVMMA, "3.2", [64, 64], LEADING),
    (LEADING, "3.9", [64, 64], NVMMA),
    (LEADING, "3.4", [64, 64], NVMMA),
    (
        OPERAND,
        "2.1",
        [64, 64],
        "#triton_gpu.dot_op<{opIdx = 0, parent = #triton_gpu.mma<{versionMajor = 2, "
        "versionMinor = 0, warpsPerCTA = [4, 1]}>, kWidth = 2}>",
    ),
    (
        MFMA,
        "3.4",
        [128, 128],
        "#ttg.amd_mfma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], "
        "instrShape = [32, 32], isTransposed = false}>",
    ),
    (
        WMMA,
        "3.5",
        [64, 64],
        "#ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [2, 2]}>",
    ),
    (PADDED, "3.5", None, ORDERED),
    (ORDERED, "3.9", [32, 64], PADDED),
    (TMEM, "3.4", [128, 64], UNPACKED),
    (UNPACKED, "3.9", [128, 64], TMEM),
    (GENERIC, "3.9", None, GENERIC),
    (REPEATING, "3.8", None, REPEATING.replace("linear", "generic_linear")),
    (ROWS, "linear", [16, 32],
     "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], "
     "[2, 0]], warp = [[4, 0], [8, 0]], block = []}>"),
    (SHARED, "linear", [2, 16],
     "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 8]]}, alignment = 16>"),
    (NVMMA.replace("128", "32"), "linear", [8, 16],
     "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8]]}, "
     "alignment = 256>"),
    (ROWS, "gluon", None,
     "gl.BlockedLayout(size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1], "
     "order=[1, 0])"),
    (OPERAND, "gluon", None,
     "gl.DotOperandLayout(operand_index=0, parent=gl.NVMMADistributedLayout(version=[2, 0], "
     "warps_per_cta=[4, 1], instr_shape=[16, 8]), k_width=2)"),
    (WMMA, "gluon", None,
     "gl.amd.AMDWMMALayout(version=2, transposed=False, warp_bases=[[0, 1], [1, 0]])"),
    (TMEM, "gluon", None,
     "gl.nvidia.blackwell.TensorMemoryLayout(block=[128, 64], col_stride=2)"),
    (PADDED.replace("[32, 64]", "[2, 2]"), "gluon", None,
     "gl.PaddedSharedLayout.with_identity_for(interval_padding_pairs=[[64, 4]], shape=[2, 2], "
     "order=[1, 0])"),
    (ROWS, "cute", [16, 32], "((8,16),4):((64,1),16)"),
    (MMA, "cute", [16, 8], "((4,8,4),(2,2)):((32,1,0),(16,8))"),
    (CLUSTER, "cute", [32, 32], "((8,16),4,(2,2)):((128,1),32,(16,0))"),
    (SHARED, "cute", [64, 64], "Swizzle<3,3,3> o (64,64):(64,1)"),
    (SHARED, "cute", [64, 128], "Swizzle<3,3,4> o (64,128):(128,1)"),
    (NVMMA, "cute", [64, 128], "Swizzle<3,3,3> o (64,(64,2)):(64,(1,4096))"),
    (PADDED, "cute", [32, 64], "(32,64):(68,1)"),
    ("#ttg.padded_shared<[64:+4] {order = [0], shape = [256]}>", "cute", [256],
     "((64,4)):((1,68))"),
    ("#ttg.shared_linear<{offset = [[5], [2], [4]]}, alignment = 16>", "cute", [8],
     "Swizzle<1,0,-2> o 8:1"),
]  # fmt: skip


def named(text: str) -> str | None:
    """Return the release of a text of the tables: that which alone reads it."""
    return "3.2" if text == LEADING else "3.6" if text == REPEATING else None


@pytest.mark.parametrize(("text", "target", "shape", "written"), WRITTEN)
def test_what_is_written(text: str, target: str, shape: list[int] | None, written: str) -> None:
    encoding = tt_layout.parse_layout(text, release=named(text))
    assert translate(encoding, target, shape, element_bits=16).text == written


REFUSED = [
    (SWAPPED, "3.2", None, Reason.NO_ATTRIBUTE, f"#ttg.linear is of Triton 3.3 to {LATEST}"),
    (NVMMA, "2.1", None, Reason.NO_PLACE, "does not write hasLeadingOffset"),
    (CLUSTER, "2.1", None, Reason.NO_PLACE, "does not write CGALayout"),
    (
        ROWS.replace("}>", ", CGALayout = [[0, 1], [1, 0], [0, 2]]}>"),
        "3.5",
        None,
        Reason.NO_PLACE,
        "cannot express CGALayout",
    ),
    (WMMA.replace("[1, 0]", "[1, 1]"), "3.6", None, Reason.NO_PLACE, "cannot express ctaLayout"),
    (WMMA.replace("version = 2", "version = 3").replace("}}>", "}, instrShape = [16, 16, 32]}>"),
     "3.5", None, Reason.REFUSED, "version must be in 1..2"),
    (ROWS, "3.8", [2, 2], Reason.OTHER_MEANING, "register"),
    (MMA.replace("[4, 1]", "[2, 2]"), "2.0", [64, 64], Reason.OTHER_MEANING, "warp"),
    (MFMA.replace("false", "true"), "3.1", [128, 128], Reason.OTHER_MEANING, "warp"),
    (OPERAND, "2022", [64, 64], Reason.NO_PLACE, "does not write kWidth = 2"),
    (NVMMA.replace("false", "true"), "3.2", [128, 512], Reason.OTHER_MEANING, "offset"),
    (TMEM, "3.5", None, Reason.NO_PLACE, "give the type"),
    (TMEM.replace(">", ", fp4Padded = true>").replace("Stride = 2", "Stride = 1"), "3.7",
     [128, 64], Reason.NO_PLACE, "fp4Padded"),
    (ORDERED, "3.9", None, Reason.NO_PLACE, "give the type"),
    (ORDERED, "gluon", None, Reason.NO_PLACE, "give the type"),
    (PADDED, "linear", None, Reason.PADDING, "[64:+4]"),
    (ROWS, "linear", None, Reason.NEEDS_TYPE, "shape"),
    (ROWS, "cute", None, Reason.NEEDS_TYPE, "shape"),
    (ROWS, "json", None, Reason.NEEDS_TYPE, "shape"),
    (TMEM, "linear", [128, 64], Reason.NO_FORM, "tensor memory"),
    (TMEM, "cute", [128, 64], Reason.NO_FORM, "tensor_memory_encoding"),
    (GENERIC, "cute", [4, 2], Reason.NO_FORM, "two bits share"),
    (SHARED.replace("swizzled", "amd_rotating"), "cute", [64, 64], Reason.NO_FORM, "Swizzle"),
    (SHARED.replace("swizzled", "amd_rotating"), "gluon", [64, 64], Reason.NO_FORM, "no class"),
    (SHARED.replace("}>", ", CGALayout = [[1, 0]]}>"), "cute", [64, 64], Reason.NO_FORM, "CTAs"),
    (MFMA.replace("[32, 32, 8]", "[32, 32]"), "gluon", None, Reason.NO_FORM, "K is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "target", "shape", "reason", "words"), REFUSED)
def test_what_is_refused(
    text: str, target: str, shape: list[int] | None, reason: Reason, words: str
) -> None:
    bits = None if text == TMEM or shape is None else 32 if text == OPERAND else 16
    encoding = tt_layout.parse_layout(text)
    with pytest.raises(RefusedError, match=reason.value) as caught:
        translate(encoding, target, shape, element_bits=bits)
    assert words in caught.value.message
    assert caught.value.reason is reason


def test_what_a_spelling_leaves_out_is_told() -> None:
    result = translate(tt_layout.parse_layout(MFMA), "3.4", [128, 128])
    assert result.notes == ("Triton 3.4 does not write instrShape = [32, 32, 8]",)


def test_without_a_type_shapes_hold_the_whole_tile() -> None:
    wide = ROWS.replace("[4, 1]", "[128, 1]")
    assert natural_shapes(tt_layout.parse_layout(ROWS)) == (
        (256, 256),
        (256, 512),
        (512, 256),
        (512, 512),
    )
    assert natural_shapes(tt_layout.parse_layout(wide))[0] == (512, 256)
    assert natural_shapes(tt_layout.parse_layout(PADDED)) == ((32, 64),)


@pytest.mark.parametrize("target", ["9.9", "cutlass", ""])
def test_an_unknown_target(target: str) -> None:
    with pytest.raises(
        tt_layout.LayoutError,
        match=r"known are bases, cute, gluon, .*tlx, 2022",
    ):
        translate(tt_layout.parse_layout(ROWS), target)


def test_a_layout_that_breaks_a_rule_is_no_refusal() -> None:
    with pytest.raises(tt_layout.LayoutError) as caught:
        translate(tt_layout.parse_layout(ROWS), "3.8", [16])
    assert not isinstance(caught.value, RefusedError)


# -- read back ------------------------------------------------------------------------------

SHARES = pytest.mark.parametrize("share", [120, slow(12)])
"""Of the corpora; tests/compiler takes all of them."""


@pytest.mark.slow
@pytest.mark.parametrize("cases", [6, slow(75)])
def test_random_layouts_are_read_back(cases: int, seed: int, tally: Counter[str]) -> None:
    for case in random_cases(seed, cases):
        own = given(case.question(), "3.9")
        if own is not None:
            check_targets(own, ALL_TARGETS, tally)
    assert sum(tally.values()) > cases


@pytest.mark.slow
@SHARES
def test_layouts_of_upstream_tests_are_read_back(
    share: int, seed: int, tally: Counter[str]
) -> None:
    for row in rows_of("triton-3.9.0-lit.jsonl")[seed % share :: share]:
        own = given(row, "3.9")
        if own is not None:
            check_targets(own, ALL_TARGETS, tally)


@pytest.mark.slow
@SHARES
def test_layouts_of_every_era_are_read_back(share: int, seed: int, tally: Counter[str]) -> None:
    rows = [row for row in rows_of("era-examples.jsonl") if "printed" in row and "attr" in row]
    for row in rows[seed % share :: share]:
        own = given({**row, "attr": row["printed"]}, row["wheels"][-1])
        if own is not None:
            check_targets(own, ALL_TARGETS, tally)


def test_old_text_is_the_same_layout_in_a_new_spelling_and_back() -> None:
    old = tt_layout.parse_layout(LEADING, release="3.2")
    new = tt_layout.parse_layout(translate(old, "3.9", [64, 64]).text, release="3.9")
    assert translate(new, "3.2", [64, 64]).text == LEADING
    own = Given(new, (64, 64), 16)
    check_targets(own, ALL_TARGETS, Counter())


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_gluon, "gl.Nothing(order=[0])"),
        (read_gluon, "gl.SliceLayout(0, 1)"),
        (read_gluon, "gl.SliceLayout(dim=0, parents=1)"),
        (read_gluon, "gl.SliceLayout(dim=0)"),
        (read_gluon, "__import__('os')"),
        (read_gluon, "[1, 2"),
        (read_gluon, "[1, 2]"),
        (read_cute, "(4,8)"),
        (read_cute, "((4,8):(1,4)"),
        (read_json, "{}"),
        (read_json, "[]"),
        (read_json, "no json"),
        (read_json, '{"version": 2}'),
    ],
)
def test_garbage_is_refused(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(tt_layout.LayoutError):
        read(text)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('"element_bits": 16', '"element_bits": 1e9', "element_bits must be an int"),
        ('"shape": [8, 8]', '"shape": [8, "8"]', r"shape\[1\] must be an int"),
    ],
)
def test_numbers_of_json_are_integers(right: str, wrong: str, message: str) -> None:
    layout = tt_layout.parse_layout(SHARED)
    text = translate(layout, "json", [8, 8], element_bits=16).text
    assert right in text
    with pytest.raises(tt_layout.LayoutError, match=message):
        read_json(text.replace(right, wrong))


def test_a_json_whose_bases_are_not_those_of_its_attribute_is_refused() -> None:
    text = translate(tt_layout.parse_layout(SHARED), "json", [8, 8]).text
    damaged = text.replace("[0, 1], [0, 2]", "[0, 2], [0, 1]")
    assert damaged != text
    with pytest.raises(tt_layout.LayoutError, match="bases of the JSON is not that"):
        read_json(damaged)


# -- the command ----------------------------------------------------------------------------


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def test_the_command_prints_the_text_alone(run: Run) -> None:
    done = run("translate", SHARED, "--to", "cute", "-t", "tensor<64x64xf16>")
    assert (done.status, done.out, done.err) == (0, "Swizzle<3,3,3> o (64,64):(64,1)\n", "")


def test_the_command_says_over_which_shapes_it_checked(run: Run) -> None:
    done = run("translate", SHARED, "--to", "3.2")
    assert done.status == 0
    assert done.err == (
        "note: checked over 256x256, 256x512, 512x256, 512x512; -t checks it over one tensor\n"
    )


def test_the_command_refuses_with_status_2(run: Run) -> None:
    done = run("translate", SHARED, "--to", "linear")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error: the type must be known: the bases depend on the shape; "
        "give one with -t, such as -t 'tensor<16x16xf16>'\n"
    )
    assert run("translate", ROWS, "--to", "3.8", "-t", "tensor<2x2xf16>").status == 2
    assert run("translate", ROWS, "--to", "3.8", "-t", "tensor<8xf16>").status == 2
    assert run("translate", ROWS, "--to", "nothing").status == 2


def test_the_command_takes_an_alias_and_a_ring(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(f"#shared = {NVMMA}\n")
    ring = "!ttg.memdesc<3x64x64xf16, #ttg.shared_memory, mutable>"
    done = run("translate", f"{path}:shared", "--to", "3.2", "-t", ring)
    assert done.out == LEADING + "\n"


def test_the_command_writes_json_of_the_outcome(run: Run) -> None:
    done = run("translate", MFMA, "--to", "3.4", "-t", "tensor<128x128xf32>", "--format", "json")
    data = json.loads(done.out)
    assert (data["version"], data["from"], data["release"]) == (1, MFMA, str(LATEST))
    assert data["to"] == "3.4"
    assert data["text"].startswith("#ttg.amd_mfma<{versionMajor = 3")
    assert data["shapes"] == [[128, 128]]
    assert data["notes"] == ["Triton 3.4 does not write instrShape = [32, 32, 8]"]


def test_the_command_reads_back_its_json(run: Run, tmp_path: Path) -> None:
    text = run("translate", NVMMA, "--to", "json", "-t", "tensor<64x64xf16>").out
    data = json.loads(text)
    assert data["memory"] == "shared memory"
    assert data["shape"] == [64, 64]
    path = tmp_path / "layout.json"
    path.write_text(text)
    cute = "Swizzle<3,3,3> o (64,64):(64,1)\n"
    assert run("translate", str(path), "--to", "cute").out == cute
    assert run("translate", "-", "--to", "cute", stdin=text.encode()).out == cute


def test_the_command_reads_constructors_of_gluon(run: Run) -> None:
    text = translate(tt_layout.parse_layout(OPERAND), "gluon").text
    assert run("translate", text, "--to", "3.9").out == OPERAND + "\n"
    assert run("translate", "gl.Nothing()", "--to", "3.9").status == 2


MMA_2 = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"  # noqa: E501


@pytest.mark.parametrize(
    ("layout", "element", "call"),
    [
        (
            "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
            "f16",
            "gl.SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])",
        ),
        (
            MMA_2,
            "f32",
            "gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])",
        ),
        (
            f"#ttg.dot_op<{{opIdx = 0, parent = {MMA_2}, kWidth = 2}}>",
            "f16",
            "gl.DotOperandLayout(operand_index=0, parent=gl.NVMMADistributedLayout(version=[2, 0], "
            "warps_per_cta=[2, 2], instr_shape=[16, 8]), k_width=2)",
        ),
        (
            "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
            "warpsPerCTA = [4, 1], order = [1, 0]}>",
            "f32",
            "gl.BlockedLayout(size_per_thread=[1, 4], threads_per_warp=[4, 8], "
            "warps_per_cta=[4, 1], order=[1, 0])",
        ),
    ],
)
def test_the_shortest_constructor_is_written(
    layout: str, element: str, call: str, run: Run
) -> None:
    """CuTe layouts once became twelve bases where a class with parameters is the same."""
    bits = int(element[1:])
    encoding = tt_layout.parse_layout(layout)
    cute = translate(encoding, "cute", [64, 64], element_bits=bits).text
    bases = tt_layout.parse_layout(translate(encoding, "linear", [64, 64], element_bits=bits).text)
    assert translate(bases, "gluon", [64, 64], element_bits=bits).text == call
    kind = f"!ttg.memdesc<64x64x{element}>" if "shared" in layout else f"64x64x{element}"
    assert run("translate", cute, "--to", "gluon", "-t", kind).out == f"{call}\n"


def test_bases_stay_where_nothing_shorter_is_the_same() -> None:
    odd = "#ttg.shared_linear<{offset = [[0, 1], [1, 1], [2, 2], [0, 2]]}, alignment = 16>"
    text = translate(tt_layout.parse_layout(odd), "gluon", [4, 4]).text
    assert text.startswith("gl.SharedLinearLayout(offset_bases=[[0, 1], [1, 1], [2, 2], [0, 2]]")


WAVES = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], "
    "isTransposed = true}>"
)
WAVES_CALL = (
    "gl.amd.AMDMFMALayout(version=3, instr_shape=[16, 16, 16], transposed=True, "
    "warps_per_cta=[2, 2])"
)


@pytest.mark.parametrize(
    ("layout", "shape", "bits", "start"),
    [
        (WAVES, [64, 64], 32, WAVES_CALL),
        (
            f"#ttg.dot_op<{{opIdx = 1, parent = {WAVES}, kWidth = 4}}>",
            [64, 64],
            16,
            "gl.DotOperandLayout(operand_index=1, parent=gl.amd.AMDMFMALayout(",
        ),
        (
            "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], "
            "threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>}>",
            [64],
            16,
            "gl.SliceLayout(dim=1, parent=gl.BlockedLayout(",
        ),
    ],
)
def test_the_shortest_constructor_of_waves_and_slices(
    layout: str, shape: list[int], bits: int, start: str
) -> None:
    encoding = tt_layout.parse_layout(layout)
    bases = tt_layout.parse_layout(translate(encoding, "linear", shape, element_bits=bits).text)
    call = translate(bases, "gluon", shape, element_bits=bits).text
    assert call.startswith(start)
    again = tt_layout.to_linear_layout(call, shape)
    assert again == encoding.to_linear_layout(shape, element_bits=bits)


CORES = "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>"
WIDE_WAVES = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [4, 64, 4], "
    "isTransposed = true, tilesPerWarp = [2, 2]}>"
)
RDNA = "#ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>"
RDNA_4 = (
    "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = [[0, 1]], "
    "warp = [[0, 2], [1, 0]]}}>"
)
CLUSTER = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0], CGALayout = [[1, 0]]}>"
)
BATCHES = "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0, 2]}>"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "shape", "bits"),
    [
        (CORES, (128, 256), 16),
        (WIDE_WAVES, (256, 256), 32),
        (RDNA, (64, 64), 32),
        (RDNA_4, (64, 64), 32),
        (f"#ttg.dot_op<{{opIdx = 1, parent = {RDNA_4}, kWidth = 8}}>", (64, 64), 16),
        (CLUSTER, (64, 64), 16),
        (BATCHES, (64, 64, 4), 16),
        (
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
            "elementBitWidth = 16, rank = 3}>",
            (2, 16, 64),
            16,
        ),
        ("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>", (64,), 8),
    ],
)
def test_bases_become_any_class_with_parameters(
    layout: str, shape: tuple[int, ...], bits: int
) -> None:
    """Of CDNA only two instructions were tried, of RDNA and of core matrices none."""
    encoding = tt_layout.parse_layout(layout)
    bases = tt_layout.parse_layout(translate(encoding, "linear", shape, element_bits=bits).text)
    text = str(shortest(bases, shape, bits))
    has_one_text = encoding.name != "ttg.dot_op"  # an operand is that of several accumulators
    assert text == layout or not has_one_text
    assert tt_layout.parse_layout(text).to_linear_layout(shape, element_bits=bits) == (
        encoding.to_linear_layout(shape, element_bits=bits)
    )
    assert "linear" not in text


def test_an_alignment_that_parameters_would_lose_keeps_the_bases() -> None:
    plain = "#ttg.shared_linear<{{offset = [[0, 1], [0, 2], [1, 0], [2, 0]]}}, alignment = {}>"
    assert translate(tt_layout.parse_layout(plain.format(16)), "3.9", [4, 4]).text == (
        "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    )
    aligned = plain.format(512)
    assert translate(tt_layout.parse_layout(aligned), "3.9", [4, 4]).text == aligned


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("3.9", "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
        ("2.0", "#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
        ("gluon", "gl.SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])"),
        ("tlx", "tlx.swizzled_layout(3, 3, 3, order=[1, 0])"),
    ],
)
def test_every_target_has_the_parameters_first(target: str, text: str, run: Run) -> None:
    """A release had twelve bases, or none that it knows; TLX was refused."""
    layout = "Swizzle<3,3,3> o (64,64):(64,1)"
    result = run("translate", layout, "--to", target, "-t", "!ttg.memdesc<64x64xf16>")
    assert (result.out, result.status) == (f"{text}\n", 0)


def test_padding_of_plain_rows_is_written_by_shape_and_order() -> None:
    padded = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [16, 64]}>"
    text = translate(tt_layout.parse_layout(padded), "gluon").text
    assert text == (
        "gl.PaddedSharedLayout.with_identity_for(interval_padding_pairs=[[64, 8]], "
        "shape=[16, 64], order=[1, 0])"
    )
    assert str(tt_layout.parse_layout(text)) == padded
    mixed = "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [1, 0], [0, 2]], block = []}>"
    assert "offset_bases=" in translate(tt_layout.parse_layout(mixed), "gluon").text
