"""The pytest plugin: manifests as test items, and nothing where it is not asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import Run, runner

ROOT = Path(__file__).parents[2]
LINEAR = "#ttg.linear<{register = [[1]], lane = [[2], [4]], warp = [], block = []}>"
MANIFEST = f"""\
cases:
- name: one
  layout: '{LINEAR}'
  type: tensor<8xf16>
  views: [tensor, hardware]
"""


def run_pytest(*options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the current folder, without other plugins."""
    left_out = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    plugins = ("-p", "tt_layout.pytest_plugin", "-p", "no:cacheprovider")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *options],
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a manifest with its goldens, and the plugin switched on."""
    monkeypatch.chdir(tmp_path)
    Path("goldens").mkdir()
    Path("goldens/layouts.yaml").write_text(MANIFEST)
    Path("pytest.ini").write_text("[pytest]\ntt_layout_manifests = */layouts.yaml *.layouts.yaml\n")
    assert run("check", "goldens/layouts.yaml", "--update").status == 0
    return tmp_path


@pytest.mark.slow
def test_each_case_and_kind_is_a_test(folder: Path) -> None:
    result = run_pytest("-v", "--strict-config", "-W", "error")
    assert result.returncode == 0
    assert "goldens/layouts.yaml::one.tensor PASSED" in result.stdout.replace("::tensor", ".tensor")
    assert "3 passed" in result.stdout


@pytest.mark.slow
def test_a_report_has_the_place_of_the_case(folder: Path) -> None:
    run_pytest("--junitxml", "report.xml", "-o", "junit_family=xunit1")
    cases = ElementTree.parse("report.xml").iter("testcase")
    places = {
        (case.get("file"), case.get("line")) for case in cases if "one" in str(case.get("name"))
    }
    at = MANIFEST.splitlines().index("- name: one")  # pytest counts lines from 0
    assert places == {("goldens/layouts.yaml", str(at))}


@pytest.mark.slow
def test_another_root_folder_hides_no_manifest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    result = run_pytest("--rootdir", ".", "../goldens")
    assert "3 passed" in result.stdout


def test_a_failure_is_the_report_of_the_command(folder: Path) -> None:
    text = Path("goldens/layouts.yaml").read_text()
    Path("goldens/layouts.yaml").write_text(text.replace("[[2], [4]]", "[[4], [2]]"))
    result = run_pytest()
    assert result.returncode == 1
    assert "changed: one.tensor (goldens/layouts.yaml:2)" in result.stdout
    assert "  lane bits 0 and 1 swapped; 4 of 8 elements move" in result.stdout
    accept = "tt-layout check goldens/layouts.yaml --only one.tensor --update"
    assert f"accept with: {accept}" in result.stdout
    assert "Traceback" not in result.stdout
    assert "2 failed, 1 passed" in result.stdout
    assert Path("goldens/one.tensor.txt.new").exists()


@pytest.mark.slow
def test_a_conversion_that_costs_more_is_a_failure(folder: Path, run: Run) -> None:
    swapped = LINEAR.replace("[[2], [4]]", "[[4], [2]]")
    manifest = f"""{MANIFEST}\
- name: two
  layout: '{LINEAR}'
  to: '{LINEAR}'
  type: tensor<8xf16>
  views: [convert]
"""
    Path("goldens/layouts.yaml").write_text(manifest)
    assert run("check", "goldens/layouts.yaml", "--update").status == 0
    Path("goldens/layouts.yaml").write_text(manifest.replace(f"to: '{LINEAR}", f"to: '{swapped}"))
    result = run_pytest()
    assert "changed: two.convert (goldens/layouts.yaml:6)" in result.stdout
    assert "place, is shuffles within warps" in result.stdout
    assert "1 failed, 3 passed" in result.stdout


@pytest.mark.slow
def test_a_golden_without_a_case_fails_an_item_of_its_own(folder: Path) -> None:
    Path("goldens/gone.tensor.txt").write_text("x")
    result = run_pytest()
    assert "golden without a case: gone.tensor (goldens/gone.tensor.txt)" in result.stdout
    assert "1 failed, 2 passed" in result.stdout


@pytest.mark.slow
def test_an_error_in_the_manifest_is_an_error_of_the_collection(folder: Path) -> None:
    Path("goldens/layouts.yaml").write_text("cases: []\n")
    result = run_pytest()
    assert result.returncode == 2
    assert "goldens/layouts.yaml:1:8: error: the manifest has no cases" in result.stdout
    assert "Traceback" not in result.stdout


@pytest.mark.slow
def test_a_case_that_cannot_be_run_fails_with_its_place(folder: Path) -> None:
    Path("goldens/layouts.yaml").write_text(MANIFEST.replace("tensor<8xf16>", "tensor<9xf16>"))
    result = run_pytest()
    place = "goldens/layouts.yaml:4:9"
    assert f"{place}: error: every dimension must be a power of two" in result.stdout


@pytest.mark.slow
def test_only_listed_manifests_are_collected(folder: Path) -> None:
    Path("layouts.yaml").write_text("not: a manifest\n")
    Path("goldens/other.yaml").write_text("not: a manifest\n")
    Path("more.layouts.yaml").write_text(MANIFEST.replace("one", "two"))
    result = run_pytest("-v")
    assert "no golden: two.tensor (more.layouts.yaml:2)" in result.stdout
    assert "2 failed, 4 passed" in result.stdout


@pytest.mark.slow
def test_it_is_inert_without_the_option(folder: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\n")
    Path("goldens/layouts.yaml").write_text("another tool's file: [\n")
    assert run_pytest().returncode == 5  # nothing was collected


@pytest.mark.slow
def test_importing_it_is_cheap() -> None:
    script = "import sys, tt_layout.pytest_plugin\nprint(*sys.modules)"
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert loaded & {"numpy", "yaml", "rich", "tt_layout.golden", "tt_layout.encodings"} == set()


@pytest.mark.slow
def test_text_of_a_golden_is_shown_not_obeyed(folder: Path) -> None:
    Path("goldens/one.tensor.txt").write_text("\x1b]0;x\x07\n::stop-commands::x\n")
    out = run_pytest("--color", "no").stdout
    assert "?]0;x?" in out
    assert "\x1b" not in out
    assert "\n::" not in out
