"""Which variable linear programs cut next, whose turn it is, and when cutting begins anew."""

import numpy as np
import pytest

import infimum
from infimum.bounds.bound_table import Payoff, Schedule
from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound, PayoffInTurns, Turn
from infimum.bounds.linear_programs.root_linear_programs import RootLinearPrograms
from infimum.kernel.region_cut import rows
from infimum.problems import constrained
from infimum.relax.program_bounds import TightenedRegion
from infimum.search.branch_and_bound import BranchAndBound
from tests.engine.constrained.planted_systems import evaluator_of

QUALITIES = np.array([[0.6, 3.5, 2.2, 1.4], [3.3, 0.9, 2.5, 1.1]])  # two of each source
PRICES, GAINS, NEEDS = np.array([6.0, 9.0, 12.0, 5.0]), np.array([13.0, 17.0]), np.array([120.0, 90.0])
WORST = np.array([[1.7, 1.3], [1.6, 2.1]])  # of each product


def pooling_problem():
    """Four sources, two pools, two products, two qualities: flows into pools, flows out of them, qualities of pools."""
    def flows(x):
        return x[:8].reshape(4, 2), x[8:12].reshape(2, 2), x[12:16].reshape(2, 2)

    def cost(x):
        inflow, out, _ = flows(x)
        return PRICES @ inflow.sum(axis=1) - GAINS @ out.sum(axis=0)

    def balance(x):
        inflow, out, _ = flows(x)
        return inflow.sum(axis=0) == out.sum(axis=1)

    def blended(x):
        inflow, out, quality = flows(x)
        return QUALITIES @ inflow == quality * out.sum(axis=1)

    def good_enough(x):
        _, out, quality = flows(x)
        return quality @ out <= WORST * out.sum(axis=0)
    bounds = [(0, 200)] * 12 + [(0, 5)] * 4
    return cost, bounds, [balance, blended, good_enough, lambda x: flows(x)[1].sum(axis=0) <= NEEDS]


def test_what_programs_choose_is_what_is_cut(monkeypatch):
    """Tests of a step each name a variable; the one that cuts hears the last."""
    said, heard, test, tested = {}, [], LinearProgramBound.test, BranchAndBound._tested

    def listening(self, regions, context):
        outcome = test(self, regions, context)
        left = self.evaluator.arrays_of(outcome.regions).fetch(outcome.regions)
        said.update({column[:2 * self.n].tobytes(): column[rows(self.n)[1]] for column in np.ascontiguousarray(left.T)})
        return outcome

    def cutting(self, parents, pieces):
        for column in np.ascontiguousarray(self.arrays.fetch(parents).T):
            if column[:2 * self.n].tobytes() in said:
                heard.append(column[rows(self.n)[1]] == said[column[:2 * self.n].tobytes()])
        return tested(self, parents, pieces)
    monkeypatch.setattr(LinearProgramBound, "test", listening)
    monkeypatch.setattr(BranchAndBound, "_tested", cutting)
    cost, bounds, constraints = pooling_problem()
    infimum.minimize(cost, bounds, constraints=constraints, rtol=1e-3, progress=False)
    assert len(heard) > 10 and np.mean(heard) > 0.9  # others cut the whole box when cutting begins anew


def test_pooling_is_solved_by_few_programs():
    cost, bounds, constraints = pooling_problem()
    r = infimum.minimize(cost, bounds, constraints=constraints, rtol=1e-3, progress=False, max_boxes=2_000_000)
    assert r.verdict.name == "PROVED" and r.lp["solved"] < 2_000


def test_products_count_that_have_no_multipliers():
    """f does not depend on the product that the solution has wrong."""
    lo, hi = np.zeros(3), np.array([3.0, 4.0, 1.0])
    bound = LinearProgramBound(evaluator_of(lambda x: x[2], [(lambda x: x[0] * x[1], -np.inf, 5.0)], 3), lo, hi)
    relaxation = bound.bounding.relaxation
    low, high = bound.bounding.columns_of(lo, hi)
    point = np.zeros(relaxation.columns)
    point[:2], point[relaxation.products] = (2.0, 3.0), 5.0  # in place of 6
    weights = np.zeros(relaxation.first_plane + 4 * len(relaxation.products))
    left = TightenedRegion(low, high, -1.0, point=point, weights=weights)
    scores = bound.branching.scores(left, 7.0)
    assert scores[:2].tolist() == pytest.approx([8.0 / 12.0] * 2) and scores[2] == 0.0
    assert (bound.branching.scores(left._replace(point=np.where(point == 5.0, 6.0, point)), 7.0) == 0.0).all()


@pytest.mark.parametrize(("turn", "lower", "upper", "paid"), [
    (Turn(0, 0.0, 8.0), 2.0, 8.0, True), (Turn(0, 0.0, 8.0), 1.9, 8.0, False), (Turn(0, 0.0, 8.0), 0.0, 6.0, True),
    (Turn(0, -np.inf, 8.0), 0.0, 8.0, True), (Turn(0, -np.inf, 8.0), -np.inf, 8.0, False),
    (Turn(0, 0.0, np.inf), 0.0, 9.0, True), (Turn(0, 10.0, np.inf), 10.05, np.inf, False),
    (Turn(0, 10.0, np.inf), 10.2, np.inf, True), (Turn(0, -np.inf, np.inf), -np.inf, 3.0, True),
    (Turn(0, -np.inf, np.inf), -np.inf, np.inf, False), (Turn(0, -np.inf, np.inf), -3.0, np.inf, True)])
def test_a_turn_pays_by_the_distance_of_bounds(turn, lower, upper, paid):
    assert bool(turn.has_paid(lower, upper)) is paid


@pytest.mark.parametrize(("program", "least", "upper", "more"), [
    (-10.0, -10.0, 0.0, True), (-10.0, -3.0, 0.0, True), (-10.0, -2.0, 0.0, False), (-10.0, -np.inf, 0.0, True),
    (-10.0, -9.0, np.inf, False), (-10.0, -11.0, np.inf, True), (-np.inf, -9.0, 0.0, False), (-np.inf, -np.inf, np.inf, False)])
def test_cuts_that_closed_little_are_forgotten(program, least, upper, more):
    assert bool(RootLinearPrograms._tells_more(program, least, upper)) is more


def test_a_rest_gives_others_their_first_try():
    payoff, other = PayoffInTurns(Schedule(0, 1, 0.0)), Payoff(Schedule(64, 8, 0.5))
    payoff.others = [other]
    payoff.judge(10, 32, 0)
    assert payoff.pays and payoff.due == 11 and other.due == 64
    payoff.rest = 4
    payoff.judge(11, 32, 0)
    assert not payoff.pays and payoff.due == 15 and other.due == 12
    again = PayoffInTurns(Schedule(0, 1, 0.0))
    again.restore(payoff.state())
    assert (again.due, again.pays, again.rest) == (15, False, 0)


def test_what_was_proved_stays_when_cutting_begins_anew():
    """Boxes have closed little by then, but more than the program of the whole box."""
    problem, seen = constrained.get("hs_93"), []
    found = infimum.minimize(problem.fun, problem.bounds, constraints=problem.constraints, max_boxes=60_000,
                             callback=lambda progress: seen.append(progress.lower))
    assert found.lp and found.lp["solved"] and len(seen) > 100 and seen == sorted(seen) and found.lower >= seen[-1]
