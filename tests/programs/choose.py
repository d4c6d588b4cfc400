"""A choice among dumps: the one that is estimated to run shortest and fits the registers."""

import sys

import tt_layout
from tt_layout import LayoutError


def seconds(path: str, programs: int) -> float:
    try:
        estimate = tt_layout.estimate(path, {"length": 4096}, grid=(programs,))
    except LayoutError as error:
        print(f"{path}: {error.message}")
        return float("inf")
    low, high = estimate.range
    print(f"{path}: {estimate.seconds * 1e6:.1f} us, {low * 1e6:.1f} to {high * 1e6:.1f}")
    return estimate.seconds


def fits(path: str) -> bool:
    found = tt_layout.features(path)
    needed, limit = found["registers"], found["registers_limit"]
    return needed is None or limit is None or needed <= limit


def main(paths: list[str]) -> int:
    fitting = [path for path in paths if fits(path)]
    best = min(fitting, key=lambda path: seconds(path, 528), default=None)
    print(best.upper() if best is not None else "none fits")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
