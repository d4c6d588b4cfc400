"""Progress bars on standard error, for long work at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

_Item = TypeVar("_Item")

PATIENCE = 1.0  # seconds that pass before a terminal is shown how far something is


class Watch(Protocol):
    """Function that passes items through, and may show their progress."""

    def __call__(self, items: Collection[_Item]) -> Iterable[_Item]:
        """Yield the items."""


def unwatched(items: Collection[_Item]) -> Iterable[_Item]:
    """Return items unchanged: a library shows no progress."""
    return items


def watched(items: Collection[_Item]) -> Iterator[_Item]:
    """Yield items; after a second, show on a terminal how many are done."""
    return counted(items, len(items))


def counted(items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """Yield ``total`` items; after a second, show on a terminal how many are done."""
    if not sys.stderr.isatty():
        yield from items
        return
    started, show = monotonic(), None
    with ExitStack() as shown:
        for done, item in enumerate(items, 1):
            yield item
            if show is None and done < total and monotonic() - started > PATIENCE:
                show = shown.enter_context(progress_bar(total, "MofNCompleteColumn"))
            if show is not None:
                show(done)


@contextmanager
def shown_from(least: int, column: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that takes the progress; a terminal shows it if the total is large.

    Args:
        least: the smallest total that is shown.
        column: as for `progress_bar`.
        total: the amount of work.
    """
    if total < least or not sys.stderr.isatty():
        yield lambda done: None
        return
    with progress_bar(total, column) as show:
        yield show


characters_shown = partial(shown_from, 4 << 20, "TaskProgressColumn")
"""Shows how many characters of a dump are read, or bytes; of 4 MiB at least."""

dumps_shown = partial(shown_from, 24, "MofNCompleteColumn")
"""Shows how many of many dumps are done."""


@contextmanager
def progress_bar(total: int, column: str, **options: bool) -> Iterator[Callable[[int], None]]:
    """Show a progress bar; give a function that takes the amount done so far.

    Args:
        total: the amount of work.
        column: the class of `rich.progress` that shows the amount done.
        options: arguments of that class.
    """
    from rich import progress
    from rich.console import Console

    shown = getattr(progress, column)(**options)
    columns = progress.BarColumn(), shown, progress.TimeRemainingColumn()
    console = Console(file=sys.__stderr__)
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
