"""Conversions, accesses and builders against what Triton 3.9.0 itself makes of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

import tt_layout
from compiler import generate
from compiler.agreement import Comparison
from compiler.generate import split
from compiler.wheel import INSIDE, Answer, Question, Wheel
from tt_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import classify, conversion_cost
from tt_layout.analyses.conversion.scratch import scratch
from tt_layout.analyses.global_memory.global_access import global_access
from tt_layout.analyses.layouts.builders import (
    coalesced_blocked,
    default_blocked,
    default_nvmma,
)
from tt_layout.analyses.layouts.properties import layout_info
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.mlir.types import element_bits

PAIRS = 900
QUESTIONS = 300
DISTRIBUTED = (
    "blocked",
    "linear",
    "generic_linear",
    "slice",
    "nvidia_mma v2",
    "nvidia_mma v3",
    "amd_mfma",
    "amd_wmma",
    "dot_op",
)
ELEMENTS = ("i1", "i8", "f16", "bf16", "f32", "f64", "!tt.ptr<f32>")
HUGE = 1 << 14
"""A size that no tile of the random layouts reaches."""


class Lowerer(Wheel):
    """The wheel, asked what it lowers things to."""

    def _run(self, *arguments: str) -> str:
        script = str(INSIDE.with_name("lowering.py"))
        return super()._run(*(script if a == str(INSIDE) else a for a in arguments))


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def laid(attr: str, shape: Sequence[int]) -> LinearLayout | None:
    try:
        return tt_layout.parse_layout(attr, release="3.9").to_linear_layout(shape)
    except tt_layout.LayoutError:
        return None


def threads(layout: LinearLayout | None) -> tuple[int, ...]:
    """Return the lanes, warps and CTAs of a layout."""
    names = ("lane", "warp", "block")
    return tuple(layout.get_in_dim_size(name) for name in names) if layout else ()


def drawn(r: Random) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Yield attributes of tensors in registers, with shape and threads."""
    while True:
        draft = generate.KINDS[r.choice(DISTRIBUTED)](r)
        layout = laid(str(draft.attr), draft.shape)
        if layout is not None and layout.get_in_dim_size("lane") in (32, 64):
            yield str(draft.attr), draft.shape, threads(layout)


def random_pairs(seed: int, count: int) -> list[Question]:
    """Return conversions between layouts of one kernel, each of any kind."""
    r = Random(seed)
    earlier: dict[Any, list[str]] = defaultdict(list)
    pairs: list[Question] = []
    for attr, drawn_shape, own in drawn(r):
        rank = len(drawn_shape)
        others = earlier[rank, own]
        others.append(attr)
        other = attr if r.random() < 0.1 else r.choice(others)
        shape = r.choice([drawn_shape, tuple(split(r, rank, r.randint(3, 12)))])
        if own == threads(laid(attr, shape)) == threads(laid(other, shape)) and len(others) > 2:
            pairs.append(conversion_question(r, (attr, other), shape, own))
        if len(pairs) == count:
            break
    return pairs


def conversion_question(
    r: Random, pair: tuple[str, str], shape: Sequence[int], own: tuple[int, ...]
) -> Question:
    target = "sm90" if own[2] > 1 else r.choice(["sm80", "sm90", "gfx1250"])
    target = "gfx942" if own[0] == 64 else target
    return {
        "convert": r.sample(pair, 2),
        "shape": list(shape),
        "elem": r.choice(ELEMENTS),
        **{"target": target, "threads": own[0], "warps": own[1], "ctas": own[2]},
    }


REAL = {"nothing": "neither", "registers": "neither"}
"""Classes that leave no trace in the code."""


def real_class(answer: Answer) -> str:
    """Return the class of a conversion by the instructions in its code."""
    if answer["clusters"]:
        return "across CTAs"
    if answer["scratch"]:
        return "shared memory"
    return "shuffles" if answer["shuffles"] else "neither"


@pytest.fixture(scope="module")
def conversions(lowerer: Lowerer, seed: int) -> list[tuple[Question, Answer]]:
    questions = [q for q in random_pairs(seed, PAIRS) if q["target"] != "gfx942" or q["ctas"] == 1]
    answers = lowerer.ask(questions)
    done = [(q, a) for q, a in zip(questions, answers) if "scratch" in a]
    assert len(done) > 0.9 * len(questions)
    return done


def layouts_of(question: Question) -> tuple[LinearLayout, LinearLayout]:
    src, dst = (laid(attr, question["shape"]) for attr in question["convert"])
    assert src is not None
    assert dst is not None
    return src, dst


def test_classes_of_conversions(
    conversions: list[tuple[Question, Answer]], tally: Counter[str]
) -> None:
    comparison = Comparison(tally)
    for question, answer in conversions:
        found, real = classify(*layouts_of(question)), real_class(answer)
        if REAL.get(found.kind, found.kind) == real:
            comparison.agree(f"{question['target']}: {real}")
        else:
            comparison.disagree(f"{found.kind} is {real}", question, answer)
    comparison.check()
    assert sum(tally.values()) >= 500


def test_scratch_of_conversions(
    conversions: list[tuple[Question, Answer]], tally: Counter[str]
) -> None:
    comparison = Comparison(tally)
    for question, answer in conversions:
        bits = element_bits(question["elem"])
        assert bits is not None
        found = scratch(*layouts_of(question), bits, question["target"])
        size = found.bytes if found else 0
        if size == answer["scratch"]:
            comparison.agree("no scratch" if not size else f"{question['target']}: same bytes")
        elif answer["scratch"] == size >> unsplit_bits(question):
            comparison.agree("the wheel divides by CTAs that do not split so small a tensor")
        else:
            comparison.disagree("scratch", question, f"{found}\n    {answer}")
        for name in ("store", "load"):
            is_matrix = found is not None and "matrix" in getattr(found, name)
            if is_matrix != bool(answer[f"matrix {name}s"]):
                comparison.disagree(f"matrix {name}s", question, f"{found}\n    {answer}")
    comparison.check()


def unsplit_bits(question: Question) -> int:
    """Return how many bits of the CTA split the source's attribute, but not this tensor."""
    shape, attr = question["shape"], question["convert"][0]
    counts = []
    for sizes in ([HUGE] * len(shape), shape):
        layout = laid(attr, sizes)
        assert layout is not None
        counts.append(sum(any(vector) for vector in layout.vectors("block")))
    return counts[0] - counts[1]


def test_bounds_hold(conversions: list[tuple[Question, Answer]], tally: Counter[str]) -> None:
    """No conversion takes fewer instructions than are said to be needed."""
    for question, answer in conversions:
        bits = element_bits(question["elem"])
        assert bits is not None
        cost = conversion_cost(*layouts_of(question), bits)
        assert answer["shuffles"] >= cost.shuffles, (question, answer)
        # One instruction moves 16 bytes per lane at most: 128 bytes for each 8 lanes.
        widest = question["warps"] * question["threads"] // 8
        assert answer["stores"] * widest >= cost.store_wavefronts, (question, answer)
        assert answer["loads"] * widest >= cost.load_wavefronts, (question, answer)
        tally["as many shuffles as needed"] += cost.shuffles == answer["shuffles"] > 0
        tally["more shuffles than needed"] += answer["shuffles"] > cost.shuffles > 0


def test_values_of_a_thread(conversions: list[tuple[Question, Answer]]) -> None:
    """A thread keeps one value for each register that is not a copy."""
    for question, answer in conversions:
        layout, _ = layouts_of(question)
        assert answer["held"] == layout_info(layout).unique_registers, question


# -- accesses -------------------------------------------------------------------------------


def hints(r: Random, shape: Sequence[int], order: Sequence[int]) -> dict[str, list[int]]:
    """Return what is known of pointers to a tensor that lies in memory in an order."""
    rank = len(shape)
    contiguity = [shape[d] if d == order[0] else 1 for d in range(rank)]
    return {"contiguity": contiguity, "divisibility": [128] * rank, "constancy": [1] * rank}


def test_vector_widths_of_loads(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    r = Random(seed)
    questions: list[Question] = []
    expected: list[Any] = []
    for attr, shape, own in drawn(r):
        layout = laid(attr, shape)
        if layout is None or own[0] != 32 or own[2] > 1:
            continue
        order = r.sample(range(len(shape)), len(shape))
        elem = r.choice(["i8", "f16", "f32", "f64"])
        access = global_access(layout, element_bits(elem) or 0, order)
        expected.append([8 * access.vector_bytes] * access.instructions)
        questions.append(
            {"load": attr, "shape": shape, "elem": elem, "hints": hints(r, shape, order)}
            | {"target": "sm90", "threads": 32, "warps": own[1]}
        )
        if len(questions) == QUESTIONS:
            break
    comparison = Comparison(tally)
    for question, answer, widths in zip(questions, lowerer.ask(questions), expected):
        if "widths" not in answer:
            comparison.agree("the wheel gives no code")
        elif sum(answer["widths"]) == sum(widths) and width_of(answer) == widths[0]:
            comparison.agree(f"{widths[0]} bits")
        else:
            comparison.disagree("widths", question, f"{widths}\n    {answer}")
    comparison.check()
    assert tally["the wheel gives no code"] < QUESTIONS // 10


def width_of(answer: Answer) -> int:
    widths: list[int] = answer["widths"]
    return max(widths)


# -- builders -------------------------------------------------------------------------------


def test_default_blocked(lowerer: Lowerer, seed: int) -> None:
    r = Random(seed)
    questions: list[Question] = []
    expected: list[Any] = []
    for _ in range(QUESTIONS):
        rank = r.randint(1, 4)
        numbers = {"warps": 1 << r.randint(0, 3), "threads": r.choice([32, 64])}
        numbers["ctas"] = r.choice([1, 1, 2, 4])
        shape = split(r, rank, r.randint(0, 13))
        layout = default_blocked(
            shape,
            num_warps=numbers["warps"],
            threads_per_warp=numbers["threads"],
            num_ctas=numbers["ctas"],
        )
        expected.append(str(layout))
        questions.append({"blocked": True, "shape": shape, "elem": "f32", **numbers})
    answers = lowerer.ask(questions)
    assert [answer.get("text") for answer in answers] == expected


def test_coalesced_blocked(lowerer: Lowerer, seed: int) -> None:
    r = Random(seed)
    questions: list[Question] = []
    expected: list[Any] = []
    for _ in range(QUESTIONS):
        shape = split(r, 2, r.randint(6, 13))
        warps, lanes = 1 << r.randint(0, 3), r.choice([32, 64])
        elem = r.choice(["i8", "f16", "f32", "f64"])
        order = r.choice([[1, 0], [0, 1]])
        told = hints(r, shape, order)
        adjacent = min(shape[order[0]], 1 << r.randint(1, 6))
        told["contiguity"][order[0]] = adjacent
        if adjacent == 1:
            order = [1, 0]  # nothing tells the dimensions apart
        start = str(default_blocked(shape, num_warps=warps, threads_per_warp=lanes))
        layout = coalesced_blocked(
            shape,
            adjacent,
            element_bits=element_bits(elem),
            num_warps=warps,
            threads_per_warp=lanes,
            order=order,
        )
        expected.append(str(layout))
        questions.append(
            {"coalesce": start, "shape": shape, "elem": elem, "hints": told}
            | {"target": "sm90", "threads": lanes, "warps": warps}
        )
    assert [answer.get("text") for answer in lowerer.ask(questions)] == expected


def test_shared_memory_of_operands(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    r = Random(seed)
    questions: list[Question] = []
    expected: list[Any] = []
    while len(questions) < QUESTIONS:
        attr, shape = str(generate.operand(r, 2)), split(r, 2, r.randint(6, 13))
        layout = laid(attr, shape)
        if layout is None or layout.get_in_dim_size("block") > 1:
            continue
        lanes, warps, _ = threads(layout)
        order = r.choice([[1, 0], [0, 1]])
        encoding = tt_layout.parse_layout(attr, release="3.9")
        assert isinstance(encoding, DotOperand)
        elem = r.choice(["i8", "f16", "f32", "f64"])
        start = default_blocked(shape, num_warps=warps, threads_per_warp=lanes, order=order)
        typed = "x".join(map(str, (*shape, elem)))
        # The order of the source's lanes counts, which do not move along a size of 1.
        order = list(layout_info(start.to_linear_layout(shape)).thread_order)
        found = tt_layout.operand_shared(encoding, typed, order=order)
        expected.append(str(found))
        questions.append(
            {"operand": [str(start), attr], "shape": shape, "elem": elem}
            | {"target": "sm80", "threads": lanes, "warps": warps}
        )
    comparison = Comparison(tally)
    for question, answer, text in zip(questions, lowerer.ask(questions), expected):
        if "text" not in answer:
            comparison.agree("the wheel takes another way")
        elif answer["text"] == text:
            comparison.agree("same")
        else:
            comparison.disagree("shared memory", question, f"{text}\n    {answer}")
    comparison.check()
    assert tally["same"] > QUESTIONS // 3


def test_default_nvmma(lowerer: Lowerer, seed: int) -> None:
    r = Random(seed)
    questions: list[Question] = []
    expected: list[Answer | None] = []
    for _ in range(QUESTIONS):
        rank = r.randint(1, 3)
        shape = split(r, rank, r.randint(0, 13))
        elem, bits = r.choice([("int8", 8), ("float16", 16), ("float32", 32)])
        transposed, fp4 = rank == 2 and r.random() < 0.5, bits == 8 and r.random() < 0.5
        expected.append(our_nvmma(shape, bits, [0, 1] if transposed else None, fp4))
        asked = {"transposed": transposed, "fp4": fp4}
        questions.append({"nvmma": asked, "shape": shape, "elem": elem})
    answers = [None if "refused" in answer else answer for answer in lowerer.ask(questions)]
    assert answers == expected


def our_nvmma(shape: list[int], bits: int, order: list[int] | None, fp4: bool) -> Answer | None:
    try:
        layout = default_nvmma(shape, element_bits=bits, order=order, fp4_padded=fp4)
    except tt_layout.LayoutError:
        return None
    return {"width": layout.swizzling_byte_width, "bits": bits}
