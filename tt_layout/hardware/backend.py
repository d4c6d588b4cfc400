"""A vendor's backend of Triton as data: what it calls its GPUs, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from tt_layout.records import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A backend of Triton; a vendor is one of these and its rows.

    Attributes:
        name: what the targets of its modules begin with, such as ``cuda``.
        vendor: whose GPUs it compiles for.
        prefix: what the names of its GPUs begin with.
        version: of the name of a GPU, the last number larger in newer ones of the same generation,
            which the others give; None for what is not a name of a GPU of the vendor.
        multiprocessor: what the vendor calls what holds CTAs, in full.
        is_numbered: whether its targets are numbers alone, as in ``cuda:90``; help names the ends
            of their range.
    """

    name: str
    vendor: str
    prefix: str
    version: Callable[[str], Version | None] = field(compare=False)
    multiprocessor: str = "multiprocessor"
    is_numbered: bool = False

    def chip(self, written: str) -> str:
        """Return the name of a GPU as the rows spell it, of what is behind a target's colon.

        Example:
            >>> from tt_layout.hardware import BACKENDS
            >>> BACKENDS["cuda"].chip("90"), BACKENDS["cuda"].chip("sm_90a")
            ('sm90', 'sm90a')
            >>> BACKENDS["hip"].chip("gfx942")
            'gfx942'
        """
        if not self.is_numbered:
            return written
        return f"{self.prefix}{written.removeprefix(self.prefix).removeprefix('_')}"

    def names(self, chip: str, beginning: str) -> bool:
        """Tell whether a chip is one of those that a row has: of numbers the very one.

        Example:
            >>> from tt_layout.hardware import BACKENDS
            >>> BACKENDS["cuda"].names("sm100", "sm10"), BACKENDS["hip"].names("gfx1201", "gfx12")
            (False, True)
        """
        return chip == beginning if self.is_numbered else chip.startswith(beginning)
