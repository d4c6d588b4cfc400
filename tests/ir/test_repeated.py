"""A module that a dump prints again is read as if it came for the first time, in less time."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tiers import sampled
from work import calls_of

from tt_layout import parse_ir
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.reader import KnownTexts

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = sorted(EXAMPLES.glob("*/*.ttgir"))
BEFORE = "// -----// IR Dump Before Pass{} (pass-{}) ('builtin.module' operation) //----- //\n"

WRONG = """#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [3], warpsPerCTA = [1]}>
module {
  tt.func @f(%0: tensor<8xf32, #a>) { tt.return }
}
"""
TWO = """module {
  tt.func @f() { tt.return }
}
#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module {
  tt.func @g(%0: tensor<8xf32, #l>) { tt.return }
}
"""
CUT = "module {\n  tt.func @f(%0: tensor<8xf32>) {\n"


def dump_of(*texts: str) -> str:
    return "".join(BEFORE.format(k, k) + text + "\n\n" for k, text in enumerate(texts))


def described(modules: list[Module]) -> list[object]:
    return [
        (
            (module.line, module.pass_name, module.stage, module.attributes),
            [(repr(use.type), use.line, use.column) for use in module.types],
            [(alias.name, alias.kind, str(alias.encoding), *alias[3:]) for alias in aliases],
            (module.functions, repr(module.operations), module.partition_warps),
            (module.span.text, str(module.error)),
            module.types.first_lines(),
        )
        for module in modules
        for aliases in [list(module.aliases.values())]
    ]


def assert_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    together = described(parse_ir(text))
    with monkeypatch.context() as patched:
        patched.setattr(KnownTexts, "repeats", lambda *arguments: False)
        assert together == described(parse_ir(text))


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(KERNELS, 6), ids=lambda path: path.stem)
def test_kernels(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    other = text.replace("order", "orde", 1)
    assert_same(dump_of(text, text, other, text, other, "\n" + text, text), monkeypatch)


@pytest.mark.parametrize("text", [WRONG, TWO, CUT, "", "%0 = my.op : f32\n"])
def test_other_texts(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = KERNELS[-1].read_text(encoding="utf-8")
    assert_same(dump_of(text, text, kernel, text, kernel, text), monkeypatch)


def test_what_is_read_of_a_text_is_one_object_wherever_the_text_stands() -> None:
    kernel = KERNELS[0].read_text(encoding="utf-8")
    text = dump_of(*[kernel] * 3)
    first, second, _ = parse_ir(text)
    assert second.types is first.types
    assert second.aliases is first.aliases
    assert second.functions is first.functions
    assert second.line > first.line
    written = [number for number, line in enumerate(text.split("\n"), 1) if "tt.func" in line]
    modules = first, second
    assert [m.line_in_source(f.line) for m in modules for f in m.functions] == written[:2]
    assert [m.own_line(line) for m, line in zip(modules, written)] == [first.functions[0].line] * 2


def test_an_alias_that_is_defined_again_names_the_line_of_its_own_module() -> None:
    layout = "#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    text = dump_of(*[f"{layout * 2}module {{\n}}\n"] * 3)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("#b")]
    for module, first, again in zip(parse_ir(text), lines[::2], lines[1::2]):
        alias = module.aliases["b"]
        assert module.line_in_source(alias.line) == first
        assert isinstance(alias.encoding, LayoutError)
        assert f"on line {again}" in alias.encoding.message


def test_reading_again_is_less_work() -> None:
    text = KERNELS[0].read_text(encoding="utf-8")
    many = calls_of(partial(parse_ir, dump_of(*[text] * 21)))
    assert many < 4 * calls_of(partial(parse_ir, text))
