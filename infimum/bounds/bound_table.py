"""The table of tests: in which order they are asked, when each is due, what it costs, and what makes it pay.

Every number here steers a search and decides nothing: a test that is asked too often costs time, one that is asked too seldom
leaves work to others, and the answer is proved all the same. Everything is counted, never timed, so that every machine judges
alike. The measurements behind the numbers are in `bench/notes`; `bench/prove.py`, `bench/constraints.py` and `bench/books.py`
show what a change of them does.
"""

from typing import NamedTuple

import numpy as np


class Schedule(NamedTuple):
    """When a costly test is tried, and what it costs. It is tried in one step, and used in the steps after it if that paid."""

    first: int            # the first step in which it is tried
    period: int           # steps for which a judgement holds
    share: float          # the part of the regions for which it must be worth its cost
    grows: bool = False   # a bad judgement holds no longer than there have been steps: early on, regions shrink quickly
    while_paying: int | None = None  # steps for which a good judgement holds, instead of `period`
    until_paying: int | None = None  # steps for which a bad one holds, instead of `period`
    used_from: int | None = None     # it is used from this step on, before it is judged for the first time
    sample: int = 256     # the number of regions that it is tried on
    cost: int = 1         # boxes that could be enclosed in the time that it takes for one region,
    cost_a_variable: int = 0         # and what is added to that for each variable
    after_programs: int = 0          # the first step, where linear programs look for points: they say more, and compile nothing


class Row(NamedTuple):
    """A test: the module and the class, and its schedule; by circumstances, which its class tells apart, where they matter. No
    schedule: it is used in every step. `asked`: it is part of a search only where an engine or an option asks for it."""

    module: str
    kind: str
    schedules: dict[str, Schedule] = {}
    asked: bool = False


def _variants(usual: Schedule, **others: dict[str, float]) -> dict[str, Schedule]:
    return {"": usual} | {name.replace("_", " "): usual._replace(**changes) for name, changes in others.items()}


# without constraints, by the names of the tests in checkpoints: the cheapest first, each about what those before it leave
FUNCTION_TESTS: dict[str, Row] = {
    "first_order": Row("function_bounds.first_order", "FirstOrder"),
    "pieces": Row("function_bounds.bound_by_pieces", "BoundByPieces", _variants(
        Schedule(8, 64, 0.3), costly={"share": 0.8, "sample": 32})),
    "affine": Row("linear_rows", "AffineBound", _variants(
        Schedule(12, 8, 0.125, grows=True, used_from=1, sample=64, cost=5))),  # the first regions are too wide to be judged by
    "linear": Row("linear_rows", "BackwardLinearBound", _variants(
        Schedule(12, 8, 0.125, grows=True, sample=64, cost=2), dependent={"first": 1}, long={"first": 32})),
    "projection": Row("least_squares.variable_projection", "VariableProjection", _variants(
        Schedule(0, 8, 0.05, until_paying=1, cost=4), many={"first": 6, "share": 0.3, "until_paying": None},
        costly={"first": 6, "share": 0.6, "until_paying": None, "sample": 16})),
    "least_squares": Row("least_squares.gauss_newton", "GaussNewton", _variants(
        Schedule(4, 4, 0.3, sample=64, cost=2), costly={"first": 3})),
    "tangents": Row("function_bounds.tangent_bound", "TangentBound", _variants(
        Schedule(18, 8, 0.25, sample=32, cost=4, cost_a_variable=1))),
    "taylor": Row("function_bounds.taylor_bound", "TaylorBound", _variants(
        Schedule(24, 16, 0.5, sample=64, cost=2, cost_a_variable=1))),
    "newton": Row("function_bounds.interval_newton", "IntervalNewton", _variants(
        Schedule(12, 4, 0.5, sample=64, cost=2, cost_a_variable=1), sum={"cost_a_variable": 0},
        costly_sum={"first": 3, "share": 0.3, "cost_a_variable": 0})),
    "shaving": Row("sweeps.shaving", "Shaving", _variants(Schedule(16, 128, 0.9, cost=64))),
    "subdomains": Row("function_bounds.subdomains", "SubdomainBound", asked=True),
}
# with constraints
SYSTEM_TESTS: dict[str, Row] = {
    "propagation": Row("propagation", "Propagation"),
    "square": Row("newton_equations", "NewtonEquations", _variants(Schedule(8, 8, 0.3, grows=True, cost=2), alone={"first": 1})),
    "linear rows": Row("linear_rows", "LinearRowsBound", _variants(Schedule(4, 8, 0.125, grows=True, sample=64, cost=3))),
    "lines": Row("gradient_rows", "GradientRows", _variants(
        Schedule(1, 8, 0.1, grows=True, cost=4, after_programs=8), after_lifted={"first": 2}, after_linear_rows={"first": 16})),
    "lagrangian": Row("lagrangian_bound", "LagrangianBound", _variants(Schedule(0, 4, 0.1, grows=True, sample=64, cost=2))),
    "lifted": Row("lifted_relaxation", "LiftedRelaxation", _variants(
        # it is so costly that it must keep regions few
        Schedule(1, 8, 0.4, grows=True, while_paying=1, sample=64, cost=16, after_programs=32))),
    "fritz_john": Row("fritz_john.fritz_john", "FritzJohn", _variants(
        Schedule(4, 8, 0.5, grows=True, sample=64, cost=2, cost_a_variable=1)), asked=True),
    # It is the last, since the test that is asked last names the variable to cut, and programs know most about it.
    "lp": Row("linear_programs.linear_program_bound", "LinearProgramBound", _variants(
        Schedule(0, 1, 0.0, sample=64, cost=64)), asked=True),
}
# The step before which costly tests wait where one is asked from the first steps on (`delays_others`): affine bounds of
# recurrences, whose kernels take long to compile, and Newton's method where equations are all there is.
DELAYED_STEP = 64
ALL_TESTS = FUNCTION_TESTS | SYSTEM_TESTS


class Payoff:
    """Does a test pay that has this schedule? It is judged by what it discards."""

    def __init__(self, schedule: Schedule):
        self.schedule, self.due, self.pays = schedule, schedule.first, schedule.used_from is not None
        self.tried = self.gained = 0

    def is_due(self, step: int) -> bool:
        return step >= self.due

    def is_used(self, step: int) -> bool:
        return self.pays and not self.is_due(step) and step >= (self.schedule.used_from or 0)

    def judge(self, step: int, regions: int, gone: float) -> None:
        """The test was tried on `regions` and was worth its cost for `gone` of them."""
        schedule = self.schedule
        self.tried, self.gained = self.tried + regions, self.gained + int(gone)
        self.pays = gone >= schedule.share * regions
        other = schedule.while_paying if self.pays else schedule.until_paying
        holds = schedule.period if other is None else other
        self.due = step + (min(holds, max(1, step)) if schedule.grows and not self.pays else holds)

    def has_paid(self, step: int) -> None:
        """It was used without a trial, and was worth it."""
        self.pays, self.due = True, step + self.schedule.period

    def state(self) -> np.ndarray:
        return np.array([self.due, self.pays, self.tried, self.gained], np.int64)

    def restore(self, state: np.ndarray) -> None:
        self.due, self.pays, self.tried, self.gained = int(state[0]), bool(state[1]), int(state[2]), int(state[3])
