"""What each command does, in a line: the list of commands is shown without importing any."""

from __future__ import annotations

from collections.abc import Mapping

SUMMARIES: Mapping[str, str] = {
    "apply": "Write a dump with a suggestion carried out.",
    "audit": "Show the layouts and data movements of a dump.",
    "check": "Compare layouts with their golden files.",
    "conflicts": "Count the bank conflicts of a store and a load.",
    "convert": "Show what a layout conversion takes.",
    "diff": "Explain what changed between two layouts.",
    "info": "Show the properties of a layout.",
    "init": "Write a first manifest for the layouts of a file.",
    "page": "Make a page in which layouts are typed.",
    "plot": "Draw layouts, or make a page to explore them.",
    "suggest": "Print the layout that the compiler would choose.",
    "swizzle": "Find the shared layout with the fewest bank conflicts.",
    "translate": "Write a layout in another spelling.",
    "where": "Find an element, or what a location holds.",
}
