"""What a function is, as far as its expression tells: asked by tests, searches and engines, found once for equal functions."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any

from infimum.expr import rewriting_switches
from infimum.expr.node import Expr, var
from infimum.kernel.schedule import is_sum_over_data
from infimum.search.policy.search import EVALUATION as POLICY
from infimum.structure.totals import is_costly
from infimum.support import environment
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.least_squares import gauss_newton_kernel
    from infimum.relax import affine_bound_kernel
    from infimum.structure import arrange_reductions, gather_terms, local_form, single_quantity_pieces, term_sums
    from infimum.structure import outer_tangents as tangents
    from infimum.structure import separable_residuals as separable
    from infimum.structure.expansions import norm_quotients
else:
    arrange_reductions = LazyModule("structure.arrange_reductions")
    gather_terms = LazyModule("structure.gather_terms")
    local_form = LazyModule("structure.local_form")
    norm_quotients = LazyModule("structure.expansions.norm_quotients")
    single_quantity_pieces = LazyModule("structure.single_quantity_pieces")
    separable = LazyModule("structure.separable_residuals")
    tangents = LazyModule("structure.outer_tangents")
    term_sums = LazyModule("structure.term_sums")
    affine_bound_kernel = LazyModule("relax.affine_bound_kernel")
    gauss_newton_kernel = LazyModule("bounds.least_squares.gauss_newton_kernel")

_found: "OrderedDict[tuple, Any]" = OrderedDict()


def _fact(find: Callable) -> cached_property:
    """A property that the expression alone tells: for an equal function it need not be found again, as with kernels."""
    @wraps(find)
    def known(self: "Facts") -> Any:
        key = self.f.key, find.__name__, self.n, rewriting_switches.state()
        if key not in _found:
            _found[key] = find(self)
            if len(_found) > POLICY.kept_facts:
                _found.popitem(last=False)
        return _found[key]
    return cached_property(known)


@environment.all_ours
class Facts:
    """Of a function f of n variables."""

    def __init__(self, f: Expr, n: int):
        self.f, self.n = f, n

    @_fact
    def local(self) -> "local_form.LocalForm | None":
        """The function as seen from one variable, which sweeps need; None if it cannot be split."""
        return self.local_block(1)

    def local_block(self, block: int) -> "local_form.LocalForm | None":
        """The same for a block of variables."""
        return local_form.local_form(self.f, var("x", (self.n,)), block)

    @_fact
    def is_costly(self) -> bool:
        """Does the function hold so large a table of data that the evaluation itself takes nearly all of the time?"""
        return is_costly(self.f)

    @_fact
    def is_sum_over_data(self) -> bool:
        """Are all its second derivatives computed in one loop, at little more than the cost of the first ones?"""
        return is_sum_over_data(self.f, var("x", (self.n,)))

    @_fact
    def is_recurrence(self) -> bool:
        """Has it few variables, and several sums that can be collected?"""
        return affine_bound_kernel.is_recurrence(self.f, self.n)

    @cached_property
    def families(self) -> "list[term_sums.TermFamily] | None":
        """The terms of the sum that it is, by their forms; None if one of them has too many variables."""
        return term_sums.families_of(self.f, var("x", (self.n,)))

    @_fact
    def has_residuals(self) -> bool:
        """Is it a sum of squares over many data?"""
        return gauss_newton_kernel.residuals_of(self.f, var("x", (self.n,))) is not None

    @_fact
    def separable(self) -> "separable.SeparableResiduals | None":
        """The residuals of a sum of squares with their linear parameters apart; None if there are none."""
        e = separable.residual_vector(self.f)
        return None if e is None else separable.separable(e, var("x", (self.n,)))

    @_fact
    def sum_of_squares(self) -> "separable.SeparableResiduals | None":
        """The same, where there may be no linear parameters."""
        return self.separable or separable.sum_of_squares(self.f, var("x", (self.n,)))

    @_fact
    def has_pieces(self) -> bool:
        """Does some part of the function use one quantity more than once, or is it 0 / 0 by a norm? Enclosures by pieces are then
        tighter."""
        f = gather_terms.gathered(arrange_reductions.arranged(self.f, var("x", (self.n,))))
        return bool(single_quantity_pieces.pieces_of(f) or norm_quotients.norm_quotients(f))

    @_fact
    def tangents(self) -> "tangents.Tangents | None":
        """The function with tangents for its outer functions; None if it has none of these."""
        return tangents.tangents(self.f, var("x", (self.n,)))
