"""Facts of a manifest's golden files, in one file beside it, one line each.

They are valid only for the golden file that they were written with, identified by a digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from tt_layout.errors import file_error
from tt_layout.files import stamp_of
from tt_layout.golden.facts import CaseOutput, Facts
from tt_layout.golden.files import read_golden, write_golden
from tt_layout.grouping import grouped
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.golden.manifest import Check

SUFFIX = ".facts.json"
DIGEST_BYTES = 8


class Kept(NamedTuple):
    """Entry of a golden file.

    Attributes:
        digest: digest of its content.
        facts: the facts that it was made from.
    """

    digest: str
    facts: Facts


def kept_of(printed: CaseOutput) -> Kept:
    """Return the entry of an output."""
    return Kept(_digest(printed.text), printed.facts)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


def file_of(check: Check) -> Path:
    """Return the facts file of a check beside its manifest, such as ``layouts.facts.json``."""
    return Path(check.case.place.file).with_suffix(SUFFIX)


def facts_of(check: Check, golden: bytes) -> Facts | None:
    """Return the facts of a golden file; None if none are kept for its content."""
    path = file_of(check)
    entries = _entries(path, stamp_of(str(path)))
    match entries.get(check.id):
        case [digest, dict(facts)] if digest == _digest(golden):
            return {label: str(value) for label, value in facts.items()}
    return None


@lru_cache(maxsize=8)
def _entries(path: Path, stamp: tuple[int, ...]) -> dict[str, object]:
    """Return the entries of a facts file; cached until it changes."""
    return _read(path)


def _read(path: Path) -> dict[str, object]:
    """Read the entries of a facts file by name of check; none if it is not ours."""
    try:
        content = json.loads(read_golden(path) or b"")
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def keep(checks: Iterable[Check], kept_by_golden: dict[Path, Kept]) -> None:
    """Rewrite the facts files of a manifest's checks that changed.

    Args:
        checks: all checks of the manifest; entries of others are dropped.
        kept_by_golden: golden file -> its new entry.

    Raises:
        LayoutError: a file cannot be written.
    """
    for path, kept_there in grouped(checks, file_of).items():
        before = _read(path)
        after = dict(before)
        for check in kept_there:
            if (kept := kept_by_golden.get(check.golden)) is not None:
                after[check.id] = [*kept]
        names = sorted(check.id for check in kept_there)
        entries = {name: after[name] for name in names if name in after}
        if entries == before:
            continue
        lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        content = "{\n" + ",\n".join(lines) + "\n}\n"
        try:
            write_golden(path, content.encode())
        except OSError as error:
            raise file_error("write", path, error) from None
