"""Properties of networks: proved, refuted at a point, or left open."""

import numpy as np
import pytest

import infimum
from infimum.errors import InfimumError, OptionError, ShapeError
from infimum.networks import Outcome, error, largest, robust, smallest

RNG = np.random.default_rng(3)
CLASSES = infimum.network([RNG.normal(size=(2, 6)), RNG.normal(size=6), RNG.normal(size=(6, 3)), RNG.normal(size=3)],
                          activations="relu")
ONE = infimum.network([np.array([[1.0, -1.0]]), np.zeros(2), np.array([[1.0], [0.5]]), np.zeros(1)], activations="tanh")
BOX = [(-1, 1), (-1, 1)]


def samples(box, count=2000):
    lo, hi = np.array(box).T
    return RNG.uniform(lo, hi, size=(count, len(lo)))


@pytest.mark.parametrize("maximise", [True, False])
def test_bounds_of_an_output(maximise):
    values = [CLASSES(x)[1] for x in samples(BOX)]
    found = infimum.verify(CLASSES, BOX, (largest if maximise else smallest)(1))
    assert found.verdict is Outcome.BOUNDED and found.upper - found.lower < 1e-5 and "BOUNDED" in repr(found)
    assert max(values) <= found.upper if maximise else found.lower <= min(values)


def test_limits():
    top = infimum.maximize(ONE, [(-1, 1)]).upper
    assert infimum.verify(ONE, [(-1, 1)], largest(limit=top + 1e-3)).holds
    found = infimum.verify(ONE, [(-1, 1)], largest(limit=top - 1e-3))
    assert found.verdict is Outcome.VIOLATED and ONE(found.counterexample) > top - 1e-3
    assert infimum.verify(ONE, [(-1, 1)], smallest(limit=-top - 1e-3)).holds
    assert infimum.verify(ONE, [(-1, 1)], smallest(limit=0.0)).verdict is Outcome.VIOLATED


def test_a_decision_ends_the_run():
    at_once = infimum.verify(CLASSES, BOX, largest(0, limit=100.0))
    assert at_once.holds and at_once.checks[0].result is None and "0 evaluations" in repr(at_once)
    whole = infimum.maximize(lambda x: CLASSES(x)[0], BOX)
    assert infimum.verify(CLASSES, BOX, largest(0, limit=whole.lower - 0.5)).checks[0].result.nfev < whole.nfev


@pytest.mark.parametrize("seed", range(6))
def test_robustness_against_samples(seed):
    x0 = np.random.default_rng(seed).uniform(-1, 1, size=2)
    label = int(np.argmax(CLASSES(x0)))
    for radius in (0.01, 0.3):
        found = infimum.verify(CLASSES, None, robust(x0, radius))
        assert found.verdict in (Outcome.HOLDS, Outcome.VIOLATED)
        if found.holds:
            near = samples(np.stack([x0 - radius, x0 + radius], axis=1))
            assert all(np.argmax(CLASSES(x)) == label for x in near) and found.upper < 0
        else:
            x = found.counterexample
            assert (np.abs(x - x0) <= radius).all() and (np.delete(CLASSES(x), label) >= CLASSES(x)[label] - 1e-12).any()
            assert "x  " in repr(found) and "VIOLATED" in repr(found) and found.to_dict()["counterexample"] == x.tolist()


def test_a_tie_is_a_violation_of_robustness():
    same = infimum.network([np.ones((1, 2)), np.zeros(2)], activations=[None])
    assert infimum.verify(same, [(-1, 1)], robust([0.5], 0.1, label=0)).verdict is Outcome.VIOLATED


def test_robustness_within_bounds():
    step = infimum.network([np.array([[1.0, -1.0]]), np.zeros(2)], activations=[None])
    assert infimum.verify(step, None, robust([0.1], 0.2)).verdict is Outcome.VIOLATED
    assert infimum.verify(step, [(0.05, 1)], robust([0.1], 0.2)).holds


def test_the_error_of_a_surrogate():
    def original(x):
        return np.tanh(x[0]) * 0.5

    differences = [abs(ONE(x) - original(x)) for x in samples([(-2, 2)])]
    found = infimum.verify(ONE, [(-2, 2)], error(original))
    assert found.verdict is Outcome.BOUNDED and max(differences) <= found.upper <= max(differences) + 1e-2
    ok = infimum.verify(ONE, [(-2, 2)], error(original, limit=1e-5))
    assert ok.holds and len(ok.checks) == 2
    off = infimum.verify(ONE, [(-2, 2)], error(lambda x: np.tanh(x[0]), limit=0.4))
    assert off.verdict is Outcome.VIOLATED and abs(ONE(off.counterexample) - np.tanh(off.counterexample[0])) > 0.4


def test_limits_of_a_run():
    found = infimum.verify(CLASSES, BOX, largest(0, limit=infimum.maximize(lambda x: CLASSES(x)[0], BOX).upper - 1e-12),
                           max_boxes=1)
    assert found.verdict in (Outcome.UNKNOWN, Outcome.VIOLATED)
    seen = []
    infimum.verify(CLASSES, BOX, largest(0, limit=50.0), callback=lambda s: seen.append(s.upper))
    stopped = infimum.verify(CLASSES, BOX, robust([0.0, 0.0], 0.5), time_limit=1e-9)
    assert stopped.verdict in (Outcome.UNKNOWN, Outcome.VIOLATED)


@pytest.mark.parametrize("net, bounds, asked, kind, said", [
    (ONE, None, largest(), OptionError, "bounds are missing"), (ONE, BOX, largest(), ShapeError, "bounds of 2 inputs"),
    (ONE, [(-1, 1)], largest(1), OptionError, "one of the 1 outputs"),
    (ONE, [(-1, 1)], "missing.vnnlib", InfimumError, "missing"),
    (ONE, [(-1, 1)], 0, OptionError, "and this network has one"), (ONE, None, robust([0.0], 1), OptionError, "has one"),
    (CLASSES, None, robust([0.0], 1), ShapeError, "x0 has 1"), (CLASSES, None, robust([0.0, 0.0], -1), OptionError, "negative"),
    (CLASSES, None, robust([0.0, 0.0], 1, label=3), OptionError, "label must be one of the 3"),
    (CLASSES, [(5, 6), (5, 6)], robust([0.0, 0.0], 1), OptionError, "no point in common"),
    (ONE, [(-1, 1)], largest(limit=float("nan")), OptionError, "limit must be"),
    (ONE, [(-1, 1)], error(3), OptionError, "takes the function"), ([1, 2], None, largest(), InfimumError, "not as a list"),
])
def test_bad_questions(net, bounds, asked, kind, said):
    with pytest.raises(kind, match=said):
        infimum.verify(net, bounds, asked)


def test_unknown_arguments():
    with pytest.raises(OptionError, match="no argument 'x0'"):
        infimum.verify(ONE, [(-1, 1)], largest(), x0=[0.0])
