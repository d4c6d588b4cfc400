"""Answers questions about layouts; runs inside an environment that holds Triton.

usage: inside.py QUESTIONS

QUESTIONS holds one JSON object a line; one JSON object a line comes out for each.  Bad input
can abort the process: the questions are answered in a fork, and where it dies the next fork
goes on after the question that killed it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Question = dict[str, Any]
Answer = dict[str, Any]
Partial = Callable[[Answer], None]

SECONDS = 30  # a question that takes longer counts as an abort
CONTEXT_LIFE = 200  # questions after which the interned attributes are let go

SPACES = {"shared": "#ttg.shared_memory", "tmem": "#ttng.tensor_memory"}
TARGET = '"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32'
INPUTS = {
    "DistributedLinearLayout": {
        "register": "reg_bases",
        "lane": "lane_bases",
        "warp": "warp_bases",
        "block": "block_bases",
    },
    "SharedLinearLayout": {"offset": "offset_bases", "block": "block_bases"},
    "_TensorMemoryLinearLayout": {"row": "rows", "col": "cols"},
}
"""Gluon's class -> input dimension -> the attribute that holds its bases."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Compiler:
    """The wheel: contexts to parse in, and its bindings."""

    def __init__(self, scratch: str) -> None:
        library = importlib.import_module("triton._C.libtriton")
        self.ir, self.gluon_ir = library.ir, library.gluon_ir
        self.backends = [library.nvidia, library.amd]
        algebra = getattr(library, "linear_layout", library.ir)  # of its own since 3.6
        self.layouts: Any = getattr(algebra, "LinearLayout", ())
        self.path = scratch
        self.asked = 0

    def context(self) -> Any:
        if self.asked % CONTEXT_LIFE == 0:
            self.current = self.ir.context()
            self.ir.load_dialects(self.current)
            for backend in self.backends:
                backend.load_dialects(self.current)
        self.asked += 1
        return self.current

    def answer(self, question: Question, partial: Partial) -> Answer:
        if "op" in question:
            return self.answer_algebra(question)
        return self.answer_layout(question, partial)

    # -- attributes -------------------------------------------------------------------------

    def answer_layout(self, question: Question, partial: Partial) -> Answer:
        """Return text, bases and digests of both views, as far as the wheel gets."""
        context = self.context()
        head, tail = type_around(question["shape"], question["elem"], question["kind"])
        with open(self.path, "w") as file:
            typed = head + question["attr"] + tail
            file.write(f"module attributes {{{TARGET}}} {{\n")
            file.write(f"  tt.func @f(%a: {typed}) {{ tt.return }}\n}}\n")
        try:
            module = self.ir.parse_mlir_module(self.path, context)
        except Exception as error:
            return {"refused": str(error)[:200]}
        answer = {"text": printed(module.str_nodebug()).removeprefix(head).removesuffix(tail)}
        partial(answer)
        try:
            return {**answer, **self.layout_of(module, context, question)}
        except Exception as error:
            return {**answer, "no_layout": f"{type(error).__name__}: {error}"[:200]}

    def layout_of(self, module: Any, context: Any, question: Question) -> Answer:
        shape, kind, has_views = question["shape"], question["kind"], question.get("views", True)
        value = module.get_function("f").args(0)
        builder = self.gluon_ir.GluonOpBuilder(context)
        if kind == "tensor":
            layout = builder.get_gluon_layout_from_tensor(value)
        else:
            layout = builder.get_gluon_layout_from_memdesc(value)
        linear = builder.to_linear_layout(layout._to_ir(builder), shape)
        names = INPUTS[type(linear).__name__]
        answer: Answer = {"bases": {name: getattr(linear, own) for name, own in names.items()}}
        if kind != "tmem" and has_views and hasattr(layout, "format_tensor_view"):
            answer["tensor"] = digest(layout.format_tensor_view(shape))
            answer["hardware"] = digest(layout.format_hardware_view(shape))
        return answer

    # -- algebra ----------------------------------------------------------------------------

    def answer_algebra(self, question: Question) -> Answer:
        operands = [self.linear_layout(*operand) for operand in question["layouts"]]
        first, rest = operands[0], operands[1:]
        result = first * rest[0] if question["op"] == "*" else getattr(first, question["op"])(*rest)
        if isinstance(result, self.layouts):
            return {"bases": result.bases, "out_dims": result.out_dims, "str": str(result).strip()}
        return {"value": result.strip() if isinstance(result, str) else result}

    def linear_layout(self, bases: Any, names: list[str], sizes: list[int]) -> Any:
        return self.layouts.from_bases([tuple(b) for b in bases], names, sizes, False)


def type_around(shape: Sequence[int], elem: str, kind: str) -> tuple[str, str]:
    """Return what stands before and after the attribute in the type."""
    dims = "x".join(map(str, (*shape, elem)))
    if kind == "tensor":
        return f"tensor<{dims}, ", ">"
    return f"!ttg.memdesc<{dims}, ", f", {SPACES[kind]}, mutable>"


def printed(module: str) -> str:
    """Return the type of the function's argument, with all aliases expanded."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", module, re.M))
    line = next(line for line in module.splitlines() if "tt.func" in line)
    text = re.sub(r".*?%arg0: (.*)\) \{.*", r"\1", line)
    while (expanded := expand(text, aliases)) != text:
        text = expanded
    return text


def expand(text: str, aliases: dict[str, str]) -> str:
    return re.sub(r"#\w+(?![\w.])", lambda name: aliases.get(name[0], name[0]), text)


# -- forks ----------------------------------------------------------------------------------


def answer_from(questions: list[Question], start: int, out: int) -> None:
    """Answer in this process until it dies; every line says whether the answer is final."""

    def write(answer: Answer, is_final: bool) -> None:
        os.write(out, (json.dumps({**answer, "final": is_final}) + "\n").encode())

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the compiler's diagnostics
    compiler = Compiler(scratch=sys.argv[1] + ".mlir")
    for question in questions[start:]:
        signal.alarm(SECONDS)
        try:
            answer = compiler.answer(question, lambda partial: write(partial, False))
        except Exception as error:
            answer = {"refused": f"{type(error).__name__}: {error}"[:200]}
        write(answer, True)


def answers(questions: list[Question]) -> Iterator[Answer]:
    start = 0
    while start < len(questions):
        for answer in answers_of_fork(questions, start):
            yield answer
            start += 1


def answers_of_fork(questions: list[Question], start: int) -> Iterator[Answer]:
    """Yield the answers of one fork; the last one is an abort where it died."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            answer_from(questions, start, sender)
            status = 0
        finally:
            os._exit(status)
    os.close(sender)
    partial: Answer = {}
    with open(receiver) as lines:
        for line in lines:
            answer = json.loads(line)
            if answer.pop("final"):
                yield answer
                partial = {}
            else:
                partial = answer
    _, status = os.waitpid(child, 0)
    if status != 0:
        yield {**partial, "abort": True}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    importlib.import_module("triton.experimental.gluon")  # once, before the forks
    with open(sys.argv[1]) as file:
        questions = [json.loads(line) for line in file]
    for answer in answers(questions):
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
