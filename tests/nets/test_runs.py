"""Whole runs answer what they answered: see `runs.py`."""

import pytest

from tests.nets.keeping import Kept
from tests.nets.runs import KEPT, missing, record, table

pytestmark = pytest.mark.allowance(100)  # these records notice more mistakes in a second than most other tests


@pytest.mark.parametrize("name", table())
def test_a_run_answers_what_was_kept(name):
    if missing(name) is not None:
        pytest.skip(f"{missing(name)} is not installed")
    wrong = KEPT.differences(name, record(name))
    assert not wrong, "\n".join(wrong)


def test_nothing_is_kept_for_runs_that_are_gone():
    assert set(KEPT.read()) == set(table())


@pytest.mark.parametrize("name", ["auto: camel", "auto: curved"])
def test_no_bit_depends_on_the_processor(name):
    assert not KEPT.differences(name, record(name, lanes=4))


def test_a_difference_names_the_field_and_both_values(tmp_path):
    kept = Kept(tmp_path / "some.json")
    kept.write({"a": {"lower": "0x1p-1", "x": ["0x0p+0"], "message": "as it was"}})
    assert kept.read() == {"a": {"lower": "0x1p-1", "x": ["0x0p+0"], "message": "as it was"}}
    assert kept.differences("a", {"lower": "0x1p-1", "x": ["0x0p+0"], "message": "as it is"}) == [
        "a: message was 'as it was', and is 'as it is'"]
    assert kept.differences("b", {}) == ["b: nothing is kept"]
