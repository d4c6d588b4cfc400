"""The kinds ``info``, ``conflicts`` and ``convert``: what these commands print for a case."""

from __future__ import annotations

from collections.abc import Iterable

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.banks import registers_first
from tt_layout.analyses.conversion import classify, with_inputs
from tt_layout.encodings import Encoding
from tt_layout.golden.case import Case
from tt_layout.golden.inputs import (
    encoding,
    layout_key,
    other_encoding,
    pointing_at,
    tensor_type,
)
from tt_layout.hardware import DEFAULT_TARGET, find_target
from tt_layout.placement import place
from tt_layout.reports import conflicts as conflicts_report
from tt_layout.reports import convert as convert_report
from tt_layout.reports import info as info_report


def info(case: Case) -> bytes:
    """Return what the layout of a case is made of, as ``tt-layout info`` prints it."""
    return _joined(info_report.as_text(info_report.report(encoding(case), tensor_type(case))))


def conflicts(case: Case) -> bytes:
    """Return the turns of storing and loading, as ``tt-layout conflicts`` prints them."""
    layouts = encoding(case), other_encoding(case, "with")
    with pointing_at(case, "with"):
        registers_first(*layouts)
    with pointing_at(case, "target"):
        target = find_target(case.text("target") or DEFAULT_TARGET)
        found = conflicts_report.report(*layouts, tensor_type(case), target)
    return _joined(line for line, _ in conflicts_report.as_text(found))


def convert(case: Case) -> bytes:
    """Return what a conversion takes, as ``tt-layout convert`` prints it."""
    src, dst = encoding(case), other_encoding(case, "to")
    before, after = _in_registers(case, layout_key(case), src), _in_registers(case, "to", dst)
    with pointing_at(case, "to"):
        classify(before, after)
    with pointing_at(case, "target"):
        found = convert_report.report(src, dst, tensor_type(case), case.text("target"))
    return _joined(line for line, _ in convert_report.as_text(found))


def _in_registers(case: Case, key: str, layout: Encoding) -> LinearLayout:
    """Return a layout over the case's type; point at its key where it is not of registers."""
    with pointing_at(case, key):
        return with_inputs(place(layout, tensor_type(case)).layout)


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
