"""What NumPy's and SciPy's functions mean when they are given traced arrays: one row for each."""
