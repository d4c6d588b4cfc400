"""Attributes computed once, when first asked for, without a lock.

Up to Python 3.11 `functools.cached_property` holds one lock for all objects of a class while it
computes: threads that ask different kernels wait for each other, or for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  a decorator, called like `property`
    """A property that keeps its first value in the object.

    Threads that ask at the same time may compute it twice; of equal values one is kept.

    Example:
        >>> class Square:
        ...     side = 3
        ...     @lazy
        ...     def area(self) -> int:
        ...         return self.side**2
        >>> square = Square()
        >>> square.area, vars(square)
        (9, {'area': 9})
        >>> isinstance(Square.area, lazy)
        True
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name under which the value is kept."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        """Return the value; the attribute takes this place from then on."""
        if instance is None:
            return self
        return vars(instance).setdefault(self._name, self._compute(instance))  # type: ignore[no-any-return]
