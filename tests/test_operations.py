"""Every operation has its record and its row of tests, and the facts of a record are true of the functions of its row."""

from importlib import import_module

import mpmath
import numpy as np
import pytest
import scipy.special

from infimum.expr import point_value, signs, simplify
from infimum.interval import elementary
from infimum.interval.pair import DEFINED, SMOOTH
from infimum.ops.operation import Inflection
from infimum.ops.vocabulary import OPS, Kind
from infimum.structure import curvature
from infimum.structure.expansions import asymptotic_rules
from tests.operations import ROWS

ELEMENTWISE = [name for name, row in OPS.items() if row.kind in (Kind.MAP, Kind.TEST)]
PLAIN = [name for name in ELEMENTWISE if OPS[name].kind is Kind.MAP and OPS[name].arity <= 2
         and name not in ("powi", "polygamma", "sinc", "spline")]
ONE = [name for name in PLAIN if OPS[name].arity == 1]


def draws(op: str) -> np.ndarray:
    """Arguments between which the operation is defined, one column a draw."""
    row = ROWS[op]
    return np.random.default_rng(1).uniform(row.low, row.high, (OPS[op].arity, 60))


# ---- nothing is forgotten
def test_every_operation_has_a_row_of_tests():
    assert set(ROWS) == set(ELEMENTWISE)


def test_every_record_has_its_rules():
    assert all(OPS[name].name == name and OPS[name].meaning for name in OPS)
    assert not [name for name in ELEMENTWISE if not (OPS[name].enclose and OPS[name].estimate and OPS[name].derivative)]
    assert all(OPS[name].neutral and OPS[name].of_two in OPS for name in OPS if OPS[name].kind is Kind.REDUCE)


def test_every_elementary_function_has_its_home():
    homes = {elementary._HOMES[name] for name in elementary.NAMES}
    tables = {module: import_module(f"infimum.interval.elementary.{module}").FUNCTIONS for module in homes}
    assert {name: module for module, table in tables.items() for name in table} == elementary._HOMES


@pytest.mark.parametrize("table", [asymptotic_rules.RULES, point_value._MAPS, point_value._SHAPED, signs._SIGNS, simplify.RULES,
                                   curvature._RULES], ids=range(6))
def test_tables_of_single_algorithms_name_operations_that_exist(table):
    assert set(table) <= set(OPS)


@pytest.mark.parametrize("op", [name for name in OPS if OPS[name].numpy or OPS[name].scipy])
def test_the_functions_that_a_record_names_have_its_meaning(op):
    x = draws(op)
    for module, names in ((np, OPS[op].numpy), (scipy.special, OPS[op].scipy)):
        for name in names.split():
            np.testing.assert_allclose(getattr(module, name)(*x), ROWS[op].numpy(*x), rtol=1e-14)  # SciPy's own cube root differs


# ---- facts of records
@pytest.mark.parametrize("op", [name for name in PLAIN if OPS[name].numpy and OPS[name].whole != "always"])
def test_numpy_gives_floats_for_integers_where_a_record_says_so(op):
    """Steps are left out: their floats are whole numbers, which no array of integers cuts."""
    with np.errstate(all="ignore"):
        result = getattr(np, OPS[op].numpy.split()[0])(*[np.ones(2, int)] * OPS[op].arity)
    assert OPS[op].float_result == (result.dtype.kind == "f")


@pytest.mark.parametrize("op", PLAIN)
def test_values_lie_where_a_record_says_so(op):
    values = ROWS[op].numpy(*draws(op))
    assert OPS[op].least < 0 or (values >= 0).all() and (OPS[op].least == 0 or (values > 0).all())
    assert not OPS[op].unit or (np.abs(values) <= 1).all()
    assert OPS[op].whole != "always" or (values == np.floor(values)).all()
    assert OPS[op].whole != "kept" or (ROWS[op].numpy(*np.floor(draws(op))) % 1 == 0).all()


@pytest.mark.parametrize("op", [name for name in PLAIN if OPS[name].status >= DEFINED])
def test_what_is_defined_everywhere_has_values_everywhere(op):
    x = np.random.default_rng(2).uniform(-300.0, 300.0, (OPS[op].arity, 200))
    assert np.isfinite(ROWS[op].numpy(*x)).all() and np.isfinite(ROWS[op].numpy(*np.zeros_like(x))).all()
    assert OPS[op].status < SMOOTH or not ROWS[op].rough


def second_difference(op: str, x: float) -> mpmath.mpf:
    f, h = ROWS[op].mpmath, mpmath.mpf(10) ** -20
    return (f(x + h) - 2 * f(mpmath.mpf(x)) + f(x - h)) / h**2


@pytest.mark.parametrize("op", [name for name in ONE if OPS[name].curvature])
def test_what_is_convex_or_concave_bends_so(op):
    with mpmath.workdps(80):
        assert all(OPS[op].curvature * second_difference(op, x) >= 0 for x in draws(op)[0])


@pytest.mark.parametrize("op", [name for name in PLAIN if OPS[name].increasing])
def test_what_increases_does_so_in_every_argument(op):
    x = draws(op)
    for k in range(OPS[op].arity):
        more = x.copy()
        more[k] += 0.125
        assert (ROWS[op].numpy(*more) > ROWS[op].numpy(*x)).all()


@pytest.mark.parametrize("op", [name for name in ONE if isinstance(OPS[name].inflection, Inflection)])
def test_an_inflection_at_0_turns_as_the_record_says(op):
    turn, place = OPS[op].inflection.turn, OPS[op].inflection.place
    with mpmath.workdps(80):
        for x in np.abs(draws(op)[0]):
            assert place is not None or turn * second_difference(op, -x) >= 0 >= turn * second_difference(op, x)


@pytest.mark.parametrize("op", [name for name in ONE if OPS[name].taylor])
def test_derivatives_at_a_point_are_those_of_the_record(op):
    point, known = OPS[op].taylor
    with mpmath.workdps(60):
        found = [mpmath.diff(ROWS[op].mpmath, point, k) for k in range(len(known))]
        assert all(abs(a - b) < 1e-12 for a, b in zip(found, known, strict=True))
