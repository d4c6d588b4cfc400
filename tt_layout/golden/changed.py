"""Checks of what a commit would change: of the files that git tells from those of a commit."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.golden.case import Case
from tt_layout.golden.kept import file_of
from tt_layout.golden.manifest import Check, Manifest
from tt_layout.golden.runner import Outcome
from tt_layout.ir.file_aliases import split_module

HEAD = "HEAD"
"""The commit from which changes are told unless another is given."""

MAX_SECONDS = 60
"""That git may take."""

_NOT_THERE = "git is needed to find the changed files, and is not installed"


def changed_files(manifest: Manifest, since: str = HEAD) -> frozenset[str]:
    """Return the true paths of the files that differ from a commit, or that git does not know yet.

    Args:
        manifest: of the cases, whose folders are in repositories.
        since: a commit, a branch or a tag; what changed there meanwhile does not count.

    Raises:
        LayoutError: a folder is in no repository, there is no such commit, or git is missing.
    """
    found: set[str] = set()
    tops = {
        _git(path if os.path.isdir(path) else os.path.dirname(path), "rev-parse", "--show-toplevel")
        for path in manifest.paths
    }
    for top in sorted(line.rstrip("\n") for line in tops):
        differing = "diff", "--name-only", "--no-ext-diff", "--no-renames", "-z"
        merged = _git(top, "merge-base", "--end-of-options", since, HEAD).strip()
        names = _git(top, *differing, merged, "--")
        names += _git(top, "ls-files", "--others", "--exclude-standard", "-z")
        found.update(
            os.path.realpath(os.path.join(top, name)) for name in names.split("\0") if name
        )
    return frozenset(found)


def checks_of(checks: Iterable[Check], changed: Collection[str]) -> tuple[Check, ...]:
    """Return the checks that a change of some files can make fail."""
    return tuple(
        check
        for check in checks
        if any(os.path.realpath(path) in changed for path in _files(check))
    )


def _files(check: Check) -> tuple[str | os.PathLike[str], ...]:
    case: Case = check.case
    file = case.text("file")
    dumps = () if file is None else (split_module(str(case.folder / file)).path,)
    return case.place.file, check.golden, file_of(check), *dumps


def orphans_of(
    orphans: Iterable[Outcome], manifest: Manifest, changed: Collection[str]
) -> tuple[Outcome, ...]:
    """Return the golden files without a case that are new, or whose manifest changed."""
    folders = {path.parent for path in manifest.files if os.path.realpath(path) in changed}
    return tuple(
        orphan
        for orphan in orphans
        if orphan.golden.parent in folders or os.path.realpath(orphan.golden) in changed
    )


def _git(folder: str, *arguments: str) -> str:
    """Return what git prints.

    Raises:
        LayoutError: it is missing, or refuses.
    """
    import subprocess

    # A repository may name a program as its monitor of files: it is not run.
    quiet = "--no-optional-locks", "-c", "core.fsmonitor=false"
    command = "git", *quiet, "-C", folder or ".", *arguments
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=MAX_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
    except FileNotFoundError:
        raise LayoutError(_NOT_THERE) from None
    except subprocess.TimeoutExpired:
        raise LayoutError(f"git {arguments[0]} takes more than {MAX_SECONDS} seconds") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        message = f"git cannot list the changed files: {reason[0] if reason else done.returncode}"
        raise LayoutError(message, FileLocation(folder or "."))
    return os.fsdecode(done.stdout)
