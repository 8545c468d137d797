"""Where the program starts. Hardly anything is imported before Ctrl-C is answered: imports are most of the time of a short
command."""

import sys
from collections.abc import Sequence

from infimum.cli.exit_codes import INTERRUPTED


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        from infimum.cli.program import run

        return run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        print("infimum: interrupted before there was a result", file=sys.stderr)
        return INTERRUPTED
