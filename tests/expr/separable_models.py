"""Random sums of squares with linear parameters, as those write them who fit models to data."""

from collections.abc import Callable

import numpy as np

import infimum
from infimum.expr.node import Expr, var
from infimum.structure.term_sums import substituted
from tests.oracle.generate import Generator, Twin, constant, twin

# functions of a nonlinear parameter and of data, smooth and not, defined everywhere and not
SHAPES: list[Callable] = [
    lambda a, t: np.exp(-a * t), lambda a, t: np.sin(3 * a * t), lambda a, t: np.cos(a + t), lambda a, t: np.tanh(a * t - 1),
    lambda a, t: 1 / (t + a), lambda a, t: 1 / (1 + a * t), lambda a, t: 1 / (a**2 + t**2), lambda a, t: t / (a * t**2 + t + 1),
    lambda a, t: np.sqrt(a + t), lambda a, t: np.log(a + 2 * t), lambda a, t: np.abs(a - t), lambda a, t: np.maximum(a * t, 0.25),
    lambda a, t: np.floor(a + t), lambda a, t: np.where(a < t, a, t), lambda a, t: np.where(t > 0.5, np.exp(-a), 1.0),
    lambda a, t: np.exp(-((t - a) ** 2)), lambda a, t: (t + 1) ** a, lambda a, t: np.minimum(a, t) ** 2, lambda a, t: a + 0 * t,
    lambda a, t: infimum.pi * a * t, lambda a, t: np.exp(1 / a) * t, lambda a, t: t, lambda a, t: np.ones_like(t),
]
EQUAL = [*SHAPES[:5], SHAPES[10], SHAPES[13], SHAPES[15], lambda a, t: np.sin(np.pi * t / a), lambda a, t: np.exp(-t / a)]


def random_model(rng: np.random.Generator) -> tuple[Callable, int]:
    """A sum of squares, and how many variables it has: nonlinear ones first, then linear ones."""
    count = int(rng.choice((1, 2, 5, 9, 20)))
    t = np.sort(np.round(rng.uniform(0, 2, count) * 16)) / 16
    y = np.round(rng.normal(size=count) * 8) / 8 * float(rng.choice((1.0, 1.0, 1.0, 0.0, 1e-200, 1e100)))
    sigma = rng.choice((0.5, 1.0, 3.0), count) if rng.random() < 0.3 else 1.0
    model, n = KINDS[int(rng.integers(len(KINDS)))](rng, t)
    return lambda x: np.sum(((y - model(x)) / sigma) ** 2), n


def _of_anything(rng: np.random.Generator, t: np.ndarray) -> tuple[Callable, int]:
    """Columns of data times functions of one parameter, some of them equal, some with products of linear parameters; and more."""
    p, q = int(rng.choice((0, 1, 1, 1, 2))), int(rng.integers(1, 4))
    shapes = [(SHAPES[int(rng.integers(len(SHAPES)))], int(rng.integers(max(p, 1)))) for _ in range(q + p)]
    product, shared = rng.random(2) < 0.3
    data = rng.integers(-4, 5, (q, len(t))) / 2.0

    def model(x):
        total = 0 * t
        for j in range(q):
            shape, k = shapes[0 if shared else j]
            linear = x[p + j] * x[p] if product and j else x[p + j]
            total = total + linear * data[j] * shape(x[k] if p else 0.75, t)
        for k in range(p):
            total = total + shapes[q + k][0](x[k], t)
        return total
    return model, p + q


def _of_polynomials(rng: np.random.Generator, t: np.ndarray) -> tuple[Callable, int]:
    """A quotient of them: poles may lie anywhere."""
    p, q, first = int(rng.choice((1, 1, 2))), int(rng.integers(1, 4)), float(rng.choice((0.25, 1.0)))
    return lambda x: sum(x[p + j] * t**j for j in range(q)) / (first + sum(x[k] * t ** (k + 1) for k in range(p))), p + q


def _of_equal_functions(rng: np.random.Generator, t: np.ndarray) -> tuple[Callable, int]:
    """Sums of one function of several parameters, which may be equal."""
    p = int(rng.choice((2, 2, 2, 3)))
    shape = EQUAL[int(rng.integers(len(EQUAL)))]
    return lambda x: sum(x[p + k] * shape(x[k], t) for k in range(p)) + (x[2 * p] if len(t) > 5 else 0.0), 2 * p + (len(t) > 5)


KINDS = (_of_anything, _of_anything, _of_polynomials, _of_equal_functions)


def random_residuals(rng: np.random.Generator) -> tuple[Twin, int]:
    """The same of random operations, as the library builds them and as they were meant."""
    p, q, count = int(rng.choice((1, 1, 2))), int(rng.integers(1, 4)), int(rng.integers(2, 7))
    x = var("x", (p + q,))

    def variable(i: int) -> Twin:
        return twin("slice", Twin(x, x), starts=(i,), steps=(1,), counts=(1,))

    def function() -> Twin:
        grown, mine = Generator(rng, 1).grow((count,), int(rng.integers(1, 4))), variable(int(rng.integers(p)))
        return Twin(*(substituted(side, {var("x", (1,)): mine.built}) for side in (grown.built, grown.meant)))
    total = function() if rng.random() < 0.5 else constant(rng.integers(-4, 5, count) / 2.0)
    for j in range(q):
        column = function() if rng.random() < 0.8 else constant(rng.integers(-4, 5, count) / 2.0)
        term = twin("mul", variable(p + j), column)
        if rng.random() < 0.3:
            term = twin(str(rng.choice(("mul", "div"))), term, constant(rng.integers(1, 9, count) / 2.0))
        if rng.random() < 0.2:
            term = twin("div", term, function())
        if j and rng.random() < 0.3:
            total = twin("mul", variable(p + j), total)
        total = twin(str(rng.choice(("add", "sub"))), total, term)
    return total, p + q


def sum_of_squares(e: Twin) -> tuple[Expr, Expr]:
    squares = twin("sum", twin("powi", e, k=2), axes=(0,))
    return squares.built, squares.meant
