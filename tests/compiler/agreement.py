"""Whether the package says of a case what the wheel says of it."""

from __future__ import annotations

import hashlib
import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tt_layout
from compiler.inside import type_around
from tt_layout.encodings import Encoding
from tt_layout.errors import UnknownKeyError
from tt_layout.mlir.types import parse_type
from tt_layout.placement import buffer_shape

Answer = dict[str, Any]
Bases = dict[str, list[list[int]]]
Parse = Callable[[str, str | None], Encoding]
Excuses = Mapping[str, Callable[[tt_layout.LayoutError], bool]]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class Ours:
    """What the package says of a case, as far as it gets.

    Attributes:
        text, bases, tensor, hardware: as in the wheel's answer.
        error: why it goes no further.
        crash: the traceback of anything but a LayoutError.
    """

    text: str | None = None
    bases: Bases | None = None
    tensor: str | None = None
    hardware: str | None = None
    error: tt_layout.LayoutError | None = field(default=None, compare=False)
    crash: str | None = None


def ours(question: Mapping[str, Any], release: str | None, parse: Parse | None = None) -> Ours:
    """Ask the package for everything that the wheel is asked for."""
    answer, kind = Ours(), question["kind"]
    try:
        encoding = (parse or parse_layout)(question["attr"], release)
        answer.text = str(encoding)
        shape = shape_of(encoding, question)
        answer.bases = bases_of(encoding, shape, kind)
        if kind != "tmem" and question.get("views", True):
            answer.tensor = digest(encoding.format_tensor_view(shape))
            answer.hardware = digest(encoding.format_hardware_view(shape))
    except tt_layout.LayoutError as error:
        answer.error = error
    except Exception:
        answer.crash = traceback.format_exc()
    return answer


def parse_layout(attr: str, release: str | None) -> Encoding:
    return tt_layout.parse_layout(attr, release=release)


def shape_of(encoding: Encoding, question: Mapping[str, Any]) -> Sequence[int]:
    """Return the shape that the layout is for, if it suits the type."""
    head, _ = type_around(question["shape"], question["elem"], question["kind"])
    return buffer_shape(encoding, parse_type(head.removesuffix(", ") + ">"))


def bases_of(encoding: Encoding, shape: Sequence[int], kind: str) -> Bases:
    """Return the bases that the wheel tells: of tensor memory those without ``block``."""
    bases = dict(encoding.to_linear_layout(shape).bases)
    bases.pop("partition", None)
    if kind == "tmem":
        del bases["block"]
    return bases


IGNORED_KEY = "a key that the wheel ignores in silence"

IGNORED_KEYS: Excuses = {IGNORED_KEY: lambda error: isinstance(error, UnknownKeyError)}


def says(pattern: str) -> Callable[[tt_layout.LayoutError], bool]:
    return lambda error: re.search(pattern, error.message) is not None


ON_PURPOSE: Excuses = {
    **IGNORED_KEYS,
    "a shape of another rank": says(r"is for \d+ dimension"),
    "a missing number that the wheel reads as 0": says("needs the key|power of two, got 0"),
    "an instrShape that no instruction has": says("instrShape must be"),
}
"""What we refuse of damaged cases although the wheel takes it."""


@dataclass
class Comparison:
    """Outcomes counted, and the disagreements among them.

    Attributes:
        counts: outcome -> how often; shared with the table at the end of the run.
        disagreements: one text each.
    """

    counts: Counter[str]
    disagreements: list[str] = field(default_factory=list)

    def agree(self, outcome: str) -> None:
        self.counts[outcome] += 1

    def disagree(self, outcome: str, case: object, details: object = "") -> None:
        self.counts[f"DISAGREEMENT: {outcome}"] += 1
        self.disagreements.append(f"{outcome}: {case}\n    {details}")

    def check(self) -> None:
        shown = "\n".join(self.disagreements[:20])
        assert not self.disagreements, f"{len(self.disagreements)} disagreements\n{shown}"

    def compare(self, case: object, answer: Answer, mine: Ours, excuses: Excuses) -> None:
        """Compare all that both sides say of a case.

        Args:
            case: to be shown.
            answer: the wheel's.
            mine: ours.
            excuses: reasons for which we may refuse what the wheel takes.
        """
        if mine.crash is not None:
            self.disagree("we crash", case, mine.crash)
        elif "refused" in answer:
            self._compare_refusal(case, mine)
        elif "text" not in answer:
            self.agree(f"the wheel dies reading it: we {did(mine)}")
        elif mine.text is None:
            self._compare_our_refusal(case, mine, excuses)
        elif mine.text != answer["text"]:
            self.disagree("text", case, f"{mine.text}\n    {answer['text']}")
        elif "bases" not in answer:
            how = "dies" if "abort" in answer else "gives none"
            self.agree(f"same text; for the layout the wheel {how}: we {did(mine)}")
        elif mine.bases is None:
            self._compare_our_refusal(case, mine, excuses)
        else:
            self._compare_layouts(case, answer, mine)

    def _compare_refusal(self, case: object, mine: Ours) -> None:
        if mine.error is None:
            self.disagree("we answer what the wheel refuses", case)
        else:
            self.agree("both refuse")

    def _compare_our_refusal(self, case: object, mine: Ours, excuses: Excuses) -> None:
        for excuse, applies in excuses.items():
            if mine.error is not None and applies(mine.error):
                self.agree(f"we refuse on purpose: {excuse}")
                return
        self.disagree("we refuse what the wheel takes", case, mine.error)

    def _compare_layouts(self, case: object, answer: Answer, mine: Ours) -> None:
        if mine.bases != answer["bases"]:
            self.disagree("bases", case, f"{mine.bases}\n    {answer['bases']}")
        elif "tensor" not in answer:
            self.agree("same text and bases")
        elif mine.error is not None:
            self.disagree("we refuse a view", case, mine.error)
        elif (mine.tensor, mine.hardware) != (answer["tensor"], answer["hardware"]):
            self.disagree("views", case)
        else:
            self.agree("same text, bases and views")


def did(mine: Ours) -> str:
    return "answer" if mine.error is None else "refuse"
