"""Compilation of a dump: a program that is run by another Python, which has Triton.

    PYTHON inside_triton.py release
    PYTHON inside_triton.py compile FOLDER KIND CHIP LANES MAXNREG

The first prints Triton's release.  The second compiles ``FOLDER/kernel.ttgir``, without a GPU, and
writes ``answer.json`` to the folder: the release, the hash of the text, the compiler's metadata and
the name of the compiled file; or the stage and the reason of a failure.
Nothing of this package is imported here: that Python need not have it, and may be older.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

SECONDS = 240
"""Of processor time, after which the system ends this process."""

MEMORY = 12 << 30
"""Bytes of addresses that it may take: the libraries of CUDA and LLVM alone map 2 GiB."""

FILE = 256 << 20
"""Bytes of each file that it may write, and of what it prints."""

NUMBERS = ("num_warps", "shared", "tmem_size")
CODE = ("cubin", "amdgcn")
ASSEMBLY = ("ptx", "amdgcn")


def limit() -> None:
    """Limit the resources of this process and those that it starts, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the process that waits ends this one after a while
        return
    for kind, most in (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, hard))


def end_with_parent() -> None:
    """End together with the parent, and end child processes with this one.

    Standard input is a pipe that nobody writes to: it is closed when the parent ends.
    """
    import os
    import signal
    import threading

    def wait() -> None:
        os.read(0, 1)
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def release() -> str:
    """Return Triton's release, from its package metadata if possible, which needs no import."""
    from importlib import metadata

    try:
        return metadata.version("triton")
    except metadata.PackageNotFoundError:
        import triton  # type: ignore[import-not-found]

        return str(triton.__version__)


def compiled(folder: str, kind: str, chip: str, lanes: int, most: int) -> dict[str, Any]:
    """Compile the dump in a folder; return its metadata."""
    import hashlib
    import os

    answer: dict[str, Any] = {"stage": "start"}
    try:
        import triton
        from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]

        # Skip the hash of Triton's own files: the cache that it is for is new, and thrown away.
        with contextlib.suppress(AttributeError):  # a release that has it elsewhere hashes them
            triton.runtime.cache.triton_key = lambda: ""
        path = os.path.join(folder, "kernel.ttgir")
        with open(path, "rb") as file:
            answer["text"] = hashlib.sha256(file.read()).hexdigest()
        answer["release"], answer["stage"] = str(triton.__version__), "compile"
        target = GPUTarget(kind, int(chip) if chip.isdigit() else chip, lanes)
        options = {"maxnreg": most} if most else {}
        kernel = triton.compile(path, target=target, options=options)
        metadata = kernel.metadata
        answer["metadata"] = {name: getattr(metadata, name, None) for name in NUMBERS}
        for ending in CODE:
            code = kernel.asm.get(ending)
            if code is not None:
                answer["code"] = name = "code." + ending
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(code if isinstance(code, bytes) else code.encode())
                break
        for ending in ASSEMBLY:
            text = kernel.asm.get(ending)
            if isinstance(text, str):
                with open(os.path.join(folder, "assembly." + ending), "w") as file:
                    file.write(text)
        answer["stage"] = "done"
    except BaseException as error:  # whatever it is, the reason is what was asked for
        answer["error"] = f"{type(error).__name__}: {error}"[:4000]
    return answer


def main() -> None:
    """Run the command of the arguments."""
    sys.path.pop(0)  # this folder, whose files are none of the standard library
    limit()
    end_with_parent()
    if sys.argv[1] == "release":
        sys.stdout.write(release())
        return
    import json
    import os

    folder, kind, chip, lanes, most = sys.argv[2:]
    answer = compiled(folder, kind, chip, int(lanes), int(most))
    with open(os.path.join(folder, "answer.part"), "w") as file:
        json.dump(answer, file)
    os.replace(os.path.join(folder, "answer.part"), os.path.join(folder, "answer.json"))


if __name__ == "__main__":
    main()
