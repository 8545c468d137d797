"""The command line of a trial: a template with places for the variables, filled without a shell."""

import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

from infimum.blackbox.variables import Variables
from infimum.errors import OptionError
from infimum.problem.text import counted

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_OF_SHELLS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "&>"}


class Template:
    """Words with places: `{x0}`, `{x1}`, … for the variables; `{x}` for all of them, as words of their own where it stands alone
    and with commas between them where it does not; `{out}`, the name of a file that the program writes its result to; `{dir}`, a
    folder of the trial's own. Both are removed afterwards. `{{` and `}}` stand for braces.

    >>> Template("./sim --at={x} -n 3 {x1}", Variables.read([(0, 1)] * 2)).words([0.5, 0.1])
    ['./sim', '--at=0.5,0.1', '-n', '3', '0.1']
    """

    def __init__(self, command: str | Sequence[Any], variables: Variables):
        if not isinstance(command, (str, list, tuple)) or isinstance(command, str) and not command.strip() or not command:
            raise OptionError(f"a command must be a line such as './sim {{x0}} {{x1}}', or a list of its words, not {command!r}")
        try:
            self.parts = shlex.split(command) if isinstance(command, str) else [os.fsdecode(word) for word in command]
        except (ValueError, TypeError) as error:
            raise OptionError(f"the command {command!r} cannot be read: {error}") from None
        self.variables = variables
        used = {name for word in self.parts for name in self._places(word)}
        self.needs_folder = bool(used & {"out", "dir"})
        self.writes_file = "out" in used
        missing = [f"{{x{i}}}" for i in range(len(variables)) if "x" not in used and f"x{i}" not in used]
        if missing:
            raise OptionError(f"the command {self} has no place for {', '.join(missing[:4])}{', …' if len(missing) > 4 else ''}: "
                              f"each of {counted(len(variables), 'variable')} needs one; {{x}} stands for all of them")
        operators = [word for word in self.parts if word in _OF_SHELLS]
        if operators:
            raise OptionError(f"the command {self} has {operators[0]!r} in it, which only a shell understands, and none is used: "
                              "write a script, or sh -c '...'")

    def _places(self, word: str) -> list[str]:
        """The names of its places; an error if one is not known."""
        found = []
        for match in _PLACE.finditer(word):
            name = match.group(1)
            if match.group() in ("{{", "}}"):
                continue
            index = re.fullmatch(r"x(0|[1-9]\d*)", name or "")
            if name not in ("x", "out", "dir") and not (index and int(index[1]) < len(self.variables)):
                known = "{x0}" if len(self.variables) == 1 else f"{{x0}} to {{x{len(self.variables) - 1}}}"
                raise OptionError(f"the command has {match.group()!r} in it: places are {known}, {{x}} for all of them, {{out}} "
                                  "and {dir}; write {{ and }} for braces")
            found.append(name)
        return found

    def words(self, x: Sequence[float], folder: str = "") -> list[str]:
        """The words of the command at a point. Numbers are written with the digits that give the same double again."""
        texts = [_text(i, v, self.variables) for i, v in enumerate(x)]
        filled = {"x": ",".join(texts), "dir": folder, "out": os.path.join(folder, "out"), "{{": "{", "}}": "}"}
        filled |= {f"x{i}": text for i, text in enumerate(texts)}
        found = []
        for part in self.parts:
            found += texts if part == "{x}" else [_PLACE.sub(lambda match: filled[match.group(1) or match.group()], part)]
        return found

    def __str__(self) -> str:
        return shlex.join(self.parts)


def _text(i: int, value: float, variables: Variables) -> str:
    if i in variables.choices:
        return str(variables.choices[i][int(value)])
    return str(int(value)) if i in variables.integers else repr(float(value))
