"""The program: its commands, its errors, its exit codes."""

import re
import sys
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import infimum
from infimum.cli import ampl, gallery, minimize, resume, verify
from infimum.cli.command import Command
from infimum.cli.exit_codes import USAGE
from infimum.cli.settings import joined
from infimum.cli.shell_wording import for_shell
from infimum.errors import InfimumError
from infimum.support.output_files import FileWarning

COMMANDS: tuple[Command, ...] = (minimize.COMMAND, resume.COMMAND, verify.COMMAND, gallery.COMMAND)

_EXAMPLES = """examples:
  infimum minimize model.py --bounds -5 10 -5 10
  infimum gallery rastrigin --n 10

`infimum COMMAND --help` has more of them.

""" + ampl.HELP


def parser() -> ArgumentParser:
    """The parser of all commands."""
    style: dict[str, Any] = {"formatter_class": RawDescriptionHelpFormatter, "allow_abbrev": False}
    top = ArgumentParser("infimum", description="Global minima of nonlinear functions, with proof.", epilog=_EXAMPLES, **style)
    top.add_argument("-v", "--version", action="version", version=f"infimum {infimum.__version__}")
    table = top.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in COMMANDS:
        sub = table.add_parser(command.name, help=command.summary, usage=command.usage, description=command.description,
                               epilog=command.examples, **style)
        command.configure(sub)
        sub.set_defaults(run=command.run, parser=sub)
    return top


def run(argv: Sequence[str]) -> int:
    """Runs a command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a letter shows a question mark
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if ampl.is_meant(argv):
        return _guarded(lambda: ampl.run(argv), str)
    top = parser()
    try:
        args, unknown = top.parse_known_args(joined(argv))
        if unknown:
            top.error(f"unrecognized arguments: {' '.join(unknown)}{_meant(unknown, args)}")
        args.words = list(argv)
    except SystemExit as done:  # argparse has said why
        return int(done.code or 0)
    if args.command is None:
        top.print_help(sys.stderr)
        return USAGE
    return _guarded(lambda: args.run(args))


def _meant(unknown: Sequence[str], args: Namespace) -> str:
    """Which flag of the command the first unknown one resembles, as a question; nothing if it resembles none."""
    given = next((word.partition("=")[0].replace("_", "-").lower() for word in unknown if word.startswith("--")), None)
    if given is None or args.command is None:
        return ""
    flags = list(dict.fromkeys(re.findall(r"--[a-z][\w-]*", args.parser.format_help())))
    near = [flag for flag in flags if flag.startswith(given)] or get_close_matches(given, flags, n=1)
    return f": did you mean {near[0]}?" if near else ""


def _guarded(command: Callable[[], int], wording: Callable[[str], str] = for_shell) -> int:
    """Runs it; errors of ours become a line on stderr, in the words of the command line, and so do warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", FileWarning)
            warnings.showwarning = _line_on_stderr(warnings.showwarning)
            return command()
    except InfimumError as error:
        print(f"infimum: {wording(' '.join(str(error).split()))}", file=sys.stderr)
        return USAGE


def _line_on_stderr(usual: Callable[..., None]) -> Callable[..., None]:
    """Shows a warning of ours as a line; others, of the user's own file, as usual."""
    def show(message: Any, category: type, *where: Any, **more: Any) -> None:
        if issubclass(category, FileWarning):
            print(f"infimum: {for_shell(str(message))}", file=sys.stderr)
        else:
            usual(message, category, *where, **more)
    return show
