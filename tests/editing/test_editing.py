"""What an editor is told of a dump: what a fresh audit says, made of what an edit changed."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from edits import ALIASES, edited
from tiers import slow
from work import calls_of

from tt_layout.audit.audit import STEP as STEP_OF_AUDIT
from tt_layout.audit.audit import audit_module
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.editing.actions import actions, carried_out
from tt_layout.editing.dump import AROUND, MAX_TEXT, EditedDump
from tt_layout.editing.hints import hints
from tt_layout.editing.hover import hover, operation_hover
from tt_layout.editing.navigation import definition, references
from tt_layout.editing.outline import Symbol, folds, symbols
from tt_layout.editing.piece import Diagnosis, EditedPiece, PieceCache, Severity, cut
from tt_layout.editing.place import LineRange
from tt_layout.ir import parse_ir
from tt_layout.reports.advice_text import note_message

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
WORKLOADS = ROOT / "examples" / "workloads"
SMALL = ROOT / "examples" / "narrow" / "vector_add.ttgir"
MATMUL = (KERNELS / "matmul-sm90.ttgir").read_text(encoding="utf-8")
SOFTMAX = (KERNELS / "softmax-sm80.ttgir").read_text(encoding="utf-8")
DUMPS = [
    *(KERNELS / f"{name}.ttgir" for name in ("attention-sm90", "matmul-gfx942", "matmul-sm100")),
    *(KERNELS / f"{name}.ttgir" for name in ("convolution-sm80", "softmax-gfx1250")),
    *(WORKLOADS / f"{name}.ttgir" for name in ("layer_norm-sm80", "scan-sm80", "split_k-sm90")),
    *(WORKLOADS / f"{name}.ttgir" for name in ("int8_matmul-gfx942", "grouped_matmul-sm100")),
]
HEADER = "// -----// IR Dump After P{} (p) //----- //\n"
PASSES = "".join(HEADER.format(at) + text for at, text in enumerate([SOFTMAX, MATMUL, SOFTMAX]))


def piece_of(text: str) -> EditedPiece:
    return EditedPiece(text, PieceCache())


def at(text: str, word: str, skip: int = 0) -> tuple[int, int]:
    """Return the line and an offset in a word of a text."""
    start = -1
    for _ in range(skip + 1):
        start = text.index(word, start + 1)
    before = text[:start]
    return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1


# -- incremental --------------------------------------------------------------------------------


def said_anew(text: str) -> list[tuple[int, str, str]]:
    """Return what a fresh audit of a whole text finds."""
    found = []
    for module in parse_ir(text):
        audit = audit_module(module)
        found += [(one.line, one.message, one.kind) for one in audit.findings]
        adviser = Adviser(audit)
        found += [
            (one.finding.line, note_message(adviser, one), one.finding.kind) for one in audit.notes
        ]
    return sorted(found)


def said(found: list[Diagnosis]) -> list[tuple[int, str, str]]:
    return sorted((one.line, one.message, one.kind) for one in found if one.kind != "text")


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, slow(5)])
def test_after_edits_the_same_is_said_as_of_the_whole_text(count: int, seed: int) -> None:
    random = Random(seed)
    dumps = [path.read_text(encoding="utf-8") for path in DUMPS[:: 1 if count > 2 else 7]]
    kept = [EditedDump(text) for text in dumps]
    for at in random.sample(range(len(dumps) * count), len(dumps) * count):
        which = at % len(dumps)
        kept[which] = kept[which].edited(edited(kept[which].text, random))
        assert said(kept[which].diagnoses()) == said_anew(kept[which].text), kept[which].text


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, slow(20)])
def test_dumps_of_passes_are_read_in_pieces(count: int, seed: int) -> None:
    random, dump = Random(seed), EditedDump(PASSES)
    for _ in range(count):
        dump = dump.edited(edited(dump.text, random))
        assert "".join(cut(dump.text)) == dump.text
        assert said(dump.diagnoses()) == said_anew(dump.text), dump.text


@pytest.mark.slow
def test_an_edit_reads_its_own_piece_only() -> None:
    text = "".join(HEADER.format(at) + SOFTMAX.replace("softmax", f"s{at}") for at in range(12))
    dump = EditedDump(text)
    dump.diagnoses()
    assert dump.cache.read == 12
    below = text.index("tt.func", len(text) // 2)
    newer = dump.edited(text[:below] + "\n" + text[below:])
    work = calls_of(newer.diagnoses)
    assert newer.cache.read == 13
    assert work < calls_of(lambda: EditedDump(text).diagnoses()) / 3
    line, column = at(newer.text, "tt.load", 11)
    placed = newer.at(line)
    assert placed is not None
    assert hover(placed.piece, line - placed.down, column) is not None
    assert newer.cache.read == 13
    assert newer.edited(newer.text) is newer


@pytest.mark.slow
def test_lines_in_sentences_are_those_of_the_dump() -> None:
    """Of a message that names a line, a piece further down is read where it stands."""
    stated = '"ttg.num-warps" = 4 : i32'
    wide = MATMUL.replace(stated, f'{stated}, "ttg.maxnreg" = 16 : i32')
    whole = (
        HEADER.format(0)
        + SOFTMAX
        + HEADER.format(1)
        + wide
        + HEADER.format(2)
        + CONVERTED.rstrip()[:-1]
    )
    dump = EditedDump(whole)
    for text in (whole, "\n" + whole, "\n\n" + whole, whole):
        dump = dump.edited(text)
        found = dump.diagnoses()
        assert any(" line " in one.message for one in found)
        assert said(found) == said_anew(text)
        error = parse_ir(text)[-1].error
        assert error is not None
        assert error.message in {one.message for one in found}
        assert "begins on line" in error.message


def test_a_piece_whose_sentences_name_lines_is_not_read_again_further_down() -> None:
    text = f"// above\n{HEADER.format(0)}{CONVERTED.rstrip()[:-1]}"
    dump = EditedDump(text)
    for newer in (text, f"\n{text}"):
        dump = dump.edited(newer)
        error = parse_ir(newer)[-1].error
        assert error is not None
        assert "begins on line" in error.message
        assert error.message in {diagnosis.message for diagnosis in dump.diagnoses()}
    assert dump.cache.read == 3, "what is above, before and after the edit, and the module once"


@pytest.mark.slow
def test_memory_does_not_grow_with_edits(seed: int) -> None:
    """After 300 edits as many objects are kept as after 10, but for caches that have a bound."""
    random, text = Random(seed), SMALL.read_text(encoding="utf-8")
    dump, kept = EditedDump(text), list[int]()
    for count in range(1, 301):
        dump = dump.edited(edited(text, random))
        dump.diagnoses()
        if count in (10, 300):
            gc.collect()
            kept.append(len(gc.get_objects()))
    assert kept[1] < kept[0] + 30_000, kept


# -- what is wrong ------------------------------------------------------------------------------


def test_findings_have_their_weight() -> None:
    found = EditedDump(MATMUL).diagnoses()
    assert [(one.kind, one.severity) for one in found] == [("conversions", Severity.NOTE)]
    wrong = EditedDump(MATMUL.replace('num-warps" = 4', 'num-warps" = 8')).diagnoses()
    assert Severity.ERROR in {one.severity for one in wrong}


TEXTS = {
    "no MLIR": ("def f(x):\n    return x\n", "found no MLIR"),
    "nothing": ("", None),
    "cut off": (SOFTMAX[: SOFTMAX.rindex("}")], "has no end"),
    "deep": ("module {\n" + "scf.if {\n" * 20000, ""),
    "of another dialect": ('module {\n  "x.y"() : () -> ()\n}\n', None),
    "zeros": ("\0" * 100, "found no MLIR"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_cannot_be_read_are_told_once(name: str) -> None:
    text, message = TEXTS[name]
    found = EditedDump(text).diagnoses()
    assert len(found) == (message is not None), found
    assert all(str(message) in one.message for one in found)


def test_a_dump_that_is_too_large_is_not_read() -> None:
    dump = EditedDump(" " * (MAX_TEXT + 1))
    [told] = dump.diagnoses()
    assert "tt-layout audit reads it" in told.message
    assert dump.at(1) is None
    assert dump.cache.read == 0


# -- words --------------------------------------------------------------------------------------


def told_of(text: str, word: str, skip: int = 0) -> str:
    found = hover(piece_of(text), *at(text, word, skip))
    assert found is not None
    assert found.plain
    return found.markdown(has_pictures=False)


def test_an_alias_is_a_layout_over_a_type() -> None:
    told = told_of(MATMUL, "#mma>")
    assert "`#mma`: nvidia_mma, in registers, over `tensor<128x64xf32>`" in told
    assert "64 elements per thread (64 registers), 32 lanes, 4 warps" in told
    assert "contiguous per thread: 1x2" in told
    assert "T0:0" in told
    assert "24 KiB in 3 buffers" in told_of(MATMUL, "#shared =")


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("", ""),
        ("%x: tensor<8xf16, #a>", "- #ttg.blocked is for 2 dimensions, but the shape [8] has 1"),
    ],
)
def test_an_alias_that_is_over_no_tensor_is_told_by_itself(argument: str, reason: str) -> None:
    layout = (
        "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
        "order = [1, 0]}>"
    )
    text = f"#a = {layout}\nmodule {{\n  tt.func @f({argument}) {{\n    tt.return\n  }}\n}}\n"
    told = told_of(text, "#a =")
    assert told.startswith("`#a`: blocked, in registers\n")
    assert told.rstrip().endswith(reason or "```")


def test_a_picture_is_data_of_a_small_size() -> None:
    found = hover(piece_of(MATMUL), *at(MATMUL, "#mma>"))
    assert found is not None
    told = found.markdown(has_pictures=True)
    assert "![who holds each element](data:image/svg+xml;base64," in told
    assert len(told) < 100_000
    assert "T0:0" not in told


def test_an_operation_has_its_cost_and_live_registers() -> None:
    told = told_of(MATMUL, "ttg.convert_layout")
    for fact in ("shared memory, 256 wavefronts", "moves 16 KiB", "32 live registers per thread"):
        assert fact in told
    assert "m64n64k16" in told_of(MATMUL, "ttng.warp_group_dot")


def test_a_value_has_its_type_and_origin() -> None:
    told = told_of(MATMUL, "%7 : tensor")
    assert "`%7`, defined by `arith.truncf`" in told
    assert "tensor<128x64xf16, #mma>" in told
    assert "an argument" in told_of(MATMUL, "%c:")


def test_where_nothing_stands_nothing_is_said() -> None:
    piece = piece_of(MATMUL)
    for line, column in ((0, 0), (-3, 5), (10**9, 0), (1, 10**9), (2, 0)):
        hover(piece, line, column)
        assert definition(piece, line, column) is None or line == 2
        assert isinstance(references(piece, line, column), list)
    assert hover(piece_of(""), 1, 0) is None


NESTED = """#a = #ttg.blocked<{sizePerThread=[1], threadsPerWarp=[32], warpsPerCTA=[4], order=[0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @g(%x: i32) -> i32 {
    tt.return %x : i32
  }
  tt.func @f(%c: i1, %x: tensor<128xf32, #a>) {
    scf.if %c {
      %1 = arith.addf %x, %x : tensor<128xf32, #a>
      %2 = arith.mulf %1, %1 : tensor<128xf32, #a>
    } else {
      %1 = arith.subf %x, %x : tensor<128xf32, #a>
      %2 = arith.mulf %1, %1 : tensor<128xf32, #a>
    }
    %3:2 = "two.of"(%x) : (tensor<128xf32, #a>) -> (tensor<128xf32, #a>, i32)
    %4 = tt.call @g(%3#1) : (i32) -> i32
    tt.return
  }
}
"""


def lines_of(places: list[LineRange]) -> list[int]:
    return [place.line for place in places]


def test_values_of_one_name_are_told_apart() -> None:
    piece = piece_of(NESTED)
    line, column = at(NESTED, "%1, %1", 1)
    assert lines_of(references(piece, line, column)) == [11, 12, 12]
    line, column = at(NESTED, "%1, %1")
    assert lines_of(references(piece, line, column)) == [8, 9, 9]
    place = definition(piece, line, column)
    assert place == LineRange(8, 6, 8)


def test_aliases_functions_arguments_and_results_are_found() -> None:
    piece = piece_of(NESTED)
    assert definition(piece, *at(NESTED, "#a>")) == LineRange(1, 0, 2)
    assert len(references(piece, *at(NESTED, "#a>"))) == NESTED.count("#a")
    assert definition(piece, *at(NESTED, "@g(%3")) == LineRange(3, 10, 12)
    assert definition(piece, *at(NESTED, "%3#1")) == LineRange(14, 4, 6)
    place = definition(piece, *at(NESTED, "%x, %x", 1))
    assert place is not None
    assert place.line == 6
    assert lines_of(references(piece, *at(NESTED, "%c {"))) == [6, 7]
    loop = definition(piece_of(MATMUL), *at(MATMUL, "%total_55 :"))
    assert loop is not None


def test_a_function_below_its_call_is_defined_where_it_is() -> None:
    begin, of_g = NESTED.split("  tt.func @g", 1)
    of_g, of_f = of_g.split("  tt.func @f", 1)
    text = f"{begin}  tt.func @f{of_f.removesuffix('}' + chr(10))}  tt.func @g{of_g}}}\n"
    assert lines_of(references(piece_of(text), *at(text, "@g(%3"))) == [15, 12]


# -- the whole ----------------------------------------------------------------------------------


def names(found: list[Symbol] | tuple[Symbol, ...]) -> Iterator[str]:
    for symbol in found:
        yield symbol.name
        yield from names(symbol.children)


def test_the_outline_has_modules_aliases_functions_and_loops() -> None:
    [module] = symbols(piece_of(MATMUL))
    assert (module.detail, module.line) == ("cuda:90", 1)
    assert [*names([module])][-2:] == ["@matmul", "scf.for"]
    end = MATMUL[: MATMUL.index("\n  } loc(") + 1].count("\n") + 1
    assert (module.last, module.children[-1].last) == (end, end)
    assert all(symbol.line <= symbol.last for symbol in module.children)
    assert (9, 13) not in folds(piece_of(NESTED))
    assert {(7, 10), (10, 13), (6, 17), (2, 18)} <= set(folds(piece_of(NESTED)))


def test_an_empty_module_is_in_the_outline() -> None:
    [module] = symbols(piece_of("\nmodule {\n}\n"))
    assert (module.name, module.line, module.last, module.children) == ("module", 2, 2, ())


def test_hints_are_the_costs() -> None:
    found = hints(piece_of(MATMUL), 1, 10**6)
    assert "shared memory, 256 wavefronts, 8192 bytes of scratch" in {one.text for one in found}
    assert hints(piece_of(MATMUL), 1, 5) == []


CONVERTED = f"""{ALIASES}\
module attributes {{ttg.target = "cuda:90", "ttg.num-warps" = 4 : i32}} {{
  tt.func @f(%p: tensor<64x64x!tt.ptr<f16>, #b>) {{
    %0 = arith.constant dense<1.0> : tensor<64x64xf16, #a>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    tt.store %p, %1 : tensor<64x64x!tt.ptr<f16>, #b>
    tt.return
  }}
}}
"""


def test_pieces_of_one_dump_share_the_layouts_that_they_name() -> None:
    def layout(of: PieceCache) -> object:
        [audited] = EditedPiece(CONVERTED, of).modules
        return audited.module.aliases["a"].encoding

    cache = PieceCache()
    assert layout(cache) is layout(cache)
    assert layout(cache) is not layout(PieceCache())


def test_a_suggestion_is_carried_out_in_its_lines() -> None:
    text = HEADER.format(0) + CONVERTED
    piece = piece_of(text)
    assert actions(piece, 1, 3) == []
    [action] = actions(piece, 7, 7)
    removed = "(removes 64 of 4160 data-movement cycles)"
    assert action.title == f"Drop the conversion: #b instead of #a {removed}"
    lines = text.split("\n")
    for edit in reversed(carried_out(piece, action)):
        lines[edit.first - 1 : edit.end - 1] = edit.text.split("\n")[:-1]
    newer = "\n".join(lines)
    assert [kind for _, _, kind in said_anew(newer)] == ["narrow-loads"]
    assert "convert_layout" not in newer
    assert newer.startswith(HEADER.format(0))
    assert newer.endswith("}\n")
    assert actions(piece_of(newer), 1, newer.count("\n")) == [], "of that nothing is suggested"


def test_a_suggestion_for_a_later_module_is_carried_out_in_its_lines() -> None:
    above = HEADER.format(0) + SOFTMAX
    piece = piece_of(above + HEADER.format(1) + CONVERTED)
    begin = above.count("\n") + 1
    line = begin + CONVERTED[: CONVERTED.index("ttg.convert_layout")].count("\n") + 1
    [action] = actions(piece, line, line)
    edits = carried_out(piece, action)
    assert action.module == 2
    assert edits
    assert all(begin < edit.first <= edit.end <= begin + CONVERTED.count("\n") for edit in edits)


@pytest.mark.slow
def test_what_every_other_way_makes_dearer_is_a_note() -> None:
    text = (ROOT / "examples" / "narrow" / "attention.ttgir").read_text(encoding="utf-8")
    message = "convert_layout is worth keeping: a direct store would take 512 cycles instead of 192"
    for above in (0, 3):
        [note] = [
            one
            for one in EditedDump("\n" * above + text).diagnoses()
            if "worth keeping" in one.message
        ]
        line, name = 173 + above, "ttg.convert_layout"
        assert note == Diagnosis(line, name, message, "conversions", Severity.NOTE)
    found = hover(EditedPiece(text, PieceCache()), 173, text.split("\n")[172].index(name) + 1)
    assert found is not None
    assert f"note: {message}" in found.sections[0].facts


def test_layouts_and_values_are_told_without_an_audit() -> None:
    piece = EditedPiece(CONVERTED, PieceCache())
    lines = CONVERTED.split("\n")
    line = next(at for at, text in enumerate(lines, 1) if "convert_layout" in text)
    for word in ("#b", "%0"):
        told = hover(piece, line, lines[line - 1].index(word))
        assert told is not None
        assert word in told.plain
    assert definition(piece, line, lines[line - 1].index("%0")) is not None
    assert "audits" not in vars(piece)
    assert hover(piece, line, lines[line - 1].index("convert_layout")) is not None
    assert "audits" in vars(piece)


# -- a line alone ---------------------------------------------------------------------------------

STEP = """\
    %l{0} = tt.load %p : tensor<64x64x!tt.ptr<f16>, #a>
    %v{0} = ttg.convert_layout %l{0} : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    %w{0} = ttg.convert_layout %v{0} : tensor<64x64xf16, #b> -> tensor<64x64xf16, #a>
    tt.store %p, %w{0} : tensor<64x64x!tt.ptr<f16>, #a>
"""
STEPS = f"""\
#a = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], \
order = [0, 1]}}>
#b = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
order = [1, 0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%p: tensor<64x64x!tt.ptr<f16>, #a>) {{
    %c = arith.constant dense<0> : tensor<64x64xi32, #a>
    %q = tt.addptr %p, %c : tensor<64x64x!tt.ptr<f16>, #a>, tensor<64x64xi32, #a>
{"".join(map(STEP.format, range(5)))}\
    tt.return
  }}
}}
"""


def counted(monkeypatch: pytest.MonkeyPatch, name: str, place: int) -> list[object]:
    """Return a list that takes one of the arguments of each call of a function."""
    module, _, function = name.rpartition(".")
    original, calls = getattr(import_module(module), function), list[object]()

    def noted(*arguments: object) -> object:
        calls.append(arguments[place])
        return original(*arguments)

    monkeypatch.setattr(name, noted)
    return calls


@pytest.mark.parametrize(
    ("word", "costed", "priced"),
    [("tt.addptr", (0, 0), 0), ("tt.load", (1, 10), 0), ("ttg.convert", (3, 9), 1)],
)
def test_a_hover_asks_for_the_price_of_its_own_operation(
    word: str, costed: tuple[int, int], priced: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What share of its kernel a finding is takes the price of all of it.

    Accesses have that of the text before; the conversions, and what the finding is of, are costed.
    """
    costs = counted(monkeypatch, "tt_layout.audit.audit.cost_of", 0)
    others = counted(monkeypatch, "tt_layout.audit.suggestions.trial.cost_of", 0)
    prices = counted(monkeypatch, "tt_layout.audit.suggestions.conversions.tried_sides", 1)
    dump = EditedDump(STEPS)
    assert hover(dump.placed[0].piece, *at(STEPS, word, 1 if any(costed) else 0)) is not None
    newer = STEPS.replace("    %c =", "\n    %c =")
    costs.clear()
    others.clear()
    prices.clear()
    assert hover(dump.edited(newer).placed[0].piece, *at(newer, word, 1 if any(costed) else 0))
    assert (len(costs), len(others)) == costed
    assert len(set(prices)) == priced


def test_a_hover_asks_what_limits_its_own_access(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gain of a narrow access is told beside the cycles of all, which need no reason."""
    text = SMALL.read_text(encoding="utf-8")
    explained = counted(monkeypatch, "tt_layout.audit.global_memory.limits.cured", 0)
    found = hover(piece_of(text), *at(text, "tt.store"))
    assert found is not None
    assert "instead of 16; why: " in found.plain
    assert "global-memory cycles" in found.plain
    assert len(explained) == 1
    piece_of(text).diagnoses(0)
    assert len(explained) > 2


# -- a large kernel -------------------------------------------------------------------------------


def told_first(text: str, first: int, last: int) -> list[Diagnosis]:
    return [one for step in EditedDump(text).first_steps(first, last) for one in step]


def within(found: list[Diagnosis], first: int, last: int) -> list[Diagnosis]:
    """Return the diagnoses of some lines, all that are no notes of one severity."""
    return sorted(
        one._replace(severity=Severity.WARNING)
        for one in found
        if first <= one.line <= last and one.severity is not Severity.ERROR
    )


@pytest.mark.parametrize("path", [SMALL, *map(slow, DUMPS)], ids=str)
def test_what_is_told_first_of_a_large_kernel_is_told_at_last(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tt_layout.editing.piece.LARGE", 100)
    text = path.read_text(encoding="utf-8")
    whole = EditedDump(text).diagnoses()
    for line in {one.line for one in whole}:
        lines = line - AROUND, line + AROUND
        assert within(told_first(text, line, line), *lines) == within(whole, *lines)


def test_what_is_told_first_further_down_names_the_lines_of_the_dump(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tt_layout.editing.piece.LARGE", 100)
    unplaced = re.sub(r" loc\(#loc\d*\)", "", SMALL.read_text(encoding="utf-8"))
    text = HEADER.format(0) + MATMUL + HEADER.format(1) + unplaced
    whole = EditedDump(text).diagnoses()
    assert any("(line " in one.message for one in whole)
    everywhere = 1, text.count("\n")
    assert within(told_first(text, *everywhere), *everywhere) == within(whole, *everywhere)


def test_first_of_a_large_kernel_the_lines_that_are_shown_are_costed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tt_layout.editing.piece.LARGE", 100)
    monkeypatch.setattr("tt_layout.editing.dump.AROUND", 0)
    costs = counted(monkeypatch, "tt_layout.audit.audit.cost_of", 0)
    line, _ = at(STEPS, "tt.load", 2)
    assert {one.line for one in told_first(STEPS, line, line + 1)} == {line, line + 1}
    assert len(costs) == 3  # the store behind the conversion, too, which decides what it is worth


@pytest.mark.parametrize("shown", [0, 20])
def test_a_large_kernel_is_diagnosed_in_short_steps(
    shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two of them a hover is answered: none costs more than a few operations."""
    monkeypatch.setattr("tt_layout.editing.piece.LARGE", 100)
    text = STEPS.replace(STEP.format(4), "".join(map(STEP.format, range(4, 90))))
    known = sorted(EditedDump(text).diagnoses())
    costs = counted(monkeypatch, "tt_layout.audit.audit.cost_of", 0)
    prices = counted(monkeypatch, "tt_layout.audit.suggestions.conversions.tried_sides", 1)
    dump, found, most = EditedDump(text), list[Diagnosis](), 0
    for step in dump.first_steps(1, shown) if shown else dump.steps():
        found += step
        most = max(most, len(costs), len(set(prices)))
        costs.clear()
        prices.clear()
    assert 4 < most <= STEP_OF_AUDIT
    if not shown:
        assert sorted(found) == known


def test_hints_cost_the_lines_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = counted(monkeypatch, "tt_layout.audit.audit.cost_of", 0)
    line, _ = at(STEPS, "tt.load", 2)
    assert [one.line for one in hints(piece_of(STEPS), line, line + 1)] == [line, line + 1]
    assert len(costs) == 2


def test_of_a_large_kernel_is_told_what_needs_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its verdict is told where it is small, or where the reader waits for it."""
    place = at(MATMUL, "tt.func")
    whole = operation_hover(piece_of(MATMUL), *place, waits=False)
    assert whole == hover(piece_of(MATMUL), *place)
    monkeypatch.setattr("tt_layout.editing.piece.LARGE", 100)
    costs = counted(monkeypatch, "tt_layout.audit.audit.cost_of", 0)
    told = operation_hover(piece_of(MATMUL), *place, waits=False)
    assert not costs
    assert told is not None
    assert whole is not None
    assert told.sections[0].title == whole.sections[0].title == "`@matmul, sm90, 4 warps`"
    arguments, registers, memory, rest = told.sections[0].facts
    assert arguments.startswith("takes !tt.ptr<f16>, ")
    assert any(registers in fact for fact in whole.sections[0].facts)
    assert any(memory in fact for fact in whole.sections[0].facts)
    assert rest.endswith("operations: run tt-layout audit")
    assert hover(piece_of(MATMUL), *place) == whole


@pytest.mark.slow
@pytest.mark.parametrize("path", [DUMPS[0], *map(slow, DUMPS[1:])], ids=str)
def test_a_line_alone_is_told_as_after_the_whole_audit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    whole = piece_of(text)
    for audit in whole.audits:
        audit.concluded()
    found = {one.line for one in whole.diagnoses(0)}
    for number, line in enumerate(text.split("\n"), 1):
        if number % 7 == 3 or number in found or "convert_layout" in line:
            column = line.find("= ") + 4
            alone = piece_of(text)
            assert hover(alone, number, column) == hover(whole, number, column), number


def test_a_kernel_is_told_where_its_function_begins_and_nowhere_else() -> None:
    piece, [line] = (
        piece_of(MATMUL),
        [number for number, text in enumerate(MATMUL.split("\n"), 1) if "tt.func public" in text],
    )
    assert [kernel.symbol for kernel in piece.kernels_on(line)] == ["matmul"]
    assert not piece.kernels_on(line + 1)


def test_advice_is_looked_for_before_anybody_asks() -> None:
    """Of each kind of movement once: a hover then says what is known."""
    text = (WORKLOADS / "attention_backward-gfx942.ttgir").read_text(encoding="utf-8")
    line = next(at for at, row in enumerate(text.split("\n"), 1) if "ttg.local_store" in row)
    calls = []
    for looks_ahead in (False, False, True):  # the first for what the process remembers
        dump = EditedDump(text)
        list(dump.steps())
        steps = list(dump.ahead()) if looks_ahead else []
        [piece] = [placed.piece for placed in dump.placed]
        calls.append(calls_of(partial(operation_hover, piece, line, 4)))
    kinds = {
        (finding.kind, *finding.movement.operation.types)
        for audit in piece.audits
        for finding in audit.findings
        if finding.movement is not None
    }
    assert len(steps) == len(kinds)
    assert calls[2] < calls[1] / 2
