"""Values for the arguments of kernels: given by the user, or by what the dump states about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from tt_layout.errors import LayoutError, expect
from tt_layout.hardware import Target
from tt_layout.ir.ssa import Attribute
from tt_layout.ir.ssa.attributes import DIVISIBILITY
from tt_layout.ir.ssa.model import Function, Operation
from tt_layout.ir.ssa.types import ValueType
from tt_layout.records import dataclass
from tt_layout.surface import argument

PROGRAM_AXES = "xyz"
PROGRAM_IDS = tuple(f"program_id_{axis}" for axis in PROGRAM_AXES)
PROGRAM_COUNTS = tuple(f"num_programs_{axis}" for axis in PROGRAM_AXES)

_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,20})", re.ASCII)
_WORDS = {"true": 1, "false": 0}


@dataclass(frozen=True)
class GivenValues:
    """Values of kernel arguments.

    Attributes:
        values: argument, without ``%``, or ``program_id_x``, ``num_programs_x`` and so on, ->
            its value; of a pointer its address, of which the rest modulo 512 matters.
        product: the row of the GPU that was asked for, with that product alone; it holds of
            modules for this chip, and of those that name none.
    """

    values: Mapping[str, int] = field(default_factory=dict)
    product: Target | None = None

    def program(self, name: str) -> int | None:
        """Return a program id, 0 unless given, or a number of programs; None if unknown."""
        default = 0 if name in PROGRAM_IDS else None
        return self.values.get(name, default)

    def argument(
        self, name: str, type_: ValueType, attributes: Mapping[str, Attribute]
    ) -> int | None:
        """Return the value of an argument; None if unknown.

        A pointer that is not given but has ``tt.divisibility`` is taken for the beginning of
        what an allocator returns, a multiple of 512.

        Raises:
            LayoutError: the value does not fit the type, or what the kernel assumes of it.
        """
        value = self.values.get(name)
        if value is None:
            is_allocated = type_.is_scalar and DIVISIBILITY in attributes
            return 0 if is_allocated and type_.pointee is not None else None
        _check_type(name, value, type_)
        divisor = attributes.get(DIVISIBILITY)
        if isinstance(divisor, int) and divisor > 0 and value % divisor:
            message = f"the kernel was compiled for multiples of {divisor} of {name}"
            raise LayoutError(f"{message} (tt.divisibility), got {value}")
        return value if type_.integer_bits != 1 else -value


def _check_type(name: str, value: int, type_: ValueType) -> None:
    is_scalar = type_.is_scalar
    if is_scalar and type_.pointee is not None:
        low, high = 0, (1 << 63) - 1
    elif not is_scalar or type_.integer_bits is None:
        kind = "a tensor" if type_.is_tensor else type_.element
        raise LayoutError(
            f"the value of {name} must be an integer or pointer, but is {kind}: leave it out"
        )
    elif type_.integer_bits == 1:
        low, high = 0, 1
    else:
        high = (1 << type_.integer_bits - 1) - 1
        low = -high - 1
    if not low <= value <= high:
        what = "an address" if type_.pointee is not None else type_.element
        raise LayoutError(f"the value of {name} must be {what}, in {low}..{high}, got {value}")


# -- reading --------------------------------------------------------------------------------


def parse_values(
    texts: Sequence[str], others: Mapping[str, int] = MappingProxyType({})
) -> GivenValues:
    """Return the values given as ``name=number``, which go before others.

    Raises:
        LayoutError: a text is not such a pair, a value not an integer, a name is given twice, or a
            program id is negative.

    Example:
        >>> parse_values(["stride=0x10"], {"n": 7, "stride": 1}).values
        {'n': 7, 'stride': 16}
    """
    numbers: dict[str, int] = {}
    for text in texts:
        name, separator, number = text.partition("=")
        name = plain_name(name.strip())
        if not separator or not name:
            raise LayoutError(
                f"{argument('value')} takes NAME=NUMBER such as stride=4096, got {text!r}"
            )
        if name in numbers:
            raise LayoutError(f"{argument('value')} gives {name} twice")
        numbers[name] = parse_number(name, number.strip())
    values = {**others, **numbers}
    for name in (*PROGRAM_IDS, *PROGRAM_COUNTS):
        least = int(name in PROGRAM_COUNTS)
        if values.get(name, least) < least:
            raise LayoutError(f"{name} must be at least {least}, got {values[name]}")
    return GivenValues(values)


def program_value(operation: Operation) -> str:
    """Return which id or number of programs an operation asks for, such as ``program_id_x``."""
    axis = PROGRAM_AXES[(operation.integer("axis") or 0) % 3]
    return f"{operation.name.rpartition('get_')[2]}_{axis}"


def program_counts(grid: Sequence[int]) -> dict[str, int]:
    """Return the numbers of programs of a launch, as values that a kernel may ask for.

    Args:
        grid: programs along one axis or more.

    Example:
        >>> program_counts((64, 8))
        {'num_programs_x': 64, 'num_programs_y': 8, 'num_programs_z': 1}
    """
    return dict(zip(PROGRAM_COUNTS, (*grid, 1, 1)))


def launch_values(
    values: Mapping[str, int] | None, grid: Sequence[int] | None
) -> Mapping[str, int] | None:
    """Return the values of a launch with the numbers of its programs, unless it gives others.

    A grid that is none adds nothing: it is refused where programs are counted, as a grid.

    Example:
        >>> launch_values({"n": 3, "num_programs_y": 2}, (64,))
        {'num_programs_x': 64, 'num_programs_y': 2, 'num_programs_z': 1, 'n': 3}
        >>> launch_values({"n": 3}, (0,))
        {'n': 3}
    """
    if grid is None or not all(isinstance(size, int) and size > 0 for size in grid):
        return values
    expect("values", values, Mapping, type(None))
    return {**program_counts(grid), **(values or {})}


def plain_name(text: str) -> str:
    """Return the name of an argument without the sign of a value."""
    return text.removeprefix("%")


def parse_number(name: str, text: str) -> int:
    """Return the integer or truth value that an argument is given.

    Raises:
        LayoutError: the text is neither.

    Example:
        >>> parse_number("n", "-0x10"), parse_number("flag", "true")
        (-16, 1)
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) is None:
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        hint = " (leave out arguments that are floats)" if _is_float(text) else ""
        raise LayoutError(f"the value of {name} must be an integer, got {shown!r}{hint}")
    return int(text, 16 if "x" in text.lower() else 10)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def checked_arguments(given: GivenValues, functions: Iterable[Function]) -> Iterator[str]:
    """Yield the names of the functions' arguments.

    Raises:
        LayoutError: a given value does not fit its argument.
    """
    for function in functions:
        for value, attributes in zip(function.arguments, function.argument_attributes):
            name = plain_name(value.name)
            given.argument(name, value.type, attributes)
            yield name


def check_names(given: GivenValues, arguments: Iterable[str]) -> None:
    """Raise if a value is given for an argument that no function has.

    Raises:
        LayoutError: naming the arguments that there are.
    """
    names = [*dict.fromkeys(arguments), *PROGRAM_IDS, *PROGRAM_COUNTS]
    wrong = next((name for name in given.values if name not in names), None)
    if wrong is not None:
        raise LayoutError(f"no kernel has an argument {wrong!r}; choose from {', '.join(names)}")
