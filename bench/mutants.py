"""Small mistakes in code that carries proofs: where one can be made, and the text of a file that has it.

A mutant is named by its file, its function, its kind and its number among those of its kind in that function, so that
edits elsewhere leave it in its place. `mutants.txt` keeps those that were drawn once.
"""

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(__file__).with_name("mutants.txt")
FOLDERS = ("interval", "ops", "expr", "structure", "kernel", "relax", "bounds", "certify", "search", "sets", "chains",
           "linear_algebra", "evaluation", "trace", "problem", "presolve")
# what only talks, and what decides about time alone
TALK = ("advice", "limit_messages", "option_names", "progress", "callbacks", "interrupts", "refusals",
        "user_source", "text",
        "quotation", "json_values", "listing", "vocabulary", "obstacles",
        "settings", "overlapped_work")
MOST_IN_A_FUNCTION = 2

SWAPPED_NAMES = {"rounding": ("up down", "round_up round_down", "_up _down", "rounded_up rounded_down", "floor ceil"),
                 "extreme": ("min max", "minimum maximum", "argmin argmax", "fmin fmax", "least most", "any all"),
                 "end": ("lo hi", "nlo hi", "lower upper", "low high", "left right", "first last"),
                 "comparison": ("olt ole", "ogt oge", "less less_equal", "greater greater_equal")}
SWAPS = {(kind, one): other for kind, pairs in SWAPPED_NAMES.items() for pair in pairs
         for one, other in (pair.split(), pair.split()[::-1])}
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
               ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
OUTWARD = {"up", "down", "round_up", "round_down", "_up", "_down", "_round_up", "_round_down", "nextafter", "outward", "widened"}


@dataclass(frozen=True)
class Mutant:
    """One mistake. `was` and `text` are what stands there and what takes its place."""
    file: str
    function: str
    kind: str
    number: int
    was: str
    text: str
    start: tuple[int, int]  # line and byte within it
    end: tuple[int, int]

    @property
    def name(self) -> str:
        return f"{self.file} {self.function} {self.kind} {self.number}"


def changes(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Kinds of mistakes that can be made at this expression, and what it becomes."""
    match node:
        case ast.Compare(left, [op], others) if type(op) in COMPARISONS:
            yield "comparison", ast.Compare(left, [COMPARISONS[type(op)]()], others)
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            yield "sign", ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right)
            yield "term", left
        case ast.BinOp(left, ast.Mult() | ast.Div(), _):
            yield "term", left
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield "sign", operand
        case ast.UnaryOp(ast.Not(), operand):
            yield "condition", operand
        case ast.BoolOp(op, [first, *rest]):
            yield "condition", first if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.IfExp(test, body, orelse):
            yield "condition", ast.IfExp(test, orelse, body)
        case ast.Constant(bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield "constant", ast.Constant(2.0 * value or 1.0)
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), [first, *_]):
            if name in OUTWARD:
                yield "rounding dropped", first
            if isinstance(node.func, ast.Attribute) and name in ("neg", "abs"):
                yield "sign", first
            if isinstance(node.func, ast.Attribute) and name in ("add", "sub", "mul", "max", "min", "and_", "or_"):
                yield "term", first
        case ast.Attribute(value, name):
            for kind in SWAPPED_NAMES:
                if (kind, name) in SWAPS:
                    yield kind, ast.Attribute(value, SWAPS[kind, name])
        case ast.Name(name) if name in ("min", "max", "up", "down", "round_up", "round_down", "any", "all"):
            kind = "rounding" if "up" in name or "down" in name else "extreme"
            yield kind, ast.Name(SWAPS[kind, name])


def _expressions(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """Expressions that are computed, with the function that they stand in: no types, texts, errors, decorators or defaults."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        inner = f"{function}.{node.name}".lstrip(".")
        for child in node.body:
            yield from _expressions(child, inner)
        return
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
        return
    skipped = {id(node.annotation)} if isinstance(node, ast.AnnAssign) else set()
    if isinstance(node, ast.expr) and function and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield function, node
    for child in ast.iter_child_nodes(node):
        if id(child) not in skipped:
            yield from _expressions(child, function)


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mistake that can be made in a file."""
    numbers: Counter[tuple[str, str]] = Counter()
    found = []
    for function, node in _expressions(ast.parse(source), ""):
        for kind, changed in changes(node):
            number = numbers[function, kind]
            numbers[function, kind] += 1
            lines = "\n" * (node.end_lineno - node.lineno)  # the lines below keep their numbers
            found.append(Mutant(file, function, kind, number, ast.unparse(node), f"({ast.unparse(changed)}{lines})",
                                (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)))
    return found


def mutated(source: str, mutant: Mutant) -> str:
    """The text of the file with the mistake."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    (first, left), (last, right) = mutant.start, mutant.end
    before, after = lines[first - 1][:left], lines[last - 1][right:]
    return b"".join([*lines[:first - 1], before, mutant.text.encode(), after, *lines[last:]]).decode()


def all_mutants() -> list[Mutant]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / "infimum" / folder).rglob("*.py")) if path.stem not in TALK]
    return [mutant for path in files
            for mutant in mutants_of(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))]


def drawn(count: int, seed: int) -> list[Mutant]:
    """Mutants at random places, few of them in one function, and of each kind in turn."""
    pool = all_mutants()
    random.Random(seed).shuffle(pool)
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    taken: Counter[tuple[str, str]] = Counter()
    for mutant in pool:
        taken[mutant.file, mutant.function] += 1
        if taken[mutant.file, mutant.function] <= MOST_IN_A_FUNCTION or mutant.kind.startswith("rounding"):
            by_kind[mutant.kind].append(mutant)
    in_turn = [mutant for turn in zip_longest(*by_kind.values()) for mutant in turn if mutant is not None]
    return in_turn[:count]


def keep(mutants: list[Mutant]) -> None:
    rows = [" ".join(f"{m.name}: {m.was} -> {m.text}".split()) for m in mutants]
    KEPT.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


def read() -> tuple[list[Mutant], list[str]]:
    """The mutants that were kept, and the names of those whose place is gone."""
    present = {mutant.name: mutant for mutant in all_mutants()}
    names = [line.partition(": ")[0] for line in KEPT.read_text(encoding="utf-8").splitlines()]
    return [present[name] for name in names if name in present], [name for name in names if name not in present]
