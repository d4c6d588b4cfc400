"""Commands with examples below their help, and groups that name the command that was meant."""

from __future__ import annotations

import os

import click

from tt_layout.errors import LayoutError, nearest


def show_examples(command: click.Command, name: str) -> click.Command:
    """Return a command whose help ends with its examples."""
    from tt_layout.cli.examples import examples_of

    command.epilog = examples_of(name)
    return command


class HelpfulGroup(click.Group):
    """A group that answers a command that it does not have with the nearest that it has."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called.

        Raises:
            click.UsageError: there is no such command.
            LayoutError: it is the name of a file that is not there.
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
