"""A good point of a union of boxes: drawn points tell in which boxes to descend, and where a swarm looks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.points.descents import DescentRules, Descents
from infimum.points.point_search import PointSearch
from infimum.points.random_numbers import uniform
from infimum.points.swarm import Swarm
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.problem.start_boxes import StartBoxes
from infimum.search.policy.points import START_BOX_SEARCH as POLICY

_STREAM = 7  # fixed: the stream of random numbers


class SearchInBoxes(PointSearch):
    """Looks in all boxes (finite ones) at drawn points, descends in the `most` boxes where these are lowest, and then looks there
    with swarms, unless it is to be `quick`."""

    def __init__(self, evaluator: Evaluator, boxes: StartBoxes, options: SwarmOptions, seed: int, most: int, quick: bool = False):
        self.evaluator, self.boxes, self.seed, self.quick = evaluator, boxes, seed, quick
        self.most = min(most, len(boxes))
        particles = options.particles or max(32, POLICY.particles // self.most)
        self.options = replace(options, restarts=0, particles=particles)
        self.x, self.value, self.drawn = boxes.lo[:, 0] / 2 + boxes.hi[:, 0] / 2, np.inf, 0
        self.order = np.arange(len(boxes))  # of the boxes, the most promising first
        self.lowest: list[np.ndarray] = []  # the starts of descents in each box
        self.swarms: list[Swarm] = []

    @property
    def evaluations(self) -> int:
        return self.drawn + sum(swarm.evaluations for swarm in self.swarms)

    def rounds(self) -> list[Iterator[None]]:
        searches = [self._descend] if self.quick else [self._descend, self._look]
        return [self._draw(), *(search(k) for search in searches for k in range(self.most))]

    def candidates(self) -> list[np.ndarray]:
        return [self.x, *(point for swarm in self.swarms[-1:] for point in swarm.candidates())]

    def _draw(self) -> Iterator[None]:
        """The middle of every box and points drawn in it."""
        n, count = len(self.boxes.lo), len(self.boxes)
        each = min(256, POLICY.drawn_points // count) // (POLICY.quick_reduction if self.quick else 1)
        each = max(POLICY.least_points_a_box, each)
        unit = uniform(self.seed, _STREAM, 0, range(each), n)
        unit[:, 0] = 0.5
        lowest = np.full(count, np.inf)
        for k, (lo, hi) in enumerate(zip(self.boxes.lo.T[:, :, None], self.boxes.hi.T[:, :, None], strict=True)):
            points = np.minimum(np.maximum(lo * (1 - unit) + hi * unit, lo), hi)
            values = self.evaluator.estimate(points)
            values = np.where(np.isfinite(values), values, np.inf)
            order = np.argsort(values, kind="stable")
            self.drawn, lowest[k] = self.drawn + each, values[order[0]]
            self.lowest.append(np.take(points, order[:POLICY.descents_a_box], axis=1))
            self._offer(points[:, order[0]], float(values[order[0]]))
            yield
        self.order = np.argsort(lowest, kind="stable")

    def _descend(self, k: int) -> Iterator[None]:
        """From the lowest points of the k-th of them."""
        box = int(self.order[k])
        descents = Descents(self.evaluator, *self.boxes.box(box), self.lowest[box], DescentRules())
        while not descents.done:
            descents.advance()
            yield
        ends = descents.ends()
        self.drawn += ends.evaluations
        if len(ends.value):
            best = int(np.argmin(ends.value))
            self._offer(ends.x[:, best], float(ends.value[best]))
        yield

    def _look(self, k: int) -> Iterator[None]:
        """With a swarm in the k-th of them."""
        box = int(self.order[k])
        swarm = Swarm(Problem(None, *self.boxes.box(box)), self.evaluator, self.options, self.seed)
        self.swarms.append(swarm)
        steps, = swarm.rounds()
        for _ in steps:
            self._offer(swarm.x, swarm.value)
            yield
        self._offer(swarm.x, swarm.value)

    def _offer(self, x: np.ndarray, value: float) -> None:
        if value < self.value:
            self.x, self.value = x.copy(), value
