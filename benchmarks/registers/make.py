"""Compile kernels for GPUs that are not there, and keep what their compilers say of registers.

    TRITON_PYTHON benchmarks/registers/make.py FOLDER [TARGET...] [--only REGEX]
    TRITON_PYTHON benchmarks/registers/make.py FOLDER --drawn 60 --seed 23
    TRITON_PYTHON benchmarks/registers/make.py FOLDER --families 60 --seed 23
    TRITON_PYTHON benchmarks/registers/make.py FOLDER --unseen 160 --seed 29
    TRITON_PYTHON benchmarks/registers/make.py FOLDER sm80 sm90 .. --latest 165 --seed 31
    TRITON_PYTHON benchmarks/registers/make.py FOLDER sm80 sm90 .. --varied 1260 --seed 41
    TRITON_PYTHON benchmarks/registers/make.py FOLDER sm80 sm90 .. --sealed 300 --seed 43
    TRITON_PYTHON benchmarks/registers/make.py FOLDER sm80 sm90 .. --withheld 160 --seed 47
    TRITON_PYTHON benchmarks/registers/make.py FOLDER --dumps examples/*/*.ttgir

TRITON_PYTHON is the Python of an environment that holds triton==3.9.0; no GPU is needed.  FOLDER
gets a dump for each kernel, and truth.jsonl: registers, and registers that were spilled, as
``cuobjdump -res-usage`` of the wheel (a quarter of the bytes of the stack) and the assembly of AMD
(``.vgpr_count``, ``.vgpr_spill_count``) have them.  What is there is not made again; REGEX chooses
kernels by their names.  With ``--drawn`` the kernels are those of fresh.py, so many; with
``--families``, ``--unseen``, ``--latest``, ``--varied``, ``--sealed`` and ``--withheld`` those of
the files of these names; with ``--dumps`` those dumps are compiled instead.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import families
import latest
import sealed
import triton
import unseen
import varied
import withheld
from fresh import drawn
from kernels import FITTED, Variant, variants
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = {
    **{f"sm{number}": GPUTarget("cuda", number, 32) for number in (80, 90, 100, 120)},
    **{name: GPUTarget("hip", name, 64) for name in ("gfx942", "gfx950")},
    **{name: GPUTarget("hip", name, 32) for name in ("gfx1100", "gfx1201", "gfx1250")},
}
FILES = {
    "families": families,
    "unseen": unseen,
    "latest": latest,
    "varied": varied,
    "sealed": sealed,
    "withheld": withheld,
}
"""Kernels that are drawn, by the file that they are in."""

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


def compiled(variant: Variant | families.Draw, target: GPUTarget, **options: int) -> Any:
    """Return a kernel in a size for a target."""
    names = variant.kernel.arg_names
    signature = {name: variant.types.get(name, "constexpr") for name in names}
    aligned = {
        (at,): [["tt.divisibility", 16]]
        for at, name in enumerate(names)
        if name in variant.types and variant.types[name] != "fp32"
    }
    source = ASTSource(variant.kernel, signature, variant.constants, aligned)
    return triton.compile(source, target=target, options={"num_warps": variant.warps, **options})


def registers(kernel: Any) -> tuple[int, int]:
    """Return the registers of a thread, and those that were spilled."""
    if "cubin" in kernel.asm:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(kernel.asm["cubin"])
            file.flush()
            command = [str(CUOBJDUMP), "-res-usage", file.name]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        [used] = re.findall(r"REG:(\d+) STACK:(\d+)", text)
        return int(used[0]), int(used[1]) // 4
    text = kernel.asm["amdgcn"]
    return tuple(
        int(re.search(rf"\.{name}: +(\d+)", text)[1]) for name in ("vgpr_count", "vgpr_spill_count")
    )


class Job(NamedTuple):
    """A kernel to compile.

    Attributes:
        name: of its row.
        family: of kernels that it belongs to.
        target: the GPU.
        is_fitted: whether rules were fitted to its family; None of a dump.
        compile: compiles it.
    """

    name: str
    family: str
    target: str
    is_fitted: bool | None
    compile: Callable[[], Any]


def job_of(variant: Variant, target: str) -> Job:
    """Return what compiles a kernel in a size for a target."""
    family = variant.kernel.__name__
    work = functools.partial(compiled, variant, TARGETS[target])
    return Job(f"{variant.name}-{target}", family, target, family in FITTED, work)


def job_of_draw(draw: families.Draw) -> Job:
    """Return what compiles a kernel of families.py."""
    family = draw.kernel.__name__
    work = functools.partial(compiled, draw, TARGETS[draw.target], num_stages=draw.stages)
    return Job(draw.name, family, draw.target, family in families.FITTED, work)


def job_of_dump(path: Path) -> Job:
    """Return what compiles a dump for its own GPU."""
    kind, name = re.search(r'ttg.target = "(cuda|hip):(\w+)"', path.read_text()).groups()
    target = f"sm{name}" if kind == "cuda" else name
    work = functools.partial(triton.compile, str(path), target=TARGETS[target])
    return Job("-".join(path.parts[-2:]).removesuffix(".ttgir"), "dump", target, None, work)


def result_of(job: Job, folder: Path) -> dict[str, Any]:
    """Compile a kernel, keep its dump, and return its row."""
    begun = time.monotonic()
    found: dict[str, Any] = {"name": job.name, "family": job.family}
    found |= {"target": job.target, "is_fitted": job.is_fitted}
    try:
        kernel = job.compile()
        found["registers"], found["spilled"] = registers(kernel)
        (folder / f"{job.name}.ttgir").write_text(kernel.asm["ttgir"])
    except Exception as error:  # a kernel that does not compile is a result, too
        found["error"] = f"{type(error).__name__}: {str(error)[:300]}"
    return found | {"seconds": round(time.monotonic() - begun, 1)}


def main(folder: Path, jobs: Iterable[Job]) -> None:
    """Compile what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = folder / "truth.jsonl"
    known = {json.loads(line)["name"] for line in truth.open()} if truth.exists() else set()
    for job in jobs:
        if job.name not in known:
            known.add(job.name)
            with truth.open("a") as file:
                file.write(json.dumps(result_of(job, folder)) + "\n")


def chosen_jobs(chosen: argparse.Namespace) -> Iterable[Job]:
    """Return the kernels that a call asks for."""
    targets = chosen.targets or list(TARGETS)
    asked = [(count, name) for name in FILES if (count := getattr(chosen, name))]
    if chosen.dumps:
        jobs = [job_of_dump(path) for path in chosen.dumps]
    elif asked:
        [(count, name)] = asked
        some = itertools.islice(families.drawn(chosen.seed, targets, FILES[name].SPACES), count)
        jobs = [job_of_draw(draw) for draw in some]
    elif chosen.drawn:
        some = itertools.islice(drawn(chosen.seed, targets), chosen.drawn)
        jobs = [job_of(variant, target) for variant, target in some]
    else:
        jobs = [job_of(variant, target) for variant in variants() for target in targets]
    return [job for job in jobs if re.search(chosen.only, job.name)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--drawn", type=int, metavar="COUNT")
    for name in FILES:
        parser.add_argument(f"--{name}", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dumps", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    main(given.folder, chosen_jobs(given))
