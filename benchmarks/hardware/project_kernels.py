"""Workloads that launch Triton kernels of projects written by others, with inputs of usual sizes.

Needs the Python files of linkedin/Liger-Kernel, fla-org/flash-linear-attention, state-spaces/mamba,
unslothai/unsloth, FlagOpen/FlagGems, BobMcDear/attorch, thu-ml/SageAttention, ModelTC/lightllm,
Dao-AILab/flash-attention, meta-pytorch/applied-ai and bitsandbytes-foundation/bitsandbytes, each
package as a folder of the sources.  Only files with kernels are imported: the packages' own first
files, which ask for a whole installation, are left out.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

Workload = Callable[[], Callable[[], Any]]
"""Makes inputs and gives the function that launches the kernels."""

_WORKLOADS: dict[str, Workload] = {}


def workloads(sources: Path) -> Iterator[tuple[str, Workload]]:
    """Yield the name of each workload, which its project begins, and the workload."""
    sys.path.insert(0, str(sources))
    os.environ["TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"] = "1"  # applied-ai's have annotations only
    _tune_nothing()
    for name, attributes in _packages().items():
        package = types.ModuleType(name)
        package.__path__ = [str(sources / name.replace(".", "/"))]
        package.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        package.__dict__.update(attributes)
        sys.modules[name] = package
        parent, _, last = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], last, package)
    yield from _WORKLOADS.items()


def _tune_nothing() -> None:
    """Let each autotuner have one configuration, the middle one of those with four warps if any."""
    from triton.runtime.autotuner import Autotuner

    begin = Autotuner.__init__

    def begin_with_one(self: Any, *positional: Any, **named: Any) -> None:
        begin(self, *positional, **named)
        usual = [config for config in self.configs if config.num_warps == 4] or self.configs
        self.configs = [usual[len(usual) // 2]]

    Autotuner.__init__ = begin_with_one


def _packages() -> dict[str, dict[str, Any]]:
    """Return the packages whose first files are not run, with what their kernels' files ask for."""
    import triton
    from triton.language.extra import libdevice

    def unchanged(function: Any) -> Any:
        return function

    device = types.SimpleNamespace(name="cuda", vendor_name="nvidia")
    bare = (
        "fla fla.ops fla.ops.gla fla.modules mamba_ssm mamba_ssm.ops mamba_ssm.utils"
        " mamba_ssm.ops.triton unsloth unsloth.kernels flag_gems flag_gems.ops attorch"
        " sageattention sageattention.triton lightllm lightllm.utils lightllm.models"
        " lightllm.models.llama lightllm.models.llama.triton_kernel lightllm.common"
        " lightllm.common.basemodel lightllm.common.basemodel.triton_kernel flash_attn"
        " flash_attn.ops flash_attn.ops.triton bitsandbytes bitsandbytes.backends"
        " bitsandbytes.backends.triton liger_kernel.ops"
    )
    packages: dict[str, dict[str, Any]] = {name: {} for name in bare.split()}
    packages["fla"] = {"__version__": "0"}
    packages["unsloth.device_type"] = {"DEVICE_COUNT": 1, "DEVICE_TYPE": "cuda"}
    packages["unsloth.kernels.utils"] = {
        "calculate_settings": lambda size: (triton.next_power_of_2(size), 8),
        "torch_gpu_device": lambda _: contextlib.nullcontext(),
        "torch_device_stream": lambda _: contextlib.nullcontext(),
        "triton_tanh": libdevice.tanh,
        "triton_cast": triton.language.cast,
        "is_cdna": lambda: False,
    }
    packages["lightllm.utils.device_utils"] = {"is_tesla": lambda: False}
    packages["flag_gems.runtime"] = {
        "torch_device_fn": torch.cuda,
        "device": device,
        "get_tuned_config": lambda _: [triton.Config({}, num_warps=4)],
        "get_heuristic_config": lambda _: {},
    }
    packages["flag_gems.utils.triton_lang_helper"] = {"use_tl_extra": unchanged}
    packages["flag_gems.utils"] = {
        "libentry": lambda: unchanged,
        "get_device_properties": lambda _: torch.cuda.get_device_properties(0),
    }
    return packages


def _workload(function: Workload) -> Workload:
    _WORKLOADS[function.__name__] = function
    return function


def _random(*shape: int, kind: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(kind)


def _trained(function: Callable[..., Any], *inputs: torch.Tensor) -> Callable[[], Any]:
    """Return a function that runs another, and the gradients of its first result."""
    for one in inputs:
        one.requires_grad_()

    def run() -> None:
        result = function(*inputs)
        result = result[0] if isinstance(result, tuple) else result
        result.backward(torch.ones_like(result))

    return run


def _rotated(rotary: Callable[..., Any]) -> Callable[[], Any]:
    """Return a function that turns heads of 128 numbers by angles of their places."""
    x, cosines, sines = _random(4, 4096, 16, 128), _random(4096, 64), _random(4096, 64)
    return lambda: rotary(x, cosines, sines)


def _module(name: str) -> Any:
    return importlib.import_module(name)


@_workload
def liger_cross_entropy() -> Callable[[], Any]:
    forward = _module("liger_kernel.ops.cross_entropy").LigerCrossEntropyFunction
    logits, target = _random(4096, 32000), torch.randint(0, 32000, (4096,), device="cuda")
    return lambda: forward.apply(logits.detach().requires_grad_(), target, None)


@_workload
def liger_rms_norm() -> Callable[[], Any]:
    norm = _module("liger_kernel.ops.rms_norm").LigerRMSNormFunction
    return _trained(
        lambda x, w: norm.apply(x, w, 1e-6, 0.0, "llama", False, None),
        _random(8192, 4096),
        _random(4096),
    )


@_workload
def liger_layer_norm() -> Callable[[], Any]:
    norm = _module("liger_kernel.ops.layer_norm").LigerLayerNormFunction
    return _trained(
        lambda x, w, b: norm.apply(x, w, b, 1e-5),
        _random(8192, 5120),
        _random(5120),
        _random(5120),
    )


@_workload
def liger_geglu() -> Callable[[], Any]:
    geglu = _module("liger_kernel.ops.geglu").LigerGELUMulFunction
    return _trained(geglu.apply, _random(4, 1024, 11008), _random(4, 1024, 11008))


@_workload
def liger_softmax() -> Callable[[], Any]:
    softmax = _module("liger_kernel.ops.softmax").LigerSoftmaxFunction
    return _trained(softmax.apply, _random(4096, 8192, kind=torch.float32))


@_workload
def liger_group_norm() -> Callable[[], Any]:
    norm = _module("liger_kernel.ops.group_norm").LigerGroupNormFunction
    kind = torch.float32
    return _trained(
        lambda x, w, b: norm.apply(x, w, b, 256, 32, 1e-5),
        _random(32, 256, 4096, kind=kind),
        _random(256, kind=kind),
        _random(256, kind=kind),
    )


@_workload
def liger_divergence() -> Callable[[], Any]:
    divergence = _module("liger_kernel.ops.kl_div").LigerKLDivLossFunction
    target = _random(2048, 32000, kind=torch.float32).softmax(-1)
    return _trained(
        lambda x: divergence.apply(x, target, "batchmean", False, 1e-10),
        _random(2048, 32000, kind=torch.float32).log_softmax(-1),
    )


@_workload
def liger_rotary() -> Callable[[], Any]:
    rotary = _module("liger_kernel.ops.rope").LigerRopeFunction
    cosines, sines = _random(1, 4096, 128), _random(1, 4096, 128)
    queries, keys = _random(2, 32, 4096, 128), _random(2, 8, 4096, 128)
    return lambda: rotary.apply(queries, keys, cosines, sines)


@_workload
def fla_gated() -> Callable[[], Any]:
    chunk = _module("fla.ops.gla.chunk").chunk_gla
    shape = (4, 2048, 8, 128)
    return _trained(
        lambda q, k, v, g: chunk(q, k, v, torch.nn.functional.logsigmoid(g)),
        *(_random(*shape) for _ in range(4)),
    )


@_workload
def fla_retention() -> Callable[[], Any]:
    retention = _module("fla.ops.retention.chunk").chunk_retention
    shape = (4, 2048, 8, 128)
    return _trained(lambda q, k, v: retention(q, k, v), *(_random(*shape) for _ in range(3)))


@_workload
def fla_rotary() -> Callable[[], Any]:
    return _rotated(_module("fla.modules.rotary").rotary_embedding)


@_workload
def fla_layer_norm() -> Callable[[], Any]:
    norm = _module("fla.modules.layernorm").layer_norm
    return _trained(norm, _random(32768, 512), _random(512), _random(512))


@_workload
def fla_norm() -> Callable[[], Any]:
    return _trained(_module("fla.modules.l2norm").l2norm, _random(4, 4096, 16, 128))


@_workload
def fla_sums() -> Callable[[], Any]:
    sums = _module("fla.ops.utils.cumsum")
    tensors, scalars = (
        _random(4, 4096, 16, 128, kind=torch.float32),
        _random(4, 4096, 32, kind=torch.float32),
    )
    return lambda: (
        sums.chunk_local_cumsum(tensors, 64),
        sums.chunk_global_cumsum(tensors),
        sums.chunk_local_cumsum(scalars, 64),
    )


@_workload
def mamba_chunks() -> Callable[[], Any]:
    folder = "mamba_ssm.ops.triton."
    state = _module(folder + "ssd_chunk_state")
    products = _module(folder + "ssd_bmm")
    passing = _module(folder + "ssd_state_passing")
    batch, length, heads, width, states, chunk = 2, 4096, 32, 64, 128, 256
    x, steps = _random(batch, length, heads, width), _random(batch, length, heads)
    decay = -torch.rand(heads, device="cuda")
    b, c = _random(batch, length, 1, states), _random(batch, length, 1, states)

    def run() -> None:
        summed, steps_after = state._chunk_cumsum_fwd(steps, decay, chunk, dt_softplus=True)
        made = state._chunk_state_fwd(b, x, steps_after, summed, states_in_fp32=True)
        passing._state_passing_fwd(made.flatten(-2), summed[:, :, :, -1], chunk_size=chunk)
        products._bmm_chunk_fwd(c, b, chunk, output_dtype=torch.float32)

    return run


@_workload
def mamba_update() -> Callable[[], Any]:
    update = _module("mamba_ssm.ops.triton.selective_state_update").selective_state_update
    batch, width, states = 512, 4096, 16
    kind = torch.float32
    state, x, step = (
        _random(batch, width, states, kind=kind),
        *(_random(batch, width) for _ in range(2)),
    )
    decay, b, c = (
        -torch.rand(width, states, device="cuda"),
        *(_random(batch, states) for _ in range(2)),
    )
    d, z, bias = _random(width, kind=kind), _random(batch, width), _random(width, kind=kind)
    return lambda: update(state, x, step, decay, b, c, D=d, z=z, dt_bias=bias, dt_softplus=True)


@_workload
def unsloth_swiglu() -> Callable[[], Any]:
    swiglu = _module("unsloth.kernels.swiglu")
    e, g = _random(4, 2048, 11008), _random(4, 2048, 11008)
    d = _random(8192, 11008)
    flat_e, flat_g = _random(8192, 11008), _random(8192, 11008)
    return lambda: (
        swiglu.swiglu_fg_kernel(e, g),
        swiglu.swiglu_DWf_DW_dfg_kernel(d, flat_e, flat_g),
    )


@_workload
def unsloth_geglu() -> Callable[[], Any]:
    geglu = _module("unsloth.kernels.geglu")
    gate, up = _random(4, 1024, 14336), _random(4, 1024, 14336)
    return lambda: geglu.geglu_exact_forward_kernel(gate, up)


@_workload
def gems_embedding() -> Callable[[], Any]:
    embedding = _module("flag_gems.ops.embedding").embedding
    weights, indices = _random(32000, 1024), torch.randint(0, 32000, (8192,), device="cuda")
    return lambda: embedding(weights, indices)


@_workload
def gems_rms_norm() -> Callable[[], Any]:
    norm = _module("flag_gems.ops.rms_norm").rms_norm
    x, weights = _random(8192, 4096), _random(4096)
    return lambda: norm(x, (4096,), weights)


@_workload
def gems_sums() -> Callable[[], Any]:
    sums = _module("flag_gems.ops.cumsum").cumsum_wrapper
    x = _random(1024, 4096, kind=torch.float32)
    return lambda: sums(x, 1)


@_workload
def attorch_layer_norm() -> Callable[[], Any]:
    norm = _module("attorch.layer_norm_layer").LayerNormAutoGrad
    return _trained(
        lambda x, w, b: norm.apply(x, w, b, 1e-5, False),
        _random(8192, 2048, kind=torch.float16),
        _random(2048, kind=torch.float16),
        _random(2048, kind=torch.float16),
    )


@_workload
def attorch_softmax() -> Callable[[], Any]:
    softmax = _module("attorch.softmax_layers").SoftmaxAutoGrad
    return _trained(
        lambda x: softmax.apply(x, False, False), _random(8192, 2048, kind=torch.float16)
    )


@_workload
def attorch_convolution() -> Callable[[], Any]:
    convolution = _module("attorch.conv_layer").Conv2dAutoGrad
    image, weights = (
        _random(16, 64, 56, 56, kind=torch.float16),
        _random(64, 64, 3, 3, kind=torch.float16),
    )
    return lambda: convolution.apply(image, weights, None, 1, 1, 1, False)


@_workload
def sage_attention() -> Callable[[], Any]:
    forward = _module("sageattention.triton.attn_qk_int8_per_block").forward
    q, k, v = (_random(2, 16, 4096, 128, kind=torch.float16) for _ in range(3))
    q, k = ((one * 10).to(torch.int8) for one in (q, k))
    q_scale = torch.rand(2, 16, 32, device="cuda") / 100
    k_scale = torch.rand(2, 16, 64, device="cuda") / 100
    return lambda: forward(q, k, v, q_scale, k_scale)


@_workload
def sage_quantised() -> Callable[[], Any]:
    import triton

    kernel = _module("sageattention.triton.quant_per_block").quant_per_block_int8_kernel
    x = _random(2, 16, 4096, 128, kind=torch.float16)
    out, scales = torch.empty_like(x, dtype=torch.int8), torch.empty(2, 16, 32, device="cuda")
    strides = x.stride()[:3]
    return lambda: kernel[triton.cdiv(4096, 128), 16, 2](
        x, out, scales, 4096, *strides, *strides, *scales.stride()[:2], sm_scale=1.0, C=128, BLK=128
    )


@_workload
def lightllm_layer() -> Callable[[], Any]:
    folder = "lightllm.models.llama.triton_kernel."
    norm = _module(folder + "rmsnorm").rmsnorm_forward
    rotary = _module(folder + "rotary_emb").rotary_emb_fwd
    silu = _module(folder + "silu_and_mul").silu_and_mul_fwd
    copy = _module("lightllm.common.basemodel.triton_kernel.destindex_copy_kv").destindex_copy_kv
    kind = torch.float16
    x, weights = _random(8192, 4096, kind=kind), _random(4096, kind=kind)
    q, k = _random(8192, 32, 128, kind=kind), _random(8192, 8, 128, kind=kind)
    cosines, sines = _random(8192, 64, kind=kind), _random(8192, 64, kind=kind)
    wide, narrow = _random(4096, 22016, kind=kind), _random(4096, 11008, kind=kind)
    places, cache = torch.randperm(8192, device="cuda"), torch.empty_like(k)
    return lambda: (
        norm(x, weights, 1e-5),
        rotary(q, k, cosines, sines),
        silu(wide, narrow),
        copy(k, places, cache),
    )


@_workload
def lightllm_attention() -> Callable[[], Any]:
    module = _module("lightllm.models.llama.triton_kernel.context_flashattention_nopad")
    kind = torch.float16
    q, k, v = (_random(4 * 2048, heads, 128, kind=kind) for heads in (32, 8, 8))
    out = torch.empty_like(q)
    starts = torch.arange(0, 4 * 2048, 2048, device="cuda", dtype=torch.int32)
    lengths = torch.full((4,), 2048, device="cuda", dtype=torch.int32)
    return lambda: module.context_attention_fwd_no_prompt_cache(q, k, v, out, starts, lengths, 2048)


@_workload
def flash_cross_entropy() -> Callable[[], Any]:
    loss = _module("flash_attn.ops.triton.cross_entropy").CrossEntropyLoss
    logits, target = _random(4096, 32000), torch.randint(0, 32000, (4096,), device="cuda")
    return _trained(lambda x: loss.apply(x, target), logits)


@_workload
def flash_rotary() -> Callable[[], Any]:
    return _rotated(_module("flash_attn.ops.triton.rotary").apply_rotary)


@_workload
def applied_softmax() -> Callable[[], Any]:
    module = _module("softmax")
    softmax = next(
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, torch.autograd.Function)
    )
    return _trained(softmax.apply, _random(4096, 8192))


@_workload
def applied_product() -> Callable[[], Any]:
    product = _module("splitk_gemm_fp8").gemm_split_k
    kind = torch.float8_e4m3fn
    a, b = _random(64, 4096, kind=kind), _random(4096, 4096, kind=kind).T.contiguous().T
    return lambda: product(a, b)


@_workload
def applied_quantised() -> Callable[[], Any]:
    quantise = _module("float8_groupwise_quant").float8_groupwise_quantize
    x = _random(4096, 4096)
    return lambda: quantise(x)


@_workload
def applied_norm() -> Callable[[], Any]:
    norm = _module("fused_rms_norm").fused_rms_norm_fn
    return _trained(norm, _random(8192, 4096), _random(4096))


@_workload
def bytes_quantised() -> Callable[[], Any]:
    eight = _module("bitsandbytes.backends.triton.kernels_8bit_quant")
    four = _module("bitsandbytes.backends.triton.kernels_4bit")
    count = 4096 * 4096
    x, code = _random(count, kind=torch.float32), torch.linspace(-1, 1, 256, device="cuda")
    coded, scales = eight.quantize_blockwise_triton(x, code, 256)
    out = torch.empty_like(x)
    halves, blocks = torch.empty(count // 2, 1, device="cuda", dtype=torch.uint8), count // 64
    maxima = torch.empty(blocks, device="cuda")
    code_of_four = torch.linspace(-1, 1, 16, device="cuda")
    return lambda: (
        eight.quantize_blockwise_triton(x, code, 256),
        eight.dequant_8bit_blockwise(coded, scales, code, 256, out=out),
        four.quantize_4bit_blockwise_triton(x, 64, "nf4", blocks, maxima, count, halves),
        four.dequantize_4bit_impl_passing_code(
            halves, maxima, 64, code_of_four, torch.float32, out
        ),
    )


@_workload
def bytes_updated() -> Callable[[], Any]:
    update = _module("bitsandbytes.backends.triton.kernels_optim").optimizer_update_32bit_impl
    kind = torch.float32
    gradient, weights, first = (_random(4096 * 4096, kind=kind) for _ in range(3))
    second = _random(4096 * 4096, kind=kind).abs()
    rates = {"beta1": 0.9, "beta2": 0.999, "beta3": 0.0, "alpha": 0.0, "eps": 1e-8}
    return lambda: update(
        "adam", gradient, weights, first, second, None, 0.0, 0.0, **rates, weight_decay=0.01,
        step=3, lr=1e-3,
    )  # fmt: skip
