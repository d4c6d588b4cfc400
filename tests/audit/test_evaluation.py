"""The evaluator: every operation against a definition of its own, regions, and what is unknown."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from tt_layout import parse_ir
from tt_layout.audit.values import evaluator
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import executions
from tt_layout.audit.values.floats import decoded
from tt_layout.audit.values.given import GivenValues, check_names, parse_values
from tt_layout.audit.values.runs import each_run
from tt_layout.audit.values.spread import ProgramTensor
from tt_layout.audit.values.unknown import Unknown, UnknownError
from tt_layout.errors import LayoutError
from tt_layout.ir.ssa import Function, SsaReader


def read(body: str, arguments: str = "", head: str = "") -> Function:
    """Return the only function of a text."""
    [module] = parse_ir(f"{head}\ntt.func @f({arguments}) {{\n{body}\n  tt.return\n}}\n")
    [function] = SsaReader().functions(module)
    return function


def evaluate(name: str, body: str, arguments: str = "", head: str = "", **given: int) -> Any:
    """Return a value as nested lists, or why it is unknown."""
    function = read(body, arguments, head)
    value = Evaluator(function, GivenValues(given)).value(function.values[name])
    return value if isinstance(value, Unknown) else value.tolist()


# -- integers -------------------------------------------------------------------------------


def signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def unsigned_of(f: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    return lambda a, b, n: f(a % (1 << n), b % (1 << n))


BINARY: dict[str, Callable[[int, int, int], int | None]] = {
    "arith.addi": lambda a, b, n: a + b,
    "arith.subi": lambda a, b, n: a - b,
    "arith.muli": lambda a, b, n: a * b,
    "arith.divsi": lambda a, b, n: truncated(a, b) if b else None,
    "arith.remsi": lambda a, b, n: a - truncated(a, b) * b if b else None,
    "arith.floordivsi": lambda a, b, n: a // b if b else None,
    "arith.ceildivsi": lambda a, b, n: -(-a // b) if b else None,
    "arith.divui": lambda a, b, n: unsigned_of(lambda x, y: x // y)(a, b, n) if b else None,
    "arith.remui": lambda a, b, n: unsigned_of(lambda x, y: x % y)(a, b, n) if b else None,
    "arith.ceildivui": lambda a, b, n: unsigned_of(lambda x, y: -(-x // y))(a, b, n) if b else None,
    "arith.andi": lambda a, b, n: a & b,
    "arith.ori": lambda a, b, n: a | b,
    "arith.xori": lambda a, b, n: a ^ b,
    "arith.shli": lambda a, b, n: a << b if 0 <= b < n else None,
    "arith.shrsi": lambda a, b, n: a >> b if 0 <= b < n else None,
    "arith.shrui": lambda a, b, n: a % (1 << n) >> b if 0 <= b < n else None,
    "arith.maxsi": lambda a, b, n: max(a, b),
    "arith.minsi": lambda a, b, n: min(a, b),
    "arith.maxui": unsigned_of(max),
    "arith.minui": unsigned_of(min),
    "tt.mulhiui": lambda a, b, n: unsigned_of(lambda x, y: x * y >> n)(a, b, n),
}

UNARY: dict[str, Callable[[int, int], int]] = {
    "math.absi": lambda a, n: abs(a),
    "math.ctpop": lambda a, n: (a % (1 << n)).bit_count(),
    "math.ctlz": lambda a, n: n - (a % (1 << n)).bit_length(),
    "math.cttz": lambda a, n: ((a & -a) % (1 << n)).bit_length() - 1 if a else n,
}


def numbers(r: Random, bits: int) -> list[int]:
    """Return numbers of a width, the extremes among them."""
    high = (1 << bits - 1) - 1
    edges = [-high - 1, -high, -1, 0, 1, high]
    return [r.choice([*edges, r.randint(-high - 1, high), r.randint(-4, 40)]) for _ in range(40)]


def clamp(value: int, bits: int) -> int:
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, value))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("name", sorted(BINARY))
def test_binary_operations(name: str, bits: int) -> None:
    r = Random(f"{name}{bits}")
    body = f"  %r = {name} %a, %b : i{bits}"
    function = read(body, f"%a: i{bits}, %b: i{bits}")
    for a, b in zip(numbers(r, bits), numbers(r, bits)):
        a, b = clamp(a, bits), clamp(b, bits)
        given = {"a": abs(a), "b": abs(b)} if bits == 1 else {"a": a, "b": b}
        value = Evaluator(function, GivenValues(given)).value(function.values["%r"])
        expected = BINARY[name](a, b, bits)
        if expected is None:
            assert isinstance(value, Unknown)
            assert value.reasons
        else:
            assert not isinstance(value, Unknown)
            assert value.tolist() == signed(expected, bits), (a, b)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("name", sorted(UNARY))
def test_unary_operations(name: str, bits: int) -> None:
    r = Random(f"{name}{bits}")
    function = read(f"  %r = {name} %a : i{bits}", f"%a: i{bits}")
    for a in (clamp(a, bits) for a in numbers(r, bits)):
        value = Evaluator(function, GivenValues({"a": a})).value(function.values["%r"])
        assert not isinstance(value, Unknown)
        assert value.tolist() == signed(UNARY[name](a, bits), bits), a


@pytest.mark.parametrize(
    "predicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
)
@pytest.mark.parametrize("bits", [8, 32, 64])
def test_comparisons(predicate: str, bits: int) -> None:
    r = Random(predicate)
    function = read(f"  %r = arith.cmpi {predicate}, %a, %b : i{bits}", f"%a: i{bits}, %b: i{bits}")
    relation = predicate[-2:]
    for a, b in zip(numbers(r, bits), [*numbers(r, bits)[:-1], 5]):
        a, b = clamp(a, bits), clamp(b, bits)
        x, y = (a % (1 << bits), b % (1 << bits)) if predicate[0] == "u" else (a, b)
        truth = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
        value = Evaluator(function, GivenValues({"a": a, "b": b})).value(function.values["%r"])
        assert not isinstance(value, Unknown)
        assert bool(value) == truth[relation]


@pytest.mark.parametrize(
    ("operation", "value", "result"),
    [
        ("arith.extsi %a : i8 to i32", -3, -3),
        ("arith.extui %a : i8 to i32", -3, 253),
        ("arith.trunci %a : i32 to i8", 0x1FF, -1),
        ("arith.index_cast %a : i32 to index", -7, -7),
        ("arith.index_castui %a : i32 to index", -1, (1 << 32) - 1),
        ("arith.extsi %a : i1 to i32", 1, -1),
        ("arith.extui %a : i1 to i32", 1, 1),
        ("arith.bitcast %a : i32 to i32", 9, 9),
    ],
)
def test_casts(operation: str, value: int, result: int) -> None:
    kind = operation.split(" : ")[1].split()[0]
    assert evaluate("%r", f"  %r = {operation}", f"%a: {kind}", a=value) == result


def test_operations_with_two_results() -> None:
    arguments = "%a: i32, %b: i32"
    for name, low, high in [
        ("arith.addui_extended", 1, -1),
        ("arith.mulsi_extended", -6, -1),
        ("arith.mului_extended", -6, 2),
    ]:
        types = "i32, i1" if "addui" in name else "i32"
        body = f"  %l, %h = {name} %a, %b : {types}"
        assert evaluate("%l", body, arguments, a=-2, b=3) == low
        assert evaluate("%h", body, arguments, a=-2, b=3) == high


def test_i32_wraps_around_and_that_is_noted() -> None:
    function = read("  %r = arith.muli %a, %a : i32", "%a: i32")
    large = Evaluator(function, GivenValues({"a": 65536}))
    assert large.scalar(large.function.values["%r"]) == 0
    assert [operation.line for operation in large.overflows] == [3]
    small = Evaluator(function, GivenValues({"a": 3}))
    assert small.scalar(small.function.values["%r"]) == 9
    assert small.overflows == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("arith.constant -5 : i32", -5),
        ("arith.constant true", -1),
        ("arith.constant dense<7> : tensor<2xi32>", [7, 7]),
        ("arith.constant dense<true> : tensor<2xi1>", [-1, -1]),
        ("arith.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi64>", [[1, -2], [3, 4]]),
        ('arith.constant dense<"0x01000000FFFFFFFF"> : tensor<2xi32>', [1, -1]),
    ],
)
def test_constants(text: str, value: object) -> None:
    assert evaluate("%r", f"  %r = {text}") == value


HEX_NAN = "0x7FC00000"


def floats_of(bits: Any, element: str) -> Any:
    return decoded(np.array(bits, np.int64), element).tolist()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.5 : f32", 1.5),
        ("-2.500000e-01 : f64", -0.25),
        ("0xFF800000 : f32", -np.inf),
        ("0x3F80 : bf16", 1.0),
        ("dense<5.000000e-01> : tensor<2xf16>", [0.5, 0.5]),
        ("dense<[1.0, -3.0]> : tensor<2xf32>", [1.0, -3.0]),
        ('dense<"0x0000803F000000C0"> : tensor<2xf32>', [1.0, -2.0]),
    ],
)
def test_constants_are_floats(text: str, numbers: float | list[float]) -> None:
    element = text.rpartition(" : ")[2].removeprefix("tensor<2x").removesuffix(">")
    assert floats_of(evaluate("%r", f"  %r = arith.constant {text}"), element) == numbers


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("arith.addf", lambda a, b: a + b),
        ("arith.subf", lambda a, b: a - b),
        ("arith.mulf", lambda a, b: a * b),
        ("arith.divf", lambda a, b: a / b),
        ("arith.maximumf", np.maximum),
        ("arith.minnumf", np.fmin),
    ],
)
@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
def test_operations_on_floats_are_rounded_to_their_type(
    operation: str, expected: Callable[[Any, Any], Any], element: str
) -> None:
    body = f"""
  %i = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  %k = arith.constant dense<3.300000e+00> : tensor<8x{element}>
  %f = arith.sitofp %i : tensor<8xi32> to tensor<8x{element}>
  %r = {operation} %f, %k : tensor<8x{element}>"""
    dtype = np.dtype(f"f{int(element[1:]) // 8}").type
    numbers = expected(np.arange(8).astype(dtype), dtype(3.3))
    assert floats_of(evaluate("%r", body), element) == numbers.tolist()


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("olt", [-1, 0, 0]), ("ult", [-1, 0, -1]), ("one", [-1, 0, 0]), ("une", [-1, 0, -1]),
     ("oeq", [0, -1, 0]), ("ord", [-1, -1, 0]), ("uno", [0, 0, -1])],
)  # fmt: skip
def test_comparisons_of_floats(predicate: str, expected: list[int]) -> None:
    body = f"""
  %a = arith.constant dense<[1.0, 2.0, {HEX_NAN}]> : tensor<3xf32>
  %b = arith.constant dense<2.0> : tensor<3xf32>
  %r = arith.cmpf {predicate}, %a, %b : tensor<3xf32>"""
    assert evaluate("%r", body) == expected


def test_floats_are_cut_to_integers_and_those_that_do_not_fit_are_unknown() -> None:
    body = "  %a = arith.constant dense<[-1.75, 2.5]> : tensor<2xf32>\n"
    to = "  %r = arith.fptosi %a : tensor<2xf32> to tensor<2xi8>"
    assert evaluate("%r", body + to) == [-1, 2]
    unsigned = body + to.replace("fptosi", "fptoui")
    assert evaluate("%r", unsigned).reasons == {
        "arith.fptoui on line 4: a float that does not fit into i8"
    }
    assert isinstance(evaluate("%r", body.replace("2.5", "300.0") + to), Unknown)


def test_the_bits_of_a_float_are_an_integer() -> None:
    body = """
  %a = arith.constant 1.0 : f32
  %r = arith.bitcast %a : f32 to i32"""
    assert evaluate("%r", body) == 0x3F800000
    assert isinstance(evaluate("%r", "  %r = arith.constant 1.0 : f8E5M2"), Unknown)


# -- shapes ---------------------------------------------------------------------------------

RANGE = "  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n"
SQUARE = RANGE + "  %m = tt.reshape %i : tensor<4xi32> -> tensor<2x2xi32>\n"


@pytest.mark.parametrize(
    ("operation", "value"),
    [
        ("tt.make_range {end = 6 : i32, start = 3 : i32} : tensor<3xi32>", [3, 4, 5]),
        ("tt.splat %n : i32 -> tensor<3xi32>", [9, 9, 9]),
        ("tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>",
         [[0], [1], [2], [3]]),
        ("tt.broadcast %c : tensor<1x2xi32> -> tensor<2x2xi32>", [[5, 5], [5, 5]]),
        ("tt.reshape %i : tensor<4xi32> -> tensor<2x2xi32>", [[0, 1], [2, 3]]),
        ("tt.trans %m {order = array<i32: 1, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>",
         [[0, 2], [1, 3]]),
        ("tt.join %i, %i : tensor<4xi32> -> tensor<4x2xi32>", [[0, 0], [1, 1], [2, 2], [3, 3]]),
        ("tt.gather %i[%j] {axis = 0 : i32} : (tensor<4xi32>, tensor<2xi32>) -> tensor<2xi32>",
         [3, 1]),
        ("ttg.convert_layout %i : tensor<4xi32> -> tensor<4xi32>", [0, 1, 2, 3]),
        ("arith.select %t, %i, %k : tensor<4xi1>, tensor<4xi32>", [0, 8, 2, 8]),
        ("tt.unsplat %o : tensor<1xi32>", 6),
        ("amdg.extract_slice %i [2] : tensor<4xi32> to tensor<2xi32>", [2, 3]),
        ("amdg.concat %c, %c : tensor<1x2xi32>, tensor<1x2xi32> -> tensor<2x2xi32>",
         [[5, 5], [5, 5]]),
    ],
)  # fmt: skip
def test_shapes(operation: str, value: object) -> None:
    body = (
        SQUARE
        + "  %c = arith.constant dense<5> : tensor<1x2xi32>\n"
        + "  %j = arith.constant dense<[3, 1]> : tensor<2xi32>\n"
        + "  %k = arith.constant dense<8> : tensor<4xi32>\n"
        + "  %o = arith.constant dense<6> : tensor<1xi32>\n"
        + "  %t = arith.constant dense<[true, false, true, false]> : tensor<4xi1>\n"
        + f"  %r = {operation}"
    )
    assert evaluate("%r", body, "%n: i32", n=9) == value


def test_split_has_the_halves_of_the_last_dimension() -> None:
    body = SQUARE + "  %l, %r = tt.split %m : tensor<2x2xi32> -> tensor<2xi32>"
    assert evaluate("%l", body) == [0, 2]
    assert evaluate("%r", body) == [1, 3]


LAYOUTS = """
#a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [2], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [2], warpsPerCTA = [1], order = [0]}>
"""


def test_cat_keeps_registers_where_they_are() -> None:
    body = """
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #a>
  %j = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<4xi32, #a>
  %r = tt.cat %i, %j : tensor<4xi32, #a> -> tensor<8xi32, #b>"""
    assert evaluate("%r", body, head=LAYOUTS) == [0, 1, 4, 5, 2, 3, 6, 7]


def test_a_reshape_that_may_reorder_keeps_registers_where_they_are() -> None:
    head = (
        LAYOUTS + "\n#c = #ttg.linear<{register = [[4], [1]], lane = [[2]], warp = [], block = []}>"
    )
    body = """
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #b>
  %r = tt.reshape %i allow_reorder : tensor<8xi32, #b> -> tensor<8xi32, #c>"""
    assert evaluate("%r", body, head=head) == [0, 2, 4, 6, 1, 3, 5, 7]


def test_a_reshape_that_may_reorder_is_unknown_without_layouts() -> None:
    body = RANGE + "  %r = tt.reshape %i allow_reorder : tensor<4xi32> -> tensor<2x2xi32>"
    assert isinstance(evaluate("%r", body), Unknown)


@pytest.mark.parametrize(
    "operation",
    [
        "tt.expand_dims %i {axis = 99999999999999999999 : i32} : tensor<4xi32> -> tensor<4x1xi32>",
        "arith.constant 99999999999999999999999 : i32",
        "tt.make_range {end = 4 : i32, start = 99999999999999999999 : i32} : tensor<4xi32>",
    ],
)
def test_numbers_of_no_valid_dump_are_unknown(operation: str) -> None:
    assert isinstance(evaluate("%r", f"{RANGE}  %r = {operation}"), Unknown)


def test_pointers_count_in_bytes() -> None:
    body = RANGE + (
        "  %s = tt.splat %p : !tt.ptr<i64> -> tensor<4x!tt.ptr<i64>>\n"
        "  %r = tt.addptr %s, %i : tensor<4x!tt.ptr<i64>>, tensor<4xi32>"
    )
    assert evaluate("%r", body, "%p: !tt.ptr<i64>", p=16) == [16, 24, 32, 40]
    assert evaluate("%r", body, "%p: !tt.ptr<i64> {tt.divisibility = 16 : i32}") == [0, 8, 16, 24]
    assert evaluate("%r", body, "%p: !tt.ptr<i64>") == Unknown(frozenset(["p"]))


def test_an_address_beyond_64_bits_is_unknown() -> None:
    body = "  %r = tt.addptr %p, %n : !tt.ptr<i64>, i64"
    found = evaluate("%r", body, "%p: !tt.ptr<i64>, %n: i64", p=0, n=1 << 62)
    assert found.reasons == {"tt.addptr on line 3: an address that does not fit into 64 bits"}


# -- regions --------------------------------------------------------------------------------

LOOP = """
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %r:2 = scf.for %i = %c0 to %n step %c3 iter_args(%a = %c3, %b = %c0) -> (i32, i32)  : i32 {
    %x = arith.addi %a, %i : i32
    %y = arith.addi %b, %a : i32
    scf.yield %x, %y : i32, i32
  }"""


def looped(n: int) -> tuple[int, int]:
    """Return what the loop returns."""
    a, b = 3, 0
    for i in range(0, n, 3):
        a, b = a + i, b + a
    return a, b


def test_in_a_loop_values_are_those_of_the_first_iteration() -> None:
    assert evaluate("%i", LOOP, "%n: i32", n=10) == 0
    assert evaluate("%x", LOOP, "%n: i32", n=10) == 3
    assert evaluate("%x", LOOP, "%n: i32") == 3


def test_results_of_a_loop_are_those_of_the_last_iteration() -> None:
    assert evaluate("%r#0", LOOP, "%n: i32", n=10) == looped(10)[0]
    assert evaluate("%r#1", LOOP, "%n: i32", n=10) == looped(10)[1]
    assert evaluate("%r#1", LOOP, "%n: i32", n=-3) == 0
    assert evaluate("%r#1", LOOP, "%n: i32") == Unknown(frozenset(["n"]))


def test_loops_in_loops() -> None:
    body = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32)  : i32 {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> (i32)  : i32 {
      %t = arith.addi %b, %j : i32
      scf.yield %t : i32
    }
    scf.yield %s : i32
  }"""
    assert evaluate("%r", body, "%n: i32", n=6) == sum(j for i in range(6) for j in range(i))


def test_only_what_a_result_depends_on_is_iterated() -> None:
    body = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1
      iter_args(%a = %c0, %q = %p) -> (i32, !tt.ptr<i32>)  : i32 {
    %v = tt.load %q : !tt.ptr<i32>
    %x = arith.addi %a, %c1 : i32
    %w = tt.addptr %q, %v : !tt.ptr<i32>, i32
    scf.yield %x, %w : i32, !tt.ptr<i32>
  }"""
    arguments = "%n: i32, %p: !tt.ptr<i32>"
    assert evaluate("%r#0", body, arguments, n=5) == 5
    assert evaluate("%r#1", body, arguments, n=5, p=0).reasons == {"tt.load on line 8"}


def test_a_long_loop_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "MAX_ITERATIONS", 10)
    found = evaluate("%r#1", LOOP, "%n: i32", n=33)
    assert found.reasons == {"scf.for on line 6: 11 iterations"}
    assert evaluate("%r#1", LOOP, "%n: i32", n=30) == looped(30)[1]


def test_a_step_of_zero_is_unknown() -> None:
    body = LOOP.replace("step %c3", "step %c0")
    assert "a step of 0" in str(evaluate("%r#0", body, "%n: i32", n=4).reasons)


BRANCH = """
  %c5 = arith.constant 5 : i32
  %t = arith.cmpi slt, %n, %c5 : i32
  %r:2 = scf.if %t -> (i32, i32) {
    scf.yield %n, %c5 : i32, i32
  } else {
    %d = arith.subi %n, %c5 : i32
    scf.yield %c5, %d : i32, i32
  }"""


def test_branches() -> None:
    assert evaluate("%r#1", BRANCH, "%n: i32", n=4) == 5
    assert evaluate("%r#1", BRANCH, "%n: i32", n=7) == 2
    assert evaluate("%r#0", BRANCH, "%n: i32") == Unknown(frozenset(["n"]))


def test_while_loops_have_a_first_iteration_but_no_known_result() -> None:
    body = """
  %c1 = arith.constant 1 : i32
  %w:2 = scf.while (%a = %n, %b = %c1) : (i32, i32) -> (i32, i32) {
    %s = arith.addi %a, %b : i32
    %c = arith.cmpi slt, %s, %n : i32
    scf.condition(%c) %s, %b : i32, i32
  } do {
  ^bb0(%x: i32, %y: i32):
    %z = arith.muli %x, %y : i32
    scf.yield %z, %y : i32, i32
  }"""
    assert evaluate("%z", body, "%n: i32", n=4) == 5
    assert evaluate("%w#0", body, "%n: i32", n=4).reasons == {"scf.while on line 5"}


def test_partitions_see_what_they_capture() -> None:
    body = """
  ttg.warp_specialize(%n)
  default {
    ttg.warp_yield
  }
  partition0(%m: i32) num_warps(4) {
    %r = arith.addi %m, %m : i32
    ttg.warp_return
  } : (i32) -> ()"""
    assert evaluate("%r", body, "%n: i32", n=4) == 8


@pytest.mark.slow
def test_a_chain_of_a_thousand_values_is_followed() -> None:
    lines = [f"  %v{i + 1} = arith.addi %v{i}, %v{i} : i64" for i in range(3000)]
    body = "  %v0 = arith.constant 0 : i64\n" + "\n".join(lines)
    assert evaluate("%v3000", body) == 0


def test_a_value_that_depends_on_itself_is_unknown() -> None:
    body = "  %a = arith.addi %b, %b : i32\n  %b = arith.addi %a, %a : i32"
    assert isinstance(evaluate("%a", body), Unknown)
    assert isinstance(evaluate("%a", "  %a = arith.addi %gone, %gone : i32"), Unknown)


def test_each_execution_of_an_operation() -> None:
    body = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> (i32)  : i32 {
    scf.for %j = %c0 to %i step %c1  : i32 {
      %even = arith.cmpi ne, %j, %c1 : i32
      scf.if %even {
        %x = arith.muli %a, %j : i32
      }
    }
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  }"""
    function = read(body, "%n: i32")
    values = [function.values[name] for name in ("%i", "%j", "%x")]
    x = values[-1].definition
    assert x is not None
    runs = each_run(Evaluator(function, GivenValues({"n": 4})), x, values)
    expected = [[i, j, 2**i * j] for i in range(4) for j in range(i) if j != 1]
    assert [
        [int(v) for v in values if not isinstance(v, Unknown | ProgramTensor)] for values in runs
    ] == expected
    with pytest.raises(UnknownError):
        list(each_run(Evaluator(function, GivenValues()), x, values[-1:]))


@pytest.mark.parametrize(
    "absent", ["", ", {}"], ids=["without a region", "with one that has no block"]
)
def test_a_choice_that_has_no_other_way_is_unknown_where_that_is_taken(absent: str) -> None:
    """Such a dump is not a valid one, but it is audited."""
    body = """
  %c = arith.cmpi sgt, %n, %zero : i32
  %x = "scf.if"(%c) ({
    scf.yield %n : i32
  }REST) : (i1) -> i32"""
    text = "  %zero = arith.constant 0 : i32" + body.replace("REST", absent)
    assert evaluate("%x", text, "%n: i32", n=5) == 5
    assert isinstance(evaluate("%x", text, "%n: i32", n=-5), Unknown)


# -- what is unknown ------------------------------------------------------------------------


def test_an_unknown_value_names_every_argument_and_load_that_it_needs() -> None:
    body = """
  %v = tt.load %p : !tt.ptr<i32>
  %f = arith.fptosi %x : f32 to i32
  %s = arith.addi %v, %n : i32
  %t = arith.addi %s, %m : i32
  %r = arith.addi %t, %f : i32"""
    found = evaluate("%r", body, "%p: !tt.ptr<i32>, %n: i32, %m: i32, %x: f32")
    assert found.names == {"n", "m"}
    assert found.reasons == {"tt.load on line 4", "%x, a float, which cannot be given"}


def test_program_ids_are_0_unless_given() -> None:
    body = "  %r = tt.get_program_id y : i32\n  %c = tt.get_num_programs x : i32"
    assert evaluate("%r", body) == 0
    assert evaluate("%r", body, program_id_y=3) == 3
    assert evaluate("%c", body) == Unknown(frozenset(["num_programs_x"]))
    assert evaluate("%c", body, num_programs_x=7) == 7


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("%n: i32", 1 << 31, "must be i32, in -2147483648..2147483647"),
        ("%n: i1", 2, "must be i1, in 0..1"),
        ("%n: f32", 2, "must be an integer or pointer"),
        ("%n: !tt.ptr<f32>", -16, "must be an address, in 0.."),
        ("%n: i32 {tt.divisibility = 16 : i32}", 40, "compiled for multiples of 16 of n"),
    ],
)
def test_values_that_do_not_fit(argument: str, value: int, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        evaluate("%n", "", argument, n=value)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["n"], "takes NAME=NUMBER such as stride=4096, got 'n'"),
        (["=4"], "takes NAME=NUMBER"),
        (["n=4.5"], r"must be an integer, got '4.5' \(leave out arguments that are floats\)"),
        (["n=many"], "must be an integer, got 'many'$"),
        (["n=" + "9" * 400], "must be an integer"),
        (["n=1", "%n=2"], "gives n twice"),
        (["program_id_x=-1"], "program_id_x must be at least 0, got -1"),
        (["num_programs_y=0"], "num_programs_y must be at least 1, got 0"),
    ],
)
def test_texts_that_are_no_values(texts: list[str], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        parse_values(texts)


def test_an_unknown_name_lists_the_arguments() -> None:
    check_names(GivenValues({"stride": 1, "program_id_z": 0}), ["stride", "p", "stride"])
    with pytest.raises(LayoutError, match=r"an argument 'strid'; .* from stride, p, program_id_x"):
        check_names(GivenValues({"strid": 1}), ["stride", "p"])


# -- how often ------------------------------------------------------------------------------

NEST = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %before = tt.load %p : !tt.ptr<i32>
  %k = arith.addi %K, %c63 : i32
  %tiles = arith.divsi %k, %c64 : i32
  scf.for %i = %c0 to %tiles step %c1  : i32 {
    %within = tt.load %p : !tt.ptr<i32>
    scf.for %j = %c1 to %n step %c64  : i32 {
      %deep = tt.load %p : !tt.ptr<i32>
    }
    scf.for %j2 = %c0 to %i step %c1  : i32 {
      %varies = tt.load %p : !tt.ptr<i32>
    }
    %odd = arith.cmpi eq, %i, %c1 : i32
    scf.if %odd {
      %sometimes = tt.load %p : !tt.ptr<i32>
    }
  }
  %flag = arith.cmpi sgt, %n, %c1 : i32
  scf.if %flag {
    %taken = tt.load %p : !tt.ptr<i32>
  } else {
    %other = tt.load %p : !tt.ptr<i32>
  }
  scf.while : () -> () {
    %stop = tt.load %p : !tt.ptr<i1>
    scf.condition(%stop)
  } do {
    %unknown = tt.load %p : !tt.ptr<i32>
    scf.yield
  }"""


@pytest.mark.parametrize(
    ("name", "number", "text", "loop"),
    [
        ("%before", 1, "1", (11, "prologue")),
        ("%within", 3, "ceildiv(%K, 64)", (11, "body")),
        ("%deep", 6, "ceildiv(%K, 64) * ceildiv(%n - 1, 64)", (13, "body")),
        ("%varies", 3, "ceildiv(%K, 64) * %i", (16, "body")),
        ("%sometimes", 1, "at most ceildiv(%K, 64)", (11, "body")),
        ("%taken", 1, "at most 1", (30, "prologue")),
        ("%other", 0, "at most 1", (30, "prologue")),
        ("%unknown", None, "unknown: scf.while on line 30", (30, "body")),
    ],
)
def test_how_often_an_operation_runs(
    name: str, number: int | None, text: str, loop: tuple[int, str]
) -> None:
    function = read(NEST, "%p: !tt.ptr<i32>, %K: i32, %n: i32")
    operation = function.values[name].definition
    assert operation is not None
    found = executions(Evaluator(function, GivenValues({"K": 130, "n": 100})), operation)
    assert (found.number, found.text, found.loop) == (number, text, loop)
    without = executions(Evaluator(function, GivenValues()), operation)
    assert without.number == (1 if text == "1" else None)
    assert without.text == text
