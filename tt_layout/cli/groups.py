"""Groups of commands: their help, their examples, and suggestions for misspelt commands."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import click

from tt_layout.errors import LayoutError, nearest

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Your kernel": {
        "audit": "Report costly data movements in a dump.",
        "rank": "List configurations of a kernel by their estimated time.",
        "apply": "Write a dump with a suggestion applied.",
        "explain": "Explain a line of a dump in words.",
        "page": "Write a page of a dump or of layouts.",
    },
    "A layout (tt-layout LAYOUT -t TYPE prints it)": {
        "where": "Find an element, or the element at a location.",
        "info": "Show the properties of a layout.",
        "reduce": "Show the order in which a reduction adds.",
        "suggest": "Print the layout that the compiler would choose.",
        "translate": "Write a layout in another notation.",
        "cute": "Evaluate an expression of CuTe's algebra.",
        "plot": "Draw layouts as SVG, PNG or PDF.",
    },
    "Two layouts": {
        "conflicts": "Count the bank conflicts of a store and a load.",
        "swizzle": "Find the shared layout with the fewest bank conflicts.",
        "convert": "Show what a layout conversion takes.",
        "diff": "Explain what changed between two layouts.",
    },
    "In CI": {
        "check": "Compare layouts with their golden files.",
        "init": "Write a first manifest for a file or a folder.",
    },
    "For other programs": {
        "lsp": "Serve an editor: layouts and costs in a dump.",
        "mcp": "Serve an agent.",
    },
}
"""Group of commands -> command -> what it does."""

SUMMARIES: Mapping[str, str] = {
    name: summary for group in GROUPS.values() for name, summary in group.items()
}
"""Command -> what it does."""

ROWS = "'gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])'"
COLUMNS = "'gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])'"
OPERAND = "'gl.DotOperandLayout(0,\ngl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]), 2)'"
MEMORY = "'Swizzle<3,3,3> o (64,64):(64,1)'"

BLOCKED = (
    "'#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4],\n"
    "warpsPerCTA = [1, 1], order = [1, 0]}>'"
)

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        f"tt-layout -l {BLOCKED} -t 'tensor<8x8xf16>'",
        f"tt-layout {ROWS} -t 16x64xf16 --use-hw-view",
        "tt-layout -i kernel.ttgir --alias-names blocked -t 64x64xf16 --slice 0:4,0:16",
        "tt-layout kernel.ttgir",
    ),
    "apply": (
        "tt-layout apply kernel.ttgir -o new.ttgir",
        "tt-layout apply kernel.ttgir --all -o new.ttgir",
    ),
    "audit": (
        "tt-layout audit kernel.ttgir",
        "tt-layout audit kernel.ttgir --sort cost --format json",
    ),
    "check": ("tt-layout check layouts.yaml", "tt-layout check layouts.yaml --update"),
    "conflicts": (
        f"tt-layout conflicts {ROWS} {MEMORY} -t 64x64xf16",
        f"tt-layout conflicts {ROWS} '(64,64):(64,1)' -t 64x64xf16 --access store --target sm80",
    ),
    "convert": (f"tt-layout convert {ROWS} {OPERAND} -t 64x64xf16 --target sm80",),
    "cute": (
        "tt-layout cute 'logical_divide((8,6):(1,8), (4, 3))'",
        "tt-layout cute 'tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64, 64))' "
        "-t '!ttg.memdesc<64x64xf16>'",
    ),
    "diff": (
        f"tt-layout diff {ROWS} {COLUMNS} -t 64x64xf16",
        f"tt-layout diff {ROWS} {COLUMNS} -t 64x64xf32 --reduce 1",
    ),
    "explain": ("tt-layout explain kernel.ttgir:6",),
    "info": (
        f"tt-layout info {ROWS} -t 64x64xf16",
        "tt-layout info kernel.ttgir:shared -t 64x64xf16",
    ),
    "init": ("tt-layout init kernel.ttgir -o new.yaml",),
    "lsp": ("tt-layout lsp",),
    "mcp": ("tt-layout mcp --root kernels",),
    "page": (
        "tt-layout page kernel.ttgir -o kernel.html",
        f"tt-layout page {ROWS} {COLUMNS} -t 64x64xf16 -o both.html",
        "tt-layout page -o index.html",
    ),
    "plot": (
        f"tt-layout plot {ROWS} -t 16x64xf16 -o rows.svg",
        f"tt-layout plot {ROWS} {MEMORY} -t 64x64xf16 -o banks.svg",
        "tt-layout plot kernel.ttgir:blocked -o blocked.svg",
    ),
    "rank": (
        "tt-layout rank kernel.ttgir --grid 128,128",
        "tt-layout rank . --top 5",
    ),
    "reduce": (f"tt-layout reduce {ROWS} -t 64x64xf32 --axis 1 --triton 3.6",),
    "suggest": (
        "tt-layout suggest nvmma -t 64x64xf16",
        f"tt-layout suggest shared {OPERAND} -t 64x64xf16",
    ),
    "suggest blocked": ("tt-layout suggest blocked -t 16x64xf16 --size-per-thread 1,4",),
    "suggest coalesced": ("tt-layout suggest coalesced -t 64x64xf16 --contiguity 64",),
    "suggest nvmma": ("tt-layout suggest nvmma -t 64x64xf16",),
    "suggest shared": (f"tt-layout suggest shared {OPERAND} -t 64x64xf16",),
    "suggest tmem": (
        "tt-layout suggest tmem 'gl.nvidia.blackwell.TensorMemoryLayout((128, 64), 1)' "
        "-t '!ttg.memdesc<128x64xf32>'",
    ),
    "swizzle": (f"tt-layout swizzle {ROWS} {COLUMNS} -t 64x64xf16",),
    "translate": (
        f"tt-layout translate {ROWS} --to 3.4",
        f"tt-layout translate {MEMORY} --to gluon -t '!ttg.memdesc<64x64xf16>'",
    ),
    "where": (
        f"tt-layout where {ROWS} -t 64x64xf16 --element '(3, 5)'",
        f"tt-layout where {ROWS} -t 64x64xf16 --thread 37 --register 2",
    ),
}
"""Command -> lines for a shell; ``kernel.ttgir`` and ``layouts.yaml`` are files of the reader's."""


WIDTH = 76
INDENT = "  "


def show_examples(command: click.Command, name: str) -> click.Command:
    """Return a command whose help ends with its examples."""

    command.epilog = examples_of(name)
    return command


class HelpfulGroup(click.Group):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called.

        Raises:
            click.UsageError: there is no such command.
            LayoutError: it is the name of a missing file.
        """
        name = args[0]
        if self.get_command(context, name) is None and name[:1].isalpha():
            if "." in name or os.sep in name:
                raise LayoutError(f"no such file: {name!r}")
            near = nearest(name, self.list_commands(context))
            hint = f" Did you mean {near!r}?" if near is not None else ""
            context.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(context, args)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command of this group, with its examples."""
        path = f"{self.name} {name or cmd.name}"
        super().add_command(show_examples(cmd, path), name)


# -- examples --------------------------------------------------------------------------------------


def examples_of(command: str) -> str | None:
    """Return the examples below the help of a command; None without any.

    Example:
        >>> print(examples_of("suggest nvmma").replace("\\b", "(as it is)"))
        (as it is)
        Examples:
          tt-layout suggest nvmma -t 64x64xf16
    """
    if command not in EXAMPLES:
        return None
    lines = [line for example in EXAMPLES[command] for line in _folded(example)]
    return "\n".join(["\b", "Examples:", *lines])


def _folded(example: str) -> list[str]:
    """Return the lines of a command, broken in front of an option or an argument.

    Example:
        >>> _folded(f"tt-layout diff {ROWS} -t 64x64xf16 --reduce 1")[1]
        '    -t 64x64xf16 --reduce 1'
        >>> _folded(f"tt-layout info {BLOCKED}")[-1]
        "    warpsPerCTA = [1, 1], order = [1, 0]}>'"
    """
    lines = [INDENT]
    for word in re.findall(r"--?[\w-]+ (?!-)(?:'[^']*'|\S+)|'[^']*'|\S+", example):
        first, *rest = word.split("\n")
        if len(lines[-1]) + len(first) > WIDTH and lines[-1].strip():
            lines[-1] += "\\"
            lines.append(2 * INDENT)
        lines[-1] += first
        lines += (2 * INDENT + line for line in rest)
        lines[-1] += " "
    return [line.rstrip() for line in lines]
