"""What a dump knows is not asked for: ``FILE:ALIAS`` without a type, and ``FILE:LINE``."""

# ruff: noqa: E501 - lines of dumps are long

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capfdbinary, monkeypatch)


def data(run: Run, *arguments: str) -> dict[str, Any]:
    outcome = run(*arguments, "--format", "json")
    assert outcome.status == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_an_alias_brings_its_type_and_its_target(run: Run) -> None:
    outcome = run("info", "matmul-sm90.ttgir:mma")
    assert outcome.out == run("info", "matmul-sm90.ttgir:mma", "-t", "tensor<128x64xf32>").out
    assert outcome.err == (
        "note: the type is tensor<128x64xf32>; -t takes another: tensor<128x64xf16>\n"
    )
    pair = ["matmul-sm80.ttgir:blocked", "matmul-sm80.ttgir:shared"]
    assert data(run, "conflicts", *pair)["target"] == "sm80"
    assert data(run, "conflicts", *pair, "--target", "sm100")["target"] == "sm100"
    assert run("where", "matmul-sm90.ttgir@last:mma", "--element", "3,5").status == 0
    both = ["matmul-sm90.ttgir:mma", "matmul-sm90.ttgir:blocked1"]
    found = run("convert", *both)
    assert found.out == run("convert", *both, "-t", "tensor<128x64xf16>", "--target", "sm90").out


def test_of_integers_the_largest_type_is_taken(run: Run) -> None:
    """Not the offsets and pointers, which stand on the same layouts more often."""
    dump = "../workloads/int8_matmul-gfx942.ttgir"
    assert "the type is tensor<64x64xi32>;" in run("convert", f"{dump}:blocked", f"{dump}:mma").err


@pytest.mark.slow
def test_a_line_is_its_data_movement(run: Run) -> None:
    [module] = data(run, "audit", "attention-gfx942.ttgir")["modules"]
    move = next(one for one in module["data_movements"] if one["line"] == 153)
    found = data(run, "conflicts", "attention-gfx942.ttgir:153")
    assert (found["target"], list(found)[3:]) == ("gfx942", ["store"])
    for key in ("instruction", "instructions", "wavefronts_per_instruction"):
        assert found["store"][key] == move["cost"][key]
    best = data(run, "swizzle", "attention-gfx942.ttgir:153", "--family", "padded")
    assert best["optimum"]["extra_wavefronts"] == 0
    [module] = data(run, "audit", "matmul-sm90.ttgir")["modules"]
    [line] = [m["line"] for m in module["data_movements"] if m["group"] == "conversion"]
    assert data(run, "convert", f"matmul-sm90.ttgir:{line}")["kind"] == "shared memory"
    assert run("diff", f"matmul-sm90.ttgir:{line}").status == 1
    assert run("info", f"matmul-sm90.ttgir:{line}").out.startswith("#ttg.blocked<")


def test_an_access_to_global_memory_has_one_layout(run: Run) -> None:
    dump = "attention-gfx1250.ttgir"
    found = run("info", f"{dump}:58")
    assert found.status == 0
    assert found.out == run("info", f"{dump}:blocked1", "-t", "tensor<64x64xf16>").out


@pytest.mark.slow
def test_a_line_is_drawn_as_its_multiplication(run: Run, tmp_path: Path) -> None:
    dot = ["plot", "-i", "matmul-sm80.ttgir", "--line", "125", "--view", "mma", "-o"]
    for ending in ("svg", "html"):
        short, long = tmp_path / f"short.{ending}", tmp_path / f"long.{ending}"
        assert run("plot", "matmul-sm80.ttgir:125", "-o", str(short)) == run(*dot, str(long))
        assert short.read_bytes() == long.read_bytes()
    outcome = run("plot", "matmul-sm80.ttgir:126", "-o", str(short))
    assert (outcome.status, outcome.out) == (2, "")
    assert "there is no data movement on this line" in outcome.err


def test_a_line_is_drawn(run: Run, tmp_path: Path) -> None:
    figure = tmp_path / "banks.svg"
    assert run("plot", "attention-gfx942.ttgir:153", "-o", str(figure)).status == 0
    assert "bank" in figure.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "matmul-sm90.ttgir:1"], "there is no data movement on this line; the nearest"),
        (["convert", "matmul-sm90.ttgir:62"], "has one layout, and convert takes two"),
        (["conflicts", "matmul-sm80.ttgir:97"], "the access is to a part of a buffer"),
        (["info", "matmul-sm90.ttgir:nothing"], "there is no alias #nothing"),
        (["info", "#ttg.blocked<{}>"], "-t"),
        (["convert", "matmul-sm90.ttgir@7:123"], "there is no module 7"),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str, run: Run) -> None:
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err


def test_a_dump_without_data_movements_has_none_to_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ttgir"
    path.write_text("module {\n}\n")
    outcome = run("convert", f"{path}:2")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.endswith(": there is no data movement on this line\n")


COLUMNS = "../narrow/column_major.ttgir"


def drawn(run: Run, path: Path, *arguments: str) -> str:
    """Return the words of a figure."""
    outcome = run("plot", *arguments, "-o", str(path))
    assert (outcome.status, outcome.err) == (0, "")
    return " ".join(re.sub("<[^>]*>", " ", path.read_text(encoding="utf-8")).split())


UNKNOWN_GPU = """\
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx000"} {
  tt.func public @f(%m: !ttg.memdesc<32x32xf32, #s, #ttg.shared_memory>) {
    %v = ttg.local_load %m : !ttg.memdesc<32x32xf32, #s, #ttg.shared_memory> -> tensor<32x32xf32, #a>
    tt.return
  }
}
"""


def test_an_access_on_an_unknown_gpu_is_not_drawn_as_that_of_another(
    run: Run, tmp_path: Path
) -> None:
    """The layout alone is."""
    path = tmp_path / "a.ttgir"
    path.write_text(UNKNOWN_GPU)
    outcome = run("plot", f"{path}:5", "-o", str(tmp_path / "access.svg"))
    assert outcome.status == 2
    assert "unknown target 'hip:gfx000'" in outcome.err
    assert run("plot", f"{path}:s", "-o", str(tmp_path / "layout.html")).status == 0


@pytest.mark.parametrize("stride", [0, 16, 64, 8192])
def test_an_access_is_drawn_with_its_addresses(stride: int, run: Run, tmp_path: Path) -> None:
    """A lane's 2 bytes are in row lane // 4 and column 8 * (lane % 4), a stride of elements on."""
    value = ["--value", f"stride={stride}"]
    text = drawn(run, tmp_path / "x.svg", f"{COLUMNS}:18", "--view", "sectors", *value)
    bytes_ = {2 * (lane // 4 + 8 * (lane % 4) * stride) for lane in range(32)}
    sectors = {byte // 32 for byte in bytes_}
    part = 100 * 2 * len(bytes_) / (32 * len(sectors))
    assert "tt.load, line 18" in text
    assert f"{len(sectors)} sector" in text
    assert f"{32 * len(sectors)} bytes moved, {part:.0f} % of them asked for" in text
    assert "no addresses" not in text


def test_what_is_assumed_of_addresses_is_said(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    for arguments in (
        [f"{COLUMNS}:18", "--view", "sectors"],
        ["-i", COLUMNS, "--line", "18", "--view", "sectors"],
    ):
        text = drawn(run, path, *arguments)
        assert "no addresses are known; the tensor is drawn in memory without gaps" in text
        assert "tt-layout audit names the --value that its addresses need" in text
    outcome = run("plot", "-i", COLUMNS, "--view", "sectors", "-o", str(path))
    assert "--line must say which access" in outcome.err
    wrong = ["--view", "sectors", "--value", "strode=3", "-o", str(path)]
    outcome = run("plot", f"{COLUMNS}:18", *wrong)
    assert (outcome.status, "strode" in outcome.err) == (2, True)
    buffer = ["attention-gfx942.ttgir:153", "--view", "sectors", "-o", str(path)]
    assert "does not access global memory" in run("plot", *buffer).err
