"""Types of a kernel's features for type checkers: counts and sums are never null.

`tt_layout.reports.feature_fields` has their meanings; ``tests/reports/test_features.py``, run as a
script, regenerates the fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from tt_layout.reports.feature_fields import Value

# -- the fields --
Count = Literal[
    "version",
    "line",
    "layouts",
    "data_movements",
    "conversions",
    "local_loads",
    "local_stores",
    "global_loads",
    "global_stores",
    "global_atomics",
    "copies_to_local",
    "copies_from_local",
    "copies_within_local",
    "allocations",
    "reductions",
    "scans",
    "gathers",
    "histograms",
    "conversions_through_shared",
    "multiplications",
    "multiplications_without_instruction",
    "unknown_accesses",
    "unknown_costs",
    "errors",
    "findings_refused",
    "findings_registers",
    "findings_conversions",
    "findings_conflicts",
    "findings_narrow_shared",
    "findings_tensor_cores",
    "findings_block_loads",
    "findings_narrow_loads",
    "findings_uncoalesced",
]
Number = Literal[
    "conversion_bytes",
    "local_load_bytes",
    "local_store_bytes",
    "global_load_bytes",
    "global_store_bytes",
    "global_atomic_bytes",
    "copy_to_local_bytes",
    "copy_from_local_bytes",
    "copy_within_local_bytes",
    "reduction_bytes",
    "scan_bytes",
    "gather_bytes",
    "histogram_bytes",
    "sectors",
    "ideal_sectors",
    "wavefronts",
    "conflict_wavefronts",
    "shuffles",
    "flops",
    "cycles",
    "finding_cycles",
]
PerhapsCount = Literal[
    "programs",
    "warps",
    "threads_per_warp",
    "ctas",
    "registers",
    "registers_low",
    "registers_high",
    "live_registers",
    "registers_limit",
    "spilled_registers",
    "compiled_registers",
    "compiled_spills",
    "shared_bytes",
    "shared_limit",
    "tensor_columns",
    "occupancy_ctas",
    "occupancy_warps",
    "occupancy_most_warps",
    "occupancy_ctas_low",
    "occupancy_ctas_high",
    "estimate_resident",
]
PerhapsNumber = Literal[
    "bound_dram",
    "bound_l2",
    "bound_lsu",
    "bound_tensor_cores",
    "bound_fma",
    "bound_special_functions",
    "bound_cycles",
    "conversions_share",
    "exchanges_share",
    "shared_share",
    "global_share",
    "estimate_us",
    "estimate_least_us",
    "estimate_most_us",
    "estimate_exposed_latency_us",
    "estimate_issue_us",
    "estimate_instructions_fetched_us",
    "estimate_special_functions_us",
    "estimate_lsu_us",
    "estimate_l2_us",
    "estimate_tensor_cores_us",
    "estimate_atomics_us",
    "estimate_spills_us",
    "estimate_dram_us",
    "estimate_contended_atomics_us",
    "estimate_starts_of_programs_us",
    "estimate_launch_us",
    "estimate_waves",
    "estimate_latency_cycles",
    "estimate_spilled",
    "estimate_loop_trips",
    "estimate_loop_cycles",
    "findings_share",
]
PerhapsText = Literal[
    "kernel",
    "target",
    "gpu",
    "occupancy_limited_by",
    "bound_by",
    "estimate_limit",
]
PerhapsTruth = Literal[
    "spills",
    "may_spill",
]
Text = Literal[
    "tt_layout",
    "file",
]
Truth = Literal["is_assumed"]
# -- the object --


class Features(dict[str, Value]):
    """The flat object of a kernel's features, with a type for each field."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: Count, /) -> int: ...
        @overload
        def __getitem__(self, key: Number, /) -> float: ...
        @overload
        def __getitem__(self, key: Text, /) -> str: ...
        @overload
        def __getitem__(self, key: Truth, /) -> bool: ...
        @overload
        def __getitem__(self, key: PerhapsCount, /) -> int | None: ...
        @overload
        def __getitem__(self, key: PerhapsNumber, /) -> float | None: ...
        @overload
        def __getitem__(self, key: PerhapsText, /) -> str | None: ...
        @overload
        def __getitem__(self, key: PerhapsTruth, /) -> bool | None: ...
        @overload
        def __getitem__(self, key: str, /) -> Value: ...
        def __getitem__(self, key: str, /) -> Value:
            return super().__getitem__(key)
