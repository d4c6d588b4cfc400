"""The library: layouts and types in any form, one rule for all functions, names that are found."""

from __future__ import annotations

import inspect
import os
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import sampled, slow

import tt_layout
from tt_layout import LayoutError
from tt_layout.library.inputs import encoding_of
from tt_layout.notation.context import Context
from tt_layout.surface import COMMAND_LINE, shown_on

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
MMA = "NVMMADistributedLayout([2, 0], [4, 1], [16, 8])"
OPERAND = f"DotOperandLayout(0, {MMA}, 2)"
TYPE = "64x64xf16"
LAYOUT = tt_layout.to_linear_layout(ROWS, [64, 64])


@dataclass(frozen=True)
class BlockedLayout:
    """As Gluon has it since 3.6."""

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True)
class SliceLayout:
    """As Gluon has it."""

    dim: int
    parent: Any


class constexpr:  # noqa: N801
    """As Triton wraps what is known when a kernel is compiled."""

    def __init__(self, value: object) -> None:
        self.value = value


class Layout:
    """As the libraries of CuTe print one."""

    def __str__(self) -> str:
        return "((8, 16), (8, 4)) : ((512, 1), (64, 16))"


class Foreign:
    """As ``triton.tools.LinearLayout``, by its interface."""

    bases = LAYOUT.bases
    out_dims = LAYOUT.out_dims


Foreign.__name__ = "LinearLayout"
GLUON = BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
FORMS: dict[str, Any] = {
    "text": ROWS,
    "Gluon's text": "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])",
    "encoding": tt_layout.parse_layout(ROWS),
    "placed layout": tt_layout.place(ROWS, TYPE),
    "linear layout": LAYOUT,
    "Triton's linear layout": Foreign(),
    "Gluon's object": GLUON,
    "constexpr": constexpr(GLUON),
    "CuTe's object": Layout(),
}
TYPES: dict[str, Any] = {
    "short type": TYPE,
    "type": "tensor<64x64xf16>",
    "parsed type": tt_layout.place(ROWS, TYPE).tensor,
}
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "parse_layout": lambda layout, over: tt_layout.parse_layout(layout, over).to_linear_layout(
        [64, 64]
    ),
    "place": lambda layout, over: tt_layout.place(layout, over).layout,
    "to_linear_layout": tt_layout.to_linear_layout,
    "translate": lambda layout, over: tt_layout.translate(layout, over, to="linear").text,
    "info": lambda layout, over: tt_layout.info(layout, over).info,
    "locations_of": lambda layout, over: str(tt_layout.locations_of(layout, over, [3, 5])),
    "elements_at": lambda layout, over: str(tt_layout.elements_at(layout, over, thread=3)),
    "diff": lambda layout, over: tt_layout.diff(layout, ROWS, over).difference.comparison,
    "convert": lambda layout, over: tt_layout.convert(layout, f"gl.{MMA}", over).data()["moves"],
    "conflicts": lambda layout, over: str(tt_layout.conflicts(layout, SWIZZLED, over)),
    "swizzle": lambda layout, over: str(tt_layout.swizzle([layout], [], over, max_candidates=400)),
    "plot": lambda layout, over: tt_layout.plot(layout, over).svg.count("<rect"),
    "explore": lambda layout, over: len(tt_layout.explore(layout, over).html) > 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, slow(1)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_every_form(name: str, step: int) -> None:
    """What it finds is what it finds of the attribute's text."""
    function = FUNCTIONS[name]
    wanted = function(ROWS, "tensor<64x64xf16>")
    for form in list(FORMS.values())[step // 2 :: step]:
        assert function(form, TYPE) == wanted
    if step > 1:
        return
    for over in TYPES.values():
        assert function(ROWS, over) == wanted


def test_a_shape_is_enough_where_no_width_counts() -> None:
    for name in ("place", "to_linear_layout", "translate", "locations_of", "plot"):
        assert FUNCTIONS[name](GLUON, [64, 64]) == FUNCTIONS[name](ROWS, TYPE)
    assert tt_layout.default_blocked((16, 64)) == tt_layout.default_blocked("16x64xf16")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("layout", "over"),
    [(3, TYPE), (None, TYPE), (object(), TYPE), (ROWS, 3), (ROWS, "x"), ("", TYPE)],
)
def test_what_is_wrong_is_an_error_of_ours(name: str, layout: Any, over: Any) -> None:
    with pytest.raises(LayoutError) as raised:
        FUNCTIONS[name](layout, over)
    assert len(str(raised.value)) < 400


def test_objects_of_gluon_are_read_with_what_is_in_them() -> None:
    dim: Any = constexpr(1)
    sliced = SliceLayout(dim, constexpr(GLUON))
    assert str(tt_layout.parse_layout(sliced)) == f"#ttg.slice<{{dim = 1, parent = {ROWS}}}>"
    with pytest.raises(LayoutError, match="takes numbers as order"):
        tt_layout.parse_layout(BlockedLayout([1], [32], [4], "0"))  # type: ignore[arg-type]


def test_a_release_in_memory_says_what_its_objects_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until 3.8 the registers of a blocked layout repeated the elements of a small tensor."""
    wide = BlockedLayout([4], [1], [1], [0])
    assert tt_layout.to_linear_layout(wide, [2]).bases[0] == ("register", [[1]])
    triton = type(sys)("triton")
    triton.__version__ = "3.8.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setattr(BlockedLayout, "__module__", "triton.experimental.gluon.language._layouts")
    assert tt_layout.to_linear_layout(wide, [2]).bases[0] == ("register", [[1], [0]])
    assert encoding_of(wide, Context()).release is tt_layout.Release.V3_8


@pytest.mark.slow
def test_nothing_of_triton_is_imported() -> None:
    script = (
        "import sys, tt_layout\n"
        "class SwizzledSharedLayout:\n"
        "    def __init__(s): s.vec, s.per_phase, s.max_phase, s.order = 8, 1, 8, [1, 0]\n"
        "print(tt_layout.parse_layout(SwizzledSharedLayout()))\n"
        "assert not {'triton', 'cutlass', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == SWIZZLED


REPORTS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "info": (lambda: tt_layout.info(ROWS, TYPE), ["info", ROWS, "-t", TYPE]),
    "where": (
        lambda: tt_layout.locations_of(ROWS, TYPE, [3, 5]),
        ["where", ROWS, "-t", TYPE, "--element", "3,5"],
    ),
    "diff": (
        lambda: tt_layout.diff(ROWS, f"gl.{OPERAND}", TYPE),
        ["diff", ROWS, f"gl.{OPERAND}", "-t", TYPE],
    ),
    "convert": (
        lambda: tt_layout.convert(ROWS, f"gl.{OPERAND}", TYPE),
        ["convert", ROWS, f"gl.{OPERAND}", "-t", TYPE],
    ),
    "conflicts": (
        lambda: tt_layout.conflicts(ROWS, SWIZZLED, TYPE),
        ["conflicts", ROWS, SWIZZLED, "-t", TYPE],
    ),
    "swizzle": (
        lambda: tt_layout.swizzle([ROWS], [f"gl.{OPERAND}"], TYPE, max_candidates=400),
        ["swizzle", ROWS, f"gl.{OPERAND}", "-t", TYPE, "--max-search", "400"],
    ),
    "suggest": (
        lambda: tt_layout.operand_shared(f"gl.{OPERAND}", TYPE),
        ["suggest", "shared", f"gl.{OPERAND}", "-t", TYPE],
    ),
    "translate": (
        lambda: tt_layout.translate(ROWS, TYPE, to="cute"),
        ["translate", ROWS, "--to", "cute", "-t", TYPE],
    ),
    "audit": (
        lambda: tt_layout.audit_ir("examples/kernels/attention-sm80.ttgir"),
        ["audit", "examples/kernels/attention-sm80.ttgir"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_prints_what_the_command_prints(
    name: str, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    run: Run = runner(capfdbinary, monkeypatch)
    call, arguments = REPORTS[name]
    report = call()
    with shown_on(COMMAND_LINE):  # or it says how values are given in Python
        printed = f"{report}\n"
    assert printed == run(*arguments).out
    if name not in ("suggest", "translate"):
        assert len(repr(report)) < 130
        assert report._repr_html_().startswith("<div")  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_compiled_kernel_is_audited() -> None:
    path = Path(__file__).parents[2] / "examples" / "kernels" / "attention-sm80.ttgir"
    kernel = type("CompiledKernel", (), {"asm": {"ttgir": path.read_text()}, "name": "attention"})()
    report = tt_layout.audit_ir(kernel)
    assert str(report).splitlines()[1:] == str(tt_layout.audit_ir(path)).splitlines()[1:]
    assert "attention" in str(report).splitlines()[0]
    assert len(tt_layout.explore_ir(kernel).html) > 100_000
    with pytest.raises(LayoutError, match="no ttgir"):
        tt_layout.audit_ir(type("CompiledKernel", (), {"asm": {"ptx": ""}})())


@pytest.mark.slow
def test_every_public_name_is_found_and_documented() -> None:
    assert set(tt_layout.__all__) <= set(dir(tt_layout))
    for name in tt_layout.__all__:
        value = getattr(tt_layout, name)
        assert name.startswith("__") or value.__doc__, name
        if inspect.isfunction(value):
            assert inspect.signature(value)
            assert name in (tt_layout.__doc__ or ""), name
    manual = pydoc.plain(pydoc.render_doc(tt_layout))
    assert all(name in manual for name in tt_layout.__all__ if not name.startswith("__"))
    assert "shape_or_type" in manual


def test_one_rule_for_all_functions() -> None:
    """The tensor is ``shape_or_type`` wherever a layout is taken, before what only has a name."""
    for name in tt_layout.__all__:
        value = getattr(tt_layout, name)
        if not inspect.isfunction(value):
            continue
        parameters = inspect.signature(value).parameters
        takes_layout = any("Layout" in str(one.annotation) for one in parameters.values())
        assert takes_layout <= ("shape_or_type" in parameters), name


USER = """
import tt_layout
from tt_layout import Encoding, LinearLayout, LayoutError, PlacedLayout

rows: Encoding = tt_layout.parse_layout("gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])")
layout: LinearLayout = tt_layout.to_linear_layout(rows, [64, 64])
placed: PlacedLayout = tt_layout.place(rows, "64x64xf16")
store = tt_layout.conflicts(rows, "(64,64):(64,1)", "64x64xf16").conflicts.store
extra: float = store.extra_wavefronts
names: list[str] = layout.get_in_dim_names()
svg: str = tt_layout.plot(rows, [64, 64]).svg
text: str = tt_layout.translate(rows, [64, 64], to="cute").text
try:
    tt_layout.info(rows, (64, 64), memory_order=[0, 1]).info
except LayoutError as error:
    print(error.message)
tt_layout.no_such_name
"""


TYPED = """\
from typing import assert_type

import numpy as np
import tt_layout
from tt_layout import (
    ConversionReport, Drawing, InfoReport, LayoutInfo, Page, SharedInfo, Target, Translation,
)

blocked = tt_layout.default_blocked(np.array([64, 64]))
shared = tt_layout.default_nvmma("64x64xf16")
assert_type(tt_layout.info(blocked, [64, 64]), InfoReport[LayoutInfo])
assert_type(tt_layout.info(shared, "64x64xf16").info, SharedInfo)
assert_type(tt_layout.convert(blocked, blocked, "64x64xf16"), ConversionReport)
size: int = tt_layout.info("(2,2):(1,2)", "4").info.registers
drawing: Drawing = tt_layout.plot(blocked, shared, "64x64xf16")
page: Page = tt_layout.explore(blocked, (64, 64))
text: Translation = tt_layout.translate(blocked, np.array([64, 64]), to="cute")
view: str = blocked.format_tensor_view("64x64xf16")

def on(target: Target) -> None:
    tt_layout.conflicts(blocked, text, "64x64xf16", target=target)
"""


def test_documents_name_functions_that_exist() -> None:
    """Of the library, where they list what it has."""
    text = (Path(__file__).parents[2] / "docs" / "analyses.md").read_text()
    listed = text[text.index("In the library these are functions") :].partition("\n\n")[0]
    names = re.findall(r"`(\w+)`", listed)
    assert len(names) > 5
    assert set(names) <= set(tt_layout.__all__)


@pytest.mark.slow
def test_a_user_program_is_checked_strictly(tmp_path: Path) -> None:
    """Reports, figures and pages have public classes; one planted mistake is all that is found."""
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED.replace("typing import", "typing_extensions import"))
    (tmp_path / "user.py").write_text(USER)
    arguments = ("--strict", "--config-file=", "--no-error-summary", "typed.py", "user.py")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    [found] = [line for line in done.stdout.splitlines() if "error" in line]
    assert found.startswith("user.py:")
    assert 'has no attribute "no_such_name"' in found


@pytest.mark.slow
def test_the_report_of_a_dump_crosses_processes() -> None:
    import copy
    import pickle

    path = str(Path(__file__).parents[2] / "examples" / "kernels" / "matmul-sm80.ttgir")
    report = tt_layout.audit_ir(path, {"K": 4096})
    for again in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert str(again) == str(report)
        assert again.data() == report.data()


def test_old_names_are_those_of_the_commands_and_say_so() -> None:
    from tt_layout.cli.groups import SUMMARIES

    for old, new in tt_layout.OLD_NAMES.items():
        with pytest.warns(DeprecationWarning, match=rf"tt_layout\.{old} is tt_layout\.{new}, like"):
            assert getattr(tt_layout, old) is getattr(tt_layout, new)
        assert new in SUMMARIES
        assert old not in dir(tt_layout)


OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*|tt-layout \w+")
MESSAGES: dict[str, Callable[[], object]] = {
    "no shape": lambda: tt_layout.translate("(4,8):(8,1)", to="linear"),
    "a type": lambda: tt_layout.translate(ROWS, to="cute"),
    "a view": lambda: tt_layout.plot(ROWS, ROWS, [64, 64], view="tensor"),
    "no axis": lambda: tt_layout.plot(ROWS, [64, 64], view="reduce"),
    "colours": lambda: tt_layout.plot(ROWS, [64, 64], color_by="bank"),
    "a swizzle": lambda: tt_layout.plot(ROWS, [64, 64], view="swizzle"),
    "lanes": lambda: tt_layout.conflicts(ROWS, SWIZZLED, TYPE, target="gfx942"),
    "a search": lambda: tt_layout.swizzle(ROWS, ROWS, TYPE, max_candidates=2),
    "threads": lambda: tt_layout.elements_at(ROWS, TYPE, thread=3, lane=3),
    "a key": lambda: tt_layout.parse_layout(
        "#ttg.padded_shared<[4:+1] {order = [0]}>", release="3.4"
    ),
    "an alias": lambda: tt_layout.parse_layout("#ttg.slice<{dim = 0, parent = #other}>"),
    "Volta": lambda: tt_layout.place(
        "#ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [1, 1], "
        "instrShape = [16, 8]}>",
        TYPE,
        release="3.9",
    ),
    "a value": lambda: tt_layout.audit_ir("examples/narrow/softmax.ttgir", {"nothing": 1}),
    "a GPU": lambda: tt_layout.audit_ir("examples/narrow/softmax.ttgir", gpu="mi300x"),
    "a finding": lambda: tt_layout.watch(fail_on="typo").__enter__(),
    "no fix": lambda: tt_layout.apply("examples/narrow/softmax.ttgir", 99),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_an_error_names_arguments_of_python(name: str) -> None:
    with pytest.raises(LayoutError) as raised:
        MESSAGES[name]()
    assert OPTION.findall(str(raised.value)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sampled([*Path("examples").glob("*/*.ttgir"), *Path("examples").glob("*/*.mlir")], 9)
)
def test_an_audit_names_no_option(path: Path) -> None:
    report = tt_layout.audit_ir(path)
    assert OPTION.findall(f"{report}\n{report.whole}") == []
    assert len(str(report.whole).splitlines()) > len(str(report).splitlines())


def test_a_command_names_its_options(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Run = runner(capfdbinary, monkeypatch)
    assert "--view reduce needs --axis" in run("plot", ROWS, "-t", TYPE, "--view", "reduce").err
    assert "such as -t 'tensor<16x16xf16>'" in run("translate", ROWS, "--to", "cute").err
    script = "import tt_layout.worker as w; w.begin_worker(); import tt_layout.surface as s; "
    done = subprocess.run(
        [sys.executable, "-c", f"{script}print(s.argument('view'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "--view\n"


def test_a_reduction_of_a_shape_alone_is_of_f32() -> None:
    of_shape, of_type = (tt_layout.reduce(ROWS, over, 1) for over in ([64, 64], "64x64xf32"))
    assert str(of_shape) == str(of_type)
