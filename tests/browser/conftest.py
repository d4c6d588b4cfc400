"""A browser for the tests of the page; they run only when this folder is named.

    pip install playwright && apt-get install chromium-headless-shell
    pytest tests/browser

Screenshots of each state are kept in ``artefacts``, which git ignores, if you make that folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from browser.open_page import Opened
from tt_layout import page
from tt_layout.page import PageLayout, build

HERE = Path(__file__).parent
ARTEFACTS = HERE / "artefacts"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Open = Callable[..., Opened]


@pytest.fixture(scope="session", autouse=True)
def page_that_answers() -> Iterator[None]:
    """Put ``ask.js`` behind the scripts of every page that is built."""
    template = page.template_text

    def with_questions(name: str) -> str:
        return (HERE / name).read_text(encoding="utf-8") if name == "ask.js" else template(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "SCRIPTS", (*page.SCRIPTS, "ask.js"))
        patch.setattr(page, "template_text", with_questions)
        page.page_script.cache_clear()
        yield
        page.page_script.cache_clear()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests out, not skipped, where the folder is not named."""
    start = config.invocation_params.dir
    named = ((start / argument.split("::")[0]).resolve() for argument in config.args)
    return None if any(path.is_relative_to(HERE) for path in named) else True


def chromium() -> str:
    """Return the browser: that of ``CHROMIUM``, or Debian's, without a window if it is there."""
    known = map(shutil.which, ("chromium-headless-shell", "chromium"))
    path = os.environ.get("CHROMIUM") or next(filter(None, known), None)
    assert path, "install Debian's chromium-headless-shell, or name a browser in CHROMIUM"
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a browser with a fresh profile of its own."""
    playwright = import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> dict[str, list[Any]]:
    """The tabs that no test uses now, by colour scheme: to open one takes longer than a page."""
    return {}


@pytest.fixture
def open_file(browser: Any, tabs: dict[str, list[Any]], tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens a page; afterwards no error and no request may have been."""
    opened: list[tuple[Opened, list[Any]]] = []

    def open_text(text: str, fragment: str = "", scheme: str = "light") -> Opened:
        file = tmp_path / f"page{len(opened)}.html"
        file.write_text(text, encoding="utf-8")
        free = tabs.setdefault(scheme, [])
        tab = free.pop() if free else browser.new_context(color_scheme=scheme).new_page()
        tab.set_viewport_size({"width": 1400, "height": 1100})
        tab.emulate_media(media="null", color_scheme=scheme)
        tab.mouse.move(0, 0)
        shown = Opened(tab, file, ARTEFACTS)
        opened.append((shown, free))
        shown.go(fragment)
        return shown

    yield open_text
    for shown, free in opened:
        assert shown.errors == []
        assert shown.requests == {shown.file.as_uri()}
        shown.leave()
        free.append(shown.page)


@pytest.fixture
def open_page(open_file: Open) -> Open:
    """Return a function that opens layouts."""

    def open_layouts(
        *layouts: PageLayout, fragment: str = "", scheme: str = "light", **more: Any
    ) -> Opened:
        return open_file(build(layouts, **more), fragment, scheme)

    return open_layouts
