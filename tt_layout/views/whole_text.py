"""Long strings written in place.

A string that is assembled from pieces is copied as it grows, and its memory is allocated page by
page: for tens of megabytes that takes longer than making the pieces.  CPython lets the creator of a
string write it once; here its memory is written as an array.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from tt_layout.views.text import Bytes

LEAST = 1 << 20  # characters; shorter texts are no slower in pieces
HUGE_PAGE = 1 << 21
_MADV_HUGEPAGE = 14  # of Linux


def can_be_written() -> bool:
    """Tell whether this Python has strings that can be written in place."""
    return sys.implementation.name == "cpython" and hasattr(ctypes, "pythonapi")


def new_text(size: int) -> tuple[str, Bytes]:
    """Allocate an ASCII string that is not shared yet, and return it with its bytes.

    The bytes are valid as long as the string is.

    Args:
        size: the number of characters, at least 2.

    Example:
        >>> text, written = new_text(3)
        >>> written[:] = np.frombuffer(b"abc", np.uint8)
        >>> text
        'abc'

    Source:
        Python/C API, "Unicode Objects": PyUnicode_New and PyUnicode_AsUTF8, which returns the
        memory of an ASCII string itself.
    """
    make, address_of = ctypes.pythonapi.PyUnicode_New, ctypes.pythonapi.PyUnicode_AsUTF8
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_ssize_t, ctypes.c_uint32)
    address_of.restype, address_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    text: str = make(size, 127)
    address = address_of(text)
    if sys.platform == "linux" and size >= HUGE_PAGE:
        _ask_for_huge_pages(address, size)
    memory = (ctypes.c_uint8 * size).from_address(address)
    return text, np.frombuffer(memoryview(memory), np.uint8)


def _ask_for_huge_pages(address: int, size: int) -> None:
    """Advise the kernel to use huge pages, as numpy does for its arrays."""
    begin = -(-address // HUGE_PAGE) * HUGE_PAGE
    end = (address + size) // HUGE_PAGE * HUGE_PAGE
    if begin < end:
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        advise(begin, end - begin, _MADV_HUGEPAGE)
