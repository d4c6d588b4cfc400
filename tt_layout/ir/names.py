"""Names of dialects, operations and attributes that changed between releases.

Each changed name has a row: the former name, today's, and the newest release that prints the
former.  A dialect has a row of its own, so that its operations need one only if their own part
changed, too.  Code looks names up as of today, and finds them as of any release.

Source:
    the history of TritonGPUDialect.td, TritonGPUOps.td, TritonNvidiaGPUDialect.td,
    TritonNvidiaGPUOps.td, TritonAMDGPUDialect.td, TritonAMDGPUOps.td, NVGPUDialect.td and
    TritonIntelGPUDialect.td; the releases are those of the tags that have them, Intel's own for
    ``ttig``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

Value = TypeVar("Value")


class FormerName(NamedTuple):
    """A name that a later release replaced.

    Attributes:
        name: the former name: a dialect, or a name with its dialect as of today.
        today: the name in the newest release.
        last: the newest release that prints the former name.
    """

    name: str
    today: str
    last: Release


_ROWS = """
    triton_gpu              ttg             3.2
    triton_nvidia_gpu       ttng            3.2
    amdgpu                  amdg            3.6
    nvgpu                   nvg             3.6
    triton_intel_gpu        ttig            3.3
    ttng.dot_async                          ttng.warp_group_dot                                 2.3
    ttng.dot_wait                           ttng.warp_group_dot_wait                            2.3
    ttg.local_barrier                       ttg.barrier                                         3.6
    ttg.local_atomic_scatter_add            ttg.local_atomic_scatter_rmw                        3.7
    amdg.local_load_packed_tranposed        amdg.local_load_packed_transposed                   3.8
    ttig.support_sg_2d_block                ttig.support_2d_block_io                            3.6
    ttig.support_bf16_conversion            ttig.support_bfloat16_conversion                    3.6
    ttig.support_dpas                ttig.support_subgroup_matrix_multiply_accumulate           3.6
    ttig.support_dpas_bf8            ttig.support_subgroup_matrix_multiply_accumulate_bf8       3.6
    ttig.support_block_scale_dpas    ttig.support_subgroup_scaled_matrix_multiply_accumulate    3.6
"""

FORMER_NAMES = tuple(
    FormerName(name, today, Release.parse(last))
    for name, today, last in (line.split() for line in _ROWS.strip().split("\n"))
)

_TODAY: Mapping[str, str] = {former.name: former.today for former in FORMER_NAMES}

MAX_REMEMBERED = 1 << 12
"""Names that are remembered: a text that is no valid dump may have any."""


@lru_cache(maxsize=MAX_REMEMBERED)
def name_today(name: str) -> str:
    """Return the name of an operation or an attribute in the newest release.

    Args:
        name: the name with its dialect, as of any release.

    Returns:
        The name itself if it is current, or its dialect is not known.

    Example:
        >>> name_today("triton_intel_gpu.support_sg_2d_block"), name_today("amdgpu.buffer_load")
        ('ttig.support_2d_block_io', 'amdg.buffer_load')
        >>> name_today("acme.load")
        'acme.load'
    """
    dialect, dot, bare = name.partition(".")
    name = _TODAY.get(dialect, dialect) + dot + bare
    return _TODAY.get(name, name)


@lru_cache(maxsize=MAX_REMEMBERED)
def spellings(name: str) -> tuple[str, ...]:
    """Return every spelling of a dialect, or of a name with its dialect, newest first.

    Example:
        >>> spellings("ttig"), spellings("ttig.block_io")
        (('ttig', 'triton_intel_gpu'), ('ttig.block_io', 'triton_intel_gpu.block_io'))
    """
    names = [name, *(former.name for former in FORMER_NAMES if former.today == name)]
    former_dialects = [
        former.name + today.removeprefix(former.today)
        for today in names
        for former in FORMER_NAMES
        if today.startswith(f"{former.today}.") and "." not in former.name
    ]
    return (*names, *former_dialects)


def stated(attributes: Mapping[str, Value], name: str) -> Value | None:
    """Return an attribute under its name in any release; None where it is absent.

    Args:
        attributes: attributes by their names as written.
        name: today's name, with its dialect.

    Example:
        >>> stated({"triton_gpu.num-warps": 4}, "ttg.num-warps")
        4
    """
    for spelling in spellings(name):
        if spelling in attributes:
            return attributes[spelling]
    return None


def in_every_spelling(rows: Mapping[str, Value]) -> dict[str, Value]:
    """Return rows by today's name as rows by every spelling of the name.

    Example:
        >>> in_every_spelling({"amdg.concat": 1, "tt.load": 2})
        {'amdg.concat': 1, 'amdgpu.concat': 1, 'tt.load': 2}
    """
    return {spelling: row for name, row in rows.items() for spelling in spellings(name)}
