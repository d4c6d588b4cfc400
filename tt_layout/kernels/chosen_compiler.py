"""The compiler that dumps are handed to, chosen once for all that follows in this context."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple, Protocol

from tt_layout.kernels.metadata import KernelMetadata


class CompilerTarget(NamedTuple):
    """A GPU as Triton names it.

    Attributes:
        kind: ``cuda`` or ``hip``.
        chip: such as ``90`` or ``gfx942``.
        lanes: of a warp.
        most_registers: of a thread (``maxnreg``); 0 for no limit of its own.
    """

    kind: str
    chip: str
    lanes: int
    most_registers: int = 0

    @property
    def name(self) -> str:
        """The target as a dump has it."""
        return f"{self.kind}:{self.chip}"


class Compiler(Protocol):
    """A compiler that dumps are handed to."""

    @property
    def release(self) -> str | None:
        """Its release; None where there is none."""

    def metadata(self, text: str, target: CompilerTarget, known: KernelMetadata) -> KernelMetadata:
        """Return the metadata of a kernel with the registers that the compiler gives it."""


CHOSEN: ContextVar[Compiler | None] = ContextVar("compiler", default=None)


def chosen_compiler() -> Compiler | None:
    """Return the compiler that dumps are handed to; None where they are not compiled."""
    return CHOSEN.get()


def choose_compiler(compiler: Compiler | None) -> None:
    """Hand every dump that is audited from here on to a compiler; to none for None."""
    CHOSEN.set(compiler)
