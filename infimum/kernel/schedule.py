"""The plan of a kernel: what is stored, what is recomputed, which loops are shared."""

from collections.abc import Collection
from dataclasses import field

from infimum.expr.node import Expr, is_number, topological
from infimum.ops.vocabulary import OPS, Kind
from infimum.support.clock import check_time
from infimum.support.lazy import dataclass

HEAVY_COST = 24           # an expression this costly is stored rather than computed twice
STRAIGHT_LINE_COST = 200  # programs up to this cost are written without loops
UNROLL_COST = 40          # short loops up to this cost are written out
_MANY_CURVES = 8          # curves a variable
_HINGES = ("max", "min")  # curves that cost little
FEW_VARIABLES = 8  # variables whose derivatives are carried along in a loop over data

_MOST_STRAIGHT_COST = 3000  # of expressions that are written out: more would take long to compile


def own_cost(node: Expr) -> int:
    """Roughly how many instructions one element of the node takes, its arguments given."""
    if node.op == "mul" and any(is_number(a) for a in node.args):
        return 2
    cost = 0 if node.kind is Kind.REDUCE else OPS[node.op].cost
    return cost * node["table"].count if node.op == "spline" else cost



def element_costs(nodes: list[Expr]) -> dict[Expr, float]:
    """Cost of one element of each node when nothing is stored."""
    cost: dict[Expr, float] = {}
    for node in nodes:
        inner = sum(cost[a] for a in dict.fromkeys(node.args))
        if node.kind is Kind.REDUCE:
            length = max(1, node.args[0].size // max(1, node.size))
            cost[node] = min(1e12, length * (inner + OPS[node.op].cost)) + HEAVY_COST
        else:
            cost[node] = min(1e12, inner + own_cost(node))
    return cost


def straight_cost(nodes: list[Expr]) -> int:
    """Cost of the whole program written without loops."""
    total = 0
    for node in nodes:
        if node.kind is Kind.REDUCE:
            total += node.args[0].size * OPS[node.op].cost
        elif node.kind is Kind.SCAN:
            total += node.size * 16
        else:
            total += node.size * own_cost(node)
    return total


def is_short(rows: list[Expr]) -> bool:
    """Are the expressions small enough to be written without loops by kernels that say much of each number?"""
    return straight_cost(list(topological(rows))) <= _MOST_STRAIGHT_COST


@dataclass(slots=True)
class Stage:
    """Roots computed in one loop, or a single root with loops of its own."""

    level: int
    roots: list[Expr]
    shared: bool


@dataclass(slots=True)
class Plan:
    """`straight`: no loops at all. Else: the stored nodes and the stages in order; `level` of every node.

    `rule` names the rule of a node where it is not that of its operation.
    """

    straight: bool
    nodes: list[Expr]
    cost: dict[Expr, float]
    stored: set[Expr] = field(default_factory=set)
    stages: list[Stage] = field(default_factory=list)
    level: dict[Expr, int] = field(default_factory=dict)
    rule: dict[Expr, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rule = {n: f"{n.op} with {other.op}" for n, other in _partners(self.nodes).items()}


def plan(outputs: list[Expr], straight: bool | None = None, stored: Collection[Expr] = ()) -> Plan:
    """Decides the shape of the program that computes the outputs; see `Lowering.run`."""
    nodes = list(topological(outputs))
    cost = element_costs(nodes)
    if straight or (straight is None and straight_cost(nodes) <= STRAIGHT_LINE_COST):
        return Plan(True, nodes, cost)
    result = Plan(False, nodes, cost, _choose_stored(outputs, nodes, cost) | set(stored))
    _arrange(result, outputs)
    return result


def independent_roots(output: Expr, variable: Expr) -> list[Expr]:
    """What a loop that changes only the variable should find computed: roots that do not need it, and heavy arrays it meets."""
    p = plan([output], straight=False)
    needs: set[Expr] = set()
    for node in p.nodes:
        if node is variable or any(a in needs for a in node.args):
            needs.add(node)
    met = dict.fromkeys(a for node in p.nodes if node in needs for a in node.args if a not in needs)
    for node in reversed(p.nodes):  # what is seen through views
        if node in met and node.kind is Kind.VIEW:
            met |= dict.fromkeys(node.args)
    heavy = [a for a in met if a.size > 1 and p.cost[a] >= HEAVY_COST and a.kind not in (Kind.TEST, Kind.VIEW)]
    roots = [root for stage in p.stages for root in stage.roots if root not in needs]
    return list(dict.fromkeys([*roots, *heavy]))


def is_sum_over_data(f: Expr, x: Expr, any_size: bool = False) -> bool:
    """Has f few variables, each read on its own, in loops over many numbers (or `any_size`) none of which is stored? Norms
    have a kink that jets do not see."""
    if x.size > FEW_VARIABLES:
        return False
    nodes = list(topological([f]))
    alone = all(node.size == 1 for node in nodes if x in node.args) and all(node.op != "norm" for node in nodes)
    return alone and (any_size or straight_cost(nodes) > 4 * STRAIGHT_LINE_COST) and not plan([f], straight=False).stored


def has_many_curves(f: Expr, n: int) -> bool:
    """Has f many functions of one number for each variable, in arrays, as a network has?"""
    curves = [node for node in topological([f]) if node.op in _HINGES or (node.kind is Kind.MAP and own_cost(node) >= HEAVY_COST)]
    return sum(node.size for node in curves if node.size > 1) >= _MANY_CURVES * n


def written_out(f: Expr) -> int:
    """The number of operations on single numbers: what a kernel compiles one by one."""
    return sum(node.size == 1 and node.kind is Kind.MAP for node in topological([f]))


def _choose_stored(outputs: list[Expr], nodes: list[Expr], cost: dict[Expr, float]) -> set[Expr]:
    """A heavy array is stored if it would be computed more than once: in several loops, at several positions, or repeated.

    Roots that run over the same vector and wait for equally many others are taken to share a loop.
    """
    waits = _waits(nodes)
    check_time()
    stored, uses = _trace_uses(outputs, nodes, cost, waits, set())
    # sine and cosine are computed together in the first loop that needs either; what no later loop needs is not kept
    apart = {n for n, other in _partners(nodes).items() if n.size > 1 and uses[n] != uses[other]}
    if apart:
        stored, _ = _trace_uses(outputs, nodes, cost, waits, apart)
    return _remains_heavy(nodes, stored)


def _trace_uses(outputs: list[Expr], nodes: list[Expr], cost: dict[Expr, float], waits: dict[Expr, int],
                forced: set[Expr]) -> tuple[set[Expr], dict[Expr, set[int]]]:
    """(what is stored, in which loops and at which positions each node is used), from the outputs back to the variables."""
    numbers: dict[tuple, int] = {}
    uses: dict[Expr, set[int]] = {node: set() for node in nodes}
    stored, again = set(forced), set()

    def number(*use: object) -> int:
        return numbers.setdefault(use, len(numbers))

    def loop(root: Expr, shape: tuple[int, ...], wait: int) -> set[int]:
        shared = len(shape) == 1 and root.kind is not Kind.SCAN and root.op != "concat"
        return {number(shape, wait) if shared else number(id(root))}
    for out in outputs:
        uses[out] |= loop(out, out.shape, waits[out])
    for node in reversed(nodes):
        if node.size > 1 and node.kind not in (Kind.LEAF, Kind.TEST):
            often = len(uses[node]) > 1 or node in again
            if node.kind is Kind.SCAN or node.op == "concat" or (often and cost[node] >= HEAVY_COST):
                stored.add(node)
        mine = uses[node]
        if node in stored:
            mine = loop(node, node.shape, waits[node])
        elif node.kind is Kind.REDUCE and node.size == 1:
            mine = loop(node, node.args[0].shape, waits[node] - 1)
        elif node.kind in (Kind.REDUCE, Kind.VIEW):  # other positions than those of its users
            mine = {number(id(node), use) for use in mine}
        for arg in node.args:
            uses[arg] |= mine
            if len(uses[arg]) > 2:
                uses[arg] = set(sorted(uses[arg])[:2])  # two are as many as many
            if node.kind is Kind.VIEW and node.size > arg.size > 1:
                again.add(arg)  # repeated, or computed in vain beside an edge
    return stored, uses


def _partners(nodes: list[Expr]) -> dict[Expr, Expr]:
    """Sine and cosine of one argument: each one's other."""
    sines, cosines = ({n.args[0]: n for n in nodes if n.op == op} for op in ("sin", "cos"))
    both = [(sines[x], cosines[x]) for x in sines if x in cosines]
    return {a: b for pair in both for a, b in (pair, pair[::-1])}


def _waits(nodes: list[Expr]) -> dict[Expr, int]:
    """How many loops, one after the other, must have ended before an element of each node can be computed."""
    waits: dict[Expr, int] = {}
    for node in nodes:
        ends_a_loop = node.kind is Kind.SCAN or (node.kind is Kind.REDUCE and node.size == 1)
        waits[node] = max([waits[a] for a in node.args], default=0) + ends_a_loop
    return waits


def _remains_heavy(nodes: list[Expr], stored: set[Expr]) -> set[Expr]:
    """Without the arrays that are cheap now that what they need is stored."""
    kept: set[Expr] = set()
    cost: dict[Expr, float] = {}
    for node in nodes:
        inner = sum(2 if a in kept else cost[a] for a in dict.fromkeys(node.args))
        cost[node] = inner + (HEAVY_COST if node.kind is Kind.REDUCE else own_cost(node))
        if node in stored and (cost[node] >= HEAVY_COST or node.op == "concat"):
            kept.add(node)
    return kept


def _arrange(p: Plan, outputs: list[Expr]) -> None:
    """Orders the roots; those that depend on equally many stages and run over the same vector share a loop."""
    check_time()
    wanted = set(outputs)
    shared: dict[tuple, Stage] = {}
    for node in p.nodes:
        below = max([p.level[a] for a in node.args], default=0)
        is_root = node in p.stored or (node.kind is Kind.REDUCE and node.size == 1)
        p.level[node] = below + is_root
        if is_root or (node in wanted and node.size > 1):
            level = p.level[node] if is_root else below + 1
            domain = node.args[0].shape if node.kind is Kind.REDUCE and node not in p.stored else node.shape
            simple = len(domain) == 1 and node.kind is not Kind.SCAN and node.op != "concat"
            stage = shared.get((level, domain)) if simple else None
            if stage is None:
                stage = Stage(level, [], simple)
                p.stages.append(stage)
                if simple:
                    shared[level, domain] = stage
            stage.roots.append(node)
    p.stages.sort(key=lambda s: s.level)
