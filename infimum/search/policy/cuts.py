"""Constants of what strengthens linear programs of regions: see `infimum/search/policy`."""


class SWITCHED_ROWS:
    """Rows and lines that binary variables switch. Shown by `bench/minlp_families.py --families layout synthesis`."""

    most_variables = 256    # binary variables that are looked at,
    most_programs = 512     # programs that bound rows where these are fixed, at most,
    most_iterations = 8192  # and iterations of all of them
    propagation_rounds = 8  # rounds of propagation of the box with such a variable fixed
    least_gain = 1e-6       # part of a row's end: what gains less leaves the row as it is
    narrow_part = 2.0**-10  # part of its range in which a curve's argument is left: then its lines hang on the variable


class GRADIENT_CUTS:
    """Gradients of convex rows in linear programs. Shown by `bench/minlp_families.py --families joint`."""

    most_variables = 128  # variables, at most
    rounds = 24           # programs, at most
    violation = 1e-5      # part of a row's end by which it must be violated


class ROUNDING_CUTS:
    """Mixed-integer rounding of rows of linear programs. Shown by `bench/minlp.py` and `bench/integer_programs.py`."""

    most_columns = 1024        # columns of a program, at most,
    most_entries = 1 << 16     # and entries
    most_rounds = 24           # programs,
    most_estimated = 1 << 19   # and factors of sums that are looked at in all of them
    patience = 4               # rounds in which the bound has to rise
    least_gain = 0.05          # by this part of what it rose in all
    most_cuts = 24             # cuts a round
    most_rows = 128            # rows that are rounded by themselves, and with others
    most_eliminations = 6      # other rows that are added to one
    most_tableau_rows = 24     # rows of the simplex tableau
    most_summed_rows = 64      # rows of the program that one of them is made of
    most_divisors = 8          # numbers by which a sum is divided
    tight = 1e-7               # distance of the solution from a row: nearer it is tight
    least_fraction = 1e-4      # distance from a whole number: farther away a column should be cut
    least_remainder = 0.005    # of the end of a sum, from a whole number
    least_depth = 1e-4         # distance of the solution from a cut
    most_parallel = 0.95       # cosine of the angle between two cuts
    most_ratio = 1e7           # between factors of a cut
    negligible = 1e-11         # part of the largest factor


class INTEGER_GUIDE:
    """Integer programs of the solver that look for points. Shown by `bench/minlp_families.py --families trim`."""

    most_columns = 1024    # columns of a program, at most,
    most_entries = 1 << 16  # and entries
    most_nodes = 64        # of its branch and bound
    turns = 3              # integer programs with variables fixed, from one solution on
    farthest_whole = 1e7   # distance of a whole column from 0: the solver may walk over whole numbers one by one
    largest_term = 2.0**33  # of a row or the cost: its last bit is then the solver's tolerance, 1e-6
