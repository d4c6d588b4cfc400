"""Padding of memory: slots and the elements in them, by counting."""

from __future__ import annotations

import numpy as np
import pytest

from tt_layout.algebra.padding import Padding, padded, padded_size, unpadded


@pytest.mark.parametrize("padding", [[], [(1, 1)], [(2, 1)], [(4, 3)], [(2, 1), (4, 2)]])
@pytest.mark.parametrize("elements", range(10))
def test_each_slot_has_the_last_element_at_or_before_it(elements: int, padding: Padding) -> None:
    places = [slot + sum(slot // every * by for every, by in padding) for slot in range(elements)]
    assert padded(np.arange(elements), padding).tolist() == places
    assert padded_size(elements, padding) == (places[-1] + 1 if elements else 0)
    slots = range(padded_size(elements, padding) + 5)
    last = [max((e for e in range(elements) if places[e] <= slot), default=0) for slot in slots]
    assert unpadded(np.array(slots), elements, padding).tolist() == last
