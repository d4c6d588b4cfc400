"""Files of a manifest: within its folder, regular, and never reached through a link out."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from tt_layout.errors import not_a_name
from tt_layout.files import is_inside, open_file
from tt_layout.reports.writing import replacing


def exists(path: Path) -> bool:
    """Return whether a file of any kind exists.

    Raises:
        OSError: its name is too long, or is not one of a file.
    """
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    except ValueError as error:
        raise not_a_name(error) from None
    return True


def read_golden(path: Path) -> bytes | None:
    """Return the content of a golden file; None if it does not exist.

    Raises:
        OSError: it is not a regular file, leads out of its folder, or cannot be read.
    """
    if not os.path.lexists(path):
        return None
    _refuse_link_out(path)
    with open_file(str(path)) as file:
        return file.read()


def write_golden(path: Path, content: bytes) -> None:
    """Replace a golden file, all at once.

    Raises:
        OSError: it is not a regular file, leads out of its folder, or cannot be written.
    """
    if os.path.lexists(path):
        _refuse_link_out(path)
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError("it is not a file")
    with replacing(str(path)) as file:
        file.write(content)


def write_actual(path: Path, content: bytes) -> None:
    """Write the actual output; replace whatever is in its place, be it a link."""
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isfile(path)):
        path.unlink()
    with replacing(str(path)) as file:
        file.write(content)


def remove_actual(path: Path) -> None:
    """Remove an earlier actual output, if it exists and can be removed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _refuse_link_out(path: Path) -> None:
    if not is_inside(path, path.parent):
        raise OSError("it is a link out of the manifest's folder")
