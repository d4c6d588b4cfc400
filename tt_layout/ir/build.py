"""From the notes of the reader to a module: attributes, types looked up, movements described."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tt_layout.enums import TypeKind
from tt_layout.ir.dump_part import Part
from tt_layout.ir.module import AttributeValue, Function, LazyAliases, Module, TypeUses
from tt_layout.ir.operations import Operation, source_and_target
from tt_layout.ir.scope import Interner, Scope
from tt_layout.ir.types import IRType
from tt_layout.mlir.source import Source

_HEAD = re.compile(r'"?[\w.]+"?\s*(?:@(?:[\w$.-]+|"[^"\n]*")\s*)?attributes\s*\{', re.ASCII)
_TAIL = re.compile(r"\}\s*\)\s*\{")
MAX_LENGTH = 1 << 16  # characters of a module's attributes

_FUNCTION = re.compile(r'[^@"]*@(?:"([^"\n]*)"|([\w$.-]+))')
_GENERIC_FUNCTION = re.compile(r'\bsym_name\s*=\s*"([^"\n]*)"')
_REGION = re.compile(r"\(\s*\{|\n[ \t]*\n")
_WARPS = re.compile(r"num_warps\s*\(\s*(\d{1,4})\s*\)")
_OWN_WARPS = re.compile(r'"ttg\.num-warps"\s*=\s*(\d{1,4})')
MAX_HEAD = 1 << 16  # characters in which the name of a function is looked for


def module_attributes(source: Source, part: Part) -> dict[str, AttributeValue]:
    """Return the attributes of the module of a part: numbers, strings and truth values.

    Values of other kinds are kept as text.  The generic form has them at its end.
    """
    if part.module is None:
        return {}
    text = source.text
    head = _HEAD.match(text, part.module)
    begin = head.end() if head is not None else None
    for offset in part.closed if begin is None else ():
        tail = _TAIL.match(text, offset)
        if tail is not None:
            begin = tail.end()
            break
    if begin is None:
        return {}
    from tt_layout.ir.ssa.attributes import parse_dictionary

    return parse_dictionary(text[begin - 1 : begin + MAX_LENGTH], 0)[0]


def build_module(source: Source, part: Part, interner: Interner) -> Module:
    """Return the module that the notes of a part describe."""
    scope = Scope(source, part, interner)
    types = [scope.type(text, first) for text, first in zip(part.texts, part.first_offsets)]
    functions = tuple(_function(source, offset) for offset in part.functions)
    start = part.module if part.module is not None else part.start
    aliases = part.aliases.defined if part.has_aliases else part.aliases
    warps = [n for p in (_WARPS, _OWN_WARPS) for n in p.findall(source.text, part.start, part.end)]
    return Module(
        source=source,
        line=source.line_column(start)[0],
        pass_name=part.pass_name,
        stage=part.stage,
        attributes=module_attributes(source, part),
        aliases=LazyAliases(aliases, scope.alias, scope.is_location),
        types=_type_uses(source, part, types),
        functions=functions,
        operations=tuple(_operations(source, part, scope, types, functions)),
        partition_warps=frozenset(int(number) for number in warps),
        meanings=scope,
        span=source.span(part.start, part.end),
        stands_alone=part.stands_alone,
        error=part.cut_off(source),
    )


def _type_uses(source: Source, part: Part, types: list[IRType | None]) -> TypeUses:
    """Return the uses of types, less those of aliases that are not defined."""
    offsets, numbers = part.offsets, part.type_numbers
    missing = {number for number, ir_type in enumerate(types) if ir_type is None}
    if missing:
        kept = [i for i, number in enumerate(numbers) if number not in missing]
        offsets = type(offsets)("q", (offsets[i] for i in kept))
        numbers = type(numbers)("l", (numbers[i] for i in kept))
    placeholder = IRType("", TypeKind.TENSOR, (), "", None, None)
    return TypeUses(source, [t or placeholder for t in types], offsets, numbers)


def _function(source: Source, offset: int) -> Function:
    match = _FUNCTION.match(source.text, offset, offset + MAX_HEAD)
    if source.text[offset] == '"':
        region = _REGION.search(source.text, offset)
        end = region.start() if region is not None else len(source.text)
        match = _GENERIC_FUNCTION.search(source.text, offset, min(end, offset + MAX_HEAD))
    name = next((group for group in match.groups() if group), "") if match else ""
    return Function(name, *source.line_column(offset))


def _operations(
    source: Source,
    part: Part,
    scope: Scope,
    types: list[IRType | None],
    functions: tuple[Function, ...],
) -> Iterator[Operation]:
    locations = scope.locations
    for raw in part.operations:
        all_types = [types[number] for number in raw.types]
        arrow = len(all_types) if raw.arrow is None else raw.arrow
        before = sum(1 for ir_type in all_types[:arrow] if ir_type is not None)
        present = tuple(ir_type for ir_type in all_types if ir_type is not None)
        if not present:
            continue  # it moves a scalar
        yield Operation(
            raw.name,
            functions[raw.function - 1].name if raw.function else None,
            *source.line_column(raw.start),
            locations.of_operation(raw.location),
            present,
            *source_and_target(raw.name.rpartition(".")[2], present, before),
        )
