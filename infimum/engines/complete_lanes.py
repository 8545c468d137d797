"""The kernels of the complete search and what their lanes share: with everything outside the block hoisted, or, where there are
constraints, with all rows together."""

import numpy as np

from infimum.bounds.sweeps.local_context import ContextNumbers
from infimum.engines import complete_kernel, complete_system_kernel
from infimum.errors import NotLocalError
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BLOCK_CONTEXT, COMPLETE, COMPLETE_SYSTEM, ProgramKind

Ends = list[list[float]]  # of the pieces of each variable of a block


class HoistedLanes:
    """For a function alone. `kinds` are the kernels without and with samples, and the former reads the first `plain` parameters
    of the latter. `parts` (samples, n) say where each sample lies in each variable, as a part of the width."""

    def __init__(self, evaluator: Evaluator, block: int, pieces: int, parts: np.ndarray):
        self.evaluator, self.block, self.parts = evaluator, block, parts
        form = evaluator.facts.local_block(block)
        if form is None:
            raise NotLocalError("the complete search needs a function made of sums, products, norms, minima or maxima over the "
                                "variables, which this one is not; use engine='auto'")
        self.numbers = ContextNumbers(form)
        self.layout, without = (complete_kernel.Layout(block, pieces, count, len(form.numbers)) for count in (len(parts), 0))
        self.plain = without.size
        self.kinds = [ProgramKind.of(COMPLETE, m=block, p=pieces, samples=samples) for samples in (0, len(parts))]

    def parameters(self, lo: np.ndarray, hi: np.ndarray, start: int, ends: Ends, least: float,
                   user: tuple[np.ndarray, np.ndarray], upper: float) -> np.ndarray:
        """What the lanes share in the region [lo, hi], whose block begins at `start`, within the `user`'s bounds, with an `upper`
        bound known: see `engines.complete_kernel.Layout`."""
        width = (hi - lo)[:, None]
        points = np.minimum(np.maximum(lo[:, None] + width * self.parts.T, lo[:, None]), hi[:, None])
        boxes = np.concatenate([lo[:, None], points], axis=1), np.concatenate([hi[:, None], points], axis=1)
        context = ProgramKind.of(BLOCK_CONTEXT, block=self.block)
        found = self.evaluator.run(context, list(boxes)) if self.numbers.needs_context else []
        rows = self.numbers.enclosures(np.array([start]), *boxes, found)
        numbers = np.empty((boxes[0].shape[1], len(rows), 3))
        for k, number in enumerate(rows):
            for row in range(3):
                numbers[:, k, row] = number[row][0] if len(number) == 3 else (number[0][0] if row < 2 else 3.0)
        block = slice(start, start + self.block)
        bounds = np.stack([end[block] for end in user], axis=1)
        return np.concatenate([np.array(ends).ravel(), bounds.ravel(), [least], numbers[0].ravel(), self.parts[:, block].ravel(),
                               numbers[1:].ravel()])


class JointLanes:
    """For a function with constraints; the same. With equations there are no samples: none would be certain to obey them."""

    def __init__(self, evaluator: Evaluator, block: int, pieces: int, parts: np.ndarray):
        self.block = block
        self.parts = parts[:0] if evaluator.system.equal.any() else parts
        self.plain = complete_system_kernel.Layout(evaluator.n, block, pieces, 0).size
        self.kinds = [ProgramKind.of(COMPLETE_SYSTEM, m=block, p=pieces, samples=samples)
                      for samples in dict.fromkeys((0, len(self.parts)))]

    def parameters(self, lo: np.ndarray, hi: np.ndarray, start: int, ends: Ends, least: float,
                   user: tuple[np.ndarray, np.ndarray], upper: float) -> np.ndarray:
        """See `engines.complete_system_kernel.Layout`."""
        places = np.arange(len(lo)) - start
        places = np.where((places >= 0) & (places < self.block), places, -1)
        return np.concatenate([np.array(ends).ravel(), places, lo, hi, *user, [least, float(upper < np.inf)],
                               self.parts.ravel()])
