"""MAiNGO, SCIP and Gurobi on constrained problems: the expressions that we trace, built again from each peer's own.

A peer gets every problem with the bounds, to the same relative gap, with its usual tolerance of feasibility (1e-6: no peer has
exact equations), one thread, and some seconds. Meant for a process of its own, which may crash.
"""

import importlib
import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.provers import Claim, _finite
from infimum.expr.constraints import read_constraints
from infimum.expr.node import Expr, topological
from infimum.expr.ops import Kind
from infimum.expr.trace import trace
from infimum.problems import constrained

LARGE = 1e20


def scalars(roots: list[Expr], x: list, m: SimpleNamespace) -> list[np.ndarray]:
    """The roots, built from the scalars x by the operations of m, as arrays of objects."""
    found: dict[Expr, np.ndarray] = {}
    for node in topological(roots):
        args = [found[a] for a in node.args]
        if node.op == "var":
            value = np.array([*x, None], object)[:-1].reshape(node.shape)
        elif node.op == "const":
            value = ((node.lo + node.hi) / 2).astype(object)
        elif node.kind is Kind.MAP:
            value = _each(_OPERATIONS[node.op](m, dict(node.params)), args, node.shape)
        elif node.kind is Kind.REDUCE:
            value = _reduced(node, args[0])
        else:
            value = _viewed(node, args)
        found[node] = np.asarray(value, object).reshape(node.shape)
    return [found[root] for root in roots]


def _each(call: Callable, args: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    out = np.empty(math.prod(shape), object)
    for k, row in enumerate(zip(*(a.reshape(-1) for a in args), strict=True)):
        out[k] = call(*row)
    return out


def _reduced(node: Expr, a: np.ndarray) -> np.ndarray:
    call = {"sum": lambda p, q: p + q, "prod": lambda p, q: p * q}[node.op]
    rest = [i for i in range(a.ndim) if i not in node["axes"]]
    rows = a.transpose([*rest, *node["axes"]]).reshape(math.prod(node.shape), -1)
    out = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        total = row[0]
        for v in row[1:]:
            total = call(total, v)
        out[k] = total
    return out


def _viewed(node: Expr, args: list[np.ndarray]) -> np.ndarray:
    a = args[0]
    match node.op:
        case "reshape":
            return a.reshape(node.shape)
        case "transpose":
            return a.transpose(node["perm"])
        case "broadcast":
            return np.broadcast_to(a, node.shape)
        case "slice":
            at = np.ix_(*(s + t * np.arange(c) for s, t, c in zip(node["starts"], node["steps"], node["counts"], strict=True)))
            return a[at]
        case "gather":
            return a[node["index"].array]
        case "concat":
            return np.concatenate([p.reshape(-1) for p in args])
    raise NotImplementedError(f"no peer gets {node.op}")


def _power(m: SimpleNamespace, v: Any, k: float) -> Any:
    return m.power(v, k) if isinstance(k, (int, float)) else m.exp(k * m.log(v))


_OPERATIONS: dict[str, Callable] = {
    "add": lambda m, p: lambda a, b: a + b, "sub": lambda m, p: lambda a, b: a - b, "mul": lambda m, p: lambda a, b: a * b,
    "div": lambda m, p: m.divide, "neg": lambda m, p: lambda a: -a, "powi": lambda m, p: lambda a: m.power(a, p["k"]),
    "pow": lambda m, p: lambda a, b: _power(m, a, b),
    **{name: (lambda m, p, name=name: getattr(m, name)) for name in ("exp", "log", "sqrt", "sin", "cos", "abs", "tanh")},
    "xlogx": lambda m, p: lambda a: a * m.log(a),
}


def _divide(a: Any, b: Any) -> Any:
    return a / b


# ---- the peers

def maingo(p: Any, system: Any, limit: float, rtol: float) -> Claim:
    """Default settings."""
    import maingopy as mp

    def power(v: Any, k: float) -> Any:
        return 1 / v ** -k if k < 0 else v**k
    m = SimpleNamespace(exp=mp.exp, log=mp.log, sqrt=mp.sqrt, sin=mp.sin, cos=mp.cos, abs=mp.fabs, tanh=mp.tanh, power=power,
                        divide=_divide)

    class Model(mp.MAiNGOmodel):
        def __init__(self) -> None:
            mp.MAiNGOmodel.__init__(self)

        def get_variables(self) -> list:
            whole = p.integrality or (0,) * p.n
            return [mp.OptimizationVariable(mp.Bounds(a, b), mp.VT_INTEGER if w else mp.VT_CONTINUOUS)
                    for (a, b), w in zip(p.bounds, whole, strict=True)]

        def evaluate(self, x: Any) -> Any:
            f, *bodies = scalars([system.f, *system.bodies], list(x), m)
            result, rows = mp.EvaluationContainer(), [v for body in bodies for v in body.reshape(-1)]
            result.objective = f.item()
            result.eq = [v - c for v, c, e in zip(rows, system.lower.tolist(), system.equal, strict=True) if e]
            result.ineq = [v - u for v, u, e in zip(rows, system.upper.tolist(), system.equal, strict=True)
                           if not e and u < math.inf]
            result.ineq += [low - v for v, low, e in zip(rows, system.lower.tolist(), system.equal, strict=True)
                            if not e and low > -math.inf]
            return result
    model = Model()
    solver = mp.MAiNGO(model)
    for name, value in (("epsilonA", 1e-9), ("epsilonR", rtol), ("maxTime", limit), ("writeResultFile", False),
                        ("loggingDestination", mp.LOGGING_NONE)):
        if not solver.set_option(name, value):
            raise RuntimeError(f"MAiNGO has no option {name} = {value}")
    status = solver.solve()
    found = status in (mp.GLOBALLY_OPTIMAL, mp.FEASIBLE_POINT)
    return Claim(status in (mp.GLOBALLY_OPTIMAL, mp.INFEASIBLE), _finite(solver.get_final_LBD(), -math.inf),
                 solver.get_objective_value() if found else math.inf, list(solver.get_solution_point()) if found else None,
                 status.name)


def scip(p: Any, system: Any, limit: float, rtol: float) -> Claim:
    """Default settings; one thread is its default."""
    import pyscipopt as ps

    model = ps.Model()
    model.hideOutput()
    for name, value in (("limits/time", limit), ("limits/gap", rtol)):
        model.setParam(name, value)
    m = SimpleNamespace(exp=ps.exp, log=ps.log, sqrt=ps.sqrt, sin=ps.sin, cos=ps.cos, abs=abs, power=lambda v, k: v**k,
                        divide=_divide, tanh=lambda v: 1 - 2 / (ps.exp(2 * v) + 1))
    whole = p.integrality or (0,) * p.n
    x = [model.addVar(lb=a, ub=b, vtype="I" if w else "C") for (a, b), w in zip(p.bounds, whole, strict=True)]
    f, *bodies = scalars([system.f, *system.bodies], x, m)
    t = model.addVar(lb=None)
    model.addCons(t >= f.item())
    for v, low, high in zip([v for body in bodies for v in body.reshape(-1)], system.lower.tolist(), system.upper.tolist(),
                            strict=True):
        if low == high:
            model.addCons(v == low)
        else:
            for wanted in ([v >= low] if low > -math.inf else []) + ([v <= high] if high < math.inf else []):
                model.addCons(wanted)
    model.setObjective(t)
    model.optimize()
    found = model.getNSols() > 0
    return Claim(model.getStatus() in ("optimal", "gaplimit", "infeasible"), _finite(model.getDualbound(), -math.inf),
                 _finite(model.getPrimalbound(), math.inf), [model.getVal(v) for v in x] if found else None, model.getStatus())


def gurobi(p: Any, system: Any, limit: float, rtol: float) -> Claim:
    """Default settings, one thread; nonlinear constraints are taken as what they are."""
    import gurobipy
    from gurobipy import GRB, nlfunc

    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        for name, value in (("Threads", 1), ("MIPGap", rtol), ("MIPGapAbs", 1e-9), ("TimeLimit", limit), ("NonConvex", 2)):
            model.setParam(name, value)

        def named(e: Any) -> Any:
            v = model.addVar(lb=-GRB.INFINITY)
            model.addConstr(v == e)
            return v
        m = SimpleNamespace(exp=nlfunc.exp, log=nlfunc.log, sqrt=nlfunc.sqrt, sin=nlfunc.sin, cos=nlfunc.cos, tanh=nlfunc.tanh,
                            power=lambda v, k: v**k if k > 0 else 1 / v**-k, divide=lambda a, b: a / b,
                            abs=lambda v: nlfunc.sqrt(v * v))
        whole = p.integrality or (0,) * p.n
        x = [model.addVar(lb=a, ub=b, vtype=GRB.INTEGER if w else GRB.CONTINUOUS)
             for (a, b), w in zip(p.bounds, whole, strict=True)]
        f, *bodies = scalars([system.f, *system.bodies], x, m)
        value = f.item()
        model.setObjective(value if isinstance(value, (gurobipy.Var, gurobipy.LinExpr, gurobipy.QuadExpr, float))
                           else named(value))
        for v, low, high in zip([v for body in bodies for v in body.reshape(-1)], system.lower.tolist(), system.upper.tolist(),
                                strict=True):
            plain = isinstance(v, (gurobipy.Var, gurobipy.LinExpr, gurobipy.QuadExpr))
            body = v if plain else named(v)
            if low == high:
                model.addConstr(body == low)
            else:
                if low > -math.inf:
                    model.addConstr(body >= low)
                if high < math.inf:
                    model.addConstr(body <= high)
        model.optimize()
        found = model.SolCount > 0
        status = next((k for k in dir(GRB.Status) if getattr(GRB.Status, k) == model.Status), str(model.Status))
        return Claim(model.Status in (GRB.OPTIMAL, GRB.INFEASIBLE, GRB.INF_OR_UNBD), _finite(model.ObjBound, -math.inf),
                     model.ObjVal if found else math.inf, [v.X for v in x] if found else None, status)


PEERS = {"MAiNGO": maingo, "SCIP": scip, "Gurobi": gurobi}
MODULES = {"MAiNGO": "maingopy", "SCIP": "pyscipopt", "Gurobi": "gurobipy"}


def peer(name: str, problem: str, limit: float, rtol: float) -> dict[str, Any]:
    """One peer on one problem of the gallery: the seconds from an empty model to the claim, the library imported before."""
    importlib.import_module(MODULES[name])
    p = constrained.get(problem)
    system = read_constraints(p.constraints, p.n).system(trace(p.fun, p.n))
    start = time.perf_counter()
    claim = PEERS[name](p, system, limit, rtol)
    seconds = time.perf_counter() - start
    known = p.minimum
    wrong = claim.solved and (p.infeasible != (claim.x is None) or (
        known is not None and abs(claim.upper - known.lo) > 2 * rtol * max(1.0, abs(known.lo)) + 1e-5))
    return {"seconds": seconds, "solved": claim.solved, "lower": claim.lower, "upper": claim.upper, "status": claim.status,
            "wrong": bool(wrong)}
