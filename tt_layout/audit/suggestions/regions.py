"""Region that takes the layout of a conversion's other side at the least cost.

Each operation, and each group of values that loops and branches hand over, either stays or takes
the other layout.  A value that is wanted in both is converted behind its definition, or computed
anew where that is as cheap.  What is cheapest is a minimum cut: accesses cost what they do in
either layout, values what it costs to convert them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from math import inf

from tt_layout.audit.suggestions.flow import MAX_REGION, Flow
from tt_layout.audit.suggestions.prices import Prices
from tt_layout.audit.suggestions.suggestion import FORWARD, Recost
from tt_layout.audit.values.executions import assumed_runs
from tt_layout.ir.ssa import SsaOperation, Use, Value
from tt_layout.tuples import NamedTuple

Node = Hashable

SOURCE, SINK = "source", "sink"


class Region(NamedTuple):
    """Region of operations that take another layout.

    Attributes:
        operations: operations whose tensors take it; of a conversion only one end does.
        values: values that take it.
        carried: those of the values that loops and branches pass on.
        inward: values from outside that these operations use: recomputed if free, else converted.
        outward: values of the new layout that operations outside use: converted back.
        takers: users of the values inward and outward that take another version.
        recosts: data movements before and after, without the conversion that it removes.
    """

    operations: tuple[SsaOperation, ...]
    values: frozenset[Value]
    carried: frozenset[Value]
    inward: tuple[Value, ...]
    outward: tuple[Value, ...]
    takers: dict[Value, tuple[SsaOperation, ...]]
    recosts: tuple[Recost, ...]


def cheapest_region(
    prices: Prices, flow: Flow, conversion: SsaOperation, where: str
) -> Region | None:
    """Return the cheapest region to take the layout of the other side of a conversion.

    Args:
        prices: costs of operations in either layout.
        flow: the values of its function.
        conversion: the conversion.
        where: `FORWARD` or `BACKWARD`.

    Returns:
        The region; None where nothing can take it.
    """
    return Graph(prices, flow, conversion, where).region()


def is_closed(prices: Prices, flow: Flow, conversion: SsaOperation, where: str) -> bool:
    """Tell whether everything connected to one side of a conversion could change.

    Otherwise further conversions are needed somewhere, which is known without costs.
    """
    return _Reach(prices, flow, conversion, where).is_closed()


class Graph:
    """The operations around a conversion, as far as they can take the other layout."""

    def __init__(self, prices: Prices, flow: Flow, conversion: SsaOperation, where: str) -> None:
        self.prices, self.flow, self.conversion = prices, flow, conversion
        self.carried = flow.carried
        self.is_forward = where == FORWARD
        self.begin = conversion.results[0] if self.is_forward else conversion.operands[0]
        self._cut = Cut()
        self._recosts: dict[Node, tuple[Recost, ...]] = {}
        self._values: dict[Value, None] = {}
        self._waiting: list[Node] = []

    def region(self) -> Region | None:
        """Return the cheapest region."""
        if not self._explore():
            return None
        flipped = self._cut.side_of_source()
        return self._result(flipped) if flipped is not None else None

    def _explore(self) -> bool:
        """Follow values from the conversion; tell whether that comes to an end."""
        if self._is_followed(self.begin):
            self._value(self.begin)
        while self._waiting and len(self._recosts) <= MAX_REGION:
            node = self._waiting.pop()
            for value in self._touched(node):
                if value not in self._values and self._is_followed(value):
                    self._value(value)
        return len(self._recosts) <= MAX_REGION

    # -- nodes and edges --------------------------------------------------------------------

    def _is_followed(self, value: Value) -> bool:
        return self.prices.is_flipped(value) and not self.flow.is_free(value)

    def _touched(self, node: Node) -> Iterator[Value]:
        """Yield the values that a node takes or makes."""
        if isinstance(node, SsaOperation):
            yield from node.operands
            yield from node.results
        elif isinstance(node, Value):
            yield from self.carried.values(node)

    def _maker(self, value: Value) -> Node:
        """Return the node that a value comes from; the sink if that cannot change."""
        origin = self.carried.leaders.get(value, value.definition)
        return self._node(origin) if origin is not None else SINK

    def _taker(self, use: Use, value: Value) -> Node:
        """Return the node that a value goes to."""
        return self._node(self.carried.taker(use, value) or use.owner)

    def _node(self, node: SsaOperation | Value) -> Node:
        """Return a node: an operation, or a group by its leader.

        The source stands for the conversion, the sink for what cannot change.
        """
        if node is self.conversion:
            return SOURCE
        if node in self._recosts:
            return node
        recosts = self._own(node)
        if recosts is None:
            return SINK
        self._recosts[node] = recosts
        self._waiting.append(node)
        saved = _saved(recosts)
        source, target = (SOURCE, node) if saved > 0 else (node, SINK)
        self._cut.edge(source, target, abs(saved))
        return node

    def _own(self, node: SsaOperation | Value) -> tuple[Recost, ...] | None:
        """Return the cost of a node before and after; None if it cannot change."""
        if isinstance(node, SsaOperation):
            return self.prices.own(node)
        return () if all(map(self.prices.is_flipped, self.carried.values(node))) else None

    def _value(self, value: Value) -> None:
        """Add edges for the cost of converting a value between its producer and its users."""
        self._values[value] = None
        maker, prices = self._maker(value), self.prices
        inward, outward = ("in", value), ("out", value)
        ends = value is self.begin, self.is_forward
        self._cut.edge(inward, maker, _cost(prices.inward(value), is_out=ends == (True, False)))
        self._cut.edge(maker, outward, _cost(prices.outward(value), is_out=all(ends)))
        for use in value.uses:
            if len(self._recosts) > MAX_REGION:
                return
            taker = self._taker(use, value)
            self._cut.edge(taker, inward, inf)
            self._cut.edge(outward, taker, inf)

    # -- the answer -------------------------------------------------------------------------

    def _result(self, flipped: set[Node]) -> Region:
        nodes = [node for node in self._recosts if node in flipped]
        recosts = [recost for node in nodes for recost in self._recosts[node]]
        carried = {value for value, leader in self.carried.leaders.items() if leader in flipped}
        values, inward, outward = set(carried), list[Value](), list[Value]()
        takers: dict[Value, tuple[SsaOperation, ...]] = {}

        def is_flipped(node: SsaOperation | Value | None) -> bool:
            return node is self.conversion or node in flipped

        for value in self._wanted(nodes):
            is_made = is_flipped(self.carried.leaders.get(value, value.definition))
            values |= {value} if is_made else set()
            users = [
                use.owner
                for use in value.uses
                if is_flipped(self.carried.taker(use, value) or use.owner) != is_made
            ]
            if users:
                takers[value] = tuple(users)
                (outward if is_made else inward).append(value)
            if users and (is_made or not self.flow.is_free(value)):
                recosts += (self.prices.outward if is_made else self.prices.inward)(value) or ()
        operations = [node for node in nodes if isinstance(node, SsaOperation)]
        operations.sort(key=lambda operation: operation.position)
        return Region(
            tuple(operations),
            frozenset(values),
            frozenset(carried),
            tuple(inward),
            tuple(outward),
            takers,
            tuple(recosts),
        )

    def _wanted(self, nodes: list[Node]) -> dict[Value, None]:
        """Return the values of another layout that some nodes take or make, in their order."""
        values = (value for node in nodes for value in self._touched(node))
        return {value: None for value in values if self.prices.is_flipped(value)}


class _Reach(Graph):
    """Reachable values, without costs, and whether all of them can change."""

    _is_whole = True

    def is_closed(self) -> bool:
        """Tell whether nothing that values lead to has to stay."""
        return self._explore() and self._is_whole

    def _own(self, node: SsaOperation | Value) -> tuple[Recost, ...] | None:
        if isinstance(node, SsaOperation):
            recosts: tuple[Recost, ...] | None = () if self.prices.can_change(node) else None
        else:
            recosts = super()._own(node)
        self._is_whole = self._is_whole and recosts is not None
        return recosts

    def _value(self, value: Value) -> None:
        self._values[value] = None
        self._is_whole = self._is_whole and self._maker(value) is not SINK
        for use in value.uses:
            if not self._is_whole or len(self._recosts) > MAX_REGION:
                break
            self._is_whole = self._taker(use, value) is not SINK
        if not self._is_whole:
            self._waiting.clear()


def _cost(added: tuple[Recost, ...] | None, *, is_out: bool) -> float:
    """Return the cost of a conversion; infinity if there can be none."""
    return inf if added is None or is_out else -_saved(added)


def _saved(recosts: tuple[Recost, ...]) -> float:
    return sum(recost.saved * assumed_runs(recost.executions) for recost in recosts)


# -- minimum cut -----------------------------------------------------------------------------------


class Cut:
    """A flow network for a minimum cut between two sides.

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
        """Add an edge, whose cost counts if it leads from the source's side to the sink's."""
        self._left[source][target] = self._left[source].get(target, 0) + cost
        self._left[target].setdefault(source, 0)

    def side_of_source(self) -> set[Node] | None:
        """Return the smallest source side of a minimum cut; None if its cost is infinite.

        Edmonds-Karp: the shortest augmenting path is saturated until none is left.
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
        """Return the nodes that the source reaches in the residual graph, with predecessors."""
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
