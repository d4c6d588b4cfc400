"""Kernels of several operations that move and multiply matrices, as text, made at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from compiler.generate import split
from compiler.kernels import Body, pointers, tensor
from compiler.test_matrix_instructions import MFMA_TYPES, MMA_TYPES
from compiler.test_tensor_memory import held_by
from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.tensor_memory.access import HALVES, TILES, tensor_memory_access
from tt_layout.analyses.tensor_memory.registers import register_layouts
from tt_layout.notation.functions import encoding_of_layout

SHARED = "#ttg.shared_memory"
TENSOR = "#ttng.tensor_memory"
BARRIER = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
SHARED_BYTES = 200 << 10
COLUMNS = 512


class Kernel:
    """A kernel that grows.

    Attributes:
        r: the source of its choices.
        target: such as ``sm90`` or ``gfx942``.
        warps: of a CTA.
        body: its operations.
        arguments: the types of its arguments, by name.
    """

    def __init__(self, r: Random, target: str, warps: int) -> None:
        self.r, self.target, self.warps = r, target, warps
        self.body = Body()
        self.arguments: dict[str, str] = {}
        self.left = {SHARED: SHARED_BYTES, TENSOR: COLUMNS}

    def argument(self, text: str) -> str:
        """Add an argument; return its name."""
        name = f"%a{len(self.arguments)}"
        self.arguments[name] = text
        return name

    def pointer(self, element: str) -> str:
        """Add an argument that points at elements."""
        return self.argument(f"!tt.ptr<{element}> {{tt.divisibility = 16 : i32}}")

    def constant(self, value: str) -> str:
        """Add a constant."""
        return self.body.add(f"arith.constant {value}")

    def places(self, shape: tuple[int, ...], element: str, layout: str) -> str:
        """Add pointers to the elements of a tensor in global memory."""
        return pointers(self.body, shape, layout, self.pointer(element), element)

    def load(self, shape: tuple[int, ...], element: str, layout: str) -> str:
        """Add a load from global memory."""
        places = self.places(shape, element, layout)
        return self.body.add(f"tt.load {places} : {tensor(shape, f'!tt.ptr<{element}>', layout)}")

    def store(self, value: str, shape: tuple[int, ...], element: str, layout: str) -> None:
        """Add a store to global memory."""
        places = self.places(shape, element, layout)
        kind = tensor(shape, f"!tt.ptr<{element}>", layout)
        self.body.lines.append(f"tt.store {places}, {value} : {kind}")

    def buffer(self, shape: tuple[int, ...], element: str, layout: str) -> tuple[str, str]:
        """Add a buffer in shared memory; return its name and its type."""
        kind = memdesc(shape, element, layout, SHARED)
        return self.body.add(f"ttg.local_alloc : () -> {kind}"), kind

    def looped(self, write: Callable[[str], str], value: str, kind: str) -> str:
        """Add a loop around operations that replace a value, or only the operations.

        Only on NVIDIA: LLVM unrolls such loops for AMD, and repeats the rest of them.
        """
        if self.r.random() < 0.5 or not self.target.startswith("sm"):
            return write(value)
        body, limit = self.body, self.argument("i32")
        low, step = self.constant("0 : i32"), self.constant("1 : i32")
        name, carried = f"%l{len(body.lines)}", f"%c{len(body.lines)}"
        body.lines.append(
            f"{name} = scf.for %i{len(body.lines)} = {low} to {limit} step {step} "
            f"iter_args({carried} = {value}) -> ({kind}) : i32 {{"
        )
        found = write(carried)
        body.lines += [f"scf.yield {found} : {kind}", "}"]
        return name

    def repeated(self, write: Callable[[], None]) -> None:
        """Add a loop around operations, or only the operations."""
        token = self.constant("0 : i32")

        def once(value: str) -> str:
            write()
            return value

        self.looped(once, token, "i32")

    def text(self) -> str:
        """Return the module."""
        is_nvidia = self.target.startswith("sm")
        chip = f"cuda:{self.target[2:]}" if is_nvidia else f"hip:{self.target}"
        numbers = {
            "num-warps": self.warps,
            "num-ctas": 1,
            "threads-per-warp": 64 if self.target.startswith("gfx9") else 32,
        }
        attributes = ", ".join(f'"ttg.{key}" = {count} : i32' for key, count in numbers.items())
        given = ", ".join(f"{name}: {kind}" for name, kind in self.arguments.items())
        lines = "\n    ".join([*self.body.lines, "tt.return"])
        return (
            f'module attributes {{{attributes}, ttg.target = "{chip}"}} {{\n'
            f"  tt.func public @f({given}) {{\n    {lines}\n  }}\n}}\n"
        )


def memdesc(shape: tuple[int, ...], element: str, layout: str, space: str) -> str:
    return f"!ttg.memdesc<{'x'.join(map(str, (*shape, element)))}, {layout}, {space}, mutable>"


def nvmma(width: int, bits: int, *, is_transposed: bool = False) -> str:
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = "
        f"{str(is_transposed).lower()}, elementBitWidth = {bits}}}>"
    )


# -- tensor memory --------------------------------------------------------------------------


def registers_for(r: Random, memory: str, shape: tuple[int, int], bits: int) -> str | None:
    """Return a layout that both a load and a store of tensor memory may have."""
    where = parse_layout(memory).to_linear_layout(shape, element_bits=bits)
    tiles = [*TILES, HALVES]
    for tile in r.sample(tiles, len(tiles)):
        bases = held_by(r, where, tile, 0)
        text = ", ".join(f"{name} = {vectors}" for name, vectors in bases.items())
        found = f"#ttg.linear<{{{text}, block = []}}>"
        try:
            own = parse_layout(found).to_linear_layout(shape)
            for is_store in (False, True):
                tensor_memory_access(own, where, bits, is_store=is_store)
        except LayoutError:
            continue
        return found
    return None


def accumulator(kernel: Kernel) -> bool:
    """Add a multiplication into tensor memory, with what goes before and after it."""
    r, body = kernel.r, kernel.body
    element, bits = r.choice([("f16", 16), ("bf16", 16), ("f8E5M2", 8), ("f32", 32)])
    rows = r.choice([64, 128, 128])
    m, n = rows * r.choice([1, 1, 2]), 16 << r.randint(0, 3)
    k = (256 // bits) << r.randint(0, 2)
    size, columns = (m + n) * k * bits // 8, n * max(1, m // 128)
    if size > kernel.left[SHARED] or columns > kernel.left[TENSOR]:
        return False
    block_n = min(n, 16 << r.randint(0, 3))
    memory = f"#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {block_n}, colStride = 1>"
    held = registers_for(r, memory, (m, n), 32)
    if held is None:
        return False
    kernel.left[SHARED] -= size
    kernel.left[TENSOR] -= columns
    d = memdesc((m, n), "f32", memory, TENSOR)
    width = r.choice([w for w in (32, 64, 128) if 8 * w // bits <= k])
    a, a_type = kernel.buffer((m, k), element, nvmma(width, bits))
    b, b_type = kernel.buffer((k, n), element, nvmma(width, bits, is_transposed=True))
    name = body.add(f"ttng.tmem_alloc : () -> {d}")
    true = kernel.constant("true")
    values = tensor((m, n), "f32", held)
    if r.random() < 0.6:
        begin = kernel.load((m, n), "f32", held)
        body.lines.append(f"ttng.tmem_store {begin}, {name}, {true} : {values} -> {d}")

    def multiply() -> None:
        body.lines.append(
            f"ttng.tc_gen5_mma {a}, {b}, {name}, {true}, {true} : {a_type}, {b_type}, {d}"
        )

    kernel.repeated(multiply)
    for _ in range(r.randint(1, 2)):
        own = registers_for(r, memory, (m, n), 32) or held
        found = body.add(f"ttng.tmem_load {name} : {d} -> {tensor((m, n), 'f32', own)}")
        kernel.store(found, (m, n), "f32", own)
    return True


def copied(kernel: Kernel) -> bool:
    """Add a copy from shared to tensor memory, and a load of it."""
    r, body = kernel.r, kernel.body
    m, n = 128, 32 << r.randint(0, 2)
    if 4 * m * n > kernel.left[SHARED] or n > kernel.left[TENSOR]:
        return False
    memory = f"#ttng.tensor_memory_encoding<blockM = 128, blockN = {n}, colStride = 1>"
    held = registers_for(r, memory, (m, n), 32)
    if held is None:
        return False
    kernel.left[SHARED] -= 4 * m * n
    kernel.left[TENSOR] -= n
    source, kind = kernel.buffer((m, n), "f32", nvmma(r.choice([32, 64, 128]), 32))
    d = memdesc((m, n), "f32", memory, TENSOR)
    name = body.add(f"ttng.tmem_alloc : () -> {d}")
    kernel.repeated(lambda: body.lines.append(f"ttng.tmem_copy {source}, {name} : {kind}, {d}"))
    found = body.add(f"ttng.tmem_load {name} : {d} -> {tensor((m, n), 'f32', held)}")
    kernel.store(found, (m, n), "f32", held)
    return True


def left_operand(kernel: Kernel) -> bool:
    """Add a multiplication whose left operand is in tensor memory, too."""
    r, body = kernel.r, kernel.body
    n, k = 16 << r.randint(0, 3), 32 << r.randint(0, 1)
    size, columns = k * n * 2, n + k // 2
    if size > kernel.left[SHARED] or columns > kernel.left[TENSOR]:
        return False
    layouts = [
        f"#ttng.tensor_memory_encoding<blockM = 128, blockN = {width}, colStride = 1>"
        for width in (n, k)
    ]
    held = registers_for(r, layouts[0], (128, n), 32), registers_for(r, layouts[1], (128, k), 16)
    if held[0] is None or held[1] is None:
        return False
    kernel.left[SHARED] -= size
    kernel.left[TENSOR] -= columns
    d, a = (
        memdesc((128, n), "f32", layouts[0], TENSOR),
        memdesc((128, k), "f16", layouts[1], TENSOR),
    )
    value = kernel.load((128, k), "f16", held[1])
    left = body.add(f"ttng.tmem_alloc {value} : ({tensor((128, k), 'f16', held[1])}) -> {a}")
    b, b_type = kernel.buffer((k, n), "f16", nvmma(64, 16, is_transposed=True))
    name, true = body.add(f"ttng.tmem_alloc : () -> {d}"), kernel.constant("true")
    body.lines.append(f"ttng.tc_gen5_mma {left}, {b}, {name}, {true}, {true} : {a}, {b_type}, {d}")
    found = body.add(f"ttng.tmem_load {name} : {d} -> {tensor((128, n), 'f32', held[0])}")
    kernel.store(found, (128, n), "f32", held[0])
    return True


def scaled(kernel: Kernel) -> bool:
    """Add a multiplication with scales, which come from registers."""
    r, body = kernel.r, kernel.body
    n, k = 32 << r.randint(0, 2), 128
    size, columns = (128 + n) * k, n + 16
    if size > kernel.left[SHARED] or columns > kernel.left[TENSOR]:
        return False
    memory = f"#ttng.tensor_memory_encoding<blockM = 128, blockN = {n}, colStride = 1>"
    held = registers_for(r, memory, (128, n), 32)
    if held is None:
        return False
    kernel.left[SHARED] -= size
    kernel.left[TENSOR] -= columns
    d = memdesc((128, n), "f32", memory, TENSOR)
    a, a_type = kernel.buffer((128, k), "f8E4M3FN", nvmma(128, 8))
    b, b_type = kernel.buffer((k, n), "f8E4M3FN", nvmma(128, 8, is_transposed=True))
    scales = []
    for rows in (128, n):
        shape, layout = (rows, k // 32), "#ttng.tensor_memory_scales_encoding<>"
        where = parse_layout(layout).to_linear_layout(shape)
        choices = register_layouts(where, 8, 4, is_stored_only=True)
        own = str(encoding_of_layout(r.choice(choices).layout))
        kind = memdesc(shape, "i8", layout, TENSOR)
        value = kernel.load(shape, "i8", own)
        name = body.add(f"ttng.tmem_alloc {value} : ({tensor(shape, 'i8', own)}) -> {kind}")
        scales.append((name, kind))
    name, true = body.add(f"ttng.tmem_alloc : () -> {d}"), kernel.constant("true")
    (left, left_type), (right, right_type) = scales
    body.lines.append(
        f"ttng.tc_gen5_mma_scaled {a}, {b}, {name}, {left}, {right}, {true}, {true} lhs = e4m3 "
        f"rhs = e4m3 : {a_type}, {b_type}, {d}, {left_type}, {right_type}"
    )
    found = body.add(f"ttng.tmem_load {name} : {d} -> {tensor((128, n), 'f32', held)}")
    kernel.store(found, (128, n), "f32", held)
    return True


# -- the tensor memory accelerator ----------------------------------------------------------


def fetched(kernel: Kernel) -> bool:
    """Add copies between global and shared memory."""
    r, body = kernel.r, kernel.body
    element, bits = r.choice([("f16", 16), ("f32", 32), ("bf16", 16)])
    shape = (8 << r.randint(0, 4), (1024 // bits) << r.randint(0, 2))
    size = shape[0] * shape[1] * bits // 8
    if size > kernel.left[SHARED]:
        return False
    kernel.left[SHARED] -= size
    layout = nvmma(r.choice([0, 32, 64, 128]), bits)
    descriptor = f"!tt.tensordesc<{'x'.join(map(str, (*shape, element)))}, {layout}>"
    memory, kind = kernel.buffer(shape, element, layout)
    barrier, barrier_type = kernel.buffer((1,), "i64", BARRIER)
    given, zero = kernel.argument(descriptor), kernel.constant("0 : i32")
    true = kernel.constant("true")

    def move() -> None:
        at = f"{given}[{zero}, {zero}]"
        if way == "in":
            body.lines.append(
                f"ttng.async_tma_copy_global_to_local {at} {memory}, {barrier}, {true} : "
                f"{descriptor}, {barrier_type} -> {kind}"
            )
        elif way == "out":
            body.lines.append(
                f"ttng.async_tma_copy_local_to_global {at} {memory} : {descriptor}, {kind}"
            )
        else:
            body.lines.append(f"ttng.async_tma_reduce add, {at} {memory} : {descriptor}, {kind}")

    for _ in range(r.randint(1, 3)):
        way = r.choice(["in", "in", "out", "add"])
        kernel.repeated(move)
    return True


def gathered(kernel: Kernel) -> bool:
    """Add a gather or a scatter of rows."""
    r, body = kernel.r, kernel.body
    rows, columns = 8 << r.randint(0, 3), 64 << r.randint(0, 1)
    if rows * columns * 2 > kernel.left[SHARED]:
        return False
    kernel.left[SHARED] -= rows * columns * 2
    layout = nvmma(r.choice([32, 64, 128]), 16)
    descriptor = f"!tt.tensordesc<1x{columns}xf16, {layout}>"
    memory, kind = kernel.buffer((rows, columns), "f16", layout)
    parent = (
        f"#ttg.blocked<{{sizePerThread = [1, {r.choice([4, 8])}], threadsPerWarp = [32, 1], "
        f"warpsPerCTA = [1, {kernel.warps}], order = [1, 0]}}>"
    )
    own = f"#ttg.slice<{{dim = 0, parent = {parent}}}>"
    indices, zero = kernel.load((rows,), "i32", own), kernel.constant("0 : i32")
    given, index = kernel.argument(descriptor), tensor((rows,), "i32", own)
    if r.random() < 0.5:
        body.lines.append(
            f"ttng.async_tma_scatter {given}[{indices}, {zero}] {memory} : {descriptor}, {index}, "
            f"i32, {kind}"
        )
        return True
    barrier, barrier_type = kernel.buffer((1,), "i64", BARRIER)
    body.lines.append(
        f"ttng.async_tma_gather {given}[{indices}, {zero}] {memory}, {barrier}, "
        f"{kernel.constant('true')} : {descriptor}, {index}, i32, {barrier_type}, {kind}, i1"
    )
    return True


# -- instructions of warps ------------------------------------------------------------------


def warp_group(kernel: Kernel) -> bool:
    """Add a multiplication by groups of four warps."""
    r, body = kernel.r, kernel.body
    element, bits = r.choice([("f16", 16), ("bf16", 16), ("f8E5M2", 8), ("i8", 8)])
    result = "i32" if element == "i8" else "f32"
    m, n, k = 16 * kernel.warps * r.choice([1, 2]), 16 << r.randint(0, 3), 32 << r.randint(0, 2)
    k = max(k, 256 // bits)
    size = (m + n) * k * bits // 8
    if size > kernel.left[SHARED]:
        return False
    kernel.left[SHARED] -= size
    wide = min(n, 16 << r.randint(0, 3))
    mma = (
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = "
        f"[{kernel.warps}, 1], instrShape = [16, {wide}, {256 // bits}]}}>"
    )
    width = r.choice([w for w in (32, 64, 128) if 8 * w // bits <= k])
    b, b_type = kernel.buffer((k, n), element, nvmma(width, bits, is_transposed=True))
    if r.random() < 0.3:
        own = f"#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = {32 // bits}}}>"
        a, a_type = kernel.load((m, k), element, own), tensor((m, k), element, own)
    else:
        a, a_type = kernel.buffer((m, k), element, nvmma(width, bits))
    kind = tensor((m, n), result, mma)

    def multiply(d: str) -> str:
        return body.add(
            f"ttng.warp_group_dot {a}, {b}, {d} {{maxNumImpreciseAcc = 1073741824 : i32}} : "
            f"{a_type} * {b_type} -> {kind}"
        )

    zero = kernel.constant(f"dense<{'0' if result == 'i32' else '0.0'}> : {kind}")
    kernel.store(kernel.looped(multiply, zero, kind), (m, n), result, mma)
    return True


def in_registers(kernel: Kernel, mma: str, types: tuple[str, str, str], width: int) -> None:
    """Add a multiplication of matrices in registers."""
    r, body = kernel.r, kernel.body
    m, n, k = (max(16, size) for size in split(r, 3, r.randint(13, 16)))
    shapes, values, kinds = ((m, k), (k, n)), [], []
    for index, (shape, element) in enumerate(zip(shapes, types)):
        own = f"#ttg.dot_op<{{opIdx = {index}, parent = {mma}, kWidth = {width}}}>"
        values.append(kernel.load(shape, element, own))
        kinds.append(tensor(shape, element, own))
    kind = tensor((m, n), types[2], mma)
    zero = kernel.constant(f"dense<{'0' if types[2].startswith('i') else '0.0'}> : {kind}")
    precision = ", inputPrecision = tf32" * (types[0] == "f32" and kernel.target.startswith("sm"))

    def multiply(d: str) -> str:
        return body.add(
            f"tt.dot {values[0]}, {values[1]}, {d}{precision} : {kinds[0]} * {kinds[1]} -> {kind}"
        )

    kernel.store(kernel.looped(multiply, zero, kind), (m, n), types[2], mma)


def mma_sync(kernel: Kernel) -> bool:
    """Add a multiplication by single warps."""
    r = kernel.r
    types = r.choice([one for one in MMA_TYPES[:5] if one[2] != "f16"])
    mma = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = "
        f"{split(r, 2, kernel.warps.bit_length() - 1)}, instrShape = [16, 8]}}>"
    )
    in_registers(kernel, mma, types, {"f32": 1, "i8": 4}.get(types[0], 2))
    return True


def mfma(kernel: Kernel) -> bool:
    """Add a multiplication by a wavefront of 64."""
    r = kernel.r
    bases, version = MFMA_TYPES[kernel.target]
    element, side = r.choice(list(bases)), r.choice([16, 32])
    mma = (
        f"#ttg.amd_mfma<{{version = {version}, warpsPerCTA = "
        f"{split(r, 2, kernel.warps.bit_length() - 1)}, instrShape = "
        f"[{side}, {side}, {bases[element] * 64 // side}], isTransposed = "
        f"{str(r.random() < 0.5).lower()}}}>"
    )
    types = (element, element, "i32" if element == "i8" else "f32")
    in_registers(kernel, mma, types, bases[element])
    return True


WMMA = {"gfx1100": (1, 16, 16), "gfx1201": (2, 16, 8), "gfx1250": (3, 32, 8)}
"""GPU -> the version of its WMMA, K of an instruction, and of a lane."""


def wmma(kernel: Kernel) -> bool:
    """Add a multiplication by a wavefront of 32."""
    r = kernel.r
    version, k, width = WMMA[kernel.target]
    element = r.choice(["f16", "bf16"])
    bits = kernel.warps.bit_length() - 1
    rows = r.randint(0, bits)
    vectors = [[1 << i, 0] for i in range(rows)] + [[0, 1 << i] for i in range(bits - rows)]
    mma = (
        f"#ttg.amd_wmma<{{version = {version}, isTranspose = {str(r.random() < 0.5).lower()}, "
        f"ctaLayout = {{warp = {vectors}}}, instrShape = [16, 16, {k}]}}>"
    )
    in_registers(kernel, mma, (element, element, "f32"), width)
    return True


PARTS: dict[str, tuple[Callable[[Kernel], bool], ...]] = {
    "sm80": (mma_sync,),
    "sm90": (warp_group, warp_group, fetched, mma_sync),
    "sm100": (accumulator, left_operand, scaled, copied, fetched, gathered, mma_sync),
    "gfx90a": (mfma,),
    "gfx942": (mfma,),
    "gfx950": (mfma,),
    "gfx1100": (wmma,),
    "gfx1201": (wmma,),
    "gfx1250": (wmma,),
}
"""GPU -> the parts that kernels for it are made of."""


def kernels(seed: int) -> Iterator[str]:
    """Yield kernels without end."""
    r = Random(seed)
    while True:
        target = r.choice([*PARTS, *("sm100",) * 3, *("sm90",) * 2])
        kernel = Kernel(r, target, 4 if target in ("sm90", "sm100") else 1 << r.randint(0, 3))
        if sum(r.choice(PARTS[target])(kernel) for _ in range(r.randint(1, 3))):
            yield kernel.text()
