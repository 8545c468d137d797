"""Inverse kinematics of a planar arm: a pose for every target that can be reached, a proof for those that cannot.

Three links move in a plane, and every joint has limits. Which joint angles bring the tip to a target? A solver that finds no
pose leaves the question open: is there none, or was it missed? The smallest distance between tip and target answers it. If
its proved lower bound is positive, no pose reaches the target.
"""

import numpy as np

import infimum

LINKS = np.array([1.0, 0.8, 0.5])
LIMITS = [(-0.5, 2.5), (0.3, 2.4), (-1.0, 1.0)]  # of each joint, in radians, relative to the link before it


def distance(joints, target):
    directions = np.cumsum(joints)
    return np.hypot(np.sum(LINKS * np.cos(directions)) - target[0], np.sum(LINKS * np.sin(directions)) - target[1])


def solve(target: tuple[float, float]) -> infimum.Result:
    return infimum.minimize(distance, LIMITS, args=(target,))


def main() -> None:
    for target in ((1.2, 0.9), (0.1, 0.1)):
        result = solve(target)
        if result.lower > 0:
            print(f"{target}: cannot be reached; every pose stays at least {result.lower} away ({result.verdict.name})")
        else:
            print(f"{target}: joints {np.round(result.x, 4)} come within {result.upper:.1e} ({result.verdict.name})")


if __name__ == "__main__":
    main()
