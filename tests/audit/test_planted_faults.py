"""Kernels with planted faults: the first finding names the fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tt_layout.audit.findings import Finding
from tt_layout.reports.audit_ir import audit_ir

EXAMPLES = Path(__file__).parents[2] / "examples"

DIVISIBLE = " {tt.divisibility = 16 : i32}"


class Fault(NamedTuple):
    """A change of a dump, and what the first finding of it must say.

    Attributes:
        dump: below ``examples``.
        plant: from the text of the dump to that with the fault.
        kind: of the finding.
        words: in its message.
        at: what stands on its line of the dump.
    """

    dump: str
    plant: Callable[[str], str]
    kind: str
    words: str
    at: str


def swap(old: str, new: str) -> Callable[[str], str]:
    """Return a change of one place of a text."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def undivided(argument: str) -> Callable[[str], str]:
    """Forget that an argument is a multiple of 16."""

    def change(text: str) -> str:
        start = text.index(f"%{argument}: ")
        at = text.index(DIVISIBLE, start)
        assert at - start < 40
        return text[:at] + text[at + len(DIVISIBLE) :]

    return change


def twice_converted(text: str, line: str, source: str, other: str, location: str) -> str:
    """Convert what a line makes to another layout, and back."""
    name = line.split(" = ")[0].strip()
    more = (
        f"{line.replace(name, '%there', 1)}\n"
        f"      %back = ttg.convert_layout %there : {source} -> {other} loc({location})\n"
        f"      {name} = ttg.convert_layout %back : {other} -> {source} loc({location})"
    )
    return text.replace(line, more)


def there_and_back(text: str) -> str:
    """Convert what is loaded in the loop to a layout that nothing asks for, and back."""
    line = next(line for line in text.splitlines() if "%total_67 = tt.load %a_ptrs_64" in line)
    source, other = (f"tensor<128x32xf16, #{name}>" for name in ("blocked", "blocked1"))
    return twice_converted(text, line, source, other, "#loc41")


def accumulator_there_and_back(text: str) -> str:
    """Convert the accumulator in the loop, as a stray layout in the source would."""
    line = next(line for line in text.splitlines() if "= tt.dot " in line)
    source, other = (f"tensor<64x64xf32, #{name}>" for name in ("mma", "blocked1"))
    return twice_converted(text, line, source, other, "#loc1")


def undivided_rows(text: str) -> str:
    """Forget a stride's divisor, with the layout that coalescing then makes: one element."""
    wide = "[1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1]"
    return undivided("stride")(
        text.replace(wide, "[1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4]")
    )


SOFTMAX = "[1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]"
FAULTS = {
    "a swizzle halved": Fault(
        "kernels/matmul-sm80.ttgir",
        swap("perPhase = 2, maxPhase = 4", "perPhase = 2, maxPhase = 2"),
        "conflicts",
        "of #shared has bank conflicts",
        "ttg.local_load",
    ),
    "a quarter of the swizzle that matrix instructions read": Fault(
        "kernels/convolution-sm90.ttgir",
        swap("swizzlingByteWidth = 128", "swizzlingByteWidth = 32"),
        "conflicts",
        "of #shared1 has bank conflicts",
        "ttg.async_copy_global_to_local",
    ),
    "no swizzle": Fault(
        "kernels/matmul-sm80.ttgir",
        swap("perPhase = 1, maxPhase = 8", "perPhase = 1, maxPhase = 1"),
        "conflicts",
        "of #shared1 has bank conflicts",
        "ttg.local_load",
    ),
    "a shared layout of the wrong order": Fault(
        "kernels/convolution-sm80.ttgir",
        swap("maxPhase = 8, order = [1, 0]", "maxPhase = 8, order = [0, 1]"),
        "narrow-loads",
        "the shared layout keeps 1 neighbour together",
        "ttg.async_copy_global_to_local",
    ),
    "a padding forgotten": Fault(
        "kernels/matmul-gfx942.ttgir",
        swap("vec = 4, perPhase = 2, maxPhase = 8", "vec = 1, perPhase = 1, maxPhase = 1"),
        "conflicts",
        "of #shared has bank conflicts",
        "#shared",
    ),
    "a buffer that keeps no two elements of a thread together": Fault(
        "kernels/attention-gfx942.ttgir",
        swap("vec = 1, perPhase = 1, maxPhase = 1", "vec = 1, perPhase = 2, maxPhase = 8"),
        "narrow-shared",
        "of #shared3 moves 2 bytes at a time",
        "ttg.local_alloc",
    ),
    "a stride without its divisibility": Fault(
        "kernels/softmax-sm90.ttgir",
        undivided("stride"),
        "narrow-loads",
        "why: divisibility (make.py:70:14); in the program: make stride a multiple of 16",
        "tt.",
    ),
    "a stride without its divisibility, and the layout that follows": Fault(
        "workloads/scan-sm90.ttgir",
        undivided_rows,
        "narrow-loads",
        "why: divisibility (make.py:107:13); in the program: make stride a multiple of 16",
        "tt.load",
    ),
    "a pointer without its alignment": Fault(
        "kernels/softmax-gfx942.ttgir",
        undivided("x"),
        "narrow-loads",
        "pass x aligned to 16 bytes",
        "tt.load",
    ),
    "a bound without its divisibility": Fault(
        "workloads/layer_norm-sm90.ttgir",
        undivided("width"),
        "narrow-loads",
        "why: mask",
        "tt.",
    ),
    "a needless conversion": Fault(
        "kernels/matmul-gfx942.ttgir",
        there_and_back,
        "conversions",
        "from #blocked to #blocked1",
        "%back",
    ),
    "a register layout of the wrong order": Fault(
        "kernels/softmax-sm80.ttgir",
        swap(SOFTMAX, "[1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]"),
        "narrow-loads",
        "use a layout whose order begins with 1",
        "tt.",
    ),
    "one element per thread": Fault(
        "kernels/softmax-sm90.ttgir",
        swap(SOFTMAX, SOFTMAX.replace("[1, 8]", "[1, 1]")),
        "narrow-loads",
        "sizePerThread = [1, 8]",
        "tt.",
    ),
    "the wrong number of warps": Fault(
        "kernels/matmul-sm80.ttgir",
        swap('"ttg.num-warps" = 4', '"ttg.num-warps" = 8'),
        "refused",
        "is for 4 warps, but the module has 8",
        "",
    ),
    "a padding too seldom": Fault(
        "kernels/matmul-gfx950.ttgir",
        swap("[512:+8]", "[4096:+8]"),
        "conflicts",
        "of #shared has bank conflicts",
        "#shared,",
    ),
    "an accumulator converted in the loop": Fault(
        "workloads/grouped_matmul-sm80.ttgir",
        accumulator_there_and_back,
        "conversions",
        "from #mma to #blocked1",
        "%back",
    ),
    "the lanes of another GPU": Fault(
        "workloads/layer_norm-gfx942.ttgir",
        swap('"ttg.threads-per-warp" = 64', '"ttg.threads-per-warp" = 32'),
        "refused",
        "is for 64 lanes, but the module has 32",
        "#blocked>",
    ),
    "every other element": Fault(
        "narrow/vector_add.ttgir",
        swap(
            "%total_5 = tt.addptr %total, %places_3",
            "%c2 = arith.constant dense<2> : tensor<1024xi32, #blocked>\n"
            "    %even = arith.muli %places_3, %c2 : tensor<1024xi32, #blocked>\n"
            "    %total_5 = tt.addptr %total, %even",
        ),
        "narrow-loads",
        "neighbours are 2 elements apart; in the program: access all between them",
        "%total_6 = tt.load",
    ),
    "a strided access": Fault(
        "narrow/vector_add.ttgir",
        swap(
            "%total_5 = tt.addptr %total, %places_3",
            "%two = arith.addi %places_3, %places_3 : tensor<1024xi32, #blocked>\n"
            "    %total_5 = tt.addptr %total, %two",
        ),
        "narrow-loads",
        "loads 2 bytes per instruction",
        "%total_6 = tt.load",
    ),
}


def first_finding(fault: Fault) -> tuple[str, Finding]:
    text = fault.plant((EXAMPLES / fault.dump).read_text(encoding="utf-8"))
    [audit] = audit_ir(text).audits
    return text, audit.findings[0]


@pytest.mark.parametrize("name", FAULTS)
def test_the_first_finding_names_the_fault(name: str) -> None:
    fault = FAULTS[name]
    text, finding = first_finding(fault)
    assert finding.kind == fault.kind
    assert fault.words in finding.message
    assert fault.at in text.splitlines()[finding.line - 1]
