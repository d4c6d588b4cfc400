"""AMD's GPUs, oldest first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.target import (
    KIB,
    Evidence,
    Phase,
    PhaseTable,
    Target,
    TransposingRead,
    phases,
)

USUAL = "gfx942"
ALIASES = {"amd": USUAL, "gfx9": "gfx942", "rdna": "gfx11"}

_ROCM = "ROCm documentation, Composable Kernel, Understanding AMD GPU LDS and Bank Conflicts"
_MEASURED = "loads measured by nod-ai/amd-shark-ai, docs/empirical-lds"
_GUIDE = "stores: the same, docs/amdgpu_kernel_optimization_guide.md"
_ASSUMED = "assumed: 32 banks, and phases of as many lanes as fill them"

_PAIRS_OF_QUADS = ((0, 1, 4),)
_QUADS_OVER_64_BANKS = ((0, 1, 3, 4), (0, 1, 2, 4))


def _generation(chip: str) -> tuple[int, ...] | None:
    """Return the generation in the name of a GPU, such as ``gfx942``, and what is behind it.

    Example:
        >>> _generation("gfx942") == (9, 0x42), _generation("gfx1250") == (12, 0x50)
        (True, True)
    """
    match = re.fullmatch(r"gfx(1\d|[1-9])([0-9a-f]{0,2})", chip)
    return (int(match[1]), int(match[2].ljust(2, "0"), 16)) if match is not None else None


BACKEND = Backend(name="hip", vendor="AMD", prefix="gfx", version=_generation)


def _cdna(
    name: str,
    title: str,
    *chips: str,
    banks: int = 32,
    shared_kib: int = 64,
    far_lanes: int = 16,
    swapped_lanes: tuple[int, ...] = (),
    load_phases: PhaseTable | None = None,
    conversion_lanes: tuple[tuple[int, ...], ...] = (),
    transposing_reads: Mapping[int, TransposingRead] | None = None,
    load_evidence: Evidence = Evidence.MEASURED,
    store_evidence: Evidence = Evidence.DOCUMENTED,
    source: str = f"{_MEASURED}; {_GUIDE}",
) -> Target:
    return Target(
        name=name,
        title=title,
        backend=BACKEND,
        chips=chips,
        lanes=64,
        packed_sums=(16, 32),
        adds_rows=True,
        banks=banks,
        most_shared_bytes=shared_kib * KIB,
        far_lanes=far_lanes,
        swapped_lanes=swapped_lanes,
        counts_by_ballots=True,
        load_phases=load_phases or phases(64, 32, b16=Phase((1, 2, 20), 32)),
        store_phases=phases(64, 32),
        counts_dwords=True,
        joins_global_accesses=True,
        pairs_accesses=True,
        transposing_reads=MappingProxyType(dict(transposing_reads or {})),
        mnemonics=("ds_read", "ds_write"),
        conversion_lanes=conversion_lanes,
        load_evidence=load_evidence,
        store_evidence=store_evidence,
        source=source,
    )


def _rdna(
    name: str,
    title: str,
    *chips: str,
    banks: int = 32,
    shared_kib: int = 64,
    shared_partition_kib: int = 0,
    load_phases: PhaseTable | None = None,
    conversion_lanes: tuple[tuple[int, ...], ...] = (),
    transposing_reads: Mapping[int, TransposingRead] | None = None,
    counts_dwords: bool = False,
    loops_atomics: bool = False,
    load_evidence: Evidence = Evidence.MEASURED,
    source: str = f"{_MEASURED}; of stores: as many lanes as fill the banks",
) -> Target:
    return Target(
        name=name,
        title=title,
        backend=BACKEND,
        chips=chips,
        packed_sums=(16,),
        adds_rows=True,
        banks=banks,
        far_lanes=32,
        counts_by_ballots=True,
        most_shared_bytes=shared_kib * KIB,
        shared_partition_bytes=shared_partition_kib * KIB,
        load_phases=load_phases or phases(32, banks),
        store_phases=phases(32, banks),
        counts_dwords=counts_dwords,
        loops_atomics=loops_atomics,
        joins_global_accesses=True,
        pairs_accesses=True,
        transposing_reads=MappingProxyType(dict(transposing_reads or {})),
        mnemonics=("ds_load", "ds_store"),
        conversion_lanes=conversion_lanes,
        load_evidence=load_evidence,
        store_evidence=Evidence.ASSUMED,
        source=source,
    )


def _addresses(text: str) -> tuple[tuple[str, int], ...]:
    """Return the bits that a text names, such as ``l2 r0`` for bit 2 of the lane, then 0 of the
    register."""
    places = {"l": "lane", "r": "register"}
    return tuple((places[word[0]], int(word[1:])) for word in text.split())


_READS_OF_CDNA4 = {
    1: TransposingRead("ds_read_b64_tr_b8", 8, _addresses("l3 r0 r1 r2 l4 l5")),
    2: TransposingRead("ds_read_b64_tr_b16", 8, _addresses("l2 l3 r0 r1 l4 l5")),
}
_READS_OF_GFX1250 = {
    1: TransposingRead("ds_load_tr8_b64", 8, _addresses("r0 r1 l3 r2 l4")),
    2: TransposingRead("ds_load_tr16_b128", 16, _addresses("r0 r1 r2 l3 l4")),
}

ROWS = (
    _cdna("gfx90a", "AMD CDNA2", "gfx90", load_evidence=Evidence.DOCUMENTED, source=_ROCM),
    _cdna("gfx942", "AMD CDNA3", "gfx94", conversion_lanes=_PAIRS_OF_QUADS),
    _cdna(
        "gfx950",
        "AMD CDNA4",
        "gfx95",
        banks=64,
        shared_kib=160,
        far_lanes=64,
        swapped_lanes=(4, 5),
        load_phases=phases(64, 64, b16=Phase((1, 2, 12, 20), 64)),
        conversion_lanes=_QUADS_OVER_64_BANKS,
        transposing_reads=_READS_OF_CDNA4,
        store_evidence=Evidence.ASSUMED,
        source=f"{_MEASURED}; of stores: phases over 32 banks, as on CDNA3",
    ),
    replace(
        _rdna(
            "gfx10",
            "AMD RDNA1 and RDNA2",
            "gfx10",
            conversion_lanes=_PAIRS_OF_QUADS,
            counts_dwords=True,
            loops_atomics=True,
            load_evidence=Evidence.ASSUMED,
            source=_ASSUMED,
        ),
        adds_rows=False,
    ),
    _rdna(
        "gfx11",
        "AMD RDNA3",
        "gfx11",
        load_phases=phases(32, 32, b16=Phase((1, 2, 20), 32)),
        conversion_lanes=_PAIRS_OF_QUADS,
        loops_atomics=True,
    ),
    _rdna("gfx12", "AMD RDNA4", "gfx120"),
    replace(
        _rdna(
            "gfx1250",
            "AMD gfx1250",
            "gfx125",
            banks=64,
            shared_kib=320,
            shared_partition_kib=64,
            transposing_reads=_READS_OF_GFX1250,
            load_evidence=Evidence.ASSUMED,
            source=(
                "64 banks: Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp; "
                "assumed: phases of as many lanes as fill them"
            ),
        ),
        packed_sums=(16, 32),
        scatters_async_copies=True,
    ),
)
"""A row each, oldest first.

How conversions are compiled is from Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp,
getSharedLdStTiles and getSharedMemoryBanks, and IR/TargetFeatures.cpp, queryLDSTransLoadParams, of
the reads that transpose; the bytes were confirmed on 3.9 for gfx90a, gfx942 and gfx950.
"""
