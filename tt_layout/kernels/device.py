"""The GPU that this process runs kernels on."""

from __future__ import annotations

import re
import sys

from tt_layout.hardware import PRODUCTS, Target

_OTHER_BOARDS = frozenset({"PCIE", "NVL"})
"""Words in the names of boards that have less of a chip, or other memory, than the product."""


def device_name() -> str | None:
    """Return the name of the GPU in PyTorch; None if the program has not initialized one.

    Nothing is imported and no GPU is initialized here.

    Example:
        >>> device_name() is None
        True
    """
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    try:
        return str(cuda.get_device_name()) if cuda is not None and cuda.is_initialized() else None
    except (AttributeError, RuntimeError, AssertionError):
        return None


def device_product(name: str | None) -> Target | None:
    """Return the row of the product with a driver's name; None if there is none.

    Example:
        >>> [found.product.name if (found := device_product(name)) else None for name in (
        ...     "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 PCIe", None)]
        ['H100', 'A100 40 GB', None, None]
    """
    words = set(re.findall("[A-Z0-9]+", (name or "").upper()))
    if words & _OTHER_BOARDS:
        return None
    matches = [
        target for key, target in PRODUCTS.items() if words.issuperset(key.upper().split("-"))
    ]
    return max(matches, key=lambda target: len(target.products[0].key), default=None)
