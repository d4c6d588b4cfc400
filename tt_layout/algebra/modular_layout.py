"""Modular layouts: from hardware coordinates to tensors whose sizes are not all powers of two.

The inputs are bits, as in a linear layout.  An output whose size is a power of two is the
xor of the basis values that the set bits select; one of any other size N is their sum, modulo N:

    a power of two    L(a ^ b) == L(a) ^ L(b)               over F2
    any other N       L(a + b) == (L(a) + L(b)) mod N       over Z/N, for a & b == 0

So 64 lanes over 48 elements hold the elements 0 .. 47, and 0 .. 15 once more.

Stored:       as in a linear layout; basis values of a modular output may exceed its size.
Not covered:  products, inverses and composition, which are operations over F2; they are refused.
Source:       facebookexperimental/triton, include/triton/Tools/LinearLayout.h and
              lib/Tools/LinearLayout.cpp: ``apply``, ``isModularSurjective``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tt_layout.algebra.given import require_distinct
from tt_layout.algebra.linear_layout import Basis, LinearLayout, is_power_of_two
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_BITS = 24
"""Input bits of a layout that is evaluated as a whole."""


@dataclass(frozen=True)
class ModularLayout(LinearLayout):
    """A function from bits to coordinates, modular where a size is not a power of two.

    Example:
        >>> layout = ModularLayout((("lane", ((1,), (2,), (4,))),), (("dim0", 6),))
        >>> [layout.apply({"lane": lane})["dim0"] for lane in range(8)]
        [0, 1, 2, 3, 4, 5, 0, 1]
        >>> layout.replicas()
        {'dim0': [2, 2, 1, 1, 1, 1]}
    """

    is_modular: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for names in (self.get_in_dim_names(), self.get_out_dim_names()):
            require_distinct(names)
        for axis, (name, size) in enumerate(self.out_sizes):
            if size < 1:
                raise LayoutError(f"the size of {name} must be positive, got {size}")
            limit = size if is_power_of_two(size) else None
            for source, vectors in self.in_bases:
                for vector in vectors:
                    if vector[axis] < 0 or (limit is not None and vector[axis] >= limit):
                        raise LayoutError(
                            f"{source} has a basis of {vector[axis]} in {name}, of size {size}"
                        )

    def apply(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Evaluate the layout at one point, or at many points at once, as a linear one."""
        outputs = self._apply_arrays(inputs)
        if all(isinstance(value, int) for value in inputs.values()):
            return {name: int(value) for name, value in outputs.items()}
        return outputs

    def _apply_arrays(self, inputs: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
        import numpy as np

        for name, value in inputs.items():
            self._check_input(name, value)
        shape = np.broadcast_shapes(*(np.shape(value) for value in inputs.values()))
        outputs = {name: np.zeros(shape, np.int64) for name, _ in self.out_sizes}
        for axis, (name, size) in enumerate(self.out_sizes):
            is_linear = is_power_of_two(size)
            for source, vectors in self.in_bases:
                value = np.asarray(inputs.get(source, 0), np.int64)
                for bit, vector in enumerate(vectors):
                    part = (value >> bit & 1) * vector[axis]
                    outputs[name] = outputs[name] ^ part if is_linear else outputs[name] + part
            if not is_linear:
                outputs[name] = outputs[name] % size
        return outputs

    @cached_property
    def elements(self) -> npt.NDArray[Any]:
        """The row-major number of the element at each location, the first input fastest.

        Raises:
            LayoutError: there are more locations than are evaluated as a whole.
        """
        import numpy as np

        if self.total_in_bits > MAX_BITS:
            raise LayoutError(f"more than 2^{MAX_BITS} locations of a tensor of odd sizes")
        names = self.get_in_dim_names()
        numbers, inputs = np.arange(1 << self.total_in_bits, dtype=np.int64), {}
        for name in names:
            inputs[name] = numbers % self.get_in_dim_size(name)
            numbers = numbers // self.get_in_dim_size(name)
        outputs = self._apply_arrays(inputs)
        element = np.zeros(1 << self.total_in_bits, np.int64)
        for name, size in self.out_sizes:
            element = element * size + outputs[name]
        return element

    def replicas(self) -> dict[str, list[int]]:
        """Return the number of input values for each coordinate of a one-dimensional layout.

        Of several dimensions the key is their names, and the coordinates are row by row.
        """
        import numpy as np

        total = prod(size for _, size in self.out_sizes)
        counts = np.bincount(self.elements, minlength=total)
        return {",".join(self.get_out_dim_names()): counts.tolist()}

    def is_surjective(self) -> bool:
        """Return whether every element has a location."""
        return 0 not in next(iter(self.replicas().values()))

    def is_injective(self) -> bool:
        """Return whether no element is in two locations."""
        import numpy as np

        return len(np.unique(self.elements)) == len(self.elements)

    def get_free_variable_masks(self) -> dict[str, int]:
        """Return the input bits that change nothing: those whose basis is 0, as the fork counts."""
        return {
            name: sum(1 << bit for bit, vector in enumerate(vectors) if not any(vector))
            for name, vectors in self.in_bases
        }

    def with_vectors(self, name: str, vectors: Any) -> ModularLayout:
        """Return the layout with other basis vectors of an input dimension."""
        bases = tuple((dim, tuple(vectors) if dim == name else own) for dim, own in self.in_bases)
        return ModularLayout(bases, self.out_sizes)

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse an operation that is only defined over F2."""
        sizes = [size for _, size in self.out_sizes]
        raise LayoutError(f"this is known for sizes that are powers of two only, got {sizes}")

    __mul__ = compose = invert_and_compose = pseudoinvert = invert = reshape_outs = _refused
    get_matrix_view = sublayout = flatten = columns = transpose_outs = transpose_ins = _refused

    @cached_property
    def _span(self) -> NoReturn:
        self._refused()

    def _apply_point(self, inputs: Mapping[str, int]) -> Basis:
        return tuple(int(value) for value in self._apply_arrays(inputs).values())
