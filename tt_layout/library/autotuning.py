"""Pruning of autotuner configurations that cannot be launched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from tt_layout.audit.fits import KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.registers import compiled_metadata, compiled_registers, module_registers
from tt_layout.audit.stages import PIPELINED
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir
from tt_layout.kernels.metadata import metadata_of_kernel

Config = TypeVar("Config")


def autotune_prune(
    configs: Sequence[Config],
    named_args: Mapping[str, Any],
    *,
    compile: Any,
    spills: bool = False,
    **constants: Any,
) -> list[Config]:
    """Return the configurations whose kernels fit the shared memory of their GPU.

    One configuration of those that differ in ``num_stages`` alone is compiled; what the others
    take follows from its rings, but for loops whose stages depend on more, where each is compiled.
    Where none fits, all are kept, so that the launch says why.

    Args:
        configs: of ``triton.autotune``: ``kwargs``, ``num_warps`` and ``num_stages``.
        named_args: the arguments of the kernel by name, as the autotuner hands them over.
        compile: the function of ``triton.jit``, which is compiled without a launch; or what returns
            the kernel of a configuration, compiled or as the text of its dump, called with the
            configuration, ``named_args`` and ``constants``.
        spills: whether those that spill registers, or are likely to, are left out, too.
        constants: other arguments of the autotuner.

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
    build = _compiler(compile)
    kept: list[Config] = []
    examined: dict[object, list[_Examined]] = {}
    for config in configs:
        stages = int(getattr(config, "num_stages", 0) or 0)
        alike = examined.setdefault(_without_stages(config), [])
        match = next(
            (candidate for candidate in alike if candidate.fits_with(stages) is not None), None
        )
        if match is None:
            match = _examined(build(config, named_args, **constants), stages)
            alike.append(match)
        if match.fits_with(stages) and not (spills and match.is_spilling):
            kept.append(config)
    return kept or list(configs)


def _compiler(compile: Any) -> Callable[..., Any]:
    """Return a function that compiles a configuration, also for a kernel that Triton launches."""
    if not hasattr(compile, "run"):
        function: Callable[..., Any] = compile
        return function
    kernel = compile
    while hasattr(kernel, "configs"):  # the autotuner itself
        kernel = kernel.fn

    def warm_up(config: Any, named_args: Mapping[str, Any], **constants: Any) -> Any:
        options = config.all_kwargs()
        return kernel.run(**{**named_args, **constants, **options, "grid": (1,), "warmup": True})

    return warm_up


def _without_stages(config: object) -> object:
    """Return a key that is equal for configurations that differ in the number of stages alone."""
    values = dict(vars(config)) if hasattr(config, "__dict__") else {"config": config}
    values.pop("num_stages", None)
    return repr(sorted(values.items(), key=lambda item: item[0]))


class _Examined(NamedTuple):
    """A compiled configuration.

    Attributes:
        stages: that it was compiled with.
        fits: the shared memory of its kernels.
        is_spilling: whether one of them spills, or is likely to.
    """

    stages: int
    fits: list[KernelFit]
    is_spilling: bool

    def fits_with(self, stages: int) -> bool | None:
        """Return whether it fits with other stages; None if that is not known."""
        if not self.fits:  # no shared memory, so no rings either
            return True if stages == self.stages or min(stages, self.stages) >= PIPELINED else None
        answers = [fit.fits_with(stages, self.stages) for fit in self.fits]
        return None if None in answers else all(answers)


def _examined(kernel: Any, stages: int) -> _Examined:
    """Examine a compiled configuration."""
    text = kernel if isinstance(kernel, str) else kernel.asm["ttgir"]
    modules = parse_ir(text)
    if not modules:
        raise LayoutError("found no MLIR in the dump of a configuration")
    audited = AuditedModule(modules[-1], SharedWork())
    metadata = compiled_metadata(audited, metadata_of_kernel(kernel))
    registers = compiled_registers(module_registers(audited), audited, metadata)
    return _Examined(
        stages, kernel_fits(audited, metadata), any(usage.spills for usage in registers)
    )
