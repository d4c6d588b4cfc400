"""Frozen dataclasses of the package: those of the standard library, made later."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tt_layout
from tt_layout import records

Maker = Callable[..., Any]
MAKERS = {"standard": dataclasses.dataclass, "records": records.dataclass}


@pytest.fixture(params=MAKERS)
def dataclass(request: pytest.FixtureRequest) -> Maker:
    """Each maker in turn: of both the same is said."""
    return MAKERS[request.param]


def small_classes(dataclass: Maker) -> tuple[Any, Any]:
    """Return a class with all kinds of fields, and one that derives from it."""

    @dataclass(frozen=True)
    class Base:
        first: int
        second: str = "two"
        kind: ClassVar[str] = "base"
        third: list[int] = dataclasses.field(default_factory=list, compare=False)
        fourth: Any = dataclasses.field(default=None, repr=False, hash=False, kw_only=True)

    @dataclass(frozen=True, kw_only=True)
    class Derived(Base):
        second: str = "zwei"
        fifth: object

    return Base, Derived


def test_objects_are_made_alike(dataclass: Maker) -> None:
    base, derived = small_classes(dataclass)
    made = base(1, third=[3])
    assert vars(made) == {"first": 1, "second": "two", "third": [3], "fourth": None}
    assert base(1).third is not base(1).third
    assert base.second == "two"
    assert not hasattr(base, "third")
    assert derived(1, fifth=5).second == "zwei"
    with pytest.raises(TypeError, match=r"Base\.__init__\(\) missing 1 required positional"):
        base()
    with pytest.raises(TypeError, match=r"Derived\.__init__\(\) takes from 2 to 3 positional"):
        derived(1, "a", "b", "c", fifth=5)


def test_objects_are_compared_alike(dataclass: Maker) -> None:
    base, derived = small_classes(dataclass)
    assert base(1, third=[3]) == base(1)
    assert base(1, fourth=4) != base(1)
    assert hash(base(1, third=[3], fourth=[])) == hash(base(1)) == hash((1, "two"))
    assert base(1, "zwei") != derived(1, fifth=None)
    assert base(1) != (1, "two")

    @dataclass(frozen=True, eq=False)
    class Identity:
        first: int

    assert Identity(1) != Identity(1)
    assert len({Identity(1), Identity(1)}) == 2

    @dataclass(frozen=True)
    class Own:
        first: int

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True)
    class Lax:
        first: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Lax)

    assert (hash(Own(1)), hash(Lax(1))) == (7, hash((1,)))
    assert Lax(1) == Lax(2)


def test_objects_are_written_alike(dataclass: Maker) -> None:
    base, derived = small_classes(dataclass)
    assert repr(base(1)).endswith("Base(first=1, second='two', third=[])")
    assert repr(derived(1, fifth=5)).endswith("Derived(first=1, second='zwei', third=[], fifth=5)")
    cycle = base(1, third=[])
    cycle.third.append(cycle)
    assert repr(cycle).endswith("Base(first=1, second='two', third=[...])")

    @dataclass(frozen=True, repr=False)
    class Nameless:
        first: int

    assert repr(Nameless(1)).startswith("<")


def test_objects_do_not_change(dataclass: Maker) -> None:
    base, _ = small_classes(dataclass)

    class Plain(base):  # type: ignore[misc, valid-type]
        pass

    for make in (base, Plain):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
            make(1).first = 2
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
            del make(1).first
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
        base(1).other = 2
    plain = Plain(1)
    plain.other = 2
    del plain.other
    assert vars(plain) == vars(base(1))


def test_the_standard_library_knows_them(dataclass: Maker) -> None:
    base, derived = small_classes(dataclass)
    assert all(map(dataclasses.is_dataclass, (base, derived)))
    assert base.__match_args__ == ("first", "second", "third")
    assert derived.__match_args__ == ("first", "third")
    names = [(field.name, field.kw_only) for field in dataclasses.fields(derived)]
    assert names == [
        ("first", False), ("second", True), ("third", False), ("fourth", True), ("fifth", True)
    ]  # fmt: skip
    assert dataclasses.replace(base(1), second="b") == base(1, "b")
    assert dataclasses.asdict(derived(1, fifth=base(2))) == {
        "first": 1, "second": "zwei", "third": [], "fourth": None,
        "fifth": {"first": 2, "second": "two", "third": [], "fourth": None},
    }  # fmt: skip
    match base(1, "b"):
        case base(first, second):
            assert (first, second) == (1, "b")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclasses.dataclass(type("Changing", (base,), {}))


@pytest.mark.parametrize("below", MAKERS.values())
def test_each_derives_from_each(dataclass: Maker, below: Maker) -> None:
    base, _ = small_classes(dataclass)

    @below(frozen=True)
    class Leaf(base):  # type: ignore[misc, valid-type]
        second: str = "deux"
        sixth: int = 6

        def __post_init__(self) -> None:
            assert self.sixth < 7, "too large"

    leaf = Leaf(1, third=[3])
    assert (leaf.second, leaf.sixth, leaf.third) == ("deux", 6, [3])
    assert leaf == dataclasses.replace(Leaf(2), first=1)
    assert repr(leaf).endswith("Leaf(first=1, second='deux', third=[3], sixth=6)")
    with pytest.raises(AssertionError, match="too large"):
        Leaf(1, sixth=7)


@records.dataclass(frozen=True)
class Sent:
    """A class of which another process makes the first object."""

    first: int


def test_copies_need_no_first_object() -> None:
    sent = Sent.__new__(Sent)
    vars(sent)["first"] = 1  # as pickle and copy make it
    assert (sent, hash(sent), repr(sent)) == (Sent(1), hash((1,)), "Sent(first=1)")
    assert pickle.loads(pickle.dumps(sent)) == copy.copy(sent) == sent


class Counted:
    """A value that counts how often its hash is asked for."""

    asked = 0

    def __hash__(self) -> int:
        Counted.asked += 1
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted)


@records.dataclass(frozen=True)
class Holder:
    """An object of a value that is long to hash."""

    value: Counted


def test_a_hash_is_found_once_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of texts are others in each process, so that none is sent to another one."""
    monkeypatch.setattr(Counted, "asked", 0)
    holder = Holder(Counted())
    assert hash(holder) == hash(holder)
    assert Counted.asked == 1
    assert hash(pickle.loads(pickle.dumps(holder))) == hash(holder)
    assert Counted.asked == 2


def test_no_signature_is_written_for_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than all else, for what nobody sees."""
    base, _ = small_classes(records.dataclass)
    monkeypatch.delattr(inspect, "signature")
    assert len(dataclasses.fields(base)) == 4
    assert base.__match_args__ == ("first", "second", "third")


def wide_class(*fields: str) -> Any:
    """Return a class with more fields than any other has."""
    names = [*fields, *(f"field_{number}" for number in range(90))]
    return records.dataclass(
        type("Wide", (), {"__annotations__": dict.fromkeys(names, "int")}), frozen=True
    )


def test_methods_are_compiled_when_they_are_first_called(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []

    def counting(code: str, names: dict[str, object], /) -> None:
        compiled.append(code)
        run(code, names)

    run = builtins.exec
    monkeypatch.setattr(builtins, "exec", counting)
    first, second = wide_class("one"), wide_class("other")
    assert not compiled
    values = range(91)
    made = first(*values), second(*values)
    assert (made[0].one, made[1].other, made[1].field_89) == (0, 0, 90)
    assert len(compiled) == 1, "classes with fields of the same kinds share a constructor"
    assert made[0] == first(*values)
    assert hash(made[1]) == hash(second(*values))
    assert len(compiled) == 3


def test_no_frozen_class_of_the_package_is_compiled_where_it_is_defined() -> None:
    folder = Path(tt_layout.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    frozen = [path for path, text in texts.items() if "\n@dataclass(frozen=True" in text]
    assert len(frozen) > 100
    eager = [path for path in frozen if "tt_layout.records import dataclass" not in texts[path]]
    assert not eager


CLASSES = """\
import dataclasses, importlib, inspect, pkgutil, re, sys, types
if sys.argv[1] == "standard":
    sys.modules["tt_layout.records"] = types.ModuleType("tt_layout.records")
    sys.modules["tt_layout.records"].dataclass = dataclasses.dataclass
import tt_layout
for module in pkgutil.walk_packages(tt_layout.__path__, "tt_layout."):
    if not module.name.endswith(("__main__", "inside_triton", "tt_layout.watch")):
        importlib.import_module(module.name)
for module in sorted(name for name in sys.modules if name.startswith("tt_layout.")):
    for name, cls in sorted(vars(sys.modules[module]).items()):
        if isinstance(cls, type) and cls.__module__ == module and dataclasses.is_dataclass(cls):
            own = sorted(name for name in vars(cls) if name.startswith("__"))
            own = [name for name in own if name != "__getstate__"]  # without the hash that is kept
            said = (name, inspect.signature(cls), cls.__dataclass_params__, cls.__match_args__, own)
            text = repr((*said, cls.__hash__ is None, dataclasses.fields(cls)))
            print(module, re.sub(r"0x[0-9a-f]+|<(function|factory|class|built).*?>", "", text))
"""


@pytest.mark.slow
def test_each_of_the_package_is_as_the_standard_library_makes_it() -> None:
    found = {}
    for maker in MAKERS:
        command = [sys.executable, "-W", "ignore", "-c", CLASSES, maker]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[maker] = done.stdout.splitlines()
    assert len(found["standard"]) > 200
    assert found["records"] == found["standard"]
