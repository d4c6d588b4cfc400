"""Folders of dumps: ``audit --baseline FOLDER FOLDER``, and ``--cache FOLDER``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tt_layout.audit.values.given import GivenValues
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import FileParameter
from tt_layout.errors import LayoutError
from tt_layout.files import user_cache
from tt_layout.releases import Release

baseline_option = click.option(
    "--baseline",
    type=FileParameter(),
    metavar="FOLDER",
    help="Compare kernel by kernel with the dumps in this folder; exit 1 if any is more expensive.",
)
tolerance_option = click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0,
    metavar="PERCENT",
    help="With --baseline: by how much a kernel may become more expensive.",
)

cache_option = click.option(
    "--cache",
    type=FileParameter(),
    metavar="FOLDER",
    callback=lambda context, option, value: user_cache() if value == "auto" else value,
    help="Keep the results of many dumps in this folder, and find them again there; auto: in the "
    "user's folder of caches.",
)


def compare_with_baseline(
    baseline: str,
    files: Sequence[str],
    output_format: str,
    *,
    tolerance: float,
    is_partial: bool,
    release: Release | None,
    given: GivenValues | None,
    cache: str | None = None,
) -> int:
    """Print what became of each kernel; return the exit status.

    Raises:
        LayoutError: there is more than one folder to compare, or nothing in one could be read.
    """
    from tt_layout.cli.batch import overview
    from tt_layout.reports.baseline import BaselineReport, changes_between
    from tt_layout.reports.result_cache import kernels_in_report

    if len(files) != 1:
        raise LayoutError(f"--baseline compares with one folder or file, got {len(files)}")
    if all(name.endswith(".json") for name in (baseline, files[0])):
        ends = [(name, kernels_in_report(name)) for name in (baseline, files[0])]
        report = BaselineReport(changes_between(ends[0], ends[1], tolerance / 100))
        emit(report, output_format)
        return 1 if report.is_worse else 0
    overviews = [
        overview(
            [name],
            is_partial=is_partial,
            release=release,
            given=given,
            top=None,
            cache=cache,
            has_bounds=True,
        )
        for name in (baseline, files[0])
    ]
    before, after = (
        (name, listed.kernels) for name, listed in zip((baseline, files[0]), overviews)
    )
    changes = changes_between(before, after, tolerance / 100)
    report = BaselineReport(
        changes, tuple(listed for two in overviews for listed in two.passed_over)
    )
    emit(report, output_format)
    return 1 if report.is_worse else 0
