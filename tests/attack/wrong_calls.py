"""Calls of the library with an argument, or a few, of a wrong kind or value."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import count, repeat
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from harness import BLOCKED, OPERAND, SHARED

import tt_layout
from tt_layout import LinearLayout

TENSOR_MEMORY = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>"
FUNCTION = """tt.func @f(%n: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  tt.return
}
"""


class Signature(NamedTuple):
    """A function, and arguments that it takes."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = {}


class Call(NamedTuple):
    """A call, and how it is shown."""

    name: str
    make: Callable[[], Any]
    shown: str


@cache
def signatures() -> dict[str, Signature]:
    """Return every public function and method."""
    blocked = tt_layout.parse_layout(BLOCKED)
    registers = blocked.to_linear_layout([64, 64])
    shared = tt_layout.parse_layout(SHARED).to_linear_layout([64, 64])
    memory = tt_layout.parse_layout(TENSOR_MEMORY)
    module = tt_layout.parse_ir(FUNCTION)[0]
    function = tt_layout.read_functions(module)[0]
    bases = [("register", [[0, 1], [0, 2]]), ("lane", [[1, 0]])]
    return {
        "axis_info": Signature(tt_layout.axis_info, (function, [function])),
        "audit_ir": Signature(tt_layout.audit_ir, (FUNCTION,), {"values": {"n": 4}}),
        "conflicts": Signature(
            tt_layout.conflicts,
            (BLOCKED, SHARED, "64x64xf16"),
            {"target": "sm90", "access": "both"},
        ),
        "coalesced_blocked": Signature(
            tt_layout.coalesced_blocked,
            ("64x64xf16", 8),
            {"element_bits": 16, "num_warps": 4, "threads_per_warp": 32, "order": [1, 0]},
        ),
        "diff": Signature(tt_layout.diff, (BLOCKED, registers, [64, 64])),
        "convert": Signature(
            tt_layout.convert, (BLOCKED, registers, "64x64xf16"), {"target": "sm90"}
        ),
        "default_blocked": Signature(
            tt_layout.default_blocked,
            ([64, 64],),
            {
                "num_warps": 4,
                "threads_per_warp": 32,
                "size_per_thread": [1, 4],
                "order": [1, 0],
                "num_ctas": 1,
            },
        ),
        "default_nvmma": Signature(
            tt_layout.default_nvmma,
            ("64x64xf16",),
            {"element_bits": 16, "order": [1, 0], "cga": ((0, 1),), "fp4_padded": False},
        ),
        "plot": Signature(
            tt_layout.plot,
            (BLOCKED, [16, 16], None),
            {"view": "tensor", "color_by": "warp", "target": "sm90", "access": "load"},
        ),
        "elements_at": Signature(tt_layout.elements_at, (SHARED, [64, 64]), {"offset": 3}),
        "explore": Signature(tt_layout.explore, (BLOCKED, [16, 16], None), {"target": "sm90"}),
        "swizzle": Signature(
            tt_layout.swizzle,
            ([BLOCKED], [BLOCKED], "64x64xf16"),
            {"target": "sm90", "family": "swizzled", "max_candidates": 9, "has_ranking": True},
        ),
        "info": Signature(tt_layout.info, (memory, [64, 32]), {"memory_order": [1, 0]}),
        "locations_of": Signature(
            tt_layout.locations_of, (BLOCKED, [64, 64], [1, 2]), {"limit": 4}
        ),
        "operand_shared": Signature(
            tt_layout.operand_shared,
            (tt_layout.parse_layout(OPERAND), "64x64xf16"),
            {"order": [1, 0], "is_transposed": True},
        ),
        "parse_ir": Signature(
            tt_layout.parse_ir, (FUNCTION,), {"name": "f", "release": tt_layout.Release.V3_5}
        ),
        "parse_layout": Signature(
            tt_layout.parse_layout,
            (BLOCKED, [64, 64]),
            {"release": "3.9", "name": "x", "threads_per_warp": 32},
        ),
        "place": Signature(tt_layout.place, (SHARED, [64, 64])),
        "read_functions": Signature(tt_layout.read_functions, (module,)),
        "to_linear_layout": Signature(tt_layout.to_linear_layout, (BLOCKED, [64, 64])),
        "translate": Signature(tt_layout.translate, (blocked, "64x64xf16"), {"to": "linear"}),
        "Release.parse": Signature(tt_layout.Release.parse, ("3.5",)),
        "encoding.to_linear_layout": Signature(
            blocked.to_linear_layout, ([64, 64],), {"element_bits": 16}
        ),
        "encoding.format_tensor_view": Signature(blocked.format_tensor_view, ([16, 16],)),
        "encoding.format_hardware_view": Signature(blocked.format_hardware_view, ([16, 16],)),
        "encoding.checked_shape": Signature(blocked.checked_shape, ([16, 16],)),
        "from_bases": Signature(
            LinearLayout.from_bases,
            (bases, ["dim0", "dim1"]),
            {"out_dim_sizes": [2, 4], "require_surjective": True},
        ),
        "strided_1d": Signature(LinearLayout.strided_1d, (4, 2, "a", "b")),
        "identity_1d": Signature(LinearLayout.identity_1d, (4, "a", "b")),
        "zeros_1d": Signature(LinearLayout.zeros_1d, (4, "a", "b", 2)),
        "apply": Signature(registers.apply, ({"register": 1, "lane": 2, "warp": 3, "block": 0},)),
        "compose": Signature(shared.compose, (LinearLayout.identity_1d(64, "dim0", "x"),)),
        "invert_and_compose": Signature(registers.invert_and_compose, (shared,)),
        "times": Signature(lambda outer: registers * outer, (registers,)),
        "equals": Signature(lambda other: registers == other, (registers,)),
        "flatten": Signature(registers.flatten, ([1, 2],)),
        "get_in_dim_size": Signature(registers.get_in_dim_size, ("lane",)),
        "get_out_dim_size": Signature(registers.get_out_dim_size, ("dim0",)),
        "get_distributed_view": Signature(registers.get_distributed_view, (True,)),
        "get_shared_view": Signature(shared.get_shared_view, (False,)),
        "remove_zero_bases": Signature(registers.remove_zero_bases, ("register",)),
        "reshape_outs": Signature(registers.reshape_outs, ([("x", 4096)],)),
        "sublayout": Signature(registers.sublayout, (["lane"], ["dim0"])),
        "transpose_ins": Signature(
            registers.transpose_ins, (["lane", "register", "warp", "block"],)
        ),
        "transpose_outs": Signature(registers.transpose_outs, (["dim1", "dim0"],)),
        "vectors": Signature(registers.vectors, ("lane",)),
        "with_vectors": Signature(registers.with_vectors, ("lane", ((0, 1),))),
    }


class EndlessList(list[Any]):
    """A list that yields for ever."""

    def __iter__(self) -> Iterator[Any]:
        return repeat(4)


def _list_of_itself() -> Any:
    whole: list[Any] = []
    whole.append(whole)
    return whole


@cache
def wrong_values() -> list[Any]:
    """Return values of every kind, most of which no function takes."""
    blocked = tt_layout.parse_layout(BLOCKED)
    numbers = [0, -1, 1, 3, 2**31, 2**63, 2**64, 10**30, True, 0.5, 1.0, float("nan"), 1e400, 1j]
    texts = ["", "x", "\0", "a\n::b", "\ud800", "1", "lane", "x" * 100_000, b"", b"lane"]
    lists = [
        [], [[]], [None], [0], [0, 0], [3, 5], [-1, 4], [1 << 40, 1 << 40], [2] * 70, [1.5, 2.0],
        ["4", "4"], [True, False], [[1, 2], [3, 4]], (), ((),), (4, 4), ((0, 0),), ((64, 0),),
        (("x", 4),), (("x", -4),), [("register", [[0, 1]])], [("register", 3)], _list_of_itself(),
        EndlessList([4, 4]),
        {}, {"lane": 1}, {"lane": None}, {"lane": 1 << 70}, {3: 4}, {1, 2}, frozenset(),
        {"register": [[0, 1]]}, range(2), range(1 << 20),
    ]  # fmt: skip
    arrays = [
        np.array([64, 64]), np.array([[0, 1]]), np.array(3), np.array([]), np.array([1.5]),
        np.array(["a"]), np.int64(4), np.uint8(255), np.float32(2), np.bool_(True),
    ]  # fmt: skip
    others = [
        None, object(), int, len, ..., NotImplemented, Exception("x"), iter([]),
        count(), iter(int, 1), tt_layout,
        blocked, blocked.to_linear_layout([64, 64]), LinearLayout.empty(),
        LinearLayout.identity_1d(4, "a", "b"), tt_layout.parse_layout(SHARED),
        tt_layout.parse_layout(TENSOR_MEMORY), tt_layout.Release.V2_0, BLOCKED, OPERAND,
        "tensor<4x4xf16>", "sm90", "3.5",
    ]  # fmt: skip
    return [*numbers, *texts, *lists, *arrays, *others]


def wrong_call(r: Random) -> Call:
    """Return a call of which one argument, or a few, are of another kind."""
    name = r.choice(list(signatures()))
    function, given, known = signatures()[name]
    arguments, keywords = list(given), dict(known)
    places: list[Any] = [*range(len(arguments)), *keywords]
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        at, value = r.choice(places), r.choice(wrong_values())
        if isinstance(at, int):
            arguments[at] = value
        else:
            keywords[at] = value
    if r.random() < 0.05:
        arguments.append(r.choice(wrong_values()))
    if r.random() < 0.05 and arguments:
        arguments.pop()
    shown = ", ".join([*map(_shown, arguments), *(f"{k}={_shown(v)}" for k, v in keywords.items())])
    return Call(name, lambda: function(*arguments, **keywords), f"{name}({shown})")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."
