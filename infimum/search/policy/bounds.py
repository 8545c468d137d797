"""Constants of the tests of regions (`bounds/`), of chains (`chains/`), and of what turns estimates into claims (`certify/`).

They say how much work a test does, for which problems it is tried, and when it counts as having paid. When it is due, and what it
costs, is the table in `bounds/bound_table.py`. The notes that groups name (in `bench/notes`) hold the measurements behind some of
these numbers. Of the others no measurement was kept: the bench that a group names shows the effect of a change.
"""

from math import inf


# ---- tests of regions, without constraints
class FIRST_ORDER:
    """Tests by derivatives of a function. Shown by `bench/prove.py` and `bench/newton.py`; notes: 2026-11-second-order."""

    slices_of_piece = 8                # slices of a subexpression of one quantity
    smear_of_linear = 2.0**-200        # factor of the smear of a linear parameter: it is cut last
    newton_most_variables = 10         # variables of an interval Newton step: the kernel has no loops
    newton_elements_at_once = 1 << 22  # regions times elements of the Hessian that are tested together
    subdomains_most_rows = 1 << 12     # rows times variables: with more, subdomains use no derivatives


class TANGENTS:
    """Tangents of sums. Shown by `bench/prove.py` and `bench/networks.py`; notes: 2026-11-linear-bounds."""

    most_variables = 16         # variables: the kernel of the quadratic model has no loops
    elements_at_once = 1 << 22  # regions times variables that are tested together
    slices_of_piece = 8         # slices of a subexpression of one quantity
    worth_gap_left = 0.125      # part of the distance to the upper bound: the test paid if no more is left


class TAYLOR_BOUND:
    """Second-order Taylor bounds. Shown by `bench/prove.py`; notes: 2026-11-second-order."""

    most_variables = 10         # variables: the Hessian grows with their square
    elements_at_once = 1 << 22  # regions times elements of the Hessian that are tested together
    worth_gap_left = 0.125      # part of the distance to the upper bound: the test paid if no more is left


class SWEEPS:
    """Sweeps of slices. Shown by `bench/prove.py`; notes: 2026-11-propagation-pieces-sweeps."""

    slices = 64                            # slices of a variable
    least_variables = 6                    # variables: with fewer, boxes are cut instead
    most_slices = 1024                     # slices of a subexpression of one quantity,
    most_slices_times_variables = 1 << 22  # and times the number of variables
    shaving_slices_of_piece = 8            # slices of such a subexpression, in what the other variables contribute
    elements_at_once = 1 << 21             # regions times variables that are swept together
    worth_volume = 2.0**-24                # part of its volume to which a sweep must cut a region to have paid: it saves 24 cuts


class SLICE_REFINEMENT:
    """The whole box in slices. Shown by `bench/prove.py` and `bench/stronger.py`; notes: 2026-11-propagation-pieces-sweeps."""

    first_slices = 64           # slices of each variable to begin with,
    most_first_lanes = 1 << 20  # lanes: fewer slices where these would be more
    most_slices = 1 << 22       # slices of all variables together, at most,
    least_slices = 8            # and of each variable, at least
    lanes_at_once = 1 << 16     # lanes of a run
    worth_gap_left = 0.9        # part to which the gap must shrink
    patience_rounds = 12        # within this number of rounds,
    short_patience_rounds = 3   # or within this number,
    large_growth = 4            # if the number of slices has grown by this factor (8 if none is dropped)
    rounds_after_goal = 3       # rounds after the goal is met: they are cheap, and the slices become narrow


# ---- tests of regions: sums of squares
class LEAST_SQUARES:
    """Tests of sums of squares. Shown by `bench/fit.py`; notes: 2026-11-sums-of-squares."""

    elements_at_once = 1 << 22          # regions times elements of the matrix that are tested together
    gauss_newton_sweeps = 2             # sweeps of interval Gauss-Seidel
    least_pivot_of_form = 2.0**-40      # part of the diagonal: a lesser pivot of a quadratic form is not positive
    sweeps_of_form = 6                  # sweeps of coordinate descent on a quadratic form
    least_pivot_of_fit = 2.0**-40       # part of the diagonal: with a lesser pivot, a column of the linear fit is dropped,
    negligible_column = 2.0**-5         # part of the root of the upper bound: and a column that contributes less
    least_gamma = 2.0**-6               # the least γ of a projection that is of use
    weight_of_left_out_rows = 10.0      # weight of rows that are left out, where the side to cut is chosen
    negligible_exponential = 2.0**-300  # smaller exponentials are enclosed as 0 to this: products would underflow, which is slow
    log_negligible = -207.9             # its logarithm, rounded
    much_variation = 0.15               # part by which a denominator varies much,
    little_variation = 0.02             # and little
    largest_weight = 5.0                # times the typical weight: rows that weigh more are weighted down
    largest_exponent = 16.0             # exponent beyond which an exponential is written with another origin


# ---- tests of regions, with constraints
class PROPAGATION:
    """Forward and backward propagation. Shown by `bench/constraints.py`; notes: 2026-11-propagation-pieces-sweeps."""

    rounds = 3                   # rounds of each test
    notable_shrinkage = 15 / 16  # part of it to which some side must be cut for further rounds
    rounds_at_once = 8           # rounds between two looks at the widths, at first
    pieces_at_once = 512         # pieces: no more are one array after they are cut out
    written_out = 128  # elements of operations up to which a program has no loops: more code compiles slowly and is no faster
    worth_storing = 8            # instructions: a result that costs as many is stored, not computed again
    deepest_delay = 16           # operations inside one another whose backward enclosure is delayed until it is read
    elements_read_singly = 4     # elements of an array: no more are read without a loop


class NEWTON_EQUATIONS:
    """Interval Newton steps on equations. Shown by `bench/constraints.py`; notes: 2026-11-constrained-problems."""

    least_rows = 2              # rows: with one alone, lines say the same
    most_rows = 30              # rows: with more, the inverse costs too much
    most_elements = 1 << 11     # rows times variables, at most
    elements_at_once = 1 << 20  # regions times variables that are tested together
    sweeps = 2                  # sweeps over the rows that were multiplied by the inverse
    worth_volume = 0.5          # part of its volume to which a region must be cut for the test to have paid
    close_ends = 0.25           # part of what a row varies by: rows whose ends are farther apart are not used
    least_pivot = 2.0**-30      # part of a row's first size: a pivot is at least this


class FRITZ_JOHN:
    """Conditions of Fritz John. Shown by `bench/constraints.py`; notes: 2026-11-constrained-problems."""

    worth_volume = 0.25                    # part of its volume to which a region must be cut for the test to have paid
    most_variables_and_constraints = 24    # variables and constraints together
    elements_at_once = 1 << 20             # regions times elements of the matrix that are tested together
    most_regions = 512                     # regions: to cut more is cheaper than to test them
    sweeps = 2                             # sweeps over the conditions
    dependence_sweeps = 3                  # sweeps over the equations of dependent gradients
    dependence_elements_at_once = 1 << 20  # elements of the matrices of their cases that are looked at together
    dependence_regularisation = 2.0**-13   # beside slopes of about 1


class LINEAR_RELAXATIONS:
    """Linear relaxations in lanes. Shown by `bench/constraints.py`; notes: 2026-11-linear-bounds."""

    lifted_most_regions = 512              # regions of a step,
    lifted_most_entries = 1 << 21          # and entries of their tables together
    long_operations = 100                  # scalar operations of a function from which on its linear bound is asked late,
    most_operations = 800                  # and beyond which no linear rows are composed backward, those of all rows together,
    most_rows = 16                         # and rows: more take long to compile
    most_derivatives = 4096                # derivatives of all rows
    elements_at_once = 1 << 20             # regions times variables that are tested together
    affine_most_variables = 8              # variables of a function whose affine form is written out,
    affine_most_cost = 1 << 17             # operations,
    affine_least_sums = 5                  # and sums that can be collected: with fewer, compiling costs more than it saves
    most_affine_variables = 32             # variables with which affine forms enclose the layers of a deep function
    most_factors = 16                      # numbers whose product, largest or least is taken apart
    contraction_sweeps = 2                 # sweeps over all rows
    worth_volume = 0.5                     # a test paid if at most this part of the volume is left,
    worth_gap_left = 0.5                   # or this part of the distance to the upper bound;
    one_row_worth_volume = 0.25            # of rows that are linear functions below others this part of the volume,
    lifted_worth_gap_left = 0.25           # and of the lifted relaxation, which is costly, this part of the distance
    tangent_inset = 0.125                  # of a curve's argument, from its ends to the points at which it has further tangents
    simplex_tolerance = 2.0**-30           # the part of its size by which a variable may violate its bounds
    simplex_least_pivot = 2.0**-30         # the least entry that is divided by
    simplex_tie_break = 2.0**-40           # added to reduced costs: of equal quotients that with the largest entry counts
    simplex_perturbation = 2.0**-32        # about what costs are raised by where no two of them are to be equal
    most_expanded_products = 64            # products that one product of sums may become
    most_coefficient_bits = 1 << 12        # bits of an exact coefficient
    kept_lifts = 64                        # systems whose lifted form is kept
    lane_lift = (3000, 160, 40000, 0)      # rows, columns, entries, added products: with more a program in a lane costs too much
    single_lift = (12000, 1200, inf, 400)  # the same for programs of one region, of which only what is not 0 is kept


class LINEAR_PROGRAMS:
    """Linear programs of single regions. Shown by `bench/constraints.py --only pooling`; notes: 2026-11-constrained-problems."""

    few_regions = 32                     # regions of a step while programs pay,
    most_programs = 64                   # and programs of a step
    judged_programs = 128                # programs after which it is judged whether they pay,
    worth_gap_left = 0.75                # part of the distance to the upper bound: no more must be left,
    worth_rise = 0.01                    # part of its size by which a lower bound must rise where there is no upper bound
    first_pause = 2                      # steps of the first pause otherwise; each is twice as long as the last
    rounds = 2                           # rounds of cuts for a region
    tangent_inset = 0.125                # of a curve's argument, from its ends to the points that are always touched
    touched_solutions = 3                # solutions at which curves are touched too, the last ones
    entries_together = 1 << 19           # entries of rows of regions that are written together
    beyond_enough = 1e-6                 # relative: a program ends if its cost is above the upper bound by this
    kept_starts = 2048                   # regions of which basis, multipliers and points are kept for those within them,
    kept_numbers = 1 << 20               # and numbers of all of these together
    worth_progress = 0.02                # part of the distance to the upper bound: a round of cuts that brought less is the last
    notable_shrinkage = 0.9              # part of a side: it counts as tightened if no more is left
    iterations_a_row = 3                 # iterations of a program at most: for each row and column,
    least_iterations = 200               # and beside these
    most_rows_times_sides = 600          # rows of inequalities that are multiplied by distances of variables from their ends
    negligible_entry = 1e-11             # entries of a row, or costs, that the solver is not told
    whole_tolerance = 1e-6               # distance from a whole number from which on a solution is not whole
    reliable_probes = 4                  # programs after which the mean gain of a variable is relied on,
    most_probed_variables = 8            # variables of a region that are probed,
    least_rise = 2.0**-20                # part of the largest: what rises by less counts as that
    probe_iterations = 60                # and iterations of a probe
    dive_programs = 60                   # programs of a dive at most
    dive_share = 0.25                    # part of the variables that are not whole yet: these are fixed together
    dive_upwards = 0.4                   # what is added to solutions before they are rounded, in a second dive
    dive_certain = 0.2                   # distance from whole numbers up to which several are fixed together
    tightening_passes = 4                # passes over all variables,
    tightening_iterations = 20_000       # and iterations of all their programs together
    tightening_at_end = 1e-6             # part of a side: a solution so near to its end tightens nothing
    tightening_worth = 0.05              # of the mean side: a pass that takes less is the last
    alternation_turns = 12               # programs for a start at most
    alternation_largest_step = 0.25      # part of the bounds in which solutions of both classes are sought, at first
    alternation_smallest_step = 2.0**-8  # and at last
    alternation_least_gain = 1e-6        # of the value: a turn that gains less is the last


class ROOT_LINEAR_PROGRAMS:
    """Linear programs of the whole box. Shown by `bench/constraints.py --only pooling`; notes: 2026-11-constrained-problems."""

    rounds = 6                      # rounds of cuts
    first_step_convex = 1           # steps after which linear programs begin by themselves: convex but for whole numbers,
    first_step_whole = 4            # with whole numbers otherwise,
    first_step = 16                 # and without;
    first_operations = 1 << 22      # operations of enclosed functions after which they begin at any rate;
    closing_power = 0.5             # not while the distance of both bounds falls at least by this power of the number of boxes
    large_lattice = 24.0            # bits of the number of whole points of a box: with more, programs look for the first point
    dive_period = 16                # steps between two dives later on
    others_after_whole = 256        # steps after which other costly tests are first tried, where programs look for whole numbers
    much_gained = 0.5               # part of regions that they must have discarded before, so as not to wait
    quadratic_share = 2.0**-4       # part of its steps that the quadratic bound may take then: it is not meant for whole numbers
    search_share = 0.5              # evaluations of point searches for each box: with more, only dives look for whole numbers
    # steps before programs of single regions, where constraints are curved: many searches are over by then
    first_step_if_curved = 24
    most_tightenings = 3            # times that variables are tightened, at most
    starts_between_tightenings = 8  # starts between two of these times
    least_gain = 0.1                # part of the distance between the bounds: after a point that gains less, none is looked for
    large_gain = 0.5                # the same: after a point that gains more, variables are tightened again
    first_period = 4                # steps between two searches for points, at first,
    longest_period = 64             # and at most
    worth_width = 0.95              # part of the mean side to which the box must shrink to begin anew
    worth_gap_closed = 0.75         # part of the distance between both bounds: cuts made before are kept if they closed more


class VALUE_GRID:
    """Values of f that are about multiples of a number. Shown by `bench/minlp.py --only tln`."""

    largest_denominator = 10_000  # of the multiples of which coefficients are
    least_ratio = 1024            # of the step of values to the error of all coefficients together


class LAGRANGIAN:
    """Lagrangian bounds. Shown by `bench/constraints.py`; notes: 2026-11-constrained-problems."""

    most_variables = 40         # variables, at most
    most_elements = 1 << 13     # rows times variables, at most
    sweeps = 8                  # sweeps of coordinate descent
    worth_gap_left = 0.5        # part of the distance to the upper bound: the test paid if no more is left
    difference_step = 2.0**-17  # relative step of differences
    penalties = (0.0, *(4.0**k for k in range(-2, 12)))  # relative penalties of the equations that are tried
    safety_factor = 4.0         # times the penalty that is just enough
    shifts = tuple(2.0**-k for k in (32, 24, 16, 8, 4, 2, 0))  # relative shifts of second derivatives that are tried


class QUADRATIC_PROBLEMS:
    """Quadratic problems: one multiplier for each product. Shown by `bench/globallib.py`; notes: 2026-11-constrained-problems."""

    most_elements = 1 << 18       # numbers of all derivatives that are read
    largest_exponent = 500        # binary exponent of points at which gradients are read, at most
    start_columns = 6             # columns of a matrix that give starts,
    start_powers = 30             # steps of the power method for them,
    start_lengths = (0.25, 0.75)  # and how far along them starts lie, as part of the widths
    maybe_active = 2.0**-14       # slack: a constraint may be active with less,
    surely_active = 2.0**-30      # and is active with less than this
    complement = 0.0625           # times a slack: a larger multiplier tells that the constraint is active
    dependent_pivot = 2.0**-20    # relative length below which a gradient depends on others
    rounding = 2.0**-46           # part of the curvature that is added for rounding
    spent_gap = 0.25              # part of the wanted gap that may be lost
    diagonal_growth = 4.0         # factor by which what is added to the diagonal grows until it is proved to be enough
    diagonal_tries = 16           # times that this is tried
    passes = 3                    # passes over the linear constraints


class CONSTRAINT_PRODUCTS:
    """Multipliers of products of constraints, by an interior-point method. Shown by `bench/globallib.py`."""

    newton_steps = 60              # steps of Newton's method,
    conjugate_gradient_steps = 60  # and of conjugate gradients in each
    omega = 0.02                   # weight ω of the barrier of multipliers
    centred = 1.0                  # decrement below which a point is centred,
    raised = 4.0                   # and the factor of the weight of the goal after that
    solved = 0.01                  # part of the squared residual with which a linear system is solved
    first_weight = 0.01            # part of the curvature: weights at the beginning
    first_share = 0.5              # part of a multiplier that its products share at the beginning
    to_boundary = 0.9              # part of the way to the boundary that a step goes, at most
    safety_factor = 4.0            # times what a centred point may lack
    least_multiplier = 2.0**-30    # relative: lesser multipliers are dropped
    halvings = 12                  # halvings of a step
    elements_at_once = 256         # elements of a product whose terms are added at once


# ---- chains
class CHAIN:
    """Dynamic programming over intervals. Shown by `bench/stronger.py`; notes: 2026-11-chains."""

    least_variables = 3          # variables, at least
    most_cells = 1 << 24         # cells of a level,
    gpu_factor = 24              # and the factor by which there may be more in the memory of a GPU
    bytes_a_cell = 160           # bytes that a cell takes
    few_cells = 1 << 15          # cells that take no time
    # Schedule of derivatives: first step, period, and the part of the cells for which they must pay
    derivative_schedule = (0, 3, 0.1)
    descent_starts = 8           # points from which to descend at a level
    gap_shares = 2               # times its equal share: the part of the gap that a bag has
    mostly_left = 0.45           # part of the cells that is left where few are discarded
    first_growing_level = 4      # level from which on,
    enough_shrinkage = 0.7       # if the gap does not shrink to this part,
    share_growth = 4             # the share grows by this factor
    most_forms = 12              # forms of terms,
    most_terms = 16              # and terms of one bag: more take too long to compile
    worth_gap_left = 0.9         # part to which the gap must shrink
    patience_levels = 5          # within this number of levels,
    quick_cells = 1 << 20        # if there are more cells than these
    first_slices = 8             # slices of a variable at the beginning
    direct_entries = 1 << 20     # entries of a table that are addressed directly however few are used
    cells_at_once = 1 << 20      # cells of a run
    most_combinations = 4096     # combinations of boxes that are listed,
    listed_most_cells = 1 << 22  # if there are no more cells
    steep_parts = 4              # roots and powers inside a term that are sliced,
    steep_slices = 16            # and their slices
    tie_break = 2.0**-30         # weight of values that decide between equal bounds


class CHAIN_POINTS:
    """Points of chains. Shown by `bench/stronger.py`; notes: 2026-11-chains."""

    damping = (0.0, 1.0)       # sums of the rows of the matrix that are added to its diagonal
    least_pivot = 2.0**-40     # part of such a sum: a pivot is at least this
    descent_steps = 16         # steps of a descent
    least_gain = 2.0**-30      # part of a value: a gain that is worth another step,
    noise = 2.0**-80           # and part of the first gain
    slow_gains = 0.25, 0.5  # parts of what is above the lower bound, and of the gain before: between them a descent is too slow
    distance_reduction = 0.25  # factor of the distance of the places on both sides of a variable that stays
    near_half_widths = 3       # half widths between different points


class COUPLED_CHAIN:
    """Chains whose terms share scalars. Shown by `bench/stronger.py`; notes: 2026-11-chains."""

    least_variables = 4                  # variables: fewer are one term
    most_cells = 1 << 22                 # cells of all nodes
    bytes_a_cell = CHAIN.bytes_a_cell    # bytes that a cell takes
    most_forms = CHAIN.most_forms        # forms of terms,
    most_terms = CHAIN.most_terms        # and terms of one bag: more take too long to compile
    node_cost_in_cells = 1 << 14         # cells that take as long as what is done once for a node
    multiplier_tries = 3                 # multipliers for a node, each from the one before
    worth_gain = 0.1                     # part of the gap that a better one must gain
    worth_dual_gain = 0.25               # part of the gap: gains of finer slices that matter,
    worth_gain_ratio = 0.25              # and part of one another
    descents_a_node = 4                  # descents from a node
    searched_multipliers = 8             # multipliers with which points are searched for,
    searched_nodes = 4                   # in this number of nodes
    logarithm_split = 0.6875             # where logarithms are cut: the exponentials of both parts are about equally wide
    sign_cost = 4                        # divisor of the cells that are tried where signs of factors must be told apart
    worth_gap_left = 0.9                 # part to which the gap must shrink
    patience_rounds = 8                  # within this number of rounds,
    few_nodes = 64                       # if there are more nodes than these
    most_nodes = 4096                    # nodes, at most
    multiplier_steps = 24                # steps of the search for multipliers
    smallest_multiplier_step = 2.0**-12  # part of the first step: the last one


# ---- what turns estimates into claims
class ISOLATION:
    """Boxes with exactly one minimiser. Shown by `bench/prove.py` and `bench/constraints.py`; notes: 2026-11-second-order."""

    radii = 12                          # boxes for K that are tried, each side eight times that of the one before
    narrowings = 4                      # times that K is narrowed
    constrained_newton_steps = 12       # steps to the last digits
    held_distance = 2.0**-20            # part of a variable's size: nearer to a bound, it may be held there
    penalties = LAGRANGIAN.penalties    # relative penalties of the constraints that are tried
    largest_inverse = 2.0**20           # elements of a left inverse: beyond, gradients count as dependent in the message
    safety_factor = 4.0                 # times the penalty that is just enough
    first_growth = 4.0                  # multiple of what is needed by which the neighbourhood reaches at first,
    halvings = 40                       # and how often that is halved
    boxes_at_once = 8                   # boxes that are looked at together
    descent_steps = 20                  # steps of descent to the minimiser,
    newton_steps = 6                    # and of Newton's method
    # parts of the largest diagonal element that are added, one after the other
    damping = (0.0, 2.0**-20, 2.0**-10, 2.0**-4, 1.0, 16.0)
    start_box_growths = (1.0, 2.0**-6)  # parts of its widths by which a box may grow, if it stays in the start boxes
    most_start_boxes = 64               # start boxes that may lie around it


class REGION_ISOLATION:
    """Isolating the minimisers in the regions that are left. Shown by `bench/prove.py`."""

    most_variables = 32              # variables,
    most_operations = 400            # operations,
    most_constraints = 64            # and constraints of problems for which it is tried
    most_regions = 1 << 16           # regions, at most
    most_passes = 8                  # times that what is left is looked at closer,
    enough_minimisers = 128          # while fewer minimisers are proved
    most_groups = 64                 # groups of regions that are looked at
    most_minimisers_a_group = 16     # minimisers in one group,
    most_failures = 16               # and groups without any, at most
    rounds = 40                      # times that pieces are halved,
    first_order_rounds = 3           # the first of them without second derivatives
    most_pieces = 1 << 19            # pieces of all rounds together,
    most_numbers = 1 << 28           # and times the numbers inside the function, at most,
    least_pieces = 1 << 14           # but always this number,
    pieces_a_region = 64             # and no more for each region
    largest_growth = 2               # multiple of the regions: with more pieces than that,
    pieces_always_allowed = 1 << 12  # and than this number, they are too many
    quick_variables = 16             # variables,
    quick_operations = 128           # operations,
    quick_elements = 512             # and elements of all arrays of a problem that is small


class TERM_SUM_ISOLATION:
    """The same for sums of many terms. Shown by `bench/stronger.py`; notes: 2026-11-second-order."""

    first_share = 0.9375            # part of the curvature that cliques share at first,
    share_reduction = 0.75          # the factor by which it is reduced,
    tries = 32                      # and how often
    even_share = 0.125  # part of it that all cliques of a variable have alike; the rest goes where the matrix is uncertain
    most_links = 8                  # links of a variable
    most_operations = 1 << 21       # operations with the matrices of all cliques
    most_variables = 6              # variables that a term reads
    most_forms = 24                 # forms of terms
    radii = 8                       # boxes for K that are tried,
    radius_ratio = 16.0             # each wider than the one before by this factor
    first_growth = 4.0              # multiple of what is needed by which the neighbourhood reaches at first,
    halvings = 40                   # and how often that is halved
    curvature_shares = 0.5, 0.9375  # parts of the proved curvature where a number is needed; the second for what takes much of it
    newton_steps = 12               # steps of Newton's method


class EQUATION_SOLUTIONS:
    """Solutions of equations near a point. Shown by `bench/constrained_boxes.py`; notes: 2026-11-constrained-problems."""

    most_variables_and_equations = 512  # variables and equations together, for dense matrices
    newton_steps = 4                    # steps to the middle of the box
    inflations = 4                      # boxes that are tried, each wider than the one before
    least_pivot = 2.0**-30              # pivots of rows whose largest element is 1
    sparse_newton_steps = 60            # steps of Newton's method from afar,
    polishing_steps = 4                 # and before a proof
    sparse_inflations = 0.0, 2.0**-24, 2.0**-16, 2.0**-8, 2.0**-4  # parts by which radii are larger than needed, tried in turn
    most_equations = 256                # equations that are eliminated in rational numbers
    active_distance = 2.0**-20          # part of the size of its terms, or of a variable: nearer to an end, a row is active
    regularisation = 2.0**-44           # relative: what is added to the diagonal


class VARIABLE_ELIMINATION:
    """Whole variables that are eliminated one after the other. Shown by `bench/minlp.py --only autocorr`."""

    most_values = 1 << 10         # values of a variable, less one
    most_elements = 1 << 18       # elements of all operations of a row
    most_cells = 1 << 24          # elements of a table, with the variable that is eliminated,
    most_cells_kept = 1 << 28     # and of all tables without it
    at_once = 1 << 26, 1 << 33    # operations on tables, also where whole points are very many: with more, the search goes first,
    operations_each = 8           # until there are no more than that for each operation of enclosed functions


class EXACT_FORMS:
    """Constraints that hold with equality, solved in rational numbers. Shown by `bench/minlp.py`."""

    # parts of the size of a constraint's terms, or of a variable: nearer to an end, it is taken to be active
    active_distances = 2.0**-20, 2.0**-30, 2.0**-40
    farthest = 2.0**-12        # part of that size: nothing is tried where a constraint is violated by more
    least_size = 2.0**-40      # size of a constraint, at least
    most_changes = 12          # variables that leave their bounds, or go there, before the next distance is tried
    least_pivot = 2.0**-24     # pivots of rows whose largest element is 1
    most_elements = 1 << 14    # elements of all operations of a row
    most_terms = 1 << 10       # products of terms, when two forms are multiplied
    largest_power = 8          # powers that are multiplied out
    most_points = 256          # regions that are single points, of those that a step puts aside together


class DIAGNOSIS:
    """What is looked at for messages, and how results are listed: `bench/limits.py` shows the time that it takes."""

    enclosed_regions = 16          # regions that are enclosed,
    surveyed_regions = 1024        # and regions whose place and size is looked at,
    most_numbers = 1 << 20         # fewer where all their ends are more numbers than these
    most_nodes = 400               # operations,
    most_elements = 1 << 15        # and elements of a function that is looked into
    cluster_regions = 64           # regions of a cluster, at least,
    cluster_width = 1e-2           # within this part of the bounds
    possibly_unbounded = -1e9      # a lower value is called possibly unbounded below
    moderate_value = 1e3           # size of a variable without bounds, where another one is asked whether f falls with it
    shown_variables = 4            # variables of a point that are shown
    tried_points = 3               # points at which variables are exchanged, to see whether the function is symmetric,
    most_variables = 16            # variables that are exchanged in pairs, at most,
    same_value = 1e-12             # and the relative difference of equal values
    moving_gap = 0.01              # a gap that became smaller by this part in the last quarter is still moving
    merge_work = 1 << 27           # numbers that are looked at while boxes are merged
    most_separate_boxes = 10_000   # boxes that are listed separately
    most_listed_numbers = 1 << 22  # numbers of a product of boxes that is listed
    numbers_at_once = 1 << 16      # numbers that are compared at a time
