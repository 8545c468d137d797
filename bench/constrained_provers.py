"""Gurobi, SCIP and MAiNGO on the problems of the constrained gallery, from the same NumPy functions.

A NumPy function is called with an array of `Formula`s, which NumPy treats as objects: they record what is done to them, and each
solver builds its own expression from the record.
"""

import importlib
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.provers import Claim, _finite, _gurobi_environment
from infimum.problems.constrained import Constrained, get

TOLERANCE = 1e-6


class Formula:
    """An operation and its arguments, which are formulas or numbers."""

    __slots__ = ("args", "op")

    def __init__(self, op: str, *args: Any) -> None:
        self.op, self.args = op, args

    def _with(self, op: str, other: Any, swapped: bool = False) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy's turn, element by element
        return Formula(op, other, self) if swapped else Formula(op, self, other)

    def __add__(self, other: Any) -> Any:
        return self if isinstance(other, (int, float)) and other == 0 else self._with("add", other)

    def __sub__(self, other: Any) -> Any:
        return self if isinstance(other, (int, float)) and other == 0 else self._with("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("sub", other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and other in (0, 1):
            return self if other == 1 else 0.0
        return self._with("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._with("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("div", other, swapped=True)

    def __pow__(self, other: Any) -> Any:
        return self._with("pow", other)

    def __rpow__(self, other: Any) -> Any:
        return Formula("exp", self * math.log(other))

    def __neg__(self) -> Any:
        return Formula("mul", self, -1.0)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> Any:
        return Formula("exp", self)

    def log(self) -> Any:
        return Formula("log", self)

    def sqrt(self) -> Any:
        return Formula("sqrt", self)

    def sin(self) -> Any:
        return Formula("sin", self)

    def cos(self) -> Any:
        return Formula("cos", self)

    def tanh(self) -> Any:
        return Formula("tanh", self)


OPERATORS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b}


def build(formula: Any, algebra: dict[str, Callable], variables: list, known: dict,
          named: Callable[[Formula, Any], Any] = lambda formula, expression: expression) -> Any:
    """The solver's expression for a formula; what occurs twice is built once, and may be `named`: replaced by a variable."""
    if not isinstance(formula, Formula):
        return float(formula)
    if formula.op == "variable":
        return variables[formula.args[0]]
    if id(formula) in known:
        return known[id(formula)]
    args = [build(arg, algebra, variables, known, named) for arg in formula.args]
    if formula.op == "pow" and isinstance(args[1], float) and args[1] in (1, 2, 3):  # products are what all of them know
        result = args[0]
        for _ in range(int(args[1]) - 1):
            result = result * args[0]
    else:
        result = {**OPERATORS, **algebra}[formula.op](*args)
    known[id(formula)] = result = named(formula, result)
    return result


def used_twice(*roots: Any) -> set[int]:
    """The ids of formulas that are arguments of several others."""
    uses, waiting, seen = Counter(), list(roots), set()
    while waiting:
        formula = waiting.pop()
        if isinstance(formula, Formula) and id(formula) not in seen:
            seen.add(id(formula))
            uses.update({id(arg) for arg in formula.args if isinstance(arg, Formula) and arg.op != "variable"})
            waiting += formula.args
    return {key for key, count in uses.items() if count > 1}


def formulas(p: Constrained) -> tuple[Any, list[tuple[float, Any, float]]]:
    """f, and each component of the constraints between its ends."""
    x = np.array([Formula("variable", i) for i in range(p.n)], dtype=object)
    sides = []
    for c in p.constraints:
        values = np.asarray(c.fun(x), dtype=object)
        lows, highs = (np.broadcast_to(np.asarray(end, dtype=float), values.shape).ravel().tolist() for end in (c.lb, c.ub))
        sides += zip(lows, values.ravel(), highs, strict=True)
    value = p.fun(x)
    return value.item() if isinstance(value, np.ndarray) else value, sides


def gurobi(p: Constrained, limit: float, rtol: float = TOLERANCE, atol: float = TOLERANCE, names: bool = False) -> Claim:
    """One thread. `names`: what occurs several times has a variable of its own, without which deep formulas have no end."""
    import gurobipy
    from gurobipy import GRB, nlfunc

    algebra = {"exp": nlfunc.exp, "log": nlfunc.log, "sqrt": nlfunc.sqrt, "sin": nlfunc.sin, "cos": nlfunc.cos,
               "tanh": nlfunc.tanh, "pow": lambda a, b: a**b}
    (value, sides), known = formulas(p), {}
    whole = p.integrality or (0,) * p.n
    with gurobipy.Model(env=_gurobi_environment()) as model:
        for name, setting in (("Threads", 1), ("MIPGap", rtol), ("MIPGapAbs", atol), ("TimeLimit", limit),
                              ("NonConvex", 2),
                              ("FeasibilityTol", 1e-8), ("OptimalityTol", 1e-8)):
            model.setParam(name, setting)
        x = [model.addVar(lb=a, ub=b, vtype=GRB.INTEGER if w else GRB.CONTINUOUS) for (a, b),
             w in zip(p.bounds, whole, strict=True)]
        polynomial = (gurobipy.LinExpr, gurobipy.QuadExpr, gurobipy.Var)
        several = used_twice(value, *(formula for _, formula, _ in sides)) if names else ()

        def named(formula: Formula, e: Any) -> Any:
            if id(formula) not in several:
                return e
            v = model.addVar(lb=-GRB.INFINITY)
            model.addConstr(v == e)
            return v
        for low, formula, high in sides:
            e = build(formula, algebra, x, known, named)
            if not isinstance(e, polynomial):
                v = model.addVar(lb=low, ub=high)
                model.addConstr(v == e)
            elif low == high:
                model.addConstr(e == low)
            else:
                for sign, end in ((1, high), (-1, -low)):
                    if math.isfinite(end):
                        model.addConstr(sign * e <= end)
        e = build(value, algebra, x, known, named)
        if not isinstance(e, polynomial):
            v = model.addVar(lb=-GRB.INFINITY)
            model.addConstr(v == e)
            e = v
        model.setObjective(e)
        model.optimize()
        found = model.SolCount > 0
        status = {GRB.OPTIMAL: "optimal", GRB.INFEASIBLE: "infeasible", GRB.TIME_LIMIT: "time"}.get(model.Status,
                                                                                                    str(model.Status))
        return Claim(model.Status == GRB.OPTIMAL, _finite(model.ObjBound, -math.inf) if status != "infeasible" else math.inf,
                     model.ObjVal if found else math.inf, [v.X for v in x] if found else None, status)


def scip(p: Constrained, limit: float, rtol: float = TOLERANCE) -> Claim:
    """Default settings but for the tolerances."""
    import pyscipopt as ps

    model = ps.Model()
    model.hideOutput()
    for name, setting in (("limits/time", limit), ("limits/gap", rtol), ("limits/absgap", TOLERANCE),
                          ("numerics/feastol", 1e-8)):
        model.setParam(name, setting)
    algebra = {"exp": ps.exp, "log": ps.log, "sqrt": ps.sqrt, "sin": ps.sin, "cos": ps.cos, "pow": lambda a, b: a**b}
    (value, sides), known = formulas(p), {}
    whole = p.integrality or (0,) * p.n
    x = [model.addVar(lb=a, ub=b, vtype="I" if w else "C") for (a, b), w in zip(p.bounds, whole, strict=True)]
    for low, formula, high in sides:
        e = build(formula, algebra, x, known)
        if low == high:
            model.addCons(e == low)
        else:
            if math.isfinite(high):
                model.addCons(e <= high)
            if math.isfinite(low):
                model.addCons(e >= low)
    t = model.addVar(lb=None)
    model.addCons(t >= build(value, algebra, x, known))
    model.setObjective(t)
    model.optimize()
    found, status = model.getNSols() > 0, model.getStatus()
    return Claim(status in ("optimal", "gaplimit"),
                 _finite(model.getDualbound(), -math.inf if status != "infeasible" else math.inf),
                 _finite(model.getPrimalbound(), math.inf), [model.getVal(v) for v in x] if found else None, status)


def maingo(p: Constrained, limit: float, rtol: float = TOLERANCE, atol: float = TOLERANCE) -> Claim:
    """Default settings but for the tolerances."""
    import maingopy as mp

    algebra = {"exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tanh": mp.tanh,
               "pow": mp.pow}
    value, sides = formulas(p)
    whole = p.integrality or (0,) * p.n

    class Model(mp.MAiNGOmodel):
        def __init__(self) -> None:
            mp.MAiNGOmodel.__init__(self)

        def get_variables(self) -> list:
            return [mp.OptimizationVariable(mp.Bounds(a, b), mp.VT_INTEGER if w else mp.VT_CONTINUOUS)
                    for (a, b), w in zip(p.bounds, whole, strict=True)]

        def evaluate(self, x: Any) -> Any:
            result, x, known = mp.EvaluationContainer(), list(x), {}
            result.objective = build(value, algebra, x, known)
            built = [(low, build(formula, algebra, x, known), high) for low, formula, high in sides]
            result.eq = [e - low for low, e, high in built if low == high]
            result.ineq = [e - high for low, e, high in built if low != high and math.isfinite(high)] + [
                low - e for low, e, high in built if low != high and math.isfinite(low)]
            return result

    model = Model()
    solver = mp.MAiNGO(model)
    for name, setting in (("epsilonA", atol), ("epsilonR", rtol), ("maxTime", limit), ("writeResultFile", False),
                          ("deltaEq", 1e-8), ("deltaIneq", 1e-8), ("loggingDestination", mp.LOGGING_NONE)):
        if not solver.set_option(name, setting):
            raise RuntimeError(f"MAiNGO has no option {name} = {setting}")
    status = solver.solve()
    found = status in (mp.GLOBALLY_OPTIMAL, mp.FEASIBLE_POINT)
    return Claim(status == mp.GLOBALLY_OPTIMAL, _finite(solver.get_final_LBD(), -math.inf) if found else -math.inf,
                 solver.get_objective_value() if found else math.inf, list(solver.get_solution_point()) if found else None,
                 status.name)


SOLVERS: dict[str, Callable[..., Claim]] = {"Gurobi": gurobi, "SCIP": scip, "MAiNGO": maingo}
MODULES = {"Gurobi": "gurobipy", "SCIP": "pyscipopt", "MAiNGO": "maingopy"}


def peer(name: str, problem: str, limit: float, rtol: float) -> dict[str, Any]:
    """One solver on one problem of the gallery: the seconds from an empty model to the claim, the library imported before. Meant
    for a process of its own, which may crash."""
    importlib.import_module(MODULES[name])
    p = get(problem)
    start = time.perf_counter()
    claim = SOLVERS[name](p, limit, rtol)
    seconds, known = time.perf_counter() - start, p.minimum
    infeasible = "infeasible" in claim.status.lower()
    wrong = infeasible != p.infeasible if claim.solved or infeasible else False
    if claim.solved and known is not None:
        wrong |= abs(claim.upper - known.lo) > 2 * rtol * max(1.0, abs(known.lo)) + 10 * TOLERANCE
    return {"seconds": seconds, "solved": claim.solved or infeasible, "lower": claim.lower, "upper": claim.upper,
            "status": claim.status, "wrong": bool(wrong)}


def processor_time(name: str, problem: str, limit: float, rtol: float, calls: int = 4) -> dict[str, Any]:
    """The least processor time of some calls of a solver on one problem of the gallery."""
    importlib.import_module(MODULES[name])
    p, times = get(problem), []
    for _ in range(calls):
        start = time.process_time()
        claim = SOLVERS[name](p, limit, rtol)
        times.append(time.process_time() - start)
    return {"seconds": min(times), "solved": claim.solved, "lower": claim.lower, "upper": claim.upper}
