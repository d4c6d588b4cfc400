"""Read every .mlir file of a folder and print what was found in it, and what was refused why.

    python tests/ir_folder.py FOLDER [--refusals N]

What the reader finds is compared with a plain search for the beginnings of types and aliases
in the text, comments and strings blanked out: both counts must agree.  Exits 1 if they do not.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from tt_layout.encodings import Encoding
from tt_layout.enums import TypeKind
from tt_layout.errors import LayoutError
from tt_layout.ir import Module, parse_ir
from tt_layout.mlir.types import TensorType
from tt_layout.placement import buffer_shape

BLANKED = re.compile(r'//[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"')
TYPE = re.compile(r"(?<![\w.$-])(?:tensor|!(?:ttg|tt|triton_gpu)\.memdesc)<")
INSIDE = re.compile(r"!tt\.(?:ptr|tensordesc)<\s*tensor<|!ttng\.tensordesc_im2col<\s*tensor<")
ALIAS = re.compile(r"(?:^|>)[ \t]*#([A-Za-z_$][\w$-]*)[ \t]*=(?!=)", re.MULTILINE)


def plain_counts(text: str) -> Counter[str]:
    """Count types and aliases by looking for how they begin."""
    blanked = BLANKED.sub(lambda m: '""' if m.group().startswith('"') else "", text)
    return Counter(
        types=len(TYPE.findall(blanked)) - len(INSIDE.findall(blanked)),
        aliases=len(ALIAS.findall(blanked)),
    )


def reader_counts(text: str, modules: list[Module]) -> Counter[str]:
    """Count the same from what the reader gives, by the text at each place."""
    lines = text.split("\n")
    counts: Counter[str] = Counter()
    places = set()
    for module in modules:
        for use in module.types:
            at = lines[use.line - 1][use.column - 1 :]
            assert at.startswith(use.type.text.split("\n")[0]) or at.startswith("!"), use
            counts["types"] += bool(TYPE.match(at))
        for alias in module.aliases.values():
            assert lines[alias.line - 1][alias.column - 1 :].startswith(f"#{alias.name}")
            places.add((alias.line, alias.column))
            if isinstance(alias.encoding, LayoutError) and "defined again" in str(alias.encoding):
                counts["aliases"] += 1
    counts["aliases"] += len(places)
    return counts


REASONS = (
    (r"#([A-Za-z_]+\.\w+) is not a layout attribute", "unknown attribute of a dialect: #{0}"),
    (r"got ('#\w+')", "syntax of an unknown dialect"),
    (r"the alias #\S+ is not defined", "alias that is not defined (not in this part of the file)"),
    (r"CTAsPerCGA.*belongs to|has no key", "keys that no release, or no one release, knows"),
    (r"every dimension must be known", "dimension that is not known"),
    (r"expected a layout attribute .*, got (.*)", "no layout in the place of one: {0}"),
)


def reason(error: LayoutError) -> str:
    """Return the class of a refusal."""
    for pattern, label in REASONS:
        if match := re.search(pattern, error.message):
            return label.format(*match.groups())
    return re.sub(r"\d+(?:, \d+)*", "N", error.message)


def fits(encoding: Encoding, kind: str, shape: tuple[int, ...], element: str) -> LayoutError | None:
    """Return why an encoding has no linear layout over a type; None if it has one."""
    from tt_layout.mlir.source import Source

    span = Source(element).span(0, 1)
    tensor = TensorType(
        TypeKind.MEMORY if kind == "memdesc" else TypeKind.TENSOR, shape, element, None, span
    )
    if kind in ("ptr", "tensordesc"):
        return None
    try:
        over = buffer_shape(encoding, tensor)
        encoding.to_linear_layout(over, element_bits=tensor.element_bits)
    except LayoutError as error:
        return error
    return None


def survey(folder: Path) -> tuple[Counter[str], dict[str, Counter[str]], list[str]]:
    """Return the counts, the refusals by class with their places, and the disagreements."""
    counts: Counter[str] = Counter()
    refused: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[str] = []
    cases: dict[tuple[object, ...], object] = {}
    for path in sorted(folder.rglob("*.mlir")):
        name = str(path.relative_to(folder))
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        modules = parse_ir(text, name=name)
        found, plain = reader_counts(text, modules), plain_counts(text)
        if found != plain:
            wrong.append(f"{name}: found {dict(found)}, the text has {dict(plain)}")
        counts["files"] += 1
        for module in modules:
            counts["modules"] += 1
            counts["modules cut off"] += module.error is not None
            counts["moving operations"] += len(module.operations)
            for alias in module.aliases.values():
                counts[f"aliases: {alias.kind}"] += 1
                if isinstance(alias.encoding, LayoutError):
                    refused[f"alias: {reason(alias.encoding)}"][f"{name}:{alias.line}"] += 1
            for use in module.types:
                counts[f"types: {use.kind}"] += 1
                counts["types with a layout"] += use.encoding is not None
                if isinstance(use.encoding, LayoutError):
                    counts["types refused"] += 1
                    refused[f"type: {reason(use.encoding)}"][f"{name}:{use.line}"] += 1
                if use.encoding is not None:
                    written = str(use.encoding).partition("error: ")[2] or str(use.encoding)
                    case = use.kind, use.shape, use.element_type, written
                    cases.setdefault(case, use.encoding)
    count_cases(cases, counts, refused)
    return counts, refused, wrong


def count_cases(
    cases: dict[tuple[object, ...], object],
    counts: Counter[str],
    refused: dict[str, Counter[str]],
) -> None:
    for (kind, shape, element, written), encoding in cases.items():
        counts["distinct cases"] += 1
        if not isinstance(encoding, Encoding):
            counts["distinct cases refused"] += 1
            continue
        counts["distinct cases parsed"] += 1
        error = fits(encoding, str(kind), shape, str(element))  # type: ignore[arg-type]
        counts["distinct cases without a linear layout"] += error is not None
        if error is not None:
            refused[f"layout: {reason(error)}"][f"{kind} {shape} {element} {written}"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--refusals", type=int, default=2, help="places shown of each refusal")
    arguments = parser.parse_args()
    counts, refused, wrong = survey(arguments.folder)
    for label, count in sorted(counts.items()):
        print(f"{count:8d}  {label}")
    for label, places in sorted(refused.items(), key=lambda item: -item[1].total()):
        print(f"{places.total():8d}  refused, {label}")
        for place in list(places)[: arguments.refusals]:
            print(f"{'':12}{place}")
    for line in wrong:
        print(f"DISAGREES  {line}")
    return 1 if wrong or not counts["files"] else 0


if __name__ == "__main__":
    sys.exit(main())
