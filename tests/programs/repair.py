"""A repair: the dump with what is suggested carried out, if that saves something."""

import sys
from pathlib import Path

import tt_layout


def repair(source: Path, target: Path) -> float:
    done = tt_layout.apply(str(source))
    saved: float = done.saved
    if saved > 0:
        target.write_text(done.text, encoding="utf-8")
    before, after = tt_layout.features(str(source)), tt_layout.features(done.text)
    fewer: float = before["cycles"] - after["cycles"]
    findings = before["findings_narrow_shared"] - after["findings_narrow_shared"]
    print(f"{saved} cycles saved, {fewer} of the whole, {findings} findings less")
    return fewer


def main(paths: list[str]) -> int:
    source, target = map(Path, paths)
    fewer = repair(source, target)
    with target.open(encoding="utf-8") as file:
        print(len(file.readlines()))
    modules = tt_layout.parse_ir(target.read_text(encoding="utf-8"))
    names = [function.name for function in tt_layout.read_functions(modules[0])]
    print(", ".join(name for name in names if name is not None))
    return 0 if fewer > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
