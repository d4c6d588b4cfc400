"""Which functions are called: here, and in the processes of Python that a test starts.

``children.record`` puts a copy of this, as ``sitecustomize``, on the path of these processes; so it
imports nothing else of the project.
"""

from __future__ import annotations

import atexit
import os
import sys
from types import CodeType, FrameType


class Calls:
    """The code objects that are called from its making on."""

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()
        if sys.version_info >= (3, 12):
            tool, events = sys.monitoring.PROFILER_ID, sys.monitoring.events
            sys.monitoring.use_tool_id(tool, "mutants")
            sys.monitoring.register_callback(tool, events.PY_START, self._begun)
            sys.monitoring.set_events(tool, events.PY_START)
        else:
            sys.setprofile(self._note)

    def taken(self) -> set[CodeType]:
        """Return what was called since this was asked."""
        codes = set(self._codes)
        self._codes.clear()
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()
        return codes

    def _begun(self, code: CodeType, _: int) -> object:
        """Remember a code object, and hear no more of it until all begins anew."""
        self._codes.add(code)
        if sys.version_info >= (3, 12):
            return sys.monitoring.DISABLE
        return None

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._codes.add(frame.f_code)


def place(code: CodeType) -> str:
    """Return path and qualified name of a code object."""
    return f"{code.co_filename}:{getattr(code, 'co_qualname', code.co_name)}"


def write(file: str, calls: Calls) -> None:
    """Write every function of the package that was called."""
    places = (place(code) for code in calls.taken() if "/tt_layout/" in code.co_filename)
    with open(file, "a", encoding="utf-8") as stream:
        stream.write("".join(f"{each}\n" for each in places))


if "MUTANTS_CALLED" in os.environ:
    atexit.register(write, os.environ["MUTANTS_CALLED"], Calls())
