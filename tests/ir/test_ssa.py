"""The reader of functions: values, operations, regions and names of any assembly format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import pytest
from tiers import sampled

from tt_layout import parse_ir
from tt_layout.ir.ssa import Function, Operation, SsaReader, Value, integers
from tt_layout.ir.ssa.reader import KnownLines
from tt_layout.ir.traits import NO_TRAITS

ROOT = Path(__file__).parents[2]
KERNELS = sorted((ROOT / "examples" / "kernels").glob("*.ttgir"))


def read(text: str) -> Function:
    """Return the only function of a text."""
    [module] = parse_ir(text)
    [function] = SsaReader().functions(module)
    return function


def operation(text: str, arguments: str = "") -> Operation:
    """Return the first operation of a function with a body."""
    function = read(f"tt.func @f({arguments}) {{\n  {text}\n  tt.return\n}}\n")
    return function.body[0].operations[0]


def undefined(function: Function) -> list[str]:
    """Return the uses of values that nothing defines."""
    return [
        f"{o.line}: {value.name}" for o in function.walk() for value in o.operands
        if not value.is_defined
    ]  # fmt: skip


def names(values: Iterable[Value]) -> tuple[str, ...]:
    return tuple(value.name for value in values)


def written(operations: Iterable[Operation]) -> list[tuple[object, ...]]:
    """Return all that is read of operations, values by their names."""
    return [
        (
            o.name, names(o.operands), [(v.name, v.text) for v in o.results], o.attributes,
            handed(o), len(o.regions), o.line, o.column, o.location_text, o.position, o.end,
            o.moved,
        )
        for o in operations
    ]  # fmt: skip


def handed(branch: Operation) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what a branch hands over, by the labels of blocks."""
    return tuple((label, names(operands)) for label, operands in branch.successors)


@pytest.mark.slow
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_value_of_a_kernel_is_defined(path: Path) -> None:
    [module] = parse_ir(path.read_text(encoding="utf-8"))
    [function] = SsaReader().functions(module)
    assert undefined(function) == []
    assert {o.name.partition(".")[0] for o in function.walk()} <= {
        "arith", "tt", "ttg", "ttng", "scf", "math", "ub", "amdg", "cf", "nvg", "rocdl",
    }  # fmt: skip
    assert all(value.text for o in function.walk() for value in o.results)
    moved = {(o.line, o.column) for o in module.operations}
    assert moved <= {(o.line, o.column) for o in function.walk()}
    places = {(o.line, o.column): function.location(o) for o in function.walk()}
    assert all(places[o.line, o.column] == o.location for o in module.operations)


@pytest.mark.parametrize(
    ("text", "operands", "types"),
    [
        ("%0 = arith.addi %a, %b : i32", "%a %b", ["i32"]),
        ("%0 = arith.addi %a, %b overflow<nsw, nuw> : i32", "%a %b", ["i32"]),
        ("%0 = arith.cmpi slt, %a, %b : tensor<4xi32, #x>", "%a %b", ["tensor<4xi1, #x>"]),
        ("%0 = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi32>", "%c %a %b",
         ["tensor<4xi32>"]),
        ("%0 = arith.extsi %a : i32 to i64", "%a", ["i64"]),
        ("%0 = arith.constant true", "", ["i1"]),
        ("%0, %1 = arith.mulsi_extended %a, %b : i32", "%a %b", ["i32", "i32"]),
        ("%0:2 = tt.split %a : tensor<4x2xf16> -> tensor<4xf16>", "%a", ["tensor<4xf16>"] * 2),
        ("%0 = tt.addptr %p, %a : tensor<4x!tt.ptr<f16>>, tensor<4xi32>", "%p %a",
         ["tensor<4x!tt.ptr<f16>>"]),
        ("%0 = tt.load %p, %m, %o cacheModifier = ca evictionPolicy = evict_first : "
         "tensor<4x!tt.ptr<f16>, #x>", "%p %m %o", ["tensor<4xf16, #x>"]),
        ("%0 = tt.load %p : !tt.ptr<f32>", "%p", ["f32"]),
        ('%0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : '
         "(tensor<4x!tt.ptr<f16>>, tensor<4xi1>) -> tensor<4xf16>", "%p %m", ["tensor<4xf16>"]),
        ("%0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<4x!tt.ptr<f32>>, "
         "tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>", "%p %v %m", ["tensor<4xf32>"]),
        ("%0 = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x8xf16, #s, #m> -> "
         "!ttg.memdesc<8xf16, #s, #m>", "%a %i", ["!ttg.memdesc<8xf16, #s, #m>"]),
        ("%0 = ttg.async_copy_global_to_local %p, %d mask %m {contiguity = 8 : i32} : "
         "tensor<8x!tt.ptr<f16>> -> <8xf16, #s, #m>", "%p %d %m", ["!ttg.async.token"]),
        ("%0 = amdg.buffer_load %p[%o], %m, %x cacheModifier = cg stride = %s : tensor<4xf16>",
         "%p %o %m %x %s", ["tensor<4xf16>"]),
        ("%0 = amdg.buffer_load_to_local %p[%o] mask = %m stride = %s into %d : "
         "<f16>[tensor<4xi32>] -> <4xf16, #s, #m>", "%p %o %m %s %d", ["!ttg.async.token"]),
        ("%0 = amdg.extract_slice %a [0, 16] : tensor<8x32xi32> to tensor<8x16xi32>", "%a",
         ["tensor<8x16xi32>"]),
        ("%0 = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<8x8xf16>> -> "
         "tensor<8x8xf16>", "%d %i %j", ["tensor<8x8xf16>"]),
        ('%0 = tt.elementwise_inline_asm "add.s32 $0, {$1};" {pure = true} %a, %b : i32, i32 -> '
         "i32", "%a %b", ["i32"]),
        ("%0 = tt.call @g(%a, %b) : (i32, i64) -> i1", "%a %b", ["i1"]),
        ("%0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<8x8xf16> * tensor<8x8xf16> -> "
         "tensor<8x8xf32>", "%a %b %c", ["tensor<8x8xf32>"]),
        ("%0 = gpu.thread_id x", "", ["index"]),
        ("%0 = my.thing %a {x = [1, {y = 2}]} , %b at %c : () -> (i32)", "%a %b %c", ["i32"]),
    ],
)  # fmt: skip
def test_operands_and_types(text: str, operands: str, types: list[str]) -> None:
    found = operation(text)
    assert [value.name for value in found.operands] == operands.split()
    assert [value.text for value in found.results] == types


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("%0 = arith.constant -7 : i32", "value", -7),
        ("%0 = arith.constant false", "value", False),
        ("%0 = arith.constant 0xFF : i32", "value", 255),
        ("%0 = arith.constant {tt.divisibility = 8 : i32} 5 : i32", "tt.divisibility", 8),
        ('%0 = "arith.constant"() <{value = 3 : i64}> : () -> i64', "value", 3),
        ("%0 = arith.cmpi ult, %a, %b : i32", "predicate", "ult"),
        ('%0 = "arith.cmpi"(%a, %b) <{predicate = 5 : i64}> : (i32, i32) -> i1', "predicate",
         "sge"),
        ("%0 = tt.get_program_id y : i32", "axis", 1),
        ("%0 = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<4xi32>", "start", 4),
        ("%0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32",
         "atomic_rmw_op", "fadd"),
        ("tt.store %p, %v cacheModifier = wt : !tt.ptr<f16>", "cacheModifier", "wt"),
        ("%0 = ttg.async_copy_global_to_local %p, %d mask %m other %o : tensor<8x!tt.ptr<f16>> "
         "-> <8xf16, #s, #m>", "mask", "%m"),
        ("%0 = tt.call @g(%a) : (i32) -> i1", "callee", "g"),
        ("%c = arith.constant true\n  %d = arith.addi %c, %c : i1", "value", True),
        ("%y = tt.reshape %x allow_reorder : tensor<4xi32> -> tensor<2x2xi32>", "allow_reorder",
         True),
    ],
)  # fmt: skip
def test_attributes(text: str, key: str, value: object) -> None:
    assert operation(text).attributes[key] == value


def test_a_word_at_the_end_of_a_line_says_nothing_of_the_next() -> None:
    function = read("""
tt.func @f() {
  %0 = gpu.thread_id x
  %true = arith.constant true
  %1 = my.op
}
""")
    first, second = function.body[0].operations[:2]
    assert (dict(first.attributes), dict(second.attributes)) == ({"dimension": 0}, {"value": True})


def test_dense_attributes_are_numbers() -> None:
    text = "%0 = arith.muli %a, %b {tt.divisibility = dense<[16, 1]> : tensor<2xi32>} : i32"
    assert integers(operation(text).attributes["tt.divisibility"]) == [16, 1]
    constant = operation("%0 = arith.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>")
    assert integers(constant.attributes["value"]) == [1, 2, 3, -4]


def test_loops() -> None:
    function = read("""
tt.func @f(%n: i32, %p: !tt.ptr<f16>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %q = %p)
      -> (i32, !tt.ptr<f16>)  : i32 {
    %s = scf.if %cond -> (i32) {
      %t = arith.addi %a, %i : i32
      scf.yield %t : i32
    } else {
      scf.yield %a : i32
    } {tag}
    scf.yield %s, %q : i32, !tt.ptr<f16>
  } {tt.num_stages = 3 : i32}
  %w = scf.while (%x = %r#0) : (i32) -> i32 {
    %c = arith.cmpi slt, %x, %n : i32
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    %z = arith.addi %y, %c1 : i32
    scf.yield %z : i32
  }
  tt.return %w : i32
}
""")
    loop, condition, while_loop = (
        next(o for o in function.walk() if o.name == f"scf.{name}")
        for name in ("for", "if", "while")
    )
    assert names(loop.operands) == ("%c0", "%n", "%c1", "%c0", "%p")
    assert [(v.name, v.text) for v in loop.regions[0][0].arguments] == [
        ("%i", "i32"), ("%a", "i32"), ("%q", "!tt.ptr<f16>")
    ]  # fmt: skip
    assert [value.name for value in loop.results] == ["%r#0", "%r#1"]
    assert loop.attributes["tt.num_stages"] == 3
    assert [len(region[0].operations) for region in condition.regions] == [2, 1]
    assert condition.attributes["tag"] is True
    assert [v.name for v in while_loop.regions[0][0].arguments] == ["%x"]
    assert [v.text for v in while_loop.regions[1][0].arguments] == ["i32"]
    assert undefined(function) == ["7: %cond"]


def test_names_that_are_used_again_stand_for_other_values() -> None:
    function = read("""
tt.func @f(%c: i1, %x: i32) {
  scf.if %c {
    %0 = arith.addi %x, %x : i32
    tt.print "a" : %0 : i32
  }
  scf.if %c {
    %0 = arith.muli %x, %x : i32
    tt.print "b" : %0 : i32
  }
  %0:2 = my.pair : i32, i32
  my.use %0, %0#1 : i32, i32
}
""")
    prints = [o.operands for o in function.walk() if o.name == "tt.print"]
    assert [*map(names, prints)] == [("%0",), ("%0@8",)]
    definition = function.values["%0@8"].definition
    assert definition is not None
    assert definition.name == "arith.muli"
    [use] = [o for o in function.walk() if o.name == "my.use"]
    assert names(use.operands) == ("%0@11#0", "%0@11#1")


def test_blocks_and_branches() -> None:
    function = read("""
tt.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%y: i32 loc("y"(#loc1))):  // 2 preds: ^bb0, ^bb1
  "cf.cond_br"(%c, %y, %x)[^bb1, ^bb3] <{operandSegmentSizes = array<i32: 1, 1, 1>}>
      : (i1, i32, i32) -> ()
^bb2:
  cf.br ^bb3(%x : i32)
^bb3(%z: i32):
  tt.return
}
#loc1 = loc("a.py":1:2)
""")
    assert [block.label for block in function.body] == ["", "^bb1", "^bb2", "^bb3"]
    first, second = (block.operations[0] for block in function.body[:2])
    assert handed(first) == (("^bb1", ("%x",)), ("^bb2", ()))
    assert handed(second) == (("^bb1", ("%y",)), ("^bb3", ("%x",)))
    assert undefined(function) == []


def test_successors_may_stand_on_lines_of_their_own() -> None:
    function = read("""
tt.func @f(%c: i1, %x: i32) {
  "cf.cond_br"(%c, %x)[
    ^bb1,
    ^bb2
  ] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
^bb1(%y: i32):
  cf.cond_br %c, ^bb1(%y : i32),
    ^bb2
^bb2:
  tt.return
}
""")
    assert [block.label for block in function.body] == ["", "^bb1", "^bb2"]
    assert [handed(block.operations[0]) for block in function.body] == [
        (("^bb1", ("%x",)), ("^bb2", ())),
        (("^bb1", ("%y",)), ("^bb2", ())),
        (),
    ]


def test_warp_specialisation() -> None:
    function = read("""
tt.func @f(%a: !tt.ptr<f16>, %n: i32) attributes {noinline = false} {
  %r = ttg.warp_specialize(%a, %n) attributes {requestedRegisters = array<i32: 24>}
  default {
    %0 = arith.addi %n, %n : i32
    ttg.warp_yield %0 : i32
  }
  partition0(%a: !tt.ptr<f16>, %arg1: i32) num_warps(4) {
    %0 = tt.addptr %a, %arg1 : !tt.ptr<f16>, i32
    ttg.warp_return
  } : (!tt.ptr<f16>, i32) -> i32
  tt.return
}
""")
    specialize = function.body[0].operations[0]
    assert names(specialize.operands) == ("%a", "%n")
    assert [value.text for value in specialize.results] == ["i32"]
    assert specialize.attributes["partitionNumWarps"] == "array<i32: 4>"
    default, partition = specialize.regions
    assert [v.name for v in partition[0].arguments] == ["%a@8", "%arg1"]
    assert names(partition[0].operations[0].operands) == ("%a@8", "%arg1")
    assert default[0].operations[0].results[0].name == "%0"


def test_the_generic_form_of_a_function() -> None:
    function = read("""
"tt.func"() <{arg_attrs = [{tt.divisibility = 16 : i32}, {}],
            function_type = (!tt.ptr<f16>, i32) -> (), sym_name = "f"}> ({
^bb0(%arg0: !tt.ptr<f16>, %arg1: i32):
  %0 = "tt.addptr"(%arg0, %arg1) : (!tt.ptr<f16>, i32) -> !tt.ptr<f16>
  %1 = "tt.reduce"(%2) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %3 = "arith.addf"(%x, %y) : (f32, f32) -> f32
    "tt.reduce.return"(%3) : (f32) -> ()
  }) : (tensor<4xf32>) -> f32
  "tt.return"() : () -> ()
}) : () -> ()
""")
    assert [value.name for value in function.arguments] == ["%arg0", "%arg1"]
    assert [dict(a) for a in function.argument_attributes] == [{"tt.divisibility": 16}, {}]
    assert [o.name for o in function.walk()][-1] == "tt.return"


def test_lines_that_were_read_before_are_read_the_same_way_again() -> None:
    """The second function takes its operations from the first; one goes on in the next line."""
    body = "%0 = my.one %x : i32\n  %1 = my.two %0"
    [module] = parse_ir(
        f"tt.func @f(%x: i32) {{\n  {body}\n  tt.return\n}}\n"
        f"tt.func @g(%x: i32) {{\n  {body}\n    : (i32) -> i64\n  tt.return\n}}\n"
    )
    first, second = SsaReader().functions(module)
    assert [names(o.operands) for o in first.walk()] == [names(o.operands) for o in second.walk()]
    assert [o.line for o in second.walk()] == [7, 8, 10]
    assert second.values["%1"].text == "i64"


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(KERNELS, 12), ids=lambda path: path.stem)
def test_lines_with_other_names_are_read_as_if_alone(path: Path) -> None:
    reader, text = SsaReader(), path.read_text(encoding="utf-8")
    for number in (1, 22):
        renamed = re.sub(r"%(\w+)", rf"%\g<1>x{number}", text)
        [module] = parse_ir(re.sub(r"#loc(\d+)", rf"#loc\g<1>{number}", renamed))
        found, alone = (one.functions(module) for one in (reader, SsaReader()))
        assert [written(f.walk()) for f in found] == [written(f.walk()) for f in alone]


@pytest.mark.parametrize(
    "lines",
    [
        ("%a = arith.addi %x, %x : i32", "%b = arith.addi %x, %y : i32"),
        ('my.asm %x {code = "add %y"} : i32', 'my.asm %y {code = "add %x"} : i32'),
        ('my.asm %x {code = "%y"} : i32', 'my.asm %y {code = "%x"} : i32'),
        ('my.use %x : i32 loc("%y":1:2)', 'my.use %y : i32 loc("%x":1:2)'),
        ("%a = my.use %x : !my.type<%y>", "%b = my.use %y : !my.type<%x>"),
        ("%a = tt.load %x, mask %y : i32", "%b = tt.load %y, mask %x : i32"),
        ("%a:2 = my.pair %x : i32, i32", "%b:3 = my.pair %x : i32, i32, i32"),
        ("my.use %x {at = %y} : i32", "my.use %y {at = %x} : i32"),
        ("my.use %x {at = [%y]} : i32", "my.use %y {at = [%x]} : i32"),
        ("%a = my.use %x : i32 loc(#loc1)", "%b = my.use %x : i32 loc(#loc2)"),
        ("%a = my.use %x : i32 loc(#loc1)", "%b = my.use %x : i32"),
        ("%a = my.use %x : i32", "%b = my.use %x : i32\n  {at = 3 : i32}"),
        ("%a = my.use %x : tensor<8xi32, #a>", "%b = my.use %x : tensor<4xi32, #b>"),
        ("%a = arith.cmpi eq, %x, %y : tensor<8xi1>", "%b = arith.cmpi eq, %x, %y : tensor<4xi8>"),
        (
            "%a = my.to %x : tensor<8xi8> -> tensor<8xi8>",
            "%b = my.to %x : tensor<8xi8> -> tensor<4xi8>",
        ),
        ("%a = my.use %x {of = tensor<8xi8>} : i32", "%b = my.use %x {of = tensor<4xi8>} : i32"),
        ("%a = my.use %x : !my.of<tensor<8xi8>>", "%b = my.use %x : !my.of<tensor<4xi8>>"),
        ("%a = tt.load %x : tensor<8x!tt.ptr<i8>>", "%b = tt.load %x : tensor<4x!tt.ptr<i8>>"),
        ("%a = my.use %x : !ttg.memdesc<8xi8, #s>", "%b = my.use %x : !ttg.memdesc<4xi8, #s, #m>"),
        (
            "tt.store %x, %y : tensor<8x!tt.ptr<i8>, #a>",
            "tt.store %y, %x : tensor<4x!tt.ptr<i8>, #b>",
        ),
        (
            "tt.load %x : !tt.tensordesc<tensor<8xi8>> -> tensor<8xi8>",
            "tt.load %x : !tt.tensordesc<tensor<4xi8>> -> tensor<4xi8>",
        ),
        ("tt.load %x : !my<\0000\0> -> tensor<8xi8>", "tt.load %x : !my<\0000\0> -> tensor<4xi8>"),
    ],
)
def test_lines_that_are_nearly_alike_are_told_apart(lines: tuple[str, str]) -> None:
    reader = SsaReader()
    for line in (*lines, *reversed(lines)):
        [module] = parse_ir(f"tt.func @f(%x: i32, %y: i32) {{\n  {line}\n  tt.return\n}}")
        [found], [alone] = reader.functions(module), SsaReader().functions(module)
        assert written(found.walk()) == written(alone.walk())


def test_lines_with_tensors_of_other_sizes_are_not_read_again() -> None:
    def sized(size: int) -> str:
        line = f"%{{}} = my.sum %x, %y : tensor<{size}xi32, #a{size}>"
        lines = "\n  ".join(line.format(number) for number in range(9))
        return f"tt.func @f(%x: i32, %y: i32) {{\n  {lines}\n  tt.return\n}}"

    def read(size: int) -> None:
        [function] = reader.functions(modules[size])
        assert function.values["%8"].text == f"tensor<{size}xi32, #a{size}>"

    reader = SsaReader()
    modules = {size: module for size in (8, 16) for module in parse_ir(sized(size))}
    read(8)
    with mock.patch.object(KnownLines, "add", side_effect=AssertionError):
        read(16)


@pytest.mark.parametrize(
    "text",
    [
        "tt.func @f(",
        "tt.func @f(%a",
        "tt.func @f() {",
        "tt.func @f() { %0 =",
        "tt.func @f() { %0 = arith.addi %a",
        'tt.func @f() { "tt.load"(%p) <{a = [',
        "tt.func @f() { scf.for %i = %a to %b step %c iter_args(%x = ",
        "tt.func @f() { } } } ] ) > %0 %1 = = loc(",
        '"tt.func"() <{sym_name = "f"}>',
        "tt.func @f() {" + " scf.if %c {" * 500,
        "tt.func private @f(i32, tensor<4xi32>) -> i32",
        "tt.func @f() { scf.if %c } ^bb0( // comment",
    ],
)
def test_broken_text_is_read_as_far_as_it_goes(text: str) -> None:
    [module] = parse_ir(text)
    for function in SsaReader().functions(module):
        list(function.walk())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("%a = arith.addi %x, %y : i32", "arith.addi"),
        ("%a = arith.addi %x : i32", '"arith.addi" with 1 operand'),
        ("%a = arith.select %x, %y : i32", '"arith.select" with 2 operands'),
        ("%a = tt.splat : i32 -> tensor<8xi32>", '"tt.splat" with 0 operands'),
        ("arith.extsi %x : i32 to i64", '"arith.extsi" without result'),
        ("%a = tt.load %x, %y, %x, %y : i32", "tt.load"),
        ("%a = my.op : i32", "my.op"),
    ],
)
def test_nothing_is_known_of_an_operation_with_other_operands_than_its_kind(
    text: str, name: str
) -> None:
    read_operation = operation(text)
    assert read_operation.name == name
    assert (read_operation.traits == NO_TRAITS) == (name[0] == '"' or name == "my.op")


@pytest.mark.parametrize("count", ["70368744177664", "9" * 5000])
def test_no_operation_has_that_many_results(count: str) -> None:
    function = read(f"tt.func @f() {{ %0:{count} = my.op : i32\n tt.return }}\n")
    assert len(function.body[0].operations[0].results) == 4096


def test_an_operation_may_have_no_results_under_a_name_that_is_taken() -> None:
    function = read("tt.func @f() { %0 = my.op : i32\n %0:0 = my.op : i32\n tt.return }\n")
    assert [len(o.results) for o in function.walk()] == [1, 0, 0]


def test_several_operations_on_a_line_and_comments() -> None:
    function = read(
        "tt.func @f(%a: i32) { %0 = arith.addi %a, %a : i32 %1 = my.op %0 // %2 = my.op\n"
        '  my.op "tt.load %x" %1 {text = "}"} loc("x.py":3:4) tt.return }\n'
    )
    assert [o.name for o in function.walk()] == ["arith.addi", "my.op", "my.op", "tt.return"]
    place = function.location(function.body[0].operations[2])
    assert place is not None
    assert (place.file, place.line, place.column) == ("x.py", 3, 4)


def test_type_aliases_are_expanded() -> None:
    function = read("""
!t = tensor<8xi32>
tt.func @f(%a: !t) -> !t {
  %0 = arith.addi %a, %a : !t
  tt.return %0 : !t
}
""")
    assert function.values["%0"].type.shape == (8,)
    found = function.type_of(function.values["%0"])
    assert found is not None
    assert found.shape == (8,)


def test_slices_of_slices_are_read_to_the_last_of_4096_elements() -> None:
    """Those of tl.topk, which splits a tensor into dimensions of 2."""
    layout = "#b"
    for _ in range(12):
        layout = f"#ttg.slice<{{dim = 0, parent = {layout}}}>"
    negated = operation(f"%y = arith.negf %x : tensor<2xf32, {layout}>")
    assert [value.type.shape for value in negated.results] == [(2,)]


def test_blanks_within_types_and_packs_mean_nothing() -> None:
    spread = """%i : 2 =
      scf.for %k = %a to %b step %c iter_args(%x = %p, %y = %q) -> (tensor <4 x
      f32>, i32) { scf.yield %x, %y : tensor< 4xf32>, i32 }"""
    [first, _] = operation(spread).results
    assert (first.name, first.text) == ("%i#0", "tensor<4xf32>")
    reduced = operation('%r = "tt.reduce"(%x) < {axis = 1 : i32} > ({}) : (i32) -> i32')
    assert reduced.integer("axis") == 1
