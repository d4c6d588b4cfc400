"""Encodings of other packages, found through entry points.

A package names each attribute that it has, and the class that reads it::

    [project.entry-points."tt_layout.encodings"]
    "acme.toy" = "acme_layouts:Toy"

Nothing is looked for until an attribute is met that this package does not have, and of what is
found only the class that was met is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, cast

from tt_layout.encodings.base import (
    DistributedEncoding,
    Encoding,
    SharedEncoding,
    TensorMemoryBase,
)
from tt_layout.encodings.forms import Form
from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "tt_layout.encodings"
"""The group of entry points."""

MAX_SECONDS = 10
"""For which the import of a package is waited: it may never end."""

Registered = Mapping[str, "tuple[EntryPoint, ...]"]


def registered() -> Registered:
    """Return the entry points of all installed packages, by attribute name."""
    from importlib.metadata import entry_points

    registry: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=GROUP):
        registry[point.name] = (*registry.get(point.name, ()), point)
    return registry


def installed() -> list[str]:
    """Return name, object and distribution of every encoding registered, for cache keys."""
    points = (point for rivals in registered().values() for point in rivals)
    return sorted(f"{point.name} {point.value} {_distribution(point)}" for point in points)


def load(points: tuple[EntryPoint, ...]) -> type[Encoding]:
    """Return the class behind the entry points of one attribute.

    Raises:
        LayoutError: two packages have it, it cannot be imported, or is not an encoding.
    """
    point, *rivals = points
    subject = f"#{point.name} of {_distribution(point)}"
    if rivals:
        packages = " and of ".join(map(_distribution, rivals))
        raise LayoutError(f"{subject} is also that of {packages}; uninstall all but one")
    candidate, error = _loaded(point)
    if error is not None:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise LayoutError(f"{subject} cannot be loaded, {reason}; mend or uninstall it") from error
    problem = _problem(candidate, point.name)
    if problem is not None:
        raise LayoutError(f"{subject} is not an encoding: {point.value} {problem}")
    return cast("type[Encoding]", candidate)


def _loaded(point: EntryPoint) -> tuple[object, BaseException | None]:
    """Load an entry point; return it, and why it is not loaded.

    It is imported in a thread of its own, which ends with the process, so that whatever it raises
    is told from an interrupt of this one.
    """
    from queue import Empty, SimpleQueue
    from threading import Thread

    ended: SimpleQueue[tuple[object, BaseException | None]] = SimpleQueue()

    def load_it() -> None:
        try:
            ended.put((point.load(), None))
        except BaseException as error:
            ended.put((None, error))

    Thread(target=load_it, daemon=True, name=f"import of {point.value}").start()
    try:
        return ended.get(timeout=MAX_SECONDS)
    except Empty:
        return None, TimeoutError(f"its import takes more than {MAX_SECONDS} seconds")


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "a package"


def _problem(candidate: object, name: str) -> str | None:
    """Return the reason why an object is not the class of an attribute; None if it is."""
    bases = (DistributedEncoding, SharedEncoding, TensorMemoryBase)
    if not (isinstance(candidate, type) and issubclass(candidate, bases)):
        return f"is not a class under {' or '.join(base.__name__ for base in bases)}"
    if not (is_dataclass(candidate) and "__dataclass_fields__" in candidate.__dict__):
        return "is not decorated with dataclass(frozen=True, kw_only=True)"
    for needed in ("mnemonic", "forms"):
        if not hasattr(candidate, needed):
            return f"has no {needed}"
    if not any(isinstance(form, Form) and form.name == name for form in candidate.forms):
        return f"has no form called {name!r}"
    if candidate.layout_for is Encoding.layout_for:
        return "has no layout_for"
    names = {field.name for field in fields(candidate)}
    keys = (key.field for form in candidate.forms for key in form.keys if key.field is not None)
    missing = [key for key in keys if key not in names]
    return f"has no field {missing[0]!r}" if missing else None
