"""Problems whose variables are all coupled, as far as the structure of the function tells: they are branched on."""

from dataclasses import replace

import numpy as np

from infimum import problems
from infimum.problems.entry import GalleryProblem


def coupled(p: GalleryProblem) -> GalleryProblem:
    """The same function: 0 * x is no 0 to those who read its structure."""
    return replace(p, fun=lambda x: p.fun(x) + 0.0 * np.prod(x))


COLVILLE = coupled(problems.get("colville"))
