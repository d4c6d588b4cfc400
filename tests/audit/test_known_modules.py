"""A module of a dump that comes again is audited as if it came alone, and with less work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiers import sampled
from work import calls_of

from tt_layout import parse_ir
from tt_layout.audit.audit import Audit, audit_module, movement_total
from tt_layout.audit.conclusions import cycles_by_kernel
from tt_layout.audit.modules.audited_module import KnownModules, SharedWork, TextConclusions
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.given import GivenValues
from tt_layout.dumps.audits import Auditor
from tt_layout.dumps.dump import Dump, Reading, silent
from tt_layout.encodings import Encoding
from tt_layout.mlir.source import Source
from tt_layout.mlir.types import TensorType
from tt_layout.placement import PlacedLayout, place
from tt_layout.reports.audit_data import audit_data

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = sorted(EXAMPLES.glob("*/*.ttgir"))
SOFTMAX = EXAMPLES / "kernels" / "softmax-sm90.ttgir"
HEADER = "// -----// IR Dump After Nothing (nothing) //----- //\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(KERNELS[::2], 7), ids=lambda path: path.stem)
def test_a_module_that_comes_again_is_audited_as_if_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    shared = SharedWork()
    for module in parse_ir(f"{HEADER}{text}\n\n{HEADER}{text}"):
        together = audit_data(audit_module(module, shared))
        assert together == audit_data(audit_module(module))


def test_data_movements_of_a_module_that_comes_again_are_not_costed_again() -> None:
    text = KERNELS[0].read_text(encoding="utf-8")
    shared = SharedWork()
    modules = parse_ir("".join(f"{HEADER}{text}\n\n" for _ in range(2)))
    calls = [calls_of(partial(movement_total, module, shared)) for module in modules]
    assert calls[1] * 100 < calls[0]
    rows = audit_module(modules[1]).movements
    total = len(rows), sum(cycles_by_kernel(rows).values())
    assert {movement_total(module, shared) for module in modules} == {total}


def test_the_kernels_of_a_text_are_concluded_from_one_audit() -> None:
    text = KERNELS[0].read_text(encoding="utf-8")
    source = Source(f"{HEADER}{text}\n\n{HEADER}{text}")
    auditor, audits = Auditor(Reading(progress=silent)), list[Audit]()

    def conclude(audit: Audit) -> int:
        audits.append(audit)
        return len(audits)

    modules = parse_ir(source.text)
    answers = [*auditor.once(Dump(source), iter(modules), conclude)]
    assert answers == [(module, 1) for module in modules]


def test_kernels_that_differ_in_names_of_functions_are_concluded_from_one_audit() -> None:
    text = SOFTMAX.read_text(encoding="utf-8")
    [name] = [function.name for function in parse_ir(text)[0].functions]
    quoted = text.replace("module attributes {", f'module attributes {{note = "@{name}", ')
    texts = [text, text.replace(f"@{name}", "@other")]
    texts += [quoted, quoted.replace(f"@{name}", "@other")]
    source = Source("\n".join(texts))
    auditor, audits = Auditor(Reading(progress=silent)), list[Audit]()

    def conclude(audit: Audit) -> int:
        audits.append(audit)
        return len(audits)

    modules = parse_ir(source.text)
    answers = [answer for _, answer in auditor.once(Dump(source), iter(modules), conclude)]
    assert answers == [1, 1, 2, 3]  # what is quoted is no name of a function


TWO_FUNCTIONS = """\
module {
  tt.func @NAME() {
    tt.call @f() : () -> ()
    tt.return
  }
  tt.func private @OTHER() {
    tt.return
  }
}
"""


def test_functions_that_call_others_are_other_functions() -> None:
    names = [("f", "g"), ("g", "f"), ("h", "f")]
    texts = [TWO_FUNCTIONS.replace("NAME", a).replace("OTHER", b) for a, b in names]
    source = Source("".join(texts))
    auditor, audits = Auditor(Reading(progress=silent)), list[Audit]()
    modules = parse_ir(source.text)
    list(auditor.once(Dump(source), iter(modules), audits.append))
    assert [audit.module.line for audit in audits] == [modules[0].line, modules[1].line]


def test_plain_data_of_a_text_is_made_once_and_has_the_lines_of_each_place() -> None:
    text = KERNELS[0].read_text(encoding="utf-8")
    alias = "#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    wrong = f"{alias}{alias}module {{\n}}\n"
    source = Source("".join(f"{HEADER}{part}\n\n" for part in [wrong, text] * 3))
    audits = list[Audit]()

    def conclude(audit: Audit) -> dict[str, Any]:
        audits.append(audit)
        return audit_data(audit)

    modules = parse_ir(source.text)
    data = [*Auditor(Reading(progress=silent)).data(Dump(source), iter(modules), conclude)]
    assert json.loads(json.dumps(data)) == [
        json.loads(json.dumps(audit_data(audit_module(module)))) for module in modules
    ]
    assert len(audits) == 4, "one of the text, and each module that names a line in an error"


def test_a_header_is_a_line_of_the_modules_of_a_text() -> None:
    text = SOFTMAX.read_text(encoding="utf-8")
    shared = SharedWork()
    for dump in (f"{HEADER}{text}", text, f"\n{text}"):
        [module] = parse_ir(dump)
        assert audit_data(audit_module(module, shared)) == audit_data(audit_module(module))


def test_an_answer_with_lines_is_that_of_modules_on_one_line() -> None:
    known, asked = KnownModules(), list[int]()
    modules = parse_ir("module {\n}\n// -----\nmodule {\n}\n// -----\nmodule {\n}\n")
    for module in (modules[1], modules[1], modules[2]):
        known.once(module, "question", partial(asked.append, module.line))
    assert asked == [4, 7]


@pytest.mark.parametrize(("length", "times"), [(1 << 22, 1), ((1 << 22) + 1, 2)])
def test_modules_of_up_to_four_million_characters_are_remembered(length: int, times: int) -> None:
    known, asked = KnownModules(), list[int]()
    for line in (1, 9):
        span = SimpleNamespace(start=0, end=length, text="module {}")
        module: Any = SimpleNamespace(
            span=span, line=line, error=None, stands_alone=True, pass_name=None
        )
        known.once(module, "question", lambda: asked.append(1), has_lines=False)
    assert len(asked) == times


def test_aliases_of_a_module_above_are_part_of_what_it_means() -> None:
    function = """
    tt.func @f(%p: tensor<64x!tt.ptr<f32>, #l>) {
      %v = tt.load %p : tensor<64x!tt.ptr<f32>, #l>
      tt.return
    }
    """
    layout = (
        "#l = #ttg.blocked<{sizePerThread = [SIZE], threadsPerWarp = [32], warpsPerCTA = [1], "
        "order = [0]}>"
    )
    parts = [f"{layout.replace('SIZE', size)}\nmodule {{{function}}}" for size in "124"]
    shared = SharedWork()
    for module in parse_ir("\n".join([*parts, f"module {{{function}}}"])):
        assert audit_data(audit_module(module, shared)) == audit_data(audit_module(module))


def test_the_latest_conclusions_are_kept() -> None:
    known, asked = TextConclusions[str](2), list[str]()

    def concluded(text: str) -> str:
        asked.append(text)
        return text

    assert [known.once(text, partial(concluded, text)) for text in "abacba"] == [*"abacba"]
    assert asked == [*"abca"]


def test_a_module_without_layouts_stands_alone_below_one_that_has_some() -> None:
    alias = "#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], "
    above = f"{alias}order = [0]}}>\nmodule {{\n}}\n"
    below = "module {\n  tt.func @f(%x: tensor<64xf32LAYOUT>) {\n    tt.return\n  }\n}\n"
    text = above + below.replace("LAYOUT", "") + below.replace("LAYOUT", ", #l")
    assert [one.stands_alone for one in parse_ir(text) if one.functions] == [True, False]


def test_an_alias_of_a_module_above_is_not_overlooked_beside_own_ones() -> None:
    layout = (
        "#NAME = #ttg.blocked<{sizePerThread = [SIZE], threadsPerWarp = [32], warpsPerCTA = [1], "
        "order = [0]}>\n"
    )
    above = layout.replace("NAME", "l") + "module {\n}\n"
    below = (
        layout.replace("NAME", "k").replace("SIZE", "1")
        + """module {
      tt.func @f(%x: tensor<64xf32, #l>) {
        %y = ttg.convert_layout %x : tensor<64xf32, #l> -> tensor<64xf32, #k>
        tt.return
      }
    }
    """
    )
    own = below.replace("#l>", "#k>")
    text = "".join(above.replace("SIZE", size) + below + own for size in "12")
    shared, modules = SharedWork(), [m for m in parse_ir(text) if m.functions]
    assert [module.stands_alone for module in modules] == [False, True] * 2
    layouts = [str(audit_module(module, shared).layouts[0].attribute) for module in modules]
    assert layouts[1] == layouts[3]
    assert layouts[0] != layouts[2]


def test_other_arguments_are_not_those_of_before() -> None:
    text = SOFTMAX.read_text(encoding="utf-8")
    shared = SharedWork()
    [module] = parse_ir(text)
    for given in (None, GivenValues({"width": 64}), GivenValues({"width": 128})):
        together = audit_data(audit_module(module, shared, given))
        assert together == audit_data(audit_module(module, given=given))


def test_the_same_text_with_other_layouts_is_another_kernel() -> None:
    text = SOFTMAX.read_text(encoding="utf-8")
    other = text.replace("sizePerThread = [1, 8]", "sizePerThread = [1, 4]")
    assert other != text
    shared = SharedWork()
    for module in parse_ir(f"{HEADER}{text}\n\n{HEADER}{other}"):
        together = audit_data(audit_module(module, shared))
        assert together == audit_data(audit_module(module))


LIMITED = """
#l = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32>, %n: i32) {
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #l>
    %s = tt.splat %n : i32 -> tensor<512xi32, #l>
    %o = arith.addi %r, %s : tensor<512xi32, #l>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #l>
    %pp = tt.addptr %ps, %o : tensor<512x!tt.ptr<f32>, #l>, tensor<512xi32, #l>
    %v = tt.load %pp : tensor<512x!tt.ptr<f32>, #l>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #l>
    %i = tt.load %qs : tensor<512x!tt.ptr<i32>, #l>
    %pi = tt.addptr %ps, %i : tensor<512x!tt.ptr<f32>, #l>, tensor<512xi32, #l>
    tt.store %pi, %v : tensor<512x!tt.ptr<f32>, #l>
    tt.return
  }
}
"""


def test_lines_in_what_is_said_are_those_of_the_module() -> None:
    shared = SharedWork()
    found = []
    for module in parse_ir(f"{HEADER}{LIMITED}\n\n{HEADER}{LIMITED}"):
        together = audit_data(audit_module(module, shared))
        assert together == audit_data(audit_module(module))
        found.append(str(together))
    assert "tt.load on line 13" in found[0]
    assert "tt.load on line 33" in found[1]


def test_a_layout_is_placed_once_for_elements_of_any_width(monkeypatch: pytest.MonkeyPatch) -> None:
    placed: list[str] = []

    def noting(encoding: Encoding, tensor: TensorType) -> PlacedLayout:
        placed.append(tensor.span.text)
        return place(encoding, tensor)

    monkeypatch.setattr("tt_layout.audit.modules.layouts.place", noting)
    blocked = "threadsPerWarp = [32], warpsPerCTA = [4], order = [0]"
    shared = "vec = 1, perPhase = 1, maxPhase = 1, order = [0]"
    texts = ("f16, #a", "i1, #a", "!tt.ptr<f16>, #a", "f16, #d", "f8E5M2, #d")
    types = [f"tensor<64x{text}>" for text in texts]
    types += [f"!ttg.memdesc<64x{width}, #s, #ttg.shared_memory>" for width in ("f16", "f32")]
    [module] = parse_ir(
        f"#a = #ttg.blocked<{{sizePerThread = [2], {blocked}}}>\n"
        "#d = #ttg.dot_op<{opIdx = 0, parent = #a}>\n"
        f"#s = #ttg.swizzled_shared<{{{shared}}}>\n"
        f"module {{ %0 = my.op : {', '.join(types)} }}"
    )
    layouts = PlacedLayouts()
    assert all(layouts.layout(use.type) is not None for use in module.types)
    of_any_width, *others = placed
    assert (of_any_width, len(others)) == ("tensor<64xf16>", len(types) - 3)
