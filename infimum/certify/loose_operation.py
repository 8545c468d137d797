"""Which operation of a function spoils its enclosure on a region, and what to say of it."""


import numpy as np

from infimum.evaluation.enclosures import LIPSCHITZ, UNDEFINED
from infimum.evaluation.evaluator import Enclosure
from infimum.expr.node import Expr
from infimum.expr.quotation import operand, quoted
from infimum.ops.vocabulary import OPS, Kind
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class _Fault:
    """What a message says of an operation: what it does, whether at the edge of its domain or beyond it, and the cure."""

    verb: str
    beyond: bool
    cure: str


_HALVED = "Derivatives say nothing there, so such regions can only be halved"
_FAULTS: dict[str, _Fault] = {
    "pole": _Fault("has no finite enclosure", False, "Keep {quantity} away from there, by bounds or, if no minimiser lies "
                   "there, by np.maximum or np.minimum; or rewrite the terms that cancel there as a single one."),
    "overflow": _Fault("exceeds the largest double", False, "Narrow the bounds."),
    "undefined": _Fault("is undefined", True, _HALVED + ". Choose bounds within its domain, or continue it beyond with "
                        "np.maximum or np.where."),
    "jump": _Fault("jumps", False, _HALVED + ". Minimise on either side of the jump, or ask for a larger atol."),
    "steep": _Fault("has an infinite slope", False, _HALVED + ". Choose bounds that stay away from there, or ask for a larger "
                    "atol."),
    "kink": _Fault("has a kink", False, "Where its two sides meet, their slopes do not help. Minimise on either side of it, "
                   "or ask for a larger atol."),
    "angle": _Fault("is known only to lie in [-1, 1], because its argument is so large that rounding errors blur it by half a "
                    "turn", False, "Reduce the argument, or narrow the bounds."),
}


@dataclass(frozen=True, slots=True)
class LooseOperation:
    """An operation, what is wrong with it (a name in `_FAULTS`), and in which element if it has several. `numbers`: which
    variables of the user's the variables are, where some are left out."""

    node: Expr
    fault: str
    element: int
    numbers: np.ndarray | None = None

    def sentence(self) -> str:
        """What is wrong, without a full stop."""
        fault = _FAULTS[self.fault]
        obstacle = OPS[self.node.op].obstacle
        place = "" if self.fault in ("overflow", "angle") else obstacle.undefined if fault.beyond else obstacle.irregular
        index = np.unravel_index(self.element, self.node.shape)
        where = f" (element {', '.join(map(str, index))})" if self.node.size > 1 and self.node.line else ""
        what = quoted(self.node, self.element, self.numbers)
        return f"{what} {fault.verb}" + (f" where {self._quantity} {place}" if place else "") + where

    def cure(self) -> str:
        """What to do."""
        return _FAULTS[self.fault].cure.format(quantity=self._quantity.strip("`"))

    @property
    def _quantity(self) -> str:
        """The operand that matters, in the user's words."""
        return operand(self.node, OPS[self.node.op].obstacle.operand, self.element, self.numbers) or \
            ("its condition" if self.node.op == "where" else "its argument")


def unbounded_operation(f: Expr, inside: dict[Expr, Enclosure], lane: int) -> LooseOperation | None:
    """The operation that makes the lower end of f infinite although its own operands are bounded."""
    node: Expr | None = _computing(f)
    low: bool | None = True
    found = None
    while node is not None:
        found = node
        node, low = next(((a, end) for a, end in _loose_node(node, low) if _infinite(a, end, inside, lane).any()), (None, None))
    if found not in inside:
        return None
    overflows = not OPS[found.op].obstacle.pole or (found.op == "powi" and found["k"] > 0)
    return LooseOperation(found, "overflow" if overflows else "pole", int(np.argmax(_infinite(found, None, inside, lane))))


def nonsmooth_operation(f: Expr, inside: dict[Expr, Enclosure], lane: int, level: int) -> LooseOperation | None:
    """The operation that lowers the status of f to this level although its operands have a higher one."""
    node: Expr | None = _computing(f)
    found = None
    while node is not None:
        found = node
        node = next((a for a in _operands(node) if a in inside and inside[a].level[:, lane].min() <= level), None)
    if found not in inside:
        return None
    beside = "jump" if OPS[found.op].obstacle.jump else "steep"
    fault = "undefined" if level == UNDEFINED else "kink" if level == LIPSCHITZ else beside
    return LooseOperation(found, fault, int(np.argmin(inside[found].level[:, lane])))


def loose_angle(inside: dict[Expr, Enclosure]) -> LooseOperation | None:
    """A sine or cosine of which nothing is known at a point, the first lane, although its argument is finite."""
    for node, value in inside.items():
        argument = inside.get(_computing(node.args[0])) if node.op in ("sin", "cos") else None
        if argument is not None and argument.lo.shape == value.lo.shape:
            finite = (argument.hi[:, 0] < np.inf) & (argument.lo[:, 0] > -np.inf)
            unknown = finite & (value.lo[:, 0] == -1.0) & (value.hi[:, 0] == 1.0)
            if unknown.any():
                return LooseOperation(node, "angle", int(np.argmax(unknown)))
    return None


def _computing(node: Expr) -> Expr:
    """The operation that a view rearranges."""
    while node.kind is Kind.VIEW and len(node.args) == 1:
        node = node.args[0]
    return node


def _operands(node: Expr) -> list[Expr]:
    """The operands; of a test, what is tested, and of arrays laid end to end, each."""
    found: list[Expr] = []
    waiting = list(node.args)
    while waiting:
        a = _computing(waiting.pop(0))
        if a.kind in (Kind.TEST, Kind.VIEW):
            waiting = [*a.args, *waiting]
        else:
            found.append(a)
    return found


_SAME: dict[str, tuple[bool, ...]] = {  # is an end of the result infinite because the same end of the operand is, or the other?
    "add": (True, True), "sub": (True, False), "neg": (False,), "sum": (True,), "amin": (True,), "amax": (True,),
    "min": (True, True), "max": (True, True),
}


def _loose_node(node: Expr, low: bool | None) -> list[tuple[Expr, bool | None]]:
    """The operands, with the end (the lower one?) that may be to blame; None: either."""
    operands = _operands(node)
    signs = [np.sign(a.lo) for a in operands if a.op == "const"]
    if node.op == "mul" and signs and (abs(signs[0].sum()) == signs[0].size):
        same: tuple[bool, ...] = (bool(signs[0].flat[0] > 0),) * len(operands)
    else:
        same = _SAME.get(node.op, ())
    if low is None or len(same) != len(operands):
        return [(a, None) for a in operands]
    return [(a, low is way) for a, way in zip(operands, same, strict=True)]


def _infinite(node: Expr, low: bool | None, inside: dict[Expr, Enclosure], lane: int) -> np.ndarray:
    """In which elements the lower end is infinite, or the upper one, or, for None, either."""
    if node not in inside:
        return np.zeros(1, bool)
    below, above = np.isneginf(inside[node].lo[:, lane]), np.isposinf(inside[node].hi[:, lane])
    return below | above if low is None else below if low else above
