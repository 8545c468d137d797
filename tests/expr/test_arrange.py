"""Functions written in other ways are the same functions, and seen as sums of one term for each variable."""

import functools
import math
from time import process_time

import numpy as np
import pytest

import infimum
from infimum.expr.node import topological, var
from infimum.ops.vocabulary import Kind
from infimum.structure.arrange_reductions import arranged
from infimum.structure.local_form import local_form
from infimum.trace.trace import trace

K = np.arange(1, 6)
COLUMN = K[:, None]


def reductions(f, n: int) -> list[tuple[str, tuple[int, ...]]]:
    """The reductions of the arranged function: what they do, and the shape of what they reduce."""
    found = topological([arranged(trace(f, n), var("x", (n,)))])
    return [(node.op, node.args[0].shape) for node in found if node.kind is Kind.REDUCE]


SHUBERT = {
    "a column": lambda x: np.sum(np.sum(COLUMN * np.sin((COLUMN + 1) * x + COLUMN))),
    "a row": lambda x: np.sum(K * np.sin((K + 1) * x[:, None] + K)),
    "sums of columns": lambda x: np.sum(np.sum(K * np.sin((K + 1) * x[:, None] + K), axis=1)),
    "np.outer": lambda x: np.sum(np.sin(np.outer(K + 1, x) + COLUMN) * COLUMN),
    "a loop": lambda x: sum(np.sum(k * np.sin((k + 1) * x + k)) for k in range(1, 6)),
}


@pytest.mark.parametrize("name", SHUBERT)
def test_shuberts_sum_is_one_sum_of_a_term_for_each_variable(name):
    assert reductions(SHUBERT[name], 7) == [("sum", (7,))]
    form = local_form(trace(SHUBERT[name], 7), var("x", (7,)))
    (_, term), = form.terms.items()
    assert term.shift == 0 and form.exact


@pytest.mark.parametrize("name", SHUBERT)
def test_shuberts_sum_of_twenty_variables_is_proved(name):
    r = infimum.minimize(SHUBERT[name], [(-10, 10)] * 20)
    assert r.verdict.name == "PROVED" and r.lower <= -296.759 <= r.upper + 1e-3 and r.upper < -296.758


def test_sums_of_the_same_elements_are_one():
    assert reductions(lambda x: 10 * len(x) + np.sum(x**2) - 10 * np.sum(np.cos(x)), 5) == [("sum", (5,))]
    assert reductions(lambda x: np.sum(x[1:]**2) - np.mean(x[1:]) / 3 + np.sum(x), 5) == [("sum", (5,)), ("sum", (4,))] \
        or reductions(lambda x: np.sum(x[1:]**2) - np.mean(x[1:]) / 3 + np.sum(x), 5) == [("sum", (4,)), ("sum", (5,))]


LOOPS = {  # a function, and the reductions that it is
    "squares": (lambda x: sum((i + 1) * (v - i)**2 for i, v in enumerate(x)), [("sum", (8,))]),
    "terms in two loops": (lambda x: sum(v**4 for v in x) - 4 * sum(v**2 for v in x) + 3, [("sum", (8,))]),
    "neighbours": (lambda x: sum((x[i + 1] - x[i]**2)**2 for i in range(7)), [("sum", (7,))]),
    "factors": (lambda x: 1 - 2 * math.prod(np.cos(v / (i + 2)) for i, v in enumerate(x)), [("prod", (8,))]),
    "sums of factors": (lambda x: math.prod(sum(k * np.cos((k + 1) * v + k) for k in range(1, 4)) for v in x), [("prod", (8,))]),
    "largest": (lambda x: functools.reduce(np.maximum, [v**2 - i for i, v in enumerate(x)]), [("amax", (8,))]),
    "a part": (lambda x: x[0] * x[7] + sum(np.exp(x[i]) for i in range(1, 7)), [("sum", (6,))]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_reductions(name):
    f, wanted = LOOPS[name]
    assert reductions(f, 8) == wanted


def test_a_loop_and_its_vector_are_the_same_expression():
    x = var("x", (9,))
    loop = trace(lambda x: sum(v**4 - 4 * v**2 for v in x), 9)
    assert local_form(loop, x).value is local_form(trace(lambda x: np.sum(x**4 - 4 * x**2), 9), x).value


def test_a_loop_is_proved_with_all_its_minimisers():
    r = infimum.minimize(lambda x: sum(v**4 - 4 * v**2 for v in x), [(-3, 3)] * 40)
    assert r.verdict.name == "PROVED" and r.lower <= -160 <= r.upper and r.regions.count == 2**40


def test_long_recurrences_are_looked_at_in_little_time():
    def f(x):
        y, total = x[0], 0.0
        for k in range(3000):
            y = y + 0.01 * np.sin(y) * x[k % 8]
            total = total + y
        return total
    g = trace(f, 8)
    start = process_time()
    assert arranged(g, var("x", (8,))) is g
    assert process_time() - start < 15  # it was 65 once, and is 1


OTHERS = {
    "what reads both axes": lambda x: np.sum(np.abs(x[:, None] - x)),
    "a long axis": lambda x: np.sum(np.arange(100.0)[:, None] * x),
    "what is summed along x": lambda x: np.sum(np.exp(-np.sum(COLUMN * x, axis=1))),
    "sums of other elements": lambda x: np.sum(x[1:]**2) + np.sum(x[:-1]),
    "a product of sums": lambda x: np.sum(x) * np.sum(x**2),
    "one sum": lambda x: np.sum(x) - 3,
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_stay_as_they_are(name):
    f = trace(OTHERS[name], 6)
    assert arranged(f, var("x", (6,))) is f


def test_a_sum_that_doubles_again_and_again_is_left_alone():
    def f(x):
        total = np.sum(x) + np.sum(x**2)
        for _ in range(60):
            total = total + total / 3
        return total
    x = var("x", (4,))
    assert arranged(trace(f, 4), x) is trace(f, 4)
