"""Runner of cases: outcomes of checks, updates of golden files, and selection by changed files."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from tt_layout.enums import TextEnum
from tt_layout.errors import FileLocation, LayoutError, file_error
from tt_layout.files import make_folder, matching
from tt_layout.golden.case import Case
from tt_layout.golden.facts import CaseOutput, differences
from tt_layout.golden.files import read_golden, remove_actual, write_actual, write_golden
from tt_layout.golden.kept import Kept, facts_of, file_of, keep, kept_of
from tt_layout.golden.kinds import KINDS
from tt_layout.golden.manifest import Check, Manifest, is_manifest_name, owned, read_manifest
from tt_layout.ir.file_aliases import split_module
from tt_layout.records import dataclass
from tt_layout.worker import begin_worker, start_method

TRIAL_SECONDS = 1.0  # after so much work it is known how long a check takes
SHARED_SECONDS = 4.0  # work of which so much is left is shared among processes

HEAD = "HEAD"
"""The commit from which changes are told unless another is given."""

MAX_SECONDS = 60
"""That git may take."""

_NOT_THERE = "git is needed to find the changed files, and is not installed"


class State(TextEnum):
    """Outcome of a check; an orphan is a golden file that no case owns."""

    PASSED = "passed"
    WRITTEN = "written"
    CHANGED = "changed"
    MISSING = "missing"
    ORPHAN = "orphan"
    ERROR = "error"
    EXCEEDED = "exceeded"


FAILURES = State.CHANGED, State.MISSING, State.ORPHAN, State.EXCEEDED
"""What makes a run fail, besides errors."""
DIFFERENT = State.CHANGED, State.MISSING
"""What an update writes."""
NEW_WORDS = ("a new golden file",)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Result of a check.

    Attributes:
        state: the state.
        golden: the golden file.
        check: the check; None for an orphan.
        words: the differences and their reasons, the most important first.
        before: the bytes of the golden file, if it was read and differs from the output.
        after: the bytes of the output, if the golden file differs.
        error: the reason why the case cannot be run.
        kept: facts of the golden file if it equals, or is replaced by, the output.
        seconds: duration of the check; None if it was not run.
    """

    state: State
    golden: Path
    check: Check | None = None
    words: tuple[str, ...] = ()
    before: bytes | None = None
    after: bytes | None = None
    error: LayoutError | None = None
    kept: Kept | None = None
    seconds: float | None = None

    @property
    def new(self) -> Path:
        """The file that holds the actual output."""
        return self.golden.with_name(f"{self.golden.name}.new")

    @property
    def id(self) -> str:
        """Its name in reports."""
        return self.check.label if self.check else self.golden.name.removesuffix(".txt")


@dataclass(frozen=True)
class Results:
    """The outcomes of manifests.

    Attributes:
        paths: the given paths of the manifests.
        outcomes: outcomes in the order of the manifests, then the orphans.
    """

    paths: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def counts(self) -> dict[State, int]:
        """Number of outcomes of each state."""
        counted = Counter(outcome.state for outcome in self.outcomes)
        return {state: counted[state] for state in State}

    @property
    def status(self) -> int:
        """The exit status: 0 if all is as expected, 1 on a difference, 2 on an error or no case."""
        counts = self.counts
        if counts[State.ERROR] or not self.outcomes:
            return 2
        return 1 if any(counts[state] for state in FAILURES) else 0


def select(manifest: Manifest, patterns: Sequence[str]) -> tuple[Check, ...]:
    """Return the checks whose case, or ``case.kind``, matches a pattern; all without patterns.

    Raises:
        LayoutError: a pattern matches nothing.
    """
    chosen: dict[Check, None] = {}
    for pattern in patterns:
        matching = [
            check
            for check in manifest.checks
            if any(fnmatchcase(name, pattern) for name in _names(check))
        ]
        if not matching:
            message = f"no case matches --only {pattern!r}; --list lists them"
            raise LayoutError(message, FileLocation(" ".join(manifest.paths)))
        chosen.update(dict.fromkeys(matching))
    return tuple(check for check in manifest.checks if not patterns or check in chosen)


def _names(check: Check) -> tuple[str, ...]:
    """Return the names of a check: its case and its golden file, with and without the folder."""
    case = check.case
    return case.name, check.id, case.scoped(case.name), check.label


def run_check(check: Check) -> Outcome:
    """Run a check and time it; nothing is written."""
    started = time.perf_counter()
    outcome = _outcome(check)
    return replace(outcome, seconds=time.perf_counter() - started)


def _outcome(check: Check) -> Outcome:
    outcome = Outcome(state=State.PASSED, golden=check.golden, check=check)
    try:
        words = KINDS[check.kind].violations(check.case)
        if words is not None:
            state = State.EXCEEDED if words else State.PASSED
            return replace(outcome, state=state, words=words)
        printed = KINDS[check.kind].printed(check.case)
        before = read_golden(check.golden)
    except LayoutError as error:
        return replace(outcome, state=State.ERROR, error=check.case.located(error))
    except OSError as error:
        unreadable = file_error("read", error.filename or check.golden, error)
        return replace(outcome, state=State.ERROR, error=unreadable)
    outcome = replace(outcome, kept=kept_of(printed))
    if before == printed.text:
        return outcome
    if before is None:
        words = ("the case has no golden file",)
        return replace(outcome, state=State.MISSING, words=words, after=printed.text)
    words = _words(check, before, printed)
    return replace(outcome, state=State.CHANGED, words=words, before=before, after=printed.text)


def _words(check: Check, before: bytes, printed: CaseOutput) -> tuple[str, ...]:
    """Describe a difference."""
    crlf: tuple[str, ...] = ()
    if b"\r\n" in before:
        crlf = ("the golden has CRLF line endings; add '*.txt -text' to .gitattributes",)
        before = before.replace(b"\r\n", b"\n")
        if before == printed.text:
            return crlf
    facts = facts_of(check, before)
    if facts is None:
        message = f"{file_of(check).name} does not say what this {check.golden.name} was made from"
        return (*crlf, f"{message}; --update writes it, and explains the next change")
    return (*crlf, *differences(facts, printed.facts))


def run_checks(checks: Sequence[Check], jobs: int = 1) -> Iterator[Outcome]:
    """Run checks in order, and yield their outcomes.

    A check of a usual tensor takes a millisecond, processes more than a second to start.  So
    processes are started only if much work is left, judging by the time taken so far.
    """
    started = time.monotonic()
    for done, check in enumerate(checks):
        spent, left = time.monotonic() - started, len(checks) - done
        is_known = jobs > 1 and done > 0 and spent > TRIAL_SECONDS
        if is_known and spent / done * left > SHARED_SECONDS:
            yield from _run_in_processes(checks[done:], jobs)
            return
        yield run_check(check)


def _run_in_processes(checks: Sequence[Check], jobs: int) -> Iterator[Outcome]:
    """Run checks in processes, which end at once if this generator is closed early.

    Each process has all checks from its start and receives only their numbers, so that a pipe never
    fills: a writer to a full pipe waits for ever once its reader has ended.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    jobs, before = min(jobs, len(checks)), active_children()
    size = max(1, min(64, len(checks) // (4 * jobs)))
    with ProcessPoolExecutor(jobs, get_context(start_method()), _begin, (checks,)) as pool:
        try:
            with held_interrupts():
                starts = range(0, len(checks), size)
                parts = deque(pool.submit(_run_part, at, at + size) for at in starts)
            while parts:
                yield from parts.popleft().result()
        except (BrokenProcessPool, BrokenPipeError):
            message = "a process that ran cases was killed; --jobs 1 runs them in one"
            raise LayoutError(message) from None
        except BaseException:
            for process in set(active_children()).difference(before):
                process.terminate()  # else what was submitted is run to its end first
            raise


_checks: Sequence[Check] = ()
"""The checks, in a process that runs some of them."""


def _begin(checks: Sequence[Check]) -> None:
    global _checks
    begin_worker()
    _checks = checks


def _run_part(start: int, end: int) -> list[Outcome]:
    return [run_check(check) for check in _checks[start:end]]


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold interrupts back inside the block; processes started in it inherit that."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def record(outcome: Outcome) -> Outcome:
    """Write the actual output beside a golden file that differs; remove a stale one.

    A folder that cannot be written to does not change the outcome.
    """
    if outcome.state == State.CHANGED and outcome.after is not None:
        with suppress(OSError):
            write_actual(outcome.new, outcome.after)
    else:
        remove_actual(outcome.new)
    return outcome


def leave(outcome: Outcome) -> Outcome:
    """Write nothing: in CI no files beside the golden ones are wanted."""
    return outcome


def keep_in(folder: str, outcome: Outcome) -> Outcome:
    """Write the actual output of an outcome that differs into a folder.

    Raises:
        LayoutError: it cannot be written there.
    """
    if outcome.state in DIFFERENT and outcome.after is not None:
        path = Path(folder) / (outcome.check.case.scope if outcome.check else "")
        path /= outcome.golden.name
        try:
            make_folder(str(path.parent))
            write_actual(path, outcome.after)
        except (OSError, ValueError) as error:
            raise file_error("write", path, error) from None
    return outcome


def accept(outcome: Outcome) -> Outcome:
    """Replace a golden file by the actual output; return the new outcome.

    Raises:
        LayoutError: the file cannot be written.
    """
    if outcome.state in DIFFERENT and outcome.after is not None:
        try:
            write_golden(outcome.golden, outcome.after)
        except OSError as error:
            raise file_error("write", outcome.golden, error) from None
        words = outcome.words if outcome.state == State.CHANGED else NEW_WORDS
        outcome = replace(outcome, state=State.WRITTEN, words=words, before=None, after=None)
    if outcome.state in (State.PASSED, State.WRITTEN):
        remove_actual(outcome.new)
    return outcome


def keep_facts(manifest: Manifest, outcomes: Sequence[Outcome]) -> None:
    """Write the facts of the golden files that are up to date.

    Raises:
        LayoutError: the file cannot be written.
    """
    right = [outcome for outcome in outcomes if outcome.state in (State.PASSED, State.WRITTEN)]
    keep(
        manifest.checks,
        {outcome.golden: outcome.kept for outcome in right if outcome.kept is not None},
    )


def orphans(manifest: Manifest) -> tuple[Outcome, ...]:
    """Return the golden files beside the manifest and its includes that no case owns.

    Golden files of another manifest in the same folder, named ``layouts.yaml`` or
    ``*.layouts.yaml``, belong to it.
    """
    folders = sorted({path.parent for path in manifest.files})
    unowned = {
        os.path.realpath(path): path
        for folder in folders
        for kind in KINDS
        for path in map(Path, matching(str(folder), f"*.{kind}.txt"))
    }
    for path in owned(manifest):
        unowned.pop(path, None)
    ours = {os.path.realpath(path) for path in manifest.files}
    for folder in folders if unowned else ():
        for other in map(Path, matching(str(folder), "*layouts.yaml")):
            if is_manifest_name(other.name) and os.path.realpath(other) not in ours:
                for path in _owned_by_other(other, unowned):
                    unowned.pop(path, None)
    words = ("no case of the manifest owns this golden file",)
    return tuple(Outcome(state=State.ORPHAN, golden=path, words=words) for path in unowned.values())


def _owned_by_other(manifest: Path, goldens: Mapping[str, Path]) -> list[str]:
    """Return the files of another manifest; if it is unreadable, all beside it."""
    try:
        return list(owned(read_manifest(str(manifest))))
    except LayoutError:
        return [path for path, golden in goldens.items() if golden.parent == manifest.parent]


def changed_files(manifest: Manifest, since: str) -> frozenset[str]:
    """Return the real paths of the files that differ from a commit, or are untracked.

    Args:
        manifest: the manifest of the cases, whose folders are in repositories.
        since: a commit, a branch or a tag, compared at its merge base.

    Raises:
        LayoutError: a folder is not in a repository, there is no such commit, or git is missing.
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
    """Return the checks that changed files can make fail."""
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
    """Return the output of git.

    Raises:
        LayoutError: it is missing, or fails.
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
