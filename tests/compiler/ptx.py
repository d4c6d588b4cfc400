"""Carries out the PTX of a kernel, as `llvm_ir` carries out what it was made from.

Registers have the names that the text gives them, and every instruction is carried out for all
threads in the order of the text: kernels neither branch nor loop, some instructions are predicated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compiler.llvm_ir import ORDERED, Array, Machine, Type, mask_of, signed

_INSTRUCTION = re.compile(r"(?:@(!?)(%\w+)\s+)?([a-z]\w*)([.\w:]*)\s*(.*)", re.S)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
_TYPE = re.compile(r"\.([bsuf])(\d+)(x2)?(?=\.|$)")
_BITWISE: Mapping[str, Callable[[Array, Array], Array]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "sub": np.subtract,
    "mul": np.multiply,
    "shl": np.left_shift,
}
_IGNORED = ("bar", "barrier", "ret", "fence", "membar")


class PtxMachine(Machine):
    """A CTA that carries out PTX."""

    def run(self, text: str) -> None:
        body = text[text.index("\n{", text.index(".entry")) + 2 :]
        body = re.sub(r"//.*|^\s*(?:\.|\$).*$", "", body[: body.index("\n}")], flags=re.M)
        for line in body.split(";"):
            if line.strip():
                self._instruction(line.strip())

    def _instruction(self, line: str) -> None:
        match = _INSTRUCTION.fullmatch(line)
        assert match is not None, line
        negated, predicate, name, modifiers, rest = match.groups()
        self.mask = np.ones(self.threads, bool)
        if predicate:
            self.mask = self.values[predicate].astype(bool) ^ bool(negated)
        if name not in _IGNORED:
            self._carry_out(name, modifiers, _OPERAND.findall(rest))

    def _carry_out(self, name: str, modifiers: str, operands: Sequence[str]) -> None:
        kinds = [
            (kind, int(bits) * (2 if pair else 1)) for kind, bits, pair in _TYPE.findall(modifiers)
        ]
        if name in ("st", "stmatrix"):
            self._store(name, modifiers, kinds[-1][1], operands)
            return
        results, found = _names(operands[0]), self._result(name, modifiers, kinds, operands)
        for at, result in enumerate(results):
            value = found[at] if isinstance(found, list) else _part(found, at, len(results), kinds)
            before = self._operand(result, kinds[0][1])
            self.values[result] = np.where(self.mask, value, before)

    # -- operands ----------------------------------------------------------------------------

    def _operand(self, word: str, bits: int) -> Array:
        """Return what an operand holds; several registers in braces are one behind the other.

        A register that nothing writes is the half that nobody reads; 0 names no element.
        """
        if word.startswith("{"):
            parts = [self._operand(name, bits) for name in _names(word)]
            width = bits // len(parts)
            return sum((part & mask_of(width)) << width * at for at, part in enumerate(parts))
        if word.startswith("%tid"):
            return self.thread.copy() if word == "%tid.x" else np.zeros_like(self.thread)
        if word.startswith(("%", "_")):
            return self.values.get(word, np.zeros_like(self.thread))
        number = 0 if word == "global_smem" else _number(word)
        return np.full(self.threads, number & mask_of(bits), np.int64)

    def _address(self, word: str) -> Array:
        start, _, offset = word.strip("[] ").replace(" ", "").partition("+")
        return self._operand(start, 64) + int(offset or 0)

    # -- instructions ------------------------------------------------------------------------

    def _result(
        self, name: str, modifiers: str, kinds: Sequence[tuple[str, int]], operands: Sequence[str]
    ) -> Any:
        """Return what an instruction computes; a list of what each of its registers gets."""
        if name in ("ld", "ldmatrix"):
            return self._loaded(name, modifiers, kinds[-1][1], operands)
        kind, bits = kinds[-1]
        values = [self._operand(word, bits) for word in operands[1:]]
        if name == "add" and kind == "f":
            return self._sum(values[0], values[1], bits, 2 if modifiers.endswith("x2") else 1)
        if name in ("mov", "cvt", "cvta"):
            value = signed(values[0], bits) if kind == "s" else values[0]
            return value & mask_of(kinds[0][1])
        if name in ("mad", "mul") and ".wide" in modifiers:
            a, b = (signed(v, bits) if kind == "s" else v for v in values[:2])
            return a * b + (values[2] if name == "mad" else 0)
        if name in ("add", "mad"):
            first = values[0] * values[1] if name == "mad" else values[0]
            return first + values[-1] & mask_of(bits)
        if name in _BITWISE:
            return _BITWISE[name](values[0], values[1]) & mask_of(bits)
        return getattr(self, f"_do_{name}")(modifiers, kind, bits, values)

    def _sum(self, a: Array, b: Array, bits: int, count: int) -> Array:
        own = bits // count
        parts = [
            (a >> own * at & mask_of(own), b >> own * at & mask_of(own)) for at in range(count)
        ]
        sums = [self.trees.add(*part, own) << own * at for at, part in enumerate(parts)]
        return np.bitwise_or.reduce(sums)

    def _do_shr(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        value = signed(values[0], bits) if kind == "s" else values[0]
        return value >> values[1] & mask_of(bits)

    def _do_bfe(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        width = int(values[2][0])
        field = values[0] >> values[1] & mask_of(width)
        return (signed(field, width) if kind == "s" else field) & mask_of(bits)

    def _do_not(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        return ~values[0] & mask_of(bits)

    def _do_neg(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        return -values[0] & mask_of(bits)

    def _do_brev(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        return self._reversed(f".i{bits}", values)

    def _do_setp(self, modifiers: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        how = modifiers.split(".")[1]
        a, b = (signed(v, bits) if kind == "s" else v for v in values)
        return ORDERED[how](a, b).astype(np.int64)

    def _do_selp(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        return np.where(values[2].astype(bool), values[0], values[1])

    def _do_prmt(self, _: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        both, found = values[0] | values[1] << 32, np.zeros_like(values[0])
        for at in range(4):
            selector = values[2] >> 4 * at & 15
            assert (selector < 8).all(), "a byte that repeats a sign"
            found = found | (both >> 8 * selector & 255) << 8 * at
        return found

    def _do_shfl(self, modifiers: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        how, (value, lane, bound) = modifiers.split(".")[2], values[:3]
        assert (bound == 31).all(), "a shuffle within parts of a warp"
        found = {"bfly": self._butterfly, "idx": self._index}[how]
        return found([bound, value, lane])

    def _do_redux(self, modifiers: str, kind: str, bits: int, values: Sequence[Array]) -> Array:
        assert ".add." in modifiers, modifiers
        return self._redux(values)

    # -- memory ------------------------------------------------------------------------------

    def _loaded(self, name: str, modifiers: str, bits: int, operands: Sequence[str]) -> list[Array]:
        if ".param" in modifiers:
            index = int(operands[1].strip("[]").rpartition("_")[2])
            return [np.full(self.threads, index << 32, np.int64)]
        place, count = self._address(operands[1]), len(_names(operands[0]))
        if name == "ldmatrix":
            found = self._load_matrices(modifiers, [place])
            return found if isinstance(found, list) else [found]
        element, is_shared = Type(bits), ".shared" in modifiers
        return [self._read(place + at * element.size, element, is_shared) for at in range(count)]

    def _store(self, name: str, modifiers: str, bits: int, operands: Sequence[str]) -> None:
        place, element = self._address(operands[0]), Type(bits)
        values = [self._operand(word, bits) for word in _names(operands[1])]
        if name == "stmatrix":
            self._store_matrices(modifiers, [place, *values])
            return
        for at, value in enumerate(values):
            where = place + at * element.size
            self._write(where, element, value, self.mask, ".shared" in modifiers)


def _names(operand: str) -> list[str]:
    return re.findall(r"[^\s,{}]+", operand)


def _part(value: Array, at: int, count: int, kinds: Sequence[tuple[str, int]]) -> Array:
    """Return the part of a value that one of several registers gets."""
    width = kinds[0][1] // count
    return value >> width * at & mask_of(width) if count > 1 else value


def _number(word: str) -> int:
    if word.startswith("0f"):
        return int(word[2:], 16)
    return int(word.rstrip("U"), 0)
