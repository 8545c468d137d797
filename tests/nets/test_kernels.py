"""The IR of every program is what it was: see `kernels.py`."""

import pytest

from tests.backend.cases import small_kernel
from tests.nets.kernels import KEPT, hashes, serial, table


@pytest.mark.parametrize("case", table())
def test_the_ir_is_what_was_kept(case):
    wrong = KEPT.differences(case, hashes(case))
    assert not wrong, "\n".join(wrong)


def test_nothing_is_kept_for_cases_that_are_gone():
    assert set(KEPT.read()) == set(table())


def test_a_change_of_one_constant_is_noticed():
    lines = list(serial(small_kernel()))
    assert lines == list(serial(small_kernel())) and any("0x1.8000000000000p+1" in line for line in lines)
