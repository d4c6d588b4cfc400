"""Cache of audits in a folder, keyed by the content of the dump.

Several processes and versions may share a folder: a result is written whole or not at all, and a
damaged one is made again.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tt_layout.audit.kernel import SETTLED, Kernel
from tt_layout.dumps.audits import FileKernels, PassedOver
from tt_layout.dumps.dump import Reading
from tt_layout.encodings.third_parties import installed
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.files import CacheFolder, chunks_of, is_file, open_file, read_bytes
from tt_layout.ir.file_aliases import split_module
from tt_layout.kernels.chosen_compiler import chosen_compiler
from tt_layout.kernels.metadata import files_beside
from tt_layout.tuples import NamedTuple
from tt_layout.version import __version__

FORMAT = 4
"""Changes when what is kept changes."""

MAX_BYTES = 256 << 20
"""What the folder may hold: the oldest results beyond that are removed."""

MAX_REPORT = 64 << 20
"""Bytes of the report of watched kernels that is read."""

MAX_NUMBER = 1 << 63
"""Below which integers of a result are."""


class ResultCache:
    """The cached results in a folder, for one configuration of the audit.

    Args:
        folder: created if missing; if it has other files, a folder inside it is used.
        reading, has_bounds: as for `KernelReader`.

    Raises:
        LayoutError: the folder cannot be made.
    """

    def __init__(self, folder: str, reading: Reading, *, has_bounds: bool = False) -> None:
        self._folder = CacheFolder(folder)
        given = reading.given
        values = sorted(given.values.items()) if given is not None else None
        product = given.product.product if given is not None and given.product is not None else None
        compiler = chosen_compiler()
        compiled_by = compiler.release if compiler is not None else None
        rules = FORMAT, __version__, installed(), reading.is_partial, reading.release
        way = *rules, values, product, has_bounds, compiled_by
        self._way = repr(way).encode()

    def key(self, name: str) -> str | None:
        """Return the key of a dump; None where it cannot be read.

        It covers the content, the files beside the dump, and the configuration of the audit.
        """
        path, number = split_module(name)
        digest = hashlib.sha256(self._way + repr(number).encode())
        try:
            _digest(digest, path)
            for beside in files_beside(path):
                if is_file(beside):
                    digest.update(b"\0")
                    _digest(digest, beside)
        except (OSError, LayoutError):
            return None
        return digest.hexdigest()

    def find(self, key: str, name: str) -> FileKernels | None:
        """Return the cached result of a dump, under its present name; None without any."""
        content = self._folder.read(key)
        if content is None:
            return None
        try:
            return from_plain(json.loads(content), name)
        except (ValueError, RecursionError):
            return None

    def keep(self, key: str, name: str, found: FileKernels) -> None:
        """Cache the result of a dump, unless the dump has changed since or it cannot be written."""
        if self.key(name) == key:
            self._folder.write(key, json.dumps(to_plain(found, name)).encode())

    def shrink(self) -> None:
        """Remove the least recently used results until the folder is small enough."""
        self._folder.shrink(MAX_BYTES)


def _digest(digest: Any, path: str) -> None:
    with open_file(path) as file:
        for chunk in chunks_of(file, path):
            digest.update(chunk)


def to_plain(found: FileKernels, name: str) -> dict[str, Any]:
    """Return a result as plain data, without the name of the dump."""

    def rest(place: str) -> str:
        return place.removeprefix(name)

    return {
        "kernels": [{**vars(kernel), "file": rest(kernel.file)} for kernel in found.kernels],
        "arguments": found.arguments,
        "unread": [(rest(entry.file), entry.reason) for entry in found.unread],
    }


def from_plain(plain: Any, name: str) -> FileKernels:
    """Return the result of `to_plain` data, under the dump's present name.

    Raises:
        ValueError: it is not such data.

    Example:
        >>> from_plain(to_plain(FileKernels((), ("n",)), "a.ttgir"), "b.ttgir")
        FileKernels(kernels=(), arguments=('n',), unread=())
        >>> from_plain({"kernels": [[1]], "arguments": [], "unread": []}, "b.ttgir")
        Traceback (most recent call last):
        ValueError: not a result
    """
    result: FileKernels = _as_kind(plain, FileKernels)
    return result._replace(
        kernels=tuple(entry.with_values(file=name + entry.file) for entry in result.kernels),
        unread=tuple(entry._replace(file=name + entry.file) for entry in result.unread),
    )


def kernels_in_report(path: str) -> FileKernels:
    """Return the kernels in a JSON report of `tt_layout.watch` or ``pytest --tt-audit-report``.

    They have the fields that a comparison needs; unread are kernels without an audit, and what the
    report says was not seen.

    Args:
        path: the file.

        Raises:
            LayoutError: it cannot be read, or is not such a report.
    """
    try:
        plain = json.loads(read_bytes(path, MAX_REPORT))
        kernels = [
            _reported(entry["audit"]) for entry in plain["kernels"] if entry["audit"] is not None
        ]
        unread = [
            PassedOver(f"@{entry['name']} of {path}", str(entry["reason"]))
            for entry in plain["kernels"]
            if entry["audit"] is None
        ]
        if plain["failure"] is not None:
            unread.append(PassedOver(path, f"not all was seen: {plain['failure']}"))
        return FileKernels(tuple(kernels), unread=tuple(unread))
    except (ValueError, KeyError, TypeError, RecursionError):
        message = "expected the JSON of watched kernels, as pytest --tt-audit-report writes it"
        raise LayoutError(message, FileLocation(path)) from None


def _reported(audit: dict[str, Any]) -> Kernel:
    """Return a kernel of a report.

    Raises:
        KeyError: a field is missing.
        ValueError: a field has another type.
    """
    names = {"weight": "cost", "kinds": "counts"}
    values = {name: audit[names.get(name, name)] for name in SETTLED if name != "finding_lines"}
    return Kernel.of_values(_settled({**values, "finding_lines": []}))


def _as_kind(plain: Any, kind: Any) -> Any:
    """Convert plain data to a type, from its annotations.

    Raises:
        ValueError: it is not of the type.

    Example:
        >>> _as_kind([1, ["a"]], tuple[int, tuple[str, ...]])
        (1, ('a',))
    """
    if kind in (str, int, float, type(None)):
        if not _is_plain(plain, kind):
            raise ValueError("not a result")
        return plain
    if kind is Kernel:
        return Kernel.of_values(_settled(plain))
    of, inner = get_origin(kind), get_args(kind)
    if of in (Union, UnionType):
        return _as_kind(plain, type(None) if plain is None else inner[0])
    if of is dict and isinstance(plain, dict):
        return {_as_kind(k, inner[0]): _as_kind(v, inner[1]) for k, v in plain.items()}
    fields = _fields(kind) if of is None else None
    if fields is not None and isinstance(plain, dict) and list(plain) == list(fields):
        plain = [*plain.values()]
    if isinstance(plain, (list, tuple)):
        inner = tuple(fields.values()) if fields is not None else inner
        inner = (inner[0],) * len(plain) if inner[1:] == (...,) else inner
        if len(inner) == len(plain):
            values = map(_as_kind, plain, inner)
            return kind(*values) if fields is not None else tuple(values)
    raise ValueError("not a result")


def _settled(plain: Any) -> dict[str, Any]:
    """Return the attributes of a settled kernel.

    Raises:
        ValueError: one has another type.
    """
    if not isinstance(plain, dict) or plain.keys() != SETTLED.keys():
        raise ValueError("not a result")
    return {name: _as_kind(value, SETTLED[name]) for name, value in plain.items()}


def _is_plain(plain: Any, kind: Any) -> bool:
    if kind is float:
        return type(plain) in (int, float) and abs(plain) < MAX_NUMBER and math.isfinite(plain)
    return type(plain) is kind and (kind is not int or abs(plain) < MAX_NUMBER)


@cache
def _fields(kind: type[NamedTuple]) -> dict[str, Any]:
    """Return the type of each field."""
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind._fields}
