"""Drives an engine: time limit, callback, progress, Ctrl-C. What was found so far is always the answer."""

import time
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from infimum.errors import DeviceError
from infimum.problem.problem import View
from infimum.result import Progress, Result
from infimum.search.callbacks import Snapshot
from infimum.search.checkpoint import State, save, save_first
from infimum.search.interrupts import Interrupts
from infimum.search.progress import Figures, ProgressDisplay
from infimum.support import environment
from infimum.support.clock import OutOfTime, RunTimeOver, Watch, answering
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.search import limit_messages
    from infimum.support import output_files
else:
    limit_messages, output_files = LazyModule("search.limit_messages"), LazyModule("support.output_files")


class Engine(Protocol):
    """What the driver needs: work in pieces, a view of the best so far, and an answer at any moment. The infimum lies between
    `lower` and `value`; an engine that maximises has `upper` too, and the supremum lies between `value` and that."""

    name: str
    x: np.ndarray
    value: float
    lower: float
    evaluations: int

    def steps(self) -> Iterator[None]: ...

    def figures(self) -> Figures: ...

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result: ...


@dataclass(slots=True)
class CheckpointWriter:
    """Writes the state of an engine to a file every few seconds, with the settings that a resumed run needs. A file that cannot
    be written, on a full disk or because memory is full, is warned of and ends nothing: the result does not depend on it."""

    path: str
    settings: State
    every: float = 5.0
    warned: bool = field(default=False, init=False)

    def begin(self) -> None:
        """Writes the settings: a run that resumes from there begins anew."""
        save_first(self.path, self._whole(State(None, {})))

    def keep(self, engine: Any, last: bool = False) -> None:
        """Writes the state, if there is one yet."""
        try:
            state = engine.state()
            if state is not None:
                save(self.path, self._whole(state))
        except (OSError, MemoryError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            text = f"the last checkpoint could not be written to {self.path} ({why}): the file holds an earlier state, from " \
                   "which infimum.resume would do part of the work again. The result is not affected"
            if not last:
                text = f"no checkpoint can be written to {self.path} ({why}). The run continues, and tries again every " \
                       f"{self.every:g} s; until then the file holds an earlier state"
            if last or not self.warned:
                self.warned = self.warned or not last
                output_files.warn(text)

    def _whole(self, state: State) -> State:
        settings = {f"settings.{k}": v for k, v in self.settings.arrays.items()}
        return State({"settings": self.settings.values, "state": state.values}, {**settings, **state.arrays})


def watch_of(time_limit: float | None) -> Watch:
    """The clock of a run that begins now."""
    return Watch(time_limit, time_limit)


def drive(engine: Engine, *, time_limit: float | None = None, callback: Callable[[Snapshot], Any] | None = None,
          progress: bool | None = None, writer: CheckpointWriter | None = None, view: View | None = None,
          watch: Watch | None = None) -> Result:
    """Runs the engine to its end, a limit, the callback's word or Ctrl-C. `progress=None` shows it on terminals and in
    notebooks after a second. Where a device fails, the file keeps what it held: nothing that was half read gets there.

    Time counts from when `watch` was made. OutOfTime is raised where nothing is known yet, since the time did not suffice for the
    first kernels; whatever is known then is the result."""
    watch = watch or watch_of(time_limit)
    with Interrupts() as interrupts, watch:
        watch.asked_to_stop = lambda: interrupts.heard
        try:
            return replace(_drive(engine, time_limit, callback, progress, writer, interrupts, watch), view=view)
        except DeviceError as error:
            if writer is None:
                raise
            raise type(error)(f"{error}. All that was found up to the last checkpoint is in {writer.path}; continue with "
                              f"infimum.resume({writer.path!r}, fun, device='cpu'), or on another GPU") from error


def _drive(engine: Engine, time_limit: float | None, callback: Callable | None, progress: bool | None,
           writer: CheckpointWriter | None, interrupts: Interrupts, watch: Watch) -> Result:
    start, history, stopped, known = watch.start, [], None, (np.inf, -np.inf, np.inf)
    shown, kept = ProgressDisplay(progress), start
    watch.show, early = shown.wait, None
    try:
        for _ in engine.steps():
            seconds = time.perf_counter() - start
            best, bounds = engine.value, (engine.lower, getattr(engine, "upper", engine.value))
            if (best, *bounds) != known:
                known = best, *bounds
                history.append(Progress(seconds, engine.evaluations, best, *bounds))
            shown.show(engine, seconds)
            if writer is not None and time.perf_counter() - kept >= writer.every:
                writer.keep(engine)
                kept = time.perf_counter()
            if callback is not None:
                stopped = _word(callback, Snapshot(engine.x, best, engine.evaluations, seconds, *bounds), interrupts)
            if interrupts.heard:
                stopped = "interrupted"
            elif stopped is None and time_limit is not None and seconds >= time_limit:
                stopped = limit_messages.time_reached(time_limit)
            if stopped:
                break
    except OutOfTime as error:
        early = None if isinstance(error, RunTimeOver) else error
        stopped = "interrupted" if interrupts.heard else limit_messages.time_reached(time_limit or 0)
    finally:
        shown.clear()
        watch.show = None
    if writer is not None:
        writer.keep(engine, last=True)
    with answering(watch):
        result = engine.finish(stopped, watch.seconds, history)
    if early is not None and result.x is None and result.lower == -np.inf:
        early.best = engine.x, engine.value
        raise early
    return replace(result, seconds=time.perf_counter() - start)


def _word(callback: Callable[[Snapshot], Any], snapshot: Snapshot, interrupts: Interrupts) -> str | None:
    """What the callback says: why to stop, or nothing."""
    try:
        said = environment.call(callback, snapshot)
    except StopIteration:
        said = True
    except KeyboardInterrupt:
        if interrupts.raised:
            raise
        return "interrupted"
    return "stopped by the callback" if isinstance(said, (bool, np.bool_)) and said else None
