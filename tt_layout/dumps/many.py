"""Many dumps: found in folders, audited by several processes, cached in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tt_layout.audit.kernel import Kernel
from tt_layout.audit.values.given import check_names
from tt_layout.dumps.audits import FileKernels, KernelReader, PassedOver
from tt_layout.dumps.dump import Progress, Reading, silent
from tt_layout.dumps.processes import results_of, results_of_groups
from tt_layout.errors import LayoutError
from tt_layout.files import is_file, open_file
from tt_layout.grouping import grouped
from tt_layout.mlir.source import WHAT_DUMPS_ARE, dumps_below
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count
from tt_layout.worker import processors

if TYPE_CHECKING:
    from tt_layout.dumps.cache import ResultCache

FEW = 24
"""Dumps for which no other processes are started."""

TOGETHER = FEW // 2
"""Dumps that a process may always take at once: each has at least two turns."""

TURNS = 4
"""Turns of each process, where there are many dumps, so that all end at about the same time."""

BEGINNING = 1 << 16
"""Bytes of a dump by which others are found that are like it."""

Result = tuple[str, "FileKernels | PassedOver"]
"""The name of a dump, and what is found in it."""


def files_of(names: Sequence[str]) -> list[str]:
    """Return the files among names, and the dumps below the folders among them.

    A ``.ttir`` beside a ``.ttgir`` of the same name is the same kernel without layouts, and is left
    out.

    Raises:
        LayoutError: there are none.
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
    if not files:
        raise LayoutError(f"found no dump in {', '.join(names)}: {WHAT_DUMPS_ARE}")
    return files


class ManyKernels(NamedTuple):
    """The kernels of many dumps.

    Attributes:
        kernels: the worst first.
        passed_over: files without an audit, sorted by name.
    """

    kernels: Sequence[Kernel]
    passed_over: Sequence[PassedOver]


def many_kernels(
    names: Sequence[str],
    reading: Reading,
    *,
    cache: str | None = None,
    explains: bool = True,
    has_bounds: bool = False,
    progress: Progress = silent,
) -> ManyKernels:
    """Return the kernels of many dumps.

    Args:
        names: names of files and folders.
        reading: how each dump is read.
        cache: a folder in which results are cached; None for none.
        explains: whether findings explain what would make accesses wider; always with a cache.
        has_bounds: whether the facts of kernels include the bounds.
        progress: shows how many dumps are done.

    Raises:
        LayoutError: no file could be read, or a value is given for an argument that no kernel has.
    """
    files = files_of(names)
    compute = partial(
        _results,
        reading=reading._replace(progress=silent),
        explains=explains or cache is not None,
        has_bounds=has_bounds,
        progress=progress,
    )
    if cache is None:
        results = compute(files)
    else:
        from tt_layout.dumps.cache import ResultCache

        results = _kept(files, ResultCache(cache, reading, has_bounds=has_bounds), compute)
    kernels: list[Kernel] = []
    passed: list[PassedOver] = []
    unread: list[PassedOver] = []
    arguments: dict[str, None] = {}
    for _, result in results:
        if isinstance(result, PassedOver):
            passed.append(result)
        else:
            kernels += result.kernels
            unread += result.unread
            arguments.update(dict.fromkeys(result.arguments))
    if len(passed) == len(files):
        reasons = "\n".join(f"{skipped.file}: {skipped.reason}" for skipped in sorted(passed))
        raise LayoutError(f"none of {count(len(files), 'file')} could be read\n{reasons}")
    if reading.given is not None:
        check_names(reading.given, arguments)
    return ManyKernels(sorted(kernels, key=lambda k: k.rank), sorted(passed + unread))


def _results(
    files: Sequence[str],
    *,
    reading: Reading,
    explains: bool,
    has_bounds: bool,
    progress: Progress,
) -> Iterator[Result]:
    """Yield the result of each file, in any order."""
    settings = _reader, reading, explains, has_bounds
    processes = min(processors(), len(files) // FEW)
    results = (
        results_of_groups(groups_of_variants(files, processes), *settings, processes=processes)
        if processes > 1
        else results_of(files, *settings, processes=1)
    )
    with results as answers, progress(len(files)) as show:
        for done, result in enumerate(answers, 1):
            yield result
            show(done)


def groups_of_variants(files: Sequence[str], processes: int) -> Iterator[list[str]]:
    """Yield files in groups of the same length in lines, which mostly are variants of one kernel.

    A process that has audited one of them audits the others sooner.  The longest come first, so
    that no process is left with them in the end.

    Args:
        files: the files.
        processes: the number of processes that take the groups.
    """
    together = max(TOGETHER, len(files) // (TURNS * processes))
    for _, group in sorted(grouped(files, _lines).items(), reverse=True):
        yield from (group[at : at + together] for at in range(0, len(group), together))


def _lines(file: str) -> int:
    """Return the lines at the beginning of a file; 0 where it cannot be read."""
    if not is_file(file):
        return 0
    try:
        with open_file(file) as content:
            return content.read(BEGINNING).count(b"\n")
    except OSError:
        return 0


def _kept(
    files: Sequence[str],
    cache: ResultCache,
    compute: Callable[[Sequence[str]], Iterator[Result]],
) -> Iterator[Result]:
    """Yield the result of each file, computed or from a cache."""
    keys = {file: cache.key(file) for file in files}
    left = []
    for file, key in keys.items():
        kept = cache.find(key, file) if key is not None else None
        if kept is not None:
            yield file, kept
        else:
            left.append(file)
    for file, result in compute(left):
        key = keys[file]
        if key is not None and not isinstance(result, PassedOver):
            cache.keep(key, file, result)
        yield file, result
    if left:
        cache.shrink()


def _reader(reading: Reading, explains: bool, has_bounds: bool) -> Callable[[str], Result]:
    return partial(_read, KernelReader(reading, explains=explains, has_bounds=has_bounds))


def _read(reader: KernelReader, file: str) -> Result:
    return file, reader.read(file)
