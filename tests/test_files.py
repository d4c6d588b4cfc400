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
from tt_layout.errors import LayoutError
from tt_layout.files import (
    files_below,
    is_inside,
    lines_of,
    matching,
    open_file,
    read_bytes,
    read_start,
)

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_bytes(str(path), 3) == b"abc"
    assert read_start(str(path), 2) == b"ab"
    with pytest.raises(LayoutError, match="longer than 2 bytes, the most that is read"):
        read_bytes(str(path), 2)


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
    "open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "rename",
    "rmtree", "rmdir", "removedirs", "glob", "iglob", "rglob", "iterdir", "listdir", "scandir",
    "fwalk", "mkdir", "makedirs", "touch", "chmod", "symlink_to", "hardlink_to", "fdopen",
    "GzipFile", "ZipFile", "TarFile", "is_tarfile", "is_zipfile", "mkstemp", "mkdtemp",
    "TemporaryFile", "NamedTemporaryFile", "SpooledTemporaryFile", "TemporaryDirectory", "fromfile",
    "memmap", "loadtxt", "genfromtxt", "savez", "tofile", "mmap", "copyfile", "copytree", "copy2",
    "move", "make_archive", "unpack_archive", "getline", "getlines", "run_path", "Popen",
    "check_output", "check_call", "spec_from_file_location", "exec_", "CDLL", "walk_packages",
    "FileIO", "utime", "truncate", "mkfifo", "sendfile", "startfile", "fileinput", "run_module",
    "open_code", "copyfileobj", "copymode", "copystat", "FileHandler", "posix_spawn",
    "getoutput", "getstatusoutput", "create_subprocess_exec", "create_subprocess_shell",
    "SourceFileLoader", "symlink", "readlink", "urlopen", "urlretrieve", "create_connection",
    "HTTPConnection", "HTTPSConnection", "open_connection",
}  # fmt: skip
"""Functions of any object that open, write, delete, rename or list files, run programs, connect."""

OF_MODULES = {
    "os": {"renames",
           "stat", "lstat", "access", "remove", "replace", "link", "symlink", "readlink", "walk",
           "system", "popen", "execv", "execve", "execvp", "execl", "execlp", "spawnv", "spawnl",
           "statvfs", "chown"},
    "shutil": {"copy", "move", "which", "disk_usage"},
    "socket": {"socket"}, "logging": {"basicConfig"}, "sqlite3": {"connect"},
    "builtins": {"eval", "exec"}, "runpy": {"run_path", "run_module"},
    "np": {"load", "save", "loads"}, "numpy": {"load", "save"},
    "gzip": {"compress"}, "shelve": {"open"}, "subprocess": {"run", "call"},
    "pickle": {"load", "loads"}, "marshal": {"load", "loads"},
    "io": {"open"}, "codecs": {"open"}, "lzma": {"open"}, "bz2": {"open"},
}  # fmt: skip
"""Names of functions that do so of a module only; elsewhere they mean something else."""

METHODS = {
    ("views/frames.py", "open"): "opens a cell of a table",
    ("servers/language_features.py", "open"): "opens a document that the editor has sent",
}
"""Calls of the same name that open no file."""

EXCEPTIONS = {
    ("page/__init__.py", "read_text"): "the package's own scripts and styles",
    ("encodings/registry.py", "listdir"): "the package's own modules",
    ("cli/paging.py", "which"): "the pager that PAGER names",
    ("cli/paging.py", "Popen"): "the pager that PAGER names",
    ("cli/commands/lsp.py", "fdopen"): "standard output",
    ("views/whole_text.py", "CDLL"): "Python itself, for a function of its own",
    ("watching/report.py", "fdopen"): "standard error",
    ("servers/agent_tools.py", "open"): "what the system says of this process",
    ("golden/changed.py", "run"): "git, which `--changed` asks for",
    ("kernels/compiling.py", "TemporaryDirectory"): "the temporary folder of a compilation",
    ("kernels/compiling.py", "open"): "the temporary folder of a compilation",
    ("kernels/compiling.py", "Popen"): "the Python that the user names, or this one",
    ("kernels/inside_triton.py", "open"): "the temporary folder of a compilation",
    ("kernels/inside_triton.py", "replace"): "the temporary folder of a compilation",
    ("watching/__main__.py", "run_path"): "the program that is to be watched",
    ("watching/__main__.py", "run_module"): "the program that is to be watched",
    ("watching/__main__.py", "access"): "the program that is to be watched",
    ("watching/journal.py", "open"): "the temporary folder of the session",
    ("watching/journal.py", "scandir"): "the temporary folder of the session",
    ("watching/processes.py", "open"): "the temporary folder of the session",
    ("watching/processes.py", "mkdtemp"): "the temporary folder of the session",
    ("watching/processes.py", "mkdir"): "the temporary folder of the session",
    ("watching/processes.py", "rmtree"): "the temporary folder of the session",
}
"""Calls beside `tt_layout.files`, on what no input names, and what that is."""


BUILTINS = {"open", "eval", "exec"}
MENTIONED = re.compile(
    rf"\b(?:{'|'.join(sorted({*BUILTINS, 'getattr', 'import_module', '__import__'}))})\b"
    rf"|\.\s*(?:{'|'.join(sorted(FILES))}|replace\s*\([^,()]*\))"
    rf"|\bimport\b.*\b(?:{'|'.join(sorted(OF_MODULES))})\b"
    rf"|\bfrom\s+(?:{'|'.join(sorted(OF_MODULES))}|pathlib|tempfile)\b"
)
"""What is somewhere in a module that has such a call: the other modules need not be parsed."""


def calls_on_files(code: str) -> list[tuple[int, str]]:
    """Return line and name of each use of a function on files: called, passed on, or imported.

    Modules are known by any name that they are imported under, and by `import_module`; attributes
    also by `getattr`.  ``path.replace(other)`` is told from that of a text by its one argument.
    """
    if MENTIONED.search(code) is None:
        return []
    nodes = list(ast.walk(ast.parse(code)))
    modules = {name: name for name in OF_MODULES} | _aliases(nodes)
    return [use for node in nodes for use in _uses(node, modules)]


def _aliases(nodes: list[ast.AST]) -> dict[str, str]:
    """Return the modules of the names that stand for one."""
    found = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    aliases = {alias.asname: alias.name for alias in found if alias.asname is not None}
    for node in nodes:
        if isinstance(node, ast.Assign) and (module := _module(node.value, aliases)):
            aliases |= {name.id: module for name in node.targets if isinstance(name, ast.Name)}
    return aliases


def _module(node: ast.expr, modules: dict[str, str]) -> str:
    """Return the module that an expression is; an empty text for none."""
    if isinstance(node, ast.Name):
        return modules.get(node.id, node.id if node.id in OF_MODULES else "")
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
        called = called.id if isinstance(called, ast.Name) else called
        return str(node.args[0].value) if called in ("import_module", "__import__") else ""
    return ""


def _uses(node: ast.AST, modules: dict[str, str]) -> list[tuple[int, str]]:
    """Return the uses that a node itself is."""
    if isinstance(node, ast.Name) and node.id in BUILTINS:
        return [(node.lineno, node.id)]
    if isinstance(node, ast.Attribute):
        own = OF_MODULES.get(_module(node.value, modules), set())
        return [(node.lineno, node.attr)] if node.attr in FILES | own else []
    if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("tt_layout"):
        names = FILES | OF_MODULES.get(node.module or "", set())
        if OF_MODULES.get(node.module or ""):
            names |= {"*"}
        return [(node.lineno, alias.name) for alias in node.names if alias.name in names]
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Name) and node.func.id == "getattr":
        of = OF_MODULES.get(_module(node.args[0], modules), set()) | FILES
        named = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        return [(node.lineno, str(named))] if named in of else []
    is_path = isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
    if is_path and len(node.args) == 1 and not node.keywords:
        return [(node.lineno, "replace")]
    return []


FOUND = (
    "open(p)", "Path(p).read_text()", "import os; os.replace(a, b)", "from shutil import rmtree",
    "map(os.unlink, paths)", "import os; os.walk(p)", "import numpy as np; np.load(p)",
    "tempfile.mkstemp()",
    "f = open; f(p)", "import os as o; o.replace(a, b)", "from os import replace as r",
    "import shutil as s; s.copy(a, b)", "Path(p).write_text(t)", "Path(a).replace(b)",
    "path.rename(b)", "getattr(os, 'replace')(a, b)", "getattr(path, 'unlink')()",
    "import_module('os').replace(a, b)", "__import__('os').remove(a)", "from os import *",
    "import os; s = os; s.remove(a)", "importlib.import_module('shutil').copy(a, b)", "exec(text)",
    "import builtins; builtins.open(p)", "from io import open as o", "r.urlopen(u)",
)  # fmt: skip
UNFOUND = (
    "text.replace(a, b)", "function.walk()", "from tt_layout.files import read_bytes",
    "replace(value, a=b)", "value.replace(a=b)", "re.compile(p)", "getattr(os, 'O_NONBLOCK', 0)",
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
