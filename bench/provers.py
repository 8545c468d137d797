"""Other solvers that claim a proof, MAiNGO, SCIP and Gurobi, and the problems on which we are compared with them.

Every problem is written twice: as the NumPy function that we get, and as a formula of scalars that each peer's own expressions
build. `m.let(e)` marks where a modeller may name a part of the formula: whether it pays to give that part a variable of its own
depends on the solver, so SCIP and Gurobi run both ways and the better time counts. MAiNGO works in the space of the original
variables and names nothing.
"""

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.functions import ackley, griewank, levy, rosenbrock
from infimum import problems

TOLERANCE = 1e-4  # absolute and relative; one of them is enough, for every solver


# The problems

def peaks(x: Any) -> Any:
    """MATLAB's peaks."""
    x, y = x
    return (3 * (1 - x) ** 2 * np.exp(-x**2 - (y + 1) ** 2) - 10 * (x / 5 - x**3 - y**5) * np.exp(-x**2 - y**2)
            - np.exp(-(x + 1) ** 2 - y**2) / 3)


VOLUME = (10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78)
PRESSURE = (77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0)


def misra1a(b: Any) -> Any:
    """Least squares: NIST's Misra1a, dental research in monomolecular adsorption (1978)."""
    return np.sum((np.array(VOLUME) - b[0] * (1 - np.exp(-b[1] * np.array(PRESSURE)))) ** 2)


def _styblinski_tang(x: list, m: Any) -> Any:
    return 0.5 * sum(m.let(v**4 - 16 * v**2 + 5 * v) for v in x)


def _product(factors: list) -> Any:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


def _alpine_2(x: list, m: Any) -> Any:
    return -_product([m.let(m.sqrt(v) * m.sin(v)) for v in x])


def _peaks(x: list, m: Any) -> Any:
    x, y = x
    return (3 * (1 - x) ** 2 * m.let(m.exp(-x**2 - (y + 1) ** 2)) - 10 * m.let(x / 5 - x**3 - y**5) * m.let(m.exp(-x**2 - y**2))
            - m.exp(-(x + 1) ** 2 - y**2) / 3)


def _misra1a(b: list, m: Any) -> Any:
    return sum(m.let(y - b[0] * (1 - m.exp(-b[1] * x))) ** 2 for x, y in zip(PRESSURE, VOLUME, strict=True))


def _rosenbrock(x: list, m: Any) -> Any:
    return sum(100 * m.let(b - a**2) ** 2 + (1 - a) ** 2 for a, b in zip(x[:-1], x[1:], strict=True))


def _levy(x: list, m: Any) -> Any:
    w = [1 + (v - 1) / 4 for v in x]
    inner = sum((v - 1) ** 2 * (1 + 10 * m.let(m.sin(math.pi * v + 1)) ** 2) for v in w[:-1])
    return m.sin(math.pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + m.let(m.sin(2 * math.pi * w[-1])) ** 2)


def _ackley(x: list, m: Any) -> Any:
    distance = m.let(m.sqrt(sum(v**2 for v in x) / len(x)))
    return -20 * m.exp(-0.2 * distance) - m.exp(m.let(sum(m.cos(2 * math.pi * v) for v in x) / len(x))) + 20 + math.e


def _griewank(x: list, m: Any) -> Any:
    return 1 + sum(v**2 for v in x) / 4000 - _product([m.let(m.cos(v / math.sqrt(i))) for i, v in enumerate(x, 1)])


PLAIN = SimpleNamespace(sin=math.sin, cos=math.cos, arctan=math.atan, exp=math.exp, log=math.log, sqrt=math.sqrt, let=lambda e: e)


@dataclass(frozen=True)
class Contest:
    """A problem as we get it (`fun`) and as the peers do (`formula`)."""

    fun: Callable[[Any], Any]
    formula: Callable[[list, Any], Any]
    bounds: tuple[tuple[float, float], ...]

    def same(self) -> bool:
        """Do function and formula agree at random points?"""
        lo, hi = np.array(self.bounds).T
        points = np.random.default_rng(0).uniform(lo, hi, (5, len(lo)))
        return all(math.isclose(float(self.fun(x)), self.formula(x.tolist(), PLAIN), rel_tol=1e-9, abs_tol=1e-9) for x in points)


CONTESTS = {
    "styblinski_tang-6": Contest(problems.get("styblinski_tang", 6).fun, _styblinski_tang, ((-5, 5),) * 6),
    "styblinski_tang-7": Contest(problems.get("styblinski_tang", 7).fun, _styblinski_tang, ((-5, 5),) * 7),
    "alpine_2-6": Contest(problems.get("alpine_2", 6).fun, _alpine_2, ((3, 9),) * 6),
    "alpine_2-7": Contest(problems.get("alpine_2", 7).fun, _alpine_2, ((3, 9),) * 7),
    "peaks": Contest(peaks, _peaks, ((-3, 3),) * 2),
    "misra1a": Contest(misra1a, _misra1a, ((1, 1000), (1e-6, 0.1))),
    "rosenbrock-10": Contest(rosenbrock, _rosenbrock, ((-5, 10),) * 10),
    "rosenbrock-50": Contest(rosenbrock, _rosenbrock, ((-5, 10),) * 50),
    "levy-50": Contest(levy, _levy, ((-10, 10),) * 50),
    "ackley-50": Contest(ackley, _ackley, ((-32, 33),) * 50),
    "griewank-50": Contest(griewank, _griewank, ((-600, 610),) * 50),
}
TRIVIAL = Contest(lambda x: x[0] ** 2, lambda x, m: x[0] ** 2, ((-1.0, 2.0),))


# The peers: each solves a problem and says what it claims

@dataclass(frozen=True)
class Claim:
    """What a peer says: its bounds of the minimum (infinite where it has none), its point, and its own word for the status."""

    solved: bool
    lower: float
    upper: float
    x: list[float] | None
    status: str


def _finite(value: float, otherwise: float) -> float:
    return value if abs(value) < 1e20 else otherwise


def maingo(p: Contest, limit: float, split: bool, atol: float = TOLERANCE, rtol: float = TOLERANCE) -> Claim:
    """Default settings. What it computes is not threaded."""
    import maingopy as mp

    m = SimpleNamespace(sin=mp.sin, cos=mp.cos, arctan=mp.atan, exp=mp.exp, log=mp.log, sqrt=mp.sqrt, let=lambda e: e)

    class Model(mp.MAiNGOmodel):
        def __init__(self) -> None:
            mp.MAiNGOmodel.__init__(self)

        def get_variables(self) -> list:
            return [mp.OptimizationVariable(mp.Bounds(a, b), mp.VT_CONTINUOUS) for a, b in p.bounds]

        def evaluate(self, x: Any) -> Any:
            result = mp.EvaluationContainer()
            result.objective = p.formula(list(x), m)
            return result

    model = Model()
    solver = mp.MAiNGO(model)
    for name, value in (("epsilonA", atol), ("epsilonR", rtol), ("maxTime", limit), ("writeResultFile", False),
                        ("loggingDestination", mp.LOGGING_NONE)):
        if not solver.set_option(name, value):
            raise RuntimeError(f"MAiNGO has no option {name} = {value}")
    status = solver.solve()
    found = status in (mp.GLOBALLY_OPTIMAL, mp.FEASIBLE_POINT)
    return Claim(status == mp.GLOBALLY_OPTIMAL, _finite(solver.get_final_LBD(), -math.inf),
                 solver.get_objective_value() if found else math.inf, list(solver.get_solution_point()) if found else None,
                 status.name)


def scip(p: Contest, limit: float, split: bool) -> Claim:
    """Default settings; one thread is its default."""
    import pyscipopt as ps

    model = ps.Model()
    model.hideOutput()
    for name, value in (("limits/time", limit), ("limits/gap", TOLERANCE), ("limits/absgap", TOLERANCE)):
        model.setParam(name, value)

    def let(e: Any) -> Any:
        v = model.addVar(lb=None)
        model.addCons(v == e)
        return v
    m = SimpleNamespace(sin=ps.sin, cos=ps.cos, exp=ps.exp, sqrt=ps.sqrt, let=let if split else lambda e: e)
    x = [model.addVar(lb=a, ub=b) for a, b in p.bounds]
    t = model.addVar(lb=None)
    model.addCons(t >= p.formula(x, m))
    model.setObjective(t)
    model.optimize()
    found = model.getNSols() > 0
    return Claim(model.getStatus() in ("optimal", "gaplimit"), _finite(model.getDualbound(), -math.inf),
                 _finite(model.getPrimalbound(), math.inf), [model.getVal(v) for v in x] if found else None, model.getStatus())


@cache
def _gurobi_environment() -> Any:
    """Made once, when the library warms up: it reads the licence, the limited one that comes with the package."""
    import gurobipy
    return gurobipy.Env(params={"OutputFlag": 0})


def gurobi(p: Contest, limit: float, split: bool, atol: float = TOLERANCE, rtol: float = TOLERANCE) -> Claim:
    """Default settings, one thread; nonlinear constraints are taken as what they are, not as pieces of lines."""
    import gurobipy
    from gurobipy import GRB, nlfunc

    with gurobipy.Model(env=_gurobi_environment()) as model:
        for name, value in (("Threads", 1), ("MIPGap", rtol), ("MIPGapAbs", atol), ("TimeLimit", limit),
                            ("NonConvex", 2)):
            model.setParam(name, value)

        def let(e: Any) -> Any:
            v = model.addVar(lb=-GRB.INFINITY)
            model.addConstr(v == e)
            return v
        m = SimpleNamespace(sin=nlfunc.sin, cos=nlfunc.cos, exp=nlfunc.exp, log=nlfunc.log, sqrt=nlfunc.sqrt,
                            let=let if split else lambda e: e)
        x = [model.addVar(lb=a, ub=b) for a, b in p.bounds]
        value = p.formula(x, m)
        if isinstance(value, (gurobipy.LinExpr, gurobipy.QuadExpr)):
            model.setObjective(value)
        else:
            model.setObjective(let(value))
        model.optimize()
        found = model.SolCount > 0
        status = next((k for k in dir(GRB.Status) if getattr(GRB.Status, k) == model.Status), str(model.Status))
        return Claim(model.Status == GRB.OPTIMAL, _finite(model.ObjBound, -math.inf), model.ObjVal if found else math.inf,
                     [v.X for v in x] if found else None, status)


PEERS = {"MAiNGO": maingo, "SCIP": scip, "Gurobi": gurobi}
MODULES = {"MAiNGO": "maingopy", "SCIP": "pyscipopt", "Gurobi": "gurobipy"}
WAYS = {"MAiNGO": (False,), "SCIP": (True, False), "Gurobi": (False, True)}  # with parts named or not


def peer(name: str, problem: str, limit: float, split: bool) -> dict[str, Any]:
    """One peer on one problem: the shortest time from an empty model to the claim, the library imported and used before.

    A short run is repeated for a second: noise only adds. Meant for a process of its own, which may crash.
    """
    importlib.import_module(MODULES[name])
    solve, p = PEERS[name], CONTESTS[problem]
    solve(TRIVIAL, limit, False)
    best, spent, claim = math.inf, 0.0, None
    while spent < 1.0:
        start = time.perf_counter()
        claim = solve(p, limit, split)
        seconds = time.perf_counter() - start
        best, spent = min(best, seconds), spent + seconds
    value = float(p.fun(np.clip(np.array(claim.x), *np.array(p.bounds).T))) if claim.x is not None else math.inf
    return {"seconds": best, "solved": claim.solved, "lower": claim.lower, "upper": claim.upper, "value": value,
            "status": claim.status, "split": split}
