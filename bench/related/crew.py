"""Processes that make draws, each for a limited time: one that takes longer is killed and replaced."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from bench.related.table import Record, one_draw

_LOOK = 1.0  # seconds between two looks at the clock


class _Worker(NamedTuple):
    process: Any
    pipe: Connection


def _serve(pipe: Connection) -> None:
    """Makes draws until there are no more. Ctrl-C is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (asked := pipe.recv()) is not None:
        pipe.send(one_draw(*asked))


def _start() -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    theirs.close()
    return _Worker(process, ours)


def drawn(draws: Iterator[tuple], jobs: int, limit: float) -> Iterator[Record]:
    """The records of draws, given as the arguments of `one_draw`, in any order."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    workers = [_start() for _ in range(jobs)]
    busy: dict[Connection, tuple[_Worker, tuple, float]] = {}
    try:
        idle = list(workers)
        while True:
            while idle and (asked := next(draws, None)) is not None:
                worker = idle.pop()
                worker.pipe.send(asked)
                busy[worker.pipe] = worker, asked, time.monotonic() + limit
            if not busy:
                return
            for pipe in wait(list(busy), _LOOK):
                worker, asked, _ = busy.pop(pipe)
                try:
                    yield pipe.recv()
                    idle.append(worker)
                except EOFError:
                    workers.remove(worker)
                    yield _lost(asked, "the process ended", 0.0, f"the process ended with exit code {_code(worker)}")
                    idle.append(_added(workers))
            for pipe, (worker, asked, until) in list(busy.items()):
                if time.monotonic() > until:
                    del busy[pipe]
                    worker.process.kill()
                    workers.remove(worker)
                    yield _lost(asked, "time limit", limit)
                    idle.append(_added(workers))
    finally:
        for worker in workers:
            worker.process.kill()


def _added(workers: list[_Worker]) -> _Worker:
    workers.append(_start())
    return workers[-1]


def _code(worker: _Worker) -> int | None:
    worker.process.join(5)
    return worker.process.exitcode


def _lost(asked: tuple, note: str, seconds: float, wrong: str = "") -> Record:
    _, number, relation, *_ = asked
    return Record(number, relation, bool(wrong), wrong, note, seconds)
