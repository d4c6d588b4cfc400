"""Audits of dumps that were made before, kept in a folder by the content of the dump.

Several processes may use one folder: a result is written whole or not at all, and one that cannot
be read is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from tt_layout.audit.values.given import GivenValues
from tt_layout.encodings.third_parties import installed
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import split_module
from tt_layout.kernels.metadata import files_beside
from tt_layout.releases import Release
from tt_layout.reports.kernel_overview import FileKernels, FindingLine, KernelLine, PassedOver
from tt_layout.version import __version__

FORMAT = 1
"""Changes when what is kept changes."""

MAX_BYTES = 256 << 20
"""What the folder may hold: the oldest results beyond that are removed."""


class ResultCache:
    """The results in a folder, for one way to audit.

    Args:
        folder: is made if it is not there.
        is_partial, release, given: as of `FileReader`.

    Raises:
        LayoutError: the folder cannot be made.
    """

    def __init__(
        self, folder: str, is_partial: bool, release: Release | None, given: GivenValues | None
    ) -> None:
        self._folder = folder
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            message = f"cannot keep results there: {error.strerror or error}"
            raise LayoutError(message, FileLocation(folder)) from None
        values = sorted(given.values.items()) if given is not None else None
        product = given.product.product if given is not None and given.product is not None else None
        way = (FORMAT, __version__, installed(), is_partial, release, values, product)
        self._way = repr(way).encode()

    def key(self, name: str) -> str | None:
        """Return what a dump is kept by; None where it cannot be read.

        That is its content, what stands beside it, and how it is audited.
        """
        path, number = split_module(name)
        digest = hashlib.sha256(self._way + repr(number).encode())
        try:
            with open(path, "rb") as file:
                digest.update(file.read())
            for beside in files_beside(path):
                if os.path.isfile(beside):
                    with open(beside, "rb") as file:
                        digest.update(b"\0" + file.read())
        except (OSError, ValueError):
            return None
        return digest.hexdigest()

    def find(self, key: str, name: str) -> FileKernels | None:
        """Return what is kept of a dump, under the name that it has now; None without any."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                found = from_plain(json.load(file), name)
            os.utime(path)
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None
        return found

    def keep(self, key: str, name: str, found: FileKernels) -> None:
        """Keep the result of a dump; where that cannot be, it is not kept."""
        from tt_layout.reports.writing import replacing

        path = self._path(key)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with replacing(path) as file:
                file.write(json.dumps(to_plain(found, name)).encode())
        except OSError:
            return

    def shrink(self) -> None:
        """Remove the results that were not used for longest, until the folder is small enough."""
        results = sorted(_results(self._folder))
        total = sum(result.bytes for result in results)
        for result in results:
            if total <= MAX_BYTES:
                return
            total -= result.bytes
            try:
                os.unlink(result.path)
            except OSError:
                continue  # another process has removed it

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], f"{key[2:]}.json")


class _Result(NamedTuple):
    used: float
    path: str
    bytes: int


def _results(folder: str) -> Iterator[_Result]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            try:
                status = os.stat(path)
            except OSError:
                continue
            if name.endswith(".json"):
                yield _Result(status.st_mtime, path, status.st_size)


def to_plain(found: FileKernels, name: str) -> dict[str, Any]:
    """Return a result as plain data, without the name of the dump."""

    def rest(place: str) -> str:
        return place.removeprefix(name)

    return {
        "kernels": [kernel._replace(file=rest(kernel.file)) for kernel in found.kernels],
        "arguments": found.arguments,
        "unread": [(rest(one.file), one.reason) for one in found.unread],
    }


def from_plain(plain: dict[str, Any], name: str) -> FileKernels:
    """Return the result that `to_plain` made data of, under the name that the dump has now.

    Example:
        >>> from_plain(to_plain(FileKernels((), ("n",)), "a.ttgir"), "b.ttgir")
        FileKernels(kernels=(), arguments=('n',), unread=())
    """
    return FileKernels(
        tuple(_kernel(kernel, name) for kernel in plain["kernels"]),
        tuple(plain["arguments"]),
        tuple(PassedOver(name + rest, reason) for rest, reason in plain["unread"]),
    )


def _kernel(plain: list[Any], name: str) -> KernelLine:
    kernel = KernelLine(*plain)
    findings = tuple(map(_finding, kernel.findings))
    return kernel._replace(file=name + kernel.file, findings=findings)


def _finding(plain: Any) -> FindingLine:
    finding = FindingLine(*plain)
    location: Any = finding.location
    return finding._replace(
        kinds=tuple(finding.kinds), location=tuple(location) if location is not None else None
    )
