"""What an operation's result says of its arguments: one row an operation, one rule an argument, in upward-rounded primitives.

If y = op(x, …), x in X, y in Y, then x lies in the interval that the rule for this argument writes, as ends (-lo, hi); whoever
asks intersects it with X. A rule is given nonempty intervals. It may say nothing: ends that are infinite. Where y is not needed
at all (a branch that is not chosen), Y is NaN, and so is the enclosure that is concluded for x: not even that x lies in the
domain of the operation.

Proof: docs/proofs/propagation.md.
"""

from collections.abc import Callable
from typing import Any

from infimum.interval.arithmetic import absolute, add, call, div, mul, neg, powi, square, sub
from infimum.interval.pair import DEFINED, INF, Pair, b_level, exact
from infimum.ops.interval_rules import sqrt_ends

Ends = tuple[Any, Any]
_NAN = float("nan")
_LARGEST = 1.7976931348623157e308
_PI = 3.141592653589793, 3.1415926535897936   # the doubles around pi
_HALF_PI = 1.5707963267948966                 # below pi / 2
_FAR = 2.0**30                                # angles up to here are told apart by their period


def ends(x: Pair) -> Ends:
    return x.nlo, x.hi


# ---- sums and products

def _add(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return ends(sub(b, y, other))


def _minuend(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return ends(add(b, y, other))


def _subtrahend(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return ends(sub(b, other, y))


def _neg(b, y: Pair, own: Pair) -> Ends:
    return ends(neg(b, y))


def _factor(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Of x * z = y: y / z where z is not 0; anything where y and z may both be 0. Where z has both signs and y has one, x is
    beyond one of two ends, and X may tell which."""
    zero = b.mand(b.oge(other.nlo, 0.0), b.oge(other.hi, 0.0))
    free = b.mand(b.oge(y.nlo, 0.0), b.oge(y.hi, 0.0))
    # z > 0 or z < 0
    flip = b.olt(other.hi, 0.0)
    lo, hi = b.select(flip, b.neg(other.hi), b.neg(other.nlo)), b.select(flip, other.nlo, other.hi)
    up, down = b.select(flip, y.hi, y.nlo), b.select(flip, y.nlo, y.hi)
    plain = [b.div(end, b.select(b.ogt(end, 0.0), lo, hi)) for end in (up, down)]
    # 0 in z = [-p, q], and y or -y at least l > 0: x >= l / q, or x <= -l / p
    below = b.olt(y.hi, 0.0)
    least = b.select(below, y.hi, y.nlo)
    p, q = b.select(below, other.hi, other.nlo), b.select(below, other.nlo, other.hi)
    right, left = b.div(least, b.abs(q)), b.div(least, b.abs(p))  # as -lo and as hi
    beyond = (b.select(b.ogt(b.neg(own.nlo), left), right, INF), b.select(b.olt(own.hi, b.neg(right)), left, INF))
    return tuple(b.select(zero, b.select(free, INF, two), one) for one, two in zip(plain, beyond, strict=True))


def _dividend(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return ends(mul(b, y, other))


def _divisor(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """x / z = y: z * y = x."""
    return _factor(b, other, own, y)


# ---- powers and roots

def _not_negative(b, y: Pair) -> Pair:
    return y.but(nlo=b.min(y.nlo, 0.0), hi=b.max(y.hi, 0.0))


def _either_sign(b, size: Ends, own: Pair) -> Ends:
    """Where |x| is in [-nlo, hi]: the hull of both sides, or one of them where X excludes the other."""
    nlo, hi = size
    least = b.neg(nlo)
    return b.select(b.olt(own.nlo, least), nlo, hi), b.select(b.olt(own.hi, least), nlo, hi)


def _root(b, y: Pair, k: int) -> Ends:
    """The k-th root of [-nlo, hi], which is not negative."""
    if k == 1:
        return ends(y)
    return sqrt_ends(b, y) if k == 2 else call(b, "pow", y, Pair(b.div(-1.0, float(k)), b.div(1.0, float(k))))


def _powi(b, y: Pair, own: Pair, k: int) -> Ends:
    if k == 0:
        return b.const(INF), b.const(INF)
    if k < 0:
        inverse = div(b, exact(b, 1.0), y if k % 2 else _not_negative(b, y))
        return _powi(b, inverse.but(may_be_empty=False), own, -k)
    if k % 2 == 0:
        return _either_sign(b, _root(b, _not_negative(b, y), k), own)
    if k == 3:
        return call(b, "cbrt", y)
    return _odd_end(b, y.nlo, k), _odd_end(b, y.hi, k)


def _odd_end(b, end: Any, k: int) -> Any:
    """An upper bound of the k-th root of a number."""
    size = b.min(b.abs(end), _LARGEST)
    nlo, hi = _root(b, Pair(b.neg(size), size), k)
    return b.select(b.oeq(b.abs(end), INF), INF, b.select(b.oge(end, 0.0), hi, nlo))


def _sqrt(b, y: Pair, own: Pair) -> Ends:
    return ends(square(b, _not_negative(b, y)))


def _cbrt(b, y: Pair, own: Pair) -> Ends:
    return ends(powi(b, y, 3))


def _abs(b, y: Pair, own: Pair) -> Ends:
    return _either_sign(b, ends(_not_negative(b, y)), own)


def leg(b, y: Pair, own: Pair, squares: Pair) -> Ends:
    """Of sqrt(x*x + squares) = y."""
    left = sub(b, square(b, _not_negative(b, y)), squares)
    return _either_sign(b, sqrt_ends(b, _not_negative(b, left)), own)


def _hypot(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return leg(b, y, own, square(b, other))


def _base(b, y: Pair, own: Pair, exponent: Pair) -> Ends:
    """Where x >= 0, y >= 0 and x = y ** (1 / exponent). Where x < 0 the exponent is a whole number, and so it is for |x| and
    |y|."""
    nlo, hi = _base_size(b, *ends(_not_negative(b, y)), *ends(exponent))
    none = b.olt(b.min(own.hi, y.hi), 0.0)  # no x >= 0
    size, whole = absolute(b, y), _whole(b, exponent)
    may_be_negative = b.mand(b.ogt(own.nlo, 0.0), b.ole(b.neg(whole.nlo), whole.hi))
    near, far = b.outline_where("size_of_negative_base", _base_size, may_be_negative, (-INF, -INF), *ends(size), *ends(whole))
    return b.max(b.select(none, -INF, nlo), far), b.max(b.select(none, -INF, hi), near)


def _base_size(b, nlo: Any, hi: Any, exponent_nlo: Any, exponent_hi: Any) -> Ends:
    """Of x >= 0 with x ** exponent = y >= 0: y ** (1 / exponent), and anything where the exponent may be 0."""
    clear = b.olt(b.min(exponent_nlo, exponent_hi), 0.0)
    usable = Pair(b.select(clear, exponent_nlo, -1.0), b.select(clear, exponent_hi, 1.0))
    root = call(b, "pow", Pair(nlo, hi), div(b, exact(b, 1.0), usable).but(may_be_empty=False))
    return b.select(clear, b.min(root[0], 0.0), 0.0), b.select(clear, root[1], INF)


def _exponent(b, y: Pair, own: Pair, base: Pair) -> Ends:
    """That of a negative base is a whole number."""
    whole, negative = _whole(b, own), b.olt(base.hi, 0.0)
    return b.select(negative, whole.nlo, INF), b.select(negative, whole.hi, INF)


# ---- monotone functions and their inverses

def _by(name: str, low: float = -INF, high: float = INF) -> Callable:
    """The inverse function, on what of Y is in its domain."""
    def rule(b, y: Pair, own: Pair) -> Ends:
        nlo, hi = y.nlo, y.hi
        if low > -INF:
            nlo, hi = b.min(nlo, -low), b.max(hi, low)
        if high < INF:
            nlo, hi = b.max(nlo, -high), b.min(hi, high)
        return call(b, name, y.but(nlo=nlo, hi=hi))
    return rule


def _log10(b, y: Pair, own: Pair) -> Ends:
    return call(b, "pow", exact(b, 10.0), y)


def _cosh(b, y: Pair, own: Pair) -> Ends:
    return _either_sign(b, _by("arccosh", low=1.0)(b, y, own), own)


def _arctan(b, y: Pair, own: Pair) -> Ends:
    """Each end by itself: the tangent of an interval that holds pi / 2 is everything."""
    def end(v: Any) -> Any:
        inside = b.ole(b.abs(v), _HALF_PI)
        point = b.select(inside, v, 0.0)
        return b.select(inside, call(b, "tan", Pair(b.neg(point), point))[1], INF)
    return end(y.nlo), end(y.hi)


def _expit(b, y: Pair, own: Pair) -> Ends:
    """log(y) - log1p(-y)."""
    def logit(v: Any) -> tuple[Pair, Pair]:
        v = b.min(b.max(v, 0.0), 1.0)
        return Pair(*call(b, "log", Pair(b.neg(v), v))), Pair(*call(b, "log1p", Pair(v, b.neg(v))))
    (low, low_rest), (high, high_rest) = logit(b.neg(y.nlo)), logit(y.hi)
    return b.add(low.nlo, low_rest.hi), b.add(high.hi, high_rest.nlo)


def _logaddexp(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Neither is larger than the result."""
    return b.const(INF), y.hi


# ---- angles

def _turning(name: str, shift: float, alternates: bool) -> Callable:
    """Sine, cosine and tangent: branch j is (j - shift) pi + s, or - s for odd j where it `alternates`, for s in the inverse of
    Y.

    The first branch that ends at or behind the lower end of X holds the least x that is possible; which one that can be is known
    up to its neighbours. Upper ends are lower ends of -x.
    """
    odd = shift == 0.0

    def rule(b, y: Pair, own: Pair) -> Ends:
        nlo, hi = _by(name, *((-1.0, 1.0) if alternates else ()))(b, y, own)
        mirrored = (hi, nlo) if odd else (nlo, hi)
        return first(b, b.neg(own.nlo), nlo, hi), first(b, b.neg(own.hi), *mirrored)

    def first(b, low: Any, nlo: Any, hi: Any) -> Any:
        near = b.ole(b.abs(low), _FAR)
        middle = b.floor(b.add(b.mul(b.select(near, low, 0.0), 1 / _PI[0]), 0.5 + shift))
        found: Any = b.const(INF)
        for step in (1.0, 0.0, -1.0):
            j = b.add(middle, step)
            start, swap = b.sub(j, shift), b.mnot(b.oeq(b.floor(b.mul(j, 0.5)), b.mul(j, 0.5)))
            turn = mul(b, Pair(b.neg(start), start), Pair(b.const(-_PI[0]), b.const(_PI[1]), least=1))
            one = b.select(swap, hi, nlo) if alternates else nlo
            two = b.select(swap, nlo, hi) if alternates else hi
            found = b.select(b.oge(b.add(turn.hi, two), low), b.add(turn.nlo, one), found)
        return b.select(near, found, INF)
    return rule


# ---- choices and steps

def smaller(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Of min(x, z) = y."""
    return y.nlo, b.select(b.ogt(b.neg(other.nlo), y.hi), y.hi, INF)


def larger(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return smaller(b, neg(b, y), neg(b, own), neg(b, other))[::-1]


def _sign(b, y: Pair, own: Pair) -> Ends:
    return b.select(b.olt(y.nlo, 1.0), 0.0, INF), b.select(b.olt(y.hi, 1.0), 0.0, INF)


def _whole(b, y: Pair) -> Pair:
    """The whole numbers in Y."""
    return Pair(b.floor(y.nlo), b.floor(y.hi))


def _floor(b, y: Pair, own: Pair) -> Ends:
    whole = _whole(b, y)
    return whole.nlo, b.add(whole.hi, 1.0)


def _ceil(b, y: Pair, own: Pair) -> Ends:
    return _floor(b, neg(b, y), own)[::-1]


def _rint(b, y: Pair, own: Pair) -> Ends:
    whole = _whole(b, y)
    return b.add(whole.nlo, 0.5), b.add(whole.hi, 0.5)


def _domain(low: float) -> Callable:
    """Nothing but that x is at least `low`."""
    return lambda b, y, own, **params: (b.const(-low), b.const(INF))


INVERSES: dict[str, tuple[Callable | None, ...]] = {
    "add": (_add, _add), "sub": (_minuend, _subtrahend), "mul": (_factor, _factor), "div": (_dividend, _divisor), "neg": (_neg,),
    "abs": (_abs,), "powi": (_powi,), "sqrt": (_sqrt,), "cbrt": (_cbrt,), "pow": (_base, _exponent), "hypot": (_hypot, _hypot),
    "exp": (_by("log", low=0.0),), "exp2": (_by("log2", low=0.0),), "expm1": (_by("log1p", low=-1.0),),
    "log": (_by("exp"),), "log2": (_by("exp2"),), "log10": (_log10,), "log1p": (_by("expm1"),),
    "sin": (_turning("arcsin", 0.0, True),), "cos": (_turning("arcsin", 0.5, True),), "tan": (_turning("arctan", 0.0, False),),
    "arcsin": (_by("sin"),), "arccos": (_by("cos"),), "arctan": (_arctan,),
    "sinh": (_by("arcsinh"),), "cosh": (_cosh,), "tanh": (_by("arctanh", -1.0, 1.0),),
    "arcsinh": (_by("sinh"),), "arccosh": (_by("cosh", low=0.0),), "arctanh": (_by("tanh"),),
    "expit": (_expit,), "logaddexp": (_logaddexp, _logaddexp), "xlogx": (_domain(0.0),),
    "lgamma": (_domain(0.0),), "polygamma": (_domain(0.0),),
    "min": (smaller, smaller), "max": (larger, larger), "sign": (_sign,), "floor": (_floor,), "ceil": (_ceil,), "rint": (_rint,),
    "spline": (None,), "erf": (None,), "erfc": (None,),
    "arctan2": (None, None), "slope": (None,), "step": (None, None), "ratio": (None, None),
}
# one element of a reduction, given the result and the reduction of all others (of a norm: the sum of their squares)
OF_REDUCTIONS: dict[str, Callable] = {"sum": _add, "prod": _factor, "amin": smaller, "amax": larger, "norm": leg}


_CHEAP = frozenset(("add", "sub", "mul", "div", "neg", "abs", "sqrt", "cbrt", "hypot", "logaddexp", "xlogx", "lgamma",
                    "polygamma", "min", "max", "sign", "floor", "ceil", "rint"))


def inverse(b, op: str, which: int, y: Ends, args: list[Pair], value: Pair, **params: int) -> Ends:
    """What y = op(args) says of argument number `which`; `value` is the enclosure of op(args). NaN where y is.

    Where y is no smaller than the value, and the operation is defined everywhere, nothing follows: costly rules are not asked.
    """
    args = [a.but(may_be_empty=False) for a in args]
    rule, own, others = INVERSES[op][which], args[which], [a for k, a in enumerate(args) if k != which]
    if rule is None:
        return tuple(b.select(b.uno(*y), _NAN, INF) for _ in y)
    if op in ("add", "sub", "neg"):
        return rule(b, Pair(*y), own, *others)
    if op == "mul" and others[0].point is not None and others[0].nonzero:
        return _quotient(b, y, others[0])
    name = "_".join(["inverse", op, str(which), *(str(v).replace("-", "m") for v in params.values())])
    asked = None
    if op not in _CHEAP and abs(params.get("k", INF)) > 3:
        smaller_than_value = b.mor(b.olt(y[0], value.nlo), b.olt(y[1], value.hi))
        asked = b.mor(smaller_than_value, b.olt(b_level(b, value.level), float(DEFINED)))
    return _implied(b, name, rule, y, own, *others, asked=asked, **params)


def inverse_of_reduction(b, op: str, y: Ends, own: Pair, rest: Pair) -> Ends:
    """What the result y of a reduction says of one element, given the reduction of the others."""
    if op == "sum":
        return _add(b, Pair(*y), own, rest.but(may_be_empty=False))
    return _implied(b, f"inverse_reduced_{op}", OF_REDUCTIONS[op], y, own, rest)


def _quotient(b, y: Ends, c: Pair) -> Ends:
    """y / c for a double c that is not 0."""
    size, swap = b.abs(c.point), b.olt(c.point, 0.0)
    low, high = b.div(y[0], size), b.div(y[1], size)
    if c.least == 1:
        return low, high
    return b.select(swap, high, low), b.select(swap, low, high)


def _implied(b, name: str, rule: Callable, y: Ends, *args: Pair, asked: Any = None, **params: int) -> Ends:
    """The rule out of line: NaN where y is, everything where the rule is not `asked` or does not know. An argument that is NaN is
    everything."""
    def code(b, *given: Any) -> Ends:
        y, *xs = (given[k:k + 2] for k in range(0, len(given), 2))
        xs = [Pair(*(b.select(b.uno(*x), INF, end) for end in x)) for x in xs]
        silent = b.uno(*y)
        return tuple(b.select(silent, _NAN, b.select(b.uno(end, end), INF, end)) for end in rule(b, Pair(*y), *xs, **params))
    given = (*y, *(end for x in args for end in ends(x)))
    if asked is None:
        return b.outline(name, code, *given)
    return b.outline_where(name, code, asked, tuple(b.select(b.uno(*y), _NAN, INF) for _ in y), *given)
