"""Notation of Gluon: ``gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])``."""

from __future__ import annotations

import re
from typing import Any

from tt_layout.analyses.layouts.builders import coalesced_blocked
from tt_layout.encodings import Encoding
from tt_layout.encodings.forms import never
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.gluon.calls import GluonCall, encoding_of_call
from tt_layout.notation.gluon.constructors import CONSTRUCTORS
from tt_layout.notation.gluon.signatures import KINDS, REQUIRED, Signature, own_name, signatures_of
from tt_layout.notation.gluon.text import read_call, to_gluon
from tt_layout.notation.notation import Notation
from tt_layout.releases import Release

_HEAD = re.compile(
    r"\s*(?:[A-Za-z_]\w*\.)*(?:_?[A-Z]\w*(?:\.with_identity_for|\.get_default_for)?|constexpr)\s*\("
)
VECTOR_BITS = 128

_UNCHANGED = Signature._field_defaults["update"]


def recognises(text: str) -> bool:
    """Return whether a text begins like a constructor call."""
    return _HEAD.match(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of a constructor.

    Raises:
        LayoutError: Gluon has no such constructor, or the layout depends on what is not known.
    """
    return resolve(read_call(text), context)


def resolve(call: GluonCall, context: Context) -> Encoding:
    """Return the encoding of a call; for a placeholder the one that the compiler puts there.

    Raises:
        LayoutError: the compiler would look at more than the tensor.

    Example:
        >>> context = Context(shape=(64, 64), element_bits=16)
        >>> print(resolve(GluonCall("gl.CoalescedLayout"), context))
        #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
order = [1, 0]}>
    """
    name = own_name(call.name)
    if name == "AutoLayout":
        message = "an AutoLayout is inferred from the layouts of the operations around it"
        raise LayoutError(f"{message}; tt-layout suggest blocked shows the compiler's default")
    if name == "CoalescedLayout":
        shape = context.tensor_shape("a CoalescedLayout")
        if context.element_bits is None:
            raise LayoutError("a CoalescedLayout depends on the width of an element: give the type")
        return coalesced_blocked(
            shape,
            VECTOR_BITS,  # more than a lane takes of any row
            element_bits=context.element_bits,
            num_warps=context.num_warps,
            threads_per_warp=context.threads_per_warp,
        )
    return encoding_of_call(call, context.release)


# -- data for the page -----------------------------------------------------------------------------


def gluon_classes(release: Release, parameters: list[list[Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return Gluon's classes with their signatures and the attribute keys that they fill.

    Args:
        release: by whose names keys are called.
        parameters: where those of signatures are put, each once; signatures have their places in
            it.  A parameter is its name, its kind, and its default where it has one.

    Returns:
        Class -> its attributes, of which a call means the first that it fits: ``attribute``
        and ``style`` say how that is written, ``keys`` lists ``[key, parameter, part, is always
        written]``, and ``signatures`` those of each release, the newest first.
    """
    classes: dict[str, list[dict[str, Any]]] = {}
    for encoding_class, constructor in CONSTRUCTORS:
        form = encoding_class.form_in(release)
        if form is None:
            continue
        sources = {field: (word, -1) for word, field in constructor.arguments.items() if field}
        for word, fields in constructor.parts.items():
            sources |= {field: (word, part) for part, field in enumerate(fields)}
        entry = {
            "attribute": form.name,
            "style": form.style.name,
            "keys": [
                [key.name, *sources.get(key.field or "", ("", -1)), key.omitted is never]
                for key in form.keys
            ],
            "signatures": [
                _signature(signature, parameters) for signature in signatures_of(constructor)
            ],
        }
        classes.setdefault(own_name(constructor.name), []).append(entry)
    return classes


def _signature(signature: Signature, parameters: list[list[Any]]) -> dict[str, Any]:
    described = [
        [word, KINDS.get(word, "a number"), *([] if default is REQUIRED else [default])]
        for word, default in signature.defaults.items()
    ]
    parameters += [parameter for parameter in described if parameter not in parameters]
    places = [parameters.index(parameter) for parameter in described]
    is_today = signature.update is _UNCHANGED
    update = "" if is_today else signature.update.__name__.strip("_")
    return {"last": str(signature.last), "parameters": places, "update": update}


NOTATION = Notation(recognises, read, write=to_gluon, page=gluon_classes, is_general=True)
