"""Tests, and the choice between two values by a test."""

from functools import partial
from typing import Any, NamedTuple

from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, SMOOTH, UNDEFINED, Pair, b_level, is_empty, lowest, where_level
from infimum.ops.operation import Kind, Obstacle, Operation
from infimum.ops.rule_forms import constant, primitive


class Truth(NamedTuple):
    """A test over a box: `yes` certainly true at every point, `no` certainly false; firmly so where a neighbourhood agrees."""

    yes: Any
    no: Any
    firm_yes: Any
    firm_no: Any


def decided(b, test: Truth) -> tuple[Any, Any]:
    """Where the first branch of a `where` is the one at every point of the box, and where the second is."""
    return b.mand(test.yes, b.mnot(test.no)), b.mand(test.no, b.mnot(test.yes))


def _test(b, x: Pair, y: Pair, yes: Any, no: Any, firm_yes: Any, firm_no: Any) -> Truth:
    """A comparison, of which these masks hold where x and y are defined and continuous.

    As in NumPy it is false where x or y is NaN. At a pole, where NumPy compares with an infinity or with what became of one, it
    may be either. A decision is firm only where both are continuous.
    """
    level = lowest(b, x.level, y.level)
    if isinstance(level, int) and level >= LIPSCHITZ:
        return Truth(yes, no, firm_yes, firm_no)
    level = b_level(b, level)
    defined, calm = b.oge(level, float(DEFINED)), b.oge(level, float(LIPSCHITZ))
    for operand in (x, y):
        no = b.mor(no, is_empty(b, operand)) if operand.may_be_empty else no
    return Truth(b.mand(yes, defined), b.mand(no, b.oge(level, float(UNDEFINED))), b.mand(firm_yes, calm), b.mand(firm_no, calm))


def _lt(b, x: Pair, y: Pair) -> Truth:
    below, above = b.olt(x.hi, y.lo(b)), b.ogt(x.lo(b), y.hi)
    return _test(b, x, y, below, b.oge(x.lo(b), y.hi), below, above)


def _le(b, x: Pair, y: Pair) -> Truth:
    below, above = b.olt(x.hi, y.lo(b)), b.ogt(x.lo(b), y.hi)
    return _test(b, x, y, b.ole(x.hi, y.lo(b)), above, below, above)


def _eq(b, x: Pair, y: Pair) -> Truth:
    apart = b.mor(b.olt(x.hi, y.lo(b)), b.ogt(x.lo(b), y.hi))
    same = b.mand(b.mand(b.oeq(x.lo(b), x.hi), b.oeq(y.lo(b), y.hi)), b.oeq(x.hi, y.hi))
    return _test(b, x, y, same, apart, b.olt(x.hi, -INF), apart)


def _not(b, p: Truth) -> Truth:
    return Truth(p.no, p.yes, p.firm_no, p.firm_yes)


def _and(b, p: Truth, q: Truth) -> Truth:
    return Truth(b.mand(p.yes, q.yes), b.mor(p.no, q.no), b.mand(p.firm_yes, q.firm_yes), b.mor(p.firm_no, q.firm_no))


def _or(b, p: Truth, q: Truth) -> Truth:
    return _not(b, _and(b, _not(b, p), _not(b, q)))


def _where(b, test: Truth, x: Pair, y: Pair) -> Pair:
    """The chosen branch where the test is decided, the hull of both where it is not; Empty is neutral in the hull.

    Defined where the branches that may be chosen are, whether or not the test's operands are. A chosen branch keeps its level
    where the decision is firm; else it is only defined.
    """
    hull = {}
    for end in ("nlo", "hi"):
        hull[end] = b.max(b.select(test.no, -INF, getattr(x, end)), b.select(test.yes, -INF, getattr(y, end)))
    one = where_level(b, test.yes, x.level, where_level(b, test.no, y.level, lowest(b, x.level, y.level)))
    limit = where_level(b, b.mor(test.firm_yes, test.firm_no), SMOOTH, DEFINED)
    return Pair(hull["nlo"], hull["hi"], lowest(b, one, limit), may_be_empty=x.may_be_empty or y.may_be_empty,
                least=min(x.least, y.least), most=max(x.most, y.most), whole=x.whole if x.whole == y.whole else 0)


def _where_derivative(e, node, a, i):
    """A `where` with zeros in the other branch: `times` and `over` keep it outermost, see there."""
    return None if i == 0 else e.chosen(node.args[0], a, i)


_test_record = partial(Operation, kind=Kind.TEST, derivative=constant)
RECORDS = (
    Operation("where", "the second argument where the first (a test) is true, else the third", 3,
              enclose=_where, estimate=primitive("select"), derivative=_where_derivative,
              status=DEFINED, cost=6, obstacle=Obstacle("", "changes", jump=True)),
    _test_record("lt", "x < y", 2, enclose=_lt, estimate=primitive("olt"), numpy="less", cost=2),
    _test_record("le", "x <= y", 2, enclose=_le, estimate=primitive("ole"), numpy="less_equal", cost=2),
    _test_record("eq", "x == y", 2, enclose=_eq, estimate=primitive("oeq"), numpy="equal", cost=4),
    _test_record("and", "both", 2, enclose=_and, estimate=primitive("mand"), cost=2),
    _test_record("or", "either", 2, enclose=_or, estimate=primitive("mor"), cost=2),
    _test_record("not", "the opposite", enclose=_not, estimate=primitive("mnot"), cost=0),
)
