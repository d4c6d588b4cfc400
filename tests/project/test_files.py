"""The one way to files: what is opened, and how much of it is read."""

from __future__ import annotations

import ast
import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tt_layout
from tt_layout.errors import LayoutError, not_a_name
from tt_layout.files import (
    MAX_BYTES,
    MAX_DECOMPRESSED,
    decompressed,
    files_below,
    is_inside,
    limit_of,
    lines_of,
    matching,
    names_in,
    open_file,
    read_bytes,
)

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_bytes(str(path), 3) == b"abc"
    with pytest.raises(LayoutError, match="longer than 2 bytes, the most that is read"):
        read_bytes(str(path), 2)


def test_names_in_a_folder_are_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert names_in(str(tmp_path)) == ["a", "b", "c"]
    assert names_in(str(tmp_path / "nowhere")) == []


@needs_pipes
def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "link").symlink_to("pipe")
    reasons = {
        "pipe": "a pipe, not a file",
        "link": "a pipe, not a file",
        "zero": "a device, not a file",
        "itself": "Too many levels",
        "": "Is a directory",
        "nowhere": "No such file",
        "a\0b": "a character 0x00",
    }
    for name, reason in reasons.items():
        with pytest.raises(LayoutError, match=f"cannot read: .*{reason}"):
            read_bytes(os.path.join(tmp_path, name))


@needs_pipes
def test_what_became_a_pipe_before_it_was_opened_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened, numbers = tmp_path / "a", os.open, list[int]()
    path.write_bytes(b"abc")

    def late(name: str, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        numbers.append(opened(name, flags))
        return numbers[-1]

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(LayoutError, match="a pipe, not a file"):
        read_bytes(str(path))
    [number] = numbers
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


@needs_pipes
def test_whoever_writes_a_pipe_is_not_woken(tmp_path: Path) -> None:
    """Opening it for a moment would end them: nobody reads what they write."""
    os.mkfifo(tmp_path / "pipe")
    program = "import sys; open(sys.argv[1], 'w').write('x')"
    writer = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "pipe")])
    try:
        for _ in range(100):
            with pytest.raises(OSError, match="a pipe"):
                open_file(str(tmp_path / "pipe"))
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()


def test_compressed_lines_are_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"ab\ncdefg\n"))
    assert list(lines_of(str(path), 9, 4)) == [b"ab\n", b"cdef", b"g\n"]
    path.write_bytes(gzip.compress(b"a" * (1 << 24)))
    with pytest.raises(LayoutError, match="longer than 1 MiB"):
        list(lines_of(str(path), 1 << 20, 1 << 18))
    path.write_bytes(gzip.compress(b"ab\ncdefg\n")[:-9])
    with pytest.raises(EOFError):
        list(lines_of(str(path), 9, 4))


def test_what_leads_out_of_a_folder_is_not_inside(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "inner").write_text("")
    (tmp_path / "in" / "out").symlink_to("../inner")
    assert is_inside(tmp_path / "in" / "a", tmp_path / "in")
    for name in ("in/out", "inner", "in/../inner"):
        assert not is_inside(tmp_path / name, tmp_path / "in")


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder of 1,200 folders, each in the last; pytest itself cannot remove them."""
    before, depth = os.getcwd(), 1200
    os.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    Path("k.ttgir").write_text("")
    yield tmp_path
    os.unlink("k.ttgir")
    for _ in range(depth):
        os.chdir("..")
        os.rmdir("d")
    os.chdir(before)


@pytest.mark.slow
def test_files_below_a_folder_are_found_however_deep(deep: Path) -> None:
    """Python 3.10 and 3.11 go down by recursion in `os.walk`, and fail at a thousand."""
    (deep / ".hidden").write_text("")
    (deep / "link").symlink_to("d")
    failed: list[OSError] = []
    found = list(files_below(str(deep), failed.append))
    assert [path.count(f"{os.sep}d") >= 1200 for path in found] == [True]
    assert failed == []


PATTERNS = {
    "**a": ["a", "aa", "ba"],  # within a name two stars are as one
    "**/a": ["a", "d/a", "d/e/a"],
    "**": [],  # which stands for folders only
    "d/**/**/b": ["d/e/b"],
    "**/**/**/**/**/**/**/**/**/**/**/**/*b": ["d/e/b"],
    "/".join(["**"] * 2000): [],
    "/".join([*["**"] * 2000, "b"]): ["d/e/b"],
    "/".join(["d"] * 2000): [],
    "/".join(["*"] * 2000): [],
    "[": [], "[]a": [], "\0": [], "x" * 5000: [], "../*": [], "": [],
}  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_files_are_matched_by_any_pattern(pattern: str, tmp_path: Path) -> None:
    for name in ("a", "aa", "ba", "d/a", "d/e/a", "d/e/b"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = [os.path.relpath(path, tmp_path) for path in matching(str(tmp_path), pattern)]
    assert found == PATTERNS[pattern]


@pytest.mark.slow
def test_a_pattern_goes_down_a_thousand_folders(deep: Path) -> None:
    """And 2,000 parts of a pattern over 1,200 folders are not tried one by one at each."""
    [found] = matching(str(deep), "**/k.ttgir")
    assert found.count(f"{os.sep}d") >= 1200
    assert len(matching(str(deep), "/".join([*["**"] * 2000, "k.ttgir"]))) == 1
    assert matching(str(deep), "/".join(["*"] * 2000)) == []


# -- nothing else opens a file -------------------------------------------------------------------

PACKAGE = Path(tt_layout.__file__).parent

FILES = {
    "open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "rename", "stat",
    "lstat", "rmtree", "rmdir", "removedirs", "glob", "iglob", "rglob", "iterdir", "listdir",
    "scandir", "mkdir", "makedirs", "touch", "chmod", "symlink_to", "hardlink_to", "fdopen",
    "GzipFile", "ZipFile", "TarFile", "is_tarfile", "is_zipfile", "mkstemp", "mkdtemp",
    "TemporaryFile", "NamedTemporaryFile", "SpooledTemporaryFile", "TemporaryDirectory", "fromfile",
    "memmap", "loadtxt", "genfromtxt", "savez", "savez_compressed", "savetxt", "open_memmap",
    "tofile", "mmap", "copyfile", "copytree", "copy2", "move", "make_archive", "unpack_archive",
    "getline", "getlines", "get_data", "run_path", "run_module", "Popen", "check_output",
    "check_call", "spec_from_file_location", "exec_", "CDLL", "LoadLibrary", "walk_packages",
    "FileIO", "utime", "truncate", "mkfifo", "sendfile", "startfile", "open_code", "copyfileobj",
    "FileHandler", "posix_spawn", "getoutput", "create_subprocess_exec", "create_subprocess_shell",
    "SourceFileLoader", "symlink", "readlink", "urlopen", "urlretrieve", "create_connection",
    "HTTPConnection", "HTTPSConnection", "open_connection", "save", "save_html", "save_svg",
    "save_text",
}  # fmt: skip
"""Functions of any object that open, write, delete, rename or list files, run programs, connect."""

HARMLESS = frozenset((
    "__future__", "_typeshed", "abc", "anyio", "array", "ast", "base64", "bisect",
    "click.shell_completion", "codecs", "collections", "collections.abc", "concurrent.futures",
    "concurrent.futures.process", "contextlib", "contextvars", "copyreg", "csv", "dataclasses",
    "difflib", "enum", "errno", "fnmatch", "fractions", "functools", "gc", "hashlib", "heapq",
    "html", "importlib", "importlib.machinery", "importlib.metadata", "importlib.util", "inspect",
    "itertools", "json", "keyword", "lsprotocol", "math", "mcp.server.mcpserver",
    "mcp.server.mcpserver.exceptions", "mcp.server.stdio", "mcp.shared.message", "mcp_types",
    "multiprocessing.pool", "numpy.typing", "operator", "pathlib", "pkgutil", "pydantic",
    "pygls.exceptions", "pygls.lsp.server", "pygls.protocol", "pygls.workspace", "pytest", "queue",
    "re", "resource", "rich", "rich.console", "select", "shlex", "signal", "stat", "string",
    "struct", "sys", "textwrap", "threading", "time", "triton", "triton.backends.compiler", "types",
    "typing", "typing_extensions", "uuid", "warnings", "weakref", "zlib",
))  # fmt: skip
"""Modules of which nothing reaches a file by a name that is not among those above."""

OF_MODULES = {
    "numpy": {"load", "save", "lib", "DataSource", "fromregex", "ctypeslib"},
    "click": {"File", "Path", "open_file", "edit", "launch"},
    "yaml": {"load", "load_all", "full_load", "unsafe_load", "full_load_all", "unsafe_load_all",
             "Loader", "FullLoader", "UnsafeLoader"},
    "xml.etree.ElementTree": {"parse", "iterparse", "ElementTree"},
    "asyncio": {"open_unix_connection", "start_server", "start_unix_server", "subprocess",
                "to_thread"},
    "ctypes": {"CDLL", "PyDLL", "WinDLL", "cdll", "pydll", "windll", "pythonapi", "util"},
    "multiprocessing": {"connection", "shared_memory", "managers"},
}  # fmt: skip
"""Names of modules that do so; all others of them do not."""

BUT = {
    "os": {
        "path", "environ", "getpid", "PathLike", "sep", "fspath", "strerror", "getcwd", "pathsep",
        "register_at_fork", "kill", "killpg", "isatty", "terminal_size", "get_terminal_size",
        "geteuid", "fsdecode", "fsencode", "cpu_count", "dup", "sched_getaffinity", "_exit",
        "__file__", "O_WRONLY", "O_CREAT", "O_EXCL", "O_APPEND", "R_OK", "write",
        "read", "getpgrp",
    },
    "io": {"BytesIO", "StringIO", "TextIOWrapper", "BufferedReader", "BufferedWriter", "RawIOBase"},
    "subprocess": {"DEVNULL", "PIPE", "TimeoutExpired"},
    "shutil": {"get_terminal_size"},
    "tempfile": set[str](), "runpy": set[str](), "builtins": set[str](), "gzip": set[str](),
}  # fmt: skip
"""Modules of which all does so but these names."""

METHODS = {
    ("views/frames.py", "open"): "opens a cell of a table",
    ("servers/language_server.py", "open"): "opens a document that the editor has sent",
    ("library/autotuning.py", "compile"): "compiles a kernel, as its caller does it",
    ("figures/png.py", "save"): "writes a picture into memory",
    ("__init__.py", "globals"): "the names of the package itself",
}
"""Calls of the same name that open no file."""

EXCEPTIONS = {
    ("__main__.py", "putenv"): "how many threads numpy starts",
    ("records.py", "exec"): "methods of the package's own classes",
    ("records.py", "reprlib"): "methods of the package's own classes",
    ("tuples.py", "eval"): "methods of the package's own classes",
    ("page/__init__.py", "read_text"): "the package's own scripts and styles",
    ("encodings/registry.py", "listdir"): "the package's own modules",
    ("cli/output.py", "which"): "the pager that PAGER names",
    ("cli/output.py", "Popen"): "the pager that PAGER names",
    ("cli/commands/lsp.py", "fdopen"): "standard output",
    ("views/whole_text.py", "pythonapi"): "Python itself, for a function of its own",
    ("views/whole_text.py", "CDLL"): "Python itself, for a function of its own",
    ("watching/report.py", "fdopen"): "standard error",
    ("servers/agent_tools.py", "open"): "what the system says of this process",
    ("golden/runner.py", "run"): "git, which `--changed` asks for",
    ("kernels/compiling.py", "TemporaryDirectory"): "the temporary folder of a compilation",
    ("kernels/compiling.py", "open"): "the temporary folder of a compilation",
    ("kernels/compiling.py", "Popen"): "the Python that the user names, or this one",
    ("worker.py", "multiprocessing.connection"): "the end of the process that started it",
    ("library/autotuning.py", "multiprocessing.connection"): "pipes to its own copies",
    ("library/autotuning.py", "open"): "the device that drops what a copy prints",
    ("library/autotuning.py", "devnull"): "the device that drops what a copy prints",
    ("library/autotuning.py", "dup2"): "the device that drops what a copy prints",
    ("kernels/inside_triton.py", "open"): "the temporary folder of a compilation",
    ("kernels/inside_triton.py", "replace"): "the temporary folder of a compilation",
    ("watching/__main__.py", "run_path"): "the program that is to be watched",
    ("watching/__main__.py", "run_module"): "the program that is to be watched",
    ("watching/__main__.py", "access"): "the program that is to be watched",
    ("watching/journal.py", "open"): "the temporary folder of the session",
    ("watching/journal.py", "scandir"): "the temporary folder of the session",
    ("watching/processes.py", "open"): "the temporary folder of the session",
    ("watching/processes.py", "mkdir"): "the temporary folder of the session",
    ("watching/processes.py", "rmtree"): "the temporary folder of the session",
}
"""Calls beside `tt_layout.files`, on what no input names, and what that is."""


BUILTINS = {"open", "eval", "exec", "compile", "globals", "__import__", "__builtins__"}
BY_NAME = {"getattr", "attrgetter", "methodcaller"}
"""Functions that return what a text names of an object."""

_IMPORTED = re.compile(r"\b(?:from|import)[ \t]+([\w.]+)")
_MENTIONED = re.compile(
    rf"\b(?:{'|'.join(sorted({*BUILTINS, *BY_NAME, 'import_module'}))})\b"
    rf"|\.\s*(?:{'|'.join(sorted({*FILES, 'replace'}))})\b|['\"](?:{'|'.join(BUT)})['\"]"
)
"""What is somewhere in a module that has such a use, or an import of one that is looked at: the
others need not be parsed."""


def calls_on_files(code: str) -> list[tuple[int, str]]:
    """Return line and name of each use of a function on files: called, passed on, or imported.

    Modules are known by any name that they are imported under, and by `import_module`; one that is
    in none of the tables above is such a use itself, and so is one that has almost nothing else,
    wherever it is handed on.  Attributes are known also by the text that names them, where that is
    written out.  ``path.replace(other)`` is told from that of a text by its one argument.
    """
    imported = (name for name in _IMPORTED.findall(code) if not name.startswith("tt_layout"))
    if _MENTIONED.search(code) is None and HARMLESS.issuperset(imported):
        return []
    nodes = list(ast.walk(ast.parse(code)))
    modules = _aliases(nodes)
    of = {_place(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    of |= {
        _place(node.args[0])
        for node in nodes
        if isinstance(node, ast.Call) and _called(node) == "hasattr"
    }
    return [
        *(use for node in nodes for use in _uses(node, modules)),
        *(
            (node.lineno, modules[node.id])
            for node in nodes
            if isinstance(node, ast.Name) and modules.get(node.id) in BUT and _place(node) not in of
        ),
    ]


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _aliases(nodes: list[ast.AST]) -> dict[str, str]:
    """Return the modules of the names that stand for one."""
    found = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    aliases = {name: name for name in (*OF_MODULES, *BUT)}
    aliases |= {alias.asname: alias.name for alias in found if alias.asname is not None}
    for node in nodes:
        if isinstance(node, ast.Assign) and (module := _module(node.value, aliases)):
            aliases |= {name.id: module for name in node.targets if isinstance(name, ast.Name)}
    return aliases


def _module(node: ast.expr, modules: dict[str, str]) -> str:
    """Return the module that an expression is; an empty text for none."""
    if isinstance(node, ast.Name):
        return modules.get(node.id, "")
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value) if _called(node) in ("import_module", "__import__") else ""
    return ""


def _called(node: ast.Call) -> str:
    """Return the name of the function that is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_use(module: str, name: str) -> bool:
    """Return whether a name of a module is of a function on files; the module may be unknown."""
    if module in BUT:
        return name not in BUT[module]
    return name in FILES or name in OF_MODULES.get(module, ())


def _uses(node: ast.AST, modules: dict[str, str]) -> list[tuple[int, str]]:
    """Return the uses that a node itself is."""
    if isinstance(node, ast.Name) and node.id in BUILTINS:
        return [(node.lineno, node.id)]
    if isinstance(node, ast.Constant) and node.value in BUT:
        return [(node.lineno, str(node.value))]
    if isinstance(node, ast.Attribute):
        is_module = node.attr in BUT  # such as in `os.path.os`
        is_use = is_module or _is_use(_module(node.value, modules), node.attr)
        return [(node.lineno, node.attr)] if is_use else []
    if isinstance(node, ast.Import):
        return [(node.lineno, alias.name) for alias in node.names if _is_strange(alias.name)]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if _is_strange(module):
            return [(node.lineno, module)]
        if module.partition(".")[0] == "tt_layout":
            return []
        names = [alias.name for alias in node.names]
        known = {*OF_MODULES, *BUT}
        return [
            (node.lineno, n) for n in names if _is_use(module, n) or (n == "*" and module in known)
        ]
    return _by_name(node) if isinstance(node, ast.Call) else []


def _is_strange(module: str) -> bool:
    """Return whether a module is in no table; a part of one that is looked at is."""
    return module.partition(".")[0] != "tt_layout" and module not in {
        *HARMLESS, *OF_MODULES, *BUT
    }  # fmt: skip


def _by_name(node: ast.Call) -> list[tuple[int, str]]:
    """Return the use that a call is: of what a text names, of a module, or of ``replace``."""
    texts = [str(value.value) for value in node.args if isinstance(value, ast.Constant)]
    if _called(node) in BY_NAME and (named := [text for text in texts if text in FILES]):
        return [(node.lineno, named[0])]
    if _called(node) in ("import_module", "__import__") and texts and _is_strange(texts[0]):
        return [(node.lineno, texts[0])]
    is_path = isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
    if is_path and len(node.args) == 1 and not node.keywords:
        return [(node.lineno, "replace")]
    return []


FOUND = (
    "open(p)", "Path(p).read_text()", "import os; os.replace(a, b)", "from shutil import rmtree",
    "map(os.unlink, paths)", "import os; os.walk(p)", "import numpy as np; np.load(p)",
    "tempfile.mkstemp()", "f = open; f(p)", "import os as o; o.replace(a, b)",
    "from os import replace as r", "import shutil as s; s.copy(a, b)", "Path(p).write_text(t)",
    "Path(a).replace(b)", "path.rename(b)", "getattr(os, 'replace')(a, b)",
    "getattr(path, 'unlink')()", "import_module('os').replace(a, b)", "__import__('os').remove(a)",
    "from os import *", "import os; s = os; s.remove(a)", "exec(text)", "Path(p).stat()",
    "importlib.import_module('shutil').copy(a, b)", "import builtins; builtins.open(p)",
    "from io import open as o", "r.urlopen(u)", "import os; os.open(p, os.O_RDONLY)",
    "from os import unlink as u", "import shutil; shutil.chown(a)", "from mmap import mmap as m",
    "import tempfile; tempfile.mktemp()", "np.savetxt(p, x)", "np.savez_compressed(p, x)",
    "import numpy as np; np.DataSource().exists(p)", "import numpy as np; np.lib.format.open(p)",
    "import numpy.lib.npyio as n", "import zipfile; zipfile.Path(p)", "from bz2 import BZ2File",
    "import lzma", "getattr(os, 'unl' + 'ink')(p)", "getattr(os, name)(p)",
    "import os; vars(os)['unlink'](p)", "import os; os.__dict__['unlink'](p)",
    "operator.methodcaller('unlink')(path)", "__builtins__['open'](p)",
    "attrgetter('unlink')(o)(p)", "vars(builtins)['open'](p)", "globals()['o' + 'pen'](p)",
    "partial(open, p)()", "sys.modules['os'].remove(p)", "sys.modules.get('os').remove(p)",
    "import posix", "from nt import remove", "import _io", "import_module('posix').remove(p)",
    "import pkgutil; pkgutil.get_data(a, p)", "import importlib.resources as r", "import pty",
    "import xml.etree.ElementTree as ET; ET.parse(p)", "import zipimport", "import click.testing",
    "from xml.etree.ElementTree import ElementTree", "import click; click.File('r')",
    "import click; click.open_file(p)", "from click import edit", "import click; click.launch(p)",
    "import configparser", "import os; os.mknod(p)", "import os; os.execvpe(p, a, e)",
    "import os; os.spawnlp(0, p)", "import os; os.chdir(p)", "import os; os.setxattr(p, a, b)",
    "import asyncio; asyncio.start_unix_server(f, p)", "import socket", "import smtplib",
    "ctypes.cdll.LoadLibrary(p)", "import sqlite3", "from sqlite3 import connect",
    "import logging.config", "picture.save(p)", "Console().save_html(p)", "import pickle",
    "import os.path as p; p.os.remove(x)", "from os import path; path.os.remove(x)",
    "{'o': os}['o'].replace(a, b)", "compile(t, p, 'exec')", "import webbrowser",
    "from multiprocessing import connection", "import multiprocessing.shared_memory",
    "from glob import iglob as g", "import yaml; yaml.load(t)", "from yaml import unsafe_load",
    "import dbm", "lambda p, o=open: o(p)", "import os\ndef f(p, module=os): module.remove(p)",
    "from os import path, remove", "import_module('zipfile')", "import urllib.request as u",
)  # fmt: skip
UNFOUND = (
    "text.replace(a, b)", "function.walk()", "from tt_layout.files import read_bytes",
    "replace(value, a=b)", "value.replace(a=b)", "re.compile(p)", "import os; os.path.join(a, b)",
    "import os; os.environ.get(a)", "getattr(value, 'name')", "import_module(f'{a}.{b}')",
    "import numpy as np; np.asarray(x)", "from io import StringIO", "import yaml; yaml.compose(t)",
    "from dataclasses import replace", "import click; click.echo(t)", "vars(value)['open']",
)  # fmt: skip


@pytest.mark.parametrize("code", FOUND)
def test_a_call_on_files_is_found(code: str) -> None:
    assert calls_on_files(code)


@pytest.mark.parametrize("code", UNFOUND)
def test_another_call_is_none(code: str) -> None:
    assert calls_on_files(code) == []


@pytest.mark.slow
def test_every_file_is_reached_through_one_module() -> None:
    found: dict[tuple[str, str], int] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name != "files.py":
            calls = calls_on_files(path.read_text(encoding="utf-8"))
            found |= {(name, called): line for line, called in calls}
    known = METHODS | EXCEPTIONS
    strange = [
        f"{n}:{line}: {called}" for (n, called), line in found.items() if (n, called) not in known
    ]
    assert not strange, "use tt_layout.files: " + ", ".join(strange)
    assert set(known) <= set(found), "exceptions that are none any more"


def test_what_is_no_name_of_a_file_has_its_reason() -> None:
    with pytest.raises(UnicodeEncodeError) as unwritable:
        "gr\u00f6\u00dfe".encode("ascii")
    assert str(not_a_name(unwritable.value)) == (
        "file names are in ascii here, in which it cannot be written"
    )
    assert str(not_a_name(ValueError("embedded null byte"))) == "its name has a character 0x00"


@pytest.mark.parametrize("is_compressed", [False, True])
def test_less_is_read_of_a_file_than_of_what_is_decompressed(
    is_compressed: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a"
    file.write_bytes(gzip.compress(b"text") if is_compressed else b"text")
    with open(file, "rb") as stream:
        content = decompressed(stream)
        assert limit_of(content) == (MAX_DECOMPRESSED if is_compressed else MAX_BYTES)
        assert content.read() == b"text"
