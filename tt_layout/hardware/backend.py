"""A vendor's Triton backend as data: the names of its GPUs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from tt_layout.records import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A Triton backend; a vendor has one, and rows.

    Attributes:
        name: prefix of the targets of its modules, such as ``cuda``.
        vendor: the vendor of its GPUs.
        prefix: prefix of the names of its GPUs.
        version: maps the name of a GPU to numbers, of which the last orders the GPUs of a
            generation, which the others identify; None for other names.
        multiprocessor: the vendor's term for the unit that runs CTAs, in full.
        is_numbered: whether its targets are numbers, as in ``cuda:90``; help prints the ends of
            their range.
    """

    name: str
    vendor: str
    prefix: str
    version: Callable[[str], Version | None] = field(compare=False)
    multiprocessor: str = "multiprocessor"
    is_numbered: bool = False

    def chip(self, written: str) -> str:
        """Return the name of a GPU as the rows spell it, from the text after a target's colon.

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
        """Tell whether a row covers a chip: with numbers by equality, otherwise by prefix.

        Example:
            >>> from tt_layout.hardware import BACKENDS
            >>> BACKENDS["cuda"].names("sm100", "sm10"), BACKENDS["hip"].names("gfx1201", "gfx12")
            (False, True)
        """
        return chip == beginning if self.is_numbered else chip.startswith(beginning)
