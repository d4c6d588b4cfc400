"""Parameter types of the commands; each parses its text.

Parsers are imported when there is a text to parse, so that help is quick.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.releases import Release, release_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tt_layout.encodings import Encoding
    from tt_layout.encodings.alias_table import AliasTable
    from tt_layout.hardware import Target
    from tt_layout.mlir.source import Source
    from tt_layout.mlir.types import TensorType
    from tt_layout.notation.context import Context

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

_Function = TypeVar("_Function", bound=Callable[..., Any])


def label(parameter: click.Parameter | None) -> str:
    """Return the name of a parameter in messages: an option's first name, an argument's metavar.

    Example:
        >>> label(click.Argument(["layout"], metavar="[READER_LAYOUT]..."))
        'READER_LAYOUT'
    """
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return parameter.human_readable_name.strip("[].") if parameter is not None else "<text>"


def files(incomplete: str) -> list[CompletionItem]:
    """Return the completion item that lets a shell complete a file name."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def starting(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin with an incomplete text."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class TextParameter(_ParamType):
    """Base of parameter types parsed from one string."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a string; return any other value unchanged."""
        return self.read(value, label(param)) if isinstance(value, str) else value

    def read(self, text: str, name: str) -> Any:
        """Parse a string; ``name`` is its name in messages."""
        raise NotImplementedError

    def names(self) -> Iterable[str]:
        """Return the completions for a shell."""
        return ()

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete text."""
        return starting(self.names(), incomplete)


class FileParameter(_ParamType):
    """A file name, which a shell completes."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell complete the name."""
        return files(incomplete)


class ReleaseParameter(TextParameter):
    """A release of Triton, such as ``3.5``."""

    name = "release"

    def names(self) -> Iterable[str]:
        """Return the releases."""
        return map(str, Release)

    def read(self, text: str, name: str) -> Release:
        """Return the release.

        Raises:
            LayoutError: no such release is known.
        """
        return Release.parse(text)


class TypeParameter(TextParameter):
    """A tensor type or a memdesc type."""

    name = "type"

    def read(self, text: str, name: str) -> TensorType:
        """Return the type.

        Raises:
            LayoutError: the text is not a type; the error points at the fault.
        """
        from tt_layout.mlir.types import parse_type

        if text.replace("x", "").isdecimal():
            raise LayoutError(f"{name} lacks the element type: {text.strip('x')}xf16?")
        return parse_type(text, name=name)


_NO_ATTRIBUTE = ("# ", "#include", "#pragma", "#define")
"""Beginnings of texts of other languages, though an attribute begins with a number sign, too."""


class NotationParameter(_ParamType):
    """A layout in any notation, by the rules of ``--triton`` and over ``-t``, both read first."""

    name = "layout"

    def __init__(self, memory_space: MemorySpace | None = None) -> None:
        """Take the memory space in which the layout must live; None for any."""
        self.memory_space = memory_space

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Encoding:
        """Return the encoding.

        Raises:
            LayoutError: the text is not a layout; the error points at the fault.
        """
        from tt_layout.encodings import Encoding
        from tt_layout.notation.context import Context

        if isinstance(value, Encoding):
            return value
        meta = ctx.meta if ctx is not None else {}
        lanes = {"threads_per_warp": meta[_LANES]} if _LANES in meta else {}
        context = Context(
            name=label(param),
            memory_space=self.memory_space,
            release=meta.get(_RELEASE),
            **lanes,
        )
        return self.read(value, context.over(meta.get(_TENSOR)))

    def read(self, text: str, context: Context) -> Encoding:
        """Return the encoding of a text."""
        from tt_layout.encodings.registry import begins_as_attribute

        if begins_as_attribute(text) and not text.lstrip().startswith(_NO_ATTRIBUTE):
            from tt_layout.encodings.parsing import parse_layout

            return parse_layout(text, release=context.release, name=context.name)
        from tt_layout.notation.registry import read_layout

        return read_layout(text, context)


class LayoutParameter(NotationParameter):
    """A layout in any notation, or an alias as ``FILE:ALIAS``."""

    def read(self, text: str, context: Context) -> Encoding:
        """Return the encoding of a text, of an alias in a file, or of JSON in a file."""
        if text.lstrip().startswith("#"):
            return super().read(text, context)
        from tt_layout.notation.registry import is_notation

        if is_notation(text):
            return super().read(text, context)
        if text == "-" or text.endswith(".json"):
            from tt_layout.mlir.source import read_source

            return self.read_file(read_source(text), context)
        refuse_foreign_text(text, context.name)
        path, separator, alias = text.rpartition(":")
        if not separator and os.path.isfile(text):
            from tt_layout.mlir.languages import read_mlir

            read_mlir(text)
            message = f"{text} is a file: name one of its aliases or lines"
            raise LayoutError(f"{message}, as {text}:ALIAS or {text}:LINE")
        if not separator and os.path.exists(text):
            from tt_layout.mlir.source import read_source

            read_source(text)  # a folder or a pipe: raises why it cannot be read
        if not separator and (os.sep in text or "." in text) and "(" not in text:
            raise LayoutError(f"no such file: {text!r}")
        if not separator:
            expected = "an attribute such as #ttg.blocked<{...}>, FILE:ALIAS, gl.BlockedLayout(...)"
            message = f"{context.name} must be {expected}, or a CuTe layout"
            raise LayoutError(f"{message}, got {text!r}")
        alias = alias.removeprefix("#")
        return read_aliases(path, [alias]).layout(alias, context.release)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the aliases and lines of a file, or let the shell complete its name."""
        from tt_layout.cli.dump_arguments import of_dump

        return of_dump(incomplete) if ":" in incomplete else files(incomplete)

    def read_file(self, source: Source, context: Context) -> Encoding:
        """Return the layout in a file: JSON, or any notation on standard input."""
        if source.name.endswith(".json"):
            from tt_layout.notation.notations import bases, json

            notation = json if json.is_json_of_layout(source.text) else bases
            encoding: Encoding = notation.read(source.text, context._replace(name=source.name))
            return encoding
        return super().read(source.text, context._replace(name=source.name))


class DrawnParameter(LayoutParameter):
    """A layout to draw; beside a register layout, a CuTe layout of the tensor's shape is in memory.

    ``(64,64):(64,1)`` over 64x64 maps coordinates to offsets.  After a register layout in CuTe's
    notation, which maps threads and values to elements, it is a register layout, too.
    """

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Encoding:
        """Return the encoding; see `NotationParameter.convert`."""
        if ctx is not None and isinstance(value, str):
            ctx.meta.setdefault(_DRAWN, []).append(value)
        return super().convert(value, param, ctx)

    def read(self, text: str, context: Context) -> Encoding:
        """Return the encoding of a text, in any memory space if the text determines it."""
        from tt_layout.notation.notations.cute import recognises

        drawn = click.get_current_context().meta[_DRAWN]
        if len(drawn) > 1 and not recognises(drawn[0]):
            context = context._replace(memory_space=None)
        return super().read(text, context)


class NumbersParameter(TextParameter):
    """Numbers such as ``1,0``: an order of dimensions, a size per thread, a coordinate."""

    name = "numbers"

    def read(self, text: str, name: str) -> list[int]:
        """Return the numbers.

        Raises:
            LayoutError: the text is not a list of numbers.
        """
        parts = text.strip(" ()[]").split(",")
        if not all(part.strip().isdecimal() and len(part) < 20 for part in parts):
            raise LayoutError(f"{name} takes numbers such as 1,0, got {text!r}")
        return [int(part) for part in parts]


class TargetParameter(TextParameter):
    """A GPU, such as ``sm90`` or ``gfx942``."""

    name = "target"

    def names(self) -> Iterable[str]:
        """Return the GPUs."""
        from tt_layout.hardware import PRODUCTS, TARGETS

        return (*TARGETS, *PRODUCTS)

    def read(self, text: str, name: str) -> Target:
        """Return the GPU.

        Raises:
            LayoutError: no such GPU is known.
        """
        return read_target(text)


def read_target(name: str) -> Target:
    """Return the GPU of a name; print a note if its costs are those of another.

    Raises:
        LayoutError: no such GPU is known.
    """
    from tt_layout.hardware import find_gpu

    gpu = find_gpu(name)
    if gpu.assumption is not None:
        from tt_layout.cli.output import note

        note(gpu.assumption)
    return gpu.target


class SizeParameter(TextParameter):
    """A number of bytes, such as ``4GiB``, ``300 MB`` or ``1000``.

    Example:
        >>> SizeParameter()("4GiB") == 4 << 30, SizeParameter()("2kB")
        (True, 2000)
    """

    name = "size"
    _TEXT = re.compile(r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*(?:([kKMGTPE])(i?))?B?\s*")

    def read(self, text: str, name: str) -> int:
        """Return the number of bytes.

        Raises:
            LayoutError: the text is not a size.
        """
        match = self._TEXT.fullmatch(text)
        if match is None:
            raise LayoutError(f"expected a size such as 256MiB or 4GiB, got {text!r}")
        number, prefix, binary = match.groups()
        power = " KMGTPE".index((prefix or " ").upper())
        return int(float(number) * (1024 if binary else 1000) ** power)


class AliasesParameter(TextParameter):
    """Aliases such as ``a,b``, with or without ``#``."""

    name = "aliases"

    def read(self, text: str, name: str) -> tuple[str, ...]:
        """Return the names without ``#``."""
        return tuple(one.strip().removeprefix("#") for one in text.split(",") if one)


def read_aliases(name: str, aliases: Sequence[str] = ()) -> AliasTable:
    """Return the aliases of a file, or of one of its modules; print which if there are several.

    Args:
        name: the file, or ``FILE@2`` for its second module.
        aliases: the requested aliases; by default all that are layouts.
    """
    from tt_layout.ir.file_aliases import FileAliases, split_module
    from tt_layout.mlir.languages import read_mlir

    path, module = split_module(name)
    chosen = FileAliases(read_mlir(path)).choose(aliases, module)
    if chosen.note is not None:
        from tt_layout.cli.output import note

        note(chosen.note)
    return chosen.table


# -- parameters that follow from a dump among the arguments ------------------------------------

_OF_DUMP = "tt_layout.of_dump"


class LayoutArgument(click.Argument):
    """A layout, or the name of one in a dump, from which other parameters are inferred."""

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Convert the given value, or the one inferred from the dump."""
        return super().handle_parse_result(ctx, _with_dump(ctx, opts), args)


class InferredOption(click.Option):
    """An option whose value is inferred from the dump that a `LayoutArgument` names."""

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Convert the given value, or the one inferred from the dump."""
        return super().handle_parse_result(ctx, _with_dump(ctx, opts), args)


def _with_dump(context: click.Context, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of parameters, with those inferred from a dump, cached in the context."""
    takes_dump = any(isinstance(parameter, LayoutArgument) for parameter in context.command.params)
    if context.resilient_parsing or not takes_dump:
        return values
    if _OF_DUMP not in context.meta:
        from tt_layout.cli.dump_arguments import inferred

        context.meta[_OF_DUMP] = inferred(context, values)
        if not isinstance(context.meta[_OF_DUMP].get("tensor"), str):
            _refuse_languages(context.command, values)
    known: Mapping[str, Any] = context.meta[_OF_DUMP]
    return known


def _refuse_languages(command: click.Command, values: Mapping[str, Any]) -> None:
    """Refuse a text in another language, before a missing type is reported.

    Raises:
        LayoutError: a layout is in one.
    """
    for parameter in command.params:
        value = values.get(parameter.name or "")
        for text in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(parameter, LayoutArgument) and isinstance(text, str):
                refuse_foreign_text(text, label(parameter))


def refuse_foreign_text(text: str, name: str) -> None:
    """Refuse a text given as a layout that is in another language.

    Raises:
        LayoutError: it is in one.
    """
    from tt_layout.notation.registry import is_notation

    is_attribute = text.lstrip().startswith("#")
    if is_attribute or not (is_notation(text) or os.path.exists(text.rpartition(":")[0] or text)):
        from tt_layout.mlir.languages import refuse_language

        refuse_language(text, name)


# -- options that several commands take ---------------------------------------------------------

_RELEASE = "tt_layout.release"
_DRAWN = "tt_layout.drawn"
_TENSOR = "tt_layout.tensor"
_LANES = "tt_layout.threads_per_warp"


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that keeps the value of an option for the layouts parsed after it."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if value is not None:
            context.meta[name] = value
        return value

    return callback


def chosen_release() -> Release | None:
    """Return the release of ``--triton``; None where none is given."""
    release: Release | None = click.get_current_context().meta.get(_RELEASE)
    return release


def tensor_option(
    help: str = "The tensor type.", *, is_required: bool = False
) -> Callable[[_Function], _Function]:
    """Return the option ``-t``, which is read before any layout."""
    return click.option(
        "-t",
        "tensor",
        cls=InferredOption,
        type=TypeParameter(),
        required=is_required,
        is_eager=True,
        callback=_keep(_TENSOR),
        help=help,
    )


type_option = tensor_option(is_required=True)
release_option = click.option(
    "--triton",
    type=ReleaseParameter(),
    is_eager=True,
    expose_value=False,
    callback=_keep(_RELEASE),
    help=f"Use the rules of this release: {release_names()}.",
)
_lanes_option = click.option(
    "--threads-per-warp",
    type=click.IntRange(1),
    is_eager=True,
    expose_value=False,
    callback=_keep(_LANES),
    metavar="N",
    help="Warp size for CuTe thread-value layouts; 32 by default.",
)


def _take_npot(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Accept sizes that are not powers of two while the command runs."""
    if is_given:
        from tt_layout.npot import npot

        context.with_resource(npot())


npot_option = click.option(
    "--npot",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_take_npot,
    help="Accept sizes that are not powers of two, as TRITON_ALLOW_NPOT=1 of Meta's fork does.",
)


def reading_options(function: _Function) -> _Function:
    """Add the options for reading layouts."""
    return release_option(_lanes_option(function))


def target_option(function: _Function) -> _Function:
    """Add the option that names the GPU, which otherwise follows from the lanes of a layout."""
    from tt_layout.hardware import target_names

    words = f"The GPU: {target_names()}; by default one with the layout's warp size."
    return click.option("--target", cls=InferredOption, type=TargetParameter(), help=words)(
        function
    )


format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Print text or JSON.",
)
aliases_option = click.option(
    "--alias-names",
    "alias_groups",
    type=AliasesParameter(),
    multiple=True,
    metavar="A,B",
    help="Only these aliases of the file.",
)
source_option = click.option(
    "--source",
    type=FileParameter(),
    metavar="DIR",
    help="Show the Python source of the dump, from files below DIR.",
)
