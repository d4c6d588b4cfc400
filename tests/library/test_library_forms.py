"""One rule for every function of the library: layouts, shapes and GPUs in each of their forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from work import calls_of

import tt_layout
from tt_layout.arguments import checks_arguments
from tt_layout.hardware import find_target

ROWS = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
SHARED = "Swizzle<3,3,3> o (64,64):(64,1)"
WIDE = "gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0])"  # for warps of 64 lanes
BASES = tt_layout.to_linear_layout(ROWS, [64, 64])

ENCODING = tt_layout.parse_layout(ROWS)
SAME = {
    "a translation": tt_layout.translate(ROWS, [64, 64], to="cute"),
    "a translation of releases": tt_layout.translate(ROWS, to="2.1"),
    "bases": BASES.bases,
    "bases by name": dict(BASES.bases),
    "arrays by name": {name: np.array(own, int) for name, own in BASES.bases},
    "bases of Python": str(BASES.bases),
    "bases of Python by name": str(dict(BASES.bases)),
    "our own repr": repr(BASES),
    "an object with its bases": {"bases": dict(BASES.bases), "out_dims": dict(BASES.out_dims)},
}


@pytest.mark.parametrize("form", SAME)
def test_forms_of_one_layout(form: str) -> None:
    assert tt_layout.to_linear_layout(SAME[form], [64, 64]) == BASES


@pytest.mark.parametrize(
    "over",
    [
        "64x64",
        " 64 x 64 ",
        (64, 64),
        np.array([64, 64]),
        "64x64xfp16",
        "64x64xbfloat16",
        "64x64xi8",
    ],
)
def test_forms_of_one_shape(over: Any) -> None:
    assert tt_layout.to_linear_layout(ROWS, over) == BASES
    assert ENCODING.to_linear_layout(over) == BASES
    assert ENCODING.format_tensor_view(over) == ENCODING.format_tensor_view([64, 64])
    assert ENCODING.format_hardware_view(over) == ENCODING.format_hardware_view([64, 64])


def test_a_width_is_taken_as_it_is() -> None:
    """Whatever it is: the truth of some objects is an error or a warning."""
    ENCODING.to_linear_layout([64, 64], element_bits=NotImplemented)


@pytest.mark.parametrize(
    ("python", "mlir"), [("fp16", "f16"), ("fp32", "f32"), ("float64", "f64"), ("int8", "i8")]
)
def test_elements_as_python_calls_them(python: str, mlir: str) -> None:
    assert str(tt_layout.info(ROWS, f"64x64x{python}")) == str(
        tt_layout.info(ROWS, f"64x64x{mlir}")
    )


CALLS: dict[str, Callable[..., Any]] = {
    "parse_layout": lambda **more: tt_layout.parse_layout(WIDE, "64x64xf16", **more),
    "place": lambda **more: tt_layout.place(WIDE, "64x64xf16", **more),
    "to_linear_layout": lambda **more: tt_layout.to_linear_layout(WIDE, "64x64xf16", **more),
    "info": lambda **more: tt_layout.info(WIDE, "64x64xf16", **more),
    "locations_of": lambda **more: tt_layout.locations_of(WIDE, "64x64xf16", [1, 2], **more),
    "elements_at": lambda **more: tt_layout.elements_at(WIDE, "64x64xf16", thread=3, **more),
    "diff": lambda **more: tt_layout.diff(WIDE, WIDE, "64x64xf16", **more),
    "convert": lambda **more: tt_layout.convert(WIDE, WIDE, "64x64xf16", **more),
    "translate": lambda **more: tt_layout.translate(WIDE, "64x64xf16", to="linear", **more),
    "plot": lambda **more: tt_layout.plot(WIDE, "64x64xf16", **more),
    "explore": lambda **more: tt_layout.explore(WIDE, "64x64xf16", **more),
}
ON_GPU: dict[str, Callable[..., Any]] = {
    "convert": CALLS["convert"],
    "conflicts": lambda **more: tt_layout.conflicts(WIDE, SHARED, "64x64xf16", **more),
    "swizzle": lambda **more: tt_layout.swizzle(WIDE, WIDE, "64x64xf16", **more),
    "explore": CALLS["explore"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_every_function_takes_release_and_lanes(name: str) -> None:
    assert str(CALLS[name](release="3.8", threads_per_warp=64))


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_GPU)
@pytest.mark.parametrize("target", ["hip:gfx942", find_target("gfx942")])
def test_every_function_takes_gpus_by_any_name(name: str, target: Any) -> None:
    assert str(ON_GPU[name](target=target, release="3.9", threads_per_warp=64)) == str(
        ON_GPU[name](target="gfx942")
    )


@pytest.mark.slow
def test_one_layout_is_as_good_as_a_list() -> None:
    one, listed = (tt_layout.swizzle(rows, rows, "64x64xf16") for rows in (ROWS, [ROWS]))
    assert str(one) == str(listed)


def test_figures_take_the_tensor_last() -> None:
    assert repr(tt_layout.plot(ROWS, SHARED, "64x64xf16")).endswith("over 64x64xf16>")
    assert repr(tt_layout.explore(ROWS, ROWS, "64x64xf16")).endswith("over 64x64xf16>")


def test_axis_info_of_modules() -> None:
    text = "tt.func @{}(%n: i32) {{ %0 = arith.addi %n, %n : i32 }}\n"
    [module] = modules = tt_layout.parse_ir(text.format("f"))
    [function] = tt_layout.read_functions(module)
    assert (
        tt_layout.axis_info(function) == tt_layout.axis_info(module) == tt_layout.axis_info(modules)
    )
    two = tt_layout.parse_ir(text.format("f") + text.format("g"))
    assert tt_layout.axis_info(two, function="g") == tt_layout.axis_info(function)
    with pytest.raises(tt_layout.LayoutError, match="There are @f, @g: choose by function="):
        tt_layout.axis_info(two)
    with pytest.raises(TypeError, match="source must be a function or modules"):
        tt_layout.axis_info("tt.func")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="functions must be functions of a module, got 'f'"):
        tt_layout.axis_info(function, "f")  # type: ignore[arg-type]


@dataclass
class BlockedLayout:
    """Looks like Gluon's."""

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]


def test_what_an_object_keeps_besides_its_fields_is_no_parameter() -> None:
    layout = BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    plain = str(tt_layout.info(layout, [64, 64]))
    layout.__dict__["_made"] = object()
    assert str(tt_layout.info(layout, [64, 64])) == plain


def test_elements_that_no_access_moves_have_none() -> None:
    assert tt_layout.info(ROWS, "64x64xi24").access is None
    assert tt_layout.info(ROWS, "64x64xi32").access is not None


class Red:
    def __repr__(self) -> str:
        return "\x1b[31mred\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda bad: tt_layout.conflicts(bad, SHARED, "64x64xf16"),
            "register: order must be a permutation of 0..1, got [1, 1]",
        ),
        (
            lambda bad: tt_layout.convert(ROWS, bad, "64x64xf16"),
            "dst: order must be a permutation of 0..1, got [1, 1]",
        ),
        (
            lambda bad: tt_layout.swizzle(ROWS, bad, "64x64xf16"),
            "readers: order must be a permutation of 0..1, got [1, 1]",
        ),
        (
            lambda bad: tt_layout.plot(ROWS, bad, "64x64xf16"),
            "other: order must be a permutation of 0..1, got [1, 1]",
        ),
        (lambda bad: tt_layout.info(Red(), [4]), "layout: expected a layout: text, an "),
    ],
)
def test_errors_about_objects_name_the_argument(call: Any, message: str) -> None:
    with pytest.raises(tt_layout.LayoutError) as caught:
        call(BlockedLayout([1, 8], [4, 8], [4, 1], [1, 1]))
    assert str(caught.value).startswith(message)
    assert "\x1b" not in str(caught.value)
    assert caught.value.location is None


def test_elements_are_those_of_the_release() -> None:
    wmma = (
        "#ttg.amd_wmma<{version = 3, isTranspose = false, ctaLayout = {warp = [[0, 1]]}, "
        "instrShape = [16, 16, 32]}>"
    )
    assert tt_layout.elements_at(wmma, "64x64xf16", thread=3).locations
    with pytest.raises(tt_layout.LayoutError, match=r"no key 'ctaLayout' in Triton 3\.5"):
        tt_layout.elements_at(wmma, "64x64xf16", release="3.5", thread=3)
    with pytest.raises(tt_layout.LayoutError, match=r"version must be in 1\.\.3"):
        tt_layout.elements_at(wmma.replace("version = 3", "version = 4"), "64x64xf16", thread=3)


def test_annotations_are_looked_at_once() -> None:
    @checks_arguments
    def half(size: int, order: Sequence[int] | None = None) -> int:
        return size // 2

    first, second = (calls_of(lambda: half(8, order=[1, 0])) for _ in range(2))
    assert second < first / 4
