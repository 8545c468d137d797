"""What results and errors of fits tell: estimates within what is proved, bounds in order, advice, the model's own lines."""

import functools
import signal
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.api import prepared_run
from infimum.errors import AgreementError, OptionError
from infimum.fitting import search
from infimum.search.interrupts import Interrupts

X = np.arange(8.0)
Y = 3 * np.exp(-0.5 * X) + 0.1 * np.cos(31 * X)
BOUNDS = [(0, 10), (0, 3)]


def decaying(x, a, b):
    return a * np.exp(-b * x)


def two_faced(x, a, b):
    return a * np.exp(-b * x) * (1.01 if isinstance(a, float) else 1.0)


@pytest.fixture(scope="module")
def found() -> infimum.FitResult:
    return infimum.fit(decaying, X, Y, bounds=BOUNDS)


@pytest.mark.parametrize("sigma", [1e-12, 1e-15])
def test_chi_square_lies_within_its_enclosure(sigma: float):
    """The point is rounded, and so are the squares of its pinned residual."""
    r = infimum.fit(decaying, X, Y, bounds=BOUNDS, sigma=np.where(X == 1, sigma, 0.1))
    assert r.success and r.lower <= r.chisqr <= r.upper and r.redchi == r.chisqr / 6


def test_messages_tell_the_gap(found):
    assert found.gap < 1e-12 and f"within {np.nextafter(found.upper - found.lower, np.inf):.3g} below" in found.message


def test_bounds_with_no_double_between_them_are_in_order():
    third = Fraction(1, 3)
    r = infimum.fit(decaying, X, Y, bounds=[(third, third + Fraction(1, 10**18)), (0, 3)])
    low, high = r.params["a"].bounds
    assert low < third < high == np.nextafter(low, 1) and "a is not determined" not in str(r) and "x[0]" not in str(r)


@pytest.mark.parametrize("limit", ["a", -1, 0, float("nan"), True])
def test_limits_are_numbers(found, limit):
    for ask in (found.find_minimisers, found.minimum.find_minimisers, found.confidence,
                functools.partial(infimum.fit, decaying, X, Y, bounds=BOUNDS),
                functools.partial(infimum.fit, decaying, X, Y, bounds=BOUNDS, bounded_error=0.2)):
        with pytest.raises(OptionError, match="time_limit must be a positive number"):
            ask(time_limit=limit)


def test_a_stopped_fit_gives_advice_about_its_parameters():
    r = infimum.fit(lambda x, a, b: np.exp(-a * x) + np.exp(-b * x), X, Y, bounds=(0, 3), max_boxes=3, rtol=1e-15, atol=0.0)
    text = " ".join(str(r).split())
    assert r.verdict.name == "STOPPED" and "% of the sum of squares at the best point); 3 boxes were enclosed" in text
    assert "a and b are exchanged: if so, symmetric=[('a',), ('b',)] leaves out" in text and "x[0]" not in text
    again = infimum.fit(lambda x, a, b: np.exp(-a * x) + np.exp(-b * x), X, Y, bounds=(0, 3), symmetric=[("a",), ("b",)])
    assert again.success and r.to_dict()["advice"] == r.advice and again.advice is None


@pytest.mark.parametrize("call", [
    lambda: infimum.fit(two_faced, X, Y, bounds=BOUNDS), lambda: infimum.curve_fit(two_faced, X, Y, bounds=([0, 0], [10, 3])),
    lambda: infimum.fit(functools.partial(two_faced), X, Y, bounds=BOUNDS, sigma=np.where(X == 0, 1e-12, 1)),
    lambda: infimum.fit(two_faced, X, Y, bounds=BOUNDS, bounded_error=0.2)])
def test_an_agreement_error_names_the_model(call):
    with pytest.raises(AgreementError) as raised:
        call()
    told, line = str(raised.value), two_faced.__code__.co_firstlineno
    assert f"with the model {__file__}:{line}, in `two_faced`" in told and "The model looks at its arguments" in told
    assert "problem.py" not in told and "engine=" not in told


@pytest.mark.parametrize("prepared", [False, True])
def test_ctrl_c_in_the_second_search_keeps_the_first(prepared, monkeypatch, ctrl_c_heard):
    """A tolerance that is large for the loss makes fit search twice."""
    monkeypatch.setattr(Interrupts, "_last", -np.inf)
    calls, own, compared = [], search.minimize, prepared_run.Comparison

    def pressed(*args):
        if len(calls) == 2 and prepared:
            signal.raise_signal(signal.SIGINT)
        return compared(*args)
    monkeypatch.setattr(prepared_run, "Comparison", pressed)

    def minimize(*args, **settings):
        calls.append(settings["time_limit"])
        if len(calls) == 2 and not prepared:
            signal.raise_signal(signal.SIGINT)
        return own(*args, **settings)
    monkeypatch.setattr(search, "minimize", minimize)
    monkeypatch.setattr(search, "absolute_tolerance", lambda *_: 10.0)
    monkeypatch.setattr("infimum.fitting.entry.absolute_tolerance", lambda *_: 10.0)
    r = infimum.fit(decaying, X, Y, bounds=BOUNDS, time_limit=100.0)
    assert len(calls) == 2 and calls[1] < calls[0] <= 100 and r.verdict.name == "STOPPED" and r.message.startswith("interrupted")
    assert r.upper < 10 and np.isfinite(r.x).all()
