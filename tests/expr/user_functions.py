"""Functions as users write them, a table for the tests: name -> (function, number of variables, lowest, highest coordinate)."""

from collections.abc import Callable

import numpy as np

from infimum.ops.vocabulary import OPS
from tests.operations import ROWS

A = np.array([[1.0, 2.0, -0.5], [0.25, -1.0, 3.0]])
B = np.arange(12.0).reshape(3, 4) / 7 - 0.6
C = np.array([0.5, -1.5, 2.0])
DATA_T = np.linspace(0.0, 2.0, 9)
DATA_Y = np.exp(-0.7 * DATA_T) + 0.1 * DATA_T
W1, B1, W2 = np.sin(np.arange(15.0).reshape(5, 3)), np.cos(np.arange(5.0)), np.sin(3 * np.arange(5.0))


def rastrigin(x):
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def ackley(x):
    n = x.size
    return -20 * np.exp(-0.2 * np.sqrt(np.sum(x**2) / n)) - np.exp(np.sum(np.cos(2 * np.pi * x)) / n) + 20 + np.e


def levy(x):
    w = 1 + (x - 1) / 4
    middle = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    return np.sin(np.pi * w[0]) ** 2 + middle + (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)


def griewank(x):
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1))))


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def rosenbrock_loop(x):
    total = 0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def styblinski_tang(x):
    return 0.5 * (x**4 - 16 * x**2 + 5 * x).sum()


def zabinsky(x):
    return -(2.5 * np.prod(np.sin(x - np.pi / 6)) + np.prod(np.sin(5 * (x - np.pi / 6))))


def beale(x):
    a, b = x
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def michalewicz(x):
    return -np.sum(np.sin(x) * np.sin(np.arange(1, len(x) + 1) * x**2 / np.pi) ** 20)


def sum_of_powers(x):
    return np.sum(np.abs(x) ** np.arange(2, len(x) + 2))


def zakharov(x):
    s = np.sum(0.5 * np.arange(1, x.shape[0] + 1) * x)
    return np.dot(x, x) + s**2 + s**4


def schwefel_2_22(x):
    return np.sum(np.abs(x)) + np.prod(np.abs(x))


def dixon_price(x):
    return (x[0] - 1) ** 2 + sum(i * (2 * x[i - 1] ** 2 - x[i - 2]) ** 2 for i in range(2, len(x) + 1))


def powell_views(x):
    a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
    return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


def list_of_components(x):
    parts = [np.sin(xi) * (i + 1) for i, xi in enumerate(x)]
    return sum(parts) + sum(a * b for a, b in zip(x[1:], x[:-1], strict=True))


def network(x):
    return W2 @ np.tanh(W1 @ x + B1)


def least_squares(x):
    return np.sum((DATA_Y - x[0] * np.exp(-x[1] * DATA_T) - x[2] * DATA_T) ** 2)


def in_place_on_a_name(x):
    y = x * 2
    z = y
    z += 1
    z *= x
    return np.sum(y) + np.sum(x)


def in_place_on_the_input(x):
    x = x.copy()
    x -= 1
    return np.sum(x**2)


def in_place_number(x):
    s = x[0]
    t = s
    s += x[1]
    return s * t


def objects(x):
    y = np.array([x[0] ** 2, x[1], 1.5])
    y[1] += x[2]
    z = np.zeros(3, dtype=object)
    z[:] = x
    return np.sum(np.sin(y[:2])) + np.sum(np.stack(y)) + np.dot(y, C) + np.linalg.norm(y) + np.var(y) \
        + (y * x).sum() + z @ y + np.sum(np.exp(np.asarray(x))) + np.mean(y)


def piecewise(x):
    return np.sum(np.where((x > 0) & (x <= 0.5), np.exp(x), np.where(x < -0.2, x**2, 1 - x)))


def masks(x):
    m = x > 0
    return (m * x).sum() + np.sum(~m) + np.mean(m) + np.count_nonzero(m | (x < -1)) + m[1:].astype(int).sum() \
        + (m[0] ^ m[1]) * 1.0


def select_rows(x):
    return np.sum(np.select([x < -0.5, x < 0.5], [x**2, np.cos(x)], default=3.0))


def stacked(x):
    s = np.stack([x, x**2], axis=1)
    v = np.vstack([x, C]) @ x + np.hstack([x[:1], x[1]])
    return np.sum(s @ np.array([1.0, 2.0])) + v[0] * v[1] + np.concatenate([x, [1.0], x[::-1]])[4] + np.column_stack([x, x])[2, 1]


def shapes(x):
    m = x.reshape(2, 3)
    t = m.T @ m + np.transpose(m)[:, :2] @ m
    total = np.sum(t * np.arange(9).reshape(3, 3)) + m.ravel()[4] + np.squeeze(m[:1]).sum() + m[..., None].shape[2]
    total += np.swapaxes(m, 0, 1)[2, 1] * np.moveaxis(m, 0, 1)[0, 1] + np.expand_dims(x, 0)[0, 3] + np.trace(t) + np.diag(t)[1]
    total += np.sum(np.diag(x) @ x) + np.sum(np.triu(t) * 2 - np.tril(t, -1)) + np.reshape(x, (3, 2), order="F")[1, 1]
    return total + m.flatten("F")[1] + np.tile(x, 2)[7] + np.repeat(x, 2)[3] + np.atleast_2d(x)[0, 5] + np.flip(m, 1)[0, 0]


def shifted(x):
    return np.sum(np.roll(x, 1) * x) + np.sum(np.diff(x, n=2) ** 2) + np.diff(x, prepend=0.0)[0] \
        + np.sum(np.flip(x)[:2] * x[:2]) \
        + np.sum(np.diff(x.reshape(2, 2), axis=0) * C[:2]) + np.roll(x.reshape(2, 2), (1, 1), axis=(0, 1))[0, 1] ** 3


def running(x):
    m = x.reshape(2, 3)
    return np.sum(np.cumsum(x) ** 2) + np.cumprod(x)[-1] + np.sum(np.cumsum(m, axis=0) * np.cumprod(m, axis=1)) \
        + np.add.accumulate(x)[2] + np.sum(np.maximum.accumulate(x)) + np.minimum.accumulate(m, axis=1)[1, 2] + x.cumsum()[3]


def reduced(x):
    m = x.reshape(2, 3)
    deviation = m - m.mean(axis=1, keepdims=True)
    return np.prod(m, axis=-1).sum() + np.max(m, axis=0)[1] * np.min(m) + np.var(m, axis=0, ddof=1).sum() + np.std(x) \
        + np.sum(deviation**2) + np.add.reduce(m)[0] + np.multiply.reduce(x) + np.maximum.reduce(m, axis=1)[0] + np.ptp(x) \
        + np.sum(m, axis=(0, 1)) + np.average(x, weights=np.arange(1, 7)) + x.max() * x.min() - x.prod() \
        + x.var() + np.sum(x, initial=2.0)


def norms(x):
    m = x.reshape(2, 3)
    return np.linalg.norm(x) + np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf) * np.linalg.norm(x, ord=2) \
        + np.sum(np.linalg.norm(m, axis=1)) + np.linalg.norm(m) + np.linalg.norm(m, 1) + np.linalg.norm(m, np.inf, axis=(0, 1))


def products(x):
    m = np.outer(x, x) + np.multiply.outer(C, x)
    return np.dot(x, C) * np.inner(x, x) + np.sum(A @ x) + x @ A.T @ np.ones(2) + np.einsum("ij,j->", A, x) + np.vdot(x, C) \
        + np.einsum("i,j->ij", x, C)[1, 2] + np.sum(np.tensordot(m, B, axes=1)) + np.einsum("ij,ij", m, m) + np.einsum("ii", m) \
        + np.sum(np.matmul(np.stack([m, m]), B)) + np.sum(np.dot(m, B)) + x.dot(C) + np.sum(A.dot(x)) \
        + np.subtract.outer(x, C)[2, 0]


def gathered(x):
    i = np.array([[3, 0], [1, 1]])
    return np.sum(x[i] * C[:2]) + x[[0, -1]].sum() + x[-1] + x[np.array([True, False, True, False])].sum() + x[::-2].sum() \
        + np.take(x, [2, 2]).sum() + x[None, 1:3][0, 0] + x[...].sum() + np.delete(x, 1)[1] + x.reshape(2, 2)[1, [0, 1]].sum()


def filled(x):
    return np.sum(x + np.zeros_like(x) + 2 * np.ones_like(x[0]) + np.full_like(x, 3)) + np.size(x) + np.ndim(x) + np.shape(x)[0]


def polynomials(x):
    return np.polyval([1.0, -2.0, 0.5], x[0]) + np.sum(np.polyval(C, x)) + np.poly1d([2.0, 1.0])(x[1]) \
        + np.sum(C * x[1] ** np.arange(3)) + np.sum(x ** np.array([2, 0.5, 3])) + np.polynomial.polynomial.polyval(x[0], C)


def constant_choice(x):
    return np.sum(np.where(np.array([True, False, True]), np.log(x), x - 5)) + np.where(False, x[0], 2.0 * x[1]) \
        + np.sum(np.where([True, False, False], x, [np.nan, 1.0, 2.0]))


def infinite_ends(x):
    return np.sum(np.minimum(x, np.inf)) + np.sum(np.maximum(-np.inf, x)) + np.sum(np.clip(x, None, 0.5)) \
        + np.sum(np.clip(x, [-np.inf, 0.1, -np.inf], np.inf)) + x.clip(0.1, 0.4).sum() + np.clip(x[0], 0.2, None)


def remainders(x):
    return np.sum(x % 0.3) + np.sum(x // 0.25) + np.sum(7 % (x + 2)) + sum(divmod(x[0], 0.2)) + np.trunc(3 * x[1]) \
        + np.heaviside(x[0], 0.5)


def scalars_mixed(x):
    return np.float64(2) * x[0] + np.float32(0.1) * x[1] + np.int64(3) / (2 + x[0]) + np.array(2.0) ** x[1] \
        - np.float64(1) - x[0] + (np.float64(0) < x[0]) + True * x[1] + np.sum(np.array([1, 2], dtype=np.float32) * x) \
        + np.sum([1, 2] * x)


def small_matrices(x):
    m = x.reshape(3, 3) + 3 * np.eye(3)
    return np.linalg.det(m) + np.sum(np.linalg.inv(m) * B[:, :3]) + np.linalg.solve(m, x[:3]) @ C \
        + np.sum(np.linalg.solve(m, B) * B) + np.linalg.solve(np.eye(3) + A.T @ A, x[3:6]) @ x[:3] \
        + np.sum(np.linalg.det(np.stack([m, m.T @ m]))) + np.linalg.inv(m[:1, :1])[0, 0] \
        + np.linalg.det(np.outer(x[:4], x[:4]) + 1)


def vector_products(x):
    return np.cross(x[:3], C) @ x[3:] + np.sum(np.cross(x.reshape(2, 3), x[3:]) * A) \
        + np.cross(x.reshape(3, 2), B[:, :2], axis=0)[1, 0] \
        + np.convolve(x, C) @ np.arange(8) + np.convolve([1.0, 2.0], x, "same") @ x + np.convolve(x, x[:3], "valid")[1] \
        + np.convolve(x, x[:4], "same") @ x + np.convolve(np.log(x + 2), np.sqrt(x[:2] + 2))[0]


def tables(x):
    return np.sum(np.interp(x, DATA_T - 1, DATA_Y)) + np.interp(x[0], [-1, 0, 0.5], [2, 1, 4], left=-1.0, right=3) \
        + np.interp(x[1], [0.1, 0.4, 0.9], [1.0, 3.0, 2.0], period=1.5) + np.interp(0.3, [0, 1, 2, 3], x) \
        + np.interp(x.reshape(2, 2), [0.0, 0.1], [4.0, 5.0])[1, 0] + np.interp(x[2], [0.0], [4.0])


def rounded(x):
    return np.sum(np.round(x, 1) * x) + np.round(30 * x[0], -1) + np.rint(2 * x[1]) * x[1] \
        + round(x[0]) + round(x[1], 2) + np.trunc(x).sum()


def pieces(x):
    return np.sum(np.piecewise(x, [x < 0, x > 0.5], [lambda t: t**2, lambda t: np.exp(t) + 1, 7.0])) \
        + np.piecewise(x[0], [x[0] < 0], [-1, 1]) + np.piecewise(x, [x < 0.5, x < 0], [1.0, lambda t, k: k * t], 3.0)[1] \
        + np.where(np.any(x > 1), 3.0, x[1]) + np.where(np.all(x > -1, axis=0), x[0], 0.0)


def unary(function: Callable, low: float, high: float):
    return (lambda x: np.sum(function(x)) + function(x[0]), 3, low, high)


USER_FUNCTIONS: dict[str, tuple[Callable, int, float, float]] = {
    **{f.__name__: (f, 4, -2.0, 2.0) for f in (
        rastrigin, ackley, levy, griewank, rosenbrock, rosenbrock_loop, styblinski_tang, zabinsky, michalewicz, sum_of_powers,
        zakharov, schwefel_2_22, dixon_price, list_of_components, in_place_on_a_name, in_place_on_the_input, in_place_number,
        piecewise, masks, select_rows, shifted, gathered, filled, tables, rounded, pieces)},
    **{f.__name__: (f, 3, -1.5, 1.5) for f in (network, least_squares, stacked, products, infinite_ends, remainders)},
    **{f.__name__: (f, 3, 0.1, 1.5) for f in (objects, polynomials, constant_choice)},
    **{f.__name__: (f, 6, -1.5, 1.5) for f in (shapes, running, reduced, norms, vector_products)},
    "small_matrices": (small_matrices, 9, -1.0, 1.0),
    **{f.__name__: (f, 2, -3.0, 3.0) for f in (beale, himmelblau, scalars_mixed)},
    "powell_views": (powell_views, 8, -3.0, 3.0),
    "rosenbrock of one variable": (rosenbrock, 1, -1.0, 1.0),
    **{name: unary(getattr(np, name), row.low, row.high) for op, row in ROWS.items() if OPS[op].arity == 1
       for name in OPS[op].numpy.split()},
    **{f.__name__: unary(f, -2.0, 2.0) for f in (np.square, np.positive, np.sinc, abs)},
    "reciprocal": unary(np.reciprocal, 0.1, 0.9),
    "two arguments": (lambda x: np.arctan2(x[0], x[1]) + np.hypot(x[1], x[2]) + np.minimum(x[0], x[1]) * np.maximum(x[2], 0.1)
                      + np.logaddexp(x[0], 3 * x[1]) + np.maximum(x[0], x[2]), 3, -2.0, 2.0),
    "powers": (lambda x: x[0] ** 3 + x[1] ** -2 + x[0] ** 1.5 + x[0] ** x[1] + 2**x[1] + np.power(x[0], 0.25)
               + np.float_power(x[1], 2) + pow(x[0], 2) + x[1] ** 0 + x[0] ** 0.5 + np.e ** x[0], 2, 0.2, 2.0),
    "where on numbers": (lambda x: np.where(x, x, 1.0).sum() + np.where(x[0] == 0, 1.0, x[1]) + np.where(x != x[0], x, 2.0)[1]
                         + np.where(np.logical_not(x >= 0), -x, x)[0], 3, -1.0, 1.0),
    "constants": (lambda x: 3, 2, 0.0, 1.0),
    "array of one": (lambda x: x[:1] * 2, 2, 0.0, 1.0),
    "object array of one": (lambda x: np.array([x[0] + x[1]]), 2, 0.0, 1.0),
    "trapezoid": (lambda x: np.trapezoid(np.exp(x) * DATA_T[:4], DATA_T[:4]), 4, -1.0, 1.0),
    "broadcasting": (lambda x: np.sum((x[:, None] - C[None, :]) ** 2 * B[:, :3])
                     + np.sum(np.broadcast_to(x, (2, 3)) * A), 3, -1.0, 1.0),
    "splits": (lambda x: np.sum(np.split(x, 2)[1] ** 2) + np.array_split(x, 3)[0][1] + np.append(x, 2.0)[-2],
               4, -1.0, 1.0),
    "tolist": (lambda x: sum(x.tolist()) + x[1].item() * x.item(0) + x.astype(float)[0] + np.copy(x)[2] + x.real[1],
               3, -1.0, 1.0),
    "builtin rounding": (lambda x: __import__("math").floor(3 * x[0]) + __import__("math").ceil(x[1]), 2, -1.0, 1.0),
}
