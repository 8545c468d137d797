"""Which workers run which black box."""

from typing import Any

from infimum.blackbox.command import Command
from infimum.blackbox.trial_workers import BlackBox, LocalWorkers, Workers
from infimum.parallel.command_threads import CommandThreads
from infimum.parallel.process_workers import Processes
from infimum.problem.settings import read_timeout, read_workers


def start_workers(box: BlackBox, workers: Any = 1, timeout: Any = None) -> Workers:
    """Workers for a black box: of a command, threads that wait for its programs; of a Python function, this process, or with
    several workers or a timeout spawned ones. With "ray" or an address in place of a number, the processors of a cluster."""
    count, seconds = read_workers(workers), read_timeout(timeout)
    if isinstance(count, str):
        from infimum.parallel.ray_workers import RayWorkers  # which needs Ray
        return RayWorkers(box, count, seconds)
    if isinstance(box, Command):
        return CommandThreads(box, count, seconds)
    return LocalWorkers(box) if count == 1 and seconds is None else Processes(box, count, seconds)
