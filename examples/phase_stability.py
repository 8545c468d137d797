"""Phase stability: does a liquid mixture split into two liquids?

A mixture of composition z is stable if the tangent plane to the Gibbs energy at z lies below the energy of every other
composition (Baker, Pierce and Luks). So one minimises the distance to the tangent plane. If it is negative anywhere, the
mixture splits; if it is nowhere negative, the mixture stays one liquid. The distance is 0 at z itself, and local solvers like
to stop there: a missed minimum then means a wrong answer. A proved lower bound rules that out.

The mixture has three components and a regular-solution model with made-up coefficients; the first two dislike each other. The
composition is described by two numbers u: the mole fraction of the first component, and the share of the second in the rest.
Their bounds keep all mole fractions positive, as the logarithm requires.
"""

import numpy as np

import infimum

INTERACTION = np.array([[0.0, 3.0, 0.5], [3.0, 0.0, 0.8], [0.5, 0.8, 0.0]])
TINY = 1e-6


def excess(x):
    return np.sum(x * (INTERACTION @ x)) / 2


def tangent_plane_distance(u, z):
    x = np.stack([u[0], (1 - u[0]) * u[1], (1 - u[0]) * (1 - u[1])])
    potentials = np.log(z) + INTERACTION @ z - excess(z)
    return np.sum(x * np.log(x)) + excess(x) - np.sum(x * potentials)


def solve(z: tuple[float, float, float]) -> infimum.Result:
    return infimum.minimize(tangent_plane_distance, [(TINY, 1 - TINY)] * 2, args=(np.array(z),), atol=1e-5, xtol=1e-3)


def main() -> None:
    for z in ((0.45, 0.45, 0.1), (0.2, 0.2, 0.6), (0.05, 0.9, 0.05)):
        result = solve(z)
        said = "splits" if result.upper < -1e-5 else "stable up to 1e-5" if result.lower >= -1e-5 else "undecided"
        print(f"{z}: {said}\n  smallest distance between {result.lower} and {result.upper}, {result.verdict.name}")


if __name__ == "__main__":
    main()
