"""Reports of the library are plain data, as often as they are asked for."""

from __future__ import annotations

import json

import tt_layout


def test_an_audit_is_plain_data_each_time() -> None:
    report = tt_layout.audit_ir("examples/narrow/softmax.ttgir")
    first = json.dumps(report.data())
    assert json.dumps(report.data()) == first
    assert len(json.loads(first)["modules"]) == 1
