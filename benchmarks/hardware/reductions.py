"""Reduce random floats on a GPU, and compare the bits with the order of additions that we say.

usage: python reductions.py OUTPUT.json [--count 200] [--seed 29]

Needs PyTorch and the Triton whose order is judged. Writes for each reduction what it was of, how
many sums it has, how many of them have the bits of our tree, and how many those of the tree of the
other way of adding within threads.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from compiler.test_reduction_order import reductions

from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.conversion.reduction_order import (
    ReductionTree,
    reduction_tree,
)
from tt_layout.hardware import find_target
from tt_layout.mlir.types import element_bits
from tt_layout.releases import Release

DTYPES = {"f32": np.float32, "f16": np.float16}


def tree_of(facts: dict[str, Any], release: Release) -> ReductionTree:
    """Return in what order a release adds."""
    layout, element = parse_layout(facts["layout"]), facts["element"]
    linear = layout.to_linear_layout(facts["shape"], element_bits=element_bits(element))
    return reduction_tree(linear, facts["axis"], element, find_target(facts["target"]), release)


def summed(text: str, values: Any, count: int) -> Any:
    """Return what a kernel stores of some values."""
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
        file.write(text)
        file.flush()
        kernel = triton.compile(file.name)
    given = torch.from_numpy(values).cuda()
    out = torch.zeros(count, dtype=given.dtype, device="cuda")
    kernel[(1, 1, 1)](given, out)
    torch.cuda.synchronize()
    return out.cpu().numpy()


def main() -> None:
    """Reduce, compare and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=29)
    options = parser.parse_args()
    own = Release.parse(triton.__version__)
    other = Release.V3_9 if own < Release.V3_8 else Release.V3_7
    capability = "".join(map(str, torch.cuda.get_device_capability()))
    random, rows = np.random.default_rng(options.seed), []
    drawing = reductions(options.seed, [f"sm{capability}"], list(DTYPES))
    while len(rows) < options.count:
        question, facts = next(drawing)
        try:
            tree = tree_of(facts, own)
        except LayoutError as error:
            print(f"refused: {error}")
            continue
        values = random.standard_normal(facts["shape"]) * 2.0 ** random.integers(
            -6, 6, facts["shape"]
        )
        values = values.astype(DTYPES[facts["element"]])
        wanted = tree.sum(values)
        stored = summed(question["llvm"], values, wanted.size)
        bits = f"<u{wanted.dtype.itemsize}"
        same, elsewhere = (
            int((stored.view(bits) == sums.view(bits)).sum())
            for sums in (wanted, tree_of(facts, other).sum(values))
        )
        rows.append({**facts, "sums": wanted.size, "same": same, "same_as_other": elsewhere})
    right = sum(row["same"] == row["sums"] for row in rows)
    alike = sum(row["same_as_other"] == row["sums"] for row in rows)
    print(f"{right} of {len(rows)} reductions bit for bit as Triton {own} adds, {alike} as {other}")
    options.output.write_text(json.dumps({"triton": triton.__version__, "rows": rows}))


if __name__ == "__main__":
    main()
