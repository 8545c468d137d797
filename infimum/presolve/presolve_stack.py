"""What a step of presolve is, the stack of such steps, and a run on the innermost form of a problem, seen in terms of the
outermost one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.system import System
from infimum.result import Progress, Result
from infimum.search.checkpoint import State
from infimum.search.progress import Figures, bounds, shown_value
from infimum.support.clock import stop_if_over


class Formulation(NamedTuple):
    """A problem in one form: the bounds, and the compiled function with its constraints."""

    problem: Problem
    evaluator: Evaluator

    def with_system(self, system: System) -> "Formulation":
        """The same function in another form, with its constraints."""
        return self._replace(evaluator=self.evaluator.rewritten(system.f, system, self.evaluator.fun))


class RunBounds(NamedTuple):
    """What a run knows so far: the best value that was found, which is an estimate, and the proved bounds of the optimum."""

    value: float
    lower: float
    upper: float


class PresolveStep:
    """Writes a problem in another form. Everything but `apply` leads back: it takes what belongs to the inner form, which `apply`
    returned, and gives what belongs to the outer form. The defaults are right where both forms have the same points and values.

    A step belongs to one run: `apply` is called once, and keeps what the way back needs. It keeps values and domain on the points
    that count, and nothing else may rely on the step being done: tests compare runs with and without each step. `said` is what it
    did, for users, where that is of interest.
    """

    said = ""

    def apply(self, given: Formulation) -> Formulation | None:
        """The inner form; None where the step has nothing to do, and then it is not kept."""
        raise NotImplementedError

    def postsolve(self, result: Result) -> Result:
        """The answer."""
        return result

    def point(self, x: np.ndarray) -> np.ndarray:
        """A point of a run that is at work."""
        return x

    def bounds(self, known: RunBounds) -> RunBounds:
        """The bounds of a run that is at work."""
        return known



class PresolveStack:
    """Steps in the order in which they were applied; they are undone in the opposite order. `formulation` is the innermost form.
    """

    def __init__(self, given: Formulation):
        self.formulation, self.steps = given, []

    def push(self, *steps: PresolveStep) -> Formulation:
        """Applies these steps, each to what the last one left. Returns the innermost form."""
        for step in steps:
            stop_if_over()
            found = step.apply(self.formulation)
            if found is not None:
                self.formulation = found
                self.steps.append(step)
        return self.formulation

    def postsolve(self, result: Result) -> Result:
        """The answer to the outermost form."""
        for step in reversed(self.steps):
            result = step.postsolve(result)
        said = tuple(step.said for step in self.steps if step.said)
        return replace(result, presolve=said + result.presolve) if said else result

    def point(self, x: np.ndarray) -> np.ndarray:
        """A point of the outermost form."""
        for step in reversed(self.steps):
            x = step.point(x)
        return x

    def bounds(self, known: RunBounds) -> RunBounds:
        """The bounds of the outermost form."""
        for step in reversed(self.steps):
            known = step.bounds(known)
        return known


class PresolvedRun:
    """An engine at work on the innermost form, as the driver, callbacks and the display of progress see it: in terms of the
    outermost form. A checkpoint holds the state of the engine as it is: the steps are applied again when a run continues."""

    def __init__(self, engine: Any, presolve: PresolveStack | PresolveStep):
        self.engine, self.presolve, self.name = engine, presolve, engine.name

    @property
    def x(self) -> np.ndarray | None:
        return None if (x := self.engine.x) is None else self.presolve.point(x)

    @property
    def _inner(self) -> RunBounds:
        return RunBounds(self.engine.value, self.engine.lower, getattr(self.engine, "upper", self.engine.value))

    @property
    def _outer(self) -> RunBounds:
        return self.presolve.bounds(self._inner)

    @property
    def value(self) -> float:
        return self._outer.value

    @property
    def lower(self) -> float:
        return self._outer.lower

    @property
    def upper(self) -> float:
        return self._outer.upper

    @property
    def evaluations(self) -> int:
        return self.engine.evaluations

    def figures(self) -> Figures:
        """Those of the engine, with bounds in terms of the outermost form where they differ."""
        inner = self._inner._replace(lower=getattr(self.engine, "shown_lower", self.engine.lower))
        shown, known = self.engine.figures(), self.presolve.bounds(inner)
        if known == inner and np.signbit(known.value) == np.signbit(inner.value):
            return shown
        own = bounds(known.lower, known.upper, known.value) | {"best": shown_value(known.value)}
        return shown | {name: own[name] for name in shown if name in own}

    def steps(self) -> Iterator[None]:
        return self.engine.steps()

    def state(self) -> State | None:
        return self.engine.state()

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """The answer. Its history was recorded in terms of the outermost form."""
        result = self.engine.finish(stopped, seconds, history)
        return self.presolve.postsolve(_with_feasible(result, getattr(self.engine, "incumbent", None)))


def _with_feasible(result: Result, incumbent: Any) -> Result:
    """The result with the point at which its value is verified, or with the box that is proved to hold such a point."""
    if incumbent is None or result.x is None or not np.isfinite(result.upper):
        return result
    box = getattr(incumbent, "box", None)
    return replace(result, feasible=result.x if box is None or np.array_equal(*box) else box)
