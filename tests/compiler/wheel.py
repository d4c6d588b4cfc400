"""The real compiler as a function from questions to answers; it survives aborts."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Question = dict[str, Any]
Answer = dict[str, Any]

INSIDE = Path(__file__).with_name("inside.py")


@dataclass(frozen=True)
class Wheel:
    """An environment that holds Triton.

    Attributes:
        python: its interpreter.
    """

    python: str

    @property
    def package(self) -> Path:
        """The directory of the package ``triton``."""
        code = "import importlib.util as u; print(u.find_spec('triton').origin)"
        return Path(self._run("-c", code).strip()).parent

    @property
    def version(self) -> str:
        """The release, such as ``3.9.0``."""
        return self._run("-c", "import triton; print(triton.__version__)").strip()

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question.

        A question is either ``attr, shape, elem, kind``, and ``views`` false where they are not
        asked for, or ``op, layouts``.  An answer has
        ``text, bases, tensor, hardware`` (or ``value``) as far as the wheel got, then
        ``refused`` or ``no_layout`` with the reason, or ``abort``.
        """
        if not questions:
            return []
        parts = min(os.cpu_count() or 1, len(questions))
        with ThreadPoolExecutor(parts) as pool:
            shares = list(
                pool.map(self._ask_one_process, [questions[k::parts] for k in range(parts)])
            )
        return [shares[k % parts][k // parts] for k in range(len(questions))]

    def _ask_one_process(self, questions: Sequence[Question]) -> list[Answer]:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "questions")
            path.write_text("".join(json.dumps(question) + "\n" for question in questions))
            lines = self._run(str(INSIDE), str(path)).splitlines()
        assert len(lines) == len(questions)
        return [json.loads(line) for line in lines]

    def _run(self, *arguments: str) -> str:
        command = [self.python, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
