"""Evaluation of numbers and addresses: one table from operation to function.

An operation that is not in the table (loads, products of matrices, inline assembly) has an unknown
result.  An array has the shape of its tensor.  What the compiler leaves to the layouts (`tt.cat`, a
reshape that may reorder) is done as its lowering does it: registers stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from tt_layout.algebra.arrays import Ints, all_values
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.sectors import flat_bases
from tt_layout.audit.values import floats
from tt_layout.audit.values.arithmetic import (
    BINARY,
    CASTS,
    MAY_OVERFLOW,
    UNARY,
    UndefinedError,
    compare,
    high_product,
    unsigned,
    wrap,
)
from tt_layout.ir.names import in_every_spelling
from tt_layout.ir.ssa.attributes import floats_as_written, integers
from tt_layout.ir.ssa.model import Operation
from tt_layout.ir.ssa.types import ValueType
from tt_layout.tuples import NamedTuple

MAX_ELEMENTS = 1 << 24
"""Elements of a tensor that is evaluated."""

_LITERAL = re.compile(r"-?\d+|true|false")
_MAX_ADDRESS = float(1 << 62)


class Application(NamedTuple):
    """An operation and its operands.

    Attributes:
        operation: the operation.
        operands: their values.
        types: their types.
        result: the type of the result.
        result_index: index of the result.
        layout: from the index of a type, among operands and then results, to its layout; None
            where it has none.
    """

    operation: Operation
    operands: Sequence[Ints]
    types: Sequence[ValueType]
    result: ValueType
    result_index: int
    layout: Callable[[int], LinearLayout | None]

    @property
    def bits(self) -> int:
        """The width of the first operand's integers, 64 for pointers."""
        return self.types[0].integer_bits or 64

    @property
    def result_bits(self) -> int | None:
        """The width of the result's elements; None where they are not evaluated."""
        if self.result.pointee is not None:
            return 64
        return self.result.integer_bits or floats.float_bits(self.result.element)

    @property
    def decoded(self) -> list[floats.Floats]:
        """The operands as floats."""
        return [floats.decoded(v, t.element) for v, t in zip(self.operands, self.types)]

    def number(self, key: str) -> int:
        """Return an attribute that is a number."""
        value = self.operation.integer(key)
        if value is None:
            raise UndefinedError(f"no number {key}")
        return value

    def numbers(self, key: str) -> list[int]:
        """Return an attribute that is an array of numbers."""
        numbers = integers(self.operation.attributes.get(key))
        if not numbers:
            raise UndefinedError(f"no numbers {key}")
        return numbers


Rule = Callable[[Application], Ints]

_OF_ONE = {**UNARY, **CASTS}
"""Operation of one operand -> the function that computes it."""

_OF_TWO_FLOATS: dict[str, Callable[[floats.Floats, floats.Floats], Any]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b,
    "tt.precise_divf": lambda a, b: a / b,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
}
"""Operation -> its result from two operands, before it is rounded."""

_OF_A_FLOAT: dict[str, Callable[[floats.Floats], Any]] = {
    "arith.negf": np.negative,
    "arith.extf": lambda a: a,
    "arith.truncf": lambda a: a,
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.roundeven": np.rint,
    "math.trunc": np.trunc,
    "math.sqrt": np.sqrt,
    "tt.precise_sqrt": np.sqrt,
}
"""Operation -> its result from an operand, before it is rounded."""


def _binary(a: Application) -> Ints:
    left, right = a.operands
    result: Ints = BINARY[a.operation.name](left, right, a.bits)
    return result


def _unary(a: Application) -> Ints:
    result: Ints = _OF_ONE[a.operation.name](a.operands[0], a.bits)
    return result


def _comparison(a: Application) -> Ints:
    if a.types[0].pointee is not None:
        raise UndefinedError("pointers are known modulo 512 only")
    left, right = a.operands
    return compare(str(a.operation.attributes.get("predicate")), left, right, a.bits)


def _binary_of_floats(a: Application) -> Ints:
    return floats.encoded(_OF_TWO_FLOATS[a.operation.name](*a.decoded), a.result.element)


def _unary_of_floats(a: Application) -> Ints:
    return floats.encoded(_OF_A_FLOAT[a.operation.name](*a.decoded), a.result.element)


def _comparison_of_floats(a: Application) -> Ints:
    return floats.compare_floats(str(a.operation.attributes.get("predicate")), *a.decoded)


def _to_float(a: Application) -> Ints:
    [values] = a.operands
    is_signed = a.operation.name == "arith.sitofp"
    numbers = values if is_signed else unsigned(values, a.bits)
    return floats.encoded(numbers, a.result.element)


def _to_integer(a: Application) -> Ints:
    is_signed = a.operation.name == "arith.fptosi"
    return floats.to_integers(a.decoded[0], a.result.integer_bits or 64, is_signed=is_signed)


def _select(a: Application) -> Ints:
    condition, yes, no = a.operands
    return np.where(condition != 0, yes, no)


def _constant(a: Application) -> Ints:
    value = a.operation.attributes.get("value")
    if isinstance(value, int):
        return np.broadcast_to(-1 if value is True else int(value), a.result.shape)
    text = str(value).partition("<")[2].rpartition(">")[0].strip()
    if text.startswith('"0x'):
        size = max(1, (a.result_bits or 64) // 8)
        data = np.frombuffer(bytes.fromhex(text[3:-1]), f"<i{size}")
        return data.astype(np.int64).reshape(a.result.shape)
    if a.result.integer_bits is None:
        words = floats_as_written(text or value)
        numbers = [_bits_of(word, a.result.element) for word in words]
    elif not text or "." in text:
        raise UndefinedError("not an integer")
    else:
        words = _LITERAL.findall(text)
        numbers = [-1 if word == "true" else int(word != "false" and word) for word in words]
    if len(numbers) == 1:
        return np.broadcast_to(numbers[0], a.result.shape)
    return np.asarray(numbers, np.int64).reshape(a.result.shape)


def _bits_of(word: str, element: str) -> int:
    """Return the bits of a float, which hexadecimal digits are already."""
    if word.startswith("0x"):
        return int(word, 16)
    return int(floats.encoded(float(word), element))


def _add_pointer(a: Application) -> Ints:
    pointer, offset = a.operands
    size = max(1, (a.types[0].bits or 0) // 8)
    if a.types[0].bits is None:
        raise UndefinedError(f"{a.types[0].pointee} has no known width")
    if float(np.abs(offset.astype(np.float64)).max(initial=0)) * size > _MAX_ADDRESS:
        raise UndefinedError("an address that does not fit into 64 bits")
    return pointer + offset * size


def _range(a: Application) -> Ints:
    start = a.number("start")
    return np.arange(start, start + a.result.shape[0], dtype=np.int64)


def _transpose(a: Application) -> Ints:
    order = integers(a.operation.attributes.get("order")) or None
    permuted: Ints = a.operands[0].transpose(order)
    return permuted


def _reshape(a: Application) -> Ints:
    if not _may_reorder(a.operation):
        return a.operands[0].reshape(a.result.shape)
    return _registers_kept(a)


def _may_reorder(operation: Operation) -> bool:
    return "allow_reorder" in operation.attributes


def _registers_kept(a: Application) -> Ints:
    """Return the tensor whose registers are those of the operands, one operand after another."""
    layouts = [a.layout(index) for index in range(len(a.operands) + 1)]
    elements = [_elements(layout) for layout in layouts if layout is not None]
    if len(elements) != len(layouts):
        raise UndefinedError("an order that the layouts do not determine")
    values = [operand.reshape(-1)[places] for operand, places in zip(a.operands, elements)]
    registers = np.concatenate(values, axis=-1)
    if registers.shape != elements[-1].shape:
        raise UndefinedError("registers that do not fit the layout of the result")
    numbers = np.zeros(prod(a.result.shape), np.int64)
    numbers[elements[-1].reshape(-1)] = registers.reshape(-1)
    return numbers.reshape(a.result.shape)


def _elements(layout: LinearLayout) -> Ints:
    """Return the element in each register, of shape ``[lanes, warps, blocks, registers]``."""
    bits = [flat_bases(layout, dim) for dim in ("lane", "warp", "block", "register")]
    lane, warp, block, register = (all_values(basis) for basis in bits)
    return lane[:, None, None, None] ^ warp[:, None, None] ^ block[:, None] ^ register


def _gather(a: Application) -> Ints:
    values, indices, axis = a.operands[0], a.operands[1], a.number("axis")
    if ((indices < 0) | (indices >= values.shape[axis])).any():
        raise UndefinedError(f"an index outside of the {values.shape[axis]} elements gathered")
    gathered: Ints = np.take_along_axis(values, indices, axis)
    return gathered


def _extract(a: Application) -> Ints:
    offsets, shape = a.numbers("static_offsets"), a.result.shape
    extracted: Ints = a.operands[0][tuple(slice(o, o + size) for o, size in zip(offsets, shape))]
    if extracted.shape != shape:
        raise UndefinedError("a slice that reaches beyond the tensor")
    return extracted


def _concatenation(a: Application) -> Ints:
    """Return a tensor that the operands tile, the last dimension first."""
    tile = a.operands[0].shape
    grid = tuple(size // extent for size, extent in zip(a.result.shape, tile))
    tiles = np.stack(list(a.operands)).reshape(*grid, *tile)
    order = [axis for pair in enumerate(range(len(tile), 2 * len(tile))) for axis in pair]
    concatenation: Ints = tiles.transpose(order).reshape(a.result.shape)
    return concatenation


def _extended_sum(a: Application) -> Ints:
    left, right = a.operands
    total = wrap(left + right, a.bits)
    if not a.result_index:
        return total
    carries = unsigned(total, a.bits) < unsigned(left, a.bits)
    return -carries.astype(np.int64)


def _extended_product(a: Application) -> Ints:
    left, right = a.operands
    if not a.result_index:
        return left * right
    high: Ints = high_product(left, right, a.bits).astype(np.int64)
    if a.operation.name == "arith.mulsi_extended":
        high = high - np.where(left < 0, right, 0) - np.where(right < 0, left, 0)
    return high


RULES: dict[str, Rule] = in_every_spelling(
    {
        **dict.fromkeys(BINARY, _binary),
        **dict.fromkeys(_OF_ONE, _unary),
        **dict.fromkeys(_OF_TWO_FLOATS, _binary_of_floats),
        **dict.fromkeys(_OF_A_FLOAT, _unary_of_floats),
        "arith.cmpf": _comparison_of_floats,
        "arith.sitofp": _to_float,
        "arith.uitofp": _to_float,
        "arith.fptosi": _to_integer,
        "arith.fptoui": _to_integer,
        "arith.cmpi": _comparison,
        "arith.select": _select,
        "arith.constant": _constant,
        "arith.addui_extended": _extended_sum,
        "arith.mulsi_extended": _extended_product,
        "arith.mului_extended": _extended_product,
        "tt.addptr": _add_pointer,
        "tt.int_to_ptr": lambda a: a.operands[0],
        "tt.make_range": _range,
        "tt.splat": lambda a: np.broadcast_to(a.operands[0].reshape(()), a.result.shape),
        "tt.unsplat": lambda a: a.operands[0].reshape(()),
        "tt.expand_dims": lambda a: np.expand_dims(a.operands[0], a.number("axis")),
        "tt.broadcast": lambda a: np.broadcast_to(a.operands[0], a.result.shape),
        "tt.reshape": _reshape,
        "tt.view": _registers_kept,
        "tt.trans": _transpose,
        "tt.join": lambda a: np.stack(list(a.operands), axis=-1),
        "tt.split": lambda a: a.operands[0][..., a.result_index],
        "tt.cat": _registers_kept,
        "tt.gather": _gather,
        "ttg.convert_layout": lambda a: a.operands[0],
        "gluon.set_auto_layout": lambda a: a.operands[0],
        "amdg.extract_slice": _extract,
        "amdg.concat": _concatenation,
    }
)
"""Operation -> its result before it is wrapped to the width of its type."""


def depends_on_layouts(operation: Operation) -> bool:
    """Return whether the elements of the result are in an order that layouts determine."""
    rule = RULES.get(operation.name)
    return rule is _registers_kept or (rule is _reshape and _may_reorder(operation))


def apply(a: Application) -> tuple[Ints, bool]:
    """Return the result of an operation, and whether it is one of `MAY_OVERFLOW` and did.

    Raises:
        UndefinedError: there is no such result; the text is the reason.
    """
    bits = a.result_bits
    if bits is None:
        raise UndefinedError("no number that is evaluated")
    if prod(a.result.shape) > MAX_ELEMENTS:
        raise UndefinedError(f"a tensor of more than {MAX_ELEMENTS} elements")
    try:
        exact = RULES[a.operation.name](a)
        only_moves = moves_elements(a.operation) and a.types[0].element == a.result.element
        result = exact if only_moves else wrap(exact, bits)
    except (IndexError, KeyError, ValueError, OverflowError):  # of a dump that is not a valid one
        raise UndefinedError("operands that such an operation cannot have") from None
    if result.shape != a.result.shape:
        raise UndefinedError(f"operands that do not make {a.result.shape}")
    return result, a.operation.name in MAY_OVERFLOW and bool((result != exact).any())


def moves_elements(operation: Operation) -> bool:
    """Return whether an operation puts the elements of its one operand elsewhere."""
    traits = operation.traits
    return (traits.shape or traits.same_elements) and len(operation.operands) == 1
