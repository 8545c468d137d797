"""Random small MINLPs of twenty families, written once for all solvers: see `bench/minlp_families.py`."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

INF = math.inf
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


def numbers(r: Any, size: Any, low: float, high: float, digits: int = 2) -> Any:
    return np.round(r.uniform(low, high, size), digits).tolist()


def separable(r: Any) -> Model:
    """Sums of powers, roots, exponentials and logarithms of single variables, half of them whole, as in cvxnonsep_*."""
    m, n = Model(), int(r.integers(5, 21))
    m.new(n // 2, 1, 10, 1), m.new(n - n // 2, 1, 10)
    kind, a, c = int(r.integers(4)), numbers(r, n, 0.2, 2), numbers(r, n, 0.5, 3)
    p = numbers(r, n, 1.1, 3)

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
    a, c, kind = numbers(r, n, 0.2, 2), numbers(r, n, 0.5, 3), int(r.integers(3))
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
    top, area = m.new(1, 0, 12)[0], numbers(r, n, 3, 10, 0)
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
    cost = numbers(r, n, 0.1, 1)
    m.objective = lambda v, f: v[top] + sum(cost[i] * (v[x[i]] + v[w[i]]) for i in range(n))
    return m


def ball(r: Any) -> Model:
    """Binary points in a shifted ball that may be empty of them."""
    m, n = Model(), int(r.integers(8, 25))
    m.new(n, 0, 1, 1)
    c, centre = numbers(r, n, -1, 1), numbers(r, n, 0.3, 0.7)
    nearest = sum(min(t, 1 - t) ** 2 for t in centre)
    radius = round(nearest + float(r.uniform(-0.1, 0.8)), 2)
    m.row(lambda v, f: sum((v[i] - centre[i]) ** 2 for i in range(n)), high=radius)
    m.objective = lambda v, f: sum(c[i] * v[i] for i in range(n))
    return m


def synthesis(r: Any) -> Model:
    """Units with fixed costs that turn flows into flows, as in synthes1-3: log and exp rows, switched by big M."""
    m, n, most = Model(), int(r.integers(3, 9)), 4.0
    flow, made, on = m.new(n, 0, most), m.new(n, 0, most), m.new(n, 0, 1, 1)
    a, price, fixed, cost = numbers(r, n, 0.8, 2.5), numbers(r, n, 2, 9), numbers(r, n, 1, 6), numbers(r, n, 0.3, 2)
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
    risk, gain = _risk(r, n), numbers(r, n, 0, 0.3)
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
    risk, gain, price = _risk(r, n), numbers(r, n, 0.5, 3), numbers(r, n, 1, 9)
    m.row(lambda v, f: sum(risk[i][j] * v[i] * v[j] for i in range(n) for j in range(n)), high=round(0.3 * n, 2))
    m.row(lambda v, f: sum(price[i] * v[i] for i in range(n)), high=12.0 * n)
    m.objective = lambda v, f: -sum(gain[i] * v[i] for i in range(n))
    return m


def pooling(r: Any) -> Model:
    """Sources of one quality into pools, pools to customers: bilinear balances, connections with fixed costs."""
    m, s, p, k = Model(), int(r.integers(2, 4)), int(r.integers(1, 3)), int(r.integers(1, 3))
    inflow = [m.new(p, 0, 10) for _ in range(s)]
    out, quality, on = [m.new(k, 0, 10) for _ in range(p)], m.new(p, 0, 4), m.new(p, 0, 1, 1)
    of, price, worth, worst = numbers(r, s, 0.5, 4), numbers(r, s, 3, 9), numbers(r, k, 9, 15), numbers(r, k, 1, 3)
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
    a, fixed = numbers(r, n, 300, 700), numbers(r, n, 1, 6)
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
    low, width = numbers(r, n, 20, 100, 0), numbers(r, n, 80, 400, 0)
    for i in range(n):
        m.new(1, low[i], low[i] + width[i])
    a, b, d, e = (numbers(r, n, *ends, 5) for ends in ((1e-3, 8e-3), (5, 10), (50, 200), (0.02, 0.08)))
    demand = round(sum(low) + float(r.uniform(0.3, 0.7)) * sum(width))
    m.row(lambda v, f: sum(v[i] for i in range(n)), demand, demand)
    m.objective = lambda v, f: sum(a[i] * v[i] ** 2 + b[i] * v[i] + abs(d[i] * f.sin(e[i] * (low[i] - v[i]))) for i in range(n))
    return m


def trim(r: Any) -> Model:
    """Patterns by which rolls are cut, and how often each is used, as in tln*: products of whole numbers."""
    m, kinds, patterns = Model(), int(r.integers(2, 5)), int(r.integers(2, 5))
    width, order = numbers(r, kinds, 300, 700, 0), r.integers(4, 20, kinds).tolist()
    used, cut = m.new(patterns, 0, 16, 1), [m.new(kinds, 0, 5, 1) for _ in range(patterns)]
    on = m.new(patterns, 0, 1, 1)
    for p in range(patterns):
        m.row(lambda v, f, p=p: sum(width[i] * v[cut[p][i]] for i in range(kinds)), high=2200)
        m.row(lambda v, f, p=p: sum(v[k] for k in cut[p]), high=5)
        m.row(lambda v, f, p=p: v[used[p]] - 16 * v[on[p]], high=0)
    for i in range(kinds):
        m.row(lambda v, f, i=i: sum(v[used[p]] * v[cut[p][i]] for p in range(patterns)), order[i])
    m.objective = lambda v, f: sum(v[used[p]] + (0.1 + 0.1 * p) * v[on[p]] for p in range(patterns))
    return m


def stock(r: Any) -> Model:
    """What to make in each period, with fixed costs and costs that rise as a root: lot sizing."""
    m, n = Model(), int(r.integers(4, 11))
    demand, fixed, unit = numbers(r, n, 2, 20, 0), numbers(r, n, 10, 40), numbers(r, n, 1, 4)
    made, kept, on = m.new(n, 0, 30), m.new(n + 1, 0, 60), m.new(n, 0, 1, 1)
    m.row(lambda v, f: v[kept[0]], 0, 0)
    for t in range(n):
        m.row(lambda v, f, t=t: v[kept[t]] + v[made[t]] - v[kept[t + 1]], demand[t], demand[t])
        m.row(lambda v, f, t=t: v[made[t]] - 30 * v[on[t]], high=0)
    m.objective = lambda v, f: sum(fixed[t] * v[on[t]] + unit[t] * f.sqrt(v[made[t]] + 1) + v[kept[t + 1]] / 2 for t in range(n))
    return m


def network(r: Any) -> Model:
    """Capacities in whole modules on the edges of a network, and flows whose cost rises with congestion."""
    m, plants, sites = Model(), int(r.integers(2, 4)), int(r.integers(2, 5))
    most, want = numbers(r, plants, 20, 50, 0), numbers(r, sites, 4, 14, 0)
    flow, module = [m.new(sites, 0, 20) for _ in range(plants)], [m.new(sites, 0, 4, 1) for _ in range(plants)]
    price, cost = r.integers(5, 30, (plants, sites)).tolist(), np.round(r.uniform(0.1, 2, (plants, sites)), 2).tolist()
    edges = [(i, j) for i in range(plants) for j in range(sites)]
    for i in range(plants):
        m.row(lambda v, f, i=i: sum(v[k] for k in flow[i]), high=most[i])
    for j in range(sites):
        m.row(lambda v, f, j=j: sum(v[flow[i][j]] for i in range(plants)), want[j], want[j])
    for i, j in edges:
        m.row(lambda v, f, i=i, j=j: v[flow[i][j]] - 6 * v[module[i][j]], high=0)
    m.objective = lambda v, f: sum(price[i][j] * v[module[i][j]] + cost[i][j] * v[flow[i][j]] ** 2 / 5 for i, j in edges)
    return m


def knapsack(r: Any) -> Model:
    """Several budgets, and gains of pairs of what is chosen: a quadratic function that is not concave."""
    m, n = Model(), int(r.integers(8, 21))
    m.new(n, 0, 1, 1)
    gain, pairs = r.integers(1, 30, n).tolist(), [(i, j, int(r.integers(-15, 25))) for i in range(n) for j in range(i)
                                                  if r.uniform() < 0.3]
    for _ in range(int(r.integers(1, 4))):
        weight = r.integers(3, 40, n).tolist()
        m.row(lambda v, f, w=weight: sum(w[i] * v[i] for i in range(n)), high=sum(weight) // 3)
    m.objective = lambda v, f: -sum(gain[i] * v[i] for i in range(n)) - sum(g * v[i] * v[j] for i, j, g in pairs)
    return m


def assignment(r: Any) -> Model:
    """Which facility at which site, with flows times distances: quadratic assignment."""
    m, n = Model(), int(r.integers(3, 6))
    at, flow, way = [m.new(n, 0, 1, 1) for _ in range(n)], r.integers(0, 9, (n, n)).tolist(), r.integers(1, 20, (n, n)).tolist()
    for i in range(n):
        m.row(lambda v, f, i=i: sum(v[k] for k in at[i]), 1, 1)
        m.row(lambda v, f, i=i: sum(v[at[k][i]] for k in range(n)), 1, 1)
    pairs = [(i, k) for i in range(n) for k in range(n) if i != k]
    m.objective = lambda v, f: sum(flow[i][k] * way[j][h] * v[at[i][j]] * v[at[k][h]] for i, k in pairs for j, h in pairs)
    return m


def graph(r: Any) -> Model:
    """The largest cut of a sparse graph with weights, whose vertices are divided into parts of about the same size."""
    m, n = Model(), int(r.integers(10, 41))
    m.new(n, 0, 1, 1)
    edges = [(i, (i + d) % n, int(r.integers(-9, 10))) for i in range(n) for d in (1, 2, 5) if r.uniform() < 0.7]
    if r.uniform() < 0.5:
        m.row(lambda v, f: sum(v[i] for i in range(n)), n // 2 - 1, n // 2 - 1)
    m.objective = lambda v, f: -sum(w * (v[i] + v[j] - 2 * v[i] * v[j]) for i, j, w in edges)
    return m


def batch(r: Any) -> Model:
    """Batch plants: units in parallel, sizes and times, as geometric terms with whole numbers."""
    m, stages, products = Model(), int(r.integers(2, 5)), int(r.integers(1, 4))
    size, units, lot = m.new(stages, 250, 2500), m.new(stages, 1, 4, 1), m.new(products, 50, 1200)
    need, order = np.round(r.uniform(1, 5, (products, stages)), 1).tolist(), numbers(r, products, 50, 250, 0)
    time, cost = np.round(r.uniform(1, 9, (products, stages)), 1).tolist(), numbers(r, stages, 150, 500, 0)
    cycle = m.new(products, 0.5, 20)
    for i in range(products):
        for j in range(stages):
            m.row(lambda v, f, i=i, j=j: v[size[j]] - need[i][j] * v[lot[i]], 0)
            m.row(lambda v, f, i=i, j=j: v[cycle[i]] * v[units[j]], time[i][j])
    m.row(lambda v, f: sum(1000 * order[i] * v[cycle[i]] / v[lot[i]] for i in range(products)), high=6000.0)
    m.objective = lambda v, f: sum(cost[j] * v[units[j]] * v[size[j]] ** 0.6 for j in range(stages))
    return m


def circles(r: Any) -> Model:
    """Circles of given radii in the narrowest strip."""
    m, n = Model(), int(r.integers(2, 5))
    radius = numbers(r, n, 0.4, 1.2)
    x, y, end = m.new(n, 0, 9), m.new(n, 0, 2.6), m.new(1, 0, 10)[0]
    for i in range(n):
        m.row(lambda v, f, i=i: v[x[i]], radius[i])
        m.row(lambda v, f, i=i: v[y[i]], radius[i])
        m.row(lambda v, f, i=i: v[y[i]] + radius[i], high=2.6)
        m.row(lambda v, f, i=i: v[x[i]] + radius[i] - v[end], high=0)
        for j in range(i):
            apart = round((radius[i] + radius[j]) ** 2, 4)
            m.row(lambda v, f, i=i, j=j: (v[x[i]] - v[x[j]]) ** 2 + (v[y[i]] - v[y[j]]) ** 2, apart)
    m.objective = lambda v, f: v[end]
    return m


def quadratic(r: Any) -> Model:
    """A quadratic function that is not convex, on a box with some linear constraints."""
    m, n = Model(), int(r.integers(5, 21))
    m.new(n, 0, 1)
    q, c = np.triu(r.integers(-50, 51, (n, n)) * (r.uniform(size=(n, n)) < 0.5)).tolist(), r.integers(-50, 51, n).tolist()
    for _ in range(int(r.integers(0, 4))):
        a = r.integers(0, 9, n).tolist()
        m.row(lambda v, f, a=a: sum(a[i] * v[i] for i in range(n)), high=sum(a) / 3)
    m.objective = lambda v, f: sum(q[i][j] * v[i] * v[j] for i in range(n) for j in range(i, n) if q[i][j]) + sum(
        c[i] * v[i] for i in range(n))
    return m


FAMILIES = (separable, layout, ball, synthesis, polynomial, portfolio, lots, pooling, pumps, dispatch, joint, trim, stock,
            network, knapsack, assignment, graph, batch, circles, quadratic)
