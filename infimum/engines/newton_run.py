"""The interval Newton loop as an engine."""

from collections.abc import Iterator
from typing import Any

from infimum.engines.newton_search import NewtonSearch
from infimum.errors import OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.settings import Method
from infimum.search.checkpoint import State
from infimum.search.policy.bounds import FIRST_ORDER
from infimum.search.progress import Figures
from infimum.search.search_run import SearchRun


class NewtonRun(SearchRun):
    """Nothing but the loop: no point search, no other test."""

    name = "newton"
    stops_at_clusters = True

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, *limits: Any, **settings: Any):
        most = FIRST_ORDER.newton_most_variables
        if len(problem.lo) > most:
            raise OptionError(f"engine 'newton' takes up to {most} variables, and there are {len(problem.lo):,}; "
                              "engine 'auto' takes any number, and uses Newton steps where they pay")
        super().__init__(problem, evaluator, method, *limits, **settings)

    def _search(self) -> NewtonSearch:
        return NewtonSearch(self.evaluator, self.goal, self.incumbent, self.options, self.batch, self.start)

    def counts(self) -> Figures:
        regions = {} if self.branch is None else {"regions": self.branch.pool, "solutions": self.branch.solved}
        return {name: f"{len(some):,}" for name, some in regions.items()}

    def state(self) -> State | None:
        if self.branch is None:
            return None
        state = self.branch.state()
        return State(state.values | {"step_to_end": self.step_to_end}, state.arrays)

    def restore(self, state: State) -> None:
        self.branch, self.step_to_end = self.branch_of(state), state.values.get("step_to_end")

    def branch_of(self, state: State) -> NewtonSearch:
        search = self._search()
        search.restore(state)
        return search

    def prepare(self) -> Iterator[None]:
        yield from ()
        if self.problem.x0 is not None:
            self.incumbent.offer(self.problem.x0)
        search = self._search()
        search.begin()
        self.branch = search

    def conclude(self) -> None:
        if self.branch is not None:
            self.branch.close()
