"""What an operation's result says of its arguments, by the rules `inverse` of its record, in upward-rounded primitives.

If y = op(x, …), x in X, y in Y, then x lies in the interval that the rule for this argument writes, as ends (-lo, hi); whoever
asks intersects it with X. A rule is given nonempty intervals. It may say nothing: ends that are infinite. Where y is not needed
at all (a branch that is not chosen), Y is NaN, and so is the enclosure that is concluded for x: not even that x lies in the
domain of the operation.

Proof: docs/proofs/propagation.md.
"""

from collections.abc import Callable
from typing import Any

from infimum.interval.pair import DEFINED, INF, Pair, b_level
from infimum.ops.arithmetic import term
from infimum.ops.rule_forms import Ends, ends
from infimum.ops.vocabulary import OPS

_NAN = float("nan")


def inverse(b, op: str, which: int, y: Ends, args: list[Pair], value: Pair, **params: int) -> Ends:
    """What y = op(args) says of argument number `which`; `value` is the enclosure of op(args). NaN where y is.

    Where y is no smaller than the value, and the operation is defined everywhere, nothing follows: costly rules are not asked.
    """
    args = [a.but(may_be_empty=False) for a in args]
    row = OPS[op]
    rule, own, others = row.inverse[which] if row.inverse else None, args[which], [a for k, a in enumerate(args) if k != which]
    if rule is None:
        return tuple(b.select(b.uno(*y), _NAN, INF) for _ in y)
    if op in ("add", "sub", "neg"):
        return rule(b, Pair(*y), own, *others)
    if op == "mul" and others[0].point is not None and others[0].nonzero:
        return _quotient(b, y, others[0])
    name = "_".join(["inverse", op, str(which), *(str(v).replace("-", "m") for v in params.values())])
    asked = None
    if row.costly_inverse and abs(params.get("k", INF)) > 3:
        smaller_than_value = b.mor(b.olt(y[0], value.nlo), b.olt(y[1], value.hi))
        asked = b.mor(smaller_than_value, b.olt(b_level(b, value.level), float(DEFINED)))
    return _implied(b, name, rule, y, own, *others, asked=asked, **params)


def inverse_of_reduction(b, op: str, y: Ends, own: Pair, rest: Pair) -> Ends:
    """What the result y of a reduction says of one element, given the reduction of the others."""
    if op == "sum":
        return term(b, Pair(*y), own, rest.but(may_be_empty=False))
    return _implied(b, f"inverse_reduced_{op}", OPS[op].inverse[0], y, own, rest)


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
