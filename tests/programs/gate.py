"""A gate: exits 1 if a kernel has a finding in a loop, or more conversions than allowed."""

import sys

import tt_layout

LIMIT = 2


def check(path: str) -> list[str]:
    report = tt_layout.audit_ir(path, {"K": 4096}, gpu="h100")
    first = report.audits[0]
    problems: list[str] = []
    for finding in sorted(first.findings, key=lambda one: one.line):
        line: int = finding.line
        where = f"{report.file}:{line + 0}"
        problems.append(f"{where}: {finding.kind.upper()}: {finding.message}")
    found = tt_layout.features(path)
    conversions: int = found["conversions"]
    if conversions > LIMIT:
        problems.append(f"{conversions - LIMIT} conversions too many")
    moved: float = found["global_load_bytes"] + found["global_store_bytes"]
    print(f"{path}: {len(report.audits)} module, {moved / 1024:.1f} KiB, {len(problems)} problems")
    return problems


def main(paths: list[str]) -> int:
    problems = [problem for path in paths for problem in check(path)]
    print("\n".join(problems))
    return min(1, len(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
