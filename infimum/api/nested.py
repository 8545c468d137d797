"""nested: outer variables by trials, and for each of these the minimum over the inner variables, proved.

Proof: docs/proofs/trials.md.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any

import numpy as np

from infimum.api.black_box import searched
from infimum.api.inner_problem import InnerProblem, Proving, Solved, parts_of
from infimum.api.objective import Objective
from infimum.backend.devices import backend_of
from infimum.blackbox.callables import PythonFunctions, described
from infimum.blackbox.outcome import Outcome
from infimum.blackbox.trial_functions import TrialFunction, title
from infimum.blackbox.variables import Variables
from infimum.engines.index.index_options import IndexOptions
from infimum.errors import BoundsError, OptionError
from infimum.points.random_numbers import read_seed
from infimum.points.swarm_options import SwarmOptions
from infimum.presolve.maximisation import opposite
from infimum.problem.integrality import read_integrality
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Limits, Machine, Method, RunObservers, Trials, check_memory_limit, read_workers
from infimum.result import Result
from infimum.search.callbacks import read_callback
from infimum.search.driver import watch_of
from infimum.support import environment
from infimum.support.given_numbers import check_number

_QUICK = {"searches": 0}  # of the search before a proof: there are many, and each is of few variables


@environment.ours
def nested(fun: Callable[..., Any], outer: Any, inner: Any, *, simulate: Callable[..., Any] | None = None, constraints: Any = (),
           inner_constraints: Any = (), maximise: bool = False, integrality: Any = None, inner_integrality: Any = None,
           x0: Any = None, max_trials: int | None = None, time_limit: float | None = None, workers: int | str | None = None,
           timeout: float | None = None, journal: str | PathLike | None = None, batch: int | None = None,
           options: dict[str, Any] | None = None, atol: float = 1e-6, rtol: float = 1e-6, inner_time_limit: float | None = None,
           inner_max_boxes: int | None = 10_000_000, inner_options: dict[str, Any] | None = None,
           memory_limit: float | None = 8e9, device: str = "auto", threads: int | None = None, callback: Callable | None = None,
           progress: bool | None = None, seed: int | None = 0, check: bool = True) -> Result:
    """Minimise fun(y, z): y by trials, as a black box, and for each y the minimum over z with a proof.

    `outer` and `inner` are the bounds of y and z; those of y are finite, and may hold lists of values to choose from. `fun` is a
    NumPy function of two arrays, or of three, fun(y, z, s), where s is what `simulate(y)` returned: a number or an array, from a
    simulator, a table, a program, whatever cannot be traced. It is called once a trial, with numbers. If `fun` can be traced in
    y, all proofs share their kernels; else it is called with the numbers y, and traced again for each.

    `constraints` are functions of y alone, <= 0 where it is allowed, evaluated in their order before anything else, as with
    `minimize(..., engine="index")`. `inner_constraints` are functions of (y, z), or (y, z, s), that return comparisons, or the
    other forms that `minimize` takes. A y for which they are proved to have no solution violates them by what the best z does.

    In each trial `fun` and the inner constraints are called with plain numbers too, at a few points, and compared with what was
    traced; and the best trial of a journal is made again before a run continues. `check=False` leaves both out.

    `max_trials`, `time_limit`, `workers`, `timeout`, `journal`, `batch`, `x0` and `options` are those of `engine="index"`, of the
    outer variables. `atol` and `rtol` are the tolerances of each inner proof, `inner_time_limit` (seconds) and `inner_max_boxes`
    (None: any number) its limits, `inner_options` those of `engine="auto"`; `device` and `threads` say where it runs. An inner
    problem that is stopped counts with the upper bound it has. Inner problems do not depend on one another, so that the result
    does not depend on workers, unless seconds limit them.

    The result has x = (y, z), and `upper`, a verified bound of fun there. The verdict is CANDIDATE and `lower` is -inf: other y
    may have lower values. What is proved is the inner minimum at this y: it lies between `r.trials.inner.lower` and `upper`.
    With `maximise=True` both are maximised: then `lower` is the bound at x, and at this y the maximum over z lies between it and
    `r.trials.inner.upper`.

    >>> import numpy as np
    >>> r = nested(lambda y, z: (y[0] - 0.3) ** 2 + (z[0] - y[0]) ** 2 - np.cos(3 * z[0]), [(-1, 1)], [(-5, 5)], max_trials=40)
    >>> r.verdict.name, r.trials.inner.verdict, r.trials.inner.upper - r.trials.inner.lower < 1e-6, np.round(r.x, 2).tolist()
    ('CANDIDATE', 'PROVED', True, [0.17, 0.03])
    """
    goal = Goal.read(atol, rtol)
    for name, value in (("time_limit", time_limit), ("inner_time_limit", inner_time_limit), ("inner_max_boxes", inner_max_boxes)):
        check_number(name, value, optional=True, positive=True)
    check_memory_limit(memory_limit)
    watch, seed, threads = watch_of(time_limit), read_seed(seed), _threads(threads, workers)
    if not isinstance(workers, str):
        backend_of(device, memory_limit, threads)  # raises at once what would else be said of each trial
    variables, objective = Variables.read(outer, integrality), Objective(fun, "maximise" if maximise else "minimise")
    proving = Proving(Method("auto", SwarmOptions.read(_QUICK | (inner_options or {})), goal, seed),
                      Limits(inner_time_limit, inner_max_boxes, memory_limit), Machine(device, threads), check)
    box = NestedFunctions(variables, constraints, _inner_problem(objective, simulate, inner_constraints, inner, inner_integrality,
                                                                 proving, not variables.choices))
    watching = RunObservers(watch, read_callback(callback), progress)
    found = searched(box, box.describe, x0, Method("index", IndexOptions.read(options), goal, seed), Limits(time_limit),
                     Trials.read(max_trials, workers, timeout, journal, batch, check), watching)
    why = box.inner.why
    again = "" if why is None else f"; traced again in each trial, since this cannot be traced in y: {why.split('. ')[0]}"
    return replace(found, message=found.message + again, view=None, device="cpu" if device == "auto" else device)


class NestedFunctions(PythonFunctions):
    """The constraints on y, whether the inner problem has a solution if it has constraints, and its minimum or maximum."""

    def __init__(self, variables: Variables, constraints: Any, inner: InnerProblem):
        fun = inner.objective.fun
        super().__init__(fun, variables, constraints, maximise=inner.objective.maximises)
        *first, own = self.parts
        self.inner, self._solved = inner, None
        met = [TrialFunction(_Asked(fun, self._violation), title(fun, "The inner constraints of"),
                             constrains=True)] * inner.constrained
        self.parts = (*first, *met, replace(own, fun=_Asked(fun, self._value)))

    def evaluate(self, x: Sequence[float], note: Callable[[float], None] | None = None) -> Outcome:
        """Runs a trial, and says what was proved in it."""
        self._solved = None
        outcome = super().evaluate(x, note)
        return outcome if self._solved is None else replace(outcome, inner=self._solved.inner)

    def _violation(self, y: Any) -> float:
        return self._solve(y).violation

    def _value(self, y: Any) -> float:
        """In the signs of the function, as if it had returned this."""
        value = self._solve(y).value
        return opposite(value) if self.inner.objective.maximises else value

    def _solve(self, y: Any) -> Solved:
        """The inner problem of the trial, which is at one y."""
        if self._solved is None:
            self._solved = self.inner.solve(y)
        return self._solved

    def describe(self) -> dict[str, Any]:
        """What tells this problem from others, the inner one included."""
        inner, method = self.inner, self.inner.proving.method
        return {**super().describe(), "inner": {
            "bounds": [[str(end) for end in ends] for ends in zip(inner.lo, inner.hi, *(inner.outer or ())[:2], strict=True)],
            "integers": list(inner.integers),
            "simulate": None if inner.simulate is None else described(TrialFunction(inner.simulate, "")),
            "constraints": [_described(one) for one in inner.constraints], "goal": [method.goal.atol, method.goal.rtol],
            "max_boxes": inner.proving.limits.max_boxes, "seed": method.seed, "options": asdict(method.options)}}


def _described(one: Any) -> dict[str, Any]:
    """What tells an inner constraint from others."""
    fun, ends = parts_of(one)
    given = one.get("args") or () if isinstance(one, Mapping) else ()
    args = {"args": repr(given)} if given else {}
    return described(TrialFunction(fun, "", tuple(given) if isinstance(given, (tuple, list)) else (given,), ends=ends)) | args


class _Asked:
    """A function of a trial that has the name and the place of the user's."""

    def __init__(self, function: Callable[..., Any], ask: Callable[[Any], float]):
        self.function, self.ask = function, ask

    def __call__(self, y: Any) -> float:
        return self.ask(y)


def _inner_problem(objective: Objective, simulate: Any, constraints: Any, bounds: Any, integrality: Any, proving: Proving,
                   held: bool) -> InnerProblem:
    """The inner problem, from the user's arguments, checked."""
    for name, function in (("fun", objective.fun), ("simulate", simulate)):
        if not callable(function) and not (name == "simulate" and function is None):
            raise OptionError(f"{name} must be a function, not {function!r}")
    integers, none, problem = read_integrality(integrality, Problem.read(objective.fun, bounds))
    if none is not None:
        raise BoundsError(f"inner variable {none} is a whole number, and there is none between its bounds")
    for i in np.flatnonzero(problem.narrow)[:1]:
        raise BoundsError(f"at most one double lies between the bounds of inner variable {i}, which are none: give a double")
    return InnerProblem(objective, simulate, constraints, problem, integers, proving, held)


def _threads(threads: int | None, workers: Any) -> int | None:
    """Those of each worker: together they have the cores of this machine."""
    count = read_workers(1 if workers is None else workers)
    return max(1, (os.cpu_count() or 1) // count) if threads is None and isinstance(count, int) and count > 1 else threads

