"""A GPU as data: its warps, its memory, its rates, and what its compiler does with them.

A warp-wide access is carried out in *phases*, each for some of the lanes.  Within a phase, lanes
that touch different words of one bank take a cycle each; lanes at the same word share a cycle.
NVIDIA's profiler calls such a cycle a wavefront.

The lanes of a phase depend on the bytes that each lane moves.  In every known case the phases are
the cosets of one subspace: given masks m1, m2, .., the lanes of a phase are those that differ from
each other by an xor of some of the masks.  Masks (1, 2, 4) are eight neighbouring lanes; (1, 2, 20)
are lanes 0-3 with 20-23, 4-7 with 16-19, and so on.

A field that no source gives is None, and its users report that it is not known for the GPU.

Read next:    `tt_layout.analyses.shared_memory.banks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.compiler import CompilerModel, Knobs
from tt_layout.hardware.multiprocessor import GridLimits, RegisterFile, Residence, Variant
from tt_layout.hardware.product import Product
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

BANK_BYTES = 4
KIB = 1024

_OLD_NAMES = ("ds_read", "ds_write")
_ADDRESSES = {"": "", "2": "_2addr", "2st64": "_2addr_stride64"}
"""How instructions for two addresses are spelled since GFX11."""


class Phase(NamedTuple):
    """Division of an access of one width into phases.

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
    """A load of AMD's GPUs that transposes a tile between lanes.

    Attributes:
        name: its name in assembly.
        width_bytes: contiguous bytes that each lane reads.
        addresses: the source of each bit of the lane's address: a bit of the lane (``lane``) or
            of the register (``register``) that the data goes to.
    """

    name: str
    width_bytes: int
    addresses: tuple[tuple[str, int], ...]

    @property
    def tile_bits(self) -> int:
        """Number of lane bits along which the data of a tile is contiguous."""
        lanes = [bit for place, bit in self.addresses if place == "lane"]
        return min(lanes)


PhaseTable = Mapping[int, Phase]
"""Bytes per lane -> its phases.  Narrower accesses are like the narrowest in the table."""


_MATRIX_PHASE = Phase((1, 2, 4), 32)


class Evidence(Enum):
    """Evidence for the phases of a row; the values are the words in reports."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A GPU: its warps, its memory, its rates, and what its compiler does with them.

    Attributes:
        name: the chip as the compiler calls it, which ``--target`` takes.
        title: the GPUs in words.
        backend: the vendor's backend.
        chips: other chips that differ from this one by name only; for AMD, prefixes of names.
        lanes: lanes of a warp.
        other_lanes: other sizes of a warp: Intel's sub-groups have 16 lanes or 32.
        banks: number of banks, each serving one word per cycle.
        swizzled_banks: number of banks that the compiler assumes for the buffer of a conversion;
            None for `banks`.
        bank_bytes: size of such a word in bytes.
        max_vector_bytes: the widest access of a lane.
        most_shared_bytes: maximum shared memory of a CTA; None where not known.
        shared_note: what is known of the shared memory then.
        most_threads: maximum threads of a CTA (CUDA's limits by compute capability; HIP's for a
            workgroup, lanes of idle warps included).
        most_ctas: maximum CTAs of a cluster; 1 for GPUs without clusters, for which Triton refuses
            to compile them.
        grid: the largest grid of a launch.
        shared_partition_bytes: size of the partitions of shared memory, which one access does not
            cross; 0 for no partitions.
        combines_lanes: whether one instruction reduces an integer over all lanes of a warp.
        combines_extremes: whether that is the faster way to a minimum or maximum.
        combines_floats: whether it also finds those of 32-bit floats.
        packed_sums: widths in bits of elements that a thread adds in pairs in a reduction.
        adds_rows: whether a sum over all lanes of a warp goes within rows of 16 lanes, then over
            rows.
        global_vector_bytes: the widest load or store of global memory.
        counts_dwords: whether the names of global accesses count 32-bit words.
        joins_global_accesses: whether loads and stores of global memory are LLVM's, which
            merges neighbours and drops repetitions.
        has_vector_atomics: whether one atomic instruction adds several floats.
        loops_atomics: whether float sums, minima and maxima in global memory are
            compare-and-swap loops.
        scatters_async_copies: whether each lane of an asynchronous copy gives its own address in
            shared memory.
        load_phases, store_phases: the phases per width.
        matrix_phase: the phase of a matrix instruction: one matrix, eight rows.
        merges_wide_loads: whether the phases of a wide load are merged in pairs if each lane reads
            the same as its neighbour by 1, or each the same as its neighbour by 2.
        pairs_accesses: whether one instruction may make two accesses of 4 or 8 bytes at
            constant distances.
        transposing_reads: bytes of an element -> the load that transposes such elements.
        matrix_instructions: those of ``ldmatrix`` and ``stmatrix`` that exist, and (``.b8``)
            those that transpose elements of a byte.
        mnemonics: the assembler's names of a load and of a store.
        cycle: the term for a cycle of the banks: NVIDIA's profiler counts wavefronts.
        shuffle_bits: bits that one shuffle brings to each lane.
        far_lanes: smallest difference of two lanes that exchange values through the hardware of
            shared memory (``ds_bpermute_b32``); nearer ones use instructions on registers.  0 if
            all shuffles are alike.
        swapped_lanes: bits of the lane that one instruction on registers exchanges with a bit of
            the register.
        counts_by_ballots: whether the lanes of a warp use ballots for a histogram, so that each
            adds only to its own counts.
        weighs_conversions: whether the compiler chooses instructions by cost when it converts a
            layout through shared memory.
        conversion_lanes: bits of the lane that may, in addition to the lowest ones, make up one
            wavefront of a 16-byte load of such a conversion; the compiler takes the choice that
            needs the least memory.
        registers: the registers of a multiprocessor.
        residence: the residency limits of a multiprocessor.
        variants: chips of the row with other registers or residency limits.
        products: products with this chip; the first is the default.
        compiler: model of the registers that its compiler allocates.
        knobs: knobs of a Triton program that change the layouts that the compiler chooses.
        matrix_layouts: mnemonics and versions of the layouts that only its matrix instructions
            have.
        load_evidence, store_evidence: evidence for the phases of loads and of stores.
        source: source of the phases.
    """

    name: str
    title: str
    backend: Backend
    chips: tuple[str, ...] = ()
    lanes: int = 32
    other_lanes: tuple[int, ...] = ()
    banks: int = 32
    swizzled_banks: int | None = None
    bank_bytes: int = BANK_BYTES
    max_vector_bytes: int = 16
    most_shared_bytes: int | None
    shared_note: str = ""
    most_threads: int = 1024
    most_ctas: int = 1
    grid: GridLimits
    shared_partition_bytes: int = 0
    combines_lanes: bool = False
    combines_extremes: bool = False
    combines_floats: bool = False
    packed_sums: tuple[int, ...] = ()
    adds_rows: bool = False
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
    registers: RegisterFile | None = None
    residence: Residence | None = None
    variants: tuple[Variant, ...] = ()
    products: tuple[Product, ...] = ()
    compiler: CompilerModel | None = None
    knobs: Knobs | None = field(default=None, hash=False)
    matrix_layouts: tuple[tuple[str, int], ...] = ()
    load_evidence: Evidence
    store_evidence: Evidence
    source: str

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with mapping proxies as dictionaries."""
        state = {item.name: getattr(self, item.name) for item in fields(self)}
        return {n: dict(v) if isinstance(v, MappingProxyType) else v for n, v in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled state."""
        views = {n: MappingProxyType(state[n]) for n in ("load_phases", "store_phases")}
        vars(self).update(state | views)

    @property
    def is_nvidia(self) -> bool:
        """Whether the GPU is one of NVIDIA's.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["sm90"].is_nvidia, TARGETS["gfx942"].is_nvidia
            (True, False)
        """
        return self.backend.name == "cuda"

    @property
    def is_amd(self) -> bool:
        """Whether the GPU is one of AMD's.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["sm90"].is_amd, TARGETS["gfx942"].is_amd
            (False, True)
        """
        return self.backend.name == "hip"

    @property
    def is_intel(self) -> bool:
        """Whether the GPU is one of Intel's.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["pvc"].is_intel, TARGETS["gfx942"].is_intel
            (True, False)
        """
        return self.backend.name == "xpu"

    @property
    def verified(self) -> bool:
        """Whether loads and stores were measured on such a GPU."""
        return self.load_evidence is self.store_evidence is Evidence.MEASURED

    @property
    def standing(self) -> str:
        """The evidence in words, for loads and stores separately if it differs.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["sm90"].standing, TARGETS["gfx942"].standing
            ('measured', 'loads measured, stores documented')
        """
        load, store = self.load_evidence.value, self.store_evidence.value
        return load if load == store else f"loads {load}, stores {store}"

    @property
    def product(self) -> Product | None:
        """The default product, with its memory, clock and multiprocessors; None without any.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> [find_target(name).product.name for name in ("sm90", "h100", "gfx942")]
            ['H200', 'H100', 'MI300X']
        """
        return self.products[0] if self.products else None

    def of_lanes(self, lanes: int) -> Target:
        """Return the row for another warp size; unchanged if it does not have that size.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> [find_target(name).of_lanes(32).lanes for name in ("pvc", "gfx942")]
            [32, 64]
        """
        return replace(self, lanes=lanes) if lanes in self.other_lanes else self

    def of_chip(self, chip: str) -> Target:
        """Return the row for one of its chips.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> [find_target(chip).registers.size for chip in ("gfx1100", "gfx1102")]
            [1536, 1024]
        """
        for variant in self.variants:
            if chip.startswith(variant.chips):
                registers, residence = variant.registers, variant.residence
                return replace(self, name=chip, registers=registers, residence=residence)
        return replace(self, name=chip)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Facts about a kernel that no source gives for this GPU, in words.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> find_target("sm90").unknown, find_target("gfx1201").unknown
            ((), ('bounds',))
        """
        facts = {
            "registers": self.registers and self.compiler,
            "occupancy": self.registers and self.residence,
            "bounds": self.product,
        }
        return tuple(name for name, fact in facts.items() if fact is None)

    @property
    def row_bytes(self) -> int:
        """Size of a row of all banks in bytes.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["nvidia"].row_bytes, TARGETS["gfx950"].row_bytes
            (128, 256)
        """
        return self.banks * self.bank_bytes

    @property
    def shared_addition(self) -> str:
        """The instruction that adds to a word of shared memory."""
        return "ds_add_u32" if self.mnemonics[0].startswith("ds") else "atom.shared.add.u32"

    def is_far(self, mask: int) -> bool:
        """Tell whether a shuffle between lanes that differ by a mask is a ``ds_bpermute_b32``.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["gfx942"].is_far(16), TARGETS["gfx950"].is_far(16)
            (True, False)
        """
        return 0 < self.far_lanes <= mask

    def phase(self, width_bytes: int, is_store: bool) -> Phase:
        """Return the phases of an access of this width.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["nvidia"].phase(16, is_store=False).lanes
            8
        """
        table = self.store_phases if is_store else self.load_phases
        return table[max(width_bytes, min(table))]

    def instruction_name(
        self, width_bytes: int, is_store: bool, *, word_bits: int = 32, form: str = ""
    ) -> str:
        """Return the name of an access of this width in the target's assembly.

        Args:
            width_bytes: bytes that a lane moves at each address.
            is_store: whether it is a store.
            word_bits: width of an element of NVIDIA's vectors: 64 if those of the tensor have it.
            form: form of AMD's instructions with two addresses: ``2`` or ``2st64``.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> TARGETS["nvidia"].instruction_name(16, is_store=False)
            'ld.shared.v4.b32'
            >>> [TARGETS["amd"].instruction_name(2, is_store) for is_store in (False, True)]
            ['ds_read_u16', 'ds_write_b16']
            >>> [TARGETS[name].instruction_name(8, True, form="2st64") for name in ("amd", "gfx12")]
            ['ds_write2st64_b64', 'ds_store_2addr_stride64_b64']
            >>> [TARGETS["pvc"].instruction_name(width, is_store=False) for width in (2, 4, 16)]
            ['load.slm.d16u32', 'load.slm.d32', 'load.slm.d32x4']
        """
        name, bits = self.mnemonics[is_store], 8 * width_bytes
        if name.endswith(".slm"):
            widened = "u32" if bits < 32 else ""
            vector = f"x{bits // word_bits}" if bits > word_bits else widened
            return f"{name}.d{min(bits, word_bits)}{vector}"
        if "_" in name:
            spelled = form if name in _OLD_NAMES else _ADDRESSES[form]
            return f"{name}{spelled}_{'u' if bits < 32 and not is_store else 'b'}{bits}"
        vector = f"v{bits // word_bits}." if bits > word_bits else ""
        return f"{name}.{vector}b{min(bits, word_bits)}"


def phases(lanes: int, banks: int, **named: Phase) -> PhaseTable:
    """Return a table in which a phase has as many neighbouring lanes as fill all banks once."""
    table = {}
    for width in (4, 8, 16):
        count = min(lanes, banks * BANK_BYTES // width)
        table[width] = Phase(tuple(1 << bit for bit in range(count.bit_length() - 1)), banks)
    return MappingProxyType({**table, **{int(name[1:]): phase for name, phase in named.items()}})
