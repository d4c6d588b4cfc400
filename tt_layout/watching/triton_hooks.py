"""Hooks in Triton: its compilation listener, and the launches of its functions.

Both are chained: the earlier hook is called as before, and hooks added later call ours.  A failure
of ours never reaches the program: it is reported once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from tt_layout.files import is_file, read_bytes
from tt_layout.kernels.device import device_name
from tt_layout.kernels.metadata import metadata_beside, metadata_of, metadata_of_kernel
from tt_layout.kernels.seen import POINTER_PERIOD, CompiledKernel, Launch, Record
from tt_layout.watching.patches import Function, Patches
from tt_layout.watching.places import place_of

STAGE = "ttgir"
TRITON = "triton.runtime.jit"
"""Module of Triton that compiles and launches kernels."""


def compiled_kernel(source: Any, metadata: Any, paths: Any) -> CompiledKernel | None:
    """Return the kernel passed to a compilation listener; None if it has no hash.

    Args:
        source: Triton's ``ASTSource`` or ``IRSource``.
        metadata: metadata of the compiled kernel.
        paths: name of a file in the cache -> its path.
    """
    if not isinstance(metadata, Mapping) or not isinstance(metadata.get("hash"), str):
        return None
    name = metadata.get("name") or getattr(source, "name", None) or "kernel"
    return CompiledKernel(
        key=metadata["hash"],
        name=str(name),
        text=stage_text(paths),
        place=place_of(getattr(source, "fn", None)),
        known=metadata_of(metadata)
        .over(metadata_beside(stage_path(paths) or ""))
        ._replace(device=device_name()),
    )


def stage_text(paths: Any) -> str | None:
    """Return the TTGIR in the cache; None if there is none."""
    path = stage_path(paths)
    if path is None or not is_file(path):
        return None
    return read_bytes(path).decode("utf-8")


def stage_path(paths: Any) -> str | None:
    """Return the path of the TTGIR in the cache; None if there is none."""
    if not isinstance(paths, Mapping):
        return None
    return next((str(p) for name, p in paths.items() if str(name).endswith(f".{STAGE}")), None)


def loaded_kernel(kernel: Any, key: str, function: Any) -> CompiledKernel:
    """Return a kernel that was compiled before the watching began."""
    metadata, texts = getattr(kernel, "metadata", None), getattr(kernel, "asm", None)
    text = texts[STAGE] if texts is not None and STAGE in texts else None
    return CompiledKernel(
        key=key,
        name=str(getattr(kernel, "name", None) or getattr(metadata, "name", "kernel")),
        text=text if isinstance(text, str) else None,
        place=place_of(function),
        known=metadata_of_kernel(kernel)._replace(device=device_name()),
    )


def launch_of(grid: Any, arguments: Mapping[str, Any]) -> Launch:
    """Return a launch.

    Args:
        grid: one to three numbers, or a function of the arguments, as for Triton.
        arguments: arguments by name; tensors become addresses, others than integers are dropped.

    Example:
        >>> launch_of(lambda arguments: (arguments["n"] // 64,), {"n": 128, "x": 1.5})
        Launch(grid=(2, 1, 1), values=(('n', 128),))
    """
    sizes = tuple(grid(arguments) if callable(grid) else grid)
    across, down, deep = (*map(int, sizes), 1, 1, 1)[:3]
    values = ((name, number_of(value)) for name, value in arguments.items())
    numbers = tuple((name, number) for name, number in values if number is not None)
    return Launch((across, down, deep), numbers)


def number_of(value: Any) -> int | None:
    """Return an argument as an integer, a tensor as its address modulo 512; None for others."""
    if isinstance(value, int):
        return int(value)
    address = getattr(value, "data_ptr", None)
    if callable(address):
        return int(address()) % POINTER_PERIOD
    return None


def bound_arguments(
    function: Any, positional: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a launch by name, with defaults but without launch options."""
    parameters = function.signature.parameters
    bound = dict(zip(parameters, positional))
    for name, parameter in parameters.items():
        if name in named:
            bound[name] = named[name]
        elif name not in bound and parameter.default is not parameter.empty:
            bound[name] = parameter.default
    return bound


class TritonHooks:
    """The hooks that Triton calls when it compiles or launches a kernel.

    Args:
        record: the record of kernels and launches.
        report: called with a failure of ours.
    """

    def __init__(self, record: Record, report: Callable[[Exception], None]) -> None:
        self._record, self._report = record, report

    def attach(self, patches: Patches) -> None:
        """Set the hooks in Triton, which the program has imported."""
        patches.wrap(sys.modules["triton.knobs"].compilation, "listener", self._listener)
        patches.wrap(sys.modules["triton.runtime.jit"].JITFunction, "run", self._run)

    def _listener(self, before: Function | None) -> Function:
        def listener(*positional: Any, **named: Any) -> None:
            self.guard(lambda: self._compiled(named))
            if before is not None:
                before(*positional, **named)

        return listener

    def _compiled(self, named: Mapping[str, Any]) -> None:
        names = "src", "metadata", "metadata_group"
        missing = [name for name in names if name not in named]
        if missing:
            raise TypeError(f"its compilation listener was called without {', '.join(missing)}")
        kernel = compiled_kernel(*(named[name] for name in names))
        if kernel is not None:
            self._record.compiled(kernel)

    def _run(self, before: Function) -> Function:
        def run(function: Any, *positional: Any, **named: Any) -> Any:
            kernel = before(function, *positional, **named)
            if self._record.has_room(getattr(kernel, "hash", None)):
                self.guard(lambda: self._launched(function, kernel, positional, named))
            return kernel

        return run

    def _launched(
        self, function: Any, kernel: Any, positional: tuple[Any, ...], named: Mapping[str, Any]
    ) -> None:
        key = kernel.hash
        if not self._record.knows(key):
            self._record.compiled(loaded_kernel(kernel, key, function))
        if not named.get("warmup"):
            arguments = bound_arguments(function, positional, named)
            self._record.launched(key, launch_of(named["grid"], arguments))

    def guard(self, call: Callable[[], None]) -> None:
        """Call a function of ours; an exception is reported, and the program continues."""
        try:
            call()
        except Exception as error:
            self._report(error)
