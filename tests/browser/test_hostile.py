"""Pages and figures of hostile text: nothing in them runs, asks for anything, or complains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tt_layout.cli import main as cli

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
DUMP = f"""#a = {BLOCKED}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%v: tensor<16x16xf16, #a>) {{
    %0 = ttg.local_alloc %v : (tensor<16x16xf16, #a>) -> !ttg.memdesc<16x16xf16, #a, #smem>
    tt.return
  }}
}}
"""
PAYLOADS = (
    "\x1b[31mred\x07", "\u202eabc\u2066", "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "]]><svg onload=alert(1)>", "{{data}}${alert(1)}&lt;&#0;",
    "javascript:alert(1)", "--><iframe src=//example.org>", "<link rel=stylesheet href=//x.org>",
)  # fmt: skip
PLACES = {
    "comment": DUMP + "// %s\n",
    "string": DUMP.replace("tt.return", 'my.op {text = "%s"}\n    tt.return'),
    "function": DUMP.replace("@f(", '@"%s"('),
    "location": DUMP.replace("#smem>\n", '#smem> loc("%s":1:1)\n'),
    "pass": "// -----// IR Dump Before %s (x) //----- //\n" + DUMP,
    "file": DUMP,
}


def documents(folder: Path) -> Iterator[Path]:
    """Write a page and a figure for each payload in each place."""
    for number, payload in enumerate(PAYLOADS):
        for place, text in PLACES.items():
            name = payload.replace("/", "_") if place == "file" else "dump"
            dump = folder / f"{number}-{name}.mlir"
            dump.write_text(text.replace("%s", payload), encoding="utf-8")
            for given, ending in (([f"{dump}:a"], "svg"), (["-i", str(dump)], "html")):
                written = folder / f"{number}-{place}.{ending}"
                with pytest.raises(SystemExit) as ended:
                    cli.main(["plot", *given, "-o", str(written)])
                assert ended.value.code == 0, (place, payload)
                yield written


def test_hostile_text_is_only_shown(
    browser: Any, tmp_path: Path, tally: Counter[str], capsys: pytest.CaptureFixture[str]
) -> None:
    context = browser.new_context()
    page = context.new_page()
    faults: list[str] = []
    loaded = Path()

    def note(what: str, detail: str) -> None:
        faults.append(f"{loaded.name}: {what}: {detail}")

    def asked(route: Any) -> None:
        address = route.request.url.split("#")[0]
        if address == loaded.as_uri():
            route.continue_()
        else:
            note("request", address)
            route.abort()

    def answer(dialog: Any) -> None:
        note("dialog", dialog.message)
        dialog.dismiss()

    page.on("console", lambda said: note("console", said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: note("error", str(error)))
    page.on("dialog", answer)
    page.route("**/*", asked)
    for loaded in documents(tmp_path):
        page.goto(loaded.as_uri())
        shown = "'ttLayout' in window" if loaded.suffix == ".html" else "document.rootElement"
        assert page.evaluate(f"Boolean({shown})")
        tally[loaded.suffix] += 1
    context.close()
    assert tally == dict.fromkeys((".svg", ".html"), len(PAYLOADS) * len(PLACES))
    assert tally[".html"] == 54
    assert faults == []
