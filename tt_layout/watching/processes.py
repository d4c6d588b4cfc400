"""Processes of a watched program, each with a journal in one folder.

A forked process has the hooks of its parent, and begins a journal of its own.  A newly started
process finds, first on ``PYTHONPATH``, a ``sitecustomize`` that begins a journal once Triton or
Inductor is imported, and then runs the ``sitecustomize`` that it hides.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

from tt_layout.watching import patches
from tt_layout.watching.patches import Patches

if TYPE_CHECKING:
    from tt_layout.kernels.seen import Record
    from tt_layout.watching.journal import Journal

MODULE = "tt_layout_session"
"""Module of a started process: the source of `patches`, and ``folders``, the sessions it is of."""

_START = """\
# Made by tt-layout for one watched program, and removed at its end.
import importlib.util
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
waits = []


def follow(name):
    if importlib.util.find_spec("tt_layout") is None:
        sys.path.append({package!r})
    from tt_layout.watching.processes import follow_module

    follow_module(name, {folder!r})


try:
    import tt_layout_session as session

    session.folders = [*getattr(session, "folders", ()), {folder!r}]
    session.waits = [*getattr(session, "waits", ()), waits]
    for name in {names!r}:
        wait = session.once_imported(name, lambda name=name: follow(name))
        wait.__enter__()
        waits.append(wait)
except Exception as error:
    sys.stderr.write(f"tt-layout does not see this process: {{error}}\\n")
sys.path[:] = [path for path in sys.path if path != here]
own = sys.modules.pop("sitecustomize")
if importlib.util.find_spec("sitecustomize") is None:
    sys.modules["sitecustomize"] = own
else:
    import sitecustomize
"""
"""The ``sitecustomize`` of processes that a watched program starts.

It imports nothing of ours before the program has imported Triton, then runs the one that it hides.
"""

_journaled: WeakSet[Record] = WeakSet()
"""Records that a forked process empties, and keeps in a journal of its own."""

_records: dict[str, Record] = {}
"""Folder of another process' session -> the record that is written into it."""


def is_followed() -> bool:
    """Tell whether another process collects the events of this one."""
    return any(map(os.path.isdir, getattr(sys.modules.get(MODULE), "folders", ())))


@contextmanager
def session_folder() -> Iterator[str]:
    """Create the folder of a session, into which processes started inside the block write.

    The folder is private; at the end it is removed, and ``PYTHONPATH`` restored.
    """
    import inspect
    import shutil

    from tt_layout.files import private_folder
    from tt_layout.watching.inductor_hooks import INDUCTOR
    from tt_layout.watching.triton_hooks import TRITON

    folder = private_folder("tt-layout-watch-")
    start = os.path.join(folder, "start")
    os.mkdir(start)
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    texts = {
        "sitecustomize.py": _START.format(package=package, folder=folder, names=(TRITON, INDUCTOR)),
        f"{MODULE}.py": inspect.getsource(patches),
    }
    for name, text in texts.items():
        with open(os.path.join(start, name), "w", encoding="utf-8") as file:
            file.write(text)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([start, *([before] if before else [])])
    owner = os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == owner:
            _take_back(start)
            shutil.rmtree(folder, ignore_errors=True)


def _take_back(start: str) -> None:
    """Remove a folder from ``PYTHONPATH``, which others may have extended since."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    with suppress(ValueError):
        paths.remove(start)
    if any(paths):
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    else:
        os.environ.pop("PYTHONPATH", None)


def keep_in_forks(record: Record, journal: Journal) -> None:
    """Let each process forked from now on write its events to a journal."""
    record.journal_of_forks = journal
    _journaled.add(record)


def follow_module(name: str, folder: str) -> None:
    """Set the hooks in an imported module, with a journal in a folder."""
    from tt_layout.watching.inductor_hooks import InductorHooks
    from tt_layout.watching.triton_hooks import TRITON, TritonHooks

    record = _records.get(folder)
    if record is None:
        record = _records[folder] = _new_record(folder)
    triton = TritonHooks(record, record.failed)
    hooks = triton if name == TRITON else InductorHooks(record, triton)
    triton.guard(partial(hooks.attach, Patches()))


def _new_record(folder: str) -> Record:
    from tt_layout.kernels.seen import Record
    from tt_layout.watching.journal import Journal

    journal = Journal(folder)
    record = Record(journal=journal)
    keep_in_forks(record, journal)
    return record


def _begin_anew() -> None:
    """Empty the records in a newly forked process: their content belongs to the parent."""
    for record in tuple(_journaled):
        record.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
