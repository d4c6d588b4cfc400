"""Dumps of passes: the modules that one compilation printed, and the default one among them.

    // -----// IR Dump Before A //----- //
    module { .. }                       what A takes
    // -----// IR Dump Before B //----- //
    module { .. }                       what A made, and B takes

A compilation goes from IR without layouts through IR with layouts to LLVM's; a step back marks the
compilation of another kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import IntEnum

from tt_layout.ir.module import Module, PassChoice
from tt_layout.tuples import NamedTuple

_BLOCKS = re.compile(
    r"^[ \t]*(?P<label>\^[\w$.-]+)|\bcf\.(?:cond_)?br\b(?P<targets>[^\n]*)"
    r"|\b(?:tt|func)\.func\b",
    re.MULTILINE,
)
_TARGET = re.compile(r"\^[\w$.-]+")


class Stage(IntEnum):
    """Stage of a module in the compiler's pipeline."""

    NO_LAYOUTS = 0
    LAYOUTS = 1
    LLVM = 2


def has_passes(text: str) -> bool:
    """Tell whether a dump has a header that names a pass."""
    return "IR Dump " in text


def stage_of(module: Module) -> Stage:
    """Return the stage of a module in the compiler's pipeline."""
    text = module.span.text
    if "llvm.func" in text and "tt.func" not in text and "func.func" not in text:
        return Stage.LLVM
    has_layouts = any(ir_type.layout is not None for ir_type in module.types.distinct)
    return Stage.LAYOUTS if has_layouts else Stage.NO_LAYOUTS


def has_lost_loops(module: Module) -> bool:
    """Tell whether the loops of a module are branches, so that their trip counts are unknown.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> text = '''module { tt.func @f() {
        ... ^bb1:  // 2 preds: ^bb0, ^bb1
        ...   cf.cond_br %c, ^bb1, ^bb2
        ... ^bb2:
        ... }}'''
        >>> [has_lost_loops(one) for one in parse_ir(text)]
        [True]
        >>> text = '''module { tt.func @f() {
        ... ^bb1:
        ... }
        ... tt.func @g() {
        ...   cf.br ^bb1
        ... ^bb1:
        ... }}'''
        >>> [has_lost_loops(one) for one in parse_ir(text)]
        [False]
    """
    text = module.span.text
    if "cf." not in text:
        return False
    labels: set[str] = set()
    for match in _BLOCKS.finditer(text):
        if match["label"] is not None:
            labels.add(match["label"])
        elif match["targets"] is None:
            labels.clear()  # the labels of another function
        elif not labels.isdisjoint(_TARGET.findall(match["targets"])):
            return True
    return False


class PassStep(NamedTuple):
    """Pass between one module and the next.

    Attributes:
        name: the pass; None where no header names one.
        before, after: the numbers of the modules in the dump, from 1.
    """

    name: str | None
    before: int
    after: int


class PassRun(NamedTuple):
    """The modules of one compilation, or a module without a header.

    Attributes:
        first: the number of the first module in the dump, from 1.
        modules: one or more modules.
        meant: index of the default module, from 0: the last with layouts and structured loops,
            which is the last before the conversion to LLVM.
    """

    first: int
    modules: tuple[Module, ...]
    meant: int

    @property
    def chosen(self) -> Module:
        """The default module, with a note that it was chosen among others."""
        module = self.modules[self.meant]
        if len(self.modules) == 1:
            return module
        choice = PassChoice(self.first + self.meant, self.first, self.first + len(self.modules) - 1)
        return replace(module, place=replace(module.place, choice=choice))

    @property
    def numbered(self) -> Iterator[tuple[int, Module]]:
        """Its modules with their numbers in the dump."""
        return enumerate(self.modules, self.first)

    @property
    def steps(self) -> Iterator[PassStep]:
        """The passes between the modules.

        A module printed after a pass is the result of that pass.  Otherwise it is the result of
        the last pass that was begun.
        """
        begun = None
        for at, (module, below) in enumerate(zip(self.modules, self.modules[1:]), self.first):
            if module.stage == "before":
                begun = module.pass_name
            name = below.pass_name if below.stage == "after" else begun
            yield PassStep(name, at, at + 1)


def pass_runs(modules: Iterable[Module], first: int = 1) -> Iterator[PassRun]:
    """Yield the compilations of a dump, each as soon as its end is known.

    A module without a header is a compilation of its own.

    Args:
        modules: the modules of the dump.
        first: the number of the first of them.
    """
    run: list[Module] = []
    stages: list[Stage] = []
    number = first - 1
    for number, module in enumerate(modules, first):
        stage = stage_of(module)
        is_alone = module.pass_name is None or (run and run[-1].pass_name is None)
        if run and (is_alone or stage < stages[-1] or _are_of_other_kernels(run[-1], module)):
            yield _run(number, run, stages)
            run, stages = [], []
        run.append(module)
        stages.append(stage)
    if run:
        yield _run(number + 1, run, stages)


def chosen_modules(modules: Iterable[Module], first: int = 1) -> Iterator[Module]:
    """Yield the modules of a dump, but only the default one of each compilation.

    Args:
        modules: the modules of the dump.
        first: the number of the first of them.
    """
    return (run.chosen for run in pass_runs(modules, first))


def _are_of_other_kernels(above: Module, module: Module) -> bool:
    """Tell whether two modules have functions, but none in common."""
    names, above_names = (
        {function.name for function in stage_module.functions} for stage_module in (module, above)
    )
    return bool(names and above_names) and names.isdisjoint(above_names)


def _run(below: int, modules: list[Module], stages: list[Stage]) -> PassRun:
    """Return the compilation that ends above the module of a given number."""
    if len(modules) == 1:
        return PassRun(below - 1, (modules[0],), 0)
    numbers = [at for at, stage in enumerate(stages) if stage is Stage.LAYOUTS]
    candidates = (at for at in reversed(numbers) if not has_lost_loops(modules[at]))
    meant = next(candidates, numbers[-1] if numbers else len(modules) - 1)
    return PassRun(below - len(modules), tuple(modules), meant)
