"""The status of enclosures: what `defined`, `lipschitz` and `smooth` must say, and the counter-examples that taught us so."""

import numpy as np
import pytest

from infimum.evaluation.compile import compile
from infimum.evaluation.evaluator import Evaluator
from tests.expr.user_functions import ackley
from tests.oracle.check import check

UNDEFINED, DEFINED, LIPSCHITZ, SMOOTH = range(4)


def enclosed(f, *sides):
    """The enclosure of the value, after every claim on the box was held against the oracle."""
    lo, hi = np.array(sides, dtype=float).T
    compiled = compile(f, len(sides))
    check(compiled.f, len(sides), (lo[:, None], hi[:, None]), per_box=12, share=1.0)
    return compiled.value(lo, hi)


def level(f, *sides) -> int:
    return int(enclosed(f, *sides).level)


def ends(f, *sides) -> tuple[float, float]:
    e = enclosed(f, *sides)
    return float(e.lo), float(e.hi)


def gradient(f, *sides) -> list[tuple[float, float]]:
    lo, hi = np.array(sides, dtype=float).T
    g = compile(f, len(sides)).gradient(lo, hi)
    return list(zip(g.lo.tolist(), g.hi.tolist(), strict=True))


def discarded_by_first_order_test(f: Evaluator, lo: np.ndarray, hi: np.ndarray) -> bool:
    """Would a test on derivatives, which reads the status first, throw away this box, strictly inside the user's bounds?"""
    g = f.gradient(lo, hi)
    return bool(g.value.lipschitz and ((g.lo > 0) | (g.hi < 0)).any())


def slices(lo: np.ndarray, hi: np.ndarray, cuts: int):
    """The box in slices along its first side."""
    edges = np.linspace(lo[0], hi[0], cuts + 1)
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        yield np.array([a, *lo[1:]]), np.array([b, *hi[1:]])


# ---- derivatives that look finite where there are none
def test_root_times_zero_keeps_its_edge():
    """x + y sqrt(x), y = 0: the derivative encloses as 1 + 0 * [0, inf] = [1, 1], and says nothing at x = 0."""
    def f(x):
        return x[0] + x[1] * np.sqrt(x[0])
    compiled = compile(f, 2)
    assert level(f, (0, 1), (0, 0)) == DEFINED
    assert level(f, (0.1, 1), (0, 0)) == SMOOTH
    assert level(f, (-0.5, 1), (0, 0)) == UNDEFINED
    assert not discarded_by_first_order_test(compiled, np.array([0.0, 0.0]), np.array([1.0, 0.0])), "the minimum lies at x = 0"
    left = [s for s in slices(np.array([0.0, 0.0]), np.array([1.0, 0.0]), 8) if not discarded_by_first_order_test(compiled, *s)]
    assert any(a[0] <= 0 <= b[0] for a, b in left)


def test_power_with_an_edge_inside_the_box():
    """x**1.5 + x on [-1, 1]: defined for x >= 0 only, minimum at 0; [-1, 1] holds points without a value."""
    def f(x):
        return x[0] ** 1.5 + x[0]
    compiled = compile(f, 1)
    assert level(f, (-1, 1)) == UNDEFINED and level(f, (0, 1)) == DEFINED and level(f, (0.25, 1)) == SMOOTH
    assert enclosed(f, (-1, -0.5)).empty
    left = [s for s in slices(np.array([-1.0]), np.array([1.0]), 7) if not discarded_by_first_order_test(compiled, *s)]
    assert any(a[0] <= 0 <= b[0] for a, b in left), "the slice with the minimum at 0"


def test_products_with_zero_neither_clear_nor_revive():
    assert level(lambda x: 0 * np.log(x[0]), (0, 1)) == UNDEFINED
    assert level(lambda x: 0 * np.log(x[0]), (0.5, 1)) == SMOOTH
    assert enclosed(lambda x: 0 * np.log(x[0]), (-2, -1)).empty
    assert level(lambda x: 0 * np.sqrt(x[0]) + x[0], (0, 1)) == DEFINED
    assert level(lambda x: 0 * np.floor(x[0]), (0.5, 1.5)) == DEFINED
    assert level(lambda x: np.log(x[0]) - np.log(x[0]), (0, 1)) == UNDEFINED
    assert level(lambda x: np.abs(x[0]) * 0 + 1, (-1, 1)) == LIPSCHITZ
    assert level(lambda x: np.minimum(np.log(x[0]), np.log(x[0])), (0, 1)) == UNDEFINED


def test_power_zero_keeps_the_domain_of_its_base():
    assert ends(lambda x: np.log(x[0]) ** 0, (1, 2)) == (1.0, 1.0)
    assert enclosed(lambda x: np.log(x[0]) ** 0, (-2, -1)).empty
    assert level(lambda x: np.log(x[0]) ** 0, (-1, 1)) == UNDEFINED
    assert level(lambda x: np.sqrt(x[0]) ** 0, (0, 1)) == DEFINED


# ---- where
def test_where_ignores_the_branch_not_chosen():
    def f(x):
        return np.where(x[0] > 0, x[0] + 1, np.log(x[0]))
    assert level(f, (1, 2)) == SMOOTH and ends(f, (1, 2)) == (2.0, 3.0)
    assert enclosed(f, (-2, -1)).empty
    assert gradient(f, (1, 2)) == [(1.0, 1.0)]


def test_where_undecided_is_the_hull_and_clears():
    def f(x):
        return np.where(x[0] > 0, x[0] + 1, np.log(x[0]))
    e = enclosed(f, (-1, 2))
    assert e.level == UNDEFINED and e.lo <= 0 and e.hi >= 3
    assert level(lambda x: np.where(x[0] > 0, x[0], -x[0]), (-1, 2)) == DEFINED
    assert ends(lambda x: np.where(x[0] > 0, x[0], -x[0]), (-1, 2)) == (-2.0, 2.0)
    other = enclosed(lambda x: np.where(x[0] > 0, np.sqrt(x[0]), np.sqrt(-4 - x[0])), (-1, 4))
    assert (other.level, other.hi) == (UNDEFINED, 2.0), "an empty branch adds nothing"


def test_where_with_an_undefined_test():
    """As in NumPy a comparison with NaN is false; the point is in the domain if the branch that is then chosen is defined."""
    def f(x):
        return np.where(np.log(x[0]) > 0, 1.0, 2.0)
    assert level(f, (-1, 5)) == DEFINED and ends(f, (-1, 5)) == (1.0, 2.0)
    assert level(f, (-2, -1)) == DEFINED and ends(f, (-2, -1)) == (2.0, 2.0)
    assert ends(f, (0, 0)) == (1.0, 2.0), "NumPy compares with an infinity there"
    assert ends(lambda x: np.where((np.log(x[0]) > 0) | (x[0] < 0), 1.0, 2.0), (-2, -1)) == (1.0, 1.0)
    assert level(lambda x: np.where(np.log(x[0]) > 0, 1.0, np.sqrt(x[0])), (-1, 5)) == UNDEFINED
    assert enclosed(lambda x: np.where(np.log(x[0]) > 0, 1.0, np.sqrt(x[0])), (-2, -1)).empty


def test_a_firm_condition_beside_an_undefined_one_keeps_the_level():
    def f(x):
        return np.where((x[0] > 0) & (np.sqrt(x[0]) < 1), 1.0, x[0])
    assert level(f, (-2, -1)) == SMOOTH and gradient(f, (-2, -1)) == [(1.0, 1.0)]
    assert level(f, (-2, 0)) == DEFINED and ends(f, (-2, 0)) == (-2.0, 0.0)
    assert level(f, (0.25, 0.5)) == SMOOTH and ends(f, (0.25, 0.5)) == (1.0, 1.0)
    assert level(lambda x: np.where(np.sqrt(x[0]) < 1, 1.0, x[0]), (-2, -1)) == DEFINED


def test_a_jump_on_a_closed_face_counts():
    def f(x):
        return np.where(x[0] < 0, 5.0, x[0])
    assert level(f, (0, 1)) == DEFINED and level(f, (0.5, 1)) == SMOOTH and level(f, (-1, -0.5)) == SMOOTH
    assert level(lambda x: np.where(x[0] <= 0, 5.0, x[0]), (-1, 0)) == DEFINED
    assert level(lambda x: np.where(x[0] == 1, 5.0, x[0]), (1, 1)) == DEFINED
    assert level(lambda x: np.arctan2(x[0], x[1]), (0, 1), (-2, -1)) == DEFINED
    assert level(lambda x: np.where(np.floor(x[0]) >= 1, 0.0, 1.0), (1, 1.5)) == DEFINED, "the test itself jumps at 1"


@pytest.mark.parametrize(("f", "jump", "calm"), [
    (lambda x: np.floor(x[0]), 1.0, (1.25, 1.75)), (lambda x: np.ceil(x[0]), 1.0, (0.25, 0.75)),
    (lambda x: np.sign(x[0]), 0.0, (0.5, 1.0)), (lambda x: np.floor(x[0]), -2.0, (-0.75, -0.25)),
    (lambda x: np.trunc(x[0]), -1.0, (-0.75, -0.25)), (lambda x: x[0] % 1.0, 1.0, (0.25, 0.75)),
    (lambda x: np.rint(x[0]), 0.5, (-0.25, 0.25)), (lambda x: np.rint(x[0]), 1.5, (0.75, 1.25)),
    (lambda x: np.round(x[0], 1), 0.25, (0.251, 0.349)), (lambda x: np.round(x[0], -1), -5.0, (-4.5, 4.5)),
    (lambda x: np.where(np.any(x > 1), 1.0, x[0]), 1.0, (0.25, 0.75))])
def test_steps(f, jump, calm):
    for side in ((jump, jump), (jump, jump + 0.5), (jump - 0.5, jump), (jump - 0.5, jump + 0.5)):
        assert level(f, side) == DEFINED
    assert level(f, calm) == SMOOTH


def test_a_step_of_something_that_jumps_is_not_calm():
    assert level(lambda x: np.floor(np.floor(x[0]) + 0.5), (1, 1.25)) == DEFINED
    assert level(lambda x: np.sign(np.where(x[0] < 0, -3.0, 2.0)), (0, 1)) == DEFINED


# ---- roots of cancelled arguments
def test_root_of_a_cancelled_argument_at_a_point():
    assert level(lambda x: np.sqrt(x[0] - x[0]), (2, 2)) == DEFINED
    assert ends(lambda x: np.sqrt(x[0] - x[0]), (2, 2)) == (0.0, 0.0)
    assert level(lambda x: np.sqrt(x[0] - x[0]), (2, 3)) == UNDEFINED
    assert level(lambda x: np.sqrt((x[0] - 1) * (x[0] - 1) - (x[0] ** 2 - 2 * x[0] + 1)), (0.1, 0.1)) <= DEFINED
    assert level(lambda x: x[0] * np.sqrt(1 - x[0] ** 2), (0, 1)) == DEFINED
    assert level(lambda x: np.log(x[0] - x[0]), (2, 2)) == UNDEFINED
    assert enclosed(lambda x: np.log(x[0] - x[0]), (2, 2)).empty


# ---- kinks
@pytest.mark.parametrize("side", ((-1.0, 2.0), (0.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (-0.0, 0.0)))
def test_absolute_value_at_its_kink(side):
    assert level(lambda x: np.abs(x[0]), side) == LIPSCHITZ
    assert gradient(lambda x: np.abs(x[0]), side) == [(-1.0, 1.0)]


@pytest.mark.parametrize("f", (
    lambda x: np.maximum(x[0], x[1]), lambda x: np.minimum(x[0], x[1]), lambda x: np.max(x), lambda x: np.min(x),
    lambda x: np.linalg.norm(x, np.inf), lambda x: np.linalg.norm(x, 1), lambda x: np.linalg.norm(x),
    lambda x: np.hypot(x[0], x[1]), lambda x: np.sqrt(x[0] ** 2 + x[1] ** 2),
    lambda x: np.sqrt(np.sum(x**2)), lambda x: np.sum(np.clip(x, 0.0, 2.0)),
    lambda x: np.ptp(x), lambda x: np.std(x) / 2))
@pytest.mark.parametrize("side", ((0.0, 0.0), (-0.5, 1.0), (0.0, 1.0)))
def test_lipschitz_functions_at_their_kinks(f, side):
    assert level(f, side, side) == LIPSCHITZ
    for low, high in gradient(f, side, side):
        assert -1.0 <= low <= 0.0 <= high <= 1.0 and (low, high) != (0.0, 0.0), "the generalised gradient, no wider than [-1, 1]"


def test_kinks_away_from_the_box_do_not_matter():
    assert level(lambda x: np.abs(x[0]) + np.maximum(x[0], 0.25), (0.5, 1)) == SMOOTH
    assert level(lambda x: np.clip(x[0], 0.0, 2.0), (0.5, 1)) == SMOOTH
    assert level(lambda x: np.linalg.norm(x), (0.5, 1), (-1, 1)) == SMOOTH
    assert level(lambda x: np.clip(x[0], 0.0, 2.0), (0.5, 2)) == LIPSCHITZ


@pytest.mark.parametrize("n", (1, 2, 30))
def test_ackley_keeps_its_derivative_at_the_minimum(n):
    f = compile(ackley, n)
    for width in (0.0, 1e-6, 0.1):
        lo, hi = np.full(n, -width), np.full(n, width)
        g = f.gradient(lo, hi)
        assert g.value.level == LIPSCHITZ and np.isfinite(g.lo).all() and np.isfinite(g.hi).all()
        assert (g.lo < 0).all() and (g.hi > 0).all()
    check(f.f, n, (np.full((n, 2), [-0.1, 0.0]), np.full((n, 2), [0.1, 0.0])), share=1.0)


def test_roots_without_lipschitz():
    assert level(lambda x: np.cbrt(x[0]), (-1, 1)) == DEFINED and level(lambda x: np.cbrt(x[0]), (0, 0)) == DEFINED
    assert level(lambda x: np.cbrt(x[0]), (0.5, 1)) == SMOOTH
    assert level(lambda x: np.arcsin(x[0]), (0, 1)) == DEFINED and level(lambda x: np.arccos(x[0]), (-1, 0)) == DEFINED
    assert level(lambda x: np.arccosh(x[0]), (1, 2)) == DEFINED and level(lambda x: np.arctanh(x[0]), (0, 1)) == UNDEFINED
    assert level(lambda x: np.sqrt(np.abs(x[0])), (-1, 1)) == DEFINED
    assert level(lambda x: np.sqrt(x[0] ** 2), (-1, 1)) == LIPSCHITZ


def test_division_and_poles_clear_everything():
    assert level(lambda x: 1 / x[0], (0, 1)) == UNDEFINED and level(lambda x: 1 / x[0], (-1, 1)) == UNDEFINED
    assert level(lambda x: np.tan(x[0]), (1, 2)) == UNDEFINED and level(lambda x: np.tan(x[0]), (-1, 1)) == SMOOTH
    assert level(lambda x: x[0] ** -2, (-1, 1)) == UNDEFINED and level(lambda x: x[0] / x[0], (0, 1)) == UNDEFINED


# ---- tables
TABLE = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([1.0, 3.0, 2.0, 2.5])


def test_interpolation_is_continuous_and_smooth_between_its_points():
    def f(x):
        return np.interp(x[0], *TABLE)
    assert ends(f, (-1, -1)) == (1.0, 1.0) and ends(f, (0, 0)) == (3.0, 3.0) and ends(f, (0.5, 0.5)) == (2.0, 2.0)
    assert ends(f, (-5, 5)) == (1.0, 3.0) and ends(f, (3, 4)) == (2.5, 2.5)
    assert level(f, (-5, 5)) == LIPSCHITZ and level(f, (0, 0)) == LIPSCHITZ and level(f, (-0.75, -0.25)) == SMOOTH
    assert gradient(f, (-0.75, -0.25)) == [(2.0, 2.0)] and gradient(f, (0.125, 0.25)) == [(-2.0, -2.0)]
    (low, high), = gradient(f, (-0.25, 0.25))
    assert low <= -2.0 and high >= 2.0, "both slopes"
    assert level(lambda x: np.interp(x[0], *TABLE, left=0.0), (-1, -1)) == DEFINED, "a jump at the first point"
    assert level(lambda x: np.interp(x[0], *TABLE, right=2.5), (2.5, 3)) == SMOOTH


# ---- small matrices
def test_inverses_are_undefined_exactly_where_the_determinant_is_zero():
    def pivot(x):  # elimination would divide by its first entry, 0 at x = 0, where the determinant is -1
        return np.linalg.solve(np.stack([np.stack([x[0], 1.0]), np.array([1.0, 1.0])]), np.array([1.0, 0.0]))[0]
    assert level(pivot, (-0.5, 0.5)) == SMOOTH and ends(pivot, (0, 0)) == (-1.0, -1.0)
    assert level(pivot, (0.5, 1)) == UNDEFINED and enclosed(pivot, (1, 1)).empty
    assert level(lambda x: np.linalg.inv(x.reshape(2, 2))[0, 1], (-1, 1), (1, 2), (1, 2), (-0.5, 0.5)) == SMOOTH
    assert level(lambda x: np.linalg.det(x.reshape(2, 2)), *[(-1, 1)] * 4) == SMOOTH
    assert ends(lambda x: np.linalg.det(np.diag(x)), (2, 3), (2, 3)) == (4.0, 9.0)


def test_convolutions_and_pieces_need_no_more_than_they_use():
    assert level(lambda x: np.convolve(np.stack([x[0], 1.0]), np.stack([x[0], np.log(x[0])]))[0], (-1, 1)) == SMOOTH
    assert level(lambda x: np.piecewise(x, [x > 0], [np.log, np.exp])[0], (-2, -1)) == SMOOTH


# ---- through loops and buffers
@pytest.mark.parametrize("n", (3, 20, 70))
@pytest.mark.parametrize(("f", "at_zero", "above"), [
    (lambda x: np.sum(np.sqrt(x)), DEFINED, SMOOTH), (lambda x: np.prod(np.log(x)), UNDEFINED, SMOOTH),
    (lambda x: np.sum(np.cumsum(np.abs(x))), LIPSCHITZ, SMOOTH), (lambda x: np.max(x - np.sqrt(x)), DEFINED, LIPSCHITZ),
    (lambda x: np.sum(np.cumprod(np.sqrt(x))), DEFINED, SMOOTH),
    (lambda x: np.sum(np.sqrt(x)[::-1] * np.exp(x)), DEFINED, SMOOTH),
    (lambda x: np.sum(np.concatenate([np.sqrt(x), x]) ** 2), DEFINED, SMOOTH),
    (lambda x: np.linalg.norm(np.floor(x) + 2), DEFINED, SMOOTH),
    (lambda x: np.sum(np.where(x > 0.01, x, np.log(x + 1) - 1)), DEFINED, SMOOTH)])
def test_one_element_on_the_edge_decides_for_all(f, at_zero, above, n):
    lo, hi = np.full((n, 3), 0.25), np.full((n, 3), 0.5)
    lo[n // 2, 0] = 0.0
    lo[n // 2, 1] = hi[n // 2, 1] = 0.0
    e = compile(f, n)
    for r in (e.value(lo, hi), e.gradient(lo, hi).value, e.mean_value(lo, hi).best):
        assert r.level.tolist()[::2] == [at_zero, above]
    check(e.f, n, (lo, hi), per_box=4, share=0.5)
