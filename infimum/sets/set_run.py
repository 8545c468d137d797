"""Runs a search for a set to its end, a limit or Ctrl-C."""

from infimum.problem.settings import check_progress
from infimum.search.driver import watch_of
from infimum.search.interrupts import Interrupts
from infimum.search.limit_messages import boxes_reached, time_reached
from infimum.search.progress import ProgressDisplay
from infimum.sets.sublevel_search import SublevelSearch
from infimum.support import environment
from infimum.support.clock import OutOfTime


@environment.ours
def run(search: SublevelSearch, time_limit: float | None = None, max_boxes: float | None = None,
        progress: bool | None = None) -> str | None:
    """Why it ended early, or None. What the search knows by then holds."""
    check_progress(progress)
    watch, shown, over = watch_of(time_limit), ProgressDisplay(progress), time_reached(time_limit or 0)
    with Interrupts() as interrupts, watch:
        watch.asked_to_stop, watch.show = (lambda: interrupts.heard), shown.wait
        try:
            for _ in search.steps():
                shown.show(search, watch.seconds)
                if interrupts.heard:
                    return "interrupted"
                if time_limit is not None and watch.seconds >= time_limit:
                    return over
                if max_boxes is not None and search.evaluations >= max_boxes:
                    return boxes_reached(search.evaluations, max_boxes)
        except OutOfTime:
            return "interrupted" if interrupts.heard else over
        except MemoryError:
            return "no memory is left"
        finally:
            watch.show = None
            shown.clear()
    return None
