"""``tensor-cores``: a matrix multiplication without a matrix instruction.

What: multiplications that each thread computes one pair of elements at a time, with their number
    per thread, the reason, and what would give them an instruction

Cost: the cycles of these multiplications in all threads of a CTA, at the rate of 32-bit floats

Why: tensor cores multiply 8 to 32 times as fast, and their operands take fewer registers.

How to fix: the message names it: operands of 16 bits or ``tf32`` if the precision allows it, or
    tiles and K of at least the size of an instruction.

When it does not pay: a product that is small beside what the kernel loads, or 32-bit floats that
    have to be exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence, Urgency
from tt_layout.records import dataclass


@dataclass(frozen=True)
class IdleTensorCores(Occurrence):
    """A multiplication without a matrix instruction.

    Attributes:
        per_thread: multiply-adds of a thread.
        why: why no instruction executes it, and what would change that.
        cycles: cycles that they take in all threads; 0 where the rate is not known.
        unknown: the GPU, where its rate is not known.
    """

    kind = "tensor-cores"
    order = 22
    heading = "FMA"
    urgency = Urgency.IDLE_TENSOR_CORES

    per_thread: int
    why: str
    cycles: float
    unknown: str | None = None

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the multiplications of a module that tensor cores take no part in."""
        audited = conclusions.audited
        target = audited.target if audited.module.gpu is not None else None
        for product in conclusions.multiplications:
            if product.fma is not None and product.instruction is None:
                per_thread, why = product.fma
                cycles, unknown = 0.0, None
                if target is not None and target.product is not None:
                    threads = (audited.module.number("num-warps") or 1) * target.lanes
                    cycles = per_thread * threads / target.product.fma
                elif target is not None:
                    unknown = target.name
                yield Finding.of_multiplication(product, cls(per_thread, why, cycles, unknown))

    @property
    def words(self) -> str:
        """Describe the number of multiplications per thread, and the reason."""
        words = f"uses no tensor cores, but {self.per_thread} FMA per thread: {self.why}"
        if self.unknown is None:
            return words
        return f"{words}; the cycles of an FMA are not known for {self.unknown}"

    @property
    def counted(self) -> Counted:
        """Multiplications."""
        return Counted("multiplication", " without tensor cores")

    @property
    def cost(self) -> float:
        """The cycles of the multiplications, which tensor cores would take a part of."""
        return self.cycles
