"""Files of a manifest: within its folder, regular, and never reached through a link out."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tt_layout.files import is_inside, mode_of, read_bytes, remove, replacing


def exists(path: Path) -> bool:
    """Tell whether a file of any kind exists.

    Raises:
        OSError: its name is too long, or is not a file name.
    """
    return mode_of(path) is not None


def read_golden(path: Path) -> bytes | None:
    """Return the content of a golden file; None if it does not exist.

    Raises:
        OSError: it is not a regular file, leads out of its folder, or cannot be read.
    """
    if not os.path.lexists(path):
        return None
    _refuse_link_out(path)
    return read_bytes(str(path))


def write_golden(path: Path, content: bytes) -> None:
    """Replace a golden file atomically.

    Raises:
        OSError: it is not a regular file, leads out of its folder, or cannot be written.
    """
    if os.path.lexists(path):
        _refuse_link_out(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError("it is not a file")
    with replacing(str(path)) as file:
        file.write(content)


def write_actual(path: Path, content: bytes) -> None:
    """Write the actual output, replacing anything in its place, even a link."""
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isfile(path)):
        remove(str(path))
    with replacing(str(path)) as file:
        file.write(content)


def remove_actual(path: Path) -> None:
    """Remove an earlier actual output, if it exists and can be removed."""
    with suppress(OSError):
        remove(str(path))


def _refuse_link_out(path: Path) -> None:
    if not is_inside(path, path.parent):
        raise OSError("it is a link out of the manifest's folder")
