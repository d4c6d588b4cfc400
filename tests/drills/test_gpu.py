"""A new chip: a row of the table; help, page, figure and costs follow.  A product: one more."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

NVIDIA = '    _nvidia("sm125", "NVIDIA Blackwell of workstations", "ldmatrix"),\n'
AMD = """\
    replace(
        _RDNA4,
        name="gfx1350",
        title="AMD of a drill",
        chips=("gfx135",),
        banks=64,
        load_phases=phases(32, 64),
        store_phases=phases(32, 64),
        conversion_lanes=_QUADS_OVER_64_BANKS,
        load_evidence=Evidence.ASSUMED,
        source="a drill",
    ),
"""
LAST_ROW = ')\n"""A row each, oldest first.'
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
COLUMNS = (
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
TYPE = ("-t", "tensor<64x64xf32>")


@pytest.mark.parametrize(
    ("name", "vendor", "row", "banks"),
    [("sm125", "nvidia", NVIDIA, 32), ("gfx1350", "amd", AMD, 64)],
    ids=["NVIDIA", "AMD"],
)
def test_all_that_names_a_gpu_follows(
    clone: Clone, name: str, vendor: str, row: str, banks: int
) -> None:
    clone.insert(f"tt_layout/hardware/{vendor}.py", LAST_ROW, row)
    assert len(clone.touched) == 1
    target = ("--target", name)
    for command in ("conflicts", "swizzle", "convert"):
        told = re.sub(r"\s+", " ", clone.prints(command, "--help"))
        assert name in told
    assert f"target: {name}" in clone.prints("conflicts", COLUMNS, SHARED, *TYPE, *target)
    assert "ttg.swizzled_shared" in clone.prints("swizzle", ROWS, COLUMNS, *TYPE, *target)
    scratch = clone.prints("convert", ROWS, COLUMNS, *TYPE, *target)
    assert re.search(rf"bytes of scratch per CTA on {name}\b", scratch)
    check_figure(clone, target, banks)
    check_page(clone, name, banks)
    check_dump(clone, name)


def check_figure(clone: Clone, target: tuple[str, str], banks: int) -> None:
    """The banks that are drawn are those of the row."""
    clone.prints("plot", ROWS, SHARED, *TYPE, *target, "-o", "banks.svg")
    texts = [
        text.strip() for text in ElementTree.parse(clone.root / "banks.svg").getroot().itertext()
    ]
    header = [text for text in texts if text.isdecimal() or text == "bank"]
    assert header[: banks + 1] == [*map(str, range(banks)), "bank"]


def check_page(clone: Clone, name: str, banks: int) -> None:
    """The page gets the row as data, and names no GPU itself."""
    clone.prints("plot", ROWS, *TYPE, "-o", "page.html")
    text = (clone.root / "page.html").read_text(encoding="utf-8")
    [data] = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)
    targets = {target["name"]: target for target in json.loads(data)["targets"]}
    own = targets[targets[name].get("like", name)]
    assert {phase["banks"] for phase in own["loadPhases"].values()} == {banks}
    assert text.count(name) == 1 or name.startswith("sm")


def check_dump(clone: Clone, name: str) -> None:
    """The compiler's name of the GPU leads to the row."""
    arch = f"cuda:{name[2:]}" if name.startswith("sm") else f"hip:{name}"
    (clone.root / "dump.mlir").write_text(
        f"#rows = {ROWS}\n#shared = {SHARED}\n"
        f'module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "{arch}", '
        '"ttg.threads-per-warp" = 32 : i32} {\n'
        "  tt.func @f(%x: tensor<64x64xf32, #rows>) {\n"
        "    %0 = ttg.local_alloc %x : (tensor<64x64xf32, #rows>) -> "
        "!ttg.memdesc<64x64xf32, #shared, #ttg.shared_memory>\n"
        "    tt.return\n  }\n}\n"
    )
    text = clone.prints("audit", "--tables", "dump.mlir")
    assert re.search(r"\d (wavefronts|cycles) each", text)
    assert f"@f, {name}, 4 warps: " in text
    assert f"bounds not known for {name}\n" in text


def test_a_product_is_added_in_one_place(clone: Clone) -> None:
    """Its row names it; bounds, features, help and reports follow."""
    product = 'replace(H100, name="H100 PCIe", multiprocessors=114, source="a drill"), '
    clone.insert("tt_layout/hardware/nvidia.py", "H100),\n        knobs=_HOPPER_KNOBS", product)
    assert len(clone.touched) == 1
    dump, choice = "examples/kernels/matmul-sm90.ttgir", ("--gpu", "h100-pcie")
    assert "@matmul, sm90 (H200), 4 warps: " in clone.prints("audit", dump)
    assert "@matmul, sm90 (H100 PCIe), 4 warps: " in clone.prints("audit", dump, *choice)
    data = json.loads(clone.prints("audit", dump, *choice, "--format", "json"))
    assert data["modules"][0]["summary"][0]["bounds"]["rates_of"] == "H100 PCIe"
    assert "target: sm90" in clone.prints(
        "conflicts", COLUMNS, SHARED, *TYPE, "--target", "H100 PCIe"
    )
    assert "choose from a100-80gb, a100-40gb, h200, h100-pcie, h100" in clone.refuses(
        "audit", dump, "--gpu", "h300"
    )


def test_its_tests_pass(clone: Clone) -> None:
    clone.insert("tt_layout/hardware/nvidia.py", LAST_ROW, NVIDIA)
    clone.insert("tt_layout/hardware/amd.py", LAST_ROW, AMD)
    clone.passes(
        "tests/analyses/test_banks.py",
        "tests/page/test_page.py",
        "tests/analyses/test_conversion.py",
        "tt_layout/hardware",
    )
