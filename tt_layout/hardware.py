"""The GPUs that Triton compiles for, as data: one row each, nothing about a GPU stands elsewhere.

A warp-wide access is carried out in *phases*, each for some of the lanes.  Within a phase the
lanes that touch the same bank in different words take a cycle each; the same word is shared.
NVIDIA's profiler calls such a cycle a wavefront.

Which lanes make up a phase depends on the bytes that each lane moves.  In every known case
the phases are the cosets of one subspace: given masks m1, m2, .., the lanes of a phase are
those that differ from each other by an xor of some of the masks.  Masks (1, 2, 4) are eight
neighbouring lanes; (1, 2, 20) are lanes 0-3 with 20-23, 4-7 with 16-19, and so on.

A row names its source and how far that carries.  A new GPU is a new row of `ROWS`: the help of
the commands, the page, the figures and the analyses follow.

Read next:    `tt_layout.analyses.shared_memory.banks`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from tt_layout.errors import LayoutError, quoted


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


class TransposingRead(NamedTuple):
    """A load of AMD that transposes a tile between lanes on the way.

    Attributes:
        name: in assembly.
        width_bytes: bytes next to each other that each lane reads.
        addresses: whose offsets the lanes' addresses have, for each bit of the lane: those of
            the lane (``lane``) or of the register (``register``) that the data is for, by bit.
    """

    name: str
    width_bytes: int
    addresses: tuple[tuple[str, int], ...]

    @property
    def tile_bits(self) -> int:
        """Bits of the lane along which the data of a tile lies next to each other."""
        lanes = [bit for place, bit in self.addresses if place == "lane"]
        return min(lanes)


PhaseTable = Mapping[int, Phase]
"""Bytes per lane -> its phases.  Narrower accesses go as the narrowest that is listed."""

BANK_BYTES = 4
KIB = 1024

_MATRIX_PHASE = Phase((1, 2, 4), 32)


class Evidence(Enum):
    """What the phases of a row rest on; each value is the word in the reports."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A GPU: its warps, its shared memory, and what its compiler does with them.

    Attributes:
        name: what ``--target`` takes.
        title: the GPUs meant, in words.
        chips: how the names begin that the compiler gives these GPUs; of NVIDIA a row is also
            for what is newer, up to the next row.
        lanes: lanes of a warp.
        banks: banks, each serving one word per cycle.
        bank_bytes: bytes of such a word.
        max_vector_bytes: the widest access of a lane.
        most_shared_bytes: the shared memory that a CTA may have.
        less_shared_bytes: GPUs of the row, and theirs, where that is less.
        shared_partition_bytes: the pieces that shared memory is built of, which one access does
            not reach beyond; 0 where it is one.
        combines_lanes: whether one instruction combines an integer of every lane of a warp.
        combines_extremes: whether it is quicker where it looks for a minimum or maximum.
        combines_floats: whether it looks for those of floats of 32 bits, too.
        global_vector_bytes: the widest load or store of global memory.
        counts_dwords: whether the names of accesses to global memory count words of 32 bits.
        joins_global_accesses: whether loads and stores of global memory are LLVM's own, which
            joins neighbours and leaves out repetitions.
        has_vector_atomics: whether one atomic instruction adds several floats.
        loops_atomics: whether sums of floats, minima and maxima in global memory are loops
            around a comparison.
        scatters_async_copies: whether each lane of an asynchronous copy gives the address in
            shared memory that its data goes to.
        load_phases, store_phases: the phases per width.
        matrix_phase: the phase of a matrix instruction: one matrix, eight rows.
        merges_wide_loads: whether the phases of a wide load go in pairs where all lanes read
            what their neighbour by 1, or all what their neighbour by 2, reads too.
        pairs_accesses: whether one instruction may make two accesses of 4 or 8 bytes at
            constant distances.
        transposing_reads: bytes of an element -> the load that transposes such elements.
        matrix_instructions: which of ``ldmatrix`` and ``stmatrix`` there are, and
            (``.b8``) which of them transpose elements of a byte.
        mnemonics: the assembler's names of a load and of a store.
        cycle: what a cycle of the banks is called: NVIDIA's profiler counts wavefronts.
        shuffle_bits: what one shuffle brings to each lane.
        far_lanes: what the numbers of two lanes differ by at least if they exchange values by
            way of shared memory's hardware (``ds_bpermute_b32``); nearer ones do so by
            instructions on registers.  0 where all shuffles are alike.
        swapped_lanes: bits of the lane that one instruction on registers exchanges with a bit of
            the register.
        counts_by_ballots: whether the lanes of a warp vote on what a histogram counts, so that
            each adds only to its own counts.
        weighs_conversions: whether the compiler weighs instructions against each other to
            convert a layout through shared memory.
        conversion_lanes: which bits of the lane may, beside the lowest ones, make up one
            wavefront of a 16-byte load of such a conversion; the compiler takes the choice
            that needs the least memory.
        load_evidence, store_evidence: what the phases of loads and of stores rest on.
        source: where they are from.
    """

    name: str
    title: str
    chips: tuple[str, ...]
    lanes: int = 32
    banks: int = 32
    bank_bytes: int = BANK_BYTES
    max_vector_bytes: int = 16
    most_shared_bytes: int
    less_shared_bytes: tuple[tuple[str, int], ...] = ()
    shared_partition_bytes: int = 0
    combines_lanes: bool = False
    combines_extremes: bool = False
    combines_floats: bool = False
    global_vector_bytes: int = 16
    counts_dwords: bool = False
    joins_global_accesses: bool = False
    has_vector_atomics: bool = False
    loops_atomics: bool = False
    scatters_async_copies: bool = False
    load_phases: PhaseTable = field(hash=False)
    store_phases: PhaseTable = field(hash=False)
    matrix_phase: Phase = _MATRIX_PHASE
    merges_wide_loads: bool = False
    pairs_accesses: bool = False
    transposing_reads: Mapping[int, TransposingRead] = field(default_factory=dict, hash=False)
    matrix_instructions: frozenset[str] = frozenset()
    mnemonics: tuple[str, str]
    cycle: str = "cycle"
    shuffle_bits: int = 32
    far_lanes: int = 0
    swapped_lanes: tuple[int, ...] = ()
    counts_by_ballots: bool = False
    weighs_conversions: bool = False
    conversion_lanes: tuple[tuple[int, ...], ...] = ()
    load_evidence: Evidence
    store_evidence: Evidence
    source: str

    @property
    def is_nvidia(self) -> bool:
        """Whether the GPU is one of NVIDIA's; the others are AMD's.

        Example:
            >>> TARGETS["sm90"].is_nvidia, TARGETS["gfx942"].is_nvidia
            (True, False)
        """
        return self.name.startswith("sm")

    @property
    def verified(self) -> bool:
        """Whether loads and stores were measured on such a GPU."""
        return self.load_evidence is self.store_evidence is Evidence.MEASURED

    @property
    def standing(self) -> str:
        """What the numbers rest on, in a word for each side that differs.

        Example:
            >>> TARGETS["sm90"].standing, TARGETS["gfx942"].standing
            ('measured', 'loads measured, stores documented')
        """
        load, store = self.load_evidence.value, self.store_evidence.value
        return load if load == store else f"loads {load}, stores {store}"

    @property
    def row_bytes(self) -> int:
        """The bytes of a row of all banks.

        Example:
            >>> TARGETS["nvidia"].row_bytes, TARGETS["gfx950"].row_bytes
            (128, 256)
        """
        return self.banks * self.bank_bytes

    @property
    def shared_addition(self) -> str:
        """What adds to a word of shared memory, as the target's assembler spells it."""
        return "ds_add_u32" if self.mnemonics[0].startswith("ds") else "atom.shared.add.u32"

    def is_far(self, mask: int) -> bool:
        """Tell whether a shuffle between lanes that differ by a mask is a ``ds_bpermute_b32``.

        Example:
            >>> TARGETS["gfx942"].is_far(16), TARGETS["gfx950"].is_far(16)
            (True, False)
        """
        return 0 < self.far_lanes <= mask

    def shared_bytes(self, chip: str) -> int:
        """Return the shared memory that a CTA may have on a GPU.

        Args:
            chip: the GPU as the compiler calls it; some of a row have less than the others.

        Example:
            >>> [find_target(chip).shared_bytes(chip) for chip in ("sm80", "sm86", "gfx942")]
            [166912, 101376, 65536]
        """
        return dict(self.less_shared_bytes).get(chip.rstrip("af"), self.most_shared_bytes)

    def phase(self, width_bytes: int, is_store: bool) -> Phase:
        """Return how an access of this width is divided.

        Example:
            >>> TARGETS["nvidia"].phase(16, is_store=False).lanes
            8
        """
        table = self.store_phases if is_store else self.load_phases
        return table[max(width_bytes, min(table))]

    def instruction_name(
        self, width_bytes: int, is_store: bool, *, word_bits: int = 32, form: str = ""
    ) -> str:
        """Return an access of this width as the target's assembler spells it.

        Args:
            width_bytes: what a lane moves, at each address.
            is_store: whether it is a store.
            word_bits: of an element of NVIDIA's vectors: 64 where those of the tensor have that.
            form: how AMD's instructions address two places: ``2`` or ``2st64``.

        Example:
            >>> TARGETS["nvidia"].instruction_name(16, is_store=False)
            'ld.shared.v4.b32'
            >>> [TARGETS["amd"].instruction_name(2, is_store) for is_store in (False, True)]
            ['ds_read_u16', 'ds_write_b16']
            >>> [TARGETS[name].instruction_name(8, True, form="2st64") for name in ("amd", "gfx12")]
            ['ds_write2st64_b64', 'ds_store_2addr_stride64_b64']
        """
        name, bits = self.mnemonics[is_store], 8 * width_bytes
        if "_" in name:
            spelled = form if name in _OLD_NAMES else _ADDRESSES[form]
            return f"{name}{spelled}_{'u' if bits < 32 and not is_store else 'b'}{bits}"
        vector = f"v{bits // word_bits}." if bits > word_bits else ""
        return f"{name}.{vector}b{min(bits, word_bits)}"


_OLD_NAMES = ("ds_read", "ds_write")
_ADDRESSES = {"": "", "2": "_2addr", "2st64": "_2addr_stride64"}
"""How instructions for two addresses are spelled since GFX11."""


def _phases(lanes: int, banks: int, **others: Phase) -> PhaseTable:
    """Return a table where a phase is as many neighbouring lanes as fill all banks once."""
    table = {}
    for width in (4, 8, 16):
        count = min(lanes, banks * BANK_BYTES // width)
        table[width] = Phase(tuple(1 << bit for bit in range(count.bit_length() - 1)), banks)
    return MappingProxyType({**table, **{int(name[1:]): phase for name, phase in others.items()}})


_CUDA_GUIDE = "CUDA C++ Programming Guide, Compute Capability 5.x, Shared Memory"
_LIKE_HOPPER = f"taken to be as on sm90; {_CUDA_GUIDE}"
_ROCM = "ROCm documentation, Composable Kernel, Understanding AMD GPU LDS and Bank Conflicts"
_MEASURED = "loads measured by nod-ai/amd-shark-ai, docs/empirical-lds"
_GUIDE = "stores: the same, docs/amdgpu_kernel_optimization_guide.md"
_ASSUMED = "assumed: 32 banks, and phases of as many lanes as fill them"


def _nvidia(
    name: str,
    title: str,
    *matrix_instructions: str,
    shared_kib: int = 227,
    less_shared: tuple[str, ...] = (),
    combines_lanes: bool = True,
    combines_extremes: bool = False,
    combines_floats: bool = False,
    global_vector_bytes: int = 16,
    has_vector_atomics: bool = False,
    evidence: Evidence = Evidence.ASSUMED,
    source: str = _LIKE_HOPPER,
) -> Target:
    return Target(
        name=name,
        title=title,
        chips=(name,),
        load_phases=_phases(32, 32),
        store_phases=_phases(32, 32),
        most_shared_bytes=shared_kib * KIB,
        less_shared_bytes=tuple((chip, 99 * KIB) for chip in less_shared),
        combines_lanes=combines_lanes,
        combines_extremes=combines_extremes,
        combines_floats=combines_floats,
        global_vector_bytes=global_vector_bytes,
        has_vector_atomics=has_vector_atomics,
        merges_wide_loads=True,
        matrix_instructions=frozenset(matrix_instructions),
        mnemonics=("ld.shared", "st.shared"),
        cycle="wavefront",
        weighs_conversions=True,
        load_evidence=evidence,
        store_evidence=evidence,
        source=source,
    )


def _cdna(
    name: str,
    title: str,
    *chips: str,
    banks: int = 32,
    shared_kib: int = 64,
    far_lanes: int = 16,
    swapped_lanes: tuple[int, ...] = (),
    load_phases: PhaseTable | None = None,
    conversion_lanes: tuple[tuple[int, ...], ...] = (),
    transposing_reads: Mapping[int, TransposingRead] | None = None,
    load_evidence: Evidence = Evidence.MEASURED,
    store_evidence: Evidence = Evidence.DOCUMENTED,
    source: str = f"{_MEASURED}; {_GUIDE}",
) -> Target:
    return Target(
        name=name,
        title=title,
        chips=chips,
        lanes=64,
        banks=banks,
        most_shared_bytes=shared_kib * KIB,
        far_lanes=far_lanes,
        swapped_lanes=swapped_lanes,
        counts_by_ballots=True,
        load_phases=load_phases or _phases(64, 32, b16=Phase((1, 2, 20), 32)),
        store_phases=_phases(64, 32),
        counts_dwords=True,
        joins_global_accesses=True,
        pairs_accesses=True,
        transposing_reads=MappingProxyType(dict(transposing_reads or {})),
        mnemonics=("ds_read", "ds_write"),
        conversion_lanes=conversion_lanes,
        load_evidence=load_evidence,
        store_evidence=store_evidence,
        source=source,
    )


def _rdna(
    name: str,
    title: str,
    *chips: str,
    banks: int = 32,
    shared_kib: int = 64,
    shared_partition_kib: int = 0,
    load_phases: PhaseTable | None = None,
    conversion_lanes: tuple[tuple[int, ...], ...] = (),
    transposing_reads: Mapping[int, TransposingRead] | None = None,
    counts_dwords: bool = False,
    loops_atomics: bool = False,
    scatters_async_copies: bool = False,
    load_evidence: Evidence = Evidence.MEASURED,
    source: str = f"{_MEASURED}; of stores: as many lanes as fill the banks",
) -> Target:
    return Target(
        name=name,
        title=title,
        chips=chips,
        banks=banks,
        far_lanes=32,
        counts_by_ballots=True,
        most_shared_bytes=shared_kib * KIB,
        shared_partition_bytes=shared_partition_kib * KIB,
        load_phases=load_phases or _phases(32, banks),
        store_phases=_phases(32, banks),
        counts_dwords=counts_dwords,
        loops_atomics=loops_atomics,
        scatters_async_copies=scatters_async_copies,
        joins_global_accesses=True,
        pairs_accesses=True,
        transposing_reads=MappingProxyType(dict(transposing_reads or {})),
        mnemonics=("ds_load", "ds_store"),
        conversion_lanes=conversion_lanes,
        load_evidence=load_evidence,
        store_evidence=Evidence.ASSUMED,
        source=source,
    )


def _addresses(text: str) -> tuple[tuple[str, int], ...]:
    """Return the bits that a text names, such as ``l2 r0`` for bit 2 of the lane, then 0 of the
    register."""
    places = {"l": "lane", "r": "register"}
    return tuple((places[word[0]], int(word[1:])) for word in text.split())


_READS_OF_CDNA4 = {
    1: TransposingRead("ds_read_b64_tr_b8", 8, _addresses("l3 r0 r1 r2 l4 l5")),
    2: TransposingRead("ds_read_b64_tr_b16", 8, _addresses("l2 l3 r0 r1 l4 l5")),
}
_READS_OF_GFX1250 = {
    1: TransposingRead("ds_load_tr8_b64", 8, _addresses("r0 r1 l3 r2 l4")),
    2: TransposingRead("ds_load_tr16_b128", 16, _addresses("r0 r1 r2 l3 l4")),
}
_PAIRS_OF_QUADS = ((0, 1, 4),)
_QUADS_OVER_64_BANKS = ((0, 1, 3, 4), (0, 1, 2, 4))

_BLACKWELL_MATRICES = ("ldmatrix", "ldmatrix.b8", "stmatrix", "stmatrix.b8")

ROWS = (
    _nvidia("sm70", "NVIDIA Volta", shared_kib=96, combines_lanes=False),
    _nvidia("sm75", "NVIDIA Turing", "ldmatrix", shared_kib=64, combines_lanes=False),
    _nvidia(
        "sm80",
        "NVIDIA Ampere and Ada",
        "ldmatrix",
        shared_kib=163,
        less_shared=("sm86", "sm89"),
    ),
    _nvidia(
        "sm90",
        "NVIDIA Hopper",
        "ldmatrix",
        "stmatrix",
        has_vector_atomics=True,
        evidence=Evidence.MEASURED,
        source=f"counters of an H200: docs/bank-conflicts.md; {_CUDA_GUIDE}",
    ),
    _nvidia(
        "sm100",
        "NVIDIA Blackwell",
        *_BLACKWELL_MATRICES,
        combines_extremes=True,
        combines_floats=True,
        global_vector_bytes=32,
        has_vector_atomics=True,
    ),
    _nvidia(
        "sm110",
        "NVIDIA Blackwell of Jetson and RTX",
        *_BLACKWELL_MATRICES,
        less_shared=("sm120", "sm121"),
        combines_extremes=True,
        global_vector_bytes=32,
        has_vector_atomics=True,
    ),
    _cdna("gfx90a", "AMD CDNA2", "gfx90", load_evidence=Evidence.DOCUMENTED, source=_ROCM),
    _cdna("gfx942", "AMD CDNA3", "gfx94", conversion_lanes=_PAIRS_OF_QUADS),
    _cdna(
        "gfx950",
        "AMD CDNA4",
        "gfx95",
        banks=64,
        shared_kib=160,
        far_lanes=64,
        swapped_lanes=(4, 5),
        load_phases=_phases(64, 64, b16=Phase((1, 2, 12, 20), 64)),
        conversion_lanes=_QUADS_OVER_64_BANKS,
        transposing_reads=_READS_OF_CDNA4,
        store_evidence=Evidence.ASSUMED,
        source=f"{_MEASURED}; of stores: phases over 32 banks, as on CDNA3",
    ),
    _rdna(
        "gfx10",
        "AMD RDNA1 and RDNA2",
        "gfx10",
        conversion_lanes=_PAIRS_OF_QUADS,
        counts_dwords=True,
        loops_atomics=True,
        load_evidence=Evidence.ASSUMED,
        source=_ASSUMED,
    ),
    _rdna(
        "gfx11",
        "AMD RDNA3",
        "gfx11",
        load_phases=_phases(32, 32, b16=Phase((1, 2, 20), 32)),
        conversion_lanes=_PAIRS_OF_QUADS,
        loops_atomics=True,
    ),
    _rdna("gfx12", "AMD RDNA4", "gfx12"),
    _rdna(
        "gfx1250",
        "AMD gfx1250",
        "gfx125",
        banks=64,
        shared_kib=320,
        shared_partition_kib=64,
        transposing_reads=_READS_OF_GFX1250,
        scatters_async_copies=True,
        load_evidence=Evidence.ASSUMED,
        source=(
            "64 banks: Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp; "
            "assumed: phases of as many lanes as fill them"
        ),
    ),
)
"""Every GPU, NVIDIA's oldest first.

How conversions are compiled is from Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp,
getSharedLdStTiles and getSharedMemoryBanks, and IR/TargetFeatures.cpp,
queryLDSTransLoadParams, of the reads that transpose; the bytes were confirmed on 3.9 for sm80,
sm90, gfx90a, gfx942 and gfx950.
getSharedLdStTiles and getSharedMemoryBanks; the bytes were confirmed on 3.9 for sm80, sm90,
gfx90a, gfx942 and gfx950.  Shared memory: CUDA C++ Programming Guide, Technical Specifications
per Compute Capability; Triton, third_party/amd/lib/Dialect/TritonAMDGPU/IR/TargetFeatures.cpp.
"""

_BY_NAME = {target.name: target for target in ROWS}
_ALIASES = {"nvidia": "sm90", "amd": "gfx942", "gfx9": "gfx942", "rdna": "gfx11"}

TARGETS: Mapping[str, Target] = MappingProxyType(
    {**_BY_NAME, **{alias: _BY_NAME[name] for alias, name in _ALIASES.items()}}
)
"""Every target by its name, and ``nvidia``, ``amd``, ``gfx9`` and ``rdna`` for the usual ones."""

DEFAULT_TARGET = "nvidia"
"""The name of the target that is meant where none is named."""

USUAL_TARGETS = (TARGETS[DEFAULT_TARGET], TARGETS["amd"])
"""What is meant where none is named and the lanes of a warp are known: the first with as many."""


def find_target(name: str) -> Target:
    """Return the target of a name: that of a row, or of a GPU as the compiler calls it.

    Raises:
        LayoutError: there is none.

    Example:
        >>> [find_target(name).name for name in ("nvidia", "sm_90a", "sm89", "gfx1201")]
        ['sm90', 'sm90', 'sm80', 'gfx12']
    """
    found = TARGETS.get(name) or _row_of(name)
    if found is None:
        raise LayoutError(f"unknown target {quoted(name)}; choose from {', '.join(TARGETS)}")
    return found


def _row_of(chip: str) -> Target | None:
    """Return the row that a GPU belongs to, if there is one."""
    if match := re.fullmatch(r"sm_?(\d{1,4})[af]?", chip):
        older = [row for row in ROWS if 0 <= _capability(row) <= int(match[1])]
        return max(older, key=_capability, default=None)
    fits = [(prefix, row) for row in ROWS for prefix in row.chips if chip.startswith(prefix)]
    return max(fits, key=lambda fit: len(fit[0]), default=(None, None))[1]


def _capability(row: Target) -> int:
    """Return the compute capability of a row, such as 90; -1 of a GPU that has none."""
    return int(row.name[2:]) if row.is_nvidia else -1


def usual_target(lanes: int) -> Target | None:
    """Return the target that is meant by layouts for warps of this many lanes.

    Example:
        >>> [target and target.name for target in map(usual_target, (32, 64, 16))]
        ['sm90', 'gfx942', None]
    """
    return next((target for target in USUAL_TARGETS if target.lanes == lanes), None)


def target_names() -> str:
    """Return the names that ``--target`` takes, short enough for the help.

    Example:
        >>> target_names().split(", ")[:2]
        ['nvidia', 'amd']
    """
    nvidia = sorted((row for row in ROWS if _capability(row) >= 0), key=_capability)
    others = [row.name for row in ROWS if _capability(row) < 0]
    return ", ".join(["nvidia", "amd", f"{nvidia[0].name} to {nvidia[-1].name}", *others])
