"""The programs of a launch, evaluated in no more parts than they differ in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeVar

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import PROGRAM_COUNTS, GivenValues
from tt_layout.audit.values.kinds import MAX_PARTS
from tt_layout.audit.values.spread import SplitError, partition
from tt_layout.audit.values.structure import Structure
from tt_layout.audit.values.unknown import Unknown, UnknownError
from tt_layout.ir.ssa.model import SsaFunction

MAX_PROGRAMS = 1 << 20
"""Programs of a launch that are looked at."""

Answer = TypeVar("Answer")


class Grid:
    """The programs of a launch.

    Attributes:
        function: that each of them runs.
        sizes: how many there are along each axis.

    Example:
        Of 64 programs with a causal loop, each has another number of iterations:

        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f() {
        ...   %c = arith.constant 0 : i32
        ...   %one = arith.constant 1 : i32
        ...   %x = tt.get_program_id x : i32
        ...   scf.for %i = %c to %x step %one : i32 {
        ...     ttg.barrier local
        ...   }
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> [loop] = [o for o in function.walk() if o.name == "scf.for"]
        >>> grid = Grid(function, GivenValues(), (64, 2, 1))
        >>> sum(count * trips for count, trips in grid.answers(lambda e: e.trip_count(loop)))
        4032
    """

    def __init__(
        self,
        function: SsaFunction,
        given: GivenValues,
        sizes: tuple[int, int, int],
        layouts: PlacedLayouts | None = None,
    ) -> None:
        self.function = function
        self.sizes = sizes
        counts = dict(zip(PROGRAM_COUNTS, sizes))
        self._given = GivenValues({**counts, **given.values})
        self._layouts = layouts or PlacedLayouts()
        self._evaluators: dict[bytes, Evaluator] = {}

    @property
    def programs(self) -> int:
        """Number of programs."""
        x, y, z = self.sizes
        return x * y * z

    @cached_property
    def _structure(self) -> Structure:
        return Structure(self.function)

    def answers(self, question: Callable[[Evaluator], Answer]) -> Iterator[tuple[int, Answer]]:
        """Yield the answers to a question, and the number of programs of each.

        Raises:
            UnknownError: there are too many programs, or they differ in too many ways.
        """
        if self.programs > MAX_PROGRAMS:
            reason = f"{self.programs} programs, more than the {MAX_PROGRAMS} looked at"
            raise UnknownError(Unknown.because(reason))
        pending = [np.indices(self.sizes, np.int64).reshape(3, -1)]
        parts = 0
        while pending:
            ids = pending.pop()
            try:
                yield ids.shape[1], question(self._evaluator(ids))
            except SplitError as split:
                places = partition(split.keys)
                parts += len(places)
                if parts > MAX_PARTS:
                    reason = f"more than {MAX_PARTS} kinds of programs"
                    raise UnknownError(Unknown.because(reason)) from None
                pending += [ids[:, place] for place in reversed(places)]

    def _evaluator(self, ids: Ints) -> Evaluator:
        key = ids.tobytes()
        if key not in self._evaluators:
            evaluator = Evaluator(self.function, self._given, self._layouts, ids, self._structure)
            self._evaluators[key] = evaluator
        return self._evaluators[key]
