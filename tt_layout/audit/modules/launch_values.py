"""Values of a kernel's arguments in a launch."""

from __future__ import annotations

from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.values.given import GivenValues, plain_name, program_counts
from tt_layout.ir.module import Module
from tt_layout.kernels.seen import Launch


def values_of(
    module: Module,
    launch: Launch,
    given: GivenValues | None = None,
    shared: SharedWork | None = None,
) -> GivenValues:
    """Return the values of a launch, as far as the module has such arguments.

    What Triton took as a constant is no argument any more.

    Args:
        module: module of the kernel.
        launch: launch of the kernel.
        given: values that take precedence over those of the launch.
        shared: work shared with other modules.
    """
    functions = AuditedModule(module, shared or SharedWork(), None).functions
    names = {plain_name(value.name) for function in functions for value in function.arguments}
    numbers = {name: number for name, number in launch.values if name in names}
    given = given or GivenValues()
    return GivenValues({**numbers, **program_counts(launch.grid), **given.values}, given.product)
