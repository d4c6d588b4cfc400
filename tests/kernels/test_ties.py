"""Operations of a dump tied to the PTX or AMDGCN that they became: in values, JSON and the page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tt_layout
from tt_layout.audit.audit import audit_module
from tt_layout.audit.ties import ties_of
from tt_layout.ir import parse_ir
from tt_layout.kernels import assembly
from tt_layout.kernels.assembly import AssemblyText, assembly_beside, read_assembly
from tt_layout.kernels.binaries import CompiledRegisters
from tt_layout.kernels.metadata import metadata_beside
from tt_layout.mlir.source import Source
from tt_layout.page.dump import page_of_dump
from tt_layout.reports.audit_data import audit_data

DUMP = """\
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], \
order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], \
order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%y: !ttg.memdesc<32x32xf32, #s, #smem>) {
    %z = ttg.local_load %y : !ttg.memdesc<32x32xf32, #s, #smem> -> tensor<32x32xf32, #b> \
loc("/home/k.py":3:5)
    %c = ttg.convert_layout %z : tensor<32x32xf32, #b> -> tensor<32x32xf32, #a> \
loc("/home/k.py":4:7)
    tt.return
  }
}
"""
LOAD, CONVERSION = 6, 7
PTX = """\
.visible .entry f(
)
{
	.loc	1 3 5                           // k.py:3:5
	@%p1 ld.shared.b32 	%r1, [%r2];
	ld.shared.b32 	%r3, [%r2+4];
	mov.u32 	%r9, %r3;
	.loc	1 4 7
	// begin inline asm
	st.shared.b32 	[%r5], %r1;
	bar.sync 	0;
	.loc	1 3 5
	ld.shared.b32 	%r4, [%r2+8];
	.loc	1 0 0
	st.local.b32 	[%rd1], %r4;
	ret;
}
	.file	1 "/home/me" "k.py"
	.section	.debug_str
	{
$L__info: .b8 77
	}
"""
AMDGCN = """\
	.file	1 "/home/me/k.py"
	.loc	1 3 5 prologue_end              ; k.py:3:5
	ds_read_b32 v1, v2
	ds_read2st64_b32 v[4:5], v2
	buffer_store_dword v1, off, s[0:3], 0 ; 4-byte Folded Spill
	.loc	1 4 7 is_stmt 0
	ds_bpermute_b32 v3, v4, v1
	s_endpgm
	v_mov_b32 v1, v2
"""


def folder(where: Path, text: str | bytes = PTX, ending: str = ".ptx") -> Path:
    """Write a dump and its assembly into a folder; return the dump."""
    (where / f"k{ending}").write_bytes(text if isinstance(text, bytes) else text.encode())
    (where / "k.ttgir").write_text(DUMP)
    return where / "k.ttgir"


def page_data(path: Path) -> dict[str, Any]:
    """Return what the page of a dump embeds of it."""
    known = metadata_beside(str(path))
    source = Source(path.read_text(), str(path))
    return vars(page_of_dump(source, [], known=known).dump)


def test_pieces_are_the_lines_of_a_place() -> None:
    read = read_assembly(PTX, "k.ptx")
    places = [(piece.first, piece.last, piece.place.line) for piece in read.pieces]
    assert places == [(5, 7, 3), (10, 11, 4), (13, 13, 3)]
    assert read.spills == (15,)
    assert "debug_str" not in read.text
    assert read_assembly("", "k.ptx").pieces == ()
    read = read_assembly(AMDGCN, "k.amdgcn")
    assert [(piece.first, piece.last) for piece in read.pieces] == [(3, 5), (7, 8)]
    assert read.spills == (5,)


@pytest.mark.parametrize(
    ("text", "ending", "load", "conversion"),
    [
        (PTX, ".ptx", {"ld.shared.b32": [5, 6, 13]}, {"st.shared.b32": [10]}),
        (
            AMDGCN,
            ".amdgcn",
            {"ds_read_b32": [3], "ds_read2st64_b32": [4]},
            {"ds_bpermute_b32": [7]},
        ),
    ],
)
def test_json_has_the_ties(
    text: str, ending: str, load: Any, conversion: Any, tmp_path: Path
) -> None:
    report = tt_layout.audit_ir(folder(tmp_path, text, ending))
    data = json.loads(json.dumps(audit_data(report.audits[0])))
    assert data["assembly"]["name"] == f"k{ending}"
    assert len(data["assembly"]["spills"]) == 1
    [first, *_] = data["assembly"]["ties"]
    assert first["dump_lines"] == [LOAD]
    assert first["location"] == {"file": "k.py", "line": 3, "column": 5}
    became = {row["line"]: row["instructions"] for row in data["data_movements"]}
    assert became == {LOAD: load, CONVERSION: conversion}


def test_json_without_assembly_has_none() -> None:
    [audit] = tt_layout.audit_ir(DUMP).audits
    data = audit_data(audit)
    assert data["assembly"] is None
    assert {row["instructions"] for row in data["data_movements"]} == {None}


def test_the_page_has_the_assembly_only_where_it_is_at_hand(tmp_path: Path) -> None:
    dump = page_data(folder(tmp_path))
    [module], found = dump["modules"], dump["assembly"]
    assert found["places"][module["tied"][LOAD]] == ["k.py", 3, 5]
    assert [5, 7, module["tied"][LOAD]] in found["pieces"]
    became = {row["line"]: row["became"] for row in module["movements"]}
    assert became[CONVERSION] == [["st.shared.b32", 1, 10]]
    (tmp_path / "k.ptx").unlink()
    assert page_data(tmp_path / "k.ttgir")["assembly"] is None


def test_assembly_of_a_compiled_kernel_is_at_hand() -> None:
    kernel = SimpleNamespace(asm={"ttgir": DUMP, "ptx": PTX}, metadata={"name": "f"})
    [audit] = tt_layout.audit_ir(kernel).audits
    ties = ties_of(audit)
    assert ties is not None
    assert ties.assembly.name == "kernel.ptx"
    assert ties.instructions(CONVERSION, "conversion") == [("st.shared.b32", [10])]


def test_an_operation_without_a_place_is_tied_by_its_text(tmp_path: Path) -> None:
    """The compiler takes the dump that it reads for the program."""
    column = DUMP.splitlines()[CONVERSION - 1].index("ttg.convert") + 1
    own = PTX.replace('"/home/me" "k.py"', '"k.ttgir"').replace(
        ".loc\t1 4 7", f".loc\t1 {CONVERSION} {column}"
    )
    path = folder(tmp_path, own)
    path.write_text(DUMP.replace(' loc("/home/k.py":4:7)', ""))
    [audit] = tt_layout.audit_ir(path).audits
    ties = ties_of(audit)
    assert ties is not None
    assert ties.instructions(CONVERSION, "conversion") == [("st.shared.b32", [10])]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        b"\0\xff\xfe" * 100,
        b'.file 1 "' * 2000 + b"\n",
        b".loc 1 3 5\n" * 5000,
        b'.file 1 "/etc/passwd"\n.loc 1 1 1\nmov.u32 %r1, %r2;\n',
        b"</script><script>alert(1)</script>\n",
        b"\n" * 300_000,
    ],
    ids=["bytes", "open", "places", "other", "script", "lines"],
)
def test_hostile_assembly_is_read_as_text(text: bytes, tmp_path: Path) -> None:
    path = folder(tmp_path, text)
    known = metadata_beside(str(path))
    page = page_of_dump(Source(path.read_text(), str(path)), [], known=known)
    assert page.dump.assembly is not None
    assert "<script>alert" not in page.html
    assert "root:" not in page.html
    json.dumps(audit_data(tt_layout.audit_ir(path).audits[0]))


def test_assembly_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder(tmp_path)
    monkeypatch.setattr(assembly, "MAX_BYTES", 100)
    dump = page_data(path)
    assert dump["assembly"] is None
    [module] = dump["modules"]
    assert module["summary"][-1].startswith("k.ptx cannot be read, or is more than")
    (tmp_path / "k.ptx").unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "k.ptx")
        assert assembly_beside(str(path)) is None  # it would wait for a writer


def test_a_spill_that_ptx_does_not_show_is_said(tmp_path: Path) -> None:
    [module] = parse_ir(DUMP)
    known = metadata_beside(str(folder(tmp_path, PTX.replace("st.local.b32", "mov.b32"))))
    known = known._replace(registers=CompiledRegisters(255, 21, "k.cubin"))
    audit = audit_module(module, known=known)
    assert isinstance(audit.known.assembly, AssemblyText)
    dump = page_of_dump(Source(DUMP, "k.ttgir"), [], known=known).dump
    assert dump.assembly is not None
    assert dump.assembly["about"] == (
        "21 registers spilled; PTX does not show where: ptxas chooses it"
    )
