"""The vocabulary of expressions, and tables with one row for each operation."""
