"""Whether kernels fit the shared memory of GPUs, and how deep their rings may be."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Run, runner

import tt_layout
from tt_layout.audit.fits import KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.ir import parse_ir

EXAMPLES = Path(__file__).parent.parent / "examples"


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
