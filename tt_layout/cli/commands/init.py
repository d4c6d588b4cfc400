"""``tt-layout init``: a first manifest, of the layouts of a file or of the audits of dumps."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import product

import click

from tt_layout.cli.output import fitted
from tt_layout.cli.parameters import FileParameter, read_aliases, tensor_option
from tt_layout.encodings import Encoding
from tt_layout.encodings.alias_table import AliasTable
from tt_layout.encodings.linear import GenericLinear
from tt_layout.errors import FileLocation, LayoutError, TooLargeError
from tt_layout.golden.kinds import SELF_CONTAINED
from tt_layout.golden.manifest import DEFAULT_PATH, MAX_CASES, is_pattern
from tt_layout.golden.yaml_nodes import is_plain_text
from tt_layout.ir.file_aliases import LAST, split_module
from tt_layout.ir.used_types import UsedTypes, used_types
from tt_layout.mlir.languages import NO_ALIAS, no_mlir
from tt_layout.mlir.source import WHAT_DUMPS_ARE, dumps_below
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place
from tt_layout.reports.progress import watched
from tt_layout.safe_text import safe
from tt_layout.wording import count as counted

AUDIT = "audit"
"""The view of a whole dump."""
DEFAULT_VIEWS = ("tensor", "hardware")
DUMP_VIEWS = ("info", AUDIT)
"""The views where a file has operations: those of its tensors are many times as long as it is."""
SIZES = (16, 32, 64, 128, 256)
MAX_TRIED = 2000  # shapes tried for a layout that fits none of equal sizes
ANY_RANK = 2

_USED = "# Each case has the type that the file has most often on its layout.\n"
_RULE = """\
# No type was given, so each case has one that its layout fits: for a linear layout the shape
# that its bases span; else the first of 16, 32, .. 256 in every dimension; else the smallest
# shape that it fits.  Put the types of your kernel in their place.
"""
_RULE_OF_OTHERS = _RULE.replace(
    "No type was given, so each case has one", "Where it has none, one is chosen"
)
_PLAIN = re.compile(r"\w[\w./<>-]*", re.ASCII)


@click.command(
    "init",
    help="""\
    Write a first manifest: a case for each layout alias in FILE, or for each dump in FOLDER.

    The cases of a dump have the properties of each layout, and the findings of tt-layout audit;
    --view selects others. Exits 0, or 2 on error; an existing manifest is not replaced.
    """,
)
@click.argument("file", type=FileParameter(), metavar="FILE|FOLDER")
@tensor_option("The tensor type of every case.")
@click.option(
    "-o",
    "output",
    default=DEFAULT_PATH,
    show_default=True,
    type=FileParameter(),
    metavar="FILE",
    help="The manifest to write.",
)
@click.option(
    "--view",
    "views",
    multiple=True,
    type=click.Choice([*SELF_CONTAINED, AUDIT]),
    help="A view of every case; may be repeated. By default info and audit for a dump, audit for a"
    " folder, otherwise tensor and hardware.",
)
@click.option("--force", is_flag=True, help="Replace an existing manifest.")
@click.option(
    "--max-cases",
    type=click.IntRange(1, MAX_CASES),
    default=10_000,
    show_default=True,
    metavar="COUNT",
    help="Refuse to write more cases.",
)
def command(
    file: str,
    tensor: TensorType | None,
    output: str,
    views: tuple[str, ...],
    force: bool,
    max_cases: int,
) -> None:
    """Write a first manifest: a case for each layout alias in FILE, or for each dump in FOLDER."""
    if os.path.lexists(output) and not force:
        message = "the manifest already exists; --force replaces it, -o names another"
        raise LayoutError(message, FileLocation(output))
    inside = _inside(file, output)
    if os.path.isdir(file):
        if set(views) - {AUDIT} or tensor is not None:
            raise LayoutError("of a folder audits are kept: leave out -t and other views")
        text = audits_text(inside, _patterns(file, inside))
    elif set(views) == {AUDIT}:
        if tensor is not None:
            raise LayoutError("the view audit covers a whole dump: leave out -t")
        text = audits_text(inside, [inside])
    else:
        text = _layouts_text(file, inside, tensor, tuple(dict.fromkeys(views)), max_cases)
    _write(text, file, output)


def _layouts_text(
    file: str, inside: str, tensor: TensorType | None, views: tuple[str, ...], max_cases: int
) -> str:
    """Return the manifest of the layouts of a file.

    Raises:
        LayoutError: it has none, or more than the maximum.
    """
    aliases = read_aliases(file)
    names = aliases.layout_names(max_cases + 1)
    if not names:
        raise no_mlir(aliases.source, NO_ALIAS)
    if len(names) > max_cases:
        message = f"more than {max_cases} aliases of the file are layouts; --max-cases allows more"
        raise TooLargeError(message, FileLocation(file))
    used = used_types(file) if tensor is None or not views else UsedTypes({}, None)
    views = views or (DUMP_VIEWS if used.types else DEFAULT_VIEWS)
    text = manifest_text(aliases, names, inside, tensor, views, used)
    if "    alias: " not in text:
        message = "no layout of the file fits a type; give one with -t"
        raise LayoutError(message, FileLocation(file))
    return text


def audits_text(inside: str, files: Sequence[str]) -> str:
    """Return the manifest of the audits of dumps.

    Args:
        inside: the dump, or the folder of the dumps, as the manifest names it.
        files: the dump, or patterns of dumps, one per case.

    Example:
        >>> print(audits_text("a.ttgir", ["a.ttgir"]), end="")
        # Audits of a.ttgir: tt-layout check compares them with the golden files.
        version: 1
        <BLANKLINE>
        defaults:
          views: [audit]
        <BLANKLINE>
        cases:
          - name: a
            file: "a.ttgir"
    """
    lines = [f"# Audits of {safe(inside)}: tt-layout check compares them with the golden files."]
    lines += ["version: 1", "", "defaults:", "  views: [audit]", "", "cases:"]
    names = _unique(["kernels" if is_pattern(file) else _stem(inside) for file in files])
    for name, file in zip(names, files):
        lines += [f"  - name: {_quoted(name)}", f"    file: {json.dumps(file)}"]
    return "\n".join(lines) + "\n"


def _stem(file: str) -> str:
    """Return the name of a dump without its suffix and module number.

    Example:
        >>> _stem("dumps/a.ttgir@2"), _stem("a@b.ttgir")
        ('a', 'a@b')
    """
    return os.path.splitext(os.path.basename(split_module(file).path))[0]


def _patterns(folder: str, inside: str) -> list[str]:
    """Return patterns of the dumps in a folder, one for each suffix.

    Raises:
        LayoutError: there is no dump in it.
    """
    dumps = dumps_below(folder)
    if not dumps:
        raise LayoutError(f"found no dump: {WHAT_DUMPS_ARE}", FileLocation(folder))
    is_deep = any(os.path.relpath(os.path.dirname(dump), folder) != "." for dump in dumps)
    endings = sorted({os.path.splitext(dump)[1] for dump in dumps})
    parent = "" if inside == "." else f"{inside}/"
    # A .ttir beside a .ttgir is the same kernel before it has layouts.
    with_layouts = (name for name in endings if name != ".ttir" or ".ttgir" not in endings)
    return [f"{parent}{'**/' if is_deep else ''}*{ending}" for ending in with_layouts]


def _write(text: str, file: str, output: str) -> None:
    """Write the manifest of a file, and print how to write its golden files."""
    from tt_layout.reports.writing import write

    try:
        data = text.encode()
    except UnicodeEncodeError:
        message = "the name of the file is not UTF-8, as the text of a manifest must be"
        raise LayoutError(message, FileLocation(file)) from None
    write([data], output, size=len(data))
    count = text.count("  - name: ")
    update = "" if output == DEFAULT_PATH else f" {output}"
    done = f"wrote {output}: {counted(count, 'case')}; write the golden files with:"
    click.echo(fitted(f"{done} tt-layout check{update} --update", sys.stdout))


def _inside(file: str, output: str) -> str:
    """Return the file as the manifest names it."""
    if file == "-":
        raise LayoutError("init needs the name of a file that the manifest can name, got -")
    folder = os.path.realpath(os.path.dirname(output) or ".")
    name, module = split_module(file)
    path = os.path.relpath(os.path.realpath(name), folder).replace(os.sep, "/")
    if path.startswith("../"):
        message = "a file must be inside the manifest's folder; write the manifest there with -o"
        raise LayoutError(message, FileLocation(file))
    number = "last" if module == LAST else module
    return path if module is None else f"{path}@{number}"


def manifest_text(
    aliases: AliasTable,
    names: list[str],
    file: str,
    tensor: TensorType | None,
    views: tuple[str, ...],
    used: UsedTypes,
) -> str:
    """Return a manifest with a case per alias.

    Args:
        aliases: the file's aliases.
        names: the aliases that are layouts.
        file: the file's name in the manifest.
        tensor: the type of every case; by default each has one that fits.
        views: the kinds of output of every case.
        used: the uses of layouts in the file.
    """
    lines = ["version: 1", "", "defaults:", f"  file: {_quoted(file)}"]
    if tensor is not None:
        lines.append(f"  type: {_quoted(tensor.span.text)}")
    if tensor is None and used.target is not None:
        lines.append(f"  target: {used.target}")
    of_layouts = [view for view in views if view != AUDIT]
    lines += [f"  views: [{', '.join(of_layouts)}]", "", "cases:"]
    types = _Types(aliases, tensor, UsedTypes({}, None) if tensor is not None else used)
    unique = _unique([*names, _stem(file)])
    for name, alias in watched([*zip(unique, names)]):
        lines += _case(name, alias, types.of(alias))
    if AUDIT in views:
        lines += [f"  - name: {_quoted(unique[-1])}", f"    views: [{AUDIT}]"]
    shown = safe(file)
    head = (
        f"# Layouts of {shown}: tt-layout check compares what they print with the golden files.\n"
    )
    rules = ""
    if tensor is None:
        rules = _RULE if not used.types else _USED + (_RULE_OF_OTHERS if types.has_chosen else "")
    return head + rules + "\n".join(lines) + "\n"


class _Types:
    """The types that layouts are shown on, cached by the text of the layout.

    Attributes:
        has_chosen: whether a type was chosen that is not in the file.
    """

    def __init__(self, aliases: AliasTable, tensor: TensorType | None, used: UsedTypes) -> None:
        self._aliases = aliases
        self._tensor = tensor
        self._used = used
        self.has_chosen = False
        self._known: dict[str, str | LayoutError] = {}

    def of(self, alias: str) -> str | LayoutError:
        """Return a type that a layout fits, or why none does; empty where the type is given."""
        for tensor in self._used.types.get(alias, ()):
            if self._fits(alias, tensor):
                return tensor.span.text
        text = self._aliases.definitions.text(alias) or f"#{alias}"
        if text not in self._known:
            self._known[text] = self._find(alias)
        return self._known[text]

    def _fits(self, alias: str, tensor: TensorType) -> bool:
        try:
            place(self._aliases.layout(alias), tensor)
        except LayoutError:
            return False
        return True

    def _find(self, alias: str) -> str | LayoutError:
        self.has_chosen = True
        try:
            encoding = self._aliases.layout(alias)
            if self._tensor is not None:
                place(encoding, self._tensor)  # raises where it does not fit
                return ""
            return f"tensor<{'x'.join(map(str, fitting_shape(encoding)))}xf16>"
        except LayoutError as error:
            return error


def _case(name: str, alias: str, fitting: str | LayoutError) -> Iterator[str]:
    """Yield the lines of a case, or a comment on why it is left out."""
    if isinstance(fitting, LayoutError):
        yield f"  # #{alias} is left out: {safe(fitting.message)}"
        return
    yield f"  - name: {_quoted(name)}"
    yield f"    alias: {_quoted(alias)}"
    if fitting:
        yield f"    type: {_quoted(fitting)}"


def fitting_shape(encoding: Encoding) -> tuple[int, ...]:
    """Return a shape that a layout fits, by the rule stated in the manifest.

    Raises:
        LayoutError: it fits none of them; the reason is for the last one tried.
    """
    if isinstance(encoding, GenericLinear) and encoding.rank:
        return tuple(size for _, size in encoding.natural_layout.out_sizes)
    rank = encoding.rank or ANY_RANK
    sizes = [1 << bit for bit in range(11) if (bit + 1) ** rank <= MAX_TRIED]
    for shape in (
        *((size,) * rank for size in SIZES),
        *sorted(product(sizes, repeat=rank), key=math.prod),
    ):
        try:
            encoding.to_linear_layout(shape, element_bits=16)
        except LayoutError as error:
            reason = error
        else:
            return shape
    raise reason


def _unique(names: list[str]) -> list[str]:
    """Return a unique name for each alias that is safe as a file name."""
    unique: list[str] = []
    taken: set[str] = set()
    for alias in names:
        base = re.sub(r"[^A-Za-z0-9_-]", "_", alias).lstrip("-")[:100] or "layout"
        name, number = base, 2
        while name.lower() in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name.lower())
        unique.append(name)
    return unique


def _quoted(text: str) -> str:
    """Quote a text for YAML."""
    plain = _PLAIN.fullmatch(text) and is_plain_text(text)
    return text if plain else json.dumps(text, ensure_ascii=False)
