"""Checkpoints and journals as this version wrote them, kept under `files/`: later versions continue from them.

    python -m tests.nets.old_files                  compare: continue from every file
    python -m tests.nets.old_files --write          write all files anew, and keep what continuing from them gives

A checkpoint is tied to the expression of its function, and a journal to the functions' source, so that all functions are those
of `problems.py` and `black_boxes.py`. Where a later version must refuse a file, because what it holds is unsound by what is known
then, the record of the file holds the error.
"""

import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import infimum
from tests.nets.black_boxes import choice, hill, inner, left, rough, scaled
from tests.nets.entrances import BARE, COARSE
from tests.nets.keeping import Kept, main_of
from tests.nets.problems import CONSTRAINED, INF, THIRD, UNCONSTRAINED, Posed
from tests.nets.records import of_result, plain
from tests.nets.runs import HERE, PROVING, SWARM

FOLDER = Path(__file__).with_name("files")
OF_0_2 = Path(__file__).parents[1] / "trials" / "journals_0_2"
KEPT = Kept(Path(__file__).with_name("old_files.json"))
BOXES = [[(-2, -1), (-1.5, 0)], [(0.5, 1.25), (-1, 1)]]
FIRST, MORE = 8, 3  # trials of a journal that is kept, and about those of the run that continues it


class Checkpoint(NamedTuple):
    """A run that is stopped after some boxes, and continued for some more."""

    posed: Posed
    engine: str = "auto"
    boxes: int = 60
    then: int = 600
    verb: Callable[..., infimum.Result] = infimum.minimize
    more: dict[str, Any] = {}

    def write(self, path: Path) -> None:
        p = self.posed
        self.verb(p.fun, p.bounds, engine=self.engine, max_boxes=self.boxes, checkpoint=path, **HERE, **p.more, **self.more)

    def resume(self, path: Path) -> dict[str, Any]:
        p = self.posed
        return of_result(infimum.resume(path, p.fun, constraints=p.more.get("constraints", ()), max_boxes=self.then, **HERE))


def _feasible(fun: Any, bounds: Any, **given: Any) -> infimum.Result:
    return infimum.feasible(bounds, **given)


def _checkpoints() -> dict[str, Checkpoint]:
    u, c = UNCONSTRAINED, CONSTRAINED
    small, few = {"batch": 16}, {"workers": 1, "portions": 2, "batch": 16}
    found = {f"{engine} domains": Checkpoint(u["domains"], engine, more=small) for engine in PROVING}
    found |= {f"{engine} curved": Checkpoint(c["curved"], engine, more=small) for engine in PROVING}
    found |= {f"{engine} start boxes": Checkpoint(u["camel"], engine, more=small | {"start_boxes": BOXES}) for engine in PROVING}
    found |= {
        "auto whole": Checkpoint(c["whole"], boxes=10, more=small),
        "complete whole": Checkpoint(c["whole alone"], "complete", more=small),
        "auto circle in start boxes": Checkpoint(c["circle"], boxes=10, more=small | {"start_boxes": BOXES}),
        "auto decay": Checkpoint(u["decay"], more=small | {"xtol": 1e-6}),
        "auto hs71": Checkpoint(c["hs71"], more=small),
        "auto fixed": Checkpoint(c["hs71"]._replace(bounds=[(1, 1), (1, 5), (1, 5), (1, 5)]), boxes=10, more=small),
        "auto exact ends": Checkpoint(u["camel"]._replace(bounds=[(-THIRD, 2), (THIRD, 5 * THIRD)]), boxes=10, more=small),
        "auto infinite ends": Checkpoint(u["rosenbrock"]._replace(bounds=[(-INF, INF)] * 2), boxes=20, more=small),
        "auto maximised": Checkpoint(u["wave"], boxes=20, verb=infimum.maximize, more=small),
        "auto feasible": Checkpoint(c["curved"]._replace(fun=None), boxes=5, verb=_feasible, more=small),
        "auto settings of a search": Checkpoint(u["kinks"], more=small | {"options": SWARM, "seed": 3}),
        "auto domains in rounds": Checkpoint(u["domains"], boxes=200, then=800, more=few),
        "newton camel in rounds": Checkpoint(u["camel"], "newton", 200, 800, more=few),
        "complete domains in rounds": Checkpoint(u["domains"], "complete", 200, 800, more=few),
        "auto hs71 in rounds": Checkpoint(c["hs71"], boxes=200, then=800, more=few),
    }
    return found


# ---- journals
def _study(path: Path, trials: int) -> infimum.Result:
    with infimum.study([(0, 1)] * 2, constraints=1, max_trials=trials, journal=path) as study:
        while (trial := study.ask()) is not None:
            study.tell(trial, hill(trial.x), constraints=[left(trial.x)])
        return study.result()


def _index(fun: Any, bounds: Any = ((0.0, 1.0), (0.0, 1.0)), **more: Any) -> Callable[[Path, int], infimum.Result]:
    return lambda path, trials: infimum.minimize(fun, list(bounds), engine="index", journal=path, max_trials=trials, **more)


JOURNALS: dict[str, Callable[[Path, int], infimum.Result]] = {
    "function": _index(hill), "constraint": _index(hill, constraints=[left]), "args": _index(scaled, args=(0.25,)),
    "failures": _index(rough), "batch": _index(hill, batch=3), "workers": _index(hill, workers=2),
    "asynchronous": _index(hill, options={"asynchronous": True}),
    "choices": lambda path, trials: infimum.maximize(choice, [(0, 1), ["steel", "wood"], (1, 4)], engine="index", journal=path,
                                                     integrality=[0, 0, 1], max_trials=trials),
    "command": _index("expr {x0} + {x1}", [(0, 3), (2, 9)], integrality=1),
    "nested": lambda path, trials: infimum.nested(inner, [(-1, 1)], [(-5, 5)], journal=path, max_trials=trials, options=BARE,
                                                  **HERE),
    "study": _study,
}


def _of_0_2() -> dict[str, Callable[[Path, int], infimum.Result]]:
    from tests.trials.journals_0_2 import EXAMPLES

    return EXAMPLES


def names() -> list[str]:
    """All files, by the names of their records."""
    return [*(f"checkpoint: {name}" for name in _checkpoints()), *(f"journal: {name}" for name in JOURNALS),
            *(f"journal of 0.2: {name}" for name in _of_0_2())]


def file_of(name: str) -> Path:
    """Where the file of a record is kept."""
    kind, _, title = name.partition(": ")
    if kind == "checkpoint":
        return FOLDER / f"{title.replace(' ', '_')}.inf"
    return (OF_0_2 if kind.endswith("0.2") else FOLDER) / f"{title}.jsonl"


def write(name: str) -> None:
    """Writes a file anew. Those of 0.2 are no longer written."""
    kind, _, title = name.partition(": ")
    if kind != "journal of 0.2":
        FOLDER.mkdir(exist_ok=True)
        file_of(name).unlink(missing_ok=True)
        _checkpoints()[title].write(file_of(name)) if kind == "checkpoint" else JOURNALS[title](file_of(name), FIRST)


def continued(name: str) -> dict[str, Any]:
    """What continuing from a copy of the file gives; the warnings that it causes are part of it."""
    kind, _, title = name.partition(": ")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        path = Path(shutil.copy(file_of(name), folder))
        try:
            if kind == "checkpoint":
                found = _checkpoints()[title].resume(path)
            else:
                before, calls = path.read_text().splitlines(), JOURNALS if kind == "journal" else _of_0_2()
                found = of_result(calls[title](path, len(before) + MORE), COARSE)
                if kind != "journal":  # whose points LAPACK has chosen: what is found is tested elsewhere
                    found = {field: found[field] for field in ("verdict", "nfev", "message")}
                found["lines"] = [len(before), path.read_text().splitlines()[:len(before)] == before]
        except infimum.InfimumError as error:
            found = {"error": plain(str(error))}
    return found | {"warnings": [plain(str(one.message)) for one in heard]}


if __name__ == "__main__":
    if "--write" in sys.argv:
        for each in names():
            write(each)
        sys.argv = [sys.argv[0], "--keep"]
    sys.exit(main_of(KEPT, names(), continued))
