"""The notebook of the examples: its code runs, and its outputs are what comes out."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tt_layout.reports.formats.html import COLOURS

EXAMPLES = Path(__file__).parents[2] / "examples"
FRAME = "<iframe srcdoc="


def outputs(notebook: dict[str, Any]) -> list[Any]:
    """Return the outputs of all cells; of the page only that it is there, in a frame."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "".join(data.get("text/html", "")).startswith(FRAME):
                data["text/html"] = [FRAME]
            found.append(output)
    return found


@pytest.mark.slow
def test_the_outputs_of_the_notebook_are_real() -> None:
    """After a change: ``python examples/make_notebook.py``."""
    kept = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    made = json.loads(json.dumps(runpy.run_path(str(EXAMPLES / "make_notebook.py"))["notebook"]()))
    assert outputs(made) == outputs(kept)
    assert [cell["source"] for cell in made["cells"]] == [cell["source"] for cell in kept["cells"]]
    kinds = {kind for output in outputs(kept) for kind in output.get("data", ())}
    assert kinds == {"text/html", "image/svg+xml", "text/plain"}


def luminance(colour: list[float]) -> float:
    """Return the relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def test_colours_can_be_read_in_light_and_dark_themes() -> None:
    """JupyterLab writes 87 % black on white, and white on #111."""
    for colour in COLOURS.values():
        mixed = re.fullmatch(r"color-mix\(in srgb,#(\w{6}) (\d+)%,currentColor\)", colour)
        assert mixed is not None
        own, part = bytes.fromhex(mixed[1]), int(mixed[2]) / 100
        for text, paper in ((0.13, 1.0), (1.0, 17 / 255)):
            seen = luminance([part * c / 255 + (1 - part) * text for c in own])
            high, low = sorted([seen, luminance([paper] * 3)], reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (colour, paper)
