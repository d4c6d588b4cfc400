"""``python -m tt_layout.watching program.py ..``: run a program, and audit its kernels.

The table goes to standard error, or where the variable ``TT_LAYOUT_WATCH`` says: a path whose
ending chooses the format, as for `tt_layout.watch`.  With ``--compile`` each kernel is handed to an
installed Triton as well, whose registers are exact.  With ``--force`` the report replaces a file
that is no report of tt-layout.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import dropwhile, takewhile

from tt_layout.kernels.compiling import compiling
from tt_layout.safe_text import safe
from tt_layout.watching.session import watch_program

USAGE = (
    "usage: python -m tt_layout.watching [--compile] [--force] PROGRAM [ARGUMENT]..., "
    "or -m MODULE [ARGUMENT]..."
)
OPTIONS = ("--compile", "--force")
SWITCHES = ("", "0", "1")


def main(arguments: Sequence[str]) -> int:
    """Run the program in this process; return 2 if there is none."""
    import runpy

    options = set(takewhile(OPTIONS.__contains__, arguments))
    arguments = list(dropwhile(OPTIONS.__contains__, arguments))
    is_module = arguments[:1] == ["-m"]
    given = list(arguments[is_module:])
    if not given or given[0].startswith("-"):
        sys.stderr.write(f"{USAGE}\n")
        return 2
    program = given[0]
    sys.argv[:] = given
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(program)))
    problem = _why_no_module(program) if is_module else _why_no_program(program)
    if problem is not None:
        sys.stderr.write(f"error: {safe(problem)}\n")
        return 2
    out = os.environ.get("TT_LAYOUT_WATCH", "")
    place = None if out in SWITCHES else out
    is_compiled, is_forced = "--compile" in options, "--force" in options
    with compiling() if is_compiled else nullcontext(), watch_program(place, force=is_forced):
        if is_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    return 0


def _why_no_program(path: str) -> str | None:
    """Return the reason why a path is not a program that can be run; None if it is.

    Example:
        >>> _why_no_program("nowhere.py")
        'there is no program nowhere.py'
    """
    if not os.path.exists(path):
        return f"there is no program {path}"
    if not os.access(path, os.R_OK):
        return f"cannot read {path}: {os.strerror(errno.EACCES)}"
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "__main__.py")):
        return f"the folder {path} is no program: it has no __main__.py"
    return None


def _why_no_module(name: str) -> str | None:
    """Return the reason why a name is not a module that can be run; None if it is.

    Its parent packages are imported; their exceptions are the program's own.

    Example:
        >>> _why_no_module("no.module"), _why_no_module("json"), _why_no_module("json.tool")
        ('there is no module no.module', 'the package json is no program: it has no __main__', None)
    """
    from importlib.util import find_spec

    try:
        found = find_spec(name)
        is_package = found is not None and found.submodule_search_locations is not None
        own = find_spec(f"{name}.__main__") if is_package else found
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        found = None
    except ValueError:  # a name of nothing, or with two points
        found = None
    if found is None:
        return f"there is no module {name}"
    if own is None:
        return f"the package {name} is no program: it has no __main__"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
