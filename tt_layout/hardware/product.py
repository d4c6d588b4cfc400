"""Products: memory, clock and number of multiprocessors of a GPU that is sold.

Each rate is a ceiling: the demand of a kernel divided by the rate is a lower bound on its time.  A
rate that no source gives is None, and gives no bound.

Read next:    `tt_layout.audit.bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from tt_layout.hardware.timing import Timing
from tt_layout.records import dataclass

_FAMILIES = ("wgmma", "tcgen05", "mfma", "mma")
"""Names of matrix instructions, the longer before those that are part of them."""

_ELEMENTS = {"bf16": "f16", "f32": "tf32", "f8E4M3FN": "f8", "f8E5M2": "f8"} | dict.fromkeys(
    ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"), "f8"
)
"""Elements that are multiplied as fast as others -> those."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """A GPU product: an architecture with a clock and memory; rates a cycle are per multiprocessor.

    Attributes:
        name: the vendor's name; ``--gpu`` and ``--target`` take it in any case, without spaces.
        multiprocessors: number of SMs or compute units.
        clock_hz: boost clock of a multiprocessor.
        dram_bytes: bytes per second of DRAM.
        l2_bytes: bytes per cycle from the second-level cache while all multiprocessors load.
        lsu_cycles: wavefronts of shared memory, and lines of global memory, per cycle.
        fma: additions, multiplications or fused pairs of 32-bit floats per cycle.
        special: exponentials, logarithms, roots and the like per cycle.
        tensor: family of matrix instructions and element type -> FLOPs per cycle.
        evidence: ``measured``, or ``documented``, without a measurement.
        source: source of the numbers.
        timing: attained rates; None where not known.
    """

    name: str
    multiprocessors: int
    clock_hz: float
    dram_bytes: float
    l2_bytes: float | None = None
    lsu_cycles: float = 1
    fma: float = 128
    special: float | None = 16
    tensor: Mapping[tuple[str, str], float] = field(default_factory=dict, hash=False)
    evidence: str = "documented"
    source: str
    timing: Timing | None = None

    @property
    def dram_per_cycle(self) -> float:
        """Bytes of DRAM per cycle of a multiprocessor's clock."""
        return self.dram_bytes / self.clock_hz

    @property
    def key(self) -> str:
        """The name as ``--gpu`` takes it.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> [product.key for product in find_target("sm80").products]
            ['a100-80gb', 'a100-40gb']
        """
        return self.name.lower().replace(" ", "-").replace("-gb", "gb")

    def tensor_rate(self, instruction: str, element: str) -> float | None:
        """Return the FLOPs per cycle of a matrix instruction; None where no source gives them.

        Args:
            instruction: its name in assembly.
            element: the element type of its operands, such as ``bf16``.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> h200, mi300x = find_target("h200").product, find_target("mi300x").product
            >>> h200.tensor_rate("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16")
            2710
            >>> mi300x.tensor_rate("v_mfma_f32_32x32x8_f16", "f16")
            2048
        """
        family = next((name for name in _FAMILIES if name in instruction), "")
        return self.tensor.get((family, _ELEMENTS.get(element, element)))


def tensor_rates(family: str, **rates: float) -> dict[tuple[str, str], float]:
    """Return the rates of a family of matrix instructions by family and element."""
    return {(family, element): rate for element, rate in rates.items()}
