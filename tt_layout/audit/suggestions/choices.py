"""What of a program in Triton moves the layouts that its compiler chooses.

A program in Gluon names its layouts, one in Triton does not.  The table is of trials
(``tests/compiler/test_choices.py``): a multiplication and a softmax, one thing changed at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.audit.suggestions.suggestion import EVERYWHERE, Suggestion

TURNED = "a transposed operand"
WARPS = "num_warps"
STAGES = "num_stages"
BLOCK = "the block size"
ELEMENT = "the element type"
SWAPPED = "the order of the operands"

CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "sm80": {
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "nvidia_mma": (WARPS, SWAPPED),
        "swizzled_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
    },
    "sm90": {
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT),
        "nvidia_mma": (WARPS, BLOCK, ELEMENT, SWAPPED),
        "nvmma_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
    },
    "sm100": {
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT),
        "linear": (WARPS, BLOCK, SWAPPED),
        "nvmma_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
        "swizzled_shared": (),
        "tensor_memory_encoding": (BLOCK, SWAPPED),
    },
    "gfx90a": {
        "amd_mfma": (WARPS, ELEMENT, SWAPPED),
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "swizzled_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
    },
    "gfx942": {
        "amd_mfma": (WARPS, ELEMENT, SWAPPED),
        "amd_rotating_shared": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "linear": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "swizzled_shared": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
    },
    "gfx950": {
        "amd_mfma": (WARPS, ELEMENT, SWAPPED),
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "linear": (TURNED, STAGES, WARPS, BLOCK, ELEMENT, SWAPPED),
        "padded_shared": (TURNED, STAGES, BLOCK, ELEMENT, SWAPPED),
    },
    "gfx11": {
        "amd_rotating_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
        "amd_wmma": (WARPS, ELEMENT, SWAPPED),
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "linear": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "swizzled_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
    },
    "gfx12": {
        "amd_rotating_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
        "amd_wmma": (WARPS, ELEMENT, SWAPPED),
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "linear": (TURNED, WARPS, BLOCK, ELEMENT, SWAPPED),
        "swizzled_shared": (TURNED, BLOCK, ELEMENT, SWAPPED),
    },
    "gfx1250": {
        "amd_wmma": (WARPS, ELEMENT, SWAPPED),
        "blocked": (TURNED, WARPS, BLOCK, ELEMENT),
        "dot_op": (WARPS, ELEMENT, SWAPPED),
        "padded_shared": (TURNED, STAGES, BLOCK, ELEMENT, SWAPPED),
    },
}
"""Row of the hardware -> attribute of a layout -> what moves it, in Triton 3.9."""


def moved_by(suggestion: Suggestion, gpu: str | None) -> tuple[str, ...]:
    """Return what of a program in Triton moves the layout that a suggestion replaces.

    Nothing moves one side of a conversion only, nor what no trial had.

    Args:
        suggestion: the suggestion.
        gpu: the row of its GPU.

    Example:
        >>> CHOICES["sm80"]["nvidia_mma"]
        ('num_warps', 'the order of the operands')
    """
    if suggestion.where != EVERYWHERE:
        return ()
    return CHOICES.get(gpu or "", {}).get(suggestion.replaced.mnemonic, ())
