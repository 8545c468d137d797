"""The kernel of quadratic models: about the lowest point, within a region, of a function whose derivatives at a point of it are
known. An estimate, which proves nothing; but a point of the region in any case."""

import numpy as np

from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Kernel, Value

REGIONS, CENTRE, SLOPE_LO, SLOPE_HI, CURVATURE_LO, CURVATURE_HI = range(6)  # the inputs
_SWEEPS = 8


def lowest(name: str, n: int) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel: one variable after the other goes where the model is lowest along it, several times. It has no loops."""
    b, every = Builder(), range(n)
    lo, hi, c = ([b.input(slot, k + i) for i in every] for slot, k in ((REGIONS, 0), (REGIONS, n), (CENTRE, 0)))

    def middle(low: int, high: int, row: int) -> Value:
        return b.add(b.mul(b.input(low, row), 0.5), b.mul(b.input(high, row), 0.5))
    places = {pair: k for k, pair in enumerate(zip(*(a.tolist() for a in np.triu_indices(n)), strict=True))}
    curvature = [[middle(CURVATURE_LO, CURVATURE_HI, places[min(i, j), max(i, j)]) for j in every] for i in every]
    slope = [middle(SLOPE_LO, SLOPE_HI, i) for i in every]  # at the point
    x = list(c)
    for _ in range(_SWEEPS):
        for i in every:
            place, = b.outline("model_lowest", _lowest, x[i], slope[i], curvature[i][i], lo[i], hi[i])
            step, x[i] = b.sub(place, x[i]), place
            slope = [b.fma(curvature[i][j], step, slope[j]) for j in every]
    for i in every:
        b.output(0, i, x[i])
    return b.kernel(name, 6, 1), Data(), (n,), 0


def _lowest(b: Builder, x: Value, slope: Value, curvature: Value, lo: Value, hi: Value) -> tuple[Value]:
    """Where a parabola is lowest in [lo, hi]; where there is none, the end it falls to, and x if nothing is known."""
    falls_to = b.select(b.ogt(slope, 0.0), lo, b.select(b.olt(slope, 0.0), hi, x))
    place = b.sub(x, b.div(slope, curvature))
    return b.min(b.max(b.select(b.ogt(curvature, 0.0), place, falls_to), lo), hi),
