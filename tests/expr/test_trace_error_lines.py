"""What cannot be traced is shown as the user wrote it: over all its lines, and where a library was called."""

import math
import statistics

import pytest

from infimum.errors import TraceError
from infimum.trace.trace import trace


def several_lines(x):
    return math.hypot(
        x[0],
        x[1],
    )


def test_expression_over_several_lines_is_shown_whole():
    first = several_lines.__code__.co_firstlineno
    with pytest.raises(TraceError) as caught:
        trace(several_lines, 3)
    assert f"{__file__}:{first + 1}, in `math.hypot( x[0], x[1], )`" in str(caught.value)
    assert "np.hypot instead of math.hypot" in str(caught.value)


def of_a_library(x):
    return statistics.fmean([x[0], x[1]])


def test_inside_a_library_the_line_is_that_of_the_user():
    with pytest.raises(TraceError) as caught:
        trace(of_a_library, 3)
    message = str(caught.value)
    assert message.startswith(f"{__file__}:{of_a_library.__code__.co_firstlineno + 1}, in `") and message.endswith(".")
    assert "statistics.fmean([x[0], x[1]])" in message and "given to statistics" in message and "NumPy functions" in message
