"""AMD's GPUs, oldest first."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.target import (
    KIB,
    Evidence,
    Phase,
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


def _addresses(text: str) -> tuple[tuple[str, int], ...]:
    """Return the bits that a text names, such as ``l2 r0`` for bit 2 of the lane, then 0 of the
    register."""
    places = {"l": "lane", "r": "register"}
    return tuple((places[word[0]], int(word[1:])) for word in text.split())


_READS_OF_CDNA4 = MappingProxyType(
    {
        1: TransposingRead("ds_read_b64_tr_b8", 8, _addresses("l3 r0 r1 r2 l4 l5")),
        2: TransposingRead("ds_read_b64_tr_b16", 8, _addresses("l2 l3 r0 r1 l4 l5")),
    }
)
_READS_OF_GFX1250 = MappingProxyType(
    {
        1: TransposingRead("ds_load_tr8_b64", 8, _addresses("r0 r1 l3 r2 l4")),
        2: TransposingRead("ds_load_tr16_b128", 16, _addresses("r0 r1 r2 l3 l4")),
    }
)

_CDNA3 = Target(
    name="gfx942",
    title="AMD CDNA3",
    backend=BACKEND,
    chips=("gfx94",),
    lanes=64,
    most_shared_bytes=64 * KIB,
    packed_sums=(16, 32),
    adds_rows=True,
    counts_dwords=True,
    joins_global_accesses=True,
    load_phases=phases(64, 32, b16=Phase((1, 2, 20), 32)),
    store_phases=phases(64, 32),
    pairs_accesses=True,
    mnemonics=("ds_read", "ds_write"),
    far_lanes=16,
    counts_by_ballots=True,
    conversion_lanes=_PAIRS_OF_QUADS,
    load_evidence=Evidence.MEASURED,
    store_evidence=Evidence.DOCUMENTED,
    source=f"{_MEASURED}; {_GUIDE}",
)
_RDNA4 = Target(
    name="gfx12",
    title="AMD RDNA4",
    backend=BACKEND,
    chips=("gfx120",),
    most_shared_bytes=64 * KIB,
    packed_sums=(16,),
    adds_rows=True,
    joins_global_accesses=True,
    load_phases=phases(32, 32),
    store_phases=phases(32, 32),
    pairs_accesses=True,
    mnemonics=("ds_load", "ds_store"),
    far_lanes=32,
    counts_by_ballots=True,
    load_evidence=Evidence.MEASURED,
    store_evidence=Evidence.ASSUMED,
    source=f"{_MEASURED}; of stores: as many lanes as fill the banks",
)

ROWS = (
    replace(
        _CDNA3,
        name="gfx90a",
        title="AMD CDNA2",
        chips=("gfx90",),
        conversion_lanes=(),
        load_evidence=Evidence.DOCUMENTED,
        source=_ROCM,
    ),
    _CDNA3,
    replace(
        _CDNA3,
        name="gfx950",
        title="AMD CDNA4",
        chips=("gfx95",),
        banks=64,
        most_shared_bytes=160 * KIB,
        far_lanes=64,
        swapped_lanes=(4, 5),
        load_phases=phases(64, 64, b16=Phase((1, 2, 12, 20), 64)),
        conversion_lanes=_QUADS_OVER_64_BANKS,
        transposing_reads=_READS_OF_CDNA4,
        store_evidence=Evidence.ASSUMED,
        source=f"{_MEASURED}; of stores: phases over 32 banks, as on CDNA3",
    ),
    replace(
        _RDNA4,
        name="gfx10",
        title="AMD RDNA1 and RDNA2",
        chips=("gfx10",),
        adds_rows=False,
        counts_dwords=True,
        loops_atomics=True,
        conversion_lanes=_PAIRS_OF_QUADS,
        load_evidence=Evidence.ASSUMED,
        source=_ASSUMED,
    ),
    replace(
        _RDNA4,
        name="gfx11",
        title="AMD RDNA3",
        chips=("gfx11",),
        loops_atomics=True,
        load_phases=phases(32, 32, b16=Phase((1, 2, 20), 32)),
        conversion_lanes=_PAIRS_OF_QUADS,
    ),
    _RDNA4,
    replace(
        _RDNA4,
        name="gfx1250",
        title="AMD gfx1250",
        chips=("gfx125",),
        banks=64,
        most_shared_bytes=320 * KIB,
        shared_partition_bytes=64 * KIB,
        packed_sums=(16, 32),
        scatters_async_copies=True,
        load_phases=phases(32, 64),
        store_phases=phases(32, 64),
        transposing_reads=_READS_OF_GFX1250,
        load_evidence=Evidence.ASSUMED,
        source=(
            "64 banks: Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp; "
            "assumed: phases of as many lanes as fill them"
        ),
    ),
)
"""A row each, oldest first.

How conversions are compiled is from Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp,
getSharedLdStTiles and getSharedMemoryBanks, and IR/TargetFeatures.cpp, queryLDSTransLoadParams, of
the reads that transpose; the bytes were confirmed on 3.9 for gfx90a, gfx942 and gfx950.
"""
