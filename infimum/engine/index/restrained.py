"""A step to the least value of a quadratic model in a box where models of constraints are negative."""

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
    flat, eye = bends.reshape(count, n * n), np.eye(n)
    ways, step = np.concatenate([slopes, -eye, eye]), 0.1 * (lo + hi)
    at = np.concatenate([values, lo - step, step - hi])      # of constraints and faces: negative where they hold
    slack = np.maximum(-at, _FIRST)
    multiplier = _FIRST / slack
    share, bent = _CLOSER / len(slack), bends @ step
    for _ in range(_ROUNDS):
        ways[:count] = slopes + bent
        at[:count] = values + (slopes + 0.5 * bent) @ step
        left = at + slack
        product = share * float(slack @ multiplier)
        steep, toward, turned = multiplier / slack, product / slack, ways.T
        bend = hessian + (multiplier[:count] @ flat).reshape(n, n) + (turned * steep) @ ways
        move = _newton(gradient + hessian @ step + turned @ (toward + steep * left), bend)
        along = ways @ move
        change = -left - along
        turn = toward - multiplier - steep * change
        far = _SHORT / max(_SHORT, float(np.maximum.reduce(-change / slack)))
        step, slack = step + far * move, slack + far * change
        multiplier = multiplier + _SHORT / max(_SHORT, float(np.maximum.reduce(-turn / multiplier))) * turn
        at[count:] += far * along[count:]
        bent = bends @ step
        if product < _END and float(np.maximum.reduce(np.abs(left))) < _END:
            break
    return np.minimum(np.maximum(step, lo), hi) * width


def _newton(slope: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """The step to the least value of a quadratic, of which directions that bend down are turned up."""
    sizes, ways = np.linalg.eigh(bend)
    sizes = np.abs(sizes)
    return -(ways @ ((slope @ ways) / np.maximum(sizes, 1e-9 * float(sizes.max()) or 1.0)))
