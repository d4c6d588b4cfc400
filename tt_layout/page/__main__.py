"""Try the page: ``python -m tt_layout.page ATTRIBUTE TYPE [ATTRIBUTE TYPE ...] -o FILE.html``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tt_layout.encodings.parsing import parse_layout
from tt_layout.mlir.types import parse_type
from tt_layout.page import build, page_layout


def main() -> None:
    """Write a page for the attributes and types of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tt_layout.page")
    parser.add_argument("texts", nargs="+", metavar="ATTRIBUTE TYPE")
    parser.add_argument("-o", dest="output", required=True, type=Path, metavar="FILE")
    options = parser.parse_args()
    if len(options.texts) % 2:
        parser.error("each attribute needs a type")
    pairs = zip(options.texts[::2], options.texts[1::2])
    layouts = [
        page_layout(parse_layout(attribute), parse_type(type_text), name=f"layout {number}")
        for number, (attribute, type_text) in enumerate(pairs, 1)
    ]
    options.output.write_text(build(layouts, is_pair=len(layouts) == 2), encoding="utf-8")


if __name__ == "__main__":
    main()
