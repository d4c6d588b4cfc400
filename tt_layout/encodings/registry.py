"""The attribute names and the encodings behind them, imported when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tt_layout.encodings.base import Encoding
    from tt_layout.encodings.forms import Form

MODULES = {
    "ttg.amd_mfma": "amd_mfma",
    "ttg.amd_rotating_shared": "swizzled_shared",
    "ttg.amd_wmma": "amd_wmma",
    "ttg.blocked": "blocked",
    "ttg.dot_op": "dot_op",
    "ttg.generic_linear": "linear",
    "ttg.linear": "linear",
    "ttg.nvidia_mma": "nvidia_mma",
    "ttg.nvmma_shared": "nvmma_shared",
    "ttg.padded_shared": "padded_shared",
    "ttg.partitioned_shared": "partitioned_shared",
    "ttg.shared_linear": "shared_linear",
    "ttg.slice": "slice",
    "ttg.swizzled_shared": "swizzled_shared",
    "ttng.tensor_memory_encoding": "tensor_memory",
    "ttng.tensor_memory_scales_encoding": "tensor_memory",
    "triton_gpu.amd_mfma": "amd_mfma",
    "triton_gpu.amd_wmma": "amd_wmma",
    "triton_gpu.blocked": "blocked",
    "triton_gpu.dot_op": "dot_op",
    "triton_gpu.mma": "nvidia_mma",
    "triton_gpu.nvidia_mma": "nvidia_mma",
    "triton_gpu.shared": "swizzled_shared",
    "triton_gpu.slice": "slice",
}
"""Attribute name -> the module here that defines its encoding."""

Spellings = list[tuple["Form", type["Encoding"]]]


class Registry(Mapping[str, Spellings]):
    """Attribute name, such as ``ttg.blocked`` -> its forms and the class they lead to.

    Example:
        >>> [cls.__name__ for _, cls in FORMS["ttg.blocked"]]
        ['Blocked', 'Blocked']
    """

    def __init__(self) -> None:
        self._spellings: dict[str, Spellings] = {}

    def add(self, form: Form, encoding_class: type[Encoding]) -> None:
        """Enter a form of a class; a class does so when it is defined."""
        self._spellings.setdefault(form.name, []).append((form, encoding_class))

    def __getitem__(self, name: str) -> Spellings:
        import_module(f"tt_layout.encodings.{MODULES[name]}")
        return self._spellings[name]

    def __contains__(self, name: object) -> bool:
        return name in MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


FORMS = Registry()
DIALECTS = {name.split(".")[0] for name in MODULES}
