"""The rewriting steps: what writes a problem or a function in another form before it is bounded.

Each keeps the value and the domain on the points that count, and says so in its row. No step may be needed for a claim to be
true: with any of them switched off, the same is proved, or less. Tests compare off with on, one step at a time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

STEPS: dict[str, str] = {
    # of the problem
    "fixed variables": "a variable whose bounds are equal is the constant that it is at every point",
    "constant parts": "what reads no variable is the number between its ends",
    "fixed exponents": "the same, for exponents alone, where the function keeps all its variables",
    "whole exponents": "what is whole where the whole-number variables are equals its nearest integer there",
    "defined variable": "the minimised variable that one equation defines, or bounds, is that bound at all minimisers",
    "domain bounds": "what lies beyond holds no point at which the function is defined",
    "whole rows": "constraints that hold at the same points (docs/proofs/whole_numbers.md)",
    "exchanges": "of points that differ by the order of exchangeable variables one is kept, and results have all orders",
    "probed bounds": "what lies beyond holds no feasible point, whichever of two parts a whole variable lies in",
    "completed squares": "a (x + s)**2 + b x is a square and a constant: an identity of polynomials",
    "completed forms": "a semidefinite quadratic form is a sum of squares of linear functions: an identity of polynomials",
    "convex below": "a convex function that is not above f where constraints hold, to find out how far points with small f lie",
    "entropies": "x log x is continued by its limit 0 at 0, where it is not defined: bounds hold on one more point",
    "monomials": "products of powers of variables with positive bounds are exponentials of logarithms",
    # of an expression, as it is made
    "simplifications": "each rule of `expr/simplify.py` says what it keeps",
    "loops as vectors": "scalars that are computed alike are elements of one vector",
    # of a function, to bound it
    "arranged reductions": "sums and products of the same terms in another order, with the same domain",
    "gathered sums": "the same terms in another order",
    "narrowed branches": "where a test holds, the smaller of a quantity and its bound is the quantity (docs/proofs/jumps.md)",
    "outcomes": "a quantity that takes few values takes one of them at each point",
    "pieces": "what reads a single quantity is enclosed slice by slice of it",
    "other forms": "a form near a pole has the value of the piece wherever the piece is defined",
    "quotients by norms": "the mean value theorem, where the norm is not 0",
    "rough and calm": "a sum of two parts",
    "collected sums": "linear maps applied to each term: all that was read still is",
    "local forms": "the function of one variable, the others in numbers",
    "terms": "a sum of terms of few variables, maybe with scalars that couple them",
    "factors as logarithms": "a product as the exponential of a sum, where all factors are positive",
    "tangents": "convex outer functions above their tangents",
    "sums of squares": "residuals whose squares add up to the function",
    "minus a product": "its logarithm, where all factors are positive",
    "lifted columns": "products and curves as columns of a linear program, where all of them are bounded",
    "curvature": "convex by its formula, on boxes on all of which it is defined",
}
_off: set[str] = set()
_used: set[str] | None = None  # while it is asked which steps change something


def step(name: str, otherwise: Callable[..., Any]) -> Callable[[Callable], Callable]:
    """Marks a function as (part of) the step of this name: what it gives is `otherwise` of its arguments where that is switched
    off."""
    assert name in STEPS, name

    def mark(function: Callable) -> Callable:
        @wraps(function)
        def run(*args: Any, **settings: Any) -> Any:
            if name in _off:
                return otherwise(*args, **settings)
            result = function(*args, **settings)
            if _used is not None and name not in _used and result != otherwise(*args, **settings):
                _used.add(name)
            return result
        return run
    return mark


def is_on(name: str) -> bool:
    """Is the step of this name done?"""
    assert name in STEPS, name
    return name not in _off


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Switches steps off, in all threads: for tests.

    >>> with without("pieces"):
    ...     is_on("pieces"), is_on("terms")
    (False, True)
    """
    unknown = set(names) - set(STEPS)
    if unknown:
        raise KeyError(f"there is no rewriting step {sorted(unknown)}")
    before = set(_off)
    _off.update(names)
    try:
        yield
    finally:
        _off.clear()
        _off.update(before)


@contextmanager
def recorded() -> Iterator[set[str]]:
    """The names of the steps that change something, as they are done: for tests, which switch these off one by one."""
    global _used
    _used = set()
    try:
        yield _used
    finally:
        _used = None


def state() -> tuple[str, ...]:
    """What is switched off now: part of the key of what is kept from one call to the next. Nothing that was kept is used while
    steps are recorded."""
    return (*sorted(_off), *(() if _used is None else (f"recorded {id(_used)}",)))
