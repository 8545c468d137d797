"""The parts of a proof in the order in which they are asked: the cheapest first, each about what those before it leave."""

import numpy as np

from infimum.engine.parts.by_pieces import ByPieces
from infimum.engine.parts.first_order import FirstOrder
from infimum.engine.parts.part import Part
from infimum.engine.parts.shaving import Shaving
from infimum.evaluate import Evaluator

PARTS: tuple[type[Part], ...] = (FirstOrder, ByPieces, Shaving)


def parts_of(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray) -> list[Part]:
    """Those that can say something about this function."""
    return [part(evaluator, lo, hi) for part in PARTS if part.applies(evaluator)]
