"""Registry of views, one entry each.

A new view is one more entry in `KINDS` and a module with the function that makes it.  The options
of the command line, the golden files of ``check`` and the colours and columns of a terminal follow
from the entry and from the `View` that the function returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.views.selection import (
    EVERYTHING,
    LOCATION_FIELDS,
    SELECTION_FIELDS,
    SLICE,
    Selection,
)

if TYPE_CHECKING:
    from tt_layout.algebra.linear_layout import LinearLayout
    from tt_layout.algebra.padding import Padding
    from tt_layout.views.view import View, Viewable

TENSOR, HARDWARE = "tensor", "hardware"


@dataclass(frozen=True, eq=False, repr=False)
class ViewKind:
    """A kind of view.

    Attributes:
        name: its name on the command line and in manifests, and the suffix of golden files.
        summary: its content.
        makers: for each supported memory space, the ``module:function`` that makes it from a
            placed layout and the part to show.
        selects: the options that choose a part: `SLICE`, or keys of `LOCATION_FIELDS`.
        option: the option of the command line for it.
        modular_maker: the maker for layouts over sizes that are not all powers of two.
    """

    name: str
    summary: str
    makers: Mapping[MemorySpace, str]
    selects: tuple[str, ...] = ()
    option: str = ""
    modular_maker: str | None = None

    def view(self, placed: Viewable, selection: Selection = EVERYTHING) -> View:
        """Return the view of a placed layout.

        Args:
            placed: the layout over a tensor.
            selection: the part to show.

        Raises:
            LayoutError: the kind is not for the layout's memory space, the layout has other
                input dimensions, or the selected part does not exist.

        Example:
            >>> from tt_layout.algebra.linear_layout import LinearLayout
            >>> from tt_layout.views.view import BareLayout
            >>> layout = LinearLayout.identity_1d(2, "lane", "dim0")
            >>> KINDS["tensor"].view(BareLayout(layout)).text()
            '[T0:0, T1:0]\\n'
        """
        maker = self.makers.get(placed.memory_space)
        if placed.layout.is_modular:
            maker = self.modular_maker
            if maker is None:
                raise LayoutError(f"the {self.name} view needs sizes that are powers of two")
        if maker is None:
            spaces = " or ".join(self.makers)
            message = f"the {self.name} view shows layouts in {spaces}"
            raise LayoutError(f"{message}, but this one lives in {placed.memory_space}")
        fields = (SELECTION_FIELDS[key] for key in self.selects)
        selection.check_options(f"a {self.name} view", *fields)
        module, _, function = maker.partition(":")
        view: View = getattr(import_module(module), function)(placed, selection)
        return view


KINDS: Mapping[str, ViewKind] = {
    kind.name: kind
    for kind in (
        ViewKind(
            TENSOR,
            "who holds each element",
            {
                MemorySpace.REGISTERS: "tt_layout.views.distributed:tensor_view",
                MemorySpace.SHARED: "tt_layout.views.shared:tensor_view",
                MemorySpace.TENSOR: "tt_layout.views.tensor_memory:tensor_view",
            },
            selects=(SLICE,),
            modular_maker="tt_layout.views.modular:tensor_view",
        ),
        ViewKind(
            HARDWARE,
            "what each location of the hardware holds",
            {
                MemorySpace.REGISTERS: "tt_layout.views.distributed:hardware_view",
                MemorySpace.SHARED: "tt_layout.views.shared:hardware_view",
                MemorySpace.TENSOR: "tt_layout.views.tensor_memory:hardware_view",
            },
            selects=tuple(LOCATION_FIELDS),
            option="--use-hw-view",
            modular_maker="tt_layout.views.modular:hardware_view",
        ),
    )
}
"""Name -> kind, in the order in which they are listed."""


def find_kind(name: str) -> ViewKind:
    """Return the kind of a name.

    Raises:
        LayoutError: there is none.

    Example:
        >>> find_kind("tensr")
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: there is no view 'tensr'; choose from tensor, hardware
    """
    if name not in KINDS:
        raise LayoutError(f"there is no view {name!r}; choose from {', '.join(KINDS)}")
    return KINDS[name]


def text_of(
    layout: LinearLayout, memory_space: MemorySpace, kind: str, padding: Padding = ()
) -> str:
    """Return the whole text of a view of a linear layout.

    Args:
        layout: a layout from the input dimensions of the memory space.
        memory_space: the memory space.
        kind: the name of a view.
        padding: padding of shared memory.

    Raises:
        LayoutError: there is no such view of the layout.
    """
    from tt_layout.views.view import BareLayout

    return find_kind(kind).view(BareLayout(layout, padding, memory_space)).text()
