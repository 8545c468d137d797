"""The functions of the journals in this folder, which infimum 0.2 wrote. The journals hold digests of the source text of these
functions: do not change a letter of them.

`EXAMPLES` names the call that wrote each journal; with the same call a later version continues it.
"""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import infimum

FOLDER = Path(__file__).parent


def waves(x, a=9.0):
    return math.sin(a * float(x[0])) + (0.0 if x[1] < 0.5 else float(x[1]))


def left_half(x):
    return float(x[0]) - 0.5


def scaled(x, c):
    return c * float(np.sum((np.asarray(x) - 0.3) ** 2))


def material(x):
    return {"steel": 1.0, "wood": 0.2, "glass": 2.0}[x[1]] / x[2] + (x[0] - 0.3) ** 2


def curve(y, z):
    return (y[0] - 0.3) ** 2 + (z[0] - y[0]) ** 2


def of_index(fun: Any, bounds: Any, path: str, trials: int, **more: Any) -> infimum.Result:
    return infimum.minimize(fun, bounds, engine="index", journal=path, max_trials=trials, **more)


def of_study(path: str, trials: int) -> infimum.Result:
    with infimum.study([(0, 1)] * 2, constraints=1, max_trials=trials, journal=path) as study:
        while (trial := study.ask()) is not None:
            study.tell(trial, waves(trial.x), constraints=[left_half(trial.x) - 1])
        return study.result()


SQUARE = [(0.0, 1.0)] * 2
EXAMPLES = {  # of the file's name: the call, given the path and the number of trials
    "function": lambda path, trials: of_index(waves, SQUARE, path, trials, constraints=[left_half]),
    "args": lambda path, trials: of_index(scaled, SQUARE, path, trials, args=(0.25,), batch=3),
    "partial": lambda path, trials: of_index(partial(scaled, c=0.2), SQUARE, path, trials),
    "choices": lambda path, trials: infimum.maximize(material, [(0, 1), ["steel", "wood", "glass"], (1, 4)], engine="index",
                                                     integrality=[0, 0, 1], journal=path, max_trials=trials),
    "command": lambda path, trials: of_index("expr {x0} + {x1}", [(0, 3), (2, 9)], path, trials, integrality=1),
    "asynchronous": lambda path, trials: of_index(waves, SQUARE, path, trials, options={"asynchronous": True}),
    "nested": lambda path, trials: infimum.nested(curve, [(-1, 1)], [(-5, 5)], journal=path, max_trials=trials, check=False,
                                                  inner_constraints=[lambda y, z: z[0] >= y[0]]),
    "study": of_study,
}
