"""Shared memory of the GPUs that Triton compiles for, as data.

A warp-wide access is carried out in *phases*, each for some of the lanes.  Within a phase the
lanes that touch the same bank in different words take turns; the same word is shared.  A turn
is called a wavefront.

Which lanes make up a phase depends on the bytes that each lane moves.  In every known case
the phases are the cosets of one subspace: given masks m1, m2, .., the lanes of a phase are
those that differ from each other by an xor of some of the masks.  Masks (1, 2, 4) are eight
neighbouring lanes; (1, 2, 20) are lanes 0-3 with 20-23, 4-7 with 16-19, and so on.

Read next:    `tt_layout.analyses.banks`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from tt_layout.errors import LayoutError


class Phase(NamedTuple):
    """How one width of access is divided into phases.

    Attributes:
        masks: the lanes of a phase differ by xors of these.
        banks: the banks that a phase can reach.
    """

    masks: tuple[int, ...]
    banks: int

    @property
    def lanes(self) -> int:
        """The number of lanes in a phase."""
        return 1 << len(self.masks)


PhaseTable = Mapping[int, Phase]
"""Bytes per lane -> its phases.  Narrower accesses go as the narrowest that is listed."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A GPU's shared memory, and what its compiler does with it.

    Attributes:
        name: what ``--target`` takes.
        title: the GPUs meant, in words.
        lanes: lanes of a warp.
        banks: banks, each serving one word per turn.
        bank_bytes: bytes of such a word.
        max_vector_bytes: the widest access of a lane.
        load_phases, store_phases: the phases per width.
        merges_wide_loads: whether the phases of a wide load go in pairs where all lanes read
            what their neighbour by 1, or all what their neighbour by 2, reads too.
        joins_registers: whether the compiler's backend joins adjacent accesses at constant
            distances into wider ones.
        matrix_instructions: which of ``ldmatrix`` and ``stmatrix`` there are.
        mnemonics: the assembler's names of a load and of a store.
        source: where the numbers are from.
        verified: whether they were compared with counters of such a GPU.
    """

    name: str
    title: str
    lanes: int = 32
    banks: int = 32
    bank_bytes: int = 4
    max_vector_bytes: int = 16
    load_phases: PhaseTable = field(hash=False)
    store_phases: PhaseTable = field(hash=False)
    merges_wide_loads: bool = False
    joins_registers: bool = False
    matrix_instructions: frozenset[str] = frozenset()
    mnemonics: tuple[str, str] = ("ld.shared", "st.shared")
    source: str
    verified: bool = False

    def phase(self, width_bytes: int, is_store: bool) -> Phase:
        """Return how an access of this width is divided.

        Example:
            >>> TARGETS["nvidia"].phase(16, is_store=False).lanes
            8
        """
        table = self.store_phases if is_store else self.load_phases
        return table[max(width_bytes, min(table))]

    def spelled(self, width_bytes: int, is_store: bool) -> str:
        """Return an access of this width as the target's assembler spells it.

        Example:
            >>> TARGETS["nvidia"].spelled(16, is_store=False)
            'ld.shared.v4.b32'
            >>> [TARGETS["amd"].spelled(2, is_store) for is_store in (False, True)]
            ['ds_read_u16', 'ds_write_b16']
        """
        name, bits = self.mnemonics[is_store], 8 * width_bytes
        if "_" in name:
            return f"{name}_{'u' if bits < 32 and not is_store else 'b'}{bits}"
        vector = f"v{bits // 32}." if bits > 32 else ""
        return f"{name}.{vector}b{min(bits, 32)}"


def _table(lanes: int, banks: int, **others: Phase) -> PhaseTable:
    """Return a table where a phase is as many neighbouring lanes as fill all banks once."""
    table = {}
    for width in (4, 8, 16):
        count = min(lanes, banks * 4 // width)
        table[width] = Phase(tuple(1 << bit for bit in range(count.bit_length() - 1)), banks)
    return MappingProxyType({**table, **{int(name[1:]): phase for name, phase in others.items()}})


_NVIDIA = _table(32, 32)
_NVIDIA_SOURCE = (
    "counters of an H200: docs/bank-conflicts.md; CUDA C++ Programming Guide, "
    "Compute Capability 5.x, Shared Memory"
)
_LDS_SOURCE = "ROCm documentation, Composable Kernel, Understanding AMD GPU LDS and Bank Conflicts"
_GFX9 = "ds_read", "ds_write"
_GFX9_READ = _table(64, 32, b16=Phase((1, 2, 20), 32))
_GFX950_READ = _table(64, 32, b8=Phase((1, 2, 4, 8, 16), 64), b16=Phase((1, 2, 12, 20), 64))


def _nvidia(name: str, title: str, *instructions: str, verified: bool = False) -> Target:
    return Target(
        name=name,
        title=title,
        load_phases=_NVIDIA,
        store_phases=_NVIDIA,
        merges_wide_loads=True,
        joins_registers=True,
        matrix_instructions=frozenset(instructions),
        source=_NVIDIA_SOURCE,
        verified=verified,
    )


_ALL = (
    _nvidia("sm70", "NVIDIA Volta"),
    _nvidia("sm75", "NVIDIA Turing", "ldmatrix"),
    _nvidia("sm80", "NVIDIA Ampere and Ada", "ldmatrix"),
    _nvidia("sm90", "NVIDIA Hopper", "ldmatrix", "stmatrix", verified=True),
    _nvidia("sm100", "NVIDIA Blackwell", "ldmatrix", "stmatrix"),
    *(
        Target(
            name=name,
            title=title,
            lanes=64,
            load_phases=_GFX9_READ,
            store_phases=_table(64, 32),
            mnemonics=_GFX9,
            source=_LDS_SOURCE,
        )
        for name, title in (("gfx90a", "AMD CDNA2"), ("gfx942", "AMD CDNA3"))
    ),
    Target(
        name="gfx950",
        title="AMD CDNA4",
        lanes=64,
        banks=64,
        load_phases=_GFX950_READ,
        store_phases=_table(64, 32),
        mnemonics=_GFX9,
        source="Triton, third_party/amd/lib/TritonAMDGPUTransforms/Utility.cpp",
    ),
    *(
        Target(
            name=name,
            title=title,
            load_phases=_table(32, 32),
            store_phases=_table(32, 32),
            mnemonics=("ds_load", "ds_store"),
            source="assumed: 32 banks, and phases of as many lanes as fill them",
        )
        for name, title in (("gfx11", "AMD RDNA3"), ("gfx12", "AMD RDNA4"))
    ),
)

_ALIASES = {"nvidia": "sm90", "amd": "gfx942", "gfx9": "gfx942", "rdna": "gfx11"}
_BY_NAME = {target.name: target for target in _ALL}

TARGETS: Mapping[str, Target] = MappingProxyType(
    {**_BY_NAME, **{alias: _BY_NAME[name] for alias, name in _ALIASES.items()}}
)
"""Every target by its name, and ``nvidia``, ``amd``, ``gfx9`` and ``rdna`` for the usual ones."""

DEFAULT_TARGET = "nvidia"
"""The name of the target that is meant where none is named."""


def find_target(name: str) -> Target:
    """Return the target of a name.

    Raises:
        LayoutError: there is none.

    Example:
        >>> find_target("nvidia").title
        'NVIDIA Hopper'
    """
    if name not in TARGETS:
        raise LayoutError(f"unknown target {name!r}; there are {', '.join(TARGETS)}")
    return TARGETS[name]


def nearest_target(chip: str) -> Target | None:
    """Return the target whose shared memory a GPU is taken to have; None if there is none.

    That is the newest of NVIDIA that is no newer, and of AMD the one of its family.

    Example:
        >>> nearest_target("sm89").name, nearest_target("gfx1201").name, nearest_target("sm60")
        ('sm80', 'gfx12', None)
    """
    if match := re.fullmatch(r"sm_?(\d+)[af]?", chip):
        older = [n for n in _BY_NAME if n.startswith("sm") and int(n[2:]) <= int(match[1])]
        return _BY_NAME[max(older, key=lambda name: int(name[2:]))] if older else None
    prefixes = (chip[:length] for length in range(len(chip), 3, -1))
    return next((TARGETS[name] for name in prefixes if name in TARGETS), None)
