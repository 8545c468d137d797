"""Constants of what closes infinite bounds: see `infimum/search/policy`."""


class CONVEX_BOUNDS:
    """Bounds of variables that have none, from a convex set. Shown by `bench/minlp.py`."""

    first_reach = 16.0         # how far the smaller box reaches from a point at first, in sizes of each variable,
    growth = 16.0              # the factor by which it grows where no tangent is left to be added,
    last_reach = 1e9           # and by which it grows at most
    excess = 2.0**-6           # by which a row is violated where it is touched, as part of the size of its end
    halvings = 40              # of the way to such a place
    most_rounds = 60           # rounds of linear programs, each with tangents where the last ones ended,
    most_operations = 1 << 30  # and numbers that all of them change
    most_variables = 128       # of a problem
    most_turns = 4000          # turns of one linear program
    most_factors = 16          # variables of a quadratic f, and ends of linear constraints whose products are taken from it,
    product_operations = 1 << 26  # while those are looked for that leave a convex function,
    largest_weight = 64.0      # times what one of them alone would need: the largest number of one,
    least_weight = 2.0**-30    # and part of that: smaller numbers count as 0
    largest_exponent = 900     # binary exponent of numbers that are looked at
    swing_shares = 2.0**-3, 2.0**-8, 2.0**-16  # parts of squares that outweigh variables times bounded functions, tried in turn
    growth_halvings = 10       # of 1: the least bound that a polynomial is asked for,
    growth_largest_degree = 1 << 10  # of the polynomial in one number that joint bounds of several variables come from
    growth_doublings = 100     # doublings of 1: the largest one,
    growth_bisections = 8      # and how often the factor of 2 between a bound that holds and one that does not is halved
