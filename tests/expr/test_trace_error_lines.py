"""What cannot be traced is shown as the user wrote it, over all its lines."""

import math

import pytest

from infimum.errors import TraceError
from infimum.expr.trace import trace


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
