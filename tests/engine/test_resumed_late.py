"""A run that is resumed without time for anything gives back what its checkpoint holds."""

import numpy as np
import pytest

import infimum

PRODUCT = {"constraints": lambda x: x[0] * x[1] >= 1}


def hills(x):
    return np.sum(x**2) + np.sin(5 * x[0] * x[1]) + np.sum(np.cos(x))


@pytest.mark.parametrize("asked", [{}, {"max_boxes": 300, "xtol": 1e-9}, PRODUCT, PRODUCT | {"max_boxes": 300, "xtol": 1e-12},
                                   {"engine": "newton", "max_boxes": 300}, {"engine": "complete", "max_boxes": 20_000},
                                   {"engine": "subdomain", "max_boxes": 300, "xtol": 1e-9}])
@pytest.mark.parametrize("maximise", [False, True])
def test_nothing_that_is_proved_is_lost(asked, maximise, tmp_path):
    path = str(tmp_path / "run.inf")
    begun = (infimum.maximize if maximise else infimum.minimize)(hills, [(-3, 4)] * 2, checkpoint=path, **asked)
    again = infimum.resume(path, hills, time_limit=1e-9, **{k: v for k, v in asked.items() if k == "constraints"})
    assert again.lower >= begun.lower and again.upper <= begun.upper and again.x is not None  # a step may have been made
    assert begun.verdict.name == "STOPPED" or again.verdict is begun.verdict
