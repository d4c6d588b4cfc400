"""The types of an operation's results, from the types that its text has.

Most operations write the types of their results behind an arrow, a few behind ``to``, or one
type for both operands and results.  Those that do something else are listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tt_layout.ir.names import spellings
from tt_layout.ir.ssa.types import pointed_at, value_type, with_element

TOKEN_TYPE = "!ttg.async.token"


_UNWRITTEN = {"arith.constant": "i1", "gpu.thread_id": "index", "gpu.block_id": "index"}

_SHORT = {
    "tt.make_tensor_descriptor": "!tt.tensordesc",
    "tt.make_tensor_ptr": "!tt.ptr",
    "tt.advance": "!tt.ptr",
}


class WrittenTypes(NamedTuple):
    """The types in the text of an operation.

    Attributes:
        colon: behind the colon.
        arrow: behind the last arrow, or ``to``; None where there is none.
    """

    colon: Sequence[str]
    arrow: Sequence[str] | None


def _boolean(types: Sequence[str]) -> str:
    return with_element(types[0], "i1")


def _first(types: Sequence[str]) -> str:
    return types[0]


def _last(types: Sequence[str]) -> str:
    return types[-1]


def _loaded(types: Sequence[str]) -> str:
    return pointed_at(types[0])


def _element(types: Sequence[str]) -> str:
    return value_type(types[0]).element


_RULES: dict[str, Callable[[Sequence[str]], str]] = {
    "arith.cmpi": _boolean,
    "arith.cmpf": _boolean,
    "arith.select": _last,
    "tt.addptr": _first,
    "tt.load": _loaded,
    "tt.unsplat": _element,
    "tt.make_tensor_descriptor": _last,
}
_TOKENS = frozenset(
    spelling
    for name in (
        "ttg.async_copy_global_to_local",
        "ttg.async_commit_group",
        "ttg.async_wait",
        "amdg.buffer_load_to_local",
        "ttng.tmem_store",
        "ttng.tc_gen5_mma",
        "ttng.tc_gen5_mma_scaled",
    )
    for spelling in spellings(name)
)


def result_types(name: str, count: int, written: WrittenTypes, *, generic: bool) -> list[str]:
    """Return the types of the results of an operation; empty where the text has none.

    Args:
        name: of the operation.
        count: how many results it has.
        written: the types in its text.
        generic: whether it is in the generic form, which writes all of them.

    Example:
        >>> result_types("arith.cmpi", 1, WrittenTypes(["tensor<4xi32>"], None), generic=False)
        ['tensor<4xi1>']
    """
    if name in _TOKENS and not generic:
        return [TOKEN_TYPE] * count
    rule = _RULES.get(name)
    types = written.arrow if written.arrow is not None else written.colon
    if not types:
        types = [_UNWRITTEN.get(name, "")]
    elif rule is not None and written.arrow is None:
        types = [rule(types)]
    types = [_whole(name, text) for text in types]
    if len(types) == count:
        return types
    if len(types) == 1:
        return types * count if name != "ttng.tmem_load" else types + [TOKEN_TYPE] * (count - 1)
    return (types + [""] * count)[:count]


def _whole(name: str, text: str) -> str:
    """Return a type that was written without its name with it."""
    return _SHORT.get(name, "!ttg.memdesc") + text if text.startswith("<") else text
