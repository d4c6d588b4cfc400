"""Hints that are followed: the wheel makes the access as wide as they say, on NVIDIA and AMD.

A hint is what the dump has of it: attributes of the operation, or of the argument that is passed
otherwise; one after the other, until the access is as wide as it can be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

import pytest
import test_hints

from compiler.test_global_memory import Assembler
from compiler.wheel import Wheel
from tt_layout.audit.global_memory.limits import MAX_CURES

WIDTH = re.compile(r"ld\.global(?:\.v(\d))?\.[bu](\d+)|global_load_(?:dwordx?(\d?)|.*short.*)")
ON_GFX942 = {
    "cuda:90": "hip:gfx942",
    '"ttg.threads-per-warp" = 32': '"ttg.threads-per-warp" = 64',
    "[8], threadsPerWarp = [32]": "[4], threadsPerWarp = [64]",
    "[1, 8], threadsPerWarp = [4, 8]": "[1, 4], threadsPerWarp = [4, 16]",
}


def followed(text: str) -> Iterator[str]:
    """Yield a kernel with one hint after the other carried out, as many as are ever given."""
    for _ in range(MAX_CURES):
        says = test_hints.advised(text)["advice"]
        piece = re.sub(r" \(then .*", "", says.split("; and ")[0])
        if not re.search(r"add tl\.|tl\.where|pass \w+ as 1|make \w+ a multiple", piece):
            return  # it is of the data, not of what is said of them
        text = carried_out(text, test_hints.advised(text)["line"], piece)
        yield text


def carried_out(text: str, line: int, piece: str) -> str:
    """Return a kernel with a hint carried out, in the first of the ways that it offers."""
    if "of the load, and choose with tl.where" in piece or "or choose with tl.where" in piece:
        return re.sub(r"(tt\.load %p), %e\d+", r"\1", text)
    if match := re.search(r"pass (\w+) as 1", piece):
        return re.sub(
            rf"tt\.splat %{match[1]} : i32 -> (.*)", r"arith.constant dense<1> : \1", text
        )
    if match := re.search(r"make (\w+) a multiple of (\d+)", piece):
        own = f"%{match[1]}: i32"
        text = text.replace(own, f"{own} {{tt.divisibility = {match[2]} : i32}}")
        if "or, only if" in piece:
            return text
    told = {}
    if match := re.search(r"max_contiguous\(tl\.multiple_of\(\w+, (\d+)\), (\d+)\)", piece):
        told = {"divisibility": match[1], "contiguity": match[2]}
    elif match := re.search(r"max_constancy\(\w+, (\d+)\)", piece):
        told = {"constancy": match[1]}
    elif match := re.search(r"multiple_of\([\w ]+, (\d+)\)", piece):
        told = {"divisibility": match[1]}
    assert told, piece
    return hinted(text, line, told)


def hinted(text: str, line: int, told: dict[str, str]) -> str:
    """Return a kernel in which an operation has a hint, about its fastest dimension."""
    lines = text.split("\n")
    is_matrix = "tensor<16x64x" in text
    own = ", ".join(
        f"tt.{name} = dense<{f'[1, {number}]' if is_matrix else number}> : "
        f"tensor<{1 + is_matrix}xi32>"
        for name, number in told.items()
    )
    before, colon, types = lines[line - 1].rpartition(" : tensor<1")
    before = f"{before[:-1]}, " if before.endswith("}") else f"{before} {{"
    lines[line - 1] = f"{before}{own}}}{colon}{types}"
    return "\n".join(lines)


def promising(random: Random, count: int) -> Iterator[tuple[str, str, int]]:
    """Yield advice that says how wide an access gets, the kernel that follows it, and the width."""
    while count:
        text, *_ = test_hints.drawn(random)
        if random.random() < 0.5:
            for old, new in ON_GFX942.items():
                text = text.replace(old, new)
        says = test_hints.advised(text)["advice"]
        if match := re.search(r"then (\d+) bytes? per instruction", says):
            *_, last = followed(text)
            yield says, last, int(match[1])
            count -= 1


def loaded(instructions: Mapping[str, Mapping[str, int]]) -> set[int]:
    """Return how many bytes loads of global memory move: of any line, which LLVM loses."""
    names = {name for of_line in instructions.values() for name in of_line}
    return {bytes_of(match) for name in names if (match := WIDTH.fullmatch(name))}


def bytes_of(match: re.Match[str]) -> int:
    vector, bits, words = match.groups()
    if bits is not None:
        return int(vector or 1) * int(bits) // 8
    return 4 * int(words or 1) if words is not None else 2


def test_a_hint_widens_the_access_as_it_says(
    wheel: Wheel, seed: int, tally: Counter[str], request: pytest.FixtureRequest
) -> None:
    count = int(request.config.getoption("--kernels")) // 3
    asked = list(promising(Random(seed), count))
    answers = Assembler(wheel.python).ask([{"ttgir": text} for _, text, _ in asked])
    for (says, text, width), answer in zip(asked, answers):
        assert "ttgir" in answer, f"{answer}\n{text}"
        widths = loaded(answer["instructions"])
        if re.search(r"%p\d", text):  # of indices, or of what they lead to
            widths = {width} if width in widths else widths
        if "hip:" in text:  # LLVM joins two loads, and one whose lanes are alike is a scalar's
            widths = {width} if not widths or min(widths) > width else widths
        assert widths == {width}, f"{widths}, not {width}: {says}\n{text}"
        about = ", several hints" * ("; and " in says) + ", of a mask" * ("mask" in says)
        tally[f"as wide as said{about}"] += 1
