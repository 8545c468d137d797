"""Wherever memory runs out, a run ends with a result that holds, or with an error of ours that says what helps."""

import math

import numpy as np
import pytest

import infimum
from infimum.api import prepared_run
from infimum.evaluation.compiled_programs import CompiledPrograms
from infimum.search import checkpoint, checkpoint_content

BOX = [(-2.0, 3.0)] * 2


def waves(x):
    return (x[0] - 1) ** 2 + (x[1] + 0.5) ** 2 + 0.25 * np.sin(5 * x[0]) * np.cos(3 * x[1]) - 1


def line(x):
    return x[0] + 2 * x[1] >= 1


RUNS = {
    "auto": {}, "newton": {"engine": "newton"}, "complete": {"engine": "complete"}, "subdomain": {"engine": "subdomain"},
    "swarm": {"engine": "swarm", "max_boxes": None}, "constraints": {"constraints": line},
    "whole": {"constraints": line, "integrality": [1, 0]}}


def settings_of(name):
    return {"seed": 1, "max_boxes": 5000} | RUNS[name]


def full_after(patch, calls):
    """Each run of a kernel needs memory, and there is none after so many."""
    own, done = CompiledPrograms.run, []

    def run(self, *args, **more):
        done.append(1)
        if len(done) > calls:
            raise MemoryError
        return own(self, *args, **more)
    patch.setattr(CompiledPrograms, "run", run)


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("name", RUNS)
def test_no_run_ends_bare(name, calls, monkeypatch):
    settings = settings_of(name)
    known = infimum.minimize(waves, BOX, **settings)
    with monkeypatch.context() as patch:
        full_after(patch, calls)
        found = infimum.minimize(waves, BOX, **settings)
    assert found.lower <= known.upper and known.lower <= found.upper
    if found.verdict.name == "STOPPED":
        assert "memory" in found.message and (found.x is None or np.isfinite(found.x).all())


def test_a_run_that_cannot_begin_says_what_helps(monkeypatch):
    def refused(*_):
        raise MemoryError
    for where in ("Comparison", "_search"):
        with monkeypatch.context() as patch:
            patch.setattr(prepared_run, where, refused)
            for call, values in ((infimum.minimize, (waves([0.5, 0.5]), math.inf)), (infimum.maximize, (-math.inf,))):
                r = call(waves, BOX)
                assert r.verdict.name == "STOPPED" and r.message == "no memory is left for the first step of the search"
                assert "close other programs, or give a smaller batch" in r.obstacle
                assert (r.fun, r.upper) == values if len(values) == 2 else r.lower == values[0]
            assert "no feasible point was found" in infimum.minimize(waves, BOX, constraints=line).message


def test_a_checkpoint_that_does_not_fit_into_memory_is_not_damaged(tmp_path, monkeypatch):
    path = tmp_path / "run.inf"
    known = infimum.minimize(waves, BOX, checkpoint=path, max_boxes=2000, atol=0, rtol=0, seed=1)
    kept = path.read_bytes()

    def refused(*_, **__):
        raise MemoryError
    places = [(checkpoint, "_state_of"), (np.lib.format, "read_magic"), (checkpoint_content, "settings_of"),
              (checkpoint_content, "restore"), (prepared_run, "Comparison"), (prepared_run, "_search")]
    for owner, name in places:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, refused)
            with pytest.raises(infimum.CheckpointError, match="too little memory to continue from .*run.inf, which stays"):
                infimum.resume(path, waves, max_boxes=4000)
        assert path.read_bytes() == kept
    found = infimum.resume(path, waves, max_boxes=4000)
    assert known.lower <= found.lower <= found.upper <= known.upper
