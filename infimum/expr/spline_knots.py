"""Splines in two forms, in exact arithmetic: polynomials piece by piece, and coefficients of B-splines over knots.

Coefficients that were computed in doubles describe pieces that meet only up to rounding: a function that jumps by 1e-16. The form
over knots cannot jump: whatever its coefficients are, k - m derivatives are continuous at a knot of multiplicity m. So pieces
that meet up to rounding are joined by taking this form from them, coefficient by coefficient, each from one piece.
"""

from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from math import comb

from infimum.expr.spline_table import Polynomial, bernstein

_NEARLY = Fraction(1, 1 << 30)  # of the terms of a derivative: two pieces that differ by no more than that are meant to agree


def meeting(points: list[Fraction], pieces: list[Polynomial]) -> list[int]:
    """How many derivatives of neighbours agree up to rounding at each point between them, -1 if not even their values do."""
    found = []
    for (a, c), (left, right) in zip(pairwise(points[:-1]), pairwise(pieces), strict=True):
        h, r = c - a, -1
        for j in range(len(left)):
            terms = [comb(i, j) * left[i] * h ** (i - j) for i in range(j, len(left))]
            if abs(sum(terms) - right[j]) > _NEARLY * (sum(map(abs, terms)) + abs(right[j])):
                break
            r = j
        found.append(min(r, len(left) - 2))  # one more would make them the same polynomial
    return found


def joined(points: list[Fraction], pieces: list[Polynomial], smooth: list[int]) -> list[Polynomial]:
    """Pieces close to these, with as many continuous derivatives at the points between them as `smooth` says."""
    k = len(pieces[0]) - 1
    if not k:
        return pieces
    knots = [points[0]] * (k + 1)
    for p, r in zip(points[1:-1], smooth, strict=True):
        knots += [p] * (k - r)
    knots += [points[-1]] * (k + 1)
    coefficients = []
    for i in range(len(knots) - k - 1):
        inner = knots[i + 1:i + k + 1]
        middle = (sum(inner) / k if inner[0] < inner[-1] else (knots[i] + knots[i + k + 1]) / 2)
        at = min(max(bisect_right(points, middle) - 1, 0), len(pieces) - 1)
        coefficients.append(_polar(pieces[at], [t - points[at] for t in inner]))
    return over_knots(knots, coefficients, k)[1]


def _polar(piece: Polynomial, arguments: list[Fraction]) -> Fraction:
    """The polar form of a polynomial: symmetric, affine in each argument, the polynomial itself where they are equal."""
    symmetric = [Fraction(1)]  # elementary symmetric functions of the arguments so far
    for u in arguments:
        symmetric = [p + u * q for p, q in zip([*symmetric, 0], [0, *symmetric], strict=True)]
    k = len(arguments)
    return sum((c * s / comb(k, j) for j, (c, s) in enumerate(zip(piece, symmetric, strict=True))), Fraction(0))


def over_knots(knots: list[Fraction], coefficients: list[Fraction], k: int) -> tuple[list[Fraction], list[Polynomial], list[int]]:
    """Points, pieces and continuous derivatives of a spline of degree k with these coefficients of B-splines."""
    rows, factorial = [coefficients], 1
    for r in range(1, k + 1):  # of its derivatives: row r has the degree k - r over the knots from number r on
        degree = k - r + 1
        rows.append([_quotient(degree * (q - p), knots[i + k + 1] - knots[i + r]) for i, (p, q) in enumerate(pairwise(rows[-1]))])
    points, pieces = [], []
    for j in range(k, len(knots) - k - 1):
        if knots[j] == knots[j + 1]:
            continue
        points.append(knots[j])
        piece, factorial = [], 1
        for r in range(k + 1):
            factorial *= max(r, 1)
            piece.append(_at_knot(knots, rows[r], k, r, j) / factorial)
        pieces.append(tuple(piece))
    points.append(knots[len(knots) - k - 1])
    return points, pieces, [k - knots.count(p) for p in points[1:-1]]


def _quotient(p: Fraction, q: Fraction) -> Fraction:
    return p / q if q else Fraction(0)  # such a coefficient takes part in no piece


def _at_knot(knots: list[Fraction], row: list[Fraction], k: int, r: int, j: int) -> Fraction:
    """De Boor's recurrence for the derivative number r at knot j, from the right."""
    degree, x = k - r, knots[j]
    d = [row[j - k + i] for i in range(degree + 1)]
    for level in range(1, degree + 1):
        for i in range(degree, level - 1, -1):
            left, right = knots[j - degree + i], knots[j + 1 + i - level]
            share = (x - left) / (right - left)
            d[i] = (1 - share) * d[i - 1] + share * d[i]
    return d[degree]


def distance(points: list[Fraction], one: list[Polynomial], other: list[Polynomial]) -> Fraction:
    """How far apart two splines with the same points are at most between the first and the last."""
    found = Fraction(0)
    for (a, c), p, q in zip(pairwise(points), one, other, strict=True):
        difference = tuple(s - t for s, t in zip(p, q, strict=True))
        if any(difference):
            found = max(found, *map(abs, bernstein(difference, c - a)))
    return found
