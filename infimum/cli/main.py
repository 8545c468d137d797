"""Where the program starts. Hardly anything is imported before Ctrl-C is answered: imports are most of the time of a short
command."""

import os
import sys
from collections.abc import Sequence

import infimum
from infimum.cli.exit_codes import INTERRUPTED, OK, READER_GONE, USAGE


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        error = _output_error()
    except OSError:
        error = _output_error("\n")
        if error is None:  # it was not about the output
            raise
    if error is None:
        return code
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    print(f"infimum: the output could not be written: {error.strerror}", file=sys.stderr)
    return USAGE


def _run(words: Sequence[str]) -> int:
    try:
        if list(words) in (["-v"], ["--version"]):  # asked by modelling systems before every run
            print(f"infimum {infimum.__version__}")
            return OK
        from infimum.cli.program import run

        return run(words)
    except KeyboardInterrupt:
        print("infimum: interrupted before there was a result", file=sys.stderr)
        return INTERRUPTED


def _output_error(text: str = "") -> OSError | None:
    """Why what was printed, and this text after it, cannot be written.

    A stream that fails leads nowhere from then on, so that Python's own flush at the end of the process succeeds.
    """
    found = None
    for stream, more in ((sys.stdout, text), (sys.stderr, "")):
        try:
            if stream is not None:  # None: it was closed when the program started
                print(end=more, file=stream, flush=True)
        except OSError as error:
            found = found or error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    return found
