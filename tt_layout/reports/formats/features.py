"""Features of kernels as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.reports.format import Format
from tt_layout.reports.report import OfKernels


class FeatureLines(Format):
    """A line of JSON for each kernel, with the fields of `tt_layout.reports.feature_fields`."""

    name = "features"
    order = 40
    prints = "a line of JSON for each kernel with its features"
    needs = OfKernels
    scope = "the report of an audit"

    @classmethod
    def texts(cls, report: OfKernels) -> Iterator[str]:
        """Yield a line for each kernel of a report."""
        import json

        from tt_layout.reports.features import features_of

        for kernel in report.all_kernels():
            yield f"{json.dumps(features_of(kernel))}\n"
