"""What was compiled and launched while a program was watched."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tt_layout.kernels.binaries import CompiledRegisters
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata

MAX_LAUNCHES = 256
"""Launches of a kernel that are looked at: what comes later costs the program nothing."""

POINTER_PERIOD = 512
"""Of an address the rest modulo this is kept: what the audit asks for."""


class Launch(NamedTuple):
    """One way in which a kernel was launched.

    Attributes:
        grid: programs along x, y and z.
        values: argument -> integer; of a pointer its address modulo 512.
    """

    grid: tuple[int, int, int]
    values: tuple[tuple[str, int], ...]

    @property
    def programs(self) -> int:
        """The number of programs.

        Example:
            >>> Launch((4, 2, 1), ()).programs
            8
        """
        across, down, deep = self.grid
        return across * down * deep


class CompiledKernel(NamedTuple):
    """A kernel as Triton compiled it.

    Attributes:
        key: Triton's hash of it.
        name: of the kernel.
        text: its TTGIR; None where the cache keeps only the binary.
        place: the test, or the line of the program, that compiled it; empty where unknown.
        known: what Triton says of it besides.
    """

    key: str
    name: str
    text: str | None
    place: str
    known: KernelMetadata = NO_METADATA


@dataclass(frozen=True)
class SeenKernel:
    """A kernel, and how it was launched.

    Attributes:
        compiled: the kernel.
        launches: each different one of the first launches -> how often it occurred.
    """

    compiled: CompiledKernel
    launches: Mapping[Launch, int] = field(default_factory=dict)

    @property
    def launch(self) -> Launch | None:
        """The launch that it is audited with: the one with most programs in all."""
        return max(self.launches, key=lambda one: one.programs * self.launches[one], default=None)


class Record:
    """What has been seen so far; several threads may add to it.

    Args:
        max_launches: how many launches of a kernel are kept; None for all.
    """

    def __init__(self, max_launches: int | None = MAX_LAUNCHES) -> None:
        self._max_launches = max_launches
        self._lock = threading.Lock()
        self._kernels: dict[str, CompiledKernel] = {}
        self._launches: dict[str, dict[Launch, int]] = {}
        self._counts: dict[str, int] = {}

    def knows(self, key: str) -> bool:
        """Tell whether a kernel was seen."""
        return key in self._kernels

    def compiled(self, kernel: CompiledKernel) -> None:
        """Keep a kernel, unless it was seen before."""
        with self._lock:
            self._kernels.setdefault(kernel.key, kernel)

    def has_room(self, key: object) -> bool:
        """Tell whether further launches of a kernel are kept; none of a kernel without a hash.

        A kernel has no hash while it is still being compiled: the listener will be called for it.
        """
        limit = self._max_launches
        return isinstance(key, str) and (limit is None or self._counts.get(key, 0) < limit)

    def launched(self, key: str, launch: Launch) -> None:
        """Keep a launch."""
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1
            launches = self._launches.setdefault(key, {})
            launches[launch] = launches.get(launch, 0) + 1

    def add(self, kernels: Iterable[SeenKernel]) -> None:
        """Keep what another process saw."""
        for kernel in kernels:
            self.compiled(kernel.compiled)
            with self._lock:
                launches = self._launches.setdefault(kernel.compiled.key, {})
                for launch, count in kernel.launches.items():
                    launches[launch] = launches.get(launch, 0) + count

    @property
    def kernels(self) -> tuple[SeenKernel, ...]:
        """The kernels in the order in which they were seen."""
        with self._lock:
            return tuple(
                SeenKernel(kernel, dict(self._launches.get(key, {})))
                for key, kernel in self._kernels.items()
            )


def to_plain(kernel: SeenKernel) -> list[Any]:
    """Return a kernel as lists, numbers and texts, which any channel carries.

    Example:
        >>> known = KernelMetadata("copy", 4, registers=CompiledRegisters(32, 0))
        >>> kernel = SeenKernel(CompiledKernel("12", "copy", None, "a.py:1", known),
        ...                     {Launch((4, 1, 1), (("n", 7),)): 2})
        >>> from_plain(to_plain(kernel)) == kernel
        True
    """
    launches = [
        [list(launch.grid), [list(pair) for pair in launch.values], count]
        for launch, count in kernel.launches.items()
    ]
    *texts, known = kernel.compiled
    return [[*texts, list(known)], launches]


def from_plain(plain: list[Any]) -> SeenKernel:
    """Return the kernel that `to_plain` made lists of."""
    (key, name, text, place, values), launches = plain
    known = KernelMetadata(*values)
    if known.registers is not None:
        known = known._replace(registers=CompiledRegisters(*known.registers))
    found = {
        Launch(tuple(grid), tuple((argument, number) for argument, number in pairs)): count
        for grid, pairs, count in launches
    }
    return SeenKernel(CompiledKernel(key, name, text, place, known), found)


def integer(value: object) -> int | None:
    """Return a number of metadata or JSON that is an integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
