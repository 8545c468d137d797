"""Linear relaxations of a system over a box: rows, solvers, and bounds that hold whatever the solver returns."""
