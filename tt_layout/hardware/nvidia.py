"""NVIDIA's GPUs, oldest first."""

from __future__ import annotations

import re
from dataclasses import replace

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.compiler import (
    BLOCK,
    ELEMENT,
    SWAPPED,
    TRANSPOSED,
    WARPS,
    CompilerModel,
    Crowd,
    FreeRegisters,
    HeldRegisters,
    Knobs,
    RangeEnd,
    RegisterLine,
    Weights,
)
from tt_layout.hardware.multiprocessor import (
    CUDA_GRID,
    NVIDIA_REGISTERS,
    RegisterFile,
    Residence,
)
from tt_layout.hardware.product import Product, tensor_rates
from tt_layout.hardware.target import KIB, Evidence, Target, phases
from tt_layout.hardware.timing import Timing

USUAL = "sm90"
ALIASES = {"nvidia": USUAL}

_CUDA_GUIDE = "CUDA C++ Programming Guide, Compute Capability 5.x, Shared Memory"
_LIKE_HOPPER = f"taken to be as on sm90; {_CUDA_GUIDE}"

_REGISTERS = RegisterFile(most_per_thread=255, size=NVIDIA_REGISTERS, granule=8)
_COMPILER = CompilerModel(
    products=RegisterLine(
        Weights(
            0.62,
            17.2,
            accumulators=0.5,
            addresses=1,
            carried=0.7,
            compared=0.3,
            unpacked=0.63,
            guarded=0.17,
            held=0.18,
        ),
        least=RangeEnd(0.6, 5),
        most=RangeEnd(1.5, -4),
        indices=0.2,
        masks=0.2,
        most_indices=40,
        most_addresses=40,
        may_spill_from=0.85,
        spills_from=1.3,
        held=HeldRegisters(products=1.6, exchanges=1.45),
        crowd=Crowd(40, loads=3, may_spill_from=0.75),
    ),
    asynchronous=RegisterLine(
        Weights(0.7, 20.9, accumulators=0.35, addresses=0.235, compared=0.34),
        least=RangeEnd(0.86, -3.5),
        most=RangeEnd(1.28, 4),
        indices=0.2,
        masks=0.2,
        most_indices=40,
        may_spill_from=0.85,
        spills_from=1,
        held=HeldRegisters(products=1.38, exchanges=1.25),
        crowd=Crowd(40, loads=3, may_spill_from=0.85),
    ),
    tensor_memory=RegisterLine(
        Weights(0.62, 28, stored=0.69, compared=0.18),
        least=RangeEnd(0.67, 2),
        most=RangeEnd(1.57, -2),
        indices=0.2,
        masks=0.2,
        most_indices=40,
        may_spill_from=0.85,
        spills_from=1.05,
        addresses_beside=0.3,
        crowd=Crowd(40, loads=3, may_spill_from=0.85),
    ),
    loops=RegisterLine(
        Weights(1.44, 14, addresses=0.4, loads=3.46, loaded=0.47, guarded=0.6, singles=0.4),
        least=RangeEnd(0.65, -3),
        most=RangeEnd(1.4),
        free=FreeRegisters(
            Weights(0, 0), 0.72, kept=0.94, least=RangeEnd(0.5, 4), most=RangeEnd(1.1, 7)
        ),
        passing=0.3,
        streamed=0.2,
        may_spill_from=0.83,
        spills_from=1.1,
        held=HeldRegisters(exchanges=1.35),
        crowd=Crowd(48, loads=4, may_spill_from=0.6),
    ),
    straight=RegisterLine(
        Weights(
            0.59,
            9.6,
            addresses=0.3,
            loads=1,
            stored=0.49,
            exchanged=0.49,
            functions=1.1,
            guarded=0.5,
        ),
        least=RangeEnd(0.5),
        most=RangeEnd(1.55, -4),
        free=FreeRegisters(
            Weights(0, 0, loaded=0.25, divisions=0.32, random=3.4),
            pressed=0.95,
            kept=0.92,
            least=RangeEnd(0.62, 1),
            most=RangeEnd(1.25, 6),
        ),
        passing=0.7,
        together=0.3,
        indices=0.2,
        masks=0.4,
        most_indices=40,
        may_spill_from=0.85,
        spills_from=1.4,
        held=HeldRegisters(exchanges=1),
        crowd=Crowd(48, loads=4, may_spill_from=0.57),
        ahead=RangeEnd(1.5, 16),
    ),
    slices=3,
    sinks_shared_loads=True,
    whole_sums=32,
)

_BLACKWELL_MATRICES = ("ldmatrix", "ldmatrix.b8", "stmatrix", "stmatrix.b8")


def _capability(chip: str) -> tuple[int, ...] | None:
    """Return the compute capability in the name of a GPU, such as ``sm90``."""
    match = re.fullmatch(r"sm([0-9]{1,4})[af]?", chip)
    return (int(match[1]),) if match is not None else None


BACKEND = Backend(
    name="cuda",
    vendor="NVIDIA",
    prefix="sm",
    version=_capability,
    is_numbered=True,
)


def _packed_sums(capability: int) -> tuple[int, ...]:
    """Return the widths in bits of elements that a thread adds in pairs.

    Example:
        >>> _packed_sums(80), _packed_sums(90), _packed_sums(100)
        ((), (16,), (16, 32))
    """
    return tuple(bits for bits, since in ((16, 90), (32, 100)) if capability >= since)


def _nvidia(
    name: str,
    title: str,
    *matrix_instructions: str,
    chips: tuple[str, ...] = (),
    shared_kib: int | None = 227,
    shared_note: str = "",
    residence: Residence | None = None,
    products: tuple[Product, ...] = (),
    knobs: Knobs | None = None,
    combines_extremes: bool = False,
    combines_floats: bool = False,
    global_vector_bytes: int = 16,
    evidence: Evidence = Evidence.ASSUMED,
    source: str = _LIKE_HOPPER,
) -> Target:
    capability = int(name.removeprefix("sm"))
    return Target(
        name=name,
        title=title,
        backend=BACKEND,
        chips=chips,
        packed_sums=_packed_sums(capability),
        load_phases=phases(32, 32),
        store_phases=phases(32, 32),
        most_shared_bytes=shared_kib * KIB if shared_kib is not None else None,
        shared_note=shared_note,
        combines_lanes=capability >= 80,
        combines_extremes=combines_extremes,
        combines_floats=combines_floats,
        global_vector_bytes=global_vector_bytes,
        has_vector_atomics=capability >= 90,
        merges_wide_loads=True,
        matrix_instructions=frozenset(matrix_instructions),
        mnemonics=("ld.shared", "st.shared"),
        cycle="wavefront",
        weighs_conversions=True,
        registers=_REGISTERS,
        most_ctas=16 if capability >= 90 else 1,
        grid=CUDA_GRID,
        residence=residence,
        products=products,
        compiler=_COMPILER,
        knobs=knobs,
        load_evidence=evidence,
        store_evidence=evidence,
        source=source,
    )


def _holds(warps: int, ctas: int, shared_kib: int, tensor_columns: int = 0) -> Residence:
    return Residence(
        warps=warps, ctas=ctas, shared_bytes=shared_kib * KIB, tensor_columns=tensor_columns
    )


# -- products -------------------------------------------------------------------------------------

H200 = Product(
    name="H200",
    multiprocessors=132,
    clock_hz=1.98e9,
    dram_bytes=4.6e12,
    l2_bytes=68,
    tensor=tensor_rates("mma", f16=2710, tf32=1355, i8=5421, f64=128)
    | tensor_rates("wgmma", f16=4096, tf32=2048, f8=8192, i8=8192),
    evidence="measured",
    source="measured, each rate by itself (docs/bounds.md); clock of its data sheet",
    timing=Timing(
        clock_hz=1.95e9,
        matrix_clock_hz=1.78e9,
        dram_read=4.5e12,
        dram_mixed=4.05e12,
        evidence="measured",
        source="each latency, price and rate measured by itself (docs/time.md)",
    ),
)
H100 = replace(
    H200,
    name="H100",
    dram_bytes=3.35e12,
    evidence="documented",
    source="NVIDIA H100 data sheet, SXM: 3.35 TB/s; the multiprocessors are those of the H200",
    timing=Timing(
        clock_hz=1.95e9,
        matrix_clock_hz=1.78e9,
        dram_read=3.17e12,
        dram_mixed=3e12,
        evidence="measured",
        source=(
            "bandwidth measured by itself; the multiprocessors are those of the H200, whose "
            "latencies and prices an H100 has where it was asked (docs/time.md)"
        ),
    ),
)
_A100_TIMING = Timing(
    clock_hz=1.41e9,
    matrix_clock_hz=1.41e9,
    dram_read=1.83e12,
    dram_mixed=1.73e12,
    l2_bytes=48,
    l2_capacity=40e6,
    l2=261,
    source=(
        "clock and bandwidth of the data sheet, of which 90 % are attained; latencies of Luo "
        "et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024; the "
        "rest as on the H200"
    ),
)
A100 = Product(
    name="A100 80 GB",
    multiprocessors=108,
    clock_hz=1.41e9,
    dram_bytes=2.039e12,
    fma=64,
    tensor=tensor_rates("mma", f16=2048, tf32=1024, i8=4096, f64=128),
    source=(
        "NVIDIA A100 Tensor Core GPU Architecture, 2020 (108 SMs, 1,410 MHz, 64 FP32 cores, four "
        "tensor cores of 256 FP16 FMA a clock each; 312 TFLOPS of FP16, 156 of TF32, 624 TOPS, "
        "19.5 TFLOPS of FP64); data sheet of the 80 GB version (2,039 GB/s)"
    ),
    timing=_A100_TIMING,
)
A100_40 = replace(
    A100,
    name="A100 40 GB",
    dram_bytes=1.555e12,
    source="the same; data sheet of the 40 GB version (1,555 GB/s)",
    timing=replace(_A100_TIMING, dram_read=1.4e12, dram_mixed=1.32e12),
)
B200 = Product(
    name="B200",
    multiprocessors=148,
    clock_hz=1.965e9,
    dram_bytes=8e12,
    tensor=tensor_rates("tcgen05", f16=8192, tf32=4096, f8=16384),
    source=(
        "NVIDIA Blackwell data sheets (148 SMs, 8 TB/s, 2.25 PFLOPS of dense FP16, half of it "
        "TF32, twice of it FP8, which is 8,192 a cycle at the 1.86 GHz of its tensor cores)"
    ),
    timing=Timing(
        clock_hz=1.92e9,
        matrix_clock_hz=1.86e9,
        dram_read=7.2e12,
        dram_mixed=6.8e12,
        l2_capacity=126e6,
        dram=700,
        source="bandwidth of the data sheet, of which 90 % are attained; the rest as on the H200",
    ),
)

# -- knobs ----------------------------------------------------------------------------------------

_AMPERE_KNOBS: Knobs = {
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, ELEMENT, SWAPPED),
    "nvidia_mma": (WARPS, SWAPPED),
    "swizzled_shared": (TRANSPOSED, BLOCK, ELEMENT, SWAPPED),
}
_HOPPER_KNOBS: Knobs = {
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, ELEMENT, SWAPPED),
    "nvidia_mma": (WARPS, BLOCK, ELEMENT, SWAPPED),
    "nvmma_shared": (TRANSPOSED, BLOCK, ELEMENT, SWAPPED),
    "swizzled_shared": (TRANSPOSED, ELEMENT, SWAPPED),
}
_BLACKWELL_KNOBS: Knobs = {
    "blocked": (TRANSPOSED, WARPS, BLOCK, ELEMENT, SWAPPED),
    "dot_op": (WARPS, ELEMENT, SWAPPED),
    "linear": (WARPS, BLOCK, SWAPPED),
    "nvidia_mma": (WARPS, SWAPPED),
    "nvmma_shared": (TRANSPOSED, BLOCK, ELEMENT, SWAPPED),
    "swizzled_shared": (TRANSPOSED, ELEMENT, SWAPPED),
    "tensor_memory_encoding": (BLOCK, SWAPPED),
}

# -- chips ----------------------------------------------------------------------------------------

_SM80 = _nvidia(
    "sm80",
    "NVIDIA Ampere",
    "ldmatrix",
    shared_kib=163,
    residence=_holds(64, 32, 164),
    products=(A100, A100_40),
    knobs=_AMPERE_KNOBS,
)
_SM110 = _nvidia(
    "sm110",
    "NVIDIA Blackwell of Jetson",
    *_BLACKWELL_MATRICES,
    chips=("sm101",),
    combines_extremes=True,
    global_vector_bytes=32,
)

ROWS = (
    _nvidia(
        "sm70",
        "NVIDIA Volta",
        chips=("sm72",),
        shared_kib=96,
        residence=replace(_holds(64, 32, 96), reserved_bytes=0),
    ),
    _nvidia(
        "sm75",
        "NVIDIA Turing",
        "ldmatrix",
        shared_kib=64,
        residence=replace(_holds(32, 16, 64), reserved_bytes=0),
    ),
    replace(_SM80, compiler=_COMPILER._replace(whole_in_loops=True)),
    replace(
        _SM80,
        name="sm86",
        title="NVIDIA Ampere of GeForce and RTX",
        most_shared_bytes=99 * KIB,
        residence=_holds(48, 16, 100),
        products=(),
    ),
    replace(
        _SM80,
        name="sm87",
        title="NVIDIA Ampere of Jetson",
        residence=_holds(48, 16, 164),
        products=(),
    ),
    replace(
        _SM80,
        name="sm89",
        title="NVIDIA Ada",
        most_shared_bytes=99 * KIB,
        residence=_holds(48, 24, 100),
        products=(),
    ),
    _nvidia(
        "sm90",
        "NVIDIA Hopper",
        "ldmatrix",
        "stmatrix",
        residence=_holds(64, 32, 228),
        products=(H200, H100),
        knobs=_HOPPER_KNOBS,
        evidence=Evidence.MEASURED,
        source=f"counters of an H200: docs/bank-conflicts.md; {_CUDA_GUIDE}",
    ),
    _nvidia(
        "sm100",
        "NVIDIA Blackwell",
        *_BLACKWELL_MATRICES,
        chips=("sm103",),
        residence=_holds(64, 32, 228, tensor_columns=512),
        products=(B200,),
        knobs=_BLACKWELL_KNOBS,
        combines_extremes=True,
        combines_floats=True,
        global_vector_bytes=32,
    ),
    _nvidia(
        "sm107",
        "NVIDIA Rubin",
        *_BLACKWELL_MATRICES,
        shared_kib=None,
        shared_note="328 KB per SM",
        combines_extremes=True,
        combines_floats=True,
        global_vector_bytes=32,
    ),
    _SM110,
    replace(
        _SM110,
        name="sm120",
        title="NVIDIA Blackwell of GeForce and RTX",
        chips=("sm121",),
        most_shared_bytes=99 * KIB,
        residence=_holds(48, 24, 100),
    ),
)
"""A row each, oldest first.

Shared memory, warps and CTAs: CUDA C++ Programming Guide, Technical Specifications per Compute
Capability; of sm107 triton-lang/triton, pull requests 10936 and 11104, which name no limit of a
CTA.  The instructions of sm107 are what the compiler of 3.9 chooses for it.
"""
