"""Kills proofs at random moments, resumes them, and compares the answers with those of undisturbed runs, bit for bit.

    python bench/kill.py [--kills 50] [--seed 0]

Each kill is a run of its own: a child that writes a checkpoint after every step is killed with SIGKILL at a random moment of its
run, and another process goes on from the file.
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROBLEMS = {"colville": {"atol": 1e-9, "rtol": 1e-9}, "goldstein_price": {"atol": 1e-7, "rtol": 1e-7},
            "rastrigin": {"engine": "complete", "options": {"partition": (3, 4)}}}
SIZES = {"rastrigin": 5}

CHILD = """
import hashlib, sys
sys.path.insert(0, {root!r})
import numpy as np
import infimum
from infimum import problems
from infimum.search import driver
driver.CheckpointWriter.__init__.__defaults__ = (0.0,)
p = problems.get({name!r}, {n})
print("begin", flush=True)
r = infimum.resume({path!r}, p.fun) if {resume} else infimum.minimize(p.fun, p.bounds, checkpoint={path!r}, **{settings!r})
boxes = b"".join(end.tobytes() for box in r.boxes for end in box)
what = repr((r.verdict, r.nit, r.nfev, len(r.regions))).encode() + np.array([r.lower, r.upper]).tobytes() + r.x.tobytes() + boxes
print(hashlib.sha256(what).hexdigest(), flush=True)
"""


def child(name: str, path: str, resume: bool) -> subprocess.Popen:
    code = CHILD.format(root=ROOT, name=name, n=SIZES.get(name), path=path, resume=resume, settings=PROBLEMS[name])
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def answer(name: str, path: str) -> tuple[str, float]:
    """The digest of the answer, from a checkpoint if there is one, and the seconds it took."""
    process = child(name, path, os.path.exists(path))
    process.stdout.readline()
    start = time.perf_counter()
    digest = process.stdout.readline().strip()
    process.wait()
    return digest, time.perf_counter() - start


def killed(name: str, path: str, delay: float) -> bool:
    """Starts a run and kills it after the delay; was it still running?"""
    process = child(name, path, False)
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, counts = random.Random(options.seed), dict.fromkeys(("killed", "with a checkpoint", "equal"), 0)
    with tempfile.TemporaryDirectory() as folder:
        whole = {name: answer(name, os.path.join(folder, f"{name}.whole")) for name in PROBLEMS}
        for k in range(options.kills):
            name = list(PROBLEMS)[k % len(PROBLEMS)]
            path = os.path.join(folder, f"{k}.inf")
            counts["killed"] += killed(name, path, rng.uniform(0.0, whole[name][1]))
            counts["with a checkpoint"] += os.path.exists(path)
            counts["equal"] += answer(name, path)[0] == whole[name][0]
    digest = hashlib.sha256("".join(d for d, _ in whole.values()).encode()).hexdigest()[:16]
    said = ", ".join(f"{v} {k}" for k, v in counts.items())
    print(f"{options.kills} runs of {', '.join(PROBLEMS)}: {said}; answers {digest}")
    return 0 if counts["equal"] == options.kills else 1


if __name__ == "__main__":
    sys.exit(main())
