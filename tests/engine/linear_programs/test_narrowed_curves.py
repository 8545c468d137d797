"""Lines of curves whose columns are known to be narrower than the curve is on the interval of its argument."""

import numpy as np
import pytest

import infimum
from infimum.relax.program_bounds import LinearProgramBounding
from infimum.relax.relaxation import Relaxation

A = np.array([[1, 3, 3, 0], [-1, -1, -3, 3]])
Q = np.array([[0, 3, 0, -2], [1, 2, 2, 3], [3, -2, -2, 1], [-3, 0, 3, -1]])


@pytest.mark.parametrize("name", ["sin", "cos", "tanh", "arctan", "exp"])
def test_lines_hold_where_the_curve_lies_in_its_column(name):
    """Second derivatives are known from values of the curve: sin'' = -sin has one sign where the column has one, not on all of
    the argument's interval."""
    curve = getattr(np, name)
    evaluator = infimum.compile(lambda x: curve(x[0]) + x[1], 2, constraints=lambda x: x[0] + x[1] >= -5)
    relaxation = Relaxation(evaluator)
    bounding = LinearProgramBounding(relaxation, None)
    low, high = bounding.columns_of(np.array([[-1.5, 0.0]]), np.array([[1.5, 1.0]]))
    assert low.shape == (1, relaxation.columns)
    at = relaxation.arguments.tolist().index(0)
    column, (lowest, highest) = relaxation.curves[at], sorted([curve(-1.4), curve(-1.5)])
    for end in (lowest, highest):
        one, other = low.copy(), high.copy()
        one[0, column], other[0, column] = (lowest, lowest + 1e-3) if end == lowest else (highest - 1e-3, highest)
        rows = relaxation.at(one, other, np.inf, bounding.touches(one, other, [None])).at(0).rows
        for x in np.linspace(-1.5, 1.5, 301):
            if one[0, column] <= curve(x) <= other[0, column]:
                z = np.zeros(relaxation.columns)
                z[0], z[column] = x, curve(x)
                of_curve = [r for r in range(len(rows.lower)) if set(rows.column[rows.row == r].tolist()) <= {0, column}]
                values = np.array([(rows.low[rows.row == r] * z[rows.column[rows.row == r]]).sum() for r in of_curve])
                assert (values >= rows.lower[of_curve] - 1e-9).all() and (values <= rows.upper[of_curve] + 1e-9).all()


def test_minimiser_at_an_end_of_a_sine():
    """All regions were discarded."""
    pytest.importorskip("highspy")
    boxes = [[(0, 3), (-3, 1), (0, 4), (-1, 1)], [(-1, -1), (-1, 1), (0, 4), (-1, 1)]]
    r = infimum.minimize(lambda x: x @ (Q @ x) + np.array([5, 0, -3, -1]) @ x + np.sin(x[1]), [(-1, 3), (-3, 1), (0, 4), (-1, 1)],
                         constraints=lambda x: A @ x <= np.array([6, 5]), integrality=1, options={"lp": True}, start_boxes=boxes)
    assert r.verdict.name == "PROVED" and r.x.tolist() == [-1, -1, 3, -1]
