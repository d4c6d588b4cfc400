"""The command line: read, call, write, exit.

Exit status as ``diff`` has it: 0 as asked, 1 a difference or a finding, 2 an error.

Everything is printed through the standard streams of a run, which make it safe for terminals and
logs.  A closed pipe is not an error: the rest of the output is dropped, and the command ends with
its own status.  Any other fault of standard output ends the run with one line; a fault of standard
error is ignored.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, NoReturn

import click

from tt_layout.cli.groups import HelpfulGroup, show_examples
from tt_layout.cli.parameters import (
    FileParameter,
    NotationParameter,
    SizeParameter,
    aliases_option,
    chosen_release,
    npot_option,
    read_aliases,
    reading_options,
    tensor_option,
)
from tt_layout.cli.selection import ViewName, read_selection, selection_options, view_kind
from tt_layout.colour import GROUPINGS
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.safe_text import safe_lines
from tt_layout.surface import COMMAND_LINE, shown_on
from tt_layout.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tt_layout.encodings import Encoding
    from tt_layout.mlir.types import TensorType
    from tt_layout.views.kinds import ViewKind


ERROR = 2
INTERRUPTED = 130

_LONG_OPTION = re.compile(r"-(alias-names|use-hw-view|help|version)(=.*)?", re.DOTALL)
_SHORT_OPTION = re.compile(r"--?([ltio])(?:=(.*))?", re.DOTALL)

_DISPLAY = ("color", "color_by", "compact", "header", "legend")
"""The options that choose how views are displayed."""
_PAGER = "no_pager"


class _Descriptor(io.RawIOBase):
    """A file descriptor that is written to; None if the stream was closed from the start."""

    def __init__(self, descriptor: int | None, is_output: bool) -> None:
        self._descriptor = descriptor
        self._is_output = is_output
        self._is_dropped = False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._descriptor is not None and os.isatty(self._descriptor)

    def fileno(self) -> int:
        if self._descriptor is None:
            raise OSError("the stream is closed")
        return self._descriptor

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if self._is_dropped:
            return size
        try:
            return self._write(data)
        except BrokenPipeError:
            self._is_dropped = True
        except OSError as error:
            self._is_dropped = True
            if self._is_output:
                reason = error.strerror or error
                raise LayoutError(f"cannot write to standard output: {reason}") from None
        return size

    def _write(self, data: Any) -> int:
        while True:
            try:
                return os.write(self.fileno(), data)
            except BlockingIOError:  # whoever shares the descriptor does not want to wait
                import select

                select.select([], [self.fileno()], [])


class _Text(io.TextIOWrapper):
    """A text stream that neutralises control sequences; on standard output, our colours remain."""

    is_output = True

    def write(self, text: str) -> int:
        super().write(safe_lines(text, coloured=self.is_output))
        return len(text)


def _opened(stream: IO[str] | None, is_output: bool) -> _Text:
    try:
        descriptor = stream.fileno() if stream is not None else None
    except (OSError, ValueError):
        descriptor = None
    raw = _Descriptor(descriptor, is_output)
    text = _Text(
        io.BufferedWriter(raw, 1 << 16),
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=raw.isatty() or not is_output,
    )
    text.is_output = is_output
    return text


@contextmanager
def standard_streams() -> Iterator[None]:
    """Print through streams as described above, unless they are already redirected."""
    before = sys.stdout, sys.stderr
    if sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__:
        sys.stdout, sys.stderr = _opened(sys.stdout, True), _opened(sys.stderr, False)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    with standard_streams():
        with shown_on(COMMAND_LINE):
            status = _status(given)
        for stream in (sys.stdout, sys.stderr):
            status = _flushed(stream, status)
    sys.exit(status)


def _status(arguments: Sequence[str]) -> int:
    """Run the command line and return its status; an error that ends it is reported in a line."""
    try:
        status = cli.main(_from_llvm(arguments), prog_name="tt-layout", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as error:
        return _reported_usage(error)
    except LayoutError as error:
        return _reported(error)
    except MemoryError:
        return _reported(LayoutError("there is not enough memory for this"))
    except OSError as error:
        name = f": {error.filename}" if error.filename is not None else ""
        return _reported(LayoutError(f"{error.strerror or error}{name}"))
    return status if isinstance(status, int) else 0


def _reported_usage(error: click.ClickException) -> int:
    """Report a usage error, and where the options are explained."""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        if meant := _meant_format(error):
            message = f"No such option '{error.option_name}'. Did you mean '{meant}'?"
        elif meant := _meant_argument(error):
            message = f"No such option '{error.option_name}': give {meant} without it"
    message = re.sub(
        r"\.? \(?(Did you mean[^?]*\?)\)?", lambda hint: f"; {hint[1].lower()}", message
    )
    if isinstance(error, click.UsageError) and error.ctx is not None:
        see = f"{error.ctx.command_path} --help"
        message += f" See {see}" if message.endswith("?") else f"; see {see}"
    _reported(LayoutError(message[:1].lower() + message[1:]))
    return error.exit_code


def _meant_format(error: click.NoSuchOption) -> str:
    """Return the option for a format that was given as an option of its own; empty if none was."""
    name = error.option_name.lstrip("-")
    options = error.ctx.command.params if error.ctx is not None else ()
    formats = (option.type for option in options if option.name == "output_format")
    return f"--format {name}" if any(name in getattr(of, "choices", ()) for of in formats) else ""


def _meant_argument(error: click.NoSuchOption) -> str:
    """Return the argument for a layout that was given as an option; empty if none was."""
    if error.option_name != "-l" or error.ctx is None:
        return ""
    arguments = (one for one in error.ctx.command.params if isinstance(one, click.Argument))
    names = (argument.human_readable_name.strip("[]") for argument in arguments)
    return next((name for name in names if name.endswith("LAYOUT")), "")


def _reported(error: LayoutError) -> int:
    from tt_layout.cli.output import fitted_error

    click.echo(fitted_error(error.printed(), sys.stderr), err=True)
    return ERROR


def _flushed(stream: IO[str], status: int) -> int:
    """Flush a stream; return the resulting status of the run."""
    try:
        stream.flush()
    except LayoutError as error:
        return _reported(error)
    return status


def _from_llvm(arguments: Sequence[str]) -> list[str]:
    """Translate LLVM's spellings of options, such as ``-alias-names=a``, to click's."""
    translated: list[str] = []
    for argument in arguments:
        if match := _LONG_OPTION.fullmatch(argument):
            translated.append(f"-{argument}")
        elif (match := _SHORT_OPTION.fullmatch(argument)) and match.group(2) is not None:
            translated += [f"-{match.group(1)}", match.group(2)]
        elif match is not None:
            translated.append(f"-{match.group(1)}")
        else:
            translated.append(argument)
    return translated


class LazyGroup(HelpfulGroup):
    """A group whose subcommands are the modules of `tt_layout.cli.commands`.

    Each defines ``command``, and is imported only when it is used.  A file or a folder in the
    place of a subcommand is audited, and a layout attribute is shown.
    """

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the subcommand that the first of them implies."""
        first = args[0] if args else "--help"
        if not args:
            args = [first]
        elif first.startswith("#"):
            args = ["-l", *args]
        elif not first.startswith("-") and first not in self.list_commands(context):
            from tt_layout.ir.file_aliases import split_line, split_module

            if os.path.exists(split_module(split_line(first)[0]).path):
                if any(option.startswith("-t") for option in args[1:]):
                    message = "an audit takes no type: tt-layout -i FILE -t TYPE prints its layouts"
                    raise LayoutError(f"{message}, FILE:ALIAS names one", FileLocation(first))
                args = ["audit", *args]
            elif not first.isalnum():
                from tt_layout.notation.registry import is_notation

                if is_notation(first):
                    args = ["-l", *args]
        return super().parse_args(context, args)

    def make_parser(self, context: click.Context) -> Any:
        """Return the parser of the options.

        click looks for ``-l`` among the long options first, and imports difflib to suggest
        another.  So the short ones are listed there, too.
        """
        parser: Any = super().make_parser(context)
        long, short = (getattr(parser, name, {}) for name in ("_long_opt", "_short_opt"))
        long.update(short)
        return parser

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        show_examples(self, "")
        super().format_epilog(context, formatter)

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all subcommands."""
        from pkgutil import iter_modules

        from tt_layout.cli import commands

        return sorted(module.name for module in iter_modules(commands.__path__))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a subcommand, importing its module."""
        if name not in self.list_commands(context):
            return None
        from tt_layout.cli.groups import SUMMARIES

        command = import_module(f"tt_layout.cli.commands.{name}").command
        assert isinstance(command, click.Command)
        command.short_help = SUMMARIES.get(name, command.short_help)
        return show_examples(command, name)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summaries of the subcommands, in groups."""
        from tt_layout.cli.groups import GROUPS, SUMMARIES

        ungrouped = [name for name in self.list_commands(context) if name not in SUMMARIES]
        groups = {heading: list(names) for heading, names in GROUPS.items()}
        groups |= {"Others": ungrouped} if ungrouped else {}
        width = max(map(len, self.list_commands(context)))
        for heading, names in groups.items():
            rows = [(f"{name:{width}}", self._summary(context, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the subcommands, or options, that begin so."""
        from click.shell_completion import CompletionItem

        begun = (name for name in self.list_commands(context) if name.startswith(incomplete))
        items = [CompletionItem(name, help=self._summary(context, name)) for name in begun]
        return items + click.Command.shell_complete(self, context, incomplete)

    def _summary(self, context: click.Context, name: str) -> str:
        """Return the summary of a subcommand; only one that is not in the table is imported."""
        from tt_layout.cli.groups import SUMMARIES

        if name in SUMMARIES:
            return SUMMARIES[name]
        command = self.get_command(context, name)
        return "" if command is None else command.get_short_help_str()


def _telling(*names: str, help: str, text: Callable[[click.Context], str]) -> Callable[[Any], Any]:
    """Return an option that prints a text and exits.

    Those of click look for translations of their help and import `locale`, which takes as long as
    two modules of this package.
    """

    def tell(context: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given and not context.resilient_parsing:
            click.echo(text(context), color=context.color)
            context.exit()

    return click.option(
        *names, is_flag=True, is_eager=True, expose_value=False, callback=tell, help=help
    )


def _display_options(function: Any) -> Any:
    """Add the options that choose how views are displayed."""
    groups = click.Choice(GROUPINGS)
    options = (
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Colour the text; auto: on a terminal, unless NO_COLOR is set.",
        ),
        click.option(
            "--color-by", type=groups, help="Colour cells by this; by default warp, or chunk."
        ),
        click.option(
            "--compact", is_flag=True, help="Show only thread numbers in the tensor view."
        ),
        click.option("--header", is_flag=True, help="Show a row and a column of coordinates."),
        click.option("--legend", is_flag=True, help="Explain notation and colours."),
        click.option("--no-pager", is_flag=True, help="Do not page long text on a terminal."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",
    add_help_option=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="""\
    Show who holds which element of a tensor under a Triton GPU layout.

    \b
    tt-layout -l LAYOUT -t TYPE   the layout of an attribute; -l may be left out
    tt-layout -i FILE -t TYPE     the layouts that a file's aliases name
    tt-layout -i FILE             the same, over the types that the file has
    tt-layout FILE                what is slow in a dump: tt-layout audit FILE
    """,
)
@click.option("-l", "layout", type=NotationParameter(), help="The layout, in any notation.")
@tensor_option("The tensor type, such as tensor<16x16xf16>.")
@click.option(
    "-i",
    "path",
    type=FileParameter(),
    metavar="FILE",
    help="A file with alias definitions; - is stdin.",
)
@click.option(
    "-o",
    "output",
    type=FileParameter(),
    metavar="FILE",
    help="Write to this file instead of stdout.",
)
@aliases_option
@click.option("--view", type=ViewName(), help="The view to show; tensor by default.")
@click.option("--use-hw-view", is_flag=True, help="The same as --view hardware.")
@reading_options
@npot_option
@selection_options
@click.option(
    "--max-text",
    type=SizeParameter(),
    default="256MiB",
    show_default=True,
    help="Refuse longer text.",
)
@_display_options
@_telling(
    "--version",
    help="Show the version and exit.",
    text=lambda _: f"tt-layout, version {__version__}",
)
@_telling("--help", "-h", help="Show this message and exit.", text=click.Context.get_help)
@click.pass_context
def cli(context: click.Context, /, **options: Any) -> None:
    """Show who holds which element of a tensor under a Triton GPU layout."""
    if context.invoked_subcommand is None:
        show(**options)


def show(
    layout: Encoding | None,
    tensor: TensorType | None,
    path: str | None,
    output: str | None,
    alias_groups: tuple[tuple[str, ...], ...],
    view: ViewKind | None,
    use_hw_view: bool,
    max_text: int,
    **others: Any,
) -> None:
    """Print the requested views: those of the file first, then that of the attribute."""
    from tt_layout.placement import place
    from tt_layout.reports.writing import check_size
    from tt_layout.views.printed import print_view
    from tt_layout.views.request import ViewRequest

    if layout is None and path is None:
        raise LayoutError("nothing to show: give an attribute with -l or a file with -i")
    if tensor is None and (path is None or layout is not None):
        raise LayoutError("no tensor type: give one with -t, such as -t 'tensor<16x16xf16>'")
    names = [name for group in alias_groups for name in group]
    if names and path is None:
        raise LayoutError("--alias-names picks aliases of a file: give one with -i")
    display = {name: others.pop(name) for name in _DISPLAY if name in others}
    kind, selection = view_kind(view, use_hw_view), read_selection(others)
    if tensor is None:
        from tt_layout.ir.file_aliases import split_module
        from tt_layout.mlir.source import read_source
        from tt_layout.views.files import file_views

        file, module = split_module(path or "")
        views = file_views(
            read_source(file),
            names,
            module=module,
            release=chosen_release(),
            kind=kind,
            selection=selection,
        )
    else:
        layouts = list(_file_layouts(path, names)) if path is not None else []
        if layout is not None:
            layouts.append((None, layout, b""))
        views = []
        for alias, encoding, ending in layouts:
            request = ViewRequest(place(encoding, tensor), kind, selection)
            views.append(print_view(request, alias=alias)._replace(ending=ending))
    size = check_size(sum(view.size for view in views), max_text)
    _write(views, size, output, display, has_pager=not others.get(_PAGER))


def _write(
    views: list[Any], size: int, output: str | None, display: dict[str, Any], *, has_pager: bool
) -> None:
    """Write views as they are; on a terminal, or if asked, as ``tt_layout.terminal`` shows them."""
    from tt_layout.reports.writing import terminal_size, write

    terminal = terminal_size(sys.stdout) if output is None else None
    asked = display.get("color") == "always" or any(display.get(name) for name in _DISPLAY[2:])
    if terminal is None and not asked:
        write((chunk for view in views for chunk in view.chunks()), output, size=size)
        return
    from dataclasses import replace

    from tt_layout.terminal.options import DisplayOptions
    from tt_layout.terminal.present import Presentation

    shown = Presentation(views, DisplayOptions(**display), terminal)
    shown.check()
    if terminal is not None and has_pager:
        from tt_layout.cli.output import write_paged

        write_paged(shown.chunks(), replace(shown, is_folded=False).chunks(), size)
    else:
        write(shown.chunks(), output, size=size)


def _file_layouts(path: str, names: list[str]) -> Iterator[tuple[str | None, Encoding, bytes]]:
    """Yield alias, encoding and the text below the view, for each layout of a file."""
    aliases = read_aliases(path, names)
    shown = names or aliases.layout_names()
    if not shown:
        from tt_layout.mlir.languages import NO_ALIAS, no_mlir

        raise no_mlir(aliases.source, NO_ALIAS)
    for name in shown:
        yield name, aliases.layout(name, chosen_release()), b"\n" if names else b""
