"""Goldens of many command lines: each line with what it prints."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

BEGIN = "$ tt-layout "


@cache
def transcripts(path: Path) -> dict[str, str]:
    """Return what a golden has of each command line."""
    texts = re.split(rf"^(?={re.escape(BEGIN)})", path.read_text(encoding="utf-8"), flags=re.M)
    return {text.partition("\n")[0].removeprefix(BEGIN): text for text in texts if text}
