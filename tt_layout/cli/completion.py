"""What a shell completes of layouts: the aliases of a file, each with its text."""

from __future__ import annotations

from click.shell_completion import CompletionItem

from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import FileAliases, split_module
from tt_layout.mlir.source import read_source
from tt_layout.safe_text import safe, shortened

MAX_HELP = 60
MAX_ALIASES = 200


def aliases(incomplete: str) -> list[CompletionItem]:
    """Return ``FILE:ALIAS`` for the layouts of a file whose names begin so.

    A file that cannot be read completes to nothing: a shell has no place for messages.
    """
    name, _, begun = incomplete.rpartition(":")
    path, module = split_module(name)
    try:
        table = FileAliases(read_source(path)).choose((), module).table
        names = table.layout_names(MAX_ALIASES)
        found = [(alias, str(table.definitions.text(alias) or "")) for alias in names]
    except (LayoutError, OSError):
        return []
    return [
        CompletionItem(f"{name}:{alias}", help=safe(shortened(text, MAX_HELP)))
        for alias, text in found
        if alias.startswith(begun.removeprefix("#"))
    ]
