"""Other global minimisers, run until they reach a target: what the swarm is compared with.

Set OPENBLAS_NUM_THREADS=1 before NumPy is imported: with more threads than free cores, SciPy's L-BFGS-B is 100 times slower.
"""

import math
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from infimum.problems import GalleryProblem

CLOSE = 1e-6  # a value so far above the minimum is a success


class Done(BaseException):
    """Ends a peer's run from within its function; no Exception, so that no peer handles it as one."""


class Clock:
    """The function as a peer sees it: notes when the target is reached and ends the run, then or at the limit."""

    def __init__(self, p: GalleryProblem, target: float, limit: float):
        self.fun, self.bounds, self.lo, self.hi, self.n, self.target, self.limit = p.fun, p.bounds, p.lo, p.hi, p.n, target, limit
        self.seconds = math.inf
        self.start = time.perf_counter()

    def elapsed(self) -> float:
        return time.perf_counter() - self.start

    def __call__(self, x: np.ndarray) -> float:
        value = float(self.fun(x))
        now = self.elapsed()
        if now > self.limit:
            raise Done
        if value <= self.target and (self.lo <= x).all() and (x <= self.hi).all():
            self.seconds = now
            raise Done
        return value


def differential_evolution(f: Clock, seed: int) -> None:
    from scipy.optimize import differential_evolution
    differential_evolution(f, f.bounds, seed=seed)


def dual_annealing(f: Clock, seed: int) -> None:
    from scipy.optimize import dual_annealing
    dual_annealing(f, f.bounds, seed=seed)


def basinhopping(f: Clock, seed: int) -> None:
    """A step may leave the bounds: L-BFGS-B takes the nearest point within to start from."""
    from scipy.optimize import basinhopping
    x = np.random.default_rng(seed).uniform(f.lo, f.hi)
    basinhopping(f, x, minimizer_kwargs={"method": "L-BFGS-B", "bounds": f.bounds}, seed=seed)


def shgo(f: Clock, seed: int, sampling: str) -> None:
    """Has no seed: starts again with twice the points, while that triangulation, before any value, is likely to end in time.

    Simplicial sampling starts with the corners and the centre, where the minimum is where the bounds are symmetric around 0.
    """
    from scipy.optimize import shgo
    points = 128 if sampling == "sobol" else 2**f.n + 1  # its defaults
    if sampling == "sobol" and f.n > 6:  # minutes and gigabytes for the first triangulation
        raise Done
    while f.elapsed() < f.limit / 3:
        shgo(f, f.bounds, n=points, sampling_method=sampling)
        points *= 2
    raise Done


def cma_es(f: Clock, seed: int) -> None:
    import cma
    width, rng = f.hi - f.lo, np.random.default_rng(seed)
    quiet = {"verbose": -9, "verb_log": 0, "verb_disp": 0, "signals_filename": ""}
    cma.fmin2(lambda u: f(f.lo + u * width), lambda: rng.uniform(size=f.n), 0.25, {"bounds": [0, 1], "seed": seed, **quiet},
              restarts=9, bipop=True)


def pso(f: Clock, seed: int) -> None:
    """Generations have no default that makes sense: until a hundred of them bring nothing."""
    import pygmo

    class Problem:  # pygmo copies it, deeply: the clock stays one as it is no attribute
        def fitness(self, x: np.ndarray) -> list[float]:
            return [f(x)]

        def get_bounds(self) -> tuple[np.ndarray, np.ndarray]:
            return f.lo, f.hi
    population = pygmo.population(pygmo.problem(Problem()), size=40, seed=seed)
    algorithm = pygmo.algorithm(pygmo.pso(gen=100, memory=True, seed=seed))
    best = math.inf
    while population.champion_f[0] < best:
        best = population.champion_f[0]
        population = algorithm.evolve(population)


PEERS: dict[str, tuple[Callable[[Clock, int], None], ...]] = {  # of several variants the best is reported
    "DE": (differential_evolution,), "annealing": (dual_annealing,), "hopping": (basinhopping,),
    "shgo": (partial(shgo, sampling="sobol"), partial(shgo, sampling="simplicial")), "CMA-ES": (cma_es,), "PSO": (pso,),
}


def peer_time(peer: Callable[[Clock, int], None], p: GalleryProblem, seed: int, limit: float) -> float:
    """Seconds until the peer saw a value not above the target, starting again until then; infinite after the limit."""
    f = Clock(p, p.minimum.hi + CLOSE, limit)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for attempt in range(1, sys.maxsize):  # from 1: a seed 0 means the time of day to CMA-ES
                peer(f, 1000 * seed + attempt)
    except Done:
        return f.seconds


def peer_median(variants: tuple[Callable[[Clock, int], None], ...], p: GalleryProblem, seeds: int, limit: float) -> float:
    """The median time of the best variant."""
    medians = []
    for peer in variants:
        times: list[float] = []
        while len(times) < seeds and 2 * times.count(math.inf) < seeds:  # with so many failures there is no median
            times.append(peer_time(peer, p, len(times), limit))
        medians.append(median(times) if len(times) == seeds else math.inf)
    return min(medians)
