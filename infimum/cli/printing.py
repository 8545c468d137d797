"""What is printed, and the exit code a verdict gives."""

import json
from typing import Any

from infimum.cli.exit_codes import INFEASIBLE, INTERRUPTED, OK, OPEN, READER_GONE, USAGE
from infimum.cli.shell_wording import for_shell
from infimum.problem.json_values import strict
from infimum.result import Result, Verdict

CODES = {Verdict.PROVED: OK, Verdict.STOPPED: OPEN, Verdict.UNDECIDED: OPEN, Verdict.INFEASIBLE: INFEASIBLE,
         Verdict.CANDIDATE: OK}
CODES_HELP = f"""exit codes:
  {OK}    proved, or a search that reached its own goal
  {OPEN}    stopped by a limit, undecided, or a search that has not converged, found most minima only once,
       or missed its target
  {USAGE}    wrong usage, an error in the file or its function, or an output that cannot be written
  {INFEASIBLE}    proved: no point within the bounds meets all constraints, or the function is defined nowhere
  {INTERRUPTED}  Ctrl-C before there was a result; once a run has started, Ctrl-C stops it and prints what was reached
  {READER_GONE}  the reader of the output ended before all was written, as in `infimum gallery | head -1`"""


def code_of(result: Result) -> int:
    """The exit code."""
    code = CODES[result.verdict]
    return OPEN if code == OK and not result.success else code


def row(name: str, text: str) -> str:
    """A line that stands in one table with those of a printed Result."""
    return f"{name:<12} {text}"


def print_json(value: Any) -> None:
    """One JSON object on one line."""
    print(json.dumps(strict(value), allow_nan=False))


def show(result: Result, as_json: bool, function: str) -> int:
    """Prints the answer, as one JSON object or as a table headed by the function; returns the exit code."""
    if as_json:
        print(result.to_json())
    else:
        print(row("function", function))
        print(for_shell(str(result)))
    return code_of(result)
