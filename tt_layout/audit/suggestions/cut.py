"""The cheapest way to divide a graph in two: a minimum cut."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from math import inf

Node = Hashable

SOURCE, SINK = "source", "sink"


class Cut:
    """Nodes that go to one side or the other, and what it costs to part two of them.

    Example:
        >>> graph = Cut()
        >>> graph.edge(SOURCE, "a", 3), graph.edge("a", "b", 1), graph.edge("b", SINK, 2)
        (None, None, None)
        >>> sorted(graph.side_of_source())
        ['a', 'source']
    """

    def __init__(self) -> None:
        self._left: defaultdict[Node, dict[Node, float]] = defaultdict(dict)

    def edge(self, source: Node, target: Node, cost: float) -> None:
        """Add what it costs that one node is on the source's side and another on the sink's."""
        self._left[source][target] = self._left[source].get(target, 0) + cost
        self._left[target].setdefault(source, 0)

    def side_of_source(self) -> set[Node] | None:
        """Return the fewest nodes on the source's side that cost least; None if all cost too much.

        Edmonds and Karp's way: the shortest path that has room is filled until none is left.
        """
        while True:
            path = self._path()
            if SINK not in path:
                return set(path)
            room = min(self._left[path[node]][node] for node in _back(path))
            if room == inf:
                return None
            self._fill(path, room)

    def _fill(self, path: dict[Node, Node], room: float) -> None:
        for node in _back(path):
            self._left[path[node]][node] -= room
            self._left[node][path[node]] += room

    def _path(self) -> dict[Node, Node]:
        """Return each node that the source reaches through room, and the node before it."""
        parents: dict[Node, Node] = {SOURCE: SOURCE}
        waiting = deque[Node]([SOURCE])
        while waiting and SINK not in parents:
            node = waiting.popleft()
            for after, room in self._left[node].items():
                if room > 0 and after not in parents:
                    parents[after] = node
                    waiting.append(after)
        return parents


def _back(path: dict[Node, Node]) -> Iterator[Node]:
    """Yield the nodes of a path but for the source, the sink first."""
    node: Node = SINK
    while node != SOURCE:
        yield node
        node = path[node]
