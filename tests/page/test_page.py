"""The page as a file: self-contained, small, and safe with any name; no browser is needed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from test_time import kernel
from work import calls_of

import tt_layout.page
from tt_layout.analyses.multiplications.instruction_operands import operands_of
from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.values.given import parse_values
from tt_layout.encodings import FORMS
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.figures.mma import product_of
from tt_layout.hardware import TARGETS
from tt_layout.ir import parse_ir
from tt_layout.kernels.trace import ProgramText
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.gluon.constructors import CONSTRUCTORS
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.registry import read_layout
from tt_layout.page import (
    _COMMENTS,
    _PARAMETERS,
    _SPACED,
    SCRIPTS,
    EmbeddedDump,
    PageLayout,
    build,
    page_script,
    template_text,
)
from tt_layout.page.dump import MAX_FILES, page_of, page_of_dump, programs
from tt_layout.page.kernel_time import times_data
from tt_layout.page.multiplications import multiplication_data
from tt_layout.page.playground import EXAMPLES, Example, playground
from tt_layout.page.rules import encoding_rules
from tt_layout.placement import place
from tt_layout.releases import LATEST, Release
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.time_data import kernel_time

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], "
    "order = [1, 0]}>"
)
PADDED = "#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [16, 128]}>"
ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
HOSTILE = "</script><script>alert(1)</script><!--{{script}}{{data}}\"'&amp;\u2028"


class Elements(HTMLParser):
    """The elements of a page, with their attributes and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag = self.found[-1][0] if self.found else ""
        if tag in self.texts:
            self.texts[tag].append(data)


class Hostile(Blocked):
    """A layout whose text would break out of the page."""

    forms = Blocked.forms

    def __str__(self) -> str:
        return HOSTILE


def laid(attribute: str, type_text: str, **more: Any) -> PageLayout:
    placed = place(parse_layout(attribute), parse_type(type_text))
    return PageLayout(placed, **{"name": "it", **more})


def embedded(text: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


@pytest.fixture(scope="module")
def page() -> str:
    return build([laid(BLOCKED, "tensor<16x16xf16>")])


def test_the_bases_are_embedded() -> None:
    layout = laid(PADDED, "!ttg.memdesc<16x128xf16>", name="pad", line=3, uses=(7, 9))
    [own] = embedded(build([layout]))["layouts"]
    assert own == {
        "name": "pad",
        "attribute": PADDED,
        "type": "!ttg.memdesc<16x128xf16>",
        "memory": "shared memory",
        "ins": [[name, [list(v) for v in vs]] for name, vs in layout.placed.layout.in_bases],
        "outs": [["dim0", 16], ["dim1", 128]],
        "bits": 16,
        "padding": [[128, 8]],
        "release": str(LATEST),
        "line": 3,
        "uses": [7, 9],
    }


def test_of_a_ring_of_buffers_one_is_shown() -> None:
    swizzled = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
    assert laid(swizzled, "!ttg.memdesc<3x2x2xf16>").placed.layout.out_dims == [
        ("dim0", 2),
        ("dim1", 2),
    ]


def test_the_targets_are_embedded_the_usual_ones_named_first() -> None:
    data = embedded(build([laid(BLOCKED, "tensor<16x16xf16>")], target="sm80"))
    assert data["usualTargets"] == ["sm80", "sm90", "gfx942", "pvc"]
    assert [one["name"] for one in data["targets"]] == list(
        dict.fromkeys(target.name for target in TARGETS.values())
    )
    [gfx950] = [one for one in data["targets"] if one["name"] == "gfx950"]
    assert gfx950["loadPhases"]["16"] == {"masks": [1, 2, 12, 20], "banks": 64}
    data = embedded(build([laid(BLOCKED, "tensor<16x16xf16>")], target="amd"))
    assert data["usualTargets"] == ["gfx942", "sm90", "pvc"]
    with pytest.raises(LayoutError, match="unknown target 'h800'"):
        build([laid(BLOCKED, "tensor<16x16xf16>")], target="h800")


def test_the_page_has_no_hook_for_tests() -> None:
    placed = place(parse_layout(BLOCKED), parse_type("tensor<16x16xf16>"))
    assert "ttLayout" not in build([PageLayout(placed, "blocked")])


@pytest.mark.slow
def test_the_page_of_a_dump_is_of_its_target() -> None:
    dump = ROOT / "examples/kernels/matmul-sm80.ttgir"
    assert embedded(page_of_dump(read_source(str(dump)), []).html)["usualTargets"][0] == "sm80"


def test_the_page_of_a_dump_has_what_is_written_in_types_and_each_layout_once(
    tmp_path: Path,
) -> None:
    dump = tmp_path / "kernel.ttgir"
    dump.write_text(
        f"#a = {BLOCKED}\n"
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
        "module {\n  tt.func @f(%x: tensor<16xf16, #ttg.slice<{dim = 1, parent = #a}>>,\n"
        "    %y: !ttg.memdesc<16x16xf16, #s, #smem>) {\n"
        "    %z = memdesc_subview %y : !ttg.memdesc<8x16xf16, #s, #smem, mutable, 16x16>\n  }\n}\n"
    )
    page = page_of_dump(read_source(str(dump)), []).html
    assert "<title>kernel.ttgir</title>" in page
    layouts = embedded(page)["layouts"]
    assert [(own["name"], own["type"], own["line"], own["uses"]) for own in layouts] == [
        ("#s", "!ttg.memdesc<16x16xf16>", 2, [5, 6]),
        ("#ttg.slice<{dim = 1, parent = #a}>", "tensor<16xf16>", None, [4]),
    ]
    layouts = embedded(page_of_dump(read_source(str(dump)), ["s"]).html)["layouts"]
    assert [own["name"] for own in layouts] == ["#s"]


def test_a_page_has_lines_of_so_many_files_only() -> None:
    names = [f"{number}.py" for number in range(MAX_FILES + 2)]
    source = ProgramSource(programs=tuple(ProgramText(name, 1, "x = 1\n") for name in names))
    assert list(programs((), source, [(name, 1) for name in names])) == names[:MAX_FILES]


def test_the_page_of_a_dump_has_its_findings_and_data_movements() -> None:
    dump = ROOT / "examples/kernels/matmul-sm80.ttgir"
    data = embedded(page_of_dump(read_source(str(dump)), []).html)
    [module] = data["dump"]["modules"]
    [conversion] = [one for one in module["movements"] if one["group"] == "conversion"]
    names = [data["layouts"][number]["name"] for number in conversion["layouts"]]
    assert names == [conversion["from"], conversion["to"]] == ["#mma", "#blocked1"]
    assert conversion["facts"]["wavefronts"] > 0
    types = {one["name"]: one["type"] for one in module["movements"]}
    assert types == {
        "ttg.local_alloc": "memdesc<2x32x64xf16>",
        "ttg.async_copy_global_to_local": "tensor<32x64x!tt.ptr<f16>>",
        "ttg.local_load": "tensor<16x64xf16>",
        "ttg.convert_layout": "tensor<128x64xf16>",
        "tt.store": "tensor<128x64x!tt.ptr<f16>>",
    }
    assert module["first"] == 1
    assert [found["lines"] for found in module["findings"]] == [[139]]


@pytest.mark.slow
def test_a_load_has_its_first_request_and_a_finding_its_advice() -> None:
    dump = ROOT / "examples/kernels/attention-sm90.ttgir"
    [module] = embedded(page_of_dump(read_source(str(dump)), []).html)["dump"]["modules"]
    load = module["movements"][0]
    assert load["request"]["starts"] == [16 * lane for lane in range(32)]
    assert load["request"]["width_bytes"] == 16
    assert not module["findings"]  # its conversion is needed
    dump = ROOT / "examples/kernels/matmul-sm90.ttgir"
    [module] = embedded(page_of_dump(read_source(str(dump)), []).html)["dump"]["modules"]
    [conversion] = module["findings"]
    assert conversion["advice"][0].startswith("why: source layout from ")


CONFLICTS = """
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],
  order = [0, 1]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f() {
LOADS
    tt.return
  }
}
"""


@pytest.mark.parametrize("most", [1, 3, 4])
def test_so_many_findings_have_advice_and_a_layout(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tt_layout.page.dump.MAX_SHOWN", most)
    loads = ""
    for number, rows in enumerate((64, 128, 256, 512)):
        memory = f"!ttg.memdesc<{rows}x64xf32, #plain, #smem, mutable>"
        loads += f"    %b{number} = ttg.local_alloc : () -> {memory}\n"
        loads += f"    %v{number} = ttg.local_load %b{number} : {memory}"
        loads += f" -> tensor<{rows}x64xf32, #columns>\n"
    source = Source(CONFLICTS.replace("LOADS", loads), "k.ttgir")
    [module] = embedded(page_of_dump(source, []).html)["dump"]["modules"]
    found = module["findings"]
    assert [bool(one["advice"]) for one in found] == [place < most for place in range(4)]
    assert [one["suggested"] is not None for one in found] == [place < most for place in range(4)]


MMA = (
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
    "instrShape = [16, 64, 16]}>"
)


@pytest.mark.slow
def test_notes_are_beside_the_findings() -> None:
    dump = ROOT / "examples" / "narrow" / "attention.ttgir"
    [module] = embedded(page_of_dump(read_source(str(dump)), []).html)["dump"]["modules"]
    [note] = module["notes"]
    assert note["lines"] == [173]
    assert note["message"].startswith("convert_layout is worth keeping: a direct store")
    assert all(note["lines"] != finding["lines"] for finding in module["findings"])


def test_a_multiplication_has_the_layouts_of_its_operands() -> None:
    placed = laid(MMA, "tensor<64x64xf32>").placed
    data = embedded(page_of({"layout": placed}, is_multiplied=True, operand="bf16"))
    assert data["isMultiplied"]
    assert data["operand"] == "bf16"
    found = multiplication_data(product_of(placed, "bf16"))
    a, b, d, k = operands_of(placed.encoding, (64, 64), "f32", "bf16")
    assert a is not None
    assert b is None
    shapes = [(64, k), (k, 64), (64, 64)]
    for part, operand, shape in zip(found["parts"], (a, b, d), shapes):
        assert tuple(part["size"]) == shape[::-1]
        layout = operand and operand.encoding.to_linear_layout(operand.shape)
        own = part["layout"] and [(name, [*map(tuple, v)]) for name, v in part["layout"]["ins"]]
        assert own == (layout and [(name, [*v]) for name, v in layout.in_bases])
    assert found["colour"] == "warp"


def test_the_page_of_layouts_is_of_the_target_that_is_asked_for() -> None:
    placed = laid(BLOCKED, "tensor<16x16xf16>").placed
    assert embedded(page_of({"layout": placed}, target="gfx950"))["usualTargets"][0] == "gfx950"
    with pytest.raises(LayoutError, match="unknown target 'h800'"):
        page_of({"layout": placed}, target="h800")


def test_a_page_without_a_multiplication_says_why_when_it_is_asked_for() -> None:
    placed = laid(BLOCKED, "tensor<16x16xf16>").placed
    assert not embedded(page_of({"layout": placed}))["isMultiplied"]
    with pytest.raises(LayoutError, match="does not determine the K"):
        page_of({"layout": placed}, is_multiplied=True)
    large = laid(MMA, "tensor<1024x512xf32>").placed
    with pytest.raises(LayoutError, match="of 262144 elements, got 524288"):
        page_of({"layout": large}, is_multiplied=True)


@pytest.mark.slow
def test_the_page_of_a_dump_has_its_multiplications_and_opens_on_a_line() -> None:
    source = read_source(str(ROOT / "examples/kernels/matmul-sm80.ttgir"))
    dump = embedded(page_of_dump(source, [], line=125).html)["dump"]
    [found] = [one for one in dump["modules"][0]["multiplications"] if one["line"] == 125]
    assert [part["title"] for part in found["parts"]] == ["A (16 x 16)", "B (16 x 8)", "D (16 x 8)"]
    assert found["title"][1] == "the first M = 16, N = 8, K = 16"
    assert dump["line"] == 125
    with pytest.raises(LayoutError, match="lines, got line 9999"):
        page_of_dump(source, [], line=9999)


def test_modules_of_a_dump_share_the_layouts_that_they_name_alike(tmp_path: Path) -> None:
    swizzled = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    module = (
        f"#a = {BLOCKED}\n#s = {swizzled}\nmodule {{\n  tt.func @f() {{\n"
        "    %z = ttg.local_load %y : !ttg.memdesc<16x16xf16, #s, #smem> -> "
        "tensor<16x16xf16, #a>\n    tt.return\n  }\n}\n"
    )
    file = tmp_path / "passes.mlir"
    file.write_text(2 * module)
    data = embedded(page_of_dump(read_source(str(file)), []).html)
    first, second = data["dump"]["modules"]
    assert (first["number"], first["first"]) == (1, 1)
    assert (second["number"], second["first"]) == (2, 9)
    assert [one["layouts"] for one in first["movements"]] == [[1, 0]]
    assert [one["layouts"] for one in second["movements"]] == [[1, 0]]
    [only] = embedded(page_of_dump(read_source(str(file)), [], None, 2).html)["dump"]["modules"]
    assert only["number"] == 2


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    elements = Elements(page)
    for tag, attributes in elements.found:
        assert tag not in {"iframe", "img", "object", "embed", "audio", "video", "base"}
        assert not {"src", "srcset", "action", "onclick", "onload"} & attributes.keys()
        if "href" in attributes:
            assert (tag, attributes["href"]) in {("link", "data:,"), ("a", "#tensor")}
    assert not re.search(r"https?:|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\b\s*\(|url\(", page)


def test_the_browser_is_told_to_load_and_run_nothing_else(page: str) -> None:
    elements = Elements(page)
    [policy] = [a["content"] for tag, a in elements.found if "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    script = page.rsplit("<script>", 1)[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


def test_it_is_small_and_little_work() -> None:
    layout = laid(BLOCKED, "tensor<256x256xf16>")
    encoding_rules()  # imports every encoding, once in a process
    build([layout])  # shortens the scripts, once in a process
    texts = []
    assert calls_of(lambda: texts.append(build([layout]))) < 6_000
    assert len(texts[0].encode()) < 375_000


def test_the_playground_is_small() -> None:
    assert len(playground().encode()) <= 376_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matmul-sm80", "attention-sm90", "attention-gfx942"])
def test_the_page_of_a_dump_grows_by_four_times_its_text_at_most(name: str) -> None:
    """A fourth time is what it says of each data movement in words."""
    source = read_source(str(KERNELS / f"{name}.ttgir"))
    scripts = len(page_script(has_dump=True)) - len(page_script(has_dump=False))  # of dumps alone
    grown = len(page_of_dump(source, []).html.encode()) - len(playground().encode()) - scripts
    assert grown <= 4 * len(source.text.encode())


@pytest.mark.slow
def test_the_page_of_a_dump_has_the_live_registers_of_its_lines() -> None:
    source = read_source(str(KERNELS / "matmul-sm80.ttgir"))
    [module] = embedded(page_of_dump(source, []).html)["dump"]["modules"]
    [audit] = [audit_module(one) for one in parse_ir(source.text)]
    peak = max(pressure.live for pressure in audit.registers)
    lines, live = zip(*module["registers"])
    assert list(lines) == sorted(set(lines))
    assert 0 < max(live) <= peak
    assert live[-1] == 0


@pytest.mark.slow
def test_the_page_of_a_dump_has_what_takes_its_time() -> None:
    source = read_source(str(KERNELS / "matmul-sm80.ttgir"))
    given = parse_values(["K=512", "num_programs_x=32", "num_programs_y=32", "num_programs_z=1"])
    [module] = embedded(page_of_dump(source, [], given=given).html)["dump"]["modules"]
    [audit] = [audit_module(one, given=given) for one in parse_ir(source.text)]
    [kernel] = kernels_of(audit)
    [time], data = module["times"], kernel_time(kernel)
    assert time["text"] == data["text"]
    bars = {name: seconds for name, seconds, _ in time["bars"]}
    assert bars.pop("tail of the last wave") == data["tail_seconds"] > 0
    assert bars == {name: data["terms"][name] for name in bars}
    assert max(bars, key=lambda name: bars[name]) == data["limit"]
    [path], [loop] = time["paths"], data["loops"]
    assert [entry[0] for entry in path["critical"]] == [
        wait["line"] for wait in loop["critical"][: len(path["critical"])]
    ]
    lanes = {name: spans for name, _, spans in path["lanes"]}
    assert {"copies", "waits", "tensor cores", "issue"} <= lanes.keys()
    assert all(
        0 <= begin < end <= path["drawn"] for spans in lanes.values() for begin, end, _ in spans
    )


def test_the_loop_that_takes_most_time_is_the_first_on_a_page() -> None:
    """Not the one with the most iterations."""
    line = "tensor<512xf32, #b>"
    adds = "\n".join(f"%a{k + 1} = arith.addf %a{k}, %a0 : {line}" for k in range(200))
    loops = f"""
    %few = arith.constant 4 : i32
    %many = arith.constant 100 : i32
    %r = scf.for %i = %zero to %many step %one iter_args(%a = %x) -> ({line}) : i32 {{
      %c = arith.addf %a, %a : {line}
      scf.yield %c : {line}
    }}
    %s = scf.for %j = %zero to %few step %one iter_args(%a0 = %r) -> ({line}) : i32 {{
      {adds}
      scf.yield %a200 : {line}
    }}
    tt.store %q, %s : tensor<512x!tt.ptr<f32>, #b>
    """
    given = parse_values(["num_programs_x=132", "num_programs_y=1", "num_programs_z=1"])
    [module] = parse_ir(kernel(loops))
    [time] = times_data(kernels_of(audit_module(module, given=given)))
    trips = [re.findall(r"(\d+) times", path["text"]) for path in time["paths"]]
    assert trips == [["4"], ["100"]]


@pytest.mark.slow
def test_the_page_of_a_dump_says_why_there_is_no_time() -> None:
    source = read_source(str(KERNELS / "matmul-sm80.ttgir"))
    [module] = embedded(page_of_dump(source, []).html)["dump"]["modules"]
    [time] = module["times"]
    assert time["text"].endswith("the loop at line 89 runs ceildiv(%K, 32) times")
    assert time.keys() == {"name", "text"}
    with pytest.raises(LayoutError, match="no kernel has an argument 'Q'"):
        page_of_dump(source, [], given=parse_values(["Q=1"]))


@pytest.mark.slow
def test_the_page_of_a_dump_has_the_cycles_of_its_data_movements() -> None:
    source = read_source(str(ROOT / "examples" / "workloads" / "int8_matmul-gfx942.ttgir"))
    [module] = embedded(page_of_dump(source, []).html)["dump"]["modules"]
    cycles = {one["line"]: one["cycles"] for one in module["movements"]}
    share = sum(cycles[line] for line in module["findings"][0]["lines"]) / sum(cycles.values())
    assert 0.5 < share < 0.8
    assert max(cycles, key=cycles.__getitem__) in module["findings"][0]["lines"]


def test_comments_stay_in_the_files(page: str) -> None:
    """One that was left at the end of a line would hide what closes the block behind it."""
    for tag in ("script", "style"):
        text = page.rsplit(f"<{tag}>", 1)[1].split(f"</{tag}>")[0]
        assert not re.search(r"^\s|\s//|/\*", text.strip(), re.MULTILINE)


def test_its_size_does_not_grow_with_the_tensor() -> None:
    sizes = [len(build([laid(BLOCKED, f"tensor<{n}x{n}xf16>")])) for n in (16, 4096)]
    assert sizes[1] - sizes[0] < 1000


def test_a_hostile_text_stays_text() -> None:
    plain = build([laid(BLOCKED, "tensor<16x16xf16>")])
    type_ = parse_type("tensor<16x16xf16>")._replace(span=Source(HOSTILE).span(0, len(HOSTILE)))
    layout = PageLayout(place(Hostile(**vars(parse_layout(BLOCKED))), type_), name=HOSTILE)
    text = build([layout], title=HOSTILE, dump=EmbeddedDump(HOSTILE, HOSTILE))
    assert [tag for tag, _ in Elements(text).found] == [tag for tag, _ in Elements(plain).found]
    data = embedded(text)
    assert data["dump"] == {
        "name": HOSTILE,
        "text": HOSTILE,
        "modules": [],
        "passes": [],
        "programs": {},
        "line": None,
        "assembly": None,
    }
    [own] = data["layouts"]
    assert (own["name"], own["attribute"], own["type"]) == (HOSTILE, HOSTILE, HOSTILE.strip())


def test_the_scripts_give_no_name_twice() -> None:
    """All are one function's body, where a second function of a name would hide the first."""
    declaration = re.compile(r"^(?:async )?(?:function\*?|class|const|let) +(\w+)", re.MULTILINE)
    folder = Path(sys.modules["tt_layout.page"].__file__ or "").parent
    texts = [(folder / name).read_text(encoding="utf-8") for name in SCRIPTS]
    names = [name for text in texts for name in declaration.findall(text)]
    assert len(names) > 300
    assert sorted(names) == sorted(set(names))


def test_no_script_has_a_variable_that_all_can_change() -> None:
    """What changes is in ``state``, which the address keeps, and in ``page`` beside it."""
    folder = Path(sys.modules["tt_layout.page"].__file__ or "").parent
    for name in SCRIPTS:
        text = (folder / name).read_text(encoding="utf-8")
        assert re.findall(r"^(?:let|var) .*", text, re.MULTILINE) == [], name


def test_no_script_silences_the_compiler_that_checks_its_types() -> None:
    folder = Path(sys.modules["tt_layout.page"].__file__ or "").parent
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.js")]
    assert not [text for text in texts if re.search(r"@ts-(ignore|expect-error|nocheck)", text)]


def test_no_script_can_end_its_element() -> None:
    folder = Path(sys.modules["tt_layout.page"].__file__ or "").parent
    assert sorted(path.name for path in folder.glob("*.js")) == sorted(SCRIPTS)
    for name in SCRIPTS:
        text = (folder / name).read_text(encoding="utf-8")
        assert "</script" not in text
        assert "<!--" not in text
        assert "innerHTML" not in text
        assert text.startswith("// ")


def test_the_playground_has_no_layout_but_examples() -> None:
    data = embedded(playground())
    assert data["layouts"] == []
    assert [one["name"] for one in data["playground"]["examples"]] == [e.name for e in EXAMPLES]


def test_the_page_knows_every_class_of_gluon_and_how_older_parameters_are_read() -> None:
    data = embedded(build([laid(BLOCKED, "tensor<16x16xf16>")]))["gluon"]
    assert data.keys() == {own_name(one.name) for _, one in CONSTRUCTORS}
    [mma] = data["NVMMADistributedLayout"]
    assert mma["keys"][:3] == [
        ["versionMajor", "version", 0, True],
        ["versionMinor", "version", 1, True],
        ["warpsPerCTA", "warps_per_cta", -1, True],
    ]
    gluon = Path(sys.modules["tt_layout.page"].__file__ or "").parent / "gluon.js"
    script = gluon.read_text(encoding="utf-8")
    signatures = [one for own in data.values() for entry in own for one in entry["signatures"]]
    updates = {one["update"] for one in signatures} - {""}
    assert len(updates) == 7
    assert [name for name in updates if f"\n  {name}: " not in script] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_an_example_is_read(example: Example) -> None:
    context = Context(shape=parse_type(example.type).shape, element_bits=32)
    for text in filter(None, (example.layout, example.other)):
        read_layout(text, context).to_linear_layout(parse_type(example.type).shape)


def test_what_no_browser_can_show_is_refused() -> None:
    with pytest.raises(LayoutError, match="at least one layout; tt-layout page"):
        build([])
    one = (
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>"
    )
    with pytest.raises(LayoutError, match=r"up to 2\^53, got dim0 18014398509481984"):
        laid(one, f"tensor<{1 << 54}xf16>")
    with pytest.raises(LayoutError, match="2 dimensions"):
        laid(BLOCKED, "tensor<16xf16>")


def test_the_page_knows_every_form_of_every_encoding() -> None:
    data = embedded(build([laid(BLOCKED, "tensor<64x64xf32>")]))
    assert data["releases"] == [str(release) for release in Release]
    forms = {
        (form["name"], form["since"]): [data["keys"][place] for place in form["keys"]]
        for encoding in data["encodings"]
        for form in encoding["forms"]
    }
    known = {(form.name, str(form.since)) for own in FORMS.values() for form, _ in own}
    assert set(forms) == known
    assert forms["ttg.amd_mfma", "3.4"][0] == ["versionMajor", "integer", "version"]
    assert forms["ttg.amd_mfma", "3.6"][0] == ["version", "integer", "version"]
    assert forms["ttg.blocked", "3.6"][-1] == ["CGALayout", "bases", "CGALayout", []]


def test_what_is_left_out_of_scripts_is_in_no_text() -> None:
    """Spaces and signs go everywhere: no text in quotation marks may have such a place."""
    pattern = r"(?:(?<=[=,:?] )|(?<=\())/(?:\\.|[^/\\\n])+/"
    template, quoted = r"`(?:\\.|[^`\\])*`", r"(\"(?:\\.|[^\"\\\n])*\")"
    for name in SCRIPTS:
        script = re.sub(_COMMENTS, "", template_text(name))
        texts = re.findall("|".join([pattern, template, quoted]), script)
        places = f"{_SPACED.pattern}|{_PARAMETERS.pattern}"
        assert [text for text in texts if re.search(places, text)] == []


def test_regular_expressions_of_the_scripts_are_left_as_they_are() -> None:
    text = playground()
    sources = (Path(tt_layout.page.__file__).parent / name for name in SCRIPTS)
    found = [one for path in sources for one in re.findall(r"/\^\S+\$/", path.read_text("utf-8"))]
    assert len(found) > 10
    assert [one for one in found if one not in text] == []
