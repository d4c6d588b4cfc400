"""Small dumps of which a reader that is not careful makes a great deal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
ROWS = BLOCKED.replace("[4, 1]", "[1, 4]")
HEAD = f"""#a = {BLOCKED}
#b = {ROWS}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
"""


def bounded_loop(steps: list[str], bound: str) -> str:
    """Return a dump of a loop whose bound is computed in these steps."""
    lines = "\n".join(f"    {step}" for step in steps)
    return f"""{HEAD}  tt.func @f(%v: tensor<64x64xf16, #a>, %s: i32, %t: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
{lines}
    scf.for %i = %c0 to {bound} step %c1 : i32 {{
      %w = ttg.convert_layout %v : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    }}
    tt.return
  }}
}}
"""


def shared_values(operation: str, count: int) -> str:
    """Return a dump of a loop to a value that uses each value before it twice."""
    names = ["%s", *(f"%s{n}" for n in range(count))]
    steps = [f"{new} = {operation} {old}, {old} : i32" for old, new in pairwise(names)]
    return bounded_loop(steps, names[-1])


def shared_quotients(count: int) -> str:
    """Return a dump of a loop to ``s + s / s``, again and again."""
    names = ["%s", *(f"%s{n}" for n in range(count))]
    steps = []
    for n, (old, new) in enumerate(pairwise(names)):
        steps.append(f"%q{n} = arith.divsi {old}, {old} : i32")
        steps.append(f"{new} = arith.addi %q{n}, {old} : i32")
    return bounded_loop(steps, names[-1])


def last_two(count: int) -> str:
    """Return a dump of a loop to the least of the two values before, again and again."""
    names = ["%s", "%t", *(f"%s{n}" for n in range(count))]
    steps = [
        f"{new} = arith.minsi {second}, {first} : i32"
        for first, second, new in zip(names, names[1:], names[2:])
    ]
    return bounded_loop(steps, names[-1])


CYCLE = bounded_loop(["%x = arith.addi %x, %x : i32"], "%x")

DUMPS: Mapping[str, Callable[[int], str]] = {
    "additions that share": lambda n: shared_values("arith.addi", n),
    "products that share": lambda n: shared_values("arith.muli", n),
    "quotients that share": shared_quotients,
    "the least of the last two": last_two,
    "a bound computed from itself": lambda n: CYCLE,
}
"""What is hostile -> a dump of it, of a size."""
SIZES = (12, 60, 1000)
