"""Patches of other packages' attributes while a program is watched."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

Function = Callable[..., Any]


class Patches:
    """Wrapped attributes, which are restored unless someone else has wrapped them again."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Function]) -> None:
        """Replace an attribute by the result of a wrapper."""
        before = getattr(owner, name)
        after = wrapper(before)

        def undo() -> None:
            # What was put on top of ours still calls it, and it goes on to what was before.
            if getattr(owner, name) is after:
                setattr(owner, name, before)

        setattr(owner, name, after)
        self._undo.append(undo)

    def undo(self) -> None:
        """Restore the attributes."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def once_imported(name: str, call: Callable[[], None]) -> Iterator[None]:
    """Call a function once the program has imported a module, or at once if it has.

    The import is followed until the end of the block; nothing is imported here.
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
    """Meta-path finder for one module, which calls a function after the module has run."""

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
