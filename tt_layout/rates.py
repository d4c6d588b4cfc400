"""How fast a GPU can do what kernels do: a row for each that a source gives rates of.

Each rate is a ceiling: what a kernel needs of it, divided by it, is a time that it cannot beat.  A
rate that no source gives is absent, and bounds nothing.

Sources:
    H200: measured, each rate by itself (docs/bounds.md has how); clock and DRAM of its data sheet.
    The others are documented, not measured; what is per cycle agrees with the whole GPU's FLOPS
    over its multiprocessors and its clock:
    A100: NVIDIA, "NVIDIA A100 Tensor Core GPU Architecture", 2020 (108 SMs, 1,410 MHz, 64 FP32
    cores, four tensor cores of 256 FP16 FMA a clock each; 312 TFLOPS of FP16, 156 of TF32, 624
    TOPS, 19.5 TFLOPS of FP64) and the data sheet of the 80 GB version (2,039 GB/s).
    B200: NVIDIA's Blackwell data sheets (148 SMs, 8 TB/s, 2.25 PFLOPS of dense FP16, half of it
    TF32, twice of it FP8, which is 8,192 a cycle at the 1.86 GHz of its tensor cores).
    MI300X: AMD CDNA 3 white paper and data sheet (304 CUs, 2,100 MHz, 5.3 TB/s, 1,307 TFLOPS of
    FP16, 4,096 FP8 FLOPs a clock and CU).
    MI355X: AMD CDNA 4 white paper, AMD at ISSCC 2026 (256 CUs, 2,400 MHz, 8 TB/s, 8,192 FP8 FLOPs
    a clock and CU, 157.3 TFLOPS of FP32).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tt_layout.hardware import Target


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What a GPU does at most.

    Attributes:
        product: the GPU that the rates are of; others of its row are slower.
        multiprocessors: SMs or compute units.
        clock_hz: cycles of a multiprocessor in a second, boosted.
        dram_bytes: that memory moves in a second.
        l2_bytes: that the second-level cache hands a multiprocessor in a cycle while all ask.
        lsu_cycles: wavefronts of shared memory, and lines of global memory, in a cycle.
        fma: additions, multiplications, or both at once, of 32-bit floats in a cycle.
        special: exponentials, logarithms, roots and the like in a cycle.
        tensor: family of matrix instructions, and element -> their FLOPs in a cycle.
        evidence: ``measured``, or ``documented``: no GPU was asked.
    """

    product: str
    multiprocessors: int
    clock_hz: float
    dram_bytes: float
    l2_bytes: float | None = None
    lsu_cycles: float = 1
    fma: float = 128
    special: float | None = 16
    tensor: Mapping[tuple[str, str], float] = field(default_factory=dict, hash=False)
    evidence: str = "documented"

    def tensor_rate(self, instruction: str, element: str) -> float | None:
        """Return the FLOPs per cycle of a matrix instruction; None where no source gives them.

        Args:
            instruction: as the assembler spells it.
            element: of its operands, such as ``bf16``.

        Example:
            >>> H200.tensor_rate("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16")
            2710
            >>> MI300X.tensor_rate("v_mfma_f32_32x32x8_f16", "f16")
            2048
        """
        family = next((each for each in _FAMILIES if each in instruction), "")
        return self.tensor.get((family, _ELEMENTS.get(element, element)))


_FAMILIES = ("wgmma", "tcgen05", "mfma", "mma")
"""How matrix instructions are called, the longer before those that are part of them."""

_ELEMENTS = {"bf16": "f16", "f32": "tf32", "f8E4M3FN": "f8", "f8E5M2": "f8"} | dict.fromkeys(
    ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"), "f8"
)
"""Elements that are multiplied as fast as others -> those."""


def _tensor(family: str, **rates: float) -> Mapping[tuple[str, str], float]:
    return MappingProxyType({(family, element): rate for element, rate in rates.items()})


H200 = Rates(
    product="H200",
    multiprocessors=132,
    clock_hz=1.98e9,
    dram_bytes=4.6e12,
    l2_bytes=68,
    tensor={
        **_tensor("mma", f16=2710, tf32=1355, i8=5421, f64=128),
        **_tensor("wgmma", f16=4096, tf32=2048, f8=8192, i8=8192),
    },
    evidence="measured",
)
A100 = Rates(
    product="A100",
    multiprocessors=108,
    clock_hz=1.41e9,
    dram_bytes=2.039e12,
    fma=64,
    tensor=_tensor("mma", f16=2048, tf32=1024, i8=4096, f64=128),
)
B200 = Rates(
    product="B200",
    multiprocessors=148,
    clock_hz=1.965e9,
    dram_bytes=8e12,
    tensor=_tensor("tcgen05", f16=8192, tf32=4096, f8=16384),
)
MI300X = Rates(
    product="MI300X",
    multiprocessors=304,
    clock_hz=2.1e9,
    dram_bytes=5.3e12,
    special=None,
    tensor=_tensor("mfma", f16=2048, tf32=256, f8=4096, i8=4096, f64=256),
)
MI355X = Rates(
    product="MI355X",
    multiprocessors=256,
    clock_hz=2.4e9,
    dram_bytes=8e12,
    special=None,
    tensor=_tensor("mfma", f16=4096, tf32=256, f8=8192, i8=8192, f64=128),
)

ROWS: Mapping[str, Rates] = MappingProxyType(
    {"sm80": A100, "sm90": H200, "sm100": B200, "gfx942": MI300X, "gfx950": MI355X}
)
"""Row of `tt_layout.hardware` -> the rates of its fastest GPU."""


def rates_of(target: Target) -> Rates | None:
    """Return the rates of a GPU; None where no source gives them.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> rates_of(TARGETS["sm90"]).product, rates_of(TARGETS["gfx11"])
        ('H200', None)
    """
    return ROWS.get(target.name)
