"""What Triton's cache keeps beside a kernel: ``NAME.json``, with its name and its shared memory."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

MAX_BYTES = 1 << 20


class KernelMetadata(NamedTuple):
    """What the cache knows of a compiled kernel; None where it does not say.

    Attributes:
        name: of the kernel, as it is launched.
        warps: of a CTA.
        shared_bytes: of shared memory that a CTA is given.
    """

    name: str | None = None
    warps: int | None = None
    shared_bytes: int | None = None


def metadata_beside(path: str) -> KernelMetadata:
    """Return what stands beside a dump of Triton's cache; nothing where no such file is.

    Example:
        >>> metadata_beside("nowhere/kernel.ttgir")
        KernelMetadata(name=None, warps=None, shared_bytes=None)
    """
    stem, _ = os.path.splitext(path)
    data = _read(f"{stem}.json")
    name = data.get("name")
    return KernelMetadata(
        name if isinstance(name, str) and name else None,
        _number(data.get("num_warps")),
        _number(data.get("shared")),
    )


def _read(path: str) -> dict[str, Any]:
    """Return the object in a file; an empty one where there is none to read."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            return {}
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 1 << 40 else None
