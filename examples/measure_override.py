"""Time a kernel of yours with and without a dump that `tt-layout apply` wrote.

    python examples/measure_override.py LAUNCH.py NEW.ttgir

LAUNCH.py defines ``launch(**options)``, which launches the kernel once, hands ``options`` on to it
as options of the launch (``kernel[grid](..., **options)``), and returns the tensors that it wrote.
Both versions run on the same GPU in turns, so that its clock and its temperature are those of both;
the results are compared, and the medians printed.  Launches are replayed from a CUDA graph: one
after the other from Python, kernels shorter than some 50 us would take the time of the launch,
which is longer with an override.  Needs Triton, torch and a GPU; tt-layout needs none of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROUNDS = 9
"""Rounds of either version; the versions take turns."""

MILLISECONDS = 20.0
"""How long a round is to take."""

MOST_LAUNCHES = 1000
"""In a round."""


class Measured(NamedTuple):
    """Medians of the rounds, in milliseconds, and how far the results are from each other."""

    before: float
    after: float
    difference: float

    @property
    def change(self) -> float:
        """The part of the time that the new version takes more; negative if it is faster."""
        return self.after / self.before - 1

    def __str__(self) -> str:
        return (
            f"{self.before:.4f} ms before, {self.after:.4f} ms after: {self.change:+.1%}; "
            f"the results differ by at most {self.difference:.3g}"
        )


def measure(launch: Callable[..., Any], dump: str | os.PathLike[str]) -> Measured:
    """Return how long a kernel takes as it is compiled, and with a dump in its place.

    Args:
        launch: launches the kernel with options, and returns what it wrote.
        dump: the file of the new version.
    """
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # else a kernel of Triton's cache is taken
    versions: list[Callable[[], Any]] = [
        launch,
        lambda: launch(ir_override=str(Path(dump).resolve())),
    ]
    results = [_tensors(run()) for run in versions]
    difference = max((_apart(a, b) for a, b in zip(*results)), default=0.0)
    count = max(1, min(MOST_LAUNCHES, int(MILLISECONDS / elapsed(recorded(launch, 3), 3))))
    replays = [recorded(run, count) for run in versions]
    rounds = [[elapsed(replay, count) for replay in replays] for _ in range(ROUNDS)]
    before, after = (median(times) for times in zip(*rounds))
    return Measured(before, after, difference)


def _tensors(result: Any) -> list[Any]:
    found = result if isinstance(result, Sequence) else [result]
    return [tensor.clone() for tensor in found if tensor is not None]


def _apart(one: Any, other: Any) -> float:
    """Return the greatest difference of two tensors; not a number where only one has one."""
    same = (one == other) | ((one != one) & (other != other))
    return float((one.double() - other.double()).abs()[~same].max()) if not same.all() else 0.0


def recorded(run: Callable[[], Any], count: int) -> Callable[[], None]:
    """Return what replays so many launches, recorded as a CUDA graph."""
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            run()

    def replay() -> None:
        graph.replay()

    return replay


def elapsed(replay: Callable[[], None], count: int) -> float:
    """Return the milliseconds of one launch of those that are replayed."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    replay()
    start.record()
    replay()
    end.record()
    torch.cuda.synchronize()
    total: float = start.elapsed_time(end)
    return total / count


def main(script: str, dump: str) -> None:
    """Print what a user's own launch takes with and without a dump."""
    spec = spec_from_file_location("launch", script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.stdout.write(f"{measure(module.launch, dump)}\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/measure_override.py LAUNCH.py NEW.ttgir")
    main(*sys.argv[1:])
