"""Writes docs/api.md from the signatures and docstrings of the public names: `python dev.py docs`. A test compares the two.

Signatures are read from the source, as written there, so that every version of Python gives the same text.
"""

import ast
import inspect
import re
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import infimum
from infimum import errors as error_classes
from infimum import networks, problems, result
from infimum.engines.complete_options import CompleteOptions
from infimum.engines.index.index_options import IndexOptions
from infimum.engines.newton_options import NewtonOptions
from infimum.engines.subdomain_options import SubdomainOptions
from infimum.fitting import statistics
from infimum.points.swarm_options import SwarmOptions

DOCUMENT = Path(__file__).with_name("api.md")
SECTIONS: dict[str, tuple[Any, ...]] = {
    "Solving": (infimum.minimize, infimum.maximize, infimum.feasible, infimum.resume, infimum.Constraint, infimum.Choices,
                infimum.Problem),
    "Results": (infimum.Result, infimum.Verdict, infimum.Cover, infimum.Unions, infimum.Minimiser, infimum.Minimisers,
                infimum.Minimum, infimum.ConstraintValue, infimum.ConstraintValues, infimum.RankedPoint, result.End,
                result.Progress),
    "Fitting": (infimum.fit, infimum.curve_fit, infimum.FitResult, infimum.Parameter, infimum.Fit, infimum.Prediction,
                statistics.Statistics, infimum.ParameterSet, infimum.Confidence, infimum.BoundedError, infimum.Boxes,
                infimum.Part, infimum.Profile),
    "Networks": (infimum.network, infimum.Network, infimum.verify, networks.largest, networks.smallest, networks.robust,
                 networks.error, infimum.Verification, networks.Outcome, networks.Check, networks.read_vnnlib, networks.VnnLib),
    "Splines": (infimum.spline, infimum.Spline),
    "Trials": (infimum.study, infimum.Study, infimum.StudyTrial, infimum.nested, infimum.TrialSummary,
               infimum.InnerSummary),
    "Enclosures": (infimum.enclose, infimum.compile, infimum.Evaluator, infimum.Enclosure, infimum.Derivative, infimum.Hessian,
                   infimum.MeanValue, infimum.LinearBounds, infimum.Interval),
    "Options of the engines": (SwarmOptions, NewtonOptions, CompleteOptions, SubdomainOptions, IndexOptions),
    "Test problems": (problems.get, problems.names, problems.sizes, problems.all_problems, problems.GalleryProblem,
                      problems.constrained.get, problems.constrained.names, problems.constrained.all_problems,
                      problems.constrained.Constrained),
    "Exact constants: `pi` and `e`": (infimum.Real,),
}
CONSTANTS = ("pi", "e")
# classes of which users need only these members; the others are for engines
MEMBERS = {"Evaluator": ("value", "mean_value", "gradient", "hessian", "estimate", "estimate_gradient",
                         "estimate_hessian_vector", "rows", "jacobian"),
           "SwarmOptions": (), "NewtonOptions": (), "CompleteOptions": (), "SubdomainOptions": (), "IndexOptions": (),
           "Problem": (), "Real": ()}
_HARD = "\0"  # a space at which no line is broken
_HEAD = """\
# API reference

Written by `python dev.py docs` from the docstrings; change those, not this page. `infimum.minimize(fun, bounds)` is all that most
programs need.
"""


class Source:
    """The source of a function or a class: its syntax tree, and the text of any part of it on one line."""

    def __init__(self, thing: Any):
        self.text = textwrap.dedent(inspect.getsource(thing))
        self.node = ast.parse(self.text).body[0]

    def part(self, node: ast.AST) -> str:
        return " ".join(ast.get_source_segment(self.text, node).split())


def signature(function: FunctionType, name: str, width: int = 1000) -> str:
    """The call as it is written in the source, without `self`, broken between arguments only."""
    source = Source(function)
    given = source.node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
    shown = [_argument(source, *pair) for pair in zip(plain, defaults, strict=True) if pair[0].arg not in ("self", "cls")]
    shown += [f"*{_argument(source, given.vararg)}"] if given.vararg else ["*"] if given.kwonlyargs else []
    shown += [_argument(source, *pair) for pair in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    shown += [f"**{_argument(source, given.kwarg)}"] if given.kwarg else []
    returns = f" -> {_annotation(source, source.node.returns)}" if source.node.returns is not None else ""
    whole = f"{name}({', '.join(text.replace(' ', _HARD) for text in shown)}){returns.replace(' ', _HARD)}"
    return textwrap.fill(whole, width, subsequent_indent=" " * (len(name) + 1), break_long_words=False,
                         break_on_hyphens=False).replace(_HARD, " ")


def _annotation(source: Source, node: ast.expr) -> str:
    """As it is written, without the quotes around names that are imported for type checkers alone."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else source.part(node)


def _argument(source: Source, argument: ast.arg, default: ast.expr | None = None) -> str:
    kind = f": {_annotation(source, argument.annotation)}" if argument.annotation is not None else ""
    return f"{argument.arg}{kind}" + (f" = {source.part(default)}" if default is not None else "")


def prose(docstring: str | None, leave_out: str = "") -> str:
    """A docstring as Markdown: examples in a fence of their own, and without one of its paragraphs."""
    blocks = [block for block in inspect.cleandoc(docstring or "").split("\n\n") if block != leave_out]
    return "\n\n".join(f"```pycon\n{block}\n```" if block.startswith(">>>") else block for block in blocks)


def default(field: Any) -> str:
    if field.default_factory is not MISSING:
        return f"`{field.default_factory()!r}`"
    return "" if field.default is MISSING else f"`{field.default!r}`"


def described(kind: type) -> tuple[str, list[str]]:
    """The paragraph of a docstring of the form `a, b: what they are. c: what it is.`, and a line for each part of it."""
    name = "|".join([f.name for f in fields(kind)] + [k for k, member in vars(kind).items() if isinstance(member, property)])
    heading = re.compile(rf"(?:^|(?<=[.;] ))((?:{name})(?:, (?:{name}))*): ")
    for block in inspect.cleandoc(kind.__doc__ or "").split("\n\n"):
        _, *parts = heading.split(" ".join(block.split()))
        if parts and heading.match(block):
            pairs = zip(parts[::2], parts[1::2], strict=True)
            return block, [f"* `{'`, `'.join(names.split(', '))}`: {text.strip().rstrip('.')}" for names, text in pairs]
    return "", []


def field_table(kind: type) -> str:
    """The fields of a dataclass that are shown in its repr, but for inherited ones."""
    source = Source(kind)
    annotated = [node for node in source.node.body if isinstance(node, ast.AnnAssign)]
    types = {node.target.id: source.part(node.annotation).strip('"') for node in annotated}
    rows = [[f"`{f.name}`", f"`{types[f.name]}`", default(f)] for f in fields(kind) if f.repr and f.name in types]
    if not rows:
        return ""
    columns = 3 if any(row[2] for row in rows) else 2
    table = [["field", "type", "default"], ["---"] * 3, *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row[:columns]) + " |" for row in table)


def members(kind: type) -> list[str]:
    """The public methods and properties that the class itself defines."""
    found = []
    for name, member in vars(kind).items():
        is_property = isinstance(member, (property, cached_property))
        function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if name.startswith("_") or not isinstance(function, FunctionType) or name not in MEMBERS.get(kind.__name__, (name,)):
            continue
        if function.__doc__ is None:  # the text about the class says it
            continue
        call = name if is_property else signature(function, name)
        found.append(f"#### `{kind.__name__}.{call}`\n\n{prose(function.__doc__)}")
    return found


def entry(thing: Any) -> str:
    """The text about one function or class."""
    if isinstance(thing, FunctionType):
        module = thing.__module__
        name = (f"{module.removeprefix('infimum.')}." if module.startswith(problems.__name__) else "") + thing.__name__
        return f"### `{name}`\n\n```text\n{signature(thing, name, 120)}\n```\n\n{prose(thing.__doc__)}"
    paragraph, lines = described(thing) if is_dataclass(thing) else ("", [])
    parts = [f"### `{thing.__name__}`", prose(thing.__doc__, paragraph)]
    if issubclass(thing, Enum):
        lines = [f"* `{member.name}`: {member.value}" for member in thing]
    if is_dataclass(thing) and (table := field_table(thing)):
        parts.append(table)
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else []), *members(thing)])


def errors() -> str:
    """The tree of errors, and the help that each class carries."""
    def branch(kind: type, depth: int) -> list[tuple[int, type]]:
        below = [k for k in vars(error_classes).values() if isinstance(k, type) and k.__bases__[0] is kind]
        return [(depth, kind), *(row for k in below for row in branch(k, depth + 1))]

    tree = branch(infimum.InfimumError, 0)
    lines = [f"{'  ' * depth}* `{kind.__name__}`" + "".join(f" (also a `{base.__name__}`)" for base in kind.__bases__[1:])
             for depth, kind in tree]
    return "\n".join(lines) + "\n\n" + "\n\n".join(f"### `{kind.__name__}`\n\n{prose(kind.__doc__)}" for _, kind in tree)


def document() -> str:
    """The text of docs/api.md as the code is now. Public names that no section holds come last."""
    placed = {getattr(thing, "__name__", "") for things in SECTIONS.values() for thing in things} | set(CONSTANTS)
    public = {name: getattr(infimum, name) for name in infimum.__all__}
    others = tuple(thing for name, thing in public.items()
                   if name not in placed and not (isinstance(thing, type) and issubclass(thing, Exception)))
    sections = SECTIONS | ({"Further names": others} if others else {})
    anchors = {title: re.sub(r"[^a-z ]", "", title.lower()).replace(" ", "-") for title in [*sections, "Errors"]}
    groups = f"Groups: {', '.join(f'[{title}](#{anchor})' for title, anchor in anchors.items())}."
    texts = [f"## {title}\n\n" + "\n\n".join(entry(thing) for thing in things) for title, things in sections.items()]
    head = [_HEAD.rstrip(), textwrap.fill(groups, 130, break_on_hyphens=False)]
    return "\n\n".join([*head, *texts, f"## Errors\n\n{errors()}"]) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"wrote {DOCUMENT}")
