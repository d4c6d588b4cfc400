"""Records of any kind on one line, for goldens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any


def spelled(value: Any) -> str:
    """Return a value on one line: numbers by five digits, a step by its line and name."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return f"{value:.5g}"
    if hasattr(value, "items"):
        return "{" + ", ".join(f"{key} {spelled(part)}" for key, part in value.items()) + "}"
    if hasattr(value, "regions"):
        return f"{value.line} {value.name}"
    if hasattr(value, "_asdict"):
        return fields_of(value, value._fields)
    if is_dataclass(value):
        return fields_of(value, [field.name for field in fields(value)])
    return "(" + ", ".join(map(spelled, value)) + ")"


def fields_of(record: Any, names: Iterable[str]) -> str:
    """Return the fields of a record that are not empty."""
    parts = {name: getattr(record, name) for name in names}
    return " ".join(f"{name}={spelled(part)}" for name, part in parts.items() if part)
