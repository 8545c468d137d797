"""Fitting a sine wave: a least-squares problem with many local minima.

The model amplitude * sin(frequency * t + phase) looks harmless, but the sum of squares has a local minimum for nearly every
frequency at which the wave picks up some of the data. A local fit started at the wrong frequency converges to one of these
and reports success. infimum returns an enclosure of the smallest sum of squares that any choice of parameters can reach, so a
fit can be checked against it.
"""

import numpy as np

import infimum

# 15 readings of an oscillation, made with amplitude 2, frequency 3.1, phase 0.4 and some noise
TIMES = np.linspace(0, 4, 15)
READINGS = np.array([0.81, 2.0, 1.68, 0.04, -1.35, -1.94, -1.13, 0.68, 1.9, 1.77, 0.34, -1.26, -2.07, -1.23, 0.41])
BOUNDS = [(0.5, 5), (0.5, 8), (-3, 3)]  # amplitude, frequency, phase


def sum_of_squares(p):
    amplitude, frequency, phase = p
    return np.sum((amplitude * np.sin(frequency * TIMES + phase) - READINGS) ** 2)


def local_minima() -> infimum.Result:
    """The swarm lists the local minima it meets. It proves nothing, but it shows what a local fit can fall into."""
    return infimum.minimize(sum_of_squares, BOUNDS, engine="swarm", options={"restarts": 1, "enough": None})


def solve() -> infimum.Result:
    return infimum.minimize(sum_of_squares, BOUNDS)


def main() -> None:
    print("local minima a fit can end in (sum of squares: amplitude, frequency, phase):")
    for minimum in [m for m in local_minima().minima if m.status.name == "CONVERGED"][:5]:
        print(f"  {minimum.value:8.4f}: {np.round(minimum.x, 3)}")
    best = solve()
    print(f"\n{best}\n\nNo choice of parameters within the bounds has a sum of squares below {best.lower}.")


if __name__ == "__main__":
    main()
