"""A step to the least value of a quadratic model in a box where models of constraints are negative."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from infimum.search.policy.index import CONSTRAINED_MODEL_STEP as POLICY


def least_constrained(gradient: np.ndarray, hessian: np.ndarray, values: np.ndarray, slopes: np.ndarray, bends: np.ndarray,
                      lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """By an interior method, primal and dual: every constraint, whose slope has length 1, and every face of the box has a slack
    and a multiplier, both positive, and their product becomes smaller from round to round. Where that went up, or out, as it may
    with functions that are not convex, it is done again with directions that bend down turned up."""
    width = float(np.maximum.reduce(hi - lo)) / 2
    scale = 1.0 / (width * (float(np.abs(gradient).max()) + width * float(np.abs(hessian).max())) or 1.0)
    gradient, hessian = gradient * (width * scale), hessian * (width * width * scale)
    values, bends, lo, hi = values / width, bends * width, lo / width, hi / width
    model = _ScaledModel(gradient, hessian, values, slopes, bends, lo, hi)
    step = _interior(model, _newton_step, POLICY.rounds)
    violated = max((values + (slopes + 0.5 * (bends @ step)).dot(step)).tolist(), default=0.0)
    from_inside = max(values.tolist(), default=0.0) <= 0
    if violated > POLICY.large_violation or from_inside and (gradient + 0.5 * hessian.dot(step)).dot(step) > 0:
        step = _interior(model, _convexified_step, POLICY.more_rounds)
    return step * width


class _ScaledModel(NamedTuple):
    """Quadratic models in units of the box [lo, hi]: gradient and Hessian of the objective; values, gradients and Hessians of the
    constraints."""

    gradient: np.ndarray
    hessian: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    bends: np.ndarray
    lo: np.ndarray
    hi: np.ndarray


def _interior(model: _ScaledModel, newton: Callable[[np.ndarray, np.ndarray], np.ndarray], rounds: int) -> np.ndarray:
    """The step in units of the box."""
    gradient, hessian, values, slopes, bends, lo, hi = model
    n, count = len(gradient), len(values)
    flat, faces = bends.reshape(count, n * n), _faces(n)
    ways, step = np.concatenate([slopes, faces]), 0.1 * (lo + hi)
    edges = np.concatenate([lo, -hi])
    slack = np.concatenate([np.maximum(-values, POLICY.first_slack), np.maximum(-edges - faces @ step, POLICY.first_slack)])
    multiplier, at, share = POLICY.first_slack / slack, np.empty(count + 2 * n), POLICY.product_reduction / (count + 2 * n)
    for _ in range(rounds):                              # `dot` takes half the time of `@` where arrays are so small
        bent = bends @ step
        ways[:count] = slopes + bent
        at[:count], at[count:] = values + (slopes + 0.5 * bent).dot(step), edges + faces.dot(step)
        left = at + slack
        product = share * float(slack.dot(multiplier))
        steep, toward, turned = multiplier / slack, product / slack, ways.T
        if max(steep.tolist()) > POLICY.largest_ratio:
            break
        bend = hessian + multiplier[:count].dot(flat).reshape(n, n) + (turned * steep).dot(ways)
        move = newton(gradient + hessian.dot(step) + turned.dot(toward + steep * left), bend)
        change = left + ways.dot(move)                   # what slacks lose
        turn = multiplier - toward - steep * change      # and multipliers
        far = POLICY.to_boundary / max(POLICY.to_boundary, *(change / slack).tolist())
        step, slack = step + far * move, slack - far * change
        multiplier = multiplier - POLICY.to_boundary / max(POLICY.to_boundary, *(turn / multiplier).tolist()) * turn
        if product < POLICY.small_residual and max(map(abs, left.tolist())) < POLICY.small_residual:
            break
    return np.minimum(np.maximum(step, lo), hi)


def _newton_step(slope: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """The step to where a quadratic is level, if that is down."""
    try:
        step = np.linalg.solve(bend, -slope)
    except np.linalg.LinAlgError:          # singular
        return _convexified_step(slope, bend)
    return step if slope.dot(step) < 0 else _convexified_step(slope, bend)


def _convexified_step(slope: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """The step to the least value of a quadratic, of which directions that bend down are turned up."""
    sizes, ways = np.linalg.eigh(bend)
    sizes = np.abs(sizes)
    return ways @ ((slope @ ways) / -np.maximum(sizes, 1e-9 * max(sizes.tolist()) or 1.0))


@cache
def _faces(n: int) -> np.ndarray:
    """The outward normals of a box."""
    return np.concatenate([-np.eye(n), np.eye(n)])
