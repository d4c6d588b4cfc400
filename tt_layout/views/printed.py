"""An encoding and a type to the printed view of the tool: heading and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.errors import LayoutError, TooLargeError
from tt_layout.mlir.types import TensorType
from tt_layout.placement import Subject
from tt_layout.releases import Release
from tt_layout.views import Selection, View


class PrintedView(NamedTuple):
    """A view with its heading, and whether an empty line follows.

    Attributes:
        heading: the line above the view, with its end.
        view: the text below it.
        ending: what follows the view.
        subject: what the view shows; None for a heading without a view.
    """

    heading: bytes
    view: View
    ending: bytes = b""
    subject: Subject | None = None

    @property
    def size(self) -> int:
        """The number of bytes in all."""
        return len(self.heading) + self.view.size + len(self.ending)

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes, made as they are asked for."""
        yield self.heading
        yield from self.view.chunks()
        yield self.ending


def print_view(
    encoding: Encoding,
    tensor: TensorType,
    *,
    use_hw_view: bool = False,
    alias: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> PrintedView:
    """Return the printed view of an encoding over a tensor type.

    Args:
        encoding: the layout.
        tensor: the type; a memdesc may have one leading dimension more than the layout.
        use_hw_view: whether to show what each place holds.
        alias: the name by which the layout was asked for.
        selection: the part to show.

    Raises:
        LayoutError: the layout does not fit the type.
    """
    subject = subject_over(encoding, tensor, use_hw_view=use_hw_view, selection=selection)
    name = f"#{alias} = " if alias is not None else ""
    note = _buffer_note(encoding, tensor, subject.shape)
    heading = f"Print layout attribute: {name}{encoding}{note}\n"
    return PrintedView(heading.encode(), subject.view(), subject=subject)


def subject_over(
    encoding: Encoding,
    tensor: TensorType,
    *,
    use_hw_view: bool = False,
    selection: Selection = Selection(),  # noqa: B008 - immutable
) -> Subject:
    """Return an encoding laid over a tensor type; over one buffer of a ring.

    Args:
        encoding: the layout.
        tensor: the type.
        use_hw_view: whether to show what each place holds.
        selection: the part to show.

    Raises:
        LayoutError: the layout does not fit the type, at which the error points.
    """
    layout = lay_over(encoding, tensor)
    return Subject(encoding, layout, tensor.element_bits, use_hw_view, selection)


def lay_over(encoding: Encoding, tensor: TensorType) -> LinearLayout:
    """Return the linear layout of an encoding over a type; of one buffer of a ring.

    Raises:
        LayoutError: it does not fit the type; the error points at the type.
    """
    try:
        shape = buffer_shape(encoding, tensor)
        return encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
    except LayoutError as error:
        raise error.at(tensor.span) from None


def buffer_shape(encoding: Encoding, tensor: TensorType) -> tuple[int, ...]:
    """Return the shape that the layout is for: the type's, without a leading buffer index.

    Raises:
        LayoutError: the layout is not for such a type.
    """
    has_index = encoding.has_rings and len(tensor.shape) == (encoding.rank or 0) + 1
    is_ring = has_index and isinstance(encoding, SharedEncoding)
    if tensor.kind == "tensor" and is_ring and encoding.release <= Release.V2_3:
        return tensor.shape[1:]  # there were no memdescs yet
    if tensor.kind == "tensor":
        return tensor.shape
    if isinstance(encoding, DistributedEncoding):
        message = f"#{encoding.name} is for tensors in registers, but a memdesc is in memory"
        raise LayoutError(f"{message}; write tensor<...>")
    if tensor.element_bits is not None:
        encoding.check_element(tensor.element_bits)
    return tensor.shape[1:] if has_index else tensor.shape


def _buffer_note(encoding: Encoding, tensor: TensorType, shape: Sequence[int]) -> str:
    """Return what the heading says where the type is a ring of buffers."""
    if len(shape) == len(tensor.shape):
        return ""
    count = tensor.shape[0]
    return f" (each of the {count} buffer{'s' if count != 1 else ''} of a {_memory(encoding)} ring)"


def _memory(encoding: Encoding) -> str:
    return "shared-memory" if isinstance(encoding, SharedEncoding) else "tensor-memory"


def check_size(views: Iterable[PrintedView], limit: int) -> int:
    """Return the bytes of all views together.

    Raises:
        TooLargeError: they are more than the limit.
    """
    size = sum(view.size for view in views)
    if size > limit:
        raise TooLargeError(
            f"the text would have {human_size(size)} ({size} bytes), more than the limit of "
            f"{human_size(limit)}; --max-text raises the limit"
        )
    return size


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def human_size(size: int) -> str:
    """Return a number of bytes as people write it.

    Example:
        >>> human_size(256 << 20), human_size(1500)
        ('256 MiB', '1.5 KiB')
    """
    value = float(size)
    for unit in _UNITS:
        if value < 1024 or unit == _UNITS[-1]:
            break
        value /= 1024
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def parse_size(text: str) -> int:
    """Return the bytes that a text such as ``4GiB``, ``300 MB`` or ``1000`` stands for.

    Raises:
        LayoutError: the text is no size.

    Example:
        >>> parse_size("4GiB") == 4 << 30, parse_size("2kB")
        (True, 2000)
    """
    import re

    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*(?:([kKMGTPE])(i?))?B?\s*", text)
    if match is None:
        raise LayoutError(f"expected a size such as 256MiB or 4GiB, got {text!r}")
    number, prefix, binary = match.groups()
    power = " KMGTPE".index((prefix or " ").upper())
    return int(float(number) * (1024 if binary else 1000) ** power)
