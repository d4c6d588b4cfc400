"""Walks over graphs: what is reachable, cycles, and the blocks on all ways through a region.

Each visits every node once, even in cycles, and without recursion, since chains can be very long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeVar

from tt_layout.tuples import NamedTuple

Node = TypeVar("Node", bound=Hashable)


def reach(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield each node reachable from the roots once, the roots included.

    Args:
        roots: the start nodes.
        successors: the successors of a node; called when the walk continues after it.

    Example:
        >>> sorted(reach([1], lambda number: [2 * number] if number < 8 else [1]))
        [1, 2, 4, 8]
    """
    pending = list(dict.fromkeys(roots))
    seen = set(pending)
    while pending:
        node = pending.pop()
        yield node
        for successor in successors(node):
            if successor not in seen:
                seen.add(successor)
                pending.append(successor)


def components(
    roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> Iterator[Sequence[Node]]:
    """Yield the strongly connected components of a graph, each behind those that it leads to.

    Args:
        roots: the start nodes.
        successors: the successors of a node; called once for each.

    Source:
        R. E. Tarjan, Depth-first search and linear graph algorithms (1972).

    Example:
        >>> graph = {1: [2], 2: [3, 1], 3: [4], 4: []}
        >>> [sorted(component) for component in components([1], graph.__getitem__)]
        [[4], [3], [1, 2]]
    """
    lowest: dict[Node, int] = {}  # of each node, the first on the way that it leads back to
    open_at: dict[Node, int] = {}  # place of each node that is in no component yet
    for first in roots:
        way = [(first, iter([first]))] if first not in lowest else []
        while way:
            node, onward = way[-1]
            follower = next(onward, None)
            if follower is None:
                way.pop()
                if way:
                    above = way[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if open_at.get(node) == lowest[node]:
                    yield _last(open_at, node)
            elif follower not in lowest:
                lowest[follower] = open_at[follower] = len(lowest)
                way.append((follower, iter(successors(follower))))
            elif follower in open_at:
                lowest[node] = min(lowest[node], open_at[follower])


class BlocksBehind(NamedTuple):
    """The blocks that control may come to behind one, by their labels.

    Attributes:
        certain: those that run, once, on every way to an end of the region.
        perhaps: those that may run, and may not, or several times.
    """

    certain: Set[str]
    perhaps: Set[str]


class BlockGraph:
    """The branches between the blocks of a region: its cycles, and the blocks behind each.

    Each is found in one pass over the branches, once for a region, and without recursion, since
    chains of blocks can be very long.

    Attributes:
        successors: label of a block -> the labels that it may branch to, in text order.

    Example:
        >>> graph = BlockGraph({"": ["^a", "^b"], "^a": ["^a", "^b"], "^b": []})
        >>> sorted(graph.repeated), sorted(graph.behind("").certain)
        (['^a'], ['^b'])
    """

    def __init__(self, successors: Mapping[str, Sequence[str]]) -> None:
        self.successors = successors
        self._behind: dict[str, BlocksBehind] = {}

    def after(self, label: str) -> Sequence[str]:
        """Return the labels that a block may branch to; none where there is no such block."""
        return self.successors.get(label, ())

    @cached_property
    def predecessors(self) -> Mapping[str, Sequence[str]]:
        """Label of a block -> the blocks that may branch to it."""
        into: dict[str, list[str]] = {}
        for label, labels in self.successors.items():
            for successor in labels:
                into.setdefault(successor, []).append(label)
        return into

    @cached_property
    def components(self) -> Sequence[Sequence[str]]:
        """The strongly connected components, each behind those that it leads to."""
        return [*components(self.successors, self.after)]

    @cached_property
    def cycle_of(self) -> Mapping[str, int]:
        """The number of the cycle that a block is in; no entry for one that never runs again."""
        return {
            label: number
            for number, component in enumerate(self.components)
            if len(component) > 1 or component[0] in self.after(component[0])
            for label in component
        }

    @property
    def repeated(self) -> Set[str]:
        """The blocks that control may come to again."""
        return self.cycle_of.keys()

    def behind(self, label: str) -> BlocksBehind:
        """Return the blocks that may run after one, and those that run once on all ways."""
        if label not in self._behind:
            self._behind[label] = self._find_behind(label)
        return self._behind[label]

    def _find_behind(self, label: str) -> BlocksBehind:
        before: dict[str, str] = {}  # of each block that is reached, one that leads to it

        def following(name: str) -> Sequence[str]:
            for follower in self.after(name):
                before.setdefault(follower, name)
            return self.after(name)

        deque(reach([label], following), maxlen=0)
        reached = before.keys()
        end = next((name for name in reached if not self.after(name)), None)
        passed: Set[str] = reached  # where control never leaves the region
        if end is not None:
            way = [end]
            while way[-1] != label:
                way.append(before[way[-1]])
            passed = self._on_every_way(way[::-1])
        certain = frozenset(
            name
            for name in reached & passed
            if name in self.successors and name not in self.cycle_of
        )
        return BlocksBehind(certain, frozenset(reached) - certain)

    def _on_every_way(self, way: Sequence[str]) -> Set[str]:
        """Return the blocks of a way to an end that all ways from its first block pass.

        A block of the way is not passed by all, if some leave the way before it and come back
        behind it, or come to another end.
        """
        places = {name: place for place, name in enumerate(way)}
        seen, every, furthest = set(way), set[str](), 0

        def fresh(name: str) -> Sequence[str]:
            nonlocal furthest
            following = self.after(name)
            ends = (places.get(follower, 0) for follower in following)
            furthest = max([furthest, *ends]) if following else len(way)
            unseen = [follower for follower in following if follower not in seen]
            seen.update(unseen)
            return unseen

        for place, first in enumerate(way):
            if furthest == place:
                every.add(first)
            deque(reach([first], fresh), maxlen=0)
        return every


def _last(open_at: dict[Node, int], node: Node) -> Sequence[Node]:
    """Take out the last nodes of those that are in no component yet, back to one of them."""
    taken: list[Node] = []
    while not taken or taken[-1] != node:
        taken.append(open_at.popitem()[0])
    return taken
