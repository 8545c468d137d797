"""Proofs of random test functions with known minimisers: the GKLS generator's classes, and Grishagin's functions.

    python bench/gkls.py --vectors FOLDER [--sample COUNT] [--only CLASS ...] [--forms NAME ...] [--json FILE]

FOLDER holds the parameters, `gkls_classes.json` and `grishagin.json`. A row has the functions of a class that are
proved in 10 s each, to 1e-6, tracing and compiling included; those that are not follow one by one, and so does an answer
that contradicts the known minimum, as WRONG. Forms of GKLS functions, all of the same function:
  nested   one np.where around the other, as the generator's own code goes through its balls, with no division by the distance
  literal  as the generator's own code: divided by the distance, with the centre of a ball as a case of its own
  summed   the paraboloid plus the sum of what each ball adds to it, as arrays
Exit status 1: something was wrong, or does not hold.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.prove import wrong  # noqa: E402
from bench.table import HEAD, exit_code, report, this_machine, write_json  # noqa: E402

LIMIT, TOLERANCE = 10.0, 1e-6
TABLE: list[dict[str, Any]] = []


# GKLS functions of type D: a paraboloid, and in each ball a cubic that has its minimum in the centre

def nested(p: dict[str, Any]) -> Callable:
    vertex, *centres = np.array(p["local_min"])
    at_vertex, *minima = p["f"]

    def f(x):
        value = np.sum((x - vertex) ** 2) + at_vertex
        for centre, minimum, radius in zip(centres, minima, p["rho"][1:], strict=True):
            depth = np.sum((vertex - centre) ** 2) + at_vertex - minimum
            r = np.sqrt(np.sum((x - centre) ** 2))
            along = np.sum((x - centre) * (vertex - centre))
            ball = ((2 * along - 2 * depth / radius * r) * r**2 / radius**2 + (1 + 3 * depth / radius**2) * r**2
                    - 4 * along * r / radius + minimum)
            value = np.where(r < radius, ball, value)
        return value
    return f


def literal(p: dict[str, Any]) -> Callable:
    vertex, *centres = np.array(p["local_min"])
    at_vertex, *minima = p["f"]

    def f(x):
        value = np.sum((x - vertex) ** 2) + at_vertex
        for centre, minimum, radius in zip(centres, minima, p["rho"][1:], strict=True):
            depth = np.linalg.norm(vertex - centre) ** 2 + at_vertex - minimum
            r = np.linalg.norm(x - centre)
            along = np.dot(x - centre, vertex - centre)
            ball = ((2 / radius / radius * along / r - 2 * depth / radius / radius / radius) * r * r * r
                    + (1 - 4 * along / r / radius + 3 * depth / radius / radius) * r * r + minimum)
            value = np.where(r > radius, value, np.where(r < 1e-10, minimum, ball))
        return value
    return f


def summed(p: dict[str, Any]) -> Callable:
    vertex, centres = np.array(p["local_min"][0]), np.array(p["local_min"][1:])
    minima, radius = np.array(p["f"][1:]), np.array(p["rho"][1:])
    depth = np.sum((vertex - centres) ** 2, axis=1) + p["f"][0] - minima

    def f(x):
        paraboloid = np.sum((x - vertex) ** 2) + p["f"][0]
        r = np.sqrt(np.sum((x - centres) ** 2, axis=1))
        along = np.sum((x - centres) * (vertex - centres), axis=1)
        ball = ((2 * along - 2 * depth / radius * r) * r**2 / radius**2 + (1 + 3 * depth / radius**2) * r**2
                - 4 * along * r / radius + minima)
        return paraboloid + np.sum(np.where(r < radius, ball - paraboloid, 0.0))
    return f


FORMS = {form.__name__: form for form in (nested, literal, summed)}


def gkls(p: dict[str, Any], form: str) -> SimpleNamespace:
    """The problem, its value at the samples of the file compared. The minimum is a parameter, and taken at a centre exactly."""
    f, n, centre = FORMS[form](p), p["n"], np.array(p["local_min"][p["global_index"]])
    for sample in p["samples"]:
        assert abs(f(np.array(sample["x"])) - sample["D"]) < 1e-9, "another function than that of the samples"
    minimum = min(p["f"])
    return SimpleNamespace(fun=f, bounds=[(-1.0, 1.0)] * n, minimum=SimpleNamespace(lo=minimum, hi=minimum),
                           minimisers=[(centre, centre)])


def grishagin(p: dict[str, Any]) -> SimpleNamespace:
    """The problem; of its minimum the file has a value to about nine digits, and the value at a point is an upper bound."""
    a, b, c, d = (np.array(p[k]) for k in "abcd")
    k = np.pi * np.arange(1, 8)

    def f(x):
        sines = np.sin(k * x[0])[:, None] * np.sin(k * x[1])
        cosines = np.cos(k * x[0])[:, None] * np.cos(k * x[1])
        return -np.sqrt(np.sum(a * sines + b * cosines) ** 2 + np.sum(c * sines - d * cosines) ** 2)
    near, point = p["f_polished"], np.array(p["xmin_polished"])
    assert abs(f(point) - near) < 1e-9, "another function than that of the table"
    return SimpleNamespace(fun=f, bounds=[(0.0, 1.0)] * 2, minimum=SimpleNamespace(lo=near - 1e-7, hi=near + 1e-9),
                           minimisers=[(point - 1e-5, point + 1e-5)])


def prove(what: str, number: int, p: SimpleNamespace) -> dict[str, Any]:
    """The whole call."""
    start = time.perf_counter()
    r = infimum.minimize(p.fun, p.bounds, atol=TOLERANCE, rtol=TOLERANCE, time_limit=LIMIT)
    seconds = time.perf_counter() - start
    row = {"class": what, "number": number, "seconds": seconds, "verdict": r.verdict.name, "lower": r.lower, "upper": r.upper,
           "nit": r.nit, "nfev": r.nfev, "wrong": wrong(r, p)}
    if row["verdict"] != "PROVED" or row["wrong"]:
        name, verdict = f"  {what}, number {number}", f"{row['verdict']},"
        print(f"{name:<58} {r.upper - r.lower:>10.4g} {'gap':<12} {verdict:<16} {seconds:.2f} s, lower {r.lower:.10g}, "
              f"minimum {p.minimum.lo:.10g}{'  WRONG: ' + row['wrong'] if row['wrong'] else ''}", flush=True)
    return row


def series(what: str, chosen: list[tuple[int, Callable[[], SimpleNamespace]]], wanted: bool) -> None:
    rows = [prove(what, number, problem()) for number, problem in chosen]
    TABLE.extend(rows)
    proved, faults = sum(r["verdict"] == "PROVED" for r in rows), sum(bool(r["wrong"]) for r in rows)
    times = sorted(r["seconds"] for r in rows)
    report(what, proved, f"of {len(rows)}", f"= {len(rows)}" if wanted else "",
           proved == len(rows) and faults == 0 if wanted else None if faults == 0 else False,
           f"median {times[len(times) // 2]:.2f} s, slowest {times[-1]:.2f} s" + (f", {faults} WRONG" if faults else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, required=True, help="the folder of the parameters")
    parser.add_argument("--sample", type=int, default=100, help="how many functions of each class, 100")
    parser.add_argument("--only", nargs="+", metavar="CLASS", help="only these, such as 2-simple or grishagin")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=["nested"], help="how GKLS functions are written, nested")
    parser.add_argument("--json", help="write the table to this file, again after each row")
    options = parser.parse_args()
    machine = this_machine()
    print(f"{machine}\n\nProved in {LIMIT:.0f} s each, atol = rtol = {TOLERANCE:g}; not proved:\n{HEAD}", flush=True)
    every = json.loads((options.vectors / "gkls_classes.json").read_text())
    for name in dict.fromkeys(p["class"] for p in every):
        for form in options.forms if not options.only or name in options.only else ():
            chosen = [(p["fn"], lambda p=p, form=form: gkls(p, form)) for p in every if p["class"] == name][:options.sample]
            series(f"GKLS {name}, {form}", chosen, wanted=int(name[0]) <= 4)
            write_json(options.json, machine, table=TABLE)
    if not options.only or "grishagin" in options.only:
        waves = json.loads((options.vectors / "grishagin.json").read_text())[:options.sample]
        series("Grishagin", [(p["fn"], lambda p=p: grishagin(p)) for p in waves], wanted=True)
        write_json(options.json, machine, table=TABLE)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
