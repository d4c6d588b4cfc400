"""Carries out the LLVM IR of a kernel for all threads of a CTA at once, sums as trees.

A float is not a number here but the name of a node: a leaf, or what two nodes come to when they are
added, which are the same node in either order.  Addresses, shuffles and what else is done with
integers are carried out as they are, so the node that a kernel stores says in which order it added
what it loaded.  Kernels have no loops: blocks come in the order of the text, each for the threads
that reach it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = Any
"""Of each thread (and component of a vector) the bits of a value, as an int64."""

SHARED_BYTES = 256 << 10
_TOKEN = re.compile(
    r'%"[^"]*"|[%@][-\w.$]+|c?"(?:\\.|[^"])*"|0x[HK]?[0-9A-Fa-f]+|-?\d[\w.+]*|[A-Za-z_.][\w.]*|\S'
)
_FLAGS = {
    *("nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "tail", "notail"),
    *("musttail", "contract", "volatile", "noundef", "signext", "zeroext", "nonnull", "inreg"),
}
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_BINARY: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "udiv": lambda a, b: a // np.maximum(b, 1),
    "urem": lambda a, b: a % np.maximum(b, 1),
    "lshr": np.right_shift,
    "shl": np.left_shift,
}
ORDERED = {how: getattr(operator, how) for how in ("eq", "ne", "lt", "le", "gt", "ge")}


class Type:
    """A type: the bits of a component, and how many there are; ``parts`` of a struct."""

    def __init__(self, bits: int, count: int = 0, parts: Sequence[Type] = ()) -> None:
        self.bits, self.count, self.parts = bits, count, tuple(parts)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return -(-self.bits // 8) * max(1, self.count)


HALF_WORD = Type(16)


class Trees:
    """Names of sums: each is the pair of what it adds."""

    def __init__(self, leaves: int) -> None:
        self.nodes: list[tuple[int, int]] = [(-1, -1)] * (leaves + 1)
        self._names: dict[int, int] = {}

    def add(self, a: Array, b: Array, bits: int) -> Array:
        """Return the names of sums, made where there was none; -0.0 adds nothing."""
        nothing = 1 << bits - 1
        keys = np.minimum(a, b) << 32 | np.maximum(a, b)
        distinct, places = np.unique(keys, return_inverse=True)
        names = np.array([self._name(int(key)) for key in distinct], np.int64)
        assert len(self.nodes) < nothing, "more nodes than the bits of a float can name"
        found = names[places].reshape(keys.shape)
        return np.where(a == nothing, b, np.where(b == nothing, a, found))

    def _name(self, key: int) -> int:
        if key not in self._names:
            self._names[key] = len(self.nodes)
            self.nodes.append((key >> 32, key & 0xFFFFFFFF))
        return self._names[key]


class Machine:
    """A CTA that carries out a kernel.

    Attributes:
        threads, lanes: of the CTA, of a warp.
        buffers: bytes of each argument.
        shared: bytes of shared memory.
        trees: what floats mean.
        shuffles: what crossed lanes, in order: the operation and its constant.
    """

    def __init__(self, threads: int, lanes: int, buffers: Sequence[Array], trees: Trees) -> None:
        self.threads, self.lanes, self.trees = threads, lanes, trees
        self.buffers = list(buffers)
        self.shared = np.zeros(SHARED_BYTES, np.uint8)
        self.thread = np.arange(threads, dtype=np.int64)
        self.values: dict[str, Any] = {}
        self.shuffles: list[tuple[str, int]] = []

    # -- control -----------------------------------------------------------------------------

    def run(self, text: str) -> None:
        """Carry out the one function of a module."""
        head, _, rest = text[text.index("\ndefine") :].partition("{\n")
        names = re.findall(r"(%[\w.]+)[,)]", head)
        for at, name in enumerate(names):
            self.values[name] = np.full(self.threads, at << 32, np.int64)
        edges: dict[tuple[str, str], Array] = {}
        label, self.mask = "%entry", np.ones(self.threads, bool)
        self.entry = f"%{len(names)}"
        for line in rest[: rest.index("\n}")].splitlines():
            line = re.split(r", !\w|\s+;", line)[0].rstrip()
            if match := re.match(r'("?[-\w.$]+"?):', line):
                label = f"%{match[1]}"
                into = [mask for (_, end), mask in edges.items() if end == label]
                self.mask = np.logical_or.reduce(into)
                self.edges = {start: mask for (start, end), mask in edges.items() if end == label}
            elif line.strip():
                self._line(_Line(line), label, edges)

    def _line(self, line: _Line, label: str, edges: dict[tuple[str, str], Array]) -> None:
        name = line.result
        word = line.next()
        if word == "br":
            self._branch(line, label, edges)
        elif word not in ("ret", "fence", "unreachable"):
            found = getattr(self, f"_do_{word}", None)
            value = found(line) if found is not None else self._binary(word, line)
            if name:
                self.values[name] = value

    def _branch(self, line: _Line, label: str, edges: dict[tuple[str, str], Array]) -> None:
        if line.peek() == "label":
            line.next()
            edges[label, line.next()] = self.mask
            return
        taken = self._typed(line)[1].astype(bool)
        for mask in (taken, ~taken):
            line.skip(",", "label")
            edges[label, line.next()] = self.mask & mask

    def _do_phi(self, line: _Line) -> Array:
        kind, found = line.type(), None
        while line.skip("["):
            value = self._value(line, kind)
            line.skip(",")
            start = line.next()
            mask = self.edges.get(start, self.edges.get("%entry"))
            assert mask is not None
            mask = mask if value.ndim == 1 else mask[:, None]
            found = value if found is None else np.where(mask, value, found)
            line.skip("]")
            line.skip(",")
        return found

    # -- values ------------------------------------------------------------------------------

    def _typed(self, line: _Line) -> tuple[Type, Array]:
        kind = line.type()
        return kind, self._value(line, kind)

    def _value(self, line: _Line, kind: Type) -> Any:
        word = line.next()
        if word.startswith("%"):
            return self.values[word]
        if word == "getelementptr":
            line.skip("(")
            found = self._do_getelementptr(line)
            line.skip(")")
            return found
        if word == "splat":
            line.skip("(")
            value = self._typed(line)[1]
            line.skip(")")
            return np.repeat(value[:, None], kind.count, axis=1)
        if word == "<":
            parts = [self._typed(line)[1]]
            while line.skip(","):
                parts.append(self._typed(line)[1])
            line.skip(">")
            return np.stack(parts, axis=1)
        if kind.parts:
            return [np.zeros(self.threads, np.int64) for _ in kind.parts]
        shape = (self.threads, kind.count) if kind.count else (self.threads,)
        return np.full(shape, _constant(word, kind.bits) & mask_of(kind.bits), np.int64)

    def _binary(self, word: str, line: _Line) -> Array:
        kind, a = self._typed(line)
        line.skip(",")
        b = self._value(line, kind)
        if word == "fadd":
            return self.trees.add(a, b, kind.bits)
        if word == "ashr":
            return signed(a, kind.bits) >> b & mask_of(kind.bits)
        return _BINARY[word](a, b) & mask_of(kind.bits)

    def _do_icmp(self, line: _Line) -> Array:
        how = line.next()
        kind, a = self._typed(line)
        line.skip(",")
        b = self._value(line, kind)
        if how.startswith("s"):
            a, b = signed(a, kind.bits), signed(b, kind.bits)
        return ORDERED[how if how in ORDERED else how[1:]](a, b).astype(np.int64)

    def _do_select(self, line: _Line) -> Array:
        _, condition = self._typed(line)
        line.skip(",")
        _, a = self._typed(line)
        line.skip(",")
        _, b = self._typed(line)
        mask = condition.astype(bool)
        return np.where(mask if a.ndim == mask.ndim else mask[:, None], a, b)

    def _cast(self, line: _Line) -> tuple[Type, Array, Type]:
        kind, value = self._typed(line)
        line.skip("to")
        return kind, value, line.type()

    def _do_zext(self, line: _Line) -> Array:
        return self._cast(line)[1]

    _do_ptrtoint = _do_inttoptr = _do_addrspacecast = _do_zext

    def _do_sext(self, line: _Line) -> Array:
        kind, value, to = self._cast(line)
        return signed(value, kind.bits) & mask_of(to.bits)

    def _do_trunc(self, line: _Line) -> Array:
        _, value, to = self._cast(line)
        return value & mask_of(to.bits)

    def _do_freeze(self, line: _Line) -> Array:
        return self._typed(line)[1]

    def _do_bitcast(self, line: _Line) -> Array:
        kind, value, to = self._cast(line)
        return _from_bytes(_to_bytes(value, kind), to)

    def _do_insertelement(self, line: _Line) -> Array:
        _, vector = self._typed(line)
        line.skip(",")
        _, value = self._typed(line)
        line.skip(",")
        _, at = self._typed(line)
        found = vector.copy()
        found[:, int(at[0])] = value
        return found

    def _do_extractelement(self, line: _Line) -> Array:
        _, vector = self._typed(line)
        line.skip(",")
        return vector[:, int(self._typed(line)[1][0])]

    def _do_shufflevector(self, line: _Line) -> Array:
        _, a = self._typed(line)
        line.skip(",")
        _, b = self._typed(line)
        line.skip(",")
        _, places = self._typed(line)
        return np.concatenate([a, b], axis=1)[:, places[0] % (a.shape[1] + b.shape[1])]

    def _do_extractvalue(self, line: _Line) -> Array:
        _, parts = self._typed(line)
        line.skip(",")
        return parts[int(line.next())]

    def _do_insertvalue(self, line: _Line) -> list[Array]:
        _, parts = self._typed(line)
        line.skip(",")
        _, value = self._typed(line)
        line.skip(",")
        found = list(parts)
        found[int(line.next())] = value
        return found

    # -- memory ------------------------------------------------------------------------------

    def _do_getelementptr(self, line: _Line) -> Array:
        kind = line.type()
        line.skip(",")
        _, place = self._typed(line)
        line.skip(",")
        index, offset = self._typed(line)
        return place + signed(offset, index.bits) * kind.size

    def _memory(self, place: Array, is_shared: bool) -> list[tuple[Array, Array, Array]]:
        """Return for each memory the threads that reach into it, and where."""
        if is_shared:
            return [(self.shared, np.ones(self.threads, bool), place)]
        whose = place >> 32
        found = []
        for at, buffer in enumerate(self.buffers):
            found.append((buffer, whose == at, place & 0xFFFFFFFF))
        return found

    def _read(self, place: Array, kind: Type = HALF_WORD, is_shared: bool = True) -> Array:
        data = np.zeros((self.threads, kind.size), np.uint8)
        for memory, mask, start in self._memory(place, is_shared):
            at = start[:, None] + np.arange(kind.size)
            data = np.where(mask[:, None], memory[np.clip(at, 0, len(memory) - 1)], data)
        return _from_bytes(data, kind)

    def _write(self, place: Array, kind: Type, value: Array, mask: Array, shared: bool) -> None:
        data = _to_bytes(value, kind)
        for memory, own, start in self._memory(place, shared):
            threads = mask & own
            at = start[threads, None] + np.arange(kind.size)
            assert not at.size or at.max() < len(memory), "a store beyond its buffer"
            memory[at] = data[threads]

    def _do_load(self, line: _Line) -> Array:
        kind = line.type()
        line.skip(",")
        is_shared = line.is_shared
        return self._read(self._typed(line)[1], kind, is_shared)

    def _do_store(self, line: _Line) -> None:
        kind, value = self._typed(line)
        line.skip(",")
        is_shared = line.is_shared
        self._write(self._typed(line)[1], kind, value, self.mask, is_shared)

    # -- calls -------------------------------------------------------------------------------

    def _do_call(self, line: _Line) -> Any:
        while line.peek() == "range":
            line.past("(", ")")
        kind = line.type() if line.peek() != "void" else Type(0, 0, ())
        line.skip("void")
        name = line.next()
        text = ""
        if name == "asm":
            while not (text := line.next()).startswith('"'):
                pass
            line.skip(",")
            line.next()
        line.skip("(")
        values: list[tuple[Type, Array]] = []
        while not line.skip(")"):
            values.append(self._typed(line))
            line.skip(",")
        if name == "asm":
            return self._assembly(text, kind, values)
        if "vector.reduce.fadd" in name:
            return self._folded(values[0][1], values[1][1], kind.bits)
        return self._intrinsic(name.removeprefix("@llvm."), [value for _, value in values])

    def _folded(self, first: Array, vector: Array, bits: int) -> Array:
        """Return what the components of a vector come to, one after the other."""
        for at in range(vector.shape[1]):
            first = self.trees.add(first, vector[:, at], bits)
        return first

    def _assembly(self, text: str, kind: Type, values: Sequence[tuple[Type, Array]]) -> Any:
        match = re.search(
            r"(?:@\$(\d+) )?(ld|st)\.(global|shared)[\w:.]*?(?:\.v(\d))?\.b(\d+)([^;]*);", text
        )
        assert match is not None, text
        predicate, what, space, count, bits, operands = match.groups()
        numbers = [int(n) for n in re.findall(r"\$(\d+)", operands)]
        at = int(re.findall(r"\[ \$(\d+)", operands)[0])
        element, is_shared = Type(int(bits)), space == "shared"
        results = len(kind.parts) or (1 if what == "ld" else 0)
        place = values[at - results][1]
        mask = self.mask
        if predicate is not None:
            mask = mask & values[int(predicate) - results][1].astype(bool)
        parts = []
        for step in range(int(count or 1)):
            where = place + step * element.size
            if what == "ld":
                parts.append(np.where(mask, self._read(where, element, is_shared), 0))
            else:
                own, value = values[[n for n in numbers if n != at][step] - results]
                data = _from_bytes(_to_bytes(value, own), element)
                self._write(where, element, data, mask, is_shared)
        if what == "st":
            return None
        return parts if kind.parts else _from_bytes(_to_bytes(parts[0], element), kind)

    def _intrinsic(self, name: str, values: Sequence[Array]) -> Any:
        for key, method in _INTRINSICS.items():
            if name.startswith(key):
                return method(self, name, values)
        raise NotImplementedError(name)

    def _store_matrices(self, name: str, values: Sequence[Array]) -> None:
        """Store matrices of 8 rows of 8 elements of 2 bytes; each lane has two of each matrix."""
        for matrix, register in enumerate(values[1:]):
            for half in range(2):
                place = self._matrix_place(values[0], matrix, half, name)
                value = register >> 16 * half & 0xFFFF
                self._write(place, HALF_WORD, value, self.mask, True)

    def _load_matrices(self, name: str, values: Sequence[Array]) -> Any:
        """Return what each lane gets of such matrices."""
        found = []
        for matrix in range(int(name.partition(".x")[2][0])):
            low, high = (
                self._read(self._matrix_place(values[0], matrix, half, name)) for half in range(2)
            )
            found.append(low | high << 16)
        return found if len(found) > 1 else found[0]

    def _matrix_place(self, rows: Array, matrix: int, half: int, name: str) -> Array:
        """Return where an element of each lane is; lane 8 * m + r gives where row r of m is."""
        along, other = 2 * (self._lane % 4) + half, self._lane // 4
        row, column = (along, other) if ".trans." in name else (other, along)
        return self._from(rows, 8 * matrix + row) + 2 * column

    def _reversed(self, name: str, values: Sequence[Array]) -> Array:
        bits = int(name.partition(".i")[2])
        return sum((values[0] >> at & 1) << bits - 1 - at for at in range(bits))

    def _from(self, value: Array, lane: Array) -> Array:
        """Return the value of another lane of each thread's warp."""
        return value[(self.thread & -self.lanes) + lane]

    @property
    def _lane(self) -> Array:
        return self.thread % self.lanes

    def _butterfly(self, values: Sequence[Array]) -> Array:
        self.shuffles.append(("xor", int(values[2][0])))
        return self._from(values[1], self._lane ^ values[2])

    def _index(self, values: Sequence[Array]) -> Array:
        return self._from(values[1], values[2] % self.lanes)

    def _read_lane(self, values: Sequence[Array]) -> Array:
        return self._from(values[0], values[1] % self.lanes)

    def _redux(self, values: Sequence[Array]) -> Array:
        self.shuffles.append(("redux", self.lanes - 1))
        sums = values[0].reshape(-1, self.lanes).sum(axis=1) & mask_of(32)
        return np.repeat(sums, self.lanes)

    def _dpp(self, values: Sequence[Array]) -> Array:
        old, src = values[:2]
        control, rows, banks, bounds = (int(value[0]) for value in values[2:6])
        source, valid, step = _dpp_source(self._lane, control)
        self.shuffles.append(("dpp", step))
        found = self._from(src, np.where(valid, source, 0))
        found = np.where(valid, found, 0 if bounds else old)
        enabled = (rows >> (self._lane // 16) & 1) & (banks >> (self._lane % 16 // 4) & 1)
        return np.where(enabled.astype(bool), found, old)

    def _swizzle(self, values: Sequence[Array]) -> Array:
        mode, lane = int(values[1][0]), self._lane
        if mode & 0x8000:
            source = lane & -4 | mode >> 2 * (lane % 4) & 3
        else:
            low = (lane & mode & 31 | mode >> 5 & 31) ^ mode >> 10 & 31
            source = lane & -32 | low
        self.shuffles.append(("swizzle", int((source ^ lane)[0])))
        return self._from(values[0], source)

    def _permute(self, values: Sequence[Array]) -> Array:
        source = values[0] >> 2 & self.lanes - 1
        self.shuffles.append(("bpermute", int((source ^ self._lane)[0])))
        return self._from(values[1], source)

    def _other_row(self, values: Sequence[Array]) -> Array:
        selectors = np.where(self._lane % 16 < 8, values[2], values[3])
        chosen = selectors >> 4 * (self._lane % 8) & 15
        self.shuffles.append(("permlanex16", 16))
        return self._from(values[1], (self._lane & 16 ^ 16) + chosen)

    def _swap(self, values: Sequence[Array], step: int) -> list[Array]:
        first, second = values[:2]
        is_upper = (self._lane & step).astype(bool)
        self.shuffles.append(("swap", step))
        lower = np.where(is_upper, self._from(second, self._lane ^ step), first)
        upper = np.where(is_upper, second, self._from(first, self._lane ^ step))
        return [lower, upper]


def _crossing(method: Callable[[Machine, Sequence[Array]], Any]) -> Callable[..., Any]:
    """Return how a shuffle is carried out whatever the type in its name."""
    return lambda machine, _, values: method(machine, values)


def _nothing(machine: Machine, name: str, values: Sequence[Array]) -> None:
    """Do nothing: all threads are at the same instruction."""


_INTRINSICS: Mapping[str, Callable[[Machine, str, Sequence[Array]], Any]] = {
    **dict.fromkeys(
        ("nvvm.barrier", "nvvm.bar.warp", "amdgcn.s.", "assume", "lifetime", "amdgcn.wave.barrier"),
        _nothing,
    ),
    **dict.fromkeys(
        ("nvvm.read.ptx.sreg.tid.x", "amdgcn.workitem.id.x"),
        lambda machine, _, values: machine.thread.copy(),
    ),
    "amdgcn.wave.id": lambda machine, _, values: machine.thread // machine.lanes,
    "amdgcn.readfirstlane": lambda machine, _, values: values[0][machine.thread & -machine.lanes],
    "bitreverse": Machine._reversed,
    "vector.reduce.or": lambda machine, _, values: np.bitwise_or.reduce(values[0], axis=1),
    "nvvm.ldmatrix": Machine._load_matrices,
    "nvvm.stmatrix": Machine._store_matrices,
    "nvvm.shfl.sync.bfly": _crossing(Machine._butterfly),
    "nvvm.shfl.sync.idx": _crossing(Machine._index),
    "nvvm.redux.sync.add": _crossing(Machine._redux),
    "amdgcn.update.dpp": _crossing(Machine._dpp),
    "amdgcn.ds.swizzle": _crossing(Machine._swizzle),
    "amdgcn.ds.bpermute": _crossing(Machine._permute),
    "amdgcn.permlanex16": _crossing(Machine._other_row),
    "amdgcn.permlane16.swap": lambda machine, _, values: machine._swap(values, 16),
    "amdgcn.permlane32.swap": lambda machine, _, values: machine._swap(values, 32),
    "amdgcn.readlane": _crossing(Machine._read_lane),
}
"""How the names of intrinsics begin -> what they do."""


def _dpp_source(lane: Array, control: int) -> tuple[Array, Array, int]:
    """Return the lane that each reads, whether there is one, and by how much they differ."""
    row, own, every = lane & -16, lane & 15, np.ones(len(lane), bool)
    if control < 0x100:
        source = lane & -4 | control >> 2 * (lane % 4) & 3
        return source, every, int(source[0])
    kind, step = control & 0x1F0, control & 15
    if kind == 0x100:
        return row + own + step, own + step < 16, step
    if kind == 0x110:
        return row + own - step, own >= step, step
    if kind == 0x120:
        return row + (own - step) % 16, every, step
    if control == 0x140:
        return row + 15 - own, every, 15
    if control == 0x141:
        return (lane & -8) + 7 - lane % 8, every, 7
    if control == 0x142:
        return row - 1, lane >= 16, 16
    if control == 0x143:
        return np.full(len(lane), 31), lane >= 32, 32
    if kind == 0x150:
        return row + step, every, step
    assert kind == 0x160, hex(control)
    return row + (own ^ step), every, step


class _Line:
    """The tokens of an instruction."""

    def __init__(self, text: str) -> None:
        self.tokens = [token for token in _TOKEN.findall(text) if token not in _FLAGS]
        self.at = 0
        self.is_shared = "addrspace(3)" in text
        self.result = ""
        if len(self.tokens) > 1 and self.tokens[1] == "=":
            self.result, self.at = self.tokens[0], 2

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def skip(self, *words: str) -> bool:
        """Step over words that come next; tell whether the first of them did."""
        before = self.at
        for word in words:
            if self.peek() == word:
                self.at += 1
        return self.at > before

    def past(self, opening: str, closing: str) -> None:
        """Step over what is in brackets, and what is before them."""
        while self.next() != opening:
            pass
        while self.next() != closing:
            pass

    def type(self) -> Type:
        word = self.next()
        if word in ("align", "dereferenceable", "captures", "range"):
            if self.peek() == "(":
                self.past("(", ")")
            else:
                self.next()
            return self.type()
        if word == "ptr":
            if self.skip("addrspace"):
                self.past("(", ")")
            return Type(64)
        if word in ("<", "["):
            count = int(self.next())
            self.skip("x")
            kind = self.type()
            self.next()
            return Type(kind.bits, count)
        if word == "{":
            parts = [self.type()]
            while self.skip(","):
                parts.append(self.type())
            self.skip("}")
            return Type(0, 0, parts)
        return Type(_FLOATS.get(word) or int(word[1:]))


def _constant(word: str, bits: int) -> int:
    if word in ("poison", "undef", "zeroinitializer", "null", "false", "none"):
        return 0
    if word == "true":
        return 1
    if word.startswith("0xH"):
        return int(word[3:], 16)
    if "." in word:
        assert float(word) == 0, f"what is {word}?"
        return 1 << bits - 1 if word.startswith("-") else 0
    return 0 if word.startswith("@") else int(word)


def mask_of(bits: int) -> int:
    return (1 << bits) - 1 if bits < 64 else -1


def signed(value: Array, bits: int) -> Array:
    if bits >= 64:
        return value
    half = 1 << bits - 1
    return (value ^ half) - half


def _to_bytes(value: Array, kind: Type) -> Array:
    size = -(-kind.bits // 8)
    matrix = value.reshape(len(value), -1)
    steps = 8 * np.arange(size)
    return (matrix[:, :, None] >> steps & 255).astype(np.uint8).reshape(len(value), -1)


def _from_bytes(data: Array, kind: Type) -> Array:
    size = -(-kind.bits // 8)
    parts = data.astype(np.int64).reshape(len(data), -1, size)
    found = (parts << 8 * np.arange(size)).sum(axis=2)
    return found if kind.count else found[:, 0]
