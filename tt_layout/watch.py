"""``python -m tt_layout.watch program.py ..``: run a program, and audit its kernels.

The table goes to standard error, or where the variable ``TT_LAYOUT_WATCH`` says: a path whose
ending chooses the format, as for `tt_layout.watch`.  With ``--compile`` each kernel is handed to an
installed Triton as well, whose registers are exact.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from tt_layout.kernels.compiling import compiling
from tt_layout.safe_text import safe
from tt_layout.watching.session import Seen, watch

USAGE = (
    "usage: python -m tt_layout.watch [--compile] PROGRAM [ARGUMENT]..., or -m MODULE [ARGUMENT]..."
)
SWITCHES = ("", "0", "1")


def main(arguments: Sequence[str]) -> int:
    """Run the program in this process; return 2 if there is none."""
    import runpy

    is_compiled = arguments[:1] == ["--compile"]
    arguments = arguments[is_compiled:]
    is_module = arguments[:1] == ["-m"]
    given = list(arguments[is_module:])
    if not given or given[0].startswith("-"):
        sys.stderr.write(f"{USAGE}\n")
        return 2
    if not is_module and not os.path.exists(given[0]):
        sys.stderr.write(f"error: there is no program {safe(given[0])}\n")
        return 2
    out = os.environ.get("TT_LAYOUT_WATCH", "")
    sys.argv[:] = given
    with compiling() if is_compiled else nullcontext(), watch(out=None if out in SWITCHES else out):
        if is_module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(given[0], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(given[0])))
            runpy.run_path(given[0], run_name="__main__")
    return 0


class _Watch(ModuleType):
    """This module, once it is imported, is in the place of the function of its name."""

    def __call__(self, **options: Any) -> AbstractContextManager[Seen]:
        """Call the function."""
        return watch(**options)


sys.modules[__name__].__class__ = _Watch

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
