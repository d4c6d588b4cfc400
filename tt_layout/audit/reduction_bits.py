"""Whether the reductions of two dumps of a kernel give the same bits.

Only the order within each ``tt.reduce`` is compared.  A loop, a multiplication of matrices and an
atomic addition have orders of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.analyses.conversion.reduction_order import (
    OrderDifference,
    ReductionTree,
    reduction_tree,
)
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.exchanges import Operands
from tt_layout.encodings import Encoding
from tt_layout.enums import UNORDERED
from tt_layout.errors import LayoutError
from tt_layout.hardware import find_target
from tt_layout.ir import data_movements
from tt_layout.ir.operations import Location
from tt_layout.ir.ssa import Operation
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

ANY_ORDER = frozenset({"max", "min", "and", "or", "xor", "cmp"})
"""Prefixes of floating-point ``arith`` operations whose bits do not depend on the order."""


class Reduction(NamedTuple):
    """A ``tt.reduce`` of a dump.

    Attributes:
        function: the function that contains it.
        line: line in the dump.
        location: location in the program; None where the dump has none.
        tree: order in which it adds; None where that is not known.
        reason: why the order is not known.
        is_exact: whether every order gives the same bits.
    """

    function: str
    line: int
    location: Location | None
    tree: ReductionTree | None
    reason: str
    is_exact: bool


@dataclass(frozen=True)
class ReductionPair:
    """A reduction in two dumps.

    Attributes:
        before, after: the reduction in the first and the second dump.
    """

    before: Reduction
    after: Reduction

    @property
    def reason(self) -> str:
        """Why it is not known whether the bits are equal; empty if it is known."""
        if self.before.is_exact and self.after.is_exact:
            return ""
        trees = self.before.tree, self.after.tree
        if trees[0] is None or trees[1] is None:
            return self.before.reason or self.after.reason
        if trees[0].size != trees[1].size:
            return f"{trees[0].size} elements before, {trees[1].size} after"
        if trees[0].element != trees[1].element:
            return f"elements of {trees[0].element} before, of {trees[1].element} after"
        return ""

    @property
    def difference(self) -> OrderDifference | None:
        """The first addition that differs; None where there is none, or it is not known."""
        if self.reason or self.before.tree is None or self.after.tree is None:
            return None
        return self.before.tree.difference(self.after.tree)

    @property
    def has_same_bits(self) -> bool:
        """Whether both certainly give the same bits."""
        if self.before.is_exact and self.after.is_exact:
            return True
        return not self.reason and self.difference is None


@dataclass(frozen=True)
class ReductionBits:
    """The reductions of two dumps.

    Attributes:
        pairs: corresponding reductions, in the order of the text.
        unpaired: number of reductions in either dump, if these differ and none is compared.
    """

    pairs: Sequence[ReductionPair]
    unpaired: tuple[int, int] | None = None

    @property
    def has_same_bits(self) -> bool:
        """Whether all reductions certainly give the same bits."""
        return self.unpaired is None and all(pair.has_same_bits for pair in self.pairs)


def reduction_bits(before: AuditedModule, after: AuditedModule) -> ReductionBits:
    """Compare the reductions of two dumps of a kernel.

    Reductions correspond in their order, if both dumps have equally many.
    """
    old, new = (list(reductions(audited)) for audited in (before, after))
    if len(old) != len(new):
        return ReductionBits((), (len(old), len(new)))
    return ReductionBits([ReductionPair(*pair) for pair in zip(old, new)])


def reductions(audited: AuditedModule) -> Iterator[Reduction]:
    """Yield the reductions of a module, in the order of the text."""
    for full in audited.operations:
        operation, function = full.operation, full.function
        dialect, _, name = operation.name.rpartition(".")
        if name != "reduce" or dialect not in data_movements.DIALECTS or not operation.operands:
            continue
        tree, reason = None, ""
        names = _combiners(operation)
        try:
            tree = _tree(audited, full, len(names) == 1)
        except LayoutError as error:
            reason = error.message
        is_exact = bool(names) and all(_is_exact(name) for name in names)
        location = function.location(operation)
        yield Reduction(function.name, operation.line, location, tree, reason, is_exact)


def _combiners(operation: Operation) -> list[str]:
    """Return the operations that combine two elements."""
    inner = [o for region in operation.regions for block in region for o in block.operations]
    return [o.name for o in inner if not o.name.endswith("return")]


def _is_exact(name: str) -> bool:
    word = name.rpartition(".")[2]
    return word.endswith("i") or word.startswith(tuple(ANY_ORDER)) or word == "select"


def _tree(audited: AuditedModule, full: FullOperation, is_plain: bool) -> ReductionTree:
    """Return the order in which a reduction adds.

    Raises:
        LayoutError: the order is not known.
    """
    operation, function = full.operation, full.function
    if audited.module.is_intel:
        raise LayoutError("Intel's compiler of SPIR-V adds up a sub-group in an order of its own")
    if audited.gpu is None:
        raise LayoutError("the target is not known")
    operands = Operands(operation, function, audited.layouts, find_target(audited.gpu))
    ir_type = function.type_of(operation.operands[0])
    source, axis = operands.linear(operation.operands[0]), operands.axis
    encoding = ir_type.encoding if ir_type is not None else None
    if source is None or axis is None or not isinstance(encoding, Encoding):
        raise LayoutError("the text does not determine the layout or the axis")
    lanes = source.get_in_dim_size("lane")
    if lanes != operands.target.lanes:
        raise LayoutError(f"{lanes} threads per warp")
    value = operation.operands[0]
    ordering = operation.attributes.get("reduction_ordering")
    return reduction_tree(
        source,
        axis,
        value.type.element,
        operands.target,
        encoding.release,
        ordering if isinstance(ordering, str) else UNORDERED,
        is_plain=is_plain and len(operation.operands) == 1,
    )
