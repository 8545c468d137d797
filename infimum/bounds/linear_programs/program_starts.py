"""What programs of regions leave to the regions within them: a basis, multipliers, and points at which curves were touched.

Regions do not know what they were cut from. Of the regions that are kept here, the last one that contains a region counts, and
that is mostly the one. These are estimates: any basis and any multipliers will do.
"""

from typing import Any

import numpy as np

from infimum.relax.program_bounds import ProgramStart
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY


class ProgramStarts:
    """The last ones, in the order in which they were kept."""

    def __init__(self, variables: int, numbers: Any):
        self.n, self.numbers = variables, numbers  # of a basis
        self.starts: list[ProgramStart] = []
        self.boxes = np.empty((2 * variables, POLICY.kept_starts))  # upper ends are negative here
        self.next = 0  # which place is filled next, where all are filled
        self.replaced: list[tuple[int, int, ProgramStart | None, np.ndarray]] = []  # since `mark`: next, a place, what it held

    def __len__(self) -> int:
        return len(self.starts)

    def keep(self, lo: np.ndarray, hi: np.ndarray, start: ProgramStart) -> None:
        """In the place of the oldest one where there are many."""
        place = len(self.starts)
        if place >= self._most(start):
            place = self.next
            self.replaced.append((self.next, place, self.starts[place], self.boxes[:, place].copy()))
            self.starts[place], self.next = start, (place + 1) % len(self.starts)
        else:
            self.replaced.append((self.next, place, None, self.boxes[:, place].copy()))
            self.starts.append(start)
        self.boxes[:self.n, place], self.boxes[self.n:, place] = lo, -hi

    def mark(self) -> None:
        """From here on what is kept can be undone."""
        self.replaced.clear()

    def undo(self) -> None:
        """As they were at the mark."""
        while self.replaced:
            self.next, place, start, self.boxes[:, place] = self.replaced.pop()
            if start is None:
                self.starts.pop()
            else:
                self.starts[place] = start

    def _most(self, start: ProgramStart) -> int:
        size = sum(np.size(part) for part in (start.weights, start.points))
        return max(1, min(POLICY.kept_starts, POLICY.kept_numbers // (2 * self.n + max(1, size))))

    def around(self, lo: np.ndarray, hi: np.ndarray) -> list[ProgramStart | None]:
        """For each of the boxes, columns (n, N): the last of those that contain it."""
        sides, count = np.concatenate([lo, -hi]), len(self.starts)
        boxes, age = self.boxes[:, :count], (np.arange(count) - self.next) % max(1, count)
        box, known = (part.ravel() for part in np.indices((lo.shape[1], count)))
        for row in range(2 * self.n):
            inside = boxes[row, known] <= sides[row, box]
            box, known = box[inside], known[inside]
        last = np.full(lo.shape[1], -1)
        np.maximum.at(last, box, age[known])
        return [None if k < 0 else self.starts[(k + self.next) % count] for k in last.tolist()]

    # ---- checkpoints
    def state(self) -> dict[str, np.ndarray]:
        count = len(self.starts)
        if not count:
            return {}
        order = [(k + self.next) % count for k in range(count)]
        starts = [self.starts[k] for k in order]
        found = {"boxes": self.boxes[:, order], "turns": np.array([start.turn for start in starts], np.int64)}
        for name, parts in (("basis", [self.numbers(start.basis) for start in starts]), ("weights", [s.weights for s in starts]),
                            ("points", [start.points for start in starts])):
            sizes = np.array([-1 if part is None else part.size for part in parts], np.int64)
            known = [part.ravel() for part in parts if part is not None]
            found |= {f"{name}.sizes": sizes, name: np.concatenate(known) if known else np.empty(0)}
        return {f"lp.starts.{name}": array for name, array in found.items()}

    def restore(self, arrays: dict[str, np.ndarray], curves: int) -> None:
        known = {name.removeprefix("lp.starts."): part for name, part in arrays.items() if name.startswith("lp.starts.")}
        if not known:
            return
        parts = {name: self._parts(known[name], known[f"{name}.sizes"]) for name in ("basis", "weights", "points")}
        points = [None if part is None else part.reshape(curves, POLICY.touched_solutions) for part in parts["points"]]
        self.starts = [ProgramStart(*given) for given in zip(parts["basis"], parts["weights"], points, known["turns"].tolist(),
                                                             strict=True)]
        self.boxes[:, :len(self.starts)], self.next = known["boxes"], 0

    @staticmethod
    def _parts(numbers: np.ndarray, sizes: np.ndarray) -> list[np.ndarray | None]:
        ends = np.cumsum(np.maximum(sizes, 0))
        return [None if size < 0 else numbers[end - size:end].copy() for size, end in zip(sizes, ends, strict=True)]
