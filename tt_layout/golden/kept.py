"""The facts of a manifest's golden files, in one file beside it: a line for each of them.

They hold for the golden file that they were written with, which a digest tells.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tt_layout.errors import file_error
from tt_layout.golden.facts import Facts, Printed
from tt_layout.golden.files import read_golden, write_golden

if TYPE_CHECKING:
    from tt_layout.golden.manifest import Check

SUFFIX = ".facts.json"
DIGEST_BYTES = 8


class Kept(NamedTuple):
    """What is kept of a golden file.

    Attributes:
        digest: of its content.
        facts: what it was made from.
    """

    digest: str
    facts: Facts


def kept_of(printed: Printed) -> Kept:
    """Return what is kept of what was printed."""
    return Kept(_digest(printed.text), printed.facts)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


def file_of(check: Check) -> Path:
    """Return the file beside the manifest of a check, such as ``layouts.facts.json``."""
    return Path(check.case.place.file).with_suffix(SUFFIX)


def facts_of(check: Check, golden: bytes) -> Facts | None:
    """Return what a golden file was made from; None where nothing is kept of that content."""
    path = file_of(check)
    try:
        found = _entries(path, os.stat(path).st_mtime_ns)
    except OSError:
        return None
    match found.get(check.id):
        case [digest, dict(facts)] if digest == _digest(golden):
            return {label: str(value) for label, value in facts.items()}
    return None


@lru_cache(maxsize=8)
def _entries(path: Path, changed: int) -> dict[str, object]:
    """Return what a file keeps; read once, however many golden files differ."""
    return _read(path)


def _read(path: Path) -> dict[str, object]:
    """Return what a file keeps: name of a check -> its entry; nothing where it is none of ours."""
    try:
        found = json.loads(read_golden(path) or b"")
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(checks: Iterable[Check], known: dict[str, Kept]) -> None:
    """Write the files of a manifest's checks anew, as far as they change.

    Args:
        checks: all of the manifest; what is kept of others goes.
        known: name of a check -> what is kept of it from now on.

    Raises:
        LayoutError: a file cannot be written.
    """
    names: dict[Path, list[str]] = {}
    for check in checks:
        names.setdefault(file_of(check), []).append(check.id)
    for path, own in names.items():
        before = _read(path)
        after = before | {name: [*kept] for name, kept in known.items()}
        entries = {name: after[name] for name in sorted(own) if name in after}
        if entries == before:
            continue
        lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        content = "{\n" + ",\n".join(lines) + "\n}\n"
        try:
            write_golden(path, content.encode())
        except OSError as error:
            raise file_error("write", path, error) from None
