"""The layout behind a printed view, read back from the heading above it.

Views are closed functions that make text; what they show is told by their heading, for every
way in which a view comes about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.linear_layout import LinearLayout
from tt_layout.parsing import parse_layout
from tt_layout.printing import PrintedView, buffer_shape
from tt_layout.releases import Release
from tt_layout.types import TensorType, parse_type
from tt_layout.views import Selection, View

_HEADING = re.compile(r"Print layout attribute: (?:#[\w$-]+ = )?(#.*>)(.*)", re.DOTALL)
_ON_TYPE = re.compile(r"(#.*>) on ((?:tensor|memdesc)<.*)", re.DOTALL)
_PART = re.compile(r" of \d+(?:x\d+)*(?=>)")


@dataclass(frozen=True)
class Subject:
    """What a view shows.

    Attributes:
        encoding: the layout attribute.
        layout: its linear layout.
        element_bytes: bytes of an element, at least 1; 4 where the type does not tell.
        use_hw_view: whether places, rather than elements, are in order.
        selection: the part that is shown.
    """

    encoding: Encoding
    layout: LinearLayout
    element_bytes: int
    use_hw_view: bool
    selection: Selection

    @property
    def is_distributed(self) -> bool:
        """Whether the tensor is in registers."""
        return isinstance(self.encoding, DistributedEncoding)

    @property
    def is_shared(self) -> bool:
        """Whether the tensor is in shared memory."""
        return isinstance(self.encoding, SharedEncoding)

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """Pairs of an interval and the padding after it; none but in shared memory."""
        return self.encoding.padding if isinstance(self.encoding, SharedEncoding) else ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor's dimensions."""
        return tuple(size for _, size in self.layout.out_sizes)

    def view(self) -> View:
        """Return the view again."""
        return self.encoding.view(self.layout, self.use_hw_view, self.selection)

    def selecting(self, selection: Selection) -> Subject:
        """Return the same with another part shown."""
        return replace(self, selection=selection)


def subject_of(
    printed: PrintedView,
    tensor: TensorType | None,
    release: Release | None,
    use_hw_view: bool,
    selection: Selection,
) -> Subject | None:
    """Return what a printed view shows; None for a heading without a view.

    Args:
        printed: the view.
        tensor: its type; where None, the heading names it.
        release: whose rules hold.
        use_hw_view: whether it is a hardware view.
        selection: the part shown.
    """
    match = _HEADING.match(printed.heading.decode().rstrip("\n"))
    if match is None or not printed.view.size:
        return None
    attribute = match.group(1)
    try:
        if tensor is None:
            named = _ON_TYPE.match(attribute)
            if named is None:
                return None
            attribute = named.group(1)
            tensor = _named_type(named.group(2))
        subject = _lay(attribute, tensor, release, use_hw_view, selection)
    except LayoutError:
        return None
    return subject if subject.view().size == printed.view.size else None


def _named_type(text: str) -> TensorType:
    """Return a type as a heading names it, such as ``memdesc<8x8xf16 of 16x8>``."""
    part = _PART.search(text)
    bare = _PART.sub("", text)
    tensor = parse_type(f"!ttg.{bare}" if bare.startswith("memdesc") else bare)
    if part is None:
        return tensor
    sizes = tuple(int(size) for size in part.group()[4:].split("x"))
    return tensor._replace(shape=sizes[len(sizes) - len(tensor.shape) :])


def _lay(
    attribute: str,
    tensor: TensorType,
    release: Release | None,
    use_hw_view: bool,
    selection: Selection,
) -> Subject:
    encoding = parse_layout(attribute, release=release)
    shape = buffer_shape(encoding, tensor)
    bits = tensor.element_bits
    layout = encoding.to_linear_layout(shape, element_bits=bits)
    return Subject(encoding, layout, max(1, (bits or 32) // 8), use_hw_view, selection)
