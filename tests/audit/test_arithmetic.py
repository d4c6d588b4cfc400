"""What is known of every operation on integers, whatever its operands are, and its values.

    PYTHONPATH=.:tests:tests/audit python tests/audit/test_arithmetic.py

writes the golden anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from test_axis_info import short

GOLDEN = Path(__file__).parents[1] / "goldens" / "operations" / "arithmetic.txt"
TYPE = "tensor<16xi32>"
ALIGNED = "{tt.divisibility = 16 : i32}"
HEAD = f"""
tt.func @f(%n: i32 {ALIGNED}, %m: i32, %p: !tt.ptr<f16> {ALIGNED}) {{
  %zero = arith.constant dense<0> : {TYPE}
  %one = arith.constant dense<1> : {TYPE}
  %three = arith.constant dense<3> : {TYPE}
  %eight = arith.constant dense<8> : {TYPE}
  %minus = arith.constant dense<-4> : {TYPE}
  %range = tt.make_range {{end = 48 : i32, start = 32 : i32}} : {TYPE}
  %spread = arith.muli %range, %eight : {TYPE}
  %steps = arith.divsi %range, %eight : {TYPE}
  %aligned = tt.splat %n : i32 -> {TYPE}
  %any = tt.splat %m : i32 -> {TYPE}
  %pointers = tt.splat %p : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
  %where = arith.cmpi slt, %range, %aligned : {TYPE}
"""
OPERANDS = ("%zero", "%one", "%three", "%eight", "%minus", "%range", "%spread", "%steps")
ARGUMENTS = ("%aligned", "%any")
BINARY = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui"),
)
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge")
ARRAYS = "tensor<16x16xi32>"
LAST = f"""
  %wide = arith.extsi %range : {TYPE} to tensor<16xi64>
  %narrow = arith.trunci %spread : {TYPE} to tensor<16xi8>
  %chosen = arith.select %where, %range, %zero : tensor<16xi1>, {TYPE}
  %same = arith.select %where, %eight, %eight : tensor<16xi1>, {TYPE}
  %column = tt.expand_dims %range {{axis = 1 : i32}} : {TYPE} -> tensor<16x1xi32>
  %row = tt.expand_dims %spread {{axis = 0 : i32}} : {TYPE} -> tensor<1x16xi32>
  %down = tt.broadcast %column : tensor<16x1xi32> -> {ARRAYS}
  %across = tt.broadcast %row : tensor<1x16xi32> -> {ARRAYS}
  %both = arith.addi %down, %across : {ARRAYS}
  %product = arith.muli %down, %across : {ARRAYS}
  %apart = arith.remsi %both, %across : {ARRAYS}
  %turned = tt.trans %both {{order = array<i32: 1, 0>}} : {ARRAYS} -> {ARRAYS}
  %flat = tt.reshape %both : {ARRAYS} -> tensor<256xi32>
  %joined = tt.join %range, %spread : {TYPE} -> tensor<16x2xi32>
  %cat = tt.cat %range, %steps : {TYPE} -> tensor<32xi32>
  %near = tt.addptr %pointers, %range : tensor<16x!tt.ptr<f16>>, {TYPE}
  %far = tt.addptr %pointers, %spread : tensor<16x!tt.ptr<f16>>, {TYPE}
  %further = tt.addptr %near, %eight : tensor<16x!tt.ptr<f16>>, {TYPE}
  %loaded = tt.load %near : tensor<16x!tt.ptr<f16>>
  %id = tt.get_program_id x : i32
  %number = tt.get_num_programs x : i32
  %scaled = arith.muli %id, %n : i32
  %index = arith.index_cast %n : i32 to index
"""


def dump() -> str:
    """Return a function with each operation on each two operands."""
    pairs = [
        *product(OPERANDS, repeat=2),
        *product(ARGUMENTS, OPERANDS),
        *product(OPERANDS, ARGUMENTS),
    ]
    lines = [
        f"%{name}_{a[1:]}_{b[1:]} = arith.{name} {a}, {b} : {TYPE}"
        for a, b in pairs
        for name in BINARY
    ]
    lines += [
        f"%{name}_{a[1:]}_{b[1:]} = arith.cmpi {name}, {a}, {b} : {TYPE}"
        for a, b in pairs
        if "%range" in (a, b)
        for name in PREDICATES
    ]
    body = "\n".join(f"  {line}" for line in lines)
    return f"{HEAD}{body}\n{LAST}  tt.return\n}}\n"


def known() -> Iterator[str]:
    """Yield for each value its name, what the axis analysis says, and how its elements begin."""
    from tt_layout import parse_ir
    from tt_layout.audit.axis import axis_info
    from tt_layout.audit.values.evaluator import Evaluator
    from tt_layout.audit.values.given import GivenValues
    from tt_layout.audit.values.unknown import Unknown
    from tt_layout.ir.ssa import SsaReader

    [module] = parse_ir(dump())
    functions = SsaReader().functions(module)
    [function] = functions
    info = axis_info(function, functions)
    evaluator = Evaluator(function, GivenValues({"n": 48, "m": 5, "p": 32}))
    rows: dict[str, list[str]] = {}
    for operation in function.walk():
        for result in operation.results:
            found = evaluator.value(result)
            values = (
                str(found) if isinstance(found, Unknown) else str(found.reshape(-1)[:3].tolist())
            )
            rows.setdefault(f"{short(info[result])} | {values}", []).append(result.name[1:])
    for text, names in rows.items():
        yield f"{text}: {' '.join(names)}\n"


def test_what_is_known_is_that_of_the_golden() -> None:
    assert "".join(known()) == GOLDEN.read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.write_text("".join(known()), encoding="utf-8")
