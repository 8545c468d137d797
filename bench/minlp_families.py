"""Random small MINLPs of eleven families: which are solved by infimum, by SCIP, by both, and who contradicts whom.

    python bench/minlp_families.py [--draws 5] [--seed 0] [--families NAME ...] [--limit 20] [--feasibility 0] [--no-scip]

A model is written once, as functions of variables that both solvers call. Each is solved once in a new process, which may use
`--limit` seconds of processor time. Solved means that upper - lower is at most `--gap` times max(1, |upper|), or that there is no
feasible point. Exit status 1: claims that contradict each other by more than the tolerances of SCIP.
"""

import argparse
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
os.environ["INFIMUM_CACHE"] = "off"
from bench.process import answer  # noqa: E402
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402

INF = math.inf
PATIENCE = 6.0     # times the limit: on a busy machine a process has a part of a core
TOLERANCE = 1e-5   # of claims that are compared, relative to max(1, |value|)
Function = Callable[[Any, Any], Any]  # of the variables and of a module with exp, log, sqrt, sin


@dataclass
class Model:
    """Minimise `objective` under lower <= row <= upper; whole[i]: is variable i whole?"""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    objective: Function | None = None
    rows: list[tuple[Function, float, float]] = field(default_factory=list)

    def new(self, count: int, low: float, high: float, whole: int = 0) -> range:
        """That many new variables."""
        self.low += [low] * count
        self.high += [high] * count
        self.whole += [whole] * count
        return range(len(self.low) - count, len(self.low))

    def row(self, function: Function, low: float = -INF, high: float = INF) -> None:
        self.rows.append((function, low, high))


def _numbers(r: Any, size: Any, low: float, high: float, digits: int = 2) -> Any:
    return np.round(r.uniform(low, high, size), digits).tolist()


def separable(r: Any) -> Model:
    """Sums of powers, roots, exponentials and logarithms of single variables, half of them whole, as in cvxnonsep_*."""
    m, n = Model(), int(r.integers(5, 21))
    m.new(n // 2, 1, 10, 1), m.new(n - n // 2, 1, 10)
    kind, a, c = int(r.integers(4)), _numbers(r, n, 0.2, 2), _numbers(r, n, 0.5, 3)
    p = _numbers(r, n, 1.1, 3)

    def sign(v: Any, i: int, f: Any) -> Any:
        return (a[i] * v[i] ** p[i], a[i] * f.exp(0.3 * v[i]), -a[i] * f.log(v[i]), -a[i] * f.sqrt(v[i]))[kind]
    values = {0: lambda i: a[i] * 4 ** p[i], 1: lambda i: a[i] * math.exp(1.2), 2: lambda i: -a[i] * math.log(4),
              3: lambda i: -2 * a[i]}
    m.row(lambda v, f: sum(sign(v, i, f) for i in range(n)), high=round(sum(values[kind](i) for i in range(n)), 1))
    down = -1 if kind < 2 else 1
    m.objective = lambda v, f: sum(down * c[i] * v[i] + 0.1 * (v[i] - 3) ** 2 for i in range(n))
    return m


def joint(r: Any) -> Model:
    """Convex functions of all variables together, half of them whole: norms, logarithms of sums of exponentials, squares by
    linear functions."""
    m, n = Model(), int(r.integers(4, 13))
    m.new(n // 2, 0, 10, 1), m.new(n - n // 2, 0, 10)
    a, c, kind = _numbers(r, n, 0.2, 2), _numbers(r, n, 0.5, 3), int(r.integers(3))
    if kind == 0:
        m.row(lambda v, f: f.sqrt(sum(a[i] * v[i] ** 2 for i in range(n)) + 1), high=12.0)
    elif kind == 1:
        m.row(lambda v, f: f.log(sum(f.exp(a[i] * v[i]) for i in range(n))), high=8.0)
    else:
        m.row(lambda v, f: sum((v[i] - a[i]) ** 2 for i in range(n - 1)) / (1 + v[n - 1]), high=6.0)
    m.objective = lambda v, f: -sum(c[i] * v[i] for i in range(n))
    return m


def layout(r: Any) -> Model:
    """Rectangles in a strip that must not overlap: big M for four sides, areas as h w >= a."""
    m, n, width = Model(), int(r.integers(2, 5)), 10.0
    x, y, w, h = m.new(n, 0, width), m.new(n, 0, 12), m.new(n, 1, 5), m.new(n, 1, 5)
    top, area = m.new(1, 0, 12)[0], _numbers(r, n, 3, 10, 0)
    for i in range(n):
        m.row(lambda v, f, i=i: v[w[i]] * v[h[i]], area[i])
        m.row(lambda v, f, i=i: v[x[i]] + v[w[i]] - width, high=0)
        m.row(lambda v, f, i=i: v[y[i]] + v[h[i]] - v[top], high=0)
    for i in range(n):
        for j in range(i):
            z = m.new(4, 0, 1, 1)
            m.row(lambda v, f, z=z: sum(v[k] for k in z), 1, 1)
            m.row(lambda v, f, i=i, j=j, k=z[0]: v[x[i]] + v[w[i]] - v[x[j]] - 20 * (1 - v[k]), high=0)
            m.row(lambda v, f, i=i, j=j, k=z[1]: v[x[j]] + v[w[j]] - v[x[i]] - 20 * (1 - v[k]), high=0)
            m.row(lambda v, f, i=i, j=j, k=z[2]: v[y[i]] + v[h[i]] - v[y[j]] - 24 * (1 - v[k]), high=0)
            m.row(lambda v, f, i=i, j=j, k=z[3]: v[y[j]] + v[h[j]] - v[y[i]] - 24 * (1 - v[k]), high=0)
    cost = _numbers(r, n, 0.1, 1)
    m.objective = lambda v, f: v[top] + sum(cost[i] * (v[x[i]] + v[w[i]]) for i in range(n))
    return m


def ball(r: Any) -> Model:
    """Binary points in a shifted ball that may be empty of them."""
    m, n = Model(), int(r.integers(8, 25))
    m.new(n, 0, 1, 1)
    c, centre = _numbers(r, n, -1, 1), _numbers(r, n, 0.3, 0.7)
    nearest = sum(min(t, 1 - t) ** 2 for t in centre)
    radius = round(nearest + float(r.uniform(-0.1, 0.8)), 2)
    m.row(lambda v, f: sum((v[i] - centre[i]) ** 2 for i in range(n)), high=radius)
    m.objective = lambda v, f: sum(c[i] * v[i] for i in range(n))
    return m


def synthesis(r: Any) -> Model:
    """Units with fixed costs that turn flows into flows, as in synthes1-3: log and exp rows, switched by big M."""
    m, n, most = Model(), int(r.integers(3, 9)), 4.0
    flow, made, on = m.new(n, 0, most), m.new(n, 0, most), m.new(n, 0, 1, 1)
    a, price, fixed, cost = _numbers(r, n, 0.8, 2.5), _numbers(r, n, 2, 9), _numbers(r, n, 1, 6), _numbers(r, n, 0.3, 2)
    for i in range(n):
        if i % 2:
            m.row(lambda v, f, i=i: f.exp(v[made[i]] / a[i]) - 1 - v[flow[i]] - 20 * (1 - v[on[i]]), high=0)
        else:
            m.row(lambda v, f, i=i: v[made[i]] - a[i] * f.log(1 + v[flow[i]]) - most * (1 - v[on[i]]), high=0)
        m.row(lambda v, f, i=i: v[made[i]] - most * v[on[i]], high=0)
    total = round(most * n * 0.3, 1)
    m.row(lambda v, f: sum(v[i] for i in flow), high=total)
    m.row(lambda v, f: sum(v[i] for i in on), high=max(1, n // 2))
    m.row(lambda v, f: v[on[0]] + v[on[1]], high=1)
    m.objective = lambda v, f: sum(fixed[i] * v[on[i]] + cost[i] * v[flow[i]] ** 2 / 4 - price[i] * v[made[i]] for i in range(n))
    return m


def polynomial(r: Any) -> Model:
    """2 to 8 whole variables in [0, 200], quadratic or quartic, as in nvs*."""
    m, n = Model(), int(r.integers(2, 9))
    m.new(n, 0, 200, 1)
    half = r.integers(-3, 4, (n, n))
    q, c = (half @ half.T + np.eye(n)).tolist(), r.integers(-300, 100, n).tolist()
    quartic = int(r.integers(2))
    m.objective = lambda v, f: sum(q[i][j] * v[i] * v[j] for i in range(n) for j in range(n)) + sum(
        c[i] * v[i] + quartic * 0.01 * (v[i] - 7) ** 4 for i in range(n))
    for _ in range(int(r.integers(1, 4))):
        a, b = r.integers(-3, 6, n).tolist(), r.integers(-9, 9, n).tolist()
        m.row(lambda v, f, a=a, b=b: sum(a[i] * v[i] ** 2 + b[i] * v[i] for i in range(n))
              + sum(v[i] * v[i + 1] for i in range(n - 1)), high=int(r.integers(200, 4000)))
    return m


def _risk(r: Any, n: int) -> list[list[float]]:
    half = r.normal(0, 0.1, (n, n + 3))
    return np.round(half @ half.T, 4).tolist()


def portfolio(r: Any) -> Model:
    """At most 3 of up to 12 assets: the least risk for a given return, as a dense convex quadratic objective."""
    m, n = Model(), int(r.integers(6, 13))
    share, chosen = m.new(n, 0, 1), m.new(n, 0, 1, 1)
    risk, gain = _risk(r, n), _numbers(r, n, 0, 0.3)
    m.row(lambda v, f: sum(v[i] for i in share), 1, 1)
    m.row(lambda v, f: sum(v[i] for i in chosen), high=3)
    m.row(lambda v, f: sum(gain[i] * v[share[i]] for i in range(n)), sorted(gain)[n // 2])
    for i in range(n):
        m.row(lambda v, f, i=i: v[share[i]] - v[chosen[i]], high=0)
    m.objective = lambda v, f: 100 * sum(risk[i][j] * v[share[i]] * v[share[j]] for i in range(n) for j in range(n))
    return m


def lots(r: Any) -> Model:
    """Whole lots under a budget, with the least risk for a given return, as in smallinv*: a dense convex quadratic row."""
    m, n = Model(), int(r.integers(6, 16))
    m.new(n, 0, 20, 1)
    risk, gain, price = _risk(r, n), _numbers(r, n, 0.5, 3), _numbers(r, n, 1, 9)
    m.row(lambda v, f: sum(risk[i][j] * v[i] * v[j] for i in range(n) for j in range(n)), high=round(0.3 * n, 2))
    m.row(lambda v, f: sum(price[i] * v[i] for i in range(n)), high=12.0 * n)
    m.objective = lambda v, f: -sum(gain[i] * v[i] for i in range(n))
    return m


def pooling(r: Any) -> Model:
    """Sources of one quality into pools, pools to customers: bilinear balances, connections with fixed costs."""
    m, s, p, k = Model(), int(r.integers(2, 4)), int(r.integers(1, 3)), int(r.integers(1, 3))
    inflow = [m.new(p, 0, 10) for _ in range(s)]
    out, quality, on = [m.new(k, 0, 10) for _ in range(p)], m.new(p, 0, 4), m.new(p, 0, 1, 1)
    of, price, worth, worst = _numbers(r, s, 0.5, 4), _numbers(r, s, 3, 9), _numbers(r, k, 9, 15), _numbers(r, k, 1, 3)
    for j in range(p):
        m.row(lambda v, f, j=j: sum(v[inflow[i][j]] for i in range(s)) - sum(v[o] for o in out[j]), 0, 0)
        m.row(lambda v, f, j=j: sum(of[i] * v[inflow[i][j]] for i in range(s)) - v[quality[j]] * sum(v[o] for o in out[j]), 0, 0)
        m.row(lambda v, f, j=j: sum(v[inflow[i][j]] for i in range(s)) - 10 * v[on[j]], high=0)
    for c in range(k):
        m.row(lambda v, f, c=c: sum(v[quality[j]] * v[out[j][c]] for j in range(p)) - worst[c] * sum(
            v[out[j][c]] for j in range(p)), high=0)
        m.row(lambda v, f, c=c: sum(v[out[j][c]] for j in range(p)), high=8)
    m.objective = lambda v, f: sum(price[i] * v[inflow[i][j]] for i in range(s) for j in range(p)) - sum(
        worth[c] * v[out[j][c]] for j in range(p) for c in range(k)) + sum(3 * v[o] for o in on)
    return m


def pumps(r: Any) -> Model:
    """Pumps in parallel and in series that share a flow, as in ex1252: cubic powers and products with whole numbers."""
    m, n = Model(), int(r.integers(1, 4))
    share, speed, flow = m.new(n, 0, 1), m.new(n, 0.1, 1), m.new(n, 0, 80)
    parallel, series, on = m.new(n, 0, 3, 1), m.new(n, 0, 3, 1), m.new(n, 0, 1, 1)
    a, fixed = _numbers(r, n, 300, 700), _numbers(r, n, 1, 6)
    m.row(lambda v, f: sum(v[i] for i in share), 1, 1)
    for i in range(n):
        m.row(lambda v, f, i=i: v[flow[i]] * v[parallel[i]] - 120 * v[share[i]], 0)
        m.row(lambda v, f, i=i: (a[i] * v[speed[i]] ** 2 + 0.7 * v[speed[i]] * v[flow[i]] - 0.05 * v[flow[i]] ** 2)
              * v[series[i]] - 400 * v[on[i]], 0)
        m.row(lambda v, f, i=i: v[share[i]] - v[on[i]], high=0)
        m.row(lambda v, f, i=i: v[parallel[i]] - 3 * v[on[i]], high=0)
    m.objective = lambda v, f: sum((fixed[i] + 3 * v[speed[i]] ** 3 + 0.02 * v[speed[i]] ** 2 * v[flow[i]])
                                   * v[parallel[i]] * v[series[i]] for i in range(n))
    return m


def dispatch(r: Any) -> Model:
    """Power plants with valve points, whose outputs have a given sum."""
    m, n = Model(), int(r.integers(3, 8))
    low, width = _numbers(r, n, 20, 100, 0), _numbers(r, n, 80, 400, 0)
    for i in range(n):
        m.new(1, low[i], low[i] + width[i])
    a, b, d, e = (_numbers(r, n, *ends, 5) for ends in ((1e-3, 8e-3), (5, 10), (50, 200), (0.02, 0.08)))
    demand = round(sum(low) + float(r.uniform(0.3, 0.7)) * sum(width))
    m.row(lambda v, f: sum(v[i] for i in range(n)), demand, demand)
    m.objective = lambda v, f: sum(a[i] * v[i] ** 2 + b[i] * v[i] + abs(d[i] * f.sin(e[i] * (low[i] - v[i]))) for i in range(n))
    return m


FAMILIES = {f.__name__: f for f in (separable, layout, ball, synthesis, polynomial, portfolio, lots, pooling, pumps, dispatch,
                                    joint)}


def drawn(family: str, number: int, seed: int) -> Model:
    """The same model for the same numbers."""
    return FAMILIES[family](np.random.default_rng([seed, number, list(FAMILIES).index(family)]))


def by_infimum(model: Model, limit: float, gap: float, feasibility: float, there: Any) -> None:
    """In this process."""
    import infimum

    def holds(row: Function, low: float, high: float) -> Callable:
        if low == high:
            return lambda v: row(v, np) == low
        return (lambda v: row(v, np) >= low) if low > -INF else (lambda v: row(v, np) <= high)
    begin = time.process_time()
    r = infimum.minimize(lambda v: model.objective(v, np), list(zip(model.low, model.high, strict=True)), atol=gap, rtol=gap,
                         constraints=[holds(*row) for row in model.rows], integrality=model.whole, feasibility=feasibility,
                         time_limit=PATIENCE * limit, threads=1, progress=False, device="cpu",
                         callback=lambda at: time.process_time() - begin > limit)
    there.send({"verdict": r.verdict.name, "lower": float(r.lower), "upper": float(r.upper), "boxes": r.nfev, "lp": r.lp,
                "seconds": time.process_time() - begin})


def by_scip(model: Model, limit: float, gap: float, feasibility: float, there: Any) -> None:
    """In this process; its tolerances of feasibility are its own."""
    import pyscipopt

    begin = time.process_time()
    m = pyscipopt.Model()
    m.hideOutput()
    v = [m.addVar(lb=low, ub=high, vtype="I" if whole else "C")
         for low, high, whole in zip(model.low, model.high, model.whole, strict=True)]
    for row, low, high in model.rows:
        body = row(v, pyscipopt)
        m.addCons(body == low if low == high else body >= low if low > -INF else body <= high)
    value = m.addVar(lb=None, ub=None)
    m.addCons(model.objective(v, pyscipopt) <= value)
    m.setObjective(value)
    m.setParams({"limits/time": limit, "timing/clocktype": 1, "limits/gap": gap})
    m.optimize()
    status, infinite = m.getStatus(), m.infinity()
    lower, upper = m.getDualbound(), m.getPrimalbound()
    there.send({"verdict": "INFEASIBLE" if status == "infeasible" else status, "lower": -INF if lower <= -infinite else lower,
                "upper": INF if upper >= infinite else upper, "boxes": m.getNTotalNodes(),
                "seconds": time.process_time() - begin})


def solved_in_child(call: Callable, model: Model, asked: Any) -> dict[str, Any]:
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=call,
                                                        args=(model, asked.limit, asked.gap, asked.feasibility, there))
    child.start()
    there.close()
    nothing = {"verdict": "HUNG", "lower": -INF, "upper": INF, "boxes": 0, "seconds": asked.limit}
    row = answer(child, here, 2 * PATIENCE * asked.limit, nothing)
    row["solved"] = row["verdict"] == "INFEASIBLE" or (
        row["upper"] < INF and row["upper"] - row["lower"] <= asked.gap * max(1.0, abs(row["upper"])))
    return row


def contradiction(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Intervals that have no number in common, or a point where the other says that there is none."""
    for one, other in ((ours, theirs), (theirs, ours)):
        if one["verdict"] == "INFEASIBLE" and other["upper"] < INF:
            return "infeasible, but a point was found"
        if one["lower"] > other["upper"] + TOLERANCE * max(1.0, abs(other["upper"])):
            return f"{one['lower']:.9g} > {other['upper']:.9g}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5, help="models of each family")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of processor time for each model")
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--feasibility", type=float, default=0.0, help="as the argument of minimize; SCIP keeps its own")
    parser.add_argument("--no-scip", action="store_true", help="infimum alone")
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for family in asked.families:
        for number in range(asked.first, asked.first + asked.draws):
            model = drawn(family, number, asked.seed)
            found = {"infimum": solved_in_child(by_infimum, model, asked)}
            if not asked.no_scip:
                found["scip"] = solved_in_child(by_scip, model, asked)
            against = contradiction(*found.values()) if len(found) > 1 else None
            rows.append({"family": family, "number": number, "variables": len(model.low), "contradiction": against, **found})
            print(f"  {family:<10} {number:3} n={len(model.low):3} rows={len(model.rows):3} " + "  ".join(
                f"{name} {'solved' if r['solved'] else 'open':<6} {r['seconds']:6.2f} s [{r['lower']:.7g}, {r['upper']:.7g}]"
                for name, r in found.items()) + (f"  CONTRADICTION {against}" if against else ""), flush=True)
    tell(rows)
    write_json(asked.json, this_machine(), models=rows)
    return exit_code()


def tell(rows: list[dict[str, Any]]) -> None:
    """The table."""
    head(f"{len(rows)} models")
    for family in dict.fromkeys(row["family"] for row in rows):
        mine = [row for row in rows if row["family"] == family]
        report(f"{family}: solved by infimum", sum(row["infimum"]["solved"] for row in mine), "models", note=f"of {len(mine)}" + (
            "" if "scip" not in mine[0] else f"; SCIP {sum(row['scip']['solved'] for row in mine)}, both "
            f"{sum(row['scip']['solved'] and row['infimum']['solved'] for row in mine)}"))
    wrong = sum(row["contradiction"] is not None for row in rows)
    report("claims that contradict each other", wrong, "models", "0", wrong == 0)


if __name__ == "__main__":
    sys.exit(main())
