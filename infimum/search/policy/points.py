"""Constants of point searches (`points/`). What they find is an estimate until an incumbent encloses its value.

The notes that groups name (in `bench/notes`) hold the measurements behind some of these numbers. Of the others no measurement was
kept: the bench that a group names shows the effect of a change.
"""


class SWARM:
    """The particle swarm. Shown by `bench/swarm.py` and `bench/gpu_swarm.py`; notes: 2026-11-point-searches."""

    first_particles = 32       # particles of the first wave
    growth = 4                 # factor by which the number of particles grows from wave to wave
    confidence = 0.5           # probability of having found the lowest minimum with which a search ends: more likely than not
    restarts = 5               # waves after the first, unless the user asks for another number
    turns_between_checks = 16  # turns between two looks at lanes that descend; they change only what is displayed
    lowest_ends = 1024         # ends of descents that are looked at, where these are not independent
    searches = 1, 4            # coordinate searches after each descent: in the first wave, and in later ones
    most_crossed = 256         # minima that are crossed with one another, at most
    least_crossed = 4          # minima: fewer are not crossed
    crossings = 16             # crossings of a wave
    idle_crossings = 2         # crossings without a lower minimum after which a wave ends
    line_sweeps = 8            # sweeps of a coordinate search around one place, at most


class PARTICLE_FLIGHT:
    """How particles are moved. Shown by `bench/gpu_swarm.py`; notes: 2026-11-point-searches."""

    many_particles = 1 << 12   # particles: fewer are drawn and moved by NumPy, since kernels take 50 ms to compile
    numbers_at_once = 1 << 18  # lanes times variables of one run on a CPU


class DESCENTS:
    """Quasi-Newton descents, one in each lane. Shown by `bench/swarm.py`; notes: 2026-11-point-searches."""

    most_dense_variables = 32  # variables: up to this number the inverse Hessian is kept whole
    armijo = 0.3               # part of the predicted decrease that a trial must attain,
    halvings = 20              # halvings of a step until it does, and
    trials = 400               # trials of a lane, at most, unless the caller gives others
    remembered_steps = 6       # steps from which the inverse Hessian of more variables is made
    first_step = 0.125         # part of the widths of the bounds: the longest first step
    careful_step = 2.0**-12    # part of the widths: the longest step after the inverse Hessian was reset
    # lanes of a run: they fit into the cache, and 264 * 8 bytes is no power of 2, so that rows do not collide
    lanes_at_once = 264
    gpu_bytes = 1 << 32        # bytes that lanes and their scratch memory take together on a GPU
    trials_between_checks = 8  # trials between two looks at which lanes have ended; up to half of all trials so far:
    few_lanes = 64             # lanes: on a GPU, and with no more lanes than these on a CPU,
    # lanes times variables times trials between two looks, on a CPU and a GPU: a time limit is kept
    quick_work = 1 << 21, 1 << 30
    unchecked_work = 1 << 24   # lanes times variables times trials that are begun before the first look
    vector_lanes = 8           # lanes that fill a vector of the processor: fewer cost as much


class LOCAL_MINIMA:
    """Which ends of descents are one minimum. Shown by `bench/swarm.py`."""

    same_place = 1e-4              # widths of the bounds: ends that are nearer to each other,
    same_value = 1e-6              # part of the spread of values: and as near in value, are one minimum
    same_value_at_kink = 1e-3      # the same if one of them stopped at a kink, where descents are less exact
    most_ends = 4096               # lowest ends that are told apart
    same_value_in_crossing = 1e-9  # relative: minima as near in value are one, if their first variables are near:
    near_widths = 1e-4             # widths of the bounds


class COORDINATE_LINES:
    """Searches along single variables and pairs of them, for few variables. Shown by `bench/swarm.py`."""

    lanes_at_once = 1 << 16     # lanes of a run
    most_numbers = 1 << 30      # variables times lanes of a sweep: beyond, a sweep takes a part of the variables
    lanes_of_pairs = 1 << 13    # lanes for pairs of variables
    samples_of_refinement = 16  # samples in each refinement of a line
    minima_of_line = 4          # local minima of a line from which pairs are made
    radii_of_pairs = 5          # radii at which pairs are tried, from half of the width down
    points_of_pairs = 8         # points that pairs offer, at most
    polishing_rounds = 64       # rounds of the last search along all variables, at most


class LINE_MOVES:
    """Searches along lines on which linear equations hold. Shown by `bench/minlp_families.py --families dispatch`."""

    most_variables = 128        # variables, at most
    evaluations_a_box = 8       # evaluations for each box that was enclosed, of one look
    starts = 8                  # points that moves begin at, the lowest ones
    choices = 4                 # choices of the variables that make up for others, at a time
    samples = 48                # samples of a line,
    near = 6                    # and on each side of the point, each at half the distance
    refined = 48                # local minima of lines, the lowest ones, that are refined
    refinements = 4             # refinements of each,
    samples_of_refinement = 9   # and samples of a refinement
    reach = 64.0                # part of the size of the point: how far lines reach where bounds are wide
    tolerance = 1e-12           # part of the size of a constraint's terms
    least_gain = 1e-9           # part of the size of f
    least_pivot = 1e-6          # part of the largest factor of a row
    lanes_at_once = 1 << 12     # points of a run


class COORDINATE_SEARCH:
    """Searches along single variables, for many variables. Shown by `bench/prove.py`."""

    starts = 32                       # starts: the middle and drawn points; fewer for more variables
    samples = 1 << 19                 # variables times starts, at most
    zoom_levels = 11                  # looks at a line, each 32 times closer than the one before
    levels_before_sharpening = 3      # looks before points are sharpened,
    sharpened_variables = 4096        # variables: from this number on,
    least_step = 2.0**-44             # part of the widths: until steps are as small
    passes = 12                       # passes over all variables, at most
    fine_windows = 8                  # windows of a fine look over the whole range
    points_of_line = 256              # points on a line down the gradient, on each scale
    scales_of_line = 24               # scales of these, each a quarter of the one before
    most_numbers = 1 << 30            # variables times points on a line, at most
    descents = 8                      # descents at once,
    most_descended_numbers = 1 << 17  # variables times descents: with more of them, none


class START_BOX_SEARCH:
    """Points in the boxes that the user gives to start from. Shown by `bench/nested_boxes.py`."""

    drawn_points = 1 << 12  # points that are drawn in all boxes together,
    least_points_a_box = 4  # points that are drawn in each box, at least
    quick_reduction = 4     # divisor of both for a quick look
    descents_a_box = 16     # descents in a box, from its lowest points
    particles = 512         # particles of all swarms together


class PLAIN_CALL_SEARCH:
    """Points for functions that are called as they are. Shown by `bench/nested.py`."""

    largest_coordinate = 1e3  # of variables without bounds: points lie no farther out
    points_at_once = 16       # points of a step
    most_points = 1024        # points of all steps together


class POLISHING:
    """Small parts of point searches. Shown by `bench/swarm.py` and `bench/prove.py`."""

    valley_steps = 30                # steps along a valley, at most
    # parts of the largest diagonal element that are added, one after the other
    valley_damping = (0.0, 2.0**-30, 2.0**-20, 2.0**-10, 1.0)
    sweeps_of_model = 8              # sweeps of coordinate descent on a quadratic model
    random_blocks_at_once = 1 << 15  # blocks of random numbers: they and their scratch memory stay in the cache of one core


class CONSTRAINED_SEARCH:
    """Point searches with constraints. Shown by `bench/constrained_points.py`; notes: 2026-11-point-searches."""

    starts_of_rounds = 32, 96, 288  # starts of each round
    least_starts = 2                # starts of a round, at least,
    most_operations = 1 << 24       # scalar operations of a step of all starts: fewer starts where there would be more
    least_scale = 2.0**-20          # part of a constraint's value: its scale is at least this
    most_kept = 8                   # ends that are continued, and points that are offered
    first_stage = (20, 2.0**-17)    # steps, and the last weight of the barrier, of the first stage
    last_stage = (40, 2.0**-37)     # the same of the last stage
    few_active_ratio = 4            # divisor of the starts: the first stage ends when no more are active
    higher_value = 2.0**-10         # part of its size: ends that are higher than the best value by more are not continued
    patience_steps = 6              # steps without progress after which an end is given up, where another has converged
    first_barrier = 0.1             # first weight of the barrier,
    restart_barrier = 2.0**-13      # and that of ends that are continued
    converged_error = 2.0**-30      # error of the conditions of first order at which a lane has converged
    close_to_bound = 2.0**-17       # part of the unit of a variable: closer to a bound, it may be moved there
    known_width = 2.0**-30          # part of a variable's size: with narrower bounds it is held where it starts
    restoration_steps = 30          # steps towards the constraints,
    restored_period = 2             # and drawn starts of which one is moved towards them first,
    restored_constraints = 6        # where there are as many constraints
    small_violation = 2.0**-7       # part of a constraint's scale: smaller violations are ranked by value,
    feasible_violation = 2.0**-23   # and still smaller ones count as none
    same_point = 2.0**-13           # part of a variable's unit: ends that differ by less are one
    roundings = 16                  # roundings of the integers of the best end; fewer for the others
    propagation_rounds = 4          # rounds of propagation where integers are fixed
    neighbour_passes = 3, 16        # passes over neighbouring integers, and the most integer variables for which they are made
    spread_powers = 10              # powers of 2 over which starts are spread where bounds are infinite,
    wide_bounds = 2.0**20           # width: or wider than this;
    uniform_period = 4              # starts: one of this number lies anywhere between such bounds


class MANY_STARTS:
    """Many starts at once between the steps of a search of regions. Shown by `bench/minlp.py` (kall_*, ex8_5_*)."""

    lanes = 32                  # starts of a round, where they are affordable
    steps = 40                  # steps of a lane of the first stage,
    first_barrier = 2.0**-7     # and the weight of the barrier that it begins with
    restoration_steps = 30      # steps towards the constraints before that
    reaches = 0.03, 0.1, 0.3    # parts of a variable's unit: how far from the best point lanes begin
    widest = 4.0                # times the size of a variable: its unit is no larger
    least_gain = 2.0**-20       # part of its size by which f must be lower after a round, for it not to be in vain
    least_boxes = 1 << 10       # regions before the first round, at least;
    regions_ratio = 0.5         # a round is due when there were as many as this part of the evaluations that it takes,
    miss_growth = 3             # and this number of times as many after each round that has found nothing better


class DIVES:
    """Whole numbers fixed one after the other. Shown by `bench/minlp.py`."""

    lanes = 48                 # lanes of a dive
    propagation_rounds = 2     # rounds of propagation after each decision
    halvings = 5               # halvings of a variable that is no whole number, after which it counts as fixed
    most_rounds_factor = 3     # times the decisions that a lane needs: those that it may make
    most_steps = 1 << 16       # decisions of a dive, for the numbering of its random numbers
    most_completed = 48        # assignments that a dive comes to, at most
    restarts = 2               # times that a lane begins anew
    widest = 2.0**20           # values of a variable: more count as these
    chance_share = 0.1         # of the order of decisions: what is added by chance to the distance of a guide from a whole number
    unguided_period = 4        # lanes: one of this number does not follow its guide
    solved = 4                 # assignments whose other variables are solved for
    known_width = 2.0**-20     # part of a variable's size: with narrower bounds it is held
    few_whole_numbers = 8      # whole numbers beside others: with more, dives come before other searches for points
    first_neighbourhoods = 8   # dives around the best point, one after the other, at most,
    neighbourhood_misses = 2   # and how many of them in a row may gain nothing, if all variables are whole; else one less
    kept_shares = 0.4, 0.6, 0.75, 0.9  # parts of the whole numbers that a neighbourhood leaves as they are
    agreement = 0.25           # distance of a guide from the best point up to which they agree in a whole number
    least_gain = 2.0**-20      # part of its size by which f must be lower in a neighbourhood
    walkers = 8                # ends of a dive from which walks go on


class WALKS:
    """Walks through whole-number points. Shown by `bench/minlp.py`."""

    first_operations = 1 << 23        # operations of a walk before the search of regions, counted as
    evaluation_operations = 1 << 8    # for each point these, and those of the functions;
    later_operations = 1 << 27        # and of one between its steps
    most_steps = 1 << 10              # steps, at most
    first_patience = 16               # steps without a lower point after which all lanes end, before the search of regions,
    later_patience = 64               # and between its steps
    tenure, tenure_spread = 5, 6      # steps for which a changed variable stays: at least, and how many more by chance
    pairs = 128                       # pairs of variables that are changed together in a step
    opposite_share = 0.75             # of these: one goes up and one down


class CONSTRAINED_SWARM:
    """The particle swarm with constraints. Shown by `bench/constrained_points.py`."""

    particles = 128        # particles, where that number of starts is affordable,
    least_particles = 8    # and at least
    wave_cost_ratio = 16   # divisor of the affordable starts of a round that gives the particles
    steps = 40             # steps of a lane, at most
    converged = 2.0**-20   # error of the conditions of first order at a local minimum
    continued_ends = 8     # ends of a wave that are continued
    penalty = 64.0         # weight of a violation, in units of the largest among the first particles, beside the spread of f
    least_gain = 2.0**-30  # part of its size: a value that is lower by less counts as equal


class INTERIOR_POINT:
    """The interior-point method in lanes. Shown by `bench/constrained_points.py`; notes: 2026-11-point-searches."""

    first_gap = 2.0**-4         # part of the barrier's weight: how far from their bounds variables begin, at least
    least_scale = 2.0**-20      # part of a row's value: its scale is at least this
    largest_ratio = 1e10        # factor by which multipliers of bounds may differ from weight over gap
    first_barrier = 0.1         # first weight of the barrier, unless the caller gives another
    last_barrier = 2.0**-37     # the last one
    barrier_reduction = 0.2     # factor of the weight from one problem to the next, or its power 3/2 if that is less
    solved_error = 10.0         # times the weight: the error with which the next weight is taken
    to_boundary = 0.99          # part of the way to the nearest bound that a step goes, at most
    difference_step = 2.0**-24  # relative step of differences that give second derivatives
    armijo = 1e-4               # part of the predicted decrease that a step must attain
    rounding = 2.0**-48         # part of a merit that counts as rounding
    # parts of a step that are tried where the whole is too long
    step_lengths = 2.0**-1, 2.0**-3, 2.0**-5, 2.0**-7, 2.0**-9, 2.0**-11
    error_reduction = 0.9       # factor: a step that reduces the error by it is accepted as well
    first_shift = 2.0**-10      # relative: what is first added to the diagonal of a matrix that is not convex,
    least_shift = 2.0**-40      # the least size that counts,
    shift_growth = 16.0         # the factor of growth until the matrix is convex,
    shift_reduction = 1 / 3     # the part of the last shift with which the next step begins,
    shift_tries = 10            # and how many shifts are tried
    equation_weight = 10.0      # part of the largest element of the matrix: the weight of squared equations in it
    regularisation = 2.0**-34   # relative: what is added to the diagonal of dependent equations
    most_numbers = 1 << 22      # numbers of all Jacobians for differences; with more, another kernel is used


class INTERIOR_SHIFT:
    """Moving a point inside its constraints. Shown by `bench/constrained_points.py`."""

    margins = 0.0, 1e-14, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5  # parts of the size of a constraint's terms that are tried
    few_margins = 0.0, 1e-9        # the same where one lane is costly
    most_operations = 1 << 27      # scalar operations of a step of all lanes: with more, few margins
    error_factor = 2.0             # times the width of a constraint's enclosure at the point, beside its margin
    steps = 6                      # steps of a lane
    passes = 3                     # passes of a step, after each of which variables that leave their bounds are held
    at_bound = 2.0**-26            # part of a variable's unit: nearer to a bound, it is moved there
    farthest_move = 2.0**-4        # part of its unit by which a variable is moved, at most
    regularisation = 2.0**-44      # relative: what is added to the diagonal
    near_active = 1e-4             # part of the size of its terms: constraints farther from their ends are left out
    equation_tolerance = 2.0**-26  # part of the size of an equation's terms


class RESTORATION:
    """Steps towards the constraints. Shown by `bench/constrained_points.py`."""

    first_damping = 2.0**-7     # part of the largest diagonal element,
    damping_growth = 8.0        # factor after a step that failed,
    damping_reduction = 0.125   # factor after one that succeeded;
    most_damping = 2.0**20      # with more, a lane has ended
    small_violation = 2.0**-40  # part of the first violations: a lane with less has ended


class LEVENBERG_MARQUARDT:
    """Points of sums of squares. Shown by `bench/fit.py`; notes: 2026-11-point-searches."""

    offered_points = 8             # points that are offered
    starts = 1024                  # starts
    first_starts = 32              # starts that come before the others
    stages_first = ((6, 8), (8, offered_points))  # of the first starts: trials, and the number of lanes that are kept after them
    stages = (3, 256), (6, 64), (8, 16), (16, offered_points)  # the same of the other starts
    redrawn_values = 64            # values of a parameter of the best end that are drawn anew,
    stages_redrawn = ((6, 16), (16, offered_points))  # and the stages after that
    last_trials = 48               # trials at the end
    trials_between_checks = 8, 2   # trials between two looks at which lanes have ended; with all of many data
    many_data = 1024               # data: of more than these,
    sampled_data = 256             # a sample of this size is fitted first
    trials = 8, 1 << 19, 400       # trials of a descent: at least, times data at most, at most
    most_parameters = 8            # nonlinear parameters, at most
    least_filled_volume = 2.0**-8  # part of the hull that start boxes fill: with less, each is searched by itself
    logarithmic_ratio = 100.0      # ratio of its bounds from which on a parameter of one sign moves by factors
    bits_of_exponent = 24          # bits of the exponents of starts that are spaced evenly by factors
    converged_gain = 2.0**-48      # part of its value: a lane has ended where less is left to gain
    same_value = 2.0**-20          # relative: values that differ by less are equal
    first_damping = 2.0**-7        # first damping of a lane
    least_pivot = 2.0**-44         # part of the diagonal: a pivot is at least this
    sweeps_at_bounds = 6           # sweeps of coordinate descent where the linear fit leaves its bounds
    most_damping = 2.0**60         # damping, at most,
    least_damping = 2.0**-60       # and at least
    good_ratio = 0.75              # part of the predicted decrease above which the damping is reduced,
    poor_ratio = 0.25              # and below which it grows:
    damping_reduction = 2.0**-3    # factor of the first,
    damping_growth = 2.0           # of the second,
    damping_large_growth = 2.0**3  # and where the value rose
