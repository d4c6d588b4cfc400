"""Features of kernels as flat objects, for programs that prune or learn.

`tt_layout.reports.feature_fields` has the fields.
"""

from __future__ import annotations

from typing import Any

from tt_layout.audit.kernel import Kernel
from tt_layout.reports.feature_fields import FEATURES_VERSION, Value, fields
from tt_layout.reports.feature_types import Features


def features_of(kernel: Kernel) -> Features:
    """Return the features of a kernel."""
    return Features((feature.name, _plain(feature.of(kernel))) for feature in fields())


def _plain(value: Value) -> Value:
    """Return a whole float as an integer: 4 for 4.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a kernel's features."""
    properties: dict[str, Any] = {
        feature.name: {"type": [feature.kind, "null"], "description": feature.meaning}
        for feature in fields()
    }
    properties["version"] = {"const": FEATURES_VERSION, "description": "of these fields"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The features of a kernel",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
