"""`result.presolve`: what was done is said, and nothing else."""

import numpy as np
import pytest

from infimum import Constraint, minimize

FREE = -np.inf, np.inf
CASES = [
    ("nothing", lambda x: x[0] + x[1] ** 2, [(0, 1)] * 2, None, ()),
    ("fixed", lambda x: x[0] + x[1] ** 2, [(0, 1), (2, 2)], None, ("1 variable with equal bounds",)),
    ("no squares to complete", lambda x: x[0] + x[1], [FREE] * 2, Constraint(lambda x: np.sum(x**2), ub=1), ("4 of 4 infinite",)),
    ("squares", lambda x: x[0] ** 2 - 16 * x[0] + x[1], [FREE, (0, 1)], Constraint(lambda x: x[0] + x[1], lb=1),
     ("squares of variables", "2 of 2 infinite")),
    ("a domain", lambda x: np.log(x[0]) ** 2 + x[1] ** 2, [(-1, 2), (-1, 1)], None, ("bounds of 1 variable follow",)),
    ("another form", lambda x: x[0] ** 2 + x[0] * x[1] + x[1] ** 2, [(-4, 4)] * 2, Constraint(lambda x: x[0] + x[1], lb=1),
     ("1 function bounded in another form",)),
    ("a defined variable", lambda x: x[1], [(-2, 2), FREE], Constraint(lambda x: x[1] - x[0] ** 2, 0, 0),
     ("the minimised variable",)),
]


@pytest.mark.parametrize(("f", "bounds", "constraint", "said"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_presolve_says(f, bounds, constraint, said):
    r = minimize(f, bounds, constraints=None if constraint is None else [constraint], time_limit=20)
    assert len(r.presolve) >= len(said)
    assert all(any(sentence.startswith(begin) for sentence in r.presolve) for begin in said)
    assert sum(sentence.startswith("squares") for sentence in r.presolve) == sum(begin.startswith("squares") for begin in said)
    assert ("presolve" in str(r)) == bool(r.presolve) and (r.presolve == ()) == (said == ())
