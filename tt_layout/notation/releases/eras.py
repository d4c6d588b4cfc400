"""Translation to the spelling of another release, checked by reading it back.

    encoding -> fields inferred from the tensor filled in -> values of the release's form -> text
             -> read under that release -> compared on all bases

A release that has no form for the class may have had another attribute for it: `_CHANGED`
lists those, so that a shared memory for wgmma has a spelling before nvmma_shared.

Until 3.5, a padded_shared has no shape, a tensor memory that is ``unpacked`` no stride and an
nvmma_shared no rank; until 2.1, an mma has no instruction shape and a dot_op no kWidth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from functools import singledispatch
from typing import Any

from tt_layout.algebra.tiles import row_major
from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.encodings import Encoding
from tt_layout.encodings.dot_op import REGISTER_BITS, DotOperand
from tt_layout.encodings.forms import Form
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.parsing import parse_layout
from tt_layout.encodings.slice import Slice
from tt_layout.encodings.swizzled_shared import AmdRotatingShared, SwizzledShared
from tt_layout.encodings.tensor_memory import CELL_BITS, TensorMemory
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import check_same
from tt_layout.notation.refusal import Reason, RefusedError, refused
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.releases import Release, in_words


def to_release(encoding: Encoding, release: Release, tensor: TensorSpec) -> Translation:
    """Return the text of a layout in a release; see `tt_layout.translate`."""
    named = encoding
    if tensor.shape is not None:
        named = shortest(encoding, tensor.shape, tensor.element_bits)
    if named is not encoding:
        with suppress(RefusedError):
            return in_release(named, release, tensor)[1]
    return in_release(encoding, release, tensor)[1]


def in_release(
    encoding: Encoding, release: Release, tensor: TensorSpec
) -> tuple[Encoding, Translation]:
    """Return the layout as a release reads it, and its text.

    Raises:
        RefusedError: the release cannot express it; the reason is that of the first way
            for which it has an attribute.
    """
    encoding.check_layout()
    errors: list[RefusedError] = []
    for candidate in _candidates(with_inferred_fields(encoding, tensor), release):
        try:
            after = respelled(candidate, release, tensor.element_bits)
            try:
                if tensor.element_bits is not None:
                    after.check_element(tensor.element_bits)
            except LayoutError as error:
                raise refused(Reason.REFUSED, f"Triton {release}: {error.message}") from None
            left_out = tuple(_left_out(candidate, with_inferred_fields(after, tensor)))
            try:
                shapes = check_same(encoding, after, tensor)
            except RefusedError as error:
                if not left_out or _is_same(encoding, _without(candidate, after), tensor):
                    raise
                raise refused(Reason.NO_PLACE, "; ".join(left_out)) from error
            return after, Translation(after.written(), shapes, left_out)
        except RefusedError as error:
            errors.append(error)
    raise next((e for e in errors if e.reason is not Reason.NO_ATTRIBUTE), errors[0])


def _is_same(before: Encoding, after: Encoding, tensor: TensorSpec) -> bool:
    """Return whether two encodings are one layout."""
    try:
        return bool(check_same(before, after, tensor))
    except LayoutError:
        return False


def respelled(encoding: Encoding, release: Release, element_bits: int | None) -> Encoding:
    """Return the encoding respelled for a release, not compared yet.

    Raises:
        RefusedError: the release has no spelling for it, or refuses it.
    """
    form = form_for(encoding, release)
    inner: dict[str, Any] = {
        f.name: respelled(value, release, element_bits)
        for f in fields(encoding)
        if isinstance(value := getattr(encoding, f.name), Encoding)
    }
    try:
        values = form.values(replace(encoding, **inner), element_bits)
    except LayoutError as error:
        raise refused(Reason.NO_PLACE, f"Triton {release}: {error.message}") from None
    try:
        return parse_layout(form.write(values), release=release)
    except LayoutError as error:
        raise refused(Reason.REFUSED, f"Triton {release}: {error.message}") from None


def form_for(encoding: Encoding, release: Release) -> Form:
    """Return the form of an encoding's class in a release."""
    cls = type(encoding)
    if (form := cls.form_in(release)) is not None:
        return form
    releases = [other for other in Release if cls.form_in(other) is not None]
    message = f"#{cls.forms[-1].name} is of {in_words(releases)}"
    raise refused(Reason.NO_ATTRIBUTE, f"Triton {release}; {message}")


# -- attributes that replaced others -----------------------------------------------------------


def _candidates(encoding: Encoding, release: Release) -> Iterator[Encoding]:
    """Yield the encoding, and others that may be equal to it in a release."""
    successor = _as_nvmma(encoding, release)
    if successor is not None:
        yield successor
    yield encoding
    for change in _CHANGED:
        other = change(encoding, release)
        if other is not None:
            yield other


def _as_nvmma(encoding: Encoding, release: Release) -> Encoding | None:
    """Convert ``hasLeadingOffset``, since 3.3 an attribute of its own."""
    if not isinstance(encoding, SwizzledShared) or not encoding.has_leading_offset:
        return None
    if release < Release.V3_3 or encoding.rank < 2:
        return None
    return NvmmaShared(
        swizzling_byte_width=16 * encoding.max_phase,
        transposed=encoding.order[0] < encoding.order[1],
        element_bit_width=128 // encoding.vec,
        cga=encoding.cga,
        rank_key=encoding.rank if encoding.rank != 2 else None,
    )


def _from_nvmma(encoding: Encoding, release: Release) -> Encoding | None:
    """Convert nvmma_shared, until 3.2 ``hasLeadingOffset``; without a swizzle, plain rows."""
    if not isinstance(encoding, NvmmaShared) or release > Release.V3_2 or encoding.fp4_padded:
        return None
    rank, width = encoding.rank or 2, encoding.swizzling_byte_width
    order = tuple(range(rank)) if encoding.transposed else tuple(row_major(rank))
    if not width:
        return SwizzledShared(vec=1, per_phase=1, max_phase=1, order=order, cga=encoding.cga)
    return SwizzledShared(
        vec=128 // encoding.element_bit_width,
        per_phase=128 // width,
        max_phase=width // 16,
        order=order,
        cga=encoding.cga,
        has_leading_offset=True,
    )


def _as_generic_linear(encoding: Encoding, release: Release) -> Encoding | None:
    """Convert linear, which since 3.8 must be a permutation, to generic_linear."""
    if type(encoding) is not Linear or release < Release.V3_8:
        return None
    return GenericLinear(
        register=encoding.register, lane=encoding.lane, warp=encoding.warp, block=encoding.block
    )


def _as_linear(encoding: Encoding, release: Release) -> Encoding | None:
    """Convert generic_linear to linear, which until 3.7 took more than permutations."""
    if type(encoding) is not GenericLinear or release > Release.V3_7:
        return None
    return Linear(
        register=encoding.register, lane=encoding.lane, warp=encoding.warp, block=encoding.block
    )


def _as_swizzled(encoding: Encoding, release: Release) -> Encoding | None:
    """Convert amd_rotating_shared, unknown until 3.3; with one phase it is plain rows."""
    if not isinstance(encoding, AmdRotatingShared) or release > Release.V3_3:
        return None
    return SwizzledShared(
        vec=encoding.vec,
        per_phase=encoding.per_phase,
        max_phase=encoding.max_phase,
        order=encoding.order,
        cga=encoding.cga,
    )


_CHANGED: tuple[Callable[[Encoding, Release], Encoding | None], ...] = (
    _from_nvmma,
    _as_generic_linear,
    _as_linear,
    _as_swizzled,
)
"""Functions to another encoding of the same layout, tried where an encoding's own class fails.

They return None where they do not apply.
"""


# -- what a spelling leaves out ---------------------------------------------------------------

_NOT_A_KEY = {"release", "spelling", "origin", "no_layout_reason", "rank_key"}


def lost_between(before: Encoding, after: Encoding) -> str:
    """Return the fields that a release drops, if the layout differs without them."""
    left_out = tuple(_left_out(before, after))
    if not left_out or _is_same(before, _without(before, after), TensorSpec()):
        return ""
    return "; ".join(left_out)


def _left_out(before: Encoding, after: Encoding) -> Iterator[str]:
    """Yield the fields that the text of a release cannot express, by today's keys."""
    keys = {key.field: key.name for form in type(before).forms for key in form.keys}
    for name, was, now in _changed_fields(before, after):
        if isinstance(was, Encoding):
            yield from _left_out(was, now)
        else:
            yield f"Triton {after.release} does not write {keys.get(name, name)} = {_plain(was)}"


def _without(before: Encoding, after: Encoding) -> Encoding:
    """Reset the fields that the text cannot express."""
    changes: dict[str, Any] = {
        name: _without(was, now) if isinstance(was, Encoding) else now
        for name, was, now in _changed_fields(before, after)
    }
    return replace(before, **changes)


def _changed_fields(before: Encoding, after: Encoding) -> Iterator[tuple[str, Any, Any]]:
    """Yield name and both values of the fields that differ, also of inner encodings."""
    for f in fields(before) if type(before) is type(after) else ():
        was, now = getattr(before, f.name), getattr(after, f.name)
        if isinstance(was, Encoding) or (f.name not in _NOT_A_KEY and _plain(was) != _plain(now)):
            yield f.name, was, now


def _plain(value: object) -> object:
    """Return a value as it is written: tuples as lists, all ones as nothing."""
    if isinstance(value, tuple):
        return [] if all(item == 1 for item in value) else [_plain(item) for item in value]
    return value


# -- fields that an old spelling omits -------------------------------------------------------------


@singledispatch
def with_inferred_fields(encoding: Encoding, tensor: TensorSpec) -> Encoding:
    """Return the encoding with every field that the tensor determines.

    Example:
        >>> unpacked = TensorMemory(block_m=128, block_n=8, col_stride=None)
        >>> print(with_inferred_fields(unpacked, TensorSpec(element_bits=16)))
        #ttng.tensor_memory_encoding<blockM = 128, blockN = 8, colStride = 2>
    """
    return encoding


@with_inferred_fields.register
def _(encoding: NvmmaShared, tensor: TensorSpec) -> Encoding:
    if encoding.rank is not None or tensor.shape is None:
        return encoding
    return replace(encoding, rank_key=len(tensor.shape))


@with_inferred_fields.register
def _(encoding: TensorMemory, tensor: TensorSpec) -> Encoding:
    if encoding.col_stride is not None or tensor.element_bits is None:
        return encoding
    return replace(encoding, col_stride=max(1, CELL_BITS // tensor.element_bits))


@with_inferred_fields.register
def _(encoding: PaddedShared, tensor: TensorSpec) -> Encoding:
    if encoding.offset is not None or tensor.shape is None:
        return encoding
    layout = encoding.to_linear_layout(tensor.shape)
    offset, block = layout.vectors("offset"), layout.vectors("block")
    rank = encoding.rank
    return replace(encoding, offset=offset, block=block, order=None, cga=(), rank_key=rank)


@with_inferred_fields.register
def _(encoding: NvidiaMma, tensor: TensorSpec) -> Encoding:
    return replace(encoding, instr_shape=encoding.tile_shape)


@with_inferred_fields.register
def _(encoding: DotOperand, tensor: TensorSpec) -> Encoding:
    parent = with_inferred_fields(encoding.parent, tensor)
    width = encoding.k_width
    is_implied = isinstance(parent, NvidiaMma) and not width and tensor.element_bits is not None
    if is_implied and tensor.element_bits:
        width = max(1, REGISTER_BITS // tensor.element_bits)
    return replace(encoding, parent=parent, k_width=width)


@with_inferred_fields.register
def _(encoding: Slice, tensor: TensorSpec) -> Encoding:
    shape = tensor.shape and (*tensor.shape[: encoding.dim], 1, *tensor.shape[encoding.dim :])
    return replace(
        encoding,
        parent=with_inferred_fields(encoding.parent, TensorSpec(shape, tensor.element_bits)),
    )
