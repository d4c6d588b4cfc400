"""The reader of IR: what it finds, where, and what does it no harm."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
from tiers import slow
from work import bytes_of, calls_of

from tt_layout import parse_ir
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir import Alias, Module
from tt_layout.ir.reader import MAX_LENGTH, REPORT_EVERY, check_lines, iterate_ir
from tt_layout.ir.scope import Scope
from tt_layout.ir.ssa import SsaReader
from tt_layout.ir.ssa.tokens import Cursor
from tt_layout.ir.types import TypeSyntax, parse_syntax
from tt_layout.mlir.source import Source
from tt_layout.releases import Release

ROOT = Path(__file__).parents[2]
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"


def one(text: str) -> Module:
    """Return the only module of a text."""
    [module] = parse_ir(text)
    return module


def error_of(text: str) -> LayoutError:
    """Return the error of the only type in a text."""
    [use] = one(text).types
    assert isinstance(use.encoding, LayoutError)
    return use.encoding


# -- types ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "shape", "element", "mnemonic"),
    [
        (f"tensor<16x32xf16, {BLOCKED}>", "tensor", (16, 32), "f16", "blocked"),
        (f"tensor<16x32x!tt.ptr<f16, 1>, {BLOCKED}>", "tensor", (16, 32), "!tt.ptr<f16, 1>",
         "blocked"),
        ("tensor<16x32xf16>", "tensor", (16, 32), "f16", None),
        ("tensor<f32>", "tensor", (), "f32", None),
        ("tensor<4xvector<2xf16>>", "tensor", (4,), "vector<2xf16>", None),
        ("tensor<4x!my.type<a<b>>>", "tensor", (4,), "!my.type<a<b>>", None),
        (f"!ttg.memdesc<2x8x8xf16, {SHARED}, #ttg.shared_memory, mutable, 3x2x8x8>",
         "memdesc", (2, 8, 8), "f16", "swizzled_shared"),
        (f"!tt.memdesc<8x8xf16, {SHARED}>", "memdesc", (8, 8), "f16", "swizzled_shared"),
        (f"!triton_gpu.memdesc<8x8xf16, {SHARED}>", "memdesc", (8, 8), "f16", "swizzled_shared"),
        (f"!tt.ptr<tensor<8x8xf16, {BLOCKED}>, 1>", "ptr", (8, 8), "f16", "blocked"),
        ("!tt.ptr<tensor<8x8xf16>>", "ptr", (8, 8), "f16", None),
        (f"!tt.tensordesc<tensor<8x8xf16, {SHARED}>>", "tensordesc", (8, 8), "f16",
         "swizzled_shared"),
        (f"!tt.tensordesc<8x8xf16, {SHARED}>", "tensordesc", (8, 8), "f16", "swizzled_shared"),
        (f"tensor<\n  8x8xf16,\n  {BLOCKED}\n>", "tensor", (8, 8), "f16", "blocked"),
    ],
)  # fmt: skip
def test_types(
    text: str, kind: str, shape: tuple[int, ...], element: str, mnemonic: str | None
) -> None:
    [use] = one(f"module {{\n  %0 = some.op %a : {text}, i32 loc(#l)\n}}\n").types
    assert (use.kind, use.shape, use.element_type) == (kind, shape, element)
    found = use.encoding.mnemonic if isinstance(use.encoding, Encoding) else use.encoding
    assert found == mnemonic
    assert (use.line, use.column) == (2, 21)


def test_the_memdesc_that_a_copy_shortens() -> None:
    module = one(
        f"#s = {SHARED}\n"
        "ttg.async_copy_global_to_local %p, %m : tensor<8x8x!tt.ptr<f16>> -> <8x8xf16, #s, #smem>\n"
    )
    assert [(use.kind, use.shape, use.line, use.column) for use in module.types] == [
        ("tensor", (8, 8), 2, 41),
        ("memdesc", (8, 8), 2, 69),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensor<8x8xf16, #nowhere>", "the alias #nowhere is not defined"),
        ("tensor<8x8xf16, #my.layout<{a = 1}>>", "#my.layout is not a layout attribute"),
        ("tensor<8x?xf16, #x>", "every dimension must be known"),
        ('tensor<8x8xf16, "text">', "expected a layout attribute"),
        ("tensor<8x8xf16, 3>", "expected a layout attribute"),
        ("tensor<8x8xf16, #ttg.blocked<{order = [0]}>>", "needs the key"),
        ("tensor<8x8xf16, #ttg.blocked<{", "expected"),
        ("tensor<8x8xf16", "expected '>' to close the type"),
        ("tensor<8x8x", "expected an element type"),
        ("tensor<99999999999999999999xf16>", "64 bits"),
        ("tensor<" + "1x" * 100 + "f16>", "64 dimensions"),
        ("tensor<4x!a<" + "<" * 50 + "a", "expected"),
    ],
)
def test_a_type_that_is_wrong_has_its_error(text: str, message: str) -> None:
    error = error_of(f"module {{\n  some.op : {text}\n}}\n")
    assert message in error.message
    assert str(error).startswith(("<ir>:2:", "<ir>:3:", "<ir>:4:"))


def test_nothing_is_found_in_comments_and_strings() -> None:
    module = one(
        'module attributes {a = "tensor<8x8xf16>"} {\n'
        "  // CHECK: tensor<8x8xf16>\n"
        '  %0 = "my.op"(%a) {note = "say \\"tensor<4xf16>\\" // no"} : (i32) -> tensor<2xf16>\n'
        '  tt.return loc("tensor<1xf16>.py":1:2)  // tensor<1xf16>\n'
        "}\n"
    )
    assert [use.shape for use in module.types] == [(2,)]


def test_equal_types_of_a_module_are_one_object() -> None:
    module = one(f"#a = {BLOCKED}\n" + "x.y : tensor<8x8xf16, #a>, tensor<8x8xf16, #a>\n" * 3)
    assert len(module.types) == 6
    assert len({id(use.type) for use in module.types}) == 1
    assert module.types[1:3] == list(module.types)[1:3]
    assert module.types[-1].line == 4


# -- aliases ----------------------------------------------------------------------------------


TWO_LAYOUTS = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module { %0 = my.op : tensor<64xf32, #a>, tensor<64xf32, #b>, tensor<64xf32> }
"""


def test_types_of_one_text_have_the_layouts_of_their_modules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[TypeSyntax] = []

    def noting(source: Source, offset: int) -> TypeSyntax:
        parsed.append(parse_syntax(source, offset))
        return parsed[-1]

    monkeypatch.setattr("tt_layout.ir.scope.parse_syntax", noting)
    other = TWO_LAYOUTS.replace("#b =", "#c =").replace("#a =", "#b =").replace("#c =", "#a =")
    first, second = parse_ir(f"{TWO_LAYOUTS}// -----\n{other}")
    sizes = [
        [getattr(use.encoding, "size_per_thread", None) for use in module.types]
        for module in (first, second)
    ]
    assert sizes == [[(1,), (4,), None], [(4,), (1,), None]]
    assert len(parsed) == 3


def test_aliases_may_nest_and_be_used_before_they_are_defined() -> None:
    module = one(
        "%0 = a.b : tensor<8xf16, #inner>\n"
        "#inner = #ttg.slice<{dim = 0, parent = #outer}>\n"
        "#alias = #inner\n"
        f"#outer = {BLOCKED}\n"
        "#smem = #ttg.shared_memory\n"
        '#loc = loc("a.py":1:2)\n'
        "#map = affine_map<(d0) -> (d0)>\n"
        "#own = #other.tile<{repeatCount = 8, A = [1] strange }>\n"
    )
    kinds = {name: alias.kind for name, alias in module.aliases.items()}
    assert kinds == {
        "inner": "layout",
        "alias": "layout",
        "outer": "layout",
        "smem": "other",
        "loc": "location",
        "map": "other",
        "own": "other",
    }
    assert module.aliases["inner"].encoding == module.aliases["alias"].encoding
    assert (module.aliases["outer"].line, module.aliases["outer"].column) == (4, 1)
    assert isinstance(module.types[0].encoding, Encoding)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("#a = #a", "a", "#a is defined by itself"),
        ("#a = #b\n#b = #a", "a", "#b is defined by itself: #b -> #a -> #b"),
        ("#a = #ttg.blokced<{order = [0]}>", "a", "did you mean #ttg.blocked?"),
        (f"#a = {BLOCKED}\n#a = {SHARED}", "a", "#a is defined again on line 2"),
        ("#a = #ttg.blocked<{order = ", "a", "expected a value"),
        ("\n".join(f"#a{n} = #a{n + 1}" for n in range(500)), "a0", "64 deep"),
    ],
)
def test_an_alias_that_is_wrong_has_its_error(text: str, name: str, message: str) -> None:
    error = one(text).aliases[name].encoding
    assert isinstance(error, LayoutError)
    assert message in error.message


def test_aliases_of_aliases_do_not_grow() -> None:
    lines = ["#a0 = [1]"] + [f"#a{n + 1} = [#a{n}, #a{n}]" for n in range(60)]
    modules = []
    text = "\n".join([*lines, "x.y : tensor<8xf16, #a60>"])
    assert calls_of(lambda: modules.append(one(text))) < 100_000
    assert isinstance(modules[0].types[0].encoding, LayoutError)


def test_two_definitions_on_one_line() -> None:
    module = one(f"#a = {BLOCKED}#b = {SHARED}\n")
    assert list(module.aliases) == ["a", "b"]
    assert all(isinstance(alias.encoding, Encoding) for alias in module.aliases.values())


def test_type_aliases_stand_for_types_of_moves() -> None:
    module = one(
        f"!t = tensor<8x8xf16, {BLOCKED}>\n!unknown = i32\n"
        "%0 = ttg.convert_layout %a : !t -> !t\n"
        "%1 = ttg.convert_layout %a : !unknown -> !nowhere\n%2 = x.y : !t\n"
    )
    [operation] = module.operations
    assert operation.source is not None
    assert operation.source.shape == (8, 8)
    assert [use.line for use in module.types] == [1, 3, 3, 5]


def test_keys_that_the_compiler_ignores_are_ignored() -> None:
    linear = "#ttg.linear<{register = [[1]], lane = [], warp = [], block = [], order = [0]}>"
    [use] = one(f"a.b : tensor<2xf16, {linear}>").types
    assert isinstance(use.encoding, Encoding)
    assert (
        "expected"
        not in error_of(f"a.b : tensor<2xf16, {BLOCKED.replace('order', 'odrer')}>").message
    )


def test_what_an_old_compiler_implies_is_implied() -> None:
    mma = "#triton_gpu.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1]}>"
    [use] = one(f"a.b : tensor<16x8xf32, {mma}>").types
    assert isinstance(use.encoding, Encoding)


def test_the_release_may_be_given() -> None:
    [module] = parse_ir(f"a.b : tensor<8x8xf16, {BLOCKED}>", release=Release.V3_2)
    assert isinstance(module.types[0].encoding, LayoutError)


# -- modules ----------------------------------------------------------------------------------

HEADER = "// -----// IR Dump {} {} (some-pass) ('builtin.module' operation) //----- //\n"


def test_headers_begin_modules_and_name_passes() -> None:
    def body(order: str) -> str:
        return (
            f"#a = {BLOCKED.replace('order = [1, 0]', order)}\n"
            "module {\n  tt.func @f(%x: tensor<8x8xf16, #a>) {\n  }\n}\n"
        )

    text = HEADER.format("Before", "Coalesce") + body("order = [1, 0]")
    text += HEADER.format("After", "Coalesce") + body("order = [0, 1]")
    first, second = parse_ir(text)
    assert (first.pass_name, first.stage, first.line) == ("Coalesce", "before", 3)
    assert (second.pass_name, second.stage, second.line) == ("Coalesce", "after", 9)
    assert str(first.types[0].encoding) != str(second.types[0].encoding)
    assert [f.name for f in (*first.functions, *second.functions)] == ["f", "f"]


def test_splits_begin_modules_with_aliases_of_their_own() -> None:
    text = f"#a = {BLOCKED}\na.b : tensor<8x8xf16, #a>\n// -----\n\na.b : tensor<8x8xf16, #a>\n"
    first, second = parse_ir(text)
    assert isinstance(first.types[0].encoding, Encoding)
    assert isinstance(second.types[0].encoding, LayoutError)


def test_modules_in_a_row() -> None:
    text = "".join(
        f"#a = {BLOCKED.replace('[1, 2]', f'[1, {n}]')}\n"
        "module {\n  a.b : tensor<8x8xf16, #a>\n}\n"
        '#loc1 = loc("x.py":1:1)\n'
        for n in (1, 2, 4)
    )
    modules = parse_ir(text)
    sizes = [use.encoding for module in modules for use in module.types]
    assert len({str(encoding) for encoding in sizes}) == 3
    assert all(set(module.aliases) == {"a", "loc1"} for module in modules)


def test_modules_in_a_row_may_share_aliases() -> None:
    text = f"#a = {BLOCKED}\n" + "module {\n  a.b : tensor<8x8xf16, #a>\n}\n" * 2
    assert [isinstance(m.types[0].encoding, Encoding) for m in parse_ir(text)] == [True, True]


def test_aliases_at_the_end_belong_to_the_module_above() -> None:
    module = one(f"module {{\n  a.b : tensor<8x8xf16, #a>\n}}\n#a = {BLOCKED}\n")
    assert isinstance(module.types[0].encoding, Encoding)


def test_a_module_in_a_module_is_part_of_it() -> None:
    assert len(parse_ir("module {\n  module @inner {\n    a.b : tensor<2xf16>\n  }\n}\n")) == 1


@pytest.mark.parametrize(
    "text",
    [
        'module attributes {"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", x = {a = [1, 2]}, '
        "ttg.shared = 65 : i32, flag, other = dense<1> : tensor<2xi32>} {\n}\n",
        'module @name attributes {\n  "triton_gpu.num-warps" = 8 : i32,\n'
        '  triton_gpu.target = "cuda:90", triton_gpu.shared = 65 : i32\n} {\n}\n',
        '"builtin.module"() ({\n}) {"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", '
        "ttg.shared = 65 : i32} : () -> ()\n",
    ],
)
def test_module_attributes(text: str) -> None:
    module = one(text)
    assert (module.number("num-warps"), module.target, module.number("shared")) == (
        8,
        "cuda:90",
        65,
    )
    assert module.error is None


def test_attributes_that_never_end_are_read_only_so_far() -> None:
    assert len(one("module attributes {" + "a = 1, " * MAX_LENGTH).attributes) == 1


def test_attributes_of_a_module_have_any_length() -> None:
    """The target comes last: without it, costs would be those of another GPU."""
    many = ", ".join(f'"x.number-{number}" = {number} : i32' for number in range(4000))
    attributes = f'{{{many}, ttg.target = "cuda:100"}}'
    found = one(f"module attributes {attributes} {{\n}}\n").attributes
    assert (len(found), found["ttg.target"]) == (4001, "cuda:100")
    assert one(f'"builtin.module"() ({{\n}}) {attributes} : () -> ()\n').attributes == found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("module {\n  tt.func @f() {\n    tt.return\n", 3),
        ("module {\n  tt.func @f() {\n    tt.return\n  }\n", 4),
        ("tt.func @f() {\n  tt.return\n", 2),
    ],
)
def test_a_module_that_is_cut_off_says_so(text: str, line: int) -> None:
    error = one(text).error
    assert error is not None
    assert "begins on line 1 has no end: the text is truncated" in error.message
    assert str(error).startswith(f"<ir>:{line}:")


@pytest.mark.parametrize(
    "text", ["module {}\n", "module {\n}", "tt.func @f()\n", "module {\n} loc(#l)\n"]
)
def test_a_whole_module_is_not_cut_off(text: str) -> None:
    assert one(text).error is None


def test_a_split_that_is_indented_in_a_module_is_a_comment() -> None:
    function = "  tt.func @f(%v: tensor<4xf32>) {\n    tt.return\n  }\n"
    [module] = parse_ir(f"module {{\n{function}\n  // -----\n\n{function}}}\n")
    assert module.error is None
    first, second = parse_ir(f"module {{\n{function}// -----\n\nmodule {{\n{function}}}\n")
    assert first.error is not None
    assert second.error is None


@pytest.mark.parametrize("text", ["", "\n\n", "hello", "// -----\n// -----\n"])
def test_text_without_ir_has_no_modules(text: str) -> None:
    assert parse_ir(text) == []


# -- operations -------------------------------------------------------------------------------

A, B, S = "tensor<8x8xf16, #a>", "tensor<8x8xf16, #b>", "!ttg.memdesc<8x8xf16, #s, #smem>"
P = "tensor<8x8x!tt.ptr<f16>, #a>"
OLD = "tensor<2x8x8xf16, #s>"
ALIASES = f"#a = {BLOCKED}\n#b = {BLOCKED.replace('[1, 0]', '[0, 1]')}\n#s = {SHARED}\n"

# text, group, layouts from and to, bytes
MOVES = [
    (f"%1 = ttg.convert_layout %0 : {A} -> {B} loc(#l)", "conversion", "#a", "#b", 128),
    (f'%1 = "ttg.convert_layout"(%0) <{{x = 1}}> : ({A}) -> {B}', "conversion", "#a", "#b", 128),
    (f"%1 = triton_gpu.convert_layout %0 : ({A}) -> {B}", "conversion", "#a", "#b", 128),
    (f"%1 = triton_gpu.convert_layout %0 : ({A}) -> tensor<8x8xf16, #s>", "local store", "#a", "#s",
     128),
    (f"%1 = triton_gpu.convert_layout %0 : (tensor<8x8xf16, #s>) -> {A}", "local load", "#s", "#a",
     128),
    (f"%1 = ttg.local_load %0 token %t : {S} -> {A}", "local load", "#s", "#a", 128),
    (f"ttg.local_store %0, %1 : {A} -> {S}", "local store", "#a", "#s", 128),
    (f"%1 = ttg.local_alloc %0 : ({A}) -> {S}", "local store", "#a", "#s", 128),
    (f"%1 = ttg.local_alloc : () -> {S}", "allocation", "global memory", "#s", 0),
    (f"%1 = triton_gpu.alloc_tensor : {OLD}", "allocation", "global memory", "#s", 0),
    (f"%1 = ttg.async_copy_global_to_local %0, %m : {P} -> <8x8xf16, #s, #smem, mutable>",
     "copy to local", "#a", "#s", 128),
    (f"%1 = triton_gpu.insert_slice_async %0, %m, %i {{axis = 0 : i32}} : {P} -> {OLD}",
     "copy to local", "#a", "#s", 128),
    (f"ttng.async_tma_copy_global_to_local %d[%x] %m, %b, %p : !tt.tensordesc<8x8xf16, #s>, "
     f"!ttg.memdesc<1xi64, #b, #smem> -> {S}", "copy to local", "global memory", "#s", 128),
    (f"%1:2 = ttng.tmem_load %0[%t] : {S} -> {A}", "local load", "#s", "#a", 128),
    (f"ttng.tmem_store %0, %1[], %true : {A} -> {S}", "local store", "#a", "#s", 128),
    (f"%1, %t = ttng.tmem_alloc : () -> ({S}, !ttg.async.token)", "allocation", "global memory",
     "#s", 0),
    (f"%1 = tt.load %0, %m, %o {{cache = 1 : i32}} : {P}", "global load", "global memory", "#a",
     128),
    (f'%1 = "tt.load"(%0) : ({P}) -> {A}', "global load", "global memory", "#a", 128),
    (f"%1 = tt.load %0 : {A}", "global load", "global memory", "#a", 128),
    (f"%1 = tt.load %0 : !tt.ptr<tensor<8x8xf16>> -> {A}", "global load", "global memory", "#a",
     128),
    (f"%1 = tt.descriptor_load %0[%x] : !tt.tensordesc<8x8xf16> -> {A}", "global load",
     "global memory", "#a", 128),
    (f"tt.store %0, %1 : {P}", "global store", "#a", "global memory", 128),
    (f'"tt.store"(%0, %1) : ({P}, {B}) -> ()', "global store", "#b", "global memory", 128),
    (f"tt.descriptor_store %d[%x], %0 : !tt.tensordesc<8x8xf16>, {A}", "global store", "#a",
     "global memory", 128),
    (f"amdg.buffer_store %0, %p[%o], %m {{contiguity = 2 : i32}} : !tt.ptr<f16> -> {A}",
     "global store", "#a", "global memory", 128),
    (f"amdg.buffer_store %0, %p[%o] cacheModifier = cs stride = %s : {A}", "global store", "#a",
     "global memory", 128),
    (f'"amdg.buffer_store"(%0, %p, %o) : ({A}, !tt.ptr<f16>, tensor<8x8xi32, #b>) -> ()',
     "global store", "#a", "global memory", 128),
    (f"%1 = amdg.buffer_load %p[%o], %m : !tt.ptr<f16> -> {A}", "global load", "global memory",
     "#a", 128),
    (f"tt.descriptor_scatter %d[%x, %y], %0 : !tt.tensordesc<1x8xf16>, tensor<8xi32, #b>, i32, {A}",
     "global store", "#a", "global memory", 128),
    (f"ttg.local_scatter %m[%i], %0 : {S}, tensor<8x8xi32, #b>, {A}", "local store", "#a", "#s",
     128),
]  # fmt: skip


@pytest.mark.parametrize(("text", "group", "source", "target", "size"), MOVES)
def test_moves(text: str, group: str, source: str, target: str, size: int) -> None:
    from tt_layout.ir.operations import layout_of

    module = one(f"{ALIASES}module {{\n  tt.func @k() {{\n    {text}\n    x.y : {A}\n  }}\n}}\n")
    [operation] = module.operations
    ends = layout_of(operation.source), layout_of(operation.target)
    assert (operation.group, *ends, operation.bytes) == (group, source, target, size)
    assert (operation.function, operation.line) == ("k", 6)
    line = f"    {text}"
    name = operation.name if f'"{operation.name}"' not in line else f'"{operation.name}"'
    assert operation.column == line.index(name) + 1


def test_a_move_over_several_lines() -> None:
    module = one(f"{ALIASES}%1 =\n  ttg.convert_layout %0\n    {{a = 1}}\n    : {A}\n    -> {B}\n")
    [operation] = module.operations
    assert operation.line == 5
    assert len(operation.types) == 2


def test_operations_are_read_where_one_stands_on_a_line(tmp_path: Path) -> None:
    from tt_layout.ir.movement_lines import movement_on_line

    kernel = (
        f"module {{\n  tt.func @k() {{\n    %1 = ttg.convert_layout %0 : {A} -> {B}\n  }}\n}}\n"
    )
    path = tmp_path / "dump.mlir"
    path.write_text(ALIASES + kernel * 3)
    last = (ALIASES + kernel * 3).count("\n") - 2
    with mock.patch.object(SsaReader, "read", wraps=SsaReader().read) as read:
        _, operation = movement_on_line(str(path), last)
    assert (operation.line, read.call_count) == (last, 1)


@pytest.mark.parametrize("depth", [5, 9, 11, 12, 30])
def test_types_of_moves_may_nest_deeply(depth: int) -> None:
    slices = "#ttg.slice<{dim = 1, parent = " * depth + "#a" + "}>" * depth
    text = f"%1 = ttg.convert_layout %0 : tensor<8x8xf16, {slices}> -> {B}"
    for module in (one(f"{ALIASES}{text}"), one(f"{ALIASES}tt.func @k() {{\n  {text}\n}}")):
        [operation] = module.operations
        assert [ir_type.shape for ir_type in operation.types] == [(8, 8), (8, 8)]


def test_what_is_outside_of_functions_is_read_up_to_the_next_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    begin = Cursor.__init__

    def noting(cursor: Cursor, source: str, offset: int) -> None:
        texts.append(source)
        begin(cursor, source, offset)

    monkeypatch.setattr(Cursor, "__init__", noting)
    text = "%0 = tt.load %p {a = <\n" * 400 + f"%1 = ttg.convert_layout %0 : {A} -> {B} loc(\n"
    [module] = parse_ir(ALIASES + text)
    assert [len(operation.types) for operation in module.operations] == [2]
    assert sum(map(len, texts)) <= len(text)


def test_scalars_and_names_that_only_look_like_moves_are_no_moves() -> None:
    module = one(
        f"%0 = tt.load %p : !tt.ptr<f32>\n%1 = my.tt.load %p : {A}\n%2 = tt.load_more %p : {A}\n"
        f"x.y {{tt.loads = 1}} : {A}\n"
    )
    assert module.operations == ()


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ('loc("a.py":3:4)', "a.py:3:4"),
        ('loc("a.py":3:4 to :7)', "a.py:3:4"),
        ("loc(#loc1)", "b.py:5:6"),
        ('loc("name"(#loc1))', "b.py:5:6"),
        ("loc(callsite(#loc2 at #loc1))", "c.py:7:8"),
        ('loc(fused<"x">[#unknown, #loc1])', "b.py:5:6"),
        ('loc(callsite("f"("d.py":1:2) at #loc1))', "d.py:1:2"),
        ("loc(#loc4)", "c.py:7:8"),
        ("loc(unknown)", "None"),
        ("loc(#self)", "None"),
        ("loc(", "None"),
        ("", "None"),
    ],
)
def test_locations(location: str, expected: str) -> None:
    module = one(
        f"{ALIASES}module {{\n  %1 = ttg.convert_layout %0 : {A} -> {B} {location}\n"
        '  x.y loc("later.py":1:1)\n}\n'
        '#loc1 = loc("b.py":5:6)\n#loc2 = loc("name"(#loc3))\n#loc3 = loc("c.py":7:8)\n'
        "#loc4 = loc(fused[#loc2, #loc1])\n#self = loc(#self)\n"
    )
    assert str(module.operations[0].location) == expected


# -- size -------------------------------------------------------------------------------------


GARBAGE = [
    ("", "tensor<", 200_000),
    ("tensor<", "<a>", 300_000),
    ("", "tensor<<a>", 200_000),
    ("", "!tt.ptr<tensor<", 100_000),
    ("", '"', 1_000_000),
    ("", "#a = ", 200_000),
    ("", ">#a = #b", 100_000),
    ("", "\n%", 400_000),
    ("", " ", 2_000_000),
    ("", "// -----\n", 200_000),
    ("", "module attributes {", 50_000),
    ("", "\nmodule {", 20_000),
    ("", "loc(", 500_000),
    ("", "%0 = ttg.convert_layout ", 50_000),
    ("", "\n#a = #ttg.slice<{dim = 0, parent = #a}>", 20_000),
    ("", "->", 1_000_000),
    ("", "-> <1x", 200_000),
    ("tensor<1x", "1", 2_000_000),
    ("", "a", 3_000_000),
    ("module", " ", 1_000_000),
    ("module {", "module {", 200_000),
    ("", "ttg.convert_layout ", 200_000),
    ("ttg.convert_layout ", "%a,", 500_000),
    ("", "// -----\nmodule {\n", 50_000),
    ('"', "\\a", 500_000),
    ("", "#a = loc(unknown) module {} ", 20_000),
]
"""What never becomes IR: how it begins, what is repeated, how often."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "unit", "times"),
    [one if at % 4 == 1 else slow(*one) for at, one in enumerate(GARBAGE)],
)
def test_garbage_is_read_in_linear_time(head: str, unit: str, times: int) -> None:
    """Twice the text takes twice the calls."""
    for start in (head, f"module {{\n{head}"):
        texts = [start + unit * (many * times // 200) for many in (1, 2)]
        once, twice = (calls_of(partial(parse_ir, text)) for text in texts)
        assert twice <= 2 * once + 100


@pytest.mark.slow
@pytest.mark.parametrize(("head", "unit", "times"), GARBAGE)
def test_garbage_of_any_length_is_read(head: str, unit: str, times: int) -> None:
    """Whatever took the square of its length would not end."""
    garbage = head + unit * (times // 2)
    parse_ir(garbage)
    parse_ir(f"module {{\n{garbage}\n")


def test_a_type_that_never_ends_takes_little_memory() -> None:
    """What is matched of it is bounded: a frame for each group of it would be ten times it."""
    text = "module {\ntensor<" + "<a>" * 100_000
    assert bytes_of(partial(parse_ir, text)) < len(text)


def test_a_line_may_not_be_arbitrarily_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tt_layout.ir.reader.MAX_LINE", 100)
    check_lines(Source("\n".join(["a" * 100] * 5)))
    with pytest.raises(LayoutError, match="<layout>:3: error: the line has 101 characters"):
        check_lines(Source("\n".join(["a", "b", "a" * 101, "c"])))


@pytest.mark.slow
def test_the_folder_command_agrees_with_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(
        f"{ALIASES}module {{\n  x.y : {A}, {S}, tensor<3xf16, #a>\n}}\n"
    )
    (tmp_path / "b.mlir").write_text("x.y : tensor<2xf16, #tlx.user_layout<a>>\n// tensor<1xf16>\n")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "ir_folder.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    lines = (line for line in done.stdout.splitlines() if line[7:8].isdigit())
    counts = {label: count for count, label in (line.split(None, 1) for line in lines)}
    assert counts["files"] == "2"
    assert counts["types: tensor"] == "3"
    assert counts["aliases: layout"] == "3"
    assert counts["refused, type: unknown attribute of a dialect: #tlx.user_layout"] == "1"


def test_only_the_aliases_that_are_asked_for_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    alias = Scope.alias

    def counted(scope: Scope, name: str) -> Alias:
        read.append(name)
        return alias(scope, name)

    monkeypatch.setattr(Scope, "alias", counted)
    module = one("".join(f"#a{n} = {BLOCKED}\n" for n in range(20)) + "module {\n}\n")
    assert (len(module.aliases), read) == (20, [])
    assert module.aliases["a7"] is module.aliases["a7"]
    assert read == ["a7"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 4096])
def test_lines_are_counted_by_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tt_layout.mlir.source.BLOCK", size)
    for text in ("", "\n", "a", "a\n\n\nb\n", "abcdefgh\nij", "\n\nab\ncdefghij\n\nk"):
        source, before = Source(text), ""
        for offset in range(len(text) + 1):
            before = text[:offset]
            line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
            assert source.line_column(offset) == (line, column)
            assert source.offset(line, column) == offset
            assert source.line(line) == text.split("\n")[line - 1]


def test_places_take_little_memory_however_many_lines_there_are() -> None:
    source = Source("\n" * 1_000_000)
    assert bytes_of(lambda: source.line_column(999_999)) < 100_000


def test_progress_is_reported_once_for_so_many_characters() -> None:
    kernel = "module {\n  tt.func @f() {\n" + "    // a line\n" * 1000 + "    tt.return\n  }\n}\n"
    text = kernel * (5 * REPORT_EVERY // (2 * len(kernel)))
    seen: list[int] = []
    for _ in iterate_ir(Source(text), report=seen.append):
        pass
    assert [offset // REPORT_EVERY for offset in seen] == [1, 2]
