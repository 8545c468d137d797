"""The runs of `runs.py` that use another entrance than `minimize` with an engine that proves."""

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import infimum
from infimum.networks import error, largest, robust, smallest
from tests.evaluate.fingerprint import dyadic
from tests.nets import internals, problems
from tests.nets.problems import CONSTRAINED, DATA, TIMES, UNCONSTRAINED
from tests.nets.records import digest, of_result, plain
from tests.nets.runs import HERE, PROVING, Run, asked

MODELS = Path(__file__).parents[1] / "ampl" / "models"
COARSE = 4  # digits of numbers from searches by trials, which use LAPACK
BARE = {"descents": False, "polish": False}  # without LAPACK


def entrances() -> dict[str, Run]:
    """All of them by their names."""
    return {**_maximise(), **_feasible(), **_fits(), **_enclosures(), **_networks(), **_trials(), **_rounds(), **_resumed(),
            **_models(), **_command_line()}


def _maximise() -> dict[str, Run]:
    u, c = UNCONSTRAINED, CONSTRAINED
    rows = [("auto", u["wave"]), ("auto", c["circle"]), ("auto", c["whole"]),
            ("newton", u["wave"]), ("complete", u["bowl"]), ("subdomain", u["powers"])]
    return {f"maximize, {engine}: {p.fun.__name__}": Run(
        lambda engine=engine, p=p: infimum.maximize(p.fun, p.bounds, engine=engine, max_boxes=2000, **HERE, **p.more))
        for engine, p in rows}


def _feasible() -> dict[str, Run]:
    c = CONSTRAINED
    found = {f"feasible: {name}": Run(lambda p=c[name]: infimum.feasible(p.bounds, max_boxes=2000, **HERE, **p.more))
             for name in ("disc", "circle", "curved", "hs71", "whole", "undefined row")}
    found["feasible: nothing"] = Run(lambda: infimum.feasible([(0, 4)] * 2, lambda x: x[0] + x[1] >= 9, **HERE))
    found["feasible: stopped"] = Run(lambda: infimum.feasible(
        [(-2, 2)] * 3, lambda x: np.sin(5 * x[0] * x[1]) + np.cos(x[2] * 7) * x[0] == 2.875, max_boxes=50, **HERE))
    return found


# ---- fits
def exponential(x, a, b):
    return a * np.exp(-b * x)


def straight(x, a, b):
    return a + b * x


def saturation(x, a, b, c):
    return a * x / (b + x) + c


def _fit(model: Callable, bounds: Any, **more: Any) -> dict[str, Any]:
    r = infimum.fit(model, TIMES, DATA, bounds=bounds, max_boxes=3000, **HERE, **more)
    params = {name: [p.value, p.lo, p.hi, p.fixed, p.at_bound] for name, p in r.params.items()}
    return {**of_result(r.minimum), "params": plain(params), "least": plain(r.least), "unique": r.unique,
            "uniqueness": r.uniqueness, "minimisers": digest(r.minimisers), "fits": digest(r.fits)}


def _curve_fit() -> dict[str, Any]:
    popt, pcov = infimum.curve_fit(exponential, TIMES, DATA, bounds=([0, 0], [10, 5]))
    return {"popt": plain(popt), "pcov": plain(pcov, 3)}


def _bounded_error() -> dict[str, Any]:
    r = infimum.fit(exponential, TIMES, DATA, bounds=[(0, 10), (0, 5)], bounded_error=0.25, max_boxes=1000, principal=False)
    return {"feasible": r.feasible, "inner": len(r.inner), "outer": len(r.outer), "volume": plain(r.outer.volume),
            "boxes": digest([r.inner.lo, r.inner.hi, r.outer.lo, r.outer.hi])}


def _fits() -> dict[str, Run]:
    two = [(0, 10), (0, 5)]
    return {
        "fit: exponential": Run(lambda: _fit(exponential, two)),
        "fit: straight": Run(lambda: _fit(straight, [(-10, 10), (-10, 10)])),
        "fit: fixed": Run(lambda: _fit(saturation, {"a": (-5, 5), "b": (0.5, 8)}, fixed={"c": 1.0})),
        "fit: sigma": Run(lambda: _fit(exponential, two, sigma=TIMES, absolute_sigma=True)),
        "fit: huber": Run(lambda: _fit(exponential, two, loss="huber", f_scale=0.125)),
        "fit: bounded error": Run(_bounded_error),
        "curve_fit: exponential": Run(_curve_fit, 9),
    }


# ---- enclosures
def _compiled(p: problems.Posed) -> dict[str, Any]:
    n, constraints = len(p.bounds), p.more.get("constraints", ())
    e = infimum.compile(p.fun, n, constraints=constraints, threads=1)
    lo = dyadic(n, 20, n) * 3 - 1
    hi = lo + dyadic(n, 20, 9) / 4
    found = {"value": e.value(lo, hi), "gradient": e.gradient(lo, hi), "mean value": e.mean_value(lo, hi),
             "linear": e.linear_bounds(lo, hi), "hessian": e.hessian(lo, hi), "estimate": e.estimate(lo)}
    if constraints:
        found |= {"rows": e.rows(lo, hi), "jacobian": e.jacobian(lo, hi)}
    return {name: digest(value) for name, value in found.items()}


def _enclosures() -> dict[str, Run]:
    u = UNCONSTRAINED

    def enclosed(p: problems.Posed, form: str) -> dict[str, Any]:
        return {"interval": infimum.enclose(p.fun, p.bounds, form=form)}
    rows = [("natural", "wave"), ("mean value", "camel"), ("linear", "form"), ("best", "domains"), ("best", "kinks")]
    found = {f"enclose, {form}: {name}": Run(lambda form=form, p=u[name]: enclosed(p, form)) for form, name in rows}
    return found | {f"compile: {name}": Run(lambda p={**u, **CONSTRAINED}[name]: _compiled(p))
                    for name in ("wave", "kinks", "powers", "domains", "curved")}


# ---- networks
def _net(activation: str) -> Any:
    return infimum.network([dyadic(2, 5, 3) * 4 - 2, dyadic(1, 5, 5)[0] - 0.5, dyadic(5, 3, 7) * 4 - 2, dyadic(1, 3, 9)[0]],
                           activations=activation)


def _verified(activation: str, bounds: Any, property: Any, **more: Any) -> dict[str, Any]:
    r = infimum.verify(_net(activation), bounds, property, **more, **HERE)
    checks = [[c.text, c.outcome, c.lower, c.upper, c.x, c.note, c.result and c.result.nfev] for c in r.checks]
    return {"verdict": r.verdict, "property": r.property, "lower": r.lower, "upper": r.upper, "x": r.counterexample,
            "checks": digest(checks)}


def _networks() -> dict[str, Run]:
    box = [(-1, 1), (-1, 1)]
    return {
        "verify: largest": Run(lambda: _verified("relu", box, largest(1))),
        "verify: smallest": Run(lambda: _verified("tanh", box, smallest(0))),
        "verify: limit": Run(lambda: _verified("relu", box, largest(0, limit=1.0))),
        "verify: robust": Run(lambda: _verified("relu", None, robust([0.25, -0.5], 0.125))),
        "verify: comparison": Run(lambda: _verified("tanh", box, lambda y: y[0] < y[1] + 4)),
        "verify: error": Run(lambda: _verified("tanh", box, error(lambda x: x[0] * x[1]), max_boxes=500)),
    }


# ---- trials
def hills(x):
    return abs(x[0] - 0.3) + (x[1] - 0.6) ** 2 - 0.5 * (x[0] > 0.75)


def failing(x):
    if x[0] > 0.75:
        raise ValueError("the solver diverged")
    return float("nan") if x[1] < 0.125 else hills(x)


def _study(maximise: bool = False) -> infimum.Result:
    with infimum.study([(0, 1), (0, 3)], integrality=[0, 1], constraints=1, max_trials=20, maximise=maximise) as study:
        while (trial := study.ask()) is not None:
            if trial.number == 5:
                study.tell(trial, failure="lost")
            elif trial.x[0] > 0.875:
                study.tell(trial, constraints=[trial.x[0] - 0.875])
            else:
                study.tell(trial, hills(trial.x), constraints=[trial.x[0] - 0.875])
        return study.result()


def _by_trials(fun: Callable, bounds: Any = ((0, 1), (0, 1)), **more: Any) -> infimum.Result:
    return infimum.minimize(fun, list(bounds), engine="index", **{"max_trials": 25} | more)


def wells(y, z):
    return np.minimum((z[0] - 1) ** 2 - y[0], (z[0] + 1) ** 2 - 0.5) + 4 * (y[0] - 0.75) ** 2


def _nested(**more: Any) -> infimum.Result:
    return infimum.nested(wells, [(0.0, 1.0)], [(-2.0, 2.0)], max_trials=6, options=BARE, **HERE, **more)


def _trials() -> dict[str, Run]:
    calls = {
        "index: hills": lambda: _by_trials(hills),
        "index: bare": lambda: _by_trials(hills, options=BARE),
        "index: failures": lambda: _by_trials(failing),
        "index: constraints": lambda: _by_trials(hills, constraints=[lambda x: x[0] - 0.25, lambda x: 0.5 - x[1]]),
        "index: whole": lambda: _by_trials(hills, integrality=[0, 1], bounds=[(0, 1), (0, 4)]),
        "index: choices": lambda: _by_trials(lambda x: {"a": 1.0, "b": 0.25}[x[0]] + x[1] ** 2, [["a", "b"], (-1, 2)]),
        "index: shifted lines": lambda: _by_trials(hills, options={"curve": "shifted", "lines": 3}),
        "index: batch": lambda: _by_trials(hills, batch=4),
        "index: target": lambda: _by_trials(hills, options={"target": 0.125}),
        "index: x0": lambda: _by_trials(hills, x0=[0.25, 0.5]),
        "index: maximize": lambda: infimum.maximize(hills, [(0, 1)] * 2, engine="index", max_trials=20),
        "index: command": lambda: _by_trials("expr {x0} + {x1}", [(0, 3), (2, 9)], integrality=[1, 1], max_trials=8),
        "study": _study, "study: maximise": lambda: _study(True),
        "nested": _nested,
        "nested: maximise": lambda: _nested(maximise=True, inner_max_boxes=200),
        "nested: constraints": lambda: _nested(inner_constraints=lambda y, z: z[0] * z[0] >= y[0],
                                               constraints=[lambda y: y[0] - 0.9]),
    }
    return {name: Run(call, COARSE) for name, call in calls.items()}


# ---- rounds and resumed runs
def _rounds() -> dict[str, Run]:
    u, c = UNCONSTRAINED, CONSTRAINED
    few = {"workers": 1, "portions": 4, "batch": 32, "max_boxes": 4000}
    rows = [("auto", u["domains"]), ("newton", u["camel"]), ("complete", u["domains"]),
            ("auto", c["hs71"]), ("subdomain", c["curved"])]
    return {f"rounds, {engine}: {p.fun.__name__}": Run(lambda engine=engine, p=p: asked(p, engine, **few)) for engine, p in rows}


def _continued(engine: str, p: problems.Posed, first: int, **more: Any) -> infimum.Result:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.inf"
        asked(p, engine, max_boxes=first, checkpoint=path, **more)
        return infimum.resume(path, p.fun, constraints=p.more.get("constraints", ()), max_boxes=2000, **HERE)


def _resumed() -> dict[str, Run]:
    u, c = UNCONSTRAINED, CONSTRAINED
    found = {f"resume, {engine}: {name}": Run(lambda engine=engine, p={**u, **c}[name]: _continued(engine, p, 100))
             for engine in PROVING for name in ("domains", "curved")}
    found["resume, auto: whole"] = Run(lambda: _continued("auto", c["whole"], 10))
    found["resume, rounds: hs71"] = Run(lambda: _continued("auto", c["hs71"], 100, workers=1, portions=4, batch=32))
    return found


# ---- models and the command line
def _model(name: str, **settings: Any) -> dict[str, Any]:
    result, solution = internals.solve_model(internals.read_model(MODELS / name), 1, {"max_boxes": 3000, **HERE, **settings})
    return {**of_result(result), "told": digest([solution.code, solution.x])}


def _models() -> dict[str, Run]:
    names = ("haverly.nl", "six_hump_camel.nl", "six_hump_camel_binary.nl")
    return {f"model: {name}": Run(lambda name=name: _model(name)) for name in names} | {
        "model, newton: six_hump_camel.nl": Run(lambda: _model(names[1], engine="newton"))}


FILE = """
import numpy as np

bounds = [(-3, 3), (-2, 2)]

def camel(x):
    return (4 - 2.1 * x[0]**2 + x[0]**4 / 3) * x[0]**2 + x[0] * x[1] + (4 * x[1]**2 - 4) * x[1]**2

def ring(x):
    return [x[0]**2 + x[1]**2 >= 1, x[0] - x[1] == 0.5]

def blocks(x):
    return abs(x[0] - 0.5) + x[1] ** 2
"""


def _commanded(*words: str) -> dict[str, Any]:
    """The exit code of a command, and its JSON without times."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        path = Path(folder) / "model.py"
        path.write_text(FILE)
        code = internals.command_line([word.replace("FILE", str(path)) for word in words])
    found = json.loads(out.getvalue()) if out.getvalue().startswith("{") else {"text": out.getvalue()}
    for h in found.get("history", ()):
        h.pop("seconds", None)
    kept = {name: found.get(name) for name in ("verdict", "lower", "upper", "x", "nfev", "message", "text") if name in found}
    return {"code": code, "stderr": err.getvalue().replace(str(path), "FILE"), **plain(kept), "fields": sorted(found),
            "rest": digest({name: value for name, value in found.items() if name not in ("function", "file", "advice")})}


def _command_line() -> dict[str, Run]:
    here = "--device", "cpu", "--threads", "1", "--json"
    lines = {
        "minimize": ("minimize", "FILE:camel", *here),
        "minimize newton": ("minimize", "FILE:camel", "--engine", "newton", "--max-boxes", "60", *here),
        "minimize swarm": ("minimize", "FILE:camel", "--engine", "swarm", "--option", "particles=16", "restarts=1", *here),
        "constraints": ("minimize", "FILE:camel", "--constraints", "ring", *here),
        "maximise": ("minimize", "FILE:camel", "--maximise", "--bounds", "0,1", "-1,0.5", *here),
        "integers": ("minimize", "FILE:camel", "--integers", "0", *here),
        "start box": ("minimize", "FILE:camel", "--start-box", "-1,0", "0,1", *here),
        "gallery": ("gallery", "branin", *here),
    }
    return {f"command: {name}": Run(lambda words=words: _commanded(*words)) for name, words in lines.items()}
