"""Progress bars on standard error, for what takes long at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
