"""Compile random conversions for a GPU, and compare what a profiler counted with the prediction.

usage: conversions.py compile DIR [--count N] [--seed N]      (with a Python that has triton 3.9)
       conversions.py compare DIR COUNTERS                    (with tt-layout)

`compile` writes a cubin of one kernel for each conversion, `kernels.txt` for conversions.cu and
`conversions.jsonl`.  COUNTERS is what Nsight Compute printed of a run, see README.md; `compare`
writes `measured.jsonl`, in the form of tests/data/h100-conversions.jsonl.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

BITS = {"i8": 8, "f16": 16, "f32": 32, "i64": 64}
LANES, WARPS = 5, 2  # bits
OPERATIONS = r"\b((?:ld|st)\.shared[\w.:]*|(?:ld|st)matrix[\w.]*)"

INSTRUCTIONS = {
    "store": ["smsp__inst_executed_op_shared_st.sum"],
    "load": ["smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_ldsm.sum"],
}
WAVEFRONTS = {
    name: f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
    for name, op in (("store", "st"), ("load", "ld"))
}
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"


# -- random conversions -----------------------------------------------------------------------


def split(r: Random, bits: int) -> list[int]:
    """Return two powers of two with a product of 2**bits."""
    first = r.randint(0, bits)
    return [1 << first, 1 << bits - first]


def blocked(r: Random) -> str:
    sizes = [split(r, r.randint(0, 4)), split(r, LANES), split(r, WARPS)]
    order = r.choice([[0, 1], [1, 0]])
    names = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")
    pairs = zip(names, [*sizes, order])
    return f"#ttg.blocked<{{{', '.join(f'{name} = {value}' for name, value in pairs)}}}>"


def linear(r: Random, shape: list[int]) -> str:
    """Deal single steps, some of them xored with others, out to lanes, warps and registers."""
    vectors = [[1 << k, 0] for k in range(shape[0].bit_length() - 1)]
    vectors += [[0, 1 << k] for k in range(shape[1].bit_length() - 1)]
    r.shuffle(vectors)
    for at in range(1, len(vectors)):
        if r.random() < 0.15:
            other = vectors[r.randrange(at)]
            vectors[at] = [vectors[at][0] ^ other[0], vectors[at][1] ^ other[1]]
    lane, warp, register = vectors[:5], vectors[5:7], vectors[7:]
    register = r.sample(register, len(register))
    bases = f"register = {register}, lane = {lane}, warp = {warp}, block = []"
    return f"#ttg.linear<{{{bases}}}>"


def mma(r: Random, version: int) -> str:
    warps = split(r, WARPS) if version == 2 else [4, 1]
    instruction = [16, 8] if version == 2 else [16, r.choice([16, 32, 64]), r.choice([8, 16])]
    return (
        f"#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, "
        f"warpsPerCTA = {warps}, instrShape = {instruction}}}>"
    )


def operand(r: Random) -> str:
    index, width = r.randint(0, 1), r.choice([1, 2, 4])
    return f"#ttg.dot_op<{{opIdx = {index}, parent = {mma(r, 2)}, kWidth = {width}}}>"


def layout(r: Random, shape: list[int]) -> str:
    makers = [lambda: blocked(r), lambda: linear(r, shape), lambda: mma(r, 2), lambda: mma(r, 3)]
    return r.choice([*makers, lambda: operand(r), lambda: blocked(r), lambda: linear(r, shape)])()


def conversion(r: Random) -> dict[str, object]:
    """Return source, destination, shape and element of a random conversion."""
    bits = r.randint(9, 13)
    rows = r.randint(3, bits - 3)
    shape = [1 << rows, 1 << bits - rows]
    elem = r.choice(list(BITS))
    return {"src": layout(r, shape), "dst": layout(r, shape), "shape": shape, "elem": elem}


# -- compiling --------------------------------------------------------------------------------


def compile_one(row: dict[str, object], path: Path) -> dict[str, object] | None:
    """Write the cubin of a conversion; return its row, None where no memory is needed."""
    from compiler.assembling import assembled
    from compiler.kernels import conversion_kernel

    text = conversion_kernel(
        row["src"], row["dst"], row["shape"], row["elem"], target="sm90", warps=1 << WARPS
    )
    outputs, metadata = assembled(text, "cubin")
    found = Counter(re.findall(OPERATIONS, outputs["ptx"]))
    if not found:
        return None
    path.write_bytes(outputs["cubin"])
    return {**row, "ptx": dict(found), "scratch_bytes": metadata["shared"]}


def in_a_child(row: dict[str, object], path: Path) -> dict[str, object] | None:
    """Compile in a process of its own: the compiler aborts on some layouts."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(writing, json.dumps(compile_one(row, path)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def compile_all(folder: Path, count: int, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    r, rows = Random(seed), []
    while len(rows) < count:
        row = in_a_child(conversion(r), folder / f"{len(rows):03}.cubin")
        if row is not None:
            rows.append(row)
    with open(folder / "conversions.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    with open(folder / "kernels.txt", "w") as file:
        for index, row in enumerate(rows):
            elements = row["shape"][0] * row["shape"][1]
            numbers = (32 << WARPS, row["scratch_bytes"], elements, BITS[row["elem"]] // 8)
            file.write(f"{index:03}.cubin {' '.join(map(str, numbers))}\n")


# -- comparing --------------------------------------------------------------------------------


def counters(path: Path) -> list[dict[str, int]]:
    """Return the metrics of every launch, in order, from a CSV file of Nsight Compute."""
    lines = path.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith('"ID"'))
    rows = [row for row in csv.DictReader(lines[start:]) if row["ID"].strip()]
    metrics = [*WAVEFRONTS.values(), *INSTRUCTIONS["store"], *INSTRUCTIONS["load"], CONFLICTS]
    return [{name: int(float(row[name].replace(",", ""))) for name in metrics} for row in rows]


def compare(folder: Path, path: Path) -> None:
    """Print which predictions the counters bear out, and write the rows in a compact form."""
    import tt_layout
    from tt_layout.analyses.conversion.compiled_conversion import compiled_conversion

    rows = [json.loads(line) for line in (folder / "conversions.jsonl").read_text().splitlines()]
    measured, right = counters(path), Counter()
    assert len(rows) == len(measured), f"{len(rows)} conversions, {len(measured)} launches"
    with open(folder / "measured.jsonl", "w") as file:
        for index, (row, found) in enumerate(zip(rows, measured)):
            src, dst = (
                tt_layout.parse_layout(row[name]).to_linear_layout(row["shape"])
                for name in ("src", "dst")
            )
            compiled = compiled_conversion(src, dst, BITS[row["elem"]], "sm90")
            compact = {key: row[key] for key in ("src", "dst", "shape", "elem")}
            for name in ("store", "load"):
                step = getattr(compiled, name)
                executed = sum(found[metric] for metric in INSTRUCTIONS[name])
                compact[name] = [executed, found[WAVEFRONTS[name]]]
                right[name] += found[WAVEFRONTS[name]] == (step.wavefronts if step else 0)
                if found[WAVEFRONTS[name]] != (step.wavefronts if step else 0):
                    print(f"{index} {name}: {compact[name]}, predicted {step}, {row['ptx']},")
                    print(f"  {found[CONFLICTS]} conflicts of loads: {json.dumps(row)}")
            file.write(json.dumps(compact) + "\n")
    print(f"{len(rows)} conversions: stores {right['store']}, loads {right['load']} as predicted")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("compile")
    making.add_argument("folder", type=Path)
    making.add_argument("--count", type=int, default=200)
    making.add_argument("--seed", type=int, default=1)
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("counters", type=Path)
    given = parser.parse_args()
    if given.command == "compile":
        compile_all(given.folder, given.count, given.seed)
    else:
        compare(given.folder, given.counters)


if __name__ == "__main__":
    main()
