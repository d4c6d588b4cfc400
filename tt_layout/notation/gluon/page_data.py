"""Gluon's classes as data for the page.

The tables are those that `tt_layout.notation` reads with, so that nothing of them is written twice.
"""

from __future__ import annotations

from typing import Any

from tt_layout.encodings.forms import Form, never
from tt_layout.notation.gluon.constructors import CONSTRUCTORS, Constructor
from tt_layout.notation.gluon.signatures import (
    KINDS,
    REQUIRED,
    Signature,
    own_name,
    signatures_of,
)
from tt_layout.releases import Release

_UNCHANGED = Signature._field_defaults["update"]


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
        entry = {
            "attribute": form.name,
            "style": form.style.name,
            "keys": _keys(form, constructor),
            "signatures": [
                _signature(signature, parameters) for signature in signatures_of(constructor)
            ],
        }
        classes.setdefault(own_name(constructor.name), []).append(entry)
    return classes


def _keys(form: Form, constructor: Constructor) -> list[list[Any]]:
    """Return the keys of a form, each with the parameter, or part of one, that fills it."""
    sources = {field: (word, -1) for word, field in constructor.arguments.items() if field}
    for word, fields in constructor.parts.items():
        sources |= {field: (word, part) for part, field in enumerate(fields)}
    return [
        [key.name, *sources.get(key.field or "", ("", -1)), key.omitted is never]
        for key in form.keys
    ]


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
