"""Linear layouts: functions from hardware coordinates to tensor coordinates over F2.

A tensor spread over registers, lanes and warps is described by the function that gives, for
each hardware location, which element it holds.  That direction is chosen because one
element may be in many locations, while one location holds one element.

The functions met in practice obey one law, with ^ for xor on every coordinate:

    L(a ^ b) == L(a) ^ L(b)

so it is enough to know L on single bits.  Four lanes t and four warps w over a 4 x 4
tensor, given only L(t=1), L(t=2), L(w=1) and L(w=2):

    t/w    0      1      2      3
    0    (0,0) *(0,1) *(0,2)  (0,3)        * given.  Any other entry is the xor of the
    1   *(1,1)  (1,0)  (1,3)  (1,2)          given ones for the bits set in t and w:
    2   *(2,2)  (2,3)  (2,0)  (2,1)          L(3,1) = L(1,0) ^ L(2,0) ^ L(0,1) = (3,2)
    3    (3,3)  (3,2)  (3,1)  (3,0)

Stored:       input dimension -> one basis vector per bit, least significant bit first.
Not covered:  sizes that are not powers of two, and padding; those wrap a layout.
Cost:         algebra is polynomial in the number of bits, whatever the tensor's size.
Read next:    LinearLayout, then ``*``, then invert_and_compose.
Source:       Triton, include/triton/Tools/LinearLayout.h; arXiv 2505.23819.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import accumulate, chain
from operator import lshift, or_
from typing import TYPE_CHECKING, Any, ClassVar

from tt_layout.algebra.given import extremes, merge_names, read_bases, require_distinct
from tt_layout.algebra.rendering import Renderers
from tt_layout.algebra.span import F2Span
from tt_layout.arguments import checks_arguments, integer, integers
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError, expect
from tt_layout.records import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

Basis = tuple[int, ...]
NamedBases = tuple[tuple[str, tuple[Basis, ...]], ...]
OutSizes = tuple[tuple[str, int], ...]
Vectors = Iterable[Sequence[int]]


def is_power_of_two(value: int) -> bool:
    """Return whether ``value`` is 1, 2, 4, 8, ...

    Example:
        >>> [value for value in range(-2, 9) if is_power_of_two(value)]
        [1, 2, 4, 8]
    """
    return value > 0 and value & (value - 1) == 0


def log2(value: int) -> int:
    """Return the exponent of a power of two.

    Example:
        >>> log2(8)
        3
    """
    return value.bit_length() - 1


def next_power_of_two(value: int) -> int:
    """Return the smallest power of two that is greater than ``value``.

    Example:
        >>> [next_power_of_two(value) for value in (0, 1, 2, 3, 4)]
        [1, 2, 4, 4, 8]
    """
    return 1 << value.bit_length()


def along(step: int, at: int, rank: int) -> Basis:
    """Return the basis vector of a step along one of several dimensions.

    Example:
        >>> along(4, 1, rank=3)
        (0, 4, 0)
    """
    return (*(0,) * at, step, *(0,) * (rank - 1 - at))


@dataclass(frozen=True)
class LinearLayout:
    """A function from input coordinates to output coordinates, linear over F2.

    The interface is that of ``triton.tools.LinearLayout``, in the same words.

    Attributes:
        in_bases: pairs of an input dimension and its basis vectors, least significant bit
            first; a vector has one component per output dimension.
        out_sizes: pairs of an output dimension and its size, a power of two.

    Example:
        The swizzle (t, w) -> (t, t ^ w) of a 4 x 4 tensor:

        >>> swizzle = LinearLayout.from_bases(
        ...     [("t", [[1, 1], [2, 2]]), ("w", [[0, 1], [0, 2]])], ["x", "y"])
        >>> swizzle.apply({"t": 3, "w": 1})
        {'x': 3, 'y': 2}
        >>> swizzle.out_dims
        [('x', 4), ('y', 4)]

    Source:
        Triton, include/triton/Tools/LinearLayout.h.
    """

    in_bases: NamedBases
    out_sizes: OutSizes
    is_modular: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for names in (self.get_in_dim_names(), self.get_out_dim_names()):
            require_distinct(names)
        for name, size in self.out_sizes:
            if not is_power_of_two(size):
                raise LayoutError(f"the size of {name} must be a power of two, got {size}")
        sizes = [size for _, size in self.out_sizes]
        for name, vectors in self.in_bases:
            if not _are_within(vectors, sizes):
                _refuse(name, vectors, sizes)

    # -- building ---------------------------------------------------------------------------

    @classmethod
    def _sound(cls, in_bases: NamedBases, out_sizes: OutSizes) -> LinearLayout:
        """Return a layout made of valid parts, without checking them again."""
        layout = object.__new__(cls)
        layout.__dict__.update(in_bases=in_bases, out_sizes=out_sizes)
        return layout

    @classmethod
    def empty(cls) -> LinearLayout:
        """Return the layout without any dimension, the neutral element of ``*``."""
        return cls._sound((), ())

    @classmethod
    def strided_1d(cls, size: int, stride: int, inDim: str, outDim: str) -> LinearLayout:  # noqa: N803
        """Return ``i -> i * stride`` for ``i`` in ``range(size)``; both are powers of two.

        Example:
            >>> LinearLayout.strided_1d(4, 2, "lane", "dim0").bases
            [('lane', [[2], [4]])]
        """
        size, stride = integer("size", size), integer("stride", stride)
        if size == 0:
            return cls.empty()
        if not (is_power_of_two(size) and is_power_of_two(stride)):
            raise LayoutError(f"size and stride must be powers of two, got {size} and {stride}")
        vectors = tuple((stride << bit,) for bit in range(log2(size)))
        return cls._sound(((inDim, vectors),), ((outDim, size * stride),))

    @classmethod
    def identity_1d(cls, size: int, inDim: str, outDim: str) -> LinearLayout:  # noqa: N803
        """Return ``i -> i`` for ``i`` in ``range(size)``; size 0 gives the neutral element.

        Example:
            >>> LinearLayout.identity_1d(8, "lane", "dim0").bases
            [('lane', [[1], [2], [4]])]
        """
        return cls.strided_1d(size, 1, inDim, outDim)

    @classmethod
    def zeros_1d(
        cls,
        size: int,
        inDim: str,  # noqa: N803
        outDim: str,  # noqa: N803
        outDimSize: int = 1,  # noqa: N803
    ) -> LinearLayout:
        """Return ``i -> 0`` for ``i`` in ``range(size)``: every input holds the same element.

        Example:
            >>> LinearLayout.zeros_1d(4, "lane", "dim0").bases
            [('lane', [[0], [0]])]
        """
        size, outDimSize = integer("size", size), integer("outDimSize", outDimSize)  # noqa: N806
        if size == 0:
            return cls.empty()
        if not is_power_of_two(size):
            raise LayoutError(f"size must be a power of two, got {size}")
        return cls(((inDim, ((0,),) * log2(size)),), ((outDim, outDimSize),))

    @classmethod
    def from_bases(
        cls,
        bases: Iterable[tuple[str, Vectors]] | Mapping[str, Vectors],
        out_dim_names: Sequence[str],
        out_dim_sizes: Sequence[int] | None = None,
        require_surjective: bool = True,
    ) -> LinearLayout:
        """Return the layout with these values on single bits.

        Args:
            bases: input dimension and its basis vectors, least significant bit first.
            out_dim_names: the output dimensions, in the order of a vector's components.
            out_dim_sizes: their sizes; by default the smallest powers of two that are
                greater than every component.
            require_surjective: whether every output must be reached.

        Raises:
            LayoutError: a vector has another length or lies outside the sizes, or the
                layout is not surjective and was required to be.

        Example:
            >>> LinearLayout.from_bases([("lane", [[1], [3]])], ["dim0"]).out_dims
            [('dim0', 4)]
        """
        expect("require_surjective", require_surjective, bool)
        in_bases = read_bases(bases)
        if out_dim_sizes is None:
            vectors = [vector for _, vectors in in_bases for vector in vectors]
            wrong = next((v for v in vectors if len(v) != len(out_dim_names)), None)
            if wrong is not None:
                raise LayoutError(
                    f"a basis must have one component per output dimension "
                    f"({len(out_dim_names)}), got {list(wrong)}"
                )
            largest = [max((v[d] for v in vectors), default=0) for d in range(len(out_dim_names))]
            out_dim_sizes = [next_power_of_two(max(0, x)) for x in largest]
        out_dim_sizes = integers("out_dim_sizes", out_dim_sizes)
        if len(out_dim_sizes) != len(out_dim_names):
            raise LayoutError(
                f"there must be one size per output dimension ({len(out_dim_names)}), "
                f"got {list(out_dim_sizes)}"
            )
        layout = cls(in_bases, tuple(zip(out_dim_names, out_dim_sizes)))
        if require_surjective and not layout.is_surjective():
            raise LayoutError(f"the layout must reach every output, but does not:\n{layout}")
        return layout

    # -- reading ----------------------------------------------------------------------------

    @property
    def bases(self) -> list[tuple[str, list[list[int]]]]:
        """The input dimensions and their basis vectors, as fresh lists."""
        return [(name, [list(v) for v in vectors]) for name, vectors in self.in_bases]

    @property
    def out_dims(self) -> list[tuple[str, int]]:
        """The output dimensions and their sizes, as a fresh list."""
        return list(self.out_sizes)

    @property
    def num_in_dims(self) -> int:
        """The number of input dimensions."""
        return len(self.in_bases)

    @property
    def num_out_dims(self) -> int:
        """The number of output dimensions."""
        return len(self.out_sizes)

    def get_in_dim_names(self) -> list[str]:
        """Return the names of the input dimensions, in order."""
        return [name for name, _ in self.in_bases]

    def get_out_dim_names(self) -> list[str]:
        """Return the names of the output dimensions, in order."""
        return [name for name, _ in self.out_sizes]

    def get_in_dim_size(self, name: str) -> int:
        """Return the size of an input dimension, 1 where the layout does not have it."""
        return 1 << len(self.vectors(name))

    def get_out_dim_size(self, name: str) -> int:
        """Return the size of an output dimension, 1 where the layout does not have it."""
        expect("the name", name, str)
        for dim, size in self.out_sizes:
            if dim == name:
                return size
        return 1

    def vectors(self, name: str) -> tuple[Basis, ...]:
        """Return the basis vectors of an input dimension, none for an unknown one."""
        expect("the name", name, str)
        for dim, vectors in self.in_bases:
            if dim == name:
                return vectors
        return ()

    @property
    def total_in_bits(self) -> int:
        """The number of input bits, over all dimensions."""
        return sum(len(vectors) for _, vectors in self.in_bases)

    @property
    def total_out_bits(self) -> int:
        """The number of output bits, over all dimensions."""
        return sum(log2(size) for _, size in self.out_sizes)

    def apply(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Evaluate the layout at one point, or at many points at once.

        Args:
            inputs: a value per input dimension, in ``range(size)``: an int, or integer
                arrays that broadcast to one shape ``S``.  One left out is 0, where Triton's
                ``apply`` aborts the process; what is out of range is an error, there it is not.

        Returns:
            Output dimension -> coordinate: ints for ints, int64 arrays of shape ``S``
            for arrays, in the order of ``out_dims``.

        Raises:
            LayoutError: an input dimension is unknown, or a value lies outside it.

        Example:
            >>> import numpy as np
            >>> lanes = LinearLayout.from_bases([("lane", [[1], [3]])], ["dim0"])
            >>> lanes.apply({"lane": np.arange(4)})["dim0"]
            array([0, 1, 3, 2])
        """
        expect("inputs", inputs, Mapping)
        for name, value in inputs.items():
            self._check_input(name, value)
        if all(isinstance(value, int) for value in inputs.values()):
            point = self._apply_point(inputs)
            return dict(zip(self.get_out_dim_names(), point))
        return self._apply_arrays(inputs)

    def _check_input(self, name: str, value: Any) -> None:
        if name not in self.get_in_dim_names():
            raise LayoutError(
                f"unknown input dimension {name!r}; this layout has "
                f"{', '.join(self.get_in_dim_names()) or 'none'}"
            )
        size = self.get_in_dim_size(name)
        low, high = (value, value) if isinstance(value, int) else extremes(name, value)
        if low < 0 or high >= size:
            raise LayoutError(f"{name} must be in 0..{size - 1}, got {low if low < 0 else high}")

    def _apply_point(self, inputs: Mapping[str, int]) -> Basis:
        point = [0] * self.num_out_dims
        for name, vectors in self.in_bases:
            value = inputs.get(name, 0)
            for bit, vector in enumerate(vectors):
                if value >> bit & 1:
                    point = [a ^ b for a, b in zip(point, vector)]
        return tuple(point)

    def _apply_arrays(self, inputs: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
        import numpy as np

        shape = np.broadcast_shapes(*(np.shape(value) for value in inputs.values()))
        outputs = {name: np.zeros(shape, np.int64) for name, _ in self.out_sizes}
        for name, vectors in self.in_bases:
            value = np.asarray(inputs.get(name, 0), np.int64)
            for bit, vector in enumerate(vectors):
                is_set = value >> bit & 1
                for out, component in zip(outputs.values(), vector):
                    if component:
                        out ^= is_set * component
        return outputs

    # -- algebra ----------------------------------------------------------------------------

    def __mul__(self, outer: LinearLayout) -> LinearLayout:
        """Return the product: ``self`` is the inner, fast layout and ``outer`` the slow one.

        The bits of every dimension are concatenated, those of ``self`` lowest; so the
        components of ``outer`` are scaled by the sizes of ``self``.

        Example:
            >>> tile = LinearLayout.identity_1d(4, "register", "dim0")
            >>> (tile * LinearLayout.identity_1d(8, "lane", "dim0")).bases
            [('register', [[1], [2]]), ('lane', [[4], [8], [16]])]
        """
        expect("the outer layout", outer, LinearLayout)
        if not self.in_bases and not self.out_sizes:
            return outer
        names = merge_names(self.get_out_dim_names(), outer.get_out_dim_names())
        fast, slow = self._bases_over(names), outer._bases_over(names)
        inner_sizes, outer_sizes = dict(self.out_sizes), dict(outer.out_sizes)
        scale = [inner_sizes.get(name, 1) for name in names]
        if any(size != 1 for size in scale):
            slow = {
                name: tuple([tuple([x * s for x, s in zip(v, scale)]) for v in vectors])
                for name, vectors in slow.items()
            }
        bases = tuple(
            [
                (name, fast.get(name, ()) + slow.get(name, ()))
                for name in merge_names([*fast], [*slow])
            ]
        )
        sizes = zip(names, [s * outer_sizes.get(name, 1) for s, name in zip(scale, names)])
        return self._sound(bases, tuple(sizes))

    def _bases_over(self, names: Sequence[str]) -> dict[str, tuple[Basis, ...]]:
        """Return the bases with a component for each of ``names``, 0 for a missing dimension."""
        dims = self.get_out_dim_names()
        if dims == names:
            return dict(self.in_bases)
        at = [dims.index(name) if name in dims else -1 for name in names]
        return {
            name: tuple([tuple([v[i] if i >= 0 else 0 for i in at]) for v in vectors])
            for name, vectors in self.in_bases
        }

    @checks_arguments
    def transpose_ins(self, names: Sequence[str]) -> LinearLayout:
        """Return the layout with its input dimensions in the order of ``names``."""
        self._require_same_names("input", self.get_in_dim_names(), names)
        return self._sound(tuple((name, self.vectors(name)) for name in names), self.out_sizes)

    @checks_arguments
    def transpose_outs(self, names: Sequence[str]) -> LinearLayout:
        """Return the layout with its output dimensions in the order of ``names``."""
        return self._in_order(names)

    def _in_order(self, names: Sequence[str]) -> LinearLayout:
        """Return what `transpose_outs` does, for names that need no conversion."""
        dims = self.get_out_dim_names()
        if dims == [*names]:
            return self
        self._require_same_names("output", dims, names)
        sizes = dict(self.out_sizes)
        ordered = tuple([(name, sizes[name]) for name in names])
        return self._sound(tuple(self._bases_over(names).items()), ordered)

    @staticmethod
    def _require_same_names(side: str, dims: Sequence[str], names: Sequence[str]) -> None:
        if len(dims) != len(names) or sorted(dims) != sorted(names):
            raise LayoutError(f"the {side} dimensions are {list(dims)}, got {list(names)}")

    @checks_arguments
    def sublayout(self, ins: Sequence[str], outs: Sequence[str]) -> LinearLayout:
        """Return the sublayout from ``ins`` to ``outs``; sizes of kept outputs stay."""
        require_distinct(ins)
        require_distinct(outs)
        vectors, sizes = self._bases_over(outs), dict(self.out_sizes)
        bases = tuple([(name, vectors.get(name, ())) for name in ins])
        return self._sound(bases, tuple([(name, sizes.get(name, 1)) for name in outs]))

    @checks_arguments
    def with_vectors(self, name: str, vectors: Sequence[Basis]) -> LinearLayout:
        """Return the layout with the bases of one input dimension replaced."""
        bases = tuple((n, tuple(vectors) if n == name else vs) for n, vs in self.in_bases)
        return LinearLayout(bases, self.out_sizes)

    def remove_zero_bases(self, name: str) -> LinearLayout:
        """Return the layout without the zero bases of one input dimension.

        Example:
            >>> copies = LinearLayout.from_bases([("register", [[1], [0]])], ["dim0"])
            >>> copies.remove_zero_bases("register").bases
            [('register', [[1]])]
        """
        kept = tuple(vector for vector in self.vectors(name) if any(vector))
        bases = tuple((dim, kept if dim == name else vs) for dim, vs in self.in_bases)
        return self._sound(bases, self.out_sizes)

    @checks_arguments
    def reshape_outs(self, sizes: Sequence[tuple[str, int]]) -> LinearLayout:
        """Return the layout with its outputs reshaped to other dimensions of equal total size.

        The first dimension holds the lowest bits, on both sides.
        """
        if math.prod(s for _, s in sizes) != math.prod(s for _, s in self.out_sizes):
            raise LayoutError(f"cannot reshape outputs {self.out_dims} to {list(sizes)}")

        def split(flat: int) -> Basis:
            parts = []
            for _, size in sizes:
                parts.append(flat % size)
                flat //= size
            return tuple(parts)

        bases = tuple((n, tuple(split(self.flatten(v)) for v in vs)) for n, vs in self.in_bases)
        return LinearLayout(bases, tuple(sizes))

    def flatten(self, vector: Sequence[int]) -> int:
        """Return an output vector as one int, the first dimension in the lowest bits."""
        return reduce(or_, map(lshift, vector, self._shifts), 0)

    @cached_property
    def _shifts(self) -> list[int]:
        """The lowest bit of each output dimension in a vector as one int."""
        return [0, *accumulate(log2(size) for _, size in self.out_sizes)][:-1]

    def columns(self, name: str) -> tuple[int, ...]:
        """Return the basis vectors of an input dimension, each as one int.

        Example:
            >>> layout = LinearLayout.from_bases([("lane", [[1, 0], [0, 1]])], ["dim0", "dim1"])
            >>> layout.columns("lane"), layout.columns("warp")
            ((1, 2), ())
        """
        return self._columns.get(name, ())

    @cached_property
    def _columns(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(map(self.flatten, vectors)) for name, vectors in self.in_bases}

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """Return ``x -> outer(self(x))``; the outputs of ``self`` are the inputs of ``outer``.

        Raises:
            LayoutError: the dimensions differ, or ``self`` reaches beyond ``outer``.

        Example:
            >>> halves = LinearLayout.from_bases([("lane", [[2], [1]])], ["offset"])
            >>> swap = LinearLayout.from_bases([("offset", [[2], [1]])], ["dim0"])
            >>> halves.compose(swap).bases
            [('lane', [[1], [2]])]
        """
        expect("the outer layout", outer, LinearLayout)
        names = self.get_out_dim_names()
        self._require_same_names("output", names, outer.get_in_dim_names())
        for name, size in self.out_sizes:
            if size > outer.get_in_dim_size(name):
                raise LayoutError(
                    f"{name} has size {size}, but the outer layout takes only "
                    f"{outer.get_in_dim_size(name)}"
                )
        bases = tuple(
            (name, tuple(outer._apply_point(dict(zip(names, vector))) for vector in vectors))
            for name, vectors in self.in_bases
        )
        return self._sound(bases, outer.out_sizes)

    @cached_property
    def _span(self) -> F2Span:
        return F2Span([*chain(*self._columns.values())])

    def is_surjective(self) -> bool:
        """Return whether every output is reached."""
        return self._span.rank == self.total_out_bits

    def is_injective(self) -> bool:
        """Return whether no output is reached twice."""
        return self._span.rank == self.total_in_bits

    def is_invertible(self) -> bool:
        """Return whether every output is reached exactly once."""
        return self.is_surjective() and self.is_injective()

    def get_free_variable_masks(self) -> dict[str, int]:
        """Return, per input dimension, the mask of bits that add nothing to the bits before them.

        Example:
            >>> copies = LinearLayout.from_bases([("lane", [[1], [1], [2]])], ["dim0"])
            >>> copies.get_free_variable_masks()
            {'lane': 2}
        """
        masks, free = {}, ~self._span.pivots
        for name, vectors in self.in_bases:
            masks[name] = free & (1 << len(vectors)) - 1
            free >>= len(vectors)
        return masks

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """Return the layout C with ``outer(C(x)) == self(x)`` for every x.

        With ``self`` from registers and ``outer`` from shared memory to one tensor, C gives
        at which offset each register's element is stored.

        Requires:
            The same output dimensions, in any order, those of ``outer`` at least as large,
            and ``outer`` reaching all that ``self`` reaches.  ``outer`` need not be
            injective: of several solutions the one with all free bits 0 is taken, except
            that a dimension which both share unchanged is mapped to itself.

        Raises:
            LayoutError: the dimensions differ, or ``outer`` misses an element of ``self``.

        Example:
            >>> registers = LinearLayout.from_bases([("register", [[2], [1]])], ["dim0"])
            >>> memory = LinearLayout.from_bases([("offset", [[1], [2]])], ["dim0"])
            >>> registers.invert_and_compose(memory).bases
            [('register', [[2], [1]])]

        Source:
            Triton, lib/Tools/LinearLayout.cpp, LinearLayout::invertAndCompose.
        """
        expect("the outer layout", outer, LinearLayout)
        self._require_same_names("output", self.get_out_dim_names(), outer.get_out_dim_names())
        for name, size in self.out_sizes:
            if size > outer.get_out_dim_size(name):
                raise LayoutError(
                    f"{name} has size {size}, but the outer layout reaches only "
                    f"{outer.get_out_dim_size(name)}"
                )
        inner = self._in_order(outer.get_out_dim_names())
        shared = [n for n in inner.get_in_dim_names() if _is_shared_identity(inner, outer, n)]
        solved = _solve(inner, outer, without=shared)
        sizes = tuple([(name, 1 << len(vectors)) for name, vectors in outer.in_bases])
        places = {name: at for at, (name, _) in enumerate(sizes)}

        def images(name: str, vectors: Sequence[Basis]) -> Sequence[Basis]:
            if name not in shared:
                return solved[name]
            return [along(1 << bit, places[name], len(sizes)) for bit in range(len(vectors))]

        bases = [(name, tuple(images(name, vectors))) for name, vectors in self.in_bases]
        return self._sound(tuple(bases), sizes)

    def pseudoinvert(self) -> LinearLayout:
        """Return a right inverse: outputs -> the inputs that reach them, free bits 0.

        Example:
            >>> copies = LinearLayout.from_bases([("lane", [[1], [0]]), ("warp", [[2]])], ["dim0"])
            >>> copies.pseudoinvert().bases
            [('dim0', [[1, 0], [0, 1]])]
        """
        rank = len(self.out_sizes)
        bases = [
            (name, tuple([along(1 << bit, at, rank) for bit in range(log2(size))]))
            for at, (name, size) in enumerate(self.out_sizes)
        ]
        identity = LinearLayout._sound(tuple(bases), self.out_sizes)
        return identity.invert_and_compose(self)

    def invert(self) -> LinearLayout:
        """Return the inverse of an invertible layout.

        Raises:
            LayoutError: the layout is not invertible.
        """
        if not self.is_invertible():
            raise LayoutError(f"only an invertible layout has an inverse, but not\n{self}")
        return self.pseudoinvert()

    # -- text -------------------------------------------------------------------------------

    def get_matrix_view(self) -> list[list[int]]:
        """Return the matrix over F2: a row per output bit, a column per input bit.

        Example:
            >>> LinearLayout.strided_1d(4, 2, "lane", "dim0").get_matrix_view()
            [[0, 0], [1, 0], [0, 1]]
        """
        columns = [*chain(*self._columns.values())]
        return [[column >> row & 1 for column in columns] for row in range(self.total_out_bits)]

    @checks_arguments
    def get_shared_view(self, use_hw_view: bool) -> str:
        """Return the text of a layout from ``offset`` and ``block``, as Triton prints it."""
        return Renderers.text(self, MemorySpace.SHARED, "hardware" if use_hw_view else "tensor", ())

    @checks_arguments
    def get_distributed_view(self, use_hw_view: bool) -> str:
        """Return the text of a layout from ``register``, ``lane``, ``warp`` and ``block``."""
        return Renderers.text(
            self, MemorySpace.REGISTERS, "hardware" if use_hw_view else "tensor", ()
        )

    def __str__(self) -> str:
        """Return the text of Triton's ``str``, less the line break that it begins with."""
        lines = []
        for name, vectors in self.in_bases:
            label = f" - {name}"
            if not vectors:
                lines.append(f"{label} is a size 1 dimension")
            for bit, vector in enumerate(vectors):
                point = ", ".join(map(str, vector))
                lines.append(f"{label if bit == 0 else '   ' + name}={1 << bit} -> ({point})")
        outs = ", ".join(f"{name} (size {size})" for name, size in self.out_sizes)
        if not lines:
            return f"(empty layout with out-dims [{outs}])" if outs else "(empty layout)"
        return "\n".join([*lines, f"where out dims are: [{outs}]"])


def _are_within(vectors: Sequence[Basis], sizes: Sequence[int]) -> bool:
    """Return whether vectors have a component for each size, and each is within it."""
    if not vectors:
        return True
    if set(map(len, vectors)) != {len(sizes)}:
        return False
    return all(min(x) >= 0 and max(x) < size for x, size in zip(zip(*vectors), sizes))


def _refuse(name: str, vectors: Sequence[Basis], sizes: Sequence[int]) -> None:
    """Raise an error for the first vector that is not within the sizes."""
    for vector in vectors:
        if len(vector) != len(sizes):
            raise LayoutError(
                f"a basis of {name} must have one component per output dimension "
                f"({len(sizes)}), got {list(vector)}"
            )
        if not _are_within([vector], sizes):
            raise LayoutError(f"basis {list(vector)} of {name} is outside of the sizes {sizes}")


def _used_bits(layout: LinearLayout, names: Iterable[str]) -> int:
    used = 0
    for name in names:
        for column in layout.columns(name):
            used |= column
    return used


def _is_shared_identity(inner: LinearLayout, outer: LinearLayout, name: str) -> bool:
    """Return whether a dimension has equal bases on both sides, apart from all other bases."""
    vectors = inner.vectors(name)
    if name not in outer.get_in_dim_names() or vectors != outer.vectors(name):
        return False
    if not vectors:
        return True
    # The bit positions are those of ``outer`` on both sides: its sizes are the larger ones.
    widened = LinearLayout._sound(inner.in_bases, outer.out_sizes)
    for layout in (widened, outer):
        rest = [n for n in layout.get_in_dim_names() if n != name]
        if _used_bits(layout, [name]) & _used_bits(layout, rest):
            return False
    return True


def _solve(
    inner: LinearLayout, outer: LinearLayout, without: Sequence[str]
) -> dict[str, list[Basis]]:
    """Express the bases of ``inner`` by pivot bases of ``outer``; leave out some dimensions."""
    left_out = [name for name in without if outer.vectors(name)]
    span = outer._span
    if left_out:
        names = (name for name in outer.get_in_dim_names() if name not in left_out)
        span = F2Span([column for name in names for column in outer.columns(name)])
    places, position = [], 0  # where the bits of each dimension begin in a mask, and which they are
    for name, vectors in outer.in_bases:
        bits = len(vectors) if name not in left_out else 0
        places.append((position, (1 << bits) - 1))
        position += bits

    def preimage(vector: Basis) -> Basis:
        mask = span.express(outer.flatten(vector))
        if mask is None:
            raise LayoutError(
                f"the outer layout does not reach {list(vector)}, so it cannot be inverted there"
            )
        return tuple([mask >> begin & ones for begin, ones in places])

    kept = [(name, vectors) for name, vectors in inner.in_bases if name not in without]
    return {name: [preimage(vector) for vector in vectors] for name, vectors in kept}
