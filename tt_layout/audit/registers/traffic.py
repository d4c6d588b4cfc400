"""What a body loads, stores, exchanges and computes step by step: registers beside live ranges.

The live ranges of a dump follow its text.  The compilers issue loads ahead, keep what comes out of
an exchange beside what goes in, and work on several elements of a long computation at once; how
far they go depends on how many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tt_layout.ir.ssa import SsaOperation

_MATH = """
    acos asin atan atan2 cos erf erfc exp10 expm1 log log10 log1p log2 pow powf sin tan tanh
"""
LONG_FUNCTIONS = frozenset({f"math.{name}" for name in _MATH.split()} | {"tt.extern_elementwise"})
"""Functions that are polynomials or tables: a dozen instructions for each element."""


class TrafficWords(NamedTuple):
    """Registers per thread of what is moved, and how often.

    Attributes:
        loads: tensors loaded from global memory in the body, or in the loop with the most.
        loaded: what all loads of global memory give.
        stored: the largest tensor that is stored to global memory.
        exchanged: what comes out of shared memory, and of conversions between layouts.
        functions: elements of the largest tensor of a long function.
    """

    loads: int = 0
    loaded: int = 0
    stored: int = 0
    exchanged: int = 0
    functions: int = 0


class Traffic:
    """Operations of a body that move tensors; values are numbers."""

    def __init__(self) -> None:
        self._loaded: list[tuple[tuple[int, ...], int]] = []
        self._stored: list[int] = []
        self._exchanged: list[int] = []
        self._functions: list[int] = []

    def add(
        self,
        operation: SsaOperation,
        operands: Sequence[int],
        results: Sequence[int],
        loops: tuple[int, ...],
    ) -> None:
        """Add an operation, with its values and the loops that it is in."""
        traits = operation.traits
        if traits.is_global_load and results:
            self._loaded.append((loops, results[0]))
        elif traits.is_global_store:
            self._stored += operands[1:2]
        elif traits.same_elements or traits.shared_read:
            self._exchanged += results
        elif operation.name in LONG_FUNCTIONS:
            self._functions += results

    def words(
        self, words_of: Callable[[int], int], elements_of: Callable[[int], int]
    ) -> TrafficWords:
        """Return the registers of what is moved.

        Args:
            words_of: the registers of a value.
            elements_of: the elements of a thread; 0 of what is no tensor.
        """
        in_loops = Counter(loops for loops, value in self._loaded if elements_of(value))
        return TrafficWords(
            loads=max(in_loops.values(), default=0),
            loaded=sum(words_of(value) for _, value in self._loaded),
            stored=max(map(words_of, self._stored), default=0),
            exchanged=sum(map(words_of, self._exchanged)),
            functions=max(map(elements_of, self._functions), default=0),
        )
