"""Drawings of a result: how the gap closed, and for one or two variables where the minimisers can be. And of trials, from plain
arrays: how many problems methods have solved, how the best value fell, where on a space-filling curve they were. Needs
matplotlib.
"""

from infimum.plotting.figures import png
from infimum.plotting.result_drawings import Convergence, Map, convergence, draw, region_map
from infimum.plotting.trial_drawings import (
           best_values,
           curve_with_trials,
           history_of_trials,
           operating_characteristic,
           solved_shares,
           trials_on_curve,
)

__all__ = ["Convergence", "Map", "best_values", "convergence", "curve_with_trials", "draw", "history_of_trials",
           "operating_characteristic", "png", "region_map", "solved_shares", "trials_on_curve"]
