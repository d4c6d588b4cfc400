"""Carries out the AMDGCN of a kernel, as `llvm_ir` carries out what it was made from.

Registers are those of the hardware: `v`, `a` per thread, `s` per warp (kept per thread, too).  What
is skipped where no thread is left is carried out for no thread; kernels do not loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compiler.llvm_ir import Array, Machine, Type, mask_of, signed

_WORD = mask_of(32)
_INTEGERS: Mapping[str, Callable[..., Array]] = {
    "mov": lambda a: a,
    "accvgpr_read": lambda a: a,
    "accvgpr_write": lambda a: a,
    "movk": lambda a: a,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "add_nc": np.add,
    "lshl": lambda a, b: a << (b & 31),
    "lshr": lambda a, b: a >> (b & 31),
    "lshlrev": lambda a, b: b << (a & 31),
    "lshrrev": lambda a, b: b >> (a & 31),
    "ashrrev": lambda a, b: signed(b, 32) >> (a & 31),
    "and_or": lambda a, b, c: a & b | c,
    "lshl_or": lambda a, b, c: a << b | c,
    "lshl_add": lambda a, b, c: (a << b) + c,
    "lshl1_add": lambda a, b: (a << 1) + b,
    "lshl2_add": lambda a, b: (a << 2) + b,
    "lshl3_add": lambda a, b: (a << 3) + b,
    "lshl4_add": lambda a, b: (a << 4) + b,
    "add3": lambda a, b, c: a + b + c,
    "or3": lambda a, b, c: a | b | c,
    "xad": lambda a, b, c: (a ^ b) + c,
    "bfi": lambda a, b, c: a & b | ~a & c,
    "alignbit": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "pack": lambda a, b: a & 0xFFFF | b << 16,
    "bfrev": lambda a: sum((a >> at & 1) << 31 - at for at in range(32)),
    "brev": lambda a: sum((a >> at & 1) << 31 - at for at in range(32)),
    "cndmask": lambda a, b, c: np.where(c.astype(bool), b, a),
}
_IGNORED = re.compile(
    r"s_(wait|nop|clause|delay|barrier|branch|cbranch_execz|sendmsg|set)|v_nop|buffer_gl|"
    r"global_(inv|wb|prefetch)"
)
_SIZES = {"ushort": 16, "short": 16, "dword": 32, "dwordx2": 64, "dwordx3": 96, "dwordx4": 128}
_DPP = {
    "row_shl": 0x100,
    "row_shr": 0x110,
    "row_ror": 0x120,
    "row_share": 0x150,
    "row_xmask": 0x160,
}
_DPP_ALONE = {"row_mirror": 0x140, "row_half_mirror": 0x141}
_BROADCASTS = {15: 0x142, 31: 0x143}


class GcnMachine(Machine):
    """A CTA that carries out AMDGCN."""

    def run(self, text: str) -> None:
        body = text[text.index("\nf:") : text.index("s_endpgm")]
        self.scratch: dict[int, Array] = {}
        self.mask = np.ones(self.threads, bool)
        self.values = {"v0": self.thread.copy(), "ttmp8": self.thread // self.lanes << 25}
        for line in body.splitlines():
            line = re.sub(r"[^\s,]+ /\*([^*]+)\*/", r"\1", line).partition(";")[0].strip()
            if not line or line[0] in ".;" or line.endswith(":") or _IGNORED.match(line):
                continue
            for write in [self._instruction(part.strip()) for part in line.split("::")]:
                write()

    def _instruction(self, line: str) -> Callable[[], None]:
        """Return what writes the result of an instruction: two at once read before they write."""
        name, _, rest = line.partition(" ")
        name = re.sub(r"_e32$|_e64$", "", name.replace("v_dual_", "v_"))
        modifiers = dict(re.findall(r"(\w+):(\[[^\]]*\]|-?\w+)", rest))
        flags = set(re.findall(r"(?<=\s)(?:row_\w*mirror|scale_offset)", rest))
        rest = re.split(r"\s(?=\w+:(?!\d+\]))|\s(?=row_\w*mirror|scale_offset|th:|nv\b)", rest)[0]
        words = [word.strip() for word in re.findall(r"[^,\[]+(?:\[[^\]]*\])?\S*", rest)]
        words = [word.strip(", ") for word in words if word.strip(", ")]
        kind, _, own = name.partition("_")
        if kind in ("ds", "global", "scratch") and "permute" not in name:
            return lambda: self._access(kind, own, words, modifiers, flags)
        found = self._result(name, own, words, modifiers, flags)
        return found if callable(found) else lambda: self._put(words[0], found)

    # -- registers ---------------------------------------------------------------------------

    def _registers(self, word: str) -> list[str]:
        match = re.fullmatch(r"([vsa])\[(\d+):(\d+)\]", word)
        if match is None:
            return [word]
        return [f"{match[1]}{at}" for at in range(int(match[2]), int(match[3]) + 1)]

    def _get(self, word: str) -> Array:
        """Return what an operand holds; of several registers the first has the low bits."""
        if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", word):
            return np.full(self.threads, int(word, 0), np.int64)
        name, _, half = word.partition(".")
        nothing = np.zeros(self.threads, np.int64)
        parts = [self.values.get(part, nothing) for part in self._registers(name)]
        assert len(parts) <= 2, word
        value = parts[0] if len(parts) == 1 else parts[0] | parts[1] << 32
        return value >> (16 if half == "h" else 0) & 0xFFFF if half else value

    def _put(self, word: str, value: Array) -> None:
        name, _, half = word.partition(".")
        for at, register in enumerate(self._registers(name)):
            before = self.values.get(register, np.zeros(self.threads, np.int64))
            part = value >> 32 * at & _WORD
            if half:
                shift = 16 if half == "h" else 0
                part = before & ~(0xFFFF << shift) & _WORD | (value & 0xFFFF) << shift
            is_scalar = register[0] == "s"
            self.values[register] = part if is_scalar else np.where(self.mask, part, before)

    # -- instructions ------------------------------------------------------------------------

    def _result(
        self, name: str, own: str, words: Sequence[str], modifiers: Any, flags: set[str]
    ) -> Any:
        if "saveexec" in name or name.startswith("v_cmpx"):
            return lambda: self._leave(name, words)
        if name.startswith("s_load"):
            return lambda: self._argument(words)
        assert not words[0].startswith("exec"), "threads that come back"
        if "exec_lo" in words or "exec" in words:
            return np.zeros(self.threads, np.int64)
        values = [self._get(word) for word in words[1:] if not word.startswith(("vcc", "null"))]
        if own.endswith("_dpp"):
            values[0] = self._moved(words, values[0], modifiers, flags)
            own = own.removesuffix("_dpp")
        if own.endswith("_sdwa"):
            values = [
                value >> 16 & 0xFFFF if modifiers[f"src{at}_sel"] == "WORD_1" else value
                for at, value in enumerate(values)
            ]
            own = own.removesuffix("_sdwa")
        if own in ("add_f32", "add_f16"):
            bits = int(own[-2:])
            a, b = (value & mask_of(bits) for value in values)
            return self.trees.add(a, b, bits)
        if own.startswith("pk_add_f"):
            return self._pair(own, values, modifiers)
        return self._integer(name, own, words, values, modifiers)

    def _integer(
        self, name: str, own: str, words: Sequence[str], values: list[Array], modifiers: Any
    ) -> Any:
        if own.startswith("cmp_eq"):
            return (values[0] == values[1]).astype(np.int64)
        if own.startswith("cndmask"):
            values = [*values[:2], self._get(words[3])]
        if own.startswith(("add_co", "addc_co")):
            return lambda: self._with_carry(words)
        if own.startswith("bfe"):
            return self._field(name, values)
        if own.startswith(("perm_b32", "bitop")):
            return self._bytes(values) if own[0] == "p" else _looked_up(values, modifiers)
        if own.startswith("perm"):
            return self._exchange(own, words, values)
        if own.startswith("bpermute"):
            return self._permute(values)
        if own.startswith("readfirstlane"):
            return values[0][self.thread & -self.lanes]
        if own.startswith("readlane"):
            return self._read_lane(values)
        return _INTEGERS[re.sub(r"_[buif]\d+(_f16)?$", "", own)](*values)

    def _leave(self, name: str, words: Sequence[str]) -> None:
        """Go on with some of the threads."""
        if name.startswith("v_cmpx"):
            self.mask = self.mask & (self._get(words[0]) == self._get(words[1]))
        else:
            self.mask = self.mask & self._get(words[1]).astype(bool)

    def _argument(self, words: Sequence[str]) -> None:
        """Pointers to buffers have the buffer's number as their high word."""
        for at, register in enumerate(self._registers(words[0])):
            place = int(words[2].split()[0], 0) // 4 + at
            self.values[register] = np.full(self.threads, place // 2 if place % 2 else 0, np.int64)

    def _with_carry(self, words: Sequence[str]) -> None:
        """Add two words, and the carry that a fifth operand has; the second gets the new one."""
        total = sum(self._get(word) & _WORD for word in words[2:])
        self._put(words[0], total)
        self.values[words[1]] = total >> 32

    def _field(self, name: str, values: Sequence[Array]) -> Array:
        start, width = values[1], values[2] if len(values) > 2 else values[1] >> 16
        field = values[0] >> (start & 31) & mask_of(int(width[0]))
        return signed(field, int(width[0])) if name.endswith("i32") else field

    def _bytes(self, values: Sequence[Array]) -> Array:
        both, found = values[1] | values[0] << 32, np.zeros_like(values[0])
        for at in range(4):
            selector = values[2] >> 8 * at & 255
            byte = np.where(selector < 8, both >> 8 * (selector & 7) & 255, 0)
            assert np.isin(selector, (*range(8), 12)).all(), "a byte that repeats a sign"
            found |= byte << 8 * at
        return found

    def _pair(self, own: str, values: Sequence[Array], modifiers: Any) -> Array:
        bits, found = int(own[-2:]), np.zeros(self.threads, np.int64)
        for half, (key, default) in enumerate((("op_sel", "[0,0]"), ("op_sel_hi", "[1,1]"))):
            choice = [int(n) for n in re.findall(r"\d", modifiers.get(key, default))]
            terms = [v >> bits * pick & mask_of(bits) for v, pick in zip(values, choice)]
            found |= self.trees.add(terms[0], terms[1], bits) << bits * half
        return found

    def _exchange(self, own: str, words: Sequence[str], values: list[Array]) -> Any:
        if own.startswith("permlanex16"):
            return self._other_row([values[0], *values])
        step = int(re.findall(r"permlane(\d+)_swap", own)[0])
        found = self._swap([self._get(words[0]), values[0]], step)

        def write() -> None:
            for word, value in zip(words, found):
                self._put(word, value)

        return write

    def _moved(self, words: Sequence[str], value: Array, modifiers: Any, flags: set[str]) -> Array:
        """Return what other lanes of a row have, as a DPP control says."""
        if "quad_perm" in modifiers:
            picks = [int(n) for n in re.findall(r"\d", modifiers["quad_perm"])]
            control = sum(pick << 2 * at for at, pick in enumerate(picks))
        elif "row_bcast" in modifiers:
            control = _BROADCASTS[int(modifiers["row_bcast"])]
        else:
            alone = [_DPP_ALONE[flag] for flag in flags if flag in _DPP_ALONE]
            steps = [start + int(modifiers[key]) for key, start in _DPP.items() if key in modifiers]
            (control,) = alone + steps
        rows, banks = (int(modifiers[key], 0) for key in ("row_mask", "bank_mask"))
        settings = (control, rows, banks, int("bound_ctrl" in modifiers))
        constants = [np.full(self.threads, number, np.int64) for number in settings]
        return self._dpp([self._get(words[0]), value, *constants])

    # -- memory ------------------------------------------------------------------------------

    def _access(
        self, space: str, own: str, words: Sequence[str], modifiers: Any, flags: set[str]
    ) -> None:
        is_load, high = own.startswith(("load", "read")), "d16_hi" in own
        size = re.findall(r"(dwordx?\d?|u?short|[bu]\d+)", own.replace("d16", ""))[0]
        bits = _SIZES.get(size) or int(size[1:])
        offset = int(modifiers.get("offset", "0"), 0)
        data, rest = (words[0], words[1:]) if is_load else (words[1], [words[0], *words[2:]])
        names = self._registers(data)
        if space == "scratch":
            offset += int(self._get(rest[1])[0]) if rest[1][0] == "s" else 0
            for at, register in enumerate(names):
                if is_load:
                    self._put(register, self.scratch[offset + 4 * at])
                else:
                    self.scratch[offset + 4 * at] = self._get(register)
            return
        place = self._get(rest[0]) * (bits // 8 if "scale_offset" in flags else 1) + offset
        if len(rest) > 1 and rest[1] != "off":
            place = place + self._get(rest[1])
        element = Type(min(bits, 32))
        for at, register in enumerate(names):
            where = place + 4 * at
            if is_load:
                found = self._read(where, element, space == "ds")
                half = (".h" if high else ".l") if "d16" in own and "." not in register else ""
                self._put(register + half, found)
            else:
                value = self._get(register) >> (16 if high else 0) & mask_of(element.bits)
                self._write(where, element, value, self.mask, space == "ds")


def _looked_up(values: Sequence[Array], modifiers: Any) -> Array:
    """Return bits as a table of truth has them; two operands leave out the third."""
    table, found = int(modifiers["bitop3"], 0), np.zeros_like(values[0])
    a, b, c = [*values, np.zeros_like(values[0])][:3]
    for row in range(8):
        if table >> row & 1:
            found |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return found & _WORD
