"""Keyword arguments: scipy's, misspelled ones, threads and seeds."""

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import infimum
from infimum.backend.worker_threads import VARIABLE, thread_count
from tests import children

ROOT = Path(infimum.__file__).parents[1]


def bowl(x):
    return np.sum((x - 0.3) ** 2)


@pytest.mark.parametrize(("name", "cure"), [
    ("method", "engine="), ("jac", "derivatives are computed"), ("tol", "atol= and rtol="),
    ("maxiter", "max_boxes= or time_limit="),
    ("disp", "progress=True"),
    ("strategy", "engine="), ("init", "'start'"), ("vectorized", "in batches"), ("mutation", "leave it out"),
    ("ranges", "bounds="), ("Atol", "did you mean atol=?"), ("timelimit", "did you mean time_limit=?"),
    ("verbosity_of_output", "there are fun, bounds, args"),
])
def test_keywords_that_are_not_ours(name, cure):
    with pytest.raises(infimum.OptionError) as caught:
        infimum.minimize(bowl, [(-1, 1)], **{name: 1})
    assert str(caught.value).startswith(f"minimize has no argument {name!r}: ") and cure in str(caught.value)


LINE = (lambda x, a, b: a + b * x), [0.0, 1.0, 2.0], [1.0, 3.0, 5.5]


class LmfitModel:
    func, independent_vars = LINE[0], ["x"]


HABITS = {
    "scipy's order": (lambda: infimum.minimize(bowl, [0, 0], bounds=[(-1, 1)] * 2), r"twice.*write minimize\(f, bounds, x0="),
    "of maximize": (lambda: infimum.maximize(bowl, [0, 0], bounds=[(-1, 1)] * 2), r"write maximize\(f, bounds, x0="),
    "x0 for bounds": (lambda: infimum.minimize(bowl, [0.5, 0.5, 0.5]), "a point to start from is x0="),
    "two of them": (lambda: infimum.minimize(bowl, [0.5, 0.5]), "a point to start from is x0="),
    "no bounds": (lambda: infimum.minimize(bowl), "has no bounds: write minimize"),
    "args by place": (lambda: infimum.minimize(bowl, [(-1, 1)], (1,)), "has 3 arguments by place: write .*args=args"),
    "f for bounds": (lambda: infimum.feasible(bowl, [(-1, 1)]), r"write feasible\(bounds, constraints\)"),
    "options": (lambda: infimum.minimize(bowl, [(-1, 1)], options={"maxiter": 9}), "beside options, use max_boxes="),
    "all cores": (lambda: infimum.minimize(bowl, [(-1, 1)], workers=-1), "without it, all cores"),
    "p0": (lambda: infimum.minimize(bowl, [(-1, 1)], p0=[0]), "use x0="),
    "weights": (lambda: infimum.fit(*LINE, weights=[1, 1, 2]), "fit has no argument 'weights': use sigma=1/weights"),
    "of curve_fit": (lambda: infimum.curve_fit(*LINE, weights=[1, 1, 2]), "curve_fit has no argument 'weights': use sigma=1/"),
    "params": (lambda: infimum.fit(*LINE, params={}), "use bounds="),
    "leastsq": (lambda: infimum.fit(*LINE, method="leastsq"), "leave it out"),
    "nan_policy": (lambda: infimum.fit(*LINE, nan_policy="omit"), r"np.isfinite\(y\)"),
    "scale_covar": (lambda: infimum.fit(*LINE, scale_covar=False), "absolute_sigma=True"),
    "lmfit's order": (lambda: infimum.fit(LINE[2], {}, x=LINE[1]), r"write fit\(model, x, y, bounds="),
    "lmfit's model": (lambda: infimum.fit(LmfitModel(), *LINE[1:]), r"fit\(model.func, x, y, bounds=params\)"),
    "soft_l1": (lambda: infimum.fit(*LINE, bounds=(0, 9), loss="soft_l1"), "use 'huber'"),
    "direction": (lambda: infimum.study([(-1, 1)], direction="maximize"), "use maximise=True"),
    "n_trials": (lambda: infimum.study([(-1, 1)], n_trials=9), "use max_trials="),
}


@pytest.mark.parametrize("habit", HABITS)
def test_habits_of_other_libraries(habit: str):
    call, cure = HABITS[habit]
    with pytest.raises((infimum.OptionError, infimum.BoundsError), match=cure):
        call()


@pytest.mark.parametrize(("of", "name", "cure"), [
    (lambda: infimum, "create_study", "use infimum.study"), (lambda: infimum, "differential_evolution", "use infimum.minimize"),
    (lambda: infimum, "Model", "takes the function itself"),
    (lambda: infimum.study([(-1, 1)]), "optimize", "study.ask.*study.tell"),
    (lambda: infimum.study([(-1, 1)]), "best_params", "result"),
    (lambda: infimum.study([(-1, 1)]).ask(), "suggest_float", "trial.x")])
def test_names_of_other_libraries(of, name: str, cure: str):
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}': .*{cure}"):
        getattr(of(), name)
    assert not hasattr(of(), "nothing_of_the_kind")


@pytest.mark.parametrize(("name", "cure"), [("max_trials", "max_boxes="), ("timeout", "time_limit="),
                                            ("journal", "checkpoint=")])
def test_keywords_of_trials(name, cure):
    with pytest.raises(infimum.OptionError, match=rf"^{name}= is for engine='index'.*; with engine 'auto' use {cure}"):
        infimum.minimize(bowl, [(-1, 1)], **{name: 2})


def test_keywords_that_resume_does_not_have():
    with pytest.raises(infimum.OptionError, match="resume has no argument 'tol': use atol= and rtol="):
        infimum.resume("none.inf", bowl, tol=1e-3)


@pytest.mark.parametrize("call", [lambda f: infimum.minimize(bowl, [(-1, 1)], checkpoint=f), lambda f: infimum.resume(f, bowl)])
def test_checkpoints_that_are_no_names(call):
    with pytest.raises(infimum.OptionError, match="checkpoint must be the name of a file, not 3"):
        call(3)


def test_checkpoints_that_are_paths_or_folders(tmp_path):
    infimum.minimize(bowl, [(-1, 1)], checkpoint=tmp_path / "run.inf")
    assert infimum.resume(tmp_path / "run.inf", bowl).success
    with pytest.raises(infimum.CheckpointError, match=r"is a folder: give the name of a file"):
        infimum.minimize(bowl, [(-1, 1)], checkpoint=tmp_path)


def test_every_cure_names_arguments_that_exist():
    from infimum.support import other_libraries as habits
    own = {name: set(inspect.signature(getattr(infimum, name)).parameters) for name in ("minimize", "fit", "study")}
    for table, function in ((habits.OF_MINIMIZE, "minimize"), (habits.OF_FIT, "fit"), (habits.OF_STUDY, "study")):
        assert not own[function] & set(table)
    every = [*habits.OF_MINIMIZE.values(), *habits.OF_FIT.values(), *habits.OF_STUDY.values(), *habits.NAMES.values()]
    known = set.union(*own.values()) | {"t", "keep", "nan_policy", "method", "scale_covar"}
    named = {word for cure in every for word in re.findall(r"(\w+)=(?!=)", cure)}
    assert named and named <= known


def test_seed_none_is_drawn_and_reported():
    found = {infimum.minimize(bowl, [(-1, 1)] * 2, seed=None).seed for _ in range(3)}
    assert len(found) > 1
    seed = found.pop()
    assert infimum.minimize(bowl, [(-1, 1)] * 2, seed=seed).seed == seed


@pytest.mark.parametrize("threads", [1, 2, np.int64(3)])
def test_threads_change_no_bit(threads):
    usual, other = (infimum.minimize(bowl, [(-1, 1)] * 3, engine="swarm", threads=t) for t in (None, threads))
    assert usual.x.tobytes() == other.x.tobytes() and usual.nfev == other.nfev
    assert infimum.compile(bowl, 2, threads=threads).backend.threads == threads


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "two", 10**6])
def test_threads_that_cannot_be(threads):
    with pytest.raises(infimum.OptionError, match="threads must be a whole number from 1 to 1024"):
        infimum.minimize(bowl, [(-1, 1)], threads=threads)


def test_threads_of_an_evaluator_are_its_own():
    with pytest.raises(infimum.OptionError, match="infimum.compile"):
        infimum.minimize(infimum.compile(bowl, 1), [(-1, 1)], threads=2)


def test_threads_of_the_environment(monkeypatch):
    monkeypatch.setenv(VARIABLE, "3")
    assert thread_count() == 3 and thread_count(2) == 2
    monkeypatch.setenv(VARIABLE, "many")
    with pytest.raises(infimum.OptionError, match=f"{VARIABLE} must be a whole number from 1 to 1024, not 'many'"):
        infimum.minimize(bowl, [(-1, 1)])
    monkeypatch.setenv(VARIABLE, "")
    assert thread_count() >= 1


# ---- import
def test_importing_infimum_imports_nothing_heavy():
    program = "import sys, infimum; print(sorted({'numpy', 'llvmlite'} & set(sys.modules)))"
    done = children.run(sys.executable, "-c", program, cwd=ROOT)
    assert done.stdout == "[]\n", done.stderr


def test_names_for_type_checkers_are_the_public_names():
    import ast
    tree = ast.parse((ROOT / "infimum" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    told = {alias.asname: (node.module, alias.name) for node in block.body for alias in node.names}
    assert set(told) == {*infimum.__all__, "networks", "problems"} <= set(dir(infimum))
    for name, (module, there) in told.items():
        assert there == name and (name == "problems" or getattr(infimum, name) is getattr(sys.modules[module], name))


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'infimum' has no attribute 'maximum'"):
        infimum.maximum  # noqa: B018
