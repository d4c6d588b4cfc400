"""Tensor types: what is accepted and as what, what is refused and where."""

from __future__ import annotations

import pytest

from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Span
from tt_layout.mlir.types import parse_type

ACCEPTED: list[tuple[str, str, tuple[int, ...], str, int | None]] = [
    ("tensor<16x16xf16>", "tensor", (16, 16), "f16", 16),
    ("16x16xf16", "tensor", (16, 16), "f16", 16),
    (" 128 x 64x!tt.ptr<f32> ", "tensor", (128, 64), "!tt.ptr<f32>", 64),
    ("tensor<8xi1>", "tensor", (8,), "i1", 1),
    ("tensor<1x2x4x8xbf16>", "tensor", (1, 2, 4, 8), "bf16", 16),
    ("tensor<8xi8>", "tensor", (8,), "i8", 8),
    ("tensor<8xsi32>", "tensor", (8,), "si32", 32),
    ("tensor<8xui64>", "tensor", (8,), "ui64", 64),
    ("tensor<8xindex>", "tensor", (8,), "index", None),
    ("tensor<8xtf32>", "tensor", (8,), "tf32", 32),
    ("tensor<8xf8E4M3FN>", "tensor", (8,), "f8E4M3FN", 8),
    ("tensor<8xf8E5M2FNUZ>", "tensor", (8,), "f8E5M2FNUZ", 8),
    ("tensor<8xf4E2M1FN>", "tensor", (8,), "f4E2M1FN", 4),
    ("tensor<8x!tt.ptr<f32>>", "tensor", (8,), "!tt.ptr<f32>", 64),
    ("tensor<8x!tt.ptr<tensor<4xf16>>>", "tensor", (8,), "!tt.ptr<tensor<4xf16>>", 64),
    ("tensor<8x!tt.ptr<f16, 1>, #blocked>", "tensor", (8,), "!tt.ptr<f16, 1>", 64),
    ("tensor<8xvector<4xf32>>", "tensor", (8,), "vector<4xf32>", None),
    ("tensor<8xcomplex<f32>>", "tensor", (8,), "complex<f32>", None),
    ("  tensor < 16 x 16 x f16 >  ", "tensor", (16, 16), "f16", 16),
    ("tensor<16x16xf16, #blocked>", "tensor", (16, 16), "f16", 16),
    ("tensor<8xf16, #ttg.blocked<{order = [0]}>>", "tensor", (8,), "f16", 16),
    ("!ttg.memdesc<64x64xf16>", "memdesc", (64, 64), "f16", 16),
    ("!tt.memdesc<64xf16, #shared>", "memdesc", (64,), "f16", 16),
    ("!triton_gpu.memdesc<64xf16>", "memdesc", (64,), "f16", 16),
    ("!ttg.memdesc<3x8x8xf16, #a, #ttg.shared_memory, mutable>", "memdesc", (3, 8, 8), "f16", 16),
    ("!ttg.memdesc<64xi8, #shared, #smem, mutable, 3x64>", "memdesc", (64,), "i8", 8),
    ("tensor<1152921504606846976xf16>", "tensor", (1 << 60,), "f16", 16),
]


@pytest.mark.parametrize(("text", "kind", "shape", "element", "bits"), ACCEPTED)
def test_accepted(
    text: str, kind: str, shape: tuple[int, ...], element: str, bits: int | None
) -> None:
    found = parse_type(text)
    assert (found.kind, found.shape, found.element_type) == (kind, shape, element)
    assert found.element_bits == bits
    assert found.span.text in (text, f"tensor<{text.strip()}>")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("tensor<8xf16>", None),
        ("tensor<8xf16, #a>", "#a"),
        ("tensor<8xf16, #ttg.x<{a = 1}>>", "#ttg.x<{a = 1}>"),
        ("!ttg.memdesc<8xf16, #a, #smem>", "#a"),
        ("!ttg.memdesc<8xf16, #ttg.shared_memory, mutable>", None),
        ("!ttg.memdesc<8xf16, #ttg.x<{}>, #ttg.shared_memory, mutable>", "#ttg.x<{}>"),
    ],
)
def test_the_encoding_in_a_type_is_found(text: str, encoding: str | None) -> None:
    found = parse_type(text).encoding
    assert (found.span.text if found else None) == encoding


NO_TYPE = "expected a tensor type such as tensor<16x16xf16>, got"
NO_DIMS = "expected dimensions and an element type such as tensor<16x16xf16>"
NO_ELEMENT = "expected an element type such as f16, i8 or !tt.ptr<f32>, got"

# text, column, what is underlined, message
REFUSED: list[tuple[str, int, str, str]] = [
    ("", 1, "", f"{NO_TYPE} ''"),
    ("f16", 1, "f16", f"{NO_TYPE} 'f16'"),
    ("16,16xf16", 1, "16,16xf16", f"{NO_TYPE} '16,16xf16'"),
    ("memref<4xf16>", 1, "memref<4xf16>", f"{NO_TYPE} 'memref<4xf16>'"),
    ("Tensor<4xf16>", 1, "Tensor<4xf16>", f"{NO_TYPE} 'Tensor<4xf16>'"),
    ("!foo.memdesc<4xf16>", 1, "!foo.memdesc<4xf16>", f"{NO_TYPE} '!foo.memdesc<4xf16>'"),
    ("tensor<f16>", 8, "f", NO_DIMS),
    ("tensor<", 8, "", NO_DIMS),
    ("tensor<>", 8, ">", NO_DIMS),
    ("tensor<?x4xf16>", 8, "?", "every dimension must be known, got '?'"),
    ("tensor<4x?xf16>", 10, "?", "every dimension must be known, got '?'"),
    ("tensor<*xf16>", 8, "*", "every dimension must be known, got '*'"),
    ("tensor<0x4xf16>", 8, "0", "every dimension must be positive, got 0"),
    ("tensor<4x-4xf16>", 10, "-4", "every dimension must be positive, got -4"),
    ("tensor<4x9999999999999999999xf16>", 10, "9" * 19, "the dimension does not fit into 64 bits"),
    ("tensor<" + "9" * 5000 + "xf16>", 8, "9" * 5000, "the dimension does not fit into 64 bits"),
    ("tensor<4x4>", 10, "4", f"{NO_ELEMENT} '4>'"),
    ("tensor<4x>", 10, ">", f"{NO_ELEMENT} '>'"),
    ("tensor<4xfloat>", 10, "float", f"{NO_ELEMENT} 'float'"),
    ("tensor<4xf17>", 10, "f17", f"{NO_ELEMENT} 'f17'"),
    ("tensor<4xi0>", 10, "i0", f"{NO_ELEMENT} 'i0'"),
    ("tensor<4x!foo>", 10, "!foo", f"{NO_ELEMENT} '!foo'"),
    ("tensor<4xf16", 13, "", "expected '>' to close the type, got the end of the text"),
    ("tensor<4xf16>>", 14, ">", "unexpected text after the type: '>'"),
    ("tensor<4xf16> f", 15, "f", "unexpected text after the type: 'f'"),
    ("tensor<4xf16 #a>", 14, "#a", "expected '>' to close the type, got '#a'"),
    ("tensor<4xf16, 7>", 15, "7", "expected an attribute such as #ttg.blocked<{...}>, got '7'"),
    ("tensor<4x!tt.ptr<f16>", 22, "", "expected '>' to close the type, got the end of the text"),
    ("tensor<4x!tt.ptr<f16", 17, "<", "expected '>' to close the element type"),
    ("tensor<4x!tt.ptr>", 17, ">", "expected '<' after the element type"),
    ("!ttg.memdesc<4xf16, [1]>", 21, "[1]", "unexpected '[1]' in the type"),
    ("!ttg.memdesc<4xf16, #a, #b.c<1>, {}>", 34, "{}", "unexpected '{}' in the type"),
]


@pytest.mark.parametrize(("text", "column", "underlined", "message"), REFUSED)
def test_refused(text: str, column: int, underlined: str, message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        parse_type(text)
    error = caught.value
    assert error.message == message
    assert isinstance(error.location, Span)
    assert (error.location.line, error.location.column) == (1, column)
    assert error.location.text == underlined
