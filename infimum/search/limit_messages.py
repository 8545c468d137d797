"""The messages of runs that a limit has ended, and the exception where that is in the midst of a round."""

from infimum.problem.text import counted, memory


class RoundEnded(Exception):
    """A limit ends the run in the midst of a round; the text says which."""


def boxes_reached(boxes: int, most: float) -> str:
    """`max_boxes` ended it.

    >>> boxes_reached(1, 1)
    '1 box was enclosed, the limit is 1'
    """
    return f"{counted(boxes, 'box', 'es')} {'was' if boxes == 1 else 'were'} enclosed, the limit is {most:,}"


def time_reached(seconds: float) -> str:
    """`time_limit` ended it.

    >>> time_reached(0.5)
    'the time limit of 0.5 s was reached'
    """
    return f"the time limit of {seconds:g} s was reached"


def memory_reached(regions: int, most: float) -> str:
    """`memory_limit` ended it.

    >>> memory_reached(1, 8e9)
    '1 region takes more than the memory limit of 8 GB'
    """
    return f"{counted(regions, 'region')} {'takes' if regions == 1 else 'take'} more than the memory limit of {memory(most)}"


def memory_full(regions: int) -> str:
    """The machine's memory ended it.

    >>> memory_full(2000)
    'no memory is left beside 2,000 regions'
    """
    return f"no memory is left beside {counted(regions, 'region')}"


def memory_full_early() -> str:
    """The machine's memory ended it before the first step."""
    return "no memory is left for the first step of the search"


def not_isolated(regions: int) -> str:
    """Minimisers that seem to be a curve or a surface ended it.

    >>> not_isolated(2000)
    'minimisers seem to fill a curve or a surface, not isolated points: 2,000 regions are left on which the function is as low'
    """
    return f"minimisers seem to fill a curve or a surface, not isolated points: {counted(regions, 'region')} are left on which " \
           "the function is as low"


def unbounded_below(upper: float) -> str:
    """Values that fall and fall ended it.

    >>> unbounded_below(-2.0**300)
    'no lower bound is known, and values fall to -2.04e+90: as far as one can tell, the infimum is -infinity'
    """
    return f"no lower bound is known, and values fall to {upper:.3g}: as far as one can tell, the infimum is -infinity"


def iterations_done(iterations: int) -> str:
    """The option `iterations` of the complete search ended it.

    >>> iterations_done(1)
    '1 iteration is done'
    """
    return f"{counted(iterations, 'iteration')} {'is' if iterations == 1 else 'are'} done"
