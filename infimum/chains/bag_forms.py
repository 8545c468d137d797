"""Forms: all bags whose terms are written alike, however they are linked, so that one kernel run estimates them at points."""

import numpy as np

from infimum.chains.bag_kinds import BagKind
from infimum.evaluation.programs import AT_POINTS, CURVES, ProgramKind


class BagForm:
    """variables: (k, bags). `kinds` are the numbers of the kinds that it consists of, one after the other."""

    def __init__(self, kinds: list[BagKind], numbers: list[int]):
        mine = [kinds[number] for number in numbers]
        self.kinds, self.evaluator, self.k = numbers, mine[0].evaluator, mine[0].k
        self.variables = np.concatenate([kind.variables for kind in mine], axis=1)
        self.constants = np.concatenate([kind.constants[:len(kind.constants) // 2] for kind in mine], axis=1)
        self.offsets = np.cumsum([0, *(len(kind.bags) for kind in mine)])

    def constants_of(self, bag: np.ndarray) -> list[np.ndarray]:
        """Those of bags, as kernels take them."""
        return [np.take(self.constants, bag, axis=1)] if len(self.constants) else []

    def values(self, x: np.ndarray, constants: list[np.ndarray]) -> np.ndarray:
        """The terms at points (k, N)."""
        return self.evaluator.run(self._program(AT_POINTS), [x, *constants])[0][0]

    def derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradients (k, bags) and Hessians (k, k, bags) at one point x of all variables."""
        constants = [self.constants] if len(self.constants) else []
        _, slopes, hessian = self.evaluator.run(self._program(CURVES), [x[self.variables], *constants])
        return slopes, hessian.reshape(self.k, self.k, -1)

    def _program(self, name: str) -> ProgramKind:
        return ProgramKind.of(name, constants=len(self.constants))


def forms_of(kinds: list[BagKind]) -> list[BagForm]:
    """The forms of the bags that have variables."""
    groups: dict[tuple, list[int]] = {}
    for number, kind in enumerate(kinds):
        if kind.k:
            groups.setdefault((kind.evaluator.f, kind.k), []).append(number)
    return [BagForm(kinds, numbers) for numbers in groups.values()]
