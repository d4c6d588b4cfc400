"""The modules of a folder of the package, wherever that is: installed, or in an archive."""

from __future__ import annotations

from pathlib import Path


def modules_in(folder: str) -> list[str]:
    """Return the names of the modules in a folder of the package, in alphabetical order.

    Raises:
        ImportError: it has none, so that nothing that is asked of it can be answered.
    """
    found = {path.stem for path in Path(folder).glob("[a-z]*.py")}
    if not found:
        from pkgutil import iter_modules

        found = {module.name for module in iter_modules([folder]) if module.name[0] != "_"}
    if not found:
        raise ImportError(f"{folder} has no modules: the package is not complete")
    return sorted(found)
