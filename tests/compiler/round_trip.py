"""Translations read back, without the checks that the translation itself makes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import tt_layout
from compiler.agreement import shape_of
from tt_layout import LinearLayout
from tt_layout.algebra.padding import padded
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.mlir.types import element_bits
from tt_layout.notation.context import Context
from tt_layout.notation.cute.text import read_cute
from tt_layout.notation.gluon.text import read_gluon
from tt_layout.notation.notations.json import read_json
from tt_layout.notation.refusal import Reason, RefusedError
from tt_layout.notation.registry import NOTATIONS, read_layout
from tt_layout.notation.result import Translation
from tt_layout.notation.translation import translate
from tt_layout.releases import LATEST, Release

ALL_TARGETS = (*map(str, Release), *NOTATIONS)
MAX_PLACES = 1 << 12
REASONS: dict[object, str] = {reason: reason.value for reason in Reason}
"""Every refusal has one of these."""


class Given(NamedTuple):
    """A layout over a tensor."""

    encoding: Encoding
    shape: tuple[int, ...]
    element_bits: int | None

    @property
    def layout(self) -> LinearLayout:
        return self.encoding.to_linear_layout(self.shape, element_bits=self.element_bits)


def given(row: Mapping[str, Any], release: str) -> Given | None:
    """Return the layout of a row of a corpus, None where it has none."""
    try:
        encoding = tt_layout.parse_layout(row["attr"], release=release)
        shape = tuple(shape_of(encoding, row))
        found = Given(encoding, shape, element_bits(row["elem"]))
        assert found.layout
    except tt_layout.LayoutError:
        return None
    return found


def check_targets(own: Given, targets: Iterable[str], tally: Counter[str]) -> None:
    """Translate to each target; read back what is accepted, count what is refused."""
    for target in targets:
        try:
            result = translate(own.encoding, target, own.shape, element_bits=own.element_bits)
        except RefusedError as error:
            tally[f"{target}: refused: {REASONS[error.reason]}"] += 1
            continue
        READ_BACK.get(target, check_release)(own, result, target)
        tally[f"{target}: read back the same"] += 1


def check_same(own: Given, encoding: Encoding) -> None:
    found = encoding.to_linear_layout(own.shape, element_bits=own.element_bits)
    assert found.bases == own.layout.bases, own
    assert found.out_dims == own.layout.out_dims
    assert padding_of(encoding) == padding_of(own.encoding)


def padding_of(encoding: Encoding) -> object:
    return encoding.padding if isinstance(encoding, SharedEncoding) else ()


def check_release(own: Given, result: Translation, target: str) -> None:
    check_same(own, tt_layout.parse_layout(result.text, release=target))


def check_linear(own: Given, result: Translation, target: str) -> None:
    check_same(own, tt_layout.parse_layout(result.text, release=LATEST))


def check_gluon(own: Given, result: Translation, target: str) -> None:
    check_same(own, read_gluon(result.text))


def check_json(own: Given, result: Translation, target: str) -> None:
    read = read_json(result.text)
    assert (read.tensor.shape, read.tensor.element_bits) == (own.shape, own.element_bits)
    assert read.encoding.memory_space == own.encoding.memory_space
    check_same(own, read.encoding)


def check_cute(own: Given, result: Translation, target: str) -> None:
    """Evaluate the layout in every place, or on all bits where there are many."""
    cute, layout = read_cute(result.text), own.layout
    if isinstance(own.encoding, SharedEncoding):
        padding = own.encoding.padding
        for offset, point in places(layout, ("offset",)):
            physical = offset[0] + sum(offset[0] // n * pad for n, pad in padding)
            assert cute(*point) == physical, (own, result)
        return
    names = ("lane", "warp", "register", "block")
    lanes = layout.get_in_dim_size("lane")
    for (lane, warp, register, block), point in places(layout, names):
        at = [lane + lanes * warp, register, *([block] if layout.vectors("block") else [])]
        assert cute(*at) == flat(point, own.shape), (own, result)


def flat(point: Sequence[int], shape: Sequence[int]) -> int:
    """Return the index of an element, the first dimension the fastest."""
    return sum(x * math.prod(shape[:d]) for d, x in enumerate(point))


def places(
    layout: LinearLayout, names: Sequence[str]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield places and the elements they hold."""
    sizes = [layout.get_in_dim_size(name) for name in names]
    everywhere = itertools.product(*map(range, sizes))
    bits = [
        tuple(1 << bit if k == at else 0 for k in range(len(names)))
        for at, size in enumerate(sizes)
        for bit in range(size.bit_length() - 1)
    ]
    chosen = list(everywhere) if math.prod(sizes) <= MAX_PLACES else bits
    inputs = dict(zip(names, np.array(chosen).T))
    yield from zip(chosen, zip(*(points.tolist() for points in layout.apply(inputs).values())))


def check_notation(own: Given, result: Translation, target: str) -> None:
    """Read the text as any command does, over the type."""
    lanes = own.layout.get_in_dim_size("lane")
    context = Context(
        shape=own.shape,
        element_bits=own.element_bits,
        memory_space=own.encoding.memory_space,
        threads_per_warp=lanes,
    )
    check_same(own, read_layout(result.text, context))


def check_cute_both_ways(own: Given, result: Translation, target: str) -> None:
    """A layout of CuTe is of one CTA's memory, with the gaps that lie between its elements."""
    check_cute(own, result, target)
    if not isinstance(own.encoding, SharedEncoding):
        check_notation(own, result, target)
        return
    context = Context(shape=own.shape, memory_space=own.encoding.memory_space)
    found = read_layout(result.text, context)
    layout = found.to_linear_layout(own.shape)
    assert layout.vectors("offset") == own.layout.vectors("offset"), own
    assert addresses(found, layout) == addresses(own.encoding, layout)


def addresses(encoding: Encoding, layout: LinearLayout) -> list[int]:
    return [padded(1 << bit, encoding.padding) for bit in range(len(layout.vectors("offset")))]


READ_BACK: dict[str, Callable[[Given, Translation, str], None]] = {
    "linear": check_linear,
    "gluon": check_gluon,
    "json": check_json,
    "cute": check_cute_both_ways,
    "linear-layout": check_notation,
    "bases": check_notation,
    "mosaic": check_notation,
    "tlx": check_notation,
}
