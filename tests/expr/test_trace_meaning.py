"""Where NumPy's meaning is easily missed: truth values in arithmetic, true constants in lists, types by position.

Each function here either means what NumPy computes, point by point, or is refused with a cure. What tells truth values from
numbers is how they add up (True + True is True), so `seen` adds every result to itself.
"""

import itertools
import operator
import warnings

import numpy as np
import pytest
from evaluate_with_numpy import evaluate

from infimum.errors import TraceError, UserFunctionError
from infimum.expr.node import topological
from infimum.expr.real import pi
from infimum.trace.trace import trace

POINTS = [np.array(p) for p in itertools.product((2.0, -1.5, 0.3), (1.7, -0.2), (3.2, -3.2, 1.0))]
C = np.array([True, False, True])
INTEGERS = np.array([2, 1, 3])
M = np.arange(9.0).reshape(3, 3) / 4 - 1
B = M > 0


def seen(result):
    """One number that tells the values of a result and whether they are truth values."""
    if isinstance(result, (tuple, list)):
        return sum(seen(part) for part in result)
    return np.sum(1.0 * result) + 10 * np.sum(1.0 * (result + result)) + 100 * np.sum(1.0 * (result * 2))


def agrees(fun):
    """Is seen(fun(x)) traced as NumPy computes it? False if tracing refuses it; a different value fails."""
    def probe(x):
        return seen(fun(x))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expr = trace(probe, 3)
        except UserFunctionError:
            with pytest.raises(Exception):  # noqa: B017 (whatever NumPy raises)
                probe(POINTS[0].copy())
            return False
        except TraceError:
            return False
        for point in POINTS:
            expected = float(probe(point.copy()))
            if np.isfinite(expected):
                np.testing.assert_allclose(float(evaluate(expr, point)), expected, rtol=1e-11, atol=1e-12)
    return True


SAME = {
    "or counted": lambda x: x[0] + 100 * ((x[0] > 1) + (x[1] > 1)),
    "python truth": lambda x: True + (x[0] > 0),
    "numpy truth": lambda x: np.True_ * (x > 0),
    "product of conditions": lambda x: (x > 0) * (x > 1) * (x < 3),
    "counted by a number": lambda x: 1.0 * (x > 0) + 1 * (x > 1) + (2 - (x < 0)),
    "counted in a list": lambda x: np.sum([x[0] > 0, x[1] > 0]),
    "any and all": lambda x: (np.any(x > 1), np.all(x > 0), (x > 0).any(), np.all(np.outer(x, x) > 0, axis=1), np.any(x),
                              np.all(x > 5, keepdims=True), np.any(x[:0] > 0)),
    "rounded": lambda x: (np.round(x, 1), np.around(10 * x, -1), x.round(), np.rint(2 * x), np.trunc(2 * x), round(x[0]),
                          round(x[1], 1), np.round(np.sum(x > 0))),
    "counted by python": lambda x: sum([x[0] > 0, x[1] > 0, x[2] > 0]),
    "extrema of two": lambda x: (np.minimum(x > 0, x > 1), np.maximum(x > 0, C)),
    "compared": lambda x: ((x > 0) == (x > 1), (x > 0) < (x > 1), (x > 0) != 1, abs(x > 0), ~(x > 0), (x > 0) ^ (x > 1)),
    "quotient": lambda x: (x > 0) / 2 + (x > 0) // 2,
    "float power": lambda x: (x > 0) ** 2.0,
    "condition as exponent": lambda x: x ** (x > 0),
    "lists of conditions": lambda x: (x > 0) + [x[0] > 0, x[1] > 0, True],
    "mixed lists": lambda x: (x > 0) * [x[0] > 0, 2, True],
    "where of truths": lambda x: np.where(x > 0, True, False) + np.where(x > 1, True, False),
    "where of conditions": lambda x: (np.where(x > 0, x > 1, C), np.where(C, x > 0, True), np.where(C, x > 0, 2.5)),
    "select of truths": lambda x: (np.select([x > 0, C], [x > 1, x < 0], True), np.select([x > 0, x < -1], [True, False])),
    "astype": lambda x: ((x > 0).astype(float) + (x > 1).astype(float), (x > 0).astype(int), (x > 0).astype(bool),
                         x.astype(bool)),
    "extrema": lambda x: (np.max(x > 0), (x > 0).min(), np.max(np.outer(x > 0, C), axis=0), np.max(x > 0, keepdims=True)),
    "sums": lambda x: (np.sum(x > 0), np.prod(x > 0), np.mean(x > 0), np.cumsum(x > 0), (x > 0).cumprod(), np.var(x > 0)),
    "reductions of ufuncs": lambda x: (np.add.reduce(x > 0), np.multiply.reduce(x > 0), np.maximum.reduce(x > 0),
                                       np.minimum.accumulate(x > 0), np.add.accumulate(x > 0)),
    "initial": lambda x: (np.max(x > 0, initial=False), np.sum(x > 0, initial=2)),
    "logical products": lambda x: (np.dot(x > 0, x > -1), (x > 0) @ C, B @ (x > 0), np.inner(x > 0, C), np.outer(x > 0, C),
                                   np.vdot(x > 0, C), np.tensordot(x > 0, C, 1), np.einsum("i,ij,j", x > 0, B, x < 2)),
    "counting products": lambda x: (M @ (x > 0), INTEGERS @ (x > 0), np.einsum("ii,i->", np.outer(x, x), x > 0)),
    "outer sum": lambda x: (np.add.outer(x > 0, C), np.add.outer(C, x > 0), np.multiply.outer(x > 0, INTEGERS)),
    "differences": lambda x: (np.diff(x > 0), np.diff(x > 0, 2), np.diff(x > 0, 2, prepend=True),
                              np.diff(x > 0, 2, prepend=[False, True], append=x[0] > 0), np.diff(x > 0, 2, prepend=1)),
    "trapezoid": lambda x: (np.trapezoid(x > 0), np.trapezoid(x > 0, x > -1), np.trapezoid(x, x > -1)),
    "joined": lambda x: (np.stack([x[0] > 0, True]), np.stack([x[0] > 0, x[1]]), np.concatenate([x > 0, C]), np.append(x > 0, 2),
                         np.hstack([x > 0, x[0] > 1]), np.vstack([x > 0, C]), np.column_stack([x > 0, C])),
    "rearranged": lambda x: (np.flip(x > 0), np.roll(x > 0, 1), np.tile(x > 0, 2), np.diag(x > 0), np.tril(np.outer(x > 0, C)),
                             np.broadcast_to(x > 0, (2, 3)), np.copy(x > 0), np.split(x > 0, 3), np.broadcast_arrays(x > 0, M)[0],
                             np.take(x > 0, [0, 2]), np.trace(np.outer(x > 0, C)), (x > 0).T, (x > 0).reshape(3, 1)),
    "more functions": lambda x: (np.clip(x > 0, 0, 1), (x > 0).clip(0.2, 0.7), np.polyval([1, 2], x > 0),
                                 np.average(x, weights=C), np.average(x > 0, weights=[1, 2, 3]), np.count_nonzero(x > 0),
                                 np.linalg.norm(x > 0, 1)),
    "arrays like conditions": lambda x: (np.zeros_like(x > 0) + np.ones_like(x > 0) + (x > 0), np.full_like(x > 0, 2.5) + (x > 0),
                                         np.full_like(x > 0, x[0])),
    "in place": lambda x: operator.iadd(x > 0, x > 1),
    "type": lambda x: 1.0 * ((x > 0).dtype == bool),
    "float64 by position": lambda x: (np.sum(x, None, float), x.mean(0, np.float64), np.full_like(x, 2.7, int)),
    "exponents in views": lambda x: (x[:, None] ** np.broadcast_to(np.concatenate([x[:0], [2.0, 3.0]]), (1, 2)),
                                     x ** np.concatenate([[2.0], x[:0], [3.0, 1]]),
                                     x ** np.concatenate([x[:0], [2.0, 4.0, 3.0]])[::-1],
                                     x[:, None] ** np.concatenate([x[:0], [2.0, 3.0]]).reshape(1, 2).T[::-1].T),
    "exponents that change": lambda x: (np.abs(x) ** np.where(x > 0, 2, 3), 2.0 ** np.sum(x > 0), x ** np.where(x > 0, 2, 3),
                                        x ** np.round(x), x ** (1 - np.floor(2 * x)), (-2.0) ** np.sum(x > 0)),
    "exponents that are computed": lambda x: x ** np.cumsum(np.concatenate([x[:0], [1.0, 1.0, 1.0]])),
    "many exponents": lambda x: (x / 99) ** np.arange(-1100.0, 1100.0)[:, None],
    "mixed numbers": lambda x: (x[:2] * [2, 0.5], x * [[1, 2.5, True], [np.float32(0.1), 3, np.int64(4)]],
                                np.clip(x, [0, 1, 2], 2.5),
                                np.concatenate([x, (1, 2)]), x * (np.array([1.0, 2, 3]), [1, 2, 3]),
                                np.maximum(x, [-np.inf, 0, 1])),
    "degrees of freedom": lambda x: (np.var(x, ddof=0.1), np.std(x, ddof=1.5), x.var(ddof=1)),
    "take": lambda x: (np.take(x, [4, -5], mode="wrap"), np.take(x, [4, -5], mode="clip")),
    "indices": lambda x: (x[-3] + x[-1], x[[True, False, True]], np.delete(x, 1), np.repeat(x, [1, 0, 2]), np.resize(x, (2, 4))),
    "reversed clip": lambda x: np.clip(x, 1, -1),
    "signs": lambda x: (np.heaviside(x - 1.7, 0.25), np.sign(x - x[0]), np.trunc(x), x // -0.7, x % -0.7,
                        np.divmod(x, [1.0, -2.0, 0.5]), np.count_nonzero(x - x[0])),
    "diagonals": lambda x: (np.diag(np.outer(x, x), -1), np.diag(x, 1), np.trace(np.outer(x, x), -1),
                            np.roll(np.outer(x, x), (1, 2), (0, 1))),
    "norms": lambda x: (np.linalg.norm(np.outer(x, INTEGERS)), np.linalg.norm(np.outer(x, INTEGERS), 1),
                        np.linalg.norm(np.outer(x, INTEGERS), np.inf),
                        np.linalg.norm(np.outer(x, INTEGERS)[:, None], 1, axis=(0, 2)),
                        np.linalg.norm(np.outer(x, INTEGERS), "fro", axis=(1, 0))),
    "stacks of matrices": lambda x: (np.stack([M, M * 2])[:, None] @ np.stack([np.outer(x, x)] * 3), np.stack([M, M]) @ x,
                                     np.dot(np.stack([M, M]), np.stack([np.outer(x, x)] * 2)), np.inner(M, np.outer(x, x))),
    "trapezoid along the first axis": lambda x: (np.trapezoid(np.outer(x, x), M, axis=0),
                                                 np.trapezoid(np.outer(x, x), dx=x[0], axis=0),
                                                 np.trapezoid(np.outer(x, x), [1, 2.5, 7], axis=0)),
    "weighted rows": lambda x: (np.average(np.outer(x, x), axis=0, weights=[1, 2, 3]), np.max(x, initial=2),
                                np.ptp(M * x, axis=1)),
}


@pytest.mark.parametrize("name", SAME)
def test_the_meaning_is_numpys(name):
    assert agrees(SAME[name])


@pytest.mark.skipif(not hasattr(np, "fix"), reason="NumPy has given it up")
@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_fix_is_trunc():
    assert agrees(lambda x: np.fix(2 * x))


OPERANDS = {
    "condition": lambda x: x > 0.5, "scalar condition": lambda x: x[0] > 0, "True": lambda x: True,
    "np.True_": lambda x: np.True_,
    "truths": lambda x: C, "listed truths": lambda x: [True, False, True],
    "listed conditions": lambda x: [x[0] > 0, x[1] > 0, True],
    "mixed list": lambda x: [x[0] > 0, 2, True], "int": lambda x: 2, "float": lambda x: 1.5, "x": lambda x: x,
    "integers": lambda x: INTEGERS, "uint8": lambda x: np.uint8(2), "float32": lambda x: np.float32(0.5),
    "count": lambda x: np.sum(x > 0),
    "chosen integers": lambda x: np.where(x > 0, 2, 1), "chosen truths": lambda x: np.where(x > 0, True, False),
}
TWO_ARGUMENTS = [np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.minimum, np.maximum, np.arctan2,
                 np.hypot, np.logaddexp, np.heaviside, np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.logical_and,
                 np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.divmod]
ONE_ARGUMENT = [np.absolute, np.fabs, np.negative, np.positive, np.conjugate, np.sqrt, np.exp, np.sin, np.square, np.reciprocal,
                np.sign, np.floor, np.ceil, np.trunc, np.invert, np.logical_not, np.log1p, np.sinc]


@pytest.mark.parametrize("ufunc", TWO_ARGUMENTS)
@pytest.mark.parametrize("first", ["condition", "scalar condition", "count", "chosen truths", "x"])
def test_two_arguments_of_any_type(ufunc, first):
    """Traced as NumPy computes it, or refused; only bits of numbers are refused whatever the other is."""
    traced = 0
    for second in OPERANDS:
        traced += agrees(lambda x, second=second: ufunc(OPERANDS[first](x), OPERANDS[second](x)))
        traced += agrees(lambda x, second=second: ufunc(OPERANDS[second](x), OPERANDS[first](x)))
    assert traced >= 3 or (ufunc.__name__.startswith("bitwise") and first in ("count", "x") and not traced)


@pytest.mark.parametrize("ufunc", ONE_ARGUMENT)
def test_one_argument_of_any_type(ufunc):
    names = ("condition", "scalar condition", "count", "chosen integers", "chosen truths", "x")
    assert any([agrees(lambda x, name=name: ufunc(OPERANDS[name](x))) for name in names])


COUNT = r"1\.0 \* \(x > 0\)"
REFUSED = [
    (lambda x: np.sum((x > 0) - (x > 1)), COUNT),
    (lambda x: np.sum(-(x > 0)), COUNT),
    (lambda x: +(x[0] > 0) * 1.0, COUNT),
    (lambda x: np.sum((x > 0) ** 2), COUNT),
    (lambda x: np.sum(np.square(x > 0)), COUNT),
    (lambda x: np.sum(np.exp(x > 0)), f"float16.*{COUNT}"),
    (lambda x: np.ptp(x > 0) * 1.0, COUNT),
    (lambda x: np.sum((x > 0) * np.uint8(1) - 1), f"uint8.*{COUNT}"),
    (lambda x: np.sum(np.where(x > 0, np.uint8(1), np.uint8(2)) - 3), "uint8"),
    (lambda x: np.sum(np.concatenate([x > 0, np.ones(1, np.int8)])), "int8"),
    (lambda x: np.sum((x < 0).astype(np.uint8) - 1), r"astype\(float\)"),
    (lambda x: np.sum((x < 0).astype(np.int32)), r"astype\(float\)"),
    (lambda x: np.sum((x > 0) & 1), "parentheses"),
    (lambda x: np.sum(operator.iadd(x > 0, 1)), r"c = c \+"),
    (lambda x: np.sum(np.array([True, True, False], dtype=object) + (x > 0)), "np.stack"),
    (lambda x: np.sum(np.polyval([True, True], x > 0)), COUNT),
    (lambda x: np.sum(np.full_like(np.where(x > 0, 1, 0), 0.5)), "dtype=float"),
    (lambda x: np.reciprocal(np.sum(x > 0) + 1), r"1\.0 / x"),
    (lambda x: 5 // np.sum(x > 0), r"np\.floor\(a / b\)"),
    (lambda x: np.sum(x > 0, initial=2.5), r"np\.sum\(a\) \+ initial"),
    (lambda x: np.sum(np.where(x > 0, 2, -3) ** np.where(x > 1, 2, -1)), r"1\.0 \* base"),
    (lambda x: np.sum(x > 0) ** np.sum(x > 1), r"1\.0 \* base"),
    (lambda x: np.sum(x, None, int), "int64.*np.floor"),
    (lambda x: x.sum(0, int), "int64"),
    (lambda x: np.mean(x, None, int), "int64"),
    (lambda x: np.cumsum(x, 0, int)[0], "int64"),
    (lambda x: np.prod(x, 0, int), "int64"),
    (lambda x: x.std(0, np.float32), "float32"),
    (lambda x: np.full_like(x, x[1], dtype=int)[0], "int64"),
    (lambda x: np.full_like(x, x[1], int)[0], "int64"),
    (lambda x: np.sum(x, 0, None, np.zeros(())), "`out`.*returned value"),
    (lambda x: np.max(x, 0, np.zeros(())), "`out`"),
    (lambda x: np.dot(x, x, np.zeros(())), "`out`"),
    (lambda x: np.take(x, [0, 1], 0, np.zeros(2))[0], "`out`"),
    (lambda x: np.sum(np.add(x, 1, signature="ff->f", casting="unsafe")), "`signature`"),
    (lambda x: np.sum(np.fmin(np.sqrt(x), 1)), "np.minimum"),
    (lambda x: np.sum(np.fmax(x, 1)), "np.maximum"),
    (lambda x: np.sum(x[:2] * [9007199254740993, 0.5]), "not exactly a double"),
    (lambda x: np.sum(x[:2] * [[9007199254740993, 0.5], [1, 2]]), "not exactly a double"),
    (lambda x: np.sum(np.maximum(x[:2], (0.5, 9007199254740993))), "not exactly a double"),
    (lambda x: np.var(x, ddof=x[0]), "ddof"),
    (lambda x: np.var(x, ddof=3), "ddof"),
    (lambda x: np.round(x > 0)[0] * 1.0, f"float16.*{COUNT}"),
    (lambda x: np.piecewise(x > 0, [x > 1], [2.5])[0] * 1.0, COUNT),
    (lambda x: np.sum(np.asmatrix(M) * x[:, None]), "matrix"),
    (lambda x: np.linalg.norm(np.outer(x, x), 2), "ord=2"),
]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(("fun", "words"), REFUSED)
def test_what_is_refused_names_the_cure(fun, words):
    with pytest.raises(TraceError, match=words) as caught:
        trace(fun, 3)
    assert not isinstance(caught.value, UserFunctionError)


@pytest.mark.parametrize("fun", [
    lambda x: x[[True, False]][0], lambda x: np.take(x, [4])[0], lambda x: x[3], lambda x: np.sum(np.broadcast_to(x, (1,))),
    lambda x: np.einsum("ii", np.outer(x, x)[:1]), lambda x: np.sum(x * [[1, 2], [3]]),
])
def test_what_numpy_raises_is_raised(fun):
    with pytest.raises(UserFunctionError):
        trace(fun, 3)


# ---- the true pi

@pytest.mark.parametrize("fun", [
    lambda x: np.dot([pi, 0.0], x), lambda x: np.sum(x * [pi, 1.0]), lambda x: np.sum(x * (pi, 1)),
    lambda x: np.sum(x * [[pi, 1], [2, 3]]), lambda x: np.sum(x * np.array([pi, 2.0], dtype=object)),
    lambda x: np.sum(np.concatenate(([pi], x))), lambda x: np.sum(np.append(x, [pi])), lambda x: np.average(x, weights=[pi, 1]),
    lambda x: np.sum(np.average(np.outer(x, x), axis=0, weights=[pi, 1])), lambda x: np.sum(np.stack([x[0], pi])),
    lambda x: np.sum(x ** np.array([pi, 1], dtype=object)), lambda x: np.sum(x ** [pi, 1]),
    lambda x: np.sum(np.where([True, False], pi, x)), lambda x: np.sum(np.where([True, False], [pi, 2], x)),
    lambda x: np.sum(np.where(x > 0, pi, [pi, 1])), lambda x: np.sum(np.full_like(x, pi) * x),
    lambda x: np.sum(np.full_like(x, [pi, 1])),
    lambda x: np.sum(np.select([np.array([True, False])], [x], pi)), lambda x: np.sum(np.select([x > 0], [[pi, 1]], x)),
    lambda x: np.sum(np.clip(x, -np.inf, [pi, np.inf])), lambda x: np.sum(np.maximum([-np.inf, pi], x)),
    lambda x: np.polyval([pi, 1.0], x[0]), lambda x: np.max(x, initial=pi), lambda x: np.trapezoid(x, [0.0, pi]),
    lambda x: np.var(np.concatenate([x, x]), ddof=pi),
])
def test_pi_stays_true_wherever_it_stands(fun):
    constants = [node for node in topological([trace(fun, 2)]) if node.op == "const" and (node.lo == pi.lo).any()]
    assert constants
    for node in constants:
        assert (node.hi[node.lo == pi.lo] == pi.hi).all()


def test_degrees_of_freedom_are_not_rounded():
    expr = trace(lambda x: np.var(x, ddof=0.1), 3)
    assert expr.op == "div" and expr.args[1].op == "sub" and [float(a.lo) for a in expr.args[1].args] == [3.0, 0.1]
    assert float(trace(lambda x: np.var(x, ddof=0.5), 3).args[1].lo) == 2.5
