"""Pruning of autotuner configurations that cannot be launched, or are slower.

A configuration is compiled only to TTGIR if Triton can stop there.  Several are compiled in
parallel, each in a fork of this process, which has all its state, including Triton and its caches,
and needs no arguments.  A fork must not use the GPU: CUDA does not survive a fork.

Source:
    Triton, ``knobs.runtime.add_stages_inspection_hook`` (3.5 and later): a hook is called without
    arguments for its part of the cache key, and with the stages of each compilation.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import inf
from threading import RLock, get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tt_layout.audit.audit import audit_module, check_product
from tt_layout.audit.fits import KernelFit, kernel_fits
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.modules.launch_values import values_of
from tt_layout.audit.registers import compiled_metadata, compiled_registers, module_registers
from tt_layout.audit.stages import PIPELINED
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.selection import Candidate, selected
from tt_layout.audit.values.given import GivenValues
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_product
from tt_layout.ir import parse_ir
from tt_layout.kernels.device import device_name, device_product
from tt_layout.kernels.metadata import NO_METADATA, metadata_of_kernel
from tt_layout.kernels.seen import Launch
from tt_layout.tuples import NamedTuple
from tt_layout.worker import processors, renew_locks, start_method

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SECONDS = 60.0
"""Without any answer, after which the copies are ended."""

Config = TypeVar("Config")
Answer = TypeVar("Answer")

_OF_A_LAUNCH = frozenset({"grid", "warmup"})
"""Arguments of a launch that are none of its kernel."""


STAGE = "ttgir"

KEY = "tt_layout: until ttgir"

_STOPPING = RLock()
"""Held by the thread whose compilations end at TTGIR: Triton has one hook for all threads."""


def can_fork() -> bool:
    """Tell whether this process may be forked, and more than one processor would be busy.

    Python refuses forks of daemonic processes.
    """
    from multiprocessing import current_process

    return start_method() == "fork" and processors() > 1 and not current_process().daemon


def answers_of(
    call: Callable[[int], Answer | None],
    number: int,
    *,
    workers: int | None = None,
    seconds: float = SECONDS,
) -> dict[int, Answer]:
    """Return the results of a function for 0 .. number - 1, computed in forks of this process.

    A call that returns None, raises, ends its process or takes too long is missing: the caller
    repeats it in this process, and sees why.

    Args:
        call: the function.
        number: the number of calls.
        workers: maximum number of processes; by default one for each processor.
        seconds: time without any result after which the forks are killed.

    Example:
        >>> sorted(answers_of(lambda n: n / (n - 2), 4, workers=2).items())
        [(0, -0.0), (1, -1.0), (3, 3.0)]
    """
    from multiprocessing import get_context
    from multiprocessing.connection import wait

    context = get_context("fork")
    workers = min(number, workers or processors())
    answers: dict[int, Answer] = {}
    copies = []
    reading: list[Connection[Any, Any]] = []
    try:
        for first in range(workers):
            here, there = context.Pipe(duplex=False)
            copy = context.Process(
                target=_answer, args=(call, range(first, number, workers), there), daemon=True
            )
            with _no_warning_of_threads():
                copy.start()
            there.close()
            copies.append(copy)
            reading.append(here)
        last = monotonic()
        while reading and monotonic() < last + seconds:
            for ready in wait(reading, seconds):
                last = monotonic()
                end = cast("Connection[Any, Any]", ready)
                try:
                    asked, answer = end.recv()
                    answers[asked] = answer
                except (EOFError, OSError):
                    reading.remove(end)
    finally:
        for end in reading:
            end.close()
        for copy in copies:
            copy.kill()
            copy.join()
    return answers


def _answer(
    call: Callable[[int], Answer | None], numbers: Sequence[int], there: Connection[Any, Any]
) -> None:
    """Compute some calls in a fork, without other output."""
    import os

    gc.freeze()
    renew_locks()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    for number in numbers:
        try:
            answer = call(number)
        except Exception:  # the process that asked finds out
            continue
        if answer is not None:
            there.send((number, answer))


@contextmanager
def _no_warning_of_threads() -> Iterator[None]:
    """Suppress Python's warning about forking a process with threads.

    The fork has one thread, and locks of other threads stay held there; `answers_of` does not wait
    for it for ever.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def autotune_prune(
    configs: Sequence[Config],
    named_args: Mapping[str, Any],
    *,
    compile: Any,
    spills: bool = False,
    **constants: Any,
) -> list[Config]:
    """Return the configurations whose kernels fit the shared memory of their GPU.

    Of configurations that differ only in ``num_stages`` one is compiled; the shared memory of the
    others follows from its buffer rings.  If the stages of a loop depend on more, each is compiled.
    If none fits, all are kept, so that the launch reports why.

    Args:
        configs: configurations of ``triton.autotune``: ``kwargs``, ``num_warps``, ``num_stages``.
        named_args: the arguments of the kernel by name, as the autotuner passes them.
        compile: the function of ``triton.jit``, which is compiled without a launch; or a function
            of the configuration, ``named_args`` and ``constants`` that returns its kernel, compiled
            or as the text of its dump.
        spills: whether configurations that spill registers, or are likely to, are left out, too.
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


def perf_model(
    kernel: Any, grid: Sequence[int] | Callable[[Any], Sequence[int]], *, gpu: str | None = None
) -> PerfModel:
    """Return a model of the time of a kernel's configurations, for ``triton.autotune``.

        fastest = tt_layout.perf_model(matmul_kernel, grid).pruning(top_k=5)
        matmul = triton.autotune(configs, ["M", "N", "K"], prune_configs_by=fastest)(matmul_kernel)

    Each configuration is compiled only to TTGIR if Triton can stop there (3.5 and later), and once
    for equal arguments; `PerfModel.pruning` compiles those of a list in parallel.

    Args:
        kernel: the function of ``triton.jit``; or a function from the arguments by name to the
            kernel of a configuration, compiled or as the text of its dump.
        grid: programs along x, y and z, or a function of the arguments, as at a launch.
        gpu: the product, such as ``h100``; by default the one that PyTorch runs on, or else the
            first of the chip.

    Returns:
        A function from the arguments by name, including those of a configuration, to microseconds;
        infinity if it does not compile, or there is no estimate.  Other errors are raised.  It also
        serves as ``perf_model`` of ``prune_configs_by``, which Triton calls one by one.

    Raises:
        LayoutError: there is no such product.

    Example:
        >>> dump = '''
        ... #a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
        ...   tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
        ...     %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
        ...     %s = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
        ...     %q = tt.addptr %s, %i : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
        ...     %x = tt.load %q : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.store %q, %x : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.return
        ...   }
        ... }'''
        >>> model = perf_model(lambda **arguments: dump, lambda given: (given["n"] // 512,))
        >>> model(n=512, num_warps=4) < model(n=1 << 24, num_warps=4) < 1000
        True
    """
    return PerfModel(kernel, grid, gpu)


def _described(value: Any) -> object:
    """Return the part of an argument that determines the compiled kernel, and its time."""
    if isinstance(value, (int, float, str)):
        return value
    return type(value), str(getattr(value, "dtype", value))


class PerfModel:
    """Model of the time of a kernel's configurations, with work shared between them.

    Args:
        kernel, grid, gpu: as for `perf_model`.

    Raises:
        LayoutError: there is no such product.
    """

    def __init__(
        self,
        kernel: Any,
        grid: Sequence[int] | Callable[[Any], Sequence[int]],
        gpu: str | None = None,
    ) -> None:
        self._kernel, self._grid = kernel, grid
        self._asked = find_product(gpu) if gpu is not None else None
        self._shared = SharedWork(explains=False)
        self._estimates: dict[str, _Estimated] = {}

    def __call__(self, **named: Any) -> float:
        """Return the microseconds of a launch; infinity where there is no estimate.

        Args:
            named: arguments of the kernel and options of the launch, by name.
        """
        return self._estimated(self._launch(named)).microseconds

    def _estimated(self, launch: _Asked) -> _Estimated:
        if launch.key not in self._estimates:
            try:
                self._estimates[launch.key] = self._estimate(launch, self._product)
            except Exception as error:
                if not is_refusal(error):
                    raise
                # Such a configuration is not launched.
                self._estimates[launch.key] = _Estimated(None, launch.key)
        return self._estimates[launch.key]

    def pruning(self, top_k: int = 5) -> dict[str, Any]:
        """Return ``prune_configs_by`` for ``triton.autotune``, which keeps a few configurations.

        Estimates of similar configurations have similar errors.  So the one with the least estimate
        is kept, and with it those that are most likely to be faster, as ``tt-layout rank --top``
        lists them.

        Args:
            top_k: the number of configurations to keep.

        Example:
            >>> sorted(perf_model(lambda **arguments: "", (1,)).pruning(3))
            ['early_config_prune', 'perf_model', 'top_k']
        """

        def few(
            configs: Sequence[Config], named_args: Mapping[str, Any], **others: Any
        ) -> list[Config]:
            different = self.estimate_all(configs, named_args, **others)
            return self._selected(different, top_k, {**named_args, **others})

        return {"early_config_prune": few, "perf_model": self, "top_k": top_k}

    def _selected(
        self, configs: Sequence[Config], number: int, arguments: Mapping[str, Any]
    ) -> list[Config]:
        """Return the configurations that are worth running, up to a number.

        Those without an estimate fill the remaining places.
        """
        known: list[tuple[Config, Candidate]] = []
        others: list[Config] = []
        for config in configs:
            launch = self._launch({**arguments, **config.all_kwargs()})  # type: ignore[attr-defined]
            candidate = self._estimated(launch).candidate
            if candidate is not None:
                known.append((config, candidate))
            else:
                others.append(config)
        places = selected([candidate for _, candidate in known], number)
        return [*(known[place][0] for place in places), *others][:number]

    def estimate_all(
        self, configs: Sequence[Config], named_args: Mapping[str, Any], **others: Any
    ) -> list[Config]:
        """Estimate a list of configurations in parallel, and return those that differ.

        Of configurations with equal dumps (such as other numbers of stages without a pipelined
        loop) only the first is kept: they take the same time, and would displace others.

        A kernel of ``triton.jit`` is compiled by forks of this process, one for each processor,
        which do not use the GPU.  The first configuration is compiled in this process, for the
        shared work, as are those for which a fork fails.

        Args:
            configs: configurations of ``triton.autotune``.
            named_args, others: arguments of the kernel, as the autotuner passes them.
        """
        launches = [
            self._launch({**named_args, **others, **config.all_kwargs()})  # type: ignore[attr-defined]
            for config in configs
        ]
        asked = {launch.key: launch for launch in launches if launch.key not in self._estimates}
        if asked and hasattr(self._kernel, "run") and can_fork():
            first, *rest = asked.values()
            self._estimated(first)
            self._estimate_beside(rest)
        different: dict[str, Config] = {}
        for config, launch in zip(configs, launches):
            different.setdefault(self._estimated(launch).same, config)
        return list(different.values())

    def _estimate_beside(self, launches: Sequence[_Asked]) -> None:
        """Estimate launches in forks of this process."""
        product = self._product
        driver = _ToldDriver.of_triton()

        def estimated(number: int) -> _Estimated:
            if driver is not None:
                driver.use()
            return self._estimate(launches[number], product)

        with _STOPPING:  # which no other thread holds in a copy, then
            answers = answers_of(estimated, len(launches))
        self._estimates |= {launches[number].key: answer for number, answer in answers.items()}

    @property
    def _product(self) -> Target | None:
        return self._asked or device_product(device_name())

    def _launch(self, named: Mapping[str, Any]) -> _Asked:
        # Triton hands on what it was launched with, too.
        arguments = {name: argument for name, argument in named.items() if name not in _OF_A_LAUNCH}
        grid = self._grid(arguments) if callable(self._grid) else self._grid
        described = sorted((name, _described(argument)) for name, argument in arguments.items())
        return _Asked(arguments, tuple(grid), repr((tuple(grid), described)))

    def _estimate(self, launch: _Asked, product: Target | None) -> _Estimated:
        """Return the estimate of a launch; without a candidate if there is none."""
        arguments, grid = launch.arguments, launch.grid
        built = _built(self._kernel, arguments, grid)
        text = built if isinstance(built, str) else built.asm[STAGE]
        modules = parse_ir(text)
        if not modules:
            return _Estimated(None, launch.key)
        module = modules[-1]
        x, y, z = (*grid, 1, 1)[:3]
        numbers = ((name, int(n)) for name, n in arguments.items() if isinstance(n, int))
        given = values_of(
            module, Launch((x, y, z), tuple(numbers)), GivenValues(product=product), self._shared
        )
        known = NO_METADATA if isinstance(built, str) else metadata_of_kernel(built)
        audit = audit_module(module, self._shared, given, known, is_judged=False)
        check_product(GivenValues(product=self._asked), [audit.chip])
        estimates = [kernel.estimate for kernel in kernels_of(audit, (x, y, z))]
        found = [estimate.candidate for estimate in estimates if isinstance(estimate, Estimate)]
        is_one = len(found) == len(estimates) == 1
        options = {name: value for name, value in launch.arguments.items() if name != "num_stages"}
        described = sorted((name, _described(value)) for name, value in options.items())
        digest = sha256(repr((launch.grid, described, text)).encode()).hexdigest()
        return _Estimated(found[0] if is_one else None, digest)


class _Estimated(NamedTuple):
    """An estimate of a launch.

    Attributes:
        candidate: the launch as a candidate for selection; None without an estimate.
        same: key that is equal for launches of equal code.
    """

    candidate: Candidate | None
    same: str

    @property
    def microseconds(self) -> float:
        """The estimated time; infinity without an estimate."""
        return 1e6 * self.candidate.seconds if self.candidate is not None else inf


class _Asked(NamedTuple):
    """A launch to be estimated.

    Attributes:
        arguments: arguments of the kernel and options of the launch, by name.
        grid: programs along each axis.
        key: key that is equal for launches that take equal time.
    """

    arguments: dict[str, Any]
    grid: tuple[int, ...]
    key: str


class _ToldDriver:
    """A Triton driver for a fork, which answers as the GPU did before the fork.

    Args:
        driver: Triton's driver.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._device = driver.get_current_device()
        self._stream = driver.get_current_stream(self._device)
        self._target = driver.get_current_target()

    @classmethod
    def of_triton(cls) -> _ToldDriver | None:
        """Return one for the active driver; None without Triton."""
        chosen = getattr(sys.modules.get("triton.runtime"), "driver", None)
        return cls(chosen.active) if chosen is not None else None

    def use(self) -> None:
        """Make it Triton's active driver; only in a fork."""
        sys.modules["triton.runtime"].driver.set_active(self)

    def get_current_device(self) -> Any:
        """Return the device."""
        return self._device

    def get_current_stream(self, device: Any) -> Any:
        """Return the stream."""
        return self._stream

    def get_current_target(self) -> Any:
        """Return the chip."""
        return self._target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)


def is_refusal(error: Exception) -> bool:
    """Tell whether an error means that a configuration does not compile, or has no estimate.

    Triton raises `TritonError`, its passes `RuntimeError`, and its options check configurations by
    assertions.  Other errors are mistakes of the program, and are not hidden.

    Example:
        >>> is_refusal(RuntimeError("PassManager::run failed")), is_refusal(NameError("block"))
        (True, False)
    """
    of_triton = getattr(sys.modules.get("triton.errors"), "TritonError", None)
    if of_triton is not None and isinstance(error, of_triton):
        return True
    return isinstance(error, (LayoutError, RuntimeError, AssertionError))


def _built(kernel: Any, arguments: Mapping[str, Any], grid: tuple[int, ...]) -> Any:
    """Return the kernel of a configuration, compiled or as the text of its dump."""
    if not hasattr(kernel, "run"):
        return kernel(**arguments)
    while hasattr(kernel, "configs"):  # the autotuner itself
        kernel = kernel.fn
    try:
        with stopping_at_ttgir():
            return kernel.run(**arguments, grid=grid, warmup=True)
    except ReachedError as reached:
        return reached.text


def _compiler(compile: Any) -> Callable[..., Any]:
    """Return a function that compiles a configuration, from a function or a kernel of Triton."""
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
    """Return a key that is equal for configurations that differ only in the number of stages."""
    values = dict(vars(config)) if hasattr(config, "__dict__") else {"config": config}
    values.pop("num_stages", None)
    return repr(sorted(values.items(), key=lambda item: item[0]))


class _Examined(NamedTuple):
    """A compiled configuration.

    Attributes:
        stages: the number of stages that it was compiled with.
        fits: the fit of its kernels' shared memory.
        is_spilling: whether one of them spills, or is likely to.
    """

    stages: int
    fits: list[KernelFit]
    is_spilling: bool

    def fits_with(self, stages: int) -> bool | None:
        """Tell whether it fits with another number of stages; None if that is not known."""
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


class ReachedError(Exception):
    """The intended end of a compilation at TTGIR.

    Attributes:
        text: the text of the dump.
    """

    def __init__(self, text: str) -> None:
        super().__init__("the compilation ends at TTGIR")
        self.text = text


@contextmanager
def stopping_at_ttgir() -> Iterator[None]:
    """Let compilations in this thread end at TTGIR, by raising `ReachedError`.

    Those of other threads continue with the earlier hook; with Triton before 3.5 all do.
    """
    runtime = getattr(getattr(sys.modules.get("triton"), "knobs", None), "runtime", None)
    if not hasattr(runtime, "add_stages_inspection_hook"):
        yield
        return
    assert runtime is not None
    with _STOPPING:
        before = runtime.add_stages_inspection_hook
        runtime.add_stages_inspection_hook = _hook(get_ident(), before)
        try:
            yield
        finally:
            runtime.add_stages_inspection_hook = before


def _hook(thread: int, before: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return Triton's hook for a thread; compilations of other threads use the earlier one."""

    def hook(*positional: Any) -> tuple[str, str] | None:
        if get_ident() != thread:
            if before is not None:
                other: tuple[str, str] | None = before(*positional)
                return other
            return None if positional else ("", "")
        if not positional:
            return KEY, KEY
        stages = positional[1]
        if STAGE in stages:
            stages[STAGE] = _ending(stages[STAGE])
        return None

    return hook


def _ending(stage: Any) -> Any:
    def end(module: Any, metadata: Any) -> Any:
        raise ReachedError(str(stage(module, metadata)))

    return end
