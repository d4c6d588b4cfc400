"""Compilation of dumps by an installed Triton, without a GPU, for exact registers.

Each dump is compiled in a process of its own, with limits on time, memory and output, so that a
compiler that crashes, hangs or floods costs one line.  Results are kept in the user's cache folder
by text, release and target.

Read next:    `tt_layout.kernels.inside_triton`, `tt_layout.audit.registers.pressure`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

from tt_layout.errors import MAX_SHOWN, LayoutError
from tt_layout.files import CacheFolder, read_bytes, user_cache
from tt_layout.kernels import inside_triton
from tt_layout.kernels.assembly import ENDINGS, MAX_BYTES, AssemblyText
from tt_layout.kernels.binaries import CompiledRegisters
from tt_layout.kernels.chosen_compiler import CHOSEN, CompilerTarget
from tt_layout.kernels.metadata import CODE, KernelMetadata, metadata_of, registers_of
from tt_layout.records import dataclass
from tt_layout.safe_text import safe, shortened
from tt_layout.surface import is_command_line

VARIABLE = "TT_LAYOUT_TRITON"
"""The variable that names a Python that has Triton."""

SECONDS = 300.0
"""That a compilation may take before it is ended."""

FORMAT = 2
"""Changes when what is kept changes."""

MAX_ANSWER = 1 << 16
MAX_CODE = 1 << 25
MAX_KEPT = 16 << 20
"""Bytes of the answer of a compilation, of the code that it made, and of all that are kept."""

STANDS = "registers are estimates"

_PASSED = ("TRITON_PTXAS", "TRITON_DEFAULT_FP_FUSION")
"""How the variables of Triton begin that are handed on: the others change what it does."""


def way_out() -> str:
    """Return advice on how to install Triton."""
    option = "--triton-python or " if is_command_line() else ""
    return f"pip install triton, or name a Python that has it: {option}{VARIABLE}"


@dataclass(frozen=True)
class TritonCompiler:
    """An installed Triton that compiles dumps.

    Attributes:
        python: the interpreter that has it; this one by default.
        folder: the cache folder; None for no cache.
        seconds: time limit of a compilation.
    """

    python: str = sys.executable
    folder: str | None = None
    seconds: float = SECONDS

    @cached_property
    def release(self) -> str | None:
        """Triton's release; None where that Python has no Triton."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="tt-layout-") as folder:
            ended = self._run(("release",), folder)
            printed = _start_of(folder, "stdout").strip()
        is_release = ended == 0 and re.fullmatch(r"\d+\.\d+[\w.+-]{0,80}", printed)
        return printed if is_release else None

    def metadata(self, text: str, target: CompilerTarget, known: KernelMetadata) -> KernelMetadata:
        """Add the numbers of Triton's compiler to the metadata of a kernel.

        A failure becomes one line in `KernelMetadata.compile_note`, and the rest is unchanged.

        Args:
            text: the text of the module.
            target: its GPU.
            known: other metadata of the kernel; numbers of a compiled file beside the dump are
                compared.
        """
        if self.release is None:
            return known._replace(compile_note=f"no Triton in {self.python}: {way_out()}")
        answer = self._answer(text, target)
        note = answer.get("note")
        if note is not None:
            return known._replace(compile_note=f"{note}; {STANDS}")
        used, spilled, stored = answer["registers"]
        metadata = metadata_of(answer["metadata"])._replace(
            registers=CompiledRegisters(used, spilled, self.source, stored),
            assembly=_unpacked(answer.get("assembly")),
        )
        beside = known.registers
        if beside is not None and beside[:2] != (used, spilled):
            metadata = metadata._replace(
                compile_note=f"{beside.source} has {beside.used} registers and {self.source}"
                f" {used}: it is of another text, or another release compiled it"
            )
        return metadata.over(known)

    @property
    def source(self) -> str:
        """The name of the compiler in reports."""
        return f"Triton {self.release}"

    def _answer(self, text: str, target: CompilerTarget) -> dict[str, Any]:
        """Return the cached answer, or that of the compiler."""
        content = text.encode("utf-8", "surrogatepass")
        way = repr((FORMAT, self.release, tuple(target))).encode()
        key = hashlib.sha256(way + b"\0" + content).hexdigest()
        cache = self._cache
        kept = cache.read(key) if cache is not None else None
        if kept is not None and (answer := _checked(kept)) is not None:
            return answer
        answer = self._compiled(content, target)
        if cache is not None and answer.pop("is_kept", True):
            cache.write(key, json.dumps(answer).encode())
            cache.shrink(MAX_KEPT)
        return answer

    @cached_property
    def _cache(self) -> CacheFolder | None:
        if self.folder is None:
            return None
        try:
            return CacheFolder(self.folder)
        except LayoutError:  # it is only slower without
            return None

    def _compiled(self, content: bytes, target: CompilerTarget) -> dict[str, Any]:
        """Compile a text; return its registers and metadata, or a note on why there are none."""
        from tempfile import TemporaryDirectory

        arguments = (target.kind, target.chip, str(target.lanes), str(target.most_registers))
        with TemporaryDirectory(prefix="tt-layout-", ignore_cleanup_errors=True) as folder:
            with open(os.path.join(folder, "kernel.ttgir"), "wb") as file:
                file.write(content)
            ended = self._run(("compile", folder, *arguments), folder)
            if ended is None:
                return _trouble(f"{self.source} did not end within {self.seconds:g} seconds")
            answer = _answer_in(folder)
            if answer is None:
                return _trouble(f"{self.source} crashed ({_end(ended)}){_last_words(folder)}")
            if "error" in answer:
                return self._failure(answer, target, folder)
            if answer.get("text") != hashlib.sha256(content).hexdigest():
                return _trouble(f"{self.source} compiled another text")
            registers = _registers_in(folder, answer.get("code"))
            stored = _spilled_bytes(_start_of(folder, "stdout"))
            assembly = _packed(folder)
        if registers is None:
            return _trouble(f"{self.source} compiled no code whose registers can be read")
        numbers = answer.get("metadata")
        is_plain = isinstance(numbers, dict)
        return {
            "registers": (*registers[:2], stored),
            "metadata": numbers if is_plain else {},
            "assembly": assembly,
        }

    def _failure(
        self, answer: Mapping[str, Any], target: CompilerTarget, folder: str
    ) -> dict[str, Any]:
        """Return a note on the reason why a text was not compiled."""
        error = str(answer["error"])
        if answer.get("stage") != "compile":
            return _trouble(f"{self.source} cannot be used: {_one_line(error)}")
        words = f"{error}\n{_start_of(folder, 'stderr')}"
        if re.search(r"Unsupported (?:target|arch)|No backend|0 compatible backends", words):
            return {"note": f"{self.source} has no target {target.name}"}
        reasons = re.findall(r"(?:error|fatal)\s*:\s*([^\n]+)", words)
        if "MemoryError" in error or "bad_alloc" in words:
            return _trouble(f"{self.source} took more than the memory that it may take")
        is_read = "parse_mlir_module" not in words and "Parse MLIR file failed" not in words
        verb = "does not compile it" if is_read else "does not read it"
        return {"note": f"{self.source} {verb}: {_one_line(reasons[0] if reasons else error)}"}

    def _run(self, arguments: tuple[str, ...], folder: str) -> int | None:
        """Run the program in that Python; return its status, None if it was killed.

        Its output goes to files, whose size is limited.
        """
        import subprocess

        command = [self.python, inside_triton.__file__, *arguments]
        printed = os.path.join(folder, "stdout"), os.path.join(folder, "stderr")
        with open(printed[0], "wb") as out, open(printed[1], "wb") as err:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,  # at whose end it ends, however this process does
                    stdout=out,
                    stderr=err,
                    cwd=folder,
                    env=_environment(folder),
                    start_new_session=True,
                )
            except (OSError, ValueError):
                return 127
            try:
                return process.wait(self.seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                _end_group(process.pid)
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()


def _environment(folder: str) -> dict[str, str]:
    """Return the environment of that Python, without variables that change what Triton does."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TRITON_", "TT_LAYOUT_", "MLIR_", "LLVM_", "PYTHONSTARTUP"))
        or name.startswith(_PASSED)
    }
    set_here = {"TRITON_CACHE_DIR": os.path.join(folder, "cache"), "TRITON_DUMP_PTXAS_LOG": "1"}
    return {**environment, **set_here, "PYTHONWARNINGS": "ignore"}


def _end_group(process: int) -> None:
    """Kill a process and those that it started."""
    import signal

    with suppress(AttributeError, OSError):  # it has ended, or this is Windows
        os.killpg(process, signal.SIGKILL)


def _answer_in(folder: str) -> dict[str, Any] | None:
    """Return the answer that a compilation wrote; None without one."""
    try:
        answer = json.loads(read_bytes(os.path.join(folder, "answer.json"), MAX_ANSWER))
    except (LayoutError, ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _registers_in(folder: str, name: object) -> CompiledRegisters | None:
    """Return the registers of the code that a compilation wrote."""
    if name not in {f"code{ending}" for ending in CODE}:
        return None
    try:
        data = read_bytes(os.path.join(folder, str(name)), MAX_CODE)
    except LayoutError:
        return None
    return registers_of(data, is_text=name != f"code{CODE[0]}")


def _packed(folder: str) -> list[str] | None:
    """Return the name and the compressed text of the assembly that a compilation wrote."""
    for ending in ENDINGS:
        path = os.path.join(folder, f"assembly{ending}")
        if os.path.isfile(path):
            with suppress(LayoutError):
                content = zlib.compress(read_bytes(path, MAX_BYTES))
                return [f"compiled{ending}", base64.b64encode(content).decode()]
    return None


def _unpacked(kept: object) -> AssemblyText | None:
    """Return cached assembly; None if there is none, or it exceeds the limit of a file."""
    try:
        name, content = map(str, kept if isinstance(kept, list) else ())
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.b64decode(content), MAX_BYTES).decode(errors="replace")
    except (ValueError, zlib.error):
        return None
    is_whole = unpacking.eof and name in [f"compiled{ending}" for ending in ENDINGS]
    return AssemblyText(name, None, text) if is_whole else None


def _spilled_bytes(printed: str) -> int | None:
    """Return the spilled bytes in the log of ptxas; None without it.

    Example:
        >>> _spilled_bytes("584 bytes stack frame, 644 bytes spill stores, 640 bytes spill loads")
        644
    """
    spilled = re.findall(r"(\d{1,9}) bytes spill stores", printed)
    return max(map(int, spilled), default=None)


def _checked(kept: bytes) -> dict[str, Any] | None:
    """Check a cached answer; return None if it is not one."""
    try:
        answer = json.loads(kept)
        if isinstance(answer.get("note"), str):
            return {"note": answer["note"]}
        used, spilled, stored = answer["registers"]
        is_whole = all(isinstance(number, int) for number in (used, spilled or 0, stored or 0))
        return answer if is_whole and isinstance(answer["metadata"], dict) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _trouble(note: str) -> dict[str, Any]:
    """Return a note that does not depend on the text, and is not cached."""
    return {"note": note, "is_kept": False}


def _end(status: int) -> str:
    """Describe the exit status of a process."""
    import signal

    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _start_of(folder: str, name: str) -> str:
    """Return the beginning of the output."""
    with open(os.path.join(folder, name), "rb") as file:
        return file.read(MAX_ANSWER).decode("utf-8", "replace")


def _last_words(folder: str) -> str:
    """Return the last line of the compiler before a crash, after a colon; empty without any."""
    lines = [line for line in _start_of(folder, "stderr").splitlines() if line.strip()]
    said = [line for line in lines if re.search(r"error|fatal|LLVM ERROR|Assertion", line)]
    return f": {_one_line((said or lines)[0])}" if lines else ""


def _one_line(text: str) -> str:
    """Return the first line of a text, made safe and short."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no reason is given"]
    return shortened(safe(lines[0]), 3 * MAX_SHOWN)


@contextmanager
def compiling(python: str | os.PathLike[str] | None = None) -> Iterator[TritonCompiler]:
    """Compile every dump that is audited inside the block with an installed Triton, without a GPU.

    Reports then have its registers, spills and shared memory, marked as compiled.

    Args:
        python: the interpreter that has Triton; by default that of the variable
            ``TT_LAYOUT_TRITON``, or this one.

    Example:
        >>> with compiling() as compiler:
        ...     compiler is CHOSEN.get()
        True
        >>> CHOSEN.get() is None
        True
    """
    compiler = compiler_of(os.fspath(python) if python is not None else None)
    token = CHOSEN.set(compiler)
    try:
        yield compiler
    finally:
        CHOSEN.reset(token)


def compiler_of(python: str | None) -> TritonCompiler:
    """Return the Triton of a Python, by default of the one in the variable, or of this one."""
    named = python or os.environ.get(VARIABLE) or sys.executable
    return TritonCompiler(named, os.path.join(user_cache(), "compiled"))
