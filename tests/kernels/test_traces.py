"""Logs of tritonparse: kernels, launches and programs in them; logs that are broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from test_watching import KERNEL

from tt_layout.kernels import trace
from tt_layout.kernels.trace import read_trace

SOURCE = "/home/somebody/copy.py"
CODE = "@triton.jit\ndef strided(x, s):\n    return strided\n"


def compilation(key: str = "k1", **changes: Any) -> dict[str, Any]:
    """Return an event of a compiled kernel."""
    payload = {
        "metadata": {"hash": key, "name": "strided", "num_warps": 4, "shared": 512},
        "file_content": {"strided.ttir": "module {}", "strided.ttgir": KERNEL},
        "python_source": {"file_path": SOURCE, "start_line": 7, "code": CODE},
    }
    return {"event_type": "compilation", "pid": 7, "stack": [], "payload": payload | changes}


def launch(key: str = "k1", stride: int = 2) -> dict[str, Any]:
    """Return an event of a launch."""
    return {
        "event_type": "launch",
        "name": "strided",
        "grid": [16, 1, 1],
        "compilation_metadata": {"hash": key},
        "extracted_args": {
            "x": {"type": "tensor", "shape": [64], "stride": [1], "data_ptr": "0x7f0000000200"},
            "s": {"type": "int", "value": stride},
            "eps": {"type": "float", "value": 1e-5},
        },
        "payload": None,
    }


def text(*events: Any) -> str:
    return "".join(f"{e if isinstance(e, str) else json.dumps(e)}\n" for e in events)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize("name", ["t.ndjson", "t.ndjson.gz", "t.bin.ndjson"])
def test_each_kernel_is_audited_with_its_launch(tmp_path: Path, run: Run, name: str) -> None:
    """Of a log of gzip members, too, as tritonparse writes them."""
    events = text(compilation(), launch()), text(compilation("k2"), launch("k2", 1))
    path = tmp_path / name
    if name == "t.ndjson":
        path.write_text("".join(events))
    else:
        path.write_bytes(b"".join(gzip.compress(one.encode()) for one in events))
    result = run("audit", str(path), "--format", "json")
    assert result.status == 0, result.err
    kernels = json.loads(result.out)["kernels"]
    assert sorted(one["file"] for one in kernels) == [f"{path}@1", f"{path}@2"]
    by_name = {one["file"][-1]: one for one in kernels}
    assert by_name["1"]["cost"] > by_name["2"]["cost"], "the first has the larger stride"
    assert by_name["1"]["shared_bytes"] == 512


def test_one_kernel_has_a_report_with_the_text_of_its_program(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "t.ndjson"
    place = f'loc("{SOURCE}":9:4)'
    located = KERNEL.replace(
        "tt.store %p, %v : tensor<1024x!tt.ptr<f16>, #blocked>",
        f"tt.store %a, %v : tensor<1024x!tt.ptr<f16>, #blocked> {place}",
    )
    path.write_text(text(compilation(file_content={"k.ttgir": located}), launch()))
    result = run("audit", "--all", f"{path}@1")
    assert result.status == 0, result.err
    assert "copy.py:9" in result.out
    assert "return strided" in result.out, "the line of the program, which is on no disk"
    costs = [
        json.loads(run("audit", f"{path}@1", *more, "--format", "json").out)["modules"][0]
        for more in ([], ["--value", "s=1"], ["--value", "s=2"])
    ]
    launched, given, same = (one["summary"][0]["cost"] for one in costs)
    assert given < launched == same, "what is given goes before the launch"


@pytest.mark.parametrize("grid", [[], [16], [16, 2], [16, 2, 3]])
def test_a_grid_has_three_sizes(tmp_path: Path, grid: list[int]) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text(text(compilation(), launch() | {"grid": grid}))
    [kernel] = read_trace(str(path)).kernels
    assert [one.grid for one in kernel.launches] == [(*grid, *[1] * (3 - len(grid)))]


def test_a_folder_has_its_logs(tmp_path: Path, run: Run) -> None:
    (tmp_path / "t.ndjson").write_text(text(compilation()))
    (tmp_path / "passes.log").write_text("// -----// IR Dump After X\n" + KERNEL)
    (tmp_path / "other.log").write_text("nothing\n")
    (tmp_path / "output_code.txt").write_text("import torch\n")
    result = run("audit", str(tmp_path), "--format", "json")
    found = json.loads(result.out)
    names = sorted(Path(one["file"]).name for one in found["kernels"])
    assert names == ["passes.log", "t.ndjson@1"]
    assert found["passed_over"] == []


def test_what_is_no_event_is_named_and_left_out(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text(
        text(compilation(), "{not json", "[1]", '{"event_type": "launch"}', "")
        + json.dumps(launch())[:40]
    )
    result = run("audit", str(path))
    assert result.status == 0
    output = result.out
    assert f"{path}:2 skipped: it is not JSON" in " ".join(output.split())
    assert f"{path}:3 skipped: it is not an event" in " ".join(output.split())
    assert "@strided" in output
    for form in ("text", "features"):
        result = run("audit", str(path), "--format", form, "--fail-on", "conflicts")
        assert result.status == 2
        assert f"{path}:2: it is not JSON" in result.err


def test_a_log_that_is_cut_off_keeps_what_it_has(tmp_path: Path, run: Run) -> None:
    whole = gzip.compress(text(compilation()).encode()) + gzip.compress(
        text(compilation("k2")).encode()
    )
    path = tmp_path / "t.ndjson.gz"
    path.write_bytes(whole[:-30])
    result = run("audit", str(path))
    assert result.status == 0
    assert "the compressed data ends in the middle" in " ".join(result.out.split())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found no compiled kernel"),
        (b"{}\n", "found no compiled kernel"),
        (b"half a line", "line 1: it is not JSON"),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (b"\x1f\x8bnot gzip", "cannot read"),
        (gzip.compress(b"x" * 100, mtime=0)[:20], "ends in the middle"),
        (text(compilation(file_content={})).encode(), "no TTGIR"),
        (text(compilation(metadata={"hash": 7})).encode(), "the kernel has no hash"),
        (text(compilation(metadata=[], file_content=7)).encode(), "no TTGIR"),
        (b'{"event_type": ' + b"[" * 100_000 + b"\n", "it is not JSON"),
    ],
)
def test_a_log_without_kernels_is_refused(
    tmp_path: Path, run: Run, content: bytes, message: str
) -> None:
    path = tmp_path / "t.ndjson"
    path.write_bytes(content)
    result = run("audit", str(path))
    assert result.status == 2
    assert message in " ".join(result.err.split())
    assert "Traceback" not in result.err


def test_a_kernel_that_is_not_there_is_refused(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text(text(compilation(), compilation("k2")))
    assert "there is no kernel 3: the log has 2" in run("audit", f"{path}@3").err
    assert "the log has 2 kernels" in run("audit", str(path), "--axis-info").err
    assert run("audit", f"{path}@last").status == 0


def test_a_log_without_end_is_refused(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "MAX_BYTES", 1 << 20)
    path = tmp_path / "t.ndjson.gz"
    path.write_bytes(gzip.compress(b"\n" * 1000 + b" " * (2 << 20)))
    told = " ".join(run("audit", str(path)).err.split())
    assert "reading stops behind it: 0 GiB are read" in told


@pytest.mark.parametrize(("of_line", "of_argument", "steps"), [(100, 0, 450), (0, 100, 650)])
def test_a_log_that_takes_too_long_is_read_in_part(
    of_line: int,
    of_argument: int,
    steps: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Steps of five lines, or of two arguments of each of four launches."""
    monkeypatch.setattr(trace, "OF_LINE", of_line)
    monkeypatch.setattr(trace, "OF_ARGUMENT", of_argument)
    monkeypatch.setattr(trace, "BYTES_OF_VALUE", 1)  # there are fewer values than bytes
    monkeypatch.setattr(trace, "MAX_WORK", steps)
    path = tmp_path / "a.ndjson"
    path.write_text(text(compilation(), *(launch(stride=stride) for stride in range(2, 12))))
    read = trace.read_trace(str(path))
    told = "reading stops behind it: it takes too long to read; tail -n +6 has the rest"
    assert read.unread == (trace.Unread(5, told),)
    assert sum(read.kernels[0].launches.values()) == 4


def test_values_of_json_are_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MAX_WORK", 5000)
    path = tmp_path / "a.ndjson"
    path.write_text(text(compilation(), *({"a": [0] * 3000},) * 9))
    [stop] = trace.read_trace(str(path)).unread
    assert (stop.line, "too long to read" in stop.reason) == (3, True)


def test_some_of_the_lines_that_are_no_events_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text(json.dumps(compilation()) + "\nnothing" * 10)
    assert [one.line for one in read_trace(str(path)).unread] == [*range(2, 10)]


TRACES = Path(__file__).parents[1] / "data" / "traces"


@pytest.mark.parametrize("name", ["kernels.ndjson", "kernels.bin.ndjson"])
def test_a_log_of_a_gpu_is_read_with_its_launches(name: str) -> None:
    """Written by tritonparse 0.6 on an H100; less the stages and stacks that are not read."""
    found = read_trace(str(TRACES / name))
    assert found.unread == ()
    assert [kernel.compiled.name for kernel in found.kernels] == [
        "add", "add", "strided", "strided", "softmax", "softmax",
    ]  # fmt: skip
    launches = [dict(one.values) for kernel in found.kernels for one in kernel.launches]
    assert [one["s"] for one in launches if "s" in one] == [1, 2, 3]
    assert {program.file for program in found.programs.values()} == {"/home/user/workloads.py"}


def test_what_a_gpu_counted_is_predicted_from_the_launches(run: Run) -> None:
    """Sectors of loads in one program, as Nsight Compute counted them on the H100: no --value."""
    counted = {1: 256, 3: 128, 4: 1024}  # the first of add: two loads; strides 1 and 2
    for kernel, sectors in counted.items():
        out = run("audit", f"{TRACES / 'kernels.ndjson'}@{kernel}", "--format", "json").out
        [module] = json.loads(out)["modules"]
        costs = [row["cost"] for row in module["data_movements"] if row["operation"] == "tt.load"]
        assert sum(cost["sectors"] for cost in costs) == sectors
