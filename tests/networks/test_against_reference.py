"""Random models against onnx's reference evaluator: a network is refused by name, or it agrees. bench/network_operators.py draws
thousands."""

import numpy as np
import pytest

from infimum.networks.operators import OPERATORS, OWN
from tests.networks.random_calls import DRAWS
from tests.networks.random_models import chain, one_operator, outcome, shape_arithmetic

pytest.importorskip("onnx")
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
