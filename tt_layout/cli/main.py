"""The command line: read, call, write, exit.

Exit status as ``diff`` has it: 0 as asked, 1 a difference or a finding, 2 trouble.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from tt_layout.cli.selection import ViewName, read_selection, selection_options, view_kind
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.releases import release_names
from tt_layout.version import __version__

TROUBLE = 2

_LONG_OPTION = re.compile(r"-(alias-names|use-hw-view|help|version)(=.*)?", re.DOTALL)
_SHORT_OPTION = re.compile(r"--?([ltio])(?:=(.*))?", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    # A run is short: collecting garbage would cost more than it frees.
    gc.disable()
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = cli.main(_from_llvm(given), prog_name="tt-layout", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except LayoutError as error:
        click.echo(error.printed(), err=True)
        sys.exit(TROUBLE)
    sys.exit(status if isinstance(status, int) else 0)


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


class LazyGroup(click.Group):
    """A group whose subcommands are the modules of `tt_layout.cli.commands`.

    Each defines ``command``, and is imported only when it is used.
    """

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all subcommands."""
        from pkgutil import iter_modules

        from tt_layout.cli import commands

        return sorted(module.name for module in iter_modules(commands.__path__))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a subcommand, importing its module."""
        if name not in self.list_commands(context):
            return None
        command = import_module(f"tt_layout.cli.commands.{name}").command
        assert isinstance(command, click.Command)
        return command


_DISPLAY = ("color", "color_by", "compact", "header", "legend")


def _display_options(function: Any) -> Any:
    """Add the options that say how text is shown."""
    groups = click.Choice(["warp", "lane", "register", "block", "bank"])
    options = (
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Colour the text; auto: on a terminal, unless NO_COLOR is set.",
        ),
        click.option(
            "--color-by", type=groups, help="What has its own colour; by default warp, or bank."
        ),
        click.option("--compact", is_flag=True, help="Tensor view: numbers of threads only."),
        click.option("--header", is_flag=True, help="Show a row and a column of coordinates."),
        click.option("--legend", is_flag=True, help="Explain notation and colours."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-l", "layout", metavar="ATTRIBUTE", help="Layout attribute, as text.")
@click.option("-t", "tensor", metavar="TYPE", help="Tensor type, such as tensor<16x16xf16>.")
@click.option("-i", "path", metavar="FILE", help="File with alias definitions; - is stdin.")
@click.option("-o", "output", metavar="FILE", help="Write to this file instead of stdout.")
@click.option("--alias-names", multiple=True, metavar="A,B", help="Only these aliases of the file.")
@click.option("--view", type=ViewName(), help="What is shown; tensor by default.")
@click.option("--use-hw-view", is_flag=True, help="Show what each location of the hardware holds.")
@click.option("--triton", metavar="RELEASE", help=f"Rules of this release: {release_names()}.")
@selection_options
@click.option(
    "--max-text", default="256MiB", show_default=True, metavar="SIZE", help="Refuse longer text."
)
@_display_options
@click.version_option(__version__, "--version", prog_name="tt-layout")
@click.pass_context
def cli(context: click.Context, /, **options: Any) -> None:
    """Show who holds which element of a tensor under a Triton GPU layout.

    \b
    tt-layout -l ATTRIBUTE -t TYPE     the layout of an attribute
    tt-layout -i FILE -t TYPE          the layouts that a file's aliases name
    tt-layout -i FILE                  the same, each over the types that the file has it on
    """
    if context.invoked_subcommand is None:
        show(**options)


def show(
    layout: str | None,
    tensor: str | None,
    path: str | None,
    output: str | None,
    alias_names: tuple[str, ...],
    view: Any,
    use_hw_view: bool,
    triton: str | None,
    max_text: str,
    **others: Any,
) -> None:
    """Print the views asked for: those of the file first, then that of the attribute."""
    import numpy  # noqa: F401 - a fifth cheaper before our own modules than among them

    from tt_layout.mlir.types import parse_type
    from tt_layout.placement import place
    from tt_layout.releases import Release
    from tt_layout.reports.output import check_size, parse_size
    from tt_layout.views.printed import print_view
    from tt_layout.views.request import ViewRequest

    if layout is None and path is None:
        raise LayoutError("nothing to show: give an attribute with -l or a file with -i")
    if tensor is None and (path is None or layout is not None):
        raise LayoutError("no tensor type: give one with -t, such as -t 'tensor<16x16xf16>'")
    if alias_names and path is None:
        raise LayoutError("--alias-names picks aliases of a file: give one with -i")
    release = Release.parse(triton) if triton is not None else None
    display = {name: others.pop(name) for name in _DISPLAY if name in others}
    kind, selection = view_kind(view, use_hw_view), read_selection(others)
    if tensor is None:
        views = _views_of_file(path or "", alias_names, release, kind, selection)
    else:
        tensor_type = parse_type(tensor, name="-t")
        found = _file_layouts(path, alias_names, release) if path is not None else iter(())
        views = []
        for alias, encoding, ending in (*found, *_given_layout(layout, release)):
            placed = place(encoding, tensor_type)
            printed = print_view(ViewRequest(placed, kind, selection), alias=alias)
            views.append(printed._replace(ending=ending))
    size = check_size(sum(view.size for view in views), parse_size(max_text))
    _write(views, size, output, display)


def _write(views: list[Any], size: int, output: str | None, display: dict[str, Any]) -> None:
    """Write views as they are; on a terminal, or if asked, as ``tt_layout.terminal`` has them."""
    from tt_layout.reports.output import columns, write

    width = columns(sys.stdout) if output is None else None
    asked = display.get("color") == "always" or any(display.get(name) for name in _DISPLAY[2:])
    if width is None and not asked:
        write((chunk for view in views for chunk in view.chunks()), output, size=size)
        return
    from tt_layout.terminal.options import DisplayOptions
    from tt_layout.terminal.present import Presentation
    from tt_layout.views.folding import fold

    presentation = Presentation(views, DisplayOptions(**display), width)
    presentation.check()
    write(presentation.chunks(), output, size=size)
    if (note := presentation.note()) is not None:
        click.echo(fold(f"note: {note}", columns(sys.stderr)), err=True)


def _wanted(alias_names: Sequence[str]) -> list[str]:
    return [n.strip().removeprefix("#") for part in alias_names for n in part.split(",") if n]


def _views_of_file(
    path: str, alias_names: Sequence[str], release: Any, kind: Any, selection: Any
) -> list[Any]:
    """Return the views of a file's aliases, each over the types that it is used with."""
    from tt_layout.ir.file_aliases import split_module
    from tt_layout.mlir.source import read_source
    from tt_layout.views.files import file_views

    file, module = split_module(path)
    return file_views(
        read_source(file),
        _wanted(alias_names),
        module=module,
        release=release,
        kind=kind,
        selection=selection,
    )


def _file_layouts(
    path: str, alias_names: Sequence[str], release: Any
) -> Iterator[tuple[str, Any, bytes]]:
    """Yield alias, encoding and what follows the view, for each layout of a file."""
    from tt_layout.cli.parameters import read_aliases

    wanted = _wanted(alias_names)
    aliases = read_aliases(path, wanted)
    names = wanted or aliases.layout_names()
    if not names:
        raise LayoutError("no alias in the file is a layout", FileLocation(aliases.source.name))
    for name in names:
        yield name, aliases.layout(name, release), b"\n" if wanted else b""


def _given_layout(text: str | None, release: Any) -> Iterator[tuple[None, Any, bytes]]:
    """Yield the layout of ``-l``, if it is given, as `_file_layouts` does."""
    from tt_layout.encodings.parsing import parse_layout

    if text is not None:
        yield None, parse_layout(text, release=release, name="-l"), b""
