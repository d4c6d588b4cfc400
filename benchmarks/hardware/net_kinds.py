"""Fifty nets for ``nets.py``: blocks of networks as they are written with ``torch.nn``.

``nets`` yields the name of each and what makes it with its inputs; one with ``is_trained`` is run
forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everywhere

Made = tuple[nn.Module, list[Tensor]]
HALF = torch.bfloat16


class Called(nn.Module):
    """A module whose forward pass is a function of its parts and its inputs.

    Args:
        function: called with the module and the inputs.
        parts: modules and parameters by name.
        is_trained: whether it is run backwards, too.
    """

    def __init__(
        self, function: Callable[..., Any], *, is_trained: bool = False, **parts: Any
    ) -> None:
        super().__init__()
        self.function, self.is_trained = function, is_trained
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(self, *inputs)


def _random(*shape: int, kind: torch.dtype = HALF) -> Tensor:
    return torch.randn(*shape).to(kind)


def _numbers(below: int, *shape: int) -> Tensor:
    return torch.randint(0, below, shape)


def _rms(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def _rotary(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return scores.float().softmax(-1).to(v.dtype) @ v


def _attention_net(is_trained: bool, width: int = 1024, length: int = 1024) -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        heads = net.qkv(net.norm(x)).view(batch, tokens, 3, width // 64, 64).permute(2, 0, 3, 1, 4)
        found = _attention(*heads.unbind(0)).transpose(1, 2).reshape(x.shape)
        return x + net.out(found)

    net = Called(
        run, is_trained=is_trained, norm=nn.LayerNorm(width), qkv=nn.Linear(width, 3 * width),
        out=nn.Linear(width, width),
    )  # fmt: skip
    return net.to(HALF), [_random(4, length, width)]


def _feed_forward(activation: Any, width: int, tokens: int, *, is_trained: bool = False) -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        return x + net.down(activation(net.up(net.norm(x))))

    net = Called(
        run, is_trained=is_trained, norm=nn.LayerNorm(width), up=nn.Linear(width, 4 * width),
        down=nn.Linear(4 * width, width),
    )  # fmt: skip
    return net.to(HALF), [_random(tokens, width)]


def _gated(activation: Any, width: int, tokens: int, *, is_trained: bool = False) -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        y = _rms(x, net.weight)
        return x + net.down(activation(net.gate(y)) * net.up(y))

    net = Called(
        run, is_trained=is_trained, weight=nn.Parameter(torch.ones(width)),
        gate=nn.Linear(width, 3 * width, bias=False), up=nn.Linear(width, 3 * width, bias=False),
        down=nn.Linear(3 * width, width, bias=False),
    )  # fmt: skip
    return net.to(HALF), [_random(tokens, width)]


def _decoder_layer() -> Made:
    width, heads = 2048, 16

    def run(net: Any, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        y = _rms(x, net.first)
        q, k, v = (
            part.view(batch, tokens, heads, -1).transpose(1, 2) for part in net.qkv(y).chunk(3, -1)
        )
        q, k = _rotary(q, cosines, sines), _rotary(k, cosines, sines)
        found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + net.out(found.transpose(1, 2).reshape(x.shape))
        y = _rms(x, net.second)
        return x + net.down(F.silu(net.gate(y)) * net.up(y))

    net = Called(
        run, first=nn.Parameter(torch.ones(width)), second=nn.Parameter(torch.ones(width)),
        qkv=nn.Linear(width, 3 * width), out=nn.Linear(width, width),
        gate=nn.Linear(width, 5504), up=nn.Linear(width, 5504), down=nn.Linear(5504, width),
    )  # fmt: skip
    return net.to(HALF), [_random(4, 2048, width), _random(2048, 64), _random(2048, 64)]


def _residual(channels: int, size: int, norm: Any, *, is_trained: bool = False) -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        y = F.relu(net.first_norm(net.first(x)))
        return F.relu(x + net.second_norm(net.second(y)))

    net = Called(
        run, is_trained=is_trained,
        first=nn.Conv2d(channels, channels, 3, padding=1, bias=False), first_norm=norm(channels),
        second=nn.Conv2d(channels, channels, 3, padding=1, bias=False), second_norm=norm(channels),
    )  # fmt: skip
    return net.to(HALF), [_random(32, channels, size, size)]


def _conv_next() -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        y = net.norm(net.spread(x).permute(0, 2, 3, 1))
        return x + (net.scale * net.down(F.gelu(net.up(y)))).permute(0, 3, 1, 2)

    net = Called(
        run, spread=nn.Conv2d(192, 192, 7, padding=3, groups=192), norm=nn.LayerNorm(192),
        up=nn.Linear(192, 768), down=nn.Linear(768, 192), scale=nn.Parameter(torch.ones(192)),
    )  # fmt: skip
    return net.to(HALF), [_random(32, 192, 56, 56)]


def _squeeze() -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        pooled = x.mean((2, 3))
        return x * torch.sigmoid(net.up(F.silu(net.down(pooled))))[:, :, None, None]

    net = Called(run, down=nn.Linear(512, 32), up=nn.Linear(32, 512))
    return net.to(HALF), [_random(64, 512, 28, 28)]


def _mixer() -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        x = x + net.across(net.first(x).transpose(1, 2)).transpose(1, 2)
        return x + net.within(net.second(x))

    net = Called(
        run, first=nn.LayerNorm(512), second=nn.LayerNorm(512),
        across=nn.Sequential(nn.Linear(196, 384), nn.GELU(), nn.Linear(384, 196)),
        within=nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)),
    )  # fmt: skip
    return net.to(HALF), [_random(64, 196, 512)]


def _experts() -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        weights, chosen = net.gate(x).float().softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        spread = torch.zeros(x.shape[0], 8, device=x.device).scatter(1, chosen, weights)
        found = torch.einsum("td,edf->tef", x, net.up)
        return (F.silu(found) * spread[..., None].to(x.dtype)).sum(1)

    net = Called(run, gate=nn.Linear(512, 8), up=nn.Parameter(0.02 * torch.randn(8, 512, 512)))
    return net.to(HALF), [_random(8192, 512)]


def _state_space() -> Made:
    def run(net: Any, x: Tensor) -> Tensor:
        step = F.softplus(net.step(x)).float()
        decay = torch.exp(-torch.cumsum(step, 1))
        return (x * torch.sigmoid(net.gate(x)) * decay.to(x.dtype)).cumsum(1)

    net = Called(run, step=nn.Linear(1024, 1024), gate=nn.Linear(1024, 1024))
    return net.to(HALF), [_random(8, 1024, 1024)]


def _recurrent_cell() -> Made:
    def run(net: Any, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(4):
            i, f, g, o = (net.inputs(x) + net.hidden(h)).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h, c

    net = Called(run, inputs=nn.Linear(1024, 4096), hidden=nn.Linear(1024, 4096))
    return net.to(HALF), [_random(2048, 1024) for _ in range(3)]


def _graph() -> Made:
    nodes, edges = 65536, 1 << 20

    def run(net: Any, x: Tensor, begin: Tensor, end: Tensor) -> Tensor:
        messages = x[begin] * net.weight
        summed = torch.zeros_like(x).index_add(0, end, messages)
        return F.relu(net.out(summed) + x)

    net = Called(run, weight=nn.Parameter(torch.ones(64)), out=nn.Linear(64, 64))
    inputs = [
        _random(nodes, 64, kind=torch.float32),
        _numbers(nodes, edges),
        _numbers(nodes, edges),
    ]
    return net, inputs


def _embedded(is_trained: bool) -> Made:
    def run(net: Any, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return net.norm(net.words(tokens) + net.places(places))

    net = Called(
        run, is_trained=is_trained, words=nn.Embedding(50257, 1024),
        places=nn.Embedding(1024, 1024), norm=nn.LayerNorm(1024),
    )  # fmt: skip
    return net.to(HALF), [_numbers(50257, 16, 1024)]


def _language_loss(is_trained: bool) -> Made:
    def run(net: Any, x: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(net.head(x).float(), labels)

    net = Called(run, is_trained=is_trained, head=nn.Linear(1024, 32000, bias=False))
    return net.to(HALF), [_random(4096, 1024), _numbers(32000, 4096)]


def _pointwise(function: Callable[..., Any], *inputs: Tensor, **parts: Any) -> Made:
    return Called(lambda _, *tensors: function(*tensors), **parts), list(inputs)


def _quantized(x: Tensor) -> tuple[Tensor, Tensor]:
    grouped = x.view(x.shape[0], -1, 128).float()
    scale = grouped.abs().amax(-1, keepdim=True) / 127
    return torch.round(grouped / scale).to(torch.int8), scale


def _diffusion(x: Tensor, noise: Tensor, t: Tensor) -> Tensor:
    kept = torch.cos(t * 1.5708).pow(2)[:, None, None, None]
    return (kept.sqrt() * x.float() + (1 - kept).sqrt() * noise.float()).to(x.dtype)


def _contrast(a: Tensor, b: Tensor) -> Tensor:
    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    scores = 20 * (a @ b.T).float()
    labels = torch.arange(a.shape[0], device=a.device)
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def _siren(net: Any, x: Tensor) -> Tensor:
    for layer in net.layers:
        x = torch.sin(30 * layer(x))
    return net.last(x)


def _adam(w: Tensor, g: Tensor, m: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def _focal(x: Tensor, y: Tensor) -> Tensor:
    p = torch.sigmoid(x.float())
    right = p * y + (1 - p) * (1 - y)
    return -((1 - right).pow(2) * torch.log(right + 1e-6)).mean()


def _boxes(a: Tensor, b: Tensor) -> Tensor:
    low, high = (
        torch.maximum(a[:, None, :2], b[None, :, :2]),
        torch.minimum(a[:, None, 2:], b[None, :, 2:]),
    )
    shared = (high - low).clamp(min=0).prod(-1)
    sizes = [(box[:, 2:] - box[:, :2]).prod(-1) for box in (a, b)]
    return shared / (sizes[0][:, None] + sizes[1][None, :] - shared + 1e-6)


def _blurred(x: Tensor) -> Tensor:
    padded = F.pad(x, (1, 1, 1, 1), mode="reflect")
    return F.avg_pool2d(padded, 3, 1) + 0.5 * (x - x.mean((2, 3), keepdim=True))


def _histogram_like(x: Tensor) -> Tensor:
    edges = torch.linspace(-3, 3, 32, device=x.device)
    return torch.exp(-((x.float()[..., None] - edges) ** 2)).mean(0)


def nets() -> Iterator[tuple[str, Callable[[], Made]]]:
    """Yield each net by name with what makes it and its inputs on the CPU."""
    single = torch.float32
    yield from {
        "attention": lambda: _attention_net(False),
        "attention_trained": lambda: _attention_net(True),
        "long_attention": lambda: _attention_net(False, 512, 2048),
        "feed_forward_gelu": lambda: _feed_forward(F.gelu, 1024, 16384),
        "feed_forward_relu_squared": lambda: _feed_forward(lambda x: F.relu(x).pow(2), 2048, 8192),
        "feed_forward_tanh": lambda: _feed_forward(
            lambda x: F.gelu(x, approximate="tanh"), 768, 16384
        ),
        "feed_forward_trained": lambda: _feed_forward(F.gelu, 1024, 8192, is_trained=True),
        "gated_silu": lambda: _gated(F.silu, 2048, 8192),
        "gated_gelu": lambda: _gated(F.gelu, 1024, 16384),
        "gated_trained": lambda: _gated(F.silu, 1024, 8192, is_trained=True),
        "gated_narrow": lambda: _gated(torch.sigmoid, 256, 65536),
        "decoder_layer": _decoder_layer,
        "residual_batch": lambda: _residual(64, 56, nn.BatchNorm2d),
        "residual_batch_wide": lambda: _residual(256, 28, nn.BatchNorm2d),
        "residual_batch_trained": lambda: _residual(128, 28, nn.BatchNorm2d, is_trained=True),
        "residual_group": lambda: _residual(128, 56, lambda n: nn.GroupNorm(32, n)),
        "residual_group_trained": lambda: _residual(
            128, 28, lambda n: nn.GroupNorm(32, n), is_trained=True
        ),
        "residual_instance": lambda: _residual(64, 64, nn.InstanceNorm2d),
        "conv_next": _conv_next,
        "squeeze": _squeeze,
        "mixer": _mixer,
        "experts": _experts,
        "state_space": _state_space,
        "recurrent_cell": _recurrent_cell,
        "graph": _graph,
        "embedded": lambda: _embedded(False),
        "embedded_trained": lambda: _embedded(True),
        "language_loss": lambda: _language_loss(False),
        "language_loss_trained": lambda: _language_loss(True),
        "quantized": lambda: _pointwise(_quantized, _random(16384, 4096)),
        "diffusion": lambda: _pointwise(
            _diffusion, _random(64, 4, 256, 256), _random(64, 4, 256, 256), torch.rand(64)
        ),
        "contrast": lambda: _pointwise(_contrast, _random(4096, 512), _random(4096, 512)),
        "siren": lambda: (
            Called(
                _siren,
                layers=nn.ModuleList([nn.Linear(256, 256) for _ in range(3)]),
                last=nn.Linear(256, 3),
            ),
            [_random(131072, 256, kind=single)],
        ),
        "adam": lambda: _pointwise(
            _adam, *(_random(1 << 25, kind=single) for _ in range(3)), torch.rand(1 << 25)
        ),
        "focal": lambda: _pointwise(_focal, _random(65536, 91), torch.rand(65536, 91)),
        "boxes": lambda: _pointwise(_boxes, torch.rand(8192, 4), torch.rand(2048, 4)),
        "blurred": lambda: _pointwise(_blurred, _random(32, 3, 512, 512)),
        "soft_histogram": lambda: _pointwise(_histogram_like, _random(256, 16384)),
        "resized": lambda: _pointwise(
            lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), _random(16, 64, 128, 128)
        ),
        "shuffled": lambda: _pointwise(
            lambda x: F.pixel_shuffle(F.relu(x), 2), _random(16, 256, 128, 128)
        ),
        "pooled": lambda: _pointwise(
            lambda x: F.max_pool2d(F.relu(x), 3, 2, 1), _random(32, 64, 224, 224)
        ),
        "transposed": lambda: _pointwise(
            lambda x: x.transpose(1, 2).contiguous() * 2 + 1, _random(64, 1024, 1024)
        ),
        "dropout": lambda: _pointwise(
            lambda x: F.dropout(F.gelu(x), 0.1, training=True), _random(16384, 4096)
        ),
        "softmax_wide": lambda: _pointwise(
            lambda x: x.float().softmax(-1).to(x.dtype), _random(4096, 32768)
        ),
        "softmax_columns": lambda: _pointwise(lambda x: x.float().softmax(0), _random(4096, 8192)),
        "log_sum": lambda: _pointwise(
            lambda x: x.float().logsumexp(-1) + x.float().pow(2).mean(-1), _random(16384, 8192)
        ),
        "variances": lambda: _pointwise(lambda x: x.var((0, 2, 3)), _random(32, 256, 64, 64)),
        "running_sums": lambda: _pointwise(
            lambda x: x.cumsum(-1).exp(), 0.001 * _random(8192, 4096, kind=single)
        ),
        "largest": lambda: _pointwise(lambda x: x.max(-1), _random(16384, 8192)),
        "layer_norm_trained": lambda: (
            Called(
                lambda net, x: net.norm(x * net.scale),
                is_trained=True,
                norm=nn.LayerNorm(4096),
                scale=nn.Parameter(torch.ones(4096)),
            ).to(HALF),
            [_random(8192, 4096)],
        ),
    }.items()
