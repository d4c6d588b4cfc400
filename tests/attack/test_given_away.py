"""What a dump of somebody else can bring into a page: files that it names, and how much of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Run, runner

pytestmark = [pytest.mark.attack, pytest.mark.usefixtures("bounded")]

LAYOUT = (
    "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)
SECRET = "".join(f"line_{number} = 'secret {number}'\n" for number in range(1, 201))


def naming(*places: str) -> str:
    """Return a dump whose loads come from these places, each as ``FILE:LINE``."""
    loads = "".join(
        f"    %{at} = tt.load %p : tensor<128x!tt.ptr<f16>, #a>"
        f' loc("{place.rpartition(":")[0]}":{place.rpartition(":")[2]}:1)\n'
        for at, place in enumerate(places)
    )
    return (
        f'#a = {LAYOUT}\nmodule attributes {{"ttg.num-warps" = 4 : i32, '
        'ttg.target = "cuda:90"} {\n  tt.func @f(%p: tensor<128x!tt.ptr<f16>, #a>) {\n'
        f"{loads}    tt.return\n  }}\n}}\n"
    )


@pytest.fixture
def run(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    (tmp_path / "work").mkdir()
    (tmp_path / "private.py").write_text(SECRET)
    monkeypatch.chdir(tmp_path / "work")
    return runner(capsysbinary, monkeypatch)


def test_files_elsewhere_are_not_embedded(run: Run, tmp_path: Path) -> None:
    link = Path("link.py")
    link.symlink_to(tmp_path / "private.py")
    Path("folder").symlink_to(tmp_path)
    Path("masked.py").symlink_to("notes.txt")
    Path("notes.txt").write_text(SECRET)
    names = [
        tmp_path / "private.py", link.absolute(), Path("folder/private.py").absolute(),
        Path("masked.py").absolute(), tmp_path / "work" / ".." / "private.py",
    ]  # fmt: skip
    Path("dump.ttgir").write_text(naming(*(f"{name}:100" for name in names)))
    outcome = run("page", "dump.ttgir", "-o", "out.html")
    assert (outcome.status, outcome.err) == (0, "")
    assert "secret" not in Path("out.html").read_text()
    outcome = run("plot", "-i", "dump.ttgir", "-o", "out.html")
    assert "secret" not in Path("out.html").read_text()
    outcome = run("page", "dump.ttgir", "-o", "out.html", "--source", ".")
    assert outcome.status == 0
    assert "secret" not in Path("out.html").read_text()


def test_only_lines_that_are_shown_are_embedded(run: Run, tmp_path: Path) -> None:
    Path("kernel.py").write_text(SECRET)
    Path("unused.py").write_text(SECRET.replace("secret", "unused"))
    own = Path("kernel.py").absolute()
    Path("dump.ttgir").write_text(naming(f"{own}:3", f"{own}:100", f"{own}:110", f"{own}:999"))
    outcome = run("page", "dump.ttgir", "-o", "out.html")
    assert outcome.err == f"note: the page has lines of 1 file of the program: {own}\n"
    page = Path("out.html").read_text()
    shown = [number for number in range(1, 201) if f"'secret {number}'" in page]
    assert shown == [*range(1, 16), *range(88, 123)]
    assert "unused" not in page
    Path("dump.ttgir").write_text(naming(f"{tmp_path / 'private.py'}:100"))
    outcome = run("page", "dump.ttgir", "--source", str(tmp_path), "-o", "out.html")
    assert f"1 file of the program: {tmp_path / 'private.py'}" in outcome.err
    assert "'secret 100'" in Path("out.html").read_text()


def test_a_dump_that_names_many_files_takes_a_few(run: Run) -> None:
    for number in range(100):
        Path(f"m{number}.py").write_text(f"x = 'secret {number}'\n")
    places = [f"{Path(f'm{number}.py').absolute()}:1" for number in range(100)]
    Path("dump.ttgir").write_text(naming(*places))
    outcome = run("page", "dump.ttgir", "-o", "out.html")
    assert "lines of 64 files of the program" in outcome.err
