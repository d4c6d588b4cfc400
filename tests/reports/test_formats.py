"""Output formats: which commands have which, documented, safe, and known again in files.

As a script it writes the table of ``docs/formats.md``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

from tt_layout.cli.commands.audit import command as audit
from tt_layout.cli.commands.check import command as check
from tt_layout.reports.compared_dumps import BaselineReport
from tt_layout.reports.format import Format
from tt_layout.reports.formats import format_of_file, formats, formats_of, is_own
from tt_layout.reports.formats.github import workflow_command
from tt_layout.reports.formats.html import to_page
from tt_layout.reports.report import Annotation
from tt_layout.watching.report import WatchReport

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "formats.md"
KERNEL = str(ROOT / "examples" / "kernels" / "matmul-sm80.ttgir")
TABLE = re.compile(r"(<!-- formats: .*? -->\n).*?(<!-- end of formats -->)", re.DOTALL)
OF_BASELINE = formats_of(BaselineReport)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def choices(command: Any) -> list[str]:
    """Return the formats that a command takes."""
    [option] = [param for param in command.params if param.name == "output_format"]
    return list(option.type.choices)


def places(form: type[Format]) -> str:
    """Return where a format is found, as the table has it."""
    found = []
    if form.name in choices(audit):
        is_only = form.name in OF_BASELINE and form.name not in ("text", "json")
        found.append("`audit --baseline`" if is_only else "`audit`")
    if form.name in choices(check):
        found.append("`check`")
    if issubclass(WatchReport, form.needs):
        if form.ending is not None:
            found.append(f"`{form.ending}` of `watch`")
        elif form.name == "text":
            found.append("any other ending of `watch`")
    return ", ".join(found)


def table() -> str:
    """Return the table of the documentation."""
    lines = ["| `--format` | prints | where |", "|---|---|---|"]
    lines += [f"| `{form.name}` | {form.prints} | {places(form)} |" for form in formats()]
    return "\n".join(lines) + "\n"


def test_the_table_in_the_docs_is_made_from_the_formats() -> None:
    found = TABLE.search(DOCS.read_text(encoding="utf-8"))
    assert found is not None
    assert found.group(0) == f"{found.group(1)}{table()}{found.group(2)}"


def test_every_format_is_found_somewhere() -> None:
    assert all(places(form) for form in formats())
    orders = [form.order for form in formats()]
    assert orders == sorted(set(orders))
    endings = [form.ending for form in formats() if form.ending is not None]
    assert len(endings) == len(set(endings))


def test_help_says_what_each_format_prints(run: Run) -> None:
    for command, name in ((audit, "audit"), (check, "check")):
        words = " ".join(run(name, "--help").out.split())
        prints = [form.prints for form in formats() if form.name in choices(command)]
        assert all(words_of in words for words_of in prints)


@pytest.mark.slow
@pytest.mark.parametrize("name", choices(audit))
@pytest.mark.parametrize(
    "options", [(), ("--fits",), ("--axis-info",), ("--diff", KERNEL), ("--baseline", KERNEL)]
)
def test_what_has_no_such_format_refuses_it(name: str, options: tuple[str, ...], run: Run) -> None:
    """Before anything is read: what cannot be printed is not worked out."""
    outcome = run("audit", KERNEL, *options, "--format", name)
    has_more = {
        (): ("github", "features"),
        ("--baseline", KERNEL): ("markdown", "html"),
    }
    if name in ("text", "json", *has_more.get(options, ())):
        assert outcome.status in (0, 1)
        assert outcome.out
    else:
        assert outcome.status == 2
        assert outcome.out == ""
        assert f"--format {name} is for" in outcome.err


@pytest.mark.parametrize("path", ["a.txt", "a.json", "a.html", "a.xml", "a"])
def test_a_file_of_ours_is_known_again_in_its_own_format_only(path: str) -> None:
    form = format_of_file(path)
    text = form.marked(WatchReport((), ())).encode()
    assert form.is_marked(text[:1000], text[-1000:])
    assert is_own(text[:1000], text[-1000:])
    others = [other for other in formats() if other.is_marked is not form.is_marked]
    assert not any(
        other.is_marked(text[:1000], text[-1000:])
        for other in others
        if other.ending is not None and other is not form
    )
    plain = "".join(form.texts(WatchReport((), ()))).encode()
    assert not is_own(plain[:1000], plain[-1000:])


def test_annotations_cannot_be_broken_out_of() -> None:
    text = workflow_command(Annotation("a\r\n::stop::%0A", "f,x=1::y", 1, "t\n,"))
    assert "\n" not in text
    assert "\r" not in text
    assert text == "::error file=f%2Cx=1%3A%3Ay,line=1,title=t%0A%2C::a%0D%0A::stop::%250A"


def test_a_page_of_text_has_a_landmark_and_a_heading() -> None:
    """Screen readers jump to them; axe asks for both."""
    page = to_page("a < b", WatchReport((), ()))
    assert re.search("<body><main><h1[^>]*>a &lt; b</h1><div.*</main></body>", page)


if __name__ == "__main__":
    written = TABLE.sub(lambda found: f"{found[1]}{table()}{found[2]}", DOCS.read_text("utf-8"))
    DOCS.write_text(written, encoding="utf-8")
