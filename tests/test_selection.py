"""The default run: which cases it takes, how many draws, and that the thorough run takes everything."""

import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import children, selection

ROOT = Path(__file__).resolve().parent.parent
CASES = [f"tests/test_a.py::test_f[{k}]" for k in range(20)]


def test_what_is_cheap_runs_completely():
    assert selection.affordable(selection.costs(CASES, {}), 0.5) == set(CASES)
    assert selection.affordable(selection.costs(CASES, {"tests/test_a.py::test_f": 0.4}), 0.5) == set(CASES)


def test_the_allowance_pays_for_a_share_of_the_cases():
    found = selection.affordable(selection.costs(CASES, {"tests/test_a.py::test_f": 10.0}), 2.6)
    assert len(found) == 5 and found < set(CASES)


def test_a_new_case_leaves_the_others_in_their_order():
    cost = dict.fromkeys(CASES, 1.0)
    before, after = selection.affordable(cost, 5.0), selection.affordable({**cost, "tests/test_a.py::test_f[new]": 1.0}, 5.0)
    assert len(after) == 5 and len(before & after) >= 4


def test_slow_cases_have_costs_of_their_own():
    cost = selection.costs(CASES, {"tests/test_a.py::test_f": 29.0, CASES[3]: 10.0})
    assert cost[CASES[3]] == 10.0 and cost[CASES[0]] == 1.0
    assert CASES[3] not in selection.affordable(cost, 5.0)


def test_at_least_the_cheapest_case_unless_it_takes_very_long():
    assert selection.affordable({"a": 2 * selection.LONGEST, "b": selection.LONGEST}, 0.5) == {"b"}
    assert selection.affordable({"a": 20.0, "b": 15.0}, 0.5) == set()
    assert selection.affordable({"a": 20.0, "b": 15.0}, 30.0) in ({"a"}, {"b"})


def test_rows_are_replaced_and_those_of_missing_files_dropped(tmp_path):
    path = tmp_path / "durations.txt"
    selection.write({"tests/test_dev.py::test_a[1]": 2.0, "tests/test_dev.py::test_a[2]": 0.7, "tests/gone.py::test": 9.0}, path)
    assert selection.read(path) == {"tests/test_dev.py::test_a": 2.7, "tests/test_dev.py::test_a[1]": 2.0,
                                    "tests/gone.py::test": 9.0}
    selection.write({"tests/test_dev.py::test_b": 0.6}, path)
    assert selection.read(path) == {"tests/test_dev.py::test_a": 2.7, "tests/test_dev.py::test_a[1]": 2.0,
                                    "tests/test_dev.py::test_b": 0.6}
    selection.write({"tests/test_dev.py::test_a[1]": 0.1}, path)
    assert selection.read(path) == {"tests/test_dev.py::test_b": 0.6}


SAMPLE = """
import pytest
from hypothesis import given, settings, strategies as st
@pytest.mark.thorough
def test_soak(): pass
@pytest.mark.thorough
def test_broken(): assert False
@pytest.mark.parametrize("k", [pytest.param(0, marks=pytest.mark.always), *range(1, 40)])
def test_many(k): pass
@pytest.mark.allowance(9)
@pytest.mark.parametrize("k", range(40))
def test_worth_more(k): pass
def test_new(): pass
drawn = []
@settings(max_examples=200)
@given(st.integers())
def test_draws(k): drawn.append(k)
def test_draws_are_few(): assert len(drawn) <= 50
"""


@pytest.fixture
def sample(tmp_path):
    """A project with this conftest.py, in which each function of SAMPLE takes ten seconds: the output of runs there."""
    (tmp_path / "tests").mkdir()
    for name in ("__init__.py", "conftest.py", "selection.py", "children.py"):
        (tmp_path / "tests" / name).write_text((ROOT / "tests" / name).read_text())
    for name in ("conftest.py", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "tests/test_sample.py").write_text(SAMPLE)
    functions = ("test_many", "test_worth_more", "test_draws")
    (tmp_path / "tests/durations.txt").write_text("".join(f"10.0 tests/test_sample.py::{name}\n" for name in functions))

    return partial(output_of, cwd=tmp_path)


def output_of(*arguments: str, cwd: Path) -> str:
    ended = children.run(sys.executable, "-m", "pytest", *arguments, cwd=cwd)
    return ended.stdout + ended.stderr


def test_the_default_run_takes_a_share(sample):
    output = sample("-vv", "tests")
    assert "test_soak" not in output and "test_new PASSED" in output and "test_draws_are_few PASSED" in output
    assert "test_many[0] PASSED" in output and 1 <= output.count("test_many[") <= 3
    assert 30 < output.count("test_worth_more[") < 40


@pytest.mark.parametrize("arguments", [["--thorough", "tests"], ["tests/test_sample.py::test_soak", "tests/test_sample.py"]])
def test_the_thorough_run_and_a_run_of_named_tests_take_everything(sample, arguments):
    output = sample("-vv", *arguments)
    assert "test_soak PASSED" in output and output.count("test_many[") == 40 and output.count("test_worth_more[") == 40
    assert "test_draws_are_few FAILED" in output


def test_named_tests_run_without_the_plugin_of_the_cache(sample):
    assert "test_soak PASSED" in sample("-vv", "-p", "no:cacheprovider", "tests/test_sample.py::test_soak")


def test_within_some_minutes_what_the_default_run_leaves_out_comes_first(sample):
    output = sample("-vv", "--thorough", "--within", "1", "tests")
    assert output.count(" PASSED") == 83
    assert max(output.index(f"{name} PASSED") for name in ("test_soak", "test_draws")) < output.index("test_new PASSED")
    assert "85 tests were skipped: the minutes of --within are over" in sample("--thorough", "--within", "0", "tests")


def test_what_failed_in_a_thorough_run_is_run_again(sample):
    assert "test_broken" not in sample("-vv", "tests")
    sample("--thorough", "tests")
    assert "test_broken FAILED" in sample("-vv", "--lf", "tests")


def test_durations_are_kept_of_thorough_runs_alone(sample):
    assert "--keep-durations needs --thorough" in sample("--keep-durations", "tests")
    sample("--thorough", "--keep-durations", "tests")
    kept = selection.read(Path(sample.keywords["cwd"], "tests/durations.txt"))
    assert all(seconds < 5 for seconds in kept.values()), "the rows of ten seconds are replaced by what was measured"


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 5), min_size=1), st.floats(0, 20))
def test_no_more_is_spent_than_is_allowed_but_for_one_case(cost, allowance):
    found = selection.affordable(cost, allowance)
    assert found <= set(cost)
    assert sum(cost[name] for name in sorted(found)) <= allowance * (1 + 1e-9) or len(found) == 1


def test_the_kept_durations_are_those_of_tests():
    functions = {selection.function_of(name) for name in selection.read()}
    assert functions and all(name.startswith(("tests/", "infimum/")) for name in functions)
    assert functions <= set(selection.read()), "a slow case has a row of its function beside it"
