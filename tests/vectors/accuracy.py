"""The document docs/accuracy.md, written from the vectors: python -m tests.vectors.accuracy

A test compares the committed document with the one written anew, so its figures stay those of the code.
"""

from pathlib import Path

import numpy as np

from tests.vectors.enclosures import OPERATIONS, measured, vectors

DOCUMENT = Path(__file__).parents[2] / "docs" / "accuracy.md"

_TEXT = """\
# Accuracy

How tight the enclosures are, measured on the {count} vectors of the interval test framework ITF1788 that concern operations of
infimum (tests/vectors, where their authors are named). Each vector gives an operation, an interval for every argument, and the
tightest enclosure of the result in doubles. Every enclosure computed by infimum contains it.

The guarantee: the ends of the four operations, 1/x, the square, the square root, abs, min, max, sign, floor and ceil are
the tightest doubles. An enclosure of any other function at a single point is at most 4 ulp wide, or less where the table says so;
for sin, cos and tan this holds for |x| <= 2**20, and beyond that the enclosure of a point beside a zero or a pole may be wider.

* `below` and `above`: the largest distance, in ulps, of the lower and the upper end from the tightest ones.
* `point`: the largest width, in ulps, of the enclosure of a single point ("-": there is no such vector). The tightest
  enclosure of a number that is not a double has the width 1.
* `documented`: the guaranteed limit of both; 0 means the tightest doubles. There is no fused operation: `fma` is written as a
  product and a sum, and its vectors only test that the result is contained. So do those of `pow` with a negative base, or with
  0**0, where the standard has no power and infimum has one (docs/proofs/powers.md).

This document is written by `python -m tests.vectors.accuracy`, and a test compares it with the code.

| operation | in the vectors | vectors | below | above | point | documented |
|---|---|---:|---:|---:|---:|---:|
{table}

## Special functions

ITF1788 has no vectors for these; their enclosures at single points are compared with Arb in tests/interval. They are at most so
wide:

* erf, erfc (down to the smallest double), expit, x log x: 4 ulp.
* logaddexp: 4 ulp of the larger of 1 and max(|x|, |y|), since the sum may cancel.
* lgamma: 4 ulp, or 2**-60 beside its zeros at 1 and 2.
* polygamma, its derivatives, which is evaluated in interval arithmetic: 40 ulp up to the fifth derivative; the first, the digamma
  function, 40 ulp of the larger of 1 and its value.
* sin(x)/x, of which np.sinc is made: 12 ulp up to 2**20. Its derivative number m, evaluated in interval arithmetic, for m up to
  4: 40 ulp of min(1/(m + 1), 2/|x|), a bound of its size.

The other functions of scipy.special are formulas of these. `logit` is a difference of two logarithms: near 1/2 it is off by an
ulp or two of log 2. `gamma` is the exponential of lgamma, whose error it multiplies. `gammaln`, `gamma` and `psi` of a negative x
contain the angle pi x, which is rounded: beside a pole they are as wide as that makes them.
"""


def _line(name: str) -> str:
    operation, found = OPERATIONS[name], measured(name)
    counted = ~found.empty
    points = counted & np.array([row.point for row in found.rows])
    below, above = (int(np.max(excess, where=counted, initial=0.0)) for excess in (found.below, found.above))
    point = int(np.max(found.width, where=points, initial=0.0)) if points.any() else "-"
    documented = "-" if operation.ulps is None else operation.ulps
    return f"| {operation.ours} | {operation.rows or name} | {len(found.rows)} | {below} | {above} | {point} | {documented} |"


def document() -> str:
    """The text of docs/accuracy.md as the code is now."""
    count = sum(map(len, vectors().values()))
    return _TEXT.format(count=count, table="\n".join(_line(name) for name in OPERATIONS))


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document(), encoding="utf-8")
