"""The one way to files: what is opened, and how much of it is read."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tt_layout.errors import LayoutError
from tt_layout.files import files_below, is_inside, lines_of, open_file, read_bytes, read_start

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


def test_files_below_a_folder_are_found_however_deep(deep: Path) -> None:
    """Python 3.10 and 3.11 go down by recursion in `os.walk`, and fail at a thousand."""
    (deep / ".hidden").write_text("")
    (deep / "link").symlink_to("d")
    failed: list[OSError] = []
    found = list(files_below(str(deep), failed.append))
    assert [path.count(f"{os.sep}d") >= 1200 for path in found] == [True]
    assert failed == []
