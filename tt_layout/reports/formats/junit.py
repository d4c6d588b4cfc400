"""JUnit XML, for test dashboards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tt_layout.reports.format import Format
from tt_layout.reports.report import ReportedCase, Tested
from tt_layout.safe_text import safe_lines

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


MARK = "<!-- generator: tt-layout -->"


class JUnit(Format):
    """A suite of cases."""

    name = "junit"
    order = 20
    prints = "JUnit XML"
    needs = Tested
    scope = "check"
    ending = ".xml"

    @classmethod
    def texts(cls, report: Tested) -> Iterator[str]:
        """Yield the suite of a report."""
        yield to_junit(*report.suite())

    @classmethod
    def marked(cls, report: Tested) -> str:
        """Return the suite, with the generator in a comment above it."""
        return to_junit(*report.suite(), MARK)

    @classmethod
    def is_marked(cls, start: bytes, end: bytes) -> bool:
        """Tell whether the generator is in a comment at the beginning."""
        return start.startswith(b"<?xml") and MARK.encode() in start


def to_junit(suite: str, cases: Iterable[ReportedCase], mark: str = "") -> str:
    """Return a suite of cases as JUnit XML, with a comment above it.

    Example:
        >>> print(to_junit("kernels", [ReportedCase("copy", "train.py", 7)]))
        <?xml version="1.0" encoding="utf-8"?>
        <testsuites>
          <testsuite name="kernels" tests="1" failures="0" errors="0" skipped="0">
            <testcase classname="kernels" name="copy" file="train.py" line="7" />
          </testsuite>
        </testsuites>
        <BLANKLINE>
    """
    import xml.etree.ElementTree as ET

    listed = list(cases)
    problems = [case.problem for case in listed if case.problem is not None]
    errors = sum(problem.is_error for problem in problems)
    counts = {"tests": len(listed), "failures": len(problems) - errors, "errors": errors}
    element = ET.Element("testsuite", name=_xml(suite))
    for name, count in (*counts.items(), ("skipped", 0)):
        element.set(name, str(count))
    seconds = [case.seconds for case in listed if case.seconds is not None]
    if seconds:
        element.set("time", f"{sum(seconds):.3f}")
    element.extend(_element(suite, case) for case in listed)
    root = ET.Element("testsuites")
    root.append(element)
    ET.indent(root)
    # What xml.etree declares by itself depends on the locale.
    # A report in the log of a job is no command to it.
    head = f"{DECLARATION}\n{mark}\n" if mark else f"{DECLARATION}\n"
    return safe_lines(f"{head}{ET.tostring(root, encoding='unicode')}\n")


def _element(suite: str, case: ReportedCase) -> Element:
    import xml.etree.ElementTree as ET

    element = ET.Element("testcase", classname=_xml(suite), name=_xml(case.name))
    places = {"file": case.file, "line": case.line}
    for name, value in places.items():
        if value is not None:
            element.set(name, _xml(str(value)))
    if case.seconds is not None:
        element.set("time", f"{case.seconds:.3f}")
    problem = case.problem
    if problem is not None:
        tag = "error" if problem.is_error else "failure"
        result = ET.SubElement(element, tag, type=problem.kind, message=_xml(problem.message))
        result.text = _xml(problem.text)
    return element


def _xml(text: str) -> str:
    """Replace the characters that XML does not allow."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)
