"""Measure this package beside the real compiler, alternately in one run.

usage: python benchmarks/run.py --triton PYTHON [--runs N] [--smoke] [--page docs/speed.md]

PYTHON is the interpreter of an environment with ``triton==3.9.0``; without it only our own
figures are measured.  Each figure is the median of the runs; in a run a view is made again and
again until 0.2 s are spent.  --page replaces the table between the two benchmark markers of
that file.  --smoke runs everything once, small.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumps import KERNELS, write_chain, write_dump, write_folder, write_tuned
from timing import (
    alternate,
    machine,
    milliseconds,
    process_cpu_seconds,
    process_peak,
    process_seconds,
    write_table,
)

HERE = Path(__file__).resolve().parent

LAYOUTS = {
    "blocked": "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>",
    "nvidia_mma v2": "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
    "warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
    "amd_mfma 32x32": "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], "
    "instrShape = [32, 32, 8], isTransposed = false}>",
    "swizzled_shared": "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, "
    "order = [1, 0]}>",
}
REPLICATED = (  # a tile of twice the tensor's rows and twice its columns
    "#ttg.blocked<{{sizePerThread = [8, 16], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [{0}, {1}], order = [1, 0]}}>"
)
SHORT = 3  # a short process is run this many times as often, because its time varies more
SMALL = ["-l", LAYOUTS["blocked"], "-t", "tensor<16x16xf16>"]


class Worker:
    """A process of `worker.py` that is asked for one measurement at a time."""

    def __init__(self, python: str, package: str) -> None:
        command = [python, str(HERE / "worker.py"), package]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(
        self, attribute: str, shape: Sequence[int], *, hw: bool, mode: str = "text"
    ) -> dict[str, float]:
        """Return seconds, bytes and fingerprint of one view."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"attribute": attribute, "shape": list(shape), "hw": hw, "mode": mode}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"the worker died over {attribute} {list(shape)}")
        found: dict[str, float] = json.loads(answer)
        return found

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@dataclass(frozen=True)
class Row:
    """A line of the table: what, ours, theirs, and how they compare."""

    what: str
    ours: str
    triton: str
    ratio: str

    def __str__(self) -> str:
        return f"| {self.what} | {self.ours} | {self.triton} | {self.ratio} |"


@dataclass(frozen=True)
class Bench:
    """Everything that the figures need.

    Attributes:
        runs: how often each is measured.
        side: rows and columns of the usual tensor.
        large: rows and columns of the largest one.
        dump_bytes: of the large dump.
        dumps: of the folder.
        functions: of the chain of calls.
        configurations: of the autotuned kernels.
        ours, triton: the two workers; None without a wheel.
        triton_python: the wheel's interpreter.
    """

    runs: int
    side: int
    large: int
    dump_bytes: int
    dumps: int
    functions: int
    configurations: int
    ours: Worker
    triton: Worker | None
    triton_python: str | None

    def rows(self) -> Iterator[Row]:
        """Yield the lines of the table, measured one after the other."""
        yield from self._views()
        yield from self._processes()
        yield from self._streams()
        yield from self._growth()
        yield self._slice()
        yield from self._dumps()
        yield self._folder()

    def _views(self) -> Iterator[Row]:
        shape = [self.side, self.side]
        warps = self.side // 16, self.side // 64
        replicated = {"blocked, each element held 4 times": REPLICATED.format(*warps)}
        for name, attribute in {**LAYOUTS, **replicated}.items():
            for hw in (False, True):
                yield self._view(name, attribute, shape, hw)
        yield self._copy(shape)

    def _view(self, name: str, attribute: str, shape: list[int], hw: bool) -> Row:
        what = f"{name}, {'hardware' if hw else 'tensor'} view, {shape[0]}x{shape[1]}"
        workers = [self.ours] + ([self.triton] if self.triton else [])
        shas = {worker.ask(attribute, shape, hw=hw)["sha"] for worker in workers}
        if len(shas) > 1:
            raise SystemExit(f"{what}: the texts differ")
        asks = [
            lambda worker=worker: worker.ask(attribute, shape, hw=hw)["seconds"]
            for worker in workers
        ]
        ours, *theirs = alternate(self.runs, *asks)
        if not theirs:
            return Row(what, milliseconds(ours), "", "")
        return Row(what, milliseconds(ours), milliseconds(theirs[0]), f"{theirs[0] / ours:.0f}x")

    def _copy(self, shape: list[int]) -> Row:
        """How close to the limit: the same bytes copied in memory."""
        import numpy as np

        attribute = LAYOUTS["blocked"]
        size = int(self.ours.ask(attribute, shape, hw=False)["bytes"])
        source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)

        def copy() -> float:
            start = time.perf_counter()
            np.copyto(target, source)
            return time.perf_counter() - start

        def stream() -> float:
            return self.ours.ask(attribute, shape, hw=False, mode="stream")["seconds"]

        def text() -> float:
            return self.ours.ask(attribute, shape, hw=False)["seconds"]

        copied, streamed, made = alternate(max(self.runs, 5), copy, stream, text)
        what = f"blocked, tensor view, as a multiple of copying its {size / 1e6:.1f} MB"
        made_multiple, streamed_multiple = made / copied, streamed / copied
        ours = f"text {made_multiple:.0f}x, streamed {streamed_multiple:.0f}x"
        return Row(what, ours, "", f"copy: {copied * 1e3:.2f} ms")

    def _processes(self) -> Iterator[Row]:
        ours = [sys.executable, "-m", "tt_layout"]
        base = [sys.executable, "-c", "import numpy, click"]
        small, bare = alternate(
            SHORT * self.runs,
            lambda: process_cpu_seconds([*ours, *SMALL]),
            lambda: process_cpu_seconds(base),
        )
        what = "processor time of a whole process, 16x16, beside `import numpy, click`"
        yield Row(what, milliseconds(small), milliseconds(bare), f"{small / bare:.2f} of it")
        if self.triton_python is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            type_ = f"tensor<{self.side}x{self.side}xf16>"
            path = str(Path(folder) / "view.txt")
            large = [*ours, "-l", LAYOUTS["blocked"], "-t", type_, "-o", path]
            theirs = [self.triton_python, str(HERE / "triton_process.py"), str(self.side), path]
            mine, triton = alternate(
                self.runs, lambda: process_seconds(large), lambda: process_seconds(theirs)
            )
        what = f"whole process, {self.side}x{self.side} into a file"
        yield Row(what, milliseconds(mine), milliseconds(triton), f"{triton / mine:.1f}x")

    def _streams(self) -> Iterator[Row]:
        rates = {}
        for side in (self.side, self.large):
            answers = [
                self.ours.ask(LAYOUTS["blocked"], [side, side], hw=False, mode="stream")
                for _ in range(self.runs)
            ]
            seconds = statistics.median(answer["seconds"] for answer in answers)
            rates[side] = answers[0]["bytes"] / seconds
        command = [sys.executable, "-m", "tt_layout", "-l", LAYOUTS["blocked"]]
        command += ["-t", f"tensor<{self.large}x{self.large}xf16>", "--max-text", "8GiB"]
        seconds, peak = process_peak(command)
        ratio = rates[self.large] / rates[self.side]
        what = f"{self.large}x{self.large} streamed to /dev/null, whole process"
        yield Row(what, f"{milliseconds(seconds)}, {peak:.0f} MB at most", "", "")
        what = f"bytes per second of {self.large}x{self.large} beside {self.side}x{self.side}"
        yield Row(what, f"{rates[self.large] / 1e9:.1f} GB/s", "", f"{ratio:.2f} of it")

    def _growth(self) -> Iterator[Row]:
        half = self.large // 2
        for hw in (False, True):
            large, small = alternate(
                self.runs,
                *(
                    lambda side=side, hw=hw: self.ours.ask(
                        LAYOUTS["blocked"], [side, side], hw=hw, mode="stream"
                    )["seconds"]
                    for side in (half, half // 2)
                ),
            )
            view = "hardware" if hw else "tensor"
            what = f"growth, {view} view: {half}x{half} beside {half // 2}x{half // 2}"
            yield Row(what, milliseconds(large), "", f"{large / small:.2f} times")

    def _slice(self) -> Row:
        ours = [sys.executable, "-m", "tt_layout", "-l", LAYOUTS["blocked"], "-t"]
        cut = [*ours, "tensor<1048576x1048576xf16>", "--slice", "16:32,64:128"]
        whole = [*ours, "tensor<16x64xf16>"]
        part, all_ = alternate(
            SHORT * self.runs, lambda: process_seconds(cut), lambda: process_seconds(whole)
        )
        what = "whole process, a 16x64 slice of 2^40 elements beside all of 16x64"
        return Row(what, milliseconds(part), "", f"{part / all_:.2f} times")

    def _dumps(self) -> Iterator[Row]:
        """The audit of one dump, and of many modules in one file."""
        audit = [sys.executable, "-m", "tt_layout", "audit"]
        kernel = KERNELS / "matmul-sm100.ttgir"
        (one,) = alternate(SHORT * self.runs, lambda: process_seconds([*audit, str(kernel)]))
        what = f"whole process, audit of a dump of {kernel.stat().st_size / 1e3:.0f} kB"
        yield Row(what, milliseconds(one), "", "")
        yield self._chain()
        yield from self._dump(self.dump_bytes)
        yield from self._dump(self.dump_bytes, are_different=True)
        yield from self._tuned()

    def _chain(self) -> Row:
        """The audit of a dump of functions each of which calls the next, with two findings each."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chain.ttgir"
            write_chain(path, self.functions)
            command = [sys.executable, "-m", "tt_layout", "audit", str(path)]
            seconds, peak = process_peak(command, on_one_core=True)
        what = f"whole process, audit of {self.functions} functions in a chain of calls"
        return Row(what, f"{milliseconds(seconds)}, {peak:.0f} MB at most", "", "")

    def _tuned(self) -> Iterator[Row]:
        """The audit of a dump of autotuned kernels."""
        if self.triton_python is None:
            return
        command = [self.triton_python, str(HERE / "tuned_kernels.py"), str(self.configurations)]
        kernels = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for size in (self.dump_bytes, 4 * self.dump_bytes):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "tuned.mlir"
                count = write_tuned(path, size, kernels)
                yield from self._audits(path, f"{count} autotuned kernels")

    def _dump(self, size: int, *, are_different: bool = False) -> Iterator[Row]:
        """The audit of a dump of many modules, alike or different."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dump.mlir"
            count = write_dump(path, size, are_different=are_different)
            yield from self._audits(path, f"{count} {'different ' * are_different}modules")

    def _audits(self, path: Path, modules: str) -> Iterator[Row]:
        """The audit of a dump on one core, and on all."""
        command = [sys.executable, "-m", "tt_layout", "audit", str(path)]
        what = f"whole process, audit of {path.stat().st_size / 1e6:.0f} MB, {modules}"
        seconds, peak = process_peak(command, on_one_core=True)
        yield Row(f"{what}, on one core", f"{milliseconds(seconds)}, {peak:.0f} MB at most", "", "")
        seconds, peak = process_peak(command)
        text = f"{milliseconds(seconds)}, {peak:.0f} MB at most in a process"
        yield Row(f"{what}, on all", text, "", "")

    def _folder(self) -> Row:
        """The audit of a folder of kernels, in as many processes as there are cores."""
        with tempfile.TemporaryDirectory() as folder:
            size = write_folder(Path(folder), self.dumps) / self.dumps
            command = [sys.executable, "-m", "tt_layout", "audit", folder]
            seconds, peak = process_peak(command)
        what = f"audit of a folder of {self.dumps} different dumps of {size / 1e3:.0f} kB each"
        return Row(what, f"{milliseconds(seconds)}, {peak:.0f} MB at most in a process", "", "")


def table(bench: Bench) -> str:
    """Measure everything and return the table, each line printed as it is known."""
    lines = [
        f"Medians of {bench.runs} runs on {machine()}.",
        "",
        "| what | tt-layout | Triton 3.9.0 | ratio |",
        "|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for row in bench.rows():
        print(row, flush=True)
        lines.append(str(row))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and if asked write the table of docs/speed.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triton", metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--page", type=Path, metavar="FILE")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process would compile the package
    bench = Bench(
        runs=1 if options.smoke else options.runs,
        side=256 if options.smoke else 1024,
        large=512 if options.smoke else 8192,
        dump_bytes=1_000_000 if options.smoke else 50_000_000,
        dumps=50 if options.smoke else 2_000,
        functions=100 if options.smoke else 3_000,
        configurations=5 if options.smoke else 500,
        ours=Worker(sys.executable, "tt_layout"),
        triton=Worker(options.triton, "triton") if options.triton else None,
        triton_python=options.triton,
    )
    text = table(bench)
    for worker in (bench.ours, bench.triton):
        if worker is not None:
            worker.close()
    if options.page is not None:
        write_table(options.page, text)


if __name__ == "__main__":
    main()
