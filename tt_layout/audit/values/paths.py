"""The blocks that control comes through between the beginning of a region and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set

from tt_layout.audit.values.spread import is_true
from tt_layout.audit.values.unknown import Evaluated, Unknown, operation_text
from tt_layout.grouping import grouped
from tt_layout.ir.ssa.control_flow import branches
from tt_layout.ir.ssa.model import Block, Region, Value
from tt_layout.tuples import NamedTuple


class Path(NamedTuple):
    """The blocks that control comes through.

    Attributes:
        labels: labels of the blocks that certainly run.
        sources: argument of one of these blocks -> the value passed to it.
        unknown: why further blocks are not known; None where these are all.
        perhaps: labels of further blocks that may run.
    """

    labels: Set[str]
    sources: dict[Value, Value]
    unknown: Unknown | None = None
    perhaps: Set[str] = frozenset()

    def runs(self, label: str) -> bool | None:
        """Return whether a block runs, once; None where that is not known."""
        if label in self.labels:
            return True if label not in self.perhaps else None
        return None if label in self.perhaps else False


def follow(
    region: Region, evaluate: Callable[[Value], Evaluated], sources: dict[Value, Value]
) -> Path:
    """Return the path through a region of several blocks.

    Args:
        region: the region.
        evaluate: returns what a value is.
        sources: argument of a block -> the value passed to it; entries are added.
    """
    blocks = region.labelled
    block = region[0]
    labels = {block.label}
    while block.operations:
        last = block.operations[-1]
        taken = list(branches(last, blocks))
        if len(taken) > 1 and taken[0].choice is not None:
            condition = evaluate(taken[0].choice.value)
            if isinstance(condition, Unknown):
                return _open(region, labels, block.label, sources, condition)
            taken = [
                edge for edge in taken if edge.choice and edge.choice.outcome == is_true(condition)
            ]
        if len(taken) > 1:
            return _open(
                region, labels, block.label, sources, Unknown.because(operation_text(last))
            )
        if not taken:
            break
        [edge] = taken
        following = blocks[str(edge.end)]
        if following.label in labels:
            return _open(
                region, labels, block.label, sources, Unknown.because(operation_text(last))
            )
        block = following
        labels.add(block.label)
        sources.update((new, old) for old, new in zip(edge.passed, edge.received))
    return Path(labels, sources)


def is_optional(region: Region, label: str) -> bool:
    """Tell whether control may come through a region without coming to a block."""
    first = region[0].label
    return label != first and label not in region.graph.behind(first).certain


def is_repeated(region: Region, label: str) -> bool:
    """Tell whether control may come to a block again: it is in a loop of branches."""
    return label in region.graph.repeated


def cycles(region: Region) -> Iterator[list[Block]]:
    """Yield the blocks of each loop of branches in a region, in text order."""
    cycle_of = region.graph.cycle_of
    repeated = (block for block in region if block.label in cycle_of)
    yield from grouped(repeated, lambda block: cycle_of[block.label]).values()


def _open(
    region: Region, labels: Set[str], last: str, sources: dict[Value, Value], why: Unknown
) -> Path:
    """Return a path that is known up to the last of some blocks."""
    behind = region.graph.behind(last)
    return Path(labels | behind.certain, sources, why, behind.perhaps)


def greatest_on_a_way(region: Region, numbers: Mapping[str, float]) -> float:
    """Return the greatest sum of numbers of blocks on a way through a region; of all, in a loop."""
    graph = region.graph
    if graph.repeated:
        return sum(numbers.values())
    best: dict[str, float] = {}
    for [label] in graph.components:
        if label in graph.successors:
            behind = [best[follower] for follower in graph.after(label) if follower in best]
            best[label] = numbers.get(label, 0) + max(behind, default=0)
    return best[region[0].label]
