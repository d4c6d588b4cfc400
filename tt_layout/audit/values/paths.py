"""The blocks that control comes through between the beginning of a region and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tt_layout.audit.values.spread import is_true
from tt_layout.audit.values.unknown import Evaluated, Unknown, operation_text
from tt_layout.ir.ssa.control_flow import branches, by_label
from tt_layout.ir.ssa.dataflow import reach
from tt_layout.ir.ssa.model import Block, Region, Value
from tt_layout.tuples import NamedTuple


class Path(NamedTuple):
    """The blocks that control comes through.

    Attributes:
        labels: labels of the blocks that certainly run, in order.
        sources: argument of one of these blocks -> the value passed to it.
        unknown: why further blocks are not known; None where these are all.
        perhaps: labels of further blocks that may run.
    """

    labels: tuple[str, ...]
    sources: dict[Value, Value]
    unknown: Unknown | None = None
    perhaps: frozenset[str] = frozenset()

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
    blocks = by_label(region)
    block = region[0]
    labels = [block.label]
    while block.operations:
        last = block.operations[-1]
        taken = list(branches(last, blocks))
        if len(taken) > 1 and taken[0].choice is not None:
            condition = evaluate(taken[0].choice.value)
            if isinstance(condition, Unknown):
                return _open(region, labels, sources, condition)
            taken = [
                edge for edge in taken if edge.choice and edge.choice.outcome == is_true(condition)
            ]
        if len(taken) > 1:
            return _open(region, labels, sources, Unknown.because(operation_text(last)))
        if not taken:
            break
        [edge] = taken
        block = blocks[str(edge.end)]
        if block.label in labels:
            return _open(region, labels, sources, Unknown.because(operation_text(last)))
        labels.append(block.label)
        sources.update((new, old) for old, new in zip(edge.passed, edge.received))
    return Path(tuple(labels), sources)


def is_optional(region: Region, label: str) -> bool:
    """Tell whether control may come through a region without coming to a block."""
    first = region[0].label
    return label != first and label not in _behind(region, first)[1]


def is_repeated(region: Region, label: str) -> bool:
    """Tell whether control may come to a block again: it is in a loop of branches."""
    return label in _reached(_followers(region), label)


def cycles(region: Region) -> Iterator[list[Block]]:
    """Yield the blocks of each loop of branches in a region, in text order."""
    followers = _followers(region)
    reached = {label: _reached(followers, label) for label in followers}
    seen: set[str] = set()
    for label, behind in reached.items():
        if label in behind and label not in seen:
            around = {other for other in behind if label in reached.get(other, ())}
            seen |= around
            yield [block for block in region if block.label in around]


def _open(region: Region, labels: list[str], sources: dict[Value, Value], why: Unknown) -> Path:
    """Return a path that is known up to the last of some blocks."""
    perhaps, certain = _behind(region, labels[-1])
    return Path((*labels, *(c for c in certain if c not in labels)), sources, why, perhaps)


def _behind(region: Region, label: str) -> tuple[frozenset[str], list[str]]:
    """Return the blocks that may run after one, and those that run once on all paths."""
    followers = _followers(region)
    reached = _reached(followers, label)
    ends = {name for name in reached if not followers.get(name)}
    certain = [
        name
        for name in followers
        if name in reached
        and name not in _reached(followers, name)
        and not (ends - {name}) & _reached(followers, label, without=name)
    ]
    return frozenset(reached - set(certain)), certain


def _reached(
    followers: Mapping[str, list[str]], label: str, without: str | None = None
) -> set[str]:
    """Return the blocks that are reachable from one without passing another."""

    def behind(label: str) -> list[str]:
        return [follower for follower in followers.get(label, ()) if follower != without]

    return {*reach(behind(label), behind)}


def greatest_on_a_way(region: Region, numbers: Mapping[str, float]) -> float:
    """Return the greatest sum of numbers of blocks on a way through a region; of all, in a loop."""
    followers = _followers(region)
    if any(label in _reached(followers, label) for label in followers):
        return sum(numbers.values())
    best: dict[str, float] = {}
    for label in sorted(followers, key=lambda follower: len(_reached(followers, follower))):
        behind = [best[follower] for follower in followers[label] if follower in best]
        best[label] = numbers.get(label, 0) + max(behind, default=0)
    return best[region[0].label]


def _followers(region: Region) -> dict[str, list[str]]:
    """Return the blocks that each block may branch to, by their labels."""
    return {
        block.label: [s.label for last in block.operations[-1:] for s in last.successors]
        for block in region
    }
