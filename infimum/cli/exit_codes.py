"""What the program's exit codes mean; `show` says which verdict gives which."""

OK, OPEN, USAGE, INFEASIBLE, INTERRUPTED = 0, 1, 2, 3, 130
