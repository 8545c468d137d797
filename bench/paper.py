"""The problems of the paper on subdomain lower bounding in MAiNGO, which had a laptop's GPU, and how long proofs take here.

    python -m bench.paper [--engine auto subdomain] [--only table1 table2 kinetic] [--limit S] [--json FILE]

Table 1: Alpine02 minus a network that was trained to be like it (`bench/paper_network.py`), under six constraints; to 1e-3,
equations exact. Table 2: Alpine02 and Styblinski-Tang in 6 and 7 variables, and three rate constants of a reaction from simulated
measurements. Times are those of a second call in the same process; the first one, which traces and compiles, is told beside it.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import infimum
from bench import paper_network
from bench.table import exit_code, head, report, this_machine, timed, write_json

ENGINES = ("auto", "subdomain")


class Case(NamedTuple):
    """A problem, and the seconds that are wanted of engine "auto"."""

    name: str
    fun: Callable
    bounds: list[tuple[float, float]]
    wanted: float
    constraints: tuple = ()
    gap: float = 1e-3
    solve: Callable = infimum.minimize


def alpine02(x: Any) -> Any:
    return np.prod(np.sqrt(x) * np.sin(x))


def circle(x: Any) -> Any:
    return (x[0] - 6) ** 2 + (x[1] - 6) ** 2


def styblinski_tang(x: Any) -> Any:
    return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


INSIDE, ABOVE, HIGH = (lambda x: circle(x) <= 4), (lambda x: x[0] + x[1] >= 12), (lambda x: alpine02(x) >= 4)
# constraints, and the seconds of the paper: by subdomains, by McCormick relaxations
TABLE_1: dict[str, tuple[tuple, tuple[float, float]]] = {
    "in a circle": ((INSIDE,), (4.9, 600.0)),
    "on a circle": ((lambda x: circle(x) == 4,), (3.6, 1.6)),
    "x1 + x2 >= 12": ((ABOVE,), (0.54, 2.2)),
    "x1 + x2 == 12": ((lambda x: x[0] + x[1] == 12,), (0.49, 0.20)),
    "Alpine02 >= 4": ((HIGH,), (3.2, 27.0)),
    "all three inequalities": ((INSIDE, ABOVE, HIGH), (1.5, 8.3)),
}


def table1() -> list[Case]:
    w = paper_network.read()
    print("\nThe network: fit error on [3, 9]^2, root mean square {:.3g}, largest {:.3g}".format(*paper_network.fit_error(w)))

    def f(x: Any) -> Any:
        return alpine02(x) - (np.tanh((x - 6.0) / 3.0 @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"])
    return [Case(f"Alpine02 - network, {name}", f, [(3, 9)] * 2, min(seconds), constraints)
            for name, (constraints, seconds) in TABLE_1.items()]


def table2() -> list[Case]:
    return [case for n in (6, 7) for case in (
        Case(f"Alpine02, {n} variables, maximum", alpine02, [(3, 9)] * n, 0.5, solve=infimum.maximize),
        Case(f"Styblinski-Tang, {n} variables", styblinski_tang, [(-5, 5)] * n, 0.5))]


# ---- flash pyrolysis of cyclohexadienyl and oxygen: 200 steps of explicit Euler, the light absorbed is measured after each
STEPS, STEP, NOISE, RATES = 200, 0.01, 5.0, (800.0, 400.0, 15.0)


def absorbed(k: Any) -> list[Any]:
    """k: of the two reversible reactions forward, and of the decay of B."""
    K2 = 46 * np.exp(6500 / 273 - 18)
    K3, k1, k5, oxygen = 2 * K2, 53.0, 1.2e-3, 2e-3
    a, b, d, y, z, found = 0.0, 0.0, 0.0, 0.4, 140.0, []
    for _ in range(STEPS):
        a, b, d, y, z = (
            a + STEP * (k1 * z * y - oxygen * (k[0] + k[1]) * a + k[0] / K2 * d + k[1] / K3 * b - k5 * a**2),
            b + STEP * (k[1] * oxygen * a - (k[1] / K3 + k[2]) * b), d + STEP * (k[0] * oxygen * a - k[0] / K2 * d),
            y - STEP * k1 * 1e-6 * z * y, z - STEP * k1 * z * y)
        found.append(a + 2 / 21 * b + 2 / 21 * d)
    return found


def kinetic() -> list[Case]:
    data = np.array(absorbed(RATES)) + NOISE * np.random.default_rng(0).standard_normal(STEPS)

    def f(k: Any) -> Any:
        return sum((value - measured) ** 2 for value, measured in zip(absorbed(k), data.tolist(), strict=True))
    return [Case("kinetic parameters, 200 steps of Euler", f, [(10, 1200)] * 2 + [(0.001, 40)], 32.0, gap=1e-2)]


PARTS: dict[str, Callable[[], list[Case]]] = {"table1": table1, "table2": table2, "kinetic": kinetic}


def run(case: Case, engine: str, limit: float) -> None:
    def once() -> Any:
        atol = case.gap if case.gap < 1e-2 else 0.0
        return case.solve(case.fun, case.bounds, constraints=case.constraints, engine=engine, atol=atol, rtol=case.gap,
                          time_limit=limit, progress=False, device="cpu")
    first, _ = timed(once)
    seconds, r = timed(once)
    wanted = engine == "auto"
    report(f"{case.name} ({engine})", seconds, "s", f"<= {case.wanted:g}" if wanted else "",
           r.verdict.name == "PROVED" and seconds <= case.wanted if wanted else None,
           f"{r.verdict.name}, {r.nfev:,} boxes, [{r.lower:.6g}, {r.upper:.6g}], first call {first:.2f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="the parts to run")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds that a call may take (60)")
    parser.add_argument("--json", help="write the table to this file")
    options = parser.parse_args()
    machine = this_machine()
    print(machine)
    for part in options.only or PARTS:
        cases = PARTS[part]()
        head(part)
        for case in cases:
            for engine in options.engine:
                run(case, engine, options.limit)
    write_json(options.json, machine)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
