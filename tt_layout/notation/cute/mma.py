"""Matrix instructions as CuTe names them, and the threads and values of a tiled product.

``SM80_16x8x16_F32F16F16F32_TN`` has the sizes, the types of D, A, B and C, and the majors of A and
B in its name.  A fragment follows from these: four lanes stand along K, each with the elements of
one register of 32 bits, and eight along M or N.

Sources:
    CUTLASS, include/cute/atom/mma_traits_sm*.hpp: the layouts of the instructions.
    CUTLASS, include/cute/atom/mma_atom.hpp: ``TiledMMA``.
    PTX ISA, "Matrix Fragments for mma": which lane holds which element.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from tt_layout.errors import LayoutError
from tt_layout.notation.cute import algebra
from tt_layout.notation.cute.algebra import Layout, Tiler, joined
from tt_layout.notation.cute.values import ThreadValue
from tt_layout.records import dataclass
from tt_layout.wording import count

_BITS = {
    "F64": 64, "C64": 64, "GC64": 64, "C32": 32, "F32": 32, "TF32": 32, "S32": 32, "BF16": 16,
    "F16": 16, "E4M3": 8, "E5M2": 8, "S8": 8, "U8": 8, "S4": 4, "U4": 4, "U1": 1,
}  # fmt: skip
"""Bits of the types in the names of instructions."""

_NAME = re.compile(
    r"SM(?P<chip>\d+)_(?P<sizes>\d+x\d+x\d+)_(?P<types>\w+?)_(?P<majors>TN|TT|NN|NT|SS|RS)(?:_.*)?"
)
_TYPES = re.compile("|".join(sorted(_BITS, key=len, reverse=True)))
_UNTYPED = re.compile(r"SM120_16x8x(?P<k>\d+)_TN(?:_VS)?")
_TENSOR_MEMORY = re.compile(r"SM100_MMA_(?P<types>\w+?)(?:_2x1SM)?_[ST]S(?:_NOELECT|_SCALED)?")
_TENSOR_MEMORY_K = {"TF32": 8, "F16BF16": 16, "S8": 32, "F8F6F4": 32, "MXF8F6F4": 32, "MXF4": 64}


@dataclass(frozen=True)
class Atom:
    """A matrix instruction: D = A * B + C, of sizes (M, N, K).

    Attributes:
        name: its name in CuTe.
        sizes: M, N, K.
        threads: from a thread of the instruction to one of the warp, or of the warps.
        a: from (thread, value) to an element of A, counted along M first.
        b: from (thread, value) to an element of B, counted along N first.
        c: from (thread, value) to an element of C, counted along M first.

    Example:
        >>> print(atom("SM80_16x8x8_F32F16F16F32_TN"))
        SM80_16x8x8_F32F16F16F32_TN: 16x8x8 by 32 threads
        A ((4,8),(2,2)):((32,1),(16,8))
        B ((4,8),2):((16,1),8)
        C ((4,8),(2,2)):((32,1),(16,8))
    """

    name: str
    sizes: tuple[int, int, int]
    threads: Layout
    a: Layout
    b: Layout
    c: Layout

    def __str__(self) -> str:
        sizes = "x".join(map(str, self.sizes))
        head = f"{self.name}: {sizes} by {count(self.threads.size, 'thread')}"
        return "\n".join([head, f"A {self.a}", f"B {self.b}", f"C {self.c}"])


@dataclass(frozen=True)
class TiledProduct:
    """A product by several atoms beside one another: CuTe's ``TiledMMA``.

    Attributes:
        atom: the instruction of a warp, or of several.
        layout: from a place (m, n, k) of the atoms to their number.
        permutations: what stands along M, N and K; None for the atoms beside one another.

    Raises:
        LayoutError: more than three modes, or atoms that do not cover the permutations.

    Example:
        >>> mma = TiledProduct(atom("SM80_16x8x8_F32F16F16F32_TN"), Layout((2, 2, 1), (1, 2, 0)))
        >>> str(mma.operand("C"))
        '((4,8,2,2),((2,2),(1,1))):((64,1,16,256),((32,8),(0,0))) over a tile of (32,16)'
    """

    atom: Atom
    layout: Layout
    permutations: tuple[Tiler, Tiler, Tiler] = (None, None, None)

    def __post_init__(self) -> None:
        counts = [mode.size for mode in self.layout.modes]
        for name, size, atom_size, atoms in zip("MNK", self.tile, self.atom.sizes, counts):
            if size % (atom_size * atoms):
                raise LayoutError(
                    f"the atoms, {atoms} x {atom_size} along {name}, do not divide {size}"
                )

    def __str__(self) -> str:
        tile = "x".join(str(size) for size in self.tile)
        head = f"{self.atom.name} x {self.layout}: {tile} by {self._threads.size} threads"
        return "\n".join(
            [head, *(f"{operand} {self.operand(operand).layout}" for operand in "ABC")]
        )

    @property
    def tile(self) -> tuple[int, int, int]:
        """The sizes M, N, K of the whole product."""
        sizes = [
            prod(algebra.leaves(algebra.as_layout(operand).shape)) for operand in self._permuted
        ]
        return (sizes[0], sizes[1], sizes[2])

    @property
    def _threads(self) -> Layout:
        """From (thread of an atom, m, n, k) to a thread."""
        return algebra.tiled_product(self.atom.threads, self.layout)

    @property
    def _permuted(self) -> list[int | Layout | tuple[Tiler, ...]]:
        atoms = [mode.size for mode in self.layout.modes]
        sizes = [size * times for size, times in zip(self.atom.sizes, atoms)]
        return [
            operand if permutation is None else permutation
            for permutation, operand in zip(self.permutations, sizes)
        ]

    def operand(self, name: str) -> ThreadValue:
        """Return who holds what of A, B or C.

        Raises:
            LayoutError: the permutations do not divide by the atoms.
        """
        along = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}[name]
        thread_values = {"A": self.atom.a, "B": self.atom.b, "C": self.atom.c}[name]
        tiler = tuple(self._permuted[k] for k in along)
        shape = tuple(self.tile[k] for k in along)
        permuted = algebra.logical_divide(algebra.compact(shape), tiler)
        block = tuple(Layout(self.atom.sizes[k], 1) for k in along)
        inside, outside = algebra.zipped_divide(permuted, block).modes
        threads, values = algebra.composition(inside, thread_values).modes
        counts = [mode.size for mode in self.layout.modes]
        across = tuple(Layout(counts[k], 1) for k in along)
        beside, rest = algebra.zipped_divide(outside, across).modes
        (first, second) = beside.modes
        if name == "A":  # the atoms along N hold the same elements
            first = algebra.composition(first, Layout((counts[0], counts[1]), (1, 0)))
        elif name == "B":
            first = algebra.composition(first, Layout((counts[0], counts[1]), (0, 1)))
        places = joined([threads, joined([first, second])])
        if name == "C":  # the atoms along K add to the same elements
            places = joined([places, Layout(counts[2], 0)])
        held = joined([values, rest])
        return ThreadValue(shape, joined([algebra.composition(places, self._places()), held]))

    def _places(self) -> Layout:
        """From a thread to its place (thread of an atom, m, n, k), the first counted fastest."""
        threads = self._threads
        repeats = algebra.complement(threads)  # of the warp, which repeat the first
        all_threads = joined([threads, repeats])
        once = Layout((threads.size, max(2, repeats.size)), (1, 0))
        return algebra.composition(once, algebra.right_inverse(all_threads))


def atom(name: str, sizes: Sequence[int] = ()) -> Atom:
    """Return a matrix instruction.

    Args:
        name: its name in CuTe, without namespaces.
        sizes: the numbers among its template arguments: M and N of an instruction of tensor memory.

    Raises:
        LayoutError: the name is not of an instruction that is known here, or has another K.

    Example:
        >>> print(atom("SM90_64x16x16_F32F16F16_RS").a)
        ((4,8,4),(2,2,2)):((128,1,16),(64,8,512))
    """
    if match := _UNTYPED.fullmatch(name):
        bits = 4 if match["k"] == "64" else 8
        return _of_warp(name, (16, 8, int(match["k"])), bits, "TN")
    if (match := _TENSOR_MEMORY.fullmatch(name)) and match["types"] in _TENSOR_MEMORY_K:
        k = _TENSOR_MEMORY_K[match["types"]]
        if len(sizes) < 2:
            raise LayoutError(f"expected M and N among the template arguments of {name}")
        if "2x1SM" in name:
            raise LayoutError(f"the layouts of {name}, by two multiprocessors, are not supported")
        m, n = sizes[0], sizes[1]
        return Atom(
            name, (m, n, k), Layout(1, 0), _shared(1, m, k), _shared(1, n, k), _shared(1, m, n)
        )
    if name == "UniversalFMA":
        operand = Layout((1, 1), (0, 0))
        return Atom(name, (1, 1, 1), Layout(1, 0), operand, operand, operand)
    if (match := _NAME.fullmatch(name)) is None or "SPARSE" in name:
        raise LayoutError(f"the threads and values of {name} are not supported")
    m, n, k = map(int, match["sizes"].split("x"))
    types = _TYPES.findall(match["types"])
    if "".join(types) != match["types"] or len(types) not in (3, 4):
        raise LayoutError(f"expected the types of D, A, B and C in {name}, got {match['types']}")
    bits = _BITS[types[1]]
    if match["chip"] == "70":
        return _of_quad_pair(name, types[3], match["majors"])
    if m == 64 and match["majors"] in ("SS", "RS"):
        return _of_warp_group(name, (m, n, k), bits, match["majors"])
    return _of_warp(name, (m, n, k), bits, match["majors"])


def is_atom(name: str) -> bool:
    """Return whether a name looks like that of a matrix instruction."""
    named = _NAME.fullmatch(name) or _UNTYPED.fullmatch(name) or _TENSOR_MEMORY.fullmatch(name)
    return named is not None or name == "UniversalFMA"


def _operand(rows: int, k: int, bits: int, warps: int = 1) -> Layout:
    """Return a fragment of A or B: rows of K elements, registers of 32 bits."""
    packed = max(1, 32 // bits)
    halves = rows // warps // 8
    steps = k // (4 * packed)
    values = [(packed, rows), (halves, 8), (steps, rows * 4 * packed)]
    fragment = _fragment([(4, rows * packed), (8, 1), (warps, rows // warps)], values)
    if bits == 4 and isinstance(fragment.modes[1].shape, int):  # CUTLASS has brackets around it
        return joined([fragment.modes[0], joined([fragment.modes[1]])])
    return fragment


def _fragment(threads: list[tuple[int, int]], values: list[tuple[int, int]]) -> Layout:
    """Return a layout of threads and values; sizes of 1 are left out."""
    lanes = [pair for pair in threads if pair[0] > 1]
    held = [pair for pair in values if pair[0] > 1]
    return joined([_of_pairs(lanes), _of_pairs(held)])


def _of_pairs(pairs: list[tuple[int, int]]) -> Layout:
    if len(pairs) < 2:
        return Layout(*pairs[0]) if pairs else Layout(1, 0)
    return Layout(tuple(size for size, _ in pairs), tuple(stride for _, stride in pairs))


def _of_warp(name: str, sizes: tuple[int, int, int], bits: int, majors: str) -> Atom:
    m, n, k = sizes
    if n != 8 or m not in (8, 16) or k % max(4, 128 // bits) or majors != "TN":
        raise LayoutError(f"the threads and values of {name} are not supported")
    a, b = _operand(m, k, bits), _operand(n, k, bits)
    # an accumulator has pairs of columns, and rows eight apart
    c = _fragment([(4, 2 * m), (8, 1)], [(2, m), (m // 8, 8), (n // 8, 8 * m)])
    return Atom(name, sizes, Layout(32, 1), a, b, c)


def _of_warp_group(name: str, sizes: tuple[int, int, int], bits: int, operands: str) -> Atom:
    """Return a ``wgmma``: four warps, B in shared memory, and A there, too, or in registers."""
    m, n, k = sizes
    if n % 8 or not 8 <= n <= 256 or k * bits not in (256, 512):
        raise LayoutError(f"the threads and values of {name} are not supported")
    a = _shared(128, m, k) if operands == "SS" else _operand(m, k, bits, warps=4)
    c = Layout(((4, 8, 4), (2, 2, n // 8)), ((128, 1, 16), (64, 8, 512)))
    return Atom(name, sizes, Layout(128, 1), a, _shared(128, n, k), c)


def _shared(threads: int, rows: int, k: int) -> Layout:
    """Return a matrix that no thread holds: all of it belongs to each."""
    return Layout((threads, (rows, k)), (0, (1, rows)))


def _of_quad_pair(name: str, accumulator: str, majors: str) -> Atom:
    """Return an instruction of sm70: eight threads, two times four that are sixteen apart."""
    by_row, by_column = Layout((8, 4), (1, 8)), Layout(((4, 2), 4), ((8, 4), 1))
    a = by_row if majors[0] == "T" else by_column
    b = by_row if majors[1] == "N" else by_column
    c = Layout((8, 8), (1, 8))
    if accumulator == "F32":
        c = Layout(((2, 2, 2), (2, 2, 2)), ((1, 16, 4), (8, 2, 32)))
    return Atom(name, (8, 8, 4), Layout((4, 2), (1, 16)), a, b, c)
