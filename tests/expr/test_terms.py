"""Terms: their sum is the function, however the sum is written, and they are defined where it is."""

import itertools

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.expr.build import build, index
from infimum.expr.node import Expr, between, const, var
from infimum.search.policy.search import RECOGNITION
from infimum.structure.term_sums import C, TermFamily, families_of, substituted
from infimum.trace.trace import trace
from tests.oracle.arb_values import settled_value, value
from tests.oracle.generate import Generator
from tests.oracle.walk import UNDECIDED, Special

A = np.array([0.5, -1.25, 3.0, 2.0, -0.1])
M = np.diag([1.0, 2.0, 3.0, 4.0, 5.0]) + np.diag([0.5, -1.0, 1.5, 2.5], 1) + np.diag([0.1, 0.0, -0.3, 0.7], -1)


def loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def nested_means(x):
    return np.mean([np.mean((x[1:] - x[:-1]) ** 2), np.sum(np.cos(x)) / 7, -np.mean(x * A)])


def accumulated(x):
    out = np.zeros(5)
    for i in range(5):
        out[i] = out[i] + x[i] * x[(i + 1) % 5] - A[i]
    return np.sum(out) / 3


WRITTEN = {
    "slices": lambda x: np.sum(x[1:] * np.sin(x[:-1])) + np.sum(x[::2] ** 2) - np.sum(x[::-1][:2] * x[::-1][1:3]),
    "np.roll": lambda x: np.sum((x - np.roll(x, 1)) ** 2 * A),
    "np.roll by two": lambda x: np.sum(np.roll(x, 2) * np.cos(x)),
    "gather": lambda x: np.sum(x[[0, 0, 1, 3]] * x[[0, 1, 2, 3]] - x[[4, 4, 4, 4]]),
    "the same variable in some": lambda x: np.sum(np.exp(x[[0, 0, 1]] * x[[0, 1, 2]]) * x[[0, 1, 1]]),
    "three equal in some": lambda x: np.sum(x[[0, 1, 2, 3, 4]] * x[[0, 1, 1, 3, 0]] * x[[0, 2, 2, 1, 0]]),
    "a permutation": lambda x: np.sum(np.diff(x[np.array([3, 0, 4, 1, 2])]) ** 4),
    "a loop": loop,
    "np.dot": lambda x: np.dot(A, x**2) + x[:-1] @ x[1:],
    "np.einsum": lambda x: np.einsum("i,i,i->", A[:4], x[:-1], np.sin(x[1:])),
    "a matrix": lambda x: x[:-1] @ np.diag(A[:4]) @ np.array([1.0, 2.0, 3.0, 4.0]) + x[0] * x[1],
    "columns": lambda x: np.sum(np.sum(np.arange(1.0, 4)[:, None] * np.sin((np.arange(1.0, 4)[:, None] + 1) * x + 0.1), axis=0)),
    "columns of pairs": lambda x: np.sum(A[:3, None] * np.cos(x[1:] * A[:3, None] - x[:-1])),
    "nested means": nested_means,
    "divisors": lambda x: np.sum(x[1:] * x[:-1] / np.array([3.0, -7.0, 1e3, 0.1])) / 3 / np.array(1.7),
    "a factor that is a sum": lambda x: -2 * (3 * (np.sum(x**2 * A) - 5 * (x[0] * x[1] + 1)) / 7 - 4),
    "a factor in an array": lambda x: np.sum(A * (x**2 - np.roll(x, -1))),
    "divisors of sums": lambda x: np.sum((x[1:] + x[:-1] ** 2) / np.array([3.0, -7.0, 1e3, 0.1])),
    "np.concatenate": lambda x: np.sum(np.concatenate([x[:2] ** 2, np.cos(x[1:] * x[:-1]), [3.5]])),
    "np.concatenate, weighted": lambda x: np.sum(np.concatenate([x[:2], x[1:] * x[:-1]]) * np.arange(6.0)) / 3,
    "np.stack": lambda x: np.sum(np.stack([x[1:], x[:-1] ** 2, x[1:] * x[:-1]]) * A[:3, None]),
    "reshape": lambda x: np.sum(np.reshape(x[:4], (2, 2)) * np.reshape(x[1:], (2, 2)).T),
    "np.diff": lambda x: np.sum(np.diff(x) ** 2) + np.sum(np.abs(np.diff(x, 2))),
    "infimum.pi": lambda x: np.sum(infimum.pi * x[1:] * np.sin(infimum.pi * x[:-1])) + infimum.pi - infimum.e * np.sum(x),
    "np.where": lambda x: np.sum(np.where(x[1:] > x[:-1], x[1:] ** 2, -x[:-1])),
    "np.where on an undefined part": lambda x: np.sum(np.where(np.log(x[1:]) < x[:-1], x[1:] ** 2, np.exp(x[:-1]))),
    "undefined parts": lambda x: np.sum(np.sqrt(x[1:] - x[:-1])) + np.log(x[0]) / 3 - 2 * (np.arcsin(x[1]) + x[2]),
    "poles": lambda x: np.sum(1 / (x[1:] - x[:-1])) + x[0] ** -2,
    "short products": lambda x: np.prod(x[:2]) + np.max(x[1:3]) + np.linalg.norm(x[2:4]) + np.min(x[3:]) + np.linalg.norm(x[4:]),
    "rows of products": lambda x: np.sum(np.prod(np.stack([x[:-2], x[1:-1], np.cos(x[2:])]), axis=0)),
    "written into an array": accumulated,
    "a sum of sums": lambda x: np.sum(np.sum(x[:, None] * A[None, :], axis=1)) + sum(np.sum(x[i:i + 2]) for i in range(4)),
    "repeated elements": lambda x: np.sum(np.sum(np.tile(x[1:] * x[:-1], (3, 1)), axis=0)) + np.sum(np.repeat(x, 2)),
    "many forms": lambda x: x[0] ** 3 * 2.5 + 3 * np.exp(x[1]) + 0.1 * np.sin(x[2] * x[3]) + 7 * np.cos(x[4]) + np.tanh(x[0]),
    "many exponents": lambda x: np.sum(x**np.array([3.0, 1.5, 1.0, 2.0, 0.5]) * A) + np.sum(np.abs(x) ** A) + x[0] * x[1],
    "constants alone": lambda x: np.sum(x[1:] * x[:-1]) + 3 + np.sum(A) - 2 * (x[0] + 1.5) / 3,
    "nothing of some": lambda x: x[0] * x[1] + np.sum(x[5:]) + 0 * x[4],
    "a mean of a mean": lambda x: np.mean(np.mean(np.outer(A, x), axis=0)) + np.var(x[:2]),
    "a tridiagonal matrix": lambda x: M[0, :2] @ x[:2] + sum((M[i, i - 1:i + 2] @ x[i - 1:i + 2]) ** 2 for i in range(1, 4)),
}
# a term of more than three variables, or a sum that is none of terms
NOT_SMALL = {
    "four": lambda x: x[0] * x[1] * x[2] * x[3],
    "a square of a sum": lambda x: np.sum(x) ** 2,
    "one of many": lambda x: np.sum(x[1:] * x[:-1]) + np.exp(x[0] + x[1] + x[2] + x[3]),
    "a product": lambda x: np.prod(x),
    "a running sum": lambda x: np.sum(np.cumsum(x) ** 2),
}


def with_constants(family: TermFamily, term: int) -> Expr:
    """The term, in its own variables."""
    c = var(C, (len(family.lower),))
    ends = zip(family.lower[:, term], family.upper[:, term], strict=True)
    return substituted(family.value, {index(c, i): const(lo) if lo == hi else between(lo, hi) for i, (lo, hi) in enumerate(ends)})


def total(families: list[TermFamily], x: np.ndarray, bits: int) -> arb | Special:
    """The sum of all terms; special as soon as one of them is."""
    found = arb(0)
    for family in families:
        for term in range(family.count):
            part = value(with_constants(family, term), x[family.variables[:, term]], bits)
            if isinstance(part, Special):
                return part
            found = found + part
    return found


def held_against(f: Expr, families: list[TermFamily], x: np.ndarray) -> bool:
    """Is it decided there? The same value, or both undefined."""
    whole = settled_value(f, x)
    if whole is UNDECIDED:
        return False
    parts = next((v for v in (total(families, x, bits) for bits in (128, 700)) if v is not UNDECIDED), UNDECIDED)
    if parts is UNDECIDED:
        return False
    if isinstance(whole, Special) or isinstance(parts, Special):
        assert isinstance(whole, Special) and isinstance(parts, Special), (x, whole, parts)
    else:
        assert whole.overlaps(parts), (x, whole, parts)
    return True


def well_formed(families: list[TermFamily], n: int) -> None:
    for family in families:
        k, count = family.variables.shape
        assert k <= RECOGNITION.term_variables and count and (0 <= family.variables).all() and (family.variables < n).all()
        assert family.lower.shape == family.upper.shape and family.lower.shape[1] == count
        assert (family.lower <= family.upper).all()
        for a, b in itertools.combinations(family.variables, 2):
            assert (a != b).all(), "a term has different variables"
    assert len({family.value for family in families}) == len(families), "one form is one family"


def points(rng: np.random.Generator, n: int) -> np.ndarray:
    """Everyday ones, one on a grid, where comparisons tie, and one that is large."""
    inside = rng.uniform(0, 1, n)
    return np.array([rng.normal(size=n), inside, np.sort(inside), rng.integers(-1, 2, n) / 2, rng.normal(size=n) * 50])


@pytest.mark.parametrize("name", WRITTEN)
def test_the_sum_of_all_terms_is_the_function(name):
    f, rng = trace(WRITTEN[name], 5), np.random.default_rng(len(name))
    families = families_of(f, var("x", (5,)))
    assert families is not None
    well_formed(families, 5)
    assert sum(held_against(f, families, x) for x in points(rng, 5)) >= 3


@pytest.mark.parametrize("name", NOT_SMALL)
def test_no_terms_where_one_reads_more_than_three_variables(name):
    assert families_of(trace(NOT_SMALL[name], 5), var("x", (5,))) is None


def test_terms_of_one_form_are_one_family():
    families = families_of(trace(loop, 50), var("x", (50,)))
    assert sorted((len(f.variables), f.count) for f in families) == [(1, 49), (2, 49)]
    pairs = next(f for f in families if len(f.variables) == 2).variables.T.tolist()
    assert sorted(map(sorted, pairs)) == [[i, i + 1] for i in range(49)]


def test_constants_of_many_forms_become_part_of_the_table():
    """A thousand written out with constants of their own are a few families, not a thousand."""
    a = np.random.default_rng(1).normal(size=(1000, 2))
    families = families_of(trace(lambda x: sum(a[i, 0] * np.sin(x[i] - a[i, 1] * x[i + 1]) for i in range(1000)), 1001),
                           var("x", (1001,)))
    assert len(families) == 1 and families[0].count == 1000
    assert {*families[0].lower.ravel()} == {*a.ravel()} or {*np.abs(families[0].lower).ravel()} == {*np.abs(a).ravel()}


def test_a_long_row_of_factors_is_no_deep_recursion():
    def scaled(x):
        s = x[0] * x[1] + x[1] * x[2]
        for _ in range(1500):
            s = s * 0.999
        return s
    families = families_of(trace(scaled, 3), var("x", (3,)))
    assert [(len(f.variables), f.count) for f in families] == [(2, 2)]


def test_sums_that_double_end():
    def doubled(x):
        s = x[0] * x[1]
        for _ in range(60):
            s = s + s
        return s
    assert families_of(trace(doubled, 3), var("x", (3,))) is None


def test_random_expressions():
    """Sums of random terms of up to three of five variables, some scaled, some not."""
    decided, found = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        f = const(0.0)
        for _ in range(rng.integers(2, 5)):
            k = int(rng.integers(1, 4))
            chosen = rng.choice(5, size=k, replace=False)
            term = Generator(rng, k).scalar(2).meant
            x = index(var("x", (5,)), chosen)
            f = build("add", f, substituted(term, {var("x", (k,)): x}))
        families = families_of(f, var("x", (5,)))
        if families is None:
            continue
        found += 1
        well_formed(families, 5)
        decided += sum(held_against(f, families, x) for x in points(rng, 5)[:3])
    assert found > 20 and decided > 40
