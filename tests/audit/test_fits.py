"""Whether kernels fit the shared memory of GPUs, and how deep their rings may be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Run, runner

import tt_layout
from tt_layout.audit.fits import KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.stages import Pipelining, pipelining
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa import read_functions
from tt_layout.reports.fits import fit_text

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(name="run")
def fixture_run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def fit(path: str) -> KernelFit:
    [module] = parse_ir((EXAMPLES / path).read_text(encoding="utf-8"))
    [found] = kernel_fits(AuditedModule(module, SharedWork()))
    return found


@pytest.mark.parametrize(
    ("path", "per_buffer"),
    # 128x32 and 32x64 elements of 2 bytes; the barriers of sm100 stay as many
    [("kernels/matmul-sm90.ttgir", 12288), ("kernels/matmul-sm100.ttgir", 12288)],
)
def test_each_buffer_of_the_rings_takes_as_much(path: str, per_buffer: int) -> None:
    found = fit(path)
    assert found.depth is not None
    assert found.by_depth[found.depth] == found.bytes
    assert found.by_depth[found.depth + 1] - found.bytes == per_buffer
    assert found.by_depth[found.depth + 2] - found.bytes == 2 * per_buffer


def test_the_deepest_ring_is_the_last_that_fits() -> None:
    found = fit("kernels/matmul-sm90.ttgir")
    own = found.gpus[0]
    assert (own.gpu, own.is_own, own.fits) == ("sm90", True, True)
    assert own.depth is not None
    assert found.by_depth[own.depth] <= own.limit < found.by_depth[own.depth + 1]
    assert all(gpu.depth is None and not gpu.is_own for gpu in found.gpus[1:])


def test_other_gpus_have_their_limits() -> None:
    found = fit("kernels/attention-sm100.ttgir")
    by_name = {gpu.gpu: gpu for gpu in found.gpus}
    assert by_name["gfx942"].limit == 65536
    assert by_name["sm120"].limit == 101376
    assert by_name["gfx942"].fits == (found.bytes <= 65536)


def test_the_report(run: Run) -> None:
    path = str(EXAMPLES / "kernels" / "matmul-sm90.ttgir")
    text = run("audit", "--fits", path).out
    assert "@matmul: 36864 bytes of shared memory, rings of 3 buffers at most" in text
    assert "  3 buffers: 36864 bytes (this dump)\n" in text
    data = json.loads(run("audit", "--fits", path, "--format", "json").out)
    [kernel] = data["modules"][0]["kernels"]
    assert (kernel["bytes"], kernel["by_depth"]["4"]) == (36864, 49152)
    assert run("audit", "--fits", "--diff", path).status == 2
    assert run("audit", "--fits", path, path).status == 2


def test_a_kernel_without_rings_has_no_depth(run: Run) -> None:
    path = str(EXAMPLES / "kernels" / "softmax-sm90.ttgir")
    outcome = run("audit", "--fits", path)
    assert outcome.status == 0
    assert "rings" not in outcome.out


def test_one_configuration_of_those_that_differ_in_stages_is_compiled() -> None:
    text = (EXAMPLES / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
    compiled = []

    def compile_one(config: SimpleNamespace, _: object, **others: object) -> str:
        compiled.append((config.num_warps, config.num_stages, others))
        return text

    configs = [
        SimpleNamespace(kwargs={"M": 128}, num_warps=warps, num_stages=stages)
        for warps in (4, 8)
        for stages in (3, 18, 19)
    ]
    kept = tt_layout.autotune_prune(configs, {}, compile=compile_one, grid=(1,))
    assert [(one.num_warps, one.num_stages) for one in kept] == [(4, 3), (4, 18), (8, 3), (8, 18)]
    assert compiled == [(4, 3, {"grid": (1,)}), (8, 3, {"grid": (1,)})]


def test_all_are_kept_where_none_fits() -> None:
    text = (EXAMPLES / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
    text = text.replace("3x128x32xf16", "3x4096x32xf16")
    configs = [SimpleNamespace(kwargs={}, num_warps=4, num_stages=3)]
    assert tt_layout.autotune_prune(configs, {}, compile=lambda *_, **__: text) == configs


def test_a_ring_of_one_buffer_is_a_ring() -> None:
    text = (EXAMPLES / "kernels" / "matmul-sm80.ttgir").read_text(encoding="utf-8")
    text = text.replace("memdesc<2x", "memdesc<1x")
    configs = [SimpleNamespace(kwargs={}, num_warps=4, num_stages=count) for count in (2, 3, 40)]
    kept = tt_layout.autotune_prune(configs, {}, compile=lambda *_, **__: text)
    assert [one.num_stages for one in kept] == [2, 3]


LOOP = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%p: tensor<128x!tt.ptr<i32>, #b>, %x: tensor<64x64xf16>, %n: i32) {
  %0 = arith.constant 0 : i32
  %r = scf.for %i = %0 to %n step %n iter_args(%q = %p) -> (tensor<128x!tt.ptr<i32>, #b>) : i32 {
BODY
    scf.yield %s : tensor<128x!tt.ptr<i32>, #b>
  }
  tt.return
}
"""
POINTERS = "tensor<128x!tt.ptr<i32>, #b>"
NEXT = f"    %v = tt.load %q : {POINTERS}\n    %s = tt.addptr %STEP, %OFFSET : {POINTERS}"


@pytest.mark.parametrize(
    ("step", "offset", "is_indirect"), [("%q", "%c", False), ("%q", "%v", True), ("%p", "%w", True)]
)
def test_loads_at_addresses_that_the_loop_loads_are_named(
    step: str, offset: str, is_indirect: bool
) -> None:
    """The address of the next iteration may be computed from what this one loads."""
    body = "    %w = arith.addi %v, %v : tensor<128xi32, #b>\n" if offset == "%w" else ""
    load, following = NEXT.replace("%STEP", step).replace("%OFFSET", offset).split("\n")
    found = loop(f"{load}\n{body}{following}")
    assert (found.indirect is not None) == is_indirect
    refused = found.refusal(4, 3)
    assert (refused is not None) == is_indirect
    assert bool(found.notes) == is_indirect


@pytest.mark.parametrize(("left", "is_chained"), [("%x", False), ("%d", True)])
def test_chained_dots_of_amd_are_named(left: str, is_chained: bool) -> None:
    dot = "tt.dot LEFT, %x, %x : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf16>"
    first, second = dot.replace("LEFT", "%x"), dot.replace("LEFT", left)
    body = f"    %d = {first}\n    %e = {second}\n    %s = tt.addptr %q, %c : {POINTERS}"
    assert loop(body).chained is None
    found = loop(body, is_amd=True)
    assert (found.chained is not None) == is_chained
    assert (found.refusal(4, 3) is not None) == is_chained
    assert found.refusal(5, 3) is None


def test_rings_that_tdm_fills_have_two_buffers_at_least() -> None:
    copy = "    %t = amdg.async_tdm_copy_global_to_local %x"
    found = loop(f"{copy}\n    %s = tt.addptr %q, %c : {POINTERS}", is_amd=True)
    assert [found.buffers_more(stages, 3) for stages in (2, 3, 4, 5)] == [0, 0, 1, 2]


def loop(body: str, *, is_amd: bool = False) -> Pipelining:
    """Return what the stages of a loop depend on."""
    [module] = parse_ir(LOOP.replace("BODY", body))
    [function] = read_functions(module)
    return pipelining(function, is_amd=is_amd)


def test_where_stages_depend_on_more_each_is_compiled() -> None:
    text = (EXAMPLES / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
    compiled: list[int] = []

    def compile_one(config: SimpleNamespace, *_: object, **__: object) -> str:
        compiled.append(config.num_stages)
        return text

    configs = [SimpleNamespace(kwargs={}, num_warps=4, num_stages=count) for count in (1, 2, 3, 4)]
    tt_layout.autotune_prune(configs, {}, compile=compile_one)
    assert compiled == [1, 2]


def test_the_function_of_triton_is_compiled_without_a_launch() -> None:
    text = (EXAMPLES / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
    metadata = SimpleNamespace(name="matmul", num_warps=4, shared=300_000)
    calls = []

    class Function:
        def run(self, **named: object) -> SimpleNamespace:
            calls.append(named)
            return SimpleNamespace(asm={"ttgir": text}, metadata=metadata)

    def config(stages: int) -> SimpleNamespace:
        options = {"M": 128, "num_stages": stages}
        return SimpleNamespace(num_stages=stages, all_kwargs=lambda: options)

    class Autotuner:
        configs = (config(2), config(3))
        fn = Function()

        def run(self) -> None:
            raise AssertionError("the autotuner itself would begin anew")

    kept = tt_layout.autotune_prune(
        Autotuner.configs, {"x": 7}, compile=Autotuner(), grid=(5,), warmup=False
    )
    assert calls[0] == {"x": 7, "M": 128, "num_stages": 2, "grid": (1,), "warmup": True}
    assert kept == list(Autotuner.configs), "the kernel says that it takes too much: none fits"


def test_the_metadata_beside_a_dump_has_its_stages(run: Run, tmp_path: Path) -> None:
    text = (EXAMPLES / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
    (tmp_path / "matmul.ttgir").write_text(text, encoding="utf-8")
    values = {"name": "matmul", "num_stages": 3, "shared": 36864}
    (tmp_path / "matmul.json").write_text(json.dumps(values), encoding="utf-8")
    lines = run("audit", "--fits", str(tmp_path / "matmul.ttgir")).out.splitlines()
    assert "  4 buffers, num_stages 4: 49152 bytes" in lines
    assert "  1 buffer: 12288 bytes" in lines
    assert "  for other GPUs the compiler chooses other layouts: needed is this dump's" in lines


def test_the_page_says_in_a_line_how_deep_rings_may_be() -> None:
    assert fit_text(fit("kernels/matmul-sm90.ttgir")) == (
        "@matmul: 36864 bytes of shared memory; rings of up to 18 buffers fit sm90"
    )
    found = fit("kernels/matmul-sm90.ttgir")
    gpus = tuple(gpu._replace(fits=gpu.gpu != "sm75") for gpu in found.gpus)
    assert fit_text(replace(found, gpus=gpus)).endswith("; too much for sm75")
