"""The policy of searches: every constant that steers one, with its unit and meaning, and the bench that chose it.

None of these numbers decides anything: whatever they are, an answer is proved. They decide how long that takes. Constants that a
proof rests on stand beside the proof. When a test of regions is due, and what it costs, is the table in `bounds/bound_table.py`.
"""

from typing import NamedTuple


class Branching(NamedTuple):
    """A step of branch and bound, and what is done between steps. Chosen by `bench/prove.py` and `bench/constraints.py`."""

    few_regions: int = 16           # regions: from this number on, minimisers are isolated among them
    full_step: int = 512            # regions: a step cuts fewer several times, until there are as many pieces,
    most_cuts: int = 4              # cuts: at most as many times each
    costly_step: int = 256          # the same where enclosures are costly: the batch is divided by this,
    costly_cuts: int = 2            # cuts
    isolation_cost: int = 512       # boxes that take as long as isolating a minimiser
    isolation_backoff: int = 4      # factor of the boxes after which that is tried again, if it failed
    far_points_step: int = 4        # steps after which points further out are tried where there is no lower bound,
    far_points_variables: int = 64  # variables: with no more of them
    few_last_regions: int = 256     # regions: no more than these are tested again at the end,
    last_rounds: int = 8            # rounds: at most


class Auto(NamedTuple):
    """The engine `auto` without constraints. Chosen by `bench/prove.py`, `bench/books.py` and `bench/gpu_branch.py`."""

    search_radius: float = 1e3            # how far the swarm looks in a variable without bounds
    most_swarm_variables: int = 32        # variables: with more, points come from a search along each of them
    most_late_swarm_variables: int = 2000  # variables: with no more, the swarm is asked where that was not enough
    rounds_before_refinement: int = 3     # rounds of a search before the whole box is refined, which takes longer
    rounds_before_chain: int = 2          # rounds before the whole box is taken apart by the structure of the function
    second_search_step: int = 24          # steps after which the point search is repeated,
    late_swarm_step: int = 64             # steps after which it is repeated by a swarm,
    late_swarm_waves: int = 3             # waves of that swarm
    large_batch: int = 1 << 16            # boxes: with a batch as large as this,
    late_swarm_step_if_large: int = 256   # steps: the swarm comes later, since it has the time beside a GPU
    coupled_chain_steps: tuple[int, ...] = (16, 64, 256, 1024, 4096)  # steps after which coupled chains are tried,
    coupled_cells_a_step: int = 1 << 19   # cells for each step that was taken,
    boxes_for_each_left: int = 16         # boxes: if of this number at least one is left
    negligible_gap: float = 2.0**-40      # part of the tolerance: a search is over where so little lies below its point,
    negligible_ulps: float = 2.0**-50     # part of the value
    swarm_start_boxes: int = 8            # start boxes in which the first swarm searches,
    late_swarm_start_boxes: int = 32      # and the late one
    boxes_before_gpu: int = 1 << 20       # boxes after which a search moves to a GPU,
    regions_for_gpu: int = 1 << 16        # regions: if as many are left


class Constrained(NamedTuple):
    """Point searches and bounds of the whole box with constraints. Chosen by `bench/constraints.py` and `bench/globallib.py`."""

    regions_searched_at_once: int = 4   # regions in which a point is looked for at a time
    regions_sampled: int = 32           # regions whose corners and middles are tried as they are
    relative_excess: float = 2.0**-20   # a verified value within this distance of the best estimate is accepted
    most_repairs: int = 8               # times that what was in the way of a proof may lead to a better point
    first_search_step: int = 4          # steps before the first look, where lower bounds are good
    most_narrowed_searches: int = 3     # times that a better point may tell where to look for the next
    evaluation_operations: int = 1 << 14  # operations of an evaluation beside those of the functions
    quadratic_operations: int = 1 << 18   # operations of a step of the quadratic bound,
    product_operations: int = 1 << 7      # and for each product of two slacks in it; it may take as many as the evaluations took
    least_quadratic_steps: int = 1 << 7   # steps: with fewer that it may take it is not begun
    longest_search_period: int = 64     # steps between two looks while there is no feasible point, after 1, 2, 4, …


class Localisation(NamedTuple):
    """Boxes around minimisers after a proof. Chosen by `bench/prove.py`."""

    wide_share: float = 2.0**-7     # part of the bounds: regions that are wider are cut,
    narrow_share: float = 2.0**-10  # part of the bounds: until they are as narrow as this
    least_boxes: int = 2048         # boxes that may always be spent on that,
    boxes_of_proof: int = 8         # and the divisor of the boxes of the proof that may be spent
    batch: int = 256                # boxes of a step
    most_regions: int = 64          # regions that are few enough to begin with
    most_variables: int = 8         # variables: more take more boxes than these
    most_left: int = 512            # regions: more cover no isolated minimisers, and those of the proof are kept


class RootBox(NamedTuple):
    """Sweeps of the whole box. Chosen by `bench/prove.py`."""

    worth_shrinkage: float = 0.9  # a sweep pays if it shrinks variables to this part of their width,
    shrunk_share: int = 64        # at least one of this number of variables; otherwise it is slow,
    most_slow_sweeps: int = 32    # and as many slow ones are made one after the other
    least_regions: int = 16       # regions: fewer of few variables are not worth an isolation by second order


class Rounds(NamedTuple):
    """Portions of regions that are dealt to workers. Chosen by `bench/rounds.py`."""

    regions_a_portion: int = 4      # regions of a portion, at least: with fewer there is no round
    operations: int = 1 << 11       # scalar operations of a portion for each box of the batch: some tenths of a second
    most_steps: int = 8             # full steps of a round, at most,
    least_share: int = 8            # divisor of one step: at least that part of it,
    constrained_factor: int = 4     # divisor of both with constraints, since a box costs several times as much
    before: int = 8                 # divisor of the boxes of a round that are enclosed before the first one
    least_boxes_each: float = 2.0   # boxes for each region of a portion, at least
    most_boxes_each: float = 64.0   # and at most
    used_share: float = 0.9         # part of its boxes with which a portion counts as used up


class Clusters(NamedTuple):
    """When minimisers are taken for a curve or a surface. Chosen by `bench/prove.py`."""

    batches: int = 16             # batches of regions that are many
    large_batches: int = 256      # batches of regions to come that are hopelessly many
    check_period: int = 16        # steps after which they are counted
    sampled_regions: int = 1 << 12  # regions whose widths are read


BRANCHING, AUTO, CONSTRAINED, LOCALISATION = Branching(), Auto(), Constrained(), Localisation()
ROOT_BOX, ROUNDS, CLUSTERS = RootBox(), Rounds(), Clusters()
