"""The way out for a narrow access, in one sentence and in the terms of the language."""

from __future__ import annotations

from tt_layout.audit.global_memory.origins import Origin

SPECIALIZED = 16
"""The divisor of integer arguments that Triton compiles a kernel of its own for."""

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
    "arith.select": "tl.where",
    "arith.minsi": "tl.minimum",
    "arith.maxsi": "tl.maximum",
}
"""Operation -> how the language writes it."""


def _name(value: str) -> str:
    return value.lstrip("%")


def _hint(count: int) -> str:
    return f"tl.max_contiguous(tl.multiple_of(offsets, {count}), {count})"


# -- layouts --------------------------------------------------------------------------------


def other_order(contiguous: int, fastest: int) -> str:
    """Return what to do where memory runs along another dimension than the registers."""
    return (
        f"the addresses are contiguous along dimension {contiguous}, the registers along "
        f"dimension {fastest}: use a layout whose order begins with {contiguous}, or swap the "
        "dimensions of the pointers"
    )


def shared_layout(together: int, wanted: int) -> str:
    """Return what to do where shared memory takes neighbours apart."""
    return (
        f"the shared layout keeps {together} neighbours together: give it vec = {wanted}, or an "
        "order that begins with the dimension of the copy"
    )


def neighbours(dim: int, wanted: int, *, is_blocked: bool) -> str:
    """Return what to do where a thread holds too few neighbours."""
    if is_blocked:
        return f"let each thread hold {wanted} neighbours: sizePerThread[{dim}] = {wanted}"
    return (
        f"convert to a layout in which each thread holds {wanted} neighbours along dimension "
        f"{dim}, such as a blocked one with sizePerThread[{dim}] = {wanted}"
    )


def element_count(elements: int, threads: int) -> str:
    """Return what to do where there is too little for the threads."""
    return (
        f"{elements} elements for {threads} threads: use a larger block, or fewer warps (num_warps)"
    )


# -- addresses ------------------------------------------------------------------------------


_ONCE = (
    ("atomic", "combine them first, and apply the result once"),
    ("local_to_global", "copy them once"),
    ("store", "store one of them"),
    ("to_local", "copy them once, and broadcast what is read from shared memory"),
)
"""A part of an operation's name -> what to do where all of its elements have one address."""


def _once(operation: str) -> str:
    """Return what to do with elements that all have one address."""
    name = operation.rpartition(".")[2]
    found = (way for part, way in _ONCE if part in name)
    return next(found, "load them once, and broadcast the result")


def contiguity(origin: Origin, operation: str, apart: int | None = None) -> str:
    """Return what to do where neighbours are not known to lie next to each other.

    Args:
        origin: where that was lost.
        operation: the name of the access.
        apart: the constant that it multiplied by; None where it did not, or by another value.
    """
    least, factor = origin.trace.least, _name(origin.factor)
    if origin.kind == "arith.muli" and apart is not None:
        return (
            f"neighbours are {apart} elements apart: access all that lies between them, too, and "
            "take it apart in registers (tl.reshape, tl.split, tl.join), or store what belongs "
            "together side by side"
        )
    if origin.kind == "arith.muli":
        return (
            f"neighbours are {factor or 'a stride'} elements apart: pass {factor or 'it'} as 1, or "
            "as a tl.constexpr that is 1, or let the fastest dimension of the tensor be the one "
            "that is contiguous in memory"
        )
    if origin.kind in ("arith.remsi", "arith.remui"):
        return (
            f"% may break the run: make {factor} a multiple of {SPECIALIZED}, or add {_hint(least)}"
        )
    if origin.kind == "tt.load":
        return f"the offsets are loaded: where they are contiguous, add {_hint(least)}"
    if origin.kind in ("tt.splat", "tt.broadcast"):
        way = _once(operation)
        return f"all elements along dimension {origin.trace.dim} have one address: {way}"
    if origin.kind == "tt.make_range":
        hint = f"add {_hint(least)} if they are contiguous"
        return f"the offsets grow together along the dimension: {hint}"
    how = _HOW.get(origin.kind, origin.kind)
    hint = f"where the offsets are contiguous, add {_hint(least)}"
    return f"the compiler does not see through {how}: {hint}"


def divisibility(origin: Origin) -> str:
    """Return what to do where the first address is not known to be aligned."""
    least, factor = origin.trace.least, _name(origin.factor)
    if origin.kind == "argument":
        return f"{_argument(origin)}, or add tl.multiple_of({factor}, {_multiple(origin)})"
    if origin.kind == "arith.constant":
        return f"an offset is constant, and not a multiple of {least}: pad it to one"
    if origin.kind == "tt.load":
        return f"the offset is loaded: where it is a multiple of {least}, add tl.multiple_of"
    if origin.kind == "tt.get_program_id":
        return (
            f"the number of the program is not a multiple of {least}: multiply it by a block size"
        )
    how = _HOW.get(origin.kind, origin.kind)
    return (
        f"the compiler does not see through {how}: where the offset is a multiple of {least}, add "
        f"tl.multiple_of(offset, {least})"
    )


def _argument(origin: Origin) -> str:
    name = _name(origin.factor)
    if origin.is_pointer:
        return f"pass {name} aligned to {max(SPECIALIZED, origin.trace.least)} bytes"
    return f"make {name} a multiple of {_multiple(origin)}, padding what it measures"


def _multiple(origin: Origin) -> int:
    return max(SPECIALIZED, origin.trace.least)


# -- masks ----------------------------------------------------------------------------------


def bound(origin: Origin, wanted: int) -> str:
    """Return what to do where the bound of a mask may lie between neighbours."""
    why = f"so that {wanted} neighbours have one mask"
    if origin.kind == "argument":
        return f"{_argument(origin)}, {why}, or leave the mask out where it always holds"
    if origin.kind == "arith.constant":
        return f"the bound is constant, and not a multiple of {wanted}: pad it to one, {why}"
    return f"let the bound of the mask be a multiple of {wanted}, {why}"


def predicate(origin: Origin) -> str:
    """Return what to do where a comparison is one that the compiler does not follow."""
    return "compare the offsets with < or >= a bound: the compiler follows these"


def mask(origin: Origin) -> str:
    """Return what to do where a mask comes from something else."""
    if origin.kind == "tt.load":
        return "the mask is loaded: load without one, and choose with tl.where"
    least = origin.trace.least
    return f"let the mask be the same for {least} neighbours, or load without it and use tl.where"
