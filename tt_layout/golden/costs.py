"""The kinds ``info``, ``conflicts`` and ``convert``: what these commands print for a case."""

from __future__ import annotations

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import classify, with_inputs
from tt_layout.analyses.shared_memory.banks import registers_first
from tt_layout.encodings import Encoding
from tt_layout.golden.case import Case
from tt_layout.golden.inputs import (
    encoding,
    layout_key,
    other_encoding,
    pointing_at,
    target_name,
    tensor_type,
)
from tt_layout.hardware import DEFAULT_TARGET, find_target
from tt_layout.placement import place
from tt_layout.reports.conflicts import ConflictsReport, conflicts_report
from tt_layout.reports.convert import ConversionReport, TransferReport, conversion_report
from tt_layout.reports.info import Info, InfoReport, info_report
from tt_layout.reports.report import plain_text


def info(case: Case) -> bytes:
    """Return the properties of the layout of a case, as ``tt-layout info`` prints them."""
    return plain_text(info_of(case)).encode()


def conflicts(case: Case) -> bytes:
    """Return the bank conflicts of a case, as ``tt-layout conflicts`` prints them."""
    return plain_text(conflicts_of(case)).encode()


def convert(case: Case) -> bytes:
    """Return what a conversion takes, as ``tt-layout convert`` prints it."""
    return plain_text(conversion_of(case)).encode()


def info_of(case: Case) -> InfoReport[Info]:
    """Return the properties of the layout of a case."""
    return info_report(encoding(case), tensor_type(case))


def conflicts_of(case: Case) -> ConflictsReport:
    """Return the bank conflicts of a case."""
    layouts = encoding(case), other_encoding(case, "with")
    with pointing_at(case, "with"):
        registers_first(*layouts)
    with pointing_at(case, "target"):
        target = find_target(target_name(case) or DEFAULT_TARGET)
        return conflicts_report(*layouts, tensor_type(case), target)


def conversion_of(case: Case) -> ConversionReport | TransferReport:
    """Return what the conversion of a case takes."""
    src, dst = encoding(case), other_encoding(case, "to")
    before, after = _in_registers(case, layout_key(case), src), _in_registers(case, "to", dst)
    with pointing_at(case, "to"):
        classify(before, after)
    with pointing_at(case, "target"):
        return conversion_report(src, dst, tensor_type(case), target_name(case))


def _in_registers(case: Case, key: str, layout: Encoding) -> LinearLayout:
    """Return a layout over the case's type; point at its key if it is not a register layout."""
    with pointing_at(case, key):
        return with_inputs(place(layout, tensor_type(case)).layout)
