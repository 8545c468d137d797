"""`smooth` means twice continuously differentiable on a neighbourhood of the closed box: every row of the table, and functions
that are differentiable once and no more. Second order reads nothing else."""

import numpy as np
import pytest
from scipy import special

from infimum.evaluation.compile import compile
from infimum.expr.node import topological
from infimum.ops.vocabulary import OPS, Kind
from tests.oracle.check import check

SMOOTH = 3
NEVER_TRACED = {"recur", "embed", "scatter", "slope", "step", "ratio"}  # made for derivatives, whose status nobody reads


def everywhere(f, *sides):
    """A row that is smooth on every box."""
    return f, [sides], []


def around(f, smooth, rough):
    """A row with intervals of one variable on which it is smooth, and others on which it is not."""
    return f, [(s,) for s in smooth], [(s,) for s in rough]


def beyond(f, edge, inside):
    """A row with an edge of its domain."""
    return around(f, [inside], [(edge, edge), tuple(sorted((edge, inside[0]))), tuple(sorted((edge, inside[1])))])


TOUCHING = [(-1.0, 1.0), (0.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]   # 0 inside, alone, at either end
AWAY = [(1e-300, 1.0), (-1.0, -5e-324)]
LARGE = (-1e3, 1e3)

ROWS = {
    "neg": everywhere(lambda x: -x[0], LARGE), "add": everywhere(lambda x: x[0] + x[1], LARGE, LARGE),
    "sub": everywhere(lambda x: x[0] - x[1], LARGE, LARGE), "mul": everywhere(lambda x: x[0] * x[1], LARGE, LARGE),
    "abs": around(lambda x: abs(x[0]), AWAY, TOUCHING), "cbrt": around(lambda x: np.cbrt(x[0]), AWAY, TOUCHING),
    "sqrt": beyond(lambda x: np.sqrt(x[0]), 0.0, (1e-300, 4.0)), "powi": everywhere(lambda x: x[0] ** 3, LARGE),
    "exp": everywhere(lambda x: np.exp(x[0]), LARGE), "exp2": everywhere(lambda x: np.exp2(x[0]), LARGE),
    "expm1": everywhere(lambda x: np.expm1(x[0]), LARGE), "log": beyond(lambda x: np.log(x[0]), 0.0, (1e-300, 4.0)),
    "log2": beyond(lambda x: np.log2(x[0]), 0.0, (1e-300, 4.0)), "log10": beyond(lambda x: np.log10(x[0]), 0.0, (1e-300, 4.0)),
    "log1p": beyond(lambda x: np.log1p(x[0]), -1.0, (-0.9, 4.0)), "sin": everywhere(lambda x: np.sin(x[0]), LARGE),
    "cos": everywhere(lambda x: np.cos(x[0]), LARGE), "tan": around(lambda x: np.tan(x[0]), [(-1.5, 1.5)], [(1.5, 1.6)]),
    "arcsin": beyond(lambda x: np.arcsin(x[0]), 1.0, (-0.9, 0.9)), "arccos": beyond(lambda x: np.arccos(x[0]), -1.0, (-0.9, 0.9)),
    "arctan": everywhere(lambda x: np.arctan(x[0]), LARGE), "sinh": everywhere(lambda x: np.sinh(x[0]), LARGE),
    "cosh": everywhere(lambda x: np.cosh(x[0]), LARGE), "tanh": everywhere(lambda x: np.tanh(x[0]), LARGE),
    "arcsinh": everywhere(lambda x: np.arcsinh(x[0]), LARGE), "arccosh": beyond(lambda x: np.arccosh(x[0]), 1.0, (1.1, 4.0)),
    "arctanh": beyond(lambda x: np.arctanh(x[0]), 1.0, (-0.9, 0.9)), "erf": everywhere(lambda x: special.erf(x[0]), LARGE),
    "erfc": everywhere(lambda x: special.erfc(x[0]), LARGE), "lgamma": beyond(lambda x: special.gammaln(x[0]), 0.0, (0.1, 4.0)),
    "polygamma": beyond(lambda x: special.digamma(x[0]), 0.0, (0.1, 4.0)),
    "spline": around(lambda x: np.interp(x[0], [-1.0, 0.0, 1.0], [0.0, 1.0, -1.0]), [(0.25, 0.75)],
                     [(0.0, 0.5), (-0.5, 0.0), (0.0, 0.0)]),
    "expit": everywhere(lambda x: special.expit(x[0]), LARGE),
    "xlogx": beyond(lambda x: special.xlogy(x[0], x[0]), 0.0, (1e-3, 4.0)),
    "logaddexp": everywhere(lambda x: np.logaddexp(x[0], x[1]), LARGE, LARGE),
    "sign": around(lambda x: np.sign(x[0]), AWAY, TOUCHING),
    "floor": around(lambda x: np.floor(x[0]), [(0.25, 0.75)], [(1.0, 1.0), (0.5, 1.0), (1.0, 1.5)]),
    "ceil": around(lambda x: np.ceil(x[0]), [(0.25, 0.75)], [(1.0, 1.0), (0.5, 1.0), (1.0, 1.5)]),
    "rint": around(lambda x: np.rint(x[0]), [(-0.25, 0.25)], [(0.5, 0.5), (0.25, 0.5), (0.5, 0.75)]),
    "div": around(lambda x: 1 / x[0], AWAY, TOUCHING),
    "pow": beyond(lambda x: x[0] ** 2.5, 0.0, (1e-100, 4.0)),
    "arctan2": (lambda x: np.arctan2(x[0], x[1]), [((-1, 1), (0.5, 1)), ((0.5, 1), (-1, 1))],
                [((-1, 1), (-1, -0.5)), ((0, 0), (-1, -0.5)), ((0, 1), (0, 1)), ((0, 0), (0, 0)), ((-1, 0), (-2, 1))]),
    "hypot": (lambda x: np.hypot(x[0], x[1]), [((-1, 1), (0.5, 1)), ((5e-324, 1), (0, 1))],
              [((0, 0), (0, 0)), ((-1, 1), (0, 1)), ((0, 1), (0, 1))]),
    "min": (lambda x: np.minimum(x[0], x[1]), [((0, 1), (1.5, 2))], [((0, 1), (1, 2)), ((0, 1), (0.5, 2)), ((1, 1), (1, 1))]),
    "max": (lambda x: np.maximum(x[0], x[1]), [((0, 1), (1.5, 2))], [((0, 1), (1, 2)), ((0, 1), (0.5, 2)), ((1, 1), (1, 1))]),
    "where": around(lambda x: np.where(x[0] < 0, x[0] ** 2, -(x[0] ** 2)), AWAY, TOUCHING),
    "lt": around(lambda x: np.where(x[0] < 0, x[0], 1.0), AWAY, TOUCHING),
    "le": around(lambda x: np.where(x[0] <= 0, x[0], 1.0), AWAY, TOUCHING),
    "eq": around(lambda x: np.where(x[0] == 0, 2.0, x[0]), AWAY, TOUCHING),
    "not": around(lambda x: np.where(~(x[0] < 0), 2.0, x[0]), AWAY, TOUCHING),
    "and": (lambda x: np.where((x[0] < 0) & (x[1] < 0), 2.0, x[0]), [((-1, -0.5), (-1, -0.5)), ((0.5, 1), (-1, 1))],
            [((-1, 0), (-1, -0.5)), ((-1, -0.5), (-1, 1))]),
    "or": (lambda x: np.where((x[0] < 0) | (x[1] < 0), 2.0, x[0]), [((-1, -0.5), (-1, 1)), ((0.5, 1), (0.5, 1))],
           [((-1, 0), (0.5, 1)), ((0, 1), (0.5, 1))]),
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
