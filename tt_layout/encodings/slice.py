"""``#ttg.slice``: a distributed layout with one dimension reduced away."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import dim_names
from tt_layout.encodings.base import DistributedEncoding, Encoding, Shape, Violation
from tt_layout.encodings.forms import INTEGER, LAYOUT, Form, Key
from tt_layout.records import dataclass
from tt_layout.releases import Release

_KEYS = (
    Key("dim", INTEGER, field="dim"),
    Key("parent", LAYOUT, field="parent"),
)


@dataclass(frozen=True, kw_only=True)
class Slice(DistributedEncoding):
    """A distributed layout without one of its dimensions.

    The tensor is mapped as if it had size 1 along ``dim`` of the parent.  Lanes, warps
    and blocks that moved along it now repeat elements; registers that did are dropped (in 2.0
    they repeat elements too).

    Attributes:
        dim: the dimension of the parent that is reduced away.
        parent: a distributed layout with one dimension more.

    Example:
        >>> import tt_layout
        >>> rows = tt_layout.parse_layout(
        ...     "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], "
        ...     "threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>}>")
        >>> rows.to_linear_layout([8]).bases[:2]
        [('register', [[4]]), ('lane', [[0], [0], [0], [1], [2]])]

    Source:
        Triton, lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
        SliceEncodingAttr::toLinearLayout.
    """

    dim: int
    parent: Encoding

    mnemonic = "slice"
    has_width = False
    ignores_unknown_keys = True
    forms = (
        Form(f"triton_gpu.{mnemonic}", Release.V2022, _KEYS),
        Form(f"ttg.{mnemonic}", Release.V3_3, _KEYS),
    )

    @property
    def rank(self) -> int | None:
        """One less than the parent's."""
        parent_rank = self.parent.rank
        return None if parent_rank is None else parent_rank - 1

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        parent_rank = self.parent.rank
        if not isinstance(self.parent, DistributedEncoding):
            message = f"the parent of a slice must be a distributed layout, got #{self.parent.name}"
            yield Violation(message, ("parent",), Release.V3_3)
            return
        if parent_rank is not None and parent_rank < 2:
            message = f"the parent of a slice must have rank 2 or more, got rank {parent_rank}"
            yield Violation(message, ("parent",), Release.V3_5)
        elif parent_rank is not None and self.dim >= parent_rank:
            last = parent_rank - 1
            message = (
                f"{self.key('dim')} must be a dimension of the parent (0..{last}), got {self.dim}"
            )
            yield Violation(message, ("dim",), Release.V3_5)

    def parents(self) -> Iterator[Encoding]:
        """Yield the parent."""
        yield self.parent

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the parent's layout without the component ``dim``."""
        unreduced = (*shape[: self.dim], 1, *shape[self.dim :])
        parent = self.parent.layout_for(unreduced, element_bits)
        kept = [name for d, name in enumerate(dim_names(len(unreduced))) if d != self.dim]
        sliced = parent.sublayout(parent.get_in_dim_names(), kept)
        sizes = tuple(zip(dim_names(len(shape)), (size for _, size in sliced.out_sizes)))
        renamed = LinearLayout(sliced.in_bases, sizes)
        if self.release <= Release.V2_0:
            return renamed
        return renamed.remove_zero_bases("register")
