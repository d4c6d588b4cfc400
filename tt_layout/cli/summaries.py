"""Summary of each command in a line, so that the list needs no imports."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Your kernel": {
        "audit": "Report costly data movements in a dump.",
        "rank": "List configurations of a kernel by their estimated time.",
        "apply": "Write a dump with a suggestion carried out.",
        "explain": "Explain a line of a dump in words.",
        "page": "Make a page of a dump, of layouts, or to type them in.",
    },
    "A layout (tt-layout LAYOUT -t TYPE prints it)": {
        "where": "Find an element, or what a location holds.",
        "info": "Show the properties of a layout.",
        "reduce": "Show in what order a reduction adds.",
        "suggest": "Print the layout that the compiler would choose.",
        "translate": "Write a layout in another notation.",
        "cute": "Work out an expression of CuTe's algebra.",
        "plot": "Draw layouts as SVG, PNG or PDF.",
    },
    "Two layouts": {
        "conflicts": "Count the bank conflicts of a store and a load.",
        "swizzle": "Find the shared layout with the fewest bank conflicts.",
        "convert": "Show what a layout conversion takes.",
        "diff": "Explain what changed between two layouts.",
    },
    "In CI": {
        "check": "Compare layouts with their golden files.",
        "init": "Write a first manifest for a file or a folder.",
    },
    "For other programs": {
        "lsp": "Serve an editor: layouts and costs in a dump.",
        "mcp": "Serve an agent.",
    },
}
"""Group of commands -> command -> what it does."""

SUMMARIES: Mapping[str, str] = {
    name: summary for group in GROUPS.values() for name, summary in group.items()
}
"""Command -> what it does."""
