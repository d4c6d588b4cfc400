"""Attributes of other packages, wrapped while a program is watched."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

Function = Callable[..., Any]


class Patches:
    """Wrapped attributes, which are put back where nobody has put another on top."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Function]) -> None:
        """Replace an attribute by what a function makes of it."""
        before = getattr(owner, name)
        after = wrapper(before)

        def undo() -> None:
            # What was put on top of ours still calls it, and it goes on to what was before.
            if getattr(owner, name) is after:
                setattr(owner, name, before)

        setattr(owner, name, after)
        self._undo.append(undo)

    def undo(self) -> None:
        """Put back what was before."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def once_imported(name: str, call: Callable[[], None]) -> Iterator[None]:
    """Call a function when the program has imported a module; at once if it has.

    Until the end of the block an import of the module is followed, and nothing is imported here.
    """
    if name in sys.modules:
        call()
        yield
        return
    finder = _Finder(name, call)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _Finder:
    """Finds one module as Python does, and calls a function after it has run."""

    def __init__(self, name: str, call: Callable[[], None]) -> None:
        self._name, self._call = name, call

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the module; None for any other."""
        if name != self._name:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            self._call()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
