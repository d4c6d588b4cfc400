"""The names of instructions on global memory, as PTX and the AMD assembler spell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from tt_layout.hardware import Target
from tt_layout.tuples import NamedTuple


class ThreadAccess(NamedTuple):
    """The properties of a thread's access that determine its instruction.

    Attributes:
        operation: the operation's name.
        element: element type, such as ``f16``.
        width_bytes: bytes that one instruction moves.
        vector: elements that one instruction moves.
        attributes: attributes of the operation.
        target: the GPU.
    """

    operation: str
    element: str
    width_bytes: int
    vector: int
    attributes: Mapping[str, object]
    target: Target

    @property
    def bits(self) -> int:
        """The width in bits."""
        return 8 * self.width_bytes

    @property
    def element_bits(self) -> int:
        """The width of an element in memory."""
        return self.bits // self.vector


def access_instruction(access: ThreadAccess) -> str | None:
    """Return the name of the instruction; None where it is not known."""
    names = _NAMES.get(access.target.backend.name, {})
    name = access.operation.rpartition(".")[2]
    return names[name](access) if name in names else None


# -- NVIDIA ---------------------------------------------------------------------------------

_CACHES = {"load": ("ca", "cg", "cs", "cv"), "store": ("wb", "cg", "cs", "wt")}
_EVICTIONS = ("evict_first", "evict_last")
_CACHE_NUMBERS = ("", "none", "ca", "cg", "wb", "cs", "wt", "cv")
_EVICTION_NUMBERS = ("", "evict_normal", *_EVICTIONS)
_POLICY = re.compile(r"cache_modifier ?= ?(\w+), ?eviction_policy ?= ?(\w+)")


def _cache_policy(attributes: Mapping[str, object]) -> tuple[str, str]:
    """Return cache modifier and eviction policy, in any release's spelling."""
    policy = _POLICY.search(str(attributes.get("cachePolicy")))
    if policy is not None:
        return policy[1], policy[2]
    cache, evict = attributes.get("cache"), attributes.get("evict")
    return (
        str(attributes.get("cacheModifier", _word(cache, _CACHE_NUMBERS))),
        str(attributes.get("evictionPolicy", _word(evict, _EVICTION_NUMBERS))),
    )


def skips_l1(attributes: Mapping[str, object]) -> bool:
    """Tell whether a load with these attributes may pass the first-level cache by."""
    return attributes.get("isVolatile") is True or _cache_policy(attributes)[0] in ("cg", "cv")


def _word(number: object, words: Sequence[str]) -> str:
    """Return the word for a number of the generic form."""
    return words[number] if isinstance(number, int) and number < len(words) else ""


def _ptx(access: ThreadAccess) -> str:
    """Return a load or store: modifiers, then as many words as it has, of 32 bits or an element."""
    kind = access.operation.rpartition(".")[2]
    attributes = access.attributes
    words_of_name = ["ld" if kind == "load" else "st"]
    if attributes.get("isVolatile") is True:
        words_of_name += ["volatile"]
    words_of_name += ["global"]
    cache, evict = _cache_policy(attributes)
    if cache in _CACHES[kind]:
        words_of_name += [cache]
    if evict in _EVICTIONS:
        words_of_name += [f"L1::{evict}", "L2::cache_hint"]
    word = min(access.bits, max(32, access.element_bits))
    words = access.bits // word
    if words > 1:
        words_of_name += [f"v{words}"]
    return ".".join([*words_of_name, f"b{word}"])


_SIGNED = ("max", "min")


def _atom(access: ThreadAccess) -> str:
    """Return an atomic operation of PTX."""
    attributes, bits = access.attributes, access.element_bits
    operation = str(attributes.get("atomic_rmw_op", "cas"))
    vector = access.vector
    if access.element == "bf16" and not access.target.has_vector_atomics:
        return "atom.relaxed.gpu.global.cas.b32"  # in a loop, by LLVM
    if operation == "fadd":
        name, suffix = "add", access.element
        if bits == 16:
            name, packed = "add.noftz", vector == 2 and not access.target.has_vector_atomics
            suffix, vector = (f"{suffix}x2", 1) if packed else (suffix, vector)
    elif operation in _SIGNED:
        name, suffix = operation, f"s{bits}"
    elif operation in ("umax", "umin", "add"):
        name, suffix = operation.removeprefix("u"), f"u{bits}"
    else:
        name, suffix = operation, f"b{bits}"
    order, scope = str(attributes.get("sem")), str(attributes.get("scope"))
    places = [order, scope] if operation == "cas" else [scope, order]
    return ".".join(["atom.global", *places, name, *([f"v{vector}"] if vector > 1 else []), suffix])


def _cp_async(access: ThreadAccess) -> str:
    """Return an asynchronous copy; only 16 bytes bypass the first-level cache."""
    return f"cp.async.{'cg' if access.width_bytes == 16 else 'ca'}.shared.global"


_NVIDIA: Mapping[str, Callable[[ThreadAccess], str]] = {
    "load": _ptx,
    "store": _ptx,
    "atomic_rmw": _atom,
    "atomic_cas": _atom,
    "async_copy_global_to_local": _cp_async,
}

# -- AMD ------------------------------------------------------------------------------------

_DWORDS = {8: "byte", 16: "short", 32: "dword", 64: "dwordx2", 96: "dwordx3", 128: "dwordx4"}


def _suffix(access: ThreadAccess, *, is_store: bool) -> str:
    """Return the suffix of a mnemonic: words on CDNA, RDNA1 and RDNA2, bits on newer GPUs."""
    if access.target.counts_dwords:
        unsigned = "u" if access.bits < 32 and not is_store else ""
        return unsigned + _DWORDS.get(access.bits, f"b{access.bits}")
    return f"{'u' if access.bits < 32 and not is_store else 'b'}{access.bits}"


def _amd(prefix: str, *, is_store: bool) -> Callable[[ThreadAccess], str]:
    return lambda access: f"{prefix}_{_suffix(access, is_store=is_store)}"


def _to_lds(access: ThreadAccess) -> str:
    if access.target.scatters_async_copies:
        return f"global_load_async_to_lds_b{access.bits}"
    return f"global_load_lds_{_suffix(access, is_store=True)}"


def _is_loop(access: ThreadAccess, operation: str) -> bool:
    """Tell whether LLVM makes a loop around a comparison of an atomic operation.

    Single floats of 16 bits have no instruction; CDNA's lanes pass them on to make pairs.
    """
    is_half = operation == "fadd" and access.element_bits == 16
    if is_half and access.vector == 1 and not access.target.counts_dwords:
        return True
    return access.target.loops_atomics and operation in ("fadd", *_SIGNED, "umax", "umin")


_AMD_ATOMICS = {"exch": "swap", "fadd": "add", "max": "smax", "min": "smin"}


def _amd_atomic(prefix: str) -> Callable[[ThreadAccess], str]:
    def name(access: ThreadAccess) -> str:
        operation = str(access.attributes.get("atomic_rmw_op", "cmpswap"))
        if prefix == "global_atomic" and _is_loop(access, operation):
            operation = "cmpswap"
        word = _AMD_ATOMICS.get(operation, operation)
        if operation == "fadd":
            packed = "pk_" if access.element_bits == 16 else ""
            return f"{prefix}_{packed}{word}_{access.element}"
        if access.target.counts_dwords:
            return f"{prefix}_{word}" + ("_x2" if access.bits == 64 else "")
        kind = {"add": "u", "max": "i", "min": "i", "umax": "u", "umin": "u"}.get(operation, "b")
        word = word.removeprefix("s" if operation in _SIGNED else "u")
        return f"{prefix}_{word}_{kind}{max(32, access.bits)}"

    return name


_AMD: Mapping[str, Callable[[ThreadAccess], str]] = {
    "load": _amd("global_load", is_store=False),
    "store": _amd("global_store", is_store=True),
    "buffer_load": _amd("buffer_load", is_store=False),
    "buffer_store": _amd("buffer_store", is_store=True),
    "async_copy_global_to_local": _to_lds,
    "async_copy_local_to_global": lambda access: f"global_store_async_from_lds_b{access.bits}",
    "buffer_load_to_local": lambda access: f"buffer_load_{_suffix(access, is_store=True)} lds",
    "atomic_rmw": _amd_atomic("global_atomic"),
    "atomic_cas": _amd_atomic("global_atomic"),
    "buffer_atomic_rmw": _amd_atomic("buffer_atomic"),
    "buffer_atomic_cas": _amd_atomic("buffer_atomic"),
}

_NAMES = {"cuda": _NVIDIA, "hip": _AMD}
"""Backend -> its names of instructions."""
