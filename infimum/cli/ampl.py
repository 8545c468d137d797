"""`infimum MODEL.nl -AMPL [NAME=VALUE ...]`: the program as a solver for AMPL, Pyomo, JuMP and whoever else writes .nl files."""

import os
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from typing import Any

from infimum.ampl.reader import path_of, read
from infimum.ampl.solution import write_solution
from infimum.ampl.solving import failed, solve
from infimum.cli.command import CommandError
from infimum.cli.exit_codes import OK
from infimum.cli.settings import SETTINGS, options, whole
from infimum.cli.show import show
from infimum.errors import InfimumError

_FLAG = "-AMPL"
_VARIABLE = "infimum_options"
_WRITE = 1  # the bit of `wantsol` that asks for a .sol file
_ELSEWHERE = ("--x0", "--progress", "--option", "--check")  # settings that are not given here, or in another form

# what can be set, and how its value is read
_SETTINGS: dict[str, Callable[[str], Any]] = {flag[2:].replace("-", "_"): about.get("type", str)
                                              for flag, about in SETTINGS.items() if flag not in _ELSEWHERE}
_OWN: dict[str, Callable[[str], Any]] = {"objno": whole, "wantsol": whole, "option": options}

HELP = f"""as a solver of AMPL models:
  infimum MODEL.nl {_FLAG} [NAME=VALUE ...]   reads MODEL.nl, text or binary, and writes MODEL.sol
  NAME is one of the settings of `infimum minimize`, as in time_limit=60, or option (option=particles=100),
  objno (1: the first objective, 0: none) or wantsol (1: write MODEL.sol without {_FLAG}); they are also read
  from the environment variable {_VARIABLE}."""


def is_meant(argv: Sequence[str]) -> bool:
    """Does the command line call the program as a solver?"""
    return _FLAG in argv[1:] or bool(argv and argv[0].endswith(".nl"))


def run(argv: Sequence[str]) -> int:
    """Solves the model; returns the exit code. Called by AMPL, the program says everything in the .sol file."""
    by_ampl = _FLAG in argv
    asked = settings_of([*re.sub(r"\s*=\s*", "=", os.environ.get(_VARIABLE, "")).split(),
                         *(word for word in argv[1:] if word != _FLAG)])
    own = {name: asked.pop(name) for name in _OWN if name in asked}
    number = own.get("objno", 1)
    if "option" in own:
        asked["options"] = dict(own["option"])
    model = read(argv[0])
    if number > len(model.objectives) and number != 1:
        raise CommandError(f"there is no objective {number} (objno={number}): the model has {len(model.objectives)}")
    result = None
    try:
        result, solution = solve(model, number, asked)
    except InfimumError as error:
        if not by_ampl:
            raise
        solution = failed(error, number)
    if by_ampl or own.get("wantsol", 0) & _WRITE:
        write_solution(path_of(argv[0]).with_suffix(".sol"), model.header, solution)
    if by_ampl:
        return OK
    print(solution.message)
    return show(result, False, str(path_of(argv[0])))


def settings_of(words: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE words as arguments; the last of a name counts.

    >>> settings_of(["time_limit=60", "objno=1", "time_limit=5"])
    {'time_limit': 5.0, 'objno': 1}
    """
    found: dict[str, Any] = {}
    known = _SETTINGS | _OWN
    for word in words:
        name, equals, value = word.partition("=")
        if name not in known or not equals:
            raise CommandError(f"{word!r} is not NAME=VALUE with a NAME among {', '.join(sorted(known))}")
        try:
            found[name] = known[name](value)
        except ArgumentTypeError as error:
            raise CommandError(f"{name}: {error}") from None
    return found
