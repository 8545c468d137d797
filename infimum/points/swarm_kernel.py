"""The kernels of a particle swarm, one particle a lane; a lane's number, as bits, is its first input and says which random
numbers are its own.

`scatter` draws a point between bounds. `flight` moves a particle and looks at its new place: see `ParticleFlight`.
"""

import sys

import numpy as np

from infimum.expr.node import Expr
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Estimates
from infimum.kernel.threefry import KEY, key_parameters, uniform

RULES = ("inertia", "cognitive", "social", "moves")  # parameters before the key; `moves` is 0 at the first look, else 1
PARTICLE = _X, _VELOCITY, _OWN, _OWN_VALUE = range(4)
_INFINITE, _LARGEST = float("inf"), sys.float_info.max


def particle_rows(n: int) -> tuple[int, ...]:
    """Of a particle's arrays: where it is, its velocity, its best place so far, and the value there."""
    return n, n, n, 1


def scatter_parameters(lo: np.ndarray, hi: np.ndarray, width: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    return np.concatenate([lo, hi, width, key_parameters(key)])


def scatter(name: str, n: int) -> tuple:
    """(kernel, data, rows, where the parameters begin)."""
    b, data = Builder(), Data()
    at = data.offset(np.zeros(3 * n + KEY))
    draw = uniform(b, data, at + 3 * n, b.bits(b.input(0, 0)), n)
    with b.loop(n) as turn:
        i = turn.index
        low, high, width = (b.data(b.place("uadd", at + k * n, i)) for k in range(3))
        b.output(0, i, b.min(b.max(b.fma(width, draw(i), low), low), high))
    return b.kernel(name, 1, 1), data, (n,), at


def flight_parameters(lo: np.ndarray, hi: np.ndarray, value: float, leader: np.ndarray, rules: tuple[float, ...],
                      key: tuple[int, int]) -> np.ndarray:
    """The leader, whose value is infinite if there is none, stands behind the bounds: see `leader_at`."""
    return np.concatenate([lo, hi, [value], leader, rules, key_parameters(key)])


def leader_at(n: int) -> int:
    """Where the leader's value stands among the parameters; its place comes behind."""
    return 2 * n


def flight(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows, where the parameters begin).

    The velocity becomes inertia*v + cognitive*r*(own - x) + social*s*(leader - x) with random r and s for each variable; a
    particle that meets a bound stops there in that variable. Then its own best place is remembered. At the first look nothing
    moves and no place is known yet.
    """
    b, data, n = Builder(), Data(), x.size
    behind = leader_at(n) + 1 + n
    at = data.offset(np.zeros(behind + len(RULES) + KEY))
    inertia, cognitive, social, moves = (b.data(at + behind + k) for k in range(len(RULES)))
    led = b.olt(b.data(at + leader_at(n)), _INFINITE)
    draw = uniform(b, data, at + behind + len(RULES), b.bits(b.input(0, 0)), 2 * n)
    before = [1 + k for k in PARTICLE]
    first, place = b.oeq(moves, 0.0), b.buffer(n)
    with b.loop(n) as turn:
        i = turn.index
        low, high, leader = (b.data(b.place("uadd", at + k, i)) for k in (0, n, leader_at(n) + 1))
        here, velocity, own = (b.input(before[k], i) for k in (_X, _VELOCITY, _OWN))
        pull = b.fma(b.mul(cognitive, draw(i)), b.sub(own, here), b.mul(inertia, velocity))
        pull = b.select(led, b.fma(b.mul(social, draw(b.place("uadd", n, i))), b.sub(leader, here), pull), pull)
        velocity = b.select(first, velocity, pull)
        moved = b.select(first, here, b.add(here, velocity))
        there = b.min(b.max(moved, low), high)
        b.store(place, i, there)
        b.output(_X, i, there)
        b.output(_VELOCITY, i, b.select(b.oeq(there, moved), velocity, 0.0))
    value, = Lowering(b, Estimates(), {"x": lambda i: b.load(place, i)}, data).values([f])
    known = b.select(first, _INFINITE, b.input(before[_OWN_VALUE], 0))
    better = b.mand(b.olt(value, known), b.ole(b.abs(value), _LARGEST))
    b.output(_OWN_VALUE, 0, b.select(better, value, known))
    with b.loop(n) as turn:
        i = turn.index
        kept = b.select(first, b.load(place, i), b.input(before[_OWN], i))
        b.output(_OWN, i, b.select(better, b.load(place, i), kept))
    return b.kernel(name, 1 + len(PARTICLE), len(PARTICLE)), data, particle_rows(n), at
