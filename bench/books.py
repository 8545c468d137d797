"""Problems of two books, of CUTE and of GLOBALLib that are not in the gallery, each from scratch in a process of its own.

python -m bench.books                         # all, relative 1e-3, 20 s each; then a table
python -m bench.books hs6 s394 --rtol 1e-6    # some
python -m bench.books --lp                    # with linear programs
python -m bench.books --free                  # with the infinite bounds of the books
python -m bench.books --judge                 # local searches from many starts: is any point below a proved bound?
"""

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

from bench import cute_wide, globallib, hock_1981, hock_1981_large, more_books, phase_equilibria, schittkowski_1987
from bench.book_problem import Book

_MODULES = (hock_1981, hock_1981_large, schittkowski_1987, more_books, phase_equilibria, globallib, cute_wide)
TABLE = {p.name: p for module in _MODULES for p in module.TABLE}


def solve_here(p: Book, rtol: float, limit: float, free: bool, lp: bool) -> dict[str, Any]:
    import infimum

    begun = time.process_time()  # the processor's time, which other work on the machine changes least
    try:
        r = infimum.minimize(
            p.f,
            p.bounds if free else p.cut(),
            constraints=p.constraints(),
            seed=0,
            progress=False,
            rtol=rtol,
            atol=1e-7,
            options={"lp": True} if lp else None,
            callback=lambda snapshot: time.process_time() - begun > limit,
        )
    except Exception as error:  # the table shows what the user would see
        return {
            "name": p.name,
            "verdict": "ERROR",
            "seconds": time.process_time() - begun,
            "message": f"{type(error).__name__}: {error}",
        }
    return {
        "name": p.name,
        "verdict": r.verdict.name,
        "seconds": time.process_time() - begun,
        "lower": r.lower,
        "upper": r.upper,
        "boxes": r.nfev,
        "message": r.message,
        "x": None if r.x is None else [float(v) for v in r.x],
    }


def best_known(p: Book, starts: int = 60) -> float:
    """The lowest value local searches found at a point that violates nothing by more than 1e-9."""
    import numpy as np
    from scipy.optimize import minimize

    rng, bounds, best = np.random.default_rng(0), p.cut(), np.inf
    kinds = [("ineq", p.positive), ("eq", p.zero)]
    rows = [{"type": kind, "fun": lambda x, g=g: np.array([float(v) for v in g(x)])} for kind, g in kinds if g is not None]
    with np.errstate(all="ignore"):
        for k in range(starts):
            near = k % 2 == 1
            x = np.array(
                [
                    rng.uniform(max(lo, -2), min(hi, 4)) if near and lo < 4 and hi > -2 else rng.uniform(lo, hi)
                    for lo, hi in bounds
                ]
            )
            try:
                r = minimize(
                    lambda x: float(p.f(x)),
                    x,
                    bounds=bounds,
                    constraints=rows,
                    method="SLSQP",
                    options={"ftol": 1e-12, "maxiter": 300},
                )
            except ValueError:
                continue
            bad = max(
                [
                    0.0,
                    *(
                        float(np.max(-row["fun"](r.x)) if row["type"] == "ineq" else np.max(np.abs(row["fun"](r.x))))
                        for row in rows
                    ),
                ]
            )
            scale = 1 + max((abs(v) for pair in bounds for v in pair), default=0)
            if bad <= 1e-9 * scale and np.isfinite(r.fun):
                best = min(best, r.fun)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rtol", type=float, default=1e-3)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--free", action="store_true")
    parser.add_argument("--lp", action="store_true", help="with linear programs")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--here", action="store_true", help="one problem, in this process")
    parser.add_argument("--json", help="where to keep the results")
    a = parser.parse_args()
    if a.here:
        print(json.dumps(solve_here(TABLE[a.names[0]], a.rtol, a.limit, a.free, a.lp)))
        return
    names, found = a.names or list(TABLE), []
    for name in names:
        p = TABLE[name]
        if a.judge:
            print(f"{name:8s} published {p.published!s:20s} local searches {best_known(p):.10g}", flush=True)
            continue
        command = [sys.executable, "-m", "bench.books", name, "--here", "--rtol", str(a.rtol), "--limit", str(a.limit)]
        start = time.perf_counter()
        done = subprocess.run(
            command + ["--free"] * a.free + ["--lp"] * a.lp,
            capture_output=True,
            text=True,
            env=os.environ | {"INFIMUM_CACHE": "off", "OMP_NUM_THREADS": "1"},
            check=False,
        )
        wall = time.perf_counter() - start
        r = (
            json.loads(done.stdout.splitlines()[-1])
            if done.stdout
            else {"name": name, "verdict": "DIED", "seconds": wall, "message": done.stderr[-300:]}
        )
        r["wall"] = wall
        found.append(r)
        n, wrong = len(p.bounds), ""
        if "lower" in r and p.published is not None and not a.free:
            slack = 1e-5 * max(1.0, abs(p.published))
            wrong = "ABOVE" if r["lower"] > p.published + slack else "BELOW" if r["upper"] < p.published - slack else ""
        ends = f"[{r['lower']:.8g}, {r['upper']:.8g}]" if "lower" in r else r["message"][:150]
        print(
            f"{name:8s} n={n:3d} {r['seconds']:6.2f} s {r['verdict']:10s} {ends} book {p.published} "
            f"{r.get('boxes', 0):,} {wrong}",
            flush=True,
        )
    if found:
        solved = [r["seconds"] for r in found if r["verdict"] in ("PROVED", "INFEASIBLE")]
        print("solved in 1, 10, 20 s:", [sum(s <= t for s in solved) for t in (1, 10, 20)], "of", len(found))
    if a.json:
        with open(a.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
