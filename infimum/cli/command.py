"""What a command is."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from infimum.errors import InfimumError
from infimum.support.lazy import dataclass


class CommandError(InfimumError):
    """A command cannot be carried out as given: no such file, no function to choose, words that do not go together.

    Example: `infimum minimize missing.py`. Cure: the message names it; `infimum COMMAND --help` has examples.
    """


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table of commands: `configure` adds the arguments to its parser, `run` returns the exit code."""

    name: str
    summary: str
    usage: str
    description: str
    examples: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
