"""Options of the test run, and the table of counts at its end."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SURROUNDINGS = ("CI", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PAGER")
"""What the program and its libraries read from the environment: a test that needs one sets it."""

SEED = 739944
"""Seed of the random cases: a fixed one, so that a red run is red tomorrow, too."""

NOT_PLAIN = frozenset(("attack", "browser", "compiler", "drills", "editors", "servers"))
"""Folders of tests that are all slow, or attacks."""


sys.path += sorted(
    str(folder)
    for folder in Path(__file__).parent.iterdir()
    if any(folder.glob("test_*.py")) and not (folder / "__init__.py").exists()
)  # a test takes values from tests of other folders by the names of their modules


class Tallies:
    """Gathers the counts of the tests, in whichever process they ran."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, counts in report.user_properties:
            if name == "tally" and isinstance(counts, dict) and report.when == "teardown":
                self.counts[report.nodeid.rpartition("::")[2]] = counts

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        if not self.counts or config.getoption("verbose") < 0:
            return
        terminalreporter.section("counts")
        for name, counts in sorted(self.counts.items()):
            terminalreporter.write_line(name)
            for outcome, count in sorted(counts.items()):
                terminalreporter.write_line(f"  {count:7d}  {outcome}")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tt_layout")
    group.addoption(
        "--compiler-python",
        metavar="PATH",
        help="python of an environment that holds triton==3.9.0: run tests/compiler, too",
    )
    group.addoption(
        "--triton-3-4-python",
        metavar="PATH",
        help="python of an environment that holds triton==3.4.0: with --compiler-python, "
        "let it read what is written for it, too",
    )
    group.addoption(
        "--other-triton-python",
        metavar="PATH",
        action="append",
        default=[],
        help="python of an environment that holds Triton 3.5 to 3.8: with --compiler-python, "
        "compare the bases of random attributes and objects of Gluon with its own, too; may be "
        "given again",
    )
    group.addoption(
        "--triton-source",
        metavar="DIR",
        help="a copy of Triton's sources: with --compiler-python, let the tests in it judge",
    )
    group.addoption(
        "--amd-calculator",
        metavar="DIR",
        help="a copy of AMD's matrix instruction calculator: let it judge AMD's layouts",
    )
    group.addoption(
        "--editors",
        action="store_true",
        help="run tests/editors, too: nvim and emacs must be there, and vsce in .ci/vsce",
    )
    group.addoption(
        "--dumps",
        metavar="DIR",
        help="a folder of dumps: with --compiler-python, carry out each suggestion for them",
    )
    group.addoption(
        "--axe",
        metavar="FILE",
        help="axe.min.js of npm's axe-core: let it judge the page in tests/browser",
    )
    group.addoption(
        "--kernels",
        type=int,
        default=24,
        help="random kernels of each kind, and kernels of the examples, whose instructions are "
        "counted; 24 by default",
    )
    group.addoption(
        "--cute-rows",
        metavar="FILE",
        help="what tests/data/make_cute.py wrote: judge the answers in it instead of the stored",
    )
    group.addoption(
        "--wrapped",
        type=int,
        default=2,
        help="dumps that are wrapped in each way and in each two; 2 by default, at most 200",
    )
    group.addoption(
        "--seed",
        type=int,
        default=SEED,
        help=f"seed of the random cases; {SEED} by default",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Tallies(), "tallies")
    for name in SURROUNDINGS:
        os.environ.pop(name, None)


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.getoption('--seed')}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests against others out, not skipped, where those are not there.

    Folders of which no test is in the plain run are not even read by it: rewriting their asserts
    took as long as a sixth of the tests.
    """
    here = Path(__file__).parent
    if collection_path.parent == here and collection_path.name in NOT_PLAIN:
        expression = str(config.getoption("-m"))
        if "not slow and not attack" in expression:
            return True
    judges = {
        here / "compiler": "--compiler-python",
        here / "figures" / "test_amd_calculator.py": "--amd-calculator",
    }
    option = judges.get(collection_path)
    return True if option is not None and config.getoption(option) is None else None


@pytest.fixture(scope="session")
def cute_rows(request: pytest.FixtureRequest) -> str | None:
    file: str | None = request.config.getoption("--cute-rows")
    return file


@pytest.fixture(scope="session")
def wrapped(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--wrapped"))


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--seed"))


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Count outcomes; the counts are printed at the end of a run without ``-q``."""
    counts: Counter[str] = Counter()
    yield counts
    request.node.user_properties.append(("tally", dict(counts)))


@pytest.fixture
def bounded(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold an attack in this process within what one in a process of its own may take.

    Fewer megabytes are a parameter of the fixture.
    """
    import resource
    import signal

    from harness import MEGABYTES, SECONDS

    def end(*_: object) -> None:
        raise AssertionError(f"it takes more than {SECONDS} seconds of the processor")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    megabytes = getattr(request, "param", MEGABYTES)
    most = pages * os.sysconf("SC_PAGE_SIZE") + (megabytes << 20)
    before = signal.signal(signal.SIGPROF, end)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
