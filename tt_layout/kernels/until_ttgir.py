"""Compilation that ends at TTGIR, in the process that Triton is imported in.

Source:
    Triton, ``knobs.runtime.add_stages_inspection_hook`` (3.5 and later): a hook is called without
    arguments for what it adds to the key of the cache, and with the stages of each compilation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STAGE = "ttgir"
KEY = "tt_layout: until ttgir"


class ReachedError(Exception):
    """The end of a compilation that was to end at TTGIR.

    Attributes:
        text: the dump.
    """

    def __init__(self, text: str) -> None:
        super().__init__("the compilation ends at TTGIR")
        self.text = text


@contextmanager
def stopping_at_ttgir() -> Iterator[None]:
    """Let compilations end at TTGIR, by a `ReachedError`; with Triton before 3.5 they go on."""
    runtime = getattr(getattr(sys.modules.get("triton"), "knobs", None), "runtime", None)
    if not hasattr(runtime, "add_stages_inspection_hook"):
        yield
        return
    assert runtime is not None
    before = runtime.add_stages_inspection_hook
    runtime.add_stages_inspection_hook = _hook
    try:
        yield
    finally:
        runtime.add_stages_inspection_hook = before


def _hook(*given: Any) -> tuple[str, str] | None:
    if not given:
        return KEY, KEY
    stages = given[1]
    if STAGE in stages:
        stages[STAGE] = _ending(stages[STAGE])
    return None


def _ending(stage: Any) -> Any:
    def end(module: Any, metadata: Any) -> Any:
        raise ReachedError(str(stage(module, metadata)))

    return end
