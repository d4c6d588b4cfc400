"""Configurations of an autotuned kernel that cannot be launched, left out before they are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from tt_layout.audit.fits import KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.registers import module_registers
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir

Config = TypeVar("Config")

PIPELINED = 2
"""Stages from which a kernel's rings are as deep as they ask: with fewer it is another program."""


def autotune_prune(
    configs: Sequence[Config],
    named_args: Mapping[str, Any],
    *,
    compile: Callable[..., Any],
    spills: bool = False,
    **others: Any,
) -> list[Config]:
    """Return the configurations whose kernels fit the shared memory of their GPU.

    One configuration of those that differ in ``num_stages`` alone is compiled; what the others
    take follows from its rings.  Where none fits all are kept, so that the launch says why.

    Args:
        configs: of ``triton.autotune``: ``kwargs``, ``num_warps`` and ``num_stages``.
        named_args: the arguments of the kernel by name, as the autotuner hands them over.
        compile: returns the kernel of a configuration, compiled or as the text of its dump;
            called with the configuration, ``named_args`` and ``others``.
        spills: whether those that are likely to spill registers are left out, too.
        others: what else the autotuner hands over.

    Raises:
        LayoutError: a dump has no MLIR in it.

    Example:
        >>> from types import SimpleNamespace as Config
        >>> dump = '''
        ... #s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
        ...   tt.func public @f(%k: i32) {
        ...     %0 = ttg.local_alloc
        ...       : () -> !ttg.memdesc<3x16384xf32, #s, #ttg.shared_memory, mutable>
        ...     %1 = ttg.memdesc_index %0[%k]
        ...       : !ttg.memdesc<3x16384xf32, #s, #ttg.shared_memory, mutable>
        ...       -> !ttg.memdesc<16384xf32, #s, #ttg.shared_memory, mutable>
        ...     tt.return
        ...   }
        ... }'''
        >>> configs = [Config(kwargs={}, num_warps=4, num_stages=count) for count in (3, 2, 4, 5)]
        >>> kept = autotune_prune(configs, {}, compile=lambda config, *_, **__: dump)
        >>> [config.num_stages for config in kept]
        [3, 2]
    """
    kept: list[Config] = []
    known: dict[object, tuple[int, list[KernelFit], bool]] = {}
    for config in configs:
        stages = int(getattr(config, "num_stages", 0) or 0)
        key = _without_stages(config), stages >= PIPELINED or stages
        if key not in known:
            fits, is_spilling = _examined(compile(config, named_args, **others))
            known[key] = stages, fits, is_spilling
        compiled, fits, is_spilling = known[key]
        does_fit = all(_fits(fit, stages - compiled) for fit in fits)
        if does_fit and not (spills and is_spilling):
            kept.append(config)
    return kept or list(configs)


def _without_stages(config: object) -> object:
    """Return what two configurations have in common that differ in the number of stages alone."""
    values = dict(vars(config)) if hasattr(config, "__dict__") else {"config": config}
    values.pop("num_stages", None)
    return repr(sorted(values.items(), key=lambda item: item[0]))


def _examined(kernel: Any) -> tuple[list[KernelFit], bool]:
    """Return how the kernels of a dump fit, and whether one of them is likely to spill."""
    text = kernel if isinstance(kernel, str) else kernel.asm["ttgir"]
    modules = parse_ir(text)
    if not modules:
        raise LayoutError("found no MLIR in the dump of a configuration")
    audited = AuditedModule(modules[-1], SharedWork())
    return kernel_fits(audited), any(one.spills for one in module_registers(audited))


def _fits(fit: KernelFit, more: int) -> bool:
    """Tell whether a kernel fits its own GPU with so many buffers more in its rings."""
    own = next((gpu for gpu in fit.gpus if gpu.is_own), None)
    if own is None:
        return True
    if fit.depth is None or not more:
        return own.fits
    return own.depth is not None and max(1, fit.depth + more) <= own.depth
