"""Write random kernels that load and store global memory, and compile them for a GPU.

usage: global_kernels.py OUT COUNT SEED [CAPABILITY]

Needs triton==3.9.0, but no GPU.  OUT receives `kernels.jsonl`, a line per kernel (its TTGIR, its
arguments, the parameters of the binary), and the binaries themselves.  Each kernel has one load
and one store, by addresses computed in different ways, in a loop or not, under masks or not.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "compiler"))
from assembling import assembled

ELEMENTS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8}
WARPS = 4
STEPS = ("remsi", "remui", "minsi", "maxsi", "xori", "divsi", "shrui", "subi", "select")
ACCESS = re.compile(r"\b((?:ld|st)\.global[\w.:]*)")


class Kernel:
    """The text of a kernel while it is written.

    Attributes:
        is_neat: whether most of it suits wide accesses.
        lines: of its body.
        arguments: name -> value; of pointers the address modulo 512.
        types: name -> type and attributes as text.
    """

    def __init__(self, r: Random) -> None:
        self.r = r
        self.is_neat = r.random() < 0.6
        self.lines: list[str] = []
        self.arguments: dict[str, int] = {}
        self.types: dict[str, str] = {}
        self.count = 0

    def emit(self, text: str) -> str:
        """Append an operation; return the name of its result."""
        self.count += 1
        self.lines.append(f"    %{self.count} = {text}")
        return f"%{self.count}"

    def do(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def argument(self, prefix: str, value: int, type_: str = "i32") -> str:
        name = f"{prefix}{len(self.arguments)}"
        self.arguments[name] = value
        is_multiple = value % 16 == 0 and self.r.random() < 0.8
        self.types[name] = type_ + " {tt.divisibility = 16 : i32}" * is_multiple
        return f"%{name}"

    def number(self, value: int) -> str:
        """Return a number as an argument or a constant."""
        if self.r.random() < 0.6:
            return self.argument("n", value)
        return self.emit(f"arith.constant {value} : i32")

    def like(self, scalar: str, type_: str) -> str:
        return self.emit(f"tt.splat {scalar} : i32 -> {type_}")


# -- layouts --------------------------------------------------------------------------------


def powers(r: Random, rank: int, product: int) -> list[int]:
    """Return powers of two with a product."""
    sizes = [1] * rank
    while product > 1:
        sizes[r.randrange(rank)] *= 2
        product //= 2
    return sizes


def blocked(r: Random, rank: int, is_neat: bool) -> str:
    order = r.sample(range(rank), rank)
    if is_neat:
        order.sort(reverse=True)
    per_thread = powers(r, rank, r.choice([2, 4, 8, 16] if is_neat else [1, 1, 2, 4, 8, 16]))
    if is_neat or r.random() < 0.6:
        per_thread = [max(per_thread) if d == order[0] else 1 for d in range(rank)]
    return (
        f"#ttg.blocked<{{sizePerThread = {per_thread}, threadsPerWarp = {powers(r, rank, 32)}, "
        f"warpsPerCTA = {powers(r, rank, WARPS)}, order = {order}}}>"
    )


def linear(r: Random, shape: list[int]) -> str:
    units = [
        [1 << bit if d == dim else 0 for d in range(len(shape))]
        for dim in range(len(shape))
        for bit in range(shape[dim].bit_length() - 1)
    ]
    r.shuffle(units)
    while len(units) < 7 + r.randint(0, 1):
        units.insert(r.randrange(len(units) + 1), [0] * len(shape))
    lanes, warps, registers = units[:5], units[5:7], units[7:]
    return f"#ttg.linear<{{register = {registers}, lane = {lanes}, warp = {warps}, block = []}}>"


def layout(k: Kernel, shape: list[int]) -> str:
    r = k.r
    kinds = ["blocked"] * 7 + ["linear"] * 2 + ["mma"] * (len(shape) == 2 and shape[0] >= 16)
    kind = "blocked" if k.is_neat else r.choice(kinds)
    if kind == "mma":
        warps = r.choice([[2, 2], [4, 1], [1, 4]])
        return (
            "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
            f"warpsPerCTA = {warps}, instrShape = [16, 8]}}>"
        )
    return blocked(r, len(shape), k.is_neat) if kind == "blocked" else linear(r, shape)


def slice_of(dim: int, rank: int) -> str:
    """Return the layout of a vector that is to stand along one of several dimensions."""
    text = "#layout"
    for other in reversed([d for d in range(rank) if d != dim]):
        text = f"#ttg.slice<{{dim = {other}, parent = {text}}}>"
    return text


# -- addresses ------------------------------------------------------------------------------


def vector(k: Kernel, dim: int, shape: list[int], variable: str | None) -> str:
    """Write the coordinates along a dimension, as they are or changed, in its slice layout."""
    r, size = k.r, shape[dim]
    type_ = f"tensor<{size}xi32, {slice_of(dim, len(shape))}>"
    v = k.emit(f"tt.make_range {{end = {size} : i32, start = 0 : i32}} : {type_}")
    if r.random() < 0.3:
        pid = k.emit(f"tt.get_program_id {'xy'[dim % 2]} : i32")
        block = k.emit(f"arith.constant {size} : i32")
        first = k.like(k.emit(f"arith.muli {pid}, {block} : i32"), type_)
        v = k.emit(f"arith.addi {first}, {v} : {type_}")
    if variable is not None:
        v = k.emit(f"arith.addi {v}, {k.like(variable, type_)} : {type_}")
    for _ in range(r.choice([0, 0, 0, 1, 2]) if not k.is_neat or dim == 0 < len(shape) - 1 else 0):
        v = changed(k, v, type_, size)
    return v


def changed(k: Kernel, v: str, type_: str, size: int) -> str:
    """Write one step of arithmetic on coordinates."""
    r = k.r
    kind = r.choice(
        ["remsi", "remui", "minsi", "maxsi", "xori", "divsi", "shrui", "subi", "select"]
    )
    some = r.choice([size, size // 2 or 1, size - 1 or 1, r.randint(1, 2 * size)])
    if kind in ("shrui", "divsi"):
        some = r.choice([1, 2, 4, 3]) if kind == "divsi" else r.choice([1, 2])
    number = k.like(k.number(some), type_)
    if kind == "subi":
        return k.emit(f"arith.subi {number}, {v} : {type_}")
    if kind == "select":
        truth = type_.replace("i32", "i1", 1)
        condition = k.emit(f"arith.cmpi slt, {v}, {number} : {type_}")
        other = k.like(k.number(0), type_)
        return k.emit(f"arith.select {condition}, {v}, {other} : {truth}, {type_}")
    return k.emit(f"arith.{kind} {v}, {number} : {type_}")


def spread(k: Kernel, v: str, dim: int, shape: list[int], element: str) -> str:
    """Write a vector along a dimension as a tensor of the whole shape."""
    rank = len(shape)
    others = [d for d in range(rank) if d != dim]
    sizes = [shape[dim]]
    for number, axis in enumerate(others):
        here = slice_text(others[number:])
        after = slice_text(others[number + 1 :])
        wider = [*sizes[:axis], 1, *sizes[axis:]]
        v = k.emit(
            f"tt.expand_dims {v} {{axis = {axis} : i32}} : {tensor(sizes, element, here)} -> "
            f"{tensor(wider, element, after)}"
        )
        sizes = wider
    if sizes == shape:
        return v
    source, target = tensor(sizes, element, "#layout"), tensor(shape, element, "#layout")
    return k.emit(f"tt.broadcast {v} : {source} -> {target}")


def slice_text(dims: list[int]) -> str:
    text = "#layout"
    for dim in reversed(dims):
        text = f"#ttg.slice<{{dim = {dim}, parent = {text}}}>"
    return text


def tensor(shape: list[int], element: str, encoding: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}, {encoding}>"


def offsets(k: Kernel, vectors: list[str], shape: list[int]) -> str:
    """Write the sum of coordinates times strides."""
    r, type_ = k.r, tensor(shape, "i32", "#layout")
    order = list(range(len(shape)))
    if r.random() < 0.3 and not k.is_neat:
        r.shuffle(order)
    stride, total = 1, None
    for dim in reversed(order):
        part = spread(k, vectors[dim], dim, shape, "i32")
        if stride != 1 or (r.random() < 0.2 and not k.is_neat):
            others = [stride + 16] if k.is_neat else [stride + 1, stride + 4, 0, 3, 2 * stride]
            step = r.choice([stride, stride, *others])
            part = k.emit(f"arith.muli {part}, {k.like(k.number(step), type_)} : {type_}")
        total = part if total is None else k.emit(f"arith.addi {total}, {part} : {type_}")
        stride *= shape[dim]
    assert total is not None
    if r.random() < 0.4:
        bases = [0, 16, 64] if k.is_neat else [0, 1, 2, 4, 8, 16, 31, 64, 100]
        base = k.like(k.number(r.choice(bases)), type_)
        total = k.emit(f"arith.addi {total}, {base} : {type_}")
    return total


def mask(k: Kernel, vectors: list[str], shape: list[int]) -> str | None:
    """Write a mask of some dimensions, or none."""
    r = k.r
    dims = [d for d in range(len(shape)) if r.random() < r.choice([0, 0.6])]
    if k.is_neat and len(shape) > 1 and r.random() < 0.7:
        dims = [d for d in dims if d < len(shape) - 1]
    found = None
    truth = tensor(shape, "i1", "#layout")
    for dim in dims:
        size = shape[dim]
        type_ = f"tensor<{size}xi32, {slice_of(dim, len(shape))}>"
        bound = r.choice([size, size - 1, size // 2, r.randint(0, size), 16 * (size // 16)])
        number = k.like(k.number(bound), type_)
        predicate = r.choice(["slt", "slt", "slt", "ult", "sge", "ne"])
        part = k.emit(f"arith.cmpi {predicate}, {vectors[dim]}, {number} : {type_}")
        part = spread(k, part, dim, shape, "i1")
        if found is None:
            found = part
        else:
            found = k.emit(f"arith.{r.choice(['andi', 'andi', 'ori'])} {found}, {part} : {truth}")
    return found


def pointers(k: Kernel, base: str, offset: str, shape: list[int], element: str) -> str:
    """Write the pointers at offsets, which may be widened first."""
    pointer = f"!tt.ptr<{element}>"
    types = tensor(shape, pointer, "#layout")
    index = "i32"
    if k.r.random() < 0.2:
        index = "i64"
        narrow, wide = (tensor(shape, i, "#layout") for i in ("i32", "i64"))
        offset = k.emit(f"arith.extsi {offset} : {narrow} to {wide}")
    splat = k.emit(f"tt.splat {base} : {pointer} -> {types}")
    return k.emit(f"tt.addptr {splat}, {offset} : {types}, {tensor(shape, index, '#layout')}")


# -- kernels --------------------------------------------------------------------------------


def load_line(pointer: str, condition: str | None, types: str) -> str:
    return f"tt.load {pointer}{f', {condition}' if condition else ''} : {types}"


def looped(k: Kernel, x: str, shape: list[int], element: str) -> str:
    """Write a loop that adds up what it loads; the pointers advance, or are computed anew."""
    r = k.r
    values = tensor(shape, element, "#layout")
    types = tensor(shape, f"!tt.ptr<{element}>", "#layout")
    step = r.choice([1, 2, shape[-1]])
    count = r.randint(0, 5)
    bounds = [k.number(v) for v in (0, step * count - r.randrange(step) if count else 0, step)]
    zero = k.emit(f"arith.constant dense<0> : {values}")
    advances = r.random() < 0.5
    if advances:
        vectors = [vector(k, d, shape, None) for d in range(len(shape))]
        first = pointers(k, x, offsets(k, vectors, shape), shape, element)
        condition = mask(k, vectors, shape)
        by = k.like(k.number(r.choice([1, step, 16, 128])), tensor(shape, "i32", "#layout"))
        k.count += 1
        result = f"%{k.count}"
        k.do(
            f"{result}:2 = scf.for %i = {bounds[0]} to {bounds[1]} step {bounds[2]} "
            f"iter_args(%sum = {zero}, %at = {first}) -> ({values}, {types})  : i32 {{"
        )
        loaded = k.emit(load_line("%at", condition, types))
        total = k.emit(f"arith.addi %sum, {loaded} : {values}")
        after = k.emit(f"tt.addptr %at, {by} : {types}, {tensor(shape, 'i32', '#layout')}")
        k.do(f"scf.yield {total}, {after} : {values}, {types}")
        k.do("}")
        return f"{result}#0"
    k.count += 1
    result = f"%{k.count}"
    k.do(
        f"{result} = scf.for %i = {bounds[0]} to {bounds[1]} step {bounds[2]} "
        f"iter_args(%sum = {zero}) -> ({values})  : i32 {{"
    )
    along = r.randrange(len(shape))
    vectors = [vector(k, d, shape, "%i" if d == along else None) for d in range(len(shape))]
    pointer = pointers(k, x, offsets(k, vectors, shape), shape, element)
    loaded = k.emit(load_line(pointer, mask(k, vectors, shape), types))
    k.do(f"scf.yield {k.emit(f'arith.addi %sum, {loaded} : {values}')} : {values}")
    k.do("}")
    return result


def kernel(r: Random, capability: int) -> dict[str, Any]:
    """Return a kernel's text and arguments."""
    k = Kernel(r)
    rank = r.choice([1, 2, 2, 2, 2, 3])
    shape = powers(r, rank, 1 << r.randint(7, 12))
    element = r.choice(list(ELEMENTS))
    size = ELEMENTS[element]
    base = r.choice([0, 0, 0, 0, 16, 32, 64, 128, size, 3 * size])
    x = k.argument("x", base, f"!tt.ptr<{element}>")
    y = k.argument("y", r.choice([0, base]), f"!tt.ptr<{element}>")
    types = tensor(shape, f"!tt.ptr<{element}>", "#layout")
    if r.random() < 0.4:
        value = looped(k, x, shape, element)
    else:
        vectors = [vector(k, d, shape, None) for d in range(rank)]
        pointer = pointers(k, x, offsets(k, vectors, shape), shape, element)
        value = k.emit(load_line(pointer, mask(k, vectors, shape), types))
    vectors = [vector(k, d, shape, None) for d in range(rank)]
    pointer = pointers(k, y, offsets(k, vectors, shape), shape, element)
    condition = mask(k, vectors, shape)
    k.do(f"tt.store {pointer}, {value}{f', {condition}' if condition else ''} : {types}")
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in k.types.items())
    body = "\n".join(k.lines)
    ttgir = f"""#layout = {layout(k, shape)}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {WARPS} : i32, \
ttg.target = "cuda:{capability}", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @probe({parameters}) attributes {{noinline = false}} {{
{body}
    tt.return
  }}
}}
"""
    grid = r.choice([[1, 1], [1, 1], [1, 1], [2, 1], [2, 3]])
    return {"ttgir": ttgir, "args": k.arguments, "grid": grid}


# -- compiling ------------------------------------------------------------------------------


def parameters_of(ptx: str) -> list[int]:
    """Return the bytes of each parameter of the entry."""
    found = []
    head = ptx[ptx.index(".entry") : ptx.index("{", ptx.index(".entry"))]
    for bits in re.findall(r"\.param \.[a-z](\d+)", head):
        found.append(int(bits) // 8)
    return found


def compiled(case: dict[str, Any], binary: Path) -> dict[str, Any]:
    """Return the case with what launching it takes; the binary is written."""
    outputs, metadata = assembled(case["ttgir"], "cubin")
    ptx = outputs["ptx"]
    binary.write_bytes(outputs["cubin"])
    return {
        **case,
        "binary": binary.name,
        "entry": metadata["name"],
        "threads": 32 * WARPS,
        "shared": metadata["shared"],
        "parameters": parameters_of(ptx),
        "ptx": dict(Counter(ACCESS.findall(ptx))),
    }


def in_child(case: dict[str, Any], binary: Path) -> dict[str, Any] | None:
    """Compile in a process of its own: the compiler aborts on some texts."""
    with tempfile.NamedTemporaryFile("r") as result:
        child = os.fork()
        if child == 0:
            try:
                text = json.dumps(compiled(case, binary))
            except BaseException as error:
                text = json.dumps({"error": f"{type(error).__name__}: {error}"[-200:]})
            Path(result.name).write_text(text)
            os._exit(0)
        os.waitpid(child, 0)
        row = json.loads(result.read() or '{"error": "died"}')
    if "error" in row:
        print(row["error"], file=sys.stderr)
        return None
    return row


def main(out: str, count: str, seed: str, capability: str = "90") -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    r = Random(int(seed))
    done = 0
    with open(folder / "kernels.jsonl", "w") as file:
        while done < int(count):
            row = in_child(kernel(r, int(capability)), folder / f"{done:04}.cubin")
            if row is not None:
                file.write(json.dumps(row) + "\n")
                done += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
