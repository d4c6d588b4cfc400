"""Dumps from before `memdesc`, where shared memory was a tensor."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Run, runner

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.ir.ssa import read_functions


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


BLOCKED = (
    "#triton_gpu.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], "
    "warpsPerCTA = [1, 1], order = [1, 0]}>"
)
SHARED = "#triton_gpu.shared<{vec = 8, perPhase = 4, maxPhase = 2, order = [1, 0]}>"
OPERAND = (
    "#triton_gpu.dot_op<{opIdx = 0, parent = #triton_gpu.mma<{version = 2, warpsPerCTA = [1, 1]}>}>"
)
BUFFERS, BUFFER = "tensor<3x16x16xf16, #shared>", "tensor<16x16xf16, #shared>"
POINTERS, TILE = "tensor<16x16x!tt.ptr<f16>, #blocked>", "tensor<16x16xf16, #blocked>"

MOVES = {
    f"triton_gpu.alloc_tensor : {BUFFERS}": None,
    f"triton_gpu.insert_slice_async %p, %0, %i, %m : {POINTERS} -> {BUFFERS}": (
        "copy to local",
        "8 x cp.async.ca.shared.global, limited by contiguity",
    ),
    f"triton_gpu.insert_slice %p, %0, %i, %m : {POINTERS}, {BUFFERS} -> {BUFFERS}": (
        "copy to local",
        "8 x ld.global.b16, limited by contiguity",
    ),
    f"tensor.insert_slice %x into %0[%k, 0, 0] [1, 16, 16] [1, 1, 1] : {TILE} into {BUFFERS}": (
        "local store",
        "1 x st.shared.v4.b32, 4 wavefronts each",
    ),
    f"triton_gpu.convert_layout %b : ({BUFFER}) -> tensor<16x16xf16, #operand>": (
        "local load",
        "1 x ldmatrix.x4, 4 wavefronts each",
    ),
    f"triton_gpu.convert_layout %x : ({TILE}) -> {BUFFER}": (
        "local store",
        "1 x st.shared.v4.b32, 4 wavefronts each",
    ),
    f"triton_gpu.convert_layout %p : ({POINTERS}) -> tensor<16x16x!tt.ptr<f16>, #operand>": (
        "conversion",
        "shared memory, >= 32 wavefronts",
    ),
}
"""Operation -> its group and how its cost begins; None of an allocation."""


def dump(*operations: str, head: str = "") -> str:
    body = "\n".join(f"    %a{n} = {text}" for n, text in enumerate(operations))
    return f"""\
#blocked = {BLOCKED}
#few = {BLOCKED.replace("[16, 2]", "[16, 1]")}
#shared = {SHARED}
#operand = {OPERAND}
module attributes {{"triton_gpu.num-warps" = 1 : i32{head}}} {{
  func public @f(%p: {POINTERS}, %m: tensor<16x16xi1, #blocked>, %i: i32, %k: index,
                 %x: {TILE}, %b: {BUFFER}, %0: {BUFFERS}) {{
{body}
    return
  }}
}}
"""


def movements(run: Run, text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    [module] = json.loads(run("audit", "-", "--format", "json", stdin=text.encode()).out)["modules"]
    return module["data_movements"], module["findings"]


@pytest.mark.parametrize("operation", MOVES)
def test_every_way_into_and_out_of_shared_memory(operation: str, run: Run) -> None:
    [row], findings = movements(run, dump(operation))
    assert not [f for f in findings if f["kind"] == "refused"]
    expected = MOVES[operation]
    if expected is None:
        assert (row["group"], row["cost"], row["cost_unknown"]) == ("allocation", None, None)
    else:
        group, cost = expected
        assert row["group"] == group
        assert row["cost"]["text"].startswith(cost)


def test_a_slice_that_is_loaded_is_stored_too(run: Run) -> None:
    operation = next(o for o in MOVES if o.startswith("triton_gpu.insert_slice %p"))
    [row], _ = movements(run, dump(operation))
    assert row["cost"]["text"].endswith("; then 1 x st.shared.v4.b32, 4 wavefronts each")
    assert row["cost"]["store"]["instruction"] == "st.shared.v4.b32"


def test_pointers_are_moved_as_8_bytes_each(run: Run) -> None:
    operation = next(o for o in MOVES if "!tt.ptr<f16>, #operand" in o)
    [row], _ = movements(run, dump(operation))
    assert row["bytes"] == 16 * 16 * 8


@pytest.mark.parametrize(
    ("operation", "head", "reason"),
    [
        (
            f"triton_gpu.convert_layout %x : ({TILE}) -> tensor<16x16xf16, #few>",
            "",
            "16 threads per warp",
        ),
        (
            f"triton_gpu.convert_layout %b : ({BUFFER}) -> tensor<16x16xf16, #few>",
            "",
            "16 threads per warp",
        ),
        (
            f"triton_gpu.convert_layout %b : ({BUFFER}) -> {TILE}",
            ', triton_gpu.target = "xpu:dg2"',
            "no document says what it costs on Intel's GPUs",
        ),
        (
            f"triton_gpu.insert_slice_async %26, %0, %i, %m : {POINTERS} -> {BUFFERS}",
            "",
            "%26 is not defined in the dump",
        ),
        ("tt.load %y : tensor<16x!tt.ptr<f16>>", "", "%y is not defined in the dump"),
        (
            f"triton_nvidia_gpu.insert_slice_tma %t, %0, %i, %n : !tt.ptr<{TILE}, 1>, {BUFFERS}, "
            f"i32, !tt.ptr<i64, 3> -> {BUFFERS}",
            "",
            "the messages of Triton 2.1 are not modelled",
        ),
    ],
)
def test_the_reason_stands_where_no_cost_can_be_given(
    operation: str, head: str, reason: str, run: Run
) -> None:
    text = dump(operation, head=head)
    [row], findings = movements(run, text)
    assert (row["cost"], row["cost_unknown"]) == (None, reason)
    assert f"  n/a ({reason})" in run("audit", "-", "--tables", stdin=text.encode()).out
    assert not [finding for finding in findings if "at a time" in finding["message"]]


@pytest.mark.parametrize(("lanes", "gpu"), [("[16, 2]", "sm90"), ("[16, 4]", "gfx942")])
def test_the_warps_of_layouts_tell_the_vendor(lanes: str, gpu: str, run: Run) -> None:
    text = dump(f"triton_gpu.convert_layout %x : ({TILE}) -> {BUFFER}").replace("[16, 2]", lanes)
    [module] = json.loads(run("audit", "-", "--format", "json", stdin=text.encode()).out)["modules"]
    assert (module["target"], module["costed_for"]) == (None, gpu)
    said = f"  no target is named; costed for {gpu}\n"
    assert said in run("audit", "-", stdin=text.encode()).out


@pytest.mark.parametrize("shape", ["16x16", "3x16x16"])
def test_a_tensor_may_count_its_buffers(shape: str, run: Run) -> None:
    outcome = run("-l", SHARED, "-t", f"tensor<{shape}xf16>")
    assert outcome.status == 0, outcome.err
    assert ("each of the 3 buffers" in outcome.out) == shape.startswith("3")


def test_convert_explains_loads_and_stores(run: Run) -> None:
    load = run("convert", SHARED, OPERAND, "-t", "tensor<16x16xf16>")
    store = run("convert", OPERAND, SHARED, "-t", "tensor<16x16xf16>", "--target", "sm80")
    assert "a load from shared memory to registers\n  load: 1 x ldmatrix.x4 per warp" in load.out
    assert "a store from registers to shared memory\n  store: 4 x st.shared.b32" in store.out
    data = json.loads(run("convert", SHARED, OPERAND, "-t", "tensor<16x16xf16>",
                          "--format", "json").out)  # fmt: skip
    assert (data["kind"], data["target"]) == ("local load", "sm90")
    assert data["access"]["wavefronts_per_instruction"] == 4


def test_predicates_in_quotation_marks() -> None:
    """Until 2023 a predicate was a string; one that nobody knows compares nothing."""
    for predicate in ('"slt"', '"ult"', "slt", "tomorrow"):
        text = f"""
module attributes {{"triton_gpu.num-warps" = 4 : i32}} {{
  tt.func @f(%n: i32, %p: !tt.ptr<f32>) {{
    %c0 = arith.constant 0 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.cmpi {predicate}, %0, %c0 : i32
    scf.if %1 {{
      tt.store %p, %x : f32
    }}
    tt.return
  }}
}}
"""
        [module] = parse_ir(text)
        [function] = read_functions(module)
        comparison = next(o for o in function.walk() if o.name == "arith.cmpi")
        assert comparison.attributes["predicate"] == predicate.strip('"')
        audit_module(module)
