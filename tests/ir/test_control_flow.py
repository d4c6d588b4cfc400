"""Where values come from through control flow, against programs that are run step by step."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from tiers import sampled

from tt_layout.audit.suggestions.flow import Flow
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa import Function, Operation, Region, Value, read_functions
from tt_layout.ir.ssa.control_flow import ControlFlow, branches, calls

RUNS = 80  # of a function, each with other decisions


def function_of(text: str) -> Function:
    [module] = parse_ir(text)
    return read_functions(module)[0]


def sources(flow: ControlFlow, value: Value) -> list[str]:
    return [edge.source.name for edge in flow.into(value)]


class Run:
    """A run of a function: what became what, by loops over its operations."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.became: set[tuple[Value, Value]] = set()

    def bind(self, received: Sequence[Value], passed: Sequence[Value]) -> None:
        self.became |= {(old, new) for old, new in zip(passed, received, strict=True)}

    def region(self, region: Region) -> Operation:
        """Run a region; return the operation that it ends with."""
        blocks = {block.label: block for block in region}
        block = region[0]
        for _ in range(12):
            for operation in block.operations:
                self.operation(operation)
            last = block.operations[-1]
            if not last.successors:
                return last
            successor = self.random.choice(last.successors)
            block = blocks[successor.label]
            self.bind(block.arguments, successor.operands)
        return Operation("stopped")

    def operation(self, operation: Operation) -> None:
        run = getattr(self, operation.name.replace(".", "_"), None)
        if run is not None:
            run(operation)

    def scf_for(self, loop: Operation) -> None:
        carried = loop.operands[3:]
        for _ in range(self.random.randrange(3)):
            self.bind(loop.regions[0][0].arguments[1:], carried)
            carried = self.region(loop.regions[0]).operands
        self.bind(loop.results, carried)

    def scf_while(self, loop: Operation) -> None:
        before, after = loop.regions
        carried = loop.operands
        while True:
            self.bind(before[0].arguments, carried)
            passed = self.region(before).operands[1:]
            if self.random.random() < 0.5:
                self.bind(loop.results, passed)
                return
            self.bind(after[0].arguments, passed)
            carried = self.region(after).operands

    def scf_if(self, choice: Operation) -> None:
        self.bind(choice.results, self.region(self.random.choice(choice.regions)).operands)

    scf_index_switch = scf_execute_region = scf_if

    def ttg_warp_specialize(self, operation: Operation) -> None:
        self.bind(operation.results, self.region(operation.regions[0]).operands)
        for partition in operation.regions[1:]:
            self.bind(partition[0].arguments, operation.operands)
            self.region(partition)


class Writer:
    """Writes a random function of nested control flow over numbers."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def names(self, values: list[str], count: int) -> list[str]:
        return [self.random.choice(values) for _ in range(count)]

    def body(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        """Return operations, and the values that are known behind them."""
        values, text = list(values), ""
        for _ in range(self.random.randint(1, 2)):
            kinds = (self.loop, self.while_loop, self.choice, self.switch, self.once, self.groups)
            more, results = self.random.choice(kinds)(values, depth)
            text += more
            values += results
        return text, values

    def inner(self, values: list[str], depth: int, count: int, end: str) -> str:
        text, values = self.body(values, depth - 1) if depth else ("", values)
        passed = ", ".join(self.names(values, count))
        return f"{text}{end} {passed} : {', '.join(['i32'] * count)}\n"

    def loop(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        r, i, a, b = (self.name() for _ in range(4))
        x, y = self.names(values, 2)
        body = self.inner([*values, a, b], depth, 2, "scf.yield")
        head = f"{r}:2 = scf.for {i} = %n to %n step %n iter_args({a} = {x}, {b} = {y})"
        return f"{head} -> (i32, i32) : i32 {{\n{body}}}\n", [f"{r}#0", f"{r}#1"]

    def while_loop(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        r, a, b, c, d = (self.name() for _ in range(5))
        x, y = self.names(values, 2)
        before = self.inner([*values, a, b], depth, 2, "scf.condition(%t)")
        after = self.inner([*values, c, d], depth, 2, "scf.yield")
        head = f"{r}:2 = scf.while ({a} = {x}, {b} = {y}) : (i32, i32) -> (i32, i32) {{"
        middle = f"}} do {{\n^bb0({c}: i32, {d}: i32):\n"
        return f"{head}\n{before}{middle}{after}}}\n", [f"{r}#0", f"{r}#1"]

    def choice(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        r = self.name()
        yes, no = (self.inner(values, depth, 1, "scf.yield") for _ in range(2))
        return f"{r} = scf.if %t -> (i32) {{\n{yes}}} else {{\n{no}}}\n", [r]

    def switch(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        r = self.name()
        parts = [self.inner(values, depth, 1, "scf.yield") for _ in range(3)]
        text = "case 2 {{\n{}}}\ncase 5 {{\n{}}}\ndefault {{\n{}}}\n".format(*parts)
        return f"{r} = scf.index_switch %k -> i32\n{text}", [r]

    def once(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        r, a = self.name(), self.name()
        first, second = self.names(values, 2)
        last = self.inner([*values, a], depth, 1, "scf.yield")
        text = f"cf.cond_br %t, ^bb1({first} : i32), ^bb1({second} : i32)\n^bb1({a}: i32):\n{last}"
        return f"{r} = scf.execute_region -> i32 {{\n{text}}}\n", [r]

    def groups(self, values: list[str], depth: int) -> tuple[str, list[str]]:
        r, a = self.name(), self.name()
        [captured] = self.names(values, 1)
        first = self.inner(values, depth, 1, "ttg.warp_yield")
        other = self.body([a, "%n"], depth - 1)[0] if depth else ""
        partition = f"partition0({a}: i32) num_warps(4) {{\n{other}ttg.warp_return\n}}"
        text = f"default {{\n{first}}}\n{partition} : (i32) -> i32\n"
        return f"{r} = ttg.warp_specialize({captured})\n{text}", [r]


@pytest.mark.slow
@pytest.mark.parametrize("seed", sampled(range(300), 15))
def test_edges_are_what_runs_hand_over(seed: int) -> None:
    body, _ = Writer(Random(seed)).body(["%n", "%m"], 2)
    head = "tt.func @f(%n: i32, %m: i32, %t: i1, %k: index) {\n"
    function = function_of(f"{head}{body}tt.return\n}}")
    run = Run(Random(seed))
    for _ in range(RUNS):
        run.region(function.body)
    found = {(e.source, e.target) for e in ControlFlow(function).value_edges}
    assert run.became <= found
    unseen = {target for _, target in found - run.became}
    # What is deep within loops that seldom run may not have been seen once.
    assert len(unseen) <= len(found) // 4


def test_a_while_loop_exchanges_and_forwards() -> None:
    function = function_of("""
tt.func @f(%x: i32, %y: i32, %t: i1) {
  %r:2 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    scf.condition(%t) %b, %a : i32, i32
  } do {
  ^bb0(%c: i32, %d: i32):
    scf.yield %c, %d : i32, i32
  }
  tt.return
}""")
    flow = ControlFlow(function)
    values = function.values
    into = {n: sources(flow, values[n]) for n in ("%a", "%b", "%c", "%d", "%r#0", "%r#1")}
    assert into == {
        "%a": ["%x", "%c"],
        "%b": ["%y", "%d"],
        "%c": ["%b"],
        "%d": ["%a"],
        "%r#0": ["%b"],
        "%r#1": ["%a"],
    }
    assert [flow.first_value(values[n]) for n in ("%a", "%c", "%r#0")] == [
        values["%x"],
        values["%b"],
        None,
    ]
    [after, behind] = flow.out_of(values["%b"])
    assert (after.control.end, behind.control.end) == (1, None)
    assert after.control.choice == (values["%t"], True)
    assert behind.control.choice == (values["%t"], False)


def test_a_branch_hands_over_to_blocks() -> None:
    function = function_of("""
tt.func @f(%t: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %t, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  cf.br ^bb3(%a : i32)
^bb2:
  cf.br ^bb3(%y : i32)
^bb3(%r: i32):
  tt.return %r : i32
}""")
    flow = ControlFlow(function)
    assert [(e.source.name, e.control.end) for e in flow.into(function.values["%r"])] == [
        ("%a", "^bb3"),
        ("%y", "^bb3"),
    ]
    assert [e.control.choice for e in flow.into(function.values["%a"])] == [
        (function.values["%t"], True)
    ]


def test_a_reduction_combines_elements() -> None:
    function = function_of("""
tt.func @f(%x: tensor<32xf32>) {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32xf32>) -> f32
  tt.return
}""")
    flow = ControlFlow(function)
    assert sources(flow, function.values["%a"]) == ["%x", "%s"]
    assert sources(flow, function.values["%b"]) == ["%x"]
    assert sources(flow, function.values["%r"]) == ["%s"]
    assert all(edge.control.by_element for edge in flow.value_edges)
    assert [o.name for o in Flow(function).producers(function.values["%r"])] == ["tt.reduce"]


def test_the_generic_form_hands_over_to_partitions() -> None:
    function = function_of("""
tt.func @f(%x: i32) {
  "ttg.warp_specialize"(%x) <{partitionNumWarps = array<i32: 4>}> ({
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_specialize.partitions"() ({
    ^bb0(%a: i32):
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : (i32) -> ()
  "tt.return"() : () -> ()
}""")
    assert sources(ControlFlow(function), function.values["%a"]) == ["%x"]


def test_calls_pass_operands() -> None:
    [module] = parse_ir("""
module {
  tt.func public @f(%x: i32) {
    %r = tt.call @g(%x) : (i32) -> i32
    tt.return
  }
  tt.func private @g(%a: i32) -> i32 {
    tt.return %a : i32
  }
}""")
    [call] = calls(read_functions(module))
    assert [(old.name, new.name) for old, new in call.passed] == [("%x", "%a")]


LAYOUTS = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
"""


def test_producers_are_found_through_while_loops_and_branches() -> None:
    function = function_of(
        LAYOUTS
        + """
tt.func @f(%p: tensor<128x!tt.ptr<f32>, #a>, %q: tensor<128x!tt.ptr<f32>, #a>, %t: i1) {
  %x = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
  %y = tt.load %q : tensor<128x!tt.ptr<f32>, #a>
  %r:2 = scf.while (%a = %x, %b = %y) : (tensor<128xf32, #a>, tensor<128xf32, #a>)
      -> (tensor<128xf32, #a>, tensor<128xf32, #a>) {
    scf.condition(%t) %a, %b : tensor<128xf32, #a>, tensor<128xf32, #a>
  } do {
  ^bb0(%c: tensor<128xf32, #a>, %d: tensor<128xf32, #a>):
    scf.yield %c, %d : tensor<128xf32, #a>, tensor<128xf32, #a>
  }
  cf.cond_br %t, ^bb1(%r#1 : tensor<128xf32, #a>), ^bb2
^bb1(%z: tensor<128xf32, #a>):
  tt.store %p, %z : tensor<128x!tt.ptr<f32>, #a>
  cf.br ^bb2
^bb2:
  tt.return
}"""
    )
    flow = Flow(function)
    [x, y] = [o for o in function.walk() if o.name == "tt.load"]
    [store] = [o for o in function.walk() if o.name == "tt.store"]
    assert flow.producers(function.values["%r#0"]) == [x]
    assert flow.producers(function.values["%z"]) == [y]
    assert flow.consumers(y.results[0]) == [store]


def test_only_of_two_ways_one_is_chosen_by_a_condition() -> None:
    function = function_of("""
tt.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%y: i32):
  cf.br ^bb3(%y : i32)
^bb2:
  cf.switch %x : i32, [default: ^bb3(%x : i32), 1: ^bb3(%x : i32)]
^bb3(%z: i32):
  tt.return
}
""")
    blocks = function.body.labelled
    chosen = {
        label: [
            (way.end, (way.choice.value.name, way.choice.outcome) if way.choice else None)
            for way in branches(block.operations[-1], blocks)
        ]
        for label, block in blocks.items()
    }
    assert chosen[""] == [("^bb1", ("%c", True)), ("^bb2", ("%c", False))]
    assert chosen["^bb1"] == [("^bb3", None)]
    assert {condition for _, condition in chosen["^bb2"]} <= {None}
    assert chosen["^bb3"] == []
