"""Functions that misbehave, at the top of a module, so that worker processes can import them."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def bowl(x):
    return float(np.sum((np.asarray(x) - 0.25) ** 2))


def word(pid: int) -> Path:
    """A file that tells trials to go on, of a process and its workers."""
    return Path(tempfile.gettempdir()) / f"infimum-test-{pid}"


def by_first(x):
    """Does what the first coordinate says; the second is its value."""
    what = round(float(x[0]))
    if what == 1:
        raise ValueError(f"no value at {x[1]}")
    if what == 2:
        os._exit(3)
    if what == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if what == 4:
        ctypes.string_at(0)  # reads address 0
    if what == 5:
        time.sleep(60)
    if what == 6:
        return float("nan")
    if what == 7:
        sys.exit(4)
    if what == 8:
        return None
    if what == 9:  # waits for a word of the test, or of another trial
        while not word(os.getppid()).exists():
            time.sleep(0.001)
    if what == 11:
        word(os.getppid()).touch()
    if what == 10:  # its child lives on for a while, with a copy of every pipe
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        os._exit(9)
    return float(x[1])


def interrupts_itself(x):
    signal.raise_signal(signal.SIGINT)
    return float(x[0])


def allowed(x):
    return -1.0


def leaves_a_child(x):
    """Starts a process, writes its number where the environment says, and waits for it, which takes a minute."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(os.environ["INFIMUM_TEST_PIDS"], "a") as file:
        file.write(f"{os.getpid()} {child.pid}\n")
    child.wait()
    return 0.0


def sleepy(x):
    time.sleep(0.05)
    return bowl(x)


def freezes_at_nine(x):
    """Stops its process, which then neither computes nor answers, where the first coordinate is 9; the second is its value."""
    if x[0] == 9:
        os.kill(os.getpid(), signal.SIGSTOP)
    return float(x[1])


def freezes_below(x):
    """Stops its process where its value would be low."""
    value = float(x[0] + x[1])
    if value < 0.25:
        os.kill(os.getpid(), signal.SIGSTOP)
    return value
