"""Functions of CuTe that make matrix instructions, their products, and copies.

Sources:
    CUTLASS, include/cute/atom/{mma,copy}_atom.hpp and python/CuTeDSL, cutlass/cute/nvgpu.
"""

from __future__ import annotations

from collections.abc import Callable

from tt_layout.errors import LayoutError
from tt_layout.notation.cute import algebra, mma
from tt_layout.notation.cute.algebra import Layout
from tt_layout.notation.cute.parameters import Arguments, Value, integer_of, layout_of, tiler_of
from tt_layout.notation.cute.values import Name, ThreadValue, shown

_DSL_TYPES = {
    "Float16": "F16", "BFloat16": "BF16", "Float32": "F32", "TFloat32": "TF32", "Float64": "F64",
    "Float8E4M3FN": "E4M3", "Float8E5M2": "E5M2", "Int8": "S8", "Uint8": "U8", "Int32": "S32",
}  # fmt: skip
"""Element type of the DSL -> its name in those of instructions."""


def thread_value(call: Arguments) -> ThreadValue:
    """Return who holds what: ``make_layout_tv(threads, values)``."""
    threads, values = call.exactly(2)
    return ThreadValue(*algebra.thread_value(layout_of(threads), layout_of(values)))


def tiled_copy(call: Arguments) -> ThreadValue:
    """Return who copies what: ``make_tiled_copy(atom, threads, values)``."""
    _, *layouts = call.exactly(2, 3)
    values = layouts[1] if len(layouts) > 1 else 1
    return ThreadValue(*algebra.thread_value(layout_of(layouts[0]), layout_of(values)))


def cotiled_copy(call: Arguments) -> ThreadValue:
    """Return the copy whose threads and values lead to offsets of a layout of data."""
    _, held, data = call.exactly(3)
    layout = layout_of(data)
    inverse = algebra.left_inverse(layout)
    sizes = tuple(mode.size for mode in layout.modes)
    threads_and_values = algebra.composition(inverse, layout_of(held))
    for index in (0, threads_and_values.size - 1):
        if layout(threads_and_values(index)) != layout_of(held)(index):
            raise LayoutError(f"{held} leads to offsets that {layout} does not have")
    return ThreadValue(sizes, threads_and_values)


def instruction_of(call: Arguments) -> Value:
    """Return the instruction that ``MMA_Atom`` or ``MMA_Traits`` is of."""
    return call.all[0] if call.all else Name("MMA_Atom")


def tiled_product(call: Arguments) -> mma.TiledProduct:
    """Return the tiled product of an instruction, its atoms and a tile."""
    instruction, *rest_of_call = call.exactly(1, 2, 3)
    if not isinstance(instruction, mma.Atom):
        raise LayoutError(f"expected a matrix instruction, got {shown(instruction)}")
    layout = (
        algebra.padded(layout_of(rest_of_call[0]), 3)
        if rest_of_call
        else Layout((1, 1, 1), (0, 0, 0))
    )
    if len(layout.modes) != 3:
        raise LayoutError(f"expected a layout of the atoms along M, N and K, got {layout}")
    tile = rest_of_call[1] if len(rest_of_call) > 1 else ()
    if isinstance(tile, Layout):  # values, as CUTLASS had them before 3.4
        counts = [mode.size for mode in algebra.padded(tile, 3).modes]
        per_mode = zip(instruction.sizes, [mode.size for mode in layout.modes], counts)
        tile = tuple(size * atoms * count for size, atoms, count in per_mode)
    tiler = tiler_of(tile)
    rest = (*tiler, None, None, None)[:3] if isinstance(tiler, tuple) else (tiler, None, None)
    return mma.TiledProduct(instruction, layout, (rest[0], rest[1], rest[2]))


def operation(call: Arguments) -> mma.Atom:
    """Return the instruction that the DSL's ``MmaF16BF16Op(types .., (16, 8, 16))`` is."""
    sizes = next(
        (
            argument
            for argument in call.all
            if isinstance(argument, tuple) and not isinstance(argument, Name)
        ),
        None,
    )
    names = [argument.text.split(".")[-1] for argument in call.all if isinstance(argument, Name)]
    types = [_DSL_TYPES[name] for name in names if name in _DSL_TYPES]
    if sizes is None or len(sizes) != 3 or len(types) < 2:
        raise LayoutError("expected the types of A and B and of C, and the sizes (16, 8, 16)")
    operand, result = types[0], types[-1]
    text = "x".join(str(integer_of(size)) for size in sizes)
    if sizes[0] == 64:
        return mma.atom(f"SM90_{text}_{result}{operand}{operand}_SS")
    return mma.atom(f"SM80_{text}_{result}{operand}{operand}{result}_TN")


def copy_of(operand: str) -> Callable[[Arguments], Value]:
    """Return the function that makes the copy of an operand: ``make_tiled_copy_A(atom, mma)``."""

    def made(call: Arguments) -> ThreadValue:
        product = call.exactly(2)[1]
        if not isinstance(product, mma.TiledProduct):
            raise LayoutError(f"expected a tiled product, got {shown(product)}")
        return product.operand(operand)

    return made
