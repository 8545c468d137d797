"""Where the program starts. Nothing is imported before Ctrl-C is answered: most of the time of a short command is imports."""

import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        from infimum.cli.program import run

        return run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        print("infimum: interrupted before there was a result", file=sys.stderr)
        return INTERRUPTED
