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


def used(definitions: list[str], layout: str, elements: str = "64x64xf16") -> str:
    """Return a dump of definitions and a tensor with a layout."""
    lines = "\n".join(definitions)
    return f"""{lines}
{HEAD}  tt.func @f(%v: tensor<{elements}, {layout}>) {{
    tt.return
  }}
}}
"""


def doubled(count: int) -> list[str]:
    """Return aliases of which each uses the one before twice, named ``#d0`` and so on."""
    pairs = (f"#d{n + 1} = #x.pair<a = #d{n}, b = #d{n}>" for n in range(count))
    return [f"#d0 = {BLOCKED}", *pairs]


def doubled_width(count: int) -> str:
    """Return a dump of an operand whose ``kWidth`` is such an alias."""
    parent = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2]}>"
    operand = f"#ttg.dot_op<{{opIdx = 0, parent = {parent}, kWidth = #d{count}}}>"
    return used(doubled(count), operand)


def slices(count: int) -> str:
    """Return a dump of aliases of which each is a slice of the one before."""
    of = (f"#d{n + 1} = #ttg.slice<{{dim = 0, parent = #d{n}}}>" for n in range(count))
    return used([f"#d0 = {BLOCKED}", *of], f"#d{count}")


def calls(count: int) -> str:
    """Return a dump of functions of which each calls the next."""
    value = "%v: tensor<64x64xf16, #a>"
    functions = [
        f"  tt.func private @f{n}({value}) {{\n"
        f"    tt.call @f{n + 1}(%v) : (tensor<64x64xf16, #a>) -> ()\n    tt.return\n  }}\n"
        for n in range(count)
    ]
    last = f"  tt.func private @f{count}({value}) {{\n    tt.return\n  }}\n"
    return f"{HEAD}{''.join(functions)}{last}}}\n"


def one_line(text: str) -> str:
    """Return a dump with operations on one line."""
    return f"{HEAD}  tt.func @f(%s: i32, %v: tensor<64x64xf16, #a>) {{ {text} tt.return }}\n}}\n"


def joined(parts: str, count: int, between: str = " ") -> str:
    """Return a text again and again, its number in the place of ``@``."""
    return between.join(parts.replace("@", str(n)) for n in range(count))


def long_list(count: int) -> str:
    """Return a dump of a layout of many bases, and of one of many dimensions."""
    ones = f"[{joined('1', count, ', ')}]"
    keys = ", ".join(f"{key} = {ones}" for key in ("sizePerThread", "threadsPerWarp"))
    order = f"warpsPerCTA = {ones}, order = [{joined('@', count, ', ')}]"
    bases = f"{{register = [{joined('[0, 1]', count, ', ')}], lane = [], warp = [], block = []}}"
    return used([f"#d0 = #ttg.linear<{bases}>", f"#d1 = #ttg.blocked<{{{keys}, {order}}}>"], "#d1")


EMPTY = "#ttg.blocked<{sizePerThread = [], threadsPerWarp = [], warpsPerCTA = [], order = []}>"
CYCLE = bounded_loop(["%x = arith.addi %x, %x : i32"], "%x")

DUMPS: Mapping[str, Callable[[int], str]] = {
    "additions that share": lambda n: shared_values("arith.addi", n),
    "products that share": lambda n: shared_values("arith.muli", n),
    "quotients that share": shared_quotients,
    "the least of the last two": last_two,
    "a bound computed from itself": lambda n: CYCLE,
    "aliases that double": lambda n: used(doubled(min(n, 63)), f"#d{min(n, 63)}"),
    "a number that doubles": lambda n: doubled_width(min(n, 63)),
    "slices of slices": slices,
    "calls of calls": calls,
    "operations on a line": lambda n: one_line(joined("%a@ = arith.addi %s, %s : i32", n * 2)),
    "operands of an operation": lambda n: one_line(f"my.op {joined('%s@', n * 12, ', ')} : i32"),
    "values without an operation": lambda n: one_line(joined("%a", n * 25, ", ")),
    "a long string": lambda n: one_line(f'my.op %s {{s = "{"x" * (n << 12)}"}} : i32'),
    "a string of escapes": lambda n: one_line('my.op "' + "x\\\\" * (n << 11) + '" %s : i32'),
    "a long list": long_list,
    "a tensor without dimensions": lambda n: used([f"#d0 = {EMPTY}"], "#d0", "f16"),
}
"""What is hostile -> a dump of it, of a size."""
SIZES = (12, 60, 1000)
