"""Three atoms: triangle or chain?

Argon-like atoms attract each other in pairs (the Lennard-Jones potential, with the well depth and the pair distance as
units). Three of them then form an equilateral triangle. The three-body term of Axilrod and Teller punishes triangles and
rewards chains. How strong does it have to be before the chain wins?

The shape is described by internal coordinates: two distances from the middle atom and the angle between them. Distances are
bounded away from 0, where the three-body term is unbounded in both directions. The question is about the shape, so `xtol` asks
for narrow boxes, not for the energy alone.
"""

import numpy as np

import infimum

BOUNDS = [(0.8, 2), (0.8, 2), (0.8, np.pi)]  # two distances and the angle between them


def pair(r):
    return r**-12 - 2 * r**-6


def energy(x, strength):
    a, b, angle = x
    c = np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(angle))  # the third side
    cosines = np.cos(angle) * (a**2 + c**2 - b**2) / (2 * a * c) * (b**2 + c**2 - a**2) / (2 * b * c)
    return pair(a) + pair(b) + pair(c) + strength * (1 + 3 * cosines) / (a * b * c) ** 3


def solve(strength: float) -> infimum.Result:
    return infimum.minimize(energy, BOUNDS, args=(strength,), xtol=0.05)


def shape(result: infimum.Result) -> str:
    """Every global minimiser lies in the boxes, so their angles decide."""
    lowest = np.degrees(min(lo[2] for lo, _ in result.boxes))
    highest = np.degrees(max(hi[2] for _, hi in result.boxes))
    name = "triangle" if highest < 70 else "chain" if lowest > 170 else "undecided"
    return f"{name} (angle between {lowest:.1f} and {highest:.1f} degrees)"


def main() -> None:
    for strength in (0.0, 0.3, 1.0):
        result = solve(strength)
        print(f"strength {strength}: {shape(result)}\n  energy between {result.lower} and {result.upper}, {result.verdict.name}")


if __name__ == "__main__":
    main()
