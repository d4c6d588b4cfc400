"""Kinds of output of a case, one entry each.

A new kind is one more entry in `KINDS` and a module with its function.  The reader of
manifests, the runner, the reports, the orphans and the JSON Schema's test follow from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from tt_layout.golden.case import Case
from tt_layout.records import dataclass
from tt_layout.views.kinds import KINDS as VIEW_KINDS
from tt_layout.views.selection import SLICE

if TYPE_CHECKING:
    from tt_layout.golden.facts import CaseOutput

_EITHER = "in any notation, or an alias of the case's file"
DEFAULT_KINDS = ("tensor",)


@dataclass(frozen=True)
class CaseKey:
    """A key of a case.

    Attributes:
        name: its name in the manifest.
        accepts: the kinds of nodes that it takes: ``text``, ``number``, ``list``, ``mapping``.
        summary: its meaning.
        is_default: whether ``defaults`` may have it.
        is_needed: for a key of some kinds, whether their cases must have it.
    """

    name: str
    accepts: tuple[str, ...]
    summary: str
    is_default: bool = True
    is_needed: bool = False


TEXT, WORD = ("text",), ("text", "number")

CASE_KEYS = (
    CaseKey("name", WORD, "Unique; the stem of the golden files.", False),
    CaseKey("layout", TEXT, "The layout, in any notation.", False),
    CaseKey("file", TEXT, "A file with alias definitions, instead of layout."),
    CaseKey("alias", TEXT, "The alias in the file whose layout is meant.", False),
    CaseKey("type", TEXT, "The tensor or memdesc type."),
    CaseKey("views", ("list",), "The kinds of output; tensor when left out."),
    CaseKey("triton", WORD, "The release whose rules hold, such as 3.5."),
    CaseKey("note", WORD, "Words for readers.", False),
    CaseKey("matrix", ("mapping",), "Lists of values; {key} is replaced by each.", False),
)
"""The keys of every case, whatever its kinds."""

WITH = CaseKey("with", TEXT, f"Conflicts: the other layout, {_EITHER}.", is_needed=True)
TO = CaseKey("to", TEXT, f"Convert: the layout afterwards, {_EITHER}.", is_needed=True)
TARGET = CaseKey("target", WORD, "Conflicts and convert: the GPU, such as sm90.")
AT_MOST = CaseKey("at_most", ("mapping",), "Budget: numbers, and how large each may be.")
LINE = CaseKey("line", ("number",), "Instead of layouts: a data movement of the file.", False)
VALUES = CaseKey("values", TEXT, "Audit: values of kernel arguments, such as K=4096, n=64.")


@dataclass(frozen=True)
class OutputKind:
    """A kind of output.

    Attributes:
        name: its name in ``views`` and in the names of golden files.
        summary: its contents.
        text: ``module:function`` from a case to its output.
        keys: keys of its cases in addition to `CASE_KEYS`.
        view: the name of the view that the function also takes; none for other kinds.
        is_of_layout: whether its input is a layout and a type, rather than the case's file;
            None if it may be either.
        exceeded: for a kind without golden files, ``module:function`` from a case to the
            violations of its limits.
    """

    name: str
    summary: str
    text: str = ""
    keys: tuple[CaseKey, ...] = ()
    view: tuple[str, ...] = ()
    is_of_layout: bool | None = True
    exceeded: str | None = None

    @property
    def needed_keys(self) -> tuple[str, ...]:
        """The keys that its cases need in addition to those of every case."""
        return tuple(key.name for key in self.keys if key.is_needed)

    def printed(self, case: Case) -> CaseOutput:
        """Return the output of a case; raise LayoutError if it cannot be run."""
        function: Callable[..., CaseOutput] = resolve_name(self.text)
        return function(case, *self.view)

    def violations(self, case: Case) -> tuple[str, ...] | None:
        """Return the violations of a case; None for a kind with golden files."""
        if self.exceeded is None:
            return None
        function: Callable[..., tuple[str, ...]] = resolve_name(self.exceeded)
        return function(case)


def _selecting_key(name: str) -> CaseKey:
    """Return the key that selects a part of a view."""
    if name == SLICE:
        return CaseKey(name, WORD, "Tensor view: only this part, such as 0:16,32:64.")
    return CaseKey(name, WORD, f"Hardware view: only this {name}, or 0:4.")


KINDS = {
    kind.name: kind
    for kind in (
        *(
            OutputKind(
                view.name,
                view.summary,
                "tt_layout.golden.views:printed",
                tuple(map(_selecting_key, view.selects)),
                (view.name,),
            )
            for view in VIEW_KINDS.values()
        ),
        OutputKind(
            "info",
            "what the layout is made of, and how global memory is accessed",
            "tt_layout.golden.costs:info",
        ),
        OutputKind(
            "conflicts",
            "the shared-memory bank conflicts of a store and a load",
            "tt_layout.golden.costs:conflicts",
            (WITH, TARGET, LINE),
        ),
        OutputKind(
            "convert",
            "what converting to another layout takes",
            "tt_layout.golden.costs:convert",
            (TO, TARGET, LINE),
        ),
        OutputKind(
            "audit",
            "what is slow in the kernels of the case's file",
            "tt_layout.golden.costs:audit",
            (VALUES,),
            is_of_layout=False,
        ),
        OutputKind(
            "budget",
            "nothing; numbers of the case are at most its limits",
            keys=(
                AT_MOST,
                *(replace(key, is_needed=False) for key in (WITH, TO, TARGET, LINE, VALUES)),
            ),
            is_of_layout=None,
            exceeded="tt_layout.golden.costs:exceeded",
        ),
    )
}
"""Name -> kind, in the order in which they are listed."""


SELF_CONTAINED = tuple(
    kind.name for kind in KINDS.values() if kind.is_of_layout is True and not kind.needed_keys
)
"""The kinds that need nothing but a layout and a type."""


def all_keys() -> dict[str, CaseKey]:
    """Return every key that a case may have.

    Example:
        >>> [name for name in all_keys() if name.startswith("l")]
        ['layout', 'lane', 'line']
    """
    keys = {key.name: key for key in CASE_KEYS}
    for kind in KINDS.values():
        for key in kind.keys:
            keys.setdefault(key.name, key)
    return keys
