"""Launch the kernels of a folder once each, for a profiler to count.

usage: launch_kernels.py FOLDER                (under ncu, see README.md)

FOLDER is what `global_kernels.py` writes.  Needs Python and NVIDIA's driver, nothing else.  The
kernels are launched in the order of `kernels.jsonl`; all use the same two buffers, of which each
kernel's pointers point at the middle, at the addresses modulo 512 that its arguments give.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

BUFFER = 1 << 28
"""Bytes of a buffer; a kernel may reach half of that in either direction."""


class Driver:
    """NVIDIA's driver, every call checked."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(text))
            raise SystemExit(f"{name}: {(text.value or b'?').decode()}")

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self.call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(size))
        return address.value


def launch(driver: Driver, folder: Path, row: dict[str, Any], buffers: list[int]) -> None:
    """Launch a kernel and wait for it."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuModuleLoad", ctypes.byref(module), str(folder / row["binary"]).encode())
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, row["entry"].encode())
    pointers = (buffer + BUFFER // 2 for buffer in buffers)
    values = [
        next(pointers) + value if name[0] in "xy" else value for name, value in row["args"].items()
    ]
    values += [0] * (len(row["parameters"]) - len(values))  # scratch memory, which none needs
    types = {1: ctypes.c_int8, 4: ctypes.c_int32, 8: ctypes.c_int64}
    held = [types[size](value) for size, value in zip(row["parameters"], values)]
    array = (ctypes.c_void_p * len(held))(*(ctypes.addressof(value) for value in held))
    x, y = row["grid"]
    driver.call(
        "cuLaunchKernel", function, x, y, 1, row["threads"], 1, 1, row["shared"], None, array, None
    )
    driver.call("cuCtxSynchronize")
    driver.call("cuModuleUnload", module)


def main(folder: str) -> None:
    driver = Driver()
    buffers = [driver.allocate(BUFFER) for _ in range(2)]
    for buffer in buffers:
        assert buffer % 512 == 0, buffer
    rows = [json.loads(line) for line in (Path(folder) / "kernels.jsonl").read_text().splitlines()]
    for row in rows:
        launch(driver, Path(folder), row, buffers)
    print(f"launched {len(rows)} kernels", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
