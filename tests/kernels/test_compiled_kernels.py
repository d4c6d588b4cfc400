"""What a compiled kernel says of itself goes before what its dump lets expect."""

from __future__ import annotations

import json
import shlex
import shutil
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Run, runner

import tt_layout
from tt_layout.dumps.cache import ResultCache
from tt_layout.dumps.dump import AS_IT_IS
from tt_layout.kernels import binaries
from tt_layout.kernels.binaries import CompiledRegisters, assembly_registers, cubin_registers
from tt_layout.kernels.metadata import NO_METADATA, given_metadata, metadata_beside

MATMUL = Path(__file__).parents[2] / "examples" / "kernels" / "matmul-sm90.ttgir"
INFO_NAME, NAMES_NAME = b".nv.info\0", b".shstrtab\0"


WITH_A_FIX = MATMUL.parents[1] / "workloads" / "int8_matmul-gfx942.ttgir"


@pytest.fixture(name="run")
def fixture_run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture(name="dump")
def fixture_dump(tmp_path: Path) -> Path:
    """Return a dump in a folder of its own."""
    return Path(shutil.copy(MATMUL, tmp_path / "matmul.ttgir"))


def cubin(registers: int, stack: int) -> bytes:
    """Return a file with the sections of a cubin that registers stand in."""
    records = struct.pack("<BBHII", 4, 0x2F, 8, 9, registers)
    records += struct.pack("<BBH", 3, 0x1B, 255)  # of another kind, with two bytes
    records += struct.pack("<BBHII", 4, 0x11, 8, 9, stack)
    names = b"\0" + INFO_NAME + NAMES_NAME
    begin = 64
    sections = [(0, 0, 0), (1, begin, len(records)), (10, begin + len(records), len(names))]
    headers = b"".join(
        struct.pack("<IIQQQQIIQQ", n, 1, 0, 0, at, size, *[0] * 4) for n, at, size in sections
    )
    head = b"\x7fELF\x02\x01".ljust(0x28, b"\0") + struct.pack("<Q", begin + len(records + names))
    head = head.ljust(0x3A, b"\0") + struct.pack("<HHH", 64, len(sections), 2)
    return head + records + names + headers


def summary(path: Path | SimpleNamespace) -> dict[str, object]:
    """Return what the report says of a kernel."""
    found: dict[str, object] = tt_layout.audit_ir(path).data()["modules"][0]["summary"][0]
    return found


def test_a_cubin_has_the_registers_and_the_stack_of_its_function() -> None:
    assert cubin_registers(cubin(168, 0)) == CompiledRegisters(168, 0)
    assert cubin_registers(cubin(255, 480)) == CompiledRegisters(255, 120)


def test_as_many_bytes_of_records_are_read_as_a_cubin_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = cubin(255, 480)
    size = data.index(INFO_NAME) - 1 - 64  # the records stand between the head and the names
    monkeypatch.setattr(binaries, "MAX_INFO", size)
    assert cubin_registers(data) == CompiledRegisters(255, 120)
    monkeypatch.setattr(binaries, "MAX_INFO", size - 1)
    assert cubin_registers(data) is None


def test_what_is_no_cubin_or_cut_off_says_nothing() -> None:
    whole = cubin(255, 480)
    assert cubin_registers(b"") is None
    assert cubin_registers(b"\x7fELF\x01\x01" + whole[6:]) is None
    assert all(cubin_registers(whole[:size]) is None for size in range(0, len(whole) - 64, 7))


def test_the_assembly_of_amd_states_registers() -> None:
    text = "  - .agpr_count:     0\n    .vgpr_count:     140\n    .vgpr_spill_count: 0\n"
    assert assembly_registers(text) == CompiledRegisters(140, 0)
    assert assembly_registers("; no metadata") is None


def test_the_cubin_beside_a_dump_goes_before_the_estimate(dump: Path, run: Run) -> None:
    estimate = summary(dump)
    assert (estimate["registers_source"], estimate["spills"]) == (None, "unlikely")
    dump.with_suffix(".cubin").write_bytes(cubin(255, 480))
    found = summary(dump)
    assert found["registers_per_thread"] == 255
    assert (found["registers_source"], found["spilled"]) == ("matmul.cubin", 120)
    assert (found["spills"], found["registers_line"]) == ("yes", estimate["registers_line"])
    assert found["findings"] == {"registers": 1, **estimate["findings"]}  # type: ignore[dict-item]
    occupancy = found["occupancy"]
    assert isinstance(occupancy, dict)
    assert (occupancy["ctas"], occupancy["limited_by"]) == (2, ["registers"])
    lines = run("audit", str(dump)).out.splitlines()
    line = found["registers_line"]
    assert lines[1] == (
        "@matmul, sm90 (H200), 4 warps: spills 120 registers beside 255 of 255, "
        f"most live at line {line} (compiled: matmul.cubin)"
    )
    assert any(
        "255 of 255 registers per thread, 120 spilled (compiled: matmul.cubin)" in x for x in lines
    )


def test_the_page_has_the_compiled_registers(dump: Path, run: Run) -> None:
    dump.with_suffix(".cubin").write_bytes(cubin(255, 480))
    text = "120 spilled (compiled: matmul.cubin)"
    assert text in tt_layout.explore_ir(dump).html
    assert text in run("page", str(dump)).out


def test_a_compiled_kernel_that_does_not_spill_is_no_finding(dump: Path) -> None:
    few = "attributes {ttg.maxnreg = 32 : i32, "
    dump.write_text(MATMUL.read_text(encoding="utf-8").replace("attributes {", few, 1))
    assert summary(dump)["spills"] == "likely"
    dump.with_suffix(".cubin").write_bytes(cubin(32, 0))
    found = summary(dump)
    assert (found["spills"], found["registers_per_thread"]) == ("no", 32)
    assert "registers" not in found["findings"]  # type: ignore[operator]


def test_the_metadata_beside_a_dump_is_taken(dump: Path) -> None:
    values = {"name": "matmul", "num_warps": 12, "shared": 90112, "maxnreg": 160, "tmem_size": 0}
    dump.with_suffix(".json").write_text(json.dumps(values), encoding="utf-8")
    known = metadata_beside(str(dump))
    assert known[:5] == ("matmul", 12, 90112, 160, 0)
    found = summary(dump)
    assert (found["shared_bytes"], found["registers_limit"]) == (90112, 160)
    occupancy = found["occupancy"]
    assert isinstance(occupancy, dict)
    assert (occupancy["ctas"], occupancy["warps"]) == (1, 12)


@pytest.mark.parametrize("is_beside", [True, False], ids=["beside", "given"])
def test_a_fix_has_the_number_of_the_audit_that_knows_the_compiled_kernel(
    is_beside: bool, tmp_path: Path, run: Run
) -> None:
    """Spills are its first finding: the command of a fix named the one that comes after."""
    transpose = Path(shutil.copy(WITH_A_FIX, tmp_path / "kernel.ttgir"))
    file = tmp_path / ("kernel.amdgcn" if is_beside else "other.amdgcn")
    estimated = command_of(run("audit", str(transpose), "--all").out)
    file.write_text("    .vgpr_count:     140\n    .vgpr_spill_count: 40\n")
    more = [] if is_beside else ["--compiled", str(file)]
    audit = run("audit", str(transpose), "--all", *more).out
    command = command_of(audit)
    assert "spills 40 registers" in audit
    assert command != estimated
    outcome = run(*shlex.split(command)[1:-2])
    number = command.split("--finding ")[1].split()[0]
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(f"finding {number}, ")


def command_of(report: str) -> str:
    """Return the first command that applies a fix."""
    return " ".join(report.split("run: ")[1].split("new.ttgir")[0].split()) + " new.ttgir"


def test_a_compiled_kernel_is_given(dump: Path, run: Run) -> None:
    file = dump.with_name("other.cubin")
    file.write_bytes(cubin(96, 0))
    text = run("audit", str(dump), "--compiled", str(file)).out
    assert "96 of 255 registers per thread, none spilled (compiled: other.cubin)" in text
    outcome = run("audit", str(dump), "--compiled", str(dump))
    assert outcome.status == 2
    assert "expected the .cubin, .amdgcn or .json of a compiled kernel" in outcome.err
    file.write_bytes(b"")
    assert run("audit", str(dump), "--compiled", str(file)).status == 2
    assert run("audit", str(dump), str(dump), "--compiled", str(file)).status == 2
    assert run("audit", str(dump), "--compiled", str(dump.with_name("no.cubin"))).status == 2


def test_a_loaded_kernel_has_its_own_numbers() -> None:
    metadata = SimpleNamespace(name="matmul", num_warps=4, shared=36864, maxnreg=None)
    asm = {"ttgir": MATMUL.read_text(encoding="utf-8"), "cubin": cubin(168, 0)}
    kernel = SimpleNamespace(name="matmul", metadata=metadata, asm=asm)
    assert summary(kernel)["registers_source"] == "its cubin"
    kernel.n_regs, kernel.n_spills = 200, 8
    found = summary(kernel)
    assert (found["registers_per_thread"], found["spilled"]) == (200, 8)
    assert found["registers_source"] == "the loaded kernel"


def test_the_estimate_stays_where_a_module_has_several_kernels(tmp_path: Path) -> None:
    text = MATMUL.read_text(encoding="utf-8")
    start, end = text.index("  tt.func public @matmul"), text.rindex("}")
    path = tmp_path / "two.ttgir"
    second = text[start:end].replace("@matmul", "@second")
    path.write_text(text[:end] + second + text[end:], encoding="utf-8")
    path.with_suffix(".cubin").write_bytes(cubin(255, 480))
    assert summary(path)["registers_source"] is None


def test_kept_results_know_the_compiled_kernel(dump: Path, tmp_path: Path) -> None:
    cache = ResultCache(str(tmp_path / "kept"), AS_IT_IS)
    before = cache.key(str(dump))
    dump.with_suffix(".cubin").write_bytes(cubin(255, 480))
    assert cache.key(str(dump)) != before


def test_nothing_is_known_of_what_is_not_there(tmp_path: Path) -> None:
    assert metadata_beside(str(tmp_path / "kernel.ttgir")) == NO_METADATA
    (tmp_path / "kernel.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(tt_layout.LayoutError, match="no data of a compiled kernel"):
        given_metadata(str(tmp_path / "kernel.json"))
