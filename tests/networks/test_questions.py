"""The forms of a question: comparisons, labels, points with a radius, files; and what a network with one output returns."""

import json
import pickle

import numpy as np
import pytest

import infimum
from infimum.errors import InfimumError, OptionError, ShapeError
from infimum.networks import Outcome, largest, robust

RNG = np.random.default_rng(3)
CLASSES = infimum.network([RNG.normal(size=(2, 6)), RNG.normal(size=6), RNG.normal(size=(6, 3)), RNG.normal(size=3)],
                          activations="relu")
ONE = infimum.network([np.array([[1.0], [-2.0]]), np.array([0.5])], activations=[None])  # x0 - 2 x1 + 0.5
PLAIN = infimum.network([np.eye(2), np.zeros(2)], activations=[None])                     # x0, x1
THREE = infimum.network([np.eye(3), np.zeros(3)], activations=[None])
BOX = [(-1, 1), (-1, 1)]


# ---- comparisons
@pytest.mark.parametrize("asked, verdict", [
    (lambda y: y[0] <= 1, "HOLDS"), (lambda y: y[0] < 1, "VIOLATED"), (lambda y: y[0] >= -1, "HOLDS"),
    (lambda y: -1 < y[0], "VIOLATED"),
    (lambda y: y < 2, "HOLDS"), (lambda y: y <= np.array([1.0, 0.5]), "VIOLATED"), (lambda y: y[0] - y[1] <= 2, "HOLDS"),
    (lambda y: y[0] <= y[1] + 2, "HOLDS"), (lambda y: y[0] < y[1], "VIOLATED"), (lambda y: [y[0] <= 1, y[1] >= -1], "HOLDS"),
    (lambda y: (y[0] <= 1) & (y[1] >= -0.5), "VIOLATED"), (lambda y: np.all(y <= 1), "HOLDS"),
    (lambda y: y[0] ** 2 <= 1, "HOLDS"),
    (lambda y: np.max(y) <= 1, "HOLDS"), (lambda x, y: y[0] <= x[0], "HOLDS"), (lambda x, y: y[0] < x[1], "VIOLATED"),
    (lambda x, y: y[0] + 3 >= PLAIN(x)[1], "HOLDS"), (lambda y, c=5.0: y[0] < c, "HOLDS"),
])
def test_comparisons_of_outputs(asked, verdict):
    found = infimum.verify(PLAIN, BOX, asked)
    assert found.verdict.name == verdict
    if verdict == "VIOLATED":
        x = found.counterexample
        said = asked(x, PLAIN(x)) if asked.__code__.co_argcount == 2 and not asked.__defaults__ else asked(PLAIN(x))
        assert not np.all(said)


def test_both_sides_of_a_comparison_are_reported():
    found = infimum.verify(PLAIN, BOX, lambda y: [y[0] <= 1.5, y[1] >= -1.5])
    assert [check.text for check in found.checks] == ["y[0] <= 1.5", "y[1] >= -1.5"]
    assert found.property == "y[0] <= 1.5 and y[1] >= -1.5 everywhere"
    assert found.lower == -np.inf and found.upper == np.inf  # of two sides there is no largest
    found = infimum.verify(PLAIN, BOX, lambda y: y <= 1.5)
    assert found.lower <= 1 <= found.upper and len(found.checks) == 2 and "element 1" in found.checks[1].text


def net_of_inputs(x):
    return PLAIN(x)[0] < 2


@pytest.mark.parametrize("asked, kind, said", [
    (lambda y: y[0], OptionError, "the property returned a number: a property is a comparison"),
    (lambda y: y, OptionError, "returned an array of numbers"), (lambda y: None, OptionError, "is a `return` missing"),
    (lambda y: True, OptionError, "returned True, whatever the outputs are"),
    (lambda y: [], OptionError, "or a part of it, does not depend on the outputs"),
    (lambda y: y[:0] < 2, OptionError, "or a part of it, does not depend on the outputs"),
    (lambda y: [True], OptionError, "or a part of it, does not depend on the outputs"),
    (lambda y: 0 < y[0] < 2, InfimumError, "test_questions.py"),
    (lambda y: y[0] < 1 or y[1] < 1, InfimumError, "test_questions.py"),
    (lambda y: (y[0] < 1) | (y[1] < 1), InfimumError, "np.minimum"), (lambda y: y[0] != 1, InfimumError, "!="),
    (lambda y: np.argmax(y) == 1, OptionError, r"verify\(net, bounds, label=3\)"),
    (net_of_inputs, InfimumError, "called with the outputs y of the network, not with its inputs"),
    (lambda y: y[0] < (100 if not isinstance(y[0], float) else -100), infimum.AgreementError,
     r"the property .*test_questions\.py.*: not on their type"),
    (lambda y: y[5] < 1, InfimumError, "test_questions.py"), (PLAIN, OptionError, "a Network is no property"),
    (largest, OptionError, "the property returned a OutputProperty"),
    ("missing.vnnlib", InfimumError, "cannot be read"), (object(), OptionError, "a object is no property"),
])
def test_what_is_no_comparison(asked, kind, said):
    with pytest.raises(kind, match=said):
        infimum.verify(PLAIN, BOX, asked)


# ---- labels and points
def test_labels():
    x0 = np.array([0.2, 0.3])
    label = int(np.argmax(CLASSES(x0)))
    by_ball = infimum.verify(CLASSES, None, robust(x0, 0.05, label))
    near = np.stack([x0 - 0.05, x0 + 0.05], axis=1)
    for found in (infimum.verify(CLASSES, x0, 0.05, label=label), infimum.verify(CLASSES, x0, radius=0.05),
                  infimum.verify(CLASSES, x0.tolist(), np.float32(0.05)), infimum.verify(CLASSES, near, label=label),
                  infimum.verify(CLASSES, near, label)):
        assert found.verdict is by_ball.verdict is Outcome.HOLDS
    other = infimum.verify(CLASSES, x0, 0.05, label=(label + 1) % 3)
    assert other.verdict is Outcome.VIOLATED and np.argmax(CLASSES(other.counterexample)) != (label + 1) % 3
    assert infimum.verify(CLASSES, x0, radius=[0.01, 0.02], label=label).holds


@pytest.mark.parametrize("args, more, kind, said", [
    ((CLASSES, BOX, 0.1), {}, OptionError, "0.1 is a radius around a point x0, and bounds were given"),
    ((CLASSES, BOX), {}, OptionError, "what is to be proved is missing"),
    ((CLASSES,), {}, OptionError, "what is to be proved is missing"),
    ((CLASSES, BOX), {"label": 3}, OptionError, "one of the 3 outputs"),
    ((ONE, BOX), {"label": 0}, OptionError, "this network has one"),
    ((CLASSES, BOX, 1), {"label": 2}, OptionError, "label is given twice"),
    ((CLASSES, [0, 0], 0.1), {"radius": 2}, OptionError, "radius is given twice"),
    ((CLASSES, [0, 0]), {"eps": 0.1}, OptionError, "no argument 'eps'; write radius="),
    ((CLASSES, [0.0], 0.1), {}, ShapeError, "x0 has 1"), ((CLASSES, BOX, largest()), {"label": 1}, OptionError, "do not belong"),
    ((CLASSES, BOX, True), {}, OptionError, "a bool is no property"),
    ((CLASSES, None), {"label": 1}, OptionError, "bounds are missing"), ((CLASSES, [(0, 1), 2], 1), {}, InfimumError, "x0"),
    ((THREE, [0.1, 0.2, 0.3]), {"label": 1}, OptionError, r"a point x0 needs a radius: write verify\(net, x0, 0.1, label=1\)"),
])
def test_bad_questions(args, more, kind, said):
    with pytest.raises(kind, match=said):
        infimum.verify(*args, **more)


def test_a_file_needs_no_bounds(tmp_path):
    path = tmp_path / "p.vnnlib"
    path.write_text("(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)"
                    "(assert (and (<= X_0 1) (>= X_0 0) (<= X_1 1) (>= X_1 0)))(assert (>= Y_0 1.5))")
    for args in ((path,), (str(path),), (None, path), (infimum.networks.read_vnnlib(path),), (BOX, path)):
        assert infimum.verify(PLAIN, *args).holds
    assert infimum.verify(PLAIN, property=path).holds
    with pytest.raises(OptionError, match="do not belong"):
        infimum.verify(PLAIN, path, label=1)


# ---- one output
def test_one_output_is_a_number_and_a_vector():
    y = ONE([0.3, 0.1])
    assert y == y[0] == y[-1] == pytest.approx(0.6) and isinstance(y, float) and len(y) == 1 and list(y) == [y]
    assert y.shape == () and y[:].tolist() == [float(y)] and y[()] == y and f"{y:.1f}" == "0.6"
    assert float(y) == json.loads(json.dumps(y))
    assert np.array([y, 2.0]).tolist() == [float(y), 2.0] and type(y + 1) is np.float64 and pickle.loads(pickle.dumps(y)) == y
    with pytest.raises(IndexError):
        y[1]


@pytest.mark.parametrize("fun, least", [
    (ONE, -2.5), (lambda x: ONE(x)[0], -2.5), (lambda x: ONE(x)[-1] + ONE(x), -5.0), (lambda x: sum(ONE(x)), -2.5),
    (lambda x: np.stack([ONE(x), x[0]]).sum(), -3.5), (lambda x: np.where(ONE(x) > 0, ONE(x), 2 * ONE(x)[0]), -5.0),
    (lambda x: ONE(x)[:].sum() * len(ONE(x)), -2.5), (lambda x: ONE(x) ** 2 + np.maximum(ONE(x)[0], 0), 0.0),
])
def test_one_output_is_minimised(fun, least):
    found = infimum.minimize(fun, [(-1, 1), (0, 1)])
    assert found.success and found.fun == pytest.approx(least, abs=1e-9)


def test_one_output_as_a_constraint():
    found = infimum.minimize(lambda x: x[0], [(-1, 1), (0, 1)], constraints=[lambda x: ONE(x)[0] >= 0, lambda x: ONE(x) <= 2])
    assert found.fun == pytest.approx(-0.5, abs=1e-6)
    with pytest.raises(InfimumError, match="test_questions.py"):
        infimum.minimize(lambda x: ONE(x)[1], [(-1, 1), (0, 1)])
    for asked in (lambda y: y < 4, lambda y: y[0] < 4):
        assert infimum.verify(ONE, BOX, asked).holds


# ---- other sources
def test_models_of_keras_are_given_by_their_weights():
    class Model:
        def get_weights(self):
            return []

    with pytest.raises(InfimumError, match=r"infimum.network\(model.get_weights\(\), activations="):
        infimum.network(Model())
