"""Audit the dumps of a fleet on a Dask cluster: table and exit status of ``tt-layout audit``.

    python examples/fleet.py tcp://scheduler:8786 's3://bucket/**/*.ttgir' --fail-on conflicts

Paths are patterns of fsspec: local ones, or of any storage that it knows.  The cluster is there
already, and its workers have tt-layout; a worker that is lost loses nothing, since Dask runs its
tasks elsewhere.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory

import fsspec
from distributed import Client, as_completed

from tt_layout.cli.output import tell_failures
from tt_layout.dumps.audits import FileKernels, KernelReader, PassedOver
from tt_layout.dumps.cache import from_plain, to_plain
from tt_layout.dumps.dump import AS_IT_IS
from tt_layout.errors import LayoutError
from tt_layout.reports.kernel_overview import KernelOverview
from tt_layout.reports.report import plain_text
from tt_layout.reports.watched_findings import Watcher, read_limits


def audit(path: str) -> FileKernels | PassedOver:
    """Audit one dump, on a worker."""
    with TemporaryDirectory() as folder, fsspec.open(path, "rb") as remote:
        local = os.path.join(folder, os.path.basename(path))
        with open(local, "wb") as file:
            file.write(remote.read())
        found = KernelReader(AS_IT_IS).read(local)
    if isinstance(found, PassedOver):
        return found._replace(file=path)
    return from_plain(to_plain(found, local), path)


def overview(client: Client, paths: Sequence[str]) -> KernelOverview:
    """Audit dumps on a cluster; return their kernels, the worst first."""
    kernels, passed = [], []
    for future in as_completed(client.map(audit, paths)):
        found = future.result()
        if isinstance(found, PassedOver):
            passed.append(found)
        else:
            kernels += found.kernels
            passed += found.unread
    return KernelOverview(sorted(kernels, key=lambda kernel: kernel.rank), sorted(passed))


def main(arguments: Sequence[str]) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scheduler", help="the address of the cluster's scheduler")
    parser.add_argument("patterns", nargs="+", help="paths of dumps, with * and **")
    parser.add_argument("--fail-on", action="append", default=[], help="as of tt-layout audit")
    options = parser.parse_args(arguments)
    try:
        watcher = Watcher(read_limits(options.fail_on) if options.fail_on else {})
    except LayoutError as error:
        parser.error(error.message)
    paths = [file.path for file in fsspec.open_files(options.patterns, "rb")]
    if not paths:
        parser.error("no file matches")
    with Client(options.scheduler) as client:
        found = overview(client, paths)
    sys.stdout.write(plain_text(found))
    for kernel in found.kernels:
        watcher.keep(kernel.file, kernel.line, kernel.finding_lines)
    try:
        return tell_failures(watcher, found.passed_over) if found.kernels else 2
    except LayoutError as error:
        sys.stderr.write(f"{error.printed()}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
