"""Progress bars on standard error, for what takes long at a terminal."""

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
    """Function that passes items on, and may show their progress."""

    def __call__(self, items: Collection[_Item]) -> Iterable[_Item]:
        """Yield the items."""


def unwatched(items: Collection[_Item]) -> Iterable[_Item]:
    """Return items as they are: in a library nobody looks at a terminal."""
    return items


def watched(items: Collection[_Item]) -> Iterator[_Item]:
    """Yield items; a terminal shows how many are done, once they have taken a second."""
    return counted(items, len(items))


def counted(items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """Yield so many items; a terminal shows how many are done, once they have taken a second."""
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
    """Give what takes how much of a total is done; of a large one a terminal shows it.

    Args:
        least: the smallest total that is shown.
        column: as `progress_bar` takes it.
        total: what there is to do.
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
    """Show how far something is; what is given takes how much is done by now.

    Args:
        total: what there is to do.
        column: the class of `rich.progress` that shows what is done.
        options: of that class.
    """
    from rich import progress
    from rich.console import Console

    shown = getattr(progress, column)(**options)
    columns = progress.BarColumn(), shown, progress.TimeRemainingColumn()
    console = Console(file=sys.__stderr__)
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
