"""Hooks in Inductor, which launches Triton's kernels by itself, and may load them compiled."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from tt_layout.files import names_in
from tt_layout.kernels.device import device_name
from tt_layout.kernels.metadata import metadata_beside
from tt_layout.kernels.seen import CompiledKernel, Launch, Record
from tt_layout.watching.patches import Function, Patches
from tt_layout.watching.places import place_of
from tt_layout.watching.triton_hooks import TritonHooks, launch_of, stage_path, stage_text

INDUCTOR = "torch._inductor.runtime.triton_heuristics"
"""Module of Inductor that launches kernels."""


class InductorHooks:
    """The hook that Inductor calls when it launches a kernel.

    Args:
        record: the record of kernels and launches.
        triton: the Triton hooks, whose guard is used.
    """

    def __init__(self, record: Record, triton: TritonHooks) -> None:
        self._record, self._triton = record, triton

    def attach(self, patches: Patches) -> None:
        """Set the hook in Inductor, which the program has imported."""
        patches.wrap(sys.modules[INDUCTOR].CachingAutotuner, "run", self._run)

    def _run(self, before: Function) -> Function:
        def run(tuner: Any, *arguments: Any, **named: Any) -> Any:
            result = before(tuner, *arguments, **named)
            if not named.get("benchmark_run"):
                self._triton.guard(lambda: self._launched(tuner, arguments, named))
            return result

        return run

    def _launched(self, tuner: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        [launcher] = tuner.launchers
        results = tuner.compile_results
        chosen = [result for result in results if result.config is launcher.config] or list(results)
        key = getattr(chosen[0].kernel, "hash", None) if chosen else None
        if not isinstance(key, str) or not self._record.has_room(key):
            return
        if not self._record.knows(key):
            self._record.compiled(_from_cache(tuner, launcher, key))
        self._record.launched(key, inductor_launch(tuner, launcher, arguments, named))


def _from_cache(tuner: Any, launcher: Any, key: str) -> CompiledKernel:
    """Return a kernel that another process compiled, from Triton's cache."""
    folder = os.path.join(os.environ.get("TRITON_CACHE_DIR", ""), str(launcher.cache_hash))
    paths = {name: os.path.join(folder, name) for name in names_in(folder)}
    text = stage_text(paths)
    metadata = metadata_beside(stage_path(paths) or "")._replace(device=device_name())
    name = metadata.name or str(getattr(tuner.fn, "__name__", "kernel"))
    place = place_of(tuner.fn) or str(getattr(tuner, "filename", None) or "")
    return CompiledKernel(key, name, text, place, metadata)


def inductor_launch(
    tuner: Any, launcher: Any, positional: tuple[Any, ...], named: Mapping[str, Any]
) -> Launch:
    """Return the launch of an Inductor launcher, whose grid is an expression."""
    code = launcher.__code__
    names = code.co_varnames[: code.co_argcount]
    arguments = {
        **dict(zip(names, positional)),
        **{n: v for n, v in named.items() if n != "stream"},
    }
    expressions = sys.modules[INDUCTOR].GridExpr.from_meta(tuner.inductor_meta, launcher.config)
    return launch_of(expressions.eval_slow(arguments), arguments)
