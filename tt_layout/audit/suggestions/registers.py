"""Another register layout for a narrow access to global memory, wherever the old one is used."""

from __future__ import annotations

from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.suggestions.buffers import try_layout
from tt_layout.audit.suggestions.carried import is_followed
from tt_layout.audit.suggestions.flow import Flow, is_elementwise, is_free
from tt_layout.audit.suggestions.prices import Prices
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.suggestions.trial import Exchange
from tt_layout.encodings import Encoding
from tt_layout.ir.operations import Operation
from tt_layout.ir.ssa import SsaOperation


def wider_registers(
    concluded: Conclusions, audited: AuditedModule, operation: Operation, encoding: Encoding
) -> list[Suggestion]:
    """Return a layout for an access, costed in all operations of the old one; none if it is dearer.

    Args:
        concluded: what is concluded from the module.
        audited: the module.
        operation: the access, whose pointers have the old layout.
        encoding: the layout to try.
    """
    registers = operation.moved
    old = registers.encoding if registers is not None else None
    if registers is None or not isinstance(old, Encoding) or audited.gpu is None:
        return []
    exchange = Exchange.between(old, encoding)
    for function in audited.functions:
        prices = Prices(concluded, audited, Flow(function), exchange)
        if not all(_can_change(prices, one) for one in function.walk()):
            return []
    wider = try_layout(concluded, audited, registers, encoding)
    return [wider] if wider is not None else []


def _can_change(prices: Prices, operation: SsaOperation) -> bool:
    """Tell whether an operation works with the layouts exchanged."""
    values = [*operation.operands, *operation.results]
    changes = [prices.is_flipped(value) for value in values if prices.flow.is_tensor(value)]
    hands_over = is_followed(operation) or operation.traits.terminator
    if hands_over or not any(changes):
        return True
    if operation.name.endswith(".convert_layout"):
        return changes.count(True) == 1
    is_known = operation.traits.any_layout or is_free(operation) or is_elementwise(operation)
    return is_known and all(changes)
