"""How a run by trials is resumed from its journal: the call, and the command."""

import re
import shlex
from typing import Any

from infimum.blackbox.journal_reading import MAGIC, JournalContent, StartCommand, maximises, read_journal
from infimum.errors import JournalError
from infimum.problem.text import counted
from infimum.support.lazy import dataclass

# The options that a journal notes, with their defaults (those of `IndexOptions`).
USUAL = {"r": None, "descents": True, "polish": True, "curve": "single", "lines": 2, "order": None, "asynchronous": False}


@dataclass(frozen=True, slots=True)
class ResumeHint:
    """What to write, in Python and in a shell; None where the shell has no such command. `trials`: how many are kept. `started`:
    the command line that began it, if one did."""

    path: str
    call: str
    command: str | None
    trials: int
    started: StartCommand | None

    def message(self, how: str) -> str:
        """In place of what was asked for."""
        return f"{self.path} is a journal of {counted(self.trials, 'trial')}, not the checkpoint of a proof: continue it with " \
               f"{how}, with the other settings it was begun with, and a larger max_trials= if its budget is used up"


def resume_hint(path: str) -> ResumeHint | None:
    """How to go on from a file; None if it is no journal, or cannot be read."""
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    read = read_journal(path)
    problem = read.problem
    if not {"bounds", "integers", "choices", "constraints"} <= set(problem) or \
            not (problem.get("study") or problem.get("functions") or problem.get("command")):
        raise JournalError(f"the journal {path} is damaged: line 1 does not say what problem it is of")
    return ResumeHint(path, _call(path, read), _command(path, read), len(read.trials), read.started)


def _call(path: str, read: JournalContent) -> str:
    problem, choices, count = read.problem, read.problem["choices"], read.problem["constraints"]
    pairs = [f"[{', '.join(choices[key])}]" if (key := str(i)) in choices else str(tuple(pair))
             for i, pair in enumerate(problem["bounds"])]
    whole = [int(i in problem["integers"] and str(i) not in choices) for i in range(len(pairs))]
    said = [f"[{', '.join(pairs)}]", *([f"integrality={whole}"] if any(whole) else [])]
    if problem.get("study"):
        said += [text for text, holds in ((f"constraints={count}", count), ("maximise=True", problem.get("maximise"))) if holds]
        return f"infimum.study({', '.join([*said, *_settings(read)])}, journal={path!r})"
    *constraints, function = _names(problem)
    if "inner" in problem:
        return _call_of_nested(path, problem, function, said, [*constraints], _settings(read))
    if problem.get("args"):
        said.append(f"args=({', '.join(problem['args'])},)")
    if count:
        said.append(f"constraints={count if 'command' in problem else '[' + ', '.join(constraints) + ']'}")
    verb = "maximize" if maximises(problem) else "minimize"
    return f"infimum.{verb}({function}, {', '.join([*said, *_settings(read)])}, engine='index', journal={path!r})"


def _settings(read: JournalContent) -> list[str]:
    """The settings of the search that are not the usual ones, as arguments."""
    options = {name: read.settings[name] for name, usual in USUAL.items() if read.settings.get(name, usual) != usual}
    x0 = read.settings.get("x0")
    return ([f"options={options}"] if options else []) + ([f"x0={x0}"] if x0 else [])


def _call_of_nested(path: str, problem: dict[str, Any], function: str, said: list[str], constraints: list[str],
                    settings: list[str]) -> str:
    inner, (outer, *integrality) = problem["inner"], said
    own = _named([*inner["constraints"], {"name": "the function"}])[:-1]
    shown = ", ".join(f"({low}, {high})" for low, high in inner["bounds"])
    whole = [int(i in inner["integers"]) for i in range(len(inner["bounds"]))]
    simulate = inner["simulate"] and _named([inner["simulate"]])[0]
    given = [(f"simulate={simulate}", simulate), (f"constraints=[{', '.join(constraints)}]", constraints),
             (f"inner_constraints=[{', '.join(own)}]", own), ("maximise=True", maximises(problem)), *((text, True) for text in
             (*integrality, *settings)), (f"inner_integrality={whole}", any(whole)), (f"journal={path!r}", True)]
    return f"infimum.nested({', '.join([function, outer, f'[{shown}]', *(text for text, holds in given if holds)])})"


def _command(path: str, read: JournalContent) -> str | None:
    problem = read.problem
    if problem.get("study") or "inner" in problem:
        return None
    said = ["infimum minimize", f"--command {shlex.quote(_line(problem))}" if "command" in problem else
            f"FILE.py:{_names(problem)[-1]} --engine index"]
    if not problem["choices"]:       # these only a file can declare
        said.append("--bounds " + " ".join(repr(end).removesuffix(".0") for pair in problem["bounds"] for end in pair))
    whole = [str(i) for i in problem["integers"] if str(i) not in problem["choices"]]
    said += [f"--integers {','.join(whole)}"] if whole else []
    if "command" in problem and problem["constraints"]:
        said.append(f"--constraints {problem['constraints']}")
    said += ["--maximise"] if maximises(problem) else []
    return " ".join([*said, f"--journal {shlex.quote(path)}"])


def _names(problem: dict[str, Any]) -> list[str]:
    """Of the constraints and the function, as they may be called: a lambda has no name."""
    if "command" in problem:
        return [repr(_line(problem))]
    met = bool(problem.get("inner", {}).get("constraints"))  # of a nested problem one is that of all inner ones
    return _named([*problem["functions"][:-1 - met], problem["functions"][-1]])


def _named(functions: list[dict[str, Any]]) -> list[str]:
    names = [part["name"].rpartition(".")[2] for part in functions]
    return [name if name.isidentifier() else "fun" if k == len(names) - 1 else f"g{k + 1}" for k, name in enumerate(names)]


def _line(problem: dict[str, Any]) -> str:
    """A command in one line, as people write it: places in braces need no quotes."""
    return " ".join(word if _SAFE.fullmatch(word) else shlex.quote(word) for word in problem["command"])


_SAFE = re.compile(r"[\w@%+=:,./{}-]+", re.ASCII)
