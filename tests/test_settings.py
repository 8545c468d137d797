"""Settings: read once, with the errors that a user sees, frozen."""

import pickle
from dataclasses import FrozenInstanceError, fields

import pytest

import infimum
from infimum.errors import OptionError
from infimum.problem.settings import Goal, Limits, Machine, Method, Parallel, Trials


@pytest.mark.parametrize("read, given, said", [
    (Goal.read, (-1.0, 0.0), "atol must be a number that is not negative, not -1.0"),
    (Goal.read, (0.0, None), "rtol must be a number that is not negative, not None"),
    (Goal.read, (0.0, 0.0, "a"), "xtol must be a number that is not negative, or None, not 'a'"),
    (Limits.read, (0, None, None), "time_limit must be a positive number, or None, not 0"),
    (Limits.read, (None, True, None), "max_boxes must be a positive number, or None, not True"),
    (Machine.read, ("cpu", None, 15), "batch must be a whole number of 16 or more, or None, not 15"),
    (Machine.read, ("cpu", None, 64.0), "batch must be a whole number of 16 or more, or None, not 64.0"),
    (Parallel.read, ("auto", None, 3), "portions= is for proofs with workers="),
    (Parallel.read, ("swarm", 2, None), "workers= is for proofs"),
    (Parallel.read, ("index", 2, 3), "portions= is for proofs with workers="),
    (Trials.read, (0, None, None, None, None, True), "max_trials must be a positive whole number, not 0"),
    (Trials.read, (1, None, -1, None, None, True), "the timeout of a trial must be a positive number"),
    (Trials.read, (1, None, None, None, 1.5, True), "batch must be a positive whole number, not 1.5"),
])
def test_what_is_wrong_is_said(read, given, said):
    with pytest.raises(OptionError) as error:
        read(*given)
    assert str(error.value).startswith(said)


def test_numbers_become_those_that_engines_and_files_hold():
    assert Goal.read(1, 0, 2) == Goal(1.0, 0.0, 2.0) and type(Goal.read(1, 0).atol) is float
    assert type(Limits.read(None, None, 10**9).memory_limit) is float
    assert Parallel.read("index", "anything", None) == Parallel()  # which `Trials` reads
    assert [Trials.read(None, workers, None, None, None, True).batch for workers in ("ray", 3, None)] == [16, 3, 1]


def test_settings_are_values():
    method = Method("auto", None, Goal(1e-3, 0.0, 1e-2), 7)
    for one in (method, Limits(1.0, 2, 3.0), Machine("cpu", 1, 64), Parallel(2, 8), Trials(3, 1, None, None, 1)):
        assert pickle.loads(pickle.dumps(one)) == one
        with pytest.raises(FrozenInstanceError):
            setattr(one, fields(one)[0].name, None)


def test_a_maximum_without_the_time_to_compile_is_not_one_without_its_constraints():
    """The constraints of an Evaluator are there whether its function is minimised or maximised."""
    evaluator = infimum.compile(lambda x: x[0] + x[1], 2, constraints=[lambda x: x[0] ** 2 + x[1] ** 2 <= 1])
    for ask in (infimum.minimize, infimum.maximize):
        found = ask(evaluator, [(-3, 3)] * 2, time_limit=1e-9)
        assert found.x is None and "no feasible point was found" in found.message
