"""Registry of layout attributes by name; the module of one is imported at its first use.

An attribute is entered nowhere: it is sought in the module that is called like it, or in
that which `HOMES` names.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from tt_layout.encodings.base import Encoding
from tt_layout.encodings.forks import PLACEHOLDERS, WRAPPERS
from tt_layout.encodings.forms import Form
from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    from tt_layout.encodings.third_parties import Registered

DIALECTS = frozenset({"triton_gpu", "ttg", "ttng", "ttig", "triton_intel_gpu"})
"""The dialects that have layout attributes."""

HOMES = {
    "amd_rotating_shared": "swizzled_shared",
    "generic_linear": "linear",
    "mma": "nvidia_mma",
    "shared": "swizzled_shared",
    "tensor_memory_encoding": "tensor_memory",
    "tensor_memory_scales_encoding": "tensor_memory",
}
"""Mnemonic -> the module of its encoding, where that is not called like it."""

Spellings = list[tuple[Form, type[Encoding]]]
"""The forms of one name, oldest first, and the class that each leads to."""

MEMORY_SPACES = frozenset(
    f"{dialect}.{space}_memory"
    for dialect in ("ttg", "triton_gpu", "ttng", "triton_nvidia_gpu")
    for space in ("shared", "tensor")
)
"""Attributes that most dumps have and that are no layouts: of them no package is asked."""


def modules_in(folder: str) -> list[str]:
    """Return the names of the modules in a folder of the package, in alphabetical order.

    The folder may be in an archive.

    Raises:
        ImportError: it has none.
    """
    try:
        names = {name[:-3] for name in os.listdir(folder) if name.endswith(".py")}
    except OSError:
        names = set()
    names = {name for name in names if name[:1].islower()}
    if not names:
        from pkgutil import iter_modules

        names = {module.name for module in iter_modules([folder]) if module.name[0] != "_"}
    if not names:
        raise ImportError(f"{folder} has no modules: the package is not complete")
    return sorted(names)


class Registry(Mapping[str, Spellings]):
    """Forms and classes by attribute name, such as ``ttg.blocked``.

    The names that the newest release reads come first, then the others, each in alphabetical order.
    Those of other packages are known, too, but not among the names: see `third_parties`.

    Example:
        >>> {cls.__name__ for _, cls in FORMS["ttg.blocked"]}
        {'Blocked'}
        >>> "ttg.blocked" in FORMS, "ttg.shared_memory" in FORMS
        (True, False)
    """

    def __init__(self) -> None:
        self._found: dict[str, Spellings] = {}
        self.failed: dict[str, str] = {}
        self._unread = set(modules_in(os.path.dirname(__file__)))

    def _read(self, module: str) -> None:
        """Import a module of this package and note the forms of the classes that it defines."""
        if module not in self._unread:
            return
        self._unread.discard(module)
        name = f"{__package__}.{module}"
        for cls in vars(import_module(name)).values():
            if isinstance(cls, type) and issubclass(cls, Encoding) and cls.__module__ == name:
                for form in cls.__dict__.get("forms", ()):
                    self._found.setdefault(form.name, []).append((form, cls))

    @cached_property
    def _names(self) -> list[str]:
        """Every name, of any module."""
        for module in sorted(self._unread):
            self._read(module)
        newest = {
            name: forms[-1][0] is forms[-1][1].forms[-1] for name, forms in self._found.items()
        }
        return sorted(newest, key=lambda name: (not newest[name], name))

    @cached_property
    def third_parties(self) -> Registered:
        """Entry points of other packages' encodings, not imported."""
        from tt_layout.encodings.third_parties import registered

        return registered()

    def _has_own(self, name: str) -> bool:
        mnemonic = name.rpartition(".")[2]
        self._read(HOMES.get(mnemonic, mnemonic))
        return name in self._found

    def _load(self, name: str) -> None:
        """Import the class of another package's attribute, and note its forms.

        Raises:
            LayoutError: it cannot be imported, or is not an encoding.
        """
        from tt_layout.encodings.third_parties import load

        if name in self.failed:  # and is not tried again for each layout of each dump
            raise LayoutError(self.failed[name])
        try:
            encoding_class = load(self.third_parties[name])
        except LayoutError as error:
            self.failed[name] = error.message
            raise
        forms = [(form, encoding_class) for form in encoding_class.forms if form.name == name]
        self._found[name] = forms

    def __getitem__(self, name: str) -> Spellings:
        if not self._has_own(name) and name in self.third_parties:
            self._load(name)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        if self._has_own(str(name)):
            return True
        return name not in MEMORY_SPACES and name in self.third_parties

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


FORMS = Registry()


def begins_as_attribute(text: str) -> bool:
    """Tell whether a text begins as an alias or an attribute of these dialects, valid or not.

    Example:
        >>> texts = "#ttg.blocked<{}>", "#a", "#mosaic_gpu.TiledLayout<..>", "(4,8):(8,1)"
        >>> [begins_as_attribute(text) for text in texts]
        [True, True, False, False]
    """
    sign, name = text.lstrip()[:1], text.lstrip()[1:]
    dialect, dot, _ = name.partition(".")
    return sign == "#" and (not dot or not dialect.isidentifier() or dialect in DIALECTS)


def may_be_layout(name: str) -> bool:
    """Tell whether an attribute is a layout, or belongs to a Triton dialect with layouts.

    The syntax of others is their own.

    Example:
        >>> may_be_layout("ttg.bloked"), may_be_layout("acme.toy")
        (True, False)
    """
    if name.partition(".")[0] in DIALECTS or name in WRAPPERS:
        return True
    return name not in PLACEHOLDERS and name in FORMS.third_parties


def _form_at(name: str, index: int) -> Form:
    """Return a form by the name of its attribute and its index among that name's forms."""
    return FORMS[name][index][0]


def _reduced(form: Form) -> tuple[Callable[..., Form], tuple[object, ...]]:
    """Reduce a form to its name and index, because its functions cannot be pickled."""
    forms = [other for other, _ in FORMS.get(form.name, ())]
    places = (index for index, other in enumerate(forms) if other is form)
    index = next(places, None)
    return (Form, tuple(form)) if index is None else (_form_at, (form.name, index))


copyreg.pickle(Form, _reduced)
