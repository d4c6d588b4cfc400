"""Time calls and whole processes in turn, name the machine, and keep a table in a document."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def alternate(runs: int, *measure: Callable[[], float]) -> list[float]:
    """Call the measurements in turn, several times; return the median of each."""
    for one in measure:
        one()
    times: list[list[float]] = [[] for _ in measure]
    for _ in range(runs):
        for own, one in zip(times, measure):
            own.append(one())
    return [statistics.median(own) for own in times]


def process_seconds(command: Sequence[str]) -> float:
    """Return the wall time of a whole process."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def process_cpu_seconds(command: Sequence[str]) -> float:
    """Return the processor time of a whole process, which others on the machine hardly change."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with {status}")
    return usage.ru_utime + usage.ru_stime


def process_peak(command: Sequence[str], *, on_one_core: bool = False) -> tuple[float, float]:
    """Return the wall time and the peak memory in MB of a whole process.

    Of several processes that it starts, the memory is that of the one with most.
    """
    prefix = ("taskset", "-c", "0") if on_one_core else ()
    start = time.perf_counter()
    process = subprocess.Popen([*prefix, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def machine() -> str:
    """Name the processor and what runs on it."""
    model = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text()
        model = next(x.split(": ")[1] for x in info.splitlines() if x.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        pass
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"


def write_table(path: Path, text: str) -> None:
    """Replace what stands between the markers of a document."""
    document = path.read_text()
    before, after = document.split(BEGIN)[0], document.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{text}{END}{after}")
