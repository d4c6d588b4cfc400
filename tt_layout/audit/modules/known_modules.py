"""Cache of conclusions about modules that recur.

Most passes leave a module as it is, and it is printed again; the log of several processes has each
kernel as often.  What is concluded without lines holds wherever the text stands.  What names lines
holds for the same text that begins on the same line, as in two dumps that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.module import Module

MAX_MODULES = 64
"""Modules that are remembered; of those asked for last."""

MAX_LENGTH = 1 << 22
"""Characters of the text of a module that is remembered."""

T = TypeVar("T")


class _Answers:
    """What is known of a text.

    Attributes:
        anywhere: what holds wherever it stands.
    """

    def __init__(self) -> None:
        self.anywhere: dict[Hashable, Any] = {}
        self._line = 0
        self._there: dict[Hashable, Any] = {}

    def at(self, line: int) -> dict[Hashable, Any]:
        """Return what holds where it begins on a line; that of another line is forgotten."""
        if line != self._line:
            self._line, self._there = line, {}
        return self._there


class KnownModules:
    """Cache of conclusions about the modules of dumps.

    Attributes:
        given: what the arguments are for which it was concluded.
    """

    def __init__(self) -> None:
        self.given = GivenValues()
        self._known: dict[str, _Answers] = {}
        self._last: tuple[Module | None, _Answers | None] = None, None

    def __reduce__(self) -> tuple[type[KnownModules], tuple[()]]:
        """Cross processes without what is known: it is concluded again."""
        return KnownModules, ()

    def give(self, given: GivenValues) -> None:
        """Forget what was concluded if it was for other arguments."""
        if given != self.given:
            self.given = given
            self._known.clear()
            self._last = None, None

    def once(
        self,
        module: Module,
        question: Hashable,
        conclude: Callable[[], T],
        *,
        has_lines: bool = True,
    ) -> T:
        """Return a conclusion, computed once for all modules of one text.

        Args:
            module: the module.
            question: what is asked.
            conclude: finds the answer.
            has_lines: whether question or answer name lines: they are those of modules that begin
                on the same line.
        """
        answers = self._answers(module)
        if answers is None:
            return conclude()
        kept = answers.at(module.line) if has_lines else answers.anywhere
        if question not in kept:
            kept[question] = conclude()
        answer: T = kept[question]
        return answer

    def _answers(self, module: Module) -> _Answers | None:
        """Return the answers to questions about a module; None where it is not remembered."""
        if self._last[0] is not module:
            text = _text(module)
            answers = self._known.pop(text, _Answers()) if text is not None else None
            if text is not None and answers is not None:
                self._known[text] = answers
                if len(self._known) > MAX_MODULES:
                    del self._known[next(iter(self._known))]
            self._last = module, answers
        return self._last[1]


def _text(module: Module) -> str | None:
    """Return the text that determines all conclusions about a module; None if it is not known."""
    length = module.span.end - module.span.start
    if module.error is not None or not module.stands_alone or length > MAX_LENGTH:
        return None
    text = module.span.text
    # The header names the pass; what is below it is as far from it in each module.
    return text.partition("\n")[2].rstrip() if module.pass_name is not None else text.rstrip()
