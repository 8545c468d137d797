"""What the program's exit codes mean; `show` says which verdict gives which."""

OK, OPEN, USAGE, INFEASIBLE = 0, 1, 2, 3
INTERRUPTED, READER_GONE = 130, 141  # 128 + SIGINT and 128 + SIGPIPE, as a shell reports programs that a signal has ended
