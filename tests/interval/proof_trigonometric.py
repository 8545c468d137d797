"""Bounds behind the constants of infimum.interval.elementary.trigonometric, computed again from its own code.

`Analyst` stands in for the builder: its values are Cells, an interval that holds the value without rounding errors and a bound
of what the rounding errors add. The functions `…_need` return what a constant must at least be. Float arithmetic on
bounds is made safe by widening every result.
"""

import math

from flint import arb, arb_poly, arb_series, ctx

from infimum.interval.elementary import angle_reduction as angle
from infimum.interval.elementary import trigonometric as code

WIDER = 1 + 2.0**-44


class Cell:
    """The ideal value lies in [lo, hi]; the computed one is off by at most err."""

    def __init__(self, lo: float, hi: float, err: float = 0.0):
        self.lo, self.hi, self.err = lo, hi, err

    @property
    def most(self) -> float:
        return max(abs(self.lo), abs(self.hi))


def step(value: float) -> float:
    """The distance of doubles of this size: an upward rounding moves by less."""
    return math.ldexp(1.0, max(math.frexp(value * WIDER)[1] - 53, -1074)) if value > 0 else 0.0


class Analyst:
    """A builder on Cells: every rounding counts a whole ulp, except where the result is exact by its form."""

    @staticmethod
    def _cell(value) -> Cell:
        return value if isinstance(value, Cell) else Cell(value, value)

    @staticmethod
    def _widened(lo: float, hi: float, terms: float, err: float, rounded: bool = True) -> Cell:
        lo, hi = lo - terms * 2.0**-50, hi + terms * 2.0**-50  # the floats of this analysis round, too
        most = max(abs(lo), abs(hi)) + err
        return Cell(lo, hi, (err + (step(most) if rounded else 0.0)) * WIDER)

    def _product(self, x: Cell, y: Cell) -> tuple[float, float, float, float]:
        corners = (x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi)
        lo = max(min(corners), 0.0) if x is y else min(corners)
        return lo, max(corners), x.most * y.most, x.most * y.err + y.most * x.err + x.err * y.err

    def mul(self, x, y) -> Cell:
        exact = isinstance(y, float) and math.frexp(y)[0] in (0.5, -0.5)
        return self._widened(*self._product(self._cell(x), self._cell(y)), rounded=not exact)

    def fma(self, x, y, z) -> Cell:
        lo, hi, terms, err = self._product(self._cell(x), self._cell(y))
        z = self._cell(z)
        return self._widened(lo + z.lo, hi + z.hi, terms + z.most, err + z.err)

    def add(self, x, y) -> Cell:
        x, y = self._cell(x), self._cell(y)
        return self._widened(x.lo + y.lo, x.hi + y.hi, x.most + y.most, x.err + y.err)

    def sub(self, x, y) -> Cell:
        return self.add(x, self.neg(self._cell(y)))

    def neg(self, x) -> Cell:
        x = self._cell(x)
        return Cell(-x.hi, -x.lo, x.err)


def cells(least: float, most: float, parts: int) -> list[tuple[float, float]]:
    """[least, most] in pieces: halving down from most/4, evenly above."""
    edges = [most / 4 + (most * 0.75) * i / parts for i in range(parts + 1)]
    while edges[0] > least:
        edges[:0] = [edges[0] * 0.5 * f for f in (1.0, 1.125, 1.25, 1.5, 1.75)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def approximation_error(series: list[arb], remainder: arb, coefficients: tuple[float, ...], reach: float) -> float:
    """A bound of |f - polynomial| on [0, reach]: the exact difference of both series, moved to the middle of each piece."""
    difference = arb_poly([a - (coefficients[k] if k < len(coefficients) else 0) for k, a in enumerate(series)])
    pieces = 64
    half, worst = arb(reach) / (2 * pieces), 0.0
    for i in range(pieces):
        moved = difference(arb_poly([half * (2 * i + 1), 1]))
        bound = abs(remainder)
        for j in range(moved.length()):
            bound += abs(moved[j]) * half**j
        worst = max(worst, float(bound.upper()))
    return worst * WIDER


def approximation_errors() -> dict[str, float]:
    """sin, cos, tan: the errors of the polynomials in z on [0, REACH**2]."""
    ctx.prec, ctx.cap = 300, 100
    terms, z = 40, arb(code.REACH) ** 2
    sin = [arb((-1) ** (k + 1)) / arb(math.factorial(2 * k + 3)) for k in range(terms)]
    cos = [arb((-1) ** k) / arb(math.factorial(2 * k + 4)) for k in range(terms)]
    tangent = arb_series([0, 1], 2 * terms + 4).tan()
    tan = [2 * tangent[2 * k + 3] / arb(2) ** (2 * k + 3) for k in range(terms)]
    # alternating, falling series leave less than the next term; that of tan is positive, so it leaves most at the end
    u = 2 * (arb(code.REACH) / 2).tan()
    left = (u / code.REACH - 1) / z - sum((a * z**k for k, a in enumerate(tan)), arb(0))
    top = float(z.upper()) * WIDER
    return {"sin": approximation_error(sin, arb(1) / math.factorial(2 * terms), code.SIN, top),
            "cos": approximation_error(cos, arb(1) / math.factorial(2 * terms), code.COS, top),
            "tan": approximation_error(tan, left, code.TAN, top)}


def nearest_to_zero(exponent: int) -> float:
    """A lower bound of |x - k*pi/2|, k >= 1, over doubles x in [2**exponent, 2**(exponent+1)).

    x = m*2**(exponent-52), so it is 2**(exponent-52) |m - k*t|; over k <= K the best k is the denominator of a convergent of t.
    """
    ctx.prec = 400 + 2 * max(exponent, 0)
    unit = arb(2) ** (exponent - 52)
    t = arb.pi() / 2 / unit
    most = int(2.0**exponent * 1.28) + 2
    p0, q0, p1, q1, rest = 1, 0, int(t.floor().unique_fmpz()), 1, t
    while True:
        rest = 1 / (rest - rest.floor().unique_fmpz())
        a = int(rest.floor().unique_fmpz())
        if a * q1 + q0 > most:
            return float((abs(q1 * t - p1) * unit).lower()) / WIDER
        p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0


def hardest(limit: float, exponents: range = range(-52, -22)) -> list[float]:
    """Doubles that come nearest to multiples of pi/2, by continued fractions; their last bits have these exponents."""
    ctx.prec, found = 400 + 2 * max(exponents[-1], 0), []
    for exponent in exponents:
        unit = 2.0**exponent
        t = arb.pi() / 2 / unit
        p0, p1, rest = 1, int(t.floor().unique_fmpz()), t
        while p1 < 2**53 and p1 * unit <= limit:
            found.append(p1 * unit)
            rest = 1 / (rest - rest.floor().unique_fmpz())
            p0, p1 = p1, int(rest.floor().unique_fmpz()) * p1 + p0
    return found + [-x for x in found]


def reduction_need() -> tuple[float, float]:
    """(the error of r + low, of r; the largest |low|/|r|), over all |x| <= LIMIT.

    low is rounded twice; it is below an ulp of r, one of k*H1, and |k*H2|. What H0 + H1 + H2 misses counts k times.
    """
    ctx.prec = 400
    missing = float(abs(arb.pi() / 2 - sum((arb(h) for h in angle.HALF_PI), arb(0))).upper()) * WIDER
    worst, ratio = 0.0, 0.0
    for exponent in range(-1, 30):
        k, r = 2.0 ** (exponent + 1) * 0.64 + 1, nearest_to_zero(exponent)
        part = step(k * angle.HALF_PI[1]) + k * abs(angle.HALF_PI[2])
        worst = max(worst, 2.0**-51 * (part / r + 2.0**-52) * 1.01 + k * missing / r)
        ratio = max(ratio, (part / r + 2.0**-52) * 1.01)
    return worst, ratio


def low_part(r: float) -> float:
    """A bound of |low| at |r|: an ulp of r and an ulp of k*H1, |k| < 0.64*2**30, with some room; and `reduction_need`'s ratio."""
    return min(2.0**-52 * r + 2.0**-76, LOW * r)


LOW = 2.0**-23
LEAST = 2.0**-70  # below it r = x and low = 0 (nearest_to_zero is larger), and the tails are below 2**-139 of r: nothing to prove


def _parts(a: float, b: float) -> tuple[Analyst, Cell, Cell, Cell]:
    analyst, r, low = Analyst(), Cell(a, b), low_part(b)
    return analyst, r, Cell(-low, low), analyst.mul(r, r)


def _need(a: float, errors: float) -> float:
    """What is not covered by REDUCTION, of r**2, at a <= r."""
    return (errors * WIDER - a * angle.REDUCTION) / a**2


def sin_need(approximation: float, reduction: float, parts: int = 400) -> float:
    """The least ERROR for the tail of sin."""
    need = 0.0
    for a, b in cells(LEAST, code.REACH, parts):
        analyst, r, low, z = _parts(a, b)
        rounding = code.sin_tail(analyst, r, low, z).err
        model = b**3 * approximation + low.most * b**2 / 2 + low.most**2 + reduction * b
        need = max(need, _need(a, rounding + model))
    return need


def cos_need(approximation: float, reduction: float, parts: int = 400) -> float:
    """The least ERROR for the tail of cos. The head takes z with its rounding error, and loses at most z/2 and 2**-53."""
    need = 0.0
    for a, b in cells(LEAST, code.REACH, parts):
        analyst, r, low, z = _parts(a, b)
        most = min(2.0**-53, b * b / 2 * WIDER)
        lost = Cell(-most, 0.0, 2.0**-52 * most)
        rounding = code.cos_tail(analyst, r, low, z, lost).err + z.err / 2
        model = b**4 * approximation + low.most * b**3 / 6 + low.most**2 + reduction * b * b
        need = max(need, _need(a, rounding + model))
    return need


def tan_need(approximation: float, reduction: float, parts: int = 400) -> float:
    """The least TAN_ERROR: the relative error of u/(1 - u*u/4) that is not covered by REDUCTION, of r**2.

    2 tan(s/2) has the slope 1 + tan(s/2)**2, which is less than 0.05 s**4 above 1 + s*s/4. A relative error t of u becomes
    t (1 + (u*u/2)/(1 - u*u/4)); the double-double arithmetic adds less than 2**-94.
    """
    need = 0.0
    for a, b in cells(LEAST, code.REACH, parts):
        analyst, r, low, z = _parts(a, b)
        rounding = code.tan_tail(analyst, r, low, z).err
        model = b**3 * approximation + low.most * b**4 * 0.05 + low.most**2 + reduction * b
        u = 2 * math.tan(b / 2)
        relative = (rounding + model) / a * (1 + u * u / 2 / (1 - u * u / 4)) + 2.0**-94
        need = max(need, (relative * (1 + 2.0**-40) - angle.REDUCTION) / a**2)
    return need
