"""The page evaluates, inverts, reads and compares layouts as the library does."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from browser.kinds import KINDS, kind, laid
from page_scripts import scripts
from test_intel import cases as intel_cases
from tiers import slow
from truth.make_truth import read_rows

from tt_layout import page
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.layouts.layout_difference import compare
from tt_layout.encodings import FORMS, Encoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.figures.mma import product_of
from tt_layout.mlir.types import element_bits, parse_type
from tt_layout.notation.releases.eras import respelled
from tt_layout.page.multiplications import check_multiplication, multiplication_data
from tt_layout.placement import PlacedLayout, place
from tt_layout.releases import LATEST, Release

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "triton-3.9.0-lit.jsonl"
LAYOUTS = pytest.mark.parametrize("layouts", [8, slow(200)])
"""How many layouts are tried."""
POINTS = 256
MOST_HOLDERS = 4096  # that the page looks for
MEMORIES = {"tensor": "tensor", "shared": "!ttg.memdesc", "tmem": "!ttg.memdesc"}
LEAST_OF_A_KIND = 40

INTELS = (
    "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, "
    "threadsPerWarp = 16, warpsPerCTA = [2, 2], repCluster = [1, 2]}>",
    "#ttig.subgroup_2d_block<{warpsPerCTA = [2, 2], instrShape = [8, 16], "
    "numBlocks = 2, order = [1, 0], kWidth = 2, threadsPerWarp = 16}>",
)

Row = dict[str, Any]


def rows() -> list[Row]:
    """Return the cases of the corpus, or those stored beside the tests."""
    if CORPUS.exists():
        lines = CORPUS.read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, lines) if "bases" in row]
    return [dict(row) for row in read_rows() if "bases" in row]


def sample(count: int, seed: int) -> list[tuple[Row, LinearLayout]]:
    """Return cases with the library's layouts."""
    found: list[tuple[Row, LinearLayout]] = []
    for row in random.Random(seed).sample(rows(), len(rows())):
        with suppress(LayoutError):  # a few attributes are written as no release reads them
            found.append((row, library(row)))
        if len(found) == count:
            break
    return found


def library(row: Row) -> LinearLayout:
    encoding = parse_layout(row["attr"])
    return encoding.to_linear_layout(row["shape"], element_bits=element_bits(row["elem"]))


def embedded(layout: LinearLayout, memory: str = "registers") -> Row:
    return {"ins": layout.in_bases, "outs": layout.out_sizes, "memory": memory}


def points_of(layout: LinearLayout, chance: random.Random) -> list[list[int]]:
    sizes = [layout.get_in_dim_size(name) for name in layout.get_in_dim_names()]
    if layout.total_in_bits <= 8:
        return [list(point) for point in itertools.product(*map(range, sizes))]
    return [[chance.randrange(size) for size in sizes] for _ in range(POINTS)]


@pytest.mark.slow
@LAYOUTS
def test_the_corpus_evaluates_alike(layouts: int, seed: int) -> None:
    chance = random.Random(seed)
    cases = [(layout, points_of(layout, chance)) for _, layout in sample(layouts, seed)]
    questions = [
        {"what": "evaluate", "layout": embedded(layout), "points": points}
        for layout, points in cases
    ]
    for (layout, points), answer in zip(cases, scripts().ask_all(questions)):
        names = layout.get_in_dim_names()
        expected = [list(layout.apply(dict(zip(names, p))).values()) for p in points]
        assert answer == expected, layout
    assert len(cases) == layouts


@pytest.mark.slow
@LAYOUTS
def test_the_holders_of_an_element_are_all_places_that_lead_to_it(layouts: int, seed: int) -> None:
    chance = random.Random(seed)
    chosen = [layout for _, layout in sample(layouts, seed) if layout.total_in_bits <= 14]
    assert len(chosen) > layouts // 4
    elements = [[chance.randrange(size) for _, size in layout.out_sizes] for layout in chosen]
    questions = [
        {"what": "holders", "layout": embedded(layout), "element": element}
        for layout, element in zip(chosen, elements)
    ]
    for layout, element, answer in zip(chosen, elements, scripts().ask_all(questions)):
        names = layout.get_in_dim_names()
        free = sum(mask.bit_count() for mask in layout.get_free_variable_masks().values())
        reached = [list(layout.apply(dict(zip(names, place))).values()) for place in answer]
        assert len({tuple(place) for place in answer}) == len(answer)
        assert reached == [element] * (min(MOST_HOLDERS, 1 << free) if answer else 0)
        assert answer or not layout.is_surjective()


def test_the_scripts_can_be_parsed_without_their_comments() -> None:
    scripts().parse(page.page_script(has_dump=True))


def test_numbers_beyond_32_bits_are_exact() -> None:
    layout = {
        "ins": [["offset", [[1 << 51, 3], [(1 << 52) + 5, 1], [(1 << 51) + (1 << 31), 2]]]],
        "outs": [["dim0", 1 << 53], ["dim1", 4]],
        "memory": "shared memory",
    }
    assert scripts().ask(what="evaluate", layout=layout, points=[[7]]) == [
        [(1 << 51) ^ ((1 << 52) + 5) ^ ((1 << 51) + (1 << 31)), 0]
    ]


def asked(attribute: str, row: Row, release: Release) -> tuple[Row, Row | None]:
    """Return the question how an attribute is read, and the library's answer; None for an error."""
    shape = "x".join(map(str, row["shape"]))
    type_text = f"{MEMORIES[row['kind']]}<{shape}x{row['elem']}>"
    question = {"what": "read", "attribute": attribute, "type": type_text}
    question["release"] = str(release)
    try:
        placed = place(parse_layout(attribute, release=release), parse_type(type_text))
    except LayoutError:
        return question, None
    answer = {**embedded(placed.layout, placed.memory_space), "padding": placed.padding}
    return question, json.loads(json.dumps({**answer, "bits": placed.element_bits}))


def check_read(cases: list[tuple[Row, Row | None]]) -> None:
    """Check that the page reads what the library reads, and refuses what it refuses."""
    for (question, expected), answer in zip(cases, scripts().ask_all([q for q, _ in cases])):
        if expected is None:
            assert list(answer) == ["error"], question
        else:
            assert answer == expected, question


def intel_rows(count: int) -> list[Row]:
    """Return random layouts of Intel's GPUs, which no stored answer has."""
    chosen = islice(intel_cases(random.Random(29)), count)
    common = {"kind": "tensor", "elem": "f16"}
    return [{**common, "attr": str(one), "shape": shape} for one, shape, _ in chosen]


@pytest.mark.slow
@pytest.mark.parametrize("every", [60, slow(1)])
def test_attributes_are_read_alike(every: int) -> None:
    """All that are stored, of every kind, and the corpus where it is."""
    stored: list[Row] = [dict(row) for row in read_rows()]
    known = (stored + rows() * CORPUS.exists())[::every] + intel_rows(400 // every)
    cases = [asked(row["attr"], row, LATEST) for row in known if "ctaMode" not in row["attr"]]
    read = Counter(q["attribute"].split("<")[0][1:] for q, expected in cases if expected)
    assert sum(read.values()) > 2000 // every
    assert every > 1 or set(read) == {
        cls.forms[-1].name for own in FORMS.values() for _, cls in own
    }
    assert every > 1 or min(read.values()) > LEAST_OF_A_KIND, read
    check_read(cases)


@LAYOUTS
def test_every_release_is_read_alike(layouts: int, seed: int) -> None:
    """Attributes spelled as earlier releases do, in which some mean something else."""
    chance = random.Random(seed)
    cases = []
    for row in chance.sample(read_rows(), layouts):
        for release in chance.sample(list(Release)[:-1], 3):
            with suppress(LayoutError):
                encoding = parse_layout(row["attr"], release=LATEST)
                older = respelled(encoding, release, element_bits(row["elem"]))
                cases.append(asked(str(older), dict(row), release))
    read = Counter(question["release"] for question, expected in cases if expected)
    assert layouts < 500 or set(read) == set(map(str, list(Release)[:-1]))
    check_read(cases)
    texts = list(dict.fromkeys(question["attribute"] for question, _ in cases))
    newest = scripts().ask_all([{"what": "newest", "attribute": text} for text in texts])
    for text, release in zip(texts, newest):
        with suppress(LayoutError):
            assert str(parse_layout(text).release) == release, text


def breaking(rule: Rule, encoding: Encoding) -> Iterator[Encoding]:
    """Yield an encoding with values that break a rule, if it has such a value."""
    value, given = getattr(encoding, rule.field), rule.allowed
    wrong: dict[Must, list[Any]] = {
        Must.POWER: [3],
        Must.POWERS: [(3, *value[1:])] if isinstance(value, tuple) else [],
        Must.PERMUTATION: [(7, *value[1:])] if isinstance(value, tuple) else [],
        Must.SOME: [()],
        Must.ONE_OF: [not given[0]] if given and isinstance(given[0], bool) else [5, 17],
        Must.WITHIN: [n + by for n, by in zip(given, (-1, 1)) if n],
        Must.LENGTH: [(1,) * 5],
    }
    other = {} if rule.when is None else dict([rule.when])
    for one in wrong[rule.must]:
        changed = replace(encoding, spelling=None, **{**other, rule.field: one})
        if rule.is_broken_by(changed):
            yield changed


def test_rules_of_refusal_are_told_alike() -> None:
    """Each rule that is data is broken in a text of its encoding."""
    known = [parse_layout(text) for text in [*(own for own, _ in KINDS.values()), *INTELS]]
    examples = {encoding.mnemonic: encoding for encoding in known}
    messages: dict[str, set[str]] = {}
    told: set[tuple[str, Rule]] = set()
    for mnemonic, encoding in examples.items():
        for rule in encoding.rules:
            for changed in breaking(rule, encoding):
                with pytest.raises(LayoutError):
                    parse_layout(str(changed)).check_layout()
                messages[str(changed)] = {broken.message for broken in changed.violations()}
                told.add((mnemonic, rule))
    common = {"what": "read", "type": "tensor<64x64xf16>", "release": "3.9"}
    answers = scripts().ask_all([{**common, "attribute": text} for text in messages])
    for (text, own), answer in zip(messages.items(), answers):
        assert answer["error"] in own, text
    stated = {
        (cls.mnemonic, rule) for own in FORMS.values() for _, cls in own for rule in cls.rules
    }
    assert {rule.last for _, rule in stated - told} <= {Release.V3_2, Release.V3_5}


def multiplied(placed: PlacedLayout) -> Row | None:
    """Return the library's multiplication of a layout, as the page has it; None for none."""
    try:
        check_multiplication(placed)
        whole = multiplication_data(product_of(placed))
    except LayoutError:
        return None
    needed = ("ins", "outs", "memory", "bits")
    for part in whole["parts"]:
        if part["layout"] is not None:
            part["layout"] = {key: part["layout"][key] for key in needed}
    answer: Row = json.loads(json.dumps(whole))
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("every", [60, slow(3)])
def test_multiplications_are_worked_out_alike(every: int, seed: int) -> None:
    """Of every attribute that is stored, over its type and as old releases spell it."""
    chance = random.Random(seed)
    questions: list[Row] = []
    expected: list[Row | None] = []
    for row in read_rows()[::every]:
        shape = "x".join(map(str, row["shape"]))
        type_text = f"{MEMORIES[row['kind']]}<{shape}x{row['elem']}>"
        with suppress(LayoutError):
            release = chance.choice(list(Release))
            older = respelled(parse_layout(row["attr"]), release, element_bits(row["elem"]))
            placed = place(parse_layout(str(older), release=release), parse_type(type_text))
            question = {"what": "multiplication", "attribute": str(placed.encoding)}
            questions.append({**question, "type": type_text, "release": str(release)})
            expected.append(multiplied(placed))
    assert len([own for own in expected if own]) > LEAST_OF_A_KIND // every
    for question, own, answer in zip(questions, expected, scripts().ask_all(questions)):
        for part in answer["parts"] if answer else ():
            if part["layout"]:
                del part["layout"]["padding"]
        assert answer == own, question


def test_what_only_old_releases_write_is_read_alike() -> None:
    mma = "#triton_gpu.mma<{{versionMajor = 1, versionMinor = {}, warpsPerCTA = [2, 2]}}>"
    tensor = {"kind": "tensor", "shape": [64, 64], "elem": "f32"}
    volta = [(mma.format(flags), tensor, Release.V2_1) for flags in range(16)]
    wgmma = "#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], "
    wgmma += "hasLeadingOffset = true}>"
    buffers = {"kind": "tensor", "shape": [3, 64, 128], "elem": "f16"}
    cases = [asked(*case) for case in [*volta, (wgmma, buffers, Release.V2_2)]]
    assert all(expected for _, expected in cases)
    check_read(cases)


def test_what_marks_a_layout_is_stepped_over() -> None:
    layout = kind("blocked")
    text = f"#tlx.user_layout<#tlx.no_verify_layout<{layout.placed.encoding}>>"
    row = {"kind": "tensor", "shape": layout.placed.shape, "elem": "f16"}
    check_read([asked(text, row, LATEST)])
    memory = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, ctaMode = {}>"
    for mode in ("twocta_lhs", "twocta_rhs"):
        placed = laid(memory.format(mode), "!ttg.memdesc<128x32xf32>").placed
        question = {"what": "read", "attribute": memory.format(mode), "release": "3.9"}
        answer = scripts().ask(**question, type="!ttg.memdesc<128x32xf32>")
        assert answer["ins"] == json.loads(json.dumps(placed.layout.in_bases))


def test_every_attribute_can_be_edited() -> None:
    names = [f"#{name}<{{}}>" for name in FORMS]
    assert all(scripts().ask_all([{"what": "isReadable", "attribute": name} for name in names]))
    for name in KINDS:
        layout = kind(name)
        placed = layout.placed
        question = {"what": "read", "attribute": str(placed.encoding), "type": placed.type_text}
        answer = scripts().ask(**question, release=str(placed.encoding.release))
        expected = json.loads(json.dumps(layout.embedded()))
        assert {key: expected[key] for key in answer} == answer, name


def shared_cases(rng: random.Random) -> Iterator[tuple[str, str, Release]]:
    """Yield random attributes of shared memory with a type and the release that reads them."""
    while True:
        shape = [rng.choice([1, 2, 8, 16, 64, 512]) for _ in range(rng.choice([2, 2, 3, 4]))]
        bits = rng.choice([8, 16, 32, 64])
        width, is_transposed = rng.choice([0, 32, 64, 128]), rng.choice(["true", "false"])
        nvmma = f"swizzlingByteWidth = {width}, transposed = {is_transposed}, "
        nvmma += f"elementBitWidth = {bits}"
        nvmma += f", fp4Padded = {rng.choice(['true', 'false'])}" if bits == 8 else ""
        nvmma += f", rank = {len(shape)}" if len(shape) > 2 else ""
        order = rng.sample(range(len(shape)), len(shape))
        offset = [
            [2**bit if d == e else 0 for e in range(len(shape))]
            for d in order
            for bit in range(shape[d].bit_length() - 1)
        ]
        pair = f"{rng.choice([8, 64, 256])}:+{rng.choice([1, 4, 8])}"
        component = rng.choice(
            [f"order = {order}, shape = {shape}", f"offset = {offset}, block = []"]
        )
        padded = f"#ttg.padded_shared<[{pair}, 512:+2] {{{component}}}>"
        attribute = rng.choice([f"#ttg.nvmma_shared<{{{nvmma}}}>", padded])
        release = rng.choice([Release.V3_6, Release.V3_7, Release.V3_8, Release.V3_9])
        yield attribute, f"!ttg.memdesc<{'x'.join(map(str, shape))}xi{bits}>", release


@LAYOUTS
def test_shared_memory_is_read_alike_under_each_release(layouts: int, seed: int) -> None:
    questions: list[Row] = []
    expected = []
    for attribute, type_text, release in shared_cases(random.Random(seed)):
        with suppress(LayoutError):
            placed = place(parse_layout(attribute, release=release), parse_type(type_text))
            question = {"what": "read", "attribute": attribute, "type": type_text}
            questions.append({**question, "release": str(release)})
            expected.append(placed)
        if len(expected) == layouts:
            break
    for question, own, answer in zip(questions, expected, scripts().ask_all(questions)):
        ins = [[name, [list(v) for v in vectors]] for name, vectors in own.layout.in_bases]
        assert answer["ins"] == ins, question
        assert answer["padding"] == [list(pair) for pair in own.padding]


@pytest.mark.slow
@LAYOUTS
def test_layouts_are_compared_alike(layouts: int, seed: int) -> None:
    groups: dict[tuple[Any, ...], list[LinearLayout]] = defaultdict(list)
    for _, layout in sample(4 * layouts, seed):
        groups[(layout.out_sizes, layout.get_in_dim_names()[0])].append(layout)
    pairs = [
        pair
        for group in groups.values()
        for pair in itertools.pairwise(group)
        if pair[0] != pair[1]
    ][:layouts]
    assert len(pairs) > layouts // 5
    questions = [{"what": "compare", "layout": embedded(a), "with": embedded(b)} for a, b in pairs]
    for (before, after), answer in zip(pairs, scripts().ask_all(questions)):
        own = compare(before, after)
        assert answer["words"] == [str(change) for change in own.changes]
        assert answer["moved"] == own.moved


def mistyped(word: str, chance: random.Random) -> str:
    """Return a word with a letter left out, doubled, exchanged for another or for its neighbour."""
    at = chance.randrange(1, len(word))
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    changed = chance.choice(["", word[at] * 2, chance.choice(letters), word[at] + word[at - 1]])
    return word[:at] + changed + word[at + 1 :]


def refusal(text: str) -> str | None:
    """Return why a text is no layout; None where it is one."""
    try:
        parse_layout(text)
    except LayoutError as error:
        return error.message
    return None


@pytest.mark.slow
@pytest.mark.parametrize("each", [2, slow(60)])
def test_a_mistyped_name_or_key_is_answered_as_on_the_command_line(each: int, seed: int) -> None:
    """The page's box says what was probably meant, in the words of the command line."""
    chance = random.Random(seed)
    wanted = {}
    for text, _ in [*KINDS.values(), *((own, "") for own in INTELS)]:
        words = re.findall(r"#([\w.]+)(?=<)|(\w+)(?= = )", text)
        for name, key in words * each:
            typo = text.replace(name or key, mistyped(name or key, chance), 1)
            message = refusal(typo) or ""
            if re.search("did you mean|is not a layout attribute|it takes", message):
                wanted[typo] = message
    assert len(wanted) > 15 * each
    questions = [{"what": "notation", "attribute": text, "type": "16x16xf16"} for text in wanted]
    answers = scripts().ask_all(questions)
    for (text, message), answer in zip(wanted.items(), answers):
        assert answer.get("error") == message, text
