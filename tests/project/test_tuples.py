"""Named tuples of the package: those of the standard library, made later."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

import pytest

import tt_layout
from tt_layout import tuples

BASES = {"standard": typing.NamedTuple, "tuples": tuples.NamedTuple}


def small_class(base: Any) -> Any:
    """Return a named tuple with defaults, and members of its own."""

    class Pair(base):  # type: ignore[misc]
        first: int
        second: str = "two"

        @property
        def both(self) -> str:
            return f"{self.first} {self.second}"

    return Pair


class Sent(tuples.NamedTuple):
    """A class that crosses processes."""

    first: int
    second: str = "two"


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_tuples_are_made_alike(base: Any) -> None:
    pair = small_class(base)
    made = pair(1)
    assert made == (1, "two") == pair(first=1) == pair._make(iter([1, "two"]))
    assert (made.first, made[1], made.both, hash(made)) == (1, "two", "1 two", hash((1, "two")))
    assert repr(made) == "Pair(first=1, second='two')"
    assert made._replace(second="b") == pair(1, "b")
    assert made._asdict() == {"first": 1, "second": "two"}
    assert (pair._fields, pair._field_defaults) == (("first", "second"), {"second": "two"})
    assert (pair.__match_args__, pair.__doc__) == (("first", "second"), "Pair(first, second)")
    assert str(inspect.signature(pair)) in (
        "(first: 'int', second: 'str' = 'two')",
        "(first: ForwardRef('int'), second: ForwardRef('str') = 'two')",
    )
    assert (type(pair), pair.__mro__, pair.__slots__) == (type, (pair, tuple, object), ())
    match made:
        case pair(first, second):
            assert (first, second) == (1, "two")
    with pytest.raises(AttributeError, match=r"can't set attribute|no setter"):
        made.first = 2
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'first'"):
        pair()
    with pytest.raises(TypeError, match="Expected 2 arguments, got 1"):
        pair._make([1])
    with pytest.raises(ValueError, match=r"Got unexpected field names: \['third'\]"):
        made._replace(third=3)
    bad = {"__annotations__": {"first": int, "second": int}, "first": 1}
    with pytest.raises(TypeError, match="default"):
        types.new_class("Bad", (base,), exec_body=lambda members: members.update(bad))


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_tuples_are_derived_from_alike(base: Any) -> None:
    pair = small_class(base)

    class Third(pair):  # type: ignore[misc, valid-type]
        def __new__(cls, first: int) -> Any:
            return super().__new__(cls, first, "b")

    third = Third(1)
    assert (third, type(third), third.both) == ((1, "b"), Third, "1 b")
    assert repr(third._replace(first=2)) == "Third(first=2, second='b')"


def test_copies_need_no_call_of_the_constructor_before() -> None:
    sent = tuple.__new__(Sent, (1, "two"))
    copies = pickle.loads(pickle.dumps(sent)), copy.copy(sent), copy.deepcopy(sent)
    assert {(type(made), made) for made in copies} == {(Sent, (1, "two"))}


def wide_class(*fields: str) -> Any:
    """Return a named tuple of more fields than any other has."""
    annotations = dict.fromkeys([*fields, *(f"field_{number}" for number in range(90))], "int")
    return types.new_class(
        "Wide", (tuples.NamedTuple,), exec_body=lambda own: own.update(__annotations__=annotations)
    )


def test_constructors_of_as_many_fields_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    run = builtins.eval

    def counting(code: str, names: dict[str, object], /) -> object:
        compiled.append(code)
        return run(code, names)

    monkeypatch.setattr(builtins, "eval", counting)
    first, second = wide_class("one"), wide_class("other")
    assert not compiled
    values = range(91)
    assert (first(*values).one, second(*values).other, second(*values[:-1], field_89=7)[-1]) == (
        0, 0, 7,
    )  # fmt: skip
    assert len(compiled) == 1
    assert str(inspect.signature(first)).startswith("(one: 'int', field_0: 'int', ")


def test_no_named_tuple_of_the_package_is_compiled_where_it_is_defined() -> None:
    folder = Path(tt_layout.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    defining = [path for path, text in texts.items() if "(NamedTuple):" in text]
    assert len(defining) > 100
    assert not [path for path in defining if "tuples import NamedTuple" not in texts[path]]


CLASSES = """\
import importlib, inspect, pkgutil, re, sys, types, typing
if sys.argv[1] == "standard":
    sys.modules["tt_layout.tuples"] = types.ModuleType("tt_layout.tuples")
    sys.modules["tt_layout.tuples"].NamedTuple = typing.NamedTuple
import tt_layout
for module in pkgutil.walk_packages(tt_layout.__path__, "tt_layout."):
    if not module.name.endswith(("__main__", "inside_triton", "tt_layout.watch")):
        importlib.import_module(module.name)
for module in sorted(name for name in sys.modules if name.startswith("tt_layout.")):
    for name, cls in sorted(vars(sys.modules[module]).items()):
        if isinstance(cls, type) and cls.__module__ == module and issubclass(cls, tuple):
            kept = {"__annotations__", "__orig_bases__", "__static_attributes__"}
            own = sorted(name for name in vars(cls) if name not in kept)
            form = str(inspect.signature(cls))
            form = re.sub(r"ForwardRef\\((.*?)(, module=.*?)?\\)(?=[,)]| =)", r"\\1", form)
            said = name, cls._fields, form, own, cls._field_defaults, cls.__doc__, cls.__mro__
            print(module, re.sub(r" at 0x[0-9a-f]+", "", repr(said)))
"""


@pytest.mark.slow
def test_each_of_the_package_is_as_the_standard_library_makes_it() -> None:
    found = {}
    for base in BASES:
        command = [sys.executable, "-W", "ignore", "-c", CLASSES, base]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[base] = done.stdout.splitlines()
    assert len(found["standard"]) > 300
    assert found["tuples"] == found["standard"]
