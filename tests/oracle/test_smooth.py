"""`smooth` means twice continuously differentiable on a neighbourhood of the closed box: every row of the table, and functions
that are differentiable once and no more. Second order reads nothing else."""

import numpy as np
import pytest
from scipy import special

from infimum.evaluation.compile import compile
from infimum.expr.node import topological
from infimum.ops.vocabulary import OPS, Kind
from tests import operations
from tests.operations import LARGE, TOUCHING
from tests.oracle.check import check

SMOOTH = 3
NEVER_TRACED = {"recur", "embed", "scatter", "slope", "step", "ratio"}  # made for derivatives, whose status nobody reads


def everywhere(f, *sides):
    """A row that is smooth on every box."""
    return f, [sides], []


ROWS = {
    **{op: (row.as_written(op), row.smooth or [(LARGE,) * OPS[op].arity], row.rough) for op, row in operations.ROWS.items()
       if op not in NEVER_TRACED},
    "reshape": everywhere(lambda x: np.sum(x.reshape(2, 2)[0]), *[LARGE] * 4),
    "transpose": everywhere(lambda x: np.sum(x.reshape(2, 2).T[0] ** 2 * [1, 2]), *[LARGE] * 4),
    "broadcast": (lambda x: np.sum(abs(x[0]) * x), [((1, 2), (-1, 1))], [((0, 2), (-1, 1))]),
    "slice": (lambda x: np.sum(abs(x)[1:]), [((-1, 1), (1, 2))], [((1, 2), (-1, 1))]),
    "gather": (lambda x: np.sum(abs(x)[[1, 1, 1]]), [((-1, 1), (1, 2))], [((1, 2), (-1, 1))]),
    "concat": (lambda x: np.prod(np.concatenate([abs(x), x])), [((1, 2), (1, 2))], [((1, 2), (-1, 1))]),
    "sum": (lambda x: np.sum(abs(x)), [((1, 2), (1, 2))], [((1, 2), (0, 1))]),
    "prod": (lambda x: np.prod(abs(x)), [((1, 2), (1, 2))], [((1, 2), (0, 1))]),
    "amin": (lambda x: np.min(x), [((1, 2), (3, 4), (0, 0.5))], [((1, 2), (2, 4), (5, 6)), ((1, 1), (1, 1), (1, 1))]),
    "amax": (lambda x: np.max(x), [((1, 2), (3, 4), (0, 0.5))], [((1, 2), (2, 4), (0, 0.5)), ((1, 1), (1, 1), (1, 1))]),
    "norm": (lambda x: np.linalg.norm(x), [((-1, 1), (0.5, 1), (0, 0))], [((0, 1), (-1, 1), (0, 0)), ((0, 0), (0, 0), (0, 0))]),
    "cumsum": (lambda x: np.sum(np.cumsum(abs(x))), [((1, 2), (1, 2))], [((1, 2), (0, 1))]),
    "cummin": (lambda x: np.sum(np.minimum.accumulate(x)), [((1, 2), (3, 4))], [((1, 2), (2, 4)), ((1, 1), (1, 1))]),
    "cummax": (lambda x: np.sum(np.maximum.accumulate(x)), [((1, 2), (3, 4))], [((1, 2), (2, 4)), ((1, 1), (1, 1))]),
    "cumprod": (lambda x: np.sum(np.cumprod(abs(x))), [((1, 2), (1, 2))], [((1, 2), (0, 1))]),
}
ONCE = {  # differentiable once everywhere, twice not at 0
    "x|x|": lambda x: x[0] * abs(x[0]), "square of a positive part": lambda x: np.maximum(x[0], 0) ** 2,
    "x |x| as a root": lambda x: x[0] * np.sqrt(x[0] ** 2), "parabolas": lambda x: np.where(x[0] > 0, x[0] ** 2, 3 * x[0] ** 2),
    "power 4/3": lambda x: np.cbrt(x[0]) ** 4, "power 5/3": lambda x: np.cbrt(x[0] ** 5), "x**1.5": lambda x: abs(x[0]) ** 1.5,
    "root of a power": lambda x: np.sqrt(abs(x[0]) ** 3), "square with a sign": lambda x: np.sign(x[0]) * x[0] ** 2,
    "clipped": lambda x: np.clip(x[0], 0, 1) ** 2, "xlogx": lambda x: np.where(x[0] > 0, special.xlogy(x[0], x[0]) * x[0], 0.0),
    "softened": lambda x: np.hypot(x[0], 0) * x[0], "smallest": lambda x: np.min(np.stack([x[0], -x[0]])) * x[0],
    "interpolated": lambda x: np.interp(x[0], [-1, 0, 1], [1, 0, 2]) * x[0], "norm": lambda x: np.linalg.norm(x) * x[0],
    "huber": lambda x: np.where(abs(x[0]) <= 1, x[0] ** 2 / 2, abs(x[0]) - 0.5) - np.where(abs(x[0]) > 1, 0.0, x[0] * abs(x[0])),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_smooth_where_it_has_two_continuous_derivatives_and_nowhere_else(name):
    f, smooth, rough = ROWS[name]
    n = len((smooth or rough)[0])
    compiled = compile(f, n)
    assert any(node.op == name for node in topological([compiled.f])), "the function has the operation"
    for sides, wanted in [(s, True) for s in smooth] + [(s, False) for s in rough]:
        lo, hi = np.array(sides, dtype=float).T
        assert compiled.value(lo, hi).smooth == wanted, sides
        assert not wanted or compiled.hessian(lo, hi).value.smooth
        check(compiled.f, n, (lo[:, None], hi[:, None]), per_box=4, share=1.0)


def test_every_row_of_the_table_is_here():
    leaves = {name for name, row in OPS.items() if row.kind is Kind.LEAF}
    assert set(ROWS) == set(OPS) - leaves - NEVER_TRACED


@pytest.mark.parametrize("name", ONCE)
@pytest.mark.parametrize("side", TOUCHING)
def test_once_differentiable_is_not_smooth(name, side):
    assert not compile(ONCE[name], 1).value([side[0]], [side[1]]).smooth


@pytest.mark.parametrize("f", (lambda x: np.linalg.norm(x) * x[0], lambda x: np.hypot(x[0], x[1]) * x[1],
                               lambda x: np.maximum(x[0], x[1]) * (x[0] - x[1]), lambda x: x[0] ** (1.5 + x[1] ** 2)))
def test_once_differentiable_in_two_variables_is_not_smooth(f):
    for side in TOUCHING:
        assert not compile(f, 2).value([side[0]] * 2, [side[1]] * 2).smooth
