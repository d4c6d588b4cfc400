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
from tt_layout.audit.suggestions.suggestion import FORWARD, CostChange
from tt_layout.ir.ssa import Operation, Use, Value
from tt_layout.tuples import NamedTuple

Node = Hashable

SOURCE, SINK = "source", "sink"


class ChangedRegion(NamedTuple):
    """Region of operations that take another layout.

    Attributes:
        operations: operations whose tensors take it; of a conversion only one end does.
        values: values that take it.
        carried: those of the values that loops and branches pass on.
        inward: values from outside that these operations use: recomputed if free, else converted.
        outward: values of the new layout that operations outside use: converted back.
        consumers: users of the values inward and outward that take another version.
        changes: data movements before and after, without the conversion that it removes.
    """

    operations: tuple[Operation, ...]
    values: frozenset[Value]
    carried: frozenset[Value]
    inward: tuple[Value, ...]
    outward: tuple[Value, ...]
    consumers: dict[Value, tuple[Operation, ...]]
    changes: tuple[CostChange, ...]


def cheapest_region(
    prices: Prices, flow: Flow, conversion: Operation, where: str
) -> ChangedRegion | None:
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


def is_closed(prices: Prices, flow: Flow, conversion: Operation, where: str) -> bool:
    """Tell whether everything connected to one side of a conversion could change.

    Otherwise further conversions are needed somewhere, which is known without costs.
    """
    return _ConnectedValues(prices, flow, conversion, where).is_closed()


class Graph:
    """The operations around a conversion, as far as they can take the other layout."""

    def __init__(self, prices: Prices, flow: Flow, conversion: Operation, where: str) -> None:
        self.prices, self.flow, self.conversion = prices, flow, conversion
        self.carried = flow.carried
        self.is_forward = where == FORWARD
        self.begin = conversion.results[0] if self.is_forward else conversion.operands[0]
        self._cut = Cut()
        self._cost_changes: dict[Node, tuple[CostChange, ...]] = {}
        self._values: dict[Value, None] = {}
        self._waiting: list[Node] = []

    def region(self) -> ChangedRegion | None:
        """Return the cheapest region."""
        if not self._explore():
            return None
        flipped = self._cut.side_of_source()
        return self._result(flipped) if flipped is not None else None

    def _explore(self) -> bool:
        """Follow values from the conversion; tell whether that comes to an end."""
        if self._is_followed(self.begin):
            self._value(self.begin)
        while self._waiting and len(self._cost_changes) <= MAX_REGION:
            node = self._waiting.pop()
            for value in self._touched(node):
                if value not in self._values and self._is_followed(value):
                    self._value(value)
        return len(self._cost_changes) <= MAX_REGION

    # -- nodes and edges --------------------------------------------------------------------

    def _is_followed(self, value: Value) -> bool:
        return self.prices.is_flipped(value) and not self.flow.is_free(value)

    def _touched(self, node: Node) -> Iterator[Value]:
        """Yield the values that a node takes or makes."""
        if isinstance(node, Operation):
            yield from node.operands
            yield from node.results
        elif isinstance(node, Value):
            yield from self.carried.values(node)

    def _producer(self, value: Value) -> Node:
        """Return the node that a value comes from; the sink if that cannot change."""
        origin = self.carried.leaders.get(value, value.definition)
        return self._node(origin) if origin is not None else SINK

    def _consumer(self, use: Use, value: Value) -> Node:
        """Return the node that a value goes to."""
        return self._node(self.carried.receiver(use, value) or use.owner)

    def _node(self, node: Operation | Value) -> Node:
        """Return a node: an operation, or a group by its leader.

        The source stands for the conversion, the sink for what cannot change.
        """
        if node is self.conversion:
            return SOURCE
        if node in self._cost_changes:
            return node
        changes = self._changes_of(node)
        if changes is None:
            return SINK
        self._cost_changes[node] = changes
        self._waiting.append(node)
        saved = _saved(changes)
        source, target = (SOURCE, node) if saved > 0 else (node, SINK)
        self._cut.edge(source, target, abs(saved))
        return node

    def _changes_of(self, node: Operation | Value) -> tuple[CostChange, ...] | None:
        """Return the cost of a node before and after; None if it cannot change."""
        if isinstance(node, Operation):
            return self.prices.changes(node)
        return () if all(map(self.prices.is_flipped, self.carried.values(node))) else None

    def _value(self, value: Value) -> None:
        """Add edges for the cost of converting a value between its producer and its users."""
        self._values[value] = None
        producer, prices = self._producer(value), self.prices
        inward, outward = ("in", value), ("out", value)
        for source, target, is_back in ((inward, producer, False), (producer, outward, True)):
            is_end = value is self.begin and self.is_forward is is_back
            added = prices.conversion(value, is_back=is_back) if not is_end else None
            self._cut.edge(source, target, -_saved(added) if added is not None else inf)
        for use in value.uses:
            if len(self._cost_changes) > MAX_REGION:
                return
            consumer = self._consumer(use, value)
            self._cut.edge(consumer, inward, inf)
            self._cut.edge(outward, consumer, inf)

    # -- the answer -------------------------------------------------------------------------

    def _result(self, flipped: set[Node]) -> ChangedRegion:
        nodes = [node for node in self._cost_changes if node in flipped]
        changes = [change for node in nodes for change in self._cost_changes[node]]
        carried = {value for value, leader in self.carried.leaders.items() if leader in flipped}
        values, inward, outward = set(carried), list[Value](), list[Value]()
        consumers: dict[Value, tuple[Operation, ...]] = {}

        def is_flipped(node: Operation | Value | None) -> bool:
            return node is self.conversion or node in flipped

        touched = dict.fromkeys(value for node in nodes for value in self._touched(node))
        for value in filter(self.prices.is_flipped, touched):
            is_made = is_flipped(self.carried.leaders.get(value, value.definition))
            values |= {value} if is_made else set()
            users = [
                use.owner
                for use in value.uses
                if is_flipped(self.carried.receiver(use, value) or use.owner) != is_made
            ]
            if users:
                consumers[value] = tuple(users)
                (outward if is_made else inward).append(value)
            if users and (is_made or not self.flow.is_free(value)):
                changes += self.prices.conversion(value, is_back=is_made) or ()
        operations = [node for node in nodes if isinstance(node, Operation)]
        operations.sort(key=lambda operation: operation.position)
        return ChangedRegion(
            tuple(operations),
            frozenset(values),
            frozenset(carried),
            tuple(inward),
            tuple(outward),
            consumers,
            tuple(changes),
        )


class _ConnectedValues(Graph):
    """Reachable values, without costs, and whether all of them can change."""

    _is_whole = True

    def is_closed(self) -> bool:
        """Tell whether nothing that values lead to has to stay."""
        return self._explore() and self._is_whole

    def _changes_of(self, node: Operation | Value) -> tuple[CostChange, ...] | None:
        if isinstance(node, Operation):
            return () if self.prices.can_change(node) else None
        return super()._changes_of(node)

    def _value(self, value: Value) -> None:
        self._values[value] = None
        self._is_whole = self._is_whole and self._producer(value) is not SINK
        for use in value.uses:
            if not self._is_whole or len(self._cost_changes) > MAX_REGION:
                break
            self._is_whole = self._consumer(use, value) is not SINK
        if not self._is_whole:
            self._waiting.clear()


def _saved(changes: tuple[CostChange, ...]) -> float:
    return sum(change.saved_in_program for change in changes)


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
        self._capacity: defaultdict[Node, dict[Node, float]] = defaultdict(dict)

    def edge(self, source: Node, target: Node, cost: float) -> None:
        """Add an edge, whose cost counts if it leads from the source's side to the sink's."""
        self._capacity[source][target] = self._capacity[source].get(target, 0) + cost
        self._capacity[target].setdefault(source, 0)

    def side_of_source(self) -> set[Node] | None:
        """Return the smallest source side of a minimum cut; None if its cost is infinite.

        Edmonds-Karp: the shortest augmenting path is saturated until none is left.
        """
        while True:
            path = self._path()
            if SINK not in path:
                return set(path)
            capacity = min(self._capacity[path[node]][node] for node in _back(path))
            if capacity == inf:
                return None
            for node in _back(path):
                self._capacity[path[node]][node] -= capacity
                self._capacity[node][path[node]] += capacity

    def _path(self) -> dict[Node, Node]:
        """Return the nodes that the source reaches in the residual graph, with predecessors."""
        parents: dict[Node, Node] = {SOURCE: SOURCE}
        waiting = deque[Node]([SOURCE])
        while waiting and SINK not in parents:
            node = waiting.popleft()
            for after, capacity in self._capacity[node].items():
                if capacity > 0 and after not in parents:
                    parents[after] = node
                    waiting.append(after)
        return parents


def _back(path: dict[Node, Node]) -> Iterator[Node]:
    """Yield the nodes of a path but for the source, the sink first."""
    node: Node = SINK
    while node != SOURCE:
        yield node
        node = path[node]
