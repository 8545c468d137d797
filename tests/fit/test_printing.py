"""Printing, copying and pickling a fit compute nothing; what is not known is asked for by name."""

import json
import pickle

import numpy as np
import pytest

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.fitting import responses
from infimum.fitting.differences import values_and_slopes

T = np.arange(1.0, 4.0)


def cooling(t, rate):
    """Thirty steps of Euler's method."""
    temperature, found = 1.0, []
    for step in range(1, 31):
        temperature = temperature - 0.1 * rate * temperature**2
        if step % 10 == 0:
            found.append(temperature)
    return np.stack(found)


@pytest.fixture(scope="module")
def simulated() -> infimum.FitResult:
    return infimum.fit(cooling, T, cooling(T, 0.9) + 0.02 * np.cos(T**2), bounds={"rate": (0.5, 1.5)}, rtol=1e-2)


@pytest.fixture(scope="module")
def small() -> infimum.FitResult:
    return infimum.fit(lambda x, a, b: a * np.exp(-b * x), T, [1.9, 1.2, 0.6], bounds=(0, 10))


@pytest.fixture(scope="module")
def stopped() -> infimum.FitResult:
    return infimum.fit(cooling, T, cooling(T, 0.9) + 0.02 * np.cos(T**2), bounds={"rate": (0.5, 1.5)}, max_boxes=1)


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are neither compiled nor run, and nothing is traced."""
    def work(*_, **__):
        raise AssertionError("work was begun")
    for name in ("prepare", "run", "__init__"):
        monkeypatch.setattr(Evaluator, name, work)
    monkeypatch.setattr(responses, "trace", work)


def forms(r: infimum.FitResult) -> list[str]:
    return [str(r), repr(r), r._repr_html_(), json.dumps(r.to_dict(), default=str), r.to_json(), r.fit_report(),
            str(pickle.loads(pickle.dumps(r)))]


def test_a_simulation_is_printed_at_once(simulated: infimum.FitResult, no_work: None):
    text, *_, again = forms(simulated)
    assert simulated.success and again == text and simulated.minimisers is None and simulated.unique is None
    assert "their number is not computed: r.find_minimisers()" in text
    p = simulated.params["rate"]
    assert p.lo <= p.value <= p.hi and 0 < p.stderr < 0.1 and simulated.to_dict()["undefined"] is None


def test_any_fit_is_printed_at_once(small: infimum.FitResult, no_work: None):
    assert "exactly one within the bounds" in forms(small)[0] and small.to_dict()["plateaus"] == {}


def test_a_run_that_was_stopped_is_printed_at_once(stopped: infimum.FitResult, no_work: None):
    assert not stopped.success and stopped.params["rate"].stderr is not None and stopped.minimisers is None
    assert "the run ended before the proof did" in forms(stopped)[0] and stopped.find_minimisers() is None


def test_minimisers_that_are_asked_for(simulated: infimum.FitResult):
    """They narrow what is known of the parameters; where time does not suffice, nothing is lost."""
    r = pickle.loads(pickle.dumps(simulated))
    assert r.find_minimisers() is None, "a pickle holds no model"
    before = simulated.params["rate"]
    short = simulated.find_minimisers(time_limit=1e-9)
    assert short.rest > 0 and "time limit" in short.why and simulated.params["rate"].lo == before.lo
    found = simulated.find_minimisers(time_limit=600)
    after = simulated.params["rate"]
    assert found.exactly_one and simulated.unique and "exactly one within the bounds, proved" in str(simulated)
    assert before.lo <= after.lo <= after.value <= after.hi <= before.hi and after.hi - after.lo < 1e-9
    assert np.isclose(after.stderr, before.stderr, rtol=1e-3) and simulated.find_minimisers() is found


def test_minimisers_of_a_result_within_a_time():
    r = infimum.minimize(lambda x: (x[0] - 1) ** 2 + np.cos(x[1]), [(-5, 5), (0, 5)])
    short = r.find_minimisers(time_limit=1e-9)
    assert not len(short) and short.rest == len(r.regions) and "time limit of 1e-09 s" in str(short)
    assert r.find_minimisers(time_limit=600).exactly_one and r.find_minimisers(time_limit=1e-9) is r.minimisers


def test_derivatives_by_differences(small: infimum.FitResult):
    """Those of models of many operations are as good as those of kernels are, as far as standard errors are concerned."""
    values, slopes = values_and_slopes(small.problem, small.problem.data.x, (3,), small.x)
    assert np.allclose(values, small.best_fit, rtol=1e-14) and np.allclose(slopes, small.responses.jacobian(small.x), rtol=1e-9)
    a = infimum.fit(lambda x, a: np.sqrt(a) * x, T, [0.1, 0.1, 0.0], bounds=[(0, 4)], max_boxes=1)
    assert np.isfinite(values_and_slopes(a.problem, a.problem.data.x, (3,), np.zeros(1))[1]).all(), "next to the domain's end"
