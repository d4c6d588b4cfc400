"""Many dumps: found in folders, audited by several processes."""

from __future__ import annotations

import gc
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from tt_layout.audit.audit import Audit
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.shares import grid_of
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.audit.verdict import BEFORE_LAYOUTS
from tt_layout.cli.dump_modules import read_modules
from tt_layout.cli.output import note
from tt_layout.cli.processes import processes
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import WHAT_DUMPS_ARE, dumps_below
from tt_layout.releases import Release
from tt_layout.reports.kernel_overview import (
    FileKernels,
    FileReader,
    KernelOverview,
    PassedOver,
)
from tt_layout.reports.opened import audit_with, open_dumps
from tt_layout.reports.progress import progress_bar
from tt_layout.reports.watched_findings import Watcher
from tt_layout.worker import processors

FEW = 24
"""Dumps for which no other processes are started."""

COLLECTED = 256
"""Dumps after which a process collects garbage among all objects, not only those of the last."""

_reader: FileReader | None = None
_counts = count(1)

Settings = tuple[bool, "Release | None", "GivenValues | None"]

Result = tuple[str, "FileKernels | PassedOver"]
"""The name of a dump, and what is found in it."""

Results = Iterable[Result]


def files_of(names: Sequence[str]) -> list[str]:
    """Return the files among names, and the dumps below the folders among them.

    A ``.ttir`` beside a ``.ttgir`` of its name is the same kernel before it has layouts: it is
    left out.
    """
    files: list[str] = []
    for name in names:
        if not os.path.isdir(name):
            files.append(name)
            continue
        below = dumps_below(name)
        with_layouts = {os.path.splitext(path)[0] for path in below if path.endswith(".ttgir")}
        files += [
            path
            for path in below
            if not (path.endswith(".ttir") and os.path.splitext(path)[0] in with_layouts)
        ]
    return files


def overview(
    names: Sequence[str],
    *,
    is_partial: bool,
    release: Release | None,
    given: GivenValues | None,
    top: int | None,
    cache: str | None = None,
    explains: bool = True,
    has_bounds: bool = False,
) -> KernelOverview:
    """Return the kernels of all dumps, the worst first.

    Args:
        cache: a folder in which results are kept, and found again; None for none.
        explains: whether findings say what would make accesses wider; always with a cache.
        has_bounds: whether the facts of kernels have the bounds.

    Raises:
        LayoutError: no file could be read, or a value is given for an argument of no kernel.
    """
    files = files_of(names)
    if not files:
        raise LayoutError(f"found no dump in {', '.join(names)}: {WHAT_DUMPS_ARE}")
    kernels: list[Kernel] = []
    passed: list[PassedOver] = []
    unread: list[PassedOver] = []
    arguments: dict[str, None] = {}
    settings = is_partial, release, given
    if cache is None:
        results = _results(files, settings, explains=explains, has_bounds=has_bounds)
    else:
        results = _kept(files, settings, cache, has_bounds=has_bounds)
    for _, result in results:
        if isinstance(result, PassedOver):
            passed.append(result)
        else:
            kernels += result.kernels
            unread += result.unread
            arguments.update(dict.fromkeys(result.arguments))
    if len(passed) == len(files):
        reasons = "\n".join(f"{skipped.file}: {skipped.reason}" for skipped in sorted(passed))
        raise LayoutError(f"none of {len(files)} files could be read\n{reasons}")
    if given is not None:
        check_names(given, arguments)
    return KernelOverview(sorted(kernels, key=lambda k: k.rank), sorted(passed + unread), top)


class EachKernel:
    """Kernels of dumps one by one, audited in this process and let go when the next is asked for.

    Args:
        names: of dumps, and of folders with dumps.
        is_partial: whether dumps may be cut off.
        given: what the arguments of kernels are.
        watcher: is given the findings.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        is_partial: bool,
        given: GivenValues | None,
        watcher: Watcher,
    ) -> None:
        self._files = files_of(names)
        self._is_partial, self._given, self._watcher = is_partial, given, watcher

    def all_kernels(self) -> Iterator[Kernel]:
        """Yield the kernels of every dump; one that cannot be read is skipped with a note.

        Raises:
            LayoutError: none can be read, or a value is given for an argument of no kernel.
        """
        shared, unread = SharedWork(), 0
        arguments: dict[str, None] = {}
        for file in self._files:
            try:
                for name, audit in self._audits(file, shared):
                    deque(self._watcher.pass_on(file, [audit]), maxlen=0)
                    arguments.update(dict.fromkeys(audit.arguments))
                    kernels = kernels_of(audit, grid_of(audit), name)
                    if any(kernel.is_before_layouts for kernel in kernels):
                        note(f"{file}: {BEFORE_LAYOUTS}")
                    yield from kernels
            except LayoutError as error:
                unread += 1
                if unread == len(self._files):
                    raise
                note(f"{file} skipped: {error.message}")
        if self._given is not None:
            check_names(self._given, arguments)

    def _audits(self, file: str, shared: SharedWork) -> Iterator[tuple[str, Audit]]:
        """Yield the audit of each module of a file, with the name of its dump."""
        for dump in open_dumps(file).dumps:
            for module in read_modules(dump, self._is_partial):
                answer = audit_with(module, shared, dump.launch, self._given, dump.known)
                yield dump.source.name, answer.audit


def _kept(
    files: Sequence[str], settings: Settings, folder: str, *, has_bounds: bool
) -> Iterator[Result]:
    """Yield the result of each file, computed or from the cache in a folder."""
    from tt_layout.reports.result_cache import ResultCache

    cache = ResultCache(folder, *settings, has_bounds=has_bounds)
    keys = {file: cache.key(file) for file in files}
    left = []
    for file, key in keys.items():
        kept = cache.find(key, file) if key is not None else None
        if kept is not None:
            yield file, kept
        else:
            left.append(file)
    for file, result in _results(left, settings, has_bounds=has_bounds):
        key = keys[file]
        if key is not None and not isinstance(result, PassedOver):
            cache.keep(key, file, result)
        yield file, result
    if left:
        cache.shrink()


def _results(
    files: Sequence[str], settings: Settings, *, explains: bool = True, has_bounds: bool = False
) -> Iterator[Result]:
    """Yield the result of each file, in any order; a terminal shows the progress."""
    number = min(processors(), len(files) // FEW)
    if number < 2:
        _start(*settings, explains, has_bounds)
        with _progress(len(files)) as advance:
            yield from advance(map(_read, files))
        return
    # The processes are there before the progress bar starts its thread.
    with (
        processes(number, _start_process, *settings, explains, has_bounds) as pool,
        _progress(len(files)) as advance,
    ):
        yield from advance(pool.imap_unordered(_read_in_process, files, chunksize=8))


def _start(
    is_partial: bool,
    release: Release | None,
    given: GivenValues | None,
    explains: bool,
    has_bounds: bool,
) -> None:
    global _reader  # what a process keeps from file to file
    _reader = FileReader(is_partial, release, given, explains=explains, has_bounds=has_bounds)


def _start_process(*settings: object) -> None:
    """Begin in a process of its own, in which garbage is collected between dumps."""
    gc.disable()
    _start(*settings)  # type: ignore[arg-type]


def _read(file: str) -> Result:
    assert _reader is not None
    return file, _reader.read(file)


def _read_in_process(file: str) -> Result:
    result = _read(file)
    gc.collect(0 if next(_counts) % COLLECTED else 2)
    return result


@contextmanager
def _progress(number: int) -> Iterator[Callable[[Results], Results]]:
    """Give what passes results on, and shows on a terminal how many there were."""
    if number < FEW or not sys.stderr.isatty():
        yield lambda results: results
        return
    with progress_bar(number, "MofNCompleteColumn") as show:

        def counted(results: Results) -> Results:
            for done, result in enumerate(results, 1):
                yield result
                show(done)

        yield counted
