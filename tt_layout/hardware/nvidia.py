"""NVIDIA's GPUs, oldest first."""

from __future__ import annotations

import re

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.target import KIB, Evidence, Target, phases

USUAL = "sm90"
ALIASES = {"nvidia": USUAL}

_CUDA_GUIDE = "CUDA C++ Programming Guide, Compute Capability 5.x, Shared Memory"
_LIKE_HOPPER = f"taken to be as on sm90; {_CUDA_GUIDE}"

_BLACKWELL_MATRICES = ("ldmatrix", "ldmatrix.b8", "stmatrix", "stmatrix.b8")


def _capability(chip: str) -> tuple[int, ...] | None:
    """Return the compute capability in the name of a GPU, such as ``sm90``."""
    match = re.fullmatch(r"sm([0-9]{1,4})[af]?", chip)
    return (int(match[1]),) if match is not None else None


BACKEND = Backend(
    name="cuda",
    vendor="NVIDIA",
    prefix="sm",
    version=_capability,
    is_numbered=True,
)


def _packed_sums(capability: int) -> tuple[int, ...]:
    """Return the bits of elements that a thread adds in pairs: half words, then words.

    Example:
        >>> _packed_sums(80), _packed_sums(90), _packed_sums(100)
        ((), (16,), (16, 32))
    """
    return tuple(bits for bits, since in ((16, 90), (32, 100)) if capability >= since)


def _nvidia(
    name: str,
    title: str,
    *matrix_instructions: str,
    chips: tuple[str, ...] = (),
    shared_kib: int | None = 227,
    shared_note: str = "",
    less_shared: tuple[str, ...] = (),
    combines_extremes: bool = False,
    combines_floats: bool = False,
    global_vector_bytes: int = 16,
    evidence: Evidence = Evidence.ASSUMED,
    source: str = _LIKE_HOPPER,
) -> Target:
    capability = int(name.removeprefix("sm"))
    return Target(
        name=name,
        title=title,
        backend=BACKEND,
        chips=(name, *chips),
        packed_sums=_packed_sums(capability),
        load_phases=phases(32, 32),
        store_phases=phases(32, 32),
        most_shared_bytes=shared_kib * KIB if shared_kib is not None else None,
        shared_note=shared_note,
        less_shared_bytes=tuple((chip, 99 * KIB) for chip in less_shared),
        combines_lanes=capability >= 80,
        combines_extremes=combines_extremes,
        combines_floats=combines_floats,
        global_vector_bytes=global_vector_bytes,
        has_vector_atomics=capability >= 90,
        merges_wide_loads=True,
        matrix_instructions=frozenset(matrix_instructions),
        mnemonics=("ld.shared", "st.shared"),
        cycle="wavefront",
        weighs_conversions=True,
        load_evidence=evidence,
        store_evidence=evidence,
        source=source,
    )


ROWS = (
    _nvidia("sm70", "NVIDIA Volta", chips=("sm72",), shared_kib=96),
    _nvidia("sm75", "NVIDIA Turing", "ldmatrix", shared_kib=64),
    _nvidia(
        "sm80",
        "NVIDIA Ampere and Ada",
        "ldmatrix",
        chips=("sm86", "sm87", "sm89"),
        shared_kib=163,
        less_shared=("sm86", "sm89"),
    ),
    _nvidia(
        "sm90",
        "NVIDIA Hopper",
        "ldmatrix",
        "stmatrix",
        evidence=Evidence.MEASURED,
        source=f"counters of an H200: docs/bank-conflicts.md; {_CUDA_GUIDE}",
    ),
    _nvidia(
        "sm100",
        "NVIDIA Blackwell",
        *_BLACKWELL_MATRICES,
        chips=("sm103",),
        combines_extremes=True,
        combines_floats=True,
        global_vector_bytes=32,
    ),
    _nvidia(
        "sm107",
        "NVIDIA Rubin",
        *_BLACKWELL_MATRICES,
        shared_kib=None,
        shared_note="328 KB per SM",
        combines_extremes=True,
        combines_floats=True,
        global_vector_bytes=32,
    ),
    _nvidia(
        "sm110",
        "NVIDIA Blackwell of Jetson and RTX",
        *_BLACKWELL_MATRICES,
        chips=("sm101", "sm120", "sm121"),
        less_shared=("sm120", "sm121"),
        combines_extremes=True,
        global_vector_bytes=32,
    ),
)
"""A row each, oldest first.

Shared memory: CUDA C++ Programming Guide, Technical Specifications per Compute Capability; of sm107
triton-lang/triton, pull requests 10936 and 11104, which name no limit of a CTA.  The instructions
of sm107 are what the compiler of 3.9 chooses for it.
"""
