"""Whole runs over every engine and every entrance, and what each of them answered: see `records.py` for what is kept.

    python -m tests.nets.runs                    compare all runs with the kept records
    python -m tests.nets.runs --keep [names]     keep those of today (after a deliberate change, with its reason)
    python -m tests.nets.runs --lanes 2          compare, with kernels for another processor

Runs end by counts (boxes, trials, steps), never by time, and take a moment each.
"""

import importlib.util
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import infimum
from tests.nets import internals
from tests.nets.keeping import Kept, main_of
from tests.nets.problems import CONSTRAINED, INF, MANY_STEPS, THIRD, UNCONSTRAINED, Posed
from tests.nets.records import of_anything, plain

KEPT = Kept(Path(__file__).with_name("runs.json"))
PROVING = ("auto", "newton", "complete", "subdomain")
HERE = {"device": "cpu", "threads": 1}
SWARM = {"particles": 16, "restarts": 1, "descent_steps": 100}
MOST = {"auto": 3000, "newton": 2000, "complete": 1000, "subdomain": 2000}  # boxes


class Run(NamedTuple):
    """What is called; the digits that are kept of its numbers (None: all bits); the package it needs, if any."""

    call: Callable[[], Any]
    digits: int | None = None
    needs: str | None = None


def asked(p: Posed, engine: str = "auto", **more: Any) -> infimum.Result:
    """An answer of `minimize`, by counts."""
    if engine == "swarm":
        return infimum.minimize(p.fun, p.bounds, engine=engine, options=SWARM, **HERE, **p.more, **more)
    return infimum.minimize(p.fun, p.bounds, engine=engine, **HERE, **{"max_boxes": MOST[engine]} | p.more | more)


def _engines() -> dict[str, Run]:
    """Every problem by every engine but those that take seconds to compile or to answer."""
    without = {*(("polynomial", engine) for engine in ("newton", "complete", "subdomain")),
               *(("infeasible", engine) for engine in ("newton", "complete", "subdomain", "swarm")),
               *((name, engine) for name in ("chain", "form") for engine in ("newton", "complete")),
               *(("recurrence", engine) for engine in ("complete", "subdomain")), ("rastrigin", "newton"), ("whole", "swarm"),
               ("redundant", "newton"), ("branches", "swarm"), ("network", "complete"), ("undefined row", "complete"),
               ("apart", "complete"), ("disc", "complete"), ("powers", "complete"), ("griewank", "complete")}
    return {f"{engine}: {name}": Run(lambda p=p, engine=engine: asked(p, engine))
            for name, p in {**UNCONSTRAINED, **CONSTRAINED}.items() for engine in (*PROVING, "swarm")
            if (name, engine) not in without}


def _options() -> dict[str, Run]:
    """Options of the engines."""
    u, c = UNCONSTRAINED, CONSTRAINED
    rows = [("newton", "wave", {"variation": v}) for v in ("PF", "IP", "F", "N")]
    rows += [("newton", "wave", {"gaps": True, "sweeps": 2}), ("newton", "camel", {"sequential": True}),
             ("complete", "wave", {"partition": (2, 8), "cuts": "golden"}),
             ("complete", "camel", {"samples": "latin", "points": 4}), ("complete", "bowl", {"cuts": "log", "samples": "centre"}),
             ("complete", "rosenbrock", {"iterations": 3}), ("subdomain", "wave", {"form": "natural", "pieces": 2}),
             ("subdomain", "camel", {"partition": "adaptive", "variables": 1}),
             ("auto", "wave", {"searches": 0, "swarm_steps": 2})]
    found = {f"{engine} options {', '.join(f'{k}={v}' for k, v in options.items())}: {name}":
             Run(lambda engine=engine, name=name, options=options: asked(u[name], engine, options=options))
             for engine, name, options in rows}
    found |= {f"lp: {name}": Run(lambda name=name: by_programs(asked(c[name], options={"lp": True})), needs="highspy")
              for name in ("disc", "hs71", "curved", "whole", "redundant")}
    return found


def by_programs(r: infimum.Result) -> dict[str, Any]:
    """What is kept of a run with linear programs: HiGHS rounds otherwise on other processors, and so steers otherwise."""
    return {"verdict": r.verdict, **plain({"upper": r.upper, "x": r.x}, 4), "solved": r.lp["solved"] > 0,
            "failed": r.lp["failed"]}


def _limits() -> dict[str, Run]:
    """Runs that stop early, and goals."""
    u, c = UNCONSTRAINED, CONSTRAINED
    found = {f"max_boxes=40, {engine}: {name}": Run(lambda engine=engine, p=p: asked(p, engine, max_boxes=40))
             for engine in PROVING for name, p in (("wave", u["wave"]), ("curved", c["curved"]))}
    found |= {f"xtol, {engine}: {name}": Run(lambda engine=engine, p=p: asked(p, engine, xtol=1e-3))
              for engine, name, p in (("auto", "camel", u["camel"]), ("auto", "polynomial", u["polynomial"]),
                                      ("auto", "circle", c["circle"]), ("newton", "wave", u["wave"]),
                                      ("complete", "camel", u["camel"]), ("subdomain", "wave", u["wave"]))}
    found |= {f"memory_limit: {name}": Run(lambda p=p: asked(p, memory_limit=2000, batch=64))
              for name, p in (("domains", u["domains"]), ("hs71", c["hs71"]))}
    found["no tolerance: kinks"] = Run(lambda: asked(u["kinks"], atol=0.0, rtol=0.0))
    found["feasibility: circle"] = Run(lambda: asked(c["circle"], feasibility=1e-3))
    found["seed=7: branches"] = Run(lambda: asked(u["branches"], seed=7))
    found["check=False: camel"] = Run(lambda: asked(u["camel"], check=False))
    found["x0: rastrigin"] = Run(lambda: asked(u["rastrigin"], x0=[0.25, 1.0, -1.0]))
    found["callback after 3 steps: domains"] = Run(lambda: _until(3, u["domains"]))
    return found


def _many_steps() -> dict[str, Run]:
    return {f"many steps: {name}": Run(lambda p=p: asked(p, batch=16, max_boxes=1500)) for name, p in MANY_STEPS.items()}


def _until(steps: int, p: Posed) -> infimum.Result:
    seen = []
    return asked(p, callback=lambda snapshot: seen.append(snapshot) or len(seen) >= steps)


def _bounds() -> dict[str, Run]:
    """Start boxes, exact ends, infinite ends, fixed variables."""
    u, c = UNCONSTRAINED, CONSTRAINED
    boxes = [[(-2, -1), (-1.5, 0)], [(0.5, 1.25), (-1, 1)], [(-0.5, 0.25), (1, 1.5)]]
    found = {f"start boxes, {engine}: {name}": Run(lambda engine=engine, p=p: asked(p, engine, start_boxes=boxes))
             for engine, name, p in (*((engine, "camel", u["camel"]) for engine in PROVING), ("auto", "circle", c["circle"]),
                                     ("subdomain", "disc", c["disc"]), ("complete", "disc", c["disc"]))}
    posed = {
        "exact ends: camel": u["camel"]._replace(bounds=[(-THIRD, 3 * THIRD * 2), (THIRD, 5 * THIRD)]),
        "exact ends: bowl": u["bowl"]._replace(bounds=[(THIRD, 2), (-1, THIRD), (THIRD / 7, THIRD / 3)]),
        "exact ends: circle": c["circle"]._replace(bounds=[(-THIRD, 2 * THIRD), (-2, 2)]),
        "exact ends: whole": c["whole"]._replace(bounds=[(THIRD, 16 * THIRD), (0, 5), (THIRD, 1)]),
        "exact fixed: wave": u["wave"]._replace(bounds=[(THIRD, THIRD), (-2, 2)]),
        "infinite ends: rosenbrock": u["rosenbrock"]._replace(bounds=[(-INF, INF)] * 2),
        "infinite ends: decay": u["decay"]._replace(bounds=[(0, INF), (0, INF)]),
        "infinite ends: total": Posed(c["disc"].fun, [(-INF, INF)] * 2),
        "infinite ends: disc": c["disc"]._replace(bounds=[(-INF, INF), (-1, INF)]),
        "fixed: camel": u["camel"]._replace(bounds=[(0.25, 0.25), (-2, 2)]),
        "fixed: hs71": c["hs71"]._replace(bounds=[(1, 1), (1, 5), (1, 5), (1, 5)]),
        "fixed all: bowl": u["bowl"]._replace(bounds=[(1, 1), (2, 2), (0.5, 0.5)]),
        "one point left: whole": c["whole alone"]._replace(bounds=[(0.5, 1.25), (0, 0)]),
        "no whole number: whole": c["whole alone"]._replace(bounds=[(0.25, 0.75), (0, 1)]),
        "numbers: bowl": Posed(u["bowl"].fun, (-1, 1), {"n": 2}),
    }
    found |= {name: Run(lambda p=p: asked(p)) for name, p in posed.items()}
    found["fixed, newton: camel"] = Run(lambda: asked(posed["fixed: camel"], "newton"))
    found["infinite ends, newton: rosenbrock"] = Run(lambda: asked(posed["infinite ends: rosenbrock"], "newton"))
    found["infinite ends, swarm: decay"] = Run(lambda: asked(posed["infinite ends: decay"], "swarm"))
    return found


@cache
def table() -> dict[str, Run]:
    """All runs by their names."""
    from tests.nets.entrances import entrances

    found = {**_engines(), **_options(), **_limits(), **_many_steps(), **_bounds(), **entrances()}
    return dict(sorted(found.items(), key=lambda item: item[0].rpartition(": ")[2]))  # runs of a problem share compiled kernels


def missing(name: str) -> str | None:
    """The package that a run needs, where it is missing."""
    needs = table()[name].needs
    return needs if needs is not None and importlib.util.find_spec(needs) is None else None


def record(name: str, lanes: int | None = None) -> dict[str, Any]:
    """What a run answers now. An error that the library raises on purpose is an answer too."""
    run = table()[name]
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
        stack.enter_context(internals.numbers_anew())
        if lanes is not None:
            stack.enter_context(internals.processor(lanes))
        try:
            with internals.counting() as discarded:
                found = run.call()
            dealt = getattr(found, "rounds", None) is not None  # portions are searches of their own
            return of_anything(found, run.digits, None if dealt else discarded)
        except infimum.InfimumError as error:
            return {"error": plain(str(error))}


if __name__ == "__main__":
    chosen = int(sys.argv.pop(sys.argv.index("--lanes") + 1)) if "--lanes" in sys.argv else None
    sys.argv = [word for word in sys.argv if word != "--lanes"]
    sys.exit(main_of(KEPT, table(), lambda name: record(name, chosen), missing))
