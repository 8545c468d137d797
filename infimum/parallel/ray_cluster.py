"""The connection to a Ray cluster: joined when workers want it, left when the last of them has closed.

A cluster that this process was connected to before is used, and left as it was. A local one that was started here is shut down.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType

from infimum.errors import OptionError, TrialError
from infimum.support.held_interrupts import interrupts_held_back

_joined = 0                  # workers that use a connection made here
_address: str | None = None  # where that leads


def ray_module() -> ModuleType:
    """Ray; raises OptionError where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
    except ImportError as error:
        raise OptionError(f"workers on a cluster need Ray ({error}): pip install infimum[ray]") from None
    return ray


def join(address: str) -> bool:
    """Connects to a cluster, unless that was done before. "ray": the one at RAY_ADDRESS, or else a local one that begins here.
    Returns whether it is to be left."""
    global _joined, _address
    ray = ray_module()
    if ray.is_initialized() and not _joined:
        _check_same(ray, address)
        return False
    if not _joined:
        _connect(ray, address)
        _address = address
    elif address != _address:
        _check_same(ray, address)
    _joined += 1
    return True


def leave() -> None:
    """What was joined is left; the last one shuts down what was started."""
    global _joined
    _joined -= 1
    if not _joined:
        ray_module().shutdown()


@contextmanager
def joined(address: str) -> Iterator[None]:
    """In this block the process is connected to the cluster."""
    leaves = join(address)
    try:
        yield
    finally:
        if leaves:
            leave()


def _check_same(ray: ModuleType, address: str) -> None:
    if address in ("ray", "auto"):
        return
    own = "" if address.startswith("ray://") else ray.get_runtime_context().gcs_address
    if address != own:
        raise OptionError(f"this process is connected to a Ray cluster already{f', {own}' if own else ''}: give workers=\"ray\" "
                          f"to use that one, or call ray.shutdown() first to connect to {address}")


def _connect(ray: ModuleType, address: str) -> None:
    if address == "ray":
        address = "auto" if os.environ.get("RAY_ADDRESS") else "local"
    local = address == "local"
    options = {"include_dashboard": False} if local else {}
    with warnings.catch_warnings(), interrupts_held_back(starting=True) if local else nullcontext():
        warnings.simplefilter("ignore")
        try:
            ray.init(address=address, logging_level="error", log_to_driver=False, **options)
        except Exception as error:  # of many kinds, from Ray and what it is made of
            said = f"{type(error).__name__}: {error}"
            raise TrialError(f"a local Ray cluster cannot be started: {said}" if local else
                             f"the Ray cluster at {address!r} cannot be reached: {said}. Is it running (`ray start --head` on "
                             "its first machine), and the address that of its head?") from error


def processors() -> int:
    """How many trials the cluster can run at once: a processor each."""
    count = int(ray_module().cluster_resources().get("CPU", 0))
    if count < 1:
        raise TrialError("the Ray cluster has no processor for a trial: `ray status` shows what it has")
    return count


def gpus() -> int:
    """How many GPUs the cluster has."""
    return int(ray_module().cluster_resources().get("GPU", 0))
