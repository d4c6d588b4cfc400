"""Shell completion of layouts: aliases and data movements of a file."""

from __future__ import annotations

from collections.abc import Iterator

from click.shell_completion import CompletionItem

from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import FileAliases, split_module, whole_modules
from tt_layout.mlir.source import Source, read_source
from tt_layout.safe_text import safe, shortened

MAX_HELP = 60
MAX_ALIASES = 200


def of_dump(incomplete: str) -> list[CompletionItem]:
    """Return ``FILE:ALIAS`` and ``FILE:LINE`` for what a file has that begins so.

    A file that cannot be read completes to nothing: a shell has no place for messages.
    """
    name, _, begun = incomplete.rpartition(":")
    try:
        source = read_source(split_module(name).path)
        completions = [
            *_aliases(source, name),
            *(_lines(source, name) if begun.isdecimal() else ()),
        ]
    except (LayoutError, OSError):
        return []
    wanted = begun.removeprefix("#")
    return [
        CompletionItem(f"{name}:{what}", help=safe(shortened(text, MAX_HELP)))
        for what, text in completions
        if what.startswith(wanted)
    ]


def _aliases(source: Source, name: str) -> Iterator[tuple[str, str]]:
    """Yield the layouts of a file, and their texts."""
    table = FileAliases(source).choose((), split_module(name).module).table
    for alias in table.layout_names(MAX_ALIASES):
        yield alias, str(table.definitions.text(alias) or "")


def _lines(source: Source, name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of data movements, and what they are."""
    for module in whole_modules(source, None, split_module(name).module, is_partial=True):
        for operation in module.operations:
            yield str(operation.line), operation.name
