"""Which operand of an access to global memory is the address, the mask, the value.

The custom form has the operands in an order of its own, and names some of those that may be
absent; the generic form has them in the order of the definition, and gives how many of each
there are.

Source:
    Triton, TritonOps.td, TritonGPUOps.td and TritonAMDGPUOps.td.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.audit.values.ranges import integer_range
from tt_layout.ir.names import in_every_spelling
from tt_layout.ir.ssa import Attribute, Operation, Value, integers
from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.dataflow import lineage
from tt_layout.tuples import NamedTuple


class AccessForm(NamedTuple):
    """Roles of an operation's operands.

    Attributes:
        custom: operands without a keyword in the custom form, in order.
        generic: all operands, in the order of the generic form.
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
    **in_every_spelling({f"amdg.{name}": form for name, form in _BUFFER_FORMS.items()}),
}
"""Operation -> roles of its operands."""

_TODAY = {
    "triton_gpu.async_copy_global_to_local": "ttg.async_copy_global_to_local",
    "triton_gpu.insert_slice_async": "ttg.async_copy_global_to_local",
    "triton_gpu.insert_slice": "tt.load",
}
"""Operation of an old release -> its name today."""

_NAMED = {"mask": "mask", "other": "other", "stride": "stride", "into": "memory"}
"""The word before an operand of the custom form -> the operand."""


def operands(operation: Operation) -> dict[str, Value]:
    """Return the operands of an access to global memory by their names.

    Example:
        >>> load = Operation("tt.load", (Value("%p"), Value("%m")))
        >>> {role: value.name for role, value in operands(load).items()}
        {'pointer': '%p', 'mask': '%m'}
    """
    form, attributes = FORMS[operation.name], operation.attributes
    sizes = integers(attributes.get("operandSegmentSizes"))
    if sizes:
        names = [name for name, size in zip(form.generic, sizes) if size]
        return dict(zip(names, operation.operands))
    if attributes.keys().isdisjoint(_NAMED):
        return dict(zip(form.custom, operation.operands))
    by_name = {value.name: value for value in operation.operands}
    named = {
        role: by_name[str(attributes[word])]
        for word, role in _NAMED.items()
        if attributes.get(word) in by_name
    }
    rest = [value for value in operation.operands if value not in named.values()]
    return {**dict(zip(form.custom, rest)), **named}


def address_of(roles: Mapping[str, Value]) -> Value:
    """Return the operand that differs between lanes: offsets from a pointer, or pointers.

    Example:
        >>> pointer, offsets = Value("%p"), Value("%o")
        >>> address_of({"pointer": pointer, "offsets": offsets}).name
        '%o'
        >>> address_of({"pointer": pointer}).name
        '%p'
    """
    return roles.get("offsets", roles["pointer"])


def in_todays_form(operation: Operation) -> Operation:
    """Return an access of an old release as today's equivalent operation.

    For ``insert_slice``, which loads and then stores to shared memory, it is the load.

    Example:
        >>> taken = tuple(map(Value, ("%p", "%b", "%i", "%m")))
        >>> today = in_todays_form(Operation("triton_gpu.insert_slice_async", taken))
        >>> today.name, [(role, value.name) for role, value in operands(today).items()]
        ('ttg.async_copy_global_to_local', [('pointer', '%p'), ('memory', '%b'), ('mask', '%m')])
    """
    name = _TODAY.get(operation.name)
    if name is None:
        return operation
    roles = operands(operation)
    named = {role: roles[role] for role in ("mask", "other") if role in roles}
    attributes = {k: v for k, v in operation.attributes.items() if k != "operandSegmentSizes"}
    taken = [role for role in FORMS[name].custom if role in roles and role not in named]
    words: dict[str, Attribute] = {role: value.name for role, value in named.items()}
    today = Operation(
        name,
        (*(roles[role] for role in taken), *named.values()),
        operation.results,
        {**attributes, **words},
        operation.regions,
        operation.successors,
        operation.line,
        operation.column,
        operation.location_text,
    )
    today.block, today.position, today.end = operation.block, operation.position, operation.end
    return today


def _moves_pointers(operation: Operation) -> bool:
    return operation.traits.pointer_sum or operation.traits.shape


def reached_bytes(roles: Mapping[str, Value], element_bytes: int, flow: ControlFlow) -> int | None:
    """Return the bytes from an argument that an access can touch, by the ranges of its indices.

    Args:
        roles: operands of the access by role.
        element_bytes: bytes of an element in memory.
        flow: control flow of its function.

    Returns:
        Their number; None where its pointers are not of one argument, or an index is not known to
        be within a range.
    """
    indices = [roles["offsets"]] if "offsets" in roles else []
    *passed, pointer = lineage(roles["pointer"], _moves_pointers)
    if pointer.definition is not None or flow.into(pointer):
        return None
    steps = (step.definition for step in passed)
    indices += [step.operands[1] for step in steps if step is not None and step.traits.pointer_sum]
    possible = [integer_range(index, flow) for index in indices]
    ranges = [numbers for numbers in possible if numbers is not None]
    if not ranges or len(ranges) < len(possible):
        return None
    return element_bytes * (1 + sum(high - low for low, high in ranges))
