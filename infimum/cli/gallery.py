"""`infimum gallery`: the test problems with known minima, listed or run."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

from infimum import problems
from infimum.api.solve import minimize
from infimum.cli.check import Check, check
from infimum.cli.command import Command, CommandError
from infimum.cli.exit_codes import OK, OPEN
from infimum.cli.printing import CODES_HELP, code_of, print_json, row
from infimum.cli.settings import add_settings, settings_of, whole
from infimum.cli.shell_wording import for_shell
from infimum.errors import GalleryError, InfimumError
from infimum.problem.text import counted
from infimum.problems import GalleryProblem
from infimum.result import Result, Verdict
from infimum.support.lazy import dataclass

_MAX_N, _TIME_LIMIT = 5, 10.0
_WORDS = (*Verdict.__members__, "ERROR", "ok", "missed", "WRONG")  # in the summary, in this order


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the problem to run; without a name, all are listed")
    parser.add_argument("--n", type=whole, metavar="N", help="the number of variables of a scalable problem")
    parser.add_argument("--all", action="store_true", help="run every problem with up to --max-n variables, one line each")
    parser.add_argument("--max-n", type=whole, metavar="N", help=f"the largest number of variables for --all ({_MAX_N})")
    add_settings(parser)


def run(args: Namespace) -> int:
    """Lists, or runs one, or runs all."""
    settings = settings_of(args)
    _check_words(args, settings)
    if args.all:
        return _run_all(args, ({} if args.engine == "swarm" else {"time_limit": _TIME_LIMIT}) | settings)
    if args.name is None:
        return _list(args.json)
    return _run_one(problems.get(args.name, args.n), settings, args.json)


def _check_words(args: Namespace, settings: dict[str, Any]) -> None:
    lists = args.name is None and not args.all
    rules = (
        (args.all and args.name is not None, "give the NAME of a problem or --all, not both"),
        (args.max_n is not None and not args.all, "--max-n belongs to --all; the variables of one problem are --n"),
        (args.all and "x0" in settings, "--x0 is a point of one problem, and --all runs many: give a NAME"),
        (lists and (settings or args.n is not None), "settings are for running: give the NAME of a problem, or --all"),
    )
    for broken, text in rules:
        if broken:
            raise CommandError(text)


# ---- the list
def _list(as_json: bool) -> int:
    everything = problems.all_problems()
    if as_json:
        print_json({"problems": [_about(p) for p in everything]})
        return OK
    print(f"{'name':<27} {'n':>4}  {'minimum':>17}  note")
    for p in everything:
        shown = 0.0 if 0.0 in p.minimum else (p.minimum.lo + p.minimum.hi) / 2
        print(f"{p.name:<27} {p.n:>3}{'+' if p.scalable else ' '}  {shown:>17.10g}  {p.notes}")
    print(f"\n{counted(len(everything), 'problem')}; + exists with other numbers of variables. "
          "Run one: infimum gallery NAME [--n N]")
    return OK


def _about(p: GalleryProblem) -> dict[str, Any]:
    return {"name": p.name, "n": p.n, "scalable": p.scalable, "minimum": [p.minimum.lo, p.minimum.hi], "bounds": p.bounds,
            "minimisers": p.points, "complete": p.complete, "notes": p.notes, "source": p.source}


def _entry(p: GalleryProblem, result: Result, found: Check) -> dict[str, Any]:
    return result.to_dict() | {"problem": _about(p), "check": found.fields()}


# ---- one
def _run_one(p: GalleryProblem, settings: dict[str, Any], as_json: bool) -> int:
    result = minimize(p.fun, p.bounds, **settings)
    found = check(p, result)
    if as_json:
        print_json(_entry(p, result, found))
    else:
        print(row("problem", f"{p.name}, {counted(p.n, 'variable')}: {p.notes}"))
        print(for_shell(str(result)))
        print(row("known", found.about_minimum()))
        print(row("", found.about_minimisers()))
    return code_of(result) if found.ok else OPEN


# ---- all
@dataclass(frozen=True, slots=True)
class _Run:
    """One of many: its entry in the JSON object, its line, the words to count, and the exit code it would have had."""

    entry: dict[str, Any]
    line: str
    words: tuple[str, ...]
    code: int
    interrupted: bool = False


def _run_all(args: Namespace, settings: dict[str, Any]) -> int:
    most = _MAX_N if args.max_n is None else args.max_n
    chosen = [p for p in (_sized(p, args.n) for p in problems.all_problems()) if p.n <= most]
    start, runs = time.perf_counter(), []
    _say(args, f"{'name':<27} {'n':>3} {'verdict':<10} {'lower':>22} {'upper':>22} {'seconds':>8}")
    for p in chosen:
        runs.append(_run(p, settings))
        _say(args, runs[-1].line)
        if runs[-1].interrupted:
            left = len(chosen) - len(runs)
            print(f"interrupted: {left} of {counted(len(chosen), 'problem')} {'was' if left == 1 else 'were'} not run",
                  file=sys.stderr)
            break
    seconds, counts = time.perf_counter() - start, Counter(word for run in runs for word in run.words)
    said = ", ".join(f"{count} {word}" for word in _WORDS if (count := counts[word]))
    _say(args, f"\n{counted(len(runs), 'problem')} in {seconds:.1f} s{': ' if said else ''}{said}")
    if args.json:
        print_json({"runs": [run.entry for run in runs], "summary": {"problems": len(runs), "seconds": seconds, **counts}})
    return OK if len(runs) == len(chosen) and all(run.code == OK for run in runs) else OPEN


def _run(p: GalleryProblem, settings: dict[str, Any]) -> _Run:
    begin = f"{p.name:<27} {p.n:>3}"
    try:
        result = minimize(p.fun, p.bounds, **settings)
    except InfimumError as error:
        return _Run({"problem": _about(p), "error": str(error)}, f"{begin} {'ERROR':<10} {error}", ("ERROR",), OPEN)
    found, verdict = check(p, result), result.verdict.name
    line = f"{begin} {verdict:<10} {result.lower + 0.0:>22.15g} {result.upper:>22.15g} {result.seconds:>8.3f} {found.word}"
    return _Run(_entry(p, result, found), line, (verdict, found.word), code_of(result) if found.ok else OPEN,
                result.message.startswith("interrupted"))


def _sized(p: GalleryProblem, n: int | None) -> GalleryProblem:
    """With n variables, if it exists with as many."""
    try:
        return p if n is None or not p.scalable else problems.get(p.name, n)
    except GalleryError:
        return p


def _say(args: Namespace, line: str) -> None:
    if not args.json:
        print(line, flush=True)


COMMAND = Command(
    name="gallery",
    summary="list or run classical test problems with known minima",
    usage="infimum gallery [NAME [--n N] | --all [--n N] [--max-n N]] [settings] [--json]",
    description="Without arguments, lists the problems. With a NAME, runs one and compares the result with its known\n"
                "minimum and minimisers; with --all, runs all of them.",
    examples="""examples:
  infimum gallery                                   the list
  infimum gallery branin                            run one
  infimum gallery rastrigin --n 100 --xtol 1e-4     with 100 variables
  infimum gallery --all                             those with up to 5 variables, at most 10 s each
  infimum gallery --all --n 3 --time-limit 2        the scalable ones with 3 variables
  infimum gallery --json > gallery.json

the last word of a line of --all:
  ok      what was proved agrees with what is known
  missed  a search ended above the known minimum; it claims nothing
  WRONG   the known minimum or a known minimiser lies outside what was proved: please report it
the exit code of --all is 0 if that of every single run would be 0, otherwise 1.

""" + CODES_HELP,
    configure=configure,
    run=run)
