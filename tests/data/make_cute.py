"""Make ``cute-algebra.jsonl.gz``: random calls of CuTe's functions, and what its judges answer.

    PYTHON tests/data/make_cute.py [SEED EACH OUTPUT]

PYTHON has ``tensor-layouts`` and the ``pycute`` of ``nvidia-cutlass``.  A row is the function, its
arguments and the answer: that of both where both have the function and agree, else that of the one
that has it.  A layout is ``{"layout": [shape, stride]}``, or ``{"call": [function, arguments]}``,
which is what that call gives.  With SEED, EACH and OUTPUT others are written, so many of each
function, for ``pytest tests/notation/test_cute_algebra.py --cute-rows OUTPUT``.
"""

# mypy: ignore-errors

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

import pycute
import tensor_layouts

OUTPUT = Path(__file__).parent / "cute-algebra.jsonl.gz"
EACH = 260
SIZES = (1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16)
STRIDES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
R = random.Random(20261126)


def nested(depth=0):
    if depth and (depth > 2 or R.random() < 0.55):
        return R.choice(SIZES)
    return tuple(nested(depth + 1) for _ in range(R.choice((1, 2, 2, 3) if not depth else (2, 3))))


def leaves(shape):
    return [shape] if isinstance(shape, int) else [x for one in shape for x in leaves(one)]


def layout(shape, is_compact=True):
    sizes = leaves(shape)
    strides = [R.choice(STRIDES) for _ in sizes]
    if is_compact:
        step = 1
        for k in R.sample(range(len(sizes)), len(sizes)):
            strides[k] = step
            step *= sizes[k] * R.choice((1, 1, 1, 2))
    rest = iter(strides)

    def filled(own):
        return next(rest) if isinstance(own, int) else tuple(map(filled, own))

    return {"layout": [shape, filled(shape)]}


def any_layout():
    shape = nested() if R.random() < 0.8 else R.choice(SIZES)
    return layout(shape, R.random() < 0.7)


def compact():
    return layout(nested() if R.random() < 0.8 else R.choice(SIZES))


def flat():
    return layout(tuple(R.choice(SIZES) for _ in range(R.choice((2, 2, 3)))))


def dense():
    shape = tuple(R.choice(SIZES[1:8]) for _ in range(2))
    return {"layout": [shape, R.choice([(1, shape[0]), (shape[1], 1)])]}


def tiled():
    own = compact()
    shape = own["layout"][0]
    rank = len(shape) if isinstance(shape, tuple) else 1
    by_mode = [R.choice((2, 3, 4, {"layout": [2, R.choice((1, 2, 4))]})) for _ in range(rank)]
    return own, (by_mode if R.random() < 0.5 and rank > 1 else compact())


CALLS = {
    "coalesce": lambda: (any_layout(),),
    "filter": lambda: (any_layout(),),
    "composition": lambda: (any_layout(), compact()),
    "complement": lambda: (compact(), R.choice((1, 8, 24, 96, 100))),
    "right_inverse": lambda: (any_layout(),),
    "left_inverse": lambda: (compact(),),
    "logical_divide": tiled,
    "zipped_divide": tiled,
    "tiled_divide": tiled,
    "flat_divide": lambda: (compact(), compact()),
    "logical_product": lambda: (compact(), compact()),
    "zipped_product": lambda: (compact(), compact()),
    "tiled_product": lambda: (compact(), compact()),
    "flat_product": lambda: (compact(), compact()),
    "raked_product": lambda: (flat(), flat()),
    "downcast": lambda: (layout(flat()["layout"][0], False), R.choice((2, 4, 8))),
    "slice": lambda: (lambda own: ([R.choice((None, 0, 1)) for _ in own["layout"][0]], own))(
        flat()
    ),
}
FURTHER = {
    "blocked_product": lambda: (dense(), dense()),
    "upcast": lambda: cast(),
    "coalesce of": lambda: (call(),),
    "complement of": lambda: (call(), R.choice((24, 96, 256))),
    "right_inverse of": lambda: (call(),),
    "logical_divide of": lambda: (call(), R.choice((2, 3, 4, 6))),
}
"""Functions that are judged besides when they are made anew, and functions of functions."""


def cast():
    """Return arguments of upcast that divide; of others tensor-layouts rounds up."""
    count = R.choice((2, 4, 8))
    while True:
        given = layout(flat()["layout"][0], False)
        pairs = zip(*given["layout"])
        if all(s % count == 0 or (count % s == 0 and n % (count // s) == 0) for n, s in pairs):
            return given, count


def call():
    name = R.choice(("coalesce", "composition", "logical_divide", "logical_product", "filter"))
    return {"call": [name, CALLS[name]()]}


NAMES = {"composition": "compose"}


def value(judge, one):
    if isinstance(one, dict) and "call" in one:
        found = answer(judge, *one["call"])
        if found is None:
            raise ValueError
        return judge.Layout(*found)
    if isinstance(one, dict):
        return judge.Layout(*one["layout"])
    return tuple(value(judge, x) for x in one) if isinstance(one, list) else one


def answer(judge, name, arguments):
    """Return the answer of a judge; None where it refuses, or has no such function."""
    if name == "slice":
        coordinate, own = (value(judge, one) for one in arguments)
        if judge is not pycute or all(x is not None for x in coordinate):
            return None
        found = own(*coordinate)
        return [found.shape, found.stride]
    own_name = NAMES.get(name, name) if judge is tensor_layouts else name
    function = getattr(judge, own_name, None)
    if function is None:
        return None
    try:
        found = function(*(value(judge, one) for one in arguments))
    except Exception:
        return None
    return [found.shape, found.stride]


def has(judge, name):
    own = NAMES.get(name, name) if judge is tensor_layouts else name
    return (judge is pycute) if name == "slice" else hasattr(judge, own)


def main():
    if sys.argv[1:]:
        R.seed(int(sys.argv[1]))
    each, output = (int(sys.argv[2]), Path(sys.argv[3])) if sys.argv[1:] else (EACH, OUTPUT)
    rows = []
    calls = {**CALLS, **FURTHER} if sys.argv[1:] else CALLS
    for key, make in calls.items():
        name = key.removesuffix(" of")
        judges = [judge for judge in (pycute, tensor_layouts) if has(judge, name)]
        found = 0
        while found < each:
            arguments = make()
            answers = [answer(judge, name, arguments) for judge in judges]
            if answers[0] is None or any(one != answers[0] for one in answers):
                continue
            rows.append(json.dumps([name, arguments, answers[0]], separators=(",", ":")))
            found += 1
    with gzip.GzipFile(output, "wb", mtime=0) as file:
        file.write("\n".join(rows).encode() + b"\n")


if __name__ == "__main__":
    main()
