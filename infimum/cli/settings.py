"""The settings of `minimize` as flags, and how their values are read from words."""

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from secrets import randbits
from typing import Any

from infimum.api.solve import ENGINES
from infimum.blackbox.journal_reading import JournalFile, StartCommand

_BRACKETS = str.maketrans("()[]", "    ")


def number(text: str) -> float:
    """A number as Python reads it: 0.1 is the double 0.1; inf and -inf are numbers."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text.strip()!r} is not a number") from None


def end(text: str) -> int | Fraction | float:
    """An end of bounds: a whole number and a fraction are what is written, 2**53 + 1 and 1/3 too; others are numbers as Python
    reads them.

    >>> end("9007199254740993"), end("1/3"), end("0.1"), end("-inf")
    (9007199254740993, Fraction(1, 3), 0.1, -inf)
    """
    with suppress(ValueError):  # then it is no whole number
        return int(text)
    above, slash, below = text.partition("/")
    try:
        return Fraction(int(above), int(below)) if slash else number(text)
    except (ValueError, ZeroDivisionError):
        raise ArgumentTypeError(f"{text.strip()!r} is not a fraction of whole numbers") from None


def whole(text: str) -> int:
    """A whole number, also written as 1e6."""
    try:
        return int(text)
    except ValueError:
        value = number(text)
    if not value.is_integer():  # nor are infinity and NaN
        raise ArgumentTypeError(f"{text.strip()!r} is not a whole number")
    return int(value)


def workers(text: str) -> int | str:
    """A whole number, or `ray`, or the address of a cluster."""
    return text.strip() if text.strip().lower() == "auto" or not text.strip()[:1].isdigit() or ":" in text else whole(text)


def seed(text: str) -> int:
    """A whole number, or `random`: drawn here, so that a checkpoint holds it."""
    return randbits(32) if text == "random" else whole(text)


def numbers(text: str) -> list[float]:
    """Numbers with spaces, commas or brackets between them."""
    return [number(word) for word in _words(text)]


def ends(text: str) -> list[int | Fraction | float]:
    """The same of ends of bounds."""
    return [end(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text.translate(_BRACKETS).strip(" ,")) if word]


def pairs(text: str) -> list[tuple[Any, Any]]:
    """Bounds: `-5 10 -5 10`, or the pairs separated: `-5,10;-5,10`.

    >>> pairs("-5,10; 0,inf"), pairs("1/3 1e3")
    ([(-5, 10), (0, inf)], [(Fraction(1, 3), 1000.0)])
    """
    rows = [ends(part) for part in text.strip("; ").split(";")]
    if len(rows) == 1:
        rows = [rows[0][i:i + 2] for i in range(0, len(rows[0]), 2)]
    wrong = next((i for i, row in enumerate(rows) if len(row) != 2), None)
    if wrong is not None or not rows:
        has = f"variable {wrong} has {len(rows[wrong])} of them" if wrong is not None else "there is no number"
        raise ArgumentTypeError(f"each variable needs two numbers, LO HI, and {has} in {text.strip()!r}")
    return [(low, high) for low, high in rows]


def whole_numbers(text: str) -> list[int]:
    """Whole numbers: `0,2`, or `0 2`."""
    return [whole(str(value)) for value in numbers(text)]


def points(text: str) -> list[list[float]]:
    """Points: `1 2`, or several: `1,2;3,4`."""
    return [numbers(part) for part in text.strip("; ").split(";")]


def options(text: str) -> list[tuple[str, Any]]:
    """`NAME=VALUE` words; a value is a number if it reads as one, None, True or False if it is `none`, `true` or `false`, and
    otherwise text; a comma makes a tuple.

    >>> options("particles=100 start=sobol partition=10,4 enough=none gaps=true")
    [('particles', 100), ('start', 'sobol'), ('partition', (10, 4)), ('enough', None), ('gaps', True)]
    """
    found = []
    for word in text.split() or [text]:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ArgumentTypeError(f"expected NAME=VALUE, such as particles=100, not {word!r}")
        found.append((name, _value(value)))
    return found


_WORDS = {"none": None, "true": True, "false": False}


def _value(text: str) -> Any:
    if "," in text:
        return tuple(_value(part) for part in text.split(","))
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (int, float):
        with suppress(ValueError):  # then it is another kind of value
            return read(text)
    return text


# flag: what argparse needs to know. The name of the flag is the name of the argument of `minimize`.
SETTINGS: dict[str, dict[str, Any]] = {
    "--engine": {"choices": ENGINES, "help": "auto (the default) proves; newton, complete and subdomain prove with "
                 "published algorithms, for comparison; swarm only searches, which is faster; index makes trials of a function "
                 "that cannot be traced"},
    "--atol": {"type": number, "metavar": "GAP", "help": "prove until upper - lower is at most this (1e-6) ..."},
    "--rtol": {"type": number, "metavar": "RATIO", "help": "... or this fraction of |upper| (1e-6)"},
    "--xtol": {"type": number, "metavar": "WIDTH", "help": "and until no region that may hold a minimiser is wider than this "
               "(regions that touch are printed as one box)"},
    "--feasibility": {"type": number, "metavar": "WIDTH", "help": "equations may be off by this much (0: they are exact)"},
    "--time-limit": {"type": number, "metavar": "SECONDS", "help": "stop after this time and print what was reached"},
    "--max-boxes": {"type": whole, "metavar": "COUNT", "help": "stop after this many boxes"},
    "--memory-limit": {"type": number, "metavar": "BYTES", "help": "stop when the regions take more than this (8e9)"},
    "--batch": {"type": whole, "metavar": "COUNT", "help": "boxes per step of branch and bound; the default suits the device; "
                "engine index: trials of a round (as many as workers)"},
    "--checkpoint": {"metavar": "FILE.inf", "help": "save the state of the proof in this file, for `infimum resume`"},
    "--device": {"metavar": "NAME", "help": "cpu, cuda, cuda:1, …, or auto (the default): a GPU for long runs only"},
    "--seed": {"type": seed, "metavar": "WHOLE", "help": "of all random numbers (0); the same seed gives the same bits; "
               "`random` draws one, which is printed"},
    "--threads": {"type": whole, "metavar": "COUNT", "help": "number of CPU threads (one for each core); never changes a bit"},
    "--x0": {"type": points, "metavar": "X ...", "action": "extend",
             "help": "a point to start from, one number per variable; several: \"1,2;3,4\", or repeat --x0"},
    "--option": {"type": options, "metavar": "NAME=VALUE", "action": "extend", "dest": "options",
                 "help": "an option of the engine, such as particles=100; may be repeated"},
    "--max-trials": {"type": whole, "metavar": "COUNT", "help": "engine index: stop after this many trials (1,000 a variable, "
                     "without a time limit)"},
    "--workers": {"type": workers, "metavar": "COUNT", "help": "processes to which a proof deals its regions; with engine "
                  "index, how many trials run at once (1); or `ray`, or the address of a Ray cluster"},
    "--portions": {"type": whole, "metavar": "COUNT", "help": "with --workers: into how many portions a proof deals its "
                   "regions in a round (64); bits depend on it, and not on the workers"},
    "--timeout": {"type": number, "metavar": "SECONDS", "help": "engine index: a trial that takes longer is killed"},
    "--journal": {"metavar": "FILE.jsonl", "help": "engine index: keep every trial in this file; `infimum resume FILE.jsonl`, or "
                  "the same command again, continues from there"},
    "--check": {"action": BooleanOptionalAction, "help": "compare the traced function with plain calls of it (the default); "
                "engine index: evaluate the best point of a journal again before the run continues, and end with an error if its "
                "value is another one; --no-check for noisy functions"},
    "--progress": {"action": BooleanOptionalAction, "help": "show a line of progress on stderr (the default on terminals)"},
}


def add_settings(parser: ArgumentParser, flags: Sequence[str] = tuple(SETTINGS), said: Mapping[str, str] | None = None) -> None:
    """Flags of SETTINGS, and --json. `said` is the help of those that mean something else here."""
    group = parser.add_argument_group("settings")
    for flag in flags:
        group.add_argument(flag, **SETTINGS[flag] | ({"help": said[flag]} if said and flag in said else {}))
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def settings_of(args: Namespace) -> dict[str, Any]:
    """The arguments of `minimize` that were given; for the others its own defaults hold."""
    names = [about.get("dest", flag[2:].replace("-", "_")) for flag, about in SETTINGS.items()]
    found = {name: value for name in names if (value := getattr(args, name)) is not None}
    if "journal" in found:  # which says then how it was begun, for `infimum resume`
        found["journal"] = JournalFile(found["journal"], StartCommand(tuple(args.words), os.path.abspath("")))
    return found | ({"options": dict(found["options"])} if "options" in found else {})


def _reads(read: Any, word: str) -> bool:
    try:
        return bool(read(word))
    except ArgumentTypeError:
        return False


_GATHERS = {"--bounds": ends, "--integers": numbers, "--start-box": ends, "--x0": numbers, "--option": options}


def joined(argv: Sequence[str]) -> list[str]:
    """argv with FLAG and the values that follow it as one word FLAG=VALUES, where argparse would go wrong: it takes -1e3 or
    "-5,10;-5,10" for a flag, and the file after the bounds for a bound.

    >>> joined(["--bounds", "-1e3", "10", "f.py", "--atol", "1"])
    ['--bounds=-1e3 10', 'f.py', '--atol', '1']
    """
    words: list[str] = []
    at = 0
    while at < len(argv):
        word, at = argv[at], at + 1
        if word == "--":
            return [*words, *argv[at - 1:]]
        end = at
        if word in _GATHERS:
            while end < len(argv) and _reads(_GATHERS[word], argv[end].replace(";", " ")):
                end += 1
        elif word.startswith("--") and "=" not in word and at < len(argv):
            end += argv[at].startswith("-") and _reads(number, argv[at])
        words.append(f"{word}={' '.join(argv[at:end])}" if end > at else word)
        at = end
    return words
