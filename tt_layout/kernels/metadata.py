"""Metadata of a compiled kernel beside its dump.

Triton's cache, and the folder of ``TRITON_KERNEL_DUMP``, have it beside the dump: ``NAME.json``,
``NAME.cubin`` and ``NAME.amdgcn``.  A loaded kernel has it in ``metadata``, ``n_regs`` and
``n_spills``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.files import read_bytes
from tt_layout.kernels.assembly import AssemblyText, assembly_beside, assembly_in
from tt_layout.kernels.binaries import CompiledRegisters, assembly_registers, cubin_registers
from tt_layout.tuples import NamedTuple

MAX_BYTES = 1 << 20
"""Of a file of metadata that is read."""

MAX_CODE_BYTES = 1 << 25
"""Of a compiled kernel that is read."""

METADATA = ".json"
CODE = (".cubin", ".amdgcn")
"""How the files of compiled kernels end that registers are read from."""

LOADED = "the loaded kernel"


class KernelMetadata(NamedTuple):
    """Metadata of a compiled kernel; a field is None if it is not known.

    Attributes:
        name: name of the kernel at launch.
        warps: warps of a CTA, including those of warp-specialized partitions.
        shared_bytes: shared memory of a CTA.
        most_registers: maximum registers per thread (``maxnreg``).
        tensor_columns: columns of tensor memory that a CTA allocates.
        stages: stages of its pipelined loops (``num_stages``).
        registers: registers per thread.
        compile_note: why the chosen compiler has no numbers for it, or what they contradict.
        options: Triton's options, and other scalar values of its metadata, by name.
        device: the GPU of the program that compiled it, in its driver's terms.
        assembly: its PTX or AMDGCN, if available.
    """

    name: str | None = None
    warps: int | None = None
    shared_bytes: int | None = None
    most_registers: int | None = None
    tensor_columns: int | None = None
    stages: int | None = None
    registers: CompiledRegisters | None = None
    compile_note: str | None = None
    options: tuple[tuple[str, str], ...] | None = None
    device: str | None = None
    assembly: AssemblyText | None = None

    def over(self, other: KernelMetadata) -> KernelMetadata:
        """Fill missing fields from other metadata.

        Example:
            >>> KernelMetadata("f", 4).over(KernelMetadata("g", None, 512))[:3]
            ('f', 4, 512)
        """
        missing = {name for name in self._fields if getattr(self, name) is None}
        return self._replace(**{name: getattr(other, name) for name in missing})


NO_METADATA = KernelMetadata()
"""Nothing is known."""

NUMBERS = {
    "num_warps": "warps",
    "shared": "shared_bytes",
    "maxnreg": "most_registers",
    "tmem_size": "tensor_columns",
    "num_stages": "stages",
}
"""Key of Triton's metadata -> what holds it here."""


NO_OPTIONS = frozenset({"name", "hash", "shared"})
"""Metadata that is no option: a result, or what is shown besides."""

MAX_OPTION = 32
"""Characters of an option that is kept."""


def metadata_beside(path: str) -> KernelMetadata:
    """Return the metadata beside a dump; none without such a file.

    Example:
        >>> metadata_beside("nowhere/kernel.ttgir") == NO_METADATA
        True
    """
    metadata = NO_METADATA
    for file in files_beside(path):
        if os.path.isfile(file):
            metadata = metadata.over(_read(file))
    return metadata._replace(assembly=assembly_beside(path))


def files_beside(path: str) -> tuple[str, ...]:
    """Return the paths beside a dump that may have metadata.

    Example:
        >>> files_beside("cache/kernel.ttgir")
        ('cache/kernel.json', 'cache/kernel.cubin', 'cache/kernel.amdgcn')
    """
    stem, _ = os.path.splitext(path)
    return tuple(f"{stem}{ending}" for ending in (METADATA, *CODE))


def given_metadata(path: str) -> KernelMetadata:
    """Read the metadata of a file named by the user.

    Raises:
        LayoutError: it cannot be read, or has no metadata of a kernel.
    """
    if not path.endswith((METADATA, *CODE)):
        expected = f"expected the {', '.join(CODE)} or {METADATA} of a compiled kernel"
        raise LayoutError(expected, FileLocation(path))
    if not os.path.isfile(path):
        raise LayoutError("cannot read: there is no such file", FileLocation(path))
    metadata = _read(path)
    if metadata == NO_METADATA:
        raise LayoutError("it has no data of a compiled kernel", FileLocation(path))
    return metadata


def metadata_of(values: Mapping[str, Any]) -> KernelMetadata:
    """Convert Triton's metadata of a kernel.

    Example:
        >>> found = metadata_of({"name": "f", "num_warps": 4, "shared": 512, "maxnreg": None})
        >>> found.name, found.warps, found.shared_bytes, found.most_registers
        ('f', 4, 512, None)
    """
    name = values.get("name")
    numbers: dict[str, Any] = {field: _number(values.get(key)) for key, field in NUMBERS.items()}
    options = tuple((key, str(value)) for key, value in values.items() if _is_option(key, value))
    name = name if isinstance(name, str) and name else None
    return KernelMetadata(name, **numbers, options=options or None)


def _is_option(key: object, value: object) -> bool:
    """Tell whether metadata is a scalar value that may distinguish kernels of one name."""
    is_single = isinstance(value, (bool, int, float, str)) and len(str(value)) <= MAX_OPTION
    return isinstance(key, str) and key.isidentifier() and is_single and key not in NO_OPTIONS


def metadata_of_kernel(kernel: Any) -> KernelMetadata:
    """Return the metadata of a compiled Triton kernel.

    Args:
        kernel: anything with ``metadata`` and ``asm``; a loaded kernel also has ``n_regs`` and
            ``n_spills``.
    """
    metadata, code = getattr(kernel, "metadata", None), getattr(kernel, "asm", None)
    texts = code if isinstance(code, Mapping) else {}
    described = metadata_of(_fields(metadata))._replace(assembly=assembly_in(texts))
    count, spilled = (_number(getattr(kernel, name, None)) for name in ("n_regs", "n_spills"))
    if count is not None:
        return described._replace(registers=CompiledRegisters(count, spilled, LOADED))
    for ending in CODE:
        registers = _registers(texts.get(ending[1:]))
        if registers is not None:
            return described._replace(registers=registers._replace(source=f"its {ending[1:]}"))
    return described


def _fields(metadata: Any) -> Mapping[str, Any]:
    """Return metadata by name from Triton's dictionary or named tuple."""
    if isinstance(metadata, Mapping):
        return metadata
    names = dict.fromkeys(("name", *NUMBERS, *getattr(metadata, "_fields", ())))
    return {name: getattr(metadata, name, None) for name in names}


def _registers(code: Any) -> CompiledRegisters | None:
    if isinstance(code, bytes):
        return cubin_registers(code)
    return assembly_registers(code) if isinstance(code, str) else None


def registers_of(data: bytes, *, is_text: bool) -> CompiledRegisters | None:
    """Return the registers stated in compiled code; None if there are none.

    Args:
        data: a cubin, or AMD's assembly.
        is_text: whether it is assembly.
    """
    return _registers(data.decode(errors="replace") if is_text else data)


def _read(path: str) -> KernelMetadata:
    """Read the metadata of a file; none if it cannot be read."""
    is_code = path.endswith(CODE)
    try:
        data = read_bytes(path, MAX_CODE_BYTES if is_code else MAX_BYTES)
        if not is_code:
            import json

            values = json.loads(data)
            return metadata_of(values) if isinstance(values, dict) else NO_METADATA
    except (LayoutError, ValueError, RecursionError):
        return NO_METADATA
    registers = registers_of(data, is_text=not path.endswith(CODE[0]))
    if registers is None:
        return NO_METADATA
    return KernelMetadata(registers=registers._replace(source=os.path.basename(path)))


def _number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 1 << 40 else None
