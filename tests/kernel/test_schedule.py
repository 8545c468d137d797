"""The shape of programs: what is stored, what is shared, what becomes a loop, and what is data."""

import numpy as np
import pytest

from infimum.backend.cpu import CpuBackend
from infimum.evaluation import programs
from infimum.expr.node import var
from infimum.kernel.ir import Builder, Instr, Loop, walk
from infimum.trace.trace import trace


def program(f, n, kind="value", args=()):
    return programs.PROGRAMS[kind](trace(f, n, args), var("x", (n,)))


def calls(kernel, name, times=1):
    """How often a lane calls a function, turns of loops counted."""
    def count(items):
        total = 0
        for item in items:
            if isinstance(item, Loop):
                total += item.limit * count(item.body)
            elif isinstance(item, Instr) and item.op == "call" and item.attr.name == name:
                total += 1
        return total
    return count(kernel.body)


def network(x, weights):
    for w, b in weights[:-1]:
        x = np.tanh(w @ x + b)
    w, b = weights[-1]
    return (w @ x + b)[0]


def random_weights(*sizes):
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(m, k)), rng.normal(size=m)) for k, m in zip(sizes[:-1], sizes[1:], strict=True)]


@pytest.mark.parametrize("sizes", [(2, 10, 8, 1), (6, 60, 1), (3, 40, 30, 20, 1)])
@pytest.mark.parametrize("kind", ["value", "gradient"])
def test_hidden_layers_are_not_recomputed(sizes, kind):
    p = program(network, sizes[0], kind, (random_weights(*sizes),))
    assert calls(p.kernel, "tanh_point") == 2 * sum(sizes[1:-1])  # at both ends


def test_network_encloses_its_values():
    weights = random_weights(6, 60, 1)
    import infimum

    f = infimum.compile(network, 6, args=(weights,))
    x = np.random.default_rng(1).normal(size=(6, 30))
    exact = np.array([network(c, weights) for c in x.T])
    r = f.value(x - 1e-6, x + 1e-6)
    assert (r.lo < exact).all() and (exact < r.hi).all() and (r.hi - r.lo < 1e-2).all()


def test_code_does_not_grow_with_the_number_of_variables():
    def f(x):
        return np.sum(np.cos(x) * np.roll(x, 1)) + np.prod(np.sin(x)) + np.cumsum(x)[-1] ** 2
    for kind in ("value", "gradient"):
        sizes = {CpuBackend().text(program(f, n, kind).kernel).count("\n") for n in (1000, 10_000)}
        assert len(sizes) == 1


def test_small_programs_have_no_loops_and_large_ones_do():
    def f(x):
        return np.sum(x**2 - x)
    assert not any(isinstance(i, Loop) for i in walk(program(f, 3).kernel.body))
    loops = [i for i in walk(program(f, 300).kernel.body) if isinstance(i, Loop)]
    assert len(loops) == 1  # the guard against empty boxes shares the loop of the sum


def test_sums_over_the_same_vector_share_a_loop():
    def f(x):
        return np.sum(x**2) * np.sum(np.cos(x)) - np.prod(np.sin(x))
    assert sum(isinstance(i, Loop) for i in walk(program(f, 100).kernel.body)) == 1


def test_sine_and_cosine_of_one_argument_are_computed_together():
    def f(x):
        return np.sum(np.sin(x) * np.cos(x))
    p = program(f, 100)
    assert calls(p.kernel, "enclose_sincos") == 100
    assert calls(p.kernel, "enclose_sin") == calls(p.kernel, "enclose_cos") == 0


def test_constants_are_data():
    """Not a digit of the user's numbers is in the code; other numbers of the same signs give the same code."""
    def f(x, a, c):
        return np.sum(a * x**2) + c * x[0] + 7.125 * x[1]
    texts = [CpuBackend().text(program(f, 20, args=(np.linspace(s, 2, 20), s + 0.5)).kernel) for s in (0.25, 1.25)]
    assert texts[0] == texts[1]
    assert program(f, 20, args=(np.linspace(0.25, 2, 20), 3.0)).data.doubles().tolist().count(7.125) == 1
    bits = f"0x{np.float64(7.125).view(np.int64):016X}"
    assert bits not in texts[0]


def test_scalars_are_computed_before_the_loops_that_need_them():
    def f(x):
        return np.sum((x - np.mean(x)) ** 2) + np.sum(np.abs(x - np.max(x)))
    import infimum

    x = np.random.default_rng(0).normal(size=(50, 7))
    exact = np.array([f(c) for c in x.T])
    r = infimum.compile(f, 50).value(x, x)
    assert (r.lo <= exact + 1e-12).all() and (exact - 1e-12 <= r.hi).all() and (r.hi - r.lo < 1e-10).all()


def test_deep_expressions_do_not_overflow_the_stack():
    def f(x):
        total = x[0]
        for k in range(3000):
            total = total * 0.999 + x[k % 2]
        return total
    import infimum

    r = infimum.compile(f, 2).value([1.0, 1.0], [1.0, 1.0])
    assert abs(float(r.lo) - f(np.ones(2))) < 1e-6 and r.hi - r.lo < 1e-8


@pytest.mark.parametrize("sizes", [(6, 60, 1), (5, 20, 20, 1)])
def test_hessians_compute_once_what_all_rows_share(sizes):
    p = program(network, sizes[0], "hessian", (random_weights(*sizes),))
    rows = 2 * sum(sizes[1:-1])             # for the value, and for the rows together
    diagonal = sizes[0] * sum(sizes[1:-1])  # along each variable
    assert 0 < calls(p.kernel, "tanh_point") <= 2 * (rows + diagonal)


def test_hessian_of_a_network_encloses_differences():
    import infimum

    weights = random_weights(4, 20, 1)
    f = infimum.compile(network, 4, args=(weights,))
    x, h = np.array([0.3, -0.2, 0.5, 0.1]), 1e-5
    second = np.array([(f.estimate_gradient(x + h * e)[1] - f.estimate_gradient(x - h * e)[1]) / (2 * h) for e in np.eye(4)])
    r = f.hessian(x, x)
    assert (r.lo <= second + 1e-6).all() and (second - 1e-6 <= r.hi).all() and (r.hi - r.lo < 1e-9).all()


def test_signs_are_turned_once():
    b = Builder()
    x = b.input(0, 0)
    assert b.neg(b.neg(x)) is x and b.abs(b.neg(x)) is b.abs(x) and b.neg(x) is not x


def test_lines_share_the_values_at_the_ends_with_the_enclosure():
    """Two values at the ends, and two where the lines touch the curve."""
    p = program(network, 3, "linear", (random_weights(3, 20, 1),))
    lines = next(f for f in p.kernel.functions() if f.name == "lines_tanh")
    inside = sum(item.op == "call" and item.attr.name == "tanh_point" for item in lines.body)
    assert calls(p.kernel, "tanh_point") == 2 * 20 and calls(p.kernel, "lines_tanh") == 20 and inside == 2
