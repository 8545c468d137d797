"""Proofs of coupled functions, of functions with very many minimisers, and of functions with edges, poles and jumps.

    python bench/stronger.py [--device cuda] [--problems TEXT ...] [--json FILE]

A row has the seconds of the second call in this process (the first one traces and compiles) to a relative gap of 1e-6, and those
wanted. A call may take four times that; what is not proved then is not called again, and its gap is printed. A result that
contradicts what is known of a problem is printed as WRONG. With --device cuda: the large chains, a flat valley and five atoms, on
a GPU. Exit status 1: something was wrong, or does not hold.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.table import HEAD, exit_code, report, this_machine, write_json  # noqa: E402
from infimum import problems  # noqa: E402

GAP, PATIENCE = 1e-6, 4
TABLE: list[dict[str, Any]] = []


@dataclass(frozen=True)
class Row:
    """A function, its bounds, the seconds wanted, an interval that contains the minimum if one is known.

    `at_root`: the whole box as a product of unions must do, without branching.
    """

    what: str
    fun: Callable
    bounds: list[tuple[float, float]]
    seconds: float
    known: tuple[float, float] | None = None
    at_root: bool = False


# Chains

def egg_holder(x):
    y, x = x[1:], x[:-1]
    return np.sum(-(y + 47) * np.sin(np.sqrt(np.abs(y + x / 2 + 47))) - x * np.sin(np.sqrt(np.abs(x - y - 47))))


def rana(x):
    y, x = x[1:], x[:-1]
    one, other = np.sqrt(np.abs(x + y + 1)), np.sqrt(np.abs(y - x + 1))
    return np.sum(x * np.cos(one) * np.sin(other) + (1 + y) * np.sin(one) * np.cos(other))


def sine_envelope(x):
    squares = x[1:] ** 2 + x[:-1] ** 2
    return -np.sum(np.sin(np.sqrt(squares) - 0.5) ** 2 / (0.001 * squares + 1) ** 2 + 0.5)


def mixed(name: str, n: int) -> tuple[Callable, list[tuple[float, float]]]:
    """A chain of the gallery, moved by up to a tenth of its bounds in each variable, the variables in random order."""
    p, rng = problems.get(name, n), np.random.default_rng(7)
    shift, order = rng.uniform(-0.1, 0.1, n) * (p.hi - p.lo), rng.permutation(n)
    return (lambda x: p.fun((x - shift)[order])), list(p.bounds)


def about(value: float, digits: float = 1e-8) -> tuple[float, float]:
    """An interval around a value that is known to so many digits."""
    return value - digits * abs(value), value + digits * abs(value)


def chains() -> list[Row]:
    """The minima of the first three are those published by Vanaret, Gotteland, Durand and Alliot (2014)."""
    return [
        Row("Egg Holder, n = 10", egg_holder, [(-512, 512)] * 10, 1.0, about(-8291.2400675)),
        Row("Rana, n = 7", rana, [(-512, 512)] * 7, 1.0, about(-3070.2475210)),
        Row("sine envelope, n = 5", sine_envelope, [(-100, 100)] * 5, 1.0, about(-5.9659811)),
        Row("Egg Holder, n = 100", egg_holder, [(-512, 512)] * 100, 5.0),
        *(Row(f"{name}, moved and in random order, n = 10,000", *mixed(name, 10_000), 5.0, (0.0, 1e-20))
          for name in ("rosenbrock", "dixon_price")),
    ]


# Chains that a scalar couples

def waves(x):
    return np.sum(np.sin(3 * x[1:]) * x[:-1] + np.cos(x[:-1] * x[1:])) + np.sum(x**2) / 8


def coupled() -> list[Row]:
    return [
        Row("waves and a mean, n = 20", lambda x: waves(x) + 0.1 * (np.mean(x) - 1) ** 2, [(-3, 3)] * 20, 5.0),
        Row("waves and a norm, n = 50", lambda x: waves(x) + np.exp(-np.linalg.norm(x)), [(-3, 3)] * 50, 10.0),
        Row("waves divided by a norm, n = 10", lambda x: waves(x) / (1 + np.linalg.norm(x)), [(-3, 3)] * 10, 10.0),
        Row("Egg Holder and a mean, n = 20", lambda x: egg_holder(x) + (np.mean(x) / 100 - 1) ** 2, [(-512, 512)] * 20, 10.0),
        Row("squares and a sum, n = 20", lambda x: np.sum((x - 1) ** 2 + np.sin(9 * (x - 1 / 21)) ** 2) + np.sum(x) ** 2,
            [(-3, 3)] * 20, 10.0, about(400 / 21, 1e-12)),
        Row("waves and a product, n = 20", lambda x: waves(x) - np.prod(1 + 0.3 * np.cos(3 * x)), [(-3, 3)] * 20, 10.0),
        Row("waves and a product of cosines, n = 10", lambda x: waves(x) + 3 * np.prod(np.cos(x)), [(-3, 3)] * 10, 10.0),
    ]


def large_chains() -> list[Row]:
    """Of the last one the minimisers are not isolated."""
    return [Row("Egg Holder, n = 100", egg_holder, [(-512, 512)] * 100, 5.0),
            Row("Egg Holder, n = 1,000", egg_holder, [(-512, 512)] * 1000, 5.0),
            Row("Rana, n = 30", rana, [(-512, 512)] * 30, 60.0),
            Row("sine envelope, n = 100", sine_envelope, [(-100, 100)] * 100, 30.0)]


# Sums of functions of one variable

def shubert(x):
    j = np.arange(1, 6)[:, None]
    return np.sum(np.sum(j * np.sin((j + 1) * x + j)))


def sums() -> list[Row]:
    return [
        *(Row(f"sum(x**4 - 4*x**2), n = {n:,}", lambda x: np.sum(x**4 - 4 * x**2), [(-3, 3)] * n, 1.0, (-4.0 * n, -4.0 * n), True)
          for n in (20, 1000)),
        *(Row(f"Shubert's function with a column of factors, n = {n}", shubert, [(-10, 10)] * n, 1.0,
              about(n * -14.83795002571059, 1e-14)) for n in (2, 10)),
    ]


# Edges, poles, jumps

def lennard_jones(n: int) -> Callable:
    """n atoms in internal coordinates: one at the origin, the second on an axis, the third in a plane."""
    def f(x):
        atoms = [(0.0, 0.0, 0.0), (x[0], 0.0, 0.0), (x[1], x[2], 0.0), *(x[k:k + 3] for k in range(3, 3 * n - 6, 3))]
        energy = 0.0
        for i in range(n):
            for j in range(i):
                r2 = sum((a - b) ** 2 for a, b in zip(atoms[i], atoms[j], strict=True))
                energy = energy + 4 * (r2**-6 - r2**-3)
        return energy
    return f


def edges() -> list[Row]:
    frame = [(0, 3), (-3, 3), (0, 3)]
    return [
        Row("x log x, n = 2", lambda x: np.sum(x * np.log(x)), [(0, 5)] * 2, 1.0, about(-2 / math.e, 1e-14)),
        Row("Lennard-Jones, 3 atoms", lennard_jones(3), frame, 1.0, about(-3.0, 1e-14)),
        Row("Lennard-Jones, 4 atoms", lennard_jones(4), frame + [(-3, 3), (-3, 3), (0, 3)], 30.0, about(-6.0, 1e-14)),
        Row("steps, n = 5", lambda x: np.sum(np.floor(x + 0.5) ** 2), [(-100, 100)] * 5, 10.0, (0.0, 0.0)),
        Row("steps beside their minimum, n = 5", lambda x: np.sum((np.floor(x + 0.5) - 3.3) ** 2), [(-100, 100)] * 5, 10.0,
            about(0.45, 1e-14)),
    ]


def tangents() -> list[Row]:
    """Where the tangents of squares and of pair potentials are the proof. Five atoms: Hoare and Pal (1971)."""
    p, atom = problems.get("watson"), [(-3, 3)] * 3
    return [Row("Watson, n = 6", p.fun, list(p.bounds), 60.0, (p.minimum.lo, p.minimum.hi)),
            Row("Lennard-Jones, 5 atoms", lennard_jones(5), [(0, 3), (-3, 3), (0, 3), (-3, 3), (-3, 3), (0, 3), *atom], 300.0,
                about(-9.103852415707, 1e-11))]


def gallery() -> list[Row]:
    chosen = [problems.get(name, n) for name in ("weierstrass", "happy_cat", "hgbat") for n in (2, 5)]
    chosen += [p for p in problems.all_problems() if p.name in ("keane", "bukin_6")]
    return [Row(f"{p.name}, n = {p.n}", p.fun, list(p.bounds), 10.0, (p.minimum.lo, p.minimum.hi)) for p in chosen]


def call(row: Row, device: str) -> tuple[float, Any]:
    start = time.perf_counter()
    r = infimum.minimize(row.fun, row.bounds, atol=GAP, rtol=GAP, time_limit=PATIENCE * row.seconds, device=device)
    return time.perf_counter() - start, r


def measure(row: Row, device: str) -> None:
    cold, r = call(row, device)
    warm, r = call(row, device) if r.verdict.name == "PROVED" else (cold, r)
    wrong = row.known is not None and (r.lower > row.known[1] or r.upper < row.known[0])
    proved, product = r.verdict.name == "PROVED", r.regions.unions is not None
    TABLE.append({"problem": row.what, "n": len(row.bounds), "wanted": row.seconds, "seconds": warm, "first": cold,
                  "wrong": wrong, "verdict": r.verdict.name, "lower": r.lower, "upper": r.upper, "nit": r.nit, "nfev": r.nfev,
                  "product": product})
    said = f"{r.verdict.name}{'' if proved else f', gap {r.upper - r.lower:.4g}'}, minimum in [{r.lower:.10g}, {r.upper:.10g}], "
    said += f"{r.nit} steps{', a product of unions' if product else ''}, first call {cold:.2f} s"
    report(row.what, warm, "s", f"<= {row.seconds:.0f}" + (", at the root" if row.at_root else ""),
           proved and not wrong and warm <= row.seconds and (product or not row.at_root),
           said + (f"  WRONG: the minimum is in {list(row.known)}" if wrong else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the table to this file, again after each row")
    parser.add_argument("--device", default="cpu", help="where kernels run: cpu, cuda")
    parser.add_argument("--problems", nargs="+", metavar="TEXT", help="only problems whose name contains one of these")
    options = parser.parse_args()
    machine = this_machine(options.device)
    print(machine)
    here = {chains: "Chains", coupled: "Chains that a scalar couples", sums: "Sums of functions of one variable",
            edges: "Edges, poles, jumps", gallery: "Of the gallery"}
    titles = here if options.device == "cpu" else {large_chains: "Chains on a GPU", tangents: "Squares and pairs on a GPU"}
    for rows, title in titles.items():
        print(f"\n{title}, to a relative gap of {GAP:g}\n{HEAD}", flush=True)
        for row in rows():
            if not options.problems or any(text in row.what for text in options.problems):
                measure(row, options.device)
                write_json(options.json, machine, table=TABLE)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
