"""The demand of each elementwise operation, by the types of its elements.

    PYTHONPATH=.:tests:tests/kernels python tests/kernels/test_prices.py

writes the golden anew.  Rates and constants are the fixed ones of `test_models`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spelled import spelled
from test_models import CONSTANTS, TIMING

GOLDEN = Path(__file__).parents[1] / "goldens" / "operations" / "prices.txt"
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")
OF_ONE = ("exp", "exp2", "log", "log2", "rsqrt", "sqrt", "sin", "cos", "tanh", "erf", "absf")
OF_FLOATS = (
    *("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maxnumf"),
    *("tt.precise_divf", "tt.approx_divf"),
)
OF_INTEGERS = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"),
    *("andi", "shli", "maxsi"),
)
CASTS = (
    *(("arith.truncf", wide, narrow) for wide, narrow in (("f32", "f16"), ("f32", "bf16"))),
    *(("arith.extf", narrow, wide) for narrow, wide in (("f16", "f32"), ("bf16", "f32"))),
    *(("arith.extf", "f32", "f64"), ("arith.truncf", "f64", "f32")),
    *(("arith.sitofp", whole, number) for whole in INTEGERS for number in FLOATS),
    *(("arith.uitofp", whole, number) for whole in ("i8", "i32") for number in FLOATS),
    *(("arith.fptosi", number, whole) for number in FLOATS for whole in ("i8", "i32")),
    *(
        ("arith.fptoui", "f32", "i32"),
        ("arith.bitcast", "f32", "i32"),
        ("tt.bitcast", "i32", "f32"),
    ),
    *(("arith.extsi", "i8", "i32"), ("arith.extsi", "i32", "i64"), ("arith.trunci", "i32", "i8")),
    *(("tt.fp_to_fp", "f8E5M2", wide) for wide in ("f16", "bf16", "f32")),
    *(("tt.fp_to_fp", wide, "f8E4M3FN") for wide in ("f16", "bf16", "f32")),
)


def tensor(element: str) -> str:
    return f"tensor<512x{element}, #line>"


def operations() -> Iterator[tuple[str, str, str]]:
    """Yield the type that an operation takes, itself, and the type that it gives."""
    for element in FLOATS:
        for name in OF_ONE:
            yield element, f"math.{name} %{element} : {tensor(element)}", element
        for name in OF_FLOATS:
            yield element, f"{name} %{element}, %{element} : {tensor(element)}", element
        compared = f"arith.cmpf olt, %{element}, %{element} : {tensor(element)}"
        yield element, compared, "i1"
    for element in INTEGERS:
        for name in OF_INTEGERS:
            yield element, f"arith.{name} %{element}, %{element} : {tensor(element)}", element
        yield element, f"arith.cmpi slt, %{element}, %{element} : {tensor(element)}", "i1"
        chosen = f"%{element}, %{element} : {tensor('i1')}, {tensor(element)}"
        yield element, f"arith.select %i1, {chosen}", element
    for name, begin, end in CASTS:
        yield begin, f"{name} %{begin} : {tensor(begin)} to {tensor(end)}", end
    yield "f32", f"math.fma %f32, %f32, %f32 : {tensor('f32')}", "f32"


def dump() -> str:
    """Return a kernel with each of the operations, whose results are stored."""
    types = list(dict.fromkeys(t for begin, _, end in operations() for t in (begin, end)))
    arguments = [f"%{element}: {tensor(element)}" for element in types]
    arguments += [f"%to_{element}: {tensor(f'!tt.ptr<{element}>')}" for element in types]
    lines: list[str] = []
    for at, (_, text, end) in enumerate(operations()):
        lines += [f"%v{at} = {text}", f"tt.store %to_{end}, %v{at} : {tensor(f'!tt.ptr<{end}>')}"]
    # A product that is added once is one instruction with the addition; of two one is left.
    lines += [
        f"%m = arith.mulf %f32, %f32 : {tensor('f32')}",
        f"%n = arith.mulf %f32, %f32 : {tensor('f32')}",
        f"%sum = arith.addf %m, %n : {tensor('f32')}",
        f"tt.store %to_f32, %sum : {tensor('!tt.ptr<f32>')}",
        f"%one = tt.splat %scalar : f32 -> {tensor('f32')}",
        f"%part = arith.divf %f32, %one : {tensor('f32')}",
        f"tt.store %to_f32, %part : {tensor('!tt.ptr<f32>')}",
        f"%near = tt.addptr %to_f32, %i32 : {tensor('!tt.ptr<f32>')}, {tensor('i32')}",
        f"tt.store %near, %sum : {tensor('!tt.ptr<f32>')}",
    ]
    body = "\n".join(f"    {line}" for line in lines)
    return (
        "#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], "
        'order = [0]}>\nmodule attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", '
        '"ttg.threads-per-warp" = 32 : i32} {\n'
        f"  tt.func public @k({', '.join(arguments)}, %scalar: f32) {{\n{body}\n"
        "    tt.return\n  }\n}\n"
    )


def prices() -> str:
    """Return a line for each operation: its name, its types, its demand."""
    import tt_layout
    from tt_layout.audit.time.constants import Constants
    from tt_layout.audit.time.demands import Pricing
    from tt_layout.hardware.timing import Timing

    found = tt_layout.estimate(dump(), grid=(132,))
    rates = found.chip.product
    assert rates is not None
    steps = list(found.program.walk())
    timing, constants = Timing(**TIMING), Constants(**CONSTANTS)
    pricing = Pricing(timing, rates, constants, found.program.warps, steps)
    lines = (
        f"{step.name} {step.input_element} -> {step.element}: {spelled(pricing.of(step))}\n"
        for step in steps
        if step.access is None and step.results
    )
    return "".join(lines)


def test_prices_are_those_of_the_golden() -> None:
    assert prices() == GOLDEN.read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.write_text(prices(), encoding="utf-8")
