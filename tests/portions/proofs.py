"""Proofs that take several rounds of few regions, and what of their results must not depend on workers."""

import numpy as np
import pytest

from infimum.parallel.proofs.portion_runner import WorkerPortionRunner

SETTINGS = {"batch": 32, "portions": 4, "atol": 1e-6, "rtol": 0.0}
BOUNDS = [(-5, 6)] * 3


def waves(x):
    return np.sum(x**2) / 20 - np.prod(np.cos(2 * x)) + np.sin(x[0] * x[1]) + np.cos(x[1] * x[2] + x[0])


def limits(x):
    return [x[0] * x[1] + np.sin(3 * x[2]) >= 1, x[0] ** 2 + x[1] ** 2 + x[2] ** 2 <= 9 + np.cos(5 * x[0])]


def ripples(x):
    """Of many local minima: with whole numbers several rounds too."""
    return np.prod(np.cos(5 * x)) + np.sin(3 * x[0] * x[1]) + np.cos(4 * x[1] * x[2] + x[0]) + np.sum(x**2) / 200


def wide_limits(x):
    return [x[0] * x[1] + np.sin(3 * x[2]) >= 1, x[0] ** 2 + x[1] ** 2 + x[2] ** 2 <= 90 + np.cos(5 * x[0])]


def bits(result):
    """All that is promised to be the same, as bytes."""
    regions = result.regions
    arrays = [result.x, regions.lo, regions.hi, regions.lower, np.array([result.lower, result.upper])]
    counts = result.verdict, result.nit, result.nfev, len(regions), result.rounds["rounds"], result.rounds["portions"]
    return counts, [np.ascontiguousarray(a).tobytes() for a in arrays]


def killing_one(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From now on a worker that is busy is killed, once; the list will hold its process id."""
    killed = []

    def deal(self, count, portion, _usual=WorkerPortionRunner.run_portions):
        for number, answer in enumerate(_usual(self, count, portion)):
            busy = [worker.process for worker in self.workers._workers if worker.ticket is not None]
            if number >= 1 and busy and not killed:
                killed.append(busy[0].pid)
                busy[0].kill()
            yield answer
    monkeypatch.setattr(WorkerPortionRunner, "run_portions", deal)
    return killed
