"""A module with all that its audit looks up: layouts over types, operations, what was concluded.

Most passes leave a module as it is, and it is printed again; the log of several processes has each
kernel as often.  What is concluded without lines, or with those of the module, holds wherever the
text stands.  What names lines of the dump holds for the same text that begins on the same line, as
in two dumps that are alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.given import GivenValues
from tt_layout.encodings import Encoding
from tt_layout.errors import MAX_SHOWN
from tt_layout.grouping import grouped
from tt_layout.hardware import intel
from tt_layout.ir.module import Module
from tt_layout.ir.operations import MovementOperation, OperationPosition
from tt_layout.kernels.chosen_compiler import chosen_compiler
from tt_layout.lazy import lazy
from tt_layout.safe_text import shortened
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.audit.axis import AxisInfo
    from tt_layout.audit.bounds.sharing import ProgramSharing
    from tt_layout.audit.global_memory.width import AccessAnalysis
    from tt_layout.audit.operations.cost import Cost
    from tt_layout.audit.registers.live_ranges import LiveRanges
    from tt_layout.audit.values.evaluator import Evaluator
    from tt_layout.audit.values.executions import Executions
    from tt_layout.hardware import Target
    from tt_layout.ir.ssa import Block, Function, Operation, Region, SsaReader, Value
    from tt_layout.ir.ssa.control_flow import Call
    from tt_layout.ir.types import IRType
from tt_layout.ir.ssa.known_functions import KnownAnswers

MAX_MODULES = 64
"""The most modules in the cache: those used last."""

MAX_LENGTH = 1 << 22
"""The most characters of a module in the cache."""

_SYMBOL = re.compile(r'"(?:[^"\\\n]|\\.)*"|@([\w$.-]+)', re.ASCII)
"""A string, or the name of a function outside of any."""

T = TypeVar("T")


class _Answers:
    """Cached conclusions about a text.

    Attributes:
        anywhere: conclusions that do not depend on its line.
    """

    def __init__(self) -> None:
        self.anywhere: dict[Hashable, Any] = {}
        self._line = 0
        self._there: dict[Hashable, Any] = {}

    def at(self, line: int) -> dict[Hashable, Any]:
        """Return the conclusions for a text that begins on a line; other lines are dropped."""
        if line != self._line:
            self._line, self._there = line, {}
        return self._there


class KnownModules:
    """Cache of conclusions about the modules of dumps.

    Attributes:
        given: values of arguments for which the conclusions hold.
    """

    def __init__(self) -> None:
        self.given = GivenValues()
        self._known: dict[str, _Answers] = {}
        self._last: tuple[Module | None, _Answers | None] = None, None

    def __reduce__(self) -> tuple[type[KnownModules], tuple[()]]:
        """Pickle without the cache."""
        return KnownModules, ()

    def give(self, given: GivenValues) -> None:
        """Clear the cache if it is for other arguments."""
        if given != self.given:
            self.given = given
            self._known.clear()
            self._last = None, None

    def once(
        self,
        module: Module,
        question: Hashable,
        conclude: Callable[[], T],
        *,
        has_lines: bool = True,
    ) -> T:
        """Return a conclusion, computed once for all modules of one text.

        Args:
            module: the module.
            question: key of the question.
            conclude: computes the answer.
            has_lines: whether question or answer name lines, so that only modules that begin on
                the same line share it.
        """
        answers = self._answers(module)
        if answers is None:
            return conclude()
        kept = answers.at(module.line) if has_lines else answers.anywhere
        if question not in kept:
            kept[question] = conclude()
        answer: T = kept[question]
        return answer

    def _answers(self, module: Module) -> _Answers | None:
        """Return the answers to questions about a module; None where it is not remembered."""
        if self._last[0] is not module:
            text = _text(module)
            answers = self._known.pop(text, _Answers()) if text is not None else None
            if text is not None and answers is not None:
                self._known[text] = answers
                if len(self._known) > MAX_MODULES:
                    del self._known[next(iter(self._known))]
            self._last = module, answers
        return self._last[1]


def _text(module: Module) -> str | None:
    """Return the text that determines all conclusions about a module; None if it is not known."""
    length = module.span.end - module.span.start
    if module.error is not None or not module.stands_alone or length > MAX_LENGTH:
        return None
    text = module.span.text
    if module.pass_name is not None:  # by the header, which is a line all the same
        text = "\n" + text.partition("\n")[2]
    return text.rstrip()


class TextConclusions(Generic[T]):
    """Conclusions by text, the latest of them; kept by a digest, so that no text is.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[bytes, T] = {}

    def once(self, text: str | None, conclude: Callable[[], T]) -> T:
        """Return a conclusion, computed once for equal texts.

        Args:
            text: text that determines the conclusion; None where it is not known.
            conclude: computes the answer.
        """
        if text is None:
            return conclude()
        from hashlib import blake2b  # with OpenSSL, which takes as long as 20 modules of ours

        key = blake2b(text.encode(errors="surrogatepass")).digest()
        if key not in self._known:
            if len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            self._known[key] = conclude()
        return self._known[key]


def nameless_text(module: Module) -> str | None:
    """Return the text of a module with numbers for its functions; None if not known.

    A kernel is compiled under other names where programs are generated: what it costs is the same.
    """
    text = _text(module)
    if text is None or "\0" in text:
        return None
    names = {function.name for function in module.functions}
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        name: str | None = found[1]
        if name is None or name not in names:
            return found[0]
        return f"\0{numbers.setdefault(name, len(numbers))}"

    return _SYMBOL.sub(numbered, text)


class FullOperation(NamedTuple):
    """An operation with its function, which has the layouts of its types."""

    function: Function
    operation: Operation

    def moving(self, source: IRType | None, target: IRType | None) -> MovementOperation:
        """Return it as one that moves data of a type to another; None stands for global memory."""
        operation, function = self.operation, self.function
        place = operation.line, operation.column, function.location(operation)
        types = tuple([ir_type for ir_type in (source, target) if ir_type is not None])
        return MovementOperation(
            operation.name, function.name, self.position, *place, types, source, target
        )

    @property
    def position(self) -> OperationPosition:
        """Its position in the module."""
        return OperationPosition(self.function.number, self.operation.position)


class SharedWork:
    """Work shared by the modules of one dump.

    Args:
        explains: whether to look for changes that would make accesses wider.
        is_brief: whether only a table of kernels is wanted: accesses have no sums over all
            executions then, and no bounds of requests whose addresses are unknown.

    Attributes:
        compiler: compiler for dumps; None where they are not compiled.
        layouts: placed layouts of the types of all modules.
        modules: cache of conclusions about them.
        prices: costs of accesses with equal computations, as far as they name no line.
    """

    def __init__(self, *, explains: bool = True, is_brief: bool = False) -> None:
        self.explains, self.is_brief = explains, is_brief
        self.compiler = chosen_compiler()
        self.layouts = PlacedLayouts()
        self.modules = KnownModules()
        self.prices: KnownAnswers[Cost | None] = KnownAnswers()

    def __reduce__(self) -> tuple[partial[SharedWork], tuple[()]]:
        """Pickle without the caches."""
        return partial(SharedWork, explains=self.explains, is_brief=self.is_brief), ()

    @lazy
    def reader(self) -> SsaReader:
        """The reader of functions, which knows the lines that it has read before."""
        from tt_layout.ir.ssa import SsaReader

        return SsaReader()


class AuditedModule:
    """A module that is audited.

    Attributes:
        module: the module.
        layouts: its layouts over types.
        given: values of its functions' arguments.
        shared: work shared with other modules of the dump.
        live_ranges: cache of the live ranges of its functions and their partitions.
    """

    def __init__(
        self, module: Module, shared: SharedWork, given: GivenValues | None = None
    ) -> None:
        self.module = module
        self.layouts = shared.layouts
        self.shared = shared
        self.given = given or GivenValues()
        self.live_ranges: dict[tuple[Function, Region], LiveRanges] = {}
        self._evaluators: dict[Function, Evaluator] = {}
        self._sharings: dict[Function, ProgramSharing] = {}
        self._kernels: dict[Function, AccessAnalysis] = {}
        self._of_blocks: dict[tuple[Function, Block | None], Executions] = {}
        self._equal: dict[Hashable, dict[Hashable, Any]] = {}
        self._equals: dict[Function, dict[Hashable, Any]] = {}

    def __reduce__(self) -> tuple[type[AuditedModule], tuple[Module, SharedWork, GivenValues]]:
        """Pickle without the caches, which may be deep."""
        given = GivenValues(dict(self.given.values), self.given.product)
        return AuditedModule, (self.module, self.shared, given)

    def once(self, question: Hashable, conclude: Callable[[], T], *, has_lines: bool = True) -> T:
        """Return a conclusion, computed once for all modules of one text and the same values.

        Args:
            question, conclude, has_lines: as in `KnownModules.once`.
        """
        modules = self.shared.modules
        modules.give(self.given)
        return modules.once(self.module, question, conclude, has_lines=has_lines)

    @lazy
    def gpu(self) -> str | None:
        """The GPU's row of `tt_layout.hardware`; the usual one where the module names no target.

        Then AMD's own layouts and operations say more.  None where the module names a target
        that has no row, or has warps of another size.
        """
        from tt_layout.hardware import DEFAULT_TARGET, find_target, usual_target

        module, product = self.module, self.given.product
        if module.target is not None or module.is_intel:
            return module.gpu
        if self.family is not None:
            return self.family
        lanes = (
            module.number("threads-per-warp") or self._lanes or find_target(DEFAULT_TARGET).lanes
        )
        if product is not None and product.lanes == lanes:
            return product.name
        usual = usual_target(lanes)
        return usual.name if usual is not None else None

    @lazy
    def target(self) -> Target | None:
        """The row of the GPU, with the product that was asked for where it is one of it."""
        from tt_layout.hardware import find_target

        product = self.given.product
        if product is not None and product.name == self.gpu:
            return product
        return find_target(self.gpu) if self.gpu is not None else None

    @property
    def shared_gpu(self) -> str | None:
        """The row by which accesses to shared memory are costed: that of `gpu`, or Intel's.

        Where a target of Intel's names no GPU, the usual one is meant: what is known of their
        shared memory is alike.
        """
        if not self.module.is_intel:
            return self.gpu
        chip = (self.module.target or "").partition(":")[2] or intel.USUAL
        return chip if any(row.name == chip for row in intel.ROWS) else None

    @property
    def _lanes(self) -> int | None:
        """The threads per warp that the first layout of registers is for; None without any."""
        linear = (self.layouts.linear(layout) for layout in self.module.types.distinct)
        laned = (
            layout
            for layout in linear
            if layout is not None and "lane" in layout.get_in_dim_names()
        )
        return next((layout.get_in_dim_size("lane") for layout in laned), None)

    @lazy
    def family(self) -> str | None:
        """A GPU of the family that AMD's matrix layouts, or operations, are for; None without any.

        Operations are of either family; those with warps of 32 are of gfx1250 in most dumps.
        """
        from tt_layout.hardware import ROWS

        families: dict[tuple[str, int], str] = {
            layout: row.name for row in ROWS for layout in row.matrix_layouts
        }
        for ir_type in self.module.types.distinct:
            encoding = ir_type.encoding
            for parent in encoding.lineage() if isinstance(encoding, Encoding) else ():
                family = families.get((parent.mnemonic, getattr(parent, "version", 0)))
                if family is not None:
                    return family
        if not any(move.name.startswith("amd") for move in self.module.moves):
            return None
        return "gfx942" if self.module.number("threads-per-warp") == 64 else "gfx1250"

    @property
    def no_gpu(self) -> str:
        """Why no cost is known, in a few words."""
        if self.module.is_intel:
            return "no document says what it costs on Intel's GPUs"
        target = self.module.target
        if target is not None:
            return f"unknown target {shortened(target, MAX_SHOWN)}"
        return f"{self.module.number('threads-per-warp') or self._lanes} threads per warp"

    @lazy
    def functions(self) -> list[Function]:
        """The functions with values and operations, read on first use."""
        return self.shared.reader.functions(self.module)

    @lazy
    def functions_by_name(self) -> Mapping[str | None, Function]:
        """The functions by their names; the first one of a name."""
        return {function.name: function for function in reversed(self.functions)}

    @lazy
    def callers(self) -> Mapping[str, str]:
        """Names of functions that others of the module call, each with that of the first caller."""
        return {call.callee.name: call.caller.name for call in reversed(self._calls)}

    @lazy
    def _calls(self) -> Sequence[Call]:
        from tt_layout.ir.ssa.control_flow import calls

        return [*calls(self.functions)]

    @lazy
    def entries(self) -> Sequence[Function]:
        """The functions that no other calls: the module's kernels."""
        return [function for function in self.functions if function.name not in self.callers]

    @property
    def operations(self) -> Iterator[FullOperation]:
        """Every operation of every function, in the order of the text."""
        return (FullOperation(f, operation) for f in self.functions for operation in f.operations)

    def operations_of(self, function: str | None) -> Iterator[FullOperation]:
        """Yield the operations of the functions of a name, in the order of the text."""
        named = self._functions_of.get(function, ())
        return (FullOperation(f, operation) for f in named for operation in f.operations)

    def chosen(
        self, is_chosen: Callable[[Operation], bool], function: str | None = None
    ) -> Iterator[FullOperation]:
        """Yield the operations of one kind, in the order of the text.

        Args:
            is_chosen: as in `Function.chosen`.
            function: name of the functions that are searched; None for all.
        """
        functions = self.functions if function is None else self._functions_of.get(function, ())
        return (FullOperation(f, operation) for f in functions for operation in f.chosen(is_chosen))

    @lazy
    def _functions_of(self) -> Mapping[str | None, Sequence[Function]]:
        return grouped(self.functions, lambda function: function.name)

    def in_full(self, operation: MovementOperation) -> FullOperation | None:
        """Return an operation with its attributes; None for one outside of any function."""
        return self.at(operation.position)

    def at(self, position: OperationPosition) -> FullOperation | None:
        """Return the operation at a position of the module; None outside of any function."""
        if position.function is None:
            return None
        function = self.functions[position.function]
        return FullOperation(function, function.operations[position.number])

    def evaluator(self, function: Function) -> Evaluator:
        """Return the evaluator of a function's values."""
        from tt_layout.audit.values.evaluator import Evaluator

        if function not in self._evaluators:
            self._evaluators[function] = Evaluator(function, self.given, self.layouts)
        return self._evaluators[function]

    def program_sharing(self, function: Function) -> ProgramSharing:
        """Return the dependence of a function's values on the program."""
        from tt_layout.audit.bounds.sharing import ProgramSharing

        if function not in self._sharings:
            self._sharings[function] = ProgramSharing(self.evaluator(function))
        return self._sharings[function]

    def wait_of(self, name: str | None) -> str:
        """Return where a function waits for what others write to memory; empty if it does not.

        How long that takes is decided by those, and not by the function, or those that it calls.
        """
        from tt_layout.ir.ssa.graph import reach

        function, waits = self.functions_by_name.get(name), self._waits
        if function is None or not waits:
            return ""
        called = self._calls_of
        reached = reach([function], lambda caller: [call.callee for call in called.get(caller, ())])
        wait = next((waits[callee] for callee in reached if callee in waits), None)
        if wait is None:
            return ""
        return f"waits in the loop at line {wait.line} for what others write"

    @lazy
    def _waits(self) -> Mapping[Function, Operation]:
        """Function -> the loop in which it waits itself; few have one."""
        from tt_layout.audit.values.structure import Structure

        structures = ((f, f.once("structure", Structure)) for f in self.functions)
        return {f: structure.wait for f, structure in structures if structure.wait is not None}

    @lazy
    def _calls_of(self) -> Mapping[Function, Sequence[Call]]:
        return grouped(self._calls, lambda call: call.caller)

    def kernel(self, function: Function) -> AccessAnalysis | None:
        """Return the global-memory facts of a function; None if the target is not known."""
        from tt_layout.audit.global_memory.width import AccessAnalysis

        target = self.target
        if target is None:
            return None
        if function not in self._kernels:
            infos = self._axis_info[function]
            warps = self.module.number("num-warps") or 1
            self._kernels[function] = AccessAnalysis(
                function,
                infos,
                self.layouts,
                target,
                self.given,
                self.functions,
                warps,
                self.shared.explains,
            )
        return self._kernels[function]

    @lazy
    def _axis_info(self) -> Mapping[Function, Mapping[Value, AxisInfo]]:
        """AxisInfo of the values of all functions."""
        from tt_layout.audit.axis import module_axis_info

        return module_axis_info(self.functions)

    def once_for_equal(
        self,
        function: Function | None,
        question: Hashable,
        conclude: Callable[[], T],
        is_shared: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Return a conclusion that names no line and no function, once for equal functions.

        They have the same text, but for its place, their names and those of what they call, and
        the same is known of their arguments.

        Args:
            function: the function; None if it is not in the module, so that nothing is kept.
            question: key of the question.
            conclude: computes the answer.
            is_shared: tells whether an answer is kept; one that names a line is not.
        """
        if function is None:
            return conclude()
        if function not in self._equals:
            self._equals[function] = self._equal.setdefault(self.identity(function), {})
        answers = self._equals[function]
        if question in answers:
            known: T = answers[question]
            return known
        answer = conclude()
        if is_shared(answer):
            answers[question] = answer
        return answer

    def identity(self, function: Function) -> Hashable:
        """Return a key of a function of the module that those equal to it share."""
        if function.alike is None:
            return function
        infos = self._axis_info[function]
        passed = tuple([infos.get(value) for value in function.arguments])
        return function.alike, tuple(function.values), passed

    @lazy
    def alike(self) -> Mapping[Operation, int]:
        """A number for what operations are computed from, where that is all that they depend on.

        None has one where functions may call each other.
        """
        if len(self.functions) != 1:
            return {}
        return self.shared.prices.numbers(self.functions[0])

    @lazy
    def surroundings(self) -> Hashable:
        """Key of further inputs on which costs of accesses with equal computations depend."""
        module, given = self.module, self.given
        aliases = [(name, module.aliases[name].encoding) for name in module.aliases.attributes()]
        values = tuple(given.values.items()), given.product
        return tuple(module.attributes.items()), tuple(aliases), values

    def executions(self, operation: MovementOperation) -> Executions:
        """Return how often an operation runs in one program."""
        from tt_layout.audit.values.executions import UNPLACED

        full = self.in_full(operation)
        return self.runs(full) if full is not None else UNPLACED

    def runs(self, full: FullOperation) -> Executions:
        """Return how often an operation runs: as often as the others of its block."""
        from tt_layout.audit.values.structure import Structure

        function, operation = full.function, full.operation
        block = function, operation.block
        runs = self._of_blocks.get(block)
        if runs is not None and runs.loop is not None and runs.loop.is_body:
            return runs  # all of a block are in the same loop
        part = function.once("structure", Structure).loop_part(operation)
        if runs is None:
            runs = self.once_for_equal(
                function,
                ("executions", operation.position),
                lambda: self._found_runs(full),
                lambda found: not found.is_unknown,  # whose text may name a line
            )._replace(loop=part)
            self._of_blocks[block] = runs
        return runs if runs.loop == part else runs._replace(loop=part)

    def _found_runs(self, full: FullOperation) -> Executions:
        """Return how often an operation runs, found once for functions of one text."""
        from tt_layout.audit.values.executions import executions

        function, operation = full.function, full.operation
        evaluator = self.evaluator(function)
        if not evaluator.depends_on_text_alone:
            return executions(evaluator, operation)
        question = "executions", operation.block
        return function.once(question, lambda _: executions(evaluator, operation))
