"""Compile kernels for GPUs that are not there, and keep what their compilers say of registers.

    TRITON_PYTHON benchmarks/registers/make.py FOLDER [TARGET...] [--only REGEX]

TRITON_PYTHON is the Python of an environment that holds triton==3.9.0; no GPU is needed.  FOLDER
gets a dump for each kernel, and truth.jsonl: registers, and registers that were spilled, as
``cuobjdump -res-usage`` of the wheel (a quarter of the bytes of the stack) and the assembly of AMD
(``.vgpr_count``, ``.vgpr_spill_count``) have them.  What is there is not made again; REGEX chooses
kernels by their names.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import triton
from kernels import FITTED, Variant, variants
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = {
    **{f"sm{number}": GPUTarget("cuda", number, 32) for number in (80, 90, 100)},
    **{name: GPUTarget("hip", name, 64) for name in ("gfx942", "gfx950")},
    **{name: GPUTarget("hip", name, 32) for name in ("gfx1100", "gfx1250")},
}
CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


def compiled(variant: Variant, target: GPUTarget, **options: int) -> Any:
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


def main(folder: Path, targets: list[str], only: str) -> None:
    """Compile what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = folder / "truth.jsonl"
    known = {json.loads(line)["name"] for line in truth.open()} if truth.exists() else set()
    for variant in variants():
        for target in targets or TARGETS:
            name = f"{variant.name}-{target}"
            if name in known or not re.search(only, name):
                continue
            begun = time.monotonic()
            found: dict[str, Any] = {"name": name, "family": variant.kernel.__name__}
            found |= {"target": target, "is_fitted": variant.kernel.__name__ in FITTED}
            try:
                kernel = compiled(variant, TARGETS[target])
                found["registers"], found["spilled"] = registers(kernel)
                (folder / f"{name}.ttgir").write_text(kernel.asm["ttgir"])
            except Exception as error:  # a kernel that does not compile is a result, too
                found["error"] = f"{type(error).__name__}: {str(error)[:300]}"
            found["seconds"] = round(time.monotonic() - begun, 1)
            with truth.open("a") as file:
                file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--only", default="", metavar="REGEX")
    chosen = parser.parse_args()
    main(chosen.folder, chosen.targets, chosen.only)
