"""Instances of loop bodies in several programs, evaluated together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.ir.ssa.model import Operation
from tt_layout.tuples import NamedTuple


class Iterations(NamedTuple):
    """The iteration of a loop that each instance is in.

    Attributes:
        loop: the loop.
        numbers: numbers of the iterations, from 0.
        variables: values of the loop's variable.
    """

    loop: Operation
    numbers: Ints
    variables: Ints


class Instances(NamedTuple):
    """Instances of the innermost of nested loops, or of a function without loops.

    Attributes:
        program: number of each instance's program.
        ids: ids of these programs, of shape ``[3, instances]``; None for a single program.
        loops: the enclosing loops, the outermost first.
    """

    program: Ints
    ids: Ints | None
    loops: tuple[Iterations, ...] = ()

    @staticmethod
    def of(programs: Ints | None) -> Instances:
        """Return an instance of each program, given their ids."""
        count = 1 if programs is None else programs.shape[1]
        return Instances(np.arange(count), programs)

    def take(self, places: npt.NDArray[np.intp]) -> Instances:
        """Return some of the instances, or some of them again and again."""
        return Instances(
            self.program[places],
            None if self.ids is None else self.ids[:, places],
            tuple(
                Iterations(loop, numbers[places], variables[places])
                for loop, numbers, variables in self.loops
            ),
        )

    def within(self, loop: Operation, trips: Ints, first: Ints, step: Ints) -> Instances:
        """Return the iterations of a loop that each instance runs.

        Args:
            loop: the loop.
            trips: number of iterations of each instance.
            first: the variable in the first iteration.
            step: increment of the variable.

        Example:
            >>> one = Instances.of(None).within(None, np.array([3]), np.array([8]), np.array([4]))
            >>> one.loops[0].numbers.tolist(), one.loops[0].variables.tolist()
            ([0, 1, 2], [8, 12, 16])
        """
        places = np.repeat(np.arange(len(trips)), trips)
        numbers: Ints = np.arange(len(places)) - np.repeat(np.cumsum(trips) - trips, trips)
        variables: Ints = first[places] + numbers * step[places]
        around = self.take(places)
        return around._replace(loops=(*around.loops, Iterations(loop, numbers, variables)))
