"""Files that are lost or trusted: caches, reports, and what an output takes the place of."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from harness import BLOCKED, DUMP, MANIFEST, MEGABYTES, SECONDS

from tt_layout.files import ENTRY, TAG, CacheFolder, user_cache

ROOT = Path(__file__).parent.parent.parent

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux"),
]


class Ended(NamedTuple):
    """How a process ended."""

    status: int
    out: str
    err: str


def limited() -> None:
    """Limit the memory of this process, and what it computes; let it be interrupted.

    Whoever runs the tests in the background may ignore interrupts, and its children would as well.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS,) * 2)


def run(
    folder: Path, *command: str, redirection: str = "", before: tuple[str, ...] = (), **named: str
) -> Ended:
    """Run a program in a folder, with temporary files below it; it must end without a traceback."""
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
        "TMPDIR": str(folder / "tmp"),
        "PYTHONUNBUFFERED": "",  # as a shell has it: what cannot be written stays in a buffer
        **named,
    }
    done = subprocess.run(
        ["bash", "-c", f'"$@" {redirection}; exit $?', "-", *before, sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        timeout=SECONDS * 12,
        preexec_fn=limited,
        text=True,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def audit(folder: Path, *arguments: str, before: tuple[str, ...] = ()) -> Ended:
    """Audit, and return what that prints; whatever is found, nothing breaks."""
    ended = run(folder, "-m", "tt_layout", "audit", *arguments, before=before)
    assert ended.status in (0, 1, 2), ended.err
    assert "Traceback" not in ended.err
    return ended


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Return a folder with one of dumps in it."""
    (tmp_path / "dumps").mkdir()
    for at in range(6):
        (tmp_path / "dumps" / f"{at}.ttgir").write_text(DUMP.replace("@f", f"@f{at}"))
    return tmp_path


# -- the cache ------------------------------------------------------------------------------------


def test_a_cache_deletes_nothing_of_others(dumps: Path) -> None:
    theirs = [dumps / "kept" / name for name in ("a.json", "ab/b.json", f"{'0' * 64}{ENTRY}")]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(120 << 20)
    for _ in range(2):
        assert audit(dumps, "dumps", "--cache", "kept").status == 0
    assert all(path.stat().st_size == 120 << 20 for path in theirs)
    own = dumps / "kept" / "tt-layout"
    assert len(list(own.glob(f"*{ENTRY}"))) == 6
    assert {oct(path.stat().st_mode & 0o777) for path in own.iterdir()} == {"0o600"}
    assert own.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_only_looks_like_a_cache_is_left_alone(dumps: Path) -> None:
    """The mark of another program, and a folder of our name with files of others."""
    (dumps / "kept").mkdir()
    (dumps / "kept" / TAG).write_text("Signature: 8a477f597d28d172789f06886806bc55\n# ccache\n")
    assert audit(dumps, "dumps", "--cache", "kept").status == 0
    assert [path.name for path in (dumps / "kept").iterdir() if path.is_dir()] == ["tt-layout"]
    (dumps / "other" / "tt-layout").mkdir(parents=True)
    (dumps / "other" / "tt-layout" / "thesis.json").write_text("{}")
    refused = audit(dumps, "dumps", "--cache", "other")
    assert refused.status == 2
    assert "it has files of others" in refused.err
    assert os.listdir(dumps / "other" / "tt-layout") == ["thesis.json"]


KEY = "0" * 64


def test_what_is_laid_into_a_cache_stays(tmp_path: Path) -> None:
    """Of a marked folder, too, only what is named as entries are is removed."""
    cache = CacheFolder(str(tmp_path / "kept"))
    cache.write(KEY, b"{}")
    names = ("thesis.json", f"{KEY}.json", f"a{KEY}{ENTRY}", f"{KEY}{ENTRY}.old", ".profile")
    for name in names:
        (tmp_path / "kept" / name).write_text("mine")
    (tmp_path / "kept" / f"{'1' * 64}{ENTRY}").mkdir()
    (tmp_path / "kept" / f"{'2' * 64}{ENTRY}").symlink_to("thesis.json")
    before = set(os.listdir(tmp_path / "kept"))
    cache.shrink(0)
    assert before - set(os.listdir(tmp_path / "kept")) == {f"{KEY}{ENTRY}"}


def test_an_entry_is_neither_read_nor_written_through_a_link(tmp_path: Path) -> None:
    """Keys can be told from dumps, so that a link may lie where an entry will be."""
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    os.utime(theirs, (7, 7))
    cache = CacheFolder(str(tmp_path / "kept"))
    for target in ("../theirs", "../nowhere", "/dev/zero"):
        entry = tmp_path / "kept" / f"{KEY}{ENTRY}"
        entry.unlink(missing_ok=True)
        entry.symlink_to(target)
        assert cache.read(KEY) is None
        cache.write(KEY, b"{}")
        assert cache.read(KEY) == b"{}"
        assert (theirs.read_text(), theirs.stat().st_mtime) == ("mine", 7)
        assert not (tmp_path / "nowhere").exists()


def test_an_entry_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CacheFolder(str(tmp_path / "kept"))
    cache.write(KEY, b"{}")
    assert cache.read(KEY) == b"{}"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache.read(KEY) is None


@pytest.mark.parametrize(
    ("named", "folder"),
    [("kept", ".cache"), ("../kept", ".cache"), ("", ".cache"), ("/kept", "/kept")],
)
def test_the_place_of_a_cache_is_the_users(
    named: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the convention of `XDG_CACHE_HOME` has it, a relative one does not count."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert user_cache() == os.path.join(tmp_path, folder, "tt-layout")


def sized(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 32)


ENTRIES: dict[str, Callable[[Path], None]] = {
    "deep": sized(b"[" * 1_000_000),
    "deep and closed": sized(b"[" * 400_000 + b"]" * 400_000),
    "digits": sized(b'{"kernels": [], "arguments": [], "unread": [["", ' + b"9" * 4000 + b"]]}"),
    "many digits": sized(b"9" * 1_000_000),
    "lists": sized(b"[" + b"[]," * 2_000_000 + b"[]]"),
    "nothing": sized(b""),
    "no text": sized(b"\xff\x00"),
    "wrong": sized(b'{"kernels": {"a": 1}, "arguments": null, "unread": "x"}'),
    "not a number": sized(b'{"kernels": [], "arguments": [NaN], "unread": []}'),
    "surrogates": sized(b'{"kernels": [], "arguments": ["\\ud800"], "unread": []}'),
    "large": sparse,
    "pipe": lambda path: os.mkfifo(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "itself": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_bad_entry_is_a_miss(name: str, dumps: Path) -> None:
    first = audit(dumps, "dumps", "--cache", "kept")
    entries = sorted((dumps / "kept").glob(f"*{ENTRY}"))
    for path in entries[:3]:
        path.unlink()
        ENTRIES[name](path)
    if name != "surrogates":  # which is as it could have been written
        assert audit(dumps, "dumps", "--cache", "kept") == first


def test_mutated_entries_break_nothing(dumps: Path, seed: int) -> None:
    """Values of entries changed at random, in this process; what holds them prints the report."""
    from tt_layout.dumps.audits import FileKernels, KernelReader
    from tt_layout.dumps.cache import from_plain, to_plain
    from tt_layout.dumps.dump import AS_IT_IS
    from tt_layout.reports.kernel_overview import KernelOverview
    from tt_layout.reports.report import plain_text

    r = random.Random(seed)
    found = KernelReader(AS_IT_IS).read(str(dumps / "dumps" / "0.ttgir"))
    assert isinstance(found, FileKernels)
    text = json.dumps(to_plain(found, str(dumps / "dumps" / "0.ttgir")))
    strange: tuple[object, ...] = (
        None,
        True,
        -1,
        1 << 80,
        1e308,
        -0.0,
        "",
        "\x1b[31m",
        [],
        {},
        [[]],
        {"a": 1},
        "9" * 5000,
    )
    for _ in range(2000):
        entry = json.loads(text)
        place, keys = entry, []
        while isinstance(place, (list, dict)) and place and r.random() < 0.8:
            key = r.choice([*place] if isinstance(place, dict) else range(len(place)))
            keys.append((place, key))
            place = place[key]
        if keys:
            keys[-1][0][keys[-1][1]] = r.choice(strange)
        try:
            kept = from_plain(entry, "k.ttgir")
        except ValueError:
            continue
        plain_text(KernelOverview(sorted(kept.kernels, key=lambda k: k.rank), kept.unread, None))


def numbers_in(place: object) -> Iterator[tuple[Any, Any]]:
    """Yield each number of plain data, as what holds it and the key there."""
    if isinstance(place, (dict, list)):
        for key, value in [*(place.items() if isinstance(place, dict) else enumerate(place))]:
            if type(value) in (int, float):
                yield place, key
            yield from numbers_in(value)


@pytest.mark.parametrize("number", [10**4000, -(10**4000), float("inf"), float("nan"), 1 << 63])
def test_no_number_of_an_entry_is_beyond_those_of_results(number: float, dumps: Path) -> None:
    from tt_layout.dumps.audits import FileKernels, KernelReader
    from tt_layout.dumps.cache import from_plain, to_plain
    from tt_layout.dumps.dump import AS_IT_IS

    found = KernelReader(AS_IT_IS).read(str(dumps / "dumps" / "0.ttgir"))
    assert isinstance(found, FileKernels)
    entry = json.loads(json.dumps(to_plain(found, "k.ttgir")))
    assert from_plain(entry, "k.ttgir").kernels
    places = [*numbers_in(entry)]
    assert places
    for place, key in places:
        before, place[key] = place[key], number
        with pytest.raises(ValueError, match="not a result"):
            from_plain(entry, "k.ttgir")
        place[key] = before


@pytest.mark.parametrize("make", ["pipe", "device"])
def test_inputs_of_a_cache_are_read_as_any_others(make: str, dumps: Path) -> None:
    ENTRIES[make](dumps / "x.ttgir")
    ended = audit(dumps, "dumps", "x.ttgir", "--cache", "kept")
    assert f"x.ttgir skipped: cannot read: it is a {make}, not a file" in ended.out
    for beside in ("0.json", "0.cubin"):
        ENTRIES[make](dumps / "dumps" / beside)
    assert audit(dumps, "dumps", "--cache", "kept").status == 0


def test_versions_share_a_cache(dumps: Path) -> None:
    program = (
        "import sys, tt_layout.version as v; v.__version__ = sys.argv.pop(1)\n"
        "from tt_layout.__main__ import main; main()"
    )
    texts = set()
    for version in ("0.1", "9.9", "0.1", "9.9"):
        ended = run(dumps, "-c", program, version, "audit", "dumps", "--cache", "kept")
        assert ended.status == 0
        texts.add(ended.out)
    assert len(texts) == 1
    assert len(list((dumps / "kept").glob(f"*{ENTRY}"))) == 12


def test_a_dump_that_changes_while_it_is_read_is_not_kept(
    dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the result of the later text would be that of the earlier one, for ever."""
    from tt_layout.dumps.audits import FileKernels
    from tt_layout.dumps.cache import ResultCache
    from tt_layout.dumps.dump import AS_IT_IS

    cache = ResultCache(str(dumps / "kept"), AS_IT_IS)
    path = dumps / "dumps" / "0.ttgir"
    key = cache.key(str(path))
    assert key is not None
    path.write_text(DUMP + "\n")
    cache.keep(key, str(path), FileKernels(()))
    assert cache.find(key, str(path)) is None


def test_a_growing_file_ends(dumps: Path) -> None:
    """A file that is written as fast as it is read has no end but the limit."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tt_layout import files\n"
        "def grow():\n"
        "    for chunk in files.chunks_of(file, 'log', 1 << 24):\n"
        "        with open('log', 'ab') as more: more.write(chunk + b'x')\n"
        "open('log', 'wb').write(b'x' * (1 << 20)); file = files.open_file('log')\n"
        "try: grow()\n"
        "except files.LayoutError as error: print(error)"
    )
    assert run(dumps, "-c", program, str(ROOT)).out == (
        "log: error: longer than 16 MiB, the most that is read\n"
    )


def test_folders_that_cannot_be_read_are_named(dumps: Path) -> None:
    (dumps / "dumps" / "closed").mkdir(mode=0)
    (dumps / "dumps" / "9.ttgir").write_text(DUMP)
    (dumps / "dumps" / "9.ttgir").chmod(0)
    (dumps / "closed").mkdir(mode=0o500)
    # The superuser may read everything, unless that is taken away.
    before = () if os.geteuid() else ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    ended = audit(dumps, "dumps", before=before)
    assert ended.status == 0
    for name in ("closed", "9.ttgir"):
        assert f"{name} skipped: cannot read: Permission denied" in ended.out
    for cache in ("dumps/closed", "closed", "closed/below"):
        refused = audit(dumps, "dumps", "--cache", cache, before=before)
        assert refused.status == 2
        assert "cannot keep results there: Permission denied" in refused.err


# -- reports --------------------------------------------------------------------------------------

TABLE = "no kernel was compiled or launched"
PROGRAM = "import os, signal, sys\nprint('ran', flush=True)\n%s\n"
ENDS = {
    "pass": 0,
    "sys.exit(3)": 3,
    "raise ZeroDivisionError": 1,
    "os._exit(7)": 7,
    "os.kill(os.getpid(), signal.SIGKILL)": 137,
}
"""How a program ends, and its status in a shell."""

OUTS = {
    "missing": "no/such/folder/x.html",
    "folder": "tmp",
    "full": "/dev/full",
    "program": "program.py",
    "itself": "itself",
    "below a file": "program.py/x.html",
    "a name too long": f"{'x' * 300}.html",
}
"""Where a report is asked for."""


def watched(folder: Path, end: str, out: str, options: tuple[str, ...] = ()) -> Ended:
    (folder / "program.py").write_text(PROGRAM % end)
    command = ("-m", "tt_layout.watching", *options, "program.py")
    return run(folder, *command, TT_LAYOUT_WATCH=out)


def kept_aside(folder: Path) -> list[str]:
    """Return the texts of the reports that found no place."""
    return [path.read_text() for path in (folder / "tmp").glob("tt-layout-*") if path.is_file()]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("where", OUTS)
def test_a_report_destroys_neither_a_run_nor_a_file(where: str, end: str, tmp_path: Path) -> None:
    (tmp_path / "itself").symlink_to("itself")
    ended = watched(tmp_path, end, OUTS[where])
    assert ended.status == ENDS[end], ended.err
    assert ended.out == "ran\n"
    assert (tmp_path / "program.py").read_text() == PROGRAM % end
    assert ended.err.count("Traceback") == (end == "raise ZeroDivisionError")
    if "kill" in end or "_exit" in end:
        return  # there is no report of what was ended so, and nothing else is there either
    if where == "missing":
        assert TABLE in (tmp_path / OUTS[where]).read_text()
        assert "warning" not in ended.err
    else:
        [text] = kept_aside(tmp_path)
        assert TABLE in text
        [line] = [line for line in ended.err.splitlines() if "it is in" in line]
        assert Path(line.rpartition(" ")[2]).read_text() == text


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full", ">&-", "> /dev/full 2>&1"])
@pytest.mark.parametrize("end", ["pass", "sys.exit(3)"])
def test_a_table_that_nobody_reads_is_kept(end: str, redirection: str, tmp_path: Path) -> None:
    plain = PROGRAM.replace("print('ran', flush=True)", "") % end
    (tmp_path / "program.py").write_text(plain)
    ended = run(tmp_path, "-m", "tt_layout.watching", "program.py", redirection=redirection)
    assert ended.status == ENDS[end]
    if "2>" in redirection:
        [text] = kept_aside(tmp_path)
        assert TABLE in text


@pytest.mark.parametrize("name", ["x.html", "x.json", "x.xml", "x.txt"])
def test_a_report_takes_the_place_of_its_own_kind_only(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("")
    for _ in range(2):  # of an empty file, and of the report before
        ended = watched(tmp_path, "sys.exit(3)", name)
        assert (ended.status, ended.err) == (3, "")
        assert "tt-layout" in path.read_text()
    path.write_text(f"mine: {path.read_text()} and more")
    ended = watched(tmp_path, "pass", name)
    assert ended.status == 0
    assert path.read_text().startswith("mine: ")
    assert "it is there and no report of tt-layout; --force replaces it" in ended.err
    assert len(kept_aside(tmp_path)) == 1
    ended = watched(tmp_path, "pass", name, options=("--force",))
    assert (ended.status, ended.err) == (0, "")
    assert not path.read_text().startswith("mine: ")


@pytest.mark.parametrize("out", ["no/x.html", ".", "mine.py"])
def test_a_block_raises_what_is_its_own(out: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine")
    program = (
        "import sys, tt_layout\n"
        "try:\n"
        "    with tt_layout.watch(out=sys.argv[1]): raise KeyError('own')\n"
        "except KeyError: sys.exit(5)"
    )
    ended = run(tmp_path, "-c", program, out)
    assert ended.status == 5, ended.err
    assert (tmp_path / "mine.py").read_text() == "mine"
    if out == "mine.py":
        assert "force=True replaces it" in ended.err
        assert run(tmp_path, "-c", program.replace("1])", "1], force=True)"), out).status == 5
        assert TABLE in (tmp_path / "mine.py").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_killed_program_tears_no_report(number: signal.Signals, tmp_path: Path) -> None:
    assert watched(tmp_path, "pass", "x.html").status == 0
    before = (tmp_path / "x.html").read_text()
    ended = watched(tmp_path, f"os.kill(os.getpid(), {int(number)})", "x.html")
    assert ended.status in (128 + number, 1), ended.err
    assert (tmp_path / "x.html").read_text() == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".x.html")]


@pytest.mark.parametrize("mode", [0o700, 0o1777])
def test_nobody_else_can_make_the_folder_of_a_session_again(mode: int, tmp_path: Path) -> None:
    """Programs that outlive a watched one have it on ``PYTHONPATH``, and run what is in it."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(mode)
    (tmp_path / "program.py").write_text("import os\nprint(os.environ['PYTHONPATH'])\n")
    home = tmp_path / "home"
    command = ("-m", "tt_layout.watching", "program.py")
    ended = run(tmp_path, *command, HOME=str(home), XDG_CACHE_HOME="")
    assert ended.status == 0
    folder = Path(ended.out.partition(os.pathsep)[0]).parent
    assert not folder.exists()
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "tmp" in folder.parents) == (mode == 0o700)
    assert not [*(tmp_path / "tmp").iterdir()]


def audit_of_tests(folder: Path, *arguments: str) -> Ended:
    (folder / "test_one.py").write_text("def test_one(): assert False\n")
    return run(folder, "-m", "pytest", "-q", "-p", "tt_layout.pytest_plugin", *arguments)


def test_a_report_of_tests_is_checked_at_the_start(tmp_path: Path) -> None:
    ended = audit_of_tests(tmp_path, "--tt-audit-report", "missing/k.xml")
    assert ended.status == 1
    assert TABLE in ended.out
    assert ET.parse(tmp_path / "missing" / "k.xml").getroot().tag == "testsuites"
    for out in ("tmp", "test_one.py"):
        ended = audit_of_tests(tmp_path, "--tt-audit-report", out)
        assert ended.status == 4
        assert f"--tt-audit-report: cannot write {out}" in ended.err
        assert "Traceback" not in ended.out + ended.err
    assert "it is there and no report of tt-layout; --tt-audit-force replaces it" in ended.err
    (tmp_path / "k.txt").write_text("mine")
    ended = audit_of_tests(tmp_path, "--tt-audit-report", "k.txt", "--tt-audit-force")
    assert ended.status == 1
    assert TABLE in (tmp_path / "k.txt").read_text()
    ended = audit_of_tests(tmp_path, "--tt-audit-report", "/dev/full")
    assert ended.status == 1
    assert "1 failed" in ended.out
    assert TABLE in ended.out
    assert "warning: cannot write /dev/full" in ended.out
    assert len(kept_aside(tmp_path)) == 1


def test_control_characters_in_junit_are_none_of_xml(seed: int) -> None:
    from tt_layout.reports.formats.junit import to_junit
    from tt_layout.reports.report import Problem, ReportedCase

    r = random.Random(seed)
    every = [chr(code) for code in (*range(0x300), *range(0xD7F0, 0xE010), 0xFFFE, 0x10FFFF)]
    for _ in range(200):
        one, other, more = ("".join(r.choices(every, k=50)) for _ in range(3))
        problem = Problem(bool(r.randrange(2)), "finding", one, other + "]]>")
        text = to_junit("tt-layout", [ReportedCase(more, one, 7, problem), ReportedCase(other)])
        root = ET.fromstring(text.encode())
        assert [case.get("line") for case in root.iter("testcase")] == ["7", None]


def test_a_folder_that_an_editor_opens_names_no_program() -> None:
    """A setting of another scope could come from ``.vscode/settings.json`` of a stranger."""
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    for settings in package["contributes"]["configuration"]["properties"].values():
        assert settings["scope"] == "machine"


# -- outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "arguments"),
    [
        ("dump.mlir", ("page", "-i", "dump.mlir", "-o", "./link")),
        ("dump.mlir", ("page", "-i", "dump.mlir", "-o", "dump.mlir")),
        ("dump.mlir", ("page", "-i", "dump.mlir@1", "-o", "dump.mlir")),
        ("layouts.yaml", ("check", "-o", "layouts.yaml", "--format", "junit")),
        ("bad.yaml", ("check", "bad.yaml", "-o", "bad.yaml", "--format", "junit")),
    ],
)
def test_an_output_does_not_replace_its_input(
    read: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "dump.mlir").write_text(DUMP)
    (tmp_path / "link").symlink_to("dump.mlir")
    (tmp_path / "layouts.yaml").write_text(MANIFEST)
    (tmp_path / "bad.yaml").write_text("cases: [")
    before = (tmp_path / read).read_text()
    ended = run(tmp_path, "-m", "tt_layout", *arguments)
    assert ended.status == 2
    assert "would be lost" in ended.err
    assert (tmp_path / read).read_text() == before


def test_an_output_replaces_what_it_wrote_before(tmp_path: Path) -> None:
    for layout in (BLOCKED, BLOCKED.replace("[4, 1]", "[1, 4]")):
        command = ("-l", layout, "-t", "tensor<64x64xf16>", "-o", "out.txt")
        assert run(tmp_path, "-m", "tt_layout", *command).status == 0
