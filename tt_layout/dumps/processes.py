"""Worker processes of commands that read many dumps."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeVar

from tt_layout.kernels.chosen_compiler import Compiler, choose_compiler, chosen_compiler
from tt_layout.worker import begin_worker, start_method

if TYPE_CHECKING:
    from multiprocessing.pool import Pool

COLLECTED = 256
"""Items after which a process collects garbage among all objects, not only those of the last."""

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any] | None = None
_counts = count(1)


@contextmanager
def results_of(
    items: Sequence[Item],
    make: Callable[..., Callable[[Item], Result]],
    *settings: Any,
    processes: int,
    chunksize: int = 1,
) -> Iterator[Iterator[Result]]:
    """Give the results of a function over items, computed by other processes if there are several.

    The processes are started before the first result is requested.

    Args:
        items: the arguments of the function.
        make: makes the function from the settings, once in each process.
        settings: arguments of ``make``, sent to the processes.
        processes: the number of processes; fewer than 2 for this one alone.
        chunksize: items that a process takes at once.
    """
    if processes < 2:
        yield map(make(*settings), items)
        return
    with _pool(processes, make, settings, are_short=False) as pool:
        yield pool.imap(_result, items, chunksize)


@contextmanager
def results_of_groups(
    groups: Iterable[Sequence[Item]],
    make: Callable[..., Callable[[Item], Result]],
    *settings: Any,
    processes: int,
) -> Iterator[Iterator[Result]]:
    """Give the results of a function over short items as `results_of` does, but in any order.

    Garbage is collected between items only.  An item of usual size is computed before processes are
    forked, which then have what was imported, compiled and found for it.

    Args:
        groups: the arguments of the function, of which a process takes a group at once; those in
            the middle are of usual size.
        make, settings: as for `results_of`.
        processes: the number of processes, at least 2.
    """
    global _work
    groups, done = [*groups], list[Result]()
    if start_method() == "fork" and groups:
        (first, *rest), middle = groups[len(groups) // 2], len(groups) // 2
        _work = make(*settings)
        done, groups[middle] = [_work(first)], rest
    with _pool(processes, make, settings, are_short=True) as pool:
        _work = None
        yield chain(done, chain.from_iterable(pool.imap_unordered(_group_results, groups)))


def _pool(
    processes: int,
    make: Callable[..., Callable[[Any], Any]],
    settings: Sequence[Any],
    *,
    are_short: bool,
) -> Pool:
    from multiprocessing import get_context

    begun = (chosen_compiler(), are_short, make, *settings)
    return get_context(start_method()).Pool(processes, _begin, begun)


def _begin(
    compiler: Compiler | None,
    are_short: bool,
    make: Callable[..., Callable[[Any], Any]],
    *settings: Any,
) -> None:
    """Initialize a worker process."""
    global _work  # what a process keeps from item to item
    begin_worker()
    gc.freeze()
    if are_short:
        gc.disable()
    choose_compiler(compiler)
    if _work is None:  # otherwise it has computed an item before this process was forked
        _work = make(*settings)


def _result(item: Any) -> Any:
    assert _work is not None
    return _work(item)


def _group_results(items: Sequence[Any]) -> list[Any]:
    return [_collected(item) for item in items]


def _collected(item: Any) -> Any:
    """Return the result of an item, and collect the garbage that it leaves: little is alive then.

    Otherwise garbage is looked for in the midst of an item, among all that is needed for it.
    """
    result = _result(item)
    gc.collect(0 if next(_counts) % COLLECTED else 2)
    return result
