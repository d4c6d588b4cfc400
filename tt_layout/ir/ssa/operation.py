"""Reading one operation: its tokens, from its results to its location."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tt_layout.ir.ssa.attributes import Attribute, attribute_value, parse_dictionary
from tt_layout.ir.ssa.draft import Draft, WrittenSuccessor
from tt_layout.ir.ssa.model import Region
from tt_layout.ir.ssa.tokens import DICTIONARY, RESULT, SCALAR, VALUES, Cursor, closing, compact
from tt_layout.ir.tokens import broken_type

_BARE = frozenset({"return", "call", "br", "cond_br"})
"""Operations of old releases without a dialect; they begin a line."""

_WITH_REGIONS = frozenset(
    {"scf.if", "scf.for", "scf.while", "scf.execute_region", "ttg.warp_specialize"}
)
_TERMINATOR = re.compile(r"(?:\w+\.)*(?:\w*yield|\w*return|unreachable)")
_NAMED = re.compile(r"\(\s*%[\w$.-]+\s*(=(?!=)|:)", re.ASCII)

Arguments = Sequence[tuple[str, str]]
"""Names and types of what a region takes."""

RegionReader = Callable[[Arguments], Region]


class OperationReader:
    """Reads the operation at which a cursor stands.

    Attributes:
        cursor: where reading stands; behind the operation in the end.
        read_region: reads the region at whose brace the cursor stands.
    """

    def __init__(self, cursor: Cursor, read_region: RegionReader) -> None:
        self.cursor = cursor
        self.read_region = read_region
        self._handlers: dict[str, Callable[[Draft], None]] = {
            "value": self._value,
            "word": self._word,
            "string": self._string,
            "type": self._type,
            "short": self._type,
            "block": self._successor,
            "arrow": self._arrow,
            "number": self._number,
            "symbol": self._symbol,
            "mark": self._mark,
        }

    def read(self) -> tuple[Draft, list[Region]] | None:
        """Return the operation and its regions; None for a token that begins none."""
        cursor, results = self.cursor, []
        if cursor.kind == "value":
            match = VALUES.match(cursor.source, cursor.start)
            assert match is not None
            cursor.move_to(match.end())
            if match.group("equals"):
                results = RESULT.findall(match.group())
        generic = cursor.kind == "string"
        if not generic and cursor.kind != "word":
            cursor.advance()
            return None
        name = cursor.text.strip('"')
        draft = Draft(name, cursor.start, results, generic=generic)
        self._regions: list[Region] = []
        regions = self._regions
        cursor.advance()
        while not self._is_at_end(draft):
            handler = self._handlers.get(cursor.kind)
            if handler is not None:
                handler(draft)
            else:
                cursor.advance()
            self._regions = regions  # reading a region has read other operations
        return draft, regions

    def _is_at_end(self, draft: Draft) -> bool:
        """Tell whether the token belongs to what follows the operation."""
        cursor = self.cursor
        kind = cursor.kind
        if not kind or draft.location is not None:
            return True
        if kind == "value":
            if cursor.source[cursor.last_end - 1] == ",":
                return False  # one of several, of which the first was looked at
            match = VALUES.match(cursor.source, cursor.start)
            begins = match is not None and bool(match.group("equals"))
            return begins and not (draft.name == "scf.for" and not draft.operands)
        if kind == "word":
            return "." in cursor.text or (cursor.text in _BARE and cursor.begins_line())
        if kind == "string":
            return cursor.follows("(")
        if kind == "block":
            return cursor.begins_line() and cursor.source[cursor.last_end - 1] not in ",["
        return cursor.text == "}"

    # -- tokens -----------------------------------------------------------------------------

    def _value(self, draft: Draft) -> None:
        name = self.cursor.text
        self.cursor.advance()
        if draft.name == "scf.for" and not draft.operands and self.cursor.text == "=":
            draft.variable = name
            self.cursor.advance()
        else:
            draft.operands.append(name)

    def _string(self, draft: Draft) -> None:
        """Read a word in quotation marks, as predicates had them until 2023."""
        if draft.types is None and not draft.generic:
            draft.words.append(self.cursor.text.strip('"'))
        self.cursor.advance()

    def _word(self, draft: Draft) -> None:
        cursor, word = self.cursor, self.cursor.text
        if word == "loc" and cursor.follows("("):
            draft.location = self.location()
            return
        if word == "tensor":
            draft.texts.append(self._type_text())
        cursor.advance()
        if cursor.text == "=":
            cursor.advance()
            self._keyed(draft, word)
        elif draft.types is not None and SCALAR.fullmatch(word):
            draft.types.append(word)
        elif word == "to" and draft.types is not None:
            draft.open_results()
        elif word in ("true", "false"):
            draft.literal = word
        elif cursor.kind == "value" and draft.types is None and not self._is_at_end(draft):
            draft.attributes[word] = cursor.text
        else:
            draft.words.append(word)

    def _keyed(self, draft: Draft, key: str) -> None:
        """Read what stands behind ``key =`` outside of a dictionary."""
        if self.cursor.kind == "value":
            draft.attributes[key] = self.cursor.text
            return
        draft.attributes[key] = attribute_value(self.cursor.text)
        self.cursor.advance()

    def _type_text(self) -> str:
        """Return the type at the cursor; of one without an end, what is kept of it."""
        cursor = self.cursor
        is_cut = not cursor.text.endswith(">") and cursor.follows("<")
        return broken_type(cursor.source, cursor.start) if is_cut else cursor.text

    def _type(self, draft: Draft) -> None:
        draft.texts.append(self._type_text())
        if draft.types is not None:
            draft.types.append(compact(self.cursor.text))
        else:
            draft.literal = compact(self.cursor.text)  # dense<...>
        self.cursor.advance()

    def _arrow(self, draft: Draft) -> None:
        draft.open_results()
        draft.before = len(draft.texts)
        self.cursor.advance()

    def _number(self, draft: Draft) -> None:
        draft.numbers.append(self.cursor.text)
        if draft.types is None:
            draft.literal = self.cursor.text
        self.cursor.advance()

    def _symbol(self, draft: Draft) -> None:
        draft.attributes["callee"] = self.cursor.text[1:].strip('"')
        self.cursor.advance()

    def _successor(self, draft: Draft) -> None:
        """Read a block that is branched to, and what it is handed."""
        cursor = self.cursor
        label, operands = cursor.text, []
        cursor.advance()
        if cursor.text == "(":
            while cursor.kind and cursor.text not in ("):"):
                if cursor.kind == "value":
                    operands.append(cursor.text)
                cursor.advance()
            while cursor.kind and cursor.text != ")":
                cursor.advance()
            cursor.advance()
        draft.operands.extend(operands)
        draft.successors.append(WrittenSuccessor(label, tuple(operands)))

    def _mark(self, draft: Draft) -> None:
        cursor, mark = self.cursor, self.cursor.text
        if mark == "{":
            self._braces(draft)
            return
        if mark == "(":
            named = _NAMED.match(cursor.source, cursor.start)
            if named is not None and named.group(1) == ":":
                self._arguments = [(n, t) for n, t, _ in self.arguments()]
                return
            if named is not None:
                self._bind(draft)
                return
        if mark == ":":
            draft.open_types()
        cursor.advance()

    def _bind(self, draft: Draft) -> None:
        """Read ``(%x = %y, ...)``: what a loop iterates, and its first values."""
        cursor = self.cursor
        while cursor.kind and cursor.text != ")":
            cursor.advance()
            if cursor.kind != "value":
                break
            draft.bindings.append(cursor.text)
            cursor.advance()
            cursor.advance()
            draft.operands.append(cursor.text)
            cursor.advance()
        cursor.advance()

    # -- braces -----------------------------------------------------------------------------

    _arguments: Arguments = ()

    def _braces(self, draft: Draft) -> None:
        cursor = self.cursor
        if self._is_dictionary(draft):
            entries, end = parse_dictionary(cursor.source, cursor.start)
            draft.attributes.update(entries)
            cursor.move_to(end)
            return
        arguments, self._arguments = self._arguments, ()
        regions = self._regions
        if not regions:
            arguments = [*self._iterated(draft), *arguments]
        regions.append(self.read_region(arguments))

    def _is_dictionary(self, draft: Draft) -> bool:
        cursor = self.cursor
        match = DICTIONARY.match(cursor.source, cursor.start)
        if match is None:
            return False
        if match.group("word") is None and match.group().endswith("}"):
            before = cursor.source[: cursor.last_end].endswith(("else", "do", "default"))
            return not (draft.name in _WITH_REGIONS and (not self._regions or before))
        is_operation = match.group("end") == "}" and _TERMINATOR.fullmatch(match.group("word"))
        return not is_operation

    def _iterated(self, draft: Draft) -> Arguments:
        """Return the arguments of the first region of a loop."""
        types = draft.arrow if draft.name == "scf.for" else draft.colon
        types = list(types or ()) + [""] * len(draft.bindings)
        iterated = list(zip(draft.bindings, types))
        if not draft.variable:
            return iterated
        return [(draft.variable, draft.colon[0] if draft.colon else "index"), *iterated]

    # -- arguments and locations ------------------------------------------------------------

    def arguments(self) -> list[tuple[str, str, dict[str, Attribute]]]:
        """Read ``(%x: type {...} loc(...), ...)``; names are empty where there are none."""
        cursor = self.cursor
        arguments: list[tuple[str, str, dict[str, Attribute]]] = []
        cursor.advance()
        while cursor.kind and cursor.text != ")":
            name = ""
            entries: dict[str, Attribute] = {}
            if cursor.kind == "value":
                name = cursor.text
                cursor.advance()
                cursor.advance()  # the colon
            begin = end = cursor.start
            while cursor.kind and cursor.text not in (",", ")"):
                if cursor.text == "{":
                    entries, after = parse_dictionary(cursor.source, cursor.start)
                    cursor.move_to(after)
                elif cursor.text == "loc" and cursor.follows("("):
                    self.location()
                else:
                    end = closing(cursor.source, cursor.start) if cursor.text == "(" else cursor.end
                    cursor.move_to(end)
            arguments.append((name, compact(cursor.source[begin:end]), entries))
            if cursor.text == ",":
                cursor.advance()
        cursor.advance()
        return arguments

    def location(self) -> str:
        """Read ``loc(...)`` and return what stands within."""
        self.cursor.advance()
        begin = self.cursor.start
        end = closing(self.cursor.source, begin)
        self.cursor.move_to(end)
        return self.cursor.source[begin + 1 : end - 1]
