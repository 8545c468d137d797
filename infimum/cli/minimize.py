"""`infimum minimize FILE.py[:function]`, and `infimum minimize --command LINE`."""

import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from infimum.api.solve import maximize, minimize
from infimum.blackbox.file_function import FileFunction
from infimum.blackbox.variables import Variables
from infimum.cli.command import Command, CommandError
from infimum.cli.printing import CODES_HELP, show
from infimum.cli.settings import add_settings, pairs, settings_of, whole, whole_numbers
from infimum.cli.user_file import add_constraints, chosen, constraints_of, loaded, parted
from infimum.problem.text import counted
from infimum.problem.variable_bounds import read_bounds


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.py[:function]", nargs="?",
                        help="a Python file, and the function in it; by default its only "
                        "public function, or the one called f, fun or objective")
    parser.add_argument("--command", metavar="LINE", dest="line",
                        help="in place of a file: a program that is run for each trial, "
                        "such as \"./sim {x0} {x1}\"; the last line that it prints is the value, or g1 g2 ... f with "
                        "--constraints COUNT; {x} stands for all variables, {out} for a file with the result")
    parser.add_argument("--bounds", type=pairs, action="extend", metavar="LO HI ...",
                        help="a pair for each variable, also written \"-5,10;-5,10\"; ends may be inf, -inf and fractions, "
                             "1/3; by default the variable `bounds` of the file")
    parser.add_argument("--n", type=whole, metavar="N",
                        help="the number of variables, if one pair is for all of them; by default the variable `n` of the file")
    parser.add_argument("--start-box", type=pairs, action="append", metavar="LO HI ...", dest="start_boxes",
                        help="a box inside the bounds, a pair for each variable; repeat it for more: search and proof are then "
                             "about their union; by default the variable `start_boxes` of the file, or the whole box")
    add_constraints(parser, "; with --command, how many numbers the program prints before that of the function")
    parser.add_argument("--integers", type=whole_numbers, action="extend", metavar="I ...",
                        help="the variables that are whole numbers, counted from 0: 0,2; by default those that the variable "
                             "`integrality` of the file marks with 1, if there is one")
    parser.add_argument("--maximise", "--maximize", action="store_true", help="find and prove the global maximum")
    add_settings(parser)


def run(args: Namespace) -> int:
    """Prints the table of the result. What the file itself prints goes to stderr."""
    if (args.file is None) == (args.line is None):
        raise CommandError("give either a Python file, `infimum minimize FILE.py`, or a program, --command \"./sim {x0}\"")
    if args.line is not None:
        return _of_command(args)
    path, name = parted(args.file)
    with redirect_stdout(sys.stderr), loaded(path) as module:
        name, fun = chosen(module, path, name, args.constraints)
        bounds, n = _box(args, module, path)
        by_trials = args.engine == "index"
        count = len(Variables.read(bounds, n=n) if by_trials else read_bounds(bounds, n).lo)
        start = args.start_boxes if args.start_boxes is not None else getattr(module, "start_boxes", None)
        constraints = constraints_of(args.constraints, module, path)
        if by_trials and (args.timeout is not None or args.workers not in (None, 1)):
            fun, constraints = _for_workers(fun, module, path), _for_workers(constraints, module, path)
        integrality = getattr(module, "integrality", None) if args.integers is None else _integrality(args.integers, count)
        given = {"start_boxes": start, "constraints": constraints, "integrality": integrality}
        settings = settings_of(args) | {name: value for name, value in given.items() if value is not None}
        result = (maximize if args.maximise else minimize)(fun, bounds, n=n, **settings)
    return show(result, args.json, f"{path}:{name}, {counted(count, 'variable')}")


def _of_command(args: Namespace) -> int:
    """Trials of a program."""
    if args.engine not in (None, "index"):
        raise CommandError(f"--command runs a program, which only --engine index can minimise, not {args.engine}")
    bounds, n = _box(args, None, None)
    count = len(Variables.read(bounds, n=n))
    try:
        constraints = 0 if args.constraints is None else int(args.constraints)
    except ValueError:
        raise CommandError("with --command, --constraints is how many numbers the program prints before that of the function, "
                           f"not {args.constraints!r}") from None
    given = {"start_boxes": args.start_boxes, "integrality": _integrality(args.integers, count)}
    settings = settings_of(args) | {name: value for name, value in given.items() if value is not None}
    settings |= {"engine": "index", "constraints": constraints}
    result = (maximize if args.maximise else minimize)(args.line, bounds, n=n, **settings)
    return show(result, args.json, f"{args.line}, {counted(count, 'variable')}")


def _for_workers(given: Any, module: ModuleType, path: Path) -> Any:
    """Functions of the file as workers can have them, who cannot import it: by its name and theirs."""
    if isinstance(given, (list, tuple)):
        return [_for_workers(one, module, path) for one in given]
    name = getattr(given, "__name__", None)
    return FileFunction(path, name) if name is not None and getattr(module, name, None) is given else given


def _integrality(integers: list[int] | None, count: int) -> np.ndarray | None:
    if integers is None:
        return None
    for i in integers:
        if not 0 <= i < count:
            raise CommandError(f"--integers names variable {i}, and there are {counted(count, 'variable')}, counted from 0")
    return np.isin(np.arange(count), integers)


def _box(args: Namespace, module: ModuleType | None, path: Path | None) -> tuple[Any, int | None]:
    """The bounds and n. The command line takes precedence over what the file declares; a declared n counts only if there is one
    pair to repeat."""
    declared = getattr(module, "bounds", getattr(module, "BOUNDS", None))
    n = args.n if args.n is not None else getattr(module, "n", None)
    if args.bounds:
        if len(args.bounds) > 1:
            return args.bounds, args.n
        return (args.bounds, None) if n is None else (args.bounds[0], n)
    if declared is None:
        declare = "" if path is None else f", or declare them in {path}: bounds = [(-5, 10), (-5, 10)]"
        raise CommandError("there are no bounds: give --bounds LO HI for each variable (--bounds LO HI --n N if they are all "
                           f"the same){declare}")
    return declared, n if _is_one_pair(declared) else args.n


def _is_one_pair(bounds: Any) -> bool:
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return np.size(bounds.lb) == np.size(bounds.ub) == 1
    return isinstance(bounds, (tuple, list, np.ndarray)) and len(bounds) == 2 and all(np.ndim(end) == 0 for end in bounds)


COMMAND = Command(
    name="minimize",
    summary="find and prove the global minimum of a function in a Python file",
    usage="infimum minimize FILE.py[:function] [--bounds LO HI ...] [--n N] [--start-box LO HI ...]\n"
          "                        [--constraints NAME] [--integers I ...] [--maximise] [settings] [--json]\n"
          "       infimum minimize --command LINE --bounds LO HI ... [--constraints COUNT] [--integers I ...] [settings]",
    description="Encloses the global minimum of a NumPy function over a box, and all its minimisers, with proof.\n"
                "The file is run once; then the function is called with a symbolic vector. With --command, or --engine\n"
                "index, trials are made with numbers, and nothing is proved.",
    examples="""examples:
  infimum minimize model.py --bounds -5 10 -5 10         two variables
  infimum minimize model.py:cost --bounds "-5,10;0,inf"  choose the function cost
  infimum minimize model.py --bounds -5.5 6 --n 10       ten variables with the same bounds
  infimum minimize model.py --xtol 1e-4 --time-limit 60  the file declares bounds = [(-5, 10), (-5, 10)]
  infimum minimize model.py --bounds -5 5 -5 5 --start-box 0 1 0 1 --start-box 1 2 0 2
  infimum minimize model.py --constraints limits --integers 0,2   a list or a function `limits` in the file
  infimum minimize model.py --engine swarm --option particles=100 --seed 1
  infimum minimize model.py --json > result.json
  infimum minimize model.py --workers ray                     a proof on all machines of a Ray cluster
  infimum minimize model.py --engine index --max-trials 500   for what cannot be traced
  infimum minimize --command "./sim {x0} {x1}" --bounds 0 1 0 1 --workers 4 --journal run.jsonl

""" + CODES_HELP,
    configure=configure,
    run=run)
