"""Constants of searches that call a black box (`engines/index/`). What they find is an estimate. Shown by `bench/index.py`.

Notes: 2026-11-black-boxes (in `bench/notes`). What users may set is in `IndexOptions`, `MethodOptions` and `SearchOptions`.
"""


class CURVE:
    """Trials on space-filling curves, and the last steps around the best one."""

    most_repeats = 8            # places in a row whose points are not new,
    scattered_points = 64       # points all over the cube that are then tried, before all points are looked through in order
    fineness = 64               # bits of a position, at least
    remembered_variables = 6    # variables up to which the parts of cubes are kept: n 4**n of them
    most_outside = 10_000, 100  # positions outside the cube that are entered for one trial; and while others are waited for
    ranks_a_block = 256         # intervals whose best rank is kept
    finest_order = 20           # order of the curve where there are continuous variables
    trials_for_each = 10        # trials for each one of the polish: with more of it, the search needs more than published methods
    first_step = 0.012          # side of the unit cube: the first step of the polish,
    last_step = 1e-7            # and the last
    most_known_trials = 20      # trials in a row that are known already, before the polish ends


class MODEL_DESCENT:
    """Descents on quadratic models of the trials nearby."""

    growth = 1.6                 # factor of the box after a step to its boundary that gained
    farthest_face = 0.7          # part of the box: no face is farther from a trial
    new_distance = 0.1           # part of the box: a point that is nearer to a trial tells nothing new
    model_radius = 2.0           # boxes: models are made of trials within this distance
    coordinate_rounds = 30       # rounds of coordinate steps in a box
    trials_a_coefficient = 1.25  # trials in a model for each coefficient of a quadratic
    farthest_misfit = 0.1        # weight with which the farthest value may be missed, beside the least Hessian,
    falloff = 6                  # and the power of distance with which it grows
    least_misfit = 1e-9          # the same weight of the nearest value
    open_slope = 1e-12           # weight of slopes that trials in a plane leave open: they are 0


class CONSTRAINED_DESCENT:
    """The same with constraints. Shown by `bench/index.py constrained`."""

    growth = 1.6                # factor of the box after a long step that gained,
    long_step = 0.7             # part of the box
    shrink = 0.5                # factor of the box after a failure,
    shrink_little = 0.7         # and after a poor step
    good_ratio = 0.5            # part of the expected gain that is good,
    poor_ratio = 0.1            # and poor
    new_distance = 0.1          # part of the box: a point that is nearer to a trial tells nothing new,
    informative_distance = 0.3  # or too little to be tried for that alone
    same_distance = 1e-4        # part of the box: nearer to an infeasible trial, it is the same
    patience_trials = 3         # infeasible trials in a row before the box shrinks
    first_margin = 0.05         # part of the box: distance from the boundary of each constraint at first,
    largest_margin = 0.4        # at most,
    least_margin = 1e-6         # and at least
    margin_of_excess = 1.5      # times what the model was exceeded by: the next margin
    margin_decay = 0.5          # factor of a margin that was not needed
    unknown_share = 0.25        # part of what is unknown that a point is credited with
    worth_change = 0.05         # part of all that the model may change by in the box: less is not worth a trial
    candidates = 48             # points of the box that are compared


class CONSTRAINED_MODEL_STEP:
    """An interior-point step on models. Shown by `bench/index.py constrained`."""

    rounds = 10              # rounds, at most,
    more_rounds = 25         # and where these led to nothing good
    first_slack = 0.1        # boxes, and slopes over the box: the least slack, and the products, at the start
    product_reduction = 0.2  # part of the products that is left after a round
    to_boundary = 0.99       # part of the way to where a slack or a multiplier would be 0
    largest_ratio = 1e12     # multipliers in units of slacks: beyond, constraints hold nowhere in the box
    small_residual = 1e-4    # products and violations that are small enough to end
    large_violation = 1e-2   # violations that are not good
