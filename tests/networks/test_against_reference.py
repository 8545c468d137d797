"""Random models against onnx's reference evaluator: a network is refused by name, or it agrees. bench/network_operators.py draws
thousands."""

import numpy as np
import pytest

from infimum.networks import arrangement, integer_arithmetic, windows
from infimum.networks.operators import OPERATORS, OWN
from tests.networks.random_calls import DRAWS
from tests.networks.random_models import chain, one_operator, outcome, shape_arithmetic

onnx = pytest.importorskip("onnx")
if tuple(map(int, onnx.__version__.split(".")[:2])) < (1, 20):
    pytest.skip("older evaluators deviate from the specification in further places", allow_module_level=True)
AGREED, MOST = 3, 16  # models that must agree, of those that are drawn


def test_every_operator_is_drawn():
    assert set(DRAWS) == set(OPERATORS) - set(OWN)


@pytest.mark.parametrize("op", DRAWS)
def test_one_operator(op, tmp_path):
    rng = np.random.default_rng(list(DRAWS).index(op))
    outcomes = []
    while outcomes.count("agreed") < AGREED and len(outcomes) < MOST:
        outcomes.append(outcome(one_operator(rng, op), tmp_path, rng, enclosed=outcomes == []))
    assert outcomes.count("agreed") == AGREED and set(outcomes) <= {"agreed", "refused"}, outcomes


@pytest.mark.parametrize("draw, least", [(chain, 12), (shape_arithmetic, 24)])
def test_several_operators(draw, least, tmp_path):
    rng = np.random.default_rng(11)
    outcomes = [outcome(draw(rng), tmp_path, rng, enclosed=k % 10 == 0) for k in range(30)]
    assert outcomes.count("agreed") >= least and set(outcomes) <= {"agreed", "refused"}, outcomes


def _fewer_windows(node, size, pads, span, stride):
    room = size + sum(pads) - span
    count = (-(-room // stride) if node.get("ceil_mode", 0) else room // stride) + 1
    return count - ((count - 1) * stride >= size + pads[0]) if room >= 0 else 1


def _as_python(start, end, step, size):
    return slice(start, None if step < 0 and end < -size else end, step)


# what was wrong once: a module, a name in it, the wrong function, an operator that shows it
DEFECTS = {
    "windows": (windows, "_counts", _fewer_windows, "Conv"), "slices": (arrangement, "_span", _as_python, "Slice"),
    "integers": (integer_arithmetic, "INTEGER", {"Div": np.divide}, "Div"),
    "rounding": (integer_arithmetic, "INTEGER", {"Div": lambda a, b: a // np.where(b == 0, 1, b)}, "Div"),
    "axes": (arrangement, "several_axes", lambda axes, ndim: [a % max(ndim, 1) for a in axes], "Slice"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_what_was_wrong_once_is_found(name, tmp_path, monkeypatch):
    module, attribute, wrong, op = DEFECTS[name]
    if isinstance(wrong, dict):
        for key, function in wrong.items():
            monkeypatch.setitem(getattr(module, attribute), key, function)
    else:
        monkeypatch.setattr(module, attribute, wrong)
    rng = np.random.default_rng(1)
    with pytest.raises(AssertionError), np.errstate(all="ignore"):
        for _ in range(200):
            found = outcome(one_operator(rng, op), tmp_path, rng)
            assert not found.startswith("unconfirmed"), found
