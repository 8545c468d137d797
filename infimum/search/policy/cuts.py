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
