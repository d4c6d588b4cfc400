"""The page's scripts in a JavaScript engine without a browser, for what they work out."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tt_layout import page

engine: Any = pytest.importorskip("py_mini_racer", reason="needs mini-racer, of the extra test")
ASK = Path(__file__).parent / "browser" / "ask.js"
OF_THE_DOCUMENT = ("state.js", "page.js")
"""Scripts that read the document as soon as they are loaded."""


class Scripts:
    """The scripts of a page, and the GPUs, encodings and classes that every page knows."""

    def __init__(self) -> None:
        names = [name for name in page.SCRIPTS if name not in OF_THE_DOCUMENT]
        texts = [page.template_text(name) for name in names]
        known = f"const window = globalThis; const DATA = {json.dumps(page.known_data(None))};"
        self._engine = engine.MiniRacer()
        self._engine.eval("\n".join([known, *texts, ASK.read_text(encoding="utf-8")]))

    def ask_all(self, questions: list[Any]) -> list[Any]:
        """Return the answers of ``ask.js`` to all questions."""
        asked = f"JSON.stringify({json.dumps(questions)}.map((one) => ttLayout(one)))"
        answers: list[Any] = json.loads(str(self._engine.eval(asked)))
        return answers

    def ask(self, **question: Any) -> Any:
        """Return the answer of ``ask.js`` to a question."""
        return self.ask_all([question])[0]

    def parse(self, script: str) -> None:
        """Raise where a script cannot be parsed."""
        self._engine.eval(f"new Function({json.dumps(script)}), 0")


@cache
def scripts() -> Scripts:
    """Return the scripts, loaded once in a process."""
    return Scripts()
