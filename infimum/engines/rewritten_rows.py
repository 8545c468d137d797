"""The form in which f and the constraints are bounded. Points are proved by what the user wrote."""

from typing import TYPE_CHECKING

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import Expr, topological, var
from infimum.ops.vocabulary import POLYNOMIAL, Kind
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.structure.monomials import with_monomials
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.relax import completed_forms
    from infimum.structure.expansions import entropy_terms
else:
    completed_forms = LazyModule("relax.completed_forms")
    entropy_terms = LazyModule("structure.expansions.entropy_terms")


def rewritten_for_bounds(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray) -> Evaluator:
    """Of the same functions: x log x as one operation, semidefinite quadratic forms as sums of squares, and products of powers of
    positive variables as exponentials; exchangeable variables in order."""
    system = evaluator.system.with_orders
    if any(node.op == "log" for node in topological((system.f, *system.bodies))):
        system = entropy_terms.with_entropies(system)
    if any(_may_have_products(row) for row in (system.f, *system.bodies)):
        system = completed_forms.with_completed_forms(system, var("x", lo.shape), lo, hi)
    system = with_monomials(system, lo)
    return evaluator if system is evaluator.system else evaluator.rewritten(system.f, system, evaluator.fun)


def _may_have_products(row: Expr) -> bool:
    """Is it a polynomial in which variables are multiplied, as far as a glance tells?"""
    nodes = list(topological([row]))
    products = any(node.op == "prod" or (node.op == "mul" and all(arg.op != "const" for arg in node.args)) for node in nodes)
    return products and all(node.op in POLYNOMIAL or node.kind is Kind.VIEW for node in nodes if node.op != "const")


def said(system: System, given: System) -> str:
    """How many rows of the given system are bounded in another form; nothing if none is."""
    count = sum(one.key != other.key for one, other in zip(system.rows, given.rows, strict=True))
    forms = "bounded in another form, as a sum of squares, an entropy or an exponential"
    return f"{counted(count, 'function')} {forms}" if count else ""
