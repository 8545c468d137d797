"""The problems of `bench/networks.py`: trained networks, errors of surrogates, fits of differential equations.

Those of the paper on subdomain lower bounding in MAiNGO (its numbers in brackets), and fits as a user would write them: a loop
over the steps of Euler's method and a sum of squares, three parameters, measurements simulated with a fixed seed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import paper
from bench.network_weights import DIMENSIONS, DOMAINS, PEAKS, Weights, network, read, read_peaks_of_maingo, said
from bench.provers import peaks
from infimum import Constraint

FINE, COARSE = 1e-3, 1e-2  # gaps, absolute and relative: one of them is enough. The paper does not say which it has
CPU, GPU = "cpu", "cuda"
MAINGO_PEAKS = Path("ann") / "peaks_2-10-8-1_tanh.json"  # in the folder of vectors


@dataclass(frozen=True)
class Case:
    """A problem; by device the seconds in which a second call is wanted to prove it."""

    name: str
    fun: Callable[[Any], Any]
    bounds: Any
    atol: float
    rtol: float
    wanted: dict[str, float] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    maximise: bool = False
    only_gpu: bool = False     # on a CPU it is run where it is named
    networks: tuple[str, ...] = ()  # how far the networks in it are from their functions


# ---- (1), (2): peaks

def peaks_cases(vectors: Path | None) -> list[Case]:
    """The network that was trained here, or MAiNGO's if there is a folder of vectors."""
    weights = read(PEAKS) if vectors is None else read_peaks_of_maingo(vectors / MAINGO_PEAKS)
    net, bounds, fit = partial(network, weights), DOMAINS[PEAKS], (said(PEAKS, weights),)
    case = partial(Case, bounds=bounds, atol=FINE, rtol=FINE, networks=fit)
    return [case("network of peaks", net, wanted={CPU: 0.5}),
            case("error of peaks, network above", lambda x: net(x) - peaks(x), wanted={CPU: 5.0}, maximise=True),
            case("error of peaks, network below", lambda x: peaks(x) - net(x), wanted={CPU: 5.0}, maximise=True)]


# ---- (3), (4): Alpine02

ALPINE_SECONDS = {2: {CPU: 0.3}, 3: {CPU: 0.6}, 4: {CPU: 6.0}, 5: {CPU: 160.0, GPU: 5.0}, 6: {GPU: 60.0}}
CIRCLE = Constraint(paper.circle, ub=4.0), Constraint(paper.circle, lb=4.0, ub=4.0)
LINE = Constraint(lambda x: x[0] + x[1], lb=12.0), Constraint(lambda x: x[0] + x[1], lb=12.0, ub=12.0)
HIGH = Constraint(paper.alpine02, lb=4.0)
CONSTRAINTS: dict[str, tuple[Constraint, ...]] = {  # under the names that paper.TABLE_1 has the seconds by
    "in a circle": CIRCLE[:1], "on a circle": CIRCLE[1:], "x1 + x2 >= 12": LINE[:1], "x1 + x2 == 12": LINE[1:],
    "Alpine02 >= 4": (HIGH,), "all three inequalities": (CIRCLE[0], LINE[0], HIGH)}


def alpine_cases() -> list[Case]:
    weights: dict[int, Weights] = {d: read(d) for d in DIMENSIONS}
    return [Case(f"network of Alpine02, {d} variables", partial(network, w), DOMAINS[d], COARSE, COARSE, ALPINE_SECONDS[d],
                 maximise=True, networks=(said(d, w),)) for d, w in weights.items()]


def constrained_cases() -> list[Case]:
    w = read(2)
    return [Case(f"Alpine02 - network, {name}", lambda x: paper.alpine02(x) - network(w, x), DOMAINS[2], FINE, FINE,
                 {CPU: min(paper.TABLE_1[name][1])}, constraints, networks=(said(2, w),))
            for name, constraints in CONSTRAINTS.items()]


# ---- fits of differential equations by explicit Euler

def growth(p: Any, steps: int) -> list[Any]:
    """Logistic growth from 0 to 10: rate, capacity, beginning."""
    u, step, found = p[2], 10.0 / steps, []
    for _ in range(steps):
        u = u + step * p[0] * u * (1 - u / p[1])
        found.append(u)
    return found


def hunters_and_prey(p: Any, steps: int) -> list[Any]:
    """Lotka and Volterra's equations from 0 to 5: growth of the prey, how it is hunted, death of the hunters."""
    prey, hunters, step, found = 10.0, 5.0, 5.0 / steps, []
    for _ in range(steps):
        prey, hunters = (prey + step * prey * (p[0] - p[1] * hunters),
                         hunters + step * hunters * (0.02 * prey - p[2]))
        found += [prey, hunters]
    return found


def fit(model: Callable, steps: int, true: tuple[float, ...], noise: float) -> Callable[[Any], Any]:
    """The sum of squares for measurements of the model with these parameters."""
    exact = np.array(model(true, steps))
    data = exact + noise * np.random.default_rng(1).standard_normal(len(exact))

    def misfit(p: Any) -> Any:
        total = 0.0
        for value, measured in zip(model(p, steps), data.tolist(), strict=True):
            total = total + (value - measured) ** 2
        return total
    return misfit


def fit_cases() -> list[Case]:
    kinetic, = paper.kinetic()
    logistic = [Case(f"logistic growth, {steps} steps of Euler", fit(growth, steps, (0.8, 50.0, 2.0), 1.0),
                     ((0.01, 2.0), (10.0, 100.0), (0.1, 10.0)), 0.0, FINE, {CPU: 60.0}) for steps in (20, 50)]
    return [Case(kinetic.name, kinetic.fun, kinetic.bounds, 0.0, kinetic.gap, {CPU: 5.6}), *logistic,
            Case("Lotka and Volterra, 50 steps of Euler", fit(hunters_and_prey, 50, (0.9, 0.1, 0.4), 0.5),
                 ((0.1, 2.0), (0.01, 0.5), (0.1, 1.0)), 0.0, FINE, {CPU: 60.0})]


# ---- SciPy's Xor: a network 2-2-1 is trained to be the exclusive or

def xor(x: Any) -> Any:
    """Nine weights; the least sum of squares is 0.9597588."""
    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))
    total = 0.0
    for a, b, wanted in ((1, 1, 0), (0, 0, 0), (1, 0, 1), (0, 1, 1)):
        found = sigmoid(x[6] * sigmoid(a * x[0] + b * x[1] + x[4]) + x[7] * sigmoid(a * x[2] + b * x[3] + x[5]) + x[8])
        total = total + (found - wanted) ** 2
    return total


def xor_cases() -> list[Case]:
    return [Case("Xor", xor, ((-1.0, 1.0),) * 9, 1e-4, 0.0, {GPU: 600.0}, only_gpu=True)]


def all_cases(vectors: Path | None = None) -> list[Case]:
    return [*peaks_cases(vectors), *alpine_cases(), *constrained_cases(), *fit_cases(), *xor_cases()]
