"""The swarm's settings, as a user gives them."""

from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.search.option_names import known_options
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class SwarmOptions:
    """Options of `engine="swarm"`, and of the search with which `engine="auto"` starts.

    particles: the number of particles, and the most descents in a wave; None: a few in the first wave, then up to some hundred.
    searches: the number of lowest end points from which coordinate searches start after each round of descents; None: 1 in the
    first wave, then 4. swarm_steps, descent_steps: the largest number of steps of the particles, and of trials of a descent.
    enough: stop after a wave if this many descents agree on the lowest minimum; None: never. confidence: the estimated
    probability that no basin was missed at which a run counts as a success (0.5). A run with a `confidence` or a time limit
    continues until that is reached; `enough` then counts only if you give it. restarts: the number of waves after the first (5;
    no limit if `confidence` or a time limit is given). inertia, cognitive, social: the weights of a particle's own velocity, of
    its best point and of the swarm's best point. start: "uniform" or "sobol", where the particles start. armijo, halvings: the
    decrease at which a trial step is accepted, as a part of the expected one, and how often a step is halved. samples: the
    number of points on each line of a coordinate search. lp: with `engine="auto"`, bound regions by linear programs as well,
    which HiGHS solves: None, where there are constraints and that pays; True, from the start; False, never.
    """

    particles: int | None = None
    searches: int | None = None
    swarm_steps: int = 8
    descent_steps: int = 400
    enough: int | None = 8
    confidence: float | None = None
    restarts: int | None = None
    inertia: float = 0.5
    cognitive: float = 1.2
    social: float = 1.5
    start: str = "uniform"
    armijo: float = 0.3
    halvings: int = 20
    samples: int = 64
    lp: bool | None = None

    @classmethod
    def read(cls, given: dict[str, Any] | None, limited: bool = False) -> "SwarmOptions":
        """Options from a dictionary, each checked, for a run that is `limited` in time or not."""
        given = known_options(cls, given)
        for name, value in given.items():
            kinds, (least, most), word = ((int, np.integer), _WHOLE[name], "whole number") if name in _WHOLE else \
                ((int, float, np.integer, np.floating), _REAL.get(name, (0, 0)), "number")
            if name == "lp":
                if value is not None and not isinstance(value, bool):
                    raise OptionError(f"option 'lp' must be True, False or None, not {value!r}")
                continue
            if name == "start" or (value is None and name in _OPTIONAL):
                continue
            if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
                reach = f"from {least} on" if most == np.inf else f"from {least} to {most}"
                raise OptionError(f"option {name!r} must be a {word} {reach}, not {value!r}")
        if given.get("start", "uniform") not in ("uniform", "sobol"):
            raise OptionError(f"option 'start' must be 'uniform' or 'sobol', not {given['start']!r}")
        if limited or given.get("confidence") is not None:
            given.setdefault("enough", None)
        return cls(**given)


_WHOLE = {"searches": (0, 8)} | {name: (least, np.inf) for name, least in (
    ("particles", 1), ("swarm_steps", 0), ("descent_steps", 1), ("enough", 1), ("restarts", 0), ("halvings", 1),
    ("samples", 3))}
_OPTIONAL = ("particles", "searches", "enough", "confidence", "restarts")
_REAL = {"confidence": (0.0, 1.0), "inertia": (0.0, 2.0), "cognitive": (0.0, 8.0), "social": (0.0, 8.0), "armijo": (1e-6, 0.5)}
