"""Constants of the sets where f is at most t (`sets/`). Shown by `bench/fit.py`, whose confidence regions are such sets.

Notes: 2026-11-sets-and-fits (in `bench/notes`).
"""


class SUBLEVEL_SETS:
    """How a set is covered and filled by boxes."""

    regions_at_once = 1 << 11         # regions that are cut at a time, unless fewer are wanted
    enough_regions = 1 << 12          # regions that show the set well,
    patience_steps = 4                # once its hull, in this number of steps,
    worth_shrinkage = 0.9             # has not shrunk to this part;
    few_regions = 1 << 8              # or this number of regions,
    filled_ratio = 1.5                # if the hull is at most this multiple of what is attained, in width
    most_components = 16              # components that are looked at one by one
    most_groups = 256                 # groups of regions that are told apart
    boxes_a_component = 1 << 16       # boxes to find a point in a component, or to show that it is none
    margin = 0.125                    # part of its width that is added around a component
    tolerance_share = 0.4             # part of the tolerance of an interval for each of its ends
    full_step = 512                   # regions of a step: fewer are cut into several pieces,
    most_pieces = 8                   # at most as many
    boxes_at_once = 1 << 12           # boxes of a paving that are cut at a time
    volume_checks = 16                # divisor of the boxes after which volumes are added up again
    negligible_share = 0.125          # part of what is wanted: where no more can be gained, a paving ends
    extent_regions_at_once = 1 << 10  # regions that are cut at a time, for the extent of a set
    bands_rounds = 2                  # rounds of the test by bounded errors
    bands_worth_volume = 0.5          # part of its volume to which it must cut a region to have paid
    extreme_steps = 40                # steps to an extreme point
    extreme_converged = 2.0**-45      # relative: shorter steps have converged
    extreme_damping = (0.0, 2.0**-20, 2.0**-10, 2.0**-4, 1.0)  # parts of the diagonal, until the matrix is positive definite
