"""Compiles kernels with one thing changed at a time; it runs in the wheel's own Python.

Its arguments are targets, with commas between them, and what is changed; by default all of it.  It
writes a JSON object: target -> kernel -> what was changed -> the kernel's IR, as far as the
compiler has chosen its layouts.
"""

# mypy: ignore-errors
# ruff: noqa: N803 - constants of kernels are written as Triton's tutorials write them

import json
import sys
import warnings

warnings.simplefilter("ignore")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton._C.libtriton import ir  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402


@triton.jit
def multiply(
    a, b, c, K, s, t,
    M: tl.constexpr, N: tl.constexpr, B: tl.constexpr, SWAP: tl.constexpr, TURN: tl.constexpr,
):  # fmt: skip
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, B)
    a_ptrs = a + rows[:, None] * s + inner[None, :]
    b_ptrs = b + inner[:, None] + columns[None, :] * t
    step = 1
    if not TURN:
        b_ptrs = b + inner[:, None] * t + columns[None, :]
        step = t
    total = tl.zeros((N, M), tl.float32) if SWAP else tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        left, right = tl.load(a_ptrs), tl.load(b_ptrs)
        if SWAP:
            total = tl.dot(tl.trans(right), tl.trans(left), total)
        else:
            total = tl.dot(left, right, total)
        a_ptrs += B
        b_ptrs += B * step
    if SWAP:
        total = tl.trans(total)
    tl.store(c + rows[:, None] * t + columns[None, :], total.to(tl.float16))


@triton.jit
def normalize(x, y, s, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    values = tl.load(x + rows[:, None] * s + columns[None, :]).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 1)[:, None])
    shares = powers / tl.sum(powers, 1)[:, None]
    tl.store(y + rows[:, None] + columns[None, :] * s, shares.to(tl.float16))


FUNCTIONS = {"multiply": multiply, "multiply few rows": multiply, "normalize": normalize}
"""Of few rows a multiplication takes the instructions of warps, not of groups of them."""

BASES = {
    "multiply": {"M": 128, "N": 64, "B": 64, "SWAP": 0, "TURN": 0},
    "multiply few rows": {"M": 16, "N": 32, "B": 64, "SWAP": 0, "TURN": 0},
    "normalize": {"M": 32, "N": 128},
}
OF_PRODUCTS = {
    "as it is": {},
    "the order of the operands": {"SWAP": 1},
    "a transposed operand": {"TURN": 1},
    "the element type": {"element": "fp32"},
    "num_stages": {"num_stages": 1},
    "num_warps": {"num_warps": 8},
}
CHANGES = {
    "multiply": {**OF_PRODUCTS, "the block size": {"N": 128, "B": 32}},
    "multiply few rows": {**OF_PRODUCTS, "the block size": {"M": 32, "N": 64, "B": 32}},
    "normalize": {
        "as it is": {},
        "the element type": {"element": "fp32"},
        "num_warps": {"num_warps": 8},
        "the block size": {"M": 16, "N": 16},
    },
}


def chosen(kernel, target, changed):
    """Return the IR of a kernel with something changed."""
    fn = FUNCTIONS[kernel]
    constants = {key: changed.get(key, value) for key, value in BASES[kernel].items()}
    element, signature = changed.get("element", "fp16"), {}
    for name in fn.arg_names:
        kind = "i32" if name in ("K", "s", "t") else f"*{element}"
        signature[name] = "constexpr" if name in constants else kind
    signature["c" if "c" in signature else "y"] = "*fp16"
    attrs = {(n,): [["tt.divisibility", 16]] for n, k in enumerate(signature.values()) if k != "constexpr"}  # fmt: skip  # noqa: E501
    source = ASTSource(fn, signature, constexprs=constants, attrs=attrs)
    backend = make_backend(target)
    options = backend.parse_options(
        {name: changed[name] for name in ("num_warps", "num_stages") if name in changed}
    )
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    metadata = {"hash": "x", "target": target, **options.__dict__}
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, metadata)
    return str(module)


def target_of(name):
    """Return a target by its name."""
    if name.startswith("sm"):
        return GPUTarget("cuda", int(name[2:]), 32)
    return GPUTarget("hip", name, 64 if name.startswith("gfx9") else 32)


targets, *asked = sys.argv[1:]
answer = {
    name: {
        kernel: {
            what: chosen(kernel, target_of(name), changed)
            for what, changed in CHANGES[kernel].items()
            if not changed or not asked or what in asked
        }
        for kernel in FUNCTIONS
    }
    for name in targets.split(",")
}
json.dump(answer, sys.stdout)
