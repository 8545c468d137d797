"""The settings of a model's run: NAME=VALUE words of the command line and the environment, under other solvers' names too."""

import re
import shlex
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from infimum.cli.command import CommandError
from infimum.cli.settings import SETTINGS, options, whole
from infimum.engines.registry import PROVERS, options_of
from infimum.support.lazy import dataclass

FLAG, VARIABLE = "-AMPL", "infimum_options"
_WRITE = 1  # the bit of `wantsol` that asks for a .sol file
_HELP = ("-h", "--help", "-?", "-=")
_ELSEWHERE = ("--x0", "--progress", "--option", "--check")  # settings that are not given here, or in another form

# what can be set, and how its value is read
_SETTINGS: dict[str, Callable[[str], Any]] = {flag[2:].replace("-", "_"): about.get("type", str)
                                              for flag, about in SETTINGS.items() if flag not in _ELSEWHERE}
_OWN: dict[str, Callable[[str], Any]] = {"objno": whole, "wantsol": whole, "outlev": whole, "option": options}
KNOWN = _SETTINGS | _OWN

# names that other solvers have for the same; what stands before a colon is a heading there, as in tech:outlev
_ALIASES = {
    **dict.fromkeys(("timelimit", "timelim", "maxtime", "max_time", "time", "tmlim", "max_wall_time", "limits/time", "reslim",
                     "seconds", "sec"), "time_limit"),
    **dict.fromkeys(("mipgap", "mipgaprel", "relmipgap", "gap", "optcr", "epsr", "ratio", "ratiogap", "limits/gap", "relgap",
                     "mip_rel_gap"), "rtol"),
    **dict.fromkeys(("mipgapabs", "absmipgap", "gapabs", "optca", "epsa", "allowablegap", "limits/absgap", "absgap",
                     "mip_abs_gap"), "atol"),
    **dict.fromkeys(("nodelim", "nodelimit", "nodes", "maxnodes", "node_limit", "maxiter", "limits/nodes"), "max_boxes"),
    **dict.fromkeys(("print_level", "loglevel", "verbose", "display"), "outlev"),
    **dict.fromkeys(("nthreads", "num_threads"), "threads"),
    **dict.fromkeys(("rngseed", "randomseed", "random_seed"), "seed"),
}


@dataclass(frozen=True, slots=True)
class Call:
    """What the program was asked to do with a model. settings: arguments of `minimize`. objective: its number, from 1 on, 0 for
    none. log: are lines about the run wanted?"""

    settings: dict[str, Any]
    by_ampl: bool
    objective: int
    writes: bool
    log: bool
    json: bool
    help: bool

    @classmethod
    def read(cls, words: Sequence[str], environment: Mapping[str, str]) -> "Call":
        """From the words after the model's name; those of the environment come first, and the last of a name counts."""
        by_ampl = FLAG in words
        asked = settings_of([*_split(environment.get(VARIABLE, "")),
                             *(word for word in words if word not in (FLAG, "--json", *_HELP))])
        own = {name: asked.pop(name) for name in _OWN if name in asked}
        if "option" in own:
            asked["options"] = dict(own["option"])
        return cls(asked, by_ampl, own.get("objno", 1), by_ampl or bool(own.get("wantsol", 0) & _WRITE),
                   by_ampl and own.get("outlev", 1) > 0, "--json" in words, any(word in words for word in _HELP))


def settings_of(words: Sequence[str]) -> dict[str, Any]:
    """Words as arguments: NAME=VALUE, NAME VALUE, --NAME=VALUE or --NAME VALUE.

    >>> settings_of(["timelimit=60", "objno=1", "--time-limit", "5"])
    {'time_limit': 5.0, 'objno': 1}
    """
    found: dict[str, Any] = {}
    waiting = list(reversed(words))
    while waiting:
        given, equals, value = waiting.pop().partition("=")
        name = _known(given)
        if not equals:
            if not waiting:
                raise CommandError(f"{given!r} has no value: write {given}=VALUE")
            value = waiting.pop()
        try:
            found[name] = KNOWN[name](value)
        except ArgumentTypeError as error:
            raise CommandError(f"{given}: {error}") from None
    return found


def _known(given: str) -> str:
    """The name of ours that is meant; an error that suggests one otherwise."""
    plain = given.strip().removeprefix("--").rpartition(":")[2].lower().replace("-", "_")
    name = _ALIASES.get(plain, plain)
    if name in KNOWN:
        return name
    if any(plain in (option.name for option in fields(kind)) for kind in map(options_of, PROVERS)):
        raise CommandError(f"{given!r} is an option of an engine: write option={plain}=VALUE")
    near = get_close_matches(plain, [*KNOWN, *_ALIASES], n=3)
    meant = list(dict.fromkeys(_ALIASES.get(one, one) for one in near))
    cure = f"did you mean {' or '.join(meant)}?" if meant else f"there are {', '.join(sorted(KNOWN))}"
    raise CommandError(f"infimum has no option {given!r}: {cure}")


def _split(text: str) -> list[str]:
    """The words of the environment's text: spaces may stand around =, and within quotation marks."""
    words = shlex.shlex(re.sub(r"\s*=\s*", "=", text), posix=True, punctuation_chars=False)
    words.whitespace_split, words.escape, words.commenters = True, "", ""
    try:
        return list(words)
    except ValueError:
        raise CommandError(f"the environment variable {VARIABLE} has a quotation mark without its partner: {text!r}") from None
