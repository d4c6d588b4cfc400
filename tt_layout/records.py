"""Frozen dataclasses whose methods are made when they are first called.

The standard library compiles six functions where such a class is defined. For the 130 classes that
an audit imports this took a fifth of its time, and half of them get no object in it. Here classes
with fields of the same kinds share one compiled constructor, which gets the names of the fields.

To whoever asks these are dataclasses of the standard library, from which others may derive.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

PARAMETERS, FIELDS = "__dataclass_params__", "__dataclass_fields__"
ASKED = (
    PARAMETERS,
    FIELDS,
    "__match_args__",
    *(["__replace__"] if sys.version_info >= (3, 13) else []),
)
"""Members for which the standard library and matching ask."""

HASH = "_hash_of_fields"
"""Where an object keeps its hash: layouts are asked for it again and again."""

if TYPE_CHECKING:
    Field: TypeAlias = dataclasses.Field[Any]


class _Factory:
    """The default of a parameter whose value is made anew for each object."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make

    def __repr__(self) -> str:
        return "<factory>"


@cache
def _init_code(made_anew: tuple[bool, ...], is_checked: bool) -> CodeType:
    """Compile a constructor of fields without names.

    Args:
        made_anew: of each field whether it may have a `_Factory`.
        is_checked: whether the class has a `__post_init__`.
    """
    names = [f"_{number}" for number in range(len(made_anew))]
    lines = [f"def __init__(self, {', '.join(names)}):"]
    for name, is_made_anew in zip(names, made_anew):
        value = f"{name}.make() if isinstance({name}, _Factory) else {name}"
        lines.append(f" _set(self, {name!r}, {value if is_made_anew else name})")
    lines.append(" self.__post_init__()" if is_checked else " pass")
    compiled: dict[str, Any] = {}
    exec("\n".join(lines), compiled)
    return compiled["__init__"].__code__  # type: ignore[no-any-return]


class _Later:
    """A member of a frozen dataclass that is made when it is first asked for."""

    def __init__(self, record: _Record, name: str, make: Callable[[_Record, str], object]) -> None:
        self.record = record
        self._name = name
        self._maker = make

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        """Return the member, which takes this place from then on."""
        member = self._maker(self.record, self._name)
        setattr(self.record.cls, self._name, member)
        return member.__get__(instance, owner) if inspect.isfunction(member) else member


class _Record:
    """A frozen dataclass, and what its decorator was asked for."""

    def __init__(self, cls: type, *, kw_only: bool, eq: bool, repr: bool) -> None:
        self.cls = cls
        self._kw_only = kw_only
        self._options = {"eq": eq, "repr": repr}
        self._described = {
            name: member
            for name, member in vars(cls).items()
            if isinstance(member, dataclasses.Field)
        }
        for name, field in self._described.items():
            if field.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, field.default)

    def add_members(self) -> None:
        """Give the class what it does not define itself."""
        members = dict.fromkeys(ASKED, _Record._standard) | {"__init__": _Record._init}
        if self._options["eq"]:
            members |= {"__eq__": _Record._eq, "__hash__": _Record._hash}
            if not any("__getstate__" in vars(base) for base in self.cls.__mro__[:-1]):
                members["__getstate__"] = _Record._state
        if self._options["repr"]:
            members["__repr__"] = _Record._repr
        defined = vars(self.cls)
        for name, make in members.items():
            if defined.get(name) is None:
                setattr(self.cls, name, _Later(self, name, make))
        for name, verb in {"__setattr__": "assign to", "__delattr__": "delete"}.items():
            setattr(self.cls, name, _refusal(self.cls, name, verb))

    def _fields(self) -> Mapping[str, Field]:
        """Return the fields of the class and of those that it derives from, by name."""
        fields: dict[str, Field] = {}
        for base in reversed(self.cls.__mro__[1:]):
            kept = vars(base).get(FIELDS)
            if isinstance(kept, _Later):
                fields |= kept.record._fields()
            elif kept is not None:
                fields |= {field.name: field for field in dataclasses.fields(base)}
        return fields | self._own_fields()

    def _own_fields(self) -> dict[str, Field]:
        fields = {}
        for name, annotation in inspect.get_annotations(self.cls).items():
            if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
                continue
            default = vars(self.cls).get(name, dataclasses.MISSING)
            field = self._described.get(name) or dataclasses.field(default=default)
            field.type = annotation
            if field.kw_only is dataclasses.MISSING:
                field.kw_only = self._kw_only
            fields[name] = field
        return fields

    def _standard(self, name: str) -> object:
        """Take a member from a dataclass of the standard library that has the same fields."""
        fields = [(field_name, field.type, field) for field_name, field in self._fields().items()]
        options: dict[str, Any] = {"init": False, "eq": False, "repr": False}
        if name == PARAMETERS:
            options = {"frozen": True, **self._options}
        twin = dataclasses.make_dataclass(
            self.cls.__name__,
            fields,
            namespace={"__doc__": self._standard.__doc__},  # or a signature is written for it
            **options,
        )
        return vars(twin)[name]

    def _init(self, name: str) -> object:
        fields = self._fields()
        ordered = [field_name for field_name, field in fields.items() if not field.kw_only]
        parameters = [*ordered, *(field_name for field_name in fields if field_name not in ordered)]
        defaults = {
            field_name: default
            for field_name in parameters
            if (default := _default(fields[field_name])) is not dataclasses.MISSING
        }
        made_anew = tuple(isinstance(defaults.get(name), _Factory) for name in parameters)
        code = _init_code(made_anew, hasattr(self.cls, "__post_init__"))
        names = dict(zip(code.co_varnames[1:], parameters))
        named = code.replace(
            co_argcount=1 + len(ordered),
            co_kwonlyargcount=len(parameters) - len(ordered),
            co_varnames=("self", *parameters),
            co_consts=tuple(names.get(value, value) for value in code.co_consts),
        )
        values = {"_set": object.__setattr__, "_Factory": _Factory}
        init = FunctionType(named, values | {"__name__": self.cls.__module__})
        init.__defaults__ = tuple(defaults[name] for name in ordered if name in defaults)
        init.__kwdefaults__ = {name: defaults[name] for name in defaults if name not in ordered}
        init.__qualname__ = f"{self.cls.__qualname__}.{name}"
        init.__annotations__ = {name: field.type for name, field in fields.items()}
        init.__annotations__["return"] = None
        return init

    def _eq(self, name: str) -> object:
        compared = [name for name, field in self._fields().items() if field.compare]
        return self._compiled(
            name,
            ["other"],
            [
                "if other.__class__ is not self.__class__: return NotImplemented",
                f"return {_values('self', compared)} == {_values('other', compared)}",
            ],
        )

    def _hash(self, name: str) -> object:
        hashed = [
            field_name
            for field_name, field in self._fields().items()
            if (field.compare if field.hash is None else field.hash)
        ]
        lines = [
            "known = self.__dict__",
            f"if {HASH!r} not in known: known[{HASH!r}] = hash({_values('self', hashed)})",
            f"return known[{HASH!r}]",
        ]
        return self._compiled(name, [], lines)

    def _state(self, name: str) -> object:
        """Pickle without the hash, which is another one in each process."""
        pairs = f"{{key: value for key, value in self.__dict__.items() if key != {HASH!r}}}"
        return self._compiled(name, [], [f"return {pairs}"])

    def _repr(self, name: str) -> object:
        shown = [field_name for field_name, field in self._fields().items() if field.repr]
        fields = ", ".join(f"{field_name}={{self.{field_name}!r}}" for field_name in shown)
        text = f"f'{{self.__class__.__qualname__}}({fields})'"
        return recursive_repr()(self._compiled(name, [], [f"return {text}"]))

    def _compiled(self, name: str, parameters: Iterable[str], body: Iterable[str]) -> Any:
        """Compile a method."""
        lines = (
            f"def {name}({', '.join(['self', *parameters])}):",
            *(f" {line}" for line in body),
        )
        names: dict[str, Any] = {"__name__": self.cls.__module__}
        exec("\n".join(lines), names)
        method = names[name]
        method.__qualname__ = f"{self.cls.__qualname__}.{name}"
        return method


def _default(field: Field) -> object:
    """Return the default of a parameter."""
    if field.default_factory is not dataclasses.MISSING:
        return _Factory(field.default_factory)
    return field.default


def _values(of: str, names: Iterable[str]) -> str:
    return "(" + "".join(f"{of}.{name}, " for name in names) + ")"


def _refusal(cls: type, method: str, verb: str) -> Callable[..., None]:
    """Method that changes no field of an object, and nothing else of one of this very class."""

    def refuse(self: object, name: str, *value: object) -> None:
        if type(self) is cls or name in getattr(cls, FIELDS):
            raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")
        getattr(super(cls, self), method)(name, *value)

    return refuse


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> Any:
    """Make a class a dataclass; one whose objects change is made by the standard library."""

    def made(cls: type) -> type:
        if not frozen:
            return dataclasses.dataclass(kw_only=kw_only, eq=eq, repr=repr)(cls)
        _Record(cls, kw_only=kw_only, eq=eq, repr=repr).add_members()
        return cls

    return made if cls is None else made(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
