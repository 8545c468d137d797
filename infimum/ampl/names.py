"""What variables, constraints and objectives are called: names from the .col and .row files next to a model, or numbers."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from infimum.ampl.header import Header
from infimum.problem.text import printable

_NUMBERED = re.compile(r"\bx\[(?P<x>\d+)\]|\bvariable (?P<variable>\d+)\b|\bconstraint (?P<constraint>\d+)\b"
                       r"|\bx = \((?P<point>[^()]*)\)")
_IN_ALL = re.compile(r", … ([\d,]+) in all$")  # ends a point that is shortened


class Names(NamedTuple):
    """Each as the file has them; None where there is no file of them."""

    variables: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None
    objectives: tuple[str, ...] | None = None

    @classmethod
    def beside(cls, path: Path, header: Header) -> "Names":
        """Those in the files next to a model. A file with another number of lines belongs to another model, or has a name with a
        line break in it: then nobody knows whose the names are, and it counts for nothing."""
        columns, rows = _lines(path.with_suffix(".col")), _lines(path.with_suffix(".row"))
        m, objectives = header.constraints, header.objectives
        if rows is not None and len(rows) not in (m, m + objectives):
            rows = None
        return cls(tuple(columns) if columns is not None and len(columns) == header.variables else None,
                   None if rows is None else tuple(rows[:m]),
                   tuple(rows[m:]) if rows is not None and objectives and len(rows) == m + objectives else None)

    def variable(self, i: int) -> str:
        """As a sentence has it.

        >>> Names(("flow", "mass of B")).variable(1), Names().variable(1)
        ("'mass of B'", 'x[1]')
        """
        return f"x[{i}]" if self.variables is None else _in_sentence(self.variables[i])

    def constraint(self, i: int) -> str:
        """As a sentence has it, with the word.

        >>> Names().constraint(2), Names(constraints=("pool",)).constraint(0)
        ('constraint 2', 'constraint pool')
        """
        return f"constraint {i if self.constraints is None else _in_sentence(self.constraints[i])}"

    def objective(self, i: int) -> str:
        """As a sentence has it, with the word; i counts from 0."""
        return f"objective {i if self.objectives is None else _in_sentence(self.objectives[i])}"

    def in_text(self, text: str) -> str:
        """A text in which variables and constraints have numbers, with names.

        >>> Names(("flow", "pH"), ("pool",)).in_text("x[0] and variable 0 in constraint 0, near x = (1, 2)")
        'flow and variable flow in constraint pool, near flow = 1, pH = 2'
        """
        return _NUMBERED.sub(self._named, text)

    def _named(self, found: re.Match) -> str:
        if found["constraint"] is not None:
            i, known = int(found["constraint"]), self.constraints
            return self.constraint(i) if known is not None and i < len(known) else found[0]
        if found["point"] is not None:
            return self._point(found["point"]) or found[0]
        i, known = int(found["x"] or found["variable"]), self.variables
        name = self.variable(i) if known is None or i < len(known) else f"x[{i}]"
        return name if found["x"] is not None else f"variable {name}"

    def _point(self, text: str) -> str | None:
        """The variables with their values; None if these are not the model's variables."""
        in_all = _IN_ALL.search(text)
        values = text[:in_all.start() if in_all else None].split(", ")
        count = int(in_all[1].replace(",", "")) if in_all else len(values)
        if self.variables is None or count != len(self.variables):
            return None
        return ", ".join(f"{self.variable(i)} = {value}" for i, value in enumerate(values)) + (", …" if in_all else "")


def _in_sentence(name: str) -> str:
    """Quoted where one would not see where it begins and ends."""
    text = printable(name)
    return f"'{text}'" if re.search(r"[\s'\"`,;]", re.sub(r"\[[^\[\]\s]*\]", "", text)) else text


def _lines(path: Path) -> Sequence[str] | None:
    """The lines of a file, without their ends; None if it cannot be read, or if one of them is empty."""
    try:
        lines = path.read_bytes().decode("utf-8-sig", "replace").removesuffix("\n").split("\n")
    except OSError:
        return None
    found = [line.removesuffix("\r") for line in lines]
    return found if all(found) else None
