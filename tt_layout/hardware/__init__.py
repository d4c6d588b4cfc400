"""Table of the GPUs that Triton compiles for: a backend for each vendor, a row for each chip.

A row names its source and its evidence; a field that no source gives is None, and every report that
needs it says so.  Products with one chip differ in memory, clocks and number of multiprocessors.
A new GPU is a new row of its vendor's module, a
new vendor a module with a backend and rows in `VENDORS`: the help of the commands, the page, the
figures and the analyses follow.  What has no row is costed as the newest GPU of the same vendor
before it, and every report says so; it is never costed as another vendor's.

Intel's GPUs have rows of what their shared memory does; nothing else of them is documented.

Read next:    `tt_layout.hardware.target`, what a row has.
Then:         `tt_layout.analyses.shared_memory.banks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from tt_layout.errors import LayoutError, quoted
from tt_layout.hardware import amd, intel, nvidia
from tt_layout.hardware.backend import Backend
from tt_layout.hardware.target import (
    BANK_BYTES,
    KIB,
    Evidence,
    Phase,
    PhaseTable,
    Target,
    TransposingRead,
)
from tt_layout.tuples import NamedTuple

__all__ = [
    "BACKENDS",
    "BANK_BYTES",
    "DEFAULT_TARGET",
    "KIB",
    "PRODUCTS",
    "ROWS",
    "TARGETS",
    "USUAL_TARGETS",
    "Backend",
    "Evidence",
    "Gpu",
    "Phase",
    "PhaseTable",
    "Target",
    "TransposingRead",
    "find_gpu",
    "find_product",
    "find_target",
    "target_names",
    "usual_target",
]

VENDORS = (nvidia, amd, intel)

BACKENDS: Mapping[str, Backend] = MappingProxyType(
    {vendor.BACKEND.name: vendor.BACKEND for vendor in VENDORS}
)
"""Every backend by what the targets of its modules begin with."""

ROWS = tuple(row for vendor in VENDORS for row in vendor.ROWS)
"""Every GPU, a vendor's oldest first."""

_BY_NAME = {target.name: target for target in ROWS}
_ALIASES = {alias: name for vendor in VENDORS for alias, name in vendor.ALIASES.items()}

TARGETS: Mapping[str, Target] = MappingProxyType(
    {**_BY_NAME, **{alias: _BY_NAME[name] for alias, name in _ALIASES.items()}}
)
"""Every target by its name, and ``nvidia``, ``amd``, ``gfx9`` and ``rdna`` for the usual ones."""

PRODUCTS: Mapping[str, Target] = MappingProxyType(
    {product.key: replace(row, products=(product,)) for row in ROWS for product in row.products}
)
"""Every product by its key, such as ``h200``: the row of its chip with this product alone."""

DEFAULT_TARGET = "nvidia"
"""The name of the target that is meant where none is named."""

USUAL_TARGETS = tuple(TARGETS[vendor.USUAL] for vendor in VENDORS)
"""What is meant where none is named and the lanes of a warp are known: the first with as many."""


class Gpu(NamedTuple):
    """A named GPU, and the row for its costs.

    Attributes:
        chip: the chip, as rows spell it.
        target: its own row, or that of the newest older GPU of the vendor.
        is_assumed: whether it is the latter.

    Example:
        >>> find_gpu("sm89").assumption is None
        True
        >>> find_gpu("sm95").assumption
        'sm95 is unknown; costed as sm90, the newest NVIDIA GPU known before it'
    """

    chip: str
    target: Target
    is_assumed: bool = False

    @property
    def assumption(self) -> str | None:
        """The assumption in a sentence; None for a GPU with a row."""
        if not self.is_assumed:
            return None
        nearest = f"the newest {self.target.backend.vendor} GPU known before it"
        return f"{self.chip} is unknown; costed as {self.target.name}, {nearest}"

    @property
    def shared_bytes(self) -> int | None:
        """Maximum shared memory of a CTA; None where not known."""
        return None if self.is_assumed else self.target.most_shared_bytes


@lru_cache(maxsize=256)
def find_gpu(name: str) -> Gpu:
    """Return the GPU of a name: a row, a chip in the compiler's spelling, or a product.

    Args:
        name: ``nvidia``, ``sm90``, ``sm_90a``, ``h100`` or, as in modules, ``cuda:90``.

    Raises:
        LayoutError: there is none, or it is older than every row.

    Example:
        >>> [find_gpu(name).target.name for name in ("nvidia", "sm_90a", "cuda:120", "gfx1201")]
        ['sm90', 'sm90', 'sm120', 'gfx1201']
    """
    if name in TARGETS:
        return Gpu(TARGETS[name].name, TARGETS[name])
    product = PRODUCTS.get(name.lower().replace(" ", "-"))
    if product is not None:
        return Gpu(product.name, product)
    backend, colon, chip = name.partition(":")
    vendors = [v for v in VENDORS if not colon or v.BACKEND.name == backend]
    candidates = (
        _find(v.BACKEND.chip(chip if colon else name), v.BACKEND, v.ROWS) for v in vendors
    )
    gpu = next((candidate for candidate in candidates if candidate is not None), None)
    if gpu is None:
        choices = ", ".join((*TARGETS, *PRODUCTS))
        raise LayoutError(f"unknown target {quoted(name)}; choose from {choices}")
    return gpu


def find_product(name: str) -> Target:
    """Return the row of a product's chip, with this product only.

    Raises:
        LayoutError: there is no such product.

    Example:
        >>> found = find_product("H100")
        >>> found.name, found.product.name
        ('sm90', 'H100')
    """
    target = PRODUCTS.get(name.lower().replace(" ", "-"))
    if target is None:
        raise LayoutError(f"unknown GPU {quoted(name)}; choose from {', '.join(PRODUCTS)}")
    return target


def _find(chip: str, backend: Backend, rows: tuple[Target, ...]) -> Gpu | None:
    """Return a GPU of one vendor; None if it is not one, or is older than every row of its kind."""
    version = backend.version(chip)
    if version is None:
        return None
    plain = chip.rstrip("af") if backend.is_numbered else chip
    exact = [(row.name, row) for row in rows if row.name == plain]
    fits = exact or [
        (name, row) for row in rows for name in row.chips if backend.names(plain, name)
    ]
    if fits:
        row = max(fits, key=lambda fit: len(fit[0]))[1]
        return Gpu(chip, row if row.name == plain else row.of_chip(plain))
    versioned = [
        (row_version, row) for row in rows if (row_version := backend.version(row.name)) is not None
    ]
    older = [
        (row_version, row)
        for row_version, row in versioned
        if row_version[:-1] == version[:-1] and row_version < version
    ]
    if not older:
        return None
    return Gpu(chip, max(older, key=lambda pair: pair[0])[1], is_assumed=True)


def find_target(name: str | Target) -> Target:
    """Return the row for a GPU's costs; a row itself unchanged.

    Raises:
        LayoutError: there is none.

    Example:
        >>> [find_target(name).name for name in ("nvidia", "sm_90a", "sm89", "gfx1201")]
        ['sm90', 'sm90', 'sm89', 'gfx1201']
    """
    return name if isinstance(name, Target) else find_gpu(name).target


def usual_target(lanes: int) -> Target | None:
    """Return the default target for layouts with warps of this many lanes.

    Example:
        >>> [target and target.name for target in map(usual_target, (32, 64, 16, 8))]
        ['sm90', 'gfx942', 'pvc', None]
    """
    return next((target for target in USUAL_TARGETS if target.lanes == lanes), None)


def target_names() -> str:
    """Return the names that ``--target`` takes, short enough for the help.

    Example:
        >>> target_names().split(", ")[:2]
        ['nvidia', 'amd']
    """
    shown = [alias for alias in _ALIASES if TARGETS[alias] in USUAL_TARGETS][: len(VENDORS)]
    for vendor in VENDORS:
        backend = vendor.BACKEND
        names = [row.name for row in sorted(vendor.ROWS, key=lambda row: backend.version(row.name))]
        shown += [f"{names[0]} to {names[-1]}"] if backend.is_numbered else names
    return ", ".join(shown)
