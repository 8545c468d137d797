"""Test functions as collections of benchmarks have them: methods of classes that count their calls, with names imported from
NumPy (which hide Python's `abs`, `sum` and `round`), index arrays, penalties, loops over components. Four variables in [-1, 1].
"""

from itertools import combinations, product

from numpy import (
    abs,
    arange,
    array,
    asarray,
    atleast_1d,
    atleast_2d,
    cos,
    cosh,
    cumsum,
    diff,
    dot,
    e,
    exp,
    floor,
    log,
    mean,
    newaxis,
    ones,
    outer,
    pi,
    prod,
    repeat,
    roll,
    round,
    sign,
    sin,
    sqrt,
    sum,
    tile,
    vstack,
    where,
    zeros,
    zeros_like,
)

MATRIX = arange(16.0).reshape(4, 4) / 5 - 1


class Benchmark:
    """Every public method but `count` is a test function."""

    def __init__(self):
        self.nfev, self.N = 0, 4

    def count(self):
        self.nfev += 1

    def ackley(self, x, *args):
        self.count()
        u, v = sum(x**2), sum(cos(2 * pi * x))
        return -20 * exp(-0.2 * sqrt(u / self.N)) - exp(v / self.N) + 20 + e

    def filled(self, x, *args):
        self.nfev += 1
        y = zeros(self.N)
        y[:] = asarray(x)
        i = arange(1, self.N + 1)
        return abs(y).sum() + cos(y / sqrt(i)).prod() + sum([(j + 1) * y[j] for j in range(self.N)])

    def penalised(self, x, *args):
        u = where(abs(x) > 0.5, 100 * (abs(x) - 0.5) ** 4, 0.0)
        u = where(x < -0.5, 50 * (-x - 0.5) ** 2, u)
        return sum(u) + sum(abs(x - roll(x, 1))) + prod(cos(x)) + sum(diff(x) ** 2)

    def pairs(self, x, *args):
        p = x.reshape(2, 2)
        return sum([1 / (1 + sum((p[i] - p[j]) ** 2)) for i, j in combinations(range(2), 2)]) \
            + sum([a * b for a, b in product(x[:2], x[2:])]) + sum(x[:, newaxis] * MATRIX)

    def slices(self, x, *args):
        return sum(100 * (x[1:] - x[0:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) + sum(x[::2] * x[1::2]) \
            + sum((x[:-1] * x[1:])[::-1] ** 2)

    def index_arrays(self, x, *args):
        i = arange(self.N)
        j = atleast_2d(i + 1).T
        return sum((x[i] + j) ** 2 / (j + 1)) + sum(sum((j + 10) * (x ** j - 1.0 / (i + 1)), axis=0) ** 2)

    def tables(self, x, *args):
        a = asarray([[3.0, 10, 30, 1], [0.1, 10, 35, 2]])
        p = asarray([[0.3689, 0.1170, 0.2673, 0.5], [0.4699, 0.4387, 0.7470, 0.1]])
        d = sum(a * (atleast_2d(x) - p) ** 2, axis=1)
        return -sum(asarray([1.0, 1.2]) * exp(-d))

    def running(self, x, *args):
        y = zeros_like(x)
        y[0] = x[0]
        for i in range(1, self.N):
            y[i] = 0.5 * y[i - 1] + x[i] * sin(y[i - 1])
        return dot(y, y) + sum(cumsum(x) ** 2)

    def in_lists(self, x, *args):
        terms = []
        for i, xi in enumerate(x):
            terms.append((i + 1) * (2 * xi**2 - x[i - 1]) ** 2)
        terms[0] = (x[0] - 1) ** 2
        t = array(terms)
        t[1] *= 2
        return t.sum() + sum(array([[x[0], 1.0], [0.0, x[1]]]) @ array([x[2], 2.0]))

    def rounded(self, x, *args):
        return sum(floor(abs(x + 0.5)) ** 2) + sum(round(3 * x) ** 2) + sum(sign(x) * x)

    def repeated(self, x, *args):
        t = tile(x, 2) * repeat(x, 2) + ones(8)
        return mean(t) + sum(outer(x, x) * MATRIX) + sum(vstack([x, 2 * x]) @ x)

    def shifted(self, x, *args):
        z = zeros(self.N)
        z[:-1] = x[1:]
        z[-1] = 1
        return sum(log(cosh(z * x) + 1)) + atleast_1d(x[0])[0]

    def extrema(self, x, *args):
        best = 0.0
        for xi in x:
            best = max(best, abs(xi))
        return best + max(sum(x), 0) + min(x[0], x[1])


USER_BENCHMARKS = {name: getattr(Benchmark(), name) for name in vars(Benchmark) if not name.startswith("_") and name != "count"}
