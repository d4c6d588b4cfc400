"""AMD's GPUs, oldest first."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.compiler import (
    BLOCK,
    ELEMENT,
    STAGES,
    SWAPPED,
    TRANSPOSED,
    WARPS,
    CompilerModel,
    FreeRegisters,
    HeldRegisters,
    Knobs,
    RangeEnd,
    RegisterLine,
    Weights,
)
from tt_layout.hardware.multiprocessor import HIP_GRID, RegisterFile, Residence, Variant
from tt_layout.hardware.product import Product, tensor_rates
from tt_layout.hardware.target import (
    KIB,
    Evidence,
    Phase,
    Target,
    TransposingRead,
    phases,
)
from tt_layout.hardware.timing import Timing

USUAL = "gfx942"
ALIASES = {"amd": USUAL, "gfx9": "gfx942", "rdna": "gfx11"}

_ROCM = "ROCm documentation, Composable Kernel, Understanding AMD GPU LDS and Bank Conflicts"
_MEASURED = "loads measured by nod-ai/amd-shark-ai, docs/empirical-lds"
_GUIDE = "stores: the same, docs/amdgpu_kernel_optimization_guide.md"
_ASSUMED = "assumed: 32 banks, and phases of as many lanes as fill them"

_PAIRS_OF_QUADS = ((0, 1, 4),)
_QUADS_OVER_64_BANKS = ((0, 1, 3, 4), (0, 1, 2, 4))


def _generation(chip: str) -> tuple[int, ...] | None:
    """Return the generation in the name of a GPU, such as ``gfx942``, and the rest of the name.

    Example:
        >>> _generation("gfx942") == (9, 0x42), _generation("gfx1250") == (12, 0x50)
        (True, True)
    """
    match = re.fullmatch(r"gfx(1\d|[1-9])([0-9a-f]{0,2})", chip)
    return (int(match[1]), int(match[2].ljust(2, "0"), 16)) if match is not None else None


BACKEND = Backend(
    name="hip", vendor="AMD", prefix="gfx", version=_generation, multiprocessor="compute unit"
)


def _addresses(text: str) -> tuple[tuple[str, int], ...]:
    """Parse bits such as ``l2 r0``: bit 2 of the lane, then bit 0 of the register."""
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

_CDNA_REGISTERS = RegisterFile(most_per_thread=512, size=512, granule=8, simds=4)
_RDNA1_REGISTERS = RegisterFile(most_per_thread=256, size=1024, granule=8, simds=4)
_RDNA2_REGISTERS = RegisterFile(most_per_thread=256, size=1024, granule=16, simds=4)
_RDNA3_REGISTERS = RegisterFile(most_per_thread=256, size=1536, granule=24, simds=4)
"""Of gfx1100, gfx1101, gfx1151 and gfx12; smaller chips of RDNA3 have those of RDNA2."""


_CDNA_OTHERS = RegisterLine(
    Weights(0.89, 5.3, loads=0.3, loaded=0.23, exchanged=0.35, functions=1.58, guarded=1),
    least=RangeEnd(0.39, 11),
    most=RangeEnd(1.55),
    free=FreeRegisters(
        Weights(0, 0, divisions=1.54),
        pressed=1,
        kept=0.7,
        least=RangeEnd(0.6, -2),
        most=RangeEnd(1.75, 4),
    ),
    indices=0.3,
    masks=0.3,
    most_indices=100,
    may_spill_from=0.85,
    spills_from=1,
    held=HeldRegisters(exchanges=1.15),
    ahead=RangeEnd(1.2, 16),
)
_CDNA_COMPILER = CompilerModel(
    products=RegisterLine(
        Weights(0.825, 16.7, exchanged=0.12),
        least=RangeEnd(0.8, -2),
        most=RangeEnd(1.32, 6),
        addresses_beside=1,
        indices=0.2,
        masks=0.2,
        most_indices=40,
        may_spill_from=0.63,
        spills_from=1,
        held=HeldRegisters(products=1.5, exchanges=1.4),
    ),
    loops=_CDNA_OTHERS,
    straight=_CDNA_OTHERS,
    slices=3,
    sinks_scans=True,
    scans_whole=256,
)
_RDNA_OTHERS = RegisterLine(
    Weights(0.89, 6, loaded=0.11, guarded=1, functions=1.58, divisions=0.96),
    least=RangeEnd(0.47),
    most=RangeEnd(1.9, 18),
    indices=0.1,
    masks=0.2,
    most_indices=40,
    may_spill_from=0.78,
    spills_from=1.1,
    held=HeldRegisters(exchanges=1.4),
)
_RDNA_COMPILER = CompilerModel(
    products=RegisterLine(
        Weights(0.77, 26.9),
        least=RangeEnd(0.62, 9),
        most=RangeEnd(1.17, 73),
        indices=0.2,
        masks=0.2,
        most_indices=40,
        may_spill_from=0.72,
        spills_from=1,
        held=HeldRegisters(products=1.5, exchanges=1.5),
    ),
    loops=_RDNA_OTHERS,
    straight=_RDNA_OTHERS,
    slices=3,
    sinks_scans=True,
    scans_whole=256,
)
_GFX1250_OTHERS = RegisterLine(
    Weights(1.15, 0),
    least=RangeEnd(0.52),
    most=RangeEnd(2.09, 14),
    passing=1,
    together=0.3,
    indices=0.3,
    masks=0.3,
    most_indices=40,
    may_spill_from=0.9,
    spills_from=1.1,
    held=HeldRegisters(exchanges=1.4),
)
_GFX1250_COMPILER = CompilerModel(
    products=RegisterLine(
        Weights(0.79, 31.4),
        least=RangeEnd(0.66, 3),
        most=RangeEnd(1.65),
        together=0.3,
        indices=0.3,
        masks=0.3,
        most_indices=40,
        may_spill_from=0.9,
        spills_from=1.1,
        held=HeldRegisters(products=1.5, exchanges=1.5),
    ),
    loops=_GFX1250_OTHERS,
    straight=_GFX1250_OTHERS,
    slices=3,
    scans_whole=1024,
)


def _holds(warps: int, shared_kib: int, *, ctas: int) -> Residence:
    """Return the residency limits of four SIMDs: a CDNA compute unit, an RDNA workgroup processor.

    Args:
        warps: warps of a SIMD.
        shared_kib: shared memory of all workgroups; RDNA has 128 KiB for a pair of compute units,
            of which a workgroup has at most 64 (AMD's "RDNA3" and "RDNA4 Instruction Set
            Architecture", chapter 1).
        ctas: workgroups with barriers, which those of more than one warp have.
    """
    return Residence(
        warps=warps * 4,
        ctas=ctas,
        shared_bytes=shared_kib * KIB,
        reserved_bytes=0,
        single_warp_ctas=warps * 4,
    )


_CDNA3_ROOM, _CDNA4_ROOM = _holds(8, 64, ctas=16), _holds(8, 160, ctas=16)
_GFX1250_ROOM = _holds(16, 320, ctas=16)
"""Four SIMDs in a compute unit, the only mode that it has: LLVM, AMDGPU, getEUsPerCU."""

_RDNA1_ROOM, _RDNA_ROOM = _holds(20, 128, ctas=32), _holds(16, 128, ctas=32)

# -- products -------------------------------------------------------------------------------------

_CDNA3_TIMING = Timing(
    clock_hz=2.1e9,
    matrix_clock_hz=1.7e9,
    dram_read=4.3e12,
    dram_mixed=4.0e12,
    l2_bytes=64,
    spilled=64,
    l2_capacity=256e6,
    instruction=4,
    special=16,
    integer=4,
    alu=8,
    special_latency=16,
    shared=64,
    shuffle=64,
    l1=120,
    l2=300,
    dram=800,
    matrix=32,
    atomic=800,
    source=(
        "AMD CDNA 3 instruction set (an instruction of 64 lanes takes a SIMD four cycles) and "
        "white paper; four fifths of the bandwidth of the data sheet; latencies of the order that "
        "public measurements have, none of them ours"
    ),
)
MI300X = Product(
    name="MI300X",
    multiprocessors=304,
    clock_hz=2.1e9,
    dram_bytes=5.3e12,
    special=None,
    tensor=tensor_rates("mfma", f16=2048, tf32=256, f8=4096, i8=4096, f64=256),
    source=(
        "AMD CDNA 3 white paper and data sheet (304 CUs, 2,100 MHz, 5.3 TB/s, 1,307 TFLOPS of "
        "FP16, 4,096 FP8 FLOPs a clock and CU)"
    ),
    timing=_CDNA3_TIMING,
)
MI325X = replace(
    MI300X,
    name="MI325X",
    dram_bytes=6e12,
    source="AMD Instinct MI325X data sheet (6 TB/s)",
    timing=replace(_CDNA3_TIMING, dram_read=4.9e12, dram_mixed=4.5e12),
)
MI355X = Product(
    name="MI355X",
    multiprocessors=256,
    clock_hz=2.4e9,
    dram_bytes=8e12,
    special=None,
    tensor=tensor_rates("mfma", f16=4096, tf32=256, f8=8192, i8=8192, f64=128),
    source=(
        "AMD CDNA 4 white paper, AMD at ISSCC 2026 (256 CUs, 2,400 MHz, 8 TB/s, 8,192 FP8 FLOPs a "
        "clock and CU, 157.3 TFLOPS of FP32)"
    ),
    timing=replace(
        _CDNA3_TIMING,
        clock_hz=2.4e9,
        matrix_clock_hz=2.0e9,
        dram_read=6.5e12,
        dram_mixed=6.0e12,
        source="CDNA 4 white paper; latencies as on the MI300X, four fifths of the bandwidth",
    ),
)
MI350X = replace(
    MI355X, name="MI350X", clock_hz=2.2e9, source="AMD Instinct MI350X data sheet (2,200 MHz)"
)

# -- knobs ----------------------------------------------------------------------------------------

_CDNA2_KNOBS: Knobs = {
    "amd_mfma": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "swizzled_shared": (TRANSPOSED, BLOCK, ELEMENT, SWAPPED),
}
_CDNA3_KNOBS: Knobs = {
    "amd_mfma": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "amd_rotating_shared": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "linear": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "swizzled_shared": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
}
_CDNA4_KNOBS: Knobs = {
    "amd_mfma": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "blocked": (TRANSPOSED, STAGES, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "linear": (TRANSPOSED, STAGES, WARPS, BLOCK, ELEMENT, SWAPPED),
    "padded_shared": (TRANSPOSED, STAGES, BLOCK, ELEMENT, SWAPPED),
    "swizzled_shared": (STAGES, BLOCK, ELEMENT, SWAPPED),
}
_RDNA_KNOBS: Knobs = {
    "amd_rotating_shared": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "amd_wmma": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "linear": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "swizzled_shared": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
}
_GFX1250_KNOBS: Knobs = {
    "amd_wmma": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "padded_shared": (TRANSPOSED, STAGES, BLOCK, ELEMENT, SWAPPED),
}

# -- chips ----------------------------------------------------------------------------------------

_CDNA3 = Target(
    name="gfx942",
    title="AMD CDNA3",
    backend=BACKEND,
    chips=("gfx94",),
    lanes=64,
    most_shared_bytes=64 * KIB,
    grid=HIP_GRID,
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
    registers=_CDNA_REGISTERS,
    residence=_CDNA3_ROOM,
    products=(MI300X, MI325X),
    compiler=_CDNA_COMPILER,
    knobs=_CDNA3_KNOBS,
    matrix_layouts=(("amd_mfma", 3),),
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
    grid=HIP_GRID,
    packed_sums=(16,),
    adds_rows=True,
    joins_global_accesses=True,
    load_phases=phases(32, 32),
    store_phases=phases(32, 32),
    pairs_accesses=True,
    mnemonics=("ds_load", "ds_store"),
    far_lanes=32,
    counts_by_ballots=True,
    registers=_RDNA3_REGISTERS,
    residence=_RDNA_ROOM,
    compiler=_RDNA_COMPILER,
    knobs=_RDNA_KNOBS,
    matrix_layouts=(("amd_wmma", 2),),
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
        products=(),
        knobs=_CDNA2_KNOBS,
        matrix_layouts=(("amd_mfma", 2),),
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
        residence=_CDNA4_ROOM,
        products=(MI355X, MI350X),
        knobs=_CDNA4_KNOBS,
        matrix_layouts=(("amd_mfma", 4),),
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
        registers=_RDNA2_REGISTERS,
        residence=None,  # without a generation: 20 waves of a SIMD on gfx101x, 16 on gfx103x
        variants=(
            Variant(("gfx101",), _RDNA1_REGISTERS, _RDNA1_ROOM),
            Variant(("gfx103",), _RDNA2_REGISTERS, _RDNA_ROOM),
        ),
        knobs=None,
        matrix_layouts=(),
        load_evidence=Evidence.ASSUMED,
        source=_ASSUMED,
    ),
    replace(
        _RDNA4,
        name="gfx11",
        title="AMD RDNA3",
        chips=("gfx11",),
        variants=(
            Variant(
                ("gfx1102", "gfx1103", "gfx1150", "gfx1152", "gfx1153"),
                _RDNA2_REGISTERS,
                _RDNA_ROOM,
            ),
        ),
        loops_atomics=True,
        load_phases=phases(32, 32, b16=Phase((1, 2, 20), 32)),
        conversion_lanes=_PAIRS_OF_QUADS,
        matrix_layouts=(("amd_wmma", 1),),
    ),
    _RDNA4,
    replace(
        _RDNA4,
        name="gfx1250",
        title="AMD gfx1250",
        chips=("gfx125",),
        banks=64,
        most_shared_bytes=320 * KIB,
        most_ctas=16,
        residence=_GFX1250_ROOM,
        shared_partition_bytes=64 * KIB,
        packed_sums=(16, 32),
        scatters_async_copies=True,
        load_phases=phases(32, 64),
        store_phases=phases(32, 64),
        transposing_reads=_READS_OF_GFX1250,
        registers=RegisterFile(most_per_thread=1024, size=1024, granule=16, simds=4),
        compiler=_GFX1250_COMPILER,
        knobs=_GFX1250_KNOBS,
        matrix_layouts=(("amd_wmma", 3),),
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
