"""Record of the kernels compiled and launched by a watched program."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Protocol

from tt_layout.kernels.binaries import CompiledRegisters
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

MAX_LAUNCHES = 256
"""Launches of a kernel that are looked at: what comes later costs the program nothing."""

POINTER_PERIOD = 512
"""Of an address the rest modulo this is kept: what the audit asks for."""


class Launch(NamedTuple):
    """A grid and the argument values of a launch.

    Attributes:
        grid: programs along x, y and z.
        values: argument -> integer; for a pointer, its address modulo 512.
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
        key: Triton's hash of the kernel.
        name: name of the kernel.
        text: its TTGIR; None if the cache has only the binary.
        place: the test, or the line of the program, that compiled it; empty if unknown.
        known: Triton's metadata.
    """

    key: str
    name: str
    text: str | None
    place: str
    known: KernelMetadata = NO_METADATA


@dataclass(frozen=True)
class SeenKernel:
    """A kernel and its launches.

    Attributes:
        compiled: the kernel.
        launches: each distinct launch among the first -> number of its occurrences.
    """

    compiled: CompiledKernel
    launches: Mapping[Launch, int] = field(default_factory=dict)

    @property
    def launch(self) -> Launch | None:
        """The launch to audit: the one with the most programs in total."""
        return max(self.launches, key=lambda run: run.programs * self.launches[run], default=None)


class Keeper(Protocol):
    """Store of kernels and launches, written as they occur."""

    def compiled(self, kernel: CompiledKernel) -> None:
        """Store a kernel."""

    def launched(self, key: str, launch: Launch) -> None:
        """Store a launch of the kernel with a hash."""

    def failed(self, failure: str) -> None:
        """Store a failure of the hooks."""


class Record:
    """Thread-safe record of kernels and launches.

    Args:
        max_launches: maximum number of launches of a kernel to keep; None for all.
        journal: receives everything at once; None for none.

    Attributes:
        journal_of_forks: the journal of processes that are forked from this one; None for none.
        failure: the first failure of the hooks.
    """

    def __init__(
        self, max_launches: int | None = MAX_LAUNCHES, journal: Keeper | None = None
    ) -> None:
        self._max_launches = max_launches
        self._journal = journal
        self.journal_of_forks: Keeper | None = None
        self._empty()

    def _empty(self) -> None:
        self._lock = threading.Lock()
        self._kernels: dict[str, CompiledKernel] = {}
        self._launches: dict[str, dict[Launch, int]] = {}
        self._counts: dict[str, int] = {}
        self.failure: str | None = None

    def begin_anew(self) -> None:
        """Clear the record in a forked process, and store later events in its journal.

        The lock is replaced, since another thread of the parent may have held it.
        """
        self._journal = self.journal_of_forks
        self._empty()

    def knows(self, key: str) -> bool:
        """Tell whether a kernel is in the record."""
        return key in self._kernels

    def compiled(self, kernel: CompiledKernel) -> None:
        """Add a kernel, unless it is in the record."""
        with self._lock:
            is_new = self._kernels.setdefault(kernel.key, kernel) is kernel
        if is_new and self._journal is not None:
            self._journal.compiled(kernel)

    def has_room(self, key: object) -> bool:
        """Tell whether further launches of a kernel are kept; False without its hash.

        A kernel has no hash while it is being compiled: the listener will be called for it.
        """
        limit = self._max_launches
        return isinstance(key, str) and (limit is None or self._counts.get(key, 0) < limit)

    def launched(self, key: str, launch: Launch) -> None:
        """Add a launch."""
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1
            launches = self._launches.setdefault(key, {})
            launches[launch] = launches.get(launch, 0) + 1
        if self._journal is not None:
            self._journal.launched(key, launch)

    def failed(self, error: Exception) -> None:
        """Store the first failure of the hooks."""
        failure = f"{type(error).__name__}: {error}"
        if self.failure is None:
            self.failure = failure
            if self._journal is not None:
                with suppress(OSError):  # its disk is full, which was the failure perhaps
                    self._journal.failed(failure)

    def add(self, kernels: Iterable[SeenKernel]) -> None:
        """Add the kernels of another process."""
        for kernel in kernels:
            self.compiled(kernel.compiled)
            with self._lock:
                launches = self._launches.setdefault(kernel.compiled.key, {})
                for launch, count in kernel.launches.items():
                    launches[launch] = launches.get(launch, 0) + count

    @property
    def kernels(self) -> tuple[SeenKernel, ...]:
        """The kernels in order of occurrence."""
        with self._lock:
            return tuple(
                SeenKernel(kernel, dict(self._launches.get(key, {})))
                for key, kernel in self._kernels.items()
            )


def to_plain(kernel: SeenKernel) -> list[Any]:
    """Convert a kernel and its launches to lists, numbers and strings for any channel.

    Example:
        >>> known = KernelMetadata("copy", 4, registers=CompiledRegisters(32, 0))
        >>> kernel = SeenKernel(CompiledKernel("12", "copy", None, "a.py:1", known),
        ...                     {Launch((4, 1, 1), (("n", 7),)): 2})
        >>> from_plain(to_plain(kernel)) == kernel
        True
    """
    launches = [[launch_to_plain(launch), count] for launch, count in kernel.launches.items()]
    return [kernel_to_plain(kernel.compiled), launches]


def from_plain(plain: list[Any]) -> SeenKernel:
    """Convert the lists of `to_plain` to a kernel."""
    compiled, launches = plain
    counts = {launch_from_plain(launch): count for launch, count in launches}
    return SeenKernel(kernel_from_plain(compiled), counts)


def kernel_to_plain(kernel: CompiledKernel) -> list[Any]:
    """Convert a compiled kernel to lists, strings and dictionaries."""
    *texts, metadata = kernel
    registers = None if metadata.registers is None else metadata.registers._asdict()
    return [*texts, {**metadata._asdict(), "registers": registers, "assembly": None}]


def kernel_from_plain(plain: list[Any]) -> CompiledKernel:
    """Convert the list of `kernel_to_plain` to a compiled kernel."""
    key, name, text, place, metadata = plain
    registers = metadata["registers"]
    compiled = None if registers is None else CompiledRegisters(**registers)
    options = metadata["options"] and tuple((name, value) for name, value in metadata["options"])
    compiled_metadata = KernelMetadata(**{**metadata, "registers": compiled, "options": options})
    return CompiledKernel(key, name, text, place, compiled_metadata)


def launch_to_plain(launch: Launch) -> list[Any]:
    """Convert a launch to lists and numbers."""
    return [list(launch.grid), [list(pair) for pair in launch.values]]


def launch_from_plain(plain: list[Any]) -> Launch:
    """Convert the list of `launch_to_plain` to a launch."""
    grid, values = plain
    return Launch(tuple(grid), tuple((name, number) for name, number in values))


def integer(value: object) -> int | None:
    """Return a number of metadata or JSON if it is an integer, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
