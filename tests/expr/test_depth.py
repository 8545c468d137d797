"""Deep and long expressions: no pass recurses in their depth, work grows with their size alone, all hear the clock."""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from infimum.evaluation.programs import PROGRAMS
from infimum.expr.differentiate import gradient, hessian_vector
from infimum.expr.listing import listing
from infimum.expr.node import Expr, var
from infimum.structure.local_form import local_form
from infimum.structure.single_quantity_pieces import pieces_of
from infimum.support.clock import OutOfTime, Watch
from infimum.trace.trace import trace

N, STEPS, ROOM = 3, 120, 80  # variables, turns of the loop, frames that a pass may take
X = var("x", (N,))


def repeated(start: Callable, step: Callable, end: Callable = lambda s: s) -> Callable[[int], Callable]:
    def of(steps: int) -> Callable:
        def f(x):
            s = start(x)
            for i in range(steps):
                s = step(s, x, i)
            return end(s)
        return f
    return of


def first(x):
    return x[0]


def term(x, i):
    return (x[i % N] - 0.01 * i) ** 2


DEEP = {
    "sum": repeated(first, lambda s, x, i: s + term(x, i) * np.sin(x[(i + 1) % N])),
    "sum from the right": repeated(first, lambda s, x, i: term(x, i) * np.sin(x[(i + 1) % N]) + s),
    "root of a sum": repeated(lambda x: x[0]**2, lambda s, x, i: s + term(x, i), np.sqrt),
    "root of a sum from the right": repeated(lambda x: x[0]**2, lambda s, x, i: term(x, i) + s, np.sqrt),
    "root of a scaled sum": repeated(lambda x: x[0]**2, lambda s, x, i: 2.0 * s + x[0]**2, np.sqrt),
    "root of sums": repeated(lambda x: x[0]**2, lambda s, x, i: np.sum(s + x**2), np.sqrt),
    "roots": repeated(lambda x: x[0]**2 + 1, lambda s, x, i: np.sqrt(s + 1 + x[i % N]**2)),
    "choices": repeated(first, lambda s, x, i: np.where(x[i % N] > 0.01 * i, x[0] * i, s)),
    "choices of both": repeated(first, lambda s, x, i: np.where(x[i % N] > 0.01 * i, s * x[0], s + 1.0)),
    "conditions": repeated(lambda x: x > 0, lambda s, x, i: s & (x > -0.01 * i), lambda s: np.where(s[0], 1.0, 2.0)),
    "hypot": repeated(first, lambda s, x, i: np.hypot(s, x[i % N] - 0.01 * i)),
    "minimum": repeated(first, lambda s, x, i: np.minimum(s, term(x, i))),
    "product": repeated(first, lambda s, x, i: s * (1 + 0.001 * x[i % N] / (i + 1))),
    "Horner": repeated(first, lambda s, x, i: s * x[0] + 0.1 * (i % 7)),
    "Euler": repeated(lambda x: 0.1, lambda s, x, i: s + 0.01 * x[0] * s * (1 - s / x[1])),
    "powers": repeated(lambda x: x[0] + 2, lambda s, x, i: (s + 1)**1.5 * 0.001 + x[i % N]**2 + 1),
    "sums": repeated(first, lambda s, x, i: np.sum(x * s) * 0.01 + 0.001 * i),
    "vectors": repeated(lambda x: x, lambda s, x, i: s + 0.01 * np.sin(s) * x, np.sum),
    "views": repeated(lambda x: x, lambda s, x, i: s[::-1] * 0.5 + x, np.sum),
    "joined": repeated(lambda x: x, lambda s, x, i: np.concatenate([s[1:], s[:1] * x[0]]), np.sum),
    "repeated": repeated(lambda x: x, lambda s, x, i: np.broadcast_to(s, (1, N)).ravel(), np.sum),
}


def expression_passes(f: Expr) -> None:
    assert len(f.key) == 32 and repr(f) and listing(f)
    hessian_vector(f, X, var("v", (N,)))
    local_form(f, X)
    pieces_of(f)


def lowering_passes(f: Expr) -> None:
    local = local_form(f, X) is not None
    for kind in ("estimate", "gradient", *(("context", "sweep") if local else ())):
        PROGRAMS[kind](f, X)


@contextmanager
def little_room() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + ROOM)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("name", DEEP)
def test_no_pass_recurses(name: str):
    with little_room():
        f = trace(DEEP[name](STEPS), N)
        expression_passes(f)
        lowering_passes(f)
        del f


def test_the_room_is_too_small_for_recursion():
    def deep(k: int) -> int:
        return 0 if k == 0 else 1 + deep(k - 1)
    with little_room(), pytest.raises(RecursionError):
        deep(STEPS)


def test_a_very_deep_expression_is_freed():
    f = trace(DEEP["Horner"](5000), N)
    expression_passes(f)
    del f


def work(name: str, steps: int) -> int:
    """How often the passes look at the clock: for every node and element they make."""
    looks = 0

    def count() -> bool:
        nonlocal looks
        looks += 1
        return False
    with Watch() as watch:
        watch.asked_to_stop = count
        f = trace(DEEP[name](steps), N)
        expression_passes(f)
        lowering_passes(f)
    return looks


@pytest.mark.parametrize("name", DEEP)
def test_work_grows_with_the_size(name: str):
    assert work(name, 40) <= 2.2 * work(name, 20)


@pytest.mark.parametrize("work", [
    lambda f: trace(DEEP["Horner"](5), 3), lambda f: gradient(f, X), lambda f: local_form(f, X),
    lambda f: PROGRAMS["value"](f, X)],
    ids=["trace", "gradient", "local form", "lowering"])
def test_every_pass_hears_the_clock(work: Callable):
    f = trace(DEEP["Euler"](7), N)
    with pytest.raises(OutOfTime), Watch(-1.0):
        work(f)
    work(f)
