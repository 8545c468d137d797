"""A step to the least value of a quadratic model in a box where models of constraints are negative."""

from functools import cache

import numpy as np

_ROUNDS = 10
_FIRST = 0.1             # the least slack, and the products, of the start; in units of the box and of the slope over it
_CLOSER = 0.2            # what is left of the products after a round
_SHORT = 0.99            # of the way to where a slack or a multiplier would be 0
_END = 1e-4              # products, and violations, that are small enough


def least_restrained(gradient: np.ndarray, hessian: np.ndarray, values: np.ndarray, slopes: np.ndarray, bends: np.ndarray,
                     lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """By an interior method, primal and dual: every constraint, whose slope has length 1, and every face of the box has a slack
    and a multiplier, both positive, and their product becomes smaller from round to round."""
    n, count = len(gradient), len(values)
    width = float(np.maximum.reduce(hi - lo)) / 2
    scale = 1.0 / (width * (float(np.abs(gradient).max()) + width * float(np.abs(hessian).max())) or 1.0)
    gradient, hessian = gradient * (width * scale), hessian * (width * width * scale)
    values, bends, lo, hi = values / width, bends * width, lo / width, hi / width
    flat, faces = bends.reshape(count, n * n), _faces(n)
    ways, step = np.concatenate([slopes, faces]), 0.1 * (lo + hi)
    edges = np.concatenate([lo, -hi])
    slack = np.concatenate([np.maximum(-values, _FIRST), np.maximum(-edges - faces @ step, _FIRST)])
    multiplier, at, share = _FIRST / slack, np.empty(count + 2 * n), _CLOSER / (count + 2 * n)
    for _ in range(_ROUNDS):                             # `dot` takes half the time of `@` where arrays are so small
        bent = bends @ step
        ways[:count] = slopes + bent
        at[:count], at[count:] = values + (slopes + 0.5 * bent).dot(step), edges + faces.dot(step)
        left = at + slack
        product = share * float(slack.dot(multiplier))
        steep, toward, turned = multiplier / slack, product / slack, ways.T
        bend = hessian + multiplier[:count].dot(flat).reshape(n, n) + (turned * steep).dot(ways)
        move = _newton(gradient + hessian.dot(step) + turned.dot(toward + steep * left), bend)
        change = left + ways.dot(move)                   # what slacks lose
        turn = multiplier - toward - steep * change      # and multipliers
        far = _SHORT / max(_SHORT, *(change / slack).tolist())
        step, slack = step + far * move, slack - far * change
        multiplier = multiplier - _SHORT / max(_SHORT, *(turn / multiplier).tolist()) * turn
        if product < _END and max(map(abs, left.tolist())) < _END:
            break
    return np.minimum(np.maximum(step, lo), hi) * width


def _newton(slope: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """The step to where a quadratic is level, if that is down; else directions that bend down are turned up."""
    try:
        step = np.linalg.solve(bend, -slope)
    except np.linalg.LinAlgError:          # singular
        step = slope
    if slope.dot(step) < 0:
        return step
    sizes, ways = np.linalg.eigh(bend)
    sizes = np.abs(sizes)
    return ways @ ((slope @ ways) / -np.maximum(sizes, 1e-9 * max(sizes.tolist()) or 1.0))


@cache
def _faces(n: int) -> np.ndarray:
    """The outward normals of a box."""
    return np.concatenate([-np.eye(n), np.eye(n)])
