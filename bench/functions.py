"""The benchmark functions, as a user writes them, and the same over NumPy arrays of intervals."""

import numpy as np


def styblinski_tang(x):
    return np.sum(x**4 - 16 * x**2 + 5 * x)


def rastrigin(x):
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def ackley(x):
    n = len(x)
    return -20 * np.exp(-0.2 * np.sqrt(np.sum(x**2) / n)) - np.exp(np.sum(np.cos(2 * np.pi * x)) / n) + 20 + np.e


def levy(x):
    w = 1 + (x - 1) / 4
    inner = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    return np.sin(np.pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)


def griewank(x):
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1))))


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


FIVE = {"rastrigin": rastrigin, "ackley": ackley, "levy": levy, "griewank": griewank, "rosenbrock": rosenbrock}
BY_NAME = {**FIVE, "styblinski_tang": styblinski_tang}


def _outward(lo, hi):
    return np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf)


class NumpyInterval:
    """Interval arithmetic as one writes it in NumPy: round to nearest, then step outward with nextafter. The baseline."""

    __array_ufunc__ = None

    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    def __len__(self):
        return len(self.lo)

    def __getitem__(self, key):
        return NumpyInterval(self.lo[key], self.hi[key])

    def __add__(self, other):
        other = _interval(other)
        return NumpyInterval(*_outward(self.lo + other.lo, self.hi + other.hi))

    def __neg__(self):
        return NumpyInterval(-self.hi, -self.lo)

    def __sub__(self, other):
        return self + -_interval(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            ends = (self.lo * other, self.hi * other) if other >= 0 else (self.hi * other, self.lo * other)
            return NumpyInterval(*_outward(*ends))
        other = _interval(other)
        products = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi]
        return NumpyInterval(*_outward(np.minimum.reduce(products), np.maximum.reduce(products)))

    def __truediv__(self, other):  # positive constants only
        return NumpyInterval(*_outward(self.lo / other, self.hi / other))

    def __pow__(self, k):
        far = np.maximum(np.abs(self.lo), np.abs(self.hi)) ** k
        near = np.where((self.lo <= 0) & (self.hi >= 0), 0.0, np.minimum(np.abs(self.lo), np.abs(self.hi)) ** k)
        return NumpyInterval(*_outward(near, far))

    __radd__, __rmul__ = __add__, __mul__

    def sum(self):
        lo, hi = self.lo[0], self.hi[0]
        for i in range(1, len(self.lo)):
            lo, hi = _outward(lo + self.lo[i], hi + self.hi[i])
        return NumpyInterval(lo, hi)

    def prod(self):
        total = self[0]
        for i in range(1, len(self.lo)):
            total = total * self[i]
        return total

    def monotone(self, function):
        return NumpyInterval(*_outward(function(self.lo), function(self.hi)))

    def cos(self):
        return self._wave(np.cos, 0.0)

    def sin(self):
        return self._wave(np.sin, 0.5)

    def _wave(self, function, crest):
        turn = 2 * np.pi
        crests = np.floor(self.hi / turn - crest / 2) > np.floor(self.lo / turn - crest / 2)
        troughs = np.floor(self.hi / turn - crest / 2 - 0.5) > np.floor(self.lo / turn - crest / 2 - 0.5)
        a, b = function(self.lo), function(self.hi)
        lo, hi = _outward(np.minimum(a, b), np.maximum(a, b))
        return NumpyInterval(np.where(troughs, -1.0, lo), np.where(crests, 1.0, hi))


def _interval(value):
    return value if isinstance(value, NumpyInterval) else NumpyInterval(value, value)


def _rastrigin(x):
    return (x**2 - (x * (2 * np.pi)).cos() * 10).sum() + 10 * len(x)


def _ackley(x):
    n = len(x)
    root = ((x**2).sum() / n).monotone(np.sqrt)
    return (root * -0.2).monotone(np.exp) * -20 - ((x * (2 * np.pi)).cos().sum() / n).monotone(np.exp) + 20 + np.e


def _levy(x):
    w = (x - 1) / 4 + 1
    inner = ((w[:-1] - 1) ** 2 * ((w[:-1] * np.pi + 1).sin() ** 2 * 10 + 1)).sum()
    return (w[0] * np.pi).sin() ** 2 + inner + (w[-1] - 1) ** 2 * ((w[-1] * (2 * np.pi)).sin() ** 2 + 1)


def _griewank(x):
    roots = np.sqrt(np.arange(1, len(x) + 1))[:, None]
    return (x**2).sum() / 4000 + 1 - (x / roots).cos().prod()


def _rosenbrock(x):
    return ((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2).sum()


NUMPY_INTERVAL = {"rastrigin": _rastrigin, "ackley": _ackley, "levy": _levy, "griewank": _griewank, "rosenbrock": _rosenbrock}
