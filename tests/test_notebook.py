"""The notebook of the examples: its code runs, and its outputs are what comes out."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
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


def test_the_outputs_of_the_notebook_are_real() -> None:
    """After a change: ``python examples/make_notebook.py``."""
    kept = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    made = json.loads(json.dumps(runpy.run_path(str(EXAMPLES / "make_notebook.py"))["notebook"]()))
    assert outputs(made) == outputs(kept)
    assert [cell["source"] for cell in made["cells"]] == [cell["source"] for cell in kept["cells"]]
    kinds = {kind for output in outputs(kept) for kind in output.get("data", ())}
    assert kinds == {"text/html", "image/svg+xml", "text/plain"}
