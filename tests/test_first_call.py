"""Modules that are imported when used: each kind of problem is solved in a process that has loaded nothing before, and loads few.
"""

import os
import sys
from pathlib import Path

import pytest

from tests import children

CASES = {
    "operators": "minimize(lambda x: x[0] ** 2 + 3 * x[1] - abs(x[0] * x[1]), [(-1, 2)] * 2)",
    "methods": "minimize(lambda x: (x ** 2).sum() + x.reshape(2, 1).max() + x @ x, [(-1, 2)] * 2)",
    "a method that rounds": "minimize(lambda x: x.round().sum() + x[0] ** 2, [(-1, 2)] * 2)",
    "sine and cosine": "minimize(lambda x: np.sin(3 * x[0]) * np.cos(x[0]), [(-1, 2)])",
    "a high power": "minimize(lambda x: x[0] ** 40 - x[0], [(-1, 2)])",
    "a real power": "minimize(lambda x: x[0] ** x[1], [(0.5, 2), (-1, 1)])",
    "a choice": "minimize(lambda x: np.where(x[0] > 0, x[0], -2 * x[0]), [(-1, 2)])",
    "interpolation": "minimize(lambda x: np.interp(x[0], [0, 1, 2], [3, 1, 2]), [(0, 2)])",
    "linear algebra": "minimize(lambda x: np.linalg.det(np.outer(x, x) + np.eye(2)), [(-1, 2)] * 2)",
    "an assignment": "minimize(assigned, [(-1, 2)] * 2)",
    "a fraction": "minimize(lambda x: x[0] * Fraction(1, 3) + x[0] ** 2, [(Fraction(-1, 3), 2)])",
    "a fixed variable": "minimize(lambda x: x[0] ** x[1], [(0.5, 2), (3, 3)])",
    "constraints": "minimize(lambda x: x[0] + x[1], [(-2, 2)] * 2, constraints=lambda x: x[0] ** 2 + x[1] ** 2 <= 1)",
    "an equation": "minimize(lambda x: x[0] + x[1], [(-2, 2)] * 2, constraints=lambda x: x[0] * x[1] == 1)",
    "whole numbers": "minimize(lambda x: (x[0] - 1.6) ** 2 + x[1], [(-3, 3), (0, 1)], integrality=[1, 0])",
    "a quadratic form": "minimize(lambda x: x[0] * x[1] - x[0] ** 2, [(-1, 2)] * 2, constraints=lambda x: x[0] + x[1] <= 1)",
    "a maximum": "maximize(lambda x: -x[0] ** 2 + x[0], [(-1, 2)])",
    "start boxes": "minimize(lambda x: x[0] ** 2, [(-1, 2)], start_boxes=[[(0.5, 1)], [(-1, -0.25)]])",
    "newton": "minimize(lambda x: x[0] ** 2 - x[0], [(-1, 2)], engine='newton')",
    "complete": "minimize(lambda x: x[0] ** 2 - x[0], [(-1, 2)], engine='complete')",
    "subdomain": "minimize(lambda x: x[0] ** 2 - x[0], [(-1, 2)], engine='subdomain', atol=1e-3)",
    "a summary": "minimize(lambda x: x[0] ** 2 - x[0], [(-1, 2)]).to_json() and infimum.minimize(lambda x: x[0], [(-1, 2)])",
}
PROGRAM = """
import os, sys
from fractions import Fraction
import llvmlite.binding
import llvmlite.ir
import numpy as np
import infimum

def assigned(x):
    y = np.zeros(2)
    y[0] = x[0] ** 2
    y[1] = x[1]
    return y.sum()

for name, call in {cases!r}.items():
    child = os.fork()
    if not child:
        result = eval("infimum." + call)
        os._exit(0 if result.verdict.name == "PROVED" else 3)
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sep=": ", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_the_first_call_of_a_process_finds_the_modules_that_it_needs():
    done = children.run(sys.executable, "-c", PROGRAM.format(cases=CASES))
    assert done.stdout.splitlines() == [f"{name}: 0" for name in CASES], done.stdout + done.stderr


# How many modules of the package a first call loads at most. A change that needs more of them says why.
MODEL = Path(__file__).parent / "ampl" / "models" / "six_hump_camel.nl"
LOADED = {
    "two constraints": (195, "minimize(lambda x: x[0] * np.exp(x[1]) + x[1] ** 2, [(-1, 2)] * 2, device='cpu', constraints=["
                             "lambda x: x[0] ** 2 + x[1] ** 2 <= 1, lambda x: x[0] + x[1] >= 0.5])"),
    "no constraints": (248, "minimize(lambda x: x[0] * np.exp(x[1]) + x[1] ** 2, [(-1, 2)] * 2, device='cpu')"),
    "a model file": (268, f"ampl.model_run.solve(infimum.ampl.read({str(MODEL)!r}), "
                          "settings={'progress': False, 'device': 'cpu'})"),
}
COUNT = """
import sys
import numpy as np
import infimum
if "ampl" in {call!r}:
    import infimum.ampl.model_run
infimum.{call}
print(sum(name.partition(".")[0] == "infimum" for name in sys.modules))
"""


@pytest.mark.always
@pytest.mark.parametrize("name", LOADED)
def test_a_first_call_loads_few_modules(name):
    most, call = LOADED[name]
    done = children.run(sys.executable, "-c", COUNT.format(call=call))
    assert int(done.stdout) <= most, done.stderr
