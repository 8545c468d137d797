"""Trials of black boxes: what a trial costs, how busy workers are, and whether kills lose any.

    python bench/trials.py overhead [--trials 20000]
    python bench/trials.py overhead --ray [--trials 2000]
    python bench/trials.py busy [--workers 8 | ray [--processors 8]] [--trials 400] [--seconds 0.05]
    python bench/trials.py kill [--kills 50] [--workers 2] [--seed 0]

`busy` tries a function that sleeps, so more workers than processors can be measured: `--processors` is the number that a local
cluster is told it has. Beside the share of the time in which workers were in the function it gives the share by the clock: what
the trials would take at least, of what they took.

`kill` starts a run of its own for each kill, with worker processes and a journal, and kills it with SIGKILL at a random moment;
this process then resumes it. The run notes each trial that counts in a file of its own, so that what was finished is known from
another source than the journal.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from infimum.blackbox.callables import PythonFunctions  # noqa: E402
from infimum.blackbox.journal import Journal, read_journal  # noqa: E402
from infimum.blackbox.journal_reading import torn_header  # noqa: E402
from infimum.blackbox.recorded_trials import Recorded  # noqa: E402
from infimum.blackbox.trial_workers import LocalWorkers  # noqa: E402
from infimum.blackbox.variables import Variables  # noqa: E402
from infimum.parallel.ray_cluster import ray_module  # noqa: E402
from infimum.parallel.worker_start import start_workers  # noqa: E402
from tests.trials.small_search import Search  # noqa: E402

VARIABLES = Variables.read([(0, 1)] * 2)
TRIALS = 100  # of a run that is killed


def nothing(x):
    return 0.0


def sleeping(x, seconds):
    time.sleep(seconds)
    return float(x[0])


def noted(x):
    """A trial of some milliseconds."""
    time.sleep(0.002 + 0.006 * x[1])
    return float(x[0] - x[1])


def search(recorded: Recorded, trials: int, heard=None) -> str:
    """Runs it to its end and returns its last state; `heard` is told of each trial that counts."""
    chain = Search()
    for _ in range(trials):
        for _ in range(min(recorded.wanted, trials - recorded.asked)):
            recorded.submit(chain.ask())
        trial = recorded.finished()
        chain.tell(trial)
        if heard is not None:
            heard(trial)
    return chain.state.hex()


# ---- what a trial costs
def overhead(options: argparse.Namespace) -> int:
    box, points = PythonFunctions(nothing, VARIABLES), [(k / options.trials, 0.5) for k in range(options.trials)]

    def timed(what: str, run) -> None:
        start = time.perf_counter()
        run()
        print(f"{what:<42} {1e6 * (time.perf_counter() - start) / len(points):8.1f} µs a trial", flush=True)
    if options.ray:
        with start_workers(box, "ray", timeout=60) as workers:
            workers.run(points[:100])
            timed(f"Ray, {workers.count} workers, with a timeout", lambda: workers.run(points))
        return 0
    timed("in this process", lambda: LocalWorkers(box).run(points))
    with tempfile.TemporaryDirectory() as folder, \
            Journal.create(os.path.join(folder, "run.jsonl"), box.describe()) as journal, LocalWorkers(box) as workers:
        timed("in this process, with a journal", lambda: Recorded(workers, journal).run(points))
    for count in (1, 2, 8):
        with start_workers(box, count, timeout=60) as workers:
            workers.run(points[:4 * count])
            timed(f"{count} processes, with a timeout", lambda w=workers: w.run(points))
    return 0


# ---- how busy workers are
def busy(options: argparse.Namespace) -> int:
    box = PythonFunctions(sleeping, VARIABLES, args=(options.seconds,))
    if options.workers == "ray" and options.processors:
        ray_module().init(num_cpus=options.processors, include_dashboard=False, logging_level="error", log_to_driver=False)
    with tempfile.TemporaryDirectory() as folder, start_workers(box, options.workers) as workers, \
            Journal.create(os.path.join(folder, "run.jsonl"), box.describe()) as journal:
        while not all(one.ready for one in workers._workers):  # the start is told apart
            workers.run([(0.5, 0.5)] * workers.count)
        workers.run([(0.5, 0.5)] * 10 * workers.count)
        before, start = workers.busy_seconds, time.perf_counter()
        search(Recorded(workers, journal), options.trials)
        wall = time.perf_counter() - start
    share = (workers.busy_seconds - before) / (wall * workers.count)
    print(f"{workers.count} workers{' of Ray' if options.workers == 'ray' else ''}, {options.trials} trials of "
          f"{1e3 * options.seconds:g} ms, asynchronous with a journal: "
          f"{share:.1%} busy, {options.trials * options.seconds / workers.count / wall:.1%} by the clock, {wall:.2f} s")
    return 0


# ---- kills
def child(path: str, workers: int) -> int:
    """A run that may be killed at any moment; it notes what counted in a file of its own."""
    box = PythonFunctions(noted, VARIABLES)
    with Journal.create(path, box.describe()) as journal, start_workers(box, workers) as pool, open(path + ".heard", "a") as file:
        recorded = Recorded(pool, journal)

        def heard(trial) -> None:
            file.write(f"{trial.ticket}\n")
            file.flush()
            if recorded.tally.trials == 1:
                print("begin", flush=True)
        print(search(recorded, TRIALS, heard), flush=True)
    return 0


def begun_run(path: str, workers: int) -> subprocess.Popen:
    """A child that has had its first trial."""
    command = [sys.executable, os.path.abspath(__file__), "child", path, str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def kill(options: argparse.Namespace) -> int:
    rng, box = random.Random(options.seed), PythonFunctions(noted, VARIABLES)
    counts = dict.fromkeys(("killed", "trials counted before", "lost", "counted twice", "whole at the end", "replayed"), 0)
    with tempfile.TemporaryDirectory() as folder:
        process = begun_run(os.path.join(folder, "whole.jsonl"), options.workers)
        start = time.perf_counter()
        process.stdout.readline()
        whole = time.perf_counter() - start
        process.communicate()
        for k in range(options.kills):
            path = os.path.join(folder, f"{k}.jsonl")
            process = begun_run(path, options.workers)
            time.sleep(rng.uniform(0.0, 0.9 * whole))
            process.send_signal(signal.SIGKILL)
            counts["killed"] += process.wait() == -signal.SIGKILL
            process.stdout.close()
            with open(path + ".heard") as file:
                heard = [int(line) for line in file.read().split("\n")[:-1]]
            with open(path, "rb") as file:
                begun = not torn_header(file.read())
            kept = [trial.ticket for trial in read_journal(path).trials] if begun else []
            counts["trials counted before"] += len(heard)
            counts["lost"] += len(set(heard) - set(kept))
            counts["counted twice"] += len(kept) - len(set(kept))
            journal = Journal.resume(path, box.describe()) if begun else Journal.create(path, box.describe())
            with journal, LocalWorkers(box) as pool:
                end = search(Recorded(pool, journal), TRIALS)
            tickets = [trial.ticket for trial in read_journal(path).trials]
            counts["whole at the end"] += sorted(tickets) == list(range(TRIALS)) and tickets[:len(kept)] == kept
            with Journal.resume(path, box.describe()) as journal, LocalWorkers(box) as pool:
                counts["replayed"] += search(Recorded(pool, journal), TRIALS) == end and pool.busy_seconds == 0.0
    print(json.dumps({"runs": options.kills, **counts}))
    lost = counts["lost"] + counts["counted twice"]
    return 0 if not lost and counts["whole at the end"] == counts["replayed"] == options.kills else 1


def main() -> int:
    if sys.argv[1:2] == ["child"]:
        return child(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "busy", "kill"))
    parser.add_argument("--trials", type=int)
    parser.add_argument("--workers", type=lambda text: text if text == "ray" else int(text))
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--processors", type=int)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.trials = options.trials or {"overhead": 2000 if options.ray else 20000, "busy": 400}.get(options.what)
    options.workers = options.workers or (2 if options.what == "kill" else 8)
    return {"overhead": overhead, "busy": busy, "kill": kill}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
