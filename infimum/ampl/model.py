"""A model as AMPL knows it: variables, objectives and constraints, with functions of NumPy arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infimum.ampl.formulas import LINEAR, Body, Formula, Formulas, Function
from infimum.ampl.header import Header
from infimum.ampl.names import Names
from infimum.errors import ModelFileError
from infimum.problem.constraint import Constraint
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """What is minimised or, if `maximise`, maximised."""

    fun: Function
    maximise: bool


class ModelContent(NamedTuple):
    """What the segments of a file hold: objectives, each with whether it is maximised; bodies of constraints; bounds of variables
    ("b") and of constraints ("r"); the initial guess, if there is one; and what is wrong with bounds that are reversed."""

    objectives: Sequence[tuple[Body, bool]]
    bodies: Sequence[Body]
    bounds: dict[str, tuple[np.ndarray, np.ndarray]]
    guess: np.ndarray | None
    reversed: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model that was read from a file.

    lo, hi, integrality: of each variable. x0: the initial guess, inside the bounds; None if there is none. objectives: usually
    one. constraints: all linear ones as one, then the others, those that are computed alike as one; `rows` are the numbers that
    they have in the file. called: names of variables, constraints and objectives. header: what the solution's file repeats.
    reversed: what is wrong with the first bounds that are reversed, and where in the file; None if none are.

    The functions take arrays of doubles and are traced as any function of the user's is; every constant is the double nearest
    to the decimal number in the file, and what is computed from constants alone is not rounded.
    """

    header: Header
    lo: np.ndarray
    hi: np.ndarray
    integrality: np.ndarray
    x0: np.ndarray | None
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    rows: tuple[np.ndarray, ...]
    called: Names = Names()
    reversed: str | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Those of the variables; None if there is no file of them."""
        return self.called.variables

    @property
    def constraint_names(self) -> tuple[str, ...] | None:
        """None if there is no file of them."""
        return self.called.constraints

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.lo)

    @property
    def m(self) -> int:
        """The number of constraints in the file."""
        return self.header.constraints

    @property
    def fun(self) -> Function:
        """The first objective; the function 0 if there is none."""
        first = self.objective(1)
        return Function("no objective", [Formula((), 1)], [], True) if first is None else first.fun

    def objective(self, number: int) -> Objective | None:
        """The objective of this number, from 1 on; None for 0, and for 1 if there is none: every feasible point will do."""
        return self.objectives[number - 1] if 0 < number <= len(self.objectives) else None

    def check(self) -> None:
        """Raises if bounds are reversed."""
        if self.reversed is not None:
            raise ModelFileError(self.reversed)

    @classmethod
    def of(cls, header: Header, called: Names, formulas: Formulas, content: ModelContent) -> "Model":
        """The model of a file with this header and these names, whose `formulas` hold what its bodies refer to."""
        bounds, guess = content.bounds, content.guess
        lo, hi = bounds["b"]
        aims = tuple(Objective(Function(f"objective {i}", [formulas.grouped([body])[0][0]], formulas.blocks, True), maximise)
                     for i, (body, maximise) in enumerate(content.objectives))
        constraints, rows = [], []
        for group in _parted(formulas.grouped(content.bodies)):
            at = np.array([row for _, some in group for row in some], dtype=np.intp)
            low, high = (ends[at] for ends in bounds["r"])
            fun = Function(f"{len(at)} constraints", [formula for formula, _ in group], formulas.blocks, row_numbers=at)
            constraints.append(Constraint(fun, low, high))
            rows.append(at)
        x0 = None if guess is None else np.clip(guess, lo, hi)
        return cls(header, lo, hi, header.integrality, x0, aims, tuple(constraints), tuple(rows), called,
                   content.reversed)


def _parted(groups: list[tuple[Formula, list[int]]]) -> list[list[tuple[Formula, list[int]]]]:
    """All linear groups together, then each of the others."""
    linear = [all(part.program == LINEAR or not part.leaves for part in formula.parts) for formula, _ in groups]
    together = [group for group, is_linear in zip(groups, linear, strict=True) if is_linear]
    return [together] * any(linear) + [[group] for group, is_linear in zip(groups, linear, strict=True) if not is_linear]
