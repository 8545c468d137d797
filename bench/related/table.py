"""The relations: one row each, with the share of the draws that it gets."""

import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from bench.related import black_boxes, boxes, escapes, fits, nets, runs, traces
from bench.related.asking import Judgement, Refused, interpreting
from bench.related.boxes import BOXES, ask_boxes
from bench.related.draws import Draw


class Relation(NamedTuple):
    """`ask` draws problems, asks them in related ways and judges the answers. `share`: of the draws of a cycle. `soon`: it takes
    little time and starts no process, so that tests can draw it."""

    ask: Callable[[Draw], Judgement]
    share: int = 2
    soon: bool = True


RELATIONS: dict[str, Relation] = {
    **{name: Relation(ask_boxes(name)) for name in BOXES},
    "engine complete": Relation(ask_boxes("engine complete"), 3),
    "exactly one": Relation(boxes.unique, 3),
    "constraint values": Relation(boxes.constraint_values, 3),
    "threads": Relation(runs.threads),
    "interpreter": Relation(runs.interpreter),
    "compile": Relation(runs.compiled),
    "resume": Relation(runs.resumed),
    "workers": Relation(runs.workers, 4, soon=False),
    "command line": Relation(runs.on_command_line),
    "AMPL": Relation(runs.ampl),
    "traced": Relation(traces.traced),
    "escapes": Relation(escapes.escaped, 3),
    "enclose": Relation(traces.enclosed),
    "index": Relation(black_boxes.index),
    "journal": Relation(black_boxes.journal),
    "nested": Relation(black_boxes.nested),
    "fit": Relation(fits.fit),
    "curve_fit": Relation(fits.curve_fit),
    "networks": Relation(nets.verified, 3),
}


def relation_of(draw: int, names: Collection[str] = tuple(RELATIONS)) -> str:
    """The relation that a draw is of: they come by turns, those with a larger share more often."""
    cycle = [name for turn in range(max(r.share for r in RELATIONS.values())) for name in names if turn < RELATIONS[name].share]
    return cycle[draw % len(cycle)]


class Record(NamedTuple):
    """What became of one draw."""

    draw: int
    relation: str
    decided: bool
    wrong: str
    note: str
    seconds: float

    def repeat(self, seed: int, without: Collection[str] = ()) -> str:
        """The command that makes this draw again."""
        left_out = f" --without {','.join(sorted(without))}" if without else ""
        return f"python3 dev.py bench relations --seed {seed} --draw {self.draw} --relation '{self.relation}'{left_out}"


def one_draw(seed: int, number: int, relation: str, without: Collection[str] = ()) -> Record:
    """Draws and judges; everything follows from the arguments."""
    d = Draw(np.random.default_rng([seed, number, zlib.crc32(relation.encode())]), frozenset(without))
    start = time.perf_counter()
    with interpreting(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = RELATIONS[relation].ask(d)
        except Refused as refusal:
            found = Judgement(False, note=str(refusal).partition(":")[0])
        except Exception:
            found = Judgement(True, traceback.format_exc(), "crash")
    return Record(number, relation, found.decided, found.wrong, found.note, time.perf_counter() - start)


def summary(records: Collection[Record]) -> list[dict[str, Any]]:
    """A row for each relation."""
    rows = []
    for name in RELATIONS:
        own = [r for r in records if r.relation == name]
        if own:
            rows.append({"relation": name, "draws": len(own), "decided": sum(r.decided for r in own),
                         "contradictions": sum(bool(r.wrong) for r in own), "seconds": sum(r.seconds for r in own)})
    return rows
