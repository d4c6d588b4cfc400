"""Named tuples whose constructors are made when they are first called.

The standard library compiles a function for each class where it is defined, and each annotation of
a field by itself. For the 240 classes that an audit imports this took a twelfth of its time. Here
one is compiled for each number of fields, and a constructor is that with the names of its fields.

To whoever asks these are named tuples of the standard library.
"""

from __future__ import annotations

import sys
from collections import _tuplegetter  # type: ignore[attr-defined]
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

ALIAS = "Alias for field number {}"


@cache
def _code(size: int) -> CodeType:
    """Compile a constructor of a number of fields without names."""
    fields = "".join(f"_{number}, " for number in range(size))
    return eval(f"lambda _cls, {fields}: _tuple(_cls, ({fields}))", {}).__code__  # type: ignore[no-any-return]


class _Constructor:
    """The constructor of a named tuple, made when it is first asked for."""

    def __init__(self, annotations: dict[str, object], defaults: Mapping[str, object]) -> None:
        self._annotations = annotations
        self._defaults = tuple(defaults.values())

    def __set_name__(self, cls: type, name: str) -> None:
        """Take the class that it is of."""
        self._cls = cls

    def __get__(self, instance: object | None, owner: type | None = None) -> Callable[..., Any]:
        """Return the constructor, which takes this place from then on."""
        code = _code(len(self._annotations))
        named = code.replace(co_name="__new__", co_varnames=("_cls", *self._annotations))
        values = {"_tuple": tuple.__new__, "__name__": self._cls.__module__}
        new = FunctionType(named, values, None, self._defaults)
        new.__qualname__ = f"{self._cls.__qualname__}.__new__"
        new.__annotations__ = self._annotations
        self._cls.__new__ = staticmethod(new)  # type: ignore[method-assign]
        return new


def _made_of(cls: Any, values: Iterable[object]) -> Any:
    """Make a named tuple of the values of its fields."""
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _with_others(self: Any, /, **values: object) -> Any:
    """Return a named tuple with other values of some fields."""
    made = self._make(map(values.pop, self._fields, self))
    if values:
        raise ValueError(f"Got unexpected field names: {list(values)!r}")
    return made


def _by_name(self: Any) -> dict[str, object]:
    """Return the values of the fields by their names."""
    return dict(zip(self._fields, self))


def _values(self: Any) -> tuple[object, ...]:
    return tuple(self)


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
    return f"{self.__class__.__name__}({fields})"


_SHARED: dict[str, object] = {
    "__slots__": (),
    "_make": classmethod(_made_of),
    "_replace": _with_others,
    "_asdict": _by_name,
    "__repr__": _repr,
    "__getnewargs__": _values,
}
"""Members that are alike in all named tuples."""
if sys.version_info >= (3, 13):
    _SHARED["__replace__"] = _with_others


class _Maker(type):
    """Makes a named tuple of a class with annotations."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
        annotations = members.setdefault("__annotations__", {})
        fields = tuple(annotations)
        defaults = {field: members.pop(field) for field in fields if field in members}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"a field of {name} without a default follows one that has one")
        places = {field: _tuplegetter(n, ALIAS.format(n)) for n, field in enumerate(fields)}
        described = {
            "__doc__": f"{name}({', '.join(fields)})",
            "__new__": _Constructor(annotations, defaults),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
        }
        return type.__new__(type, name, (tuple,), _SHARED | described | places | members)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
