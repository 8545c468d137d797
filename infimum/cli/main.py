"""Where the program starts. Hardly anything is imported before Ctrl-C is answered: imports are most of the time of a short
command."""

import sys
from collections.abc import Sequence

import infimum
from infimum.cli.exit_codes import INTERRUPTED, OK


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        words = sys.argv[1:] if argv is None else argv
        if list(words) in (["-v"], ["--version"]):  # asked by modelling systems before every run
            print(f"infimum {infimum.__version__}")
            return OK
        from infimum.cli.program import run

        return run(words)
    except KeyboardInterrupt:
        print("infimum: interrupted before there was a result", file=sys.stderr)
        return INTERRUPTED
