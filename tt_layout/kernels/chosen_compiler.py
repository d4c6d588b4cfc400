"""The compiler for dumps, chosen once for a context."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.tuples import NamedTuple


class CompilerTarget(NamedTuple):
    """A GPU in Triton's terms.

    Attributes:
        kind: ``cuda`` or ``hip``.
        chip: the chip, such as ``90`` or ``gfx942``.
        lanes: lanes of a warp.
        most_registers: maximum registers per thread (``maxnreg``); 0 for no limit.
    """

    kind: str
    chip: str
    lanes: int
    most_registers: int = 0

    @property
    def name(self) -> str:
        """The target as written in a dump."""
        return f"{self.kind}:{self.chip}"


class Compiler(Protocol):
    """A compiler for dumps."""

    @property
    def release(self) -> str | None:
        """Its release; None if it is not installed."""

    def metadata(self, text: str, target: CompilerTarget, known: KernelMetadata) -> KernelMetadata:
        """Return the metadata of a kernel, with the registers that the compiler allocates."""


CHOSEN: ContextVar[Compiler | None] = ContextVar("compiler", default=None)


def chosen_compiler() -> Compiler | None:
    """Return the compiler for dumps; None if they are not compiled."""
    return CHOSEN.get()


def choose_compiler(compiler: Compiler | None) -> None:
    """Compile every dump that is audited from now on with a compiler; None for no compiler."""
    CHOSEN.set(compiler)
