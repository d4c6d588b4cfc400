"""Cycles of blocks, and the blocks behind one, beside what trying every block finds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from tt_layout.ir.ssa.graph import BlockGraph

Followers = Mapping[str, Sequence[str]]


def drawn(seed: int) -> Followers:
    chance = random.Random(seed)
    labels = [f"^{number}" for number in range(chance.randrange(1, 9))]
    return {
        label: [chance.choice(labels) for _ in range(chance.choice([0, 1, 1, 2, 2, 3]))]
        for label in labels
    }


def reached(followers: Followers, label: str, without: str | None = None) -> set[str]:
    """Return the labels behind one, by ways that do not come through another."""
    found: set[str] = set()
    pending = list(followers[label])
    while pending:
        name = pending.pop()
        if name not in found and name != without:
            found.add(name)
            pending += followers[name]
    return found


@pytest.mark.parametrize("seed", range(200))
def test_what_trying_every_block_finds(seed: int) -> None:
    followers = drawn(seed)
    graph = BlockGraph(followers)
    again = {label for label in followers if label in reached(followers, label)}
    assert graph.repeated == again
    ends = {label for label, after in followers.items() if not after}
    for label in followers:
        behind = reached(followers, label)
        certain = {
            name
            for name in behind - again
            if not behind & ends or not ends & reached(followers, label, without=name)
        }
        assert graph.behind(label).certain == certain, label
        assert graph.behind(label).perhaps == behind - certain


class Counting(dict[str, Sequence[str]]):
    """Branches that count how often they are asked for."""

    asked = 0

    def get(self, label: str, default: Sequence[str] = ()) -> Sequence[str]:  # type: ignore[override]
        self.asked += 1
        return super().get(label, default)


def test_the_work_grows_with_the_blocks() -> None:
    def asked(count: int) -> int:
        last = {f"^{count}": ["^0", "^end"], "^end": []}
        followers = Counting({f"^{k}": [f"^{k + 1}", "^end"] for k in range(count)} | last)
        graph = BlockGraph(followers)
        assert len(graph.repeated) == count + 1
        assert graph.behind("^0").certain == {"^end"}
        return followers.asked

    assert asked(4000) <= 2.1 * asked(2000)
