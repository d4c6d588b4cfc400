"""Names of the arguments of CuTe's functions, as Python gives them: ``stride=(4, 1)``.

Source:
    CUTLASS, python/CuTeDSL, cutlass/cute/core.py, atom.py and nvgpu: the signatures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.errors import LayoutError

_TARGETS = ("target", "tiler")
_BLOCKS = ("block", "tiler")
_PARAMETERS: Mapping[str, Sequence[str]] = {
    "make_layout": ("shape", "stride"),
    "make_ordered_layout": ("shape", "order"),
    "make_composed_layout": ("inner", "offset", "outer"),
    "make_swizzle": ("b", "m", "s"),
    "make_layout_tv": ("thr_layout", "val_layout"),
    "make_tiled_copy_tv": ("atom", "thr_layout", "val_layout"),
    "make_tiled_mma": ("op_or_atom", "atom_layout_mnk", "permutation_mnk"),
    "tile_to_shape": ("atom", "trg_shape", "order"),
    "composition": ("lhs", "rhs"),
    "complement": ("input", "cotarget"),
    "coalesce": ("input", "target_profile"),
    "recast_layout": ("new_type_bits", "old_type_bits", "src_layout"),
    "slice_": ("src", "coord"),
    "select": ("input", "mode"),
    "group_modes": ("input", "begin", "end"),
    "crd2idx": ("coord", "layout"),
    "size": ("a", "mode"),
    "get": ("input", "mode"),
    "local_tile": ("input", "tiler", "coord"),
    "local_partition": ("target", "tiler", "index"),
    **{f"{form}_divide": _TARGETS for form in ("logical", "zipped", "tiled", "flat")},
    **{f"{form}_product": _BLOCKS for form in ("logical", "zipped", "tiled", "flat")},
    "blocked_product": _BLOCKS,
    "raked_product": _BLOCKS,
}
"""Function -> its arguments in order; those of other functions are taken as they come."""

_DEFAULTS: Mapping[tuple[str, str], Any] = {
    ("make_tiled_mma", "atom_layout_mnk"): (1, 1, 1),
}


def in_order(function: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a call in the order of the function.

    Raises:
        LayoutError: an argument has a name that the function does not know, or one is missing.

    Example:
        >>> in_order("make_layout", (), {"stride": (4, 1), "shape": (8, 4)})
        ((8, 4), (4, 1))
        >>> in_order("make_tiled_mma", ("SM80",), {"permutation_mnk": (32, 32, 16)})
        ('SM80', (1, 1, 1), (32, 32, 16))
    """
    names = _PARAMETERS.get(function)
    if names is None or not named:
        return (*arguments, *named.values())
    placed = dict(zip(names, arguments))
    for name in named:
        if name not in names:
            message = f"{function} has no argument {name!r}; it takes {', '.join(names)}"
            raise LayoutError(message)
        if name in placed:
            raise LayoutError(f"{function} is given {name!r} twice")
    placed |= named
    last = max(names.index(name) for name in placed)
    for name in names[:last]:
        if name not in placed and (function, name) not in _DEFAULTS:
            raise LayoutError(f"{function} needs {name!r}, too")
    rest = arguments[len(names) :]
    return (*(placed.get(n, _DEFAULTS.get((function, n))) for n in names[: last + 1]), *rest)
