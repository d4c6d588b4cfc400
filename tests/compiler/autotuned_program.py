"""Prunes a kernel's configurations in Triton's own autotuner, by warm-up compiles without a GPU.

It runs in the wheel's own Python, with tt_layout and what it needs on the path.
"""

# mypy: ignore-errors

import json
import sys
import warnings

warnings.simplefilter("ignore")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.runtime import driver  # noqa: E402

import tt_layout  # noqa: E402

triton.runtime.cache.triton_key = lambda: ""  # the cache is new: hash no 0.4 GB for its names
compiled = {}
tried = []
found = {}


class Driver:
    """A driver of two GPUs that are not there."""

    device = 0

    def get_current_target(self):
        return GPUTarget("cuda", (86, 90)[self.device], 32)

    def get_current_device(self):
        return self.device

    def get_current_stream(self, device):
        return 0

    def get_benchmarker(self):
        return lambda call, quantiles: (tried.append(1), call(), [1.0] * 3)[-1]


driver.set_active(Driver())


def listener(metadata, **others):
    compiled[metadata["num_stages"]] = metadata["shared"]


triton.knobs.compilation.listener = listener


def prune(configs, named_args, **others):
    kept = tt_layout.autotune_prune(configs, named_args, compile=matmul, **others)
    found["kept"] = [config.num_stages for config in kept]
    found["compiled_to_prune"] = list(compiled)
    return kept


CONFIGS = [
    triton.Config({"N": 32, "B": 128}, num_warps=8, num_stages=stages) for stages in (3, 7, 8, 9)
]


@triton.autotune(CONFIGS, key=["K"], prune_configs_by={"early_config_prune": prune})
@triton.jit
def matmul(a, b, c, K, N: tl.constexpr, B: tl.constexpr):  # noqa: N803
    rows, columns, inner = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :], tl.arange(0, B)
    total = tl.zeros((N, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows * K + k + inner[None, :])
        right = tl.load(b + (k + inner[:, None]) * N + columns)
        total = tl.dot(left, right, total)
    tl.store(c + rows * N + columns, total)


class Tensor:
    """A tensor of which only the type is needed."""

    dtype = "fp16"

    @staticmethod
    def data_ptr():
        return 0


matmul.run(Tensor(), Tensor(), Tensor(), 512, grid=(1,), warmup=True)
found |= {"tried": len(tried), "compiled": dict(compiled)}

model = tt_layout.perf_model(matmul, (1,), gpu="h100")
fastest = model.pruning(top_k=2)
Driver.device = 1
tried.clear()
compiled.clear()
tuned = triton.autotune(CONFIGS, ["K"], prune_configs_by=fastest)(matmul.fn)
tuned.run(Tensor(), Tensor(), Tensor(), 512, grid=(1,), warmup=True)
found["fastest"] = {"tried": len(tried), "compiled": len(compiled)}
alone = tt_layout.perf_model(matmul, (1,), gpu="h100")
named = {"a": Tensor(), "b": Tensor(), "c": Tensor(), "K": 512}
times = [[one(**named, **config.all_kwargs()) for config in CONFIGS] for one in (model, alone)]
found["alike"] = times[0] == times[1] and max(times[0]) < 1000
sys.stdout.write(json.dumps(found))
