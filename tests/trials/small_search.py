"""A search whose every point depends on all that it was told, to the last bit: what is lost or counted twice changes its end.

Run as a program, it begins and resumes runs that are killed at chosen places, and prints what came of each as JSON.
"""

import hashlib
import json
import os
import signal
import sys

from infimum.blackbox import journal as journals
from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.journal import Journal
from infimum.blackbox.recorded_trials import Recorded
from infimum.blackbox.trial_workers import LocalWorkers, Workers
from infimum.blackbox.variables import Variables

TRIALS = 9
VARIABLES = Variables.read([(0, 1)] * 2)


class Search:
    """Points from digests."""

    def __init__(self) -> None:
        self.state, self.asked = b"", 0

    def ask(self) -> list[float]:
        digest = hashlib.sha256(self.state + str(self.asked).encode()).digest()
        self.asked += 1
        return [int.from_bytes(digest[k:k + 6], "big") / 2**48 for k in (0, 6)]

    def tell(self, trial) -> None:
        self.state = hashlib.sha256(self.state + repr((trial.ticket, trial.x, trial.outcome)).encode()).digest()


def constraint(x):
    return x[0] - 0.7


def fun(x):
    if x[1] < 0.2:
        raise ValueError("too low")
    return x[0] - x[1] / 3


BOX = PythonFunctions(fun, VARIABLES, [constraint])


def search(workers: Workers, journal: Journal | None, trials: int = TRIALS, at_once: int | None = None) -> Search:
    """Runs it to its end, asynchronously, or in rounds of `at_once`."""
    found, recorded, done = Search(), Recorded(workers, journal), 0
    while done < trials:
        if at_once is None:
            for _ in range(min(recorded.wanted, trials - recorded.asked)):
                recorded.submit(found.ask())
            found.tell(recorded.finished())
            done += 1
        else:
            points = [found.ask() for _ in range(min(at_once, trials - done))]
            found.state = hashlib.sha256(found.state + repr(recorded.run(points)).encode()).digest()
            done += len(points)
    assert not recorded.outstanding and recorded.asked == trials
    return found


def _killed_at(line: int, where: str) -> None:
    """Kills this process when it writes a line of the journal: before it, in the middle of it, or behind it."""
    write, count = os.write, 0

    def deadly(handle: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count == line:
            write(handle, data[:{"before": 0, "torn": len(data) // 2, "no end": len(data) - 1, "behind": len(data)}[where]])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(handle, data)
    journals.os = type("os", (), {**vars(os), "write": staticmethod(deadly)})


def main(folder: str) -> None:
    for line in (1, 2, 6, TRIALS + 1):
        for where in ("before", "torn", "no end", "behind"):
            path = os.path.join(folder, f"{line} {where}.jsonl")
            child = os.fork()
            if child == 0:
                _killed_at(line, where)
                with LocalWorkers(BOX) as workers, Journal.create(path, BOX.describe()) as journal:
                    search(workers, journal)
                os._exit(1)  # it was to be killed
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            whole = journals.torn_header(open(path, "rb").read())
            opened = Journal.create(path, BOX.describe()) if whole else Journal.resume(path, BOX.describe())
            kept = [trial.ticket for trial in opened.trials]
            with LocalWorkers(BOX) as workers, opened:
                end = search(workers, opened)
            after = [trial.ticket for trial in journals.read_journal(path).trials]
            print(json.dumps({"line": line, "where": where, "status": status, "kept": kept, "after": after,
                              "state": end.state.hex()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
