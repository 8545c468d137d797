"""Propagation loses no solution: a point that obeys the constraints, by Arb, is in what is left of every box that held it.

A constraint is `expression == z` for one more variable z, whose side is any interval around the expression's value at the point:
so one kernel is tried with very many ends.
"""

import numpy as np
import pytest
from flint import arb

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROPAGATE, ProgramKind
from infimum.expr.build import build, reshape, substituted
from infimum.expr.node import Expr, var
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.ops.vocabulary import OPS, Kind
from infimum.problem.system import System
from tests.oracle.arb_values import precision, settled_value
from tests.oracle.boxes import MAX, points_of, random_boxes
from tests.oracle.campaign import generated
from tests.oracle.check import position
from tests.oracle.generate import DERIVATIVE_ONLY
from tests.oracle.tally import Violation
from tests.oracle.test_adversarial import BINARY, POWERS, UNARY, _sides, one, two
from tests.oracle.walk import Special

INF = np.inf
LOOPS = ProgramKind.of(PROPAGATE, written_out=0)


def _below(v: arb) -> float:
    """A double that is not above the ball."""
    with precision(3000):
        if not v < MAX or not v > -MAX:
            return MAX if v >= MAX else 0.0 if v > 0 else -INF
        lo = float(v.lower())
        return lo if arb(lo) <= v else float(np.nextafter(lo, -INF))


def around(rng: np.random.Generator, v: arb) -> tuple[float, float]:
    """An interval with the ball in it, often as tight as doubles allow."""
    lo, hi = _below(v), -_below(-v)
    wider = [float(rng.choice((0.0, 0.0, 0.0, 0.1, 3.0, INF))) for _ in range(2)]
    return lo - (wider[0] and wider[0] * max(abs(lo), 1e-300)), hi + (wider[1] and wider[1] * max(abs(hi), 1e-300))


def system_of(expr: Expr, n: int, f: Expr | None = None, integers: tuple[int, ...] = ()) -> System:
    """Minimise f, or else z, under expr == z; z is variable number n."""
    x = var("x", (n + 1,))
    first, z = (build("slice", x, starts=(k,), steps=(1,), counts=(c,)) for k, c in ((0, n), (n, 1)))
    z, new = reshape(z, ()), {var("x", (n,)): first}
    body = build("sub", substituted(expr, new), z)
    return System(z if f is None else substituted(f, new), (reshape(body, (1,)),), np.zeros(1), np.zeros(1), integers)


class Trial:
    """Boxes with a point each, and what is left of them."""

    def __init__(self, expr: Expr, n: int, lo: np.ndarray, hi: np.ndarray, rng: np.random.Generator, meant: Expr | None = None,
                 per_box: int = 3, fraction: float = 0.5):
        self.expr, self.n, self.evaluator = expr, n, Evaluator(expr, n + 1, system=system_of(expr, n))
        columns, self.points = [], []
        for k in range(lo.shape[1]):
            for p in points_of(rng, lo[:, k], hi[:, k], per_box):
                v = settled_value(expr if meant is None else meant, p, fraction)
                if not isinstance(v, Special):
                    z = around(rng, v)
                    columns.append([*lo[:, k], z[0], *hi[:, k], z[1], -INF, 0.0, 0.0])
                    self.points.append((p, v))
        self.regions = np.array(columns).T.reshape(2 * n + 5, -1)

    def left(self, kind: str, rounds: int, upper: float = INF) -> np.ndarray:
        bounds = np.concatenate([np.full(self.n + 1, -INF), np.full(self.n + 1, INF), np.arange(self.n + 1.0)])
        return self.evaluator.run(kind, [self.regions.copy()], parameters=np.concatenate([bounds, [0, 0, 1, 0, upper]]),
                                  times=rounds)[0]

    def check(self, kind: str, rounds: int) -> int:
        """Every point is kept; returns how many sides were cut."""
        if not self.points:
            return 0
        m, (lower_row, axis_row, _) = self.n + 1, rows(self.n + 1)
        left = self.left(kind, rounds)
        assert not np.isnan(left).any()
        assert (left[:m] >= self.regions[:m]).all() and (left[m:2 * m] <= self.regions[m:2 * m]).all()
        for k, (p, v) in enumerate(self.points):
            lo, hi = left[:m, k], left[m:2 * m, k]
            inside = (lo[:-1] <= p).all() and (p <= hi[:-1]).all() and position(v, lo[-1], hi[-1]) >= 0
            if left[axis_row, k] == DISCARDED_AXIS or not inside or position(v, left[lower_row, k], INF) < 0:
                raise Violation(f"lost {p.tolist()}, where the value is {v}\nbox {self.regions[:, k].tolist()}\n"
                                f"left {left[:, k].tolist()}\n{kind}, {rounds} rounds\n{self.expr}")
        return int((left[:2 * m] != self.regions[:2 * m]).sum())


def test_every_operation_has_a_row():
    maps = {name for name, row in OPS.items() if row.kind is Kind.MAP}
    reductions = {name for name, row in OPS.items() if row.kind is Kind.REDUCE}
    known = {name for name, row in OPS.items() if row.inverse}
    assert maps | reductions == known | {"where", "arctan2", "spline", "slope", "step", "ratio"}
    assert all(len(OPS[name].inverse) == OPS[name].arity for name in known)


@pytest.mark.parametrize("op", UNARY)
def test_functions_of_one_number(op):
    rng = np.random.default_rng(11)
    lo, hi = np.array(_sides(rng, 12)).T
    trial = Trial(one(op), 1, lo[None], hi[None], rng)
    assert len(trial.points) > 100
    assert trial.check(PROPAGATE, 1) > 20
    trial.check(PROPAGATE, 2)


@pytest.mark.parametrize("k", POWERS)
def test_integer_powers(k):
    rng = np.random.default_rng(12)
    lo, hi = np.array(_sides(rng, 10)).T
    trial = Trial(one("powi", k=k), 1, lo[None], hi[None], rng)
    assert trial.check(PROPAGATE, 1) > 20
    trial.check(PROPAGATE, 2)


@pytest.mark.parametrize("op", BINARY)
def test_functions_of_two_numbers(op):
    rng = np.random.default_rng(13)
    sides = np.array(_sides(rng, 16))
    boxes = sides[rng.integers(len(sides), size=(2, 300))]
    trial = Trial(two(op), 2, boxes[..., 0], boxes[..., 1], rng, per_box=2)
    assert trial.check(PROPAGATE, 1) > 20
    trial.check(PROPAGATE, 2)


@pytest.mark.parametrize("op", [name for name in OPS if name not in DERIVATIVE_ONLY | {"var", "const"}])
def test_random_expressions_with_each_operation(op):
    cut = 0
    for seed in range(2):
        checker, rng = generated(1000 * seed + 17, must=op, n=(2, 5)[seed])
        lo, hi = random_boxes(rng, checker.n, 12)
        trial = Trial(checker.expr, checker.n, lo, hi, rng, checker.meant, fraction=checker.fraction)
        for kind in (PROPAGATE, LOOPS):
            cut += trial.check(kind, 1) + trial.check(kind, 2)
    assert cut > 0


@pytest.mark.parametrize("seed", range(12))
def test_solutions_that_are_good_enough_are_kept(seed):
    """With an upper bound of another random function, and a whole number among the variables."""
    one, rng = generated(4000 + seed, n=3)
    other, _ = generated(5000 + seed, n=3)
    lo, hi = random_boxes(rng, 3, 40)
    lo[2], hi[2] = rng.integers(-4, 0, 40) - rng.choice((0.0, 0.3), 40), rng.integers(0, 4, 40) + rng.choice((0.0, 0.7), 40)
    trial = Trial(one.expr, 3, lo, hi, rng, one.meant, fraction=one.fraction)
    trial.evaluator = Evaluator(other.expr, 4, system=system_of(one.expr, 3, other.expr, (2,)))
    values = [settled_value(other.meant, p, other.fraction) for p, _ in trial.points]
    upper = float(np.median([_below(v) for v in values if not isinstance(v, Special)] or [0.0]))
    for kind, rounds in ((PROPAGATE, 1), (PROPAGATE, 2), (LOOPS, 2)):
        left = trial.left(kind, rounds, upper)
        low_row, axis_row, _ = rows(4)
        for k, ((p, _), v) in enumerate(zip(trial.points, values, strict=True)):
            if not isinstance(v, Special) and p[2] == round(p[2]) and position(v, -INF, upper) == 1:
                held = (left[:3, k] <= p).all() and (p <= left[4:7, k]).all()
                assert held and left[axis_row, k] != DISCARDED_AXIS and position(v, left[low_row, k], INF) >= 0, (seed, p,
                                                                                                                  left[:, k])
