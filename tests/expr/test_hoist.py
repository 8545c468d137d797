"""Local forms: with the numbers put in as they are defined, L is f, for every variable and block, compared exactly with Arb."""

import functools
import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb

import infimum
from infimum import problems
from infimum.expr.build import build, index, reduce
from infimum.expr.node import Expr, const, topological, var
from infimum.structure.local_form import LocalForm, LocalNumber, all_sources, local_form, sources
from infimum.trace.trace import trace
from tests.oracle.arb_values import value
from tests.oracle.walk import Special

BITS = 300
FAR = 1e300  # stands for infinity, which Arb does not compute with
_NEUTRAL = {"sum": 0.0, "prod": 1.0, "amin": FAR, "amax": -FAR, "norm": 0.0}


# ---- the definition of the numbers, as expressions in x
def _reduced(op: str, terms: Expr, low: int, high: int) -> Expr:
    """The reduction of terms[low:high], the window cut to what there is."""
    low, high = max(low, 0), min(high, terms.size)
    if low >= high:
        return const(_NEUTRAL[op])
    return reduce("sum" if op == "norm" else op, index(terms, slice(low, high)))


def defined(number: LocalNumber, j: int) -> Expr:
    """What the docstring of Number says, for the variable j."""
    place, source = j + number.shift, number.source
    at = min(max(place, 0), number.size - 1)
    if number.kind == "array":
        return index(source, at)
    if number.kind == "scalar":
        return build("reshape", source, shape=())
    if number.kind == "constant":
        return const(source[at])
    if number.kind == "inside":
        return const(float(0 <= place < number.size))
    if number.kind == "before":
        return _reduced(number.op, source, 0, place)
    if number.kind == "after":
        return _reduced(number.op, source, place, source.size)
    assert number.kind == "others"
    both = build("add", _reduced("norm", source, 0, place), _reduced("norm", source, j + number.stop, source.size))
    return build("sqrt", both)


def put_in(form: LocalForm, x: Expr, j: int, block: int = 1) -> Expr:
    """L as an expression in x: the variables are x[j] …, the numbers what they are defined to be."""
    new = {var("y" if k == 0 else f"y{k}", ()): index(x, j + k) for k in range(block)}
    new |= {var(number.name, ()): defined(number, j) for number in form.numbers}
    for node in topological([form.value]):
        if node not in new:
            new[node] = build(node.op, *(new[a] for a in node.args), **dict(node.params)) if node.args else _finite(node)
    return new[form.value]


def _finite(node: Expr) -> Expr:
    return const(np.clip(node.lo, -FAR, FAR)) if node.op == "const" and np.isinf(node.lo).any() else node


def equal(a: arb, b: arb) -> bool:
    """Two balls of many bits agree to almost all of them."""
    return bool(abs(a - b) <= (abs(a) + abs(b) + arb(10) ** -30) * arb(2) ** (-BITS // 2))


def check(f: Expr, n: int, points: list[np.ndarray], blocks: tuple[int, ...] = (1,)) -> int:
    """Holds L against f at the points, from every variable; the number of comparisons."""
    x, count = var("x", (n,)), 0
    for block in blocks:
        form = local_form(f, x, block)
        if form is None:
            continue
        for j in range(n - block + 1):
            seen = put_in(form, x, j, block)
            for p in points:
                meant, found = value(f, p, BITS), value(seen, p, BITS)
                if isinstance(meant, Special):
                    continue
                assert not isinstance(found, Special), (n, j, block, p, found)
                assert equal(meant, found), (n, j, block, p, meant, found)
                count += 1
    return count


def points(n: int, seed: int = 0) -> list[np.ndarray]:
    """Inside (0, 1), where everything is defined; of both signs; with ties."""
    rng = np.random.default_rng(1000 * seed + n)
    return [rng.uniform(0.1, 0.9, n), rng.normal(size=n), rng.choice((-1.0, 0.0, 0.5, 2.0), n)]


# ---- functions by hand: name -> (function, is the derivative by y the whole one)
W = np.array([0.5, -1.0, 2.0, 0.1, 3.0, -0.25, 1.5, 0.75, -2.0])
J = np.array([[1.0], [2.0], [-0.5]])
LOCAL: dict[str, tuple[Callable, bool]] = {
    "squares of differences": (lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), True),
    "three neighbours": (lambda x: np.sum(x[2:] * x[:-2] + x[1:-1]), True),
    "the ends of three": (lambda x: np.sum(x[2:] * x[:-2]) + np.sum(x), True),
    "five neighbours": (lambda x: np.sum(x[4:] * x[:-4] - x[2:-2] ** 2) + np.sum(x**2), True),
    "np.diff": (lambda x: np.sum(np.diff(x) ** 2) + np.sum(x**2), True),
    "second differences": (lambda x: np.sum(np.diff(x, 2) ** 2) + x[0], True),
    "weights": (lambda x: np.sum(W[:len(x)] * x**2), True),
    "shifted weights": (lambda x: np.sum(W[1:len(x)] * x[1:] ** 2 - W[:len(x) - 1] * x[:-1]), True),
    "weights inside a slice": (lambda x: np.sum((W[:len(x)] * x)[1:] * x[:-1]) + np.sum(x), True),
    "true pi times an array": (lambda x: np.sum(np.cos(infimum.pi * W[:len(x)] * x)), True),
    "true pi sliced": (lambda x: np.sum((infimum.pi * W[:len(x)])[1:] * x[:-1]) + np.prod(x), True),
    "a scalar factor": (lambda x: np.sum(0.1 * x / 3), True),
    "the first five": (lambda x: np.sum(x[:5] ** 2) - np.sum(x[5:]), True),
    "a middle part": (lambda x: np.prod(x[1:4]) + np.sum(x**2), True),
    "the last two": (lambda x: np.sum(x[-2:] ** 3) + np.linalg.norm(x[:-2]), True),
    "one element": (lambda x: x[len(x) // 2] ** 2 + np.sum(x), True),
    "the last element": (lambda x: np.exp(x[-1]) * np.sum(x**2), True),
    "first and last": (lambda x: x[0] * x[-1] + np.sum(x[1:-1]), True),
    "an element of a product": (lambda x: (x * W[:len(x)])[len(x) - 1] * np.sum(x), True),
    "an element of an element": (lambda x: (x[1:] ** 2)[-1:][0] + np.sum(x) if len(x) == 2 else x[-1:][0] + np.sum(x), True),
    "all elements by a loop": (lambda x: sum(x[i] ** 2 * (i + 1) for i in range(len(x))), True),
    "a loop over pairs": (lambda x: sum((x[i] - x[i + 1]) ** 2 for i in range(len(x) - 1)) + x[0] ** 2, True),
    "norm": (lambda x: np.linalg.norm(x), True),
    "norm of a slice": (lambda x: np.linalg.norm(x[1:]) + np.linalg.norm(x[:-1] - 0.5), True),
    "norm of differences": (lambda x: np.linalg.norm(x[1:] - x[:-1]) + np.linalg.norm(x), True),
    "root of a sum of squares": (lambda x: np.sqrt(np.sum(x**2) / len(x)), True),
    "other norms": (lambda x: np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf), True),
    "product": (lambda x: np.prod(x + 0.25), True),
    "product of a slice": (lambda x: np.prod(x[1:] - x[:-1]) + np.prod(np.cos(x)), True),
    "smallest and largest": (lambda x: np.min(x) - 2 * np.max(x**2), True),
    "extremes of slices": (lambda x: np.min(x[1:]) + np.max(x[:-1]) + np.max(x[1:] - x[:-1]), True),
    "smallest of logarithms": (lambda x: np.min(np.log(x[1:])) + np.sum(x) if len(x) > 1 else np.log(x[0]), True),
    "np.ptp": (lambda x: np.ptp(x), True),
    "two reductions multiplied": (lambda x: np.sum(x) * np.prod(x) - np.sum(x) ** 2, True),
    "the same reduction twice": (lambda x: np.sin(np.sum(x**2)) + np.sum(x**2), True),
    "reductions inside where": (lambda x: np.where(np.sum(x) > 0.5, np.prod(x), np.min(x)), True),
    "where in the terms": (lambda x: np.sum(np.where(x > 0.25, np.log(x), x**2)), True),
    "a test of neighbours": (lambda x: np.sum(np.where(x[1:] < x[:-1], x[1:], 0.5)) + x[0], True),
    "an empty window": (lambda x: np.sum(x[len(x):]) + np.sum(x**2), True),
    "an empty product": (lambda x: np.prod(x[1:1] * x[:0]) + np.linalg.norm(x[:0]) + np.sum(x**2), True),
    "mean": (lambda x: np.mean(x**2) + np.mean(x), True),
    "mean inside": (lambda x: np.sum((x - np.mean(x)) ** 2), False),
    "np.var": (lambda x: np.var(x), False),
    "np.std of a slice": (lambda x: np.std(x[1:]) + x[0] if len(x) > 1 else x[0], False),
    "share of the mean": (lambda x: np.sum(np.sin(x / np.mean(x))) + np.sum(x**2), False),
    "the first in all": (lambda x: np.sum((x[0] - x**2) ** 2), False),
    "the last in a slice": (lambda x: np.sum((x[-1] * x[:-1]) ** 2) + np.max(x), False),
    "norm of what a product scales": (lambda x: np.linalg.norm(x * np.prod(x)), False),
    "an element beside a mean": (lambda x: (x / np.sum(x))[0] + np.sum(x**2), False),
    "constant": (lambda x: 0 * np.sum(x) + 5, True),
    "nothing of x": (lambda x: 5.0, True),
    "broadcast of one constant": (lambda x: np.sum(x * np.full(len(x), 0.3) + np.ones(len(x))), True),
    "clip and steps": (lambda x: np.sum(np.clip(x, 0, 0.5) + np.floor(4 * x)) + np.sum(np.sign(x[1:])), True),
    "arctan2 and hypot": (lambda x: np.sum(np.arctan2(x[1:], x[:-1] + 2)) + np.sum(np.hypot(x[1:], x[:-1])), True),
}
LOCAL |= {  # as `structure.arrange_reductions` writes them
    "a matrix by rows": (lambda x: np.sum(J * np.sin((J + 1) * x + J)), True),
    "sums of rows": (lambda x: np.prod(np.sum(J * np.cos((J + 1) * x + J), axis=0)), True),
    "sums of columns": (lambda x: np.max(np.sum(np.abs(x[:, None] - J.T), axis=1)) + np.sum(np.outer(x, J)), True),
    "extremes of rows": (lambda x: np.sum(np.min(np.log(J + 1 + x**2), axis=0)) - np.max(J * x), True),
    "products of rows": (lambda x: np.prod(J - x) + np.sum(np.prod(1 + J * x, axis=0)), True),
    "norms of matrices": (lambda x: np.linalg.norm(J * x) + np.sum(np.linalg.norm(J - x, axis=0)), True),
    "one row": (lambda x: np.sum(np.linalg.norm(J[:1] - x, axis=0)) + np.linalg.norm(J[1:2] * x), True),
    "tests in a matrix": (lambda x: np.sum(np.where(J > x, x + J, np.log(x))), True),
    "true pi in a matrix": (lambda x: np.sum(np.sin(infimum.pi * J * x + infimum.e)), True),
    "weights in a matrix": (lambda x: np.sum((J + W[:len(x)]) * x**2 + np.exp(J * W[:len(x)])), True),
    "sums of the same": (lambda x: 2 * np.sum(x**2) - (np.sum(np.cos(x)) / 3 - np.mean(x**3)) + 1 - np.sum(np.log(x)), True),
    "sums inside others": (lambda x: np.exp(np.sum(x) / 9 - np.sum(x**2)) * (np.sum(x[1:]) - 3 * np.sum(x[1:]**2)), True),
    "a loop of squares": (lambda x: sum((i + 1) * (x[i] - i) ** 2 for i in range(len(x))) - 2, True),
    "a loop that skips the first": (lambda x: x[0] ** 3 + sum(np.cos(x[i]) / i - x[i] for i in range(1, len(x))), True),
    "a loop over neighbours": (lambda x: sum(9 * (x[i + 1] - x[i]) ** 2 + (1 - x[i]) ** 2 for i in range(len(x) - 1)), True),
    "a loop of factors": (lambda x: 1 - 3 * math.prod(np.cos(x[i] / math.sqrt(i + 1)) for i in range(len(x))) + np.sum(x), True),
    "a loop with true pi": (lambda x: sum(np.sin(infimum.pi * v) ** 2 * infimum.pi / (i + 2) for i, v in enumerate(x)), True),
    "a loop with branches": (lambda x: sum(np.where(v > 0.5, np.log(v), v * v) for v in x) / len(x), True),
    "loops in a loop": (lambda x: sum(k * np.sin((k + 1) * v + k) for v in x for k in range(1, 4)), True),
    "the same turn twice": (lambda x: sum(v**2 for v in x) + sum(v**2 for v in x[1:]) - sum(v for v in [x[0]] * 3), True),
    "a loop of largest": (lambda x: functools.reduce(np.maximum, [np.abs(v - i) for i, v in enumerate(x)]), True),
    "a sum of sums twice": (lambda x: (np.sum(x) + np.sum(np.sin(x)))**2 + (np.sum(x) + np.sum(np.sin(x))), True),
}
NOT_LOCAL: dict[str, Callable] = {
    "reversed": lambda x: np.sum(x[::-1] * x), "np.roll": lambda x: np.sum(np.roll(x, 1) * x),
    "cumsum": lambda x: np.sum(np.cumsum(x) ** 2), "cumprod": lambda x: np.max(np.cumprod(x)),
    "every second": lambda x: np.sum(x[::2] ** 2), "np.outer": lambda x: np.sum(np.outer(x, x)),
    "matrix": lambda x: x @ np.ones((len(x), len(x))) @ x, "gather": lambda x: np.sum(x[[2, 0, 1]]),
    "far apart": lambda x: np.sum(x[5:] * x[:-5]), "reshape": lambda x: np.sum(x.reshape(2, -1)[0]),
    "concatenate": lambda x: np.sum(np.concatenate([x[1:], x[:1]]) * x),
    "where over weights": lambda x: np.sum(np.where(W[:len(x)] > 0, x, -x)),
    "an element of a shorter vector": lambda x: (x[1:] * x[:-1])[0],
}
SIZES = (1, 2, 3, 5, 8, 9)


def traced(f: Callable, n: int) -> Expr | None:
    """The expression, or None where the function needs more variables (the largest of an empty slice)."""
    try:
        return trace(f, n)
    except infimum.errors.InfimumError:
        return None


@pytest.mark.parametrize("name", LOCAL)
def test_the_form_is_the_function(name):
    f, exact = LOCAL[name]
    count = 0
    for n in SIZES:
        if (expr := traced(f, n)) is None:
            assert n < 3, n
            continue
        form = local_form(expr, var("x", (n,)))
        if form is None:
            assert n < 3, n  # a vector of one element is a scalar to some operations
            continue
        assert form.exact is exact or n == 1
        count += check(expr, n, points(n))
    assert count >= sum(SIZES[2:])


@pytest.mark.parametrize("name", LOCAL)
def test_a_block_is_the_function_too(name):
    for n in (3, 6):
        if (expr := traced(LOCAL[name][0], n)) is not None:
            assert check(expr, n, points(n)[:1], (2, 3)) >= 2


@pytest.mark.parametrize("name", NOT_LOCAL)
def test_what_cannot_be_taken_apart_is_left_alone(name):
    """None, or the function: never a form that is another function."""
    f = trace(NOT_LOCAL[name], 8)
    assert local_form(f, var("x", (8,))) is None
    for n in (1, 2, 3, 6):
        if (expr := traced(NOT_LOCAL[name], n)) is not None:
            check(expr, n, points(n), (1, min(2, n)))


GALLERY = [p.name for p in problems.all_problems()]


def gallery_sizes(name: str) -> list[int]:
    p = problems.get(name)
    sizes = []
    for n in (1, 3, 8) if p.scalable else (p.n,):
        try:
            problems.get(name, n)
        except infimum.errors.GalleryError:
            continue
        sizes.append(n)
    return sizes


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_seen_from_every_variable(name):
    for n in gallery_sizes(name):
        p = problems.get(name, n)
        inside = np.random.default_rng(n).uniform(p.lo, p.hi)
        check(trace(p.fun, n), n, [inside, p.points[0]], (1, 2) if n == 3 else (1,))


def test_most_of_the_gallery_is_local():
    known = {name: [local_form(trace(problems.get(name, n).fun, n), var("x", (n,))) for n in gallery_sizes(name)]
             for name in GALLERY}
    assert sum(all(form is not None for form in forms) for forms in known.values()) >= 110
    inexact = {name for name, forms in known.items() if any(form is not None and not form.exact for form in forms)}
    assert inexact == {"schwefel_2_4", "trigonometric"}


# ---- is the derivative by y the whole one?
HIDDEN: dict[str, Callable] = {
    "an element of a scaled constant": lambda x: np.sum(x**2) - 4 * (np.sum(x) * W[:len(x)])[2],
    "an element of a part of it": lambda x: np.sum(x**2) - 4 * (np.sum(x) * W[:len(x)])[2:5][1],
    "an element of a norm's direction": lambda x: np.sum(x**2) + (np.linalg.norm(x) + W[:len(x)])[0],
    "in a choice": lambda x: np.sum(x**2) + np.where(W[:len(x)] > 0, np.max(x), np.sum(x))[0],
    "its last element": lambda x: np.prod(x) + np.exp(x[0] * W[:len(x)])[-1],
    "one of one": lambda x: np.sum(x**2) - (np.sum(x) * np.array([2.0]))[0],
    "a mean in a term": lambda x: np.sum(x**2) + np.sum(x[1:] * np.mean(x)),
    "a mean in a neighbour": lambda x: np.sum(x[1:] * (x - np.mean(x))[:-1]),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_exact_means_that_no_number_depends_on_y(name):
    """Two points that differ in x[j] alone have the same numbers, wherever the form says that they do."""
    n = 6
    x, f = var("x", (n,)), trace(HIDDEN[name], n)
    form = local_form(f, x)
    check(f, n, points(n))
    if form is None or not form.exact:
        return
    for j in range(n):
        here = points(n)[0]
        there = here.copy()
        there[j] += 0.5
        for number in form.numbers:
            if _matters(form, number, j):
                one, two = (value(defined(number, j), p, BITS) for p in (here, there))
                assert one == two or equal(one, two), (number.name, number.kind, j)


def _matters(form: LocalForm, number: LocalNumber, j: int) -> bool:
    """Is the number read from variable j: not in a branch that `inside` rules out there?"""
    new: dict[Expr, set[str]] = {}
    inside = {var(k.name, ()): 0 <= j + k.shift < k.size for k in form.numbers if k.kind == "inside"}
    for node in topological([form.value]):
        if node.op == "where" and node.args[0].op == "lt" and node.args[0].args[1] in inside:
            new[node] = new[node.args[1 if inside[node.args[0].args[1]] else 2]]
        else:
            new[node] = set().union(*(new[a] for a in node.args)) | ({node["name"]} if node.op == "var" else set())
    return number.name in new[form.value]


@pytest.mark.parametrize("name", [name for name, (_, exact) in LOCAL.items() if exact])
def test_the_numbers_of_exact_forms_do_not_depend_on_y(name):
    n = 5
    f = trace(LOCAL[name][0], n)
    form = local_form(f, var("x", (n,)))
    for j in range(n):
        here = points(n)[0]
        there = here.copy()
        there[j] = 0.95
        for number in form.numbers:
            if number.kind != "inside" and _matters(form, number, j):
                one, two = (value(defined(number, j), p, BITS) for p in (here, there))
                assert isinstance(one, Special) or one == two or equal(one, two), (number.name, number.kind, j)


# ---- how it is made
def test_long_loops_are_taken_apart_or_left_alone():
    """An expression may be deeper than Python's stack."""
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total = total + (x[i] - 1) ** 2
        return total
    before = sys.getrecursionlimit()
    for n in (50, 2000):
        form = local_form(trace(f, n), var("x", (n,)))
        assert n > 50 or form is not None
    assert sys.getrecursionlimit() == before


def _below(depth: int, call: Callable) -> object:
    """The result of the call, so many frames further down."""
    return call() if depth == 0 else _below(depth - 1, call)


def test_the_form_does_not_depend_on_the_stack():
    """A sweep asks for it in several places; what is a form here must not be None there."""
    for n in range(180, 340, 8):
        f, x = trace(lambda x: sum(x[i] ** 2 for i in range(len(x))), n), var("x", (n,))
        assert (local_form(f, x) is None) == (_below(60, lambda f=f, x=x: local_form(f, x)) is None), n


def test_forms_are_the_same_each_time():
    """The kernels of a sweep are written from forms made separately: names, order and sources must agree."""
    for name in ("norm of differences", "extremes of slices", "two reductions multiplied", "np.var"):
        f, x = trace(LOCAL[name][0], 7), var("x", (7,))
        one, two = local_form(f, x), local_form(f, x)
        assert one.value is two.value and one.exact == two.exact
        assert [(k.name, k.kind, k.shift, k.size, k.op, k.stop) for k in one.numbers] == \
            [(k.name, k.kind, k.shift, k.size, k.op, k.stop) for k in two.numbers]
        assert all(a is b for a, b in zip(all_sources(one), all_sources(two), strict=True))
        assert len(set(all_sources(one))) == len(all_sources(one))


def test_every_number_is_read():
    """And every source of a number is one of all sources; names are given once."""
    for f, _ in LOCAL.values():
        if (expr := traced(f, 5)) is None:
            continue
        form = local_form(expr, var("x", (5,)))
        names = [number.name for number in form.numbers]
        read = {node["name"] for node in topological([form.value]) if node.op == "var"}
        assert len(set(names)) == len(names) and read - {"y"} <= set(names)
        assert all(node in all_sources(form) for number in form.numbers for node in sources(number))


def test_the_cost_does_not_grow_with_n():
    """L has as many operations for a million variables as for ten."""
    for name in ("squares of differences", "norm of differences", "product of a slice", "extremes of slices", "np.var"):
        sizes = [len(list(topological([local_form(trace(LOCAL[name][0], n), var("x", (n,))).value]))) for n in (10, 1_000_000)]
        assert sizes[0] == sizes[1] < 120, name


def test_known_truth_values_are_no_numbers():
    """A condition joined with a mask of the user's: comparisons of constants are part of L, element by element."""
    mask = np.arange(12) % 2 == 0
    form = local_form(trace(lambda x: np.sum(np.where((x > 0) & mask, x, -x)), 12), var("x", (12,)))
    assert form is not None and all(number.kind in ("constant", "before", "after") for number in form.numbers)
    r = infimum.minimize(lambda x: np.sum(np.where((x > 0) & mask, x, -x)), [(-2, 2)] * 12)
    assert r.verdict.name == "PROVED" and -12.0 - 1e-5 < r.lower <= -12.0 <= r.upper
