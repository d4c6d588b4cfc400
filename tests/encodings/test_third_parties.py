"""Encodings of other packages: found when they are met, known to all commands, faults in a line."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import sampled

from tt_layout import LayoutError
from tt_layout.encodings.registry import FORMS
from tt_layout.encodings.third_parties import GROUP, load

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "acme-layouts"
version = "1.0"
[project.entry-points."tt_layout.encodings"]
"acme.toy" = "acme_layouts:Toy"
[tool.setuptools]
py-modules = ["acme_layouts"]
"""
PACKAGE = (
    (Path(__file__).parents[2] / "docs" / "third-parties.md")
    .read_text(encoding="utf-8")
    .partition("```python\n")[2]
    .partition("```")[0]
)
"""The package that the docs show."""

TOY = "#acme.toy<{lanes = 32}>"
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>"
)
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
TYPE = ("-t", "tensor<256xf16>")
DUMP = f"""\
#blocked = {BLOCKED}
#toy = {TOY}
#other = #acme.grid<of its own !! syntax>
module attributes {{ttg.target = "cuda:90", "ttg.num-warps" = 1 : i32}} {{
  tt.func @f(%x: tensor<256xf16, #toy>) {{
    %0 = ttg.convert_layout %x : tensor<256xf16, #toy> -> tensor<256xf16, #blocked>
    tt.return
  }}
}}
"""

Install = Callable[..., None]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def forget() -> None:
    for name in [name for name in FORMS._found if name.startswith("acme.")]:
        del FORMS._found[name]
    FORMS.failed.clear()
    FORMS.__dict__.pop("third_parties", None)
    sys.modules.pop("acme_layouts", None)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that lays a package and its entry points where Python finds them."""
    folder = tmp_path / "site"

    def install(
        code: str = PACKAGE, points: str = "acme.toy = acme_layouts:Toy", name: str = "acme"
    ) -> None:
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[tt_layout.encodings]\n{points}\n")
        (folder / "acme_layouts.py").write_text(code)

    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield install
    forget()


def test_the_package_has_ten_lines() -> None:
    """Of code: what is imported and what decorates it included."""
    assert len([line for line in PACKAGE.splitlines() if line.strip()]) <= 14


CALLS: dict[str, tuple[tuple[str, ...], str]] = {
    "view": (("-l", TOY, *TYPE), "T31:0,  T0:1"),
    "generic form": (("-l", "#acme<toy<{lanes = 32}>>", *TYPE), "T31:0,  T0:1"),
    "hardware view": (("-l", TOY, *TYPE, "--use-hw-view"), "( 32), ( 33)"),
    "older release": (("-l", TOY, *TYPE, "--triton", "2.1"), "T31:0,  T0:1"),
    "info": (("info", TOY, *TYPE), "elements per thread     8"),
    "where": (("where", TOY, *TYPE, "--element", "33"), "T1:1 -> (33)"),
    "convert": (("convert", TOY, BLOCKED, *TYPE), "shuffles"),
    "conflicts": (("conflicts", TOY, SHARED, *TYPE), "st.shared.b16"),
    "swizzle": (("swizzle", TOY, *TYPE), "#ttg."),
    "to linear": (("translate", TOY, *TYPE, "--to", "linear"), "lane = [[1], [2]"),
    "to bases": (("translate", TOY, *TYPE, "--to", "json"), "lane"),
    "to cute": (("translate", TOY, *TYPE, "--to", "cute"), "(32,"),
    "plot": (("plot", TOY, *TYPE, "-o", "toy.svg"), ""),
    "audit": (("audit", "dump.mlir"), "#toy to #blocked takes shuffles"),
    "audit as JSON": (("audit", "dump.mlir", "--format", "json"), '"toy"'),
    "views of a dump": (("-i", "dump.mlir"), "T31:0,  T0:1"),
    "apply": (("apply", "dump.mlir", "-o", "out.mlir"), ""),
}


@pytest.mark.parametrize("name", sampled(CALLS, 3))
def test_every_command_knows_it(
    name: str, install: Install, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    monkeypatch.chdir(tmp_path)
    Path("dump.mlir").write_text(DUMP)
    arguments, expected = CALLS[name]
    outcome = run(*arguments)
    assert (outcome.status, outcome.err) == (0, ""), outcome.err
    assert expected in outcome.out


def test_a_package_may_have_no_name() -> None:
    with pytest.raises(LayoutError, match=r"#acme\.toy of a package cannot be loaded"):
        load((EntryPoint("acme.toy", "acme_nowhere:Toy", GROUP),))


def test_memory_spaces_are_asked_of_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every dump has ``#ttg.shared_memory``: to look at all installed packages takes a while."""
    asked = pytest.fail
    monkeypatch.setattr("tt_layout.encodings.third_parties.registered", asked)
    monkeypatch.delitem(FORMS.__dict__, "third_parties", raising=False)
    assert "ttg.shared_memory" not in FORMS
    assert "ttng.tensor_memory" not in FORMS


def test_manifests_have_it(
    install: Install, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    monkeypatch.chdir(tmp_path)
    Path("dump.mlir").write_text(DUMP)
    for arguments in (("init", "dump.mlir"), ("check", "--update"), ("check",)):
        outcome = run(*arguments)
        assert outcome.status == 0, outcome.err
    assert "passed" in outcome.out


def test_a_difference_is_a_difference(install: Install, run: Run) -> None:
    install()
    assert run("diff", TOY, BLOCKED, *TYPE).status == 1
    assert run("diff", TOY, TOY, *TYPE).status == 0


RAISES = PACKAGE + '\n    def violations(self):\n        raise RuntimeError("no grid")\n'
BROKEN = {
    "raises when imported": ("raise OSError('no disk')", "cannot be loaded, OSError: no disk;"),
    "ends the process": ("import sys; sys.exit(3)", "cannot be loaded, SystemExit: 3;"),
    "has no such class": ("x = 1", "cannot be loaded, AttributeError: "),
    "is no class": ("Toy = 3", "acme_layouts:Toy is not a class under DistributedEncoding"),
    "is no dataclass": (PACKAGE.replace("@dataclass", "#"), "is not decorated with dataclass"),
    "has another name": (PACKAGE.replace("acme.toy", "acme.top"), "has no form called 'acme.toy'"),
    "has no layout_for": (PACKAGE.replace("layout_for", "layout"), "has no layout_for"),
    "has no field": (PACKAGE.replace("lanes=INT", "lines=INT"), "has no field 'lines'"),
    "has a rule that raises": (RAISES, "acme_layouts defines, failed: RuntimeError: no grid"),
    "gives no layout": (
        PACKAGE.replace("return LinearLayout", "return str"),
        "acme_layouts defines, failed: AttributeError: ",
    ),
    "gives another tensor": (
        PACKAGE.replace('"dim0"', '"x"'),
        "must lead from ['register', 'lane', 'warp', 'block'] to [('dim0', 256)]",
    ),
    "divides by nothing": (
        PACKAGE.replace("lanes = self.lanes", "lanes = 1 // 0 + self.lanes"),
        "#acme.toy, which acme_layouts defines, failed: ZeroDivisionError: ",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_broken_is_told_in_one_message(fault: str, install: Install, run: Run) -> None:
    code, expected = BROKEN[fault]
    install(code)
    for _ in range(2):  # also when it is asked for again
        outcome = run("-l", TOY, *TYPE)
        assert (outcome.status, outcome.out) == (2, "")
        assert expected in outcome.err.splitlines()[0]
        assert outcome.err.count("error: ") == 1


def test_a_dump_with_a_broken_one_is_audited(install: Install, run: Run, tmp_path: Path) -> None:
    install("raise OSError('no disk')")
    (tmp_path / "dump.mlir").write_text(DUMP)
    outcome = run("audit", str(tmp_path / "dump.mlir"))
    assert "cannot be loaded, OSError: no disk" in outcome.out + outcome.err
    assert "Traceback" not in outcome.err


HANGS = """
import builtins, time
builtins.tried = getattr(builtins, "tried", 0) + 1
while True:
    time.sleep(0.01)
    if builtins.tried > 90:
        break
"""


@pytest.mark.slow
def test_a_package_that_hangs_is_waited_for_once(
    install: Install, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four dumps that have its layout, and of a name that a command has."""
    import builtins

    from tt_layout.encodings import third_parties

    monkeypatch.setattr(third_parties, "MAX_SECONDS", 0.2)
    monkeypatch.setattr(builtins, "tried", 0, raising=False)
    install(HANGS)
    for at in range(4):
        (tmp_path / f"{at}.ttgir").write_text(DUMP)
    outcome = run("audit", str(tmp_path))
    told = "#acme.toy of acme 1.0 cannot be loaded, TimeoutError: its import takes more than"
    assert told in run("-l", TOY, *TYPE).err
    assert outcome.status in (0, 2)
    assert "Traceback" not in outcome.err
    assert "@f" in outcome.out
    assert told in run("audit", str(tmp_path / "0.ttgir")).out
    assert vars(builtins)["tried"] == 1
    monkeypatch.setattr(builtins, "tried", 99)  # so that its thread ends
    threads = [one for one in threading.enumerate() if one.name.startswith("import of acme")]
    for thread in threads:
        thread.join(20)


def test_two_packages_with_one_attribute_are_named(install: Install, run: Run) -> None:
    install()
    install(name="rival")
    told = run("-l", TOY, *TYPE).err
    assert "of acme 1.0 is also that of rival 1.0" in told or "of rival 1.0 is also that" in told


def test_a_misspelled_one_is_guessed(install: Install, run: Run) -> None:
    install()
    assert "did you mean #acme.toy?" in run("-l", "#acme.toi<{lanes = 4}>", *TYPE).err
    assert "did you mean 'lanes'?" in run("-l", "#acme.toy<{lane = 4}>", *TYPE).err


def test_ours_are_not_replaced(install: Install, run: Run) -> None:
    install(points="ttg.blocked = acme_layouts:Toy")
    assert run("-l", BLOCKED, *TYPE).status == 0


def test_the_page_says_that_it_does_not_know_it(install: Install) -> None:
    install()
    from tt_layout.page.rules import spellings

    keys: list[Any] = []
    assert "toy" not in json.dumps(spellings(keys))


@pytest.mark.slow
def test_nothing_is_looked_for_without_need() -> None:
    """Layouts of Triton are read without asking which packages are installed."""
    script = (
        "import sys, contextlib, io\nfrom tt_layout.cli.main import main\n"
        f"with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), "
        f"contextlib.suppress(SystemExit): main(['info', {BLOCKED!r}, '-t', 'tensor<256xf16>'])\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "tt_layout.encodings.blocked" in loaded
    assert not {"importlib.metadata", "tt_layout.encodings.third_parties"} & loaded


@pytest.mark.slow
def test_a_package_is_built_and_installed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "acme_layouts.py").write_text(PACKAGE)
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, str(tmp_path)], check=True)
    command = [sys.executable, "-m", "tt_layout", "-l", TOY, *TYPE]
    environment = {"PYTHONPATH": f"{site}:{Path(__file__).parents[2]}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "T31:0,  T0:1" in done.stdout
