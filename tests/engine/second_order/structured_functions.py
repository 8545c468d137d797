"""Functions of any number of variables with the structures that second order knows, and their Hessians put together."""

from fractions import Fraction

import numpy as np

from infimum.certify.term_sums.term_hessians import SecondOrderEnclosure, TermSum


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def griewank(x):
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1))))


def ackley(x):
    return -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e


def rastrigin(x):
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


FUNCTIONS = {
    "separable": lambda x: np.sum(np.cosh(x - 0.3) * np.arange(1, len(x) + 1)),
    "rosenbrock": rosenbrock,
    "two terms": lambda x: np.sum(np.sin(x[1:] * x[:-1])) + np.sum((x[2:] - x[:-2]) ** 4 * np.linspace(1, 2, len(x) - 2)),
    "ring": lambda x: np.sum((x - np.roll(x, 1)) ** 2 * np.exp(x)) + np.sum(x**4),
    "band": lambda x: np.sum((x[3:] - x[:-3] * x[1:-2]) ** 2) + np.sum(np.exp(x)),
    "star": lambda x: np.sum((x[1:] - x[0] ** 2) ** 2) + x[0] ** 2,
    "tree": lambda x: np.sum((x[1:] - x[(np.arange(len(x) - 1)) // 2] ** 2) ** 2) + np.sum(x**2),
    "mean": lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum((x - 0.7) ** 2) + (np.mean(x) - 1) ** 2,
    "norm": lambda x: np.linalg.norm(x) + np.sum(x**4),
    "quotient": lambda x: np.sum(x**2 * np.cos(x)) / (1 + np.sum(x**2)),
    "terms with a mean": lambda x: np.sum((x - np.mean(x)) ** 2 * np.arange(1, len(x) + 1)) + np.sum(np.exp(x)),
    "ackley": ackley, "griewank": griewank,
}


def _scaled(a, b):
    ends = [p * q for p in a for q in b]
    return min(ends), max(ends)


def matrix(terms: TermSum, bends: SecondOrderEnclosure) -> list[list[tuple[Fraction, Fraction]]]:
    """Exact enclosures of all entries of the Hessian, in the order of the variables."""
    n, order, zero = terms.n, terms.order, Fraction(0)
    found = [[(zero, zero)] * n for _ in range(n)]

    def add(i, j, part):
        i, j = int(order.variable[i]), int(order.variable[j])
        found[i][j] = found[i][j][0] + part[0], found[i][j][1] + part[1]

    def exact(ends, *at):
        return tuple(Fraction(float(end[at])) for end in ends)
    for a, b, k in np.ndindex(bends.cliques[0].shape):
        if max(order.members[a, k], order.members[b, k]) < n:
            add(order.members[a, k], order.members[b, k], exact(bends.cliques, a, b, k))
    scalars = range(len(terms.scalars))
    for i, j in np.ndindex(n, n):
        for k in scalars:
            add(i, j, _scaled(exact(bends.mixed, k, i), exact(bends.slopes, k, j)))
            add(i, j, _scaled(exact(bends.slopes, k, i), exact(bends.mixed, k, j)))
            for m in scalars:
                add(i, j, _scaled(_scaled(exact(bends.slopes, k, i), exact(bends.slopes, m, j)), exact(bends.inner, k, m)))
    return found
