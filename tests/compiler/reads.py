"""Reads spellings and evaluates Gluon constructors; runs inside an environment that holds Triton.

usage: reads.py QUESTIONS

QUESTIONS holds one JSON object a line: ``attr, shape, elem, kind``, and perhaps ``gluon``, a
constructor.  One JSON object a line comes out for each: ``printed``, the attribute as the wheel
prints it, or ``refused``; for a constructor the attribute that is ``made`` by it, and its
``bases``.  Any wheel since 2.0 will do for attributes, 3.9 for constructors.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

inside = importlib.import_module("inside")  # of this folder, where this script runs

Question = dict[str, Any]
Answer = dict[str, Any]
Partial = Callable[[Answer], None]


class Wheel:
    """What of the wheel is needed, whatever its release."""

    def __init__(self) -> None:
        version = importlib.import_module("triton").__version__
        library = importlib.import_module("triton._C.libtriton")
        self.release = tuple(map(int, version.split(".")[:2]))
        self.library: Any = library if self.release >= (3, 0) else library.triton
        self.context = self.new_context()

    def new_context(self) -> Any:
        context = self.library.ir.context()
        if self.release < (3, 0):
            context.load_triton()
            return context
        self.library.ir.load_dialects(context)
        if self.release >= (3, 3):
            self.library.nvidia.load_dialects(context)
            self.library.amd.load_dialects(context)
        return context

    def type_of(self, question: Question) -> tuple[str, str]:
        """Return what stands before and after the attribute in the type."""
        dims = "x".join(map(str, (*question["shape"], question["elem"])))
        kind = question["kind"]
        if kind == "tensor" or self.release < (3, 0):
            return f"tensor<{dims}, ", ">"
        if self.release < (3, 2):
            return f"!tt.memdesc<{dims}, ", ", mutable>"
        if self.release < (3, 3):
            return f"!tt.memdesc<{dims}, ", ", #triton_gpu.shared_memory, mutable>"
        space = "#ttng.tensor_memory" if kind == "tmem" else "#ttg.shared_memory"
        return f"!ttg.memdesc<{dims}, ", f", {space}, mutable>"

    def answer(self, question: Question, partial: Partial) -> Answer:
        head, tail = self.type_of(question)
        dialect = "tt." if self.release >= (2, 1) else ""
        typed = head + question["attr"] + tail
        function = f"{dialect}func @f(%a: {typed}) {{ {dialect}return }}"
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(f"module {{\n  {function}\n}}\n")
            file.flush()
            try:
                module = self.library.ir.parse_mlir_module(file.name, self.context)
            except Exception as error:
                return {"refused": str(error)[:200]}
        text = module.str_nodebug() if hasattr(module, "str_nodebug") else module.str()
        whole = printed(text)
        answer: Answer = {"printed": whole[whole.index("#") :].removesuffix(tail)}
        if "gluon" not in question:
            return answer
        try:
            return self.evaluated(question, answer, partial)
        except Exception as error:
            return {**answer, "no_layout": f"{type(error).__name__}: {error}"[:200]}

    def evaluated(self, question: Question, answer: Answer, partial: Partial) -> Answer:
        """Return the bases of a constructor, and the attribute that it makes."""
        gl = importlib.import_module("triton.experimental.gluon.language")
        builder = self.library.gluon_ir.GluonOpBuilder(self.context)
        attribute = eval(question["gluon"], {"gl": gl})._to_ir(builder)
        shape, byte = question["inner"], builder.get_int8_ty()
        if question["kind"] == "tensor":
            typed = builder.get_distributed_ty(byte, shape, attribute)
        elif question["kind"] == "shared":
            typed = builder.get_shared_mem_desc_ty(byte, shape, attribute, shape)
        else:
            typed = builder.get_tensor_mem_desc_ty(byte, shape, attribute, shape)
        head, tail = self.type_of({**question, "shape": shape, "elem": "i8"})
        answer["made"] = str(typed).removeprefix(head).removesuffix(tail)
        partial(answer)
        linear = builder.to_linear_layout(attribute, shape)
        names = inside.INPUTS[type(linear).__name__]
        return {**answer, "bases": {name: getattr(linear, own) for name, own in names.items()}}


def printed(module: str) -> str:
    """Return the type of the function's argument, with all aliases expanded."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", module, re.M))
    line = next(line for line in module.splitlines() if "func" in line)
    line = re.sub(r" loc\([^)]*\)", "", line)
    text = re.sub(r".*?%arg0: (.*?)\) (?:attributes .*)?\{.*", r"\1", line)
    while (expanded := inside.expand(text, aliases)) != text:
        text = expanded
    return text


def answers(questions: Sequence[Question]) -> list[Answer]:
    """Answer in forks: where one dies, the next goes on after the question that killed it."""
    importlib.import_module("triton")  # once, before the forks
    done: list[Answer] = []
    while len(done) < len(questions):
        receiver, sender = os.pipe()
        child = os.fork()
        if child == 0:
            answer_from(questions[len(done) :], sender)
            os._exit(0)
        os.close(sender)
        with open(receiver) as lines:
            told = [json.loads(line) for line in lines]
        os.waitpid(child, 0)
        done += [answer for answer, is_final in told if is_final]
        if len(done) < len(questions):
            last = told[-1][0] if told and not told[-1][1] else {}
            done.append({**last, "abort": True})
    return done


def answer_from(questions: Sequence[Question], out: int) -> None:
    """Answer in this process until it dies; every line says whether the answer is final."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the compiler's diagnostics
    wheel = Wheel()

    def write(answer: Answer, is_final: bool) -> None:
        os.write(out, (json.dumps([answer, is_final]) + "\n").encode())

    for question in questions:
        write(wheel.answer(question, lambda answer: write(answer, False)), True)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(sys.argv[1]) as file:
        questions = [json.loads(line) for line in file]
    for answer in answers(questions):
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
