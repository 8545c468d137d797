"""What kernels prove about boxes, as arrays with an entry for each box. What searches reads the levels of a status from here."""

import numpy as np

from infimum.interval.pair import DEFINED, LIPSCHITZ, SMOOTH
from infimum.interval.pair import POLE as POLE
from infimum.interval.pair import UNDEFINED as UNDEFINED
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """Proved bounds of a function over boxes, one entry per box: lo <= f(x) <= hi for every x in the box where f is defined.

    An empty enclosure (lo = inf, hi = -inf) means that f is defined nowhere on the box. `level` is the status: 0 undefined
    somewhere, 1 defined, 2 Lipschitz, 3 smooth (twice continuously differentiable), on the closed box and around it; `defined`,
    `lipschitz`, `smooth` read it.

    >>> import numpy as np
    >>> from infimum import compile
    >>> r = compile(lambda x: np.sqrt(x[0]), n=1).value([[1.0, -4.0, -4.0]], [[4.0, 4.0, -1.0]])
    >>> r.lo, r.hi
    (array([ 1.,  0., inf]), array([  2.,   2., -inf]))
    >>> r.defined, r.empty
    (array([ True, False, False]), array([False, False,  True]))
    """

    lo: np.ndarray
    hi: np.ndarray
    level: np.ndarray

    @property
    def defined(self) -> np.ndarray:
        """True where the function is defined on the whole closed box."""
        return self.level >= DEFINED

    @property
    def lipschitz(self) -> np.ndarray:
        """True where the function is defined, and Lipschitz on a neighbourhood of the box."""
        return self.level >= LIPSCHITZ

    @property
    def smooth(self) -> np.ndarray:
        """True where the function is twice continuously differentiable on a neighbourhood of the box."""
        return self.level >= SMOOTH

    @property
    def empty(self) -> np.ndarray:
        """True where the function is defined nowhere on the box."""
        return self.lo > self.hi


@dataclass(frozen=True, slots=True, eq=False)
class Derivative:
    """Proved bounds of derivatives over boxes, and the enclosure of the value, whose status says what they mean.

    Where `value.smooth`, the derivative at every point of the box lies between lo and hi. Where only `value.lipschitz`, every
    element of Clarke's generalised gradient does. Elsewhere nothing follows. There are n rows.
    """

    value: Enclosure
    lo: np.ndarray
    hi: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Hessian:
    """Proved bounds of the Hessian over boxes, symmetric, with the enclosures of the gradient and of the value.

    Where `value.smooth`, the matrix of second derivatives at every point of the box lies between lo and hi, of n rows and n
    columns. Elsewhere they say nothing.
    """

    value: Enclosure
    lo: np.ndarray
    hi: np.ndarray
    gradient: Derivative


@dataclass(frozen=True, slots=True, eq=False)
class MeanValue:
    """`best` is the intersection of the natural enclosure and the mean value form, `natural` the natural enclosure alone."""

    best: Enclosure
    natural: Enclosure


@dataclass(frozen=True, slots=True, eq=False)
class LinearBounds:
    """Linear functions around f on each box, at every point x of it where f is defined:

        below + slopes_below · (x - lo) <= f(x) <= above + slopes_above · (x - lo)

    An infinite `below` or `above` means that there is none. `best` is the natural enclosure, met with what they enclose.
    """

    best: Enclosure
    slopes_below: np.ndarray
    below: np.ndarray
    slopes_above: np.ndarray
    above: np.ndarray
