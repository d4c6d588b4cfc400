"""Makes objects of Gluon and reads them; runs inside an environment that holds Triton.

usage: gluon_objects.py EXPRESSIONS

EXPRESSIONS is a JSON list of constructors.  A JSON list comes out: of each, the attribute that the
wheel makes of the object, and those that tt_layout reads from the object and from its ``repr``; or
``refused``, why the wheel has no such object.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from typing import Any

import tt_layout
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.notation.checking import own_shape
from tt_layout.releases import Release


class Wheel:
    """Gluon of this environment."""

    def __init__(self) -> None:
        triton = importlib.import_module("triton")
        self.release = Release.parse(triton.__version__)
        library = importlib.import_module("triton._C.libtriton")
        self.gl = importlib.import_module("triton.experimental.gluon.language")
        self.context = library.ir.context()
        for dialects in (library.ir, library.nvidia, library.amd):
            dialects.load_dialects(self.context)
        self.builder = library.gluon_ir.GluonOpBuilder(self.context)

    def answer(self, expression: str) -> dict[str, str]:
        try:
            made = eval(expression, {"gl": self.gl})
            attribute = made._to_ir(self.builder)
        except Exception as error:
            return {"refused": f"{type(error).__name__}: {error}"[:200]}
        try:
            encoding = tt_layout.parse_layout(made)
            again = tt_layout.parse_layout(repr(made), release=self.release)
        except tt_layout.LayoutError as error:
            return {"wheel": repr(made), "object": str(error), "repr": ""}
        wheel = self.text(attribute, encoding)
        is_same = encoding == again == tt_layout.parse_layout(wheel, release=self.release)
        found = {"wheel": wheel, "object": str(encoding), "repr": str(again)}
        return {**found, "same": "yes" if is_same else ""}

    def text(self, attribute: Any, encoding: Encoding) -> str:
        """Return an attribute as the wheel prints it in a type."""
        byte, shape = (
            self.builder.get_int8_ty(),
            list(own_shape(encoding) or [128] * (encoding.rank or 2)),
        )
        if isinstance(encoding, DistributedEncoding):
            typed = str(self.builder.get_distributed_ty(byte, shape, attribute))
        elif isinstance(encoding, SharedEncoding):
            typed = str(self.builder.get_shared_mem_desc_ty(byte, shape, attribute, shape))
        else:
            typed = str(self.builder.get_tensor_mem_desc_ty(byte, shape, attribute, shape))
        text = typed[typed.index("#") :]
        spaces = ", #ttg.shared_memory", ", #ttng.tensor_memory,"
        for end in (*(text.find(space) for space in spaces), len(text) - 1):
            if end >= 0:
                return text[:end]
        return text


def forked(wheel: Wheel, expression: str) -> dict[str, str]:
    """Answer in a fork, since the wheel ends the process where it asserts."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiver)
        os.write(sender, json.dumps(wheel.answer(expression)).encode())
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as file:
        text = file.read()
    os.waitpid(child, 0)
    died = {"refused": "the wheel dies of it"}
    return json.loads(text) if text else died


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wheel = Wheel()
    answers = [forked(wheel, expression) for expression in json.loads(sys.argv[1])]
    sys.stdout.write(json.dumps(answers))


main()
