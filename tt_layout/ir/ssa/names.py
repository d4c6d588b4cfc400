"""One name per value of a function, where MLIR uses names again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Names:
    """The names that hold at a place of a function.

    Example:
        >>> names = Names()
        >>> with names.region():
        ...     names.define("%0", 1, 2), names.use("%0")
        (['%0'], '%0')
        >>> names.define("%0", 2, 5), names.use("%0#1"), names.use("%0")
        (['%0@5#0', '%0@5#1'], '%0@5#1', '%0@5#0')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._current: dict[str, str] = {}

    @contextmanager
    def region(self) -> Iterator[None]:
        """Hold what is defined within to a region."""
        saved, self._current = self._current, dict(self._current)
        try:
            yield
        finally:
            self._current = saved

    def define(self, written: str, count: int, line: int, *, pack: bool = False) -> list[str]:
        """Return the names of values that are defined under one name on a line.

        Args:
            pack: whether a single value may also be called the first of its kind, ``%5#0``.
        """
        name = written
        if name in self._taken:
            name = f"{written}@{line}"
            while name in self._taken:
                name += "'"
            self._current[written] = name
        self._taken.add(name)
        if count == 1:
            if pack:
                self._current[f"{written}#0"] = name
            return [name]
        names = [f"{name}#{index}" for index in range(count)]
        if names:
            self._current[written] = names[0]
        if name != written:
            self._current.update(zip((f"{written}#{i}" for i in range(count)), names))
        return names

    def use(self, written: str) -> str:
        """Return the name of the value that a name stands for here."""
        return self._current.get(written, written)

    def use_all(self, written: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the values that names stand for here."""
        current = self._current
        return tuple([current.get(name, name) for name in written]) if current else tuple(written)
