"""Further families of random small problems, most of them of real variables: see `bench/minlp_families.py`."""

from typing import Any

import numpy as np

from bench.small_minlps import INF, Model, numbers


def complementarity(r: Any) -> Model:
    """The leader's choice where a follower minimises a quadratic function: products that are 0, as in ex9_*."""
    m, n, rows = Model(), int(r.integers(2, 5)), int(r.integers(2, 6))
    x, y, multiplier, slack = m.new(2, 0, 10), m.new(n, 0, 20), m.new(rows, 0, 40), m.new(rows, 0, 60)
    a, b = r.integers(-3, 5, (rows, n)).tolist(), r.integers(-2, 3, (rows, 2)).tolist()
    end, q, c = r.integers(4, 20, rows).tolist(), numbers(r, n, 0.5, 2), r.integers(-9, 2, n).tolist()
    for i in range(rows):
        m.row(lambda v, f, i=i: sum(a[i][j] * v[y[j]] for j in range(n)) + sum(b[i][k] * v[x[k]] for k in range(2))
              + v[slack[i]], end[i], end[i])
        m.row(lambda v, f, i=i: v[slack[i]] * v[multiplier[i]], 0, 0)
    for j in range(n):
        m.row(lambda v, f, j=j: q[j] * v[y[j]] + c[j] + v[x[0]] + sum(a[i][j] * v[multiplier[i]] for i in range(rows)), 0, 0)
    d, e = r.integers(-5, 6, 2).tolist(), r.integers(-5, 6, n).tolist()
    m.objective = lambda v, f: sum((v[x[k]] - 3) ** 2 + d[k] * v[x[k]] for k in range(2)) + sum(e[j] * v[y[j]] for j in range(n))
    return m


def concave(r: Any) -> Model:
    """A concave quadratic function over a polytope, as in ex2_1_*."""
    m, n, rows = Model(), int(r.integers(6, 25)), int(r.integers(3, 13))
    m.new(n, 0, INF)
    q, c = numbers(r, n, 0.2, 5), numbers(r, n, 0, 12, 0)
    m.row(lambda v, f: sum(v[i] for i in range(n)), high=round(4.0 * n))
    for _ in range(rows):
        a = r.integers(-3, 9, n).tolist()
        m.row(lambda v, f, a=a: sum(a[i] * v[i] for i in range(n)), high=float(r.integers(20, 90)))
    m.objective = lambda v, f: -sum(q[i] * (v[i] - c[i]) ** 2 for i in range(n))
    return m


def equations(r: Any) -> Model:
    """A system of equations that has a solution, with the largest error as the objective, as in ex14_1_*."""
    m, n = Model(), int(r.integers(2, 7))
    x, worst = m.new(n, 0.1, 5), m.new(1, 0, INF)[0]
    at, a = numbers(r, n, 0.5, 4), np.round(r.uniform(-2, 2, (n, n)), 2).tolist()
    for i in range(n):
        kind, j, k = int(r.integers(4)), int(r.integers(n)), int(r.integers(n))

        def body(v: Any, f: Any, i: int = i, kind: int = kind, j: int = j, k: int = k) -> Any:
            linear = sum(a[i][h] * v[x[h]] for h in range(n))
            return linear + (v[x[j]] * v[x[k]], f.exp(0.5 * v[x[j]]) - v[x[k]] ** 2, f.log(v[x[j]]) * v[x[k]],
                             v[x[j]] / (1 + v[x[k]]) * v[x[i]])[kind]
        value = float(body(at, np))
        m.row(lambda v, f, b=body, t=value: b(v, f) - t - v[worst], high=0)
        m.row(lambda v, f, b=body, t=value: t - b(v, f) - v[worst], high=0)
    m.objective = lambda v, f: v[worst]
    return m


def blending(r: Any) -> Model:
    """Pooling without whole numbers: sources, pools, products and qualities, as in haverly and adhya."""
    m, s, p, k, kinds = Model(), int(r.integers(3, 6)), int(r.integers(1, 3)), int(r.integers(2, 4)), int(r.integers(1, 3))
    inflow, out, direct = [m.new(p, 0, 200) for _ in range(s)], [m.new(k, 0, 200) for _ in range(p)], m.new(k, 0, 200)
    quality = [m.new(p, 0, 5) for _ in range(kinds)]
    of, most = np.round(r.uniform(0.5, 4, (kinds, s)), 1).tolist(), np.round(r.uniform(1, 3.5, (kinds, k)), 1).tolist()
    price, gain, need = r.integers(4, 17, s).tolist(), r.integers(9, 20, k).tolist(), numbers(r, k, 50, 200, 0)
    for j in range(p):
        m.row(lambda v, f, j=j: sum(v[i[j]] for i in inflow) - sum(v[o] for o in out[j]), 0, 0)
        for h in range(kinds):
            m.row(lambda v, f, j=j, h=h: sum(of[h][i] * v[inflow[i][j]] for i in range(s))
                  - v[quality[h][j]] * sum(v[o] for o in out[j]), 0, 0)
    for c in range(k):
        m.row(lambda v, f, c=c: sum(v[out[j][c]] for j in range(p)) + v[direct[c]], high=need[c])
        for h in range(kinds):
            m.row(lambda v, f, c=c, h=h: sum((v[quality[h][j]] - most[h][c]) * v[out[j][c]] for j in range(p))
                  + (of[h][0] - most[h][c]) * v[direct[c]], high=0)
    m.objective = lambda v, f: sum(price[i] * v[inflow[i][j]] for i in range(s) for j in range(p)) - sum(
        gain[c] * v[out[j][c]] for j in range(p) for c in range(k)) + sum((price[0] - gain[c]) * v[direct[c]] for c in range(k))
    return m


def collocation(r: Any) -> Model:
    """Rates of a reaction from measured states: the implicit Euler method as equations, as in ex8_4_*."""
    m, steps, h = Model(), int(r.integers(3, 9)), 0.25
    rate, a, b = m.new(2, 0, 5), m.new(steps + 1, 0, 1.5), m.new(steps + 1, 0, 1.5)
    true, at = numbers(r, 2, 0.5, 3), [(1.0, 0.0)]
    for _ in range(steps):
        s, t = at[-1]
        at.append((s - h * true[0] * s ** 2 / 2, t + h * (true[0] * s ** 2 / 2 - true[1] * t)))
    seen = np.round(np.array(at) + r.normal(0, 0.02, (steps + 1, 2)), 3).tolist()
    m.row(lambda v, f: v[a[0]], 1, 1)
    m.row(lambda v, f: v[b[0]], 0, 0)
    for t in range(steps):
        m.row(lambda v, f, t=t: v[a[t + 1]] - v[a[t]] + h * v[rate[0]] * v[a[t + 1]] ** 2, 0, 0)
        m.row(lambda v, f, t=t: v[b[t + 1]] - v[b[t]] - h * (v[rate[0]] * v[a[t + 1]] ** 2 - v[rate[1]] * v[b[t + 1]]), 0, 0)
    m.objective = lambda v, f: sum((v[a[t]] - seen[t][0]) ** 2 + (v[b[t]] - seen[t][1]) ** 2 for t in range(1, steps + 1))
    return m


def phases(r: Any) -> Model:
    """Free energy of components in two phases, one of them not ideal, with fixed amounts, as in ex6_*."""
    m, n = Model(), int(r.integers(2, 5))
    one, two, total = m.new(n, 1e-6, 1), m.new(n, 1e-6, 1), numbers(r, n, 0.2, 0.6)
    pairs, g = np.round(r.uniform(-1, 4, (n, n)), 2).tolist(), numbers(r, n, -1, 1)
    for i in range(n):
        m.row(lambda v, f, i=i: v[one[i]] + v[two[i]], total[i], total[i])

    def energy(v: Any, f: Any, part: Any) -> Any:
        amount = sum(v[k] for k in part)
        return sum(v[k] * f.log(v[k] / amount) for k in part) + sum(
            pairs[i][j] * v[part[i]] * v[part[j]] for i in range(n) for j in range(i)) / amount
    m.objective = lambda v, f: energy(v, f, one) + energy(v, f, two) + sum(g[i] * v[one[i]] for i in range(n))
    return m


def exchangers(r: Any) -> Model:
    """Heat exchangers in a row: areas by products, temperatures by balances, as in ex3_1_1 and ex5_4_*."""
    m, n = Model(), int(r.integers(2, 6))
    area, cold, hot = m.new(n, 1, 20000), m.new(n, 10, 1000), m.new(n, 10, 1000)
    supply, power = numbers(r, n, 200, 600, 0), numbers(r, n, 50, 130, 0)
    for i in range(n):
        m.row(lambda v, f, i=i: 100 * (v[cold[i]] - (v[cold[i - 1]] if i else 100)) - power[i] * (
            supply[i] - v[hot[i]]), high=0)
        m.row(lambda v, f, i=i: 1000 * (v[cold[i]] - (v[cold[i - 1]] if i else 100))
              - v[area[i]] * (v[hot[i]] - (v[cold[i - 1]] if i else 100)), high=0)
    goal = round(100 + 0.5 * sum(power[i] * (supply[i] - 150) / 100 for i in range(n)) / n)
    m.row(lambda v, f: v[cold[n - 1]], goal)
    m.objective = lambda v, f: sum((1 + 0.3 * i) * v[area[i]] for i in range(n))
    return m


def fractions(r: Any) -> Model:
    """Sums of ratios of linear functions over a polytope."""
    m, n, terms = Model(), int(r.integers(2, 11)), int(r.integers(2, 6))
    m.new(n, 0, INF)
    top, bottom = r.integers(-5, 9, (terms, n)).tolist(), r.integers(0, 6, (terms, n)).tolist()
    m.row(lambda v, f: sum(v[i] for i in range(n)), high=10.0)
    for _ in range(3):
        a = r.integers(-2, 6, n).tolist()
        m.row(lambda v, f, a=a: sum(a[i] * v[i] for i in range(n)), high=12.0)
    m.objective = lambda v, f: sum((sum(top[t][i] * v[i] for i in range(n)) + t) / (
        sum(bottom[t][i] * v[i] for i in range(n)) + 1 + t) for t in range(terms))
    return m


def signomial(r: Any) -> Model:
    """Sums of products of powers, some of them negative, as in ex7_2_* and ex8_1_*."""
    m, n, rows = Model(), int(r.integers(3, 8)), int(r.integers(2, 6))
    m.new(n, 0.1, 10)

    def drawn(terms: int, signs: Any) -> Any:
        c, p = numbers(r, terms, 0.1, 3), (r.integers(-3, 4, (terms, n)) * (r.uniform(size=(terms, n)) < 0.5) / 2).tolist()

        def body(v: Any, f: Any) -> Any:
            total = 0.0
            for t in range(terms):
                term = signs[t % len(signs)] * c[t]
                for i in range(n):
                    term = term * v[i] ** p[t][i] if p[t][i] else term
                total = total + term
            return total
        return body
    at = numbers(r, n, 0.5, 5)
    for _ in range(rows):
        body = drawn(int(r.integers(2, 5)), (1, 1, -1))
        m.row(body, high=round(float(body(at, np)) + 0.5, 2))
    m.objective = drawn(int(r.integers(2, 5)), (1, -1))
    return m


def economy(r: Any) -> Model:
    """Prices and amounts traded between regions, with concave gains and costs of transport, no upper bounds, as in harker."""
    m, n = Model(), int(r.integers(2, 6))
    made, used, sent = m.new(n, 0, INF), m.new(n, 0, INF), [m.new(n, 0, INF) for _ in range(n)]
    cost, slope, top = numbers(r, n, 1, 9), numbers(r, n, 0.5, 3), numbers(r, n, 10, 40, 0)
    way = np.round(r.uniform(0.2, 3, (n, n)), 1).tolist()
    for i in range(n):
        m.row(lambda v, f, i=i: v[made[i]] - sum(v[k] for k in sent[i]), 0, 0)
        m.row(lambda v, f, i=i: v[used[i]] - sum(v[k[i]] for k in sent), 0, 0)
    m.objective = lambda v, f: sum(
        cost[i] * v[made[i]] + 0.1 * v[made[i]] ** 1.5 - top[i] * v[used[i]] + slope[i] * v[used[i]] ** 2
        for i in range(n)) + sum(way[i][j] * v[sent[i][j]] + 0.05 * v[sent[i][j]] ** 3 for i in range(n) for j in range(n))
    return m


def control(r: Any) -> Model:
    """A nonlinear system that is steered in a few steps: states without bounds, squares as costs."""
    m, steps = Model(), int(r.integers(3, 9))
    x, y, u = m.new(steps + 1, -INF, INF), m.new(steps + 1, -INF, INF), m.new(steps, -1, 1)
    a, b = numbers(r, 2, 0.2, 1)
    m.row(lambda v, f: v[x[0]], 1, 1)
    m.row(lambda v, f: v[y[0]], 0, 0)
    for t in range(steps):
        m.row(lambda v, f, t=t: v[x[t + 1]] - v[x[t]] - 0.3 * v[y[t]], 0, 0)
        m.row(lambda v, f, t=t: v[y[t + 1]] - v[y[t]] - 0.3 * (a * (1 - v[x[t]] ** 2) * v[y[t]] - b * v[x[t]] + v[u[t]]), 0, 0)
    m.objective = lambda v, f: sum(v[x[t]] ** 2 + v[y[t]] ** 2 for t in range(1, steps + 1)) + sum(v[k] ** 2 for k in u) / 10
    return m


def spread(r: Any) -> Model:
    """Points in a triangle or a square whose least distance is largest."""
    m, n, triangle = Model(), int(r.integers(3, 6)), int(r.integers(2))
    x, y, apart = m.new(n, 0, 1), m.new(n, 0, 1), m.new(1, 0, 2)[0]
    for i in range(n):
        if triangle:
            m.row(lambda v, f, i=i: v[x[i]] + v[y[i]], high=1)
        for j in range(i):
            m.row(lambda v, f, i=i, j=j: (v[x[i]] - v[x[j]]) ** 2 + (v[y[i]] - v[y[j]]) ** 2 - v[apart], 0)
    m.objective = lambda v, f: -v[apart]
    return m


def shares(r: Any) -> Model:
    """Markowitz: shares of up to 50 assets with a dense convex risk, for a given gain."""
    m, n = Model(), int(r.integers(20, 51))
    m.new(n, 0, INF)
    half, gain = np.round(r.normal(0, 0.1, (n, int(r.integers(5, n)))), 3), numbers(r, n, 0, 0.3)
    risk = (half @ half.T).tolist()
    m.row(lambda v, f: sum(v[i] for i in range(n)), 1, 1)
    m.row(lambda v, f: sum(gain[i] * v[i] for i in range(n)), sorted(gain)[3 * n // 4])
    m.objective = lambda v, f: sum(risk[i][j] * v[i] * v[j] for i in range(n) for j in range(n))
    return m


def density(r: Any) -> Model:
    """The likelihood of a mixture of two normal distributions."""
    m = Model()
    share, middle, width = m.new(2, 0.1, 0.9), m.new(2, 0, 10), m.new(2, 0.3, 3)
    data = np.round(np.concatenate([r.normal(3, 1, 4), r.normal(7, 0.7, 3)]), 1).tolist()
    m.row(lambda v, f: v[share[0]] + v[share[1]], 1, 1)
    m.row(lambda v, f: v[middle[0]] - v[middle[1]], high=0)
    m.objective = lambda v, f: -sum(f.log(sum(v[share[k]] / v[width[k]] * f.exp(
        -((t - v[middle[k]]) / v[width[k]]) ** 2 / 2) for k in range(2))) for t in data)
    return m


def parts(r: Any) -> Model:
    """The vertices of a graph in three parts with the least weight of edges within parts, as in graphpart_*."""
    m, n = Model(), int(r.integers(5, 17))
    at = [m.new(3, 0, 1, 1) for _ in range(n)]
    edges = [(i, j, int(r.integers(-9, 10))) for i in range(n) for j in range(i) if r.uniform() < 4 / n]
    for i in range(n):
        m.row(lambda v, f, i=i: sum(v[k] for k in at[i]), 1, 1)
    m.objective = lambda v, f: sum(w * v[at[i][k]] * v[at[j][k]] for i, j, w in edges for k in range(3))
    return m


def plots(r: Any) -> Model:
    """Rectangles of given areas side by side, with the least fence, as in flay*: areas as quotients, big M."""
    m, n = Model(), int(r.integers(2, 5))
    x, y, w, h = m.new(n, 0, 30), m.new(n, 0, 30), m.new(n, 1, 30), m.new(n, 1, 30)
    side, area = m.new(2, 0, 30), numbers(r, n, 20, 60, 0)
    for i in range(n):
        m.row(lambda v, f, i=i: area[i] / v[w[i]] - v[h[i]], high=0)
        m.row(lambda v, f, i=i: v[x[i]] + v[w[i]] - v[side[0]], high=0)
        m.row(lambda v, f, i=i: v[y[i]] + v[h[i]] - v[side[1]], high=0)
    for i in range(n):
        for j in range(i):
            z = m.new(4, 0, 1, 1)
            m.row(lambda v, f, z=z: sum(v[k] for k in z), 1, 1)
            for k, (c, d, s) in enumerate(((x[i], x[j], w[i]), (x[j], x[i], w[j]), (y[i], y[j], h[i]), (y[j], y[i], h[j]))):
                m.row(lambda v, f, c=c, d=d, s=s, k=z[k]: v[c] + v[s] - v[d] - 30 * (1 - v[k]), high=0)
    m.objective = lambda v, f: 2 * v[side[0]] + 2 * v[side[1]]
    return m


def service(r: Any) -> Model:
    """Customers to servers of three sizes, with waiting that rises as load / (capacity - load), as in sssd*."""
    m, customers, servers = Model(), int(r.integers(3, 7)), int(r.integers(2, 4))
    at = [m.new(servers, 0, 1, 1) for _ in range(customers)]
    size, load, wait = [m.new(2, 0, 1, 1) for _ in range(servers)], m.new(servers, 0, INF), m.new(servers, 0, INF)
    want, way = numbers(r, customers, 0.5, 2), np.round(r.uniform(1, 9, (customers, servers)), 1).tolist()
    capacity, fixed = [round(sum(want) * s, 2) for s in (0.6, 1.1)], [4.0, 9.0]
    for i in range(customers):
        m.row(lambda v, f, i=i: sum(v[k] for k in at[i]), 1, 1)
    for j in range(servers):
        m.row(lambda v, f, j=j: sum(v[k] for k in size[j]), high=1)
        m.row(lambda v, f, j=j: sum(want[i] * v[at[i][j]] for i in range(customers)) - v[load[j]], 0, 0)
        m.row(lambda v, f, j=j: v[load[j]] - sum(0.95 * capacity[k] * v[size[j][k]] for k in range(2)), high=0)
        m.row(lambda v, f, j=j: v[load[j]] * (1 + v[wait[j]]) - v[wait[j]] * sum(
            capacity[k] * v[size[j][k]] for k in range(2)), high=0)
    m.objective = lambda v, f: sum(way[i][j] * v[at[i][j]] for i in range(customers) for j in range(servers)) + sum(
        fixed[k] * v[size[j][k]] for j in range(servers) for k in range(2)) + sum(2 * v[k] for k in wait)
    return m


def gears(r: Any) -> Model:
    """Teeth of gears whose ratio is nearest to a given one, as in gear*."""
    m, ratio, pairs = Model(), round(float(r.uniform(0.1, 0.9)), 4), int(r.integers(1, 3))
    up, down = m.new(pairs, 12, 60, 1), m.new(pairs, 12, 60, 1)

    def product(v: Any, which: Any) -> Any:
        return v[which[0]] if len(which) == 1 else v[which[0]] * v[which[1]]
    m.objective = lambda v, f: 1000 * (ratio - product(v, up) / product(v, down)) ** 2
    return m


def redundancy(r: Any) -> Model:
    """How many units stand by in each stage, so that all stages work with a given probability."""
    m, n = Model(), int(r.integers(3, 9))
    m.new(n, 1, 6, 1)
    fails, cost, weight = numbers(r, n, 0.1, 0.4), numbers(r, n, 1, 9), numbers(r, n, 1, 9)

    def works(v: Any, f: Any) -> Any:
        total = 1.0
        for i in range(n):
            total = total * (1 - fails[i] ** v[i])
        return total
    m.row(works, 0.9)
    m.row(lambda v, f: sum(weight[i] * v[i] * f.exp(v[i] / 4) for i in range(n)), high=round(9 * sum(weight)))
    m.objective = lambda v, f: sum(cost[i] * v[i] for i in range(n))
    return m


def commitment(r: Any) -> Model:
    """Which units run in which period, with quadratic costs, least outputs, start costs and reserves."""
    m, units, periods = Model(), int(r.integers(2, 5)), int(r.integers(2, 5))
    power, on = [m.new(periods, 0, 100) for _ in range(units)], [m.new(periods, 0, 1, 1) for _ in range(units)]
    start = [m.new(periods, 0, 1) for _ in range(units)]
    low, high = numbers(r, units, 10, 30, 0), numbers(r, units, 50, 100, 0)
    a, b, c, d = (numbers(r, units, *ends, 3) for ends in ((0.005, 0.05), (5, 15), (50, 200), (20, 90)))
    for t in range(periods):
        demand = round(float(r.uniform(0.3, 0.8)) * sum(high))
        m.row(lambda v, f, t=t: sum(v[p[t]] for p in power), demand, demand)
        for i in range(units):
            m.row(lambda v, f, i=i, t=t: v[power[i][t]] - high[i] * v[on[i][t]], high=0)
            m.row(lambda v, f, i=i, t=t: low[i] * v[on[i][t]] - v[power[i][t]], high=0)
            if t:
                m.row(lambda v, f, i=i, t=t: v[on[i][t]] - v[on[i][t - 1]] - v[start[i][t]], high=0)
    m.objective = lambda v, f: sum(a[i] * v[power[i][t]] ** 2 + b[i] * v[power[i][t]] + c[i] * v[on[i][t]] + d[i] * v[start[i][t]]
                                   for i in range(units) for t in range(periods))
    return m


FAMILIES = (complementarity, concave, equations, blending, collocation, phases, exchangers, fractions, signomial, economy,
            control, spread, shares, density, parts, plots, service, gears, redundancy, commitment)
