"""Text to syntax tree: what is accepted and as what, what is refused and where."""

from __future__ import annotations

import pytest

from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source, Span
from tt_layout.mlir.syntax import (
    MAX_DEPTH,
    MAX_EXPANDED,
    Aliases,
    AliasNode,
    AttributeNode,
    DictNode,
    EntryNode,
    IntegerNode,
    ListNode,
    Node,
    PairNode,
    Parser,
    StringNode,
    WordNode,
)


def parse(text: str) -> Node:
    parser = Parser(Source(text))
    node = parser.parse_value()
    parser.expect_end("value")
    return node


def plain(node: Node | None) -> object:
    """Return a tree as plain values, without its spans."""
    if isinstance(node, IntegerNode):
        return node.value
    if isinstance(node, WordNode):
        return node.word
    if isinstance(node, StringNode):
        return f'"{node.string}"'
    if isinstance(node, PairNode):
        return f"{node.interval}:+{node.padding}"
    if isinstance(node, AliasNode):
        return f"#{node.name}"
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    if isinstance(node, DictNode):
        return {entry.key: plain(entry.value) for entry in node.entries}
    if isinstance(node, EntryNode):
        return (node.key, plain(node.value))
    assert isinstance(node, AttributeNode)
    if node.body is None:
        return node.name
    return (node.name, *(plain(item) for item in node.body))


ACCEPTED: list[tuple[str, object]] = [
    ("4", 4),
    ("-4", -4),
    ("0x1F", 31),
    ("-0x10", -16),
    ("007", 7),
    ("4 : i32", 4),
    ("4:i64", 4),
    ("4 : !foo.type", 4),
    ("64:+4", "64:+4"),
    ("64 : + 4", "64:+4"),
    ("true", "true"),
    ('"a \\" b"', '"a \\" b"'),
    ("[]", []),
    ("[1,2 , 3]", [1, 2, 3]),
    ("[[1], [], [[2]]]", [[1], [], [[2]]]),
    ("{}", {}),
    ("{a = 1, b = [2], c = {d = true}}", {"a": 1, "b": [2], "c": {"d": "true"}}),
    ('{"a" = 1}', {"a": 1}),
    ("#a", "#a"),
    ("#a-1", "#a-1"),
    ("#0", "#0"),
    ("#ttg.shared_memory", "ttg.shared_memory"),
    ("#ttg.x<>", ("ttg.x",)),
    ("#ttg.x<{}>", ("ttg.x", {})),
    ("#ttg.x<a = 1, b = 2>", ("ttg.x", ("a", 1), ("b", 2))),
    ("#ttg.x<{a = 1}, alignment = 16>", ("ttg.x", {"a": 1}, ("alignment", 16))),
    ("#ttg.x<[4:+2, 8:+1] {a = 1}>", ("ttg.x", ["4:+2", "8:+1"], {"a": 1})),
    ("#ttg<x<{a = 1}>>", ("ttg.x", {"a": 1})),
    ("#ttg<x>", "ttg.x"),
    ("#a.b.c<1>", ("a.b.c", 1)),
    ("#ttg.x<{p = #ttg.y<{q = #z}>}>", ("ttg.x", {"p": ("ttg.y", {"q": "#z"})})),
    ("  [1, // one\n  2] // two", [1, 2]),
    ("\t[\r\n1]\n", [1]),
]


@pytest.mark.parametrize(("text", "tree"), ACCEPTED)
def test_accepted(text: str, tree: object) -> None:
    assert plain(parse(text)) == tree


# text, where the fault is (line, column), what is underlined, message
REFUSED: list[tuple[str, tuple[int, int], str, str]] = [
    ("", (1, 1), "", "expected a value, got the end of the text"),
    ("  \n ", (2, 2), "", "expected a value, got the end of the text"),
    ("// only a remark", (1, 17), "", "expected a value, got the end of the text"),
    ("=", (1, 1), "=", "expected a value, got '='"),
    ("§", (1, 1), "§", "expected a value, got '§'"),
    ("1 2", (1, 3), "2", "unexpected text after the value: '2'"),
    ("4.5", (1, 1), "4.5", "expected an integer, got '4.5'"),
    ("1e5", (1, 1), "1e5", "expected an integer, got '1e5'"),
    ("9" * 30, (1, 1), "9" * 30, "the integer does not fit into 64 bits"),
    ("4 : ", (1, 5), "", "expected a type after ':', got the end of the text"),
    ("4 : [", (1, 5), "[", "expected a type after ':', got '['"),
    ("4:+x", (1, 4), "x", "expected an integer, got 'x'"),
    ("[1", (1, 3), "", "expected ',' or ']' in the list, got the end of the text"),
    ("[1 2]", (1, 4), "2", "expected ',' or ']' in the list, got '2'"),
    ("[1,]", (1, 4), "]", "expected a value, got ']'"),
    ("[,]", (1, 2), ",", "expected a value, got ','"),
    ("[1}", (1, 3), "}", "expected ',' or ']' in the list, got '}'"),
    ("]", (1, 1), "]", "expected a value, got ']'"),
    ("{a = 1", (1, 7), "", "expected ',' or '}' in the dictionary, got the end of the text"),
    ("{a = 1,}", (1, 8), "}", "expected a key, got '}'"),
    ("{a 1}", (1, 4), "1", "expected '=' after the key 'a', got '1'"),
    ("{a = }", (1, 6), "}", "expected a value, got '}'"),
    ("{1 = 2}", (1, 2), "1", "expected a key, got '1'"),
    ("{a = 1,\n a = 2}", (2, 2), "a", "the key 'a' is given twice"),
    ('{a = 1, "a" = 2}', (1, 9), '"a"', "the key 'a' is given twice"),
    ("#ttg.x<a = 1, a = 1>", (1, 15), "a", "the key 'a' is given twice"),
    ("#t.x<{a = 1}", (1, 13), "", "expected ',' or '>' in the attribute, got the end of the text"),
    ("#ttg.x<{a = 1} b>", (1, 16), "b", "expected ',' or '>' in the attribute, got 'b'"),
    ("#ttg.x<{a = 1}>>", (1, 16), ">", "unexpected text after the value: '>'"),
    ("#ttg.x <{}>", (1, 8), "<", "unexpected text after the value: '<'"),
    ("#ttg<1>", (1, 6), "1", "expected an attribute name, got '1'"),
    ("#ttg<x<{}>", (1, 11), "", "expected '>' to close the attribute, got the end of the text"),
    ('"open', (1, 1), '"', "expected a value, got '\"'"),
    ("[1,\n 2,\n 3;\n 4]", (3, 3), ";", "expected ',' or ']' in the list, got ';'"),
]


@pytest.mark.parametrize(("text", "place", "underlined", "message"), REFUSED)
def test_refused(text: str, place: tuple[int, int], underlined: str, message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        parse(text)
    error = caught.value
    assert error.message == message
    assert isinstance(error.location, Span)
    assert (error.location.line, error.location.column) == place
    assert error.location.text == underlined


@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ("{a = ", "}"), ("#ttg.x<", ">"), ("#ttg<x<", ">>")]
)
def test_nesting_has_a_limit_far_below_pythons(opening: str, closing: str) -> None:
    deepest = opening * MAX_DEPTH + "[]"[: 0 if opening[0] != "{" else 2]
    if opening == "{a = ":
        deepest = opening * (MAX_DEPTH - 1) + "[]"
        assert parse(deepest + closing * (MAX_DEPTH - 1))
    else:
        assert parse(deepest + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 1000, 100_000):
        with pytest.raises(LayoutError, match=f"brackets may nest {MAX_DEPTH} deep at most"):
            parse(opening * depth)


def test_every_node_knows_its_text() -> None:
    text = "#ttg.x<{ key = [1, 0x2] , word = true }, last = #alias>"
    node = parse(text)
    assert isinstance(node, AttributeNode)
    assert (node.span.text, node.name_span.text) == (text, "#ttg.x")
    assert node.body is not None
    braces, last = node.body
    assert isinstance(braces, DictNode)
    assert braces.span.text == "{ key = [1, 0x2] , word = true }"
    assert [e.span.text for e in braces.entries] == ["key", "word"]
    assert [e.value.span.text for e in braces.entries] == ["[1, 0x2]", "true"]
    assert isinstance(last, EntryNode)
    assert last.value.span.text == "#alias"


# -- aliases ------------------------------------------------------------------------------------


def test_aliases_are_replaced_wherever_they_stand() -> None:
    definitions = {"n": parse("4"), "l": parse("[#n, #n]"), "x": parse("#ttg.x<{k = #l}, j = #n>")}
    node = Aliases(definitions).expand(parse("[#x, {a = #l}]"))
    assert plain(node) == [("ttg.x", {"k": [4, 4]}, ("j", 4)), {"a": [4, 4]}]


def test_aliases_of_aliases_do_not_grow_without_bound() -> None:
    definitions = {"a0": parse("1")}
    definitions |= {f"a{i}": parse(f"[#a{i - 1}, #a{i - 1}]") for i in range(1, 50)}
    aliases = Aliases(definitions)
    node = aliases.expand(parse("#a12"))
    for _ in range(12):
        assert isinstance(node, ListNode)
        assert node.items[0] is node.items[1]
        node = node.items[0]
    assert plain(node) == 1
    with pytest.raises(LayoutError, match=f"has more than {MAX_EXPANDED} values"):
        aliases.expand(parse("#a49"))


def test_brackets_count_through_aliases_whichever_is_expanded_first() -> None:
    definitions = {"a0": parse("1")} | {f"a{i}": parse(f"[#a{i - 1}]") for i in range(1, 200)}
    aliases = Aliases(definitions)
    for i in range(MAX_DEPTH + 1):
        aliases.expand(parse(f"#a{i}"))
    for i in range(MAX_DEPTH + 1, 200):
        with pytest.raises(LayoutError, match=f"may nest {MAX_DEPTH} deep at most"):
            aliases.expand(parse(f"#a{i}"))


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ({}, "the alias #a is not defined; only a file can define aliases"),
        (
            {"loc": "1", "loc12": "1"},
            "the alias #a is not defined; the text defines locations alone: its beginning may be "
            "missing",
        ),
        ({"loc1": "1", "b": "1"}, "the alias #a is not defined; defined are #b"),
        ({"b": "1"}, "the alias #a is not defined; defined are #b"),
        ({"a": "#a"}, "the alias #a is defined by itself: #a -> #a"),
        ({"a": "[#b]", "b": "#a"}, "the alias #a is defined by itself: #a -> #b -> #a"),
        ({"a": "#b", "b": "[#b]"}, "the alias #b is defined by itself: #b -> #b"),
        ({"a": "{k = #c}"}, "the alias #c is not defined; defined are #a"),
        (
            {"a": "#x0"} | {f"x{i}": f"#x{i + 1}" for i in range(200)},
            f"aliases may nest {MAX_DEPTH} deep at most; here they nest deeper",
        ),
    ],
)
def test_aliases_that_stand_for_nothing(definitions: dict[str, str], message: str) -> None:
    nodes = {name: parse(text) for name, text in definitions.items()}
    with pytest.raises(LayoutError) as caught:
        Aliases(nodes).expand(parse("#a"))
    assert caught.value.message == message
    assert isinstance(caught.value.location, Span)
    assert caught.value.location.text.startswith("#")


# -- pointing at text ---------------------------------------------------------------------------


def test_a_long_line_is_cut_around_the_fault() -> None:
    text = "x" * 300 + " FAULT " + "y" * 300
    shown = str(LayoutError("here", Source(text, "a.mlir").span(301, 306))).splitlines()
    assert shown[0] == "a.mlir:1:302: error: here"
    assert shown[1].startswith("...x")
    assert shown[1].endswith("y...")
    at = shown[1].index("FAULT")
    assert shown[2] == " " * at + "^^^^^"


def test_tabs_and_garbage_keep_the_caret_in_place() -> None:
    shown = str(LayoutError("here", Source("\ta\x07\x1b[31m = x", "a").span(10, 11))).splitlines()
    assert shown == ["a:1:11: error: here", " a??[31m = x", " " * 10 + "^"]


def test_a_fault_over_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    shown = str(LayoutError("here", Source("abc\ndef", "a").span(1, 6))).splitlines()
    assert shown == ["a:1:2: error: here", "abc", " ^^"]


@pytest.mark.parametrize("text", ["[1,\f2]", "-0", "#x.y<[1] , {a = 1}>"])
def test_what_the_compiler_refuses_is_refused(text: str) -> None:
    with pytest.raises(LayoutError):
        parse(text)


@pytest.mark.parametrize(
    ("tiles", "fault"),
    [
        ("warp = [[1, 1], [2, 0]]", "ctaLayout must reach every tile"),
        ("warp = [[0, 1], [1]]", r"basis of ctaLayout\.warp must have 2 numbers"),
    ],
)
def test_tiles_of_wmma_are_all_reached(tiles: str, fault: str) -> None:
    text = f"#ttg.amd_wmma<{{version = 2, ctaLayout = {{{tiles}}}}}>"
    with pytest.raises(LayoutError, match=fault):
        parse_layout(text).to_linear_layout([64, 64])
