"""Which operand of an access to global memory is the address, the mask, the value.

The custom form has the operands in an order of its own, and names some of those that may be
absent; the generic form has them in the order of the definition, and gives how many of each
there are.

Source:
    Triton, TritonOps.td, TritonGPUOps.td and TritonAMDGPUOps.td.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tt_layout.ir.ssa import Attribute, SsaOperation, integers


class AccessForm(NamedTuple):
    """How an operation names its operands.

    Attributes:
        custom: those without a word before them in the custom form, in order.
        generic: all, in the order of the generic form.
    """

    custom: tuple[str, ...]
    generic: tuple[str, ...]


def _form(custom: str, generic: str = "") -> AccessForm:
    return AccessForm(tuple(custom.split()), tuple((generic or custom).split()))


_BUFFER_FORMS = {
    "buffer_load": _form("pointer offsets mask other", "pointer offsets stride mask other"),
    "buffer_store": _form("value pointer offsets mask", "value pointer offsets stride mask"),
    "buffer_atomic_rmw": _form("value pointer offsets mask", "pointer offsets value stride mask"),
    "buffer_atomic_cas": _form("compare value pointer offsets"),
    "buffer_load_to_local": _form("pointer offsets", "memory pointer offsets mask other stride"),
    "async_copy_local_to_global": _form("memory pointer", "memory pointer mask"),
}

_SLICE = _form("pointer memory index mask other")

FORMS: Mapping[str, AccessForm] = {
    "tt.load": _form("pointer mask other"),
    "tt.store": _form("pointer value mask"),
    "tt.atomic_rmw": _form("pointer value mask"),
    "tt.atomic_cas": _form("pointer compare value"),
    "ttg.async_copy_global_to_local": _form("pointer memory", "pointer memory mask other"),
    "triton_gpu.async_copy_global_to_local": _form("pointer memory", "pointer memory mask other"),
    "triton_gpu.insert_slice_async": _SLICE,
    "triton_gpu.insert_slice": _SLICE,
    **{f"amdg.{name}": form for name, form in _BUFFER_FORMS.items()},
    **{f"amdgpu.{name}": form for name, form in _BUFFER_FORMS.items()},
}
"""Operation -> how it names its operands."""

_TODAY = {
    "triton_gpu.async_copy_global_to_local": "ttg.async_copy_global_to_local",
    "triton_gpu.insert_slice_async": "ttg.async_copy_global_to_local",
    "triton_gpu.insert_slice": "tt.load",
}
"""Operations of old releases -> what they are called today."""

_NAMED = {"mask": "mask", "other": "other", "stride": "stride", "into": "memory"}
"""The word before an operand of the custom form -> the operand."""


def operands(operation: SsaOperation) -> dict[str, str]:
    """Return the operands of an access to global memory by their names.

    Example:
        >>> load = SsaOperation("tt.load", ("%p", "%m"), (), {}, (), (), 1, 1, "")
        >>> operands(load)
        {'pointer': '%p', 'mask': '%m'}
    """
    form = FORMS[operation.name]
    sizes = integers(operation.attributes.get("operandSegmentSizes"))
    if sizes:
        names = [name for name, size in zip(form.generic, sizes) if size]
        return dict(zip(names, operation.operands))
    named = {
        role: str(operation.attributes[word])
        for word, role in _NAMED.items()
        if str(operation.attributes.get(word)).startswith("%")
    }
    rest = [name for name in operation.operands if name not in named.values()]
    return {**dict(zip(form.custom, rest)), **named}


def address_of(roles: Mapping[str, str]) -> str:
    """Return the operand that differs between lanes: offsets from a pointer, or pointers.

    Example:
        >>> address_of({"pointer": "%p", "offsets": "%o"}), address_of({"pointer": "%p"})
        ('%o', '%p')
    """
    return roles.get("offsets", roles["pointer"])


def in_todays_form(operation: SsaOperation) -> SsaOperation:
    """Return an access of an old release as today's operation that does the same.

    Of an ``insert_slice``, which loads and then stores to shared memory, that is the load.

    Example:
        >>> copy = SsaOperation("triton_gpu.insert_slice_async", ("%p", "%b", "%i", "%m"), (), {},
        ...                     (), (), 1, 1, "")
        >>> today = in_todays_form(copy)
        >>> today.name, operands(today)
        ('ttg.async_copy_global_to_local', {'pointer': '%p', 'memory': '%b', 'mask': '%m'})
    """
    name = _TODAY.get(operation.name)
    if name is None:
        return operation
    roles = operands(operation)
    named: dict[str, Attribute] = {r: roles[r] for r in ("mask", "other") if r in roles}
    attributes = {k: v for k, v in operation.attributes.items() if k != "operandSegmentSizes"}
    taken = [role for role in FORMS[name].custom if role in roles and role not in named]
    names = (*(roles[role] for role in taken), *map(str, named.values()))
    return operation._replace(name=name, operands=names, attributes={**attributes, **named})
