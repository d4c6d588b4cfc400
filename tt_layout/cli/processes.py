"""Several processes for what one command has to do."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tt_layout.kernels.chosen_compiler import Compiler, choose_compiler, chosen_compiler
from tt_layout.worker import begin_worker, start_method

if TYPE_CHECKING:
    from multiprocessing.pool import Pool


@contextmanager
def processes(number: int, start: Callable[..., None], *settings: Any) -> Iterator[Pool]:
    """Give a pool of processes, each of which begins with a call.

    Args:
        number: of processes.
        start: what each calls first, with the settings.
    """
    from multiprocessing import get_context

    begun = (chosen_compiler(), start, *settings)
    with get_context(start_method()).Pool(number, _begin, begun) as pool:
        yield pool


def _begin(compiler: Compiler | None, start: Callable[..., None], *settings: Any) -> None:
    """Begin in a process of its own."""
    begin_worker()
    gc.freeze()
    choose_compiler(compiler)
    start(*settings)
