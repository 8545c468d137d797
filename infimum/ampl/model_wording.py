"""What the library says to callers in Python, in the words of a model: its names, and settings as NAME=VALUE."""

import re
from dataclasses import replace
from typing import Any

from infimum.ampl.names import Names
from infimum.problem.constraint import ConstraintValues
from infimum.result import Answering, Result

_RULES = (
    (r"^For the minimum of -f: ", "The objective's negative is minimised. "),
    (r', x0=infimum\.minimize\(f, bounds, engine="swarm"\)\.x', ", as initial values of the variables: engine=swarm finds one"),
    (r"\bas x0=", "as initial values of the variables"),
    (r"`lambda x: ([^`]*)`", r"`\1`"),
    (r"\boptions=\{['\"](\w+)['\"]: ([^}]*)\}", lambda m: f"option={m[1]}={m[2].lower()}"),
    (r"\b(\w+)=(['\"])(\w+)\2", r"\1=\3"),
    (r"\bnp\.maximum\b", "max"), (r"\bnp\.minimum\b", "min"), (r"\bnp\.where\b", "if"),
)


def for_model(text: str, names: Names) -> str:
    """The text in these words.

    >>> for_model('Offer x[0] as x0=, or give options={"lp": True}.', Names(("flow",)))
    'Offer flow as initial values of the variables, or give option=lp=true.'
    """
    for said, meant in _RULES:
        text = re.sub(said, meant, text)
    return names.in_text(text)


def about_model(result: Result, names: Names) -> Result:
    """The result, all of whose texts are about the model."""
    texts = {name: for_model(text, names) for name in ("message", "obstacle", "advice")
             if (text := getattr(result, name)) is not None}
    inquiry = None if result.inquiry is None else _NamedConstraints(result, names)
    return replace(result, names=names.variables, inquiry=inquiry, **texts)


class _NamedConstraints(Answering):
    """Constraints with their names."""

    def __init__(self, result: Result, names: Names):
        self.result, self.names = result, names

    def __call__(self, _: Any) -> ConstraintValues | None:
        found, known = self.result.constraints, self.names.constraints
        if found is None:
            return None
        rows = [replace(row, name=known[row.number] if known is not None and row.number >= 0 else self.names.in_text(row.name))
                for row in found]
        return ConstraintValues(rows, found.violation)
