"""Simplifications applied when a node is made.

Each returns an expression with the same value at every point of the domain, and the same domain: none drops an argument
that could be undefined or not smooth (x - x and 0 * x stay), so no status bit comes back to life. Constants combine only
where the result is exact. Every rule says what it preserves.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from infimum.expr.node import Expr, Shape, between, const, is_const
from infimum.expr.real import told_apart
from infimum.ops.vocabulary import OPS, Kind

Rule = Callable[[Callable[..., Expr], tuple[Expr, ...], Shape, dict[str, Any]], Expr | None]
RULES: dict[str, Rule] = {}
LARGEST_EXPONENT = 2**31


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Registers the rule of one or more operations."""
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, function))
        return function
    return register


def scalar_of(x: Expr) -> float | None:
    """The double that every element of x is, if x is such a constant."""
    while x.op in ("broadcast", "reshape") and x.args[0].op in ("const", "broadcast", "reshape"):
        x = x.args[0]
    if x.op != "const" or x.lo is not x.hi or x.size == 0:
        return None
    first = x.lo.flat[0]
    return float(first) if x.size == 1 or (x.lo == first).all() else None


def _exact(op: str, a: float, b: float) -> float | None:
    """a op b if that is a double, computed exactly."""
    value = {"add": Fraction.__add__, "sub": Fraction.__sub__, "mul": Fraction.__mul__}[op](Fraction(a), Fraction(b))
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if Fraction(result) == value else None


def _full(value: float, shape: Shape, build: Callable) -> Expr:
    c = const(value)
    return c if shape == () else build("broadcast", c, shape=shape)


def _both(build: Callable, op: str, args: tuple[Expr, ...], shape: Shape) -> Expr | None:
    a, b = scalar_of(args[0]), scalar_of(args[1])
    if a is None or b is None:
        return None
    value = _exact(op, a, b)
    return None if value is None else _full(value, shape, build)


@rule("neg")
def _neg(build, args, shape, params):
    """-(-x) = x and the sign of a constant: exact."""
    x, = args
    if x.op == "neg":
        return x.args[0]
    if x.op != "const" or (x.lo is not x.hi and ((x.lo == -x.hi) & (x.lo < x.hi)).any()):
        return None  # between -a and a there are a number and its negative
    return const(-x.hi, -x.lo)


@rule("add")
def _add(build, args, shape, params):
    """x + 0 = x, exact constants; x + (-y) = x - y and (-x) + y = y - x: the same rounding."""
    x, y = args
    folded = _both(build, "add", args, shape)
    if folded is not None:
        return folded
    if scalar_of(x) == 0.0:
        return y
    if scalar_of(y) == 0.0:
        return x
    if y.op == "neg":
        return build("sub", x, y.args[0])
    if x.op == "neg":
        return build("sub", y, x.args[0])
    return None


@rule("sub")
def _sub(build, args, shape, params):
    """x - 0 = x, 0 - y = -y, x - (-y) = x + y, exact constants. x - x stays: its parts may be undefined."""
    x, y = args
    folded = _both(build, "sub", args, shape)
    if folded is not None:
        return folded
    if scalar_of(y) == 0.0:
        return x
    if scalar_of(x) == 0.0:
        return build("neg", y)
    if y.op == "neg":
        return build("add", x, y.args[0])
    return None


def is_exponent(k: float) -> bool:
    """May k be the exponent of `powi`? An integer, with room for the derivatives, whose exponents must be doubles as well."""
    return abs(k) <= LARGEST_EXPONENT and k == int(k)


def _power_of(x: Expr) -> tuple[Expr, int]:
    return (x.args[0], x["k"]) if x.op == "powi" else (x, 1)


def _absorbed(build: Callable, product: Expr, base: Expr, k: int, depth: int = 4) -> Expr | None:
    """product * base^k if a positive power of the same base is among the factors of the product.

    Where the exponent would be too large, the square of the power still is a power of the power.
    """
    other, j = _power_of(product)
    if other is base and j > 0 and is_exponent(j + k):
        return build("powi", base, k=j + k)
    if other is base and j == k:
        return build("powi", product, k=2)
    if product.op not in ("mul", "neg") or depth == 0:
        return None
    for i, factor in enumerate(product.args):
        found = _absorbed(build, factor, base, k, depth - 1)
        if found is not None:
            return build(product.op, *product.args[:i], found, *product.args[i + 1:])
    return None


@rule("mul")
def _mul(build, args, shape, params):
    """1 x = x, (-1) x = -x, (-x) y = -(x y), a (b x) = (ab) x and a (b / x) = (ab) / x where ab is exact or saves work.

    x^a (y x^b) = y x^(a+b) for a, b > 0, since one occurrence is tighter. The domain stays: positive powers are defined
    wherever x is. A factor that is the same in many elements comes first.
    """
    x, y = args
    folded = _both(build, "mul", args, shape)
    if folded is not None:
        return folded
    if (scalar_of(y) is not None and scalar_of(x) is None) or (y.op == "broadcast" and x.op not in ("broadcast", "const")):
        return build("mul", y, x)
    c = scalar_of(x)
    if c == 1.0:
        return y
    if c == -1.0:
        return build("neg", y)
    if c is not None and y.op in ("mul", "div") and (inner := scalar_of(y.args[0])) is not None:
        both = _exact("mul", c, inner)
        if both is not None and both != 0.0:
            return build(y.op, _full(both, shape, build), y.args[1])
    elif y.op in ("mul", "div") and _smaller_shape((x, y.args[0]), shape) is not None:
        return build(y.op, build("mul", x, y.args[0]), y.args[1])
    if c is not None and y.op == "neg":
        return build("mul", _full(-c, shape, build), y.args[0])
    if x.op == "neg" or y.op == "neg":
        product = build("mul", *(a.args[0] if a.op == "neg" else a for a in args))
        return product if x.op == y.op else build("neg", product)
    for one, other in ((x, y), (y, x)):
        scale, single = one.args if one.op == "mul" and one.args[0].op in ("broadcast", "const") else (None, one)
        base, k = _power_of(single)
        if k > 0 and base.op not in ("const", "broadcast", "mul"):
            found = _absorbed(build, other, base, k)
            if found is not None:
                return found if scale is None else build("mul", scale, found)
    return None


@rule("div")
def _div(build, args, shape, params):
    """x / 1 = x, x / 2^k = x * 2^-k, exact, and (-x) / y = -(x / y). x / 3 stays: it is not x * (1/3)."""
    x, y = args
    c = scalar_of(y)
    if c == 1.0:
        return x
    if c is not None and c != 0.0 and abs(np.frexp(c)[0]) == 0.5 and 2.0**-500 <= abs(c) <= 2.0**500:
        return build("mul", _full(1.0 / c, shape, build), x)
    return build("neg", build("div", x.args[0], y)) if x.op == "neg" else None


@rule("powi")
def _powi(build, args, shape, params):
    """x^1 = x, |x|^(2k) = x^(2k), (-x)^(2k) = x^(2k), (x^a)^b = x^(ab) for a, b > 0. x^0 stays: it keeps the domain of x.

    Whoever makes a power comes by here: an exponent that is no double would be rounded where the power is enclosed.
    """
    x, = args
    k = params["k"]
    if abs(k) > 2**53:
        raise OverflowError(f"the integer exponent {k} may be no double")
    if k == 1:
        return x
    if k % 2 == 0 and k > 0 and x.op in ("abs", "neg"):
        return build("powi", x.args[0], k=k)
    if k > 0 and x.op == "powi" and x["k"] > 0 and is_exponent(k * x["k"]):
        return build("powi", x.args[0], k=k * x["k"])
    return None


@rule("pow")
def _pow(build, args, shape, params):
    """x**y for a constant y: a whole number becomes powi, 1/2 a square root. Each is the same function: `pow` is defined for
    negative x where y is whole, and 0**0 = 1."""
    x, y = args
    c = scalar_of(y)
    if c is None:
        return None
    if is_exponent(c):
        return build("powi", x, k=int(c))
    return build("sqrt", x) if c == 0.5 else None


@rule("abs")
def _abs(build, args, shape, params):
    """| |x| | = |x|, |-x| = |x|, |x^(2k)| = x^(2k); norms are not negative: the same value, domain and smoothness or better."""
    x, = args
    if x.op in ("abs", "norm", "hypot") or (x.op == "powi" and x["k"] % 2 == 0):
        return x
    return build("abs", x.args[0]) if x.op == "neg" else None


@rule("sqrt")
def _sqrt(build, args, shape, params):
    """sqrt(x^(2k)) = |x|^k and the root of a sum of squares is a norm, with constant positive factors taken out.

    Same value, same domain. The norm is Lipschitz where the outer root alone would not be, and so is the function itself.
    """
    return _root(build, args[0])


_roots: "WeakKeyDictionary[Expr, Expr | None]" = WeakKeyDictionary()  # a loop may take the root of every partial sum


def _root(build: Callable, u: Expr) -> Expr | None:
    """An expression whose square is u and that is >= 0, if u is visibly a sum of squares. Sums may be deep: no recursion."""
    stack = [u]
    while stack:
        node = stack[-1]
        parts = _squares_in(node) if node not in _roots else None
        if parts is None or any(_roots.get(p, p) is None for p in parts):
            _roots.setdefault(node, None)
        elif (missing := next((p for p in parts if p not in _roots), None)) is not None:
            stack.append(missing)
            continue
        else:
            _roots[node] = _joined_root(build, node, [_roots[p] for p in parts])
        stack.pop()
    return _roots[u]


def _squares_in(u: Expr) -> tuple[Expr, ...] | None:
    """What must have roots for u to have one; None if u is visibly no sum of squares."""
    if u.op == "powi":
        return () if u["k"] % 2 == 0 and u["k"] > 0 else None
    if u.op in ("add", "sum"):
        return () if u.op == "sum" and u.args[0].op == "powi" and u.args[0]["k"] == 2 else u.args
    if u.op in ("mul", "div"):
        factor, square = u.args if u.op == "mul" else u.args[::-1]
        c = scalar_of(factor)
        return (square,) if c is not None and c > 0 else None
    return None


def _joined_root(build: Callable, u: Expr, roots: list[Expr]) -> Expr:
    """The root of u from those of its parts."""
    match u.op:
        case "powi":
            return build("powi", build("abs", u.args[0]), k=u["k"] // 2)
        case "sum":
            return build("norm", *(roots or u.args[0].args), axes=u["axes"])
        case "add":
            return build("hypot", *roots)
        case "mul":
            return build("mul", _sqrt_const(scalar_of(u.args[0])), *roots)
    return build("div", *roots, _sqrt_const(scalar_of(u.args[1])))


def _sqrt_const(c: float) -> Expr:
    """The square root of the double c > 0 between doubles, which no other root has.

    Two ends even where the root is a double, powers of two aside, with which arithmetic is exact: the program should not
    depend on the constant (a mean over 10,000 or 1,000 terms).
    """
    root = np.sqrt(c)
    square = Fraction(float(root)) ** 2
    if square == Fraction(c) and np.frexp(root)[0] == 0.5:
        return const(root)
    if square == Fraction(c):
        return between(root, root)
    lo, hi = (np.nextafter(root, -np.inf), root) if square > Fraction(c) else (root, np.nextafter(root, np.inf))
    below, end = np.nextafter(c, 0.0), hi
    while Fraction(float(below)) > Fraction(float(lo)) ** 2:  # its root has the same neighbours
        below, end = np.nextafter(below, 0.0), np.nextafter(end, np.inf)
    return between(*told_apart(("root", float(c)), float(lo), float(end)))


@rule("hypot")
def _hypot(build, args, shape, params):
    """Signs do not matter in a norm; hypot(x, 0) = |x|."""
    x, y = (a.args[0] if a.op in ("abs", "neg") else a for a in args)
    if scalar_of(y) == 0.0:
        return build("abs", x)
    if scalar_of(x) == 0.0:
        return build("abs", y)
    return None if (x, y) == args else build("hypot", x, y)


@rule("norm")
def _norm(build, args, shape, params):
    """Signs do not matter in a norm."""
    x, = args
    return build("norm", x.args[0], **params) if x.op in ("abs", "neg") else None


@rule("min", "max")
def _extremum(build, args, shape, params):
    """min(x, x) = x: nothing is dropped."""
    return args[0] if args[0] is args[1] else None


@rule("reshape")
def _reshape(build, args, shape, params):
    """Views of views and of constants: no arithmetic."""
    x, = args
    if x.shape == shape:
        return x
    if x.op == "const":
        return const(x.lo.reshape(shape), x.hi.reshape(shape))
    if x.op == "reshape":
        return build("reshape", x.args[0], shape=shape)
    if x.op == "broadcast" and x.args[0].size == 1:
        return build("broadcast", build("reshape", x.args[0], shape=()), shape=shape)
    return None


@rule("broadcast")
def _broadcast(build, args, shape, params):
    """Views of views: no arithmetic."""
    x, = args
    if x.shape == shape:
        return x
    if x.op == "broadcast":
        return build("broadcast", x.args[0], shape=shape)
    return build("broadcast", build("reshape", x, shape=()), shape=shape) if x.size == 1 and x.shape else None


@rule("transpose")
def _transpose(build, args, shape, params):
    """Views of constants, of repeated scalars and of transposes: no arithmetic."""
    x, = args
    perm = params["perm"]
    if x.op == "broadcast" and x.args[0].size == 1:
        return build("broadcast", x.args[0], shape=shape)
    if x.op == "const":
        return const(x.lo.transpose(perm), x.hi.transpose(perm))
    if x.op == "transpose":
        inner = x["perm"]
        composed = tuple(inner[p] for p in perm)
        return x.args[0] if composed == tuple(range(len(perm))) else build("transpose", x.args[0], perm=composed)
    return None


@rule("slice")
def _slice(build, args, shape, params):
    """Parts of constants, of repeated scalars and of slices, and the part just laid in: no arithmetic."""
    x, = args
    if x.op == "const":
        at = np.ix_(*(s + t * np.arange(c) for s, t, c in zip(params["starts"], params["steps"], params["counts"], strict=True)))
        return const(x.lo[at], x.hi[at])
    if x.op == "broadcast" and x.args[0].size == 1:
        return build("broadcast", x.args[0], shape=shape)
    if x.op == "embed" and all(x[p] == params[p] for p in ("starts", "steps")) and x.args[0].shape == shape:
        return x.args[0]
    if x.op == "slice":
        starts = tuple(s + t * u for s, t, u in zip(x["starts"], x["steps"], params["starts"], strict=True))
        steps = tuple(t * u for t, u in zip(x["steps"], params["steps"], strict=True))
        return build("slice", x.args[0], starts=starts, steps=steps, counts=params["counts"])
    return None


@rule("gather")
def _gather(build, args, shape, params):
    """Elements of constants: no arithmetic."""
    x, = args
    at = params["index"].array
    if x.op == "const":
        return const(x.lo[at], x.hi[at])
    return build("broadcast", x.args[0], shape=shape) if x.op == "broadcast" and x.args[0].size == 1 else None


@rule("concat")
def _concat(build, args, shape, params):
    """Constants laid end to end are a constant."""
    if all(is_const(a) for a in args):
        return const(np.concatenate([a.lo.reshape(-1) for a in args]), np.concatenate([a.hi.reshape(-1) for a in args]))
    return None


@rule("embed")
def _embed(build, args, shape, params):
    """Zeros laid in zeros are zeros."""
    return _full(0.0, shape, build) if scalar_of(args[0]) == 0.0 else None


@rule("sum")
def _sum(build, args, shape, params):
    """The sum of a number repeated k times is k times the number: nothing is dropped, and one rounding replaces k."""
    x, = args
    if x.op != "broadcast" or x.args[0].size != 1 or not x.size:
        return None
    total = build("mul", float(x.size // max(1, int(np.prod(shape)))), x.args[0])
    return build("broadcast", total, shape=shape) if total.shape != shape else total


# ---- for every operation that works element by element

def _smaller_shape(args: tuple[Expr, ...], shape: Shape) -> Shape | None:
    """The shape in which repeated arguments can be combined before they are repeated, if it is smaller."""
    if not all(a.op == "broadcast" for a in args):
        return None
    common = np.broadcast_shapes(*(a.args[0].shape for a in args))
    return common if common != shape else None


def _before_broadcast(op: str, rest: Rule | None) -> Rule:
    """op(broadcast(x), broadcast(y)) = broadcast(op(x, y)): the same numbers, each computed once."""
    def apply(build, args, shape, params):
        simpler = rest(build, args, shape, params) if rest is not None else None
        if simpler is None and _smaller_shape(args, shape) is not None:
            simpler = build("broadcast", build(op, *(a.args[0] for a in args), **params), shape=shape)
        return simpler
    return apply


RULES.update({op: _before_broadcast(op, RULES.get(op)) for op, row in OPS.items() if row.kind is Kind.MAP})
