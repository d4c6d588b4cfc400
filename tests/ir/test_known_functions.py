"""Functions whose texts differ in names and constants alone: placed as they would be read."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from work import calls_of

from tt_layout import parse_ir
from tt_layout.ir.ssa import Function, Operation, Region, SsaReader, known_functions

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def read(reader: SsaReader, text: str) -> Function:
    """Return the only function of a text."""
    [module] = parse_ir(text)
    [function] = reader.functions(module)
    return function


def plain(function: Function) -> object:
    """Return all that a function says."""

    def of_region(region: Region) -> object:
        return [
            (block.label, [v.name for v in block.arguments], [*map(of_operation, block)])
            for block in region
        ]

    def of_operation(operation: Operation) -> object:
        handed = [(label, [v.name for v in values]) for label, values in operation.successors]
        place = operation.line, operation.column, operation.position, operation.end
        names = [[v.name for v in vs] for vs in (operation.operands, operation.results)]
        regions = [of_region(region) for region in operation.regions]
        attributes = dict(operation.attributes)
        ends = operation.location_text, operation.moved
        return (operation.name, names, attributes, regions, handed, place, *ends)

    values = [
        (value.name, value.text, value.type, [use.owner.position for use in value.uses])
        for value in function.values.values()
    ]
    own = function.name, function.line, function.column, function.argument_attributes
    return own, [v.name for v in function.arguments], values, of_region(function.body)


def renamed(text: str) -> str:
    """Return a kernel with other names, other constants, in other places."""
    text = re.sub(r"%([\w-]+)", r"%other_\g<1>", text)
    text = text.replace("tt.func public @", "tt.func public @other_")
    return "\n\n" + re.sub(r"(arith\.constant (?:dense<)?\d+)(?=>? : )", r"\g<1>0", text)


@pytest.mark.parametrize("kernel", ["attention-sm90", "matmul-sm90"])
def test_a_function_is_placed_as_it_would_be_read(kernel: str) -> None:
    text = (KERNELS / f"{kernel}.ttgir").read_text()
    reader = SsaReader()
    first = calls_of(lambda: read(reader, text))
    placed = read(reader, renamed(text))
    anew = read(SsaReader(), renamed(text))
    assert plain(placed) == plain(anew)
    assert placed.skeleton == anew.skeleton != read(reader, text).skeleton
    assert placed.alike is not None
    [module] = parse_ir(renamed(text))
    assert module.functions
    assert calls_of(lambda: reader.functions(module)) < first / 3


def test_operations_of_a_kind_are_searched_once_for_functions_of_other_constants() -> None:
    text, seen = (KERNELS / "matmul-sm90.ttgir").read_text(), list[str]()

    def is_product(operation: Operation) -> bool:
        seen.append(operation.name)
        return operation.traits.multiplies

    reader = SsaReader()
    first, placed = read(reader, text), read(reader, renamed(text))
    for function in (first, placed, first):
        products = [o for o in function.operations if o.traits.multiplies]
        assert function.chosen(is_product) == products != []
    assert seen == [operation.name for operation in first.operations]


def test_as_much_text_is_known_as_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(KERNELS / f"{name}.ttgir").read_text() for name in ("matmul-sm90", "softmax-sm90")]
    functions = [text[text.index("tt.func") : text.rindex("\n  }") + 4] for text in texts]
    [module] = parse_ir(renamed(texts[0]))
    assert module.functions
    anew = calls_of(lambda: SsaReader().functions(module))
    for lacking in (0, 1):
        monkeypatch.setattr(known_functions, "MAX_KEPT", sum(map(len, functions)) - lacking)
        reader = SsaReader()
        for text in texts:
            read(reader, text)
        assert (calls_of(partial(reader.functions, module)) < anew / 2) is (lacking == 0)


def chain(length: int) -> str:
    """Return functions alike, each of which calls the next."""
    functions = [
        f"  tt.func private @f{number}(%n: i32) {{\n"
        f"    tt.call @f{number + 1}(%n) : (i32) -> ()\n    tt.return\n  }}\n"
        for number in range(length)
    ]
    return f"module {{\n{''.join(functions)}}}\n"


def test_functions_that_differ_in_what_they_call_are_read_once() -> None:
    def work(length: int) -> int:
        [module] = parse_ir(chain(length))
        return calls_of(lambda: SsaReader().functions(module))

    [module] = parse_ir(chain(3))
    functions = SsaReader().functions(module)
    called = [function.operations[0].attributes["callee"] for function in functions]
    assert called == ["f1", "f2", "f3"]
    apiece = work(20) - work(10)
    assert apiece < 0.5 * 10 * (work(1) - work(0))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("%0 = arith.constant 4 : i32", "%0 = arith.constant 4 : i64"),
        ("%0 = arith.constant dense<4> : i32", "%0 = arith.constant dense<-5> : i32"),
        ("%0 = arith.constant 1 : i1", "%0 = arith.constant true"),
        ("%0 = arith.addi %n, %m : i32", "%0 = arith.addi %n, %n : i32"),
        ("%0 = arith.addi %n, %lost : i32", "%0 = arith.addi %n, %m : i32"),
        ('%0 = tt.asm "mov $0, %laneid;" %n : i32', '%0 = tt.asm "mov $0, %warpid;" %n : i32'),
        ('%0 = tt.f {a = "%n"} : i32', '%0 = tt.f {a = "%m"} : i32'),
        ('%0 = tt.f "arith.constant 4 : i" : i32', '%0 = tt.f "arith.constant 5 : i" : i32'),
        (
            "%5:2 = tt.f %n : i32\n %6 = tt.g %5#1 : i32",
            "%5:2 = tt.f %n : i32\n %6 = tt.g %5 : i32",
        ),
        (
            "scf.if %n {\n %0 = tt.f %n : i32\n}\n %0 = tt.f %m : i32\n %1 = tt.g %0 : i32",
            "scf.if %n {\n %k = tt.f %n : i32\n}\n %k = tt.f %m : i32\n %1 = tt.g %k : i32",
        ),
        (
            "%0 = tt.load %n, %m {mask = %m} : i32",
            "%0 = tt.load %x, %y {mask = %y} : i32",
        ),
        ("cf.br ^a(%n : i32)\n^a(%k: i32):", "cf.br ^a(%n : i32)\n^a(%other: i32):"),
        ("%0 = tt.f : i32 loc(#loc1)", "%0 = tt.f : i32 loc(#loc2)"),
        ("tt.call @g(%n) : (i32) -> ()", "tt.call @longer(%n) : (i32) -> ()"),
        ("%0 = tt.call @g() : () -> i32 gpu.barrier", "%0 = tt.call @h_() : () -> i32 gpu.barrier"),
        ('tt.call @"g"(%n) : (i32) -> ()', 'tt.call @"h"(%n) : (i32) -> ()'),
        (
            'tt.call @"g"(%n) : (i32) -> ()\n tt.call @g(%n) : (i32) -> ()',
            'tt.call @"g"(%n) : (i32) -> ()\n tt.call @h(%n) : (i32) -> ()',
        ),
        ('%0 = tt.f "call @g" : i32', '%0 = tt.f "call @h" : i32'),
        ("llvm.call @g(%n) : (i32) -> ()", "llvm.call @h(%n) : (i32) -> ()"),
        ("tt.call @f(%n) : (i32) -> ()", "tt.call @h(%n) : (i32) -> ()"),
    ],
)
def test_no_function_is_taken_for_another(first: str, second: str) -> None:
    reader = SsaReader()
    for lines in (first, second, first):
        text = f"\ntt.func @f(%n: i32, %m: i32) {{\n {lines}\n  tt.return\n}}\n"
        assert plain(read(reader, text)) == plain(read(SsaReader(), text))
        assert plain(read(reader, "\n" + text)) == plain(read(SsaReader(), "\n" + text))


def test_an_alias_of_a_type_stands_for_another_elsewhere() -> None:
    reader = SsaReader()
    for alias in ("!ttg.memdesc<8xf16>", "!ttg.memdesc<4xf32>"):
        text = f"!buffer = {alias}\ntt.func @f() {{\n  %0 = ttg.local_alloc : !buffer\n}}\n"
        [value] = read(reader, text).values.values()
        assert value.text == alias
