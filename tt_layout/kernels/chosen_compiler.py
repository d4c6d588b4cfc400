"""The compiler that dumps are handed to, chosen once for all that follows in this context."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tt_layout.kernels.compiling import TritonCompiler

CHOSEN: ContextVar[TritonCompiler | None] = ContextVar("compiler", default=None)


def chosen_compiler() -> TritonCompiler | None:
    """Return the compiler that dumps are handed to; None where they are not compiled."""
    return CHOSEN.get()


def choose_compiler(compiler: TritonCompiler | None) -> None:
    """Hand every dump that is audited from here on to a compiler; to none for None."""
    CHOSEN.set(compiler)


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
