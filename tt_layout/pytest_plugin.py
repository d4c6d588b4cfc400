"""A pytest plugin: each case of a manifest is a test, and ``--tt-audit`` watches the kernels.

Manifests are tests once the ini option ``tt_layout_manifests`` lists them, as patterns of paths
below the folder of pytest's settings, or below its root folder:

    [tool.pytest.ini_options]
    tt_layout_manifests = ["tests/goldens/layouts.yaml"]

Only files named ``layouts.yaml`` or ``*.layouts.yaml`` are collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tt_layout.golden.manifest import Check, Manifest
    from tt_layout.golden.runner import Outcome

OPTION = "tt_layout_manifests"
AUDIT = "--tt-audit"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that lists manifests, and those that watch kernels."""
    text = "patterns of the manifests of tt-layout whose cases are tests, such as */layouts.yaml"
    parser.addini(OPTION, text, type="args", default=[])
    group = parser.getgroup("tt-layout")
    group.addoption(
        AUDIT,
        nargs="?",
        const="",
        metavar="KIND[=CYCLES],...",
        help="Audit every Triton kernel that the tests compile or launch; with kinds of findings,"
        " such as --tt-audit=conflicts=500,registers, fail if there are any.",
    )
    group.addoption(
        f"{AUDIT}-compile",
        nargs="?",
        const="",
        metavar="PYTHON",
        help="Hand each audited kernel to the Triton of this Python, by default that of"
        " TT_LAYOUT_TRITON or this one: exact registers.",
    )
    group.addoption(
        f"{AUDIT}-report",
        metavar="FILE",
        help="Write the audit of the kernels into a file: .html, .json, .xml, or text.",
    )
    group.addoption(
        f"{AUDIT}-force",
        action="store_true",
        help="Let the report replace a file that tt-layout did not write.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, if that is asked for."""
    kinds, report = config.getoption(AUDIT), config.getoption(f"{AUDIT}-report")
    if kinds is None and report is None:
        return
    from tt_layout.watching.pytest_session import WatchedTests

    watched = WatchedTests(config, kinds or "", report, config.getoption(f"{AUDIT}-force"))
    config.pluginmanager.register(watched, "tt_layout_watch")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a manifest that the option lists."""
    name = file_path.name
    if name != "layouts.yaml" and not name.endswith(".layouts.yaml"):
        return None
    if not _is_listed(file_path, parent.config):
        return None
    return ManifestFile.from_parent(parent, path=file_path)


def _is_listed(manifest: Path, config: pytest.Config) -> bool:
    """Return whether a pattern is of a manifest; ``--rootdir`` may name another folder."""
    folders = [config.rootpath, *([config.inipath.parent] if config.inipath is not None else [])]
    paths = [
        manifest.relative_to(folder).as_posix()
        for folder in folders
        if manifest.is_relative_to(folder)
    ]
    patterns = config.getini(OPTION)
    return any(fnmatchcase(path, pattern) for path in paths for pattern in patterns)


class ManifestFile(pytest.File):
    """A manifest: an item per case and kind, and one for golden files without a case."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the items; an error in the manifest is an error of the collection."""
        from tt_layout.errors import LayoutError
        from tt_layout.golden.manifest import read_manifest
        from tt_layout.safe_text import safe_lines

        try:
            manifest = read_manifest(_shown(self.path))
        except LayoutError as error:
            raise self.CollectError(safe_lines(str(error))) from None
        for check in manifest.checks:
            yield CheckItem.from_parent(self, name=check.label, check=check)
        yield OrphansItem.from_parent(self, name="orphans", manifest=manifest)


def _shown(path: Path) -> str:
    """Return a path as seen from the current folder, if it is inside."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


class MismatchError(Exception):
    """Outcomes that are not as the golden files have it."""

    def __init__(self, manifest: str, outcomes: tuple[Outcome, ...]) -> None:
        self.manifest = manifest
        self.outcomes = outcomes


class _Item(pytest.Item):
    """A test whose failure is shown as ``tt-layout check`` shows it."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of the command in place of a traceback."""
        if not isinstance(excinfo.value, MismatchError):
            return super().repr_failure(excinfo, style)
        from tt_layout.golden.report import accept_hint, describe
        from tt_layout.golden.runner import Results
        from tt_layout.safe_text import safe_lines

        results = Results((excinfo.value.manifest,), excinfo.value.outcomes)
        parts = [*map(describe, results.outcomes), accept_hint(results)]
        return safe_lines("\n\n".join(part for part in parts if part))


class CheckItem(_Item):
    """One case and kind against its golden file."""

    def __init__(self, *, check: Check, **options: Any) -> None:
        super().__init__(**options)
        self.check = check

    def runtest(self) -> None:
        """Run the case; raise MismatchError unless it prints its golden file."""
        from tt_layout.golden.runner import State, record, run_check

        outcome = record(run_check(self.check))
        if outcome.state != State.PASSED:
            raise MismatchError(_shown(self.path), (outcome,))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the case."""
        span = self.check.case.place
        return Path(span.file), span.line - 1, self.name


class OrphansItem(_Item):
    """The golden files beside a manifest that no case owns."""

    def __init__(self, *, manifest: Manifest, **options: Any) -> None:
        super().__init__(**options)
        self.manifest = manifest

    def runtest(self) -> None:
        """Raise MismatchError if there is any."""
        from tt_layout.golden.runner import orphans

        outcomes = orphans(self.manifest)
        if outcomes:
            raise MismatchError(_shown(self.path), outcomes)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the manifest."""
        return self.path, None, self.name
