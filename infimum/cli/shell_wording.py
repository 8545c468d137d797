"""What the library says to callers in Python, in the words of the command line."""

import re

from infimum.cli.settings import SETTINGS

_FLAGS = {flag[2:].replace("-", "_"): flag for flag in SETTINGS}
_RULES = (
    (r"names\(\) lists all", "`infimum gallery` lists all"),
    (r"pass n=\.\.\., or a list of pairs", "give --n, or a pair for each variable"),
    (r"the vector x and the further arguments `args`", "the vector x alone"),
    (r"infimum\.resume\('([^']*)', fun(?:, device='(\w+)')?\)",
     lambda m: f"`infimum resume {m[1]} FILE.py{f' --device {m[2]}' if m[2] else ''}`"),
    (r"\bthe same call\b", "the same command"),
    (r"\bcheck=False", "--no-check"),
    (r"r\.find_minimisers\(time_limit=\.\.\.\) looks for", "`find_minimisers` of the library looks for"),
    (r"options=\{'(\w+)': ([^}]*)\}", r"--option \1=\2"),
    (r"\b(engine|workers)='(\w+)'", r"--\1 \2"),
    (r'\bengine="(\w+)"', r"--engine \1"),
    (rf"^({'|'.join(_FLAGS)})(?= must be)", lambda m: _FLAGS[m[1]]),
    (rf"\b({'|'.join(_FLAGS)})=(?!['\[])(?=(\w)?)", lambda m: _FLAGS[m[1]] + (" " if m[2] else "")),
)


def for_shell(text: str) -> str:
    """The text with flags in place of keyword arguments.

    >>> for_shell("run.inf exists: continue with infimum.resume('run.inf', fun), or give time_limit=10 or xtol=, x0=")
    'run.inf exists: continue with `infimum resume run.inf FILE.py`, or give --time-limit 10 or --xtol, --x0'
    """
    for said, meant in _RULES:
        text = re.sub(said, meant, text)
    return text
