"""What forks write, and what stands where a layout is yet to be chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner
from work import bytes_of

from tt_layout import LayoutError, parse_ir, parse_layout
from tt_layout.audit.audit import Audit, audit_module
from tt_layout.reports.audit import AuditReport

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def audited(text: str) -> Audit:
    [module] = parse_ir(text)
    return audit_module(module)


@pytest.mark.parametrize(
    "text",
    [
        f"#tlx.user_layout<{BLOCKED}>",
        f"#tlx.no_verify_layout<#tlx.user_layout<{BLOCKED}>>",
        f"#tlx<user_layout<{BLOCKED}>>",
    ],
)
def test_wrappers_are_read_as_what_they_wrap(text: str) -> None:
    assert parse_layout(text) == parse_layout(BLOCKED)


def test_wrappers_in_a_dump(run: Run, tmp_path: Path) -> None:
    dump = tmp_path / "dump.mlir"
    dump.write_text(
        f"#b = {BLOCKED}\n#u = #tlx.user_layout<#b>\n"
        "#s = #ttg.slice<{dim = 0, parent = #tlx.no_verify_layout<#ttg.blocked<"
        "{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], "
        "order = [1, 0]}>>}>\n"
        "tt.func @f(%a: tensor<64xf32, #u>, %b: tensor<64xf32, #s>)\n",
        encoding="utf-8",
    )
    kinds = [row.kind for row in audited(dump.read_text(encoding="utf-8")).layouts]
    assert kinds == ["blocked", "slice"]
    assert run("info", f"{dump}:u", "-t", "tensor<64xf32>").status == 0
    assert run("-i", str(dump)).status == 0


def test_placeholders_are_named_and_counted() -> None:
    audit = audited(
        "#d = #tlx.dummy_tmem_layout<>\n"
        "tt.func @f(%a: tensor<64xf32, #gluon.auto_encoding>,\n"
        "  %b: tensor<64xf32, #gluon.auto_encoding>,\n"
        "  %c: tensor<64xf32, #ttg.slice<{dim = 0, parent = #gluon.coalesced_encoding}>>,\n"
        "  %d: tensor<64xf32, #tlx.dummy_register_layout<[64], f32, true>>,\n"
        "  %e: !ttg.memdesc<64x32xf32, #d, #ttng.tensor_memory, mutable>)\n"
    )
    assert not audit.findings
    assert [(row.kind, row.uses) for row in audit.layouts] == [
        ("placeholder", 2),
        ("placeholder", 1),
        ("placeholder", 1),
        ("placeholder", 1),
    ]
    with pytest.raises(LayoutError, match="is a placeholder: a later pass chooses the layout"):
        parse_layout("#gluon.auto_encoding")


def test_a_dialect_that_is_not_known_is_no_fault() -> None:
    audit = audited(
        f"#x = #acme.toy<{{a = 1}}>\n#unused = #acme.toy<[1], 'b'>\n#b = {BLOCKED}\n"
        'module attributes {"ttg.num-warps" = 4 : i32, acme.kind = #acme.kind<1>} {\n'
        "tt.func @f(%a: tensor<256xf16, #x>, %b: tensor<256xf16, #acme.bare>) {\n"
        '  %0 = acme.move %a {acme.k = "v"} : tensor<256xf16, #x> -> tensor<256xf16, #b>\n'
        "  %1 = ttg.convert_layout %a : tensor<256xf16, #x> -> tensor<256xf16, #b>\n"
        "  tt.return\n}\n}\n"
    )
    assert not audit.findings
    assert [(row.layout, row.kind) for row in audit.layouts] == [
        ("#x", "unmapped"),
        ("#acme.bare", "unmapped"),
        ("#b", "blocked"),
    ]
    [conversion] = audit.movements
    assert conversion.cost_unknown == "#x has no linear layout"


def test_a_layout_that_its_compiler_maps_to_nothing_is_no_fault() -> None:
    audit = audited(
        "tt.func @f(%a: tensor<16x16xf16, #ttig.warp<{sizePerThread = [1, 1], "
        "threadsPerWarp = [16, 1], order = [1, 0]}>>)\n"
    )
    assert not audit.findings
    assert [row.kind for row in audit.layouts] == ["unmapped"]


TWO_CTAS = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 8, colStride = 1, twoCTAs = true"


def test_modes_of_two_ctas() -> None:
    rows = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]
    right = parse_layout(f"{TWO_CTAS}, ctaMode = twocta_rhs>").to_linear_layout([64, 8])
    assert right.bases[:2] == [("row", [*rows, [0, 4]]), ("col", [[0, 1], [0, 2]])]
    left = parse_layout(f"{TWO_CTAS}, ctaMode = twocta_lhs>").to_linear_layout([64, 8])
    assert left.bases[:2] == [("row", [*rows, [0, 0]]), ("col", [[0, 1], [0, 2], [0, 4]])]
    with pytest.raises(LayoutError, match="no key 'ctaMode'"):
        parse_layout(f"{TWO_CTAS}, ctaMode = twocta_lhs>", release="3.9")


def test_only_forks_have_two_ctas_without_a_shard() -> None:
    with pytest.raises(LayoutError, match=r"needs \[1, 0\] as the first entry of CGALayout"):
        parse_layout(f"{TWO_CTAS}>")
    dump = "tt.func @f(%a: !ttg.memdesc<64x8xf32, {}>, #ttng.tensor_memory>)"
    assert not audited(dump.format(TWO_CTAS)).findings
    [finding] = audited(dump.format(f"{TWO_CTAS}, CGALayout = [[0, 1]]")).findings
    assert "needs [1, 0] as the first entry" in finding.message


PARTITIONED = (
    "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, "
    "partitionLayout = #ttg.padded_shared<[128:+4] {order = [1, 0], shape = [16, 16]}>}>"
)


def test_partitions_of_a_padded_layout_of_another_shape() -> None:
    """The compiler takes the linear component of the piece as it is, whatever the piece."""
    layout = parse_layout(PARTITIONED)
    whole = layout.to_linear_layout([64, 16])
    assert whole.vectors("partition") == ((16, 0),)
    assert whole.vectors("offset")[-1] == (32, 0)
    part = layout.to_linear_layout([16, 16])
    assert part.vectors("offset")[:8] == whole.vectors("offset")[:8]
    assert part.vectors("partition") == ((0, 0),)
    with pytest.raises(LayoutError, match=r"a piece is \[32, 16\], but .* is for \[16, 16\]"):
        layout.to_linear_layout([128, 16])


def test_descriptors_of_more_dimensions_than_their_buffer() -> None:
    shared = (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32%s}>"
    )
    reducing = shared % ""
    assert not audited(f"tt.func @f(%a: !tt.tensordesc<1x1x32x32xf32, {reducing}>)").findings
    gathered = shared % ", CGALayout = [[1, 0]]"
    assert not audited(f"tt.func @f(%a: !tt.tensordesc<1x128xf32, {gathered}>)").findings


def test_functions_may_have_warps_of_their_own() -> None:
    audit = audited(
        'module attributes {"ttg.num-warps" = 2 : i32} {\n'
        'tt.func @f() attributes {"ttg.num-warps" = 4 : i32} {\n'
        f"  %0 = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, {BLOCKED}>\n"
        "}\n}"
    )
    assert not audit.findings


POINTERS = """
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
tt.func @f(%p: tensor<{size}x!tt.ptr<f32>, #b> {{tt.divisibility = 16 : i32}}) {{
  %0 = tt.{operation} : tensor<{size}x!tt.ptr<f32>, #b>
  tt.return
}}
}}
"""


def test_arguments_that_are_tensors_of_pointers() -> None:
    audit = audited(POINTERS.format(size=256, operation="load %p"))
    [row] = audit.movements
    assert row.cost is not None
    assert row.cost.details.data(1)["unknown"] == ["p"]


def test_accesses_of_more_lanes_than_are_counted() -> None:
    for size in (1 << 23, 1 << 30):
        text = POINTERS.format(size=size, operation="load %p")
        assert bytes_of(lambda text=text: audited(text)) < 50 << 20  # type: ignore[misc]
        [row] = audited(text).movements
        assert row.cost is not None
        assert row.cost.details.data(1)["unknown"] == [
            f"{size} addresses, more than the 4194304 counted"
        ]


SAME = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
tt.func @f(%p: !tt.ptr<f32>, %v: tensor<512xf32, #b>) {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %1 = tt.load %0 : tensor<512x!tt.ptr<f32>, #b>
  tt.store %0, %1 : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}
}
"""


def test_the_way_out_is_that_of_the_operation() -> None:
    by_line = sorted(audited(SAME).findings, key=lambda finding: finding.line)
    load, store = (finding.message for finding in by_line)
    assert load.endswith(
        "have one address; in the program: load them once, and broadcast the result"
    )
    assert store.endswith("have one address; in the program: store one of them")


def test_swizzles_that_differ_between_registers_are_aligned() -> None:
    """As the wheel emits them: one access of four bytes, its elements in another order."""
    tensor = (
        "tensor<8x128x16xf8E5M2, #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = "
        "[2, 4, 4], warpsPerCTA = [1, 4, 1], order = [2, 0, 1]}>>"
    )
    memory = (
        "!ttg.memdesc<8x128x16xf8E5M2, #ttg.swizzled_shared<{vec = 2, perPhase = 2, "
        "maxPhase = 4, order = [2, 0, 1]}>, #ttg.shared_memory, mutable>"
    )
    audit = audited(
        'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {\n'
        f"tt.func @f(%a: {tensor}, %m: {memory}) {{\n"
        f"  ttg.local_store %a, %m : {tensor} -> {memory}\n  tt.return\n}}\n}}"
    )
    [row] = audit.movements
    assert row.cost is not None
    assert "32 x st.shared.b32" in row.cost.text
    assert not any("misaligned" in finding.message for finding in audit.findings)


@pytest.mark.parametrize("text", ["%0 = ttg.convert_layout : ", "ttg.convert_layout %a : "])
def test_conversions_that_lack_an_operand_or_a_result(text: str) -> None:
    audit = audited(
        'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {\n'
        f"tt.func @f(%a: tensor<64xf32, {BLOCKED}>) {{\n  {text} tensor<64xf32, {BLOCKED}> -> "
        f"tensor<64xf32, {BLOCKED}>\n  tt.return\n}}\n}}"
    )
    assert len(audit.movements) == 1


def test_scales_without_dimensions() -> None:
    shared = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = %s, elementBitWidth = 8}>"
    a, b = (
        f"!ttg.memdesc<128x128xf8E4M3FN, {shared % flag}, #ttg.shared_memory>"
        for flag in ("false", "true")
    )
    memory = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>"
    d = f"!ttg.memdesc<128x128xf32, {memory}, #ttng.tensor_memory, mutable>"
    scales = "!ttg.memdesc<i8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory>"
    audit = audited(
        'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {\n'
        f"tt.func @f(%a: {a}, %b: {b}, %d: {d}, %s: {scales}, %p: i1) {{\n"
        "  ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %s, %p, %p lhs = e4m3 rhs = e4m3 : "
        f"{a}, {b}, {d}, {scales}, {scales}\n  tt.return\n}}\n}}"
    )
    [found] = audit.multiplications
    assert found.instruction is None


def test_folders(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "kernel.ttgir").write_text(SAME, encoding="utf-8")
    (tmp_path / "other.mlir").write_text("cuda_tile.module @m {}\n", encoding="utf-8")
    (tmp_path / "empty.mlir").write_text("", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not looked at", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outcome = run("audit", ".")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.count("  sm90  ") == 1
    assert " ".join(outcome.out.split()).endswith(
        "./empty.mlir skipped: the file is empty ./other.mlir skipped: this is CUDA Tile IR: it "
        "has no layouts: give the .ttgir that Triton's own back end makes of the kernel"
    )
    data = json.loads(run("audit", ".", "--format", "json").out)
    assert [one["file"] for one in data["kernels"]] == ["./inner/kernel.ttgir"]
    assert [one["file"] for one in data["passed_over"]] == ["./empty.mlir", "./other.mlir"]


def test_matrix_layouts_tell_the_gpu_of_a_module_that_names_none() -> None:
    audit = audited(
        "#w = #ttg.amd_wmma<{version = 3, isTranspose = false, ctaLayout = {warp = [[1, 0], "
        "[2, 0]]}, instrShape = [16, 16, 32]}>\n"
        "#a = #ttg.dot_op<{opIdx = 0, parent = #w, kWidth = 8}>\n"
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
        'module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {\n'
        "tt.func @f(%m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {\n"
        "  %0 = ttg.local_load %m : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> "
        "tensor<64x64xf16, #a>\n  tt.return\n}\n}\n"
    )
    [row] = audit.movements
    assert row.cost is not None
    assert "ds_load" in row.cost.text


def test_a_scalar_atomic_is_costed_for_the_usual_gpu() -> None:
    audit = audited(
        'module attributes {"ttg.num-warps" = 4 : i32} {\n'
        "tt.func @f(%p: !tt.ptr<i32>, %v: i32) -> i32 {\n"
        "  %0 = tt.atomic_cas acq_rel, gpu, %p, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32\n"
        "  tt.return %0 : i32\n}\n}"
    )
    [row] = audit.movements
    assert (row.cost_unknown, row.cost is None) == (None, False)


def test_lanes_that_only_a_layout_has_are_named() -> None:
    blocked = BLOCKED.replace("[32]", "[8]")
    audit = audited(
        f"#b = {blocked}\nmodule {{\n"
        "tt.func @f(%p: !tt.ptr<i32>, %v: i32, %t: tensor<64xf32, #b>) -> i32 {\n"
        "  %0 = tt.atomic_cas acq_rel, gpu, %p, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32\n"
        "  tt.return %0 : i32\n}\n}"
    )
    [row] = audit.movements
    assert row.cost_unknown == "8 threads per warp"


def test_a_kernel_of_more_shared_memory_than_there_is_reads_nothing_again() -> None:
    shared = "#ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>"
    end = f"{shared}, #ttg.shared_memory, mutable>"
    audit = audited(
        'module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {\n'
        "tt.func @f() {\n  %index = arith.constant 1 : i32\n"
        f"  %0 = ttg.local_alloc : () -> !ttg.memdesc<128x16x32xf32, {end}\n"
        f"  %1 = ttg.memdesc_index %0[%index] : !ttg.memdesc<128x16x32xf32, {end} -> "
        f"!ttg.memdesc<16x32xf32, {end}\n  tt.return\n}}\n}}"
    )
    assert AuditReport("k.ttgir", (audit,)).data()
