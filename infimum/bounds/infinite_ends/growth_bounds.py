"""Bounds of variables that have none, from rows that are polynomials but for terms that are enclosed: far out the terms with the
largest powers of single variables outweigh the others, for one variable where the others are bounded, and for several at once.

Proof: docs/proofs/convex_bounds.md.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import inf, lcm, prod

import numpy as np

from infimum.bounds.infinite_ends.enclosed_forms import EnclosedForms
from infimum.expr.exact_forms import CONSTANT, Form, Term, plus
from infimum.expr.real import round_up
from infimum.problem.system import System
from infimum.search.policy.infinite_ends import CONVEX_BOUNDS as POLICY
from infimum.support.clock import stop_if_over

Box = tuple[np.ndarray, np.ndarray]


def with_growth_bounds(system: System, lo: np.ndarray, hi: np.ndarray, upper: float) -> Box:
    """The box [lo, hi] with finite ends in the place of infinite ones, as far as they follow from single constraints that are
    polynomials, or from f <= upper.

    >>> from infimum.trace.trace import trace
    >>> system = System(trace(lambda x: x[0]**3 - x[0]**2 * x[1], 2), (), np.zeros(0), np.zeros(0))
    >>> with_growth_bounds(system, np.array([0.0, 1.0]), np.array([np.inf, 2.0]), 0.0)[1].round(1)
    array([2., 2.])
    """
    box, forms = (lo.copy(), hi.copy()), EnclosedForms(len(lo))
    ends = zip(system.rows, [-inf, *system.lower], [upper, *system.upper], strict=True)
    known = [(form, *sides) for row, *sides in ends for form in forms.of(row)]
    open_ = [{j for term in form for (name, j), _ in term if not name and np.isinf([lo[j], hi[j]]).any()} for form, _, _ in known]
    while (infinite := np.isinf(box).sum()) > 0:
        forms.enclose(*box)
        for i in np.flatnonzero(np.isinf(box).any(axis=0)).tolist():
            stop_if_over()
            rows = [row for row, free in zip(known, open_, strict=True) if free == {i}]
            for side in (0, 1):
                if np.isinf(box[side][i]):
                    far = [_reach(form, least, most, i, -1 if side == 0 else 1, forms, box) for form, least, most in rows]
                    nearest = min((number for number in far if number is not None), default=None)
                    if nearest is not None:
                        box[side][i] = round_up(nearest) if side else -round_up(nearest)
            _close(open_, i, box)
        for (form, least, most), free in zip(known, open_, strict=True):
            if len(free) > 1:
                stop_if_over()
                reaches = next((found for below in _below(form, least, most) if (found := _reaches(below, forms, box))), {})
                for i, far in reaches.items():
                    box[0][i], box[1][i] = max(box[0][i], -round_up(far)), min(box[1][i], round_up(far))
                    _close(open_, i, box)
        if np.isinf(box).sum() == infinite:
            break
    return box


def _close(open_: list[set[int]], i: int, box: Box) -> None:
    """Takes a variable that has bounds now out of those without bounds that rows have."""
    if np.isfinite([box[0][i], box[1][i]]).all():
        for free in open_:
            free.discard(i)


def _below(form: Form, least: float, most: float) -> Iterator[Form]:
    """Forms that are positive nowhere where least <= form <= most."""
    for sign, end in ((1, most), (-1, -least)):
        if np.isfinite(end):
            yield plus({term: sign * number for term, number in form.items()}, {CONSTANT: Fraction(-float(end))})


def _reaches(form: Form, forms: EnclosedForms, box: Box) -> dict[int, Fraction]:
    """For each variable of the form that is not bounded, if there are several, a number K such that form > 0 wherever |x_i| > K;
    nothing if none are found."""
    infinite = np.isinf(box).any(axis=0)

    def is_free(name: str, j: int) -> bool:
        return not name and bool(infinite[j])
    free = sorted({j for term in form for (name, j), _ in term if is_free(name, j)})
    signs = {i: 1 if box[0][i] >= 0 else -1 if box[1][i] <= 0 else 0 for i in free}
    coefficients: dict[Term, Form] = {}  # of the powers of these variables: forms of the others
    for term, number in form.items():
        powers = tuple(factor for factor in term if is_free(*factor[0]))
        coefficients.setdefault(powers, {})[tuple(factor for factor in term if not is_free(*factor[0]))] = number
    terms = {tuple((j, power) for (_, j), power in powers): least for powers, c in coefficients.items()
             if (least := _least(powers, forms.ends(c, *box), signs))}
    if -inf in terms.values():
        return {}
    if len(free) < 2:
        return {}
    degree = {i: max((powers[0][1] for powers in terms if len(powers) == 1 and powers[0][0] == i), default=0) for i in free}
    if min(degree.values()) == 0:
        return {}
    largest = {i: terms.pop(((i, degree[i]),)) for i in free}
    common, other = lcm(*degree.values()), []
    if common > POLICY.growth_largest_degree:
        return {}
    for powers, number in terms.items():
        share = sum(Fraction(power, degree[j]) for j, power in powers)
        if number < 0 and share == 1:  # |x^a| is at most the sum of a_j / d_j |x_j|^d_j
            for j, power in powers:
                largest[j] += number * Fraction(power, degree[j])
        elif number < 0 and share > 1:
            return {}
        elif number < 0 or not powers:
            other.append((int(common * share), powers, number))
    if min(largest.values()) <= 0:
        return {}
    unit = {i: _root_below(largest[i], degree[i]) for i in free}
    below = {common: Fraction(1)}
    for power, powers, number in other:
        below[power] = below.get(power, 0) + number / prod(unit[j] ** k for j, k in powers)
    far = _root_bound(below)
    return {} if far is None else {i: far ** (common // degree[i]) / unit[i] for i in free}


def _least(powers: Term, ends: tuple[Fraction | float, Fraction | float], signs: dict[int, int]) -> Fraction | float:
    """A number c such that coefficients between these ends, times the powers, are not below c times powers of absolute values."""
    sign = prod(signs[j] for (_, j), power in powers if power % 2)
    return min(ends) if sign > 0 else min(-ends[0], -ends[1]) if sign < 0 else -max(map(abs, ends))


def _root_below(number: Fraction, degree: int) -> Fraction:
    """A positive number whose power of this degree is not above the given one, by little."""
    exponent = (number.numerator.bit_length() - number.denominator.bit_length() - 1) // degree
    root = step = Fraction(2) ** exponent
    for _ in range(POLICY.growth_bisections):
        if (root + step) ** degree <= number:
            root += step
        step /= 2
    return root


def _reach(form: Form, least: float, most: float, i: int, sign: int, forms: EnclosedForms, box: Box) -> Fraction | None:
    """A number K such that least <= form <= most holds nowhere in the box where sign x_i > K; None if none is found."""
    others: dict[int, Form] = {}  # coefficients of the powers of sign x_i: forms of the other variables
    for term, number in form.items():
        degree = dict(term).get(("", i), 0)
        rest = tuple(factor for factor in term if factor[0] != ("", i))
        others.setdefault(degree, {})[rest] = number * sign**degree
    if not any(others):
        return None
    ends = {degree: forms.ends(form, *box) for degree, form in others.items()}
    for flip, end in ((1, most), (-1, least)):
        below = {degree: low if flip > 0 else -high for degree, (low, high) in ends.items()}
        if np.isfinite(end) and -inf not in below.values():
            below[0] = below.get(0, 0) - flip * Fraction(float(end))
            found = _root_bound({degree: number for degree, number in below.items() if number or not degree})
            if found is not None:
                return found
    return None


def _root_bound(below: dict[int, Fraction]) -> Fraction | None:
    """A number beyond which the polynomial with these coefficients is positive; None if the last one is not."""
    degree = max(below)
    if not below[degree] > 0:
        return None

    def positive(k: Fraction) -> bool:
        """For all x > k: divided by the largest power, no other term is below what it is at k, or below 0."""
        stop_if_over()
        return below[degree] + sum(min(number, 0) / k**(degree - power) for power, number in below.items() if power < degree) > 0
    k = Fraction(1, 1 << POLICY.growth_halvings)
    while not positive(k):
        k *= 2
        if k > 1 << POLICY.growth_doublings:
            return None
    near, far = k / 2, k
    for _ in range(POLICY.growth_bisections):
        middle = (near + far) / 2
        near, far = (near, middle) if positive(middle) else (middle, far)
    return far
