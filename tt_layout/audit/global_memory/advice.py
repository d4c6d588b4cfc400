"""The way out for a narrow access, in one sentence and in the terms of the language."""

from __future__ import annotations

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.audit.global_memory.origins import CONSTANCY, Origin
from tt_layout.audit.operations.turned_operands import stored_transposed
from tt_layout.ir.ssa.attributes import constant_value
from tt_layout.wording import count as counted

SPECIALIZED = 16
"""The divisor of integer arguments that Triton compiles a kernel of its own for."""

NO_FIX = "none"
"""Text in place of a fix where nothing helps."""

_HOW = {
    "arith.remsi": "%",
    "arith.remui": "%",
    "arith.divsi": "//",
    "arith.divui": "//",
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
    "arith.shli": "<<",
    "arith.shrsi": ">>",
    "arith.shrui": ">>",
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.select": "tl.where",
    "arith.minsi": "tl.minimum",
    "arith.maxsi": "tl.maximum",
    "join": "a loop or branch",
}
"""Operation -> its spelling in the language, and values joined by control flow in words."""

_ONCE = (
    ("atomic", "combine them first, and apply the result once"),
    ("local_to_global", "copy them once"),
    ("store", "store one of them"),
    ("to_local", "copy them once, and broadcast what is read from shared memory"),
)
"""A part of an operation's name -> advice on elements that share an address."""

_NO_HINT = "none, because no hint is true of them"

_COMBINED = {
    "arith.muli": "the product",
    "arith.addi": "the sum",
    "tt.addptr": "the pointer",
}
"""Operation that takes an argument -> what to call its result, which a hint can be about.

A hint about an argument itself is lost: it is no operation that could carry it.
"""


def _name(value: str) -> str:
    return value.lstrip("%")


def _factor_name(origin: Origin) -> str:
    return _name(origin.factor.name) if origin.factor is not None else ""


def _how(origin: Origin) -> str:
    return _HOW.get(origin.kind, origin.kind)


def _hint(count: int) -> str:
    return f"tl.max_contiguous(tl.multiple_of(offsets, {count}), {count})"


def bytes_text(count: int) -> str:
    """Format the bytes that an instruction of an access moves.

    Example:
        >>> bytes_text(1), bytes_text(16)
        ('1 byte per instruction', '16 bytes per instruction')
    """
    return f"{counted(count, 'byte')} per instruction"


# -- layouts --------------------------------------------------------------------------------


def other_order(contiguous: int, fastest: int, layout: str) -> str:
    """Advise on memory that runs along another dimension than the registers."""
    return (
        f"the addresses are contiguous along dimension {contiguous}, the registers along "
        f"dimension {fastest}: swap the dimensions of the pointers, or use a layout whose order "
        f"begins with {contiguous}{layout}"
    )


def shared_layout(together: int, wanted: int) -> str:
    """Advise on neighbours that shared memory separates."""
    return (
        f"the shared layout keeps {counted(together, 'neighbour')} together: give it vec = "
        f"{wanted}, or an order that begins with the dimension of the copy"
    )


def turned_operand(summed: int, bits: int) -> str:
    """Advise on a copy of an operand that is not contiguous along the summed dimension."""
    return (
        f"matrix instructions take {bits} bits along dimension {summed} alone: "
        f"{stored_transposed(summed, bits)}"
    )


def neighbours(dim: int, wanted: int, layout: str) -> str:
    """Advise on a thread with too few neighbours."""
    return f"let each thread hold {wanted} neighbours along dimension {dim}{layout}"


def of_its_layout(per_thread: int) -> str:
    """Return why no argument or hint helps an access in a layout that other values determine."""
    held = counted(per_thread, "neighbour")
    return f"a thread holds {held}: {NO_FIX}, because other operations decide the layout"


def element_count(elements: int, threads: int) -> str:
    """Advise on a tensor too small for its threads."""
    return (
        f"{counted(elements, 'element')} for {threads} threads: use a larger block, "
        "or fewer warps (num_warps)"
    )


# -- addresses ------------------------------------------------------------------------------


def _once(operation: str) -> str:
    """Advise on elements that share an address."""
    name = operation.rpartition(".")[2]
    advice = (way for part, way in _ONCE if part in name)
    return next(advice, "load them once, and broadcast the result")


def one_address(dim: int, operation: str) -> str:
    """Advise on one address for all elements along a dimension."""
    return f"all elements along dimension {dim} have one address: {_once(operation)}"


def repeated(count: int, operation: str) -> str:
    """Advise on groups of neighbours with one address each."""
    return f"groups of {count} neighbours have one address each: {_once(operation)}"


def apart(by: str, *, rank: int, is_free: bool = False) -> str:
    """Advise on neighbours a number of elements, or an argument, apart.

    Args:
        by: the number or the argument; ``None`` where it differs.
        rank: dimensions of the tensor.
        is_free: whether the argument may be 1.
    """
    way = "store what belongs together side by side"
    if rank > 1:
        way = "let the fastest dimension of the tensor be the one that is contiguous in memory"
    if is_free:
        name = _name(by)
        return (
            f"neighbours are {name} elements apart: pass {name} as 1, or as a tl.constexpr that is "
            f"1, or {way}"
        )
    if by.startswith("%") or by == "None":
        distance = f"{_name(by)} elements" if by != "None" else "some elements"
        return f"neighbours are {distance} apart: {way}"
    if not is_power_of_two(abs(int(by))):  # no tensor of Triton has all between them
        return f"neighbours are {by} elements apart: {way}"
    return (
        f"neighbours are {by} elements apart: access all between them, too, and "
        "take it apart in registers (tl.reshape, tl.split, tl.join), or store what belongs "
        "together side by side"
    )


def backwards() -> str:
    """Return why there is no advice on neighbours in reverse order.

    To load them forwards and turn them round by ``tl.flip`` takes more shuffles and barriers than
    the narrow loads take sectors.
    """
    return (
        f"neighbours are in reverse order: {NO_FIX}, because an instruction moves them in the order"
        " of memory"
    )


def unseen(origin: Origin, count: int) -> str:
    """Return a hint that is true, whatever the arguments are."""
    if origin.trace.wanted == CONSTANCY:
        hint = f"{count} neighbours are equal: add tl.max_constancy(offsets, {count})"
    else:
        hint = f"{count} neighbours are contiguous: add {_hint(count)}"
    return f"the compiler does not see through {_how(origin)}, but {hint}"


def unseen_if(origin: Origin, count: int, given: int | None, *, suffices: bool) -> str:
    """Return a hint that is true where an argument is a multiple of `SPECIALIZED`.

    Args:
        origin: operation at which the property was lost.
        count: number of neighbours in the hint.
        given: value of the argument; None where it is not known.
        suffices: whether the multiple alone, without the hint, is enough for the compiler.
    """
    name, how, hint, what = _factor_name(origin), _how(origin), _hint(count), "breaks the run"
    if origin.trace.wanted == CONSTANCY:
        hint, what = f"tl.max_constancy(offsets, {count})", "changes within the run"
    add = f"or, only if it always is, add {hint}" if suffices else f"and add {hint}"
    way = multiple(origin, given)
    return f"{how} {what} unless {name} is a multiple of {SPECIALIZED}: {way}, {add}"


def of_loaded(origin: Origin) -> str:
    """Return the hint for offsets that are loaded, with the condition under which it is true."""
    least = origin.trace.least
    if origin.trace.wanted == CONSTANCY:
        what, hint = f"{least} neighbours are equal", f"tl.max_constancy(offsets, {least})"
    elif origin.trace.wanted:
        what, hint = f"they are multiples of {least}", f"tl.multiple_of(offsets, {least})"
    else:
        what = f"{least} neighbours are contiguous, the first a multiple of {least}"
        hint = _hint(least)
    return f"the offsets are loaded, and depend on the data: only if {what} always, add {hint}"


def of_data(origin: Origin) -> str:
    """Return why there is no hint."""
    how = _how(origin)
    return f"the offsets depend on the data ({how}): {NO_FIX}, because no hint is true of all data"


def of_floats(origin: Origin) -> str:
    """Return why there is no hint for offsets that are rounded floats."""
    return (
        f"the offsets are computed from floats ({origin.kind}): none, because no hint is true of"
        " all their values"
    )


def no_run(origin: Origin) -> str:
    """Return why there is no hint for offsets that follow from the arguments."""
    if origin.trace.wanted == CONSTANCY:
        return f"{_how(origin)} gives neighbours different offsets: {_NO_HINT}"
    return f"{_how(origin)} leaves neighbours apart: {_NO_HINT}"


# -- alignment ------------------------------------------------------------------------------


def argument(origin: Origin, given: int | None) -> str:
    """Advise on an argument that is not known to be a multiple."""
    text, name, number = multiple(origin, given), _factor_name(origin), origin.trace.least
    if origin.is_pointer:
        return text
    way = _COMBINED.get(origin.combined, "what is computed from it")
    if origin.combined == "tt.addptr":
        number = max(SPECIALIZED, number)
    return f"{text}, or, only if {name} always is, add tl.multiple_of({way}, {number})"


def multiple(origin: Origin, given: int | None) -> str:
    """Return how to make an argument a multiple."""
    name, wanted = _factor_name(origin), origin.trace.least
    number = max(SPECIALIZED, wanted) if origin.kind == "argument" else SPECIALIZED
    if origin.is_pointer:
        return f"pass {name} aligned to {number} bytes"
    if given is not None and given % number == 0:
        return (
            f"{name} is {given}, a multiple of {number}, but the kernel was not compiled for that: "
            f"take {name} out of do_not_specialize"
        )
    return f"make {name} a multiple of {number}, padding what it measures"


def undivided(origin: Origin) -> str:
    """Return a hint about alignment that is true, whatever the arguments are."""
    least = origin.trace.least
    return (
        f"the compiler does not see through {_how(origin)}, but the offset is a multiple of "
        f"{least}: add tl.multiple_of(offset, {least})"
    )


def misaligned(origin: Origin, *, is_open: bool) -> str:
    """Advise on an offset that is not a multiple.

    Args:
        origin: operation at which the property was lost.
        is_open: whether it is one number, which arguments may make a multiple.
    """
    least = origin.trace.least
    if origin.kind == "arith.constant":
        number = constant_value(origin.operation.attributes.get("value")) if origin.operation else 0
        if number is not None and abs(number) < least:  # a neighbour, and not the size of a block
            return f"an offset is {number}, which is no multiple of {least}: {NO_FIX}"
        return f"an offset is constant, and not a multiple of {least}: pad it to one"
    if origin.kind == "tt.get_program_id":
        return (
            f"the number of the program is not a multiple of {least}: multiply it by a block size"
        )
    if origin.kind == "tt.expand_dims":
        stride = "multiply them by a stride that is one"
        return f"the numbers of rows are not multiples of {least}: {stride}"
    what = f"the offset that {_how(origin)} gives is not always a multiple of {least}"
    if origin.kind == "join":
        what = f"the offset of some iterations or branches is not a multiple of {least}"
    if not is_open:
        return f"{what}: {NO_FIX}"
    return f"{what}: only if it is for your arguments, add tl.multiple_of(offset, {least})"


# -- masks ----------------------------------------------------------------------------------


def bound(origin: Origin, given: int | None) -> str:
    """Advise on a mask whose bound may lie between neighbours."""
    least = origin.trace.least
    text = f"{multiple(origin, given)}, so that {least} neighbours have one mask"
    if origin.is_pointer:
        return text
    return f"{text}, or, only if it always is, add tl.max_constancy(mask, {least})"


def constant_bound(wanted: int, *, is_load: bool) -> str:
    """Advise on a mask with a constant bound."""
    way = "pad it to one" + (", or choose with tl.where" if is_load else "")
    why = f"so that {wanted} neighbours have one mask"
    return f"the bound is constant, and not a multiple of {wanted}: {way}, {why}"


def same_mask(count: int) -> str:
    """Return a hint about a mask that is true, whatever the arguments are."""
    return (
        f"{count} neighbours always have one mask, which the compiler does not see: add "
        f"tl.max_constancy(mask, {count})"
    )


def differing_mask(*, is_load: bool, is_data: bool) -> str:
    """Advise on neighbours with different masks."""
    why = "the mask depends on the data" if is_data else "neighbours differ in the mask"
    if not is_load:
        return f"{why}: none, because a store cannot be wider than what is stored together"
    return f"{why}: keep only the bounds in the mask of the load, and choose with tl.where"
