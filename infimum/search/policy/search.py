"""Constants of the search itself: branch and bound (`search/`), engines (`engines/`), evaluation, presolve, and how far a
function is looked through for structure (`structure/`).

Groups say which bench has chosen them, where that is known. Of the others no measurement was kept: the bench that a group names
shows the effect of a change. Notes are in `bench/notes`.
"""


class BRANCHING:
    """A step of branch and bound, and what is done between steps. Chosen by `bench/prove.py` and `bench/constraints.py`."""

    few_regions = 16             # regions: from this number on, minimisers are isolated among them
    full_step = 512              # regions: a step cuts fewer several times, until there are as many pieces,
    most_cuts = 4                # cuts: at most as many times each
    costly_step = 256            # the same where enclosures are costly: the batch is divided by this,
    costly_cuts = 2              # cuts
    isolation_cost = 512         # boxes that take as long as isolating a minimiser
    isolation_backoff = 4        # factor of the boxes after which that is tried again, if it failed
    far_points_step = 4          # steps after which points further out are tried where there is no lower bound,
    far_points_variables = 64    # variables: with no more of them
    few_last_regions = 256       # regions: no more than these are tested again at the end,
    last_rounds = 8              # rounds: at most
    # factors of variables for points further out
    far_factors = tuple(2.0**k for k in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000))
    unbounded_below = -2.0**256  # value below which a search without a lower bound ends: f counts as unbounded below


class AUTO:
    """The engine `auto` without constraints. Chosen by `bench/prove.py`, `bench/books.py` and `bench/gpu_branch.py`."""

    search_radius = 1e3               # how far the swarm looks in a variable without bounds
    most_swarm_variables = 32         # variables: with more, points come from a search along each of them
    most_late_swarm_variables = 2000  # variables: with no more, the swarm is asked where that was not enough
    rounds_before_refinement = 3      # rounds of a search before the whole box is refined, which takes longer
    rounds_before_chain = 2           # rounds before the whole box is taken apart by the structure of the function
    second_search_step = 24           # steps after which the point search is repeated,
    late_swarm_step = 64              # steps after which it is repeated by a swarm,
    late_swarm_waves = 3              # waves of that swarm
    large_batch = 1 << 16             # boxes: with a batch as large as this,
    late_swarm_step_if_large = 256    # steps: the swarm comes later, since it has the time beside a GPU
    coupled_chain_steps = (16, 64, 256, 1024, 4096)  # steps after which coupled chains are tried,
    coupled_cells_a_step = 1 << 19    # cells for each step that was taken,
    boxes_for_each_left = 16          # boxes: if of this number at least one is left
    negligible_gap = 2.0**-40         # part of the tolerance: a search is over where so little lies below its point,
    negligible_ulps = 2.0**-50        # part of the value
    swarm_start_boxes = 8             # start boxes in which the first swarm searches,
    late_swarm_start_boxes = 32       # and the late one
    boxes_before_gpu = 1 << 20        # boxes after which a search moves to a GPU,
    regions_for_gpu = 1 << 16         # regions: if as many are left


class CONSTRAINED:
    """Point searches and bounds of the whole box with constraints. Chosen by `bench/constraints.py` and `bench/globallib.py`."""

    regions_searched_at_once = 4  # regions in which a point is looked for at a time
    regions_sampled = 32          # regions whose corners and middles are tried as they are
    relative_excess = 2.0**-20    # a verified value within this distance of the best estimate is accepted
    most_repairs = 8              # times that what was in the way of a proof may lead to a better point
    first_search_step = 4         # steps before the first look, where lower bounds are good
    much_better = 0.5             # part of a value: with one that is better by that, very wide bounds are looked at again,
    most_closings = 8             # as often at most, the first time counted
    most_narrowed_searches = 3    # times that a better point may tell where to look for the next
    # all steps of the quadratic bound together may cost as many operations as the evaluations until then did
    evaluation_operations = 1 << 14  # operations of an evaluation beside those of the functions,
    quadratic_operations = 1 << 18   # of a step of the quadratic bound,
    product_operations = 1 << 7      # and for each product of two slacks in it
    least_quadratic_steps = 1 << 7   # steps: with fewer that it may take it is not begun
    longest_search_period = 64    # steps between two looks while there is no feasible point, after 1, 2, 4, …


class LOCALISATION:
    """Boxes around minimisers after a proof. Chosen by `bench/prove.py`."""

    wide_share = 2.0**-7     # part of the bounds: regions that are wider are cut,
    narrow_share = 2.0**-10  # part of the bounds: until they are as narrow as this
    least_boxes = 2048       # boxes that may always be spent on that,
    boxes_of_proof = 8       # and the divisor of the boxes of the proof that may be spent
    batch = 256              # boxes of a step
    most_regions = 64        # regions that are few enough to begin with
    most_variables = 8       # variables: more take more boxes than these
    most_left = 512          # regions: more cover no isolated minimisers, and those of the proof are kept


class ROOT_BOX:
    """Sweeps of the whole box. Chosen by `bench/prove.py`."""

    worth_shrinkage = 0.9  # a sweep pays if it shrinks variables to this part of their width,
    shrunk_share = 64      # at least one of this number of variables; otherwise it is slow,
    most_slow_sweeps = 32  # and as many slow ones are made one after the other
    least_regions = 16     # regions: fewer of few variables are not worth an isolation by second order


class ROUNDS:
    """Portions of regions that are dealt to workers. Chosen by `bench/rounds.py`."""

    portions = 64           # portions of a round, unless the user says otherwise
    regions_a_portion = 4   # regions of a portion, at least: with fewer there is no round
    operations = 1 << 11    # scalar operations of a portion for each box of the batch: some tenths of a second
    most_steps = 8          # full steps of a round, at most,
    least_share = 8         # divisor of one step: at least that part of it,
    constrained_factor = 4  # divisor of both with constraints, since a box costs several times as much
    before = 8              # divisor of the boxes of a round that are enclosed before the first one
    least_boxes_each = 2.0  # boxes for each region of a portion, at least
    most_boxes_each = 64.0  # and at most
    used_share = 0.9        # part of its boxes with which a portion counts as used up


class CLUSTERS:
    """When minimisers are taken for a curve or a surface. Chosen by `bench/prove.py`."""

    batches = 16               # batches of regions that are many
    large_batches = 256        # batches of regions to come that are hopelessly many
    check_period = 16          # steps after which they are counted
    sampled_regions = 1 << 12  # regions whose widths are read


class REGION_STORE:
    """Where regions are kept. Shown by `bench/prove.py` and `bench/gpu_branch.py`."""

    least_room = 1024          # regions for which there is always room
    numbers_fetched = 1 << 23  # numbers that are read at a time
    work_factor = 2            # times the regions that a step may leave: those it works on
    variables_a_lane = 128     # variables: a step has fewer lanes than its batch where a lane has more
    batches_at_hand = 4        # batches of regions that are fetched together
    least_filtered = 1 << 22   # regions: with more, each is compared with the upper bound


class INCUMBENTS:
    """How an estimate becomes an upper bound. Shown by `bench/prove.py` and `bench/constraints.py`."""

    # part of the slack: where an enclosure of the value at a point is wider, it is computed to the last bit,
    blurred_share = 2.0**-4
    most_close_variables = 1000  # variables: if there are no more of them
    most_candidates = 64         # points that violate constraints least, of those that are lower than the incumbent
    farthest_move = 2.0**-4      # part of a variable's size by which points are moved, at most,
    near_move = 2.0**-20         # and those that come first
    most_shifted_points = 4      # points that are moved inside, the lowest ones
    misses_in_a_row = 8          # failures to solve the active constraints, after which that is tried after 16, 32, … of them
    # multiples of these to which coordinates are rounded: a tight constraint may hold there exactly
    rounded_parts = 2.0**-10, 2.0**-20, 2.0**-30
    least_gain = 2.0**-40        # part of its size by which f must be lower, before a proof is tried


class DISPLAY:
    """What a user sees. No bench: these are habits of terminals."""

    quiet_seconds = 1.0             # seconds before anything is shown unasked,
    redraw_seconds = 0.2            # and between two states of it
    second_interrupt_seconds = 2.0  # seconds within which a second Ctrl-C means: leave, whatever is lost


class PUBLISHED_ENGINES:
    """Published methods. Shown by `bench/complete.py` and `bench/newton.py`; notes: 2026-11-published-methods."""

    lanes_at_once = 1 << 20              # lanes of a run of the complete search
    most_ends = 1 << 27                  # lower ends of boxes that its result may hold: a gigabyte
    most_elements = 1 << 12              # rows times variables of which it is asked which row reads which variable
    most_variables_and_constraints = 64  # of the engine newton: its matrices are dense
    least_gap = 0.125                    # part of a side: a narrower gap is not worth cutting at
    least_regions = 2                    # regions of a round of workers
    most_subdomains = 4096               # subdomains of a region,
    default_subdomains = 64              # and where the user gives no number of pieces
    search_period = 8                    # steps after which a point is looked for, since the test of subdomains finds none,
    regions_sampled = 256                # in the middle of this number of the lowest regions


class EVALUATION:
    """Programs and devices. Shown by `bench/kernels.py` and `bench/gpu.py`."""

    kept_kernels = 256     # compiled kernels that are kept
    batch = 1 << 13        # boxes of a step, unless the backend asks for another number
    worth_a_gpu = 1 << 16  # lanes of a step, if a CPU could run them as well
    kept_facts = 256       # functions whose facts are kept


class FIXED_VARIABLES:
    """When fixed variables are taken out of a problem. Shown by `bench/prove.py`."""

    many_variables = 1 << 12  # variables: with more, a few fixed ones are kept, since there is little to gain
    fixed_share = 2  # variables of which one must be fixed: slices of x are easier to prove than arrays that are put together


class DOMAINS:
    """Bounds that follow from where a function is defined. Shown by `bench/prove.py`."""

    most_variables = 256  # variables: with more, rounds of propagation take longer than the search may


# ---- how far a function is looked through: more is found with larger numbers, and it takes longer
class REARRANGEMENT:
    """Sums and loops in other order. Shown by `bench/kernels.py`; notes: 2026-11-expressions-and-intervals."""

    longest_short_axis = 32     # elements of the longest axis that is short,
    most_operations = 4096      # and operations that are written for all its rows together
    most_summands = 1000        # summands of one sum that are looked at
    most_places = 64            # places at which a function is rearranged
    most_factors = 8            # factors of a product that are looked at
    most_terms = 64             # terms of a sum that is looked into
    least_turns = 6             # turns that make a loop,
    turn_reach = 4              # and how far apart the elements may lie that one turn reads
    least_vector = 32           # terms of a sum that become a vector,
    products_a_variable = 4     # and products of two variables in it, for each variable
    most_parts = 1 << 16        # parts of all totals that are looked at,
    most_part_operations = 256  # and operations of one of them
    mapped_operations = 4       # times as many operations of a part, if it is a linear map of one that counts
    term_reach = 4              # how far apart the elements may lie that a term of a reduction reads,
    element_reach = 64          # or a single element of a vector
    costly_numbers = 1 << 14    # numbers inside a function whose evaluation takes nearly all of the time
    deepest_element = 64        # operations inside one another through which single elements are looked for


class RECOGNITION:
    """Forms of functions. Shown by `bench/stronger.py`, `bench/fit.py` and `bench/first_call.py`."""

    most_coupling_scalars = 2     # scalars by which the terms of a sum may be coupled,
    most_tried_scalars = 40       # and candidates that are looked at
    curvature_elements = 1 << 13  # elements of all operations whose curvature is looked for
    quadratic_bits = 1 << 14      # bits of an entry of its second derivatives, times variables,
    quadratic_variables = 64      # variables of a quadratic function whose curvature is decided in exact arithmetic
    most_outcomes = 64            # parts of a function with finitely many values: a long loop is better enclosed as it is
    most_family_members = 3       # functions of one quantity that are enclosed together
    lipschitz_operations = 4096   # operations that are looked at for a Lipschitz part
    largest_number_power = 64     # power of a number beyond which its exact powers are long
    least_factors = 3             # factors of a monomial
    exponent_bits = 200           # bits of its exponents, at most
    most_choices = 64             # choices whose branches are narrowed: a long loop is better enclosed as it is
    branch_operations = 8192      # operations that are looked at for replacement there,
    branch_growth = 2             # and the factor by which operations may become more
    tangent_pieces = 64           # pieces of a function with tangents outside of its domain,
    tangent_nodes = 1024          # and operations
    most_row_groups = 64          # groups of rows: with more, rows share most of their variables, and little is gained
    most_products = 10            # products of linear parameters of a fit
    few_nonlinear = 3             # nonlinear variables beside which the others are eliminated from the start
    # elements of an array of two dimensions or more that is taken for a piece: distances of pairs, not data
    piece_table_elements = 1024
    term_variables = 3            # variables that a term of a sum may read: a cell of a chain has three
    most_terms = 1 << 22          # elements of all sums together
    term_nodes = 20_000           # operations that are looked at, once for each set of positions
    longest_inner_sum = 64        # elements of a sum or product inside a term
    long_positions = 256          # positions that take longer than one
    few_families = 4              # families: with more, constants of single terms become part of a table


class WHOLE_ROWS:
    """What whole numbers make of constraints, in rational numbers. Shown by `bench/minlp.py`."""

    most_rows = 1 << 10       # constraints,
    most_elements = 1 << 18   # and constraints times variables: with more, nothing is looked at
    most_terms = 1 << 10      # terms of a constraint
    most_entries = 1 << 12    # linear equations between whole variables, times these
    most_bits = 256           # of the whole numbers by which these are solved
    most_sums = 1 << 12       # sums of multiples of whole variables that are listed for one of them


class EXCHANGES:
    """Variables that may be exchanged. Shown by `bench/minlp.py --only tln ex126`."""

    most_variables = 1 << 9   # variables: with more, nothing is looked for
    most_elements = 1 << 13   # of all operations
    most_terms = 1 << 12      # of f and all constraints together
    most_tries = 64           # pairs of variables that are tried,
    most_looks = 1 << 15      # terms that are looked at, by each colouring all
    least_blocks = 2          # blocks that are put in order,
    least_real_blocks = 3     # and where there are no whole numbers: less is gained than bounds take longer
    most_marks = 8            # and pairs that are told apart before one of them is given up
    most_images = 1 << 12     # boxes that regions become in all orders; of more, boxes around them
    most_orders = 24          # orders of all exchangeable variables together, where narrow regions are asked for


class PROBING:
    """Bounds found by trying values of whole variables. Shown by `bench/minlp.py`."""

    most_variables = 1 << 8  # variables: with more, nothing is tried
    most_probes = 1 << 7     # whole variables that are tried
    first_rounds = 32        # rounds of propagation of the whole box,
    rounds = 4               # and of each part
    most_turns = 4           # times that all are tried,
    notable_shrinkage = 0.9  # if some variable is left with no more than this part of its width


class EXPANSIONS:
    """Functions near poles and at infinity. Shown by `bench/stronger.py`."""

    most_terms = 8            # terms of an expansion,
    largest_power_of_log = 4  # and the largest power of a logarithm in it
    most_elements = 256       # elements of an array that is written out
    most_factors = 16         # factors of a dividend or a divisor by norms, by their multiplicities
    most_nodes = 100          # operations of a function with alternatives at a pole,
    most_bases = 3            # bases that are tried,
    most_orders = 3           # and orders of a pole
