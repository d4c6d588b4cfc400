"""Kernels of several operations that move tensors between threads, as text, made at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from compiler.generate import split
from compiler.instruction_kernels import SHARED, Kernel, memdesc
from compiler.kernels import tensor
from compiler.shared_variants import BITS, BUFFERS, REGISTERS, TARGETS, linear
from tt_layout import LayoutError, parse_layout

SHAPES = ([64, 64], [32, 64], [64, 32], [128, 32], [32, 128], [16, 64])
ELEMENTS = ("f16", "f16", "i8", "f32", "f32", "i64")
COMBINERS = {
    "i8": ("addi", "maxsi"),
    "i64": ("addi", "minui"),
    "f16": ("addf", "maxnumf"),
    "f32": ("addf", "maxnumf"),
}


def registers(kernel: Kernel, shape: Sequence[int], element: str) -> str:
    """Return a layout of a tensor in registers, for the warps of the kernel."""
    while True:
        make = kernel.r.choice(REGISTERS)
        if make is linear and list(shape) != [64, 64]:
            continue
        warps = split(kernel.r, 2, kernel.warps.bit_length() - 1)
        attr = make(kernel.r, element, kernel.target, warps)
        try:
            layout = parse_layout(attr).to_linear_layout(shape, element_bits=BITS[element])
        except LayoutError:
            continue
        if layout.get_in_dim_size("warp") == kernel.warps:
            return attr


def blocked(kernel: Kernel, shape: Sequence[int]) -> str:
    """Return a blocked layout of any rank."""
    lanes = 6 if kernel.target.startswith("gfx9") else 5
    rank, r = len(shape), kernel.r
    sizes = {
        "sizePerThread": split(r, rank, r.randint(0, 3)),
        "threadsPerWarp": split(r, rank, lanes),
        "warpsPerCTA": split(r, rank, kernel.warps.bit_length() - 1),
        "order": r.sample(range(rank), rank),
    }
    return f"#ttg.blocked<{{{', '.join(f'{key} = {value}' for key, value in sizes.items())}}}>"


def drawn(kernel: Kernel) -> tuple[tuple[int, ...], str]:
    """Return the sizes of a tensor, and its element type."""
    return tuple(kernel.r.choice(SHAPES)), kernel.r.choice(ELEMENTS)


def through(kernel: Kernel) -> bool:
    """Add a store to shared memory and a load by other threads."""
    shape, element = drawn(kernel)
    memory = kernel.r.choice(BUFFERS[kernel.target[:2]])(kernel.r, shape, element)
    stored, loaded = (registers(kernel, shape, element) for _ in range(2))
    size = shape[0] * shape[1] * BITS[element] // 8
    if size > kernel.left[SHARED]:
        return False
    kernel.left[SHARED] -= size
    value, kind = kernel.load(shape, element, stored), memdesc(shape, element, memory, SHARED)
    own = tensor(shape, element, stored)
    if kernel.r.random() < 0.5:
        place = kernel.body.add(f"ttg.local_alloc {value} : ({own}) -> {kind}")
    else:
        place = kernel.body.add(f"ttg.local_alloc : () -> {kind}")
        kernel.body.lines.append(f"ttg.local_store {value}, {place} : {own} -> {kind}")
    found = kernel.body.add(f"ttg.local_load {place} : {kind} -> {tensor(shape, element, loaded)}")
    kernel.store(found, shape, element, loaded)
    return True


def converted(kernel: Kernel) -> bool:
    """Add a conversion."""
    shape, element = drawn(kernel)
    before, after = (registers(kernel, shape, element) for _ in range(2))
    value = kernel.load(shape, element, before)
    types = (tensor(shape, element, attr) for attr in (before, after))
    found = kernel.body.add(f"ttg.convert_layout {value} : {' -> '.join(types)}")
    kernel.store(found, shape, element, after)
    return True


def combined(kernel: Kernel) -> bool:
    """Add a reduction, or a scan."""
    r, (shape, element) = kernel.r, drawn(kernel)
    name, axis = r.choice(["reduce", "reduce", "scan"]), r.randint(0, 1)
    layout = blocked(kernel, shape) if name == "scan" else registers(kernel, shape, element)
    value, own = kernel.load(shape, element, layout), tensor(shape, element, layout)
    left, result = shape, layout
    attributes = f"axis = {axis} : i32"
    if name == "reduce":
        left, result = (
            shape[:axis] + shape[axis + 1 :],
            f"#ttg.slice<{{dim = {axis}, parent = {layout}}}>",
        )
    else:
        attributes += f", reverse = {str(r.random() < 0.3).lower()}"
    combiner = r.choice(COMBINERS[element])
    found = kernel.body.add(
        f'"tt.{name}"({value}) <{{{attributes}}}> ({{\n'
        f"    ^bb0(%x: {element}, %y: {element}):\n"
        f"      %z = arith.{combiner} %x, %y : {element}\n"
        f"      tt.{name}.return %z : {element}\n"
        f"    }}) : ({own}) -> {tensor(left, element, result)}"
    )
    kernel.store(found, left, element, result)
    return True


def gathered(kernel: Kernel) -> bool:
    """Add a gather."""
    shape, element = drawn(kernel)
    axis, layouts = kernel.r.randint(0, 1), [blocked(kernel, shape) for _ in range(2)]
    value, at = kernel.load(shape, element, layouts[0]), kernel.load(shape, "i32", layouts[1])
    source, found = (tensor(shape, element, layout) for layout in layouts)
    indices = tensor(shape, "i32", layouts[1])
    made = kernel.body.add(
        f"tt.gather {value}[{at}] {{axis = {axis} : i32}} : ({source}, {indices}) -> {found}"
    )
    kernel.store(made, shape, element, layouts[1])
    return True


def counted(kernel: Kernel) -> bool:
    """Add a histogram."""
    shape, bins = (kernel.r.choice([256, 1024]),), (kernel.r.choice([64, 256]),)
    layout = blocked(kernel, shape)
    value = kernel.load(shape, "i32", layout)
    source, found = (tensor(sizes, "i32", layout) for sizes in (shape, bins))
    kernel.store(
        kernel.body.add(f"tt.histogram {value} : {source} -> {found}"), bins, "i32", layout
    )
    return True


def changed(kernel: Kernel) -> bool:
    """Add an atomic addition whose result is stored."""
    shape, element = tuple(kernel.r.choice(SHAPES)), kernel.r.choice(["f32", "i64"])
    layout = blocked(kernel, shape)
    value, own = kernel.load(shape, element, layout), tensor(shape, element, layout)
    places = kernel.places(shape, element, layout)
    kind = tensor(shape, f"!tt.ptr<{element}>", layout)
    name = "fadd" if element == "f32" else "add"
    found = kernel.body.add(
        f"tt.atomic_rmw {name}, acq_rel, gpu, {places}, {value} : ({kind}, {own}) -> {own}"
    )
    kernel.store(found, shape, element, layout)
    return True


PARTS: Sequence[Callable[[Kernel], bool]] = (
    *(through, through, through),
    *(converted, converted, converted),
    *(combined, combined, gathered, counted, changed),
)


def exchange_kernels(seed: int) -> Iterator[str]:
    """Yield kernels without end, the targets in turn."""
    r = Random(seed)
    while True:
        for target in TARGETS:
            kernel = Kernel(r, target, 1 << r.randint(0, 2))
            if sum(r.choice(PARTS)(kernel) for _ in range(r.randint(1, 3))):
                yield kernel.text()
