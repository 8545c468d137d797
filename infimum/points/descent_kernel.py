"""Kernels of the swarm: one quasi-Newton descent a lane, and values beside a point. Estimates, never proofs.

**Descent.** One run of the kernel is one trial of every lane. The trial point is clip(x + step * direction). It is accepted if
the value falls enough (Armijo); then the metric learns from the change of the gradient (BFGS), a new direction is made and the
step is 1 again. Otherwise the step is halved, and after `limit` halvings the metric is forgotten once before the lane gives up.
So lanes advance on their own, none waits for the line search of another, and no lane leaves the bounds.

Arrays of a lane: the point x, its gradient, the direction, the metric, and a row for each of `SCALARS`. The metric is the inverse
Hessian (n*n rows), or for many variables the last few steps and changes of the gradient. Variables on a bound towards which
the direction leads are held there. Lengths are measured in widths of the bounds.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum

import numpy as np

from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.kernel.box_conclusions import add_up, larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Estimates
from infimum.search.policy.points import DESCENTS as POLICY

SCALARS = ("value", "step", "tries", "state", "size", "scale", "trials")
PARAMETERS = ("armijo", "limit", "floor", "small")  # after the lower and upper bounds and the widths
_LARGEST = sys.float_info.max
_X, _GRADIENT, _DIRECTION, _METRIC = range(4)


class LaneState(IntEnum):
    """Where a lane stands. From CONVERGED on it has ended."""

    FRESH = 0
    PLAIN = 1
    LEARNED = 2
    CONVERGED = 3
    KINK = 4
    DEAD = 5


def total(b: Builder, value: Value) -> Callable[[], Value]:
    """The sum of the value over the turns of the innermost loop, to be asked for after the loop."""
    step = b.step((0.0,), (value,), add_up)
    return lambda: step.results[0]


def largest(b: Builder, value: Value) -> Callable[[], Value]:
    """The largest value over the turns, at least 0."""
    step = b.step((0.0,), (value,), larger)
    return lambda: step.results[0]


class DescentKernel(ABC):
    """Writes the kernel of one trial. `DenseDescent` and `LimitedMemoryDescent` know the metric."""

    def __init__(self, f: Expr, x: Expr):
        self.b, self.data, self.n = Builder(), Data(), x.size
        self.at = self.data.offset(np.zeros(3 * self.n + len(PARAMETERS)))
        self.scalars = _METRIC + len(self.metric_rows(self.n))
        out: dict = {}
        g = self.b.buffer(self.n)
        Lowering(self.b, Estimates(), {"x": self.trial}, self.data).run(
            [(f, lambda at, v: out.setdefault("f", v)), (gradient(f, x), lambda at, v: self.b.store(g, at[0], v))])
        self.new_gradient = lambda i: self.b.load(g, i)
        self._compare(out["f"])
        self._accept(out["f"])
        self._write(self.direction())

    @staticmethod
    @abstractmethod
    def metric_rows(n: int) -> tuple[int, ...]:
        """The rows of the metric's arrays."""

    @abstractmethod
    def direction(self) -> Value:
        """Writes the metric and the direction; returns the slope along it."""

    # ---- what is given
    def parameter(self, name: str) -> Value:
        return self.b.data(self.at + 3 * self.n + PARAMETERS.index(name))

    def bound(self, which: int, i: "int | Value") -> Value:
        """The lower bound (0), the upper bound (1) or the width (2) of variable i."""
        return self.b.data(self.b.place("uadd", self.at + which * self.n, i))

    def scalar(self, name: str) -> Value:
        return self.b.input(self.scalars, SCALARS.index(name))

    def trial(self, i: "int | Value") -> Value:
        b = self.b
        moved = b.fma(self.scalar("step"), b.input(_DIRECTION, i), b.input(_X, i))
        return b.min(b.max(moved, self.bound(0, i)), self.bound(1, i))

    def moved(self, i: Value) -> Value:
        return self.b.load(self.steps, i)

    def changed(self, i: Value) -> Value:
        return self.b.load(self.changes, i)

    # ---- the trial
    def _compare(self, f: Value) -> None:
        b = self.b
        self.steps, self.changes = b.buffer(self.n), b.buffer(self.n)
        with b.loop(self.n) as turn:
            i = turn.index
            before = b.input(_GRADIENT, i)
            s, y = b.sub(self.trial(i), b.input(_X, i)), b.sub(self.new_gradient(i), before)
            b.store(self.steps, i, s)
            b.store(self.changes, i, y)
            sums = [total(b, v) for v in (b.mul(before, s), b.mul(s, s), b.mul(s, y), b.mul(y, y), b.abs(self.new_gradient(i)))]
        self.gain, ss, self.sy, yy, size = (s() for s in sums)
        sound = b.mand(b.ole(b.abs(f), _LARGEST), b.ole(size, _LARGEST))
        state, old = self.scalar("state"), self.scalar("value")
        self.fresh, self.running = b.oeq(state, float(LaneState.FRESH)), b.olt(state, float(LaneState.CONVERGED))
        falls = b.mand(b.ole(f, b.fma(self.parameter("armijo"), self.gain, old)), b.olt(self.gain, 0.0))
        self.accept = b.mand(self.running, b.mand(sound, b.mor(self.fresh, falls)))
        self.dead = b.mand(self.fresh, b.mnot(sound))
        curved = b.mand(b.ogt(self.sy, 0.0), b.ogt(b.mul(self.sy, self.sy), b.mul(b.mul(ss, yy), 2.0**-50)))
        self.good = b.mand(b.mand(self.accept, b.mnot(self.fresh)), curved)

    def _accept(self, f: Value) -> None:
        b = self.b
        state, old = self.scalar("state"), self.scalar("value")
        self.plain, self.learned = b.oeq(state, float(LaneState.PLAIN)), b.oeq(state, float(LaneState.LEARNED))
        self.value = b.select(self.dead, float("inf"), b.select(self.accept, f, old))
        self.tries = b.select(self.accept, 0.0, b.add(self.scalar("tries"), 1.0))
        exhausted = b.mand(self.running, b.ogt(self.tries, self.parameter("limit")))
        self.again, self.stuck = b.mand(exhausted, self.learned), b.mand(exhausted, self.plain)
        rounding = b.fma(b.abs(old), 2.0**-48, self.parameter("floor"))
        idle = b.mand(b.mand(b.olt(self.gain, 0.0), b.ole(b.neg(self.gain), rounding)), b.mnot(self.fresh))
        self.noise = b.mand(self.running, b.mand(b.mnot(self.accept), idle))
        self.renew = b.mor(self.accept, self.again)
        self.now_learned = b.mand(self.accept, b.mor(self.good, self.learned))
        self.now_plain = b.mand(self.renew, b.mnot(self.now_learned))
        free = b.buffer(self.n)
        with b.loop(self.n) as turn:
            i = turn.index
            x = b.select(self.accept, self.trial(i), b.input(_X, i))
            g = b.select(self.accept, self.new_gradient(i), b.input(_GRADIENT, i))
            held = b.mor(b.mand(b.ole(x, self.bound(0, i)), b.oge(g, 0.0)), b.mand(b.oge(x, self.bound(1, i)), b.ole(g, 0.0)))
            b.output(_X, i, x)
            b.output(_GRADIENT, i, g)
            b.store(free, i, b.select(held, 0.0, g))
            size = largest(b, b.mul(b.abs(b.select(held, 0.0, g)), self.bound(2, i)))
        self.size = size()
        self.free = lambda i: b.load(free, i)  # the gradient of the variables that may move
        longest = b.select(self.again, POLICY.careful_step, POLICY.first_step)
        self.plain_scale = b.div(longest, b.select(b.ogt(self.size, 0.0), self.size, 1.0))

    def plain_metric(self, i: Value) -> Value:
        """The diagonal of the metric that knows nothing: the longest component of its step is a fixed part of the width."""
        width = self.bound(2, i)
        return self.b.mul(self.b.mul(width, width), self.plain_scale)

    def write_direction(self, i: Value, p: Value) -> Callable[[], Value]:
        """Writes component i, 0 for a variable that is held; the sum returned is the slope."""
        b = self.b
        p = b.select(b.oeq(self.free(i), 0.0), 0.0, p)
        b.output(_DIRECTION, i, b.select(self.renew, p, b.input(_DIRECTION, i)))
        return total(b, b.mul(self.free(i), p))

    def _write(self, slope: Value) -> None:
        b = self.b
        rounding = b.fma(b.abs(self.value), 2.0**-49, self.parameter("floor"))
        settled = b.mor(b.oeq(self.size, 0.0), b.mand(self.now_learned, b.mand(b.ole(b.neg(slope), rounding), b.ole(slope, 0.0))))
        ended = b.mor(b.mand(self.renew, settled), b.mor(self.noise, self.stuck))
        small = b.ole(self.size, b.fma(b.abs(self.value), 1e-5, self.parameter("small")))
        lost = b.mand(self.now_learned, b.mnot(b.olt(slope, 0.0)))  # rounding has spoilt the metric: forget it next time
        running = b.select(self.now_plain, float(LaneState.PLAIN), self.scalar("state"))
        running = b.select(self.now_learned, float(LaneState.LEARNED), running)
        end = b.select(small, float(LaneState.CONVERGED), float(LaneState.KINK))
        state = b.select(self.dead, float(LaneState.DEAD), b.select(ended, end, running))
        step = b.select(self.renew, b.select(lost, 0.0, 1.0), b.mul(self.scalar("step"), 0.5))
        rows = {"value": self.value, "step": step, "tries": b.select(lost, self.parameter("limit"), self.tries),
                "state": b.select(self.running, state, self.scalar("state")), "size": self.size, "scale": self.scale(),
                "trials": b.select(self.running, b.add(self.scalar("trials"), 1.0), self.scalar("trials"))}
        for name, value in rows.items():
            b.output(self.scalars, SCALARS.index(name), value)

    def scale(self) -> Value:
        """A number that the metric keeps."""
        return self.b.const(0.0)

    @classmethod
    def program(cls, name: str, f: Expr, x: Expr) -> tuple:
        """(kernel, data, rows of the outputs, where the parameters begin in the doubles)."""
        d = cls(f, x)
        rows = (x.size,) * 3 + cls.metric_rows(x.size) + (len(SCALARS),)
        return d.b.kernel(name, len(rows), len(rows)), d.data, rows, d.at


class DenseDescent(DescentKernel):
    """The inverse Hessian, n*n numbers."""

    @staticmethod
    def metric_rows(n: int) -> tuple[int, ...]:
        return (n * n,)

    def _entry(self, i: Value, j: Value) -> Value:
        return self.b.input(_METRIC, self.b.place("uadd", self.b.place("umul", i, self.n), j))

    def direction(self) -> Value:
        b, n = self.b, self.n
        product = b.buffer(n)
        with b.loop(n) as row:
            i = row.index
            with b.loop(n) as column:
                entry = total(b, b.mul(self._entry(i, column.index), self.changed(column.index)))
            b.store(product, i, entry())
            bent = total(b, b.mul(self.changed(i), entry()))
        grown = b.select(self.plain, b.div(self.sy, bent()), 1.0)  # the first change tells the size of the metric
        inverse = b.div(1.0, self.sy)
        outer = b.mul(b.fma(grown, bent(), self.sy), b.mul(inverse, inverse))
        mixed = b.neg(b.mul(grown, inverse))
        with b.loop(n) as row:
            i = row.index
            with b.loop(n) as column:
                j = column.index
                s, t = self.moved(i), self.moved(j)
                cross = b.add(b.mul(b.load(product, i), t), b.mul(s, b.load(product, j)))
                learnt = b.fma(mixed, cross, b.fma(b.mul(outer, s), t, b.mul(grown, self._entry(i, j))))
                entry = b.select(self.good, learnt, self._entry(i, j))
                entry = b.select(self.now_plain, b.select(b.ueq(i, j), self.plain_metric(i), 0.0), entry)
                b.output(_METRIC, b.place("uadd", b.place("umul", i, n), j), entry)
                along = total(b, b.mul(entry, self.free(j)))
            slope = self.write_direction(i, b.neg(along()))
        return slope()


class LimitedMemoryDescent(DescentKernel):
    """The last few steps and changes of the gradient, the newest last; the two-loop recursion makes the direction."""

    @staticmethod
    def metric_rows(n: int) -> tuple[int, ...]:
        return (POLICY.remembered_steps * n, POLICY.remembered_steps * n, POLICY.remembered_steps)

    def _pair(self, which: int, k: int, i: Value) -> Value:
        """Component i of step (0) or change (1) number k, after this trial."""
        b = self.b
        stored = b.input(_METRIC + which, b.place("uadd", k * self.n, i))
        newer = b.input(_METRIC + which, b.place("uadd", (k + 1) * self.n, i)) if k + 1 < POLICY.remembered_steps else \
            (self.moved, self.changed)[which](i)
        return b.select(self.good, newer, stored)

    def scale(self) -> Value:
        return self._scale

    def direction(self) -> Value:
        b, n = self.b, self.n
        inverse = b.div(1.0, self.sy)
        weights = []  # 1/(s*y), 0 where there is no pair
        for k in range(POLICY.remembered_steps):
            stored = b.input(_METRIC + 2, k)
            newer = b.input(_METRIC + 2, k + 1) if k + 1 < POLICY.remembered_steps else inverse
            weights.append(b.select(self.now_plain, 0.0, b.select(self.good, newer, stored)))
            b.output(_METRIC + 2, k, weights[k])
        rest, newest = b.buffer(n), POLICY.remembered_steps - 1
        with b.loop(n) as turn:
            i = turn.index
            for k in range(POLICY.remembered_steps):
                for which in (0, 1):
                    b.output(_METRIC + which, b.place("uadd", k * n, i), self._pair(which, k, i))
            b.store(rest, i, self.free(i))
            dot = total(b, b.mul(self._pair(0, newest, i), self.free(i)))
            weighted = b.mul(self.changed(i), self.bound(2, i))
            bent = total(b, b.mul(weighted, weighted))
        fitted = b.select(self.good, b.div(self.sy, bent()), self.scalar("scale"))
        self._scale = b.select(self.now_plain, self.plain_scale, fitted)
        parts = {}
        for k in reversed(range(POLICY.remembered_steps)):
            parts[k] = b.mul(weights[k], dot())
            with b.loop(n) as turn:
                i = turn.index
                left = b.fma(b.neg(parts[k]), self._pair(1, k, i), b.load(rest, i))
                if k == 0:
                    width = self.bound(2, i)
                    left = b.mul(left, b.mul(b.mul(width, width), self._scale))
                b.store(rest, i, left)
                dot = total(b, b.mul(self._pair(0, k - 1, i) if k else self._pair(1, 0, i), left))
        for k in range(POLICY.remembered_steps):
            part = b.sub(parts[k], b.mul(weights[k], dot()))
            with b.loop(n) as turn:
                i = turn.index
                left = b.fma(part, self._pair(0, k, i), b.load(rest, i))
                if k < newest:
                    b.store(rest, i, left)
                    dot = total(b, b.mul(self._pair(1, k + 1, i), left))
                else:
                    slope = self.write_direction(i, b.neg(left))
        return slope()


def probe(name: str, f: Expr, x: Expr) -> tuple:
    """Values beside a point: (kernel, data, rows, where the parameters begin).

    A lane holds five numbers j, v, k, w, t and evaluates f at clip(point + t*direction) with component j set to v and then
    component k set to w; an index that is no variable sets nothing. Parameters: point, direction, lower and upper bounds, and the
    numbers 0 … n-1. Nothing but these five numbers travels for a lane.
    """
    b, data, n = Builder(), Data(), x.size
    at = data.offset(np.zeros(5 * n))

    def leaf(i: "int | Value") -> Value:
        point, direction, low, high, index = (b.data(b.place("uadd", at + k * n, i)) for k in range(5))
        j, v, k, w, t = (b.input(0, row) for row in range(5))
        moved = b.min(b.max(b.fma(t, direction, point), low), high)
        return b.select(b.oeq(k, index), w, b.select(b.oeq(j, index), v, moved))

    value, = Lowering(b, Estimates(), {"x": leaf}, data).values([f])
    b.output(0, 0, value)
    return b.kernel(name, 1, 1), data, (1,), at
