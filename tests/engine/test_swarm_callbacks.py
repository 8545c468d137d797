"""The swarm on its way: callbacks, limits, Ctrl-C."""


import os
import signal
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import infimum
from infimum import Verdict, problems
from tests import children
from tests.all_threads import all_threads_work  # noqa: F401
from tests.engine.test_swarm import ENDLESS, rosenbrock, sphere, swarm


# ---- on the way
@pytest.mark.parametrize("limit", [0.2, np.float64(0.5)])
def test_time_limit(limit, clock):
    calls = stopper(-1, None)
    r = swarm(rosenbrock, [(-5.0, 10.0)] * 5, time_limit=limit, callback=calls, options={"confidence": 1.0})
    assert limit <= r.seconds < limit + 5 * clock.tick and abs(calls.calls - limit / clock.tick) < 2
    assert r.message.startswith(f"the time limit of {limit:g} s was reached") and r.verdict is Verdict.CANDIDATE


def test_time_limit_that_is_not_reached():
    r = swarm(sphere, time_limit=1e9)
    assert r.message == "the confidence of 0.5 is reached" and r.confidence >= 0.5 and r.success


@pytest.mark.parametrize("more", [{"time_limit": 1e9}, {"options": {"confidence": 1.0}}])
def test_no_limit_of_waves_where_there_is_another_one(more):
    """Six waves otherwise."""
    quick = {"particles": 1, "samples": 3, "enough": None}
    calls = stopper(-1, None)
    assert swarm(sphere, [(-1.0, 2.0)], callback=calls, options=quick).message.startswith("6 waves are done")
    r = swarm(lambda x: np.sin(40 * x[0]) + x[0], [(-1.0, 2.0)], callback=stopper(calls.calls + 2, lambda: True),
              **{**more, "options": quick | more.get("options", {})})
    assert r.message.startswith("stopped by the callback")


def test_history_falls():
    p = problems.get("schwefel_2_26", 6)
    h = swarm(p.fun, p.bounds).history
    assert len(h) >= 3
    assert all(a.fun > b.fun and a.nfev <= b.nfev and a.seconds <= b.seconds for a, b in zip(h, h[1:], strict=False))
    assert all(m.lower == -np.inf for m in h)


def test_the_callback_sees_the_best_so_far():
    seen = []
    r = swarm(rosenbrock, callback=lambda s: seen.append((s.x.copy(), s.fun, s.nfev, s.seconds, s.lower)))
    e = infimum.compile(rosenbrock, 2)
    assert len(seen) > 10 and seen[-1][1] <= r.upper and seen[-1][2] <= r.nfev
    assert all(e.estimate(x) == fun for x, fun, *_ in seen)
    for a, b in zip(seen, seen[1:], strict=False):
        assert a[1] >= b[1] and a[2] <= b[2] and a[3] <= b[3]
    assert {s[4] for s in seen} == {-np.inf}


def stopper(after: int, act):
    """A callback that acts at its so many-th call; `calls` counts them."""
    def callback(snapshot):
        callback.calls += 1
        return act() if callback.calls == after else None
    callback.calls = 0
    return callback


def raising(error: BaseException):
    def act():
        raise error
    return act


@pytest.mark.parametrize("after", [1, 2, 30])
@pytest.mark.parametrize("act", [lambda: True, raising(StopIteration())])
def test_the_callback_stops_the_run(act, after):
    callback = stopper(after, act)
    r = swarm(rosenbrock, callback=callback, options=ENDLESS)
    assert callback.calls == after and r.message.startswith("stopped by the callback")
    assert r.verdict is Verdict.CANDIDATE and np.isfinite(r.upper) and r.x.shape == (2,)
    if after == 1:  # the middle of the bounds
        assert r.x.tolist() == [0.5, 0.5] and not r.success and r.minima == [] and r.confidence is None
        assert "no descent has converged yet" in r.message


@pytest.mark.parametrize("word", [None, False, 0, 1, "stop"])
def test_only_true_stops(word):
    assert "descents agree" in swarm(sphere, callback=lambda s: word).message


@pytest.mark.parametrize("after", [1, 40])
def test_ctrl_c_gives_the_best_so_far(after):
    r = swarm(rosenbrock, callback=stopper(after, raising(KeyboardInterrupt())), options=ENDLESS)
    assert r.message.startswith("interrupted") and np.isfinite(r.upper) and r.verdict is Verdict.CANDIDATE
    assert (after == 1) == ("no descent has converged yet" in r.message)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupt_from_the_keyboard():
    """A real signal, in a process of its own."""
    program = textwrap.dedent("""
        import numpy as np, infimum
        calls = []
        def tell(snapshot):
            calls.append(1)
            if len(calls) == 20:
                print("running", flush=True)
        r = infimum.minimize(lambda x: np.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2), (-5, 10), n=6, engine="swarm",
                             callback=tell, options={"enough": None, "restarts": 10**6})
        print(r)
    """)
    root = Path(infimum.__file__).parents[1]
    child = children.start(sys.executable, "-c", program, cwd=root)
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert child.returncode == 0 and err == ""
    assert "message      interrupted" in out and "verdict      CANDIDATE" in out
