"""Other forms of pieces, and gathered sums: the same values, by plain NumPy; and where there must be none."""

import numpy as np
import pytest

import infimum
from infimum.expr.signs import is_nonnegative
from infimum.structure.expansions.pole_alternatives import alternatives
from infimum.structure.gather_terms import gathered
from infimum.structure.single_quantity_pieces import Piece, pieces_of
from tests.expr.evaluate_with_numpy import evaluate


def piece(f) -> Piece:
    """The piece that a function of one variable is."""
    return next(iter(pieces_of(infimum.compile(lambda x: f(x[0]), 1).f).values()))


def forms(f, conditional: bool = False) -> list[str]:
    """Those that hold everywhere, or those that hold where their base is not negative."""
    p = piece(f)
    return [str(other.value) for other in alternatives(p.value, p.variable) if (other.domain is not None) == conditional]


def test_what_becomes_of_formulas():
    assert forms(lambda r: r**-12 - r**-6) == ["max((powi(piece, k=-12) * (1.0 - powi(piece, k=6))), neg(powi(2.0, k=-2)))"]
    assert forms(lambda x: np.where(x > 0, x * np.log(x), 0.0)) == ["where((0.0 < piece), xlogx(piece), 0.0)"]
    assert forms(lambda x: x * np.log(x)) == ["xlogx(piece)"]
    assert forms(lambda x: np.sin(x) / x) == ["cos((mean 0 * piece))"]
    assert forms(lambda x: (1 - np.cos(x - 1)) / (x - 1) ** 2) == ["neg((-0.5 * cos((mean 0 * (piece - 1.0)))))"]
    assert forms(lambda x: np.log(x) ** 2 + np.log(x)) == ["(log(piece) * (log(piece) + 1.0))"]
    assert forms(lambda x: x**2 * np.log(x**2)) == ["xlogx(powi(piece, k=2))"]
    assert forms(lambda x: x**0.25 * np.log(x)) == ["(4.0 * xlogx(pow(piece, 0.25)))"]
    assert forms(lambda x: np.tan(x) / x) == ["(cos((mean 0 * piece)) / (1.0 - (sin((mean 1 * piece)) * piece)))"]
    assert forms(lambda x: x / np.expm1(x)) == ["(1.0 / exp((mean 0 * piece)))"]
    assert forms(lambda x: (2 * np.exp(-x) - np.exp(x)) / x + x) == forms(lambda x: 2 * np.exp(-x) / x - np.exp(x) / x + x)


def test_what_becomes_of_formulas_where_the_base_is_not_negative():
    assert forms(lambda x: x**x, True) == ["exp(xlogx(piece))"]  # (-2)**-2 is 1/4
    assert forms(lambda x: np.exp(-1 / x) / x**2, True) == ["exp((powi(piece, k=-1) * (-1.0 + (-2.0 * xlogx(piece)))))"]
    assert forms(lambda x: np.log(x / (1 + x)) * x, True)[0] == "((log((1.0 / (1.0 + piece))) * piece) + xlogx(piece))"
    assert forms(lambda x: np.exp(2 * np.log(x) - 1 / x) / x**2, True)[-1] == "exp(neg(powi(piece, k=-1)))"
    assert forms(lambda x: np.exp(1 / x) / np.exp(1 / x) + x, True) == ["(1.0 + piece)"]


@pytest.mark.parametrize("f", [
    lambda x: np.sin(x) / (x - 1e-17), lambda x: x**4 - 3 * x, lambda x: np.exp(x) - x,
    lambda x: np.exp(x) / x, lambda x: x**x, lambda x: (x * np.sin(x) - x) ** x, lambda x: np.sqrt(x**2 + x**3) / 3 + x])
def test_what_has_no_other_form(f):
    assert forms(f) == []


@pytest.mark.parametrize("f", [
    lambda x: 4 * ((1.3 / x) ** 12 - (1.3 / x) ** 6), lambda x: np.sqrt(x) * np.log(x) ** 3 + 1 / x, lambda x: x**x - 1 / x,
    lambda x: (np.log(x) + 1) * (np.log(x) - 2) * x, lambda x: (1 / x + x) ** 3 - x**-2,
    lambda x: np.log2(3 * x**3) / x - np.log10(x), lambda x: 1 / np.sqrt(4 * x) - x**-0.3 + 1,
    lambda x: x / np.log(x) - 1 / np.log(x) ** 2,
    lambda x: 1 / (x + x**2) - 1 / x,
    lambda x: np.exp(1 / x - 1 / x**2) + (x**3 - x) / (x**2 + x), lambda x: 2 / x**9 + 3 * x**0.7 - 5])
def test_other_forms_have_the_same_values(f):
    p = piece(f)
    found = alternatives(p.value, p.variable)
    for t in (1e-3, 0.2, 0.7, 1.5, 4.0):
        for other in found:
            assert not other.means
            assert np.allclose(evaluate(other.value, {"piece": np.array(t)}), f(t), rtol=1e-12, atol=1e-12)
    assert found


def test_the_least_value_of_two_powers_is_used_where_it_holds():
    """x**-9 - x**-6 is unbounded for x < 0; of a norm, or of even powers, it is not."""
    assert not any("max" in form for form in forms(lambda x: x**-9 - x**-6))
    assert any("max" in form for form in forms(lambda x: x**-9 - x**-6, True))
    assert any("max" in form for form in forms(lambda x: np.abs(x) ** -9 - np.abs(x) ** -6))
    assert any("max" in form for form in forms(lambda x: x**-6 - x**-3))
    assert not any("max" in form for form in forms(lambda x: x**-6 + x**-3))
    assert not any("max" in form for form in forms(lambda x: x**-3 - x**-6))
    p = next(iter(pieces_of(infimum.compile(lambda x: (lambda r: r**-9 - r**-6)(np.linalg.norm(x)), 3).f).values()))
    assert is_nonnegative(p.quantity)
    least = next(o.value for o in alternatives(p.value, p.variable, True) if o.value.op == "max").args[1]
    assert np.isclose(evaluate(least, {}), min(r**-9 - r**-6 for r in np.linspace(1, 2, 100001)), rtol=1e-8)


def test_what_is_visibly_not_negative():
    def seen(f) -> bool:
        return is_nonnegative(infimum.compile(f, 3).f)
    assert all(map(seen, (lambda x: np.sum(x**2), lambda x: x[0] ** 2 + 3 * np.abs(x[1]) + np.exp(x[2]))))
    assert not any(map(seen, (lambda x: x[0] ** 3, lambda x: x[0] ** 2 - 1, lambda x: -2 * np.abs(x[0]))))


APART = {  # a sum and the number of its pieces, before and after its terms are gathered
    "in a loop": (lambda x: x[0] ** 2 + x[1] ** 2 - x[0] - 3 * x[1], 0, 2),
    "signs": (lambda x: -(x[0] ** 2) - x[1] ** 2 + x[0] - (x[1] + 3) * x[2] + 5 - x[1] - (x[2] - x[0]), 0, 2),
    "side by side": (lambda x: (x[0] ** 2 - x[0]) + (x[1] ** 3 - x[1]), 2, 2),
    "a shared sum": (lambda x: (lambda s: s + x[0] + np.exp(s))(x[0] ** 2 + x[1]), 0, 1),
    "r and its square": (lambda x: (lambda r2: r2**-6 - 2 / np.sqrt(r2))(x[0] ** 2 + x[1] ** 2 + x[2] ** 2), 0, 1),
    "a norm and its square": (lambda x: np.sum(x**2) * np.log(np.linalg.norm(x)), 0, 1),
    "nothing": (lambda x: x[0] * x[1] + x[1] * x[2] - x[0], 0, 0),
}


@pytest.mark.parametrize("name", APART)
def test_gathered_sums(name):
    f, before, after = APART[name]
    e = infimum.compile(f, 3).f
    g = gathered(e)
    assert (len(pieces_of(e)), len(pieces_of(g))) == (before, after) and (g is e) == (before == after)
    for x in np.random.default_rng(1).uniform(0.5, 2, (4, 3)):
        assert np.isclose(evaluate(g, x), f(x), rtol=1e-13)
