"""A manifest of cases: kinds, options, matrices of values, and locations."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Map
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path

from tt_layout.errors import (
    FileLocation,
    LayoutError,
    SeveralError,
    TooLargeError,
    file_error,
    nearest,
)
from tt_layout.files import files_below, is_inside, matching, mode_of
from tt_layout.golden.case import Case
from tt_layout.golden.kinds import CASE_KEYS, DEFAULT_KINDS, KINDS, CaseKey, all_keys
from tt_layout.golden.yaml_nodes import (
    MAX_BYTES,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    read_nodes,
)
from tt_layout.ir.file_aliases import split_module
from tt_layout.mlir.languages import refuse_foreign
from tt_layout.mlir.source import Span, read_source
from tt_layout.records import dataclass

VERSION = "1"
DEFAULT_PATH = "layouts.yaml"
MAX_CASES = 100_000
USUAL_CASES = 20_000
MAX_PATH = 4096  # characters

MANIFEST_KEYS = (
    CaseKey("version", ("number",), "The version of this format: 1."),
    CaseKey("defaults", ("mapping",), "Defaults for the cases."),
    CaseKey("include", ("list",), "Other manifests, or patterns, in this folder or below."),
    CaseKey("cases", ("list",), "The cases."),
)

_FROM_THERE = "its layouts and type from there"
_OF_DUMPS = "a case of a dump", "a file", ("layout", "alias")
_OF_LINES = "a case with a line", _FROM_THERE, ("layout", "alias", "type", "with", "to")
"""A case that has no layout of its own, in words: what it has, and the keys that it has not."""

_CASES = re.compile("^(?:cases|include):", re.MULTILINE)
"""A line of a manifest, which may have a fault elsewhere."""

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+=@-]+")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@-]{0,199}")

MAX_COMBINATIONS = 100_000

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

CaseValues = dict[str, Node]


@dataclass(frozen=True)
class Check:
    """One kind of output of one case, which has a golden file."""

    case: Case
    kind: str

    @property
    def id(self) -> str:
        """The stem of the golden file."""
        return f"{self.case.name}.{self.kind}"

    @property
    def label(self) -> str:
        """Its name in reports: the folder of its manifest and the stem of the golden file."""
        return self.case.scoped(self.id)

    @property
    def golden(self) -> Path:
        """The golden file."""
        return self.case.folder / f"{self.id}.txt"


@dataclass(frozen=True)
class Manifest:
    """The cases of manifests and of those they include.

    Attributes:
        paths: the given paths of manifests, or of folders with manifests.
        cases: the cases in the order of the text.
        files: all manifests, in the order in which they were read.
    """

    paths: tuple[str, ...]
    cases: tuple[Case, ...]
    files: tuple[Path, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check per case and kind."""
        return tuple(Check(case, kind) for case in self.cases for kind in case.kinds)


def read_manifest(path: str) -> Manifest:
    """Read a manifest with its includes, or all manifests in a folder and below it.

    Raises:
        LayoutError: it cannot be read, has an error, or has more than `USUAL_CASES`; the message
            points at the fault.
    """
    return read_manifests((path,), USUAL_CASES)


def read_manifests(paths: Sequence[str], max_cases: int) -> Manifest:
    """Read manifests, and those of folders, with their includes.

    Raises:
        LayoutError: one cannot be read or has an error, or they have more than ``max_cases``; the
            message points at the fault.
    """
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in paths]
    scope = Path(folders[0] if len(folders) == 1 else "")
    reader = _ManifestReader(scope, max_cases)
    for path in paths:
        found = _manifests_below(path) if os.path.isdir(path) else [Path(path)]
        for file in found:
            with reader.collecting():
                reader.read_top(file)
    if len(reader.errors) > 1:
        raise SeveralError(reader.errors)
    if reader.errors:
        raise reader.errors[0]
    return Manifest(tuple(paths), tuple(reader.cases.values()), tuple(reader.files))


def _manifests_below(folder: str) -> list[Path]:
    """Return the manifests in a folder and below it, upper folders first.

    Raises:
        LayoutError: there is none, or a folder cannot be read.
    """

    def fail(error: OSError) -> None:
        raise file_error("read", error.filename or folder, error)

    names = (path for path in files_below(folder, fail) if is_manifest_name(os.path.basename(path)))
    found = sorted(map(Path, names), key=lambda path: (len(path.parts), path))
    if not found:
        message = f"there is no manifest below: no file {DEFAULT_PATH} or *.{DEFAULT_PATH}"
        raise LayoutError(f"{message}; tt-layout init writes one", FileLocation(folder))
    return found


def is_manifest_name(name: str) -> bool:
    """Tell whether a file has the name of a manifest: ``layouts.yaml``, ``*.layouts.yaml``."""
    return name == DEFAULT_PATH or name.endswith(f".{DEFAULT_PATH}")


class _ManifestReader:
    """Reader of the cases of manifests and of those they include.

    Args:
        scope: the folder relative to which cases in other folders are named.
        max_cases: maximum number of cases of all manifests.
    """

    def __init__(self, scope: Path, max_cases: int) -> None:
        self.scope = scope
        self.max_cases = max_cases
        # By folder and name in lower case, as some file systems have it.
        self.cases: dict[tuple[str, str], Case] = {}
        self.files: list[Path] = []
        self.errors: list[LayoutError] = []
        self._top = Path()
        self._read: dict[str, Path] = {}  # the file's true path -> the manifest that was given

    def read_top(self, path: Path) -> None:
        """Add the cases of a given manifest, unless another has included it."""
        if os.path.realpath(path) not in self._read:
            self._top = path
            self.read(path)

    def read(self, path: Path) -> None:
        """Add the cases of a manifest."""
        self.files.append(path)
        self._read[os.path.realpath(path)] = self._top
        root = _root(path)
        values = _checked(root, {key.name: key for key in MANIFEST_KEYS}, "a manifest")
        version = values.get("version")
        if isinstance(version, ScalarNode) and version.text != VERSION:
            message = f"the version of a manifest is {VERSION}, got {version.text}"
            raise LayoutError(message, version.span)
        defaults = self._defaults(values.get("defaults"))
        entries = _items(values.get("cases"))
        includes = _items(values.get("include"))
        if not entries and not includes:
            place = values["cases"].span if "cases" in values else root.span
            message = "the manifest has no cases; nothing was compared"
            raise LayoutError(message, _first_line(place))
        for node in includes:
            with self.collecting():
                self._include(node, path.parent)
        for node in entries:
            with self.collecting():
                self._add(_as_mapping("a case", node), defaults, path.parent)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect an error of a case, so that the others are read, too.

        Raises:
            TooLargeError: there are too many cases to continue.
        """
        try:
            yield
        except TooLargeError:
            raise
        except LayoutError as error:
            self.errors.append(error)

    def _defaults(self, node: Node | None) -> CaseValues:
        if node is None:
            return {}
        allowed = {name: key for name, key in all_keys().items() if key.is_default}
        values = _checked(_as_mapping("defaults", node), allowed, "defaults")
        _kinds(values)
        return values

    def _include(self, node: Node, folder: Path) -> None:
        if not isinstance(node, ScalarNode) or node.kind != "text":
            raise LayoutError(f"include lists files, got {_words(node)}", node.span)
        if not is_pattern(node.text):
            path = self._inside(node, folder)
            if self._read.get(os.path.realpath(path)) == self._top:
                raise LayoutError(f"{node.text} is included already", node.span)
            self._read_included((path,))
            return
        self._check_name(node)
        names = [Path(path).relative_to(folder) for path in matching(str(folder), node.text)]
        if not names:
            raise LayoutError(f"no file matches {node.text!r}", node.span)
        self._read_included(self._inside(replace(node, text=str(name)), folder) for name in names)

    def _read_included(self, paths: Iterable[Path]) -> None:
        """Add the cases of manifests that are not read yet."""
        for path in paths:
            if os.path.realpath(path) not in self._read:
                with self.collecting():
                    self.read(path)

    @staticmethod
    def _check_name(node: ScalarNode) -> None:
        """Reject a name that is not a file name in the manifest's folder."""
        if "\0" in node.text or len(node.text) > MAX_PATH:
            message = f"a file's name has no character 0x00, and at most {MAX_PATH} characters"
            raise LayoutError(message, node.span)
        if is_pattern(node.text) and (Path(node.text).is_absolute() or ".." in node.text):
            message = "a pattern of files is inside the manifest's folder"
            raise LayoutError(f"{message}, got {node.text!r}", node.span)

    def _inside(self, node: ScalarNode, folder: Path) -> Path:
        """Return a file named relative to a folder, within the top one."""
        self._check_name(node)
        path = Path(split_module(str(folder / node.text)).path)
        try:
            if Path(node.text).is_absolute() or not is_inside(path, self._top.parent):
                message = "a file must be inside the manifest's folder"
                raise LayoutError(f"{message}, got {node.text!r}", node.span)
            mode = mode_of(path)
        except OSError:
            mode = None
        if mode is None:
            raise LayoutError(f"there is no file {node.text!r}", node.span)
        if not stat.S_ISREG(mode):
            raise LayoutError(f"{node.text!r} is not a file", node.span)
        return path

    def _add(self, node: MappingNode, defaults: CaseValues, folder: Path) -> None:
        """Add a case, or those of its matrix."""
        values_of_case = _checked(node, all_keys(), "a case")
        name = values_of_case.get("name")
        if not isinstance(name, ScalarNode):
            raise LayoutError("the case has no name", _first_line(node.span))
        kinds = _kinds({**defaults, **values_of_case})
        _refuse_strange_keys(values_of_case, kinds)
        matrix = values_of_case.pop("matrix", None)
        inherited = dict(defaults)
        if "layout" in values_of_case:
            inherited.pop("file", None)
        values = {**inherited, **values_of_case}
        shared = inherited.keys() - values_of_case.keys()
        if isinstance(file := values.get("file"), ScalarNode) and is_pattern(file.text):
            shared |= {"file"}
        _require_keys(values, kinds, name)
        for combination in expand(values, matrix) if matrix is not None else (values,):
            for case in self._of_each_file(combination, folder):
                self._add_one(case, folder, frozenset(shared))

    def _of_each_file(self, values: CaseValues, folder: Path) -> Iterator[CaseValues]:
        """Yield the case for each file that its pattern matches, or the case itself.

        Raises:
            LayoutError: the pattern matches nothing.
        """
        file, name = values.get("file"), values["name"]
        if not isinstance(file, ScalarNode) or not is_pattern(file.text):
            yield values
            return
        self._check_name(file)
        paths = sorted(map(Path, matching(str(folder), file.text)))
        if not paths:
            raise LayoutError(f"no file matches {file.text!r}", file.span)
        assert isinstance(name, ScalarNode)
        for path in paths:
            place = path.relative_to(folder)
            stem = _UNSAFE.sub("-", str(place.with_suffix("")))
            yield {
                **values,
                "name": replace(name, text=f"{name.text}-{stem}"),
                "file": replace(file, text=str(place)),
            }

    def _add_one(self, values: CaseValues, folder: Path, shared: frozenset[str]) -> None:
        name = values.pop("name")
        assert isinstance(name, ScalarNode)
        if not _SAFE_NAME.fullmatch(name.text):
            message = "a name is a file's: letters, digits and _ . + = @ -, at most 200"
            raise LayoutError(f"{message}; got {name.text!r}", name.span)
        if _RESERVED.fullmatch(name.text):
            raise LayoutError(f"{name.text!r} is a device, no file, on Windows", name.span)
        key = os.path.realpath(folder), name.text.lower()
        before = self.cases.get(key)
        if before is not None:
            source = before.place.source
            place = f"{source.name}:{source.line_column(before.place.start)[0]}"
            raise LayoutError(f"the name {name.text!r} is used twice; first at {place}", name.span)
        if len(self.cases) >= self.max_cases:
            message = f"there are more than {self.max_cases} cases"
            raise TooLargeError(f"{message}; --max-cases allows more", name.span)
        self._check_layout(values, name, folder)
        scope = os.path.relpath(folder, self.scope).replace(os.sep, "/")
        self.cases[key] = Case(
            name=name.text,
            kinds=_kinds(values),
            values=tuple(values.items()),
            place=name.span,
            folder=folder,
            scope="" if scope == "." else scope,
            shared=shared,
        )

    def _check_layout(self, values: CaseValues, name: ScalarNode, folder: Path) -> None:
        """Reject a case without exactly one layout and type, or file."""
        file, alias = values.get("file"), values.get("alias")
        places = {KINDS[kind].is_of_layout for kind in _kinds(values)}
        if places == {None}:
            places = {"with" in values or "to" in values}
        if "line" in values or True not in places:
            self._check_file(values, name, folder)
            return
        if "layout" in values:
            for extra in (file, alias):
                if extra is not None:
                    message = "a case has either layout or file and alias, not both"
                    raise LayoutError(message, extra.span)
        elif file is None:
            what = "layout: give layout, or file and alias" if alias is None else "file with it"
            raise LayoutError(f"the case has no {what}", (alias or name).span)
        elif alias is None:
            raise LayoutError("the case has a file but no alias of it", name.span)
        else:
            assert isinstance(file, ScalarNode)
            self._inside(file, folder)
        if "type" not in values:
            message = "the case has no type, and defaults give none"
            raise LayoutError(f"{message}; such as type: tensor<16x16xf16>", name.span)

    def _check_file(self, values: CaseValues, name: ScalarNode, folder: Path) -> None:
        """Reject a case of a dump or its line without a file, or with other layouts."""
        case, has, refused = _OF_LINES if "line" in values else _OF_DUMPS
        for extra in refused:
            if extra in values:
                raise LayoutError(f"{case} has {has}, and no {extra}", values[extra].span)
        file = values.get("file")
        if not isinstance(file, ScalarNode):
            raise LayoutError(f"{case} needs the key 'file'", name.span)
        self._inside(file, folder)


def is_pattern(text: str) -> bool:
    """Tell whether a file name is a pattern.

    Example:
        >>> is_pattern("dumps/*.ttgir"), is_pattern("kernel.ttgir@2")
        (True, False)
    """
    return "*" in text or "?" in text


def _checked(node: MappingNode, keys: dict[str, CaseKey], what: str) -> CaseValues:
    """Return the values of a mapping, after checking its keys and the kinds of its values."""
    values: CaseValues = {}
    for key, value in node.entries:
        if key.text not in keys:
            near = nearest(key.text, keys)
            hint = f"did you mean {near!r}?" if near else f"known are {', '.join(keys)}"
            raise LayoutError(f"{what} has no key {key.text!r}; {hint}", key.span)
        accepts = keys[key.text].accepts
        is_empty = value.kind == "null" and "list" in accepts
        if value.kind not in accepts and not is_empty:
            article = {"list": "a list", "mapping": "a mapping", "number": "a number"}
            wanted = " or ".join(article.get(kind, kind) for kind in accepts)
            hint = _hint(value) if "text" in accepts else ""
            message = f"{key.text} must be {wanted}, got {_words(value)}{hint}"
            raise LayoutError(message, value.span)
        values[key.text] = value
    return values


def _hint(value: Node) -> str:
    """Return the hint on how to write a value as text."""
    if value.kind in ("number", "boolean"):
        return "; put it in quotes"
    line = value.span.source.text[value.span.end :].partition("\n")[0]
    is_comment = value.kind == "null" and line.lstrip().startswith("#")
    return "; # begins a comment here, so put it in quotes" if is_comment else ""


def _words(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        return f"a {node.kind}"
    return "nothing" if node.kind == "null" else f"the {node.kind} {node.text}"


def _root(path: Path) -> MappingNode:
    """Read the top-level mapping of a manifest.

    Raises:
        LayoutError: it is not a mapping; the message names the language of another text.
    """
    try:
        return _as_mapping("a manifest", read_nodes(str(path)))
    except LayoutError:
        source = read_source(str(path), MAX_BYTES, is_dump=False)
        if not _CASES.search(source.text):
            refuse_foreign(source, "manifest", has_cute=False)
        raise


def _as_mapping(what: str, node: Node) -> MappingNode:
    if not isinstance(node, MappingNode):
        message = f"{what} is a mapping of keys and values, got {_words(node)}"
        raise LayoutError(message, _first_line(node.span))
    return node


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, SequenceNode) else ()


def _first_line(span: Span) -> Span:
    """Return the part of a span that is on its first line."""
    end = span.source.text.find("\n", span.start, span.end)
    return span if end < 0 else span.source.span(span.start, max(end, span.start + 1))


def _kinds(values: CaseValues) -> tuple[str, ...]:
    """Return the kinds of output listed under ``views``."""
    node, budget = values.get("views"), ("budget",) if "at_most" in values else ()
    if node is None:
        return budget or DEFAULT_KINDS
    kinds: list[str] = []
    for item in _items(node):
        if not isinstance(item, ScalarNode) or item.text not in KINDS:
            got = repr(item.text) if isinstance(item, ScalarNode) else _words(item)
            raise LayoutError(f"views are of {', '.join(KINDS)}, got {got}", item.span)
        if item.text in kinds:
            raise LayoutError(f"the view {item.text!r} is listed twice", item.span)
        kinds.append(item.text)
    if not kinds:
        raise LayoutError("views must list at least one kind of output", _first_line(node.span))
    return (*kinds, *(kind for kind in budget if kind not in kinds))


def _refuse_strange_keys(values: CaseValues, kinds: tuple[str, ...]) -> None:
    """Reject a key that none of the case's kinds takes, except in defaults."""
    common = {key.name for key in CASE_KEYS}
    for key in values:
        takers = [kind.name for kind in KINDS.values() if key in {k.name for k in kind.keys}]
        if key not in common and not set(takers) & set(kinds):
            message = f"{key} is for views of {' or '.join(takers)}"
            raise LayoutError(f"{message}, but the case has {', '.join(kinds)}", values[key].span)


def _require_keys(values: CaseValues, kinds: tuple[str, ...], name: ScalarNode) -> None:
    """Reject a case without a key that one of its kinds needs; a line has both layouts."""
    if "line" in values:
        return
    for kind in kinds:
        for key in KINDS[kind].needed_keys:
            if key not in values:
                message = f"a case with the view {kind} needs the key {key!r}"
                raise LayoutError(f"{message}, and defaults give none", name.span)


def owned(manifest: Manifest) -> Iterator[str]:
    """Yield the golden files that a manifest's cases own."""
    for check in manifest.checks:
        yield os.path.realpath(check.golden)


# -- matrices of values ----------------------------------------------------------------------------


def expand(values: CaseValues, matrix: Node) -> Iterator[CaseValues]:
    """Yield the values of each combination, with every ``{key}`` replaced.

    The name gets ``-value`` appended for each key that it does not contain itself.

    Args:
        values: key -> node of the case, with a scalar name.
        matrix: key -> list of values.

    Raises:
        LayoutError: it is not a matrix, has too many combinations, or has a key that the
            case does not use.

    Example:
        >>> from tt_layout.golden.yaml_nodes import parse_nodes
        >>> from tt_layout.mlir.source import Source
        >>> case = parse_nodes(Source("{name: a, type: 'tensor<{n}xf16>', m: {n: [8, 16]}}"))
        >>> values = {key.text: node for key, node in case.entries}
        >>> [one["name"].text for one in expand(values, values.pop("m"))]
        ['a-8', 'a-16']
    """
    axes = _axes(matrix)
    count = math.prod(map(len, axes.values()))
    if count > MAX_COMBINATIONS:
        message = f"a matrix may have {MAX_COMBINATIONS} combinations, this has {count}"
        raise LayoutError(message, matrix.span)
    name = values["name"]
    assert isinstance(name, ScalarNode)
    for key, scalars in axes.items():
        if not any(_uses(node, key) for node in values.values()):
            message = f"the matrix key {key!r} is used nowhere; write {{{key}}} in the case"
            raise LayoutError(message, scalars[0].span)
    suffix = "".join(f"-{{{key}}}" for key in axes if not _uses(name, key))
    values = {**values, "name": replace(name, text=name.text + suffix)}
    for combination in product(*axes.values()):
        texts = {key: scalar.text for key, scalar in zip(axes, combination)}
        yield {key: _substituted(node, texts) for key, node in values.items()}


def _axes(matrix: Node) -> dict[str, tuple[ScalarNode, ...]]:
    """Return the values of each key."""
    assert isinstance(matrix, MappingNode)
    if not matrix.entries:
        raise LayoutError("a matrix needs at least one key with a list of values", matrix.span)
    axes: dict[str, tuple[ScalarNode, ...]] = {}
    for key, node in matrix.entries:
        if not _NAME.fullmatch(key.text):
            message = f"a matrix key is letters, digits and _, got {key.text!r}"
            raise LayoutError(message, key.span)
        if not isinstance(node, SequenceNode) or not node.items:
            raise LayoutError(f"{key.text} must be a list of values in a matrix", node.span)
        axes[key.text] = tuple(map(_value, node.items))
    return axes


def _value(node: Node) -> ScalarNode:
    if isinstance(node, ScalarNode) and node.kind in ("text", "number"):
        return node
    raise LayoutError(f"a value of a matrix is text or a number, got a {node.kind}", node.span)


def _uses(node: Node, key: str) -> bool:
    if isinstance(node, ScalarNode):
        return f"{{{key}}}" in node.text
    if isinstance(node, SequenceNode):
        return any(_uses(item, key) for item in node.items)
    return any(_uses(value, key) for _, value in node.entries)


def _substituted(node: Node, texts: Map[str, str]) -> Node:
    """Replace every ``{key}`` at once; other braces stay, because layouts have many of them."""
    if isinstance(node, ScalarNode):
        pattern = "|".join(re.escape(f"{{{key}}}") for key in texts)
        text = re.sub(pattern, lambda match: texts[match.group()[1:-1]], node.text)
        return replace(node, text=text)
    if isinstance(node, SequenceNode):
        return replace(node, items=tuple(_substituted(item, texts) for item in node.items))
    entries = tuple((key, _substituted(value, texts)) for key, value in node.entries)
    return replace(node, entries=entries)
